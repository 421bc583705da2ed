//! Where scripts begin: a client that has just been started, and one that plays on an honest server,
//! in every dialect. Each is played once and copied for every script.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::OnceLock;
use std::time::Duration;

use backspin::client::{ClientConfig, Frame};
use backspin::endpoint::EndpointConfig;
use backspin::game::Buttons;
use backspin::node::{Node, Path, StreamAction, StreamEvent, StreamId, StreamNode};
use backspin::room::RoomConfig;
use backspin::server::Server;
use backspin::session::Limits;
use backspin::time::Time;
use backspin::wire::Name;
use backspin::wire::native::Role;
use backspin_classic::Dialect;
use backspin_sim::dot::Dots;

use super::{DATAGRAMS, Marks, STREAM, Scene};

/// Who the client is, and for how long it has played.
const PLAYED: [(Dialect, Role, Duration); STAGES] = [
    (Dialect::Native, Role::Play, Duration::ZERO),
    (Dialect::Native, Role::Play, PLAYS),
    (Dialect::Native, Role::Watch, PLAYS),
    (Dialect::Rtype, Role::Play, Duration::ZERO),
    (Dialect::Rtype, Role::Play, PLAYS),
    (Dialect::Lan, Role::Play, Duration::ZERO),
    (Dialect::Lan, Role::Play, PLAYS),
    (Dialect::Ack, Role::Play, Duration::ZERO),
    (Dialect::Ack, Role::Play, PLAYS),
];

/// How many stages there are.
pub(crate) const STAGES: usize = 9;

const PLAYS: Duration = Duration::from_millis(300);

/// Short, so that a script sees a client that falls back to asking, and one that gives up.
const LIVENESS: Limits =
    Limits { warn: Duration::from_millis(200), drop: Duration::from_millis(400) };

/// So many of the first datagrams are kept, and as many of the last.
const KEPT: usize = 12;

/// The stage that a byte names.
pub(super) fn at(byte: u8) -> &'static Scene {
    static ALL: OnceLock<Vec<Scene>> = OnceLock::new();
    let all = ALL.get_or_init(|| {
        PLAYED.iter().map(|&(dialect, role, span)| play(dialect, role, span)).collect()
    });
    &all[usize::from(byte) % STAGES]
}

const fn address(host: u8, port: u16) -> SocketAddr {
    SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, 0, 0, host)), port)
}

const SERVER: SocketAddr = address(1, 4242);
const CLIENT: SocketAddr = address(2, 5000);

fn play(dialect: Dialect, role: Role, span: Duration) -> Scene {
    let (start, game) = (Time::from_millis(1_000), Dots { swarm: 2 });
    let config = ClientConfig {
        own_port: CLIENT.port(),
        role,
        liveness: LIVENESS,
        resume_for: Duration::from_millis(400),
        journal: 8,
        ..ClientConfig::new(SERVER, Name::new("Alice"))
    };
    let mut server =
        Server::new(EndpointConfig::default(), [9; 32]).speaking(backspin_classic::dialects());
    server.open(start, game, Name::new("One"), 0, RoomConfig::default());
    let mut scene = Scene {
        client: dialect.client(start, game, config, [5; 32]),
        dialect,
        now: start,
        until: start + span,
        said: Vec::new(),
        lan: None,
        sequence: 0,
        heard: Vec::new(),
        flood: 0,
        left: DATAGRAMS,
        marks: Marks::default(),
        frame: Frame::default(),
        ended: None,
    };
    while scene.now < scene.until {
        scene.client.press(Buttons((scene.now.as_millis() / 70) as u16 & 15));
        meet(&mut scene, &mut server);
        scene.check();
        scene.now += Duration::from_millis(1);
    }
    assert_eq!(scene.client.is_playing(), span > Duration::ZERO, "{dialect}");
    scene.draw();
    if matches!(dialect, Dialect::Native | Dialect::Ack)
        && let Some(last) = scene.said.last().and_then(|bytes| bytes[5..].first_chunk())
    {
        scene.sequence = u32::from_be_bytes(*last).wrapping_add(1);
    }
    scene
}

/// A millisecond in which both are woken and hear each other.
fn meet(scene: &mut Scene, server: &mut Server<Dots>) {
    let (now, mut out) = (scene.now, [0; 2048]);
    let client = &mut scene.client;
    if client.poll_timeout().is_some_and(|due| due <= now) {
        client.handle_timeout(now);
    }
    if server.poll_timeout().is_some_and(|due| due <= now) {
        server.handle_timeout(now);
    }
    let accepted = StreamId::FIRST_ACCEPTED;
    while let Some((_, action)) = client.poll_stream(now, &mut out) {
        match action {
            StreamAction::Open(_) => {
                server.handle_stream(now, accepted, StreamEvent::Opened(CLIENT.into()));
                client.handle_stream(now, STREAM, StreamEvent::Opened(SERVER.into()));
            }
            StreamAction::Send(len) => {
                server.handle_stream(now, accepted, StreamEvent::Received(&out[..len]));
            }
            StreamAction::Close => server.handle_stream(now, accepted, StreamEvent::Closed),
        }
    }
    while let Some((_, action)) = server.poll_stream(now, &mut out) {
        if let StreamAction::Send(len) = action {
            client.handle_stream(now, STREAM, StreamEvent::Received(&out[..len]));
        }
    }
    while let Some(transmit) = client.poll_transmit(now, &mut out) {
        server.handle_datagram(now, Path::to(CLIENT), &mut out[..transmit.len]);
    }
    while let Some(transmit) = server.poll_transmit(now, &mut out) {
        let bytes = &mut out[..transmit.len];
        if scene.said.len() == 2 * KEPT {
            scene.said.remove(KEPT);
        }
        scene.said.push(bytes.to_vec());
        scene.deliver(Path::to(scene.client.server()), bytes);
    }
}
