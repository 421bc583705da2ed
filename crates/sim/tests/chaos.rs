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
