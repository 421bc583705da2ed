//! A percentage and what it may be, with as much doubt as its question asks for.
//!
//! Of one match the usual 95 % bounds are asked. A map asks thousands of times, and some answers would
//! be wrong by chance: it asks for less doubt, and takes cells together whose law is alike.

use std::ops::AddAssign;

use super::clumps::Clumps;
use super::exact;

/// What a percentage was counted from, and how many percent there may be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Share {
    faults: Clumps,
    chances: u64,
    allowed_pct: f64,
    /// Contacts are seconds of play apart; other faults may come together.
    is_scattered: bool,
}

impl Share {
    pub(super) fn new(faults: Clumps, chances: u64, allowed_pct: f64) -> Self {
        Share { faults, chances, allowed_pct, is_scattered: true }
    }

    /// Of faults that have nothing to do with each other.
    pub(super) fn one_by_one(faults: u64, chances: u64, allowed_pct: f64) -> Self {
        Share { faults: faults.into(), chances, allowed_pct, is_scattered: false }
    }

    /// How many percent there may be. Of several shares, the mean of what each may have.
    pub fn allowed_pct(&self) -> f64 {
        self.allowed_pct
    }

    /// How many percent there are.
    pub fn percent(&self) -> f64 {
        100.0 * self.faults.count() as f64 / self.chances.max(1) as f64
    }

    /// Whether there are surely more than allowed: the doubt is at most `doubt`. Where none is allowed,
    /// one is too many.
    pub fn is_over(&self, doubt: f64) -> bool {
        let (count, of) = self.effective();
        exact::least_pct(count, of, doubt) > self.allowed_pct
    }

    /// Whether there are surely no more than allowed. Where none is allowed, there is none.
    pub fn is_within(&self, doubt: f64) -> bool {
        let (count, of) = self.effective();
        match self.allowed_pct <= 0.0 {
            true => self.faults.count() == 0,
            false => exact::most_pct(count, of, doubt) <= self.allowed_pct,
        }
    }

    /// From how many percent on [`Share::is_over`] would say so in 95 of 100 cases, if so much is counted.
    pub fn noticed_from_pct(&self, doubt: f64) -> f64 {
        let (_, of) = self.effective();
        // The least count that is over.
        let (mut under, mut over) = (0, of as u64 + 1);
        while over - under > 1 {
            let middle = u64::midpoint(under, over);
            match exact::least_pct(middle as f64, of, doubt) > self.allowed_pct {
                true => over = middle,
                false => under = middle,
            }
        }
        exact::seen_from_pct(over as f64, of)
    }

    /// Faults that come together count for fewer, and so do their chances.
    fn effective(&self) -> (f64, f64) {
        let scatter = if self.is_scattered { self.faults.scatter() } else { 1.0 };
        (self.faults.count() as f64 / scatter, self.chances as f64 / scatter)
    }
}

impl AddAssign for Share {
    fn add_assign(&mut self, other: Share) {
        let chances = self.chances + other.chances;
        let allowed = |share: &Share| share.allowed_pct * share.chances as f64;
        self.allowed_pct = (allowed(self) + allowed(&other)) / chances.max(1) as f64;
        self.chances = chances;
        self.faults += other.faults;
        self.is_scattered |= other.is_scattered;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_less_doubt_is_allowed_the_more_must_be_seen() {
        let share = |faults, chances| Share::one_by_one(faults, chances, 1.0);
        assert!(share(0, 368).is_within(0.025) && !share(0, 368).is_within(0.001));
        assert!(share(0, 688).is_within(0.001));
        assert!(share(4, 99).is_over(0.025) && !share(4, 99).is_over(0.001));
        let neither = share(1, 99);
        assert!(!neither.is_over(0.025) && !neither.is_within(0.025));
    }

    #[test]
    fn where_none_is_allowed_one_is_too_many_and_none_is_enough() {
        let share = |faults| Share::new(Clumps::from(faults), 1_800, 0.0);
        assert!(share(1).is_over(1e-6) && !share(1).is_within(0.5));
        assert!(share(0).is_within(1e-6) && !share(0).is_over(0.5));
    }

    #[test]
    fn shares_add_up_and_what_each_may_have_is_weighed_by_its_chances() {
        let mut sum = Share::one_by_one(3, 100, 1.0);
        sum += Share::one_by_one(1, 300, 5.0);
        assert_eq!((sum.percent(), sum.allowed_pct()), (1.0, 4.0));
    }

    #[test]
    fn what_is_noticed_follows_from_what_was_counted() {
        let from = |chances| Share::one_by_one(0, chances, 1.0).noticed_from_pct(0.025);
        // Two of seven are more than 1 %, and come about in 95 of 100 cases from 52 % on.
        assert!((from(7) - 52.1).abs() < 0.1, "{}", from(7));
        assert!(from(70) < 12.0 && from(7_000) < 1.6);
        assert_eq!(from(0), 100.0);
    }
}
