//! How the numbers of ticks count: up to `u32::MAX`, then on from 1. 0 is no tick; on the wire it
//! means "none".
//!
//! Two ticks compare if they lie less than 2^31 apart, a year at 60 Hz.

/// The tick `ticks` after this one.
pub const fn after(tick: u32, ticks: u32) -> u32 {
    let sum = tick.wrapping_add(ticks);
    if sum < tick { sum + 1 } else { sum }
}

/// The tick `ticks` before this one.
pub const fn before(tick: u32, ticks: u32) -> u32 {
    let difference = tick.wrapping_sub(ticks);
    if difference > tick || difference == 0 { difference.wrapping_sub(1) } else { difference }
}

/// How many ticks `tick` lies after `earlier`; negative if it lies before.
pub const fn since(tick: u32, earlier: u32) -> i32 {
    let distance = tick.wrapping_sub(earlier).cast_signed();
    // On the way over the end lies 0, which does not count.
    match tick < earlier {
        true => distance - (distance > 0) as i32,
        false => distance + (distance < 0) as i32,
    }
}

/// Whether `tick` comes after `earlier`. Every tick comes after 0, which is none.
pub const fn is_after(tick: u32, earlier: u32) -> bool {
    earlier == 0 || since(tick, earlier) > 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn after_the_last_tick_comes_the_first_and_never_0() {
        assert_eq!(after(u32::MAX, 1), 1);
        assert_eq!(after(u32::MAX - 1, 1), u32::MAX);
        assert_eq!(after(u32::MAX - 1, 3), 2);
        assert_eq!(before(1, 1), u32::MAX);
        assert_eq!(before(2, 1), 1);
        assert_eq!(before(2, 3), u32::MAX - 1);
        assert_eq!((after(7, 0), before(7, 0)), (7, 7));
    }

    #[test]
    fn distances_agree_with_steps_across_the_wrap() {
        let mut tick = u32::MAX - 5;
        for steps in 1..200 {
            tick = after(tick, 1);
            assert_ne!(tick, 0);
            assert_eq!(tick, after(u32::MAX - 5, steps));
            assert_eq!(before(tick, steps), u32::MAX - 5);
            assert_eq!(since(tick, u32::MAX - 5), steps as i32);
            assert_eq!(since(u32::MAX - 5, tick), -(steps as i32));
            assert!(is_after(tick, u32::MAX - 5) && !is_after(u32::MAX - 5, tick));
        }
    }

    #[test]
    fn every_tick_comes_after_none() {
        for tick in [1, 1 << 31, u32::MAX] {
            assert!(is_after(tick, 0));
            assert!(!is_after(tick, tick));
        }
    }
}
