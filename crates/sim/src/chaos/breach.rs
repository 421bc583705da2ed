//! What must never happen, in a sentence each.

use std::fmt;
use std::net::SocketAddr;
use std::time::Duration;

use backspin::game::{Buttons, PlayerId};
use backspin::session::EndReason;
use backspin::time::Time;
use backspin::wire::native::{RejectReason, SessionIndex};

/// A seed in which something happened that must never happen.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// Which.
    pub seed: u64,
    /// When, in true time.
    pub at: Time,
    /// What.
    pub breach: Breach,
}

/// Which of a guest's programs is spoken of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Who {
    /// The guest, numbered from 0.
    pub guest: usize,
    /// The how many-th program of the run it is.
    pub life: u32,
}

/// Something that must never happen.
#[derive(Clone, Debug, PartialEq)]
pub enum Breach {
    /// Someone was given a slot that another held.
    SharedSlot {
        /// Which.
        player: PlayerId,
    },
    /// Two members of a room have the same session.
    SharedSession {
        /// Which.
        session: SessionIndex,
    },
    /// A room did not step one tick after another.
    LostTick {
        /// The tick before.
        before: u32,
        /// The tick after it.
        after: u32,
    },
    /// A tick was given something that its player never made for it.
    WrongInput {
        /// Whose.
        who: Who,
        /// Which tick.
        tick: u32,
        /// What was applied.
        applied: Buttons,
        /// What the player made for it, if anything.
        made: Option<Buttons>,
    },
    /// A tick without an input was given neither the buttons before nor none.
    WrongRepeat {
        /// Whose.
        who: Who,
        /// Which tick.
        tick: u32,
        /// What was applied.
        applied: Buttons,
        /// What was applied before.
        before: Buttons,
    },
    /// An event came twice, out of order, or behind one that never came.
    WrongEvent {
        /// To whom.
        who: Who,
        /// The number of the event that came.
        came: u32,
        /// The number that was to come.
        expected: u32,
    },
    /// An event never came.
    LostEvent {
        /// To whom.
        who: Who,
        /// The number that was to come.
        expected: u32,
        /// How many were raised long ago.
        raised: u32,
    },
    /// The game heard a player's word twice, out of order, or behind one that it never heard.
    WrongWord {
        /// Whose.
        who: Who,
        /// The number of the word that was heard.
        came: u32,
        /// The number that was to come.
        expected: u32,
    },
    /// The game never heard a player's word.
    LostWord {
        /// Whose.
        who: Who,
        /// How many it heard.
        heard: u32,
        /// How many were said.
        said: u32,
    },
    /// The game heard something from a player who did not say it.
    ForeignWord {
        /// As whom.
        player: PlayerId,
    },
    /// A client holds a snapshot that is not what the server had in that tick.
    WrongSnapshot {
        /// Who.
        who: Who,
        /// Which tick.
        tick: u32,
    },
    /// A clock of a client ran back.
    ClockBack {
        /// Whose.
        who: Who,
        /// Which clock.
        clock: &'static str,
        /// What it showed.
        from: f64,
        /// What it showed later.
        to: f64,
    },
    /// All is well again, and a client still does not see what there is.
    Disagreement {
        /// Who.
        who: Who,
        /// In what.
        what: &'static str,
    },
    /// Something holds more than its limit.
    OverLimit {
        /// What.
        what: &'static str,
        /// How many.
        kept: usize,
        /// How many it may be.
        limit: usize,
    },
    /// A place was kept for longer than an absent player has to come back.
    KeptPlace {
        /// Whose.
        player: PlayerId,
        /// For how long.
        span: Duration,
    },
    /// All is well again, and a client is neither in nor knows why not.
    Stuck {
        /// Who.
        who: Who,
    },
    /// All is well again, and a server believes that someone plays who does not.
    Ghost {
        /// As whom.
        player: PlayerId,
    },
    /// A client was told a reason that was none.
    WrongReason {
        /// Who.
        who: Who,
        /// The reason.
        reason: EndReason,
    },
    /// An address that had proved nothing was sent more than it sent.
    Unproved {
        /// Which.
        address: SocketAddr,
        /// Bytes that came from it.
        got: u64,
        /// Bytes that went there.
        sent: u64,
    },
    /// A room that was late ran after its ticks instead of letting them go.
    Bunched {
        /// How many ticks it stepped at once.
        ticks: u32,
    },
    /// A player was judged at a time of the player's own choice.
    TimeChosen {
        /// Who.
        player: PlayerId,
        /// In which tick.
        tick: u32,
        /// How many ticks ago in the last tick.
        from: f64,
        /// How many ticks ago in this one.
        to: f64,
    },
    /// The game heard someone who only watches.
    WatcherHeard {
        /// Whom.
        player: PlayerId,
    },
    /// Someone was let in who should have been refused.
    LetIn {
        /// Where.
        address: SocketAddr,
        /// Why not.
        reason: RejectReason,
    },
    /// Someone was refused who is under every limit, or for another reason than was so.
    Refused {
        /// Where.
        address: SocketAddr,
        /// The reason that was told.
        reason: RejectReason,
    },
    /// A question got no answer, or another than the right one.
    Unanswered {
        /// Where.
        address: SocketAddr,
        /// What should have been answered.
        due: &'static str,
    },
    /// More was taken than the limit allows.
    OverRate {
        /// From where.
        address: SocketAddr,
        /// Of what.
        what: &'static str,
    },
    /// A cookie was taken that had expired, or was another's.
    BadCookie {
        /// From where.
        address: SocketAddr,
    },
    /// A cookie was refused that was good.
    CookieRefused {
        /// From where.
        address: SocketAddr,
    },
    /// A token was taken that had expired, or was never given out.
    DeadToken {
        /// From where.
        address: SocketAddr,
    },
    /// A number was taken twice, or one that is not among the player's next.
    NumberTwice {
        /// From where.
        address: SocketAddr,
    },
    /// A ticket moved a player who was playing.
    Robbed {
        /// To where.
        address: SocketAddr,
        /// Whom.
        player: u32,
    },
    /// A ticket was good whose place is given up, or whose owner was removed.
    Returned {
        /// From where.
        address: SocketAddr,
        /// As whom.
        player: u32,
    },
    /// A player came back in time and got another place.
    OtherPlace {
        /// From where.
        address: SocketAddr,
        /// The player's.
        player: u32,
        /// Got instead.
        got: u32,
    },
    /// The place of someone who was to have it was given up.
    LostPlace {
        /// Whose.
        player: u32,
        /// How long the player was away.
        away: Duration,
        /// How long the place is to be kept.
        kept: Duration,
    },
    /// Someone was dropped who had been heard.
    DroppedEarly {
        /// Who.
        player: u32,
        /// After how much silence.
        silent: Duration,
    },
    /// Someone counts as present who has been silent for too long.
    NotDropped {
        /// Who.
        player: u32,
        /// For how long.
        silent: Duration,
    },
    /// The operator removed someone who is still here.
    NotRemoved {
        /// Who.
        player: u32,
    },
    /// A stream was closed that is under every limit.
    StreamRefused {
        /// From where.
        address: SocketAddr,
    },
    /// A stream that said nothing was kept for too long.
    KeptStream {
        /// From where.
        address: SocketAddr,
        /// For how long.
        span: Duration,
    },
    /// A program panicked.
    Panic {
        /// With these words.
        message: String,
    },
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Failure { seed, at, breach } = self;
        write!(f, "seed {seed}, {:.3} s: {breach}", at.as_micros() as f64 / 1e6)
    }
}

impl std::error::Error for Failure {}

impl fmt::Display for Who {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "guest {} (program {})", self.guest, self.life)
    }
}

impl fmt::Display for Breach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Breach::SharedSlot { player } => {
                write!(f, "someone was given the slot of {player}, which another held")
            }
            Breach::SharedSession { session } => {
                write!(f, "two members of the room have session {session}")
            }
            Breach::LostTick { before, after } => {
                write!(f, "the room stepped tick {after} after tick {before}")
            }
            Breach::WrongInput { who, tick, applied, made: Some(made) } => write!(
                f,
                "tick {tick} was given the buttons {:#x} as the input of {who}, who made {:#x} for it",
                applied.0, made.0
            ),
            Breach::WrongInput { who, tick, applied, made: None } => write!(
                f,
                "tick {tick} was given the buttons {:#x} as the input of {who}, who made none for it",
                applied.0
            ),
            Breach::WrongRepeat { who, tick, applied, before } => write!(
                f,
                "tick {tick} had no input of {who} and was given the buttons {:#x}, where {:#x} \
                 were held before",
                applied.0, before.0
            ),
            Breach::WrongEvent { who, came, expected } => {
                write!(f, "{who} was told event {came} where {expected} was next")
            }
            Breach::LostEvent { who, expected, raised } => {
                write!(f, "{who} was never told event {expected}, and {raised} were raised")
            }
            Breach::WrongWord { who, came, expected } => {
                write!(f, "the game heard word {came} of {who} where {expected} was next")
            }
            Breach::LostWord { who, heard, said } => {
                write!(f, "the game heard {heard} words of {who}, who said {said}")
            }
            Breach::ForeignWord { player } => {
                write!(f, "the game heard a word of {player} that {player} never said")
            }
            Breach::WrongSnapshot { who, tick } => {
                write!(f, "{who} holds a snapshot of tick {tick} that is not the server's")
            }
            Breach::ClockBack { who, clock, from, to } => {
                write!(f, "the {clock} clock of {who} ran back from tick {from:.3} to {to:.3}")
            }
            Breach::Disagreement { who, what } => {
                write!(f, "all is well again, and {who} is wrong about {what}")
            }
            Breach::OverLimit { what, kept, limit } => {
                write!(f, "{kept} {what} are kept, where {limit} is the limit")
            }
            Breach::KeptPlace { player, span } => {
                write!(f, "the place of {player}, who is away, was kept for {span:?}")
            }
            Breach::Stuck { who } => {
                write!(f, "all is well again, and {who} is neither in nor knows why not")
            }
            Breach::Ghost { player } => {
                write!(f, "all is well again, and {player} counts as present, whom nobody plays")
            }
            Breach::WrongReason { who, reason } => {
                write!(f, "{who} was told \"{reason}\", and that was not so")
            }
            Breach::Unproved { address, got, sent } => write!(
                f,
                "{address}, which has proved nothing, sent {got} bytes and was sent {sent}"
            ),
            Breach::Bunched { ticks } => write!(f, "a room stepped {ticks} ticks at once"),
            Breach::TimeChosen { player, tick, from, to } => write!(
                f,
                "in tick {tick} {player} was judged {to:.2} ticks ago, and {from:.2} in the last"
            ),
            Breach::WatcherHeard { player } => {
                write!(f, "the game heard {player}, who only watches")
            }
            Breach::LetIn { address, reason } => {
                write!(f, "{address} was let in, and should have been refused: {reason:?}")
            }
            Breach::Refused { address, reason } => {
                write!(f, "{address} was refused ({reason:?}), and that was not so")
            }
            Breach::Unanswered { address, due } => {
                write!(f, "{address} was owed {due} and did not get it")
            }
            Breach::OverRate { address, what } => {
                write!(f, "more {what} were taken from {address} than may be")
            }
            Breach::BadCookie { address } => {
                write!(f, "{address} came in with a cookie that is not good")
            }
            Breach::CookieRefused { address } => {
                write!(f, "{address} was refused a cookie that is good")
            }
            Breach::DeadToken { address } => {
                write!(f, "{address} came in with a token that is not good")
            }
            Breach::NumberTwice { address } => {
                write!(f, "a datagram from {address} was taken whose number is none of the next")
            }
            Breach::Robbed { address, player } => {
                write!(f, "a ticket moved player {player}, who plays, to {address}")
            }
            Breach::Returned { address, player } => {
                write!(f, "a ticket that is worth nothing made {address} player {player}")
            }
            Breach::OtherPlace { address, player, got } => {
                write!(f, "player {player} came back from {address} and is player {got} now")
            }
            Breach::LostPlace { player, away, kept } => write!(
                f,
                "the place of player {player} was given up after {away:?}, and is kept for {kept:?}"
            ),
            Breach::DroppedEarly { player, silent } => {
                write!(f, "player {player} was dropped after {silent:?} of silence")
            }
            Breach::NotDropped { player, silent } => {
                write!(f, "player {player} counts as present after {silent:?} of silence")
            }
            Breach::NotRemoved { player } => {
                write!(f, "player {player} was removed by the operator and is still here")
            }
            Breach::StreamRefused { address } => {
                write!(f, "a stream from {address} was closed, which is under every limit")
            }
            Breach::KeptStream { address, span } => {
                write!(f, "a stream from {address} that said nothing was kept for {span:?}")
            }
            Breach::Panic { message } => write!(f, "a program panicked: {message}"),
        }
    }
}
