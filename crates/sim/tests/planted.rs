//! The chaos checker against bugs that were planted: it must find every one of them within a
//! hundred seeds, each for what it is.
//!
//! `cargo test --release -p backspin-sim --features sabotage --test planted`

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use backspin::sabotage::{Sabotage, plant};
use backspin::wire::native::RejectReason;
use backspin_sim::chaos::{Breach, Failure, judge};

const SEEDS: u64 = 100;

/// The first breach among the seeds.
fn found(sabotage: Sabotage) -> Failure {
    let _planted = plant(sabotage);
    (1..=SEEDS)
        .find_map(|seed| judge(seed).err())
        .unwrap_or_else(|| panic!("{sabotage:?} was not found within {SEEDS} seeds"))
}

/// Whether a breach is what the planted bug would lead to.
fn fits(sabotage: Sabotage, breach: &Breach) -> bool {
    use Breach as B;
    match sabotage {
        Sabotage::StaleInput | Sabotage::InputTwice => {
            matches!(breach, B::WrongInput { .. } | B::WrongRepeat { .. })
        }
        Sabotage::SkipAddressCheck => {
            // Whoever has another's session elsewhere is told that there is none there.
            let is_taken = matches!(breach, B::Unanswered { due, .. } if due.contains("session"));
            is_taken || matches!(breach, B::WrongInput { .. } | B::WrongRepeat { .. })
        }
        Sabotage::SkipCookieCheck => matches!(breach, B::BadCookie { .. } | B::Unproved { .. }),
        Sabotage::AnswerTwice => matches!(breach, B::Unproved { .. }),
        Sabotage::ForgetEvents => {
            matches!(breach, B::WrongEvent { .. } | B::LostEvent { .. } | B::WrongLetter { .. })
        }
        Sabotage::EventTwice | Sabotage::MessageGap => matches!(
            breach,
            B::WrongEvent { .. }
                | B::WrongWord { .. }
                | B::WrongLetter { .. }
                | B::LetterOutOfTurn { .. }
        ),
        Sabotage::ReuseSlot => matches!(breach, B::SharedSlot { .. }),
        Sabotage::TrustLength => matches!(breach, B::Panic { .. }),
        Sabotage::WrongBaseline => matches!(breach, B::WrongSnapshot { .. }),
        Sabotage::ClockBack => matches!(breach, B::ClockBack { .. }),
        Sabotage::KeepPlace => matches!(breach, B::KeptPlace { .. }),
        Sabotage::FreeAtOnce => matches!(breach, B::LostPlace { .. }),
        Sabotage::LeakPerIp => {
            matches!(breach, B::Refused { reason: RejectReason::Address, .. })
        }
        Sabotage::LimitersOff => matches!(breach, B::OverRate { .. }),
        Sabotage::PerIpOffByOne => matches!(breach, B::LetIn { reason: RejectReason::Address, .. }),
        Sabotage::CookiesForever | Sabotage::CookieForEveryPort => {
            matches!(breach, B::BadCookie { .. })
        }
        Sabotage::TakeDuplicates => {
            matches!(breach, B::NumberTwice { .. } | B::NotDropped { .. })
        }
        Sabotage::TicketRobs => matches!(breach, B::Robbed { .. }),
        Sabotage::TicketKept => {
            matches!(breach, B::OverLimit { what: "tickets", .. } | B::Returned { .. })
        }
        Sabotage::KickKeepsPlace => matches!(breach, B::NotRemoved { .. } | B::Returned { .. }),
        Sabotage::SkipPassword => {
            matches!(breach, B::LetIn { reason: RejectReason::Password, .. })
        }
        Sabotage::RoomsOffByOne => matches!(breach, B::LetIn { reason: RejectReason::Rooms, .. }),
        Sabotage::StreamLeak => matches!(breach, B::StreamRefused { .. }),
        Sabotage::StreamKept => matches!(breach, B::KeptStream { .. }),
        Sabotage::LivenessKept => matches!(breach, B::DroppedEarly { .. }),
        Sabotage::BucketRefilled => matches!(breach, B::OverRate { .. }),
        Sabotage::AnswersUnbounded => matches!(breach, B::OverLimit { what: "answers", .. }),
        Sabotage::WatcherHeard => matches!(breach, B::WatcherHeard { .. }),
        Sabotage::RosterUntold => matches!(breach, B::Disagreement { what: "who is here", .. }),
        Sabotage::TicksBunched => matches!(breach, B::Bunched { .. }),
        Sabotage::TimeChosen => matches!(breach, B::TimeChosen { .. }),
        Sabotage::TokensForever => matches!(breach, B::DeadToken { .. }),
        // Who counts as a player after a silent join can be moved by a ticket.
        Sabotage::SilentJoinKept => {
            matches!(breach, B::NotDropped { .. } | B::DroppedEarly { .. } | B::Robbed { .. })
        }
        Sabotage::HiddenSent => matches!(breach, B::Leaked { .. }),
        Sabotage::HiddenDestroyed => matches!(breach, B::WrongLoss { told: "no more", .. }),
        Sabotage::Starved => matches!(breach, B::Stale { .. }),
        Sabotage::QueueDrops => matches!(
            breach,
            B::WrongLetter { .. } | B::WrongEvent { .. } | B::LetterOutOfTurn { .. }
        ),
        Sabotage::LooseTwice => matches!(breach, B::LetterTwice { .. } | B::WordTwice { .. }),
    }
}

#[test]
fn every_planted_bug_is_found_within_a_hundred_seeds() {
    for sabotage in Sabotage::ALL {
        let failure = found(sabotage);
        println!("{sabotage:?}: {failure}");
        assert!(fits(sabotage, &failure.breach), "{sabotage:?} was taken for: {failure}");
    }
}

#[test]
fn without_a_planted_bug_the_same_seeds_pass() {
    let next = AtomicU64::new(1);
    let work = || {
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed > SEEDS {
                break;
            }
            if let Err(failure) = judge(seed) {
                panic!("{failure}");
            }
        }
    };
    thread::scope(|scope| (0..2).for_each(|_| drop(scope.spawn(work))));
}
