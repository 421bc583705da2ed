//! Sines and angles in integers.

/// A quarter of the sine's wave has so many parts.
const PARTS: usize = 1024;

/// The sine from 0 to a quarter of a turn, in units of 2^-30.
const QUARTER: &[i32; PARTS + 1] = &quarter();

/// So many halvings find an angle to within 2^-29 of a turn.
const HALVINGS: usize = 30;

/// The angles whose tangents are 1, 1/2, 1/4 and so on, in units of 2^-40 of a turn.
const HALVED: [i64; HALVINGS] = halved();

/// The sine of so many 1/65536 of a turn, in units of 1/16384.
pub(super) const fn sine(turn: u16) -> i32 {
    let along = (turn & 0x3FFF) as usize;
    let from_zero = if turn & 0x4000 == 0 { along } else { 0x4000 - along };
    // Between two entries the wave is straight to within 1/200 of a unit.
    let (index, rest) = (from_zero / 16, (from_zero % 16) as i64);
    let next = if rest == 0 { index } else { index + 1 };
    let (low, high) = (QUARTER[index] as i64, QUARTER[next] as i64);
    let exact = low + (high - low) * rest / 16;
    let rounded = ((exact + (1 << 15)) >> 16) as i32;
    if turn & 0x8000 == 0 { rounded } else { -rounded }
}

/// Where `(x, y)` points, in units of 2^-32 of a turn.
pub(super) const fn angle(x: i32, y: i32) -> u32 {
    // Turned by whole quarters until it lies between x and y.
    let (x, y) = (x as i64, y as i64);
    let (quarters, x, y) = match (x, y) {
        (0, 0) => return 0,
        _ if x > 0 && y >= 0 => (0, x, y),
        _ if x <= 0 && y > 0 => (1, y, -x),
        _ if x < 0 && y <= 0 => (2, -x, -y),
        _ => (3, -y, x),
    };
    (quarters << 30) + within_a_quarter(x, y)
}

/// The same for `x > 0` and `y >= 0` (CORDIC): `(x, y)` is turned towards x by ever smaller known angles, whose
/// sum is the answer.
const fn within_a_quarter(x: i64, y: i64) -> u32 {
    let larger = if x > y { x } else { y };
    // As large as fits: turning makes it longer, by less than 4.
    let up = larger.leading_zeros() - 3;
    let (mut x, mut y, mut sum) = (x << up, y << up, 0);
    let mut i = 0;
    while i < HALVINGS {
        let (dx, dy) = (x >> i, y >> i);
        (x, y, sum) = if y >= 0 {
            (x + dy, y - dx, sum + HALVED[i])
        } else {
            (x - dy, y + dx, sum - HALVED[i])
        };
        i += 1;
    }
    // It may come out a little below 0.
    ((sum + (1 << 7)) >> 8) as u32
}

/// π/2 in units of 2^-62, and the number of turns in a radian in units of 2^-64.
const HALF_PI: i128 = 0x6487_ED51_10B4_611A;
const TURNS: i128 = 0x28BE_60DB_9391_054A;

const fn quarter() -> [i32; PARTS + 1] {
    let mut table = [0; PARTS + 1];
    let mut part = 0;
    while part <= PARTS {
        let x = HALF_PI * part as i128 / PARTS as i128;
        let square = (x * x) >> 62;
        // x - x^3/3! + x^5/5! and so on, until it is nothing.
        let (mut term, mut sum, mut n) = (x, 0, 1);
        while term != 0 {
            sum += term;
            term = -(term * square / (1 << 62)) / ((n + 1) * (n + 2));
            n += 2;
        }
        table[part] = ((sum + (1 << 31)) >> 32) as i32;
        part += 1;
    }
    table
}

const fn halved() -> [i64; HALVINGS] {
    let mut table = [0; HALVINGS];
    // The tangent 1 is an eighth of a turn.
    table[0] = 1 << 37;
    let mut i = 1;
    while i < HALVINGS {
        // t - t^3/3 + t^5/5 and so on, in units of 2^-62, until it is nothing.
        let (mut power, mut sum, mut n) = (1i128 << (62 - i), 0, 1);
        while power != 0 {
            sum += power / n;
            power = -power / (1 << (2 * i));
            n += 2;
        }
        table[i] = ((sum * TURNS + (1 << 85)) >> 86) as i64;
        i += 1;
    }
    table
}

#[cfg(test)]
mod tests {
    use std::f64::consts::TAU;

    use super::*;

    #[test]
    fn sines_are_the_nearest_whole_number_or_next_to_a_half() {
        for turn in 0..=u16::MAX {
            let exact = (f64::from(turn) / 65_536.0 * TAU).sin() * 16_384.0;
            let off = (f64::from(sine(turn)) - exact).abs();
            assert!(off < 0.506, "{turn}: {off}");
        }
        assert_eq!([0, 1 << 14, 1 << 15, 3 << 14].map(sine), [0, 16_384, 0, -16_384]);
    }

    #[test]
    fn known_angles_are_those_of_halved_tangents() {
        for (i, angle) in HALVED.into_iter().enumerate() {
            let exact = 0.5f64.powi(i as i32).atan() / TAU * (1u64 << 40) as f64;
            assert!((angle as f64 - exact).abs() < 0.6, "{i}: {angle} and {exact}");
        }
    }

    /// What every machine must find, WebAssembly included.
    #[test]
    fn angles_and_sines_are_these_to_the_bit() {
        let mut hash = crate::typed::LAYOUT;
        for turn in 0..=u16::MAX {
            hash = crate::typed::layout_number(hash, i64::from(sine(turn)));
            let (x, y) = (i32::from(turn) * 31 - 1_000_000, i32::from(turn) * 17 - 300_000);
            hash = crate::typed::layout_number(hash, i64::from(angle(x, y)));
        }
        assert_eq!(hash, 0xB906_4D8F_693C_883B);
    }
}
