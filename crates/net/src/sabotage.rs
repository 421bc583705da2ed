//! Bugs that tests plant on purpose, to see that the [chaos checker](crate::sim::chaos) finds them.
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
}

impl Sabotage {
    /// All of them.
    pub const ALL: [Sabotage; 12] = [
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

    pub(crate) fn is(sabotage: Sabotage) -> bool {
        PLANTED.get() == Some(sabotage)
    }
}

#[cfg(feature = "sabotage")]
pub(crate) use planted::is;
#[cfg(feature = "sabotage")]
pub use planted::{Planted, plant};

/// Whether this bug is planted: never.
#[cfg(not(feature = "sabotage"))]
pub(crate) const fn is(_: Sabotage) -> bool {
    false
}
