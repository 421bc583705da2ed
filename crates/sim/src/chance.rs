//! The simulator's only source of chance: links, nodes and scenarios above all draw from it.
//!
//! A seed must replay the same run in debug, in release and on any machine. So nothing here
//! calls `ln`, `exp`, `sin` or `powf`: their last bit is the platform's choice, and one
//! differing bit parts two runs for good. Only the operations that IEEE 754 rounds exactly
//! are used (`+`, `-`, `*`, `/`, `sqrt`), and distributions are chosen to need no others.

use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};

/// A seeded sequence of random draws.
///
/// One seed has 2^64 streams that do not influence each other, so that a further draw by one
/// link leaves every other link and node as it was.
#[derive(Clone, Debug)]
pub struct Chance(ChaCha8Rng);

impl Chance {
    /// The beginning of stream number `stream` of `seed`.
    pub fn new(seed: u64, stream: u64) -> Self {
        // The key is spelled out because `seed_from_u64` may change between versions.
        let mut key = [0; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        let mut generator = ChaCha8Rng::from_seed(key);
        generator.set_stream(stream);
        Chance(generator)
    }

    /// Any `u64`, all equally likely.
    pub fn u64(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A whole number from 0 up to but without `limit`, all equally likely.
    ///
    /// # Panics
    /// If `limit` is 0: there is no such number.
    pub fn below(&mut self, limit: u64) -> u64 {
        assert!(limit > 0, "no number lies below 0");
        // The high half of the product always costs one draw, where rejection would cost
        // a varying number; the bias is at most limit / 2^64.
        ((u128::from(self.u64()) * u128::from(limit)) >> 64) as u64
    }

    /// A real number in [0, 1), a multiple of 2^-53.
    pub fn unit(&mut self) -> f64 {
        (self.u64() >> 11) as f64 * UNIT_STEP
    }

    /// Whether something of this probability happens now; 0 never does and costs no draw.
    pub fn happens(&mut self, probability: f64) -> bool {
        probability > 0.0 && self.unit() < probability
    }

    /// A nearly normal number with mean 0 and deviation 1, always within ±6.
    ///
    /// It is the sum of twelve uniform numbers less their mean (Irwin-Hall): additions only.
    pub fn normal(&mut self) -> f64 {
        const LANE: f64 = 65_536.0;
        let mut sum = 0;
        for _ in 0..3 {
            let draw = self.u64();
            sum += (draw & 0xffff) + (draw >> 16 & 0xffff) + (draw >> 32 & 0xffff) + (draw >> 48);
        }
        // Each lane is taken at its middle, half a step up, which centres the sum exactly.
        (sum as f64 + 12.0 * 0.5) / LANE - 6.0
    }

    /// A number >= 0 with mean 1 that is mostly small and rarely huge: half the draws lie
    /// below 0.42, one in a hundred above 9, one in ten thousand above 99.
    ///
    /// Lomax with shape 2 (variance infinite): the chance to exceed `x` is `1 / (1 + x)^2`,
    /// whose inverse needs a square root only.
    pub fn heavy_tailed(&mut self) -> f64 {
        // `unit` may be 0 but never 1, so this share is never 0 and the result is finite.
        let share_above = 1.0 - self.unit();
        1.0 / share_above.sqrt() - 1.0
    }
}

/// 2^-53: the spacing of an `f64` just below 1.
const UNIT_STEP: f64 = 1.0 / (1u64 << 53) as f64;

#[cfg(test)]
mod tests {
    use super::*;

    const DRAWS: u32 = 40_000;

    fn mean(mut draw: impl FnMut() -> f64) -> f64 {
        (0..DRAWS).map(|_| draw()).sum::<f64>() / f64::from(DRAWS)
    }

    #[test]
    fn a_seed_and_stream_always_give_the_same_draws() {
        // Computed apart from this code, from ChaCha's specification.
        let mut chance = Chance::new(7, 3);
        assert_eq!(chance.u64(), 12_228_748_295_295_190_366);
        assert_eq!(chance.below(1_000_000), 504_500);
        assert_eq!(chance.unit(), 0.736_051_825_523_653_7);
        assert_eq!(chance.normal(), -0.159_240_722_656_25);
        assert_eq!(chance.heavy_tailed(), 0.297_414_346_840_311_87);
    }

    #[test]
    fn streams_and_seeds_differ() {
        let first = Chance::new(1, 0).u64();
        assert_ne!(first, Chance::new(1, 1).u64());
        assert_ne!(first, Chance::new(2, 0).u64());
    }

    #[test]
    fn below_reaches_every_number_and_never_the_limit() {
        let mut chance = Chance::new(1, 0);
        let mut seen = [0u32; 6];
        for _ in 0..6_000 {
            seen[chance.below(6) as usize] += 1;
        }
        assert!(seen.iter().all(|&count| (850..1_150).contains(&count)), "{seen:?}");
        assert_eq!(chance.below(1), 0);
    }

    #[test]
    #[should_panic(expected = "no number lies below 0")]
    fn below_nothing_is_a_callers_mistake() {
        Chance::new(1, 0).below(0);
    }

    #[test]
    fn unit_stays_below_one_and_averages_a_half() {
        let mut chance = Chance::new(1, 0);
        let mean = mean(|| {
            let unit = chance.unit();
            assert!((0.0..1.0).contains(&unit));
            unit
        });
        assert!((mean - 0.5).abs() < 0.01, "{mean}");
    }

    #[test]
    fn the_impossible_never_and_the_certain_always_happens() {
        let mut chance = Chance::new(1, 0);
        assert!((0..1_000).all(|_| !chance.happens(0.0)));
        assert!((0..1_000).all(|_| chance.happens(1.0)));
    }

    #[test]
    fn normal_has_mean_zero_and_deviation_one() {
        let mut chance = Chance::new(1, 0);
        let first = mean(|| chance.normal());
        let second = mean(|| chance.normal().powi(2));
        assert!(first.abs() < 0.02 && (second - 1.0).abs() < 0.03, "{first} {second}");
    }

    #[test]
    fn heavy_tails_have_the_stated_quantiles() {
        let mut chance = Chance::new(1, 0);
        let draws: Vec<f64> = (0..DRAWS).map(|_| chance.heavy_tailed()).collect();
        let share =
            |limit: f64| draws.iter().filter(|&&x| x > limit).count() as f64 / f64::from(DRAWS);
        assert!(draws.iter().all(|&x| x >= 0.0 && x.is_finite()));
        assert!((share(2f64.sqrt() - 1.0) - 0.5).abs() < 0.01);
        assert!((share(9.0) - 0.01).abs() < 0.002);
        assert!(share(99.0) < 0.000_5);
    }
}
