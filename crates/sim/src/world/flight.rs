//! The datagrams under way. Buffers are used again, so that a steady world allocates nothing.

use backspin::peer::PeerAddr;

/// Where a datagram under way is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Slot(pub(super) u32);

/// Every datagram under way.
#[derive(Debug, Default)]
pub(super) struct Flight {
    slots: Vec<Datagram>,
    free: Vec<Slot>,
}

/// The most datagrams under way at once.
pub(super) const FLIGHT_LIMIT: usize = 1 << 20;

#[derive(Debug)]
pub(super) struct Datagram {
    pub(super) from: PeerAddr,
    pub(super) to: PeerAddr,
    pub(super) bytes: Vec<u8>,
}

impl Flight {
    /// Keeps a copy of a datagram.
    ///
    /// # Panics
    /// If [`FLIGHT_LIMIT`] are kept already: hosts that answer each other more than once
    /// would otherwise eat all memory.
    pub(super) fn put(&mut self, from: PeerAddr, to: PeerAddr, bytes: &[u8]) -> Slot {
        if let Some(slot) = self.free.pop() {
            let datagram = &mut self.slots[slot.0 as usize];
            (datagram.from, datagram.to) = (from, to);
            datagram.bytes.clear();
            datagram.bytes.extend_from_slice(bytes);
            return slot;
        }
        assert!(
            self.slots.len() < FLIGHT_LIMIT,
            "more than {FLIGHT_LIMIT} datagrams are under way, the latest from {from} to {to}: \
             do hosts answer every datagram with several?"
        );
        self.slots.push(Datagram { from, to, bytes: bytes.to_vec() });
        Slot((self.slots.len() - 1) as u32)
    }

    pub(super) fn datagram(&mut self, slot: Slot) -> &mut Datagram {
        &mut self.slots[slot.0 as usize]
    }

    /// Keeps a second copy of a datagram that is kept already.
    pub(super) fn duplicate(&mut self, slot: Slot) -> Slot {
        let original = self.datagram(slot);
        let (from, to) = (original.from, original.to);
        let bytes = std::mem::take(&mut original.bytes);
        let copy = self.put(from, to, &bytes);
        self.datagram(slot).bytes = bytes;
        copy
    }

    /// Forgets a datagram: its buffer is free for another.
    pub(super) fn release(&mut self, slot: Slot) {
        self.free.push(slot);
    }

    /// How many datagrams are under way.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// How many have ever been under way at once.
    #[cfg(test)]
    pub(super) fn capacity(&self) -> usize {
        self.slots.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_is_used_again_once_it_is_released() {
        let address = PeerAddr::socket("10.0.0.1:1".parse().unwrap());
        let mut flight = Flight::default();
        let first = flight.put(address, address, &[1, 2, 3]);
        let second = flight.duplicate(first);
        assert_eq!(flight.datagram(first).bytes, [1, 2, 3]);
        assert_eq!(flight.datagram(second).bytes, [1, 2, 3]);
        assert_eq!(flight.len(), 2);
        flight.release(first);
        let third = flight.put(address, address, &[4]);
        assert_eq!(third, first);
        assert_eq!(flight.datagram(third).bytes, [4]);
        assert_eq!((flight.len(), flight.capacity()), (2, 2));
    }
}
