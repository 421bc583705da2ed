use super::*;
use crate::wire::native::History;
use proptest::prelude::*;

const TICK: Duration = Duration::from_nanos(16_666_666);

fn at(ms: u64) -> Time {
    Time::from_millis(ms)
}

/// Inputs for these ticks, the buttons being the tick's low half.
fn pending(ticks: impl IntoIterator<Item = u32>) -> Pending {
    let mut pending = Pending::new();
    for tick in ticks {
        pending.push(at(u64::from(tick)), tick, (tick as u16).into());
    }
    pending
}

fn ticks(inputs: impl Iterator<Item = PendingInput>) -> Vec<u32> {
    inputs.map(|input| input.tick).collect()
}

#[test]
fn a_snapshot_acknowledges_the_inputs_up_to_its_tick() {
    let mut pending = pending(100..106);
    assert_eq!(pending.acknowledge(102), 3);
    assert_eq!(ticks(pending.iter()), [105, 104, 103]);
    assert_eq!((pending.len(), pending.is_empty()), (3, false));
    assert_eq!(pending.newest().unwrap().tick, 105);
    // A late snapshot, and the same again.
    assert_eq!((pending.acknowledge(101), pending.acknowledge(102)), (0, 0));
    // The server is ahead of us.
    assert_eq!(pending.acknowledge(1_000), 3);
    assert_eq!((pending.newest(), pending.is_empty()), (None, true));
    assert_eq!((pending.counts().sent, pending.counts().acknowledged), (6, 6));
}

#[test]
fn a_snapshot_from_before_the_first_tick_acknowledges_nothing() {
    let mut pending = pending(1..4);
    assert_eq!((pending.acknowledge(0), pending.len()), (0, 3));
    assert_eq!(ticks(pending.after(0)), [1, 2, 3]);
}

#[test]
fn the_replay_is_what_comes_after_the_snapshot_oldest_first() {
    let pending = pending(100..104);
    assert_eq!(ticks(pending.after(101)), [102, 103]);
    assert_eq!(ticks(pending.after(99)), [100, 101, 102, 103]);
    assert_eq!(ticks(pending.after(103)), [0; 0]);
    let first = pending.after(101).next().unwrap();
    assert_eq!(first, PendingInput { tick: 102, input: RawInput(102), sent_at: at(102) });
}

#[test]
fn an_input_is_found_by_its_tick_while_it_is_pending() {
    let mut pending = pending(100..104);
    pending.acknowledge(101);
    assert_eq!(pending.input_for(102), Some(RawInput(102)));
    assert_eq!((pending.input_for(101), pending.input_for(104)), (None, None));
}

#[test]
fn when_an_input_was_sent_is_known_also_after_its_acknowledgement() {
    let mut pending = pending(100..104);
    pending.acknowledge(103);
    assert_eq!((pending.sent_at(100), pending.sent_at(103)), (Some(at(100)), Some(at(103))));
    assert_eq!((pending.sent_at(99), pending.sent_at(104), pending.sent_at(0)), (None, None, None));
    (104..228).for_each(|tick| pending.push(at(0), tick, RawInput(0)));
    assert_eq!(pending.sent_at(100), Some(at(100)));
    pending.push(at(0), 228, RawInput(0));
    assert_eq!(pending.sent_at(100), None);
}

#[test]
fn skipped_ticks_get_the_buttons_held_then() {
    let mut pending = pending([]);
    pending.push(at(1), 10, RawInput(0xA));
    pending.push(at(2), 13, RawInput(0xB));
    let inputs: Vec<_> = pending.iter().map(|input| (input.tick, input.input.0)).collect();
    assert_eq!(inputs, [(13, 0xB), (12, 0xA), (11, 0xA), (10, 0xA)]);
    assert_eq!(pending.sent_at(11), Some(at(2)));
    assert_eq!((pending.counts().sent, pending.counts().filled), (4, 2));
}

#[test]
fn skipped_ticks_that_have_run_are_not_filled() {
    let mut pending = pending([10]);
    pending.acknowledge(12);
    pending.push(at(0), 15, RawInput(1));
    assert_eq!(ticks(pending.iter()), [15, 14, 13]);
    assert_eq!(pending.input_for(13), Some(RawInput(10)));
}

#[test]
fn an_input_for_a_tick_that_has_run_goes_out_alone_and_settles_with_the_next() {
    let mut pending = pending([10]);
    pending.acknowledge(20);
    pending.push(at(0), 15, RawInput(1));
    assert_eq!(ticks(pending.iter()), [15]);
    assert_eq!(ticks(pending.after(20)), [0; 0]);
    pending.push(at(0), 22, RawInput(2));
    assert_eq!(ticks(pending.iter()), [22, 21]);
    assert_eq!(pending.counts().acknowledged, 2);
}

#[test]
fn the_first_input_has_nothing_to_fill() {
    assert_eq!(pending([1_000]).len(), 1);
}

#[test]
fn a_hundred_and_twenty_eight_are_kept_and_the_oldest_is_given_up_for_the_next() {
    let mut pending = pending(1..=128);
    assert_eq!((pending.len(), pending.counts().given_up), (PENDING_LIMIT, 0));
    pending.push(at(0), 129, RawInput(0));
    assert_eq!((pending.len(), pending.counts().given_up), (PENDING_LIMIT, 1));
    assert_eq!(pending.input_for(1), None);
    assert_eq!(ticks(pending.after(0))[0], 2);
}

#[test]
fn a_leap_fills_no_more_than_there_is_room() {
    for leap in [127, 128, 129, 1_000_000] {
        let mut pending = pending([5]);
        pending.push(at(0), 5 + leap, RawInput(7));
        assert_eq!(pending.len(), PENDING_LIMIT);
        let kept = ticks(pending.after(0));
        assert_eq!((kept[0], kept[127]), (5 + leap - 127, 5 + leap));
        let gone = u64::from(leap > 127);
        assert_eq!(pending.counts().given_up, gone);
        assert_eq!(pending.counts().filled, 126 + gone);
    }
}

#[test]
fn a_datagram_carries_the_newest_64() {
    for (newest, oldest) in [(64, 1), (100, 37), (128, 65)] {
        let pending = pending(1..=newest);
        let mut room = [0; History::MAX_LEN];
        let older = pending.iter().skip(1).map(|pending| pending.input);
        let history = History::new(pending.newest().unwrap().input, older, &mut room);
        let ticks: Vec<_> = (oldest..newest as u16).rev().map(RawInput::from).collect();
        assert_eq!(history.iter().collect::<Vec<_>>(), ticks);
    }
}

#[test]
fn ticks_wrap_past_0() {
    let mut pending = pending([u32::MAX - 1]);
    pending.push(at(0), 2, RawInput(0xB));
    assert_eq!(ticks(pending.iter()), [2, 1, u32::MAX, u32::MAX - 1]);
    assert_eq!(pending.input_for(u32::MAX), Some(RawInput(0xFFFE)));
    assert_eq!(ticks(pending.after(u32::MAX)), [1, 2]);
    assert_eq!((pending.acknowledge(u32::MAX), pending.acknowledge(1)), (2, 1));
    assert_eq!(pending.acknowledge(u32::MAX), 0);
    assert_eq!(ticks(pending.iter()), [2]);
}

#[test]
fn each_missed_tick_counts_once_however_often_it_is_reported() {
    let mut pending = pending(100..120);
    assert_eq!(pending.handle_missing(102, 0b0000_0010), 1);
    assert_eq!(pending.handle_missing(103, 0b0000_0101), 1);
    // Late, and again.
    assert_eq!(pending.handle_missing(102, 0b0000_0010), 0);
    assert_eq!(pending.handle_missing(103, 0b0000_0101), 0);
    // Snapshots lost between: their ticks are reported still.
    assert_eq!(pending.handle_missing(110, 0b1111_1111), 7);
    assert_eq!(pending.counts().missed, 9);
}

#[test]
fn ticks_before_the_first_input_are_nobodys_miss() {
    let mut pending = Pending::new();
    assert_eq!(pending.handle_missing(5, 0xFF), 0);
    pending.push(at(0), 10, RawInput(0));
    assert_eq!(pending.handle_missing(9, 0xFF), 0);
    assert_eq!(pending.handle_missing(12, 0xFF), 3);
    assert_eq!(pending.handle_missing(0, 0xFF), 0);
}

#[test]
fn misses_count_across_the_wrap() {
    let mut pending = pending([u32::MAX - 1]);
    assert_eq!(pending.handle_missing(u32::MAX, 0b1), 1);
    assert_eq!(pending.handle_missing(2, 0b1111), 2);
}

#[test]
fn the_share_of_loss_is_missed_over_settled() {
    let mut pending = pending(1..=60);
    assert_eq!(pending.counts().loss(), 0.0);
    pending.acknowledge(40);
    pending.handle_missing(40, 0b1);
    assert_eq!(pending.counts().loss(), 1.0 / 40.0);
}

#[test]
fn a_session_that_begins_anew_gives_up_what_was_pending() {
    let mut pending = pending(1_000..1_010);
    pending.acknowledge(1_004);
    pending.clear();
    assert_eq!((pending.len(), pending.newest(), pending.sent_at(1_009)), (0, None, None));
    assert_eq!((pending.counts().acknowledged, pending.counts().given_up), (5, 5));
    // The new one may count from an earlier tick.
    pending.push(at(0), 10, RawInput(1));
    assert_eq!(ticks(pending.iter()), [10]);
    assert_eq!(pending.acknowledge(9), 0);
    assert_eq!(pending.handle_missing(10, 1), 1);
}

/// Everything that is due where the way is short.
fn alarms(pending: &mut Pending, now: Time) -> Vec<AlarmEvent> {
    alarms_beyond(pending, now, 0)
}

/// The same where the way explains so many pending inputs.
fn alarms_beyond(pending: &mut Pending, now: Time, explained: u32) -> Vec<AlarmEvent> {
    std::iter::from_fn(|| pending.poll_alarm(now, explained)).collect()
}

#[test]
fn the_31st_pending_input_warns_once_and_calm_takes_it_back() {
    let mut pending = Pending::new();
    (1..=30).for_each(|tick| pending.push(at(0), tick, RawInput(0)));
    assert_eq!(alarms(&mut pending, at(0)), []);
    pending.push(at(0), 31, RawInput(0));
    assert_eq!(alarms(&mut pending, at(0)), [AlarmEvent::Raised(Alarm::HighLatency)]);
    assert!(pending.is_raised(Alarm::HighLatency));
    pending.push(at(10), 32, RawInput(0));
    assert_eq!(alarms(&mut pending, at(10)), []);
    pending.acknowledge(31);
    assert_eq!(alarms(&mut pending, at(509)), [AlarmEvent::Raised(Alarm::Lag)]);
    pending.acknowledge(32);
    assert_eq!(alarms(&mut pending, at(510)), [AlarmEvent::Lowered(Alarm::HighLatency)]);
    assert!(!pending.is_raised(Alarm::HighLatency));
    assert_eq!(alarms(&mut pending, at(1_008)), []);
    assert_eq!(alarms(&mut pending, at(1_009)), [AlarmEvent::Lowered(Alarm::Lag)]);
}

#[test]
fn an_alarm_does_not_flicker_at_its_limit() {
    let mut pending = Pending::new();
    let mut now = Time::ZERO;
    let mut events = Vec::new();
    for tick in 1..=600 {
        now += TICK;
        pending.push(now, tick, RawInput(0));
        events.extend(alarms(&mut pending, now));
        if tick > 30 {
            pending.acknowledge(tick - 30);
        }
        events.extend(alarms(&mut pending, now));
    }
    let raised = [Alarm::Lag, Alarm::HighLatency].map(AlarmEvent::Raised);
    assert_eq!(events, raised);
}

#[test]
fn a_silent_server_is_lag_then_high_latency_then_lost() {
    let mut pending = Pending::new();
    let mut events = Vec::new();
    let mut now = Time::ZERO;
    for tick in 1..=200 {
        pending.push(now, tick, RawInput(0));
        events.extend(alarms(&mut pending, now).into_iter().map(|event| (tick, event)));
        now += TICK;
    }
    let raised = |tick, alarm| (tick, AlarmEvent::Raised(alarm));
    let story =
        [raised(14, Alarm::Lag), raised(31, Alarm::HighLatency), raised(61, Alarm::ConnectionLost)];
    assert_eq!(events, story);
    assert_eq!(pending.len(), PENDING_LIMIT);
    // The server is back: all is taken back, and may happen again.
    pending.acknowledge(200);
    assert_eq!(alarms(&mut pending, now), []);
    let lowered = Alarm::ALL.map(AlarmEvent::Lowered);
    assert_eq!(alarms(&mut pending, now + CALM_AFTER), lowered);
    (201..=262).for_each(|tick| pending.push(now, tick, RawInput(0)));
    let raised = [Alarm::HighLatency, Alarm::ConnectionLost].map(AlarmEvent::Raised);
    assert_eq!(alarms(&mut pending, now), raised);
}

#[test]
fn on_a_slow_line_only_what_the_way_does_not_explain_counts() {
    const EXPLAINED: u32 = 93;
    let mut pending = Pending::new();
    let mut events = Vec::new();
    let mut now = Time::ZERO;
    // 1,500 ms: snapshots come, each 93 ticks after the input that it acknowledges.
    for tick in 1..=400 {
        pending.push(now, tick, RawInput(0));
        pending.acknowledge(tick.saturating_sub(EXPLAINED));
        events.extend(alarms_beyond(&mut pending, now, EXPLAINED));
        now += TICK;
    }
    assert_eq!(events, [AlarmEvent::Raised(Alarm::Lag)]);
    assert_eq!(pending.waiting(), EXPLAINED);
    // Then they stop. More wait than are kept when the connection counts as lost.
    let mut events = Vec::new();
    for silence in 1..=100 {
        pending.push(now, 400 + silence, RawInput(0));
        let alarms = alarms_beyond(&mut pending, now, EXPLAINED);
        events.extend(alarms.into_iter().map(|event| (silence, event)));
        now += TICK;
    }
    let raised = |silence, alarm| (silence, AlarmEvent::Raised(alarm));
    assert_eq!(events, [raised(31, Alarm::HighLatency), raised(61, Alarm::ConnectionLost)]);
    assert_eq!((pending.len(), pending.waiting()), (PENDING_LIMIT, EXPLAINED + 100));
}

#[test]
fn the_lag_sign_waits_for_more_than_200_ms() {
    let mut pending = Pending::new();
    assert_eq!(pending.oldest_age(at(0)), None);
    pending.push(at(100), 1, RawInput(0));
    pending.push(at(117), 2, RawInput(0));
    assert_eq!(pending.oldest_age(at(300)), Some(LAG_OVER));
    assert_eq!(alarms(&mut pending, at(300)), []);
    assert_eq!(alarms(&mut pending, at(301)), [AlarmEvent::Raised(Alarm::Lag)]);
    pending.acknowledge(1);
    assert_eq!(pending.oldest_age(at(301)), Some(Duration::from_millis(184)));
}

#[test]
fn alarms_read_as_words() {
    let words = Alarm::ALL.map(|alarm| alarm.to_string());
    assert_eq!(words, ["lag", "high latency", "connection lost, trying again"]);
}

#[derive(Clone, Debug)]
enum Step {
    Push(u32),
    Acknowledge(u32),
}

proptest! {
    #[test]
    fn the_pending_are_always_consecutive_and_every_input_is_accounted_for(
        start in prop_oneof![1..200_u32, (u32::MAX - 300)..=u32::MAX],
        steps in proptest::collection::vec(
            prop_oneof![
                4 => (1..3_u32).prop_map(Step::Push),
                1 => (1..90_u32).prop_map(Step::Push),
                3 => (0..90_u32).prop_map(Step::Acknowledge),
            ],
            0..300,
        ),
    ) {
        let mut pending = Pending::new();
        let (mut newest, mut acknowledged) = (start, None);
        for step in steps {
            match step {
                Step::Push(ahead) => {
                    newest = tick::after(newest, ahead);
                    pending.push(Time::ZERO, newest, RawInput(0));
                    prop_assert_eq!(pending.newest().map(|input| input.tick), Some(newest));
                }
                Step::Acknowledge(back) => {
                    let server_tick = tick::before(newest, back);
                    pending.acknowledge(server_tick);
                    if acknowledged.is_none_or(|newest| tick::is_after(server_tick, newest)) {
                        acknowledged = Some(server_tick);
                    }
                    let last = acknowledged.unwrap_or(0);
                    prop_assert!(pending.iter().all(|input| tick::is_after(input.tick, last)));
                }
            }
            let ticks = ticks(pending.iter());
            prop_assert!(ticks.windows(2).all(|pair| tick::after(pair[1], 1) == pair[0]));
            prop_assert!(ticks.len() <= PENDING_LIMIT && !ticks.contains(&0));
            let counts = pending.counts();
            let settled = counts.acknowledged + counts.given_up;
            prop_assert_eq!(counts.sent, settled + ticks.len() as u64);
        }
    }
}
