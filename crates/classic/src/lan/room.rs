//! A guest of Networked Pong in a room: a state for every input, or nearly.

use std::time::Duration;

use crate::ClassicGame;
use crate::lan::wire::{HelloAck, Packet, StateUpdate, Steer};
use backspin::channel::LogLine;
use backspin::dialect::{Greeting, Hearing, Manners, Meaning, RoomDialect, Saying, Telling};
use backspin::game::{Buttons, PlayerId};
use backspin::wire::Full;

/// States stop when no input came for so long.
const STATES_STOP: Duration = Duration::from_secs(1);

/// The dialect proves no address: a HELLO is worth one state, and two inputs are worth three. What
/// is saved up is at most a second of them.
const STATE_COST: u8 = 2;
const INPUT_WORTH: u8 = 3;
const SAVED: u8 = 60 * STATE_COST;

/// What is kept of the guests in a room.
#[derive(Clone, Debug)]
pub(super) struct Room {
    /// By place.
    guests: Vec<Guest>,
}

#[derive(Clone, Debug, Default)]
struct Guest {
    seq: u32,
    /// The world when the guest came: its first state, even if a tick is due before that is sent.
    first: Option<StateUpdate>,
    is_new: bool,
    /// What states may be sent for.
    credit: u8,
}

impl Room {
    pub(super) fn new(places: usize) -> Self {
        Room { guests: vec![Guest::default(); places] }
    }
}

impl Guest {
    /// Whether one more state may be sent; pays for it.
    fn pay(&mut self) -> bool {
        let left = self.credit.checked_sub(STATE_COST);
        self.credit = left.unwrap_or(self.credit);
        left.is_some()
    }
}

impl<G: ClassicGame> RoomDialect<G> for Room {
    fn manners(&self) -> Manners {
        Manners {
            proves_address: false,
            is_here_at_once: false,
            sends_every_tick: true,
            // Nobody is known again.
            has_way_back: false,
            quiet: Duration::from_secs(5),
            is_pinged: false,
            stops_after: Some(STATES_STOP),
            hears_of_drop: false,
        }
    }

    fn admit(&mut self, place: usize, _player: PlayerId, _game: &G, _world: &G::World) {
        self.guests[place] = Guest { credit: STATE_COST, is_new: true, ..Guest::default() };
    }

    fn greet(&mut self, place: usize) -> bool {
        let guest = &mut self.guests[place];
        guest.credit = guest.credit.max(STATE_COST);
        false
    }

    fn handle(&mut self, place: usize, _from: Hearing<'_>, bytes: &[u8]) -> Meaning {
        let Ok(Packet::GuestInput(input)) = Packet::decode(bytes) else { return Meaning::Nothing };
        let guest = &mut self.guests[place];
        guest.credit = (guest.credit + INPUT_WORTH).min(SAVED);
        Meaning::Input(match input.y {
            Steer::Up => Buttons::UP,
            Steer::Still => Buttons::default(),
            Steer::Down => Buttons::DOWN,
        })
    }

    fn look(&mut self, _tick: u32, game: &G, world: &G::World, _is_new_tick: bool) {
        for guest in self.guests.iter_mut().filter(|guest| guest.is_new) {
            (guest.first, guest.is_new) = (game.lan_state(world), false);
        }
    }

    fn speak(&mut self, place: usize, to: Telling<'_, G>, out: &mut [u8]) -> Option<Saying> {
        let guest = &mut self.guests[place];
        to.world_due.take()?;
        if !guest.pay() {
            return None;
        }
        let now = to.game.lan_state(to.world)?;
        let state = guest.first.take().unwrap_or(now);
        if state != now {
            *to.world_due = Some(0);
        }
        let state = StateUpdate { seq: guest.seq, ..state };
        // The first program compares as signed: a host stays below 2^31.
        guest.seq = (guest.seq + 1) & 0x7FFF_FFFF;
        Some(Saying::Datagram(Packet::StateUpdate(state).encode(out)))
    }

    fn encode_greeting(
        &mut self,
        _place: usize,
        to: Greeting<'_, G>,
        out: &mut [u8],
    ) -> Result<usize, Full> {
        to.journal.note(LogLine::HelloAckSent { to: to.address });
        Packet::HelloAck(HelloAck).encode(out)
    }

    fn clone_box(&self) -> Box<dyn RoomDialect<G>> {
        Box::new(self.clone())
    }
}
