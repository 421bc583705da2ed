//! One input's way from a thumb to the rules, and one snapshot's way back to the screen: DESIGN.md,
//! "The path of a datagram", lists the stops. Nothing is in between but bytes.

use std::net::SocketAddr;
use std::time::Duration;

use backspin::client::{Client, ClientConfig, Frame};
use backspin::endpoint::EndpointConfig;
use backspin::game::Buttons;
use backspin::node::{Node, Path, Transmit};
use backspin::room::RoomConfig;
use backspin::server::Server;
use backspin::time::Time;
use backspin::wire::Name;
use backspin::wire::native::{Datagram, Label, Packet};
use backspin_sim::dot::Dots;

const STEP: Duration = Duration::from_millis(1);

/// Both ends, and a wire without length.
struct Walk {
    now: Time,
    server: Server<Dots>,
    client: Client<Dots>,
    server_at: SocketAddr,
    client_at: SocketAddr,
}

impl Walk {
    fn new() -> Self {
        let (server_at, client_at) = (([10, 0, 0, 1], 4300).into(), ([10, 0, 0, 2], 5000).into());
        let mut server = Server::new(EndpointConfig::default(), [1; 32]);
        let name = Name::new("Room");
        server.open(Time::ZERO, Dots::default(), name, 1, RoomConfig::default());
        let config = ClientConfig::new(server_at, Name::new("Ann"));
        let client = Client::new(Time::ZERO, Dots::default(), config, [2; 32]);
        Walk { now: Time::ZERO, server, client, server_at, client_at }
    }

    /// Lets a millisecond pass. Every datagram goes over at once; `look` sees its bytes.
    fn pass(&mut self, look: &mut impl FnMut(&[u8])) {
        self.now += STEP;
        let (now, mut out) = (self.now, [0; 2048]);
        self.client.handle_timeout(now);
        self.server.handle_timeout(now);
        while let Some(Transmit { len, .. }) = self.client.poll_transmit(now, &mut out) {
            look(&out[..len]);
            self.server.handle_datagram(now, Path::to(self.client_at), &mut out[..len]);
        }
        while let Some(Transmit { len, .. }) = self.server.poll_transmit(now, &mut out) {
            look(&out[..len]);
            self.client.handle_datagram(now, Path::to(self.server_at), &mut out[..len]);
        }
    }

    /// Where the player's dot is in the rules' world.
    fn in_the_rules(&self) -> Option<i32> {
        self.server.rooms()[0].world().dots.first().map(|dot| dot.x)
    }

    /// Where it is in the newest state that the client has.
    fn in_the_snapshot(&self) -> Option<i32> {
        self.client.state().entities().first().map(|entity| entity.fields[0])
    }
}

#[test]
fn one_input_reaches_the_rules_and_a_snapshot_of_it_the_screen() {
    let mut walk = Walk::new();
    for _ in 0..2_000 {
        walk.pass(&mut |_| ());
    }
    assert!(walk.client.is_playing());
    let (before, mut frame) = (walk.in_the_rules().unwrap(), Frame::default());
    walk.client.draw(walk.now, &mut frame);
    let (drawn_before, said_before) = (frame.entities[0].fields[0], walk.in_the_snapshot());

    // There: the input of one tick, as bytes whose label says whose they are.
    walk.client.press(Buttons::RIGHT);
    let (session, mut tick) = (walk.client.session().unwrap(), None);
    while tick.is_none() {
        walk.pass(&mut |bytes| {
            if let Ok(Datagram { sequence, packet: Packet::Input(input) }) = Datagram::decode(bytes)
                && input.newest.input_flags.0 == u128::from(Buttons::RIGHT.0)
            {
                assert_eq!(Label::read(bytes), Some(Label { session, sequence }));
                tick = Some(input.newest.sequence);
            }
        });
    }
    walk.client.press(Buttons::default());
    let tick = tick.unwrap();
    while walk.server.rooms()[0].tick() < tick {
        walk.pass(&mut |_| ());
    }
    let after = walk.in_the_rules().unwrap();
    assert!(after > before, "the rules have stepped with it: {before} to {after}");

    // Back: the snapshot of that tick, and the frame that it makes.
    while walk.client.server_tick() < tick {
        walk.pass(&mut |_| ());
    }
    assert!(walk.in_the_snapshot() > said_before, "the server has said so");
    for _ in 0..200 {
        walk.pass(&mut |_| ());
        walk.client.draw(walk.now, &mut frame);
    }
    assert!(frame.entities[0].fields[0] > drawn_before, "and the screen shows it");
    assert_eq!(walk.client.corrections(), Some(0), "as it was predicted");
}
