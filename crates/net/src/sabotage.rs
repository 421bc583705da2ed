//! Bugs that tests plant on purpose, to see that the chaos checker of `backspin_sim` finds them.
//!
//! Each stands at the very place where the real code guards against it. Only the feature `sabotage`
//! has a way to plant one; without it they are compiled away. Never build a server that others
//! reach with it.

/// A bug that can be planted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sabotage {
    /// An input whose tick has run is applied in the next.
    StaleInput,
    /// An input that was applied is applied again, a second later.
    InputTwice,
    /// A datagram counts for a session wherever it comes from.
    SkipAddressCheck,
    /// Any cookie proves any address.
    SkipCookieCheck,
    /// Events that had not arrived are forgotten when a player comes back.
    ForgetEvents,
    /// An event that was told before is told again.
    EventTwice,
    /// Everyone is given the first slot.
    ReuseSlot,
    /// A length in a header is believed, whatever came.
    TrustLength,
    /// A delta is read against the newest snapshot, not against its baseline.
    WrongBaseline,
    /// A clock jumps wherever it should be, also back.
    ClockBack,
    /// A stranger's question is answered twice.
    AnswerTwice,
    /// The place of an absent player is never given up.
    KeepPlace,
    /// The place of a player who is dropped is given up at once.
    FreeAtOnce,
    /// A player who moves still counts at the old address.
    LeakPerIp,
    /// Every bucket is always full.
    LimitersOff,
    /// One session too many is let in from an address.
    PerIpOffByOne,
    /// A cookie never expires.
    CookiesForever,
    /// A datagram is taken again, if it is not too old.
    TakeDuplicates,
    /// A ticket moves a player who plays.
    TicketRobs,
    /// A cookie is good at every port of its address.
    CookieForEveryPort,
    /// A ticket is remembered when its place is given up.
    TicketKept,
    /// Whoever is removed by the operator may come back.
    KickKeepsPlace,
    /// Who goes from room to room needs no password.
    SkipPassword,
    /// One room too many is made from an address.
    RoomsOffByOne,
    /// A stream that was closed still counts.
    StreamLeak,
    /// A stream that says nothing stays open.
    StreamKept,
    /// The silence of who was away goes on when it is back.
    LivenessKept,
    /// Whoever comes back may send as much as someone new.
    BucketRefilled,
    /// Any number of answers waits to be sent.
    AnswersUnbounded,
    /// The game hears those who only watch.
    WatcherHeard,
    /// Nobody is told that someone has gone.
    RosterUntold,
    /// A room that was held up runs after every tick.
    TicksBunched,
    /// Who joins and says nothing more is a player like any other.
    SilentJoinKept,
    /// A token of the TCP step never expires.
    TokensForever,
    /// Contacts are judged at whatever time a client says.
    TimeChosen,
    /// A message that has not come is passed over.
    MessageGap,
    /// What goes out of sight is still sent.
    HiddenSent,
    /// What goes out of sight is said to be no more.
    HiddenDestroyed,
    /// What has waited for long comes no sooner.
    Starved,
    /// A message for which there is no room is dropped, and the session goes on.
    QueueDrops,
    /// A message that may be lost is delivered twice.
    LooseTwice,
}

impl Sabotage {
    /// All of them.
    pub const ALL: [Sabotage; 41] = [
        Sabotage::StaleInput,
        Sabotage::InputTwice,
        Sabotage::SkipAddressCheck,
        Sabotage::SkipCookieCheck,
        Sabotage::ForgetEvents,
        Sabotage::EventTwice,
        Sabotage::ReuseSlot,
        Sabotage::TrustLength,
        Sabotage::WrongBaseline,
        Sabotage::ClockBack,
        Sabotage::AnswerTwice,
        Sabotage::KeepPlace,
        Sabotage::FreeAtOnce,
        Sabotage::LeakPerIp,
        Sabotage::LimitersOff,
        Sabotage::PerIpOffByOne,
        Sabotage::CookiesForever,
        Sabotage::TakeDuplicates,
        Sabotage::TicketRobs,
        Sabotage::CookieForEveryPort,
        Sabotage::TicketKept,
        Sabotage::KickKeepsPlace,
        Sabotage::SkipPassword,
        Sabotage::RoomsOffByOne,
        Sabotage::StreamLeak,
        Sabotage::StreamKept,
        Sabotage::LivenessKept,
        Sabotage::BucketRefilled,
        Sabotage::AnswersUnbounded,
        Sabotage::WatcherHeard,
        Sabotage::RosterUntold,
        Sabotage::TicksBunched,
        Sabotage::SilentJoinKept,
        Sabotage::TokensForever,
        Sabotage::TimeChosen,
        Sabotage::MessageGap,
        Sabotage::HiddenSent,
        Sabotage::HiddenDestroyed,
        Sabotage::Starved,
        Sabotage::QueueDrops,
        Sabotage::LooseTwice,
    ];
}

#[cfg(feature = "sabotage")]
mod planted {
    use super::Sabotage;
    use std::cell::Cell;

    thread_local! {
        static PLANTED: Cell<Option<Sabotage>> = const { Cell::new(None) };
    }

    /// A bug that is in this thread's code for as long as this is kept.
    #[derive(Debug)]
    pub struct Planted(());

    /// Plants a bug in the code that this thread runs, in place of one planted before.
    pub fn plant(sabotage: Sabotage) -> Planted {
        PLANTED.set(Some(sabotage));
        Planted(())
    }

    impl Drop for Planted {
        fn drop(&mut self) {
            PLANTED.set(None);
        }
    }

    pub fn is(sabotage: Sabotage) -> bool {
        PLANTED.get() == Some(sabotage)
    }
}

#[cfg(feature = "sabotage")]
pub use planted::is;
#[cfg(feature = "sabotage")]
pub use planted::{Planted, plant};

/// Whether this bug is planted: never.
#[cfg(not(feature = "sabotage"))]
pub const fn is(_: Sabotage) -> bool {
    false
}
