//! The named things that go wrong in a chaos run, and how a person reads them.

use std::fmt;
use std::time::Duration;

use crate::{Bandwidth, LinkConfig, Loss, Preset, Reorder};

/// Something that happens in a chaos run. Guests are numbered from 0.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum Act {
    /// A guest's program is started, in place of one that may still run.
    Start { guest: usize, place: Place },
    /// A guest says goodbye.
    Leave { guest: usize },
    /// A guest's program is gone without a goodbye.
    Crash { guest: usize },
    /// A guest's program is stopped and goes on later: a lid is closed and opened.
    Sleep { guest: usize, span: Duration },
    /// A guest's link is another from now on.
    Line { guest: usize, preset: Preset, twist: Twist },
    /// A guest's link is cut for a while.
    Cut { guest: usize, span: Duration },
    /// A NAT gives a guest a new address, and the guest does not know.
    Rebind { guest: usize },
    /// The operator removes a guest.
    Kick { guest: usize },
    /// A guest goes to another room, if it is in one.
    Move { guest: usize, room: u32 },
    /// A visitor sets out.
    Visit { visitor: usize, errand: Visit, guest: usize },
    /// The server's process does nothing for a while; its socket holds what comes.
    Stall { span: Duration, dating: Dating },
    /// The system refuses the server something for a while.
    Errors { span: Duration, refused: Refused },
    /// The server's program is gone and started anew: it knows nobody, and has new secrets.
    Restart,
    /// The server says goodbye to everyone.
    Stop,
    /// A stranger knocks.
    Knock { knock: Knock, guest: usize, times: u16 },
}

/// Where a program is started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// At the guest's address, where datagrams to the program before may still come.
    SameAddress,
    /// At one that nobody had.
    NewAddress,
}

/// What a visitor comes for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Visit {
    /// Joins, and says nothing more.
    SilentJoin,
    /// Comes with the ticket of a guest.
    StolenTicket,
    /// Joins with a cookie that it has kept for a while.
    OldCookie { after: Duration },
    /// Joins with a cookie that was sent to another port.
    OthersCookie,
    /// Makes a room, and says nothing more.
    MakeRoom { is_locked: bool },
    /// Tries passwords of a room, all wrong.
    GuessPassword { room: u32, times: u8 },
    /// Joins, sends more than a player may, comes back to its own place and sends more.
    Greedy { times: u16 },
    /// Joins, and tries to go to every room there is, without their passwords.
    RoomToRoom,
    /// Does the TCP step of `rtype`, and comes with the token later.
    OldToken { after: Duration },
    /// Opens a stream and says nothing.
    IdleStream,
}

/// How the node is told when a datagram came that was read late.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dating {
    /// As it was.
    ByArrival,
    /// The wall clock was set forward in the meantime.
    SetForward,
    /// The wall clock was set back in the meantime.
    SetBack,
}

/// What the system refuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// To send: ENOBUFS, EAGAIN.
    Sending,
    /// To receive and to accept: EMFILE, ENOMEM.
    Receiving,
}

/// What is wrong with a link beside what its preset says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Twist {
    /// Nothing.
    None,
    /// Every fifth datagram comes twice.
    Duplicate,
    /// Every fifth datagram is overtaken.
    Reorder,
    /// One datagram in fifty is damaged.
    Corrupt,
    /// A third is lost, in long bursts.
    Loss,
    /// There is hardly room for a snapshot a tick.
    Narrow,
}

/// What a stranger sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Knock {
    /// Hellos that are never followed up.
    Hello,
    /// Pings, searches and questions for rooms, in every dialect.
    Ask,
    /// Bytes that are nothing, some of them with a header.
    Garbage,
    /// Joins with cookies that nobody gave out.
    ForgedJoin,
    /// Resumes with cookies and tickets that nobody gave out.
    ForgedResume,
    /// A guest's inputs with other buttons and later numbers, from an address of its own.
    Mirror,
    /// A guest's datagram once more, as it was, from the guest's address.
    Replay,
    /// Pings of a guest's session with numbers far from the next, from the guest's address.
    FarNumbers,
    /// The same with numbers near the next.
    NearNumbers,
    /// Pings from so many addresses that each is under its limit.
    Spoofed,
    /// Pings from one address, more than it may send.
    Flood,
}

impl Act {
    /// The names of all kinds, as [`Act::name`] says them.
    pub const NAMES: [&'static str; 15] = [
        "start", "leave", "crash", "sleep", "line", "cut", "rebind", "kick", "restart", "stop",
        "knock", "move", "visit", "stall", "errors",
    ];

    /// What kind of act it is.
    pub const fn name(&self) -> &'static str {
        Act::NAMES[self.index()]
    }

    pub(super) const fn index(&self) -> usize {
        match self {
            Act::Start { .. } => 0,
            Act::Leave { .. } => 1,
            Act::Crash { .. } => 2,
            Act::Sleep { .. } => 3,
            Act::Line { .. } => 4,
            Act::Cut { .. } => 5,
            Act::Rebind { .. } => 6,
            Act::Kick { .. } => 7,
            Act::Restart => 8,
            Act::Stop => 9,
            Act::Knock { .. } => 10,
            Act::Move { .. } => 11,
            Act::Visit { .. } => 12,
            Act::Stall { .. } => 13,
            Act::Errors { .. } => 14,
        }
    }
}

impl Twist {
    /// `preset` with this.
    pub(super) fn applied_to(self, preset: Preset) -> LinkConfig {
        // A damaged datagram may say anything that the real one might have: whose link does that
        // is held to less, so it is never the preset's doing.
        let mut link = LinkConfig { corrupt_probability: 0.0, ..preset.config() };
        match self {
            Twist::None => {}
            Twist::Duplicate => link.duplicate_probability = 0.2,
            Twist::Reorder => link.reorder = Reorder::often(0.2),
            Twist::Corrupt => link.corrupt_probability = 0.02,
            Twist::Loss => link.loss = Loss::bursts(0.33, 8.0),
            Twist::Narrow => {
                link.bandwidth = Some(Bandwidth { bits_per_s: 64_000, queue_bytes: 8_000 });
            }
        }
        link
    }
}

impl Knock {
    pub(super) const ALL: [Knock; 11] = [
        Knock::Hello,
        Knock::Ask,
        Knock::Garbage,
        Knock::ForgedJoin,
        Knock::ForgedResume,
        Knock::Mirror,
        Knock::Replay,
        Knock::FarNumbers,
        Knock::NearNumbers,
        Knock::Spoofed,
        Knock::Flood,
    ];
}

impl fmt::Display for Act {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = |span: &Duration| span.as_millis() as f64 / 1e3;
        match self {
            Act::Start { guest, place: Place::SameAddress } => write!(f, "guest {guest} starts"),
            Act::Start { guest, place: Place::NewAddress } => {
                write!(f, "guest {guest} starts at a new address")
            }
            Act::Leave { guest } => write!(f, "guest {guest} says goodbye"),
            Act::Crash { guest } => write!(f, "guest {guest} is gone without a goodbye"),
            Act::Sleep { guest, span } => {
                write!(f, "guest {guest} is stopped for {} s", seconds(span))
            }
            Act::Line { guest, preset, twist } => {
                write!(f, "guest {guest} has the link {preset}{twist}")
            }
            Act::Cut { guest, span } => {
                write!(f, "guest {guest} is cut off for {} s", seconds(span))
            }
            Act::Rebind { guest } => write!(f, "guest {guest} is given another address"),
            Act::Kick { guest } => write!(f, "guest {guest} is removed by the operator"),
            Act::Move { guest, room: 0 } => write!(f, "guest {guest} goes to another room"),
            Act::Move { guest, room } => write!(f, "guest {guest} goes to room {room}"),
            Act::Visit { visitor, errand, guest } => match errand {
                Visit::StolenTicket => {
                    write!(f, "visitor {visitor} comes with the ticket of guest {guest}")
                }
                errand => write!(f, "visitor {visitor} {errand}"),
            },
            Act::Stall { span, dating } => {
                write!(f, "the server does nothing for {} s{dating}", seconds(span))
            }
            Act::Errors { span, refused: Refused::Sending } => {
                write!(f, "the server can hardly send for {} s", seconds(span))
            }
            Act::Errors { span, refused: Refused::Receiving } => {
                write!(f, "the server cannot receive for {} s", seconds(span))
            }
            Act::Restart => f.write_str("the server crashes and is started anew"),
            Act::Stop => f.write_str("the server says goodbye to everyone"),
            Act::Knock { knock: Knock::Spoofed, times, .. } => write!(f, "{times} addresses ping"),
            Act::Knock { knock, guest, times } => {
                match knock {
                    Knock::Hello => write!(f, "a stranger says hello"),
                    Knock::Ask => write!(f, "a stranger asks this and that"),
                    Knock::Garbage => write!(f, "a stranger sends garbage"),
                    Knock::ForgedJoin => write!(f, "a stranger joins with false cookies"),
                    Knock::ForgedResume => write!(f, "a stranger resumes with false tickets"),
                    Knock::Mirror => write!(f, "a stranger speaks as guest {guest} from elsewhere"),
                    Knock::Replay => write!(f, "a datagram of guest {guest} is sent again"),
                    Knock::FarNumbers => write!(f, "guest {guest} is spoken for with far numbers"),
                    Knock::NearNumbers => {
                        write!(f, "guest {guest} is spoken for with near numbers")
                    }
                    Knock::Flood | Knock::Spoofed => write!(f, "a stranger pings"),
                }?;
                write!(f, ", {times} times")
            }
        }
    }
}

impl fmt::Display for Visit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Visit::SilentJoin => f.write_str("joins and says nothing more"),
            Visit::StolenTicket => f.write_str("comes with another's ticket"),
            Visit::OldCookie { after } => {
                write!(f, "joins with a cookie that is {:.1} s old", after.as_secs_f64())
            }
            Visit::OthersCookie => f.write_str("joins with the cookie of another port"),
            Visit::MakeRoom { is_locked: true } => f.write_str("makes a room with a password"),
            Visit::MakeRoom { is_locked: false } => f.write_str("makes a room"),
            Visit::GuessPassword { room, times } => {
                write!(f, "tries {times} passwords of room {room}")
            }
            Visit::Greedy { times } => write!(f, "joins and sends {times} datagrams at once"),
            Visit::RoomToRoom => f.write_str("joins and tries every room"),
            Visit::OldToken { after } => {
                write!(f, "comes with a token that is {:.1} s old", after.as_secs_f64())
            }
            Visit::IdleStream => f.write_str("opens a stream and says nothing"),
        }
    }
}

impl fmt::Display for Dating {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Dating::ByArrival => "",
            Dating::SetForward => ", and the wall clock is set forward",
            Dating::SetBack => ", and the wall clock is set back",
        })
    }
}

impl fmt::Display for Twist {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Twist::None => "",
            Twist::Duplicate => ", which doubles",
            Twist::Reorder => ", which reorders",
            Twist::Corrupt => ", which damages",
            Twist::Loss => ", which loses",
            Twist::Narrow => ", which is narrow",
        })
    }
}
