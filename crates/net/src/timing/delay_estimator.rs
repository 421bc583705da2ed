//! How long to wait for what comes late or not at all: the point where a little longer is worth
//! no more.
//!
//! Whatever is waited for is sent again and again, an interval apart: an input in every datagram
//! until it is acknowledged, the course of the world in every snapshot. How late datagrams come
//! is known from the last ones, which share is lost as well; so is the chance that all copies
//! miss a given point. Waiting has its price, a fault has one: the cheapest point is chosen,
//! of those where a copy more comes in time. Two things may push it further: more faults than
//! anyone should see, and copies that come late together, as after a hold, so that none stands in
//! for another.

use super::sliding_window::SlidingWindow;

/// The points looked at: where these shares of datagrams have come, fewer than so many intervals
/// later.
const PUNCTUAL: [f64; 7] = [0.3, 0.5, 0.65, 0.75, 0.8, 0.83, 0.86];
const COPIES: u32 = 8;

/// No further copies count.
const COPIES_COUNTED: u32 = 10;

/// Always waited for in addition: clocks drift, and reports are rounded.
const MARGIN_S: f64 = 0.002;

/// Copies that come late together are waited for unless they are fewer than this: 2 of 128.
const TOGETHER: f64 = 0.985;

/// Fewer faults are allowed by so much for each interval over which most delays scatter.
const DOUBT: f64 = 0.25;

/// So many copies are looked at for that.
const COPIES_TOGETHER: usize = 4;

/// Where faults are looked for after a point, as parts of [`DelayEstimator::after_s`].
const PHASES: [f64; 4] = [0.125, 0.375, 0.625, 0.875];

/// And where a point may lie after a copy, as parts of the same.
const PARTS: [f64; 4] = [0.0, 0.25, 0.5, 0.75];

/// What a clock waits for, and what that may cost.
#[derive(Clone, Copy, Debug)]
pub(super) struct DelayEstimator {
    /// From one copy to the next.
    pub(super) interval_s: f64,
    /// The share of datagrams lost.
    pub(super) lost: f64,
    /// How many faults, as a share, a second of waiting is worth.
    pub(super) price: f64,
    /// No more faults than this share, whatever the price of waiting.
    pub(super) faults: f64,
    /// The share of datagrams that is surely lost, for that.
    pub(super) sure_lost: f64,
    /// What is waited for is needed at some time between the point and so much later.
    pub(super) after_s: f64,
}

impl DelayEstimator {
    /// How late to be if datagrams come as late as these.
    pub(super) fn choose<const N: usize>(&self, late_s: &SlidingWindow<N>) -> Option<f64> {
        let delays = Delays::new(late_s)?;
        let points_s = PUNCTUAL.map(|share| late_s.quantile(share).unwrap_or(delays.last_s));
        // The first copies of most come in time whatever the price: delays that are alike for
        // all copies would otherwise be taken for chance.
        let [.., most_s] = points_s;
        let least_s = most_s + MARGIN_S;
        let mut best_s = least_s;
        let mut best_cost = self.missed(&delays, least_s, self.lost);
        // Where little is lost, waiting until all have come may be cheaper than for a copy more.
        let all_s = delays.last_s + MARGIN_S;
        let cost = (all_s - least_s) * self.price + self.missed(&delays, all_s, self.lost);
        if least_s < delays.last_s && cost < best_cost {
            (best_s, best_cost) = (all_s, cost);
        }
        for copies in 1..COPIES {
            let copies_s = f64::from(copies) * self.interval_s;
            let point_after = |late_s: f64| late_s + copies_s + MARGIN_S;
            let waiting_for = |point_s: f64| (point_s - least_s) * self.price;
            // The points lie in order: what waits too long already is followed by longer waits.
            if waiting_for(point_after(points_s[0])) >= best_cost {
                break;
            }
            for point_s in points_s.into_iter().chain([delays.last_s]).map(point_after) {
                let waiting = waiting_for(point_s);
                if waiting >= best_cost {
                    break;
                }
                if waiting <= 0.0 {
                    continue;
                }
                let cost = waiting + self.missed(&delays, point_s, self.lost);
                if cost < best_cost {
                    (best_s, best_cost) = (point_s, cost);
                }
            }
        }
        let best_s = self.without_faults(&delays, &points_s, best_s);
        Some(best_s.max(self.together(late_s)))
    }

    /// The first point from `least_s` on with no more faults than there may be, at most one copy
    /// further; `least_s` if there is none: on such a link waiting helps nobody.
    fn without_faults<const N: usize>(
        &self,
        delays: &Delays<'_, N>,
        points_s: &[f64],
        least_s: f64,
    ) -> f64 {
        let faults = |point_s: f64| {
            let missed = |part| self.missed(delays, point_s + part * self.after_s, self.sure_lost);
            PHASES.map(missed).iter().sum::<f64>() / PHASES.len() as f64
        };
        // Of delays that scatter, the last ones say less about the next.
        let scatter_s =
            points_s.last().zip(points_s.first()).map_or(0.0, |(last, first)| last - first);
        let allowed = self.faults / (1.0 + DOUBT * scatter_s / self.interval_s);
        if faults(least_s) <= allowed {
            return least_s;
        }
        let last_s = least_s + 1.01 * self.interval_s;
        let mut first_s = f64::INFINITY;
        for copies in 0..COPIES {
            for late_s in points_s {
                let copy_s = late_s + f64::from(copies) * self.interval_s + MARGIN_S;
                // A part of an interval more is enough for a part of what is needed.
                let parts = if self.after_s > 0.0 { &PARTS[..] } else { &PARTS[..1] };
                for part in parts {
                    let point_s = copy_s + part * self.after_s;
                    let is_next = point_s > least_s && point_s < first_s.min(last_s);
                    if is_next && faults(point_s) <= allowed {
                        first_s = point_s;
                    }
                }
            }
        }
        if first_s.is_finite() { first_s } else { least_s }
    }

    /// When nearly all have come, by themselves or with one of the next copies. If every copy is
    /// late by chance, the next one stands in for it; if all were held back, none does.
    fn together<const N: usize>(&self, late_s: &SlidingWindow<N>) -> f64 {
        let (mut last_s, mut first_s) = ([0.0; N], [0.0; N]);
        let len = late_s.len();
        last_s.iter_mut().zip(late_s.iter()).for_each(|(last_s, late_s)| *last_s = late_s);
        for (index, first_s) in first_s[..len].iter_mut().enumerate() {
            let copies = last_s[index..len].iter().take(COPIES_TOGETHER).enumerate();
            let arrivals = copies.map(|(copy, late_s)| late_s + copy as f64 * self.interval_s);
            *first_s = arrivals.fold(f64::INFINITY, f64::min);
        }
        // One that is late alone is a spike, however few there are to compare it with.
        let rank = ((TOGETHER * len as f64) as usize).min(len.saturating_sub(2));
        let (_, at, _) = first_s[..len].select_nth_unstable_by(rank, f64::total_cmp);
        *at
    }

    /// The chance that no copy comes in time, if none influences another and this share is lost.
    fn missed<const N: usize>(&self, delays: &Delays<'_, N>, point_s: f64, lost: f64) -> f64 {
        let mut missed = 1.0;
        let mut point_s = point_s;
        for _ in 0..COPIES_COUNTED {
            let punctual = delays.punctual(point_s);
            if punctual <= 0.0 {
                break;
            }
            missed *= 1.0 - (1.0 - lost) * punctual;
            point_s -= self.interval_s;
        }
        missed
    }
}

/// The last delays, and what they let expect beyond themselves.
struct Delays<'a, const N: usize> {
    late_s: &'a SlidingWindow<N>,
    last_s: f64,
    /// How far apart the latest are: by about so much the next may come later than all.
    spread_s: f64,
}

impl<'a, const N: usize> Delays<'a, N> {
    fn new(late_s: &'a SlidingWindow<N>) -> Option<Self> {
        let last_s = late_s.quantile(1.0)?;
        Some(Delays { late_s, last_s, spread_s: last_s - late_s.quantile(0.9)? })
    }

    /// The share of datagrams that come by this point.
    fn punctual(&self, point_s: f64) -> f64 {
        let beyond_s = point_s - self.last_s;
        if beyond_s >= self.spread_s {
            1.0
        } else if beyond_s >= 0.0 {
            1.0 - (1.0 - beyond_s / self.spread_s) / N as f64
        } else {
            self.late_s.share_within(point_s)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chance::Chance;

    const TICK_S: f64 = 1.0 / 60.0;

    fn uniform(span_s: f64) -> SlidingWindow<128> {
        let mut chance = Chance::new(1, 0);
        let mut window = SlidingWindow::new();
        (0..128).for_each(|_| window.push(chance.unit() * span_s));
        window
    }

    fn reach(lost: f64) -> DelayEstimator {
        let (faults, sure_lost, after_s) = (0.000_7, lost, 0.0);
        DelayEstimator { interval_s: TICK_S, lost, price: 0.08, faults, sure_lost, after_s }
    }

    #[test]
    fn nothing_is_chosen_before_the_first_sample() {
        assert_eq!(reach(0.05).choose(&SlidingWindow::<128>::new()), None);
    }

    #[test]
    fn without_jitter_and_loss_only_the_margin_is_waited() {
        let mut window = SlidingWindow::<128>::new();
        (0..128).for_each(|_| window.push(7.0));
        assert_eq!(reach(0.0).choose(&window), Some(7.0 + MARGIN_S));
    }

    #[test]
    fn without_loss_it_waits_for_all_rather_than_for_a_copy_more() {
        let mut window = SlidingWindow::<128>::new();
        (0..128).for_each(|index| window.push(f64::from(index) / 127.0 * 0.020));
        let chosen_s = DelayEstimator { price: 0.8, ..reach(0.0) }.choose(&window).unwrap();
        assert!((chosen_s - 0.022).abs() < 1e-9, "{chosen_s}");
    }

    #[test]
    fn on_the_reference_link_two_copies_more_come_in_time() {
        let chosen_s = reach(0.05).choose(&uniform(0.020)).unwrap();
        assert!((0.050..0.054).contains(&chosen_s), "{chosen_s}");
        let missed = reach(0.05).missed(&Delays::new(&uniform(0.020)).unwrap(), chosen_s, 0.05);
        assert!(missed < 0.000_5, "{missed}");
    }

    #[test]
    fn the_more_is_lost_the_longer_is_waited_up_to_an_end() {
        let window = uniform(0.020);
        let mut last_s = 0.0;
        for percent in [0, 1, 5, 10, 20, 40, 100] {
            let chosen_s = reach(f64::from(percent) / 100.0).choose(&window).unwrap();
            assert!(chosen_s >= last_s || percent == 100, "{chosen_s} at {percent} %");
            assert!(chosen_s < f64::from(COPIES) * TICK_S + 0.020, "{chosen_s}");
            last_s = chosen_s;
        }
    }

    #[test]
    fn a_price_is_no_excuse_for_more_faults_than_there_may_be() {
        let mut window = SlidingWindow::<128>::new();
        (0..128).for_each(|_| window.push(0.0));
        let tenth = reach(0.1);
        // Three copies miss together once in a thousand: a fourth costs more than it is worth.
        let dear = DelayEstimator { faults: 1.0, ..tenth }.choose(&window).unwrap();
        assert!((dear - (2.0 * TICK_S + MARGIN_S)).abs() < 1e-9, "{dear}");
        let safe = tenth.choose(&window).unwrap();
        assert!((safe - (3.0 * TICK_S + MARGIN_S)).abs() < 1e-9, "{safe}");
    }

    #[test]
    fn a_frame_in_four_more_that_a_third_copy_saves_is_worth_a_quarter_of_an_interval() {
        let mut window = SlidingWindow::<128>::new();
        (0..128).for_each(|_| window.push(0.0));
        let frames =
            |lost| DelayEstimator { price: 0.8, faults: 0.002_5, after_s: TICK_S, ..reach(lost) };
        let intervals = |lost| (frames(lost).choose(&window).unwrap() - MARGIN_S) / TICK_S;
        assert!((intervals(0.049) - 1.0).abs() < 1e-9, "{}", intervals(0.049));
        assert!((intervals(0.052) - 1.25).abs() < 1e-9, "{}", intervals(0.052));
        assert!((intervals(0.062) - 1.5).abs() < 1e-9, "{}", intervals(0.062));
    }

    #[test]
    fn where_few_are_lost_it_waits_until_a_copy_more_of_all_has_come() {
        let mut window = SlidingWindow::<128>::new();
        (0..128).for_each(|index| window.push(f64::from(index) / 127.0 * 0.020));
        let chosen_s = reach(0.02).choose(&window).unwrap();
        assert!((chosen_s - (0.020 + TICK_S + MARGIN_S)).abs() < 1e-9, "{chosen_s}");
    }

    #[test]
    fn what_comes_late_together_is_waited_for_and_what_does_not_is_not() {
        let (mut held, mut alone) = (SlidingWindow::<128>::new(), SlidingWindow::<128>::new());
        for index in 0..128 {
            // Once a second four are held back and come at once, or four are late by themselves.
            held.push(if index % 60 < 4 { 0.06 - f64::from(index % 60) * TICK_S } else { 0.0 });
            alone.push(if index % 15 == 0 { 0.06 } else { 0.0 });
        }
        let chosen = reach(0.0).choose(&held).unwrap();
        assert!((0.055..0.065).contains(&chosen), "{chosen}");
        // Two copies more stand in for one that is late by itself.
        let chosen = reach(0.0).choose(&alone).unwrap();
        assert!(chosen < 2.5 * TICK_S, "{chosen}");
    }

    #[test]
    fn one_spike_in_a_hundred_is_not_waited_for() {
        let mut window = uniform(0.005);
        window.push(0.4);
        assert!(reach(0.0).choose(&window).unwrap() < 0.03);
    }
}
