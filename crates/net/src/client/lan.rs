//! The client in `lan`: HELLO until it is answered, then a paddle's direction for every state.

use super::{Client, Phase, Speech};
use crate::game::{Buttons, Game, PlayerId};
use crate::time::Time;
use crate::wire::Full;
use crate::wire::lan::{GuestInput, Hello, Packet, StateUpdate, Steer};

/// What `lan` keeps.
#[derive(Debug, Default)]
pub(super) struct Lan {
    /// The newest state; `None` takes any.
    newest: Option<StateUpdate>,
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
                self.handle_lan_state(state);
            }
            Ok(_) => {
                self.counts.stray += 1;
                return;
            }
            Err(_) => {
                self.counts.malformed += 1;
                return;
            }
        }
        self.heard(now);
    }

    fn enter_lan(&mut self, now: Time) {
        if matches!(self.phase, Phase::Asking(_)) {
            // A guest is always the right player, the second of two.
            self.enter(now, PlayerId(2));
        }
    }

    /// Takes the first state whatever its number, then only larger ones, as signed numbers.
    fn handle_lan_state(&mut self, state: StateUpdate) {
        let Speech::Lan(lan) = &mut self.speech else { return };
        if lan.newest.is_some_and(|newest| state.seq as i32 <= newest.seq as i32) {
            self.counts.stray += 1;
            return;
        }
        lan.newest = Some(state);
        self.state.tick = state.seq;
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
        let held = |button| self.buttons.contains(button);
        let y = match (held(Buttons::UP), held(Buttons::DOWN)) {
            (true, false) => Steer::Up,
            (false, true) => Steer::Down,
            _ => Steer::Still,
        };
        Some(Packet::GuestInput(GuestInput { tick: 0, y }).encode(out))
    }
}
