//! One player's side: finds its way in, keeps the line alive, comes back after a drop.
//!
//! The other end is a server of ours or, in `lan` and `rtype`, the program the dialect comes
//! from. Below is the wire, above whoever draws and reads keys. What comes from anyone but the
//! server asked is ignored.

mod config;
mod impact;
#[cfg(feature = "lan")]
mod lan;
mod native;
#[cfg(any(feature = "lan", feature = "rtype"))]
mod plain;
mod rooms;
#[cfg(feature = "rtype")]
mod rtype;
mod seat;
#[cfg(feature = "rtype")]
mod told;

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::time::Duration;

use crate::channel::{AlarmEvent, Journal, LogLine, Pending, Timeline};
use crate::clock::Delay;
use crate::game::{Buttons, ClassicGame, Event, Game, PlayerId};
use crate::node::{Node, Path, StreamAction, StreamEvent, StreamId, StreamNode, Transmit};
use crate::replica::State;
use crate::session::{
    ArrivalCounts, EndReason, Grade, LifeEvent, Liveness, PingCounts, Pinger, Retry, RetryPolicy,
    RetryStep, RoundTrip, Secrets,
};
use crate::time::Time;
use crate::wire::native::{PlayerFlags, Role, Secret, SessionIndex};
use crate::wire::{Dialect, Full, Malformed, Name};

pub use crate::game::Frame;
pub use config::ClientConfig;
pub use rooms::{LISTED_LIMIT, ListStatus, RoomPick, Rooms, SERVER_LIMIT, ServerRooms};

/// What a screen is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClientEvent {
    /// The player is in.
    Connected(PlayerId),
    /// The player is in again, in the same slot.
    Resumed(PlayerId),
    /// Who plays has changed.
    Roster,
    /// The player stays in the room, and why [`Client::enter_room`] did not lead elsewhere.
    Stayed(EndReason),
    /// Nothing came from the server for a while.
    Quiet,
    /// It is heard again.
    Heard,
    /// The connection is lost; the client tries to come back.
    Trying,
    /// A sign that the line is slow, raised or lowered.
    Line(AlarmEvent),
    /// Something happened in the game.
    Game(Event),
    /// It is over, and why.
    Ended(EndReason),
}

/// Someone in the room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RosterLine {
    /// Who.
    pub player: PlayerId,
    /// Called.
    pub name: Name,
    /// Lives left.
    pub lives: u8,
    /// Host, ready, absent, watching (`native`).
    pub flags: PlayerFlags,
}

/// What a client has received and dropped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClientCounts {
    /// From anyone but the server.
    pub foreign: u64,
    /// Bytes that are no packet.
    pub malformed: u64,
    /// Packets at the wrong moment, doubled or late.
    pub stray: u64,
    /// Snapshots and states taken, in one piece or when their last part came.
    pub states: u64,
    /// Parts of snapshots taken.
    pub parts: u64,
    /// Bytes from the server, whatever they were worth.
    pub bytes_in: u64,
    /// Bytes to the server.
    pub bytes_out: u64,
}

/// One player's side. A clone asks with the same secrets: it is for tests.
#[derive(Clone, Debug)]
pub struct Client<G: Game> {
    game: G,
    config: ClientConfig,
    path: Path,
    secrets: Secrets,
    phase: Phase,
    /// Who we are, from the first acceptance on.
    player: Option<PlayerId>,
    speech: Speech<G>,
    liveness: Option<Liveness>,
    pinger: Pinger,
    round_trip: RoundTrip,
    buttons: Buttons,
    next_input: Time,
    /// Until when the server keeps our place, if it is lost.
    resume_until: Time,
    due: Due,
    /// Nothing: what there is before the server has said anything.
    empty: State,
    roster: Vec<RosterLine>,
    events: VecDeque<ClientEvent>,
    journal: Journal,
    counts: ClientCounts,
}

/// How far the client has come.
#[derive(Clone, Debug)]
enum Phase {
    /// Asking, again and again: a Hello, a Join, a Resume, whatever the dialect needs next.
    Asking(Retry),
    /// `rtype`: the TCP step is under way.
    #[cfg(feature = "rtype")]
    Dialing { until: Time },
    /// In the room.
    Playing,
    /// Over.
    Ended(EndReason),
}

/// A dialect, with what it keeps.
#[derive(Clone, Debug)]
enum Speech<G: Game> {
    Native(Box<native::Native<G>>),
    #[cfg(feature = "rtype")]
    Rtype(Box<rtype::Rtype<G>>),
    #[cfg(feature = "lan")]
    Lan(Box<lan::Lan<G>>),
}

/// What is to be sent.
#[derive(Clone, Debug, Default)]
struct Due {
    /// Copies of the question of [`Phase::Asking`].
    questions: u8,
    input: bool,
    ping: bool,
    /// Answers to the server's pings, the latest of them.
    pong: Option<(u32, u32)>,
    goodbyes: u8,
}

/// How often a client pings where nothing else measures the path.
const PING_EVERY: Duration = Duration::from_secs(1);

/// In the old dialects an input goes out so often.
const INPUT_PERIOD: Duration = Duration::from_nanos(1_000_000_000 / 60);

/// Events that nobody has read yet; older ones make room.
const EVENT_LIMIT: usize = 256;

/// A goodbye may be lost, and nobody answers it.
const GOODBYES: u8 = 3;

impl<G: Game> Client<G> {
    /// A client that starts to ask at `now`. `seed` must come from the system's generator.
    pub fn new(now: Time, game: G, config: ClientConfig, seed: [u8; 32]) -> Self {
        let mut secrets = Secrets::new(seed);
        let (speech, phase) = match config.dialect {
            Dialect::Native => (
                Speech::Native(Box::new(native::Native::new(&mut secrets, config.ticket))),
                Phase::Asking(Retry::new(now, RetryPolicy::HELLO)),
            ),
            #[cfg(feature = "rtype")]
            Dialect::Rtype => {
                let until = now + rtype::DIAL_FOR;
                let rtype = rtype::Rtype::new(now, game.clone());
                (Speech::Rtype(Box::new(rtype)), Phase::Dialing { until })
            }
            #[cfg(feature = "lan")]
            Dialect::Lan => (
                Speech::Lan(Box::new(lan::Lan::new(now, game.clone()))),
                Phase::Asking(Retry::new(now, RetryPolicy::HELLO)),
            ),
        };
        Client {
            path: Path::to(config.server),
            journal: Journal::new(config.journal),
            game,
            config,
            secrets,
            phase,
            player: None,
            speech,
            liveness: None,
            pinger: Pinger::new(PING_EVERY),
            round_trip: RoundTrip::default(),
            buttons: Buttons::default(),
            next_input: now,
            resume_until: now,
            due: Due::default(),
            empty: State::default(),
            roster: Vec::new(),
            events: VecDeque::new(),
            counts: ClientCounts::default(),
        }
    }

    /// What the player holds from now on.
    pub fn press(&mut self, buttons: Buttons) {
        self.buttons = buttons;
    }

    /// What happened since this was asked last.
    pub fn poll_event(&mut self) -> Option<ClientEvent> {
        self.events.pop_front()
    }

    /// Whether the player is in a room and hears from it.
    pub fn is_playing(&self) -> bool {
        matches!(self.phase, Phase::Playing)
    }

    /// Whether the server has said anything at all, be it in the TCP step.
    pub fn has_answer(&self) -> bool {
        let asked = match &self.speech {
            Speech::Native(native) => native.is_answered(),
            #[cfg(feature = "rtype")]
            Speech::Rtype(rtype) => rtype.is_greeted(),
            #[cfg(feature = "lan")]
            Speech::Lan(_) => false,
        };
        asked || self.player.is_some()
    }

    /// Why it is over, if it is.
    pub fn ended(&self) -> Option<&EndReason> {
        match &self.phase {
            Phase::Ended(reason) => Some(reason),
            _ => None,
        }
    }

    /// The number of the room (`native`), once we are in.
    pub fn room(&self) -> Option<u32> {
        self.seat().map(|seat| seat.room)
    }

    /// Goes to another room of the server (`native`), by its number, or from playing to watching
    /// and back; 0 is any other room with a free place. The answer is
    /// [`ClientEvent::Connected`] once more, or [`ClientEvent::Stayed`].
    ///
    /// Only who is in a room can go to another: else this does nothing.
    pub fn enter_room(&mut self, now: Time, room: u32, role: Role, password: Name) {
        if let Speech::Native(native) = &mut self.speech
            && matches!(self.phase, Phase::Playing)
        {
            native.start_move(&mut self.secrets, native::Move { room, role, password });
            self.phase = Phase::Asking(Retry::new(now, RetryPolicy::HELLO));
        }
    }

    /// Who we are, once we are in.
    pub fn player(&self) -> Option<PlayerId> {
        self.player
    }

    /// What brings this player back into the slot (`native`), also after the program was started
    /// anew: whoever has it is the player.
    pub fn ticket(&self) -> Option<Secret> {
        self.seat().map(|seat| seat.ticket)
    }

    /// Which of the server's sessions is ours (`native`), once we are in.
    pub fn session(&self) -> Option<SessionIndex> {
        self.seat().map(|seat| seat.session)
    }

    /// The rules.
    pub fn game(&self) -> &G {
        &self.game
    }

    /// The newest that the server said of the world.
    pub fn state(&self) -> &State {
        #[cfg(any(feature = "lan", feature = "rtype"))]
        if let Some(plain) = self.plain() {
            return plain.state();
        }
        self.seat().and_then(seat::Seat::newest_state).unwrap_or(&self.empty)
    }

    /// The tick of the newest snapshot; in the old dialects, how many states were taken.
    pub fn server_tick(&self) -> u32 {
        match self.config.dialect {
            Dialect::Native => self.seat().and_then(seat::Seat::newest_tick).unwrap_or(0),
            #[cfg(any(feature = "lan", feature = "rtype"))]
            _ => self.counts.states as u32,
        }
    }

    /// The number of the newest input (`native`): the tick that it is for.
    pub fn newest_input(&self) -> Option<u32> {
        self.seat()?.newest_input()
    }

    /// The inputs without acknowledgement (`native`).
    pub fn pending(&self) -> Option<&Pending> {
        self.seat().map(seat::Seat::pending)
    }

    /// Where the ahead clock stands (`native`): the tick that own inputs are for.
    pub fn ahead_tick(&self, now: Time) -> Option<f64> {
        self.seat().map(|seat| seat.ahead_tick(now))
    }

    /// The server's tick now, as far as this client can know (`native`).
    pub fn server_tick_at(&self, now: Time) -> Option<f64> {
        self.seat().map(|seat| seat.server_tick_at(now))
    }

    /// How far behind others are drawn, and why; in the old dialects behind when states come.
    pub fn delay(&self) -> Option<Delay> {
        #[cfg(any(feature = "lan", feature = "rtype"))]
        if let Some(plain) = self.plain() {
            return Some(plain.delay());
        }
        self.seat().map(seat::Seat::delay)
    }

    /// The tick that is predicted, in the old dialects the newest input, and where the own entity
    /// is after it.
    pub fn predicted(&self) -> Option<(u32, [f32; 2])> {
        #[cfg(any(feature = "lan", feature = "rtype"))]
        if let Some(plain) = self.plain() {
            return plain.predicted();
        }
        let prediction = self.seat()?.prediction()?;
        let own = prediction.own()?;
        Some((prediction.tick(), self.game.schema().place_of(own)?))
    }

    /// What is on the screen at `now`.
    pub fn draw(&mut self, now: Time, frame: &mut Frame) {
        frame.clear();
        if let Some(seat) = self.seat_mut() {
            seat.draw(now, frame);
        }
        #[cfg(any(feature = "lan", feature = "rtype"))]
        if let Some(plain) = self.plain_mut() {
            plain.draw(now, frame);
        }
    }

    /// Whether nothing has come yet of the time at which others are drawn now.
    pub fn is_starved(&self, now: Time) -> bool {
        #[cfg(any(feature = "lan", feature = "rtype"))]
        if let Some(plain) = self.plain() {
            return plain.is_starved(now);
        }
        self.seat().is_none_or(|seat| seat.is_starved(now))
    }

    /// How often a snapshot moved the own entity by more than a pixel (`native`).
    pub fn corrections(&self) -> Option<u64> {
        self.seat().map(seat::Seat::corrections)
    }

    /// The fate of the last inputs (`native`), as a picture.
    pub fn timeline(&self) -> Option<&Timeline> {
        self.seat().map(seat::Seat::timeline)
    }

    /// From now on so many lines of the log are kept.
    pub fn keep_lines(&mut self, limit: usize) {
        self.journal = Journal::new(limit);
    }

    /// The oldest line of the log that was not read yet, if any are kept:
    /// [`ClientConfig::journal`].
    pub fn poll_line(&mut self) -> Option<LogLine> {
        self.journal.poll()
    }

    /// Sends something that must arrive, at most 255 bytes. Whether there was room, and in an old
    /// dialect whether it has a word for it.
    pub fn send(&mut self, event: &[u8]) -> bool {
        #[cfg(feature = "rtype")]
        if let Speech::Rtype(rtype) = &mut self.speech {
            let wish = self.game.classic().rtype_wish(event);
            wish.into_iter().for_each(|wish| rtype.ask(wish));
            return wish.is_some();
        }
        self.seat_mut().is_some_and(|seat| seat.send(event))
    }

    /// Who plays.
    pub fn roster(&self) -> &[RosterLine] {
        &self.roster
    }

    /// The round trip, by the local clock alone.
    pub fn round_trip(&self) -> &RoundTrip {
        &self.round_trip
    }

    /// The share of the server's datagrams that were lost, of late (`native`), or of our own pings that
    /// got no answer, from a server that answers any (`rtype`).
    pub fn loss(&self) -> Option<f64> {
        #[cfg(feature = "rtype")]
        if let Speech::Rtype(_) = self.speech {
            let PingCounts { answered, lost, .. } = *self.pinger.counts();
            return (answered > 0).then(|| lost as f64 / (answered + lost) as f64);
        }
        self.seat().map(|seat| seat.window.recent_loss())
    }

    /// What became of the server's datagrams (`native`), in this session.
    pub fn arrivals(&self) -> Option<ArrivalCounts> {
        self.seat().map(|seat| seat.window.counts())
    }

    /// How to speak to the server.
    pub fn dialect(&self) -> Dialect {
        self.config.dialect
    }

    /// The server.
    pub fn server(&self) -> SocketAddr {
        self.config.server
    }

    /// What the connection is worth.
    pub fn grade(&self) -> Option<Grade> {
        self.round_trip.grade()
    }

    /// This client's pings.
    pub fn pings(&self) -> &PingCounts {
        self.pinger.counts()
    }

    /// What came and what was dropped.
    pub fn counts(&self) -> &ClientCounts {
        &self.counts
    }

    /// Says goodbye. The client is over at once; poll it until it has nothing more to send.
    pub fn leave(&mut self) {
        if self.is_playing() {
            self.due = Due { goodbyes: GOODBYES, ..Due::default() };
        }
        self.end(EndReason::Left);
    }

    fn end(&mut self, reason: EndReason) {
        if self.ended().is_none() {
            self.note(ClientEvent::Ended(reason));
            self.phase = Phase::Ended(reason);
            self.due = Due { goodbyes: self.due.goodbyes, ..Due::default() };
        }
    }

    /// The server has no reason to send this packet.
    fn drop_stray(&mut self, name: &'static str) {
        self.counts.stray += 1;
        self.journal.note(LogLine::WrongType { from: self.config.server, name });
    }

    /// The server's bytes are no packet.
    fn drop_malformed(&mut self, len: usize, error: Malformed) {
        self.counts.malformed += 1;
        self.journal.note(LogLine::Malformed { from: self.config.server, len, error });
    }

    fn note(&mut self, event: ClientEvent) {
        if self.events.len() == EVENT_LIMIT {
            self.events.pop_front();
        }
        self.events.push_back(event);
    }

    /// The server has taken us.
    fn enter(&mut self, now: Time, player: PlayerId) {
        let event = match self.player.replace(player) {
            None => ClientEvent::Connected(player),
            Some(_) => ClientEvent::Resumed(player),
        };
        self.phase = Phase::Playing;
        self.liveness = Some(Liveness::new(now, self.config.liveness));
        self.due = Due { input: true, ..Due::default() };
        self.next_input = now + INPUT_PERIOD;
        self.pinger.postpone(now);
        self.note(event);
    }

    /// Something good came from the server.
    fn heard(&mut self, now: Time) {
        if let Some(liveness) = &mut self.liveness
            && liveness.heard(now).is_some()
            && self.is_playing()
        {
            self.note(ClientEvent::Heard);
        }
    }

    /// The session is lost or unknown: ask again, with what proves who we are.
    fn try_again(&mut self, now: Time) {
        if let Speech::Native(native) = &mut self.speech
            && matches!(self.phase, Phase::Playing)
        {
            native.start_resume(&mut self.secrets);
            let heard = self.liveness.as_ref().map_or(now, Liveness::last_heard);
            self.resume_until = heard + self.config.liveness.drop + self.config.resume_for;
            let policy = self.patience(now);
            self.phase = Phase::Asking(Retry::new(now, policy));
            self.note(ClientEvent::Trying);
        }
    }

    fn handle_playing_timeout(&mut self, now: Time) {
        match self.speech {
            Speech::Native(_) => self.handle_native_timeout(now),
            #[cfg(any(feature = "lan", feature = "rtype"))]
            _ => self.make_plain_inputs(now),
        }
        self.pinger.expire(now);
        if self.pings_itself() && self.pinger.due() <= now {
            self.due.ping = true;
        }
        #[cfg(feature = "rtype")]
        if let Speech::Rtype(rtype) = &self.speech
            && rtype.is_stalled(now, self.config.liveness)
        {
            return self.end(EndReason::Stalled);
        }
        let Some(liveness) = &mut self.liveness else { return };
        match liveness.handle_timeout(now) {
            Some(LifeEvent::Warn) => {
                self.note(ClientEvent::Quiet);
                #[cfg(feature = "rtype")]
                if let Speech::Rtype(rtype) = &mut self.speech {
                    rtype.knock_again(now);
                }
            }
            Some(LifeEvent::Drop) => match self.config.dialect {
                Dialect::Native => self.try_again(now),
                #[cfg(any(feature = "lan", feature = "rtype"))]
                _ => self.end(EndReason::NotResponding),
            },
            _ => {}
        }
    }

    /// How long to ask: a new player as long as anyone, one who wants back as long as the server
    /// may keep the place.
    fn patience(&self, now: Time) -> RetryPolicy {
        match self.player {
            None => RetryPolicy::HELLO,
            Some(_) => RetryPolicy { give_up: self.resume_until.since(now), ..RetryPolicy::HELLO },
        }
    }

    /// How long the client still tries to come back, while it does.
    pub fn resume_left(&self, now: Time) -> Option<Duration> {
        let trying = self.player.is_some() && matches!(self.phase, Phase::Asking(_));
        trying.then(|| self.resume_until.since(now))
    }

    fn pings_itself(&self) -> bool {
        match self.config.dialect {
            #[cfg(feature = "lan")]
            Dialect::Lan => false,
            _ => true,
        }
    }

    /// The next datagram, without its length checked.
    fn speak(&mut self, now: Time, out: &mut [u8]) -> Option<Result<usize, Full>> {
        match self.speech {
            Speech::Native(_) => self.speak_native(now, out),
            #[cfg(feature = "rtype")]
            Speech::Rtype(_) => self.speak_rtype(now, out),
            #[cfg(feature = "lan")]
            Speech::Lan(_) => self.speak_lan(out),
        }
    }

    /// Nobody answers. Who wanted to another room may be there without knowing: the ticket leads
    /// to wherever that is.
    fn give_up(&mut self, now: Time) {
        match self.stop_moving() {
            true => self.try_again(now),
            false => self.end(self.no_answer()),
        }
    }

    /// Why nobody answered.
    fn no_answer(&self) -> EndReason {
        match self.config.dialect {
            #[cfg(feature = "lan")]
            Dialect::Lan => EndReason::HostSilent { address: self.config.server },
            _ if self.player.is_some() => EndReason::NotResponding,
            _ => EndReason::NoAnswer { address: self.config.server },
        }
    }
}

impl<G: Game> Node for Client<G> {
    fn handle_datagram(&mut self, now: Time, path: Path, bytes: &mut [u8]) {
        if path.remote != self.config.server {
            self.counts.foreign += 1;
            if self.journal.is_kept() {
                let hello_ack = is_hello_ack(bytes);
                self.journal.note(LogLine::WrongSender { from: path.remote, hello_ack });
            }
            return;
        }
        self.counts.bytes_in += bytes.len() as u64;
        if self.ended().is_some() {
            return;
        }
        match self.speech {
            Speech::Native(_) => self.handle_native(now, bytes),
            #[cfg(feature = "rtype")]
            Speech::Rtype(_) => self.handle_rtype(now, bytes),
            #[cfg(feature = "lan")]
            Speech::Lan(_) => self.handle_lan(now, bytes),
        }
    }

    fn handle_wake(&mut self, now: Time) {
        if let Some(seat) = self.seat_mut() {
            seat.handle_wake(now);
        }
        #[cfg(any(feature = "lan", feature = "rtype"))]
        if let Some(plain) = self.plain_mut() {
            plain.handle_wake(now);
        }
    }

    fn handle_timeout(&mut self, now: Time) {
        match &mut self.phase {
            Phase::Asking(retry) => match retry.poll(now) {
                RetryStep::Wait => {}
                RetryStep::Send { copies } => self.due.questions = copies,
                RetryStep::GiveUp => self.give_up(now),
            },
            #[cfg(feature = "rtype")]
            Phase::Dialing { until } if *until <= now => {
                let address = self.config.server;
                self.end(EndReason::NoAnswer { address });
            }
            #[cfg(feature = "rtype")]
            Phase::Dialing { .. } => {}
            Phase::Playing => self.handle_playing_timeout(now),
            Phase::Ended(_) => {}
        }
    }

    fn poll_transmit(&mut self, now: Time, out: &mut [u8]) -> Option<Transmit> {
        let len = self.speak(now, out)?.ok()?;
        self.counts.bytes_out += len as u64;
        Some(Transmit { path: self.path, len })
    }

    fn poll_timeout(&self) -> Option<Time> {
        match &self.phase {
            Phase::Asking(retry) => Some(retry.deadline()),
            #[cfg(feature = "rtype")]
            Phase::Dialing { until } => Some(*until),
            Phase::Playing => Some(match self.seat() {
                Some(seat) => match self.config.role {
                    Role::Play => seat.input_due(),
                    Role::Watch => seat.ack_due(),
                },
                None => self.next_input,
            }),
            Phase::Ended(_) => None,
        }
    }
}

impl<G: Game> StreamNode for Client<G> {
    fn handle_stream(&mut self, now: Time, stream: StreamId, event: StreamEvent<'_>) {
        #[cfg(feature = "rtype")]
        self.handle_rtype_stream(now, stream, event);
        #[cfg(not(feature = "rtype"))]
        let _ = (now, stream, event);
    }

    fn poll_stream(&mut self, now: Time, out: &mut [u8]) -> Option<(StreamId, StreamAction)> {
        let _ = now;
        #[cfg(feature = "rtype")]
        return self.poll_rtype_stream(out);
        #[cfg(not(feature = "rtype"))]
        {
            let _ = out;
            None
        }
    }
}

/// Whether a datagram is a HelloAck of `rtype` or a HELLO_ACK of `lan`.
fn is_hello_ack(bytes: &[u8]) -> bool {
    matches!(bytes, [0, 0, 2, 1] | [4])
}
