use super::*;
use crate::channel::Pending;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// A datagram with the input of `tick` and `history` more, each with its tick's low half as
/// buttons.
fn receive(queue: &mut InputQueue, tick: u32, history: u32) -> Received {
    let newest = Newest { tick, input: low(tick), early_ns: 0 };
    queue.handle(Time::ZERO, newest, (0..history).map(|i| low(tick::before(tick, i + 1))))
}

fn run(queue: &mut InputQueue) -> (u32, Taken) {
    let tick = queue.next_tick();
    (tick, queue.take(tick))
}

/// The input that is a tick's low half.
fn low(tick: u32) -> RawInput {
    RawInput((tick as u16).into())
}

fn real(bits: u16) -> Taken {
    Taken { input: RawInput(bits.into()), source: InputSource::Real }
}

fn repeated(bits: u16) -> Taken {
    Taken { input: RawInput(bits.into()), source: InputSource::Repeated }
}

const RELEASED: Taken = Taken { input: RawInput(0), source: InputSource::Released };

#[test]
fn an_input_is_taken_once_for_its_tick() {
    let mut queue = InputQueue::new(10);
    assert_eq!(receive(&mut queue, 10, 0), Received { new: 1, ..Received::default() });
    assert_eq!(queue.last_ack(), None);
    assert_eq!(queue.take(10), real(10));
    assert_eq!((queue.last_ack(), queue.next_tick()), (Some(10), 11));
    assert_eq!(receive(&mut queue, 10, 0), Received { duplicate: 1, ..Received::default() });
    assert_eq!(queue.take(11), repeated(10));
    assert_eq!(queue.last_ack(), Some(10));
}

#[test]
fn an_early_input_waits_for_its_tick() {
    let mut queue = InputQueue::new(10);
    receive(&mut queue, 12, 0);
    let taken: Vec<_> = (10..=12).map(|tick| queue.take(tick)).collect();
    assert_eq!(taken, [RELEASED, RELEASED, real(12)]);
    assert_eq!(queue.missing(), 0b110);
}

#[test]
fn a_lost_datagram_loses_no_input() {
    let mut queue = InputQueue::new(10);
    receive(&mut queue, 10, 0);
    // 11 and 12 are lost; 13 carries them.
    let received = receive(&mut queue, 13, 3);
    assert_eq!(received, Received { new: 3, duplicate: 1, ..Received::default() });
    let taken: Vec<_> = (10..=13).map(|tick| queue.take(tick)).collect();
    assert_eq!(taken, [10, 11, 12, 13].map(real));
    assert_eq!(queue.missing(), 0);
}

#[test]
fn what_comes_after_its_tick_is_stale_once_and_never_applied() {
    let mut queue = InputQueue::new(10);
    receive(&mut queue, 10, 0);
    assert_eq!((queue.take(10), queue.take(11)), (real(10), repeated(10)));
    assert_eq!(receive(&mut queue, 11, 0).stale, 1);
    let again = receive(&mut queue, 12, 2);
    assert_eq!(again, Received { new: 1, duplicate: 2, ..Received::default() });
    assert_eq!(queue.missing(), 0b1);
    assert_eq!((queue.take(12), queue.last_ack()), (real(12), Some(12)));
}

#[test]
fn a_stale_input_is_not_repeated_either() {
    let mut queue = InputQueue::new(10);
    receive(&mut queue, 10, 0);
    (10..=12).for_each(|tick| {
        queue.take(tick);
    });
    receive(&mut queue, 12, 1);
    assert_eq!(queue.take(13), repeated(10));
    assert_eq!(queue.last_ack(), Some(10));
}

#[test]
fn inputs_are_kept_64_ticks_ahead_and_no_further() {
    let mut queue = InputQueue::new(100);
    assert_eq!(receive(&mut queue, 100 + EARLY_LIMIT, 0).too_early, 1);
    assert_eq!(receive(&mut queue, 100 + EARLY_LIMIT - 1, 63).new, 64);
    for tick in 100..100 + EARLY_LIMIT {
        assert_eq!(queue.take(tick), real(tick as u16));
    }
    assert_eq!(queue.take(100 + EARLY_LIMIT).source, InputSource::Repeated);
}

#[test]
fn the_part_of_a_datagram_that_is_not_too_early_counts() {
    let mut queue = InputQueue::new(100);
    let received = receive(&mut queue, 170, 20);
    assert_eq!((received.too_early, received.new), (7, 14));
}

#[test]
fn a_missing_input_is_repeated_30_ticks_and_then_released() {
    let mut queue = InputQueue::new(1);
    receive(&mut queue, 1, 0);
    assert_eq!(queue.take(1), real(1));
    for _ in 0..REPEAT_LIMIT {
        assert_eq!(run(&mut queue).1, repeated(1));
    }
    assert_eq!(run(&mut queue).1, RELEASED);
    assert_eq!(run(&mut queue).1, RELEASED);
    // The player is back, and may be missed again.
    let next = queue.next_tick();
    receive(&mut queue, next, 0);
    assert_eq!(run(&mut queue).1, real(next as u16));
    assert_eq!(run(&mut queue).1, repeated(next as u16));
}

#[test]
fn before_the_first_input_no_button_is_held() {
    let mut queue = InputQueue::new(5);
    assert_eq!(queue.take(5), RELEASED);
    assert_eq!((queue.missing(), queue.last_ack()), (1, None));
}

#[test]
fn the_last_eight_ticks_are_told_apart() {
    let mut queue = InputQueue::new(1);
    for tick in [2, 3, 5, 8] {
        receive(&mut queue, tick, 0);
    }
    (1..=8).for_each(|tick| {
        queue.take(tick);
    });
    assert_eq!(queue.missing(), 0b1001_0110);
    receive(&mut queue, 9, 0);
    queue.take(9);
    assert_eq!(queue.missing(), 0b0010_1100);
}

#[test]
fn a_gap_is_what_no_datagram_brought() {
    let mut queue = InputQueue::new(10);
    assert_eq!(receive(&mut queue, 12, 0).gap, 0);
    assert_eq!(receive(&mut queue, 16, 1).gap, 2);
    // Late, but in time.
    let late = receive(&mut queue, 14, 0);
    assert_eq!((late.gap, late.new), (0, 1));
    assert_eq!(receive(&mut queue, 17, 5).gap, 0);
}

#[test]
fn numbers_that_no_client_of_ours_sends_cost_nothing() {
    let mut queue = InputQueue::new(1_000);
    let far = |tick| tick::after(1_000, tick);
    // Only what is within reach is kept: 1001 to 1063 of the datagram of 1064.
    for (tick, kept) in [(1 << 31, 0), ((1 << 31) - 1, 0), (64, 63), (1_000_000, 0)] {
        let received = receive(&mut queue, far(tick), 63);
        assert_eq!((received.gap, received.new), (0, kept));
    }
    // A history without an end is cut.
    let newest = Newest { tick: 900, input: RawInput(0), early_ns: 0 };
    let received = queue.handle(Time::ZERO, newest, std::iter::repeat_n(RawInput(1), 1_000));
    assert_eq!(received.stale as usize, MAX_HISTORY + 1);
    assert_eq!(queue.take(1_000), RELEASED);
}

#[test]
fn ticks_wrap_past_0() {
    let mut queue = InputQueue::new(u32::MAX - 1);
    let received = receive(&mut queue, 2, 3);
    assert_eq!((received.new, received.gap), (4, 0));
    let story: Vec<_> = (0..5).map(|_| run(&mut queue)).collect();
    let (last, buttons) = (u32::MAX, u16::MAX);
    let start = [(last - 1, real(buttons - 1)), (last, real(buttons)), (1, real(1)), (2, real(2))];
    assert_eq!(story[..4], start);
    assert_eq!(story[4], (3, repeated(2)));
    assert_eq!(receive(&mut queue, u32::MAX, 0).duplicate, 1);
    assert_eq!(receive(&mut queue, 3, 0).stale, 1);
    assert_eq!(receive(&mut queue, 7, 1).gap, 2);
}

#[test]
fn sixty_four_ticks_across_the_wrap_have_a_place_each() {
    let mut queue = InputQueue::new(u32::MAX - 31);
    assert_eq!(receive(&mut queue, 32, 63).new, 64);
    for _ in 0..EARLY_LIMIT {
        let (tick, taken) = run(&mut queue);
        assert_eq!(taken, real(tick as u16));
    }
}

#[test]
fn a_report_echoes_the_newest_and_tells_the_least_early() {
    let mut queue = InputQueue::new(10);
    assert_eq!(queue.take_report(), None);
    let mut arrive = |ms, tick, early_ns| {
        let newest = Newest { tick, input: RawInput(0), early_ns };
        queue.handle(Time::from_millis(ms), newest, []);
    };
    arrive(100, 14, 5_000);
    arrive(110, 16, 9_000);
    arrive(111, 15, -2_000);
    arrive(112, 13, 7_000);
    let report = Report { echo_tick: 16, arrived: Time::from_millis(110), early_ns: -2_000 };
    assert_eq!(queue.take_report(), Some(report));
    assert_eq!(queue.take_report(), None);
}

#[test]
fn a_datagram_too_early_or_too_late_to_use_is_reported_all_the_same() {
    for (tick, early_ns) in [(1_000, 15_000_000_000), (3, -150_000_000)] {
        let mut queue = InputQueue::new(10);
        queue.handle(Time::ZERO, Newest { tick, input: RawInput(0), early_ns }, []);
        let report = Report { echo_tick: tick, arrived: Time::ZERO, early_ns };
        assert_eq!(queue.take_report(), Some(report));
    }
}

/// The same with whole numbers, a map of everything that came and a set of ticks that were met.
#[derive(Default)]
struct Model {
    next: i64,
    kept: BTreeMap<i64, RawInput>,
    seen: BTreeSet<i64>,
}

impl Model {
    fn handle(&mut self, tick: i64, input: RawInput, received: &mut Received) {
        if tick >= self.next + i64::from(EARLY_LIMIT) {
            received.too_early += 1;
        } else if tick < self.next - i64::from(PAST_LIMIT) {
            received.stale += 1;
        } else if !self.seen.insert(tick) {
            received.duplicate += 1;
        } else if tick < self.next {
            received.stale += 1;
        } else {
            self.kept.insert(tick, input);
            received.new += 1;
        }
    }
}

/// The tick `offset` from `start`, in either direction.
fn number(start: u32, offset: i64) -> u32 {
    match u32::try_from(offset) {
        Ok(offset) => tick::after(start, offset),
        Err(_) => tick::before(start, offset.unsigned_abs() as u32),
    }
}

proptest! {
    #[test]
    fn the_queue_and_a_map_of_everything_agree(
        start in prop_oneof![any::<u32>(), (u32::MAX - 300)..=u32::MAX, 1..300_u32],
        steps in proptest::collection::vec((-80..80_i64, 0..=63_i64, 0..4_u8), 0..200),
    ) {
        let start = start.max(1);
        let mut queue = InputQueue::new(start);
        let mut model = Model::default();
        for (ahead, history, ticks) in steps {
            let newest = model.next + ahead;
            let input = |tick: i64| RawInput(((tick as u16) ^ (history as u16) << 8).into());
            let mut expected = Received::default();
            (0..=history).for_each(|back| {
                model.handle(newest - back, input(newest - back), &mut expected);
            });
            let older: Vec<RawInput> = (1..=history).map(|back| input(newest - back)).collect();
            let record =
                Newest { tick: number(start, newest), input: input(newest), early_ns: 0 };
            let received = queue.handle(Time::ZERO, record, older);
            prop_assert_eq!(Received { gap: 0, ..received }, expected);
            for _ in 0..ticks {
                let taken = queue.take(number(start, model.next));
                let input = model.kept.remove(&model.next);
                prop_assert_eq!(taken.source == InputSource::Real, input.is_some());
                prop_assert!(input.is_none_or(|input| input == taken.input));
                prop_assert_eq!(queue.missing() & 1 == 0, input.is_some());
                model.next += 1;
            }
        }
    }

    #[test]
    fn whatever_is_lost_an_applied_input_is_the_one_that_was_made(
        start in prop_oneof![1..200_u32, (u32::MAX - 200)..=u32::MAX],
        delivered in proptest::collection::vec(any::<bool>(), 1..200),
        lead in 1..10_u32,
    ) {
        let mut pending = Pending::new();
        let mut queue = InputQueue::new(start);
        let (mut tick, mut missed, mut reported) = (start, 0, 0);
        for arrives in delivered {
            let made = tick::after(tick, lead - 1);
            pending.push(Time::ZERO, made, low(made));
            if arrives {
                let mut inputs = pending.iter();
                let newest = inputs.next().unwrap();
                let newest = Newest { tick: newest.tick, input: newest.input, early_ns: 0 };
                let inputs = inputs.map(|pending| pending.input);
                prop_assert_eq!(queue.handle(Time::ZERO, newest, inputs).stale, 0);
            }
            let taken = queue.take(tick);
            match taken.source {
                InputSource::Real => prop_assert_eq!(taken.input, low(tick)),
                // The first inputs are for a later tick than the first: nobody's miss.
                _ if tick::since(tick, start) < lead as i32 - 1 => {}
                _ => missed += 1,
            }
            // Every snapshot arrives.
            pending.acknowledge(tick);
            reported += pending.handle_missing(tick, queue.missing());
            tick = tick::after(tick, 1);
        }
        prop_assert_eq!(reported, missed);
    }
}
