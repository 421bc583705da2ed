//! The seeded network: what happens to datagrams between nodes, decided by a seed.
//!
//! ```text
//! world   -> many hosts joined by links; jumps from deadline to deadline, never sleeps
//! digest  -> what a whole run comes to, in one number
//! chance  -> where every random decision comes from
//! config  -> what a link does wrong, in numbers; preset has them by name
//! link    -> one direction of a path: when, how often and how intact a datagram arrives
//! fault   -> the names and counts of what it did
//! clock   -> what a node's own clock shows at a true instant
//! measure -> a match of bots over a link, judged from outside: party plays, watch looks on, also
//!            at matches on real sockets, contact compares what met, kinds counts it,
//!            leap finds what moved further than it should
//! chaos   -> bad days drawn from a seed, and a checker that looks on from outside
//! quality -> its figures; pool takes many seeds together; target is what they must reach on which
//!            link, limit what the link itself allows, clumps how sure a percentage is
//! change  -> links that change while a match is played
//! ```
//!
//! A link does not know who sends or what: [`World`], which jumps through simulated time, and a
//! proxy between real sockets use the same [`Link`].

mod chance;
mod change;
pub mod chaos;
mod check;
mod classic;
mod clock;
mod clumps;
mod config;
mod contact;
mod digest;
pub mod dot;
mod exact;
mod fault;
mod kinds;
mod law;
mod leap;
mod limit;
mod link;
mod measure;
mod measured;
mod party;
mod pool;
mod preset;
mod quality;
mod share;
mod target;
mod watch;
mod world;

pub use chance::Chance;
pub use change::Change;
pub use check::{
    Breach, Checked, Comparison, Difference, RuleError, Trial, check_rules, check_rules_with,
};
pub use clock::Drift;
pub use clumps::Clumps;
pub use config::{Bandwidth, Jitter, LinkConfig, LinkError, Loss, Reorder, Shape, Span};
pub use contact::Umpire;
pub use digest::Digest;
pub use fault::{Fault, Faults};
pub use kinds::{ContactKind, ContactKinds, ENOUGH_CONTACTS, KindRow};
pub use law::Bar;
pub use limit::Limit;
pub use link::{Deliveries, Duplex, Link, Partition};
pub use measure::{Setup, measure, measure_speaking, measure_with};
pub use measured::{Contact, Foresight, Measured, Odds};
pub use party::{Lateness, Mind, Party, Player};
pub use pool::{Pool, PoolRow};
pub use preset::{Preset, UnknownPreset};
pub use quality::{Corrections, Quality, Report, Row, Tally};
pub use share::Share;
pub use target::{FIGURES, Figure, Rule, Target, Verdict, WORST_SEED};
pub use watch::{Observer, Seen, Truth};
pub use world::{HostId, Strays, Traffic, World};
