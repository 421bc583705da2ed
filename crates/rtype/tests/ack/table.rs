//! A server, and who speaks `ack` with it.

use std::net::SocketAddr;

use backspin::endpoint::EndpointConfig;
use backspin::room::RoomConfig;
use backspin::server::Server;
use backspin::time::Time;
use backspin::wire::Name;
use backspin_rtype::{RType, World};

use crate::desk::{Desk, Sent, address, sent_to};

pub(crate) const HELLO: u8 = 0x20;
pub(crate) const JOIN: u8 = 0x21;
pub(crate) const PING: u8 = 0x22;
pub(crate) const LEAVE: u8 = 0x23;
pub(crate) const INPUT: u8 = 0x10;
pub(crate) const SNAPSHOT: u8 = 0xA0;
pub(crate) const CHALLENGE: u8 = 0xB0;
pub(crate) const WELCOME: u8 = 0xB1;
pub(crate) const REFUSED: u8 = 0xB2;
pub(crate) const PONG: u8 = 0xB3;
pub(crate) const BYE: u8 = 0xB4;

pub(crate) const UP: u16 = 1;
pub(crate) const DOWN: u16 = 2;
pub(crate) const RIGHT: u16 = 8;
pub(crate) const SHOOT: u16 = 16;

pub(crate) struct Table {
    pub(crate) desk: Desk<Server<RType>>,
    sequence: u32,
}

/// One entity of a snapshot.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Entity {
    pub(crate) id: u32,
    pub(crate) kind: u16,
    pub(crate) x: f32,
    pub(crate) y: f32,
    pub(crate) vx: i16,
    pub(crate) vy: i16,
    pub(crate) health: u16,
    pub(crate) flags: u16,
    pub(crate) ack: u32,
}

/// One datagram of a snapshot.
#[derive(Clone, Debug)]
pub(crate) struct Snapshot {
    pub(crate) sequence: u32,
    pub(crate) more: bool,
    pub(crate) tick: u32,
    pub(crate) entities: Vec<Entity>,
}

impl Table {
    pub(crate) fn new() -> Self {
        Table::with(RType::default(), EndpointConfig::default())
    }

    pub(crate) fn with(game: RType, config: EndpointConfig) -> Self {
        let mut server = Server::new(config, [5; 32]).speaking(backspin_classic::dialects());
        let room = RoomConfig { journal: 100_000, ..RoomConfig::default() };
        server.open(Time::ZERO, game, Name::new("Rooms"), 7, room);
        Table { desk: Desk::new(server), sequence: 0 }
    }

    /// Someone sends a packet; what comes of it at once.
    pub(crate) fn say(&mut self, from: SocketAddr, kind: u8, payload: &[u8]) -> Vec<Sent> {
        self.sequence += 1;
        let bytes = datagram(kind, self.sequence, payload);
        self.desk.receive(from, &bytes)
    }

    /// A cookie for whoever is there.
    pub(crate) fn cookie(&mut self, from: SocketAddr) -> [u8; 16] {
        let sent = self.say(from, HELLO, &[0; 32]);
        let [challenge] = sent_to(&sent, from)[..] else { panic!("{sent:02x?}") };
        assert_eq!((challenge[1], challenge.len()), (CHALLENGE, 25));
        challenge[9..].try_into().unwrap()
    }

    /// JOIN; what it brings.
    pub(crate) fn join_with(&mut self, from: SocketAddr, cookie: [u8; 16]) -> Vec<Sent> {
        self.say(from, JOIN, &join(cookie, b"RTYP", b""))
    }

    /// Both steps; the player's entity.
    pub(crate) fn join(&mut self, from: SocketAddr) -> u32 {
        let cookie = self.cookie(from);
        let sent = self.join_with(from, cookie);
        let welcome = sent_to(&sent, from)[0];
        assert_eq!((welcome[1], welcome.len()), (WELCOME, 22), "{welcome:02x?}");
        u32_at(welcome, 13)
    }

    pub(crate) fn input(&mut self, from: SocketAddr, number: u32, flags: u16) -> Vec<Sent> {
        self.say(from, INPUT, &input(number, flags))
    }

    /// The next tick; what is sent in it.
    pub(crate) fn tick(&mut self) -> Vec<Sent> {
        let due = self.desk.node.rooms()[0].poll_timeout();
        let ms = due.since(self.desk.now).as_millis() as u64 + 1;
        let before = self.world_tick();
        let sent = self.desk.advance_ms(ms);
        assert_eq!(self.world_tick(), before + 1);
        sent
    }

    pub(crate) fn world_tick(&self) -> u32 {
        self.desk.node.rooms()[0].tick()
    }

    pub(crate) fn world(&self) -> &World {
        self.desk.node.rooms()[0].world()
    }

    /// Where a ship is, in 1/16 px.
    pub(crate) fn ship(&self, player: u32) -> [i32; 2] {
        let mut ships = self.world().ships().iter();
        let ship = ships.find(|ship| ship.player.0 == player).expect("a ship");
        [ship.at.x, ship.at.y]
    }

    /// The lines of the room's log since this was asked last.
    pub(crate) fn lines(&mut self) -> Vec<String> {
        let room = &mut self.desk.node.rooms_mut()[0];
        std::iter::from_fn(|| room.poll_line()).map(|line| line.to_string()).collect()
    }
}

pub(crate) fn alice() -> SocketAddr {
    address("10.0.0.2:5000")
}

pub(crate) fn bobby() -> SocketAddr {
    address("10.0.0.3:5000")
}

pub(crate) fn datagram(kind: u8, sequence: u32, payload: &[u8]) -> Vec<u8> {
    let len = (payload.len() as u16).to_be_bytes();
    [&[1, kind, 0, len[0], len[1]], &sequence.to_be_bytes()[..], payload].concat()
}

pub(crate) fn join(cookie: [u8; 16], game: &[u8; 4], token: &[u8]) -> Vec<u8> {
    [&cookie[..], game, b"Alice\0\0\0\0\0\0\0\0\0\0\0", token].concat()
}

pub(crate) fn input(number: u32, flags: u16) -> Vec<u8> {
    let delta_time = (1.0_f32 / 60.0).to_be_bytes();
    [&number.to_be_bytes()[..], &flags.to_be_bytes(), &[0, 0, 0x30, 0x39], &delta_time].concat()
}

/// The types of what went to someone.
pub(crate) fn kinds(sent: &[Sent], to: SocketAddr) -> Vec<u8> {
    sent_to(sent, to).iter().map(|bytes| bytes[1]).collect()
}

pub(crate) fn snapshots(sent: &[Sent], to: SocketAddr) -> Vec<Snapshot> {
    let all = sent_to(sent, to).into_iter().filter(|bytes| bytes[1] == SNAPSHOT);
    all.map(Snapshot::read).collect()
}

/// The own entity in the last snapshot.
#[track_caller]
pub(crate) fn own(sent: &[Sent], to: SocketAddr) -> Entity {
    snapshots(sent, to).last().expect("a snapshot").entities[0]
}

impl Snapshot {
    fn read(bytes: &[u8]) -> Self {
        assert!(bytes.len() < 1_200 && bytes[0] == 1 && matches!(bytes[2], 0 | 4));
        assert_eq!(usize::from(u16_at(bytes, 3)), bytes.len() - 9);
        let entities: Vec<_> = bytes[15..].chunks(26).map(Entity::read).collect();
        assert_eq!(usize::from(u16_at(bytes, 13)), entities.len());
        Snapshot {
            sequence: u32_at(bytes, 5),
            more: bytes[2] == 4,
            tick: u32_at(bytes, 9),
            entities,
        }
    }

    pub(crate) fn find(&self, kind: u16) -> Option<Entity> {
        self.entities.iter().copied().find(|entity| entity.kind == kind)
    }
}

impl Entity {
    fn read(bytes: &[u8]) -> Self {
        let signed = |at| u16_at(bytes, at).cast_signed();
        Entity {
            id: u32_at(bytes, 0),
            kind: u16_at(bytes, 4),
            x: f32::from_bits(u32_at(bytes, 6)),
            y: f32::from_bits(u32_at(bytes, 10)),
            vx: signed(14),
            vy: signed(16),
            health: u16_at(bytes, 18),
            flags: u16_at(bytes, 20),
            ack: u32_at(bytes, 22),
        }
    }
}

pub(crate) fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes(bytes[at..at + 2].try_into().unwrap())
}

pub(crate) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap())
}
