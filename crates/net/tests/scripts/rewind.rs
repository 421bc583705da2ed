//! How far the server rewinds for a client that cannot say what it drew.

use backspin::endpoint::EndpointConfig;
use backspin::game::Buttons;
use backspin::game::{Game, GameId, PlayerId, Turn};
use backspin::node::StreamEvent;
use backspin::replication::{Field, Kind, Motion, Schema, State, Step};
use backspin::room::RoomConfig;
use backspin::server::Server;
use backspin::time::Time;
use backspin::wire::Name;
use backspin_classic::{ClassicGame, dialects};

use super::desk::{Desk, address, sent_to};

/// A game that remembers how many ticks behind its last step the players' screens were.
#[derive(Clone, Debug)]
struct Witness;

const SCHEMA: Schema = Schema::new(&[Kind {
    name: "nothing",
    fields: &[Field { name: "x", min: 0, max: 1, step: Step::ONE, motion: Motion::Still }],
}]);

impl Game for Witness {
    type World = Option<f64>;
    type Input = Buttons;
    type Message = ();
    type JoinData = ();

    fn id(&self) -> GameId {
        GameId::new(*b"WITN", 1)
    }

    fn capacity(&self) -> u8 {
        1
    }

    fn schema(&self) -> &'static Schema {
        &SCHEMA
    }

    fn begin(&self, _seed: u64) -> Self::World {
        None
    }

    fn join(&self, _world: &mut Self::World, _player: PlayerId, _: &()) {}

    fn leave(&self, _world: &mut Self::World, _player: PlayerId) {}

    fn step(&self, world: &mut Self::World, turn: &mut Turn<'_, Self>) {
        let drawn = turn.inputs().first().and_then(|input| input.drawn);
        *world = drawn.map(|drawn| f64::from(turn.tick()) - drawn);
    }

    fn capture(&self, _world: &Self::World, _state: &mut State) {}

    fn restore(&self, _state: &State) -> Self::World {
        None
    }
}

impl ClassicGame for Witness {}

#[test]
fn an_rtype_players_screen_is_a_measured_round_trip_behind() {
    let mut server = Server::new(EndpointConfig::default(), [5; 32]).speaking(dialects());
    server.open(Time::ZERO, Witness, Name::new("Witness"), 0, RoomConfig::default());
    let (mut desk, alice) = (Desk::new(server), address("10.0.0.2:5000"));
    desk.stream(1, StreamEvent::Opened(alice.into()));
    let ack = desk.stream(1, StreamEvent::Received(b"\x05\x00\x01\x01Alice"));
    let token = ack[0].as_ref().unwrap()[6..10].to_vec();
    desk.receive(alice, &[&[20, 0, 1, 1], &token[..], b"Alice\0\0\0\0\0\0\0\0\0\0\0"].concat());
    desk.advance_ms(10);
    // Nothing is known before the first answer: it is judged as it is.
    assert_eq!(*desk.node.rooms()[0].world(), None);
    for _ in 0..300 {
        let sent = desk.advance_ms(10);
        let ping = sent_to(&sent, alice).into_iter().find(|bytes| bytes[2] == 7);
        if let Some(ping) = ping.map(<[u8]>::to_vec) {
            desk.advance_ms(100);
            desk.receive(alice, &[&[8, 0, 8, 1], &ping[4..]].concat());
        }
    }
    let back = desk.node.rooms()[0].world().expect("a round trip was measured");
    // 100 ms are 6 ticks, and up to 10 ms more passed before the ping was seen.
    assert!((6.0..=6.7).contains(&back), "{back}");
}
