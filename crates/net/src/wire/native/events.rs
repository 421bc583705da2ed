//! What must arrive, in order and once: an [`EventBlock`], which rides along in Input, SnapshotAck
//! and DeltaSnapshot, and is a packet of its own (ClientEvents, ServerEvents) where none of them
//! is due or has room.

use std::fmt;

use super::{SessionIndex, decode_session};
use crate::wire::malformed::Malformed;
use crate::wire::{Reader, Writer};

/// The longest event.
pub const MAX_EVENT_LEN: usize = 255;

/// Consecutive events, each the game's own bytes.
///
/// ```text
/// 0       2       3
/// | first | count | count x ( length:u8, bytes ) |
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Events<'a> {
    first: u16,
    count: u8,
    /// Checked when decoded: `count` lengths and their bytes.
    body: &'a [u8],
}

impl<'a> Events<'a> {
    /// Writes `events` into `room`, as many as fit, as those with the numbers from `first` on.
    pub fn new(
        first: u16,
        events: impl IntoIterator<Item = &'a [u8]>,
        room: &'a mut [u8],
    ) -> Events<'a> {
        let (mut count, mut len) = (0, 0);
        for event in events {
            let (Ok(event_len), true) = (u8::try_from(event.len()), count < u8::MAX) else { break };
            let Some(place) = room.get_mut(len..len + 1 + event.len()) else { break };
            place[0] = event_len;
            place[1..].copy_from_slice(event);
            len += 1 + event.len();
            count += 1;
        }
        Events { first, count, body: &room[..len] }
    }

    /// The number of the first.
    pub fn first(&self) -> u16 {
        self.first
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        usize::from(self.count)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The events with their numbers.
    pub fn iter(&self) -> impl Iterator<Item = (u16, &'a [u8])> + use<'a> {
        let mut r = Reader::new(self.body);
        let bodies = std::iter::from_fn(move || {
            let len = r.u8("length").ok()?;
            r.take("event", usize::from(len)).ok()
        });
        let first = self.first;
        (0..).map(move |i| first.wrapping_add(i)).zip(bodies)
    }

    fn decode(r: &mut Reader<'a>) -> Result<Self, Malformed> {
        let (first, count) = (r.u16_be("first")?, r.u8("count")?);
        let mut ahead = r.clone();
        for _ in 0..count {
            let len = ahead.u8("length")?;
            ahead.take("event", usize::from(len))?;
        }
        let body = r.take("events", r.left() - ahead.left())?;
        Ok(Events { first, count, body })
    }

    fn encode(&self, w: &mut Writer<'_>) {
        w.u16_be(self.first);
        w.u8(self.count);
        w.bytes(self.body);
    }
}

impl fmt::Debug for Events<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for Events<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeStruct;
        let bodies: Vec<_> = self.iter().map(|(_, event)| crate::wire::hex::Hex(event)).collect();
        let mut fields = serializer.serialize_struct("Events", 3)?;
        fields.serialize_field("first", &self.first)?;
        fields.serialize_field("count", &self.count)?;
        fields.serialize_field("events", &bodies)?;
        fields.end()
    }
}

/// One side's events, and how far it has the other side's. It says itself where it ends.
///
/// ```text
/// 0              2       4       5
/// | acknowledged | first | count | count x ( length:u8, bytes ) |
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct EventBlock<'a> {
    /// The number of the other side's event that is awaited next.
    pub acknowledged: u16,
    /// This side's own; none is a mere acknowledgement.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub events: Events<'a>,
}

impl<'a> EventBlock<'a> {
    /// The bytes of a block without events.
    pub const MIN_LEN: usize = 5;

    /// Stops at the end of the block: what follows is the packet's.
    pub(super) fn decode(r: &mut Reader<'a>) -> Result<Self, Malformed> {
        Ok(EventBlock { acknowledged: r.u16_be("acknowledged")?, events: Events::decode(r)? })
    }

    pub(super) fn encode(&self, w: &mut Writer<'_>) {
        w.u16_be(self.acknowledged);
        self.events.encode(w);
    }
}

/// What must reach the server.
///
/// ```text
/// 0         2
/// | session | EventBlock |
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct ClientEvents<'a> {
    /// The client's.
    pub session: SessionIndex,
    /// The client's events.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub block: EventBlock<'a>,
}

impl<'a> ClientEvents<'a> {
    pub(super) fn decode(r: &mut Reader<'a>) -> Result<Self, Malformed> {
        Ok(ClientEvents { session: decode_session(r)?, block: EventBlock::decode(r)? })
    }

    pub(super) fn encode(&self, w: &mut Writer<'_>) {
        w.u16_be(self.session.get());
        self.block.encode(w);
    }
}

/// What must reach the client: an [`EventBlock`] and nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct ServerEvents<'a> {
    /// The server's events.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub block: EventBlock<'a>,
}

impl<'a> ServerEvents<'a> {
    pub(super) fn decode(r: &mut Reader<'a>) -> Result<Self, Malformed> {
        Ok(ServerEvents { block: EventBlock::decode(r)? })
    }

    pub(super) fn encode(&self, w: &mut Writer<'_>) {
        self.block.encode(w);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::malformed::Fault;
    use crate::wire::native::Packet;
    use crate::wire::testing::{check_native, native_fault};

    const THREE: [&[u8]; 3] = [b"go", b"", b"x"];

    #[test]
    fn client_events_begin_with_the_session() {
        let mut room = [0; 16];
        let packet = ClientEvents {
            session: SessionIndex::new(0x0102).unwrap(),
            block: EventBlock {
                acknowledged: 0x0304,
                events: Events::new(0x0506, THREE, &mut room),
            },
        };
        let bytes = [1, 2, 3, 4, 5, 6, 3, 2, b'g', b'o', 0, 1, b'x'];
        check_native(0x11, &bytes, Packet::ClientEvents(packet));
    }

    #[test]
    fn server_events_begin_with_the_acknowledgement() {
        let mut room = [0; 16];
        let block =
            EventBlock { acknowledged: 0x0304, events: Events::new(0x0506, THREE, &mut room) };
        let packet = ServerEvents { block };
        let bytes = [3, 4, 5, 6, 3, 2, b'g', b'o', 0, 1, b'x'];
        check_native(0xA2, &bytes, Packet::ServerEvents(packet));
        let none = EventBlock { acknowledged: 9, events: Events::new(7, [], &mut []) };
        let bytes = [0, 9, 0, 7, 0];
        check_native(0xA2, &bytes, Packet::ServerEvents(ServerEvents { block: none }));
        assert_eq!(bytes.len(), EventBlock::MIN_LEN);
    }

    #[test]
    fn a_block_ends_where_it_says() {
        let mut r = Reader::new(&[3, 4, 5, 6, 2, 1, b'x', 0, 0xAB, 0xCD]);
        let block = EventBlock::decode(&mut r).unwrap();
        let events: Vec<_> = block.events.iter().collect();
        assert_eq!(events, [(0x0506, &b"x"[..]), (0x0507, b"")]);
        assert_eq!(r.take_rest(), [0xAB, 0xCD]);
    }

    #[test]
    fn events_are_numbered_from_the_first_and_wrap() {
        let mut room = [0; 16];
        let events = Events::new(u16::MAX, THREE, &mut room);
        let numbered: Vec<_> = events.iter().collect();
        assert_eq!(numbered, [(u16::MAX, THREE[0]), (0, THREE[1]), (1, THREE[2])]);
        assert_eq!((events.first(), events.len(), events.is_empty()), (u16::MAX, 3, false));
        assert!(Events::new(0, [], &mut []).is_empty());
    }

    #[test]
    fn events_without_room_are_left_out() {
        let lens = |room: &mut [u8], events: &[&[u8]]| {
            Events::new(0, events.iter().copied(), room)
                .iter()
                .map(|(_, event)| event.len())
                .collect::<Vec<_>>()
        };
        assert_eq!(lens(&mut [0; 4], &THREE), [2, 0]);
        assert_eq!(lens(&mut [0; 2], &THREE), [0; 0]);
        let (longest, too_long) = ([0; MAX_EVENT_LEN], [0; MAX_EVENT_LEN + 1]);
        assert_eq!(lens(&mut [0; 600], &[&longest, &too_long, &longest]), [MAX_EVENT_LEN]);
        assert_eq!(lens(&mut [0; 600], &[&[][..]; 300]).len(), 255);
    }

    #[test]
    fn a_count_or_length_that_the_bytes_contradict_is_refused() {
        let truncated = |field| Malformed::new(field, Fault::Truncated);
        assert_eq!(native_fault(0xA2, &[0, 0, 0, 0, 2, 0]), truncated("length"));
        assert_eq!(native_fault(0xA2, &[0, 0, 0, 0, 1, 2, 7]), truncated("event"));
        let trailing = |packet| Malformed::new(packet, Fault::Trailing { extra: 2 });
        assert_eq!(native_fault(0xA2, &[0, 0, 0, 0, 1, 0, 7, 7]), trailing("ServerEvents"));
        assert_eq!(native_fault(0x11, &[0, 1, 0, 0, 0, 0, 1, 0, 7, 7]), trailing("ClientEvents"));
    }
}
