//! The client in `lan`: HELLO until it is answered, then a paddle's direction for every state.

use super::plain::Plain;
use super::{Client, Phase, Speech};
use crate::clock::Mark;
use crate::game::{Buttons, ClassicGame, Game, PlayerId};
use crate::replica::State;
use crate::time::Time;
use crate::wire::Full;
use crate::wire::lan::{GuestInput, Hello, Packet, StateUpdate, Steer};

/// A guest is always the right player, the second of two.
const GUEST: PlayerId = PlayerId(2);

/// What `lan` keeps.
#[derive(Clone, Debug)]
pub(super) struct Lan<G: Game> {
    /// The newest state; `None` takes any.
    newest: Option<StateUpdate>,
    pub(super) plain: Plain<G>,
}

impl<G: Game> Lan<G> {
    pub(super) fn new(now: Time, game: G) -> Self {
        Lan { newest: None, plain: Plain::new(now, game) }
    }
}

impl<G: Game> Client<G> {
    /// The newest state of a `lan` host.
    pub fn lan_state(&self) -> Option<StateUpdate> {
        match &self.speech {
            Speech::Lan(lan) => lan.newest,
            _ => None,
        }
    }

    pub(super) fn handle_lan(&mut self, now: Time, bytes: &[u8]) {
        match Packet::decode(bytes) {
            // A state says the same as the acknowledgement that was lost.
            Ok(Packet::HelloAck(_)) => self.enter_lan(now),
            Ok(Packet::StateUpdate(state)) => {
                self.enter_lan(now);
                self.handle_lan_state(now, state);
            }
            Ok(packet) => return self.drop_stray(packet.name()),
            Err(error) => return self.drop_malformed(bytes.len(), error),
        }
        self.heard(now);
    }

    fn enter_lan(&mut self, now: Time) {
        if matches!(self.phase, Phase::Asking(_)) {
            self.enter(now, GUEST);
        }
    }

    /// Takes the first state whatever its number, then only larger ones, as signed numbers.
    fn handle_lan_state(&mut self, now: Time, state: StateUpdate) {
        let Speech::Lan(lan) = &mut self.speech else { return };
        let is_news = lan.newest.is_none_or(|newest| state.seq as i32 > newest.seq as i32);
        let read = |game: &G, out: &mut State| game.classic().read_lan(&state, out);
        if !is_news || !lan.plain.take(now, Mark::Number(state.seq), read) {
            self.counts.stray += 1;
            return;
        }
        lan.newest = Some(state);
        lan.plain.reconcile(GUEST, None);
        self.counts.states += 1;
    }

    pub(super) fn speak_lan(&mut self, out: &mut [u8]) -> Option<Result<usize, Full>> {
        if self.due.questions > 0 {
            self.due.questions -= 1;
            return Some(Packet::Hello(Hello { port: self.config.own_port }).encode(out));
        }
        // The dialect has no goodbye.
        self.due.goodbyes = 0;
        if !std::mem::take(&mut self.due.input) {
            return None;
        }
        Some(Packet::GuestInput(GuestInput { tick: 0, y: self.steer() }).encode(out))
    }

    /// What the buttons say to a paddle.
    pub(super) fn steer(&self) -> Steer {
        match self.buttons.axis(Buttons::UP, Buttons::DOWN) {
            ..0 => Steer::Up,
            0 => Steer::Still,
            1.. => Steer::Down,
        }
    }
}
