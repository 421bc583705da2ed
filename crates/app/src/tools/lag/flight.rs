//! Datagrams in flight, until they are due.

use std::collections::BTreeMap;

use backspin::time::Time;

/// What is on the way, both ways, the next to arrive first. Those that arrive at the same instant
/// keep their order.
#[derive(Debug)]
pub(super) struct Flight {
    /// By when they are due, and then by their numbers.
    passengers: BTreeMap<(Time, u64), Passenger>,
    launched: u64,
    bytes: usize,
    limit_bytes: usize,
}

/// One datagram.
#[derive(Debug)]
pub(super) struct Passenger {
    /// Whose it is, by the name of its socket.
    pub(super) player: usize,
    pub(super) way: Way,
    pub(super) bytes: Box<[u8]>,
}

/// A direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// From the player to the game.
    There,
    /// From the game to the player.
    Back,
}

/// No more letters fit.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Full;

/// What may be under way at once: a flood through a slow link must not fill the machine.
pub(super) const LIMIT_BYTES: usize = 128 << 20;

/// What a datagram costs besides its bytes.
const OVERHEAD: usize = size_of::<((Time, u64), Passenger)>();

impl Flight {
    /// Nothing is under way.
    pub(super) fn new(limit_bytes: usize) -> Self {
        Flight { passengers: BTreeMap::new(), launched: 0, bytes: 0, limit_bytes }
    }

    pub(super) fn launch(&mut self, due: Time, passenger: Passenger) -> Result<(), Full> {
        let bytes = self.bytes + passenger.bytes.len() + OVERHEAD;
        if bytes > self.limit_bytes {
            return Err(Full);
        }
        self.bytes = bytes;
        self.passengers.insert((due, self.launched), passenger);
        self.launched += 1;
        Ok(())
    }

    /// When the next one arrives.
    pub(super) fn next_due(&self) -> Option<Time> {
        self.passengers.first_key_value().map(|((due, _), _)| *due)
    }

    /// The next one that has arrived by `now`.
    pub(super) fn land(&mut self, now: Time) -> Option<Passenger> {
        if self.next_due()? > now {
            return None;
        }
        let (_, passenger) = self.passengers.pop_first()?;
        self.bytes -= passenger.bytes.len() + OVERHEAD;
        Some(passenger)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passenger(byte: u8) -> Passenger {
        Passenger { player: 0, way: Way::There, bytes: [byte].into() }
    }

    #[test]
    fn they_land_when_due_and_in_order() {
        let mut flight = Flight::new(LIMIT_BYTES);
        for (due_ms, byte) in [(5, 1), (3, 2), (5, 3), (3, 4)] {
            flight.launch(Time::from_millis(due_ms), passenger(byte)).unwrap();
        }
        assert_eq!(flight.next_due(), Some(Time::from_millis(3)));
        assert!(flight.land(Time::from_micros(2_999)).is_none());
        let landed = |flight: &mut Flight, ms| flight.land(Time::from_millis(ms)).unwrap().bytes[0];
        assert_eq!([landed(&mut flight, 3), landed(&mut flight, 3)], [2, 4]);
        assert!(flight.land(Time::from_millis(4)).is_none());
        assert_eq!([landed(&mut flight, 9), landed(&mut flight, 9)], [1, 3]);
        assert_eq!(flight.next_due(), None);
    }

    #[test]
    fn it_takes_so_much_and_not_one_more() {
        let mut flight = Flight::new(2 * (OVERHEAD + 1));
        assert_eq!(flight.launch(Time::ZERO, passenger(1)), Ok(()));
        assert_eq!(flight.launch(Time::ZERO, passenger(2)), Ok(()));
        assert_eq!(flight.launch(Time::ZERO, passenger(3)), Err(Full));
        flight.land(Time::ZERO).unwrap();
        assert_eq!(flight.launch(Time::ZERO, passenger(4)), Ok(()));
    }
}
