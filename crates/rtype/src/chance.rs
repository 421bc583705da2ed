//! Chance, as far as the rules need it: a small generator whose state is the world's own.

/// The state of a splitmix generator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) fn new(seed: u64) -> Self {
        Chance(seed)
    }

    /// A number below `end`, which is not 0.
    pub(crate) fn below(&mut self, end: u32) -> u32 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^= z >> 31;
        (((z >> 32) * u64::from(end)) >> 32) as u32
    }

    /// A number from `least` to `most`, both included.
    pub(crate) fn between(&mut self, least: i32, most: i32) -> i32 {
        least + self.below((most - least + 1) as u32) as i32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_in_the_range_comes_and_none_beyond() {
        let mut chance = Chance::new(7);
        let mut seen = [0; 5];
        for _ in 0..1_000 {
            seen[(chance.between(-2, 2) + 2) as usize] += 1;
        }
        assert!(seen.iter().all(|&count| count > 150), "{seen:?}");
    }

    #[test]
    fn the_same_seed_is_the_same_chance() {
        let draw = |seed| {
            let mut chance = Chance::new(seed);
            [0; 8].map(|_| chance.below(1_000_000))
        };
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1), draw(2));
    }
}
