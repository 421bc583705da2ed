//! A client of ours in any dialect, and a server that means harm.
//!
//! The server is one of ours until a script begins: what it said is kept ([`stage`]), and from then
//! on the script speaks in its place ([`act`]): the same again and bent, anything behind a good
//! header, well encoded worlds that make no sense, bytes in the stream, answers to what was asked.
//! Whatever comes, the client does not panic, answers little, asks to be woken and not again and
//! again, never plays back in time, keeps bounded memory, and ends only with a reason.

mod act;
mod stage;

use std::time::Duration;

use backspin::channel::Delivery;
use backspin::channel::tick;
use backspin::client::{Client, ClientEvent, Frame};
use backspin::game::Refusal;
use backspin::game::{Buttons, Game};
use backspin::node::{Node, Path, StreamEvent, StreamId, StreamNode};
use backspin::replication::{ENTITY_LIMIT, Entity, MAX_FIELDS, State, delta};
use backspin::session::EndReason;
use backspin::time::Time;
use backspin::wire::native::{
    Accept, Budget, Challenge, Datagram, DeltaSnapshot, Feedback, MAX_BASELINE_BACK, Packet,
    Reject, RejectReason, Role, Secret, SessionIndex,
};
use backspin::wire::{List, Name};
use backspin_classic::wire::{ack, lan, rtype};
use backspin_classic::{Dialect, EntityState};
use backspin_sim::dot::Dots;

use act::Act;
#[allow(unused_imports, reason = "the seeds' test looks at them, the fuzz target only plays")]
pub(crate) use act::{ACTS, Script};
#[allow(unused_imports, reason = "the seeds' test counts them, the fuzz target does not")]
pub(crate) use stage::STAGES;

/// Datagrams out for one that came in: an answer to it, and what was due anyway.
const ANSWERS: usize = 4;

/// Datagrams out for one deadline: the last copies of a question, and what else is due.
const AT_ONCE: usize = 8;

/// What a script may cost the client, in bytes: its own length many times over, and all that is made
/// when a session begins.
const COST: (isize, isize) = (256, 512 * 1024);

/// How long a script is: enough to be dropped, to ask for the place and to give up.
const SPAN: Duration = Duration::from_millis(1_500);

/// Datagrams in one script.
const DATAGRAMS: usize = 200;

/// The number that a client gives its only stream.
const STREAM: StreamId = StreamId(0);

/// The client, and what the server knows of it.
#[derive(Clone)]
pub(crate) struct Scene {
    client: Client<Dots>,
    dialect: Dialect,
    now: Time,
    until: Time,
    /// What an honest server said, the handshake first.
    said: Vec<Vec<u8>>,
    /// The newest state that the client took (`lan`).
    lan: Option<lan::StateUpdate>,
    /// The number of the next datagram (`native`).
    sequence: u32,
    /// The client's newest datagram, and its newest question.
    heard: Vec<u8>,
    flood: u8,
    left: usize,
    marks: Marks,
    frame: Frame,
    /// How it ended, as the player was told.
    ended: Option<EndReason>,
}

/// How far the client has come in its session.
#[derive(Clone, Copy, Default)]
struct Marks {
    input: Option<u32>,
    snapshot: Option<u32>,
    drawn: Option<f64>,
}

/// What came of a script.
#[derive(Debug)]
#[allow(dead_code, reason = "the seeds' test looks at it, the fuzz target does not")]
pub(crate) struct Outcome {
    pub(crate) dialect: Dialect,
    pub(crate) ended: Option<EndReason>,
    pub(crate) states: u64,
    pub(crate) malformed: u64,
    pub(crate) is_playing: bool,
}

/// Plays a script, whose first byte says at which stage it begins. `in_use` says how many bytes this
/// thread has allocated.
///
/// # Panics
/// If the server achieves anything.
pub(crate) fn play(script: &[u8], in_use: impl Fn() -> isize) -> Outcome {
    let (first, acts) = script.split_first().unwrap_or((&0, &[]));
    let mut scene = stage::at(*first).clone();
    let before = in_use();
    scene.until = scene.now + SPAN;
    for act in Script(acts) {
        if scene.now >= scene.until {
            break;
        }
        scene.act(act);
        scene.check();
    }
    scene.advance(Duration::from_millis(50));
    scene.check();
    let (cost, (each, beside)) = (in_use() - before, COST);
    assert!(cost <= each * script.len() as isize + beside, "{cost} bytes");
    let (counts, client) = (*scene.client.counts(), &scene.client);
    Outcome {
        dialect: scene.dialect,
        ended: scene.ended,
        states: counts.states,
        malformed: counts.malformed,
        is_playing: client.is_playing(),
    }
}

impl Scene {
    fn act(&mut self, act: Act<'_>) {
        match act {
            Act::Wait(steps) => {
                let span = Duration::from_millis(10) * u32::from(steps % 32 + 1);
                self.advance(span.min(self.until.since(self.now)));
            }
            Act::Raw(bytes) => self.send(bytes.to_vec()),
            Act::Bent { which, at, to } => self.send_bent(which, at, to),
            Act::Payload { kind, payload } => self.send_payload(kind, payload),
            Act::World { on, form, entities } => self.send_world(on, form, entities),
            Act::Skip(on) => self.sequence = self.sequence.wrapping_add_signed(on.into()),
            Act::Flood(times) => self.flood = times % 32,
            Act::Stream(bytes) => self.stream(StreamEvent::Received(bytes)),
            Act::EndStream(how) => {
                self.stream(if how & 1 == 0 { StreamEvent::Closed } else { StreamEvent::Failed });
            }
            Act::Answer(form) => self.answer(form),
            Act::Play(what) => self.play(what),
        }
    }

    /// A datagram of the server's, and what the client says to it.
    fn send(&mut self, bytes: Vec<u8>) {
        let times = (1 + usize::from(std::mem::take(&mut self.flood))).min(self.left);
        self.left -= times;
        for _ in 0..times {
            let path = Path::to(self.client.server());
            self.deliver(path, &mut bytes.clone());
            let sent = self.drain();
            assert!(sent <= ANSWERS, "{sent} datagrams for one");
        }
    }

    /// A datagram comes to the client.
    fn deliver(&mut self, path: Path, bytes: &mut [u8]) {
        let before = self.client.counts().states;
        self.client.handle_datagram(self.now, path, bytes);
        if let Ok(lan::Packet::StateUpdate(update)) = lan::Packet::decode(bytes)
            && self.dialect == Dialect::Lan
            && self.client.counts().states > before
        {
            self.lan = Some(update);
        }
    }

    fn send_bent(&mut self, which: u8, at: u8, to: u8) {
        let Some(mut bytes) = self.said.get(usize::from(which) % self.said.len().max(1)).cloned()
        else {
            return;
        };
        if matches!(self.dialect, Dialect::Native | Dialect::Ack) && bytes.len() >= 9 {
            bytes[5..9].copy_from_slice(&self.next_sequence().to_be_bytes());
        }
        // Past the end is nowhere: the same again.
        if let Some(byte) = bytes.get_mut(usize::from(at)) {
            *byte = to;
        }
        self.send(bytes);
    }

    fn send_payload(&mut self, kind: u8, payload: &[u8]) {
        let len = payload.len() as u16;
        let header = match self.dialect {
            Dialect::Native | Dialect::Ack => {
                let ([high, low], sequence) = (len.to_be_bytes(), self.next_sequence());
                [&[1, kind, 0, high, low], &sequence.to_be_bytes()[..]].concat()
            }
            Dialect::Rtype => {
                let [low, high] = len.to_le_bytes();
                vec![low, high, kind, 1]
            }
            Dialect::Lan => vec![kind],
        };
        self.send([&header, payload].concat());
    }

    /// Eight bytes make an entity.
    fn send_world(&mut self, on: i8, form: u8, entities: &[u8]) {
        let mut out = [0; 2048];
        let len = match self.dialect {
            Dialect::Native => self.encode_world(on, form, entities, &mut out),
            Dialect::Ack => {
                let sequence = self.next_sequence();
                encode_ack_world(sequence, on, form, entities, &mut out)
            }
            Dialect::Rtype => encode_rtype_world(entities, &mut out),
            Dialect::Lan => {
                let mut bytes = [0; 8];
                bytes.iter_mut().zip(entities).for_each(|(to, from)| *to = *from);
                encode_lan_world(on, form, bytes, self.lan, &mut out)
            }
        };
        if let Some(len) = len {
            self.send(out[..len].to_vec());
        }
    }

    fn encode_world(&mut self, on: i8, form: u8, bytes: &[u8], out: &mut [u8]) -> Option<usize> {
        let schema = self.client.game().schema();
        let newest = self.client.server_tick();
        let tick = newest.wrapping_add_signed(on.into());
        let mut state = State::new(tick);
        for chunk in bytes.as_chunks::<8>().0 {
            let [high, low, mix @ ..] = *chunk;
            let mut counts = [0; MAX_FIELDS];
            for (index, count) in counts.iter_mut().enumerate() {
                let byte = |at: usize| i32::from(mix[at % mix.len()]);
                *count = (byte(index) << 8 | byte(index + 1)) - 0x4000;
            }
            // An id that is taken already is no entity of the state.
            let id = u16::from_be_bytes([high & 3, low]).into();
            let _ = state.push(Entity::new(schema, id, 0, &counts));
        }
        let baseline = self.client.state();
        let back = u8::try_from(tick::since(tick, baseline.tick)).ok();
        let back = back.filter(|back| form & 1 == 1 && (1..=MAX_BASELINE_BACK).contains(back));
        let mut body = [0; 1024];
        let len = delta::encode(schema, back.map(|_| baseline), &state, &mut body).ok()?;
        let [echo, held, early, missing, lost, ..] = *bytes else { return None };
        let early = early.cast_signed();
        let feedback = (form & 2 == 2).then_some(Feedback { echo, held, early, missing, lost });
        let snapshot = DeltaSnapshot {
            tick: tick as u16,
            baseline_back: back.unwrap_or(0),
            feedback,
            messages: None,
            body: &body[..len],
        };
        let packet = Packet::DeltaSnapshot(snapshot);
        Datagram { sequence: self.next_sequence(), packet }.encode(out).ok()
    }

    fn next_sequence(&mut self) -> u32 {
        let sequence = self.sequence;
        self.sequence = sequence.wrapping_add(1);
        sequence
    }

    /// What was asked last is answered.
    fn answer(&mut self, form: u8) {
        match self.dialect {
            Dialect::Native => {
                let mut out = [0; 256];
                if let Some(len) = self.encode_answer(form, &mut out) {
                    self.send(out[..len].to_vec());
                }
            }
            Dialect::Ack => {
                let mut out = [0; 256];
                let sequence = self.next_sequence();
                if let Some(len) = encode_ack_answer(sequence, form, &mut out) {
                    self.send(out[..len].to_vec());
                }
            }
            Dialect::Lan => self.send(vec![4]),
            Dialect::Rtype if form & 3 == 0 => self.send(vec![0, 0, 2, 1]),
            Dialect::Rtype if form & 3 == 1 => self.stream(StreamEvent::Received(&[0, 0, 100, 1])),
            Dialect::Rtype => {
                let ack = [6, 0, 2, 1, form, 0x10, form, form, form, form];
                self.stream(StreamEvent::Received(&ack));
            }
        }
    }

    fn encode_answer(&self, form: u8, out: &mut [u8]) -> Option<usize> {
        let question = Datagram::decode(&self.heard).ok()?;
        let nonce = match question.packet {
            Packet::Hello(hello) => {
                let (cookie, token_required) = (Secret([form; 16]), form == 255);
                let packet =
                    Packet::Challenge(Challenge { nonce: hello.nonce, cookie, token_required });
                return Datagram { sequence: question.sequence, packet }.encode(out).ok();
            }
            Packet::Join(join) => join.nonce,
            Packet::Resume(resume) => resume.nonce,
            Packet::EnterRoom(enter) => enter.nonce,
            _ => return None,
        };
        let reasons = [
            RejectReason::Full,
            RejectReason::Ticket,
            RejectReason::GameVersion,
            RejectReason::Password,
        ];
        let packet = match form & 7 {
            0 => Packet::Reject(Reject {
                nonce,
                reason: reasons[usize::from(form >> 3) % reasons.len()],
                protocol: form.into(),
                game_version: form.into(),
                sentence: Refusal::new(&"No. ".repeat(usize::from(form & 3))),
            }),
            _ => Packet::Accept(Accept {
                nonce,
                session: SessionIndex::new(1 + u16::from(form >> 6))?,
                player: 1 + u32::from(form >> 5),
                room: 1 + u32::from(form & 1),
                tick: [0, 1, 1000, u32::MAX - 2][usize::from(form >> 3 & 3)],
                tick_rate: [60, 1, 255, 60][usize::from(form >> 1 & 3)],
                budget: Budget::MAX,
                role: if form & 128 == 0 { Role::Play } else { Role::Watch },
                ticket: Secret([form; 16]),
            }),
        };
        Datagram { sequence: self.sequence.wrapping_sub(1), packet }.encode(out).ok()
    }

    fn stream(&mut self, event: StreamEvent<'_>) {
        self.client.handle_stream(self.now, STREAM, event);
        let mut out = [0; 256];
        let mut actions = 0;
        while self.client.poll_stream(self.now, &mut out).is_some() {
            actions += 1;
            assert!(actions <= 2, "more and more for the stream");
        }
    }

    fn play(&mut self, what: u8) {
        match what & 7 {
            0 | 1 => self.client.press(Buttons(what.into())),
            2 => {
                let delivery =
                    if what & 8 == 0 { Delivery::Reliable } else { Delivery::Unreliable };
                let _ = self.client.send(&(), delivery);
                let _ = self.client.chat(self.now, "hello");
            }
            3 if what == 255 => self.client.leave(),
            3 | 4 => {
                let role = if what & 8 == 0 { Role::Play } else { Role::Watch };
                self.client.enter_room(self.now, (what >> 4).into(), role, Name::default());
            }
            _ => self.draw(),
        }
    }

    fn draw(&mut self) {
        self.client.draw(self.now, &mut self.frame);
        let Frame { entities, drawn_tick, .. } = &self.frame;
        // What others do and what is predicted are drawn on their own.
        assert!(entities.len() <= 2 * ENTITY_LIMIT);
        assert!(entities.iter().flat_map(|drawn| &drawn.fields).all(|it| it.is_finite()));
        let drawn = *drawn_tick;
        assert!(drawn.zip(self.marks.drawn).is_none_or(|(now, then)| now >= then), "drawn back");
        self.marks.drawn = drawn.or(self.marks.drawn);
    }

    /// Lets time pass.
    fn advance(&mut self, span: Duration) {
        let until = self.now + span;
        let mut at_once = 0;
        while let Some(due) = self.client.poll_timeout().filter(|&due| due <= until) {
            at_once = if due > self.now { 0 } else { at_once + 1 };
            assert!(at_once < 8, "due again and again");
            self.now = self.now.max(due);
            self.client.handle_timeout(self.now);
            let sent = self.drain();
            assert!(sent <= AT_ONCE, "{sent} datagrams at once");
        }
        self.now = until;
    }

    /// Takes what the client sends; how many datagrams that is.
    fn drain(&mut self) -> usize {
        let mut out = [0; 2048];
        let mut sent = 0;
        while let Some(transmit) = self.client.poll_transmit(self.now, &mut out) {
            sent += 1;
            assert!(sent < 64, "more and more datagrams");
            assert_eq!(transmit.path.remote, self.client.server());
            self.heard.clear();
            self.heard.extend_from_slice(&out[..transmit.len]);
        }
        sent
    }

    fn check(&mut self) {
        while let Some(event) = self.client.poll_event() {
            assert!(self.ended.is_none(), "{event:?} after the end");
            match event {
                // Clocks begin anew.
                ClientEvent::Connected(_) | ClientEvent::Resumed(_) => {
                    self.marks = Marks::default()
                }
                ClientEvent::Ended(reason) => {
                    assert!(!reason.to_string().is_empty());
                    self.ended = Some(reason);
                }
                _ => {}
            }
        }
        assert_eq!(self.client.ended(), self.ended.as_ref(), "the player is told");
        assert_eq!(self.client.poll_timeout().is_none(), self.ended.is_some(), "it wants to wake");
        while self.client.poll_line().is_some() {}
        assert!(self.client.roster().len() <= 255);
        if !self.client.is_native() || !self.client.is_playing() {
            return;
        }
        let on = |now: Option<u32>, then: Option<u32>| {
            now.zip(then).is_none_or(|(now, then)| tick::since(now, then) >= 0)
        };
        let (input, snapshot) = (self.client.newest_input(), self.client.server_tick());
        assert!(on(input, self.marks.input), "input {input:?} after {:?}", self.marks.input);
        assert!(on(Some(snapshot), self.marks.snapshot), "{snapshot} is old");
        self.marks.input = input.or(self.marks.input);
        self.marks.snapshot = Some(snapshot).filter(|&tick| tick > 0).or(self.marks.snapshot);
    }
}

fn encode_rtype_world(bytes: &[u8], out: &mut [u8]) -> Option<usize> {
    let kinds =
        [rtype::Kind::Player, rtype::Kind::Enemy, rtype::Kind::Bullet, rtype::Kind::PowerUp];
    let entity = |chunk: &[u8; 8]| {
        let [id, kind, x, y, vx, vy, exponent, rgba] = *chunk;
        let float = |byte: u8| {
            let bits = u32::from(byte) << 16 | u32::from(exponent & 0x7F) << 24;
            let value = f32::from_bits(bits | u32::from(byte & 1) << 31);
            if value.is_finite() { value } else { f32::MAX }
        };
        rtype::Entity {
            id: u32::from(id) << (kind >> 5),
            kind: kinds[usize::from(kind) % kinds.len()],
            x: float(x),
            y: float(y),
            vx: float(vx),
            vy: float(vy),
            rgba: rgba.into(),
        }
    };
    let entities: Vec<_> = bytes.as_chunks::<8>().0.iter().map(entity).collect();
    rtype::Packet::State(rtype::State { entities: List::new(&entities) }).encode(out).ok()
}

/// A cookie, a place as anyone, or the end.
fn encode_ack_answer(sequence: u32, form: u8, out: &mut [u8]) -> Option<usize> {
    let (reason, sentence) = (form >> 2, Name::new("because").into());
    let packet = match form & 3 {
        0 => ack::Packet::Challenge(ack::Challenge { cookie: Secret([form; 16]) }),
        1 => ack::Packet::Welcome(ack::Welcome {
            player_id: [1, 2, 8, u32::MAX][usize::from(form >> 2 & 3)],
            entity_id: [1, 2, 0x7_0001, u32::MAX][usize::from(form >> 4 & 3)],
            server_tick: u32::from(form),
            tick_rate: [60, 1, 255, 60][usize::from(form >> 6)],
        }),
        2 => ack::Packet::Refused(ack::Refused { reason, sentence }),
        _ => ack::Packet::Bye(ack::Bye { reason, sentence }),
    };
    ack::Datagram { sequence, packet }.encode(out).ok()
}

/// The first is the player's own, and the form says which input it acknowledges.
fn encode_ack_world(
    sequence: u32,
    on: i8,
    form: u8,
    bytes: &[u8],
    out: &mut [u8],
) -> Option<usize> {
    let entity = |chunk: &[u8; 8]| {
        let [id, kind, x, y, vx, vy, exponent, ack] = *chunk;
        let float = |byte: u8| {
            let bits = u32::from(byte) << 16 | u32::from(exponent & 0x7F) << 24;
            let value = f32::from_bits(bits | u32::from(byte & 1) << 31);
            if value.is_finite() { value } else { f32::MAX }
        };
        EntityState {
            entity_id: u32::from(id) << (kind >> 5),
            entity_type: [1, 2, 3, 4, 16, 17, 256, 9][usize::from(kind & 7)],
            x: float(x),
            y: float(y),
            vx: i16::from_be_bytes([vx, vy]),
            vy: i16::from_be_bytes([vy, vx]),
            health: (kind >> 3 & 3).into(),
            flags: ack.into(),
            last_ack_sequence: if form & 2 == 0 { u32::from(ack) } else { u32::MAX - 5 },
        }
    };
    let entities: Vec<_> = bytes.as_chunks::<8>().0.iter().map(entity).collect();
    let server_tick = sequence.wrapping_add_signed(on.into());
    let (more, entities) = (form & 1 == 1, List::new(&entities));
    let packet = ack::Packet::Snapshot(ack::Snapshot { server_tick, more, entities });
    ack::Datagram { sequence, packet }.encode(out).ok()
}

/// The newest state with some of it changed.
fn encode_lan_world(
    on: i8,
    form: u8,
    bytes: [u8; 8],
    newest: Option<lan::StateUpdate>,
    out: &mut [u8],
) -> Option<usize> {
    let newest = newest?;
    let seq = newest.seq.wrapping_add_signed(on.into());
    let len = lan::Packet::StateUpdate(lan::StateUpdate { seq, ..newest }).encode(out).ok()?;
    // InterpolationClock the kind and the number.
    let at = 5 + usize::from(form) % (len - 5 - bytes.len());
    out[at..at + bytes.len()].copy_from_slice(&bytes);
    Some(len)
}
