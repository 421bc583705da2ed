//! A match that is under way allocates nothing, on either side: proved by an allocator that
//! counts.

mod counting;

use std::net::SocketAddr;
use std::time::Duration;

use backspin::client::{Client, ClientConfig, Frame};
use backspin::endpoint::EndpointConfig;
use backspin::game::Game;
use backspin::node::{Node, Path, StreamEvent, StreamId, StreamNode};
use backspin::room::RoomConfig;
use backspin::server::Server;
use backspin::time::Time;
use backspin::typed::RawInput;
use backspin::wire::{List, Name};
use backspin_classic::Dialect;
use backspin_classic::wire::{lan, rtype};
use backspin_sim::dot::Dots;

#[path = "../examples/tag/rules.rs"]
#[allow(dead_code)]
pub mod tag;

/// A server and two players, joined by pipes that lose nothing and keep their memory.
struct Table<G: Game> {
    now: Time,
    server: Server<G>,
    clients: [Client<G>; 2],
    up: Pipe,
    down: Pipe,
    frame: Frame,
    drawn: usize,
    heard: usize,
}

const SERVER: SocketAddr = address(1, 4300);
const PLAYERS: [SocketAddr; 2] = [address(2, 5000), address(3, 5000)];
const WAY: Duration = Duration::from_millis(30);
const MS: Duration = Duration::from_millis(1);

const fn address(host: u8, port: u16) -> SocketAddr {
    use std::net::{IpAddr, Ipv4Addr};
    SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, 0, 0, host)), port)
}

/// Datagrams on their way, in a ring of buffers.
struct Pipe {
    slots: Vec<Slot>,
    first: usize,
    len: usize,
}

struct Slot {
    due: Time,
    /// Whose way it is.
    player: usize,
    bytes: [u8; 2048],
    bytes_len: usize,
}

impl Pipe {
    fn new() -> Self {
        let slot = |_| Slot { due: Time::ZERO, player: 0, bytes: [0; 2048], bytes_len: 0 };
        Pipe { slots: (0..64).map(slot).collect(), first: 0, len: 0 }
    }

    fn vacant(&mut self) -> &mut Slot {
        assert!(self.len < self.slots.len(), "the pipe is full");
        let index = (self.first + self.len) % self.slots.len();
        &mut self.slots[index]
    }

    fn arrived(&mut self, now: Time) -> Option<&mut Slot> {
        if self.len == 0 || self.slots[self.first].due > now {
            return None;
        }
        let index = self.first;
        self.first = (self.first + 1) % self.slots.len();
        self.len -= 1;
        Some(&mut self.slots[index])
    }
}

impl<G: Game> Table<G> {
    fn new(game: G) -> Self {
        let now = Time::from_millis(1_000);
        let mut server = Server::new(EndpointConfig::default(), [7; 32]);
        server.open(now, game.clone(), Name::new("Room"), 1, RoomConfig::default());
        let client = |i: u8| {
            let config = ClientConfig::new(SERVER, Name::new("Alice"));
            Client::new(now, game.clone(), config, [i; 32])
        };
        let (up, down) = (Pipe::new(), Pipe::new());
        let (clients, frame) = ([client(1), client(2)], Frame::default());
        Table { now, server, clients, up, down, frame, drawn: 0, heard: 0 }
    }

    /// One millisecond; a frame every 16 of them.
    fn pass(&mut self) {
        self.now += MS;
        let now = self.now;
        while let Some(slot) = self.up.arrived(now) {
            let path = Path::to(PLAYERS[slot.player]);
            self.server.handle_datagram(now, path, &mut slot.bytes[..slot.bytes_len]);
        }
        if self.server.poll_timeout().is_some_and(|due| due <= now) {
            self.server.handle_timeout(now);
        }
        loop {
            let slot = self.down.vacant();
            let Some(sent) = self.server.poll_transmit(now, &mut slot.bytes) else { break };
            let player = PLAYERS.iter().position(|&player| sent.path.remote == player).unwrap();
            (slot.due, slot.player, slot.bytes_len) = (now + WAY, player, sent.len);
            self.down.len += 1;
        }
        while let Some(slot) = self.down.arrived(now) {
            let bytes = &mut slot.bytes[..slot.bytes_len];
            self.clients[slot.player].handle_datagram(now, Path::to(SERVER), bytes);
        }
        for player in 0..2 {
            self.play(player);
        }
    }

    fn play(&mut self, player: usize) {
        let (now, client) = (self.now, &mut self.clients[player]);
        let ms = now.as_millis();
        // Pressed anew seven times a second, all over the field.
        let held = (ms / 143).wrapping_mul(0x9E37_79B9_7F4A_7C15 + player as u64) >> 17;
        client.press(RawInput::from(held as u16 & 63).read());
        if client.poll_timeout().is_some_and(|due| due <= now) {
            client.handle_timeout(now);
        }
        loop {
            let slot = self.up.vacant();
            let Some(sent) = client.poll_transmit(now, &mut slot.bytes) else { break };
            (slot.due, slot.player, slot.bytes_len) = (now + WAY, player, sent.len);
            self.up.len += 1;
        }
        if ms.is_multiple_of(16) {
            client.draw(now, &mut self.frame);
            self.drawn += self.frame.entities.len();
        }
        while client.poll_event().is_some() {
            self.heard += 1;
        }
    }
}

fn assert_steady<G: Game>(game: G) -> Table<G> {
    let mut table = Table::new(game);
    // Long enough for every buffer to have grown, and for every ping and roster to have been said.
    for _ in 0..8_000 {
        table.pass();
    }
    assert!(table.clients.iter().all(Client::is_playing));
    (table.drawn, table.heard) = (0, 0);
    let before = counting::allocations();
    if std::env::var_os("FIND_ALLOCATION").is_some() {
        counting::panic_at_the_next();
    }
    let tick = table.server.rooms()[0].tick();
    for _ in 0..10_000 {
        table.pass();
    }
    counting::let_be();
    let allocations = counting::allocations() - before;
    assert_eq!(allocations, 0, "run with FIND_ALLOCATION=1 to see the first of them");
    let ticks = table.server.rooms()[0].tick() - tick;
    assert!((599..=601).contains(&ticks), "{ticks} ticks");
    assert!(table.drawn >= 2 * 2 * 600, "{} drawn", table.drawn);
    table
}

#[test]
fn the_counter_counts() {
    let before = counting::allocations();
    drop(std::hint::black_box(Box::new(7)));
    assert_eq!(counting::allocations() - before, 1);
}

#[test]
fn a_match_under_way_allocates_nothing() {
    assert_steady(Dots::default());
}

#[test]
fn a_swarm_under_way_allocates_nothing() {
    assert_steady(Dots { swarm: 64 });
}

/// Spawns and events come and go with it.
#[test]
fn a_game_of_tag_under_way_allocates_nothing() {
    let table = assert_steady(tag::Tag);
    assert!(table.heard > 10, "{} events", table.heard);
}

/// A client of an old program, which moves 40 things in `rtype`.
struct Guest {
    client: Client<Dots>,
    now: Time,
    frame: Frame,
    drawn: usize,
}

impl Guest {
    fn new(dialect: Dialect) -> Self {
        let now = Time::from_millis(1_000);
        let mut config = ClientConfig::new(SERVER, Name::new("Alice"));
        config.own_port = 5000;
        let mut client = dialect.client(now, Dots::default(), config, [1; 32]);
        if dialect == Dialect::Rtype {
            let mut out = [0; 64];
            for bytes in [&[0, 0, 100, 1][..], &[6, 0, 2, 1, 0xCC, 0x10, 0, 0, 0, 0]] {
                while client.poll_stream(now, &mut out).is_some() {}
                client.handle_stream(now, StreamId(0), StreamEvent::Received(bytes));
            }
            let players = [rtype::RosterEntry { id: 1, lives: 3, name: Name::new("Alice") }];
            let roster = rtype::Roster { players: List::new(&players) };
            let len = rtype::Packet::Roster(roster).encode(&mut out).unwrap();
            client.handle_datagram(now, Path::to(SERVER), &mut out[..len]);
        }
        Guest { client, now, frame: Frame::default(), drawn: 0 }
    }

    /// A state every 17 ms, in two datagrams in `rtype`, and a frame every 16.
    fn pass(&mut self, dialect: Dialect) {
        self.now += MS;
        let (now, ms) = (self.now, self.now.as_millis());
        let held = (ms / 143).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 17;
        self.client.press(RawInput::from(held as u16 & 63).read());
        let mut out = [0; 2048];
        let x = (ms % 1400) as f32;
        if ms.is_multiple_of(17) && dialect == Dialect::Lan {
            let update = lan::StateUpdate {
                seq: (ms / 17) as u32,
                p1y: x / 2.0,
                p2y: 390.0,
                ballx: x,
                bally: 400.0,
                ballvx: 60.0,
                ballvy: 0.0,
                p1: 0,
                p2: 0,
            };
            let len = lan::Packet::StateUpdate(update).encode(&mut out).unwrap();
            self.client.handle_datagram(now, Path::to(SERVER), &mut out[..len]);
        } else if ms.is_multiple_of(17) {
            for (first, kind) in [(1, rtype::Kind::Player), (100, rtype::Kind::Bullet)] {
                // Some are gone, and come again; the own one stays.
                let others = |i: u32| if i > 0 { i + (ms / 170) as u32 % 3 } else { 0 };
                let entity = |i: u32| rtype::Entity {
                    id: first + others(i),
                    kind,
                    x,
                    y: 10.0 * i as f32,
                    vx: 1000.0,
                    vy: 0.0,
                    rgba: 0,
                };
                let entities: [_; 20] = std::array::from_fn(|i| entity(i as u32));
                let state = rtype::State { entities: List::new(&entities) };
                let len = rtype::Packet::State(state).encode(&mut out).unwrap();
                self.client.handle_datagram(now, Path::to(SERVER), &mut out[..len]);
            }
        }
        if self.client.poll_timeout().is_some_and(|due| due <= now) {
            self.client.handle_timeout(now);
        }
        while self.client.poll_transmit(now, &mut out).is_some() {}
        while self.client.poll_event().is_some() {}
        if ms.is_multiple_of(16) {
            self.client.draw(now, &mut self.frame);
            self.drawn += self.frame.entities.len();
        }
    }
}

#[test]
fn a_guest_of_an_old_program_allocates_nothing() {
    for dialect in [Dialect::Lan, Dialect::Rtype] {
        let mut guest = Guest::new(dialect);
        for _ in 0..8_000 {
            guest.pass(dialect);
        }
        assert!(guest.client.is_playing() && guest.client.predicted().is_some(), "{dialect}");
        let states = guest.client.counts().states;
        guest.drawn = 0;
        if std::env::var_os("FIND_ALLOCATION").is_some() {
            counting::panic_at_the_next();
        }
        let before = counting::allocations();
        for _ in 0..10_000 {
            guest.pass(dialect);
        }
        counting::let_be();
        let allocations = counting::allocations() - before;
        assert_eq!(allocations, 0, "{dialect}: run with FIND_ALLOCATION=1 to see the first");
        assert!(guest.client.counts().states - states > 550, "{dialect}");
        assert!(guest.drawn > 3 * 600, "{dialect}: {} drawn", guest.drawn);
    }
}
