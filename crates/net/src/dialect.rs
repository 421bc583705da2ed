//! Dialects other than `native`: what one brings to be spoken here.
//!
//! This crate knows none of them. A [`Dialect`] comes from outside and has three halves: one at the
//! [endpoint](EndpointDialect), who may come in; one in a [room](RoomDialect), what is heard and
//! said there; and one in a [client](crate::client::ClientDialect). What all players share stays
//! here: limits, places, liveness, round trips, the tick.

use std::fmt;
use std::time::Duration;

use crate::channel::{Journal, Taken};
use crate::client::ClientDialect;
use crate::endpoint::{Call, Endpoint, Guests};
use crate::game::{Buttons, Event, Game, PlayerId};
use crate::node::{Path, StreamAction, StreamEvent, StreamId};
use crate::peer::{LimitKey, PeerAddr};
use crate::room::{Announcement, Counted};
use crate::session::Pinger;
use crate::time::Time;
use crate::wire::native::{CloseReason, RosterEntry, SessionIndex};
use crate::wire::{Full, Malformed};

/// A dialect, for games of one kind.
pub trait Dialect<G: Game>: fmt::Debug + Sync {
    /// What it is called.
    fn name(&self) -> &'static str;

    /// Which places of the game's rooms its players may take.
    fn guests(&self, game: &G) -> Guests;

    /// Whether a guest plays with bots in a room of its own, where the game is offered and has bots.
    fn plays_alone(&self) -> bool {
        false
    }

    /// Its half at the endpoint, where it has this id.
    fn endpoint(&self, id: DialectId) -> Box<dyn EndpointDialect>;

    /// Its half in a room with so many places.
    fn room(&self, places: usize) -> Box<dyn RoomDialect<G>>;

    /// Its half in a client that begins now.
    fn client(&self, now: Time, game: &G) -> Box<dyn ClientDialect<G>>;
}

/// Dialects beside `native`, at most.
pub const DIALECT_LIMIT: usize = 4;

/// Which dialect, by its place in a server's list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct DialectId(u8);

impl DialectId {
    /// Our own.
    pub const NATIVE: DialectId = DialectId(0);

    /// The one in this place of the list.
    pub(crate) const fn listed(place: usize) -> Self {
        DialectId(place as u8 + 1)
    }

    /// The place in the list; `None` is [`DialectId::NATIVE`].
    pub(crate) fn place(self) -> Option<usize> {
        usize::from(self.0).checked_sub(1)
    }
}

/// A dialect at the endpoint: whose datagram it is, and who is let in. It answers by
/// [`Endpoint::say`], and asks the endpoint for places.
pub trait EndpointDialect: fmt::Debug + Send + Sync {
    /// Whether a datagram is of this dialect, by its shape alone. At most one says so.
    fn detect(&self, bytes: &[u8]) -> bool;

    /// What is wrong with bytes of no dialect's shape, if they come close to this one.
    fn fault(&self, bytes: &[u8]) -> Option<Malformed>;

    /// Whether its hello can bring the server's token: then it is spoken where one is asked for.
    fn carries_token(&self) -> bool {
        false
    }

    /// Takes a datagram of its shape; what belongs to a room comes back as a call to it.
    fn handle<'a>(
        &mut self,
        endpoint: &mut Endpoint,
        now: Time,
        path: Path,
        bytes: &'a mut [u8],
    ) -> Option<Call<'a>>;

    /// Whether it has streams that others open.
    fn has_streams(&self) -> bool {
        false
    }

    /// Takes what happened to a stream.
    fn handle_stream(
        &mut self,
        _endpoint: &mut Endpoint,
        _now: Time,
        _stream: StreamId,
        _event: StreamEvent<'_>,
    ) -> Option<Call<'static>> {
        None
    }

    /// What to do to a stream next. Bytes to write are put into `out`.
    fn poll_stream(&mut self, _out: &mut [u8]) -> Option<(StreamId, StreamAction)> {
        None
    }

    /// Does what was due.
    fn handle_timeout(&mut self, _now: Time) {}

    /// When [`EndpointDialect::handle_timeout`] is due.
    fn poll_timeout(&self) -> Option<Time> {
        None
    }

    /// A session of this dialect is over.
    fn forget(&mut self, _session: SessionIndex) {}

    /// Everyone with this key is banned.
    fn turn_out(&mut self, _key: LimitKey) {}

    /// How many streams and tokens it keeps.
    fn kept(&self) -> [usize; 2] {
        [0, 0]
    }

    /// The same once more, for tests.
    fn clone_box(&self) -> Box<dyn EndpointDialect>;
}

/// What a room has to know of a dialect's players.
#[derive(Clone, Copy, Debug)]
pub struct Manners {
    /// Whether whoever says hello is known to be there.
    pub proves_address: bool,
    /// Whether the hello is a word like any other: silence counts from it, also when it comes again, and no
    /// first word is waited for.
    pub is_here_at_once: bool,
    /// Whether inputs come in every tick, whatever is held: then a second without is a silence.
    pub sends_every_tick: bool,
    /// Whether a player could prove to be the same: then the place is kept after a drop.
    pub has_way_back: bool,
    /// After so much silence the player may come back from another address.
    pub quiet: Duration,
    /// Whether the room asks how far a player is.
    pub is_pinged: bool,
    /// Nothing is shown to who sent no input for so long.
    pub stops_after: Option<Duration>,
    /// Whether who is dropped for silence is told so.
    pub hears_of_drop: bool,
}

/// A dialect in a room, with what it keeps for its players, by place.
pub trait RoomDialect<G: Game>: fmt::Debug + Send + Sync {
    /// What a room has to know of its players.
    fn manners(&self) -> Manners;

    /// A player takes a place.
    fn admit(&mut self, place: usize, player: PlayerId, game: &G, world: &G::World);

    /// The place is free again.
    fn vacate(&mut self, _place: usize) {}

    /// The player's hello was heard again. Whether the roster is to be told again, too.
    fn greet(&mut self, place: usize) -> bool;

    /// What a player's datagram means.
    fn handle(&mut self, place: usize, from: Hearing<'_>, bytes: &[u8]) -> Meaning;

    /// Passes on what a player asked for since the last tick, before the step.
    fn ask(
        &mut self,
        _place: usize,
        _player: PlayerId,
        _game: &G,
        _world: &mut G::World,
        _events: &mut Vec<Event>,
    ) {
    }

    /// What a player does in the tick that begins, where inputs wait for theirs; `None` is what came last.
    fn take_input(
        &mut self,
        _place: usize,
        _player: PlayerId,
        _journal: &mut Journal,
    ) -> Option<Taken> {
        None
    }

    /// How many ticks ago that was shown which the player sees now; `None` is not known.
    fn drawn_back(&self, _rtt: Option<Duration>, _rate: u8) -> Option<f64> {
        None
    }

    /// Looks at the world: after a tick, or because someone has come since.
    fn look(&mut self, _tick: u32, _game: &G, _world: &G::World, _is_new_tick: bool) {}

    /// The next datagram to a player who is here and was greeted, if there is one.
    fn speak(&mut self, place: usize, to: Telling<'_, G>, out: &mut [u8]) -> Option<Saying>;

    /// The answer to a hello.
    fn encode_greeting(
        &mut self,
        place: usize,
        to: Greeting<'_, G>,
        out: &mut [u8],
    ) -> Result<usize, Full>;

    /// The roster: everyone in the room.
    fn encode_roster(&self, _everyone: &[RosterEntry], _out: &mut [u8]) -> Result<usize, Full> {
        Err(Full)
    }

    /// The goodbye; `None` if the dialect has none.
    fn encode_close(
        &mut self,
        _place: usize,
        _reason: CloseReason,
        _out: &mut [u8],
    ) -> Option<Result<usize, Full>> {
        None
    }

    /// The same once more, for tests.
    fn clone_box(&self) -> Box<dyn RoomDialect<G>>;
}

/// What a datagram may touch beside its dialect's own.
#[derive(Debug)]
pub struct Hearing<'a> {
    /// When it came.
    pub now: Time,
    /// Whose it is.
    pub player: PlayerId,
    /// The questions that the player was asked.
    pub pinger: &'a mut Pinger,
    /// A round trip above this is worth a line in the log.
    pub high_latency: Duration,
    /// For the log.
    pub journal: &'a mut Journal,
}

/// What a player's datagram means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// The player is there.
    Alive,
    /// What the player holds from now on.
    Input(Buttons),
    /// How long an answer took.
    RoundTrip(Duration),
    /// The player leaves, and may come back.
    Goodbye,
    /// Nothing that counts.
    Nothing,
}

/// Who is greeted, and when.
#[derive(Debug)]
pub struct Greeting<'a, G: Game> {
    /// Whom.
    pub player: PlayerId,
    /// Where.
    pub address: PeerAddr,
    /// The last tick.
    pub tick: u32,
    /// The rules.
    pub game: &'a G,
    /// For the log.
    pub journal: &'a mut Journal,
}

/// What there is to tell a player.
#[derive(Debug)]
pub struct Telling<'a, G: Game> {
    /// When.
    pub now: Time,
    /// The last tick.
    pub tick: u32,
    /// Whom.
    pub player: PlayerId,
    /// The rules.
    pub game: &'a G,
    /// The world after the last tick.
    pub world: &'a G::World,
    /// Whether the world is to be shown; so much of it was shown already. What is left to be shown
    /// is put back.
    pub world_due: &'a mut Option<u16>,
    /// Whether the roster is to be told: [`Saying::Roster`].
    pub roster_due: &'a mut Announcement,
    /// Whether the round trip is to be measured, if it has not been taken yet.
    pub ping_due: &'a mut bool,
    /// Asks.
    pub pinger: &'a mut Pinger,
    /// How everyone stands, by place.
    pub players: &'a [Option<Counted>],
    /// For the log.
    pub journal: &'a mut Journal,
}

/// What is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Saying {
    /// What was written, and how long it is.
    Datagram(Result<usize, Full>),
    /// The roster, which the room knows.
    Roster,
}

impl<G: Game> Clone for Box<dyn RoomDialect<G>> {
    fn clone(&self) -> Self {
        self.clone_box()
    }
}

impl Clone for Box<dyn EndpointDialect> {
    fn clone(&self) -> Self {
        self.clone_box()
    }
}
