//! SERVER_SNAPSHOT: the world, and the last input that was processed.

use crate::full::EntityState;
use backspin::wire::native::{HEADER_LEN, MAX_DATAGRAM_LEN};
use backspin::wire::{List, Malformed, Reader, Record, Writer};

/// So many entities fit a datagram.
pub const ENTITIES_MAX: usize =
    (MAX_DATAGRAM_LEN - HEADER_LEN - Snapshot::HEAD_LEN) / <EntityState as Record>::LEN;
const _: () = assert!(ENTITIES_MAX == 45);

/// What an entity is.
pub mod entity_type {
    /// A player's ship.
    pub const PLAYER: u16 = 1;
    /// An enemy.
    pub const ENEMY: u16 = 2;
    /// A bullet, whoever fired it.
    pub const BULLET: u16 = 3;
    /// A power-up.
    pub const POWER_UP: u16 = 4;
    /// A player's paddle.
    pub const PADDLE: u16 = 16;
    /// The ball.
    pub const BALL: u16 = 17;
    /// The scores (x and y), the receiver's lives (health) and the phase (flags).
    pub const SCOREBOARD: u16 = 256;
}

/// The world after a tick, or a part of it.
///
/// ```text
/// 0             4              6                   6 + 26 entity_count
/// | server_tick | entity_count | EntityState ...   |
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Snapshot<'a> {
    /// The tick after which the world looked so.
    pub server_tick: u32,
    /// Whether more datagrams of this tick follow: bit 2 of the header's flags.
    pub more: bool,
    /// What is there.
    pub entities: List<'a, EntityState>,
}

impl<'a> Snapshot<'a> {
    const HEAD_LEN: usize = 6;

    /// `more` is in the header.
    pub(super) fn decode(r: &mut Reader<'a>) -> Result<Self, Malformed> {
        let server_tick = r.u32_be("server_tick")?;
        let count = usize::from(r.u16_be("entity_count")?);
        let entities = List::decode(r, "entity_count", count)?;
        Ok(Snapshot { server_tick, more: false, entities })
    }

    pub(super) fn encode(&self, w: &mut Writer<'_>) {
        w.u32_be(self.server_tick);
        match u16::try_from(self.entities.len()) {
            Ok(count) => w.u16_be(count),
            Err(_) => w.overflow(),
        }
        self.entities.encode(w);
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for Snapshot<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeStruct;
        let mut fields = serializer.serialize_struct("Snapshot", 4)?;
        fields.serialize_field("server_tick", &self.server_tick)?;
        fields.serialize_field("more", &u8::from(self.more))?;
        fields.serialize_field("entity_count", &self.entities.len())?;
        fields.serialize_field("entities", &self.entities)?;
        fields.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ack::wire::testing::{check_packet, datagram, fault};
    use crate::ack::wire::{Datagram, Packet};
    use crate::testing::check;
    use backspin::wire::{Fault, Full};

    const PAYLOAD: [u8; 32] = [
        0, 0, 1, 2, 0, 1, // server_tick, entity_count
        0, 0, 0, 7, 0, 1, 0x42, 0x48, 0, 0, 0xC2, 0xC8, 0, 0, // entity_id to y
        0, 0x96, 0xFF, 0x6A, 0, 3, 0x80, 0, 0, 0, 0, 42, // vx to last_ack_sequence
    ];
    const SHIP: EntityState = EntityState {
        entity_id: 7,
        entity_type: entity_type::PLAYER,
        x: 50.0,
        y: -100.0,
        vx: 150,
        vy: -150,
        health: 3,
        flags: 0x8000,
        last_ack_sequence: 42,
    };

    #[test]
    fn an_entity_has_the_26_bytes_of_document_004() {
        let entities = List::new(&[SHIP]);
        let snapshot = Snapshot { server_tick: 258, more: false, entities };
        check_packet(0xA0, &PAYLOAD, Packet::Snapshot(snapshot));
        let mut bytes = datagram(0xA0, &PAYLOAD);
        bytes[2] = 4;
        let packet = Packet::Snapshot(Snapshot { more: true, ..snapshot });
        check(&bytes, &Datagram { sequence: 0x0A0B_0C0D, packet });
        let empty = Snapshot { entities: List::new(&[]), ..snapshot };
        check_packet(0xA0, &[0, 0, 1, 2, 0, 0], Packet::Snapshot(empty));
    }

    #[test]
    fn a_count_that_the_bytes_contradict_is_refused() {
        for (stated, bytes) in [(0, [0, 0]), (2, [0, 2]), (65535, [0xFF, 0xFF])] {
            let mut payload = PAYLOAD;
            payload[4..6].copy_from_slice(&bytes);
            let wrong = Fault::WrongSize { stated, actual: 1 };
            assert_eq!(fault(0xA0, &payload), Malformed::new("entity_count", wrong));
        }
        for (at, field) in [(12, "x"), (16, "y")] {
            let mut payload = PAYLOAD;
            payload[at..at + 4].copy_from_slice(&f32::NAN.to_be_bytes());
            assert_eq!(fault(0xA0, &payload), Malformed::new(field, Fault::NotFinite));
        }
    }

    #[test]
    fn a_datagram_has_45_entities_and_less_than_1200_bytes() {
        let encode = |count: usize| {
            let entities = vec![SHIP; count];
            let entities = List::new(&entities);
            let packet = Packet::Snapshot(Snapshot { server_tick: 1, more: true, entities });
            Datagram { sequence: 1, packet }.encode(&mut [0; 2_000])
        };
        assert_eq!(encode(ENTITIES_MAX), Ok(1_185));
        assert_eq!(encode(ENTITIES_MAX + 1), Err(Full));
    }
}
