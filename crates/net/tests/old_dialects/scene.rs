//! A match of dots over the seeded network, and someone who looks at a client's screen from
//! outside.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

use backspin::client::{Client, ClientConfig, Frame};
use backspin::endpoint::EndpointConfig;
use backspin::game::{Buttons, PlayerId};
use backspin::node::{Node, Path, StreamAction, StreamEvent, StreamId, StreamNode, Transmit};
use backspin::room::RoomConfig;
use backspin::server::Server;
use backspin::time::Time;
use backspin::wire::Name;
use backspin_classic::Dialect;
use backspin_sim::dot::Dots;
use backspin_sim::{Chance, Drift, HostId, LinkConfig, World};

pub(crate) enum Party {
    Server(Box<Server<Dots>>),
    Client(Box<Client<Dots>>),
}

impl Party {
    fn node(&self) -> &dyn StreamNode {
        match self {
            Party::Server(server) => server,
            Party::Client(client) => client,
        }
    }

    fn node_mut(&mut self) -> &mut dyn StreamNode {
        match self {
            Party::Server(server) => server,
            Party::Client(client) => client,
        }
    }
}

impl Node for Party {
    fn handle_datagram(&mut self, now: Time, path: Path, bytes: &mut [u8]) {
        self.node_mut().handle_datagram(now, path, bytes);
    }

    fn handle_timeout(&mut self, now: Time) {
        self.node_mut().handle_timeout(now);
    }

    fn poll_transmit(&mut self, now: Time, out: &mut [u8]) -> Option<Transmit> {
        self.node_mut().poll_transmit(now, out)
    }

    fn poll_timeout(&self) -> Option<Time> {
        self.node().poll_timeout()
    }
}

impl StreamNode for Party {
    fn accepts_streams(&self) -> bool {
        self.node().accepts_streams()
    }

    fn handle_stream(&mut self, now: Time, stream: StreamId, event: StreamEvent<'_>) {
        self.node_mut().handle_stream(now, stream, event);
    }

    fn poll_stream(&mut self, now: Time, out: &mut [u8]) -> Option<(StreamId, StreamAction)> {
        self.node_mut().poll_stream(now, out)
    }
}

fn address(text: &str) -> SocketAddr {
    text.parse().unwrap()
}

/// The client under test, who comes first, and another who plays in `native`.
pub(crate) struct Scene {
    pub(crate) world: World<Party>,
    pub(crate) server: HostId,
    pub(crate) client: HostId,
    other: HostId,
    chance: Chance,
    next_press: [Time; 2],
    frame: Frame,
    pub(crate) now: Time,
}

pub(crate) const FRAME: Duration = Duration::from_nanos(16_666_667);

/// What the client under test holds.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Held {
    /// What a bot likes, and something else two to ten times a second.
    AsABot,
    Only(Buttons),
}

impl Scene {
    pub(crate) fn new(seed: u64, link: LinkConfig, dialect: Dialect, swarm: u16) -> Self {
        let mut world = World::new(seed, link);
        let at = address("10.0.0.1:4242");
        let mut server =
            Server::new(EndpointConfig::default(), [7; 32]).speaking(backspin_classic::dialects());
        let game = Dots { swarm };
        server.open(Time::ZERO, game, Name::new("Dots"), seed, RoomConfig::default());
        let server = world.add(Party::Server(Box::new(server)), &[at], Drift::NONE);
        let mut join = |dialect: Dialect, name, own: &str| {
            let mut config = ClientConfig::new(at, Name::new(name));
            config.own_port = 5000;
            let client = dialect.client(world.now(), game, config, [9; 32]);
            let host = world.add(Party::Client(Box::new(client)), &[address(own)], Drift::NONE);
            world.run_for(Duration::from_millis(1500));
            host
        };
        let client = join(dialect, "Alice", "10.0.0.2:5000");
        let other = join(Dialect::Native, "Bob", "10.0.0.3:5000");
        let now = world.now();
        Scene {
            world,
            server,
            client,
            other,
            chance: Chance::new(seed, 77),
            next_press: [now; 2],
            frame: Frame::default(),
            now,
        }
    }

    pub(crate) fn client(&mut self) -> &mut Client<Dots> {
        match self.world.node_mut(self.client) {
            Party::Client(client) => client,
            Party::Server(_) => unreachable!(),
        }
    }

    /// Where the server has the own dot.
    pub(crate) fn truth(&self) -> [f32; 2] {
        let Party::Server(server) = self.world.node(self.server) else { unreachable!() };
        let dots = &server.rooms()[0].world().dots;
        let dot = dots.iter().find(|dot| dot.player == PlayerId(1)).expect("who came first");
        [dot.x as f32, dot.y as f32]
    }

    fn press(&mut self, held: Held) {
        for (i, host) in [self.client, self.other].into_iter().enumerate() {
            let buttons = match held {
                Held::Only(buttons) if i == 0 => buttons,
                _ if self.next_press[i] > self.now => continue,
                _ => {
                    let hold = Duration::from_millis(100 + self.chance.below(400));
                    self.next_press[i] = self.now + hold;
                    Buttons(self.chance.below(16) as u16)
                }
            };
            if let Party::Client(client) = self.world.node_mut(host) {
                client.press(buttons);
            }
        }
    }

    /// One frame on, with a look at the screen at its end. `watch` sees the client after every
    /// event of the network.
    pub(crate) fn pass(&mut self, held: Held, mut watch: impl FnMut(&Client<Dots>)) -> &Frame {
        self.press(held);
        self.now += FRAME;
        while self.world.step_until(self.now).is_some() {
            if let Party::Client(client) = self.world.node(self.client) {
                watch(client);
            }
        }
        let (now, mut frame) = (self.now, std::mem::take(&mut self.frame));
        self.client().draw(now, &mut frame);
        self.frame = frame;
        &self.frame
    }
}

/// What was seen of a client, from outside.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub(crate) frames: f64,
    /// Frames in which anything but the own dot moved more than 4 px beyond its own motion.
    pub(crate) jumps: f64,
    pub(crate) own_jumps: f64,
    /// Looks at a thing that drifts straight on, and those at which it had moved back.
    pub(crate) drifts: f64,
    pub(crate) backwards: f64,
    /// Changes of the predicted place without an input.
    pub(crate) corrections: Vec<f32>,
    /// How far what is predicted is from where the server has the own dot once its states say so.
    pub(crate) off_px: Vec<f32>,
    spots: BTreeMap<u32, Spot>,
    predicted: Option<(u32, [f32; 2])>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Spot {
    pub(crate) at: [f32; 2],
    velocity: [i32; 2],
}

impl Seen {
    pub(crate) fn see_event(&mut self, predicted: Option<(u32, [f32; 2])>) {
        if let (Some((n, then)), Some((m, now))) = (self.predicted, predicted)
            && n == m
            && then != now
        {
            self.corrections.push(distance(then, now));
        }
        self.predicted = predicted;
    }

    pub(crate) fn see_frame(&mut self, frame: &Frame, own: u32) {
        self.frames += 1.0;
        let mut jumped = false;
        let mut spots = BTreeMap::new();
        for drawn in &frame.entities {
            let [x, y, vx, vy]: [f32; 4] = drawn.fields.first();
            let spot = Spot { at: [x, y], velocity: [vx / 60.0, vy / 60.0].map(|v| v as i32) };
            let towards = [drawn.entity.fields[2], drawn.entity.fields[3]];
            let id = drawn.entity.id;
            spots.insert(id, spot);
            let Some(before) = self.spots.get(&id) else { continue };
            let moved = distance(before.at, spot.at);
            let speed = |[vx, vy]: [i32; 2]| ((vx * vx + vy * vy) as f32).sqrt();
            let dots = if id < 100 { 5.0 * 2f32.sqrt() } else { 0.0 };
            let own_motion = speed(before.velocity).max(speed(spot.velocity)).max(dots);
            let jump = moved > own_motion * 1.05 + 4.0;
            if id == own {
                self.own_jumps += f64::from(u8::from(jump));
            } else {
                jumped |= jump;
            }
            if id >= 100 && before.velocity == spot.velocity && towards == spot.velocity {
                self.drifts += 1.0;
                let [vx, vy] = spot.velocity.map(|v| v as f32);
                let along = (x - before.at[0]) * vx + (y - before.at[1]) * vy;
                self.backwards += f64::from(u8::from(along < -0.01));
            }
        }
        self.jumps += f64::from(u8::from(jumped));
        self.spots = spots;
    }

    pub(crate) fn spot(&self, id: u32) -> Option<Spot> {
        self.spots.get(&id).copied()
    }

    pub(crate) fn corrected_share(&self, over_px: f32) -> f64 {
        self.corrections.iter().filter(|&&px| px > over_px).count() as f64 / self.frames
    }

    pub(crate) fn off_at(&self, share: f64) -> f32 {
        let mut off_px = self.off_px.clone();
        off_px.sort_by(f32::total_cmp);
        off_px[((off_px.len() - 1) as f64 * share) as usize]
    }
}

pub(crate) fn distance(a: [f32; 2], b: [f32; 2]) -> f32 {
    ((a[0] - b[0]).powi(2) + (a[1] - b[1]).powi(2)).sqrt()
}
