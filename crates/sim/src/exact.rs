//! Exact confidence bounds of a share (Clopper and Pearson): also right where little was counted,
//! where bounds that take the count for normal call one fault of ten contacts a proof.

/// A bound is missed by the true share in so many cases, on either side: 95 % lie within both.
pub(super) const BEYOND: f64 = 0.025;

/// Between which percentages the true share lies in at least 95 of 100 cases, if `count` of `of` were
/// seen. Both may be fractions: faults that come together count for fewer.
pub(super) fn bounds_pct(count: f64, of: f64) -> (f64, f64) {
    (least_pct(count, of, BEYOND), most_pct(count, of, BEYOND))
}

/// The true share is less in at most so many cases.
pub(super) fn least_pct(count: f64, of: f64, beyond: f64) -> f64 {
    let count = count.clamp(0.0, of.max(0.0));
    if count > 0.0 { 100.0 * quantile(count, of - count + 1.0, beyond) } else { 0.0 }
}

/// The true share is more in at most so many cases.
pub(super) fn most_pct(count: f64, of: f64, beyond: f64) -> f64 {
    let rest = of - count.clamp(0.0, of.max(0.0));
    if rest > 0.0 { 100.0 * quantile(of - rest + 1.0, rest, 1.0 - beyond) } else { 100.0 }
}

/// From which true share on at least `count` of `of` are seen in 95 of 100 cases.
pub(super) fn seen_from_pct(count: f64, of: f64) -> f64 {
    if count > of { 100.0 } else { 100.0 * quantile(count, of - count + 1.0, 0.95) }
}

/// Where the beta distribution reaches this chance.
fn quantile(a: f64, b: f64, chance: f64) -> f64 {
    let (mut least, mut most) = (0.0, 1.0);
    for _ in 0..60 {
        let middle = f64::midpoint(least, most);
        if below(a, b, middle) < chance { least = middle } else { most = middle }
    }
    f64::midpoint(least, most)
}

/// The chance that a beta distributed share is below `x`: the incomplete beta function.
fn below(a: f64, b: f64, x: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return x.clamp(0.0, 1.0);
    }
    let prefactor = ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * x.ln() + b * (-x).ln_1p();
    // The fraction converges fast on this side of the mean only.
    if x < (a + 1.0) / (a + b + 2.0) {
        prefactor.exp() * fraction(a, b, x) / a
    } else {
        1.0 - prefactor.exp() * fraction(b, a, 1.0 - x) / b
    }
}

/// The continued fraction of the incomplete beta function, evaluated from the front.
fn fraction(a: f64, b: f64, x: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let away_from_zero = |value: f64| if value.abs() < TINY { TINY } else { value };
    let mut c = 1.0;
    let mut d = 1.0 / away_from_zero(1.0 - (a + b) * x / (a + 1.0));
    let mut value = d;
    for step in 1..2_000 {
        let m = f64::from(step);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let before = value;
        for term in [even, odd] {
            d = 1.0 / away_from_zero(1.0 + term * d);
            c = away_from_zero(1.0 + term / c);
            value *= c * d;
        }
        if (value - before).abs() <= 1e-12 * value.abs() {
            break;
        }
    }
    value
}

/// The logarithm of the gamma function above 0: shifted up, then Stirling's series.
fn ln_gamma(x: f64) -> f64 {
    let (mut x, mut shift) = (x, 0.0);
    while x < 10.0 {
        shift += x.ln();
        x += 1.0;
    }
    let inverse = 1.0 / x;
    let square = inverse * inverse;
    let series = inverse * (1.0 / 12.0 - square * (1.0 / 360.0 - square / 1_260.0));
    (x - 0.5) * x.ln() - x + 0.5 * (2.0 * std::f64::consts::PI).ln() + series - shift
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_those_of_published_tables() {
        for ((count, of), (least, most)) in [
            ((1.0, 10.0), (0.253, 44.502)),
            ((0.0, 100.0), (0.0, 3.622)),
            ((10.0, 100.0), (4.901, 17.622)),
            ((5.0, 5.0), (47.818, 100.0)),
        ] {
            let bounds = bounds_pct(count, of);
            let is_near = (bounds.0 - least).abs() < 0.002 && (bounds.1 - most).abs() < 0.002;
            assert!(is_near, "{count} of {of}: {bounds:?}");
        }
        assert_eq!(bounds_pct(0.0, 0.0), (0.0, 100.0));
    }

    /// The chance of at most `count` of `of`, term by term.
    fn at_most(count: u32, of: u32, share: f64) -> f64 {
        let mut term = (1.0 - share).powi(of as i32);
        let mut sum = term;
        for k in 0..count {
            term *= f64::from(of - k) / f64::from(k + 1) * share / (1.0 - share);
            sum += term;
        }
        sum
    }

    #[test]
    fn a_share_shows_itself_in_nineteen_of_twenty_cases() {
        for (count, of) in [(1, 10), (2, 50), (12, 400)] {
            let share = seen_from_pct(f64::from(count), f64::from(of)) / 100.0;
            assert!(
                (at_most(count - 1, of, share) - 0.05).abs() < 1e-6,
                "{count} of {of}: {share}"
            );
        }
        assert_eq!(seen_from_pct(3.0, 2.0), 100.0);
    }

    #[test]
    fn at_each_bound_what_was_seen_or_more_extreme_has_a_chance_of_a_fortieth() {
        for (count, of) in [(1, 10), (3, 50), (7, 400), (40, 3_000)] {
            let (least, most) = bounds_pct(f64::from(count), f64::from(of));
            let more = 1.0 - at_most(count - 1, of, least / 100.0);
            let fewer = at_most(count, of, most / 100.0);
            assert!(
                (more - BEYOND).abs() < 1e-6 && (fewer - BEYOND).abs() < 1e-6,
                "{more} {fewer}"
            );
        }
    }
}
