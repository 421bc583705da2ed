//! A few bad days on every test run; `backspin sim --chaos --seeds N` has as many as one likes.

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use backspin_sim::chaos::judge;

#[test]
fn twenty_bad_days_breach_nothing() {
    let next = AtomicU64::new(1);
    let work = || {
        while let seed @ 1..=20 = next.fetch_add(1, Ordering::Relaxed) {
            judge(seed).unwrap_or_else(|failure| panic!("{failure}"));
        }
    };
    thread::scope(|scope| (0..2).for_each(|_| drop(scope.spawn(work))));
}

#[test]
fn a_seed_replays_to_the_same_digest() {
    assert_eq!(judge(3), judge(3));
    assert_ne!(judge(3).unwrap().digest, judge(4).unwrap().digest);
}

/// In seed 3470 the server stands still for 3.36 s. It then reads the Resume of a player who is
/// away, and by its next tick the player has been silent for too long: the place is kept anew.
#[test]
fn who_came_back_while_the_server_stood_still_may_be_dropped_again() {
    let outcome = judge(3470).unwrap_or_else(|failure| panic!("{failure}"));
    assert!(outcome.resumes > 0);
}
