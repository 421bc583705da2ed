//! Questions that are asked again over a lossy line.

use std::time::Duration;

use backspin::session::{Retry, RetryPolicy, RetryStep};
use backspin::time::Time;
use backspin_sim::{Chance, Link, LinkConfig, Loss};

fn at(ms: u64) -> Time {
    Time::from_millis(ms)
}

/// How many of so many seeds get something through in time, one way, and there and back with
/// one answer to each copy that arrives.
fn arrivals(policy: RetryPolicy, loss: Loss, seeds: u64) -> (u64, u64) {
    let config = LinkConfig { delay: Duration::from_millis(50), loss, ..LinkConfig::PERFECT };
    let give_up = at(0) + policy.give_up;
    let (mut arrived, mut answered) = (0, 0);
    for seed in 0..seeds {
        let mut there = Link::new(config, Chance::new(seed, 0));
        let mut back = Link::new(config, Chance::new(seed, 1));
        let mut retry = Retry::new(at(0), policy);
        let (mut is_there, mut is_back) = (false, false);
        loop {
            let now = retry.deadline();
            let RetryStep::Send { copies } = retry.poll(now) else { break };
            for _ in 0..copies {
                for &arrival in there.send(now, &mut [0; 48]).times() {
                    is_there |= arrival < give_up;
                    let answers = back.send(arrival, &mut [0; 25]);
                    is_back |= answers.times().iter().any(|&answer| answer < give_up);
                }
            }
        }
        arrived += u64::from(is_there);
        answered += u64::from(is_back);
    }
    (arrived, answered)
}

#[test]
fn a_hello_survives_30_percent_loss_in_bursts_of_3() {
    const SEEDS: u64 = 2_000;
    let (arrived, answered) = arrivals(RetryPolicy::HELLO, Loss::bursts(0.3, 3.0), SEEDS);
    println!("{arrived} arrived and {answered} were answered, of {SEEDS}");
    assert_eq!(arrived, SEEDS);
    assert!(answered * 1_000 >= SEEDS * 999, "{answered} of {SEEDS}");
}

#[test]
fn single_hellos_would_not() {
    const SEEDS: u64 = 2_000;
    let single = RetryPolicy { copies: 1, ..RetryPolicy::HELLO };
    let (arrived, answered) = arrivals(single, Loss::bursts(0.3, 3.0), SEEDS);
    println!("{arrived} arrived and {answered} were answered, of {SEEDS}");
    assert!(arrived * 100 < SEEDS * 99, "{arrived} of {SEEDS}");
    assert!(answered * 100 < SEEDS * 95, "{answered} of {SEEDS}");
}
