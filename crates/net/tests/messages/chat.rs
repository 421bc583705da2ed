//! Lines of chat: to everyone with the writer's name, few, short, and never what hurts a screen.

use std::net::SocketAddr;
use std::time::Duration;

use backspin::channel::SendError;
use backspin::chat::{CHAT_CHARS, CHAT_RATE, ChatError, ChatRule};
use backspin::endpoint::EndpointConfig;
use backspin::game::{Game, PlayerId};
use backspin::node::{Node, Path};
use backspin::room::RoomConfig;
use backspin::server::Server;
use backspin::time::Time;
use backspin::wire::Name;
use backspin::wire::native::JoinData;
use backspin::wire::native::{
    BlockWriter, Budget, ClientMessages, Datagram, Hello, Join, MessageKind, PROTOCOL, Packet,
    Role, SessionIndex, Token,
};
use backspin_sim::Preset;

use super::rules::Choir;
use super::scene::Scene;

fn scene(rule: ChatRule, roles: &[Role]) -> Scene {
    Scene::new(1, Preset::Reference.config(), Choir { chat: rule, ..Choir::default() }, roles)
}

fn say(scene: &mut Scene, guest: usize, text: &str) -> Result<(), ChatError> {
    let now = scene.now(guest);
    scene.client(guest).chat(now, text)
}

fn lines(scene: &Scene, guest: usize) -> Vec<String> {
    scene.guests[guest].chat.iter().map(ToString::to_string).collect()
}

#[test]
fn everyone_reads_a_line_with_the_writers_name_also_who_watches_and_who_wrote_it() {
    let mut scene = scene(ChatRule::Players, &[Role::Play, Role::Play, Role::Watch]);
    say(&mut scene, 0, "  GG, é 日本 😀 ").unwrap();
    scene.run(Duration::from_secs(1));
    say(&mut scene, 1, "wp").unwrap();
    scene.run(Duration::from_secs(1));
    for guest in 0..3 {
        assert_eq!(lines(&scene, guest), ["Ann: GG, é 日本 😀", "Bob: wp"]);
        assert_eq!(scene.guests[guest].chat[1].player, PlayerId(2));
    }
    let kept: Vec<_> = std::iter::from_fn(|| scene.room().poll_chat().cloned()).collect();
    assert_eq!(kept, scene.guests[0].chat, "and whoever runs the server");
    let recent: Vec<_> = scene.room().recent_chat().cloned().collect();
    assert_eq!(recent, kept, "who can look again");
    assert_eq!(scene.room().world().heard, [], "the rules have nothing to do with it");
}

#[test]
fn who_watches_writes_where_the_game_lets_everyone() {
    let roles = [Role::Play, Role::Watch];
    let mut players = scene(ChatRule::Players, &roles);
    assert_eq!(say(&mut players, 1, "hi"), Err(ChatError::Watching));
    let mut everyone = scene(ChatRule::Everyone, &roles);
    say(&mut everyone, 1, "hi").unwrap();
    everyone.run(Duration::from_secs(1));
    assert_eq!(lines(&everyone, 0), ["Bob: hi"]);
    let mut off = scene(ChatRule::Off, &roles);
    assert_eq!(say(&mut off, 0, "hi"), Err(ChatError::Off));
}

#[test]
fn a_line_that_is_too_long_empty_or_not_plain_is_refused_before_it_is_sent() {
    let mut scene = scene(ChatRule::Players, &[Role::Play]);
    assert_eq!(say(&mut scene, 0, ""), Err(ChatError::Empty));
    assert_eq!(say(&mut scene, 0, &"x".repeat(CHAT_CHARS + 1)), Err(ChatError::TooLong));
    assert_eq!(say(&mut scene, 0, "\x1b[2J"), Err(ChatError::Control));
    say(&mut scene, 0, &"é".repeat(CHAT_CHARS)).unwrap();
    scene.run(Duration::from_secs(1));
    assert_eq!(scene.guests[0].chat.len(), 1);
    scene.client(0).leave();
    let refused = say(&mut scene, 0, "hi");
    assert_eq!(refused, Err(ChatError::Send(SendError::NotConnected)));
}

#[test]
fn the_fifth_line_at_once_is_refused_and_one_a_second_later_is_not() {
    let mut scene = scene(ChatRule::Players, &[Role::Play]);
    for _ in 0..CHAT_RATE.burst {
        say(&mut scene, 0, "spam").unwrap();
    }
    assert_eq!(say(&mut scene, 0, "spam"), Err(ChatError::TooFast));
    assert_eq!(ChatError::TooFast.to_string(), "Not so fast. Wait a second between two lines.");
    scene.run(Duration::from_millis(1_010));
    say(&mut scene, 0, "later").unwrap();
    assert_eq!(say(&mut scene, 0, "spam"), Err(ChatError::TooFast));
    scene.run(Duration::from_secs(1));
    assert_eq!(lines(&scene, 0).len(), 5);
    assert_eq!(scene.room().message_counts().chat_refused, 0);
}

/// A program of somebody's own that keeps to no limit, alone on a server.
struct Rogue {
    server: Server<Choir>,
    session: SessionIndex,
    sequence: u32,
    next: u16,
    now: Time,
    /// What it is told: the numbers of the writers, and the text.
    told: Vec<(u16, String)>,
}

const HOME: SocketAddr =
    SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 0, 66)), 5000);

impl Rogue {
    fn new(rule: ChatRule) -> Self {
        let choir = Choir { chat: rule, ..Choir::default() };
        let mut server = Server::new(EndpointConfig::default(), [1; 32]);
        server.open(Time::ZERO, choir, Name::new("Room"), 1, RoomConfig::default());
        let (now, told) = (Time::ZERO, Vec::new());
        let (session, sequence, next) = (SessionIndex::MIN, 1, 0);
        let mut rogue = Rogue { server, session, sequence, next, now, told };
        let (game, game_version, nonce) = (choir.id().game, 1, 7);
        let hello = Hello { protocol: PROTOCOL, game, game_version, nonce };
        rogue.send(Packet::Hello(hello));
        let mut out = [0; 2048];
        let len = rogue.server.poll_transmit(now, &mut out).unwrap().len;
        let Packet::Challenge(challenge) = Datagram::decode(&out[..len]).unwrap().packet else {
            panic!("no challenge");
        };
        rogue.send(Packet::Join(Join {
            nonce,
            cookie: challenge.cookie,
            protocol: PROTOCOL,
            game,
            game_version,
            layout: choir.layout() as u32,
            budget: Budget::MAX,
            role: Role::Play,
            room: 0,
            name: Name::new("Mal"),
            password: Name::default(),
            data: JoinData::default(),
            token: Token::new(&[]).unwrap(),
        }));
        while let Some(sent) = rogue.server.poll_transmit(now, &mut out) {
            if let Packet::Accept(accept) = Datagram::decode(&out[..sent.len]).unwrap().packet {
                rogue.session = accept.session;
            }
        }
        rogue
    }

    fn send(&mut self, packet: Packet<'_>) {
        let mut out = [0; 2048];
        let len = Datagram { sequence: self.sequence, packet }.encode(&mut out).unwrap();
        self.sequence += 1;
        self.server.handle_datagram(self.now, Path::to(HOME), &mut out[..len]);
    }

    /// Writes a line of any bytes.
    fn write(&mut self, line: &[u8]) {
        let mut room = [0; 1_000];
        let mut w = BlockWriter::new(&mut room);
        assert!(w.reliable(self.next, MessageKind::Chat, [line, b""]));
        self.next += 1;
        let (session, block) = (self.session, w.finish(0));
        self.send(Packet::ClientMessages(ClientMessages { session, block }));
    }

    /// Lets ticks pass, and reads each line once.
    fn pass(&mut self, ticks: u64) {
        let mut out = [0; 2048];
        for _ in 0..ticks {
            self.now += Duration::from_nanos(1_000_000_000 / 60 + 1);
            self.server.handle_timeout(self.now);
            while let Some(sent) = self.server.poll_transmit(self.now, &mut out) {
                let block = match Datagram::decode(&out[..sent.len]).unwrap().packet {
                    Packet::DeltaSnapshot(snapshot) => snapshot.messages,
                    Packet::ServerMessages(packet) => Some(packet.block),
                    _ => None,
                };
                for message in block.iter().flat_map(|block| block.reliable.iter()) {
                    if usize::from(message.number) == self.told.len() {
                        let writer = u16::from_be_bytes([message.bytes[0], message.bytes[1]]);
                        let text = String::from_utf8(message.bytes[18..].to_vec()).unwrap();
                        self.told.push((writer, text));
                    }
                }
            }
        }
    }
}

#[test]
fn a_program_that_keeps_to_no_limit_is_held_to_them_and_told_so() {
    let mut rogue = Rogue::new(ChatRule::Players);
    for _ in 0..60 {
        rogue.write(b"spam");
    }
    rogue.pass(60);
    let passed = rogue.told.iter().filter(|(writer, _)| *writer == 1).count();
    assert!((12..=13).contains(&passed), "{passed} lines were passed on");
    let refusals: Vec<_> = rogue.told.iter().filter(|(writer, _)| *writer == 0).collect();
    assert!((1..=3).contains(&refusals.len()), "{refusals:?}");
    assert_eq!(refusals[0].1, ChatError::TooFast.to_string());
    let refused = rogue.server.rooms()[0].message_counts().chat_refused;
    assert_eq!(refused, 60 - passed as u64);
}

#[test]
fn bytes_that_are_no_line_are_passed_on_to_nobody() {
    let long = "x".repeat(CHAT_CHARS + 1);
    let bad: [&[u8]; 6] = [b"", b"   ", b"\x1b[31mred", b"a\nb", b"\xff\xfe", long.as_bytes()];
    for line in bad {
        let mut rogue = Rogue::new(ChatRule::Players);
        rogue.write(line);
        rogue.write(b"fine");
        rogue.pass(5);
        let writers: Vec<_> = rogue.told.iter().map(|(writer, _)| *writer).collect();
        assert_eq!(writers, [0, 1], "{line:?}: {:?}", rogue.told);
    }
    let mut off = Rogue::new(ChatRule::Off);
    off.write(b"hi");
    off.pass(5);
    assert_eq!(off.told, [(0, ChatError::Off.to_string())]);
}
