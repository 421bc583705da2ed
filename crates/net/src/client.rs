//! One player's side: finds its way in, keeps the line alive, comes back after a drop.
//!
//! The other end is a server of ours or, in another dialect, the program the dialect comes from.
//! Below is the wire, above whoever draws and reads keys. What comes from anyone but the server
//! asked is ignored.

mod config;
mod core;
mod dialect;
mod impact;
mod native;
mod rooms;
mod roster;
mod seat;

use std::time::Duration;

use crate::channel::{
    AlarmEvent, Delivery, Journal, LogLine, MESSAGE_BYTES, Pending, SendError, Timeline,
};
use crate::chat::{ChatError, ChatLine};
use crate::game::{Event, Game, PlayerId, Reach};
use crate::node::{Node, Path, StreamAction, StreamEvent, StreamId, StreamNode, Transmit};
use crate::peer::PeerAddr;
use crate::replication::State;
use crate::session::{
    ArrivalCounts, EndReason, Grade, LifeEvent, PingCounts, Retry, RetryPolicy, RetryStep,
    RoundTrip, Secrets, Session,
};
use crate::time::Time;
use crate::timing::Delay;
use crate::typed::{Message, RawInput, RawMessage};
use crate::wire::native::{self as wire, JoinData, PlayerFlags, Role, Secret, SessionIndex, Token};
use crate::wire::{Malformed, Name};

pub use self::core::{ClientCore, Due, Phase};
pub use crate::game::Frame;
pub use config::ClientConfig;
pub use dialect::ClientDialect;
pub use rooms::{LISTED_LIMIT, ListStatus, RoomPick, Rooms, SERVER_LIMIT, ServerRooms};

/// What a screen is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClientEvent<M = RawMessage> {
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
    /// The rules have sent a message, reliable or not.
    Message(M),
    /// Someone has written a line, or the server says why one was not passed on.
    Chat(ChatLine),
    /// It is over, and why.
    Ended(EndReason),
}

impl ClientEvent {
    /// Whether it was promised to arrive.
    fn is_message(&self) -> bool {
        match self {
            ClientEvent::Message(_) | ClientEvent::Chat(_) => true,
            ClientEvent::Game(event) => event.reach == Reach::Everyone,
            _ => false,
        }
    }
}

impl ClientEvent {
    /// The same with its message read.
    fn read<M: Message>(self) -> Result<ClientEvent<M>, Malformed> {
        Ok(match self {
            ClientEvent::Message(message) => ClientEvent::Message(M::read(&message.0)?),
            ClientEvent::Connected(player) => ClientEvent::Connected(player),
            ClientEvent::Resumed(player) => ClientEvent::Resumed(player),
            ClientEvent::Roster => ClientEvent::Roster,
            ClientEvent::Stayed(reason) => ClientEvent::Stayed(reason),
            ClientEvent::Quiet => ClientEvent::Quiet,
            ClientEvent::Heard => ClientEvent::Heard,
            ClientEvent::Trying => ClientEvent::Trying,
            ClientEvent::Line(alarm) => ClientEvent::Line(alarm),
            ClientEvent::Game(event) => ClientEvent::Game(event),
            ClientEvent::Chat(line) => ClientEvent::Chat(line),
            ClientEvent::Ended(reason) => ClientEvent::Ended(reason),
        })
    }
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
    core: ClientCore,
    speech: DialectSide<G>,
    secrets: Secrets,
    /// Until when the server keeps our place, if it is lost.
    resume_until: Time,
    empty: Nothing,
}

/// What there is before the server has said anything.
#[derive(Clone, Debug, Default)]
struct Nothing {
    state: State,
    round_trip: RoundTrip,
    pings: PingCounts,
}

/// A dialect, with what it keeps.
#[derive(Clone, Debug)]
enum DialectSide<G: Game> {
    Native(Box<native::Native<G>>),
    Other(Box<dyn ClientDialect<G>>),
}

impl<G: Game> Client<G> {
    /// A client that starts to ask at `now`, in `native`. `seed` must come from the system's
    /// generator.
    ///
    /// # Panics
    /// If the token is longer than [`Token::MAX`], or token and join data are together.
    pub fn new(now: Time, game: G, config: ClientConfig, seed: [u8; 32]) -> Self {
        let mut secrets = Secrets::new(seed);
        let native = native::Native::new(&mut secrets, config.ticket);
        let speech = DialectSide::Native(Box::new(native));
        Client::start(now, game, config, secrets, speech)
    }

    /// The same in another dialect.
    pub fn speaking(
        dialect: Box<dyn ClientDialect<G>>,
        now: Time,
        game: G,
        config: ClientConfig,
        seed: [u8; 32],
    ) -> Self {
        Client::start(now, game, config, Secrets::new(seed), DialectSide::Other(dialect))
    }

    fn start(
        now: Time,
        game: G,
        config: ClientConfig,
        secrets: Secrets,
        mut speech: DialectSide<G>,
    ) -> Self {
        let (len, most) = (config.token.len(), Token::MAX);
        assert!(len <= most, "a token has at most {most} bytes, and this one {len}");
        let (data, most_data) = (config.join_data.len(), JoinData::MAX);
        assert!(data <= most_data, "join data has at most {most_data} bytes, and this has {data}");
        assert!(config.fits(), "token and join data have at most {most} bytes together");
        let mut core = ClientCore::new(now, config);
        if let DialectSide::Other(dialect) = &mut speech {
            dialect.start(&mut core, now);
        }
        let empty = Nothing::default();
        Client { game, core, speech, secrets, resume_until: now, empty }
    }

    /// What the player holds from now on.
    pub fn press(&mut self, input: G::Input) {
        self.core.input = RawInput::of(input);
    }

    /// What happened since this was asked last. Ask until there is nothing more, many times a second:
    /// messages wait for who does not, and when too many wait, the server ends the session.
    pub fn poll_event(&mut self) -> Option<ClientEvent<G::Message>> {
        loop {
            let event = self.core.poll_event()?;
            if event.is_message() {
                self.hear_messages();
            }
            match event.read() {
                Ok(event) => return Some(event),
                Err(_) => self.core.counts.malformed += 1,
            }
        }
    }

    /// Whether the player is in a room and hears from it.
    pub fn is_playing(&self) -> bool {
        self.core.is_playing()
    }

    /// Whether the server has said anything at all, be it in the TCP step.
    pub fn has_answer(&self) -> bool {
        let asked = match &self.speech {
            DialectSide::Native(native) => native.is_answered(),
            DialectSide::Other(dialect) => dialect.has_answer(),
        };
        asked || self.core.player.is_some()
    }

    /// Why it is over, if it is.
    pub fn ended(&self) -> Option<&EndReason> {
        self.core.ended()
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
        if let DialectSide::Native(native) = &mut self.speech
            && self.core.is_playing()
        {
            native.start_move(&mut self.secrets, native::Move { room, role, password });
            self.core.ask(now);
        }
    }

    /// Who we are, once we are in.
    pub fn player(&self) -> Option<PlayerId> {
        self.core.player
    }

    /// What brings this player back into the slot (`native`), also after the program was started
    /// anew: whoever has it is the player.
    pub fn ticket(&self) -> Option<Secret> {
        self.seat().map(|seat| seat.session.ticket())
    }

    /// Which of the server's sessions is ours (`native`), once we are in.
    pub fn session(&self) -> Option<SessionIndex> {
        self.seat().map(|seat| seat.session.index())
    }

    /// The rules.
    pub fn game(&self) -> &G {
        &self.game
    }

    /// The newest that the server said of the world.
    pub fn state(&self) -> &State {
        match &self.speech {
            DialectSide::Native(native) => {
                let seat = native.seat.as_deref();
                seat.and_then(seat::Seat::newest_state).unwrap_or(&self.empty.state)
            }
            DialectSide::Other(dialect) => dialect.state(),
        }
    }

    /// The tick of the newest snapshot; in other dialects, how many states were taken.
    pub fn server_tick(&self) -> u32 {
        match &self.speech {
            DialectSide::Native(_) => self.seat().and_then(seat::Seat::newest_tick).unwrap_or(0),
            DialectSide::Other(_) => self.core.counts.states as u32,
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

    /// How far behind others are drawn, and why; in other dialects behind when states come.
    pub fn delay(&self) -> Option<Delay> {
        match &self.speech {
            DialectSide::Native(_) => self.seat().map(seat::Seat::delay),
            DialectSide::Other(dialect) => Some(dialect.delay()),
        }
    }

    /// The tick that is predicted, in other dialects the newest input, and where the own entity
    /// is after it.
    pub fn predicted(&self) -> Option<(u32, [f32; 2])> {
        if let DialectSide::Other(dialect) = &self.speech {
            return dialect.predicted();
        }
        let prediction = self.seat()?.prediction()?;
        let own = prediction.own()?;
        Some((prediction.tick(), self.game.schema().place_of(own)?))
    }

    /// What is on the screen at `now`.
    pub fn draw(&mut self, now: Time, frame: &mut Frame) {
        frame.clear();
        match &mut self.speech {
            DialectSide::Native(native) => {
                if let Some(seat) = &mut native.seat {
                    seat.draw(now, frame);
                }
            }
            DialectSide::Other(dialect) => dialect.draw(now, frame),
        }
    }

    /// Whether nothing has come yet of the time at which others are drawn now.
    pub fn is_starved(&self, now: Time) -> bool {
        match &self.speech {
            DialectSide::Native(_) => self.seat().is_none_or(|seat| seat.is_starved(now)),
            DialectSide::Other(dialect) => dialect.is_starved(now),
        }
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
        self.core.journal = Journal::new(limit);
    }

    /// The oldest line of the log that was not read yet, if any are kept:
    /// [`ClientConfig::journal`].
    pub fn poll_line(&mut self) -> Option<LogLine> {
        self.core.journal.poll()
    }

    /// Sends a message of at most [`MESSAGE_BYTES`] to the game:
    /// [`Game::on_message`] hears it. What is reliable arrives once and in order for as long as the
    /// player has the place, also after a break. An error says why nothing was taken.
    ///
    /// In another dialect the message is one that the dialect has a word for, or it is refused.
    pub fn send(&mut self, message: &G::Message, delivery: Delivery) -> Result<(), SendError> {
        let mut room = [0; MESSAGE_BYTES];
        let message = message.write(&mut room).map_err(|_| SendError::TooLong)?;
        match &mut self.speech {
            DialectSide::Native(native) => match &mut native.seat {
                Some(_) if self.core.ended().is_some() => Err(SendError::NotConnected),
                Some(seat) => seat.send(message, delivery),
                None => Err(SendError::NotConnected),
            },
            DialectSide::Other(dialect) => match dialect.send(message) {
                true => Ok(()),
                false => Err(SendError::Dialect),
            },
        }
    }

    /// Whether this player may write lines of chat here and now.
    pub fn may_chat(&self) -> Result<(), ChatError> {
        match (&self.speech, self.seat()) {
            (DialectSide::Other(_), _) => Err(ChatError::Dialect),
            (_, Some(seat)) if self.core.ended().is_none() => seat.may_chat(self.game.chat()),
            _ => Err(SendError::NotConnected.into()),
        }
    }

    /// Writes a line of chat to everyone in the room. An error says why not; what is over the limits is
    /// refused here, before anything is sent.
    pub fn chat(&mut self, now: Time, text: &str) -> Result<(), ChatError> {
        let rule = self.game.chat();
        match &mut self.speech {
            DialectSide::Other(_) => Err(ChatError::Dialect),
            DialectSide::Native(native) => match &mut native.seat {
                Some(seat) if self.core.ended().is_none() => seat.chat(now, rule, text),
                _ => Err(SendError::NotConnected.into()),
            },
        }
    }

    /// Who plays.
    pub fn roster(&self) -> &[RosterLine] {
        &self.core.roster
    }

    /// The round trip, by the local clock alone.
    pub fn round_trip(&self) -> &RoundTrip {
        let measured = match &self.speech {
            DialectSide::Native(native) => native.session().map(Session::round_trip),
            DialectSide::Other(dialect) => dialect.round_trip(),
        };
        measured.unwrap_or(&self.empty.round_trip)
    }

    /// The share of the server's datagrams that were lost, of late; in another dialect, of what
    /// can be counted there.
    pub fn loss(&self) -> Option<f64> {
        match &self.speech {
            DialectSide::Native(_) => self.seat().map(|seat| seat.session.recent_loss()),
            DialectSide::Other(dialect) => dialect.loss(),
        }
    }

    /// What became of the server's datagrams (`native`), in this session.
    pub fn arrivals(&self) -> Option<ArrivalCounts> {
        self.seat().map(|seat| seat.session.arrivals())
    }

    /// The name of the dialect that is spoken.
    pub fn dialect(&self) -> &'static str {
        match &self.speech {
            DialectSide::Native(_) => wire::DIALECT,
            DialectSide::Other(dialect) => dialect.name(),
        }
    }

    /// Whether the dialect is `native`.
    pub fn is_native(&self) -> bool {
        matches!(self.speech, DialectSide::Native(_))
    }

    /// The server.
    pub fn server(&self) -> PeerAddr {
        self.core.config.server
    }

    /// What the connection is worth.
    pub fn grade(&self) -> Option<Grade> {
        self.round_trip().grade()
    }

    /// This client's pings.
    pub fn pings(&self) -> &PingCounts {
        let counted = match &self.speech {
            DialectSide::Native(native) => {
                native.session().map(|session| session.pinger().counts())
            }
            DialectSide::Other(dialect) => dialect.pings(),
        };
        counted.unwrap_or(&self.empty.pings)
    }

    /// What came and what was dropped.
    pub fn counts(&self) -> &ClientCounts {
        &self.core.counts
    }

    /// Says goodbye. The client is over at once; poll it until it has nothing more to send.
    pub fn leave(&mut self) {
        self.core.leave();
    }

    /// The session is lost or unknown: ask again, with what proves who we are.
    fn try_again(&mut self, now: Time) {
        if let DialectSide::Native(native) = &mut self.speech
            && self.core.is_playing()
        {
            native.start_resume(&mut self.secrets);
            let ClientConfig { liveness, resume_for, .. } = self.core.config;
            let heard = native.session().map_or(now, |session| session.liveness.last_heard());
            self.resume_until = heard + liveness.drop + resume_for;
            self.core.phase = Phase::Asking(Retry::new(now, self.patience(now)));
            self.core.note(ClientEvent::Trying);
        }
    }

    fn handle_playing_timeout(&mut self, now: Time) {
        if let DialectSide::Other(dialect) = &mut self.speech {
            return dialect.handle_timeout(&mut self.core, now);
        }
        self.handle_native_timeout(now);
        let DialectSide::Native(native) = &mut self.speech else { return };
        let Some(session) = native.session_mut() else { return };
        self.core.poll_ping(now, session.pinger_mut());
        if self.core.poll_silence(now, &mut session.liveness) == Some(LifeEvent::Drop) {
            self.try_again(now);
        }
    }

    /// How long to ask: a new player as long as anyone, one who wants back as long as the server
    /// may keep the place.
    fn patience(&self, now: Time) -> RetryPolicy {
        match self.core.player {
            None => RetryPolicy::HELLO,
            Some(_) => RetryPolicy { give_up: self.resume_until.since(now), ..RetryPolicy::HELLO },
        }
    }

    /// How long the client still tries to come back, while it does.
    pub fn resume_left(&self, now: Time) -> Option<Duration> {
        let trying = self.core.player.is_some() && self.core.is_asking();
        trying.then(|| self.resume_until.since(now))
    }

    /// Nobody answers. Who wanted to another room may be there without knowing: the ticket leads
    /// to wherever that is.
    fn give_up(&mut self, now: Time) {
        match self.stop_moving() {
            true => self.try_again(now),
            false => self.core.end(self.no_answer()),
        }
    }

    /// Why nobody answered.
    fn no_answer(&self) -> EndReason {
        match &self.speech {
            DialectSide::Other(dialect) => dialect.no_answer(&self.core),
            DialectSide::Native(_) if self.core.player.is_some() => EndReason::NotResponding,
            DialectSide::Native(_) => EndReason::NoAnswer { address: self.core.config.server },
        }
    }
}

impl<G: Game> Node for Client<G> {
    fn handle_datagram(&mut self, now: Time, path: Path, bytes: &mut [u8]) {
        let core = &mut self.core;
        if path.remote != core.config.server {
            core.counts.foreign += 1;
            if core.journal.is_kept() {
                let hello_ack = match &self.speech {
                    DialectSide::Native(_) => false,
                    DialectSide::Other(dialect) => dialect.is_acceptance(bytes),
                };
                core.journal.note(LogLine::WrongSender { from: path.remote, hello_ack });
            }
            return;
        }
        core.counts.bytes_in += bytes.len() as u64;
        if core.ended().is_some() {
            return;
        }
        match &mut self.speech {
            DialectSide::Native(_) => self.handle_native(now, bytes),
            DialectSide::Other(dialect) => dialect.handle(core, now, bytes),
        }
    }

    fn handle_wake(&mut self, now: Time) {
        match &mut self.speech {
            DialectSide::Native(native) => {
                if let Some(seat) = &mut native.seat {
                    seat.handle_wake(now);
                }
            }
            DialectSide::Other(dialect) => dialect.handle_wake(now),
        }
    }

    fn handle_timeout(&mut self, now: Time) {
        match &mut self.core.phase {
            Phase::Asking(retry) => match retry.poll(now) {
                RetryStep::Wait => {}
                RetryStep::Send { copies } => self.core.due.questions = copies,
                RetryStep::GiveUp => self.give_up(now),
            },
            Phase::Dialing { until } if *until <= now => {
                let address = self.core.config.server;
                self.core.end(EndReason::NoAnswer { address });
            }
            Phase::Dialing { .. } => {}
            Phase::Playing => self.handle_playing_timeout(now),
            Phase::Ended(_) => {}
        }
    }

    fn poll_transmit(&mut self, now: Time, out: &mut [u8]) -> Option<Transmit> {
        let said = match &mut self.speech {
            DialectSide::Native(_) => self.speak_native(now, out),
            DialectSide::Other(dialect) => dialect.speak(&mut self.core, now, out),
        };
        let len = said?.ok()?;
        self.core.counts.bytes_out += len as u64;
        Some(Transmit { path: Path::to(self.core.config.server), len })
    }

    fn poll_timeout(&self) -> Option<Time> {
        match &self.core.phase {
            Phase::Asking(retry) => Some(retry.deadline()),
            Phase::Dialing { until } => Some(*until),
            Phase::Playing => match &self.speech {
                DialectSide::Native(native) => {
                    let seat = native.seat.as_ref()?;
                    Some(match self.core.config.role {
                        Role::Play => seat.input_due(),
                        Role::Watch => seat.ack_due(),
                    })
                }
                DialectSide::Other(dialect) => Some(dialect.poll_timeout()),
            },
            Phase::Ended(_) => None,
        }
    }
}

impl<G: Game> StreamNode for Client<G> {
    fn handle_stream(&mut self, now: Time, stream: StreamId, event: StreamEvent<'_>) {
        if let DialectSide::Other(dialect) = &mut self.speech {
            dialect.handle_stream(&mut self.core, now, stream, event);
        }
    }

    fn poll_stream(&mut self, _now: Time, out: &mut [u8]) -> Option<(StreamId, StreamAction)> {
        match &mut self.speech {
            DialectSide::Native(_) => None,
            DialectSide::Other(dialect) => dialect.poll_stream(&mut self.core, out),
        }
    }
}
