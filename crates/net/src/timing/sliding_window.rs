//! The last so many samples, always sorted: quantiles at once, without allocation.

/// The last `N` samples in the order of their coming, and sorted.
#[derive(Clone, Debug)]
pub(super) struct SlidingWindow<const N: usize> {
    ring: [f64; N],
    /// The first `len` are valid, ascending.
    sorted: [f64; N],
    len: usize,
    next: usize,
}

impl<const N: usize> SlidingWindow<N> {
    pub(super) const fn new() -> Self {
        const { assert!(N > 0, "a window holds something") };
        SlidingWindow { ring: [0.0; N], sorted: [0.0; N], len: 0, next: 0 }
    }

    /// Takes a sample, and forgets the oldest if there are `N` already.
    pub(super) fn push(&mut self, sample: f64) {
        let at = self.position(sample);
        if self.len < N {
            self.sorted.copy_within(at..self.len, at + 1);
            self.sorted[at] = sample;
            self.len += 1;
        } else {
            // Only what lies between the old one's place and the new one's moves.
            let gone = self.position(self.ring[self.next]);
            let at = if at > gone {
                self.sorted.copy_within(gone + 1..at, gone);
                at - 1
            } else {
                self.sorted.copy_within(at..gone, at + 1);
                at
            };
            self.sorted[at] = sample;
        }
        self.ring[self.next] = sample;
        self.next = (self.next + 1) % N;
    }

    /// Forgets all but the last `count` samples.
    pub(super) fn keep_last(&mut self, count: usize) {
        if count >= self.len {
            return;
        }
        let mut last = [0.0; N];
        last.iter_mut().zip(self.iter().skip(self.len - count)).for_each(|(to, it)| *to = it);
        *self = SlidingWindow::new();
        last[..count].iter().for_each(|sample| self.push(*sample));
    }

    /// The smallest sample that at least a share `share` of all samples do not exceed: 0 is the
    /// least of all, 1 the greatest. Nothing is known before the first.
    pub(super) fn quantile(&self, share: f64) -> Option<f64> {
        let last = self.len.checked_sub(1)?;
        let rank = (share * self.len as f64).ceil() as usize;
        Some(self.sorted[rank.saturating_sub(1).min(last)])
    }

    /// The samples in the order of their coming.
    pub(super) fn iter(&self) -> impl Iterator<Item = f64> + '_ {
        let oldest = if self.len < N { 0 } else { self.next };
        (0..self.len).map(move |index| self.ring[(oldest + index) % N])
    }

    /// How many samples there are.
    pub(super) const fn len(&self) -> usize {
        self.len
    }

    /// The share of samples that do not exceed `limit`; 0 of none.
    pub(super) fn share_within(&self, limit: f64) -> f64 {
        if limit < self.sorted[0] {
            // Most of what is asked is before all samples or after them.
            return 0.0;
        }
        let within = self.sorted[..self.len].partition_point(|sample| *sample <= limit);
        within as f64 / self.len.max(1) as f64
    }

    /// Where `sample` is among the sorted, or belongs.
    fn position(&self, sample: f64) -> usize {
        self.sorted[..self.len].partition_point(|other| *other < sample)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chance::Chance;

    #[test]
    fn an_empty_window_knows_nothing() {
        assert_eq!(SlidingWindow::<4>::new().quantile(0.5), None);
    }

    #[test]
    fn the_oldest_sample_is_forgotten() {
        let mut window = SlidingWindow::<3>::new();
        for sample in [9.0, 1.0, 5.0, 4.0] {
            window.push(sample);
        }
        assert_eq!(window.quantile(1.0), Some(5.0));
        assert_eq!(window.quantile(0.0), Some(1.0));
        assert_eq!(window.quantile(0.5), Some(4.0));
        assert!(window.iter().eq([1.0, 5.0, 4.0]));
        window.push(7.0);
        assert!(window.iter().eq([5.0, 4.0, 7.0]));
    }

    #[test]
    fn what_is_forgotten_at_once_is_gone_and_the_order_stays() {
        let mut window = SlidingWindow::<4>::new();
        (1..=6).for_each(|sample| window.push(f64::from(sample)));
        window.keep_last(9);
        assert!(window.iter().eq([3.0, 4.0, 5.0, 6.0]));
        window.keep_last(2);
        assert!(window.iter().eq([5.0, 6.0]));
        assert_eq!((window.len(), window.quantile(0.0)), (2, Some(5.0)));
        window.push(1.0);
        assert_eq!(window.quantile(0.0), Some(1.0));
    }

    #[test]
    fn quantiles_are_those_of_a_sorted_copy() {
        let mut chance = Chance::new(1, 0);
        let mut window = SlidingWindow::<50>::new();
        let mut all: Vec<f64> = Vec::new();
        for _ in 0..1_000 {
            // Few different values, so that equal ones meet.
            let sample = chance.below(40) as f64;
            all.push(sample);
            window.push(sample);
            let mut recent = all[all.len().saturating_sub(50)..].to_vec();
            recent.sort_by(f64::total_cmp);
            assert_eq!(window.quantile(0.0), recent.first().copied());
            assert_eq!(window.quantile(1.0), recent.last().copied());
            let third = recent[(recent.len() * 3).div_ceil(10) - 1];
            assert_eq!(window.quantile(0.3), Some(third));
        }
    }
}
