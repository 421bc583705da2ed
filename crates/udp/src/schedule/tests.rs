use super::*;

const TICK: Duration = Duration::from_nanos(1_000_000_000 / 60);

/// It takes so long to read a datagram.
const COST: Duration = Duration::from_nanos(2_500);

/// Looks whenever it may, with so many datagrams in each tick, for a second; says how often in
/// the last tick, and how long after its end it was done.
fn looks_in_a_tick(schedule: &mut Schedule, per_tick: u64) -> (u32, Duration) {
    let (mut looks, mut now, mut taken) = (0, Time::ZERO, 0);
    let mut deadline = Time::ZERO;
    for tick in 1..=60 {
        deadline = Time::ZERO + TICK * tick;
        looks = 0;
        while now < deadline {
            // At once if something came; else when the next does.
            let ns = (taken + 1) * TICK.as_nanos() as u64;
            let next = Time::from_nanos(ns.div_ceil(per_tick));
            let until = schedule.sleep_until(deadline).unwrap_or(now);
            now = if until == deadline { deadline } else { until.max(next).min(deadline) };
            let there = now.as_nanos() * per_tick / TICK.as_nanos() as u64;
            let begun = now;
            now += COST * (there - taken) as u32;
            schedule.looked(begun, now, (there - taken) as usize);
            taken = there;
            looks += 1;
        }
    }
    (looks, now.since(deadline))
}

#[test]
fn a_crowd_is_looked_at_once_and_has_been_read_soon_after_the_deadline() {
    for crowd in [64, 256, 1024] {
        let (looks, late) = looks_in_a_tick(&mut Schedule::new(true), crowd);
        let reading = COST * crowd as u32;
        assert_eq!(looks, 1, "{crowd}");
        assert!(late > Duration::ZERO && late < reading / 2, "{crowd}: {late:?}");
    }
}

#[test]
fn a_crowd_without_a_deadline_is_looked_at_all_the_same() {
    let mut schedule = Schedule::new(true);
    looks_in_a_tick(&mut schedule, 256);
    let now = Time::from_millis(1_000);
    schedule.looked(now, now, 256);
    let far = now + Duration::from_secs(9);
    assert_eq!(schedule.sleep_until(far), Some(now + CROWD_GATHER));
}

#[test]
fn what_comes_seldom_is_looked_at_when_it_comes() {
    assert_eq!(looks_in_a_tick(&mut Schedule::new(true), 4).0, 4);
    assert_eq!(looks_in_a_tick(&mut Schedule::new(true), 16).0, 16);
}

#[test]
fn a_crowd_without_timestamps_is_read_every_half_millisecond() {
    let (looks, _) = looks_in_a_tick(&mut Schedule::new(false), 1024);
    assert!((26..=34).contains(&looks), "{looks}");
}

#[test]
fn a_crowd_that_has_gone_is_none() {
    let mut schedule = Schedule::new(true);
    looks_in_a_tick(&mut schedule, 256);
    let now = Time::from_millis(2_000);
    schedule.looked(now, now, 1);
    let later = now + Duration::from_millis(16);
    assert_eq!(schedule.sleep_until(later), Some(now + GATHER));
}

const fn ms(count: u64) -> Duration {
    Duration::from_millis(count)
}

const fn run(count: u64) -> Option<Duration> {
    Some(ms(count))
}

#[test]
fn a_loop_with_too_much_to_do_is_not_held_up() {
    let mut stall = Stall::default();
    stall.wake(Time::from_millis(100), Time::from_millis(100), run(40));
    assert_eq!(stall.so_far(Time::from_millis(130), run(70)), Duration::ZERO);
}

#[test]
fn a_sleep_that_ends_late_and_a_processor_that_is_taken_away_count() {
    let mut stall = Stall::default();
    stall.wake(Time::from_millis(100), Time::from_millis(103), run(40));
    assert_eq!(stall.so_far(Time::from_millis(103), run(40)), ms(3));
    // Of ten milliseconds it had four.
    assert_eq!(stall.so_far(Time::from_millis(113), run(44)), ms(3 + 6));
}

#[test]
fn waiting_between_two_turns_does_not_count() {
    let mut stall = Stall::default();
    stall.wake(Time::from_millis(100), Time::from_millis(101), run(40));
    stall.leave(Time::from_millis(103), run(42));
    // Of fifty milliseconds between two turns it had ten, and of ten in the next turn four.
    stall.come_back(Time::from_millis(153), run(52));
    assert_eq!(stall.so_far(Time::from_millis(163), run(56)), ms(1 + 6));
    stall.wake(Time::from_millis(170), Time::from_millis(172), run(57));
    assert_eq!(stall.so_far(Time::from_millis(172), run(57)), ms(2));
}

#[test]
fn a_sleep_starts_the_count_anew() {
    let mut stall = Stall::default();
    stall.wake(Time::from_millis(100), Time::from_millis(109), run(40));
    // What came ended the sleep before its time.
    stall.wake(Time::from_millis(120), Time::from_millis(115), run(41));
    assert_eq!(stall.so_far(Time::from_millis(116), run(42)), Duration::ZERO);
}

#[test]
fn where_the_system_does_not_say_how_long_a_thread_ran_only_sleep_counts() {
    let mut stall = Stall::default();
    stall.wake(Time::from_millis(100), Time::from_millis(103), None);
    assert_eq!(stall.so_far(Time::from_millis(113), None), ms(3));
}

#[test]
fn clocks_that_differ_a_little_never_count_below_zero() {
    let mut stall = Stall::default();
    assert_eq!(stall.so_far(Time::from_millis(100), run(40)), Duration::ZERO);
    stall.wake(Time::from_millis(100), Time::from_millis(100), run(40));
    assert_eq!(stall.so_far(Time::from_millis(101), run(42)), Duration::ZERO);
}
