//! What strangers send: whole datagrams, some of them nearly right.

use super::act::Knock;
use super::probe::Probe;
use crate::Chance;
use backspin::game::Game;
use backspin::wire::Name;
use backspin::wire::native::{
    Budget, Datagram, Discover, Hello, History, Join, JoinData, ListRooms, MAX_DATAGRAM_LEN,
    PROTOCOL, Packet, Ping, Resume, Role, Secret, Token,
};

/// What a stranger writes next; `overheard` is a datagram of the guest that it speaks of. Nothing,
/// if there is nothing to make it of.
pub(super) fn write(knock: Knock, overheard: &[u8], chance: &mut Chance) -> Option<Vec<u8>> {
    let (nonce, cookie) = (chance.u64(), secret(chance));
    let packet = match knock {
        Knock::Hello => hello(nonce),
        Knock::Ask => return Some(question(cookie, chance)),
        Knock::Garbage => return Some(garbage(chance)),
        Knock::ForgedJoin => join(nonce, cookie, 0, Name::default()),
        Knock::ForgedResume => Packet::Resume(Resume {
            nonce,
            cookie,
            ticket: secret(chance),
            fresh: chance.happens(0.5),
        }),
        Knock::Mirror => return mirrored(overheard, chance),
        Knock::Replay => return (!overheard.is_empty()).then(|| overheard.to_vec()),
        Knock::FarNumbers => return spoken_for(overheard, chance.below(1 << 30) as u32 + 8_192),
        Knock::NearNumbers => return spoken_for(overheard, chance.below(400) as u32),
        Knock::Spoofed | Knock::Flood => {
            Packet::Ping(Ping { session: None, id: chance.u64() as u32, timestamp: 5 })
        }
    };
    encoded(chance.u64() as u32, packet)
}

pub(super) fn hello(nonce: u64) -> Packet<'static> {
    let (id, protocol) = (Probe::default().id(), PROTOCOL);
    Packet::Hello(Hello { protocol, game: id.game, game_version: id.version, nonce })
}

pub(super) fn join(nonce: u64, cookie: Secret, room: u32, password: Name) -> Packet<'static> {
    let id = Probe::default().id();
    Packet::Join(Join {
        nonce,
        cookie,
        protocol: PROTOCOL,
        game: id.game,
        game_version: id.version,
        layout: Probe::default().layout() as u32,
        budget: Budget::MAX,
        role: Role::Play,
        room,
        name: Name::new("Visitor"),
        password,
        data: JoinData::default(),
        token: no_token(),
    })
}

pub(super) fn no_token() -> Token<'static> {
    Token::new(&[]).expect("no bytes are few enough")
}

fn question(cookie: Secret, chance: &mut Chance) -> Vec<u8> {
    let (nonce, game, sequence) = (chance.u64(), Probe::default().id().game, chance.u64() as u32);
    let packet = match chance.below(5) {
        0 => Packet::Discover(Discover { nonce, game }),
        1 => Packet::ListRooms(ListRooms { nonce, cookie, game, first: 0 }),
        2 => return vec![1],
        3 => return [&[8, 0, 7, 1][..], &nonce.to_be_bytes()].concat(),
        _ => Packet::Ping(Ping { session: None, id: sequence, timestamp: 5 }),
    };
    encoded(sequence, packet).unwrap_or_default()
}

/// Any bytes, half of them behind a header that is right.
fn garbage(chance: &mut Chance) -> Vec<u8> {
    let len = chance.below(400) as usize;
    let mut bytes: Vec<u8> = (0..len).map(|_| chance.u64() as u8).collect();
    if chance.below(2) == 0 && len >= 9 {
        const TYPES: [u8; 12] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 17, 18];
        let payload_len = (len - 9) as u16;
        bytes[..3].copy_from_slice(&[1, TYPES[chance.below(12) as usize], 0]);
        bytes[3..5].copy_from_slice(&payload_len.to_be_bytes());
    }
    bytes
}

/// The same inputs a little later, with other buttons.
fn mirrored(overheard: &[u8], chance: &mut Chance) -> Option<Vec<u8>> {
    let Datagram { sequence, packet } = Datagram::decode(overheard).ok()?;
    let Packet::Input(mut input) = packet else { return None };
    input.newest.input_flags.0 ^= 1 + u128::from(chance.below(63));
    input.newest.sequence = input.newest.sequence.wrapping_add(chance.below(8) as u32).max(1);
    let sequence = sequence.wrapping_add(1 + chance.below(200) as u32);
    let mut room = [0; History::MAX_LEN];
    input.history = History::new(input.newest.input_flags, input.history.iter(), &mut room);
    encoded(sequence, Packet::Input(input))
}

/// A ping of the same session whose number is so far ahead: it means no harm but by its number.
fn spoken_for(overheard: &[u8], ahead: u32) -> Option<Vec<u8>> {
    let Datagram { sequence, packet } = Datagram::decode(overheard).ok()?;
    let sequence = sequence.wrapping_add(ahead);
    let session = packet.session();
    encoded(sequence, Packet::Ping(Ping { session, id: sequence, timestamp: 5 }))
}

fn encoded(sequence: u32, packet: Packet<'_>) -> Option<Vec<u8>> {
    let mut out = [0; MAX_DATAGRAM_LEN];
    let len = Datagram { sequence, packet }.encode(&mut out).ok()?;
    Some(out[..len].to_vec())
}

fn secret(chance: &mut Chance) -> Secret {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&chance.u64().to_be_bytes());
    bytes[8..].copy_from_slice(&chance.u64().to_be_bytes());
    Secret(bytes)
}
