//! The named things that go wrong in a chaos run, and how a person reads them.

use std::fmt;
use std::time::Duration;

use crate::sim::{Bandwidth, LinkConfig, Loss, Preset, Reorder};

/// Something that happens in a chaos run. Guests are numbered from 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Act {
    /// A guest's program is started, in place of one that may still run.
    Start {
        /// Whose.
        guest: usize,
        /// At which address.
        place: Place,
    },
    /// A guest says goodbye.
    Leave {
        /// Who.
        guest: usize,
    },
    /// A guest's program is gone without a goodbye.
    Crash {
        /// Whose.
        guest: usize,
    },
    /// A guest's program is stopped and goes on later: a lid is closed and opened.
    Sleep {
        /// Whose.
        guest: usize,
        /// For how long.
        span: Duration,
    },
    /// A guest's link is another from now on.
    Line {
        /// Whose.
        guest: usize,
        /// What it is like.
        preset: Preset,
        /// And what is wrong with it.
        twist: Twist,
    },
    /// A guest's link is cut for a while.
    Cut {
        /// Whose.
        guest: usize,
        /// For how long.
        span: Duration,
    },
    /// A NAT gives a guest a new address, and the guest does not know.
    Rebind {
        /// Whom.
        guest: usize,
    },
    /// The operator removes a guest.
    Kick {
        /// Whom.
        guest: usize,
    },
    /// The server's program is gone and started anew: it knows nobody, and has new secrets.
    Restart,
    /// The server says goodbye to everyone.
    Stop,
    /// A stranger knocks.
    Knock {
        /// What it sends.
        knock: Knock,
        /// Of whom it speaks, if of anyone.
        guest: usize,
        /// How often.
        times: u8,
    },
}

/// Where a program is started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// At the guest's address, where datagrams to the program before may still come.
    SameAddress,
    /// At one that nobody had.
    NewAddress,
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
}

impl Act {
    /// The names of all kinds, as [`Act::name`] says them.
    pub const NAMES: [&'static str; 11] = [
        "start", "leave", "crash", "sleep", "line", "cut", "rebind", "kick", "restart", "stop",
        "knock",
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
    pub(super) const ALL: [Knock; 7] = [
        Knock::Hello,
        Knock::Ask,
        Knock::Garbage,
        Knock::ForgedJoin,
        Knock::ForgedResume,
        Knock::Mirror,
        Knock::Replay,
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
            Act::Restart => f.write_str("the server crashes and is started anew"),
            Act::Stop => f.write_str("the server says goodbye to everyone"),
            Act::Knock { knock, guest, times } => match knock {
                Knock::Hello => write!(f, "a stranger says hello, {times} times"),
                Knock::Ask => write!(f, "a stranger asks this and that, {times} times"),
                Knock::Garbage => write!(f, "a stranger sends garbage, {times} times"),
                Knock::ForgedJoin => {
                    write!(f, "a stranger joins with false cookies, {times} times")
                }
                Knock::ForgedResume => {
                    write!(f, "a stranger resumes with false tickets, {times} times")
                }
                Knock::Mirror => {
                    write!(f, "a stranger speaks as guest {guest} from elsewhere, {times} times")
                }
                Knock::Replay => {
                    write!(f, "a datagram of guest {guest} is sent again, {times} times")
                }
            },
        }
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
