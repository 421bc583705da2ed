//! The client in `lan`: HELLO until it is answered, then a paddle's direction for every state.

use crate::lan::wire::{GuestInput, Hello, Packet, StateUpdate, Steer};
use crate::playback::plays_back;
use crate::{ClassicGame, Dialect, LegacyPlayback};
use backspin::client::{ClientCore, ClientDialect, Frame};
use backspin::game::{Buttons, PlayerId};
use backspin::replication::State;
use backspin::session::{EndReason, LifeEvent, Liveness};
use backspin::time::Time;
use backspin::timing::{Delay, Mark};
use backspin::wire::Full;

/// A guest is always the right player, the second of two.
const GUEST: PlayerId = PlayerId(2);

/// What `lan` keeps.
#[derive(Clone, Debug)]
pub struct LanClient<G: ClassicGame> {
    /// The number of the newest state; `None` takes any.
    newest: Option<u32>,
    /// Whether the host is still there, once we are in.
    liveness: Option<Liveness>,
    playback: LegacyPlayback<G>,
}

impl<G: ClassicGame> LanClient<G> {
    /// A guest of nobody yet.
    pub fn new(now: Time, game: G) -> Self {
        LanClient { newest: None, liveness: None, playback: LegacyPlayback::new(now, game) }
    }

    fn enter(&mut self, core: &mut ClientCore, now: Time) {
        if core.is_asking() {
            core.enter(GUEST);
            self.liveness = Some(Liveness::new(now, core.config.liveness));
            self.playback.begin(now);
        }
    }

    /// Takes the first state whatever its number, then only larger ones, as signed numbers.
    fn handle_state(&mut self, core: &mut ClientCore, now: Time, state: &StateUpdate) {
        let is_news = self.newest.is_none_or(|newest| state.seq as i32 > newest as i32);
        let read = |game: &G, out: &mut State| game.read_lan(state, out);
        if !is_news || !self.playback.take(now, Mark::Number(state.seq), read) {
            core.counts.stray += 1;
            return;
        }
        self.newest = Some(state.seq);
        self.playback.reconcile(GUEST, None);
        core.counts.states += 1;
    }
}

impl<G: ClassicGame> ClientDialect<G> for LanClient<G> {
    fn name(&self) -> &'static str {
        Dialect::Lan.name()
    }

    fn clone_box(&self) -> Box<dyn ClientDialect<G>> {
        Box::new(self.clone())
    }

    fn handle(&mut self, core: &mut ClientCore, now: Time, bytes: &[u8]) {
        match Packet::decode(bytes) {
            // A state says the same as the acknowledgement that was lost.
            Ok(Packet::HelloAck(_)) => self.enter(core, now),
            Ok(Packet::StateUpdate(state)) => {
                self.enter(core, now);
                self.handle_state(core, now, &state);
            }
            Ok(packet) => return core.drop_stray(packet.name()),
            Err(error) => return core.drop_malformed(bytes.len(), error),
        }
        if let Some(liveness) = &mut self.liveness {
            core.heard(now, liveness);
        }
    }

    fn is_acceptance(&self, bytes: &[u8]) -> bool {
        matches!(Packet::decode(bytes), Ok(Packet::HelloAck(_)))
    }

    fn handle_timeout(&mut self, core: &mut ClientCore, now: Time) {
        let said = match steer(core.buttons()).sign() {
            -1 => Buttons::UP,
            1 => Buttons::DOWN,
            _ => Buttons::default(),
        };
        self.playback.make_inputs(core, now, said);
        if let Some(liveness) = &mut self.liveness
            && core.poll_silence(now, liveness) == Some(LifeEvent::Drop)
        {
            core.end(EndReason::NotResponding);
        }
    }

    fn speak(
        &mut self,
        core: &mut ClientCore,
        _now: Time,
        out: &mut [u8],
    ) -> Option<Result<usize, Full>> {
        if core.due.questions > 0 {
            core.due.questions -= 1;
            return Some(Packet::Hello(Hello { port: core.config.own_port }).encode(out));
        }
        // The dialect has no goodbye.
        core.due.goodbyes = 0;
        if !std::mem::take(&mut core.due.input) {
            return None;
        }
        let y = steer(core.buttons());
        Some(Packet::GuestInput(GuestInput { tick: 0, y }).encode(out))
    }

    fn no_answer(&self, core: &ClientCore) -> EndReason {
        EndReason::HostSilent { address: core.config.server }
    }

    plays_back!();
}

/// What the buttons say to a paddle.
fn steer(buttons: Buttons) -> Steer {
    match buttons.axis(Buttons::UP, Buttons::DOWN) {
        ..0 => Steer::Up,
        0 => Steer::Still,
        1.. => Steer::Down,
    }
}
