//! The attacker: four addresses of its own, what it has learned at each of them, and how it does
//! what a script says.

use std::net::SocketAddr;
use std::time::Duration;

use backspin::channel::tick;
use backspin::game::{Game, GameId};
use backspin::node::{StreamEvent, StreamId};
use backspin::wire::Name;
use backspin::wire::native::JoinData;
use backspin::wire::native::{
    Acks, BlockWriter, Budget, ClientMessages, ClientPong, CreateRoom, Datagram, Discover,
    EnterRoom, Goodbye, Hello, History, Input, InputRecord, Join, ListRooms, MAX_HISTORY,
    MessageKind, PROTOCOL, Packet, Ping, Resume, Role, Secret, SessionIndex, SnapshotAck,
    SnapshotEcho, Token,
};
use backspin_classic::wire::{lan, rtype};

use super::act::{Act, Source, Ticket};
use super::scene::{HONEST, HONEST_STREAM, LIMITS, Scene, address};
use super::yard::Yard;

/// Two of the attacker's addresses are one machine, one is a program on an honest player's
/// machine, one is far away.
const OWN: [SocketAddr; 4] = [
    address([10, 6, 6, 6], 6000),
    address([10, 6, 6, 6], 6001),
    address([10, 0, 0, 2], 6002),
    address([203, 0, 113, 9], 6003),
];

const BYSTANDER: SocketAddr = address([10, 9, 9, 9], 9000);

/// Datagrams that the attacker remembers.
const MEMORY: usize = 32;

/// Cookies that it remembers at each address.
const COOKIES: usize = 8;

/// How far around an honest player's number a guess is left out: see [`super`].
const WINDOW: (u32, u32) = (64 + 16, 4096 + 16);

/// The longest of everything.
const LONGEST: &str = "fifteen letters";

/// Who attacks, with all that it knows.
#[derive(Clone)]
pub(crate) struct Attacker {
    bases: [Base; OWN.len()],
    /// The number of the next datagram from each address that is not its own.
    counts: [u32; HONEST.len() + 1],
    sent: Vec<Vec<u8>>,
    streams: Vec<(StreamId, Option<u32>)>,
    bend: Option<(u8, u8)>,
    flood: u8,
    /// Datagrams that it may still send.
    left: usize,
}

/// One of its addresses.
#[derive(Clone, Default)]
struct Base {
    count: u32,
    /// The newest first.
    cookies: Vec<Secret>,
    session: Option<SessionIndex>,
    ticket: Option<Secret>,
    words: u16,
}

impl Attacker {
    /// Someone who knows nothing, and may send so many datagrams.
    pub(crate) fn new(datagrams: usize) -> Self {
        Attacker {
            bases: Default::default(),
            counts: [0; HONEST.len() + 1],
            sent: Vec::new(),
            streams: Vec::new(),
            bend: None,
            flood: 0,
            left: datagrams,
        }
    }

    /// A script begins, which may send so many datagrams.
    pub(crate) fn begin_script(&mut self, datagrams: usize) {
        self.left = datagrams;
    }

    /// How many cookies, sessions and tokens it has.
    #[allow(dead_code, reason = "the seeds' test looks at it, the fuzz target does not")]
    pub(crate) fn booty(&self) -> (usize, usize, usize) {
        let cookies = self.bases.iter().filter(|base| !base.cookies.is_empty());
        let sessions = self.bases.iter().filter(|base| base.session.is_some());
        let tokens = self.streams.iter().filter(|(_, token)| token.is_some());
        (cookies.count(), sessions.count(), tokens.count())
    }

    /// Does one thing, and sees what comes of it.
    pub(crate) fn act(&mut self, scene: &mut Scene, act: Act<'_>) {
        match act {
            Act::Wait(steps) => {
                scene.wait(Duration::from_millis(25) * u32::from(steps % 32 + 1));
            }
            Act::Bend { at, to } => self.bend = Some((at, to)),
            Act::Flood(times) => self.flood = times,
            Act::Count { from, sequence } => *self.count(from) = sequence,
            Act::Listen { from, whose, ahead } => {
                let newest = scene.honest[usize::from(whose) % HONEST.len()].sequence;
                if let Some(newest) = newest {
                    *self.count(from) = newest.wrapping_add(ahead.into());
                }
            }
            Act::Bytes { from, bytes } => self.send(scene, from, bytes.to_vec()),
            Act::Again { from, which } => {
                if let Some(bytes) = pick(&self.sent, which).cloned() {
                    self.send(scene, from, bytes);
                }
            }
            Act::Replay { from, whose, which } => {
                let tapped = &scene.honest[usize::from(whose) % HONEST.len()].tapped;
                if let Some(bytes) = pick(tapped, which).cloned() {
                    self.bend = None;
                    self.send(scene, from, bytes);
                }
            }
            Act::Lan { from, what, operand } => {
                self.send(scene, from, lan_packet(what, operand));
            }
            Act::Rtype { from, what, operand } => {
                let bytes = self.rtype_packet(scene, what, operand);
                self.send(scene, from, bytes);
            }
            Act::Open(from) => self.open(scene, OWN[usize::from(from) % OWN.len()]),
            Act::Name { stream, piece } => {
                let hello =
                    rtype::Message::Hello(rtype::TcpHello { name: Name::new(LONGEST).into() });
                let mut out = [0; 64];
                let len = hello.encode(&mut out).expect("a short message");
                for piece in out[..len].chunks(usize::from(piece % 16) + 1) {
                    self.write(scene, stream, StreamEvent::Received(piece));
                }
            }
            Act::Write { stream, bytes } => self.write(scene, stream, StreamEvent::Received(bytes)),
            Act::Close(stream) => self.write(scene, stream, StreamEvent::Closed),
            _ => self.speak(scene, act),
        }
        self.learn(scene);
    }

    /// What is said in `native`.
    fn speak(&mut self, scene: &mut Scene, act: Act<'_>) {
        let GameId { game, version: game_version } = Yard::default().id();
        let now_tick = scene.tick();
        let timestamp = scene.now.as_millis() as u32;
        let nonce = |from| self.nonce(from);
        match act {
            Act::Hello(from) => {
                let nonce = nonce(from);
                let hello = Hello { protocol: PROTOCOL, game, game_version, nonce };
                self.say(scene, from, Packet::Hello(hello));
            }
            Act::Join { from, cookie, form, room } if form & 8 != 0 => {
                let create = CreateRoom {
                    nonce: nonce(from),
                    cookie: self.cookie(from, cookie),
                    protocol: PROTOCOL,
                    game,
                    game_version,
                    layout: if form & 16 == 0 { Yard::default().layout() as u32 } else { 0 },
                    budget: Budget::MAX,
                    name: Name::new(LONGEST),
                    room_name: Name::new(["", "One", "Den", "Lair"][usize::from(room % 4)]),
                    password: Name::new(if form & 4 != 0 { LONGEST } else { "" }),
                    data: JoinData::default(),
                    token: Token::new(&[]).expect("no longer than it may be"),
                };
                self.say(scene, from, Packet::CreateRoom(create));
            }
            Act::Join { from, cookie, form, room } => {
                let longest = form & 2 != 0;
                let join = Join {
                    nonce: nonce(from),
                    cookie: self.cookie(from, cookie),
                    protocol: PROTOCOL,
                    game,
                    game_version,
                    layout: if form & 16 == 0 { Yard::default().layout() as u32 } else { 0 },
                    budget: if longest { Budget::MAX } else { Budget::new(1024).unwrap() },
                    role: if form & 1 == 0 { Role::Play } else { Role::Watch },
                    room: u32::from(room % 5),
                    name: Name::new(LONGEST),
                    password: Name::new(if form & 4 != 0 { LONGEST } else { "" }),
                    data: JoinData::new(&[9; 200][..usize::from(form >> 4)]).expect("short"),
                    token: Token::new(&[7; Token::MAX][..if longest { Token::MAX } else { 0 }])
                        .expect("no longer than it may be"),
                };
                self.say(scene, from, Packet::Join(join));
            }
            Act::Resume { from, cookie, ticket, fresh } => {
                let (nonce, cookie) = (nonce(from), self.cookie(from, cookie));
                if let Some(ticket) = self.ticket(scene, ticket) {
                    let resume = Resume { nonce, cookie, ticket, fresh };
                    self.say(scene, from, Packet::Resume(resume));
                }
            }
            Act::Input { from, session, ahead, buttons, history, messages } => {
                let Some(session) = self.session(from, session) else { return };
                let sequence = now_tick.wrapping_add_signed(ahead.into()).max(1);
                let (mut room, mut message_room) = ([0; History::MAX_LEN], [0; 800]);
                let older =
                    (0..history % (MAX_HISTORY as u8 + 1)).map(|i| u16::from(buttons ^ i).into());
                let first = self.words(from);
                let messages = (messages > 0).then(|| {
                    let mut w = BlockWriter::new(&mut message_room);
                    write_words(&mut w, first, messages, &[0; 4]);
                    w.finish(first)
                });
                let input = Input {
                    session,
                    newest: InputRecord { sequence, input_flags: u16::from(buttons).into() },
                    snapshot: Some(SnapshotEcho { back: ahead.unsigned_abs(), held: 0 }),
                    drawn_back: Some(u16::from(history) << 8),
                    acks: Some(Acks { newest: timestamp as u16, mask: timestamp.into() }),
                    messages,
                    history: History::new(u16::from(buttons).into(), older, &mut room),
                };
                self.say(scene, from, Packet::Input(input));
            }
            Act::Say { from, session, first, count, len } => {
                let Some(session) = self.session(from, session) else { return };
                let mut room = [0; 1150];
                let word = [0; 4 * 255];
                let first = self.words(from).wrapping_add(first.into());
                let mut w = BlockWriter::new(&mut room);
                // What it holds of the server's, in a pattern that can be anything.
                w.selective((0..u16::from(len)).filter(|at| at % 3 == u16::from(count % 3)));
                // One in four is longer than a message may be, and is left out.
                let said = write_words(&mut w, first, count, &word[..4 * usize::from(len)]);
                let _ = (0..count >> 4).all(|_| w.unreliable(&word[..usize::from(len)]));
                let block = w.finish(first);
                self.say(scene, from, Packet::ClientMessages(ClientMessages { session, block }));
                if let Source::Own(base) = from {
                    let base = &mut self.bases[usize::from(base)];
                    base.words = base.words.wrapping_add(said);
                }
            }
            Act::Confirm { from, session, back } => {
                let Some(session) = self.session(from, session) else { return };
                let server_tick = tick::before(now_tick.max(1), back.into());
                let (held, acks) = (back, None);
                let ack = SnapshotAck { session, server_tick, held, acks, messages: None };
                self.say(scene, from, Packet::SnapshotAck(ack));
            }
            Act::Ping { from, session, id } => {
                let packet = match (self.session(from, session), id & 1) {
                    (Some(session), 1) => {
                        Packet::ClientPong(ClientPong { session, id: id.into(), timestamp })
                    }
                    (session, _) => Packet::Ping(Ping { session, id: id.into(), timestamp }),
                };
                self.say(scene, from, packet);
            }
            Act::Goodbye { from, session } => {
                let Some(session) = self.session(from, session) else { return };
                self.say(scene, from, Packet::Goodbye(Goodbye { session }));
            }
            Act::Ask { from, what } => {
                let nonce = nonce(from);
                let packet = match (what % 3, self.session(from, what / 3 % 16)) {
                    (0, _) => Packet::Discover(Discover { nonce, game: 0 }),
                    (1, Some(session)) => Packet::EnterRoom(EnterRoom {
                        session,
                        nonce,
                        room: [2, 0, 1, 3, 4, 5][usize::from(what / 48)],
                        role: if what & 1 == 1 { Role::Play } else { Role::Watch },
                        password: Name::default(),
                    }),
                    _ => {
                        let cookie = self.cookie(from, what / 3 % 16);
                        Packet::ListRooms(ListRooms { nonce, cookie, game: 0, first: 0 })
                    }
                };
                self.say(scene, from, packet);
            }
            _ => {}
        }
    }

    /// Sends a packet with the next number of its source, and a flood of it with those that follow.
    fn say(&mut self, scene: &mut Scene, from: Source, packet: Packet<'_>) {
        let times = u32::from(self.flood) + 1;
        let count = self.count(from);
        let sequence = *count;
        *count = sequence.wrapping_add(times);
        let mut out = [0; 1200];
        if let Ok(len) = (Datagram { sequence, packet }).encode(&mut out) {
            self.send_numbered(scene, from, out[..len].to_vec(), 1);
        }
    }

    /// Sends a datagram, and a flood of the same.
    fn send(&mut self, scene: &mut Scene, from: Source, bytes: Vec<u8>) {
        self.send_numbered(scene, from, bytes, 0);
    }

    /// Sends a datagram, bent and as often as the script wants, each time so much further on.
    fn send_numbered(&mut self, scene: &mut Scene, from: Source, mut bytes: Vec<u8>, step: u32) {
        if let (Some((at, to)), 1..) = (self.bend.take(), bytes.len()) {
            let at = usize::from(at) % bytes.len();
            bytes[at] = to;
        }
        let times = (1 + usize::from(std::mem::take(&mut self.flood))).min(self.left);
        self.left -= times;
        let at = source_address(from);
        if self.shows_cookie(from, &bytes) {
            scene.prove(at);
        }
        remember(&mut self.sent, bytes.clone());
        for _ in 0..times {
            if is_fair(scene, from, &bytes) {
                scene.send(at, &bytes);
            }
            if let (Some(number), 1..) = (bytes.get_mut(5..9), step) {
                let sequence = u32::from_be_bytes([number[0], number[1], number[2], number[3]]);
                number.copy_from_slice(&sequence.wrapping_add(step).to_be_bytes());
            }
        }
        // Whoever is let in is greeted and shown the world, and everyone's roster changes.
        let most = times * (usize::from(LIMITS.sessions) + 4);
        let answers = scene.settle();
        assert!(answers <= most, "{answers} datagrams for {times}");
    }

    /// Whether a cookie goes back to where it came from.
    fn shows_cookie(&self, from: Source, bytes: &[u8]) -> bool {
        let Source::Own(base) = from else { return false };
        let shown = |cookie: &Secret| bytes.windows(16).any(|window| window == cookie.0);
        self.bases[usize::from(base)].cookies.iter().any(shown)
    }

    fn open(&mut self, scene: &mut Scene, from: SocketAddr) {
        let opened = 1 + self.streams.len() as u64;
        let stream = StreamId(HONEST_STREAM.0 + opened);
        if opened < 64 {
            self.streams.push((stream, None));
            scene.stream(stream, StreamEvent::Opened(from.into()));
            scene.settle();
        }
    }

    fn write(&mut self, scene: &mut Scene, stream: u8, event: StreamEvent<'_>) {
        if let Some(&(stream, _)) = pick(&self.streams, stream) {
            scene.stream(stream, event);
            scene.settle();
        }
    }

    fn rtype_packet(&self, scene: &Scene, what: u8, operand: u8) -> Vec<u8> {
        use rtype::{Buttons, Disconnect, Hello, Input, Packet, Ping, Pong, StartMatch};
        let name = Name::new(LONGEST);
        let (sequence, timestamp) = (operand.into(), scene.now.as_millis() as u32);
        let packet = match what % 8 {
            0 => Packet::Hello(Hello {
                token: pick(&self.streams, operand).and_then(|it| it.1),
                name: name.into(),
            }),
            // The honest player's, copied from over the shoulder; or nearly so.
            1 => Packet::Hello(Hello { token: scene.token, name: name.into() }),
            2 => Packet::Hello(Hello {
                token: scene.token.map(|it| it ^ u32::from(operand)),
                name: name.into(),
            }),
            3 => Packet::Input(Input {
                sequence,
                bits: Buttons::from_bits(operand & 63).expect("no other bit"),
            }),
            4 => Packet::Ping(Ping { sequence, timestamp }),
            5 => Packet::Pong(Pong { sequence, timestamp }),
            6 => Packet::Disconnect(Disconnect),
            _ => Packet::StartMatch(StartMatch),
        };
        let mut out = [0; 64];
        let len = packet.encode(&mut out).expect("a short packet");
        out[..len].to_vec()
    }

    /// Reads what came to its own addresses. What went to others it cannot see.
    fn learn(&mut self, scene: &mut Scene) {
        for (to, bytes) in std::mem::take(&mut scene.leaked) {
            let Some(base) = OWN.iter().position(|own| *own == to) else { continue };
            let base = &mut self.bases[base];
            match Datagram::decode(&bytes).map(|datagram| datagram.packet) {
                Ok(Packet::Challenge(challenge)) => {
                    base.cookies.insert(0, challenge.cookie);
                    base.cookies.truncate(COOKIES);
                }
                Ok(Packet::Accept(accept)) => {
                    base.session = Some(accept.session);
                    base.ticket = Some(accept.ticket);
                }
                _ => {}
            }
        }
        for (stream, bytes) in std::mem::take(&mut scene.written) {
            let (Some(bytes), Some((_, token))) =
                (bytes, self.streams.iter_mut().find(|(known, _)| *known == stream))
            else {
                continue;
            };
            if let Ok(Some((rtype::Message::HelloAck(ack), _))) =
                rtype::Message::decode_next(&bytes)
            {
                assert_ne!(Some(ack.token), scene.token, "someone else's token");
                *token = Some(ack.token);
            }
        }
    }

    fn count(&mut self, from: Source) -> &mut u32 {
        match from {
            Source::Own(base) => &mut self.bases[usize::from(base)].count,
            Source::Honest(player) => &mut self.counts[usize::from(player)],
            Source::Bystander => &mut self.counts[HONEST.len()],
        }
    }

    /// One for each address: a cookie is good for the nonce that it was baked with.
    fn nonce(&self, from: Source) -> u64 {
        u64::from(source_address(from).port())
    }

    fn cookie(&self, from: Source, age: u8) -> Secret {
        let base = match from {
            Source::Own(base) => base,
            // Its own, shown from where it is not: the cookie is good for another address.
            _ => age & 3,
        };
        let cookies = &self.bases[usize::from(base)].cookies;
        cookies.get(usize::from(age) % COOKIES).copied().unwrap_or(Secret([age; 16]))
    }

    /// 0 is the source's own; any other number is a guess.
    fn session(&self, from: Source, which: u8) -> Option<SessionIndex> {
        match (from, which) {
            (Source::Own(base), 0) => self.bases[usize::from(base)].session,
            (_, which) => SessionIndex::new(which.into()),
        }
    }

    fn ticket(&self, scene: &Scene, ticket: Ticket) -> Option<Secret> {
        let own = |base: u8| self.bases[usize::from(base)].ticket;
        match ticket {
            Ticket::Own(base) => own(base),
            Ticket::Bent(base) => own(base).map(|Secret(mut bytes)| {
                bytes[usize::from(base)] ^= 1;
                Secret(bytes)
            }),
            Ticket::Copied(player) => scene.honest[usize::from(player)].client.ticket(),
        }
    }

    fn words(&self, from: Source) -> u16 {
        match from {
            Source::Own(base) => self.bases[usize::from(base)].words,
            _ => 0,
        }
    }
}

/// Whether the attack is one that the dialects promise to withstand: see [`super`].
fn is_fair(scene: &Scene, from: Source, bytes: &[u8]) -> bool {
    let Source::Honest(player) = from else { return true };
    let player = &scene.honest[usize::from(player)];
    let Ok(datagram) = Datagram::decode(bytes) else {
        return player.client.is_native();
    };
    let Some(newest) = player.sequence else { return true };
    let (behind, ahead) = WINDOW;
    let lucky = datagram.sequence.wrapping_sub(newest.wrapping_sub(behind)) <= behind + ahead;
    !lucky || player.has_sent(bytes)
}

fn source_address(from: Source) -> SocketAddr {
    match from {
        Source::Own(base) => OWN[usize::from(base)],
        Source::Honest(player) => HONEST[usize::from(player)].1,
        Source::Bystander => BYSTANDER,
    }
}

fn lan_packet(what: u8, operand: u8) -> Vec<u8> {
    let port = match operand {
        0 => 5000,
        _ => 6000 + u16::from(operand % 8),
    };
    let packet = match what % 3 {
        0 => lan::Packet::FindHost(lan::FindHost),
        1 => lan::Packet::Hello(lan::Hello { port }),
        _ => lan::Packet::GuestInput(lan::GuestInput {
            tick: operand.into(),
            y: if operand & 1 == 0 { lan::Steer::Up } else { lan::Steer::Down },
        }),
    };
    let mut out = [0; 64];
    let len = packet.encode(&mut out).expect("a short packet");
    out[..len].to_vec()
}

fn pick<T>(list: &[T], which: u8) -> Option<&T> {
    list.get(usize::from(which) % list.len().max(1))
}

fn remember(memory: &mut Vec<Vec<u8>>, bytes: Vec<u8>) {
    if memory.len() == MEMORY {
        memory.remove(0);
    }
    memory.push(bytes);
}

/// Writes so many messages from `first` on, every fifth one left out and every third one of chat; how
/// far that goes.
fn write_words(w: &mut BlockWriter<'_>, first: u16, count: u8, word: &[u8]) -> u16 {
    let numbers = (0..u16::from(count)).filter(|at| at % 5 != 4);
    let written = numbers.take_while(|&at| {
        let kind = if at % 3 == 2 { MessageKind::Chat } else { MessageKind::Game };
        w.reliable(first.wrapping_add(at), kind, [word, &[]])
    });
    written.last().map_or(0, |last| last + 1)
}
