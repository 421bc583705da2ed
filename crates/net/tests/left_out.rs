//! What a game asks for beyond a limit is left out, and whoever runs the server is told: the first time
//! at once, then every five seconds with a count. Players go on.

use std::net::SocketAddr;
use std::time::Duration;

use backspin::channel::{Delivery, MESSAGE_BYTES, SendError, UNRELIABLE_MESSAGES};
use backspin::client::{Client, ClientConfig, ClientEvent};
use backspin::endpoint::EndpointConfig;
use backspin::game::Buttons;
use backspin::game::{Game, GameId, PlayerId, STEP_BYTES, SpawnName, To, Turn};
use backspin::node::Node;
use backspin::replication::{
    ENTITY_LIMIT, Entity, Field, Kind, MAX_FIELDS, Motion, PushError, Schema, State, Step,
};
use backspin::room::{LeftOut, RoomConfig, RoomEvent};
use backspin::server::Server;
use backspin::time::Time;
use backspin::typed::RawMessage;
use backspin::wire::Name;
use backspin_sim::{Chance, Drift, HostId, LinkConfig, Party, Player, World};

/// A game that asks for too much, in one way.
#[derive(Clone, Copy, Debug, Default)]
struct Greedy {
    /// Things that are somewhere else in every tick.
    things: u32,
    twins: u32,
    /// A thing beyond the range of its field.
    outside: bool,
    message_len: usize,
    reliable: usize,
    unreliable: usize,
    send_every: u8,
    rewind_ms: u32,
    byte_budget: u32,
    /// Things have a field too many.
    too_wide: bool,
}

#[derive(Clone, Debug, Default)]
struct Board {
    tick: u32,
    players: Vec<PlayerId>,
}

const LAST: i32 = 60_000;

const SCHEMA: Schema = Schema::new(&[Kind {
    name: "thing",
    fields: &[Field { name: "x", min: 0, max: LAST, step: Step::ONE, motion: Motion::Still }],
}]);

static TOO_WIDE: Schema = Schema {
    kinds: &[Kind { name: "thing", fields: &[SCHEMA.kinds[0].fields[0]; MAX_FIELDS + 1] }],
    pixel: Step::ONE,
};

const FIRST_THING: u32 = 1_000;

impl Game for Greedy {
    type World = Board;
    type Input = Buttons;
    type Message = RawMessage;
    type JoinData = ();

    fn id(&self) -> GameId {
        GameId::new(*b"GREE", 1)
    }

    fn capacity(&self) -> u8 {
        4
    }

    fn send_every(&self) -> u8 {
        self.send_every.max(1)
    }

    fn rewind_limit_ms(&self) -> u32 {
        self.rewind_ms
    }

    fn byte_budget(&self) -> u32 {
        self.byte_budget
    }

    fn schema(&self) -> &'static Schema {
        if self.too_wide { &TOO_WIDE } else { &SCHEMA }
    }

    fn begin(&self, _seed: u64) -> Board {
        Board::default()
    }

    fn join(&self, world: &mut Board, player: PlayerId, _: &()) {
        world.players.push(player);
    }

    fn leave(&self, world: &mut Board, player: PlayerId) {
        world.players.retain(|other| *other != player);
    }

    fn step(&self, world: &mut Board, turn: &mut Turn<'_, Self>) {
        world.tick = turn.tick();
        let message = RawMessage(vec![7; self.message_len]);
        // Rules that look at no answer.
        for _ in 0..self.reliable {
            let _ = turn.send(To::Player(PlayerId(9)), Delivery::Reliable, &message);
        }
        for _ in 0..self.unreliable {
            let _ = turn.send(To::Everyone, Delivery::Unreliable, &message);
        }
    }

    fn capture(&self, world: &Board, state: &mut State) {
        for player in &world.players {
            let _ = state.push(Entity::new(&SCHEMA, player.0, 0, &[1]));
        }
        for thing in 0..self.things {
            let x = (thing.wrapping_add(world.tick).wrapping_mul(2_654_435_761) >> 16) as i32;
            let _ = state.push(Entity::new(&SCHEMA, FIRST_THING + thing, 0, &[x % LAST]));
        }
        for _ in 0..self.twins {
            let _ = state.push(Entity::new(&SCHEMA, FIRST_THING, 0, &[0]));
        }
        if self.outside {
            let mut entity = Entity::new(&SCHEMA, 500, 0, &[0]);
            entity.fields[0] = LAST + 1;
            let _ = state.push(entity);
        }
    }

    fn restore(&self, _state: &State) -> Board {
        Board::default()
    }
}

const SERVER: SocketAddr =
    SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 0, 1)), 4300);

/// A match of so many players; the server's host, and the first player's.
struct Scene {
    world: World<Party<Greedy>>,
    server: HostId,
    guest: HostId,
}

impl Scene {
    fn new(game: Greedy, players: u8) -> Self {
        let link = LinkConfig { delay: Duration::from_millis(20), ..LinkConfig::PERFECT };
        let mut world = World::new(1, link);
        let mut server = Server::new(EndpointConfig::default(), [1; 32]);
        server.open(Time::ZERO, game, Name::new("Room"), 1, RoomConfig::default());
        let server = world.add(Party::Server(Box::new(server)), &[SERVER], Drift::NONE);
        let guests = (0..players).map(|number| {
            let config = ClientConfig::new(SERVER, Name::new("Ann"));
            let client = Client::new(Time::ZERO, game, config, [2 + number; 32]);
            let player = Player::new(client, Chance::new(1, 2 + u64::from(number)));
            let own = SocketAddr::from(([10, 0, 0, 2 + number], 5000));
            world.add(Party::Player(Box::new(player)), &[own], Drift::NONE)
        });
        let guests: Vec<_> = guests.collect();
        Scene { guest: guests[0], world, server }
    }

    fn run(&mut self, ms: u64) {
        let until = self.world.now() + Duration::from_millis(ms);
        while self.world.step_until(until).is_some() {}
    }

    fn server(&mut self) -> &mut Server<Greedy> {
        match self.world.node_mut(self.server) {
            Party::Server(server) => server,
            Party::Player(_) => unreachable!("it was added as a server"),
        }
    }

    /// What was left out, as it is told.
    fn told(&mut self) -> Vec<(LeftOut, u64)> {
        told(self.server())
    }

    fn is_playing(&mut self) -> bool {
        let Party::Player(player) = self.world.node_mut(self.guest) else {
            unreachable!("it was added as a player")
        };
        let mut events = std::iter::from_fn(|| player.client.poll_event());
        events.all(|event| !matches!(event, ClientEvent::Trying | ClientEvent::Ended(_)))
            && player.client.server_tick() > 0
    }
}

fn told(server: &mut Server<Greedy>) -> Vec<(LeftOut, u64)> {
    let room = &mut server.rooms_mut()[0];
    let events = std::iter::from_fn(|| room.poll_event());
    let told = events.filter_map(|event| match event {
        RoomEvent::LeftOut { what, times } => Some((what, times)),
        _ => None,
    });
    told.collect()
}

#[test]
fn a_game_within_its_limits_is_told_nothing() {
    let game = Greedy {
        things: 100,
        message_len: MESSAGE_BYTES,
        reliable: 2,
        unreliable: 1,
        send_every: 8,
        rewind_ms: 4_250,
        byte_budget: 64_000,
        ..Greedy::default()
    };
    let mut scene = Scene::new(game, 2);
    scene.run(4_000);
    assert_eq!(scene.told(), []);
    assert_eq!(scene.server().left_out().total(), 0);
    assert!(scene.is_playing());
}

#[test]
fn entities_beyond_the_limit_are_told_at_once_and_then_every_five_seconds_with_their_count() {
    let things = ENTITY_LIMIT as u32 + 3;
    let game = Greedy { things, send_every: 8, byte_budget: 2_000, ..Greedy::default() };
    let mut server = Server::new(EndpointConfig::default(), [1; 32]);
    server.open(Time::ZERO, game, Name::new("Room"), 1, RoomConfig::default());
    let limit = LeftOut::Entity(PushError::Limit);
    assert_eq!(told(&mut server), [(limit, 3)]);
    // 5 s are 300 ticks, of which every eighth is shown, and the same again.
    for tick in 1..=600 {
        let due = server.poll_timeout().unwrap();
        server.handle_timeout(due);
        if tick == 290 {
            assert_eq!(told(&mut server), []);
        }
    }
    assert_eq!(told(&mut server), [(limit, 37 * 3), (limit, 37 * 3)]);
    // What is not told yet when the room closes is in what is left of it.
    let room = server.rooms()[0].clone();
    let last = RoomEvent::LeftOut { what: limit, times: 3 };
    assert_eq!(room.into_closed().events, [last]);
    let counts: Vec<_> = server.left_out().by_kind().filter(|(_, count)| *count > 0).collect();
    assert_eq!(counts, [("entity", 3 * 76)]);
}

#[test]
fn two_things_with_one_id_and_one_beyond_its_range_are_told_and_the_rest_is_shown() {
    let game =
        Greedy { things: 3, twins: 2, outside: true, byte_budget: 64_000, ..Greedy::default() };
    let mut scene = Scene::new(game, 1);
    scene.run(2_000);
    let twin = LeftOut::Entity(PushError::Duplicate(FIRST_THING));
    assert_eq!(scene.told(), [(twin, 2), (LeftOut::OffSchema { entity: 500 }, 1)]);
    assert!(scene.is_playing());
    let ids = |scene: &mut Scene| -> Vec<u32> {
        let state = scene.server().rooms()[0].state();
        state.entities().iter().map(|entity| entity.id).collect()
    };
    assert_eq!(ids(&mut scene), [1, FIRST_THING, FIRST_THING + 1, FIRST_THING + 2]);
}

#[test]
fn a_byte_budget_that_is_too_small_says_who_waits_for_how_much_and_how_long() {
    let game = Greedy { things: 2_000, send_every: 3, byte_budget: 3_000, ..Greedy::default() };
    let mut scene = Scene::new(game, 2);
    scene.run(1_500);
    scene.told();
    scene.run(12_000);
    let told = scene.told();
    assert!((2..=3).contains(&told.len()), "{told:?}");
    for (what, _) in &told {
        let LeftOut::View { others, budget, unsent, waited_ms, .. } = *what else {
            panic!("{what}")
        };
        assert_eq!((others, budget), (1, 3_000), "{what}");
        assert!((1_000..2_000).contains(&unsent) && waited_ms > 1_000, "{what}");
    }
    assert!(scene.is_playing());
    // Enough for everything, or fewer things: not a word.
    for game in [Greedy { byte_budget: 2_000_000, ..game }, Greedy { things: 200, ..game }] {
        let mut scene = Scene::new(game, 2);
        scene.run(5_000);
        assert_eq!(scene.told(), []);
    }
}

#[test]
fn messages_that_the_rules_may_not_send_are_told_though_the_rules_do_not_look() {
    let within = Greedy { byte_budget: 64_000, message_len: 8, ..Greedy::default() };
    let step = STEP_BYTES / MESSAGE_BYTES;
    for (game, error, refused) in [
        (Greedy { message_len: MESSAGE_BYTES + 1, reliable: 1, ..within }, SendError::TooLong, 1),
        (
            Greedy { message_len: MESSAGE_BYTES, reliable: step + 5, ..within },
            SendError::StepBytes,
            5,
        ),
        (Greedy { unreliable: UNRELIABLE_MESSAGES + 2, ..within }, SendError::TickMessages, 2),
        (Greedy { message_len: 900, unreliable: 5, ..within }, SendError::TickBytes, 1),
    ] {
        let mut server = Server::new(EndpointConfig::default(), [1; 32]);
        server.open(Time::ZERO, game, Name::new("Room"), 1, RoomConfig::default());
        for _ in 0..3 {
            let due = server.poll_timeout().unwrap();
            server.handle_timeout(due);
        }
        assert_eq!(told(&mut server), [(LeftOut::Message(error), refused)]);
        let counts = server.left_out();
        assert_eq!(
            (counts.total(), counts.by_kind().nth(3)),
            (3 * refused, Some(("message", 3 * refused)))
        );
    }
}

#[test]
fn a_send_rate_and_a_rewind_limit_beyond_the_most_are_told_when_the_room_opens() {
    let game = Greedy { send_every: 9, rewind_ms: 4_300, ..Greedy::default() };
    let mut server = Server::new(EndpointConfig::default(), [1; 32]);
    server.open(Time::ZERO, game, Name::new("Room"), 1, RoomConfig::default());
    let rewind = LeftOut::Rewind { asked_ms: 4_300, given_ms: 4_250 };
    assert_eq!(told(&mut server), [(LeftOut::SendEvery { asked: 9 }, 1), (rewind, 1)]);
}

#[test]
fn a_datagram_that_does_not_fit_is_told_and_the_next_goes_out() {
    let game = Greedy { things: 50, byte_budget: 64_000, ..Greedy::default() };
    let mut scene = Scene::new(game, 1);
    scene.run(1_000);
    let now = scene.world.now();
    let server = scene.server();
    let due = server.poll_timeout().unwrap();
    server.handle_timeout(due.max(now));
    assert!(server.poll_transmit(due, &mut [0; 20]).is_none());
    assert_eq!(told(server), [(LeftOut::Datagram(PlayerId(1)), 1)]);
    scene.run(1_000);
    assert!(scene.is_playing());
}

#[test]
fn unreliable_messages_that_find_no_room_are_told_once_a_second() {
    let game = Greedy { message_len: 8, unreliable: 16, byte_budget: 64_000, ..Greedy::default() };
    let mut scene = Scene::new(game, 1);
    scene.run(2_000);
    assert_eq!(scene.told(), []);
    // Nothing leaves for a second: only those of one tick are kept.
    let server = scene.server();
    for _ in 0..60 {
        let due = server.poll_timeout().unwrap();
        server.handle_timeout(due);
    }
    let told = told(server);
    let [(LeftOut::Unreliable(PlayerId(1)), lost)] = told[..] else { panic!("{told:?}") };
    assert!((16..=60 * 16).contains(&lost), "{lost}");
    assert_eq!(server.message_counts().lost, 59 * 16);
    // The count stays when the player goes.
    server.kick(0, PlayerId(1));
    for _ in 0..3 {
        let due = server.poll_timeout().unwrap();
        server.handle_timeout(due);
        while server.poll_transmit(due, &mut [0; 1200]).is_some() {}
    }
    assert_eq!(server.rooms()[0].members_here(), 0);
    assert!(server.message_counts().lost >= 59 * 16);
    let counted = server.left_out().by_kind().find(|(kind, _)| *kind == "unreliable_message");
    assert_eq!(counted.unwrap().1, server.message_counts().lost);
}

#[test]
#[should_panic(expected = "the schema of GREE 1: thing: a kind has at most 64 fields")]
fn a_room_of_a_game_with_a_wrong_schema_is_refused() {
    let game = Greedy { too_wide: true, ..Greedy::default() };
    let mut server = Server::new(EndpointConfig::default(), [1; 32]);
    server.open(Time::ZERO, game, Name::new("Room"), 1, RoomConfig::default());
}

#[test]
#[should_panic(expected = "spawns are of players 1 to 256, not of player 257")]
fn a_spawn_of_a_player_beyond_256_is_refused() {
    SpawnName { player: PlayerId(257), tick: 1, count: 0 }.entity_id();
}

#[test]
#[should_panic(expected = "a server speaks at most 4 dialects beside `native`, not 5")]
fn a_fifth_dialect_is_refused() {
    let dialects = backspin_classic::dialects::<backspin_sim::dot::Dots>();
    let five: Vec<_> = dialects.iter().copied().cycle().take(5).collect();
    let _ = Server::new(EndpointConfig::default(), [1; 32]).speaking(five.leak());
}
