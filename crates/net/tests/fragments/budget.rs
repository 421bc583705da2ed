//! How a server keeps to a member's budget, seen by a client of packets.

use std::net::SocketAddr;
use std::time::Duration;

use backspin::endpoint::EndpointConfig;
use backspin::game::{Event, Game, GameId, PlayerId, Reach, Turn};
use backspin::node::{Node, Path};
use backspin::replication::{Assembly, Entity, Field, Kind, Motion, Schema, State, Step, delta};
use backspin::room::RoomConfig;
use backspin::server::Server;
use backspin::time::Time;
use backspin::wire::Name;
use backspin::wire::native::{
    Budget, Datagram, Hello, Join, MIN_BUDGET, PROTOCOL, Packet, Role, Secret, Token,
};

/// A game of things that stand still. Of `count` of them a first body has `count + 1` bytes: a
/// bit that there is more, one for the next id, six for the value; and two at the ends.
#[derive(Clone, Copy, Debug)]
struct Row {
    count: u16,
}

const SCHEMA: Schema = Schema {
    kinds: &[Kind {
        name: "thing",
        fields: &[Field { name: "value", min: 0, max: 63, step: Step::ONE, motion: Motion::Still }],
    }],
};

impl Game for Row {
    type World = ();

    fn id(&self) -> GameId {
        GameId::new(*b"ROWS", 1)
    }

    fn capacity(&self) -> u8 {
        4
    }

    fn schema(&self) -> &'static Schema {
        &SCHEMA
    }

    fn begin(&self, _: u64) {}

    fn join(&self, (): &mut (), _: PlayerId) {}

    fn leave(&self, (): &mut (), _: PlayerId) {}

    fn step(&self, (): &mut (), turn: &mut Turn<'_, ()>) {
        let value = turn.tick().cast_signed();
        turn.raise(Event { kind: 1, entity: 0, value, reach: Reach::Everyone });
    }

    fn capture(&self, (): &(), state: &mut State) {
        for id in 0..self.count {
            let value = i32::from(id * 5 % 64);
            state.push(Entity::new(&SCHEMA, id, 0, &[value])).expect("ids rise");
        }
    }

    fn restore(&self, _: &State) {}
}

/// What came of one tick.
#[derive(Default)]
struct Tick {
    /// How long its datagrams with the world were.
    world: Vec<usize>,
    parts: u8,
    /// How many events came with the world, and how many alone.
    beside: usize,
    alone: usize,
    state: Option<State>,
}

/// Joins a row of `count` with `budget`, and says what the server sends for the next ticks to a
/// client that acknowledges nothing.
fn watch(count: u16, budget: u16, ticks: u64) -> Vec<Tick> {
    let at = Path::to(SocketAddr::from(([10, 0, 0, 2], 5000)));
    let mut server = Server::new(EndpointConfig::default(), [1; 32]);
    server.open(Time::ZERO, Row { count }, Name::new("Row"), 1, RoomConfig::default());
    let mut out = [0; 2048];
    let (game, game_version, nonce) = (Row { count }.id().game, 1, 7);
    let hello = Hello { protocol: PROTOCOL, game, game_version, nonce };
    let mut say = |server: &mut Server<Row>, sequence, packet: Packet<'_>| {
        let len = Datagram { sequence, packet }.encode(&mut out).unwrap();
        server.handle_datagram(Time::ZERO, at, &mut out[..len]);
    };
    say(&mut server, 1, Packet::Hello(hello));
    let mut answer = [0; 2048];
    let len = server.poll_transmit(Time::ZERO, &mut answer).unwrap().len;
    let Packet::Challenge(challenge) = Datagram::decode(&answer[..len]).unwrap().packet else {
        panic!("no challenge");
    };
    let cookie: Secret = challenge.cookie;
    let join = Join {
        nonce,
        cookie,
        protocol: PROTOCOL,
        game,
        game_version,
        budget: Budget::new(budget).unwrap(),
        role: Role::Play,
        room: 0,
        name: Name::new("Alice"),
        password: Name::default(),
        token: Token::new(&[]).unwrap(),
    };
    say(&mut server, 2, Packet::Join(join));
    // Greeting, roster and the world before the first tick.
    while server.poll_transmit(Time::ZERO, &mut answer).is_some() {}
    (1..=ticks).map(|tick| listen(&mut server, tick, budget)).collect()
}

fn listen(server: &mut Server<Row>, tick: u64, budget: u16) -> Tick {
    let now = Time::ZERO + Duration::from_nanos(tick * 1_000_000_000 / 60 + 1);
    server.handle_timeout(now);
    let (mut seen, mut assembly, mut out) = (Tick::default(), Assembly::default(), [0; 2048]);
    while let Some(transmit) = server.poll_transmit(now, &mut out) {
        assert!(transmit.len <= budget.into(), "{} bytes", transmit.len);
        match Datagram::decode(&out[..transmit.len]).unwrap().packet {
            Packet::DeltaSnapshot(snapshot) => {
                assert_eq!((u64::from(snapshot.tick), snapshot.baseline_back), (tick, 0));
                seen.world.push(transmit.len);
                seen.beside += snapshot.events.map_or(0, |block| block.events.len());
                seen.parts = snapshot.part.count();
                let (part, tick, body) = (snapshot.part, snapshot.tick.into(), snapshot.body);
                if part.is_whole() {
                    let state = seen.state.get_or_insert_default();
                    delta::decode(&SCHEMA, None, tick, body, state).unwrap();
                } else {
                    let whole = assembly.handle(&SCHEMA, None, tick, part, body).unwrap();
                    seen.state = whole.cloned();
                }
            }
            Packet::ServerEvents(events) => seen.alone += events.block.events.len(),
            _ => {}
        }
    }
    seen
}

fn row(count: u16, tick: u32) -> State {
    let mut state = State::new(tick);
    Row { count }.capture(&(), &mut state);
    state
}

/// The longest body that a budget has room for beside a head of 19 bytes.
fn fitting(budget: u16) -> u16 {
    budget - 19
}

#[test]
fn a_body_exactly_as_long_as_the_budget_allows_goes_in_one_piece_and_one_longer_in_two() {
    let count = fitting(MIN_BUDGET) - 1;
    for (count, parts) in [(count, 1), (count + 1, 2)] {
        let seen = &watch(count, MIN_BUDGET, 1)[0];
        assert_eq!((seen.parts, seen.world.len()), (parts, parts.into()));
        assert!(seen.state == Some(row(count, 1)));
    }
    // A larger budget has the room: neither is cut.
    for count in [count, count + 1, 1024] {
        let seen = &watch(count, 1200, 1)[0];
        assert_eq!((seen.parts, seen.world.len()), (1, 1));
        assert!(seen.state == Some(row(count, 1)));
    }
}

#[test]
fn events_that_have_no_room_beside_the_world_go_alone() {
    // Eight bytes an event, with its length, and five for the block.
    let count = fitting(MIN_BUDGET) - 1;
    for (count, beside, alone) in [(count - 13, 1, 0), (count - 12, 0, 1), (count, 0, 1)] {
        let seen = &watch(count, MIN_BUDGET, 1)[0];
        assert_eq!((seen.beside, seen.alone, seen.parts), (beside, alone, 1), "{count} things");
    }
    // Cut in halves, there is room again.
    let seen = &watch(count + 1, MIN_BUDGET, 1)[0];
    assert_eq!((seen.beside, seen.alone, seen.parts), (1, 0, 2));
}

#[test]
fn every_tick_is_sent_in_parts_until_one_is_acknowledged() {
    for (seen, tick) in watch(1024, MIN_BUDGET, 20).iter().zip(1..) {
        // Halves of 512 bytes; beside the first are the events, more with every tick.
        let [first, second] = seen.world[..] else { panic!("{:?}", seen.world) };
        assert_eq!(second, 9 + 3 + 2 + 4 + 513);
        assert_eq!((seen.beside, first), (tick as usize, second + 5 + 8 * seen.beside));
        assert!(seen.state == Some(row(1024, tick)), "tick {tick}");
    }
}
