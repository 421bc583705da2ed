//! What must never happen, in a sentence each.

use backspin::peer::PeerAddr;
use std::fmt;
use std::time::Duration;

use backspin::game::{Buttons, PlayerId};
use backspin::session::EndReason;
use backspin::time::Time;
use backspin::wire::native::{RejectReason, SessionIndex};
use thiserror::Error;

/// A seed in which something happened that must never happen.
#[derive(Clone, Debug, Error, PartialEq)]
#[error("seed {seed}, {:.3} s: {breach}", at.as_micros() as f64 / 1e6)]
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
    /// The number of the program, counted over the whole run.
    pub life: u32,
}

/// Something that must never happen; its sentence says what the fields are.
#[allow(missing_docs)]
#[derive(Clone, Debug, Error, PartialEq)]
pub enum Breach {
    #[error("someone was given the slot of {player}, which another player held")]
    SharedSlot { player: PlayerId },
    #[error("two members of the room have session {session}")]
    SharedSession { session: SessionIndex },
    #[error("the room stepped tick {after} after tick {before}")]
    LostTick { before: u32, after: u32 },
    #[error("tick {tick} got the buttons {:#x} as the input of {who}, who made {} for it", applied.0, made_words(made))]
    WrongInput { who: Who, tick: u32, applied: Buttons, made: Option<Buttons> },
    #[error("tick {tick} had no input of {who} and got the buttons {:#x}; {:#x} were held before", applied.0, before.0)]
    WrongRepeat { who: Who, tick: u32, applied: Buttons, before: Buttons },
    #[error("{who} got event {came}, and {expected} was next")]
    WrongEvent { who: Who, came: u32, expected: u32 },
    #[error("{who} never got event {expected}, and {raised} were raised long ago")]
    LostEvent { who: Who, expected: u32, raised: u32 },
    #[error("the game got message {came} of {who}, and {expected} was next")]
    WrongWord { who: Who, came: u32, expected: u32 },
    #[error("the game got {heard} messages of {who}, who sent {said}")]
    LostWord { who: Who, heard: u32, said: u32 },
    #[error("the game got a message of {player} that {player} never sent")]
    ForeignWord { player: PlayerId },
    #[error("the game got message {number} of {who}, which may be lost, a second time")]
    WordTwice { who: Who, number: u32 },
    #[error("{who} got letter {came}, and {expected} was next")]
    WrongLetter { who: Who, came: u32, expected: u32 },
    #[error(
        "{who} got letter {came}, which was sent after {after} events, at another place among them"
    )]
    LetterOutOfTurn { who: Who, came: u32, after: u32 },
    #[error("{who} got letter {came}, which may be lost, a second time")]
    LetterTwice { who: Who, came: u32 },
    #[error("{who} got letter {came}, which was for others or never sent")]
    ForeignLetter { who: Who, came: u32 },
    #[error("{who} got a letter that nobody wrote so")]
    GarbledLetter { who: Who },
    #[error("{who} never got letter {expected}, which was sent long ago")]
    LostLetter { who: Who, expected: u32 },
    #[error("{player} is sent entity {id} as it was at tick {tick}, when it was hidden")]
    Leaked { player: PlayerId, id: u32, tick: u32 },
    #[error("{player} is sent entity {id} as it was not at tick {tick}")]
    Mistold { player: PlayerId, id: u32, tick: u32 },
    #[error("{player} is told in tick {tick} that entity {id} is {told}, which is not so")]
    WrongLoss { player: PlayerId, id: u32, tick: u32, told: &'static str },
    #[error("a datagram of tick {tick} to {player} cannot be read, whatever came before it")]
    Unreadable { player: PlayerId, tick: u32 },
    #[error("{who} has in tick {tick} what entity {id} was while it was hidden")]
    Learned { who: Who, id: u32, tick: u32 },
    #[error("{who} could have entity {id} as it was in the second before tick {tick}, and has not")]
    Stale { who: Who, id: u32, tick: u32 },
    #[error("{who} holds a snapshot of tick {tick} that differs from the server's")]
    WrongSnapshot { who: Who, tick: u32 },
    #[error("the {clock} clock of {who} ran back from tick {from:.3} to {to:.3}")]
    ClockBack { who: Who, clock: &'static str, from: f64, to: f64 },
    #[error("everything works again, and {who} is wrong about {what}")]
    Disagreement { who: Who, what: &'static str },
    #[error("{kept} {what} are kept; the limit is {limit}")]
    OverLimit { what: &'static str, kept: usize, limit: usize },
    #[error("the slot of {player}, who is away, was kept for {span:?}")]
    KeptPlace { player: PlayerId, span: Duration },
    #[error("everything works again, and {who} is neither in nor knows why not")]
    Stuck { who: Who },
    #[error("everything works again, and {player} counts as present although nobody plays it")]
    Ghost { player: PlayerId },
    #[error("{who} was told \"{reason}\", which is not true")]
    WrongReason { who: Who, reason: EndReason },
    #[error("{address}, which has proved nothing, sent {got} bytes and got {sent}")]
    Unproved { address: PeerAddr, got: u64, sent: u64 },
    #[error("a room stepped {ticks} ticks at once")]
    Bunched { ticks: u32 },
    #[error(
        "in tick {tick} {player} was rewound by {to:.2} ticks, and by {from:.2} in the tick before"
    )]
    TimeChosen { player: PlayerId, tick: u32, from: f64, to: f64 },
    #[error("the game got a message of {player}, who only watches")]
    WatcherHeard { player: PlayerId },
    #[error("{address} got in and should have been refused: {reason:?}")]
    LetIn { address: PeerAddr, reason: RejectReason },
    #[error("{address} was refused ({reason:?}) for no reason")]
    Refused { address: PeerAddr, reason: RejectReason },
    #[error("{address} should have got {due} and did not")]
    Unanswered { address: PeerAddr, due: &'static str },
    #[error("more {what} were taken from {address} than the limit allows")]
    OverRate { address: PeerAddr, what: &'static str },
    #[error("{address} got in with a cookie that had expired or was another's")]
    BadCookie { address: PeerAddr },
    #[error("{address} was refused with a valid cookie")]
    CookieRefused { address: PeerAddr },
    #[error("{address} got in with a token that had expired or was never given out")]
    DeadToken { address: PeerAddr },
    #[error("a datagram from {address} was accepted whose number was used or is out of range")]
    NumberTwice { address: PeerAddr },
    #[error("a ticket moved player {player}, who is playing, to {address}")]
    Robbed { address: PeerAddr, player: u32 },
    #[error("a ticket that is no longer valid made {address} player {player}")]
    Returned { address: PeerAddr, player: u32 },
    #[error("player {player} came back from {address} and is player {got} now")]
    OtherPlace { address: PeerAddr, player: u32, got: u32 },
    #[error(
        "the slot of player {player} was freed after {away:?}, and should be kept for {kept:?}"
    )]
    LostPlace { player: u32, away: Duration, kept: Duration },
    #[error("player {player} was dropped after only {silent:?} of silence")]
    DroppedEarly { player: u32, silent: Duration },
    #[error("player {player} still counts as present after {silent:?} of silence")]
    NotDropped { player: u32, silent: Duration },
    #[error("the operator removed player {player}, who is still here")]
    NotRemoved { player: u32 },
    #[error("a stream from {address} was closed although it is under every limit")]
    StreamRefused { address: PeerAddr },
    #[error("a silent stream from {address} was kept for {span:?}")]
    KeptStream { address: PeerAddr, span: Duration },
    #[error("a program panicked: {message}")]
    Panic { message: String },
}

impl fmt::Display for Who {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "guest {} (program {})", self.guest, self.life)
    }
}

/// What must hold, or the breach that it is if it does not.
pub(super) fn ensure(holds: bool, breach: Breach) -> Result<(), Breach> {
    if holds { Ok(()) } else { Err(breach) }
}

fn made_words(made: &Option<Buttons>) -> String {
    made.map_or("none".to_owned(), |made| format!("{:#x}", made.0))
}
