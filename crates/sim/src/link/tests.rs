use super::*;
use crate::{Jitter, Preset, Reorder};

const PERFECT: LinkConfig = LinkConfig::PERFECT;

fn link(config: LinkConfig) -> Link {
    Link::new(config, Chance::new(1, 0))
}

/// What becomes of datagram number `n` of a stream at 60 a second.
fn send(link: &mut Link, n: u64) -> Deliveries {
    link.send(Time::from_nanos(n * 16_666_667), &mut [0; 50])
}

/// FNV-1a over everything that a link says and does in ten thousand sends.
fn digest(config: LinkConfig, seed: u64) -> u64 {
    let mut link = Link::new(config, Chance::new(seed, 0));
    let mut digest = 0xcbf2_9ce4_8422_2325u64;
    let mut take = |value: u64| {
        for byte in value.to_le_bytes() {
            digest = (digest ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    };
    for n in 0..10_000u64 {
        let mut bytes = n.to_le_bytes();
        let deliveries = link.send(Time::from_millis(n), &mut bytes);
        deliveries.times().iter().for_each(|time| take(time.as_nanos()));
        take(u64::from_le_bytes(bytes));
    }
    for fault in Fault::ALL {
        take(link.counts().count(fault));
    }
    assert!(link.counts().queue_dropped > 0, "the digest is to cover the full queue too");
    digest
}

#[test]
fn a_seed_replays_to_the_same_digest_on_every_machine() {
    let everything = |jitter, loss| LinkConfig {
        delay: Duration::from_millis(30),
        jitter,
        loss,
        duplicate_probability: 0.02,
        reorder: Reorder::often(0.05),
        corrupt_probability: 0.01,
        bandwidth: Some(Bandwidth { bits_per_s: 60_000, queue_bytes: 1_500 }),
    };
    let span = Duration::from_millis(20);
    let uniform = everything(Jitter::uniform(span), Loss::independent(0.05));
    let normal = everything(Jitter::normal(span), Loss::bursts(0.05, 3.0));
    let heavy = everything(Jitter::heavy_tailed(span), Loss::bursts(0.2, 1.5));
    // Literal, so that debug, release and other processors must agree.
    assert_eq!(digest(uniform, 1), 0xa77a_635f_8342_702b);
    assert_eq!(digest(normal, 1), 0x209d_49f3_d4a9_ad39);
    assert_eq!(digest(heavy, 1), 0x4acf_a746_d657_6c1b);
    assert_eq!(digest(heavy, 2), digest(heavy, 2));
    assert_ne!(digest(heavy, 1), digest(heavy, 2));
}

#[test]
fn a_perfect_link_delivers_everything_at_once_and_intact() {
    let mut link = link(PERFECT);
    for n in 0..1_000 {
        let mut bytes = [7; 100];
        let now = Time::from_millis(n);
        assert_eq!(link.send(now, &mut bytes), Deliveries::Once(now));
        assert_eq!(bytes, [7; 100]);
    }
    let expected = Faults {
        sent: 1_000,
        delivered: 1_000,
        sent_bytes: 100_000,
        delivered_bytes: 100_000,
        ..Faults::default()
    };
    assert_eq!(*link.counts(), expected);
}

/// The share lost of this many datagrams and the mean length of its runs.
fn measure_loss(loss: Loss, sends: u32) -> (f64, f64) {
    let mut link = link(LinkConfig { loss, ..PERFECT });
    let (mut lost, mut runs, mut in_run) = (0u32, 0u32, false);
    for n in 0..sends {
        let now_lost = matches!(send(&mut link, u64::from(n)), Deliveries::Dropped(_));
        lost += u32::from(now_lost);
        runs += u32::from(now_lost && !in_run);
        in_run = now_lost;
    }
    assert_eq!(link.counts().dropped(), u64::from(lost));
    (f64::from(lost) / f64::from(sends), f64::from(lost) / f64::from(runs))
}

#[test]
fn bursts_keep_the_stated_loss_rate_and_length() {
    // The reference link's bursts to a percent or two; the others, also the densest that
    // bursts of 3 can be, roughly, for the sake of time.
    for (probability, burst_len, sends, error) in [
        (0.05, 3.0, 1_000_000, 0.02),
        (0.3, 3.0, 200_000, 0.03),
        (0.1, 1.5, 200_000, 0.03),
        (0.3, 20.0, 200_000, 0.08),
        (0.75, 3.0, 200_000, 0.03),
    ] {
        let (rate, run) = measure_loss(Loss::bursts(probability, burst_len), sends);
        assert!((rate / probability - 1.0).abs() < error, "{probability}/{burst_len}: {rate}");
        assert!((run / burst_len - 1.0).abs() < error, "{probability}/{burst_len}: {run}");
    }
}

#[test]
fn a_burst_of_one_is_independent_loss() {
    for probability in [0.05, 0.3] {
        let (rate, run) = measure_loss(Loss::bursts(probability, 1.0), 200_000);
        assert!((rate / probability - 1.0).abs() < 0.03, "{rate}");
        // Independent losses follow one another by accident.
        assert!((run * (1.0 - probability) - 1.0).abs() < 0.03, "{run}");
    }
}

#[test]
fn the_first_datagram_is_as_likely_lost_as_any() {
    let config = LinkConfig { loss: Loss::bursts(0.3, 10.0), ..PERFECT };
    let lost = (0..5_000)
        .filter(|&seed| send(&mut Link::new(config, Chance::new(seed, 0)), 0).times().is_empty())
        .count();
    assert!((1_350..1_650).contains(&lost), "{lost}");
}

#[test]
fn total_loss_and_no_loss_are_total_whatever_the_burst() {
    let mut all = link(LinkConfig { loss: Loss::bursts(1.0, 3.0), ..PERFECT });
    let mut none = link(LinkConfig { loss: Loss::bursts(0.0, 3.0), ..PERFECT });
    for n in 0..1_000 {
        assert_eq!(send(&mut all, n), Deliveries::Dropped(Fault::Lost));
        assert_eq!(send(&mut none, n).times().len(), 1);
    }
}

#[test]
fn losses_are_named_after_their_kind() {
    for (loss, name) in
        [(Loss::independent(0.5), Fault::Lost), (Loss::bursts(0.5, 3.0), Fault::BurstLost)]
    {
        let mut link = link(LinkConfig { loss, ..PERFECT });
        for n in 0..100 {
            if let Deliveries::Dropped(fault) = send(&mut link, n) {
                assert_eq!(fault, name);
            }
        }
        assert!(link.counts().count(name) > 0);
        assert_eq!(link.counts().count(name), link.counts().dropped());
    }
}

#[test]
fn jitter_adds_to_the_delay_and_reorders() {
    let jitter = Jitter::uniform(Duration::from_millis(20));
    let delay = Duration::from_millis(50);
    let mut link = link(LinkConfig { delay, jitter, ..PERFECT });
    let (mut last, mut overtaken, mut least, mut most) =
        (Time::ZERO, 0, Duration::MAX, Duration::ZERO);
    for n in 0..20_000 {
        let now = Time::from_millis(n * 10);
        let arrival = link.send(now, &mut [0; 50]).times()[0];
        let taken = arrival.since(now);
        (least, most) = (least.min(taken), most.max(taken));
        overtaken += u32::from(arrival < last);
        last = last.max(arrival);
    }
    assert!(least >= delay && most <= delay + jitter.span, "{least:?} {most:?}");
    assert!(least < delay + Duration::from_micros(20), "{least:?}");
    assert!(most > delay + jitter.span - Duration::from_micros(20), "{most:?}");
    // A neighbour 10 ms later overtakes if its jitter is 10 ms less: one time in eight.
    assert!((2_200..2_800).contains(&overtaken), "{overtaken}");
    assert_eq!(link.counts().reordered, 0, "the count is of extra reordering only");
}

#[test]
fn a_held_datagram_is_overtaken() {
    let reorder = Reorder { probability: 0.1, hold: Duration::from_millis(50) };
    let mut link = link(LinkConfig { reorder, ..PERFECT });
    let mut held = 0;
    for n in 0..10_000 {
        let now = Time::from_millis(n);
        match link.send(now, &mut [0; 50]).times()[0].since(now) {
            Duration::ZERO => {}
            late => {
                assert_eq!(late, reorder.hold);
                held += 1;
            }
        }
    }
    assert!((900..1_100).contains(&held), "{held}");
    assert_eq!(link.counts().reordered, held);
}

#[test]
fn duplicates_have_jitter_of_their_own_and_come_in_order() {
    let jitter = Jitter::uniform(Duration::from_millis(20));
    let mut link = link(LinkConfig { jitter, duplicate_probability: 0.2, ..PERFECT });
    let (mut twice, mut apart) = (0, 0);
    for n in 0..10_000 {
        if let Deliveries::Twice([first, second]) = send(&mut link, n) {
            assert!(first <= second);
            twice += 1;
            apart += u64::from(first < second);
        }
    }
    assert!((1_900..2_100).contains(&twice), "{twice}");
    assert!(apart > twice * 99 / 100);
    let counts = link.counts();
    assert_eq!((counts.duplicated, counts.delivered), (twice, 10_000 + twice));
    assert_eq!(counts.delivered_bytes, counts.delivered * 50);
}

#[test]
fn corruption_flips_exactly_one_bit_and_any_bit() {
    let mut link = link(LinkConfig { corrupt_probability: 1.0, ..PERFECT });
    let mut flipped = [0u8; 3];
    for _ in 0..1_000 {
        let mut bytes = [0; 3];
        let _ = link.send(Time::ZERO, &mut bytes);
        assert_eq!(bytes.iter().map(|byte| byte.count_ones()).sum::<u32>(), 1);
        flipped.iter_mut().zip(bytes).for_each(|(all, byte)| *all |= byte);
    }
    assert_eq!(flipped, [0xff; 3]);
    assert_eq!(link.counts().corrupted, 1_000);
    let _ = link.send(Time::ZERO, &mut []);
    assert_eq!(link.counts().corrupted, 1_000, "an empty datagram has no bit to flip");
}

#[test]
fn a_narrow_link_sends_no_faster_than_its_rate() {
    // A byte a microsecond.
    let bandwidth = Bandwidth { bits_per_s: 8_000_000, queue_bytes: 1_000_000 };
    let mut narrow = link(LinkConfig { bandwidth: Some(bandwidth), ..PERFECT });
    for n in 1..=1_000 {
        let departure = Time::from_micros(n * 1_000);
        assert_eq!(narrow.send(Time::ZERO, &mut [0; 1_000]), Deliveries::Once(departure));
    }
    // The queue has drained by then, and the link has not saved up what it did not use.
    let later = Time::from_millis(5_000);
    let departure = later + Duration::from_millis(1);
    assert_eq!(narrow.send(later, &mut [0; 1_000]), Deliveries::Once(departure));
}

#[test]
fn an_awkward_rate_does_not_drift() {
    let bandwidth = Bandwidth { bits_per_s: 3_000_017, queue_bytes: 1_000_000 };
    let mut queue = Queue::default();
    let mut last = None;
    for _ in 0..1_000 {
        last = queue.push(Time::ZERO, 999, bandwidth);
    }
    let exact = (999_000u128 * NANOBITS_PER_BYTE).div_ceil(3_000_017) as u64;
    assert_eq!(last, Some(Time::from_nanos(exact)));
}

#[test]
fn what_is_lost_has_used_the_bandwidth_and_a_copy_has_not() {
    let bandwidth = Some(Bandwidth { bits_per_s: 8_000_000, queue_bytes: 3_000 });
    let mut link = link(LinkConfig { bandwidth, loss: Loss::independent(1.0), ..PERFECT });
    let _ = link.send(Time::ZERO, &mut [0; 1_000]);
    link.set_config(LinkConfig { bandwidth, duplicate_probability: 1.0, ..PERFECT });
    let second = Time::from_millis(2);
    assert_eq!(link.send(Time::ZERO, &mut [0; 1_000]), Deliveries::Twice([second; 2]));
    let third = Time::from_millis(3);
    assert_eq!(link.send(Time::ZERO, &mut [0; 1_000]), Deliveries::Twice([third; 2]));
}

#[test]
fn the_queue_takes_what_fits_and_drops_one_byte_more() {
    let bandwidth = Bandwidth { bits_per_s: 8_000_000, queue_bytes: 3_000 };
    let full = || {
        let mut link = link(LinkConfig { bandwidth: Some(bandwidth), ..PERFECT });
        let _ = link.send(Time::ZERO, &mut [0; 2_000]);
        link
    };
    let departure = Time::from_micros(3_000);
    assert_eq!(full().send(Time::ZERO, &mut [0; 1_000]), Deliveries::Once(departure));
    let mut link = full();
    let dropped = Deliveries::Dropped(Fault::QueueDropped);
    assert_eq!(link.send(Time::ZERO, &mut [0; 1_001]), dropped);
    // What was dropped takes no room, and a microsecond makes room for the missing byte.
    let later = Time::from_micros(1);
    let departure = Time::from_micros(3_001);
    assert_eq!(link.send(later, &mut [0; 1_001]), Deliveries::Once(departure));
    assert_eq!(link.counts().queue_dropped, 1);
}

#[test]
fn an_earlier_instant_does_not_upset_the_queue() {
    let bandwidth = Bandwidth { bits_per_s: 8_000_000, queue_bytes: 3_000 };
    let mut link = link(LinkConfig { bandwidth: Some(bandwidth), ..PERFECT });
    let _ = link.send(Time::from_millis(9), &mut [0; 1_000]);
    let after_the_first = Deliveries::Once(Time::from_millis(11));
    assert_eq!(link.send(Time::from_millis(4), &mut [0; 1_000]), after_the_first);
}

#[test]
fn lifting_the_limit_forgets_the_queue() {
    let bandwidth = Some(Bandwidth { bits_per_s: 8, queue_bytes: 3_000 });
    let mut link = link(LinkConfig { bandwidth, ..PERFECT });
    let _ = link.send(Time::ZERO, &mut [0; 3_000]);
    link.set_config(PERFECT);
    assert_eq!(send(&mut link, 0), Deliveries::Once(Time::ZERO));
    link.set_config(LinkConfig { bandwidth, ..PERFECT });
    assert_eq!(link.send(Time::ZERO, &mut [0]), Deliveries::Once(Time::from_millis(1_000)));
}

#[test]
fn a_cut_link_carries_nothing_until_it_heals() {
    let mut link = link(PERFECT);
    link.set_partition(Partition::Cut);
    assert_eq!(send(&mut link, 0), Deliveries::Dropped(Fault::Partitioned));
    assert_eq!(send(&mut link, 1), Deliveries::Dropped(Fault::Partitioned));
    link.set_partition(Partition::Healed);
    assert_eq!(send(&mut link, 0), Deliveries::Once(Time::ZERO));
    assert_eq!(link.counts().partitioned, 2);
}

#[test]
fn a_step_in_delay_changes_nothing_else() {
    let before = LinkConfig { loss: Loss::bursts(0.3, 4.0), ..Preset::Reference.config() };
    let step = Duration::from_millis(25);
    let mut steady = link(before);
    let mut stepped = link(before);
    for n in 0..1_000 {
        if n == 500 {
            stepped.set_config(LinkConfig { delay: before.delay + step, ..before });
        }
        let late = if n < 500 { Duration::ZERO } else { step };
        match (send(&mut steady, n), send(&mut stepped, n)) {
            (Deliveries::Once(then), Deliveries::Once(now)) => assert_eq!(now, then + late),
            (then, now) => assert_eq!(now, then),
        }
    }
    assert_eq!(stepped.config().delay, Duration::from_millis(75));
}

#[test]
fn loss_that_is_switched_off_stops_in_the_middle_of_a_burst() {
    let mut link = link(LinkConfig { loss: Loss::bursts(0.9, 1_000.0), ..PERFECT });
    while send(&mut link, 0) != Deliveries::Dropped(Fault::BurstLost) {}
    link.set_config(PERFECT);
    assert!((0..1_000).all(|n| send(&mut link, n).times().len() == 1));
}

#[test]
fn every_datagram_is_accounted_for() {
    for preset in Preset::ALL {
        let mut link = link(preset.config());
        let mut delivered = 0;
        for n in 0..2_000 {
            // Fast enough to fill the narrow ones' queues.
            let now = Time::from_micros(n * 300);
            delivered += link.send(now, &mut [0; 1_200]).times().len() as u64;
        }
        let counts = link.counts();
        assert_eq!(counts.delivered, delivered, "{preset}");
        assert_eq!(counts.sent + counts.duplicated, delivered + counts.dropped(), "{preset}");
    }
}

#[test]
#[should_panic(expected = "130 % of datagrams cannot be lost")]
fn an_impossible_link_is_a_callers_mistake() {
    link(LinkConfig { loss: Loss::independent(1.3), ..PERFECT });
}

#[test]
fn the_directions_of_a_path_and_the_paths_of_a_seed_have_chances_of_their_own() {
    let config = Preset::Reference.config();
    let series = |link: &mut Link| (0..20).map(|n| send(link, n)).collect::<Vec<_>>();
    let mut all = Vec::new();
    for path in 0..3 {
        let mut path = Duplex::new(config, 1, path);
        for link in [&mut path.there, &mut path.back] {
            let series = series(link);
            assert!(!all.contains(&series), "two links share their chance");
            all.push(series);
        }
    }
    assert_eq!(all[0], series(&mut Duplex::new(config, 1, 0).there));
}

#[test]
fn a_round_trip_is_split_in_halves() {
    let config = PERFECT.with_rtt(Duration::from_millis(101));
    let mut path = Duplex::new(config, 1, 0);
    let there = path.there.send(Time::ZERO, &mut [0]).times()[0];
    let back = path.back.send(there, &mut [0]).times()[0];
    assert_eq!(back, Time::from_millis(101));
}
