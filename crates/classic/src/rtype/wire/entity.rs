//! What is in the world: State, Spawn and Despawn.

use backspin::wire::field::{Little, codes, fields, record, serialize_counted};
use backspin::wire::{List, Malformed, Reader, Record, Writer};

/// One thing in the world.
///
/// ```text
/// 0    4      5   9   13   17   21     25
/// | id | kind | x | y | vx | vy | rgba |
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Entity {
    /// The same for as long as the thing lives.
    pub id: u32,
    /// What it is.
    pub kind: Kind,
    /// Left edge, px.
    pub x: f32,
    /// Top edge, px.
    pub y: f32,
    /// Velocity to the right, px/s.
    pub vx: f32,
    /// Velocity downwards, px/s.
    pub vy: f32,
    /// Colour, 0xRRGGBBAA.
    pub rgba: u32,
}

codes! {
    /// What an entity is, on the wire 1 to 4.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Kind {
        /// A player's ship.
        Player = 1,
        /// An enemy.
        Enemy = 2,
        /// A shot of either side.
        Bullet = 3,
        /// Something to collect.
        PowerUp = 4,
    }
}

record!(Little Entity 25 { id, kind, x, y, vx, vy, rgba });

/// Everything that is there, or as much of it as fits a datagram.
///
/// ```text
/// 0       2              2 + 25 count
/// | count | Entity ...   |
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct State<'a> {
    /// The things.
    pub entities: List<'a, Entity>,
}

impl<'a> State<'a> {
    #[inline]
    pub(super) fn decode(r: &mut Reader<'a>) -> Result<Self, Malformed> {
        let count = usize::from(r.u16_le("count")?);
        Ok(State { entities: List::decode(r, "count", count)? })
    }

    pub(super) fn encode(&self, w: &mut Writer<'_>) {
        match u16::try_from(self.entities.len()) {
            Ok(count) => w.u16_le(count),
            Err(_) => w.overflow(),
        }
        self.entities.encode(w);
    }
}

serialize_counted!(State {} entities);

/// One thing more.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(transparent))]
pub struct Spawn {
    /// The thing.
    pub entity: Entity,
}

impl Spawn {
    pub(super) fn decode(r: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(Spawn { entity: Entity::decode(r)? })
    }

    pub(super) fn encode(&self, w: &mut Writer<'_>) {
        self.entity.encode(w);
    }
}

/// One thing less.
///
/// ```text
/// 0    4
/// | id |
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Despawn {
    /// The thing's.
    pub id: u32,
}

fields!(Little Despawn { id });

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rtype::wire::Packet;
    use crate::testing::check;
    use backspin::wire::Fault;
    use backspin::wire::Full;

    const SHIP: Entity = Entity {
        id: 1,
        kind: Kind::Player,
        x: 50.0,
        y: 100.0,
        vx: 150.0,
        vy: -150.0,
        rgba: 0x55AA_FFFF,
    };
    const SHIP_BYTES: [u8; 25] = [
        1, 0, 0, 0, 1, 0, 0, 0x48, 0x42, 0, 0, 0xC8, 0x42, 0, 0, 0x16, 0x43, 0, 0, 0x16, 0xC3,
        0xFF, 0xFF, 0xAA, 0x55,
    ];

    fn packet(kind: u8, payload: &[&[u8]]) -> Vec<u8> {
        let payload = payload.concat();
        [&[payload.len() as u8, 0, kind, 1], payload.as_slice()].concat()
    }

    #[test]
    fn a_state_counts_its_entities() {
        let shot = Entity { id: 2, kind: Kind::Bullet, rgba: 0xFFFF_00FF, ..SHIP };
        let mut shot_bytes = SHIP_BYTES;
        shot_bytes[0] = 2;
        shot_bytes[4] = 3;
        shot_bytes[21..].copy_from_slice(&[0xFF, 0, 0xFF, 0xFF]);
        let bytes = packet(4, &[&[2, 0], &SHIP_BYTES, &shot_bytes]);
        check(&bytes, &Packet::State(State { entities: List::new(&[SHIP, shot]) }));
    }

    #[test]
    fn a_count_that_the_bytes_contradict_is_refused() {
        let bytes = packet(4, &[&[3, 0], &SHIP_BYTES]);
        let fault = Fault::WrongSize { stated: 3, actual: 1 };
        assert_eq!(Packet::decode(&bytes), Err(Malformed::new("count", fault)));
    }

    #[test]
    fn a_state_beyond_the_size_field_does_not_encode() {
        let ships = vec![SHIP; 2622];
        let state = |n| Packet::State(State { entities: List::new(&ships[..n]) });
        let mut out = vec![0; 80_000];
        assert_eq!(state(2621).encode(&mut out), Ok(4 + 2 + 2621 * 25));
        assert_eq!(state(2622).encode(&mut out), Err(Full));
    }

    #[test]
    fn spawn_and_despawn() {
        let bytes = packet(5, &[&SHIP_BYTES]);
        check(&bytes, &Packet::Spawn(Spawn { entity: SHIP }));
        check(&packet(6, &[&[1, 2, 0, 0]]), &Packet::Despawn(Despawn { id: 513 }));
    }

    #[test]
    fn kinds_and_floats_have_their_range() {
        for kind in [0, 5, 255] {
            let mut bytes = packet(5, &[&SHIP_BYTES]);
            bytes[8] = kind;
            assert_eq!(Packet::decode(&bytes), Err(Malformed::out_of_range("kind", kind)));
        }
        for (i, field) in ["x", "y", "vx", "vy"].into_iter().enumerate() {
            let mut bytes = packet(5, &[&SHIP_BYTES]);
            bytes[9 + 4 * i..13 + 4 * i].copy_from_slice(&f32::INFINITY.to_le_bytes());
            assert_eq!(Packet::decode(&bytes), Err(Malformed::new(field, Fault::NotFinite)));
        }
    }
}
