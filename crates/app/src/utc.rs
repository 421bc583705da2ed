//! Wall clock time as people write it.

use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

/// A moment of Coordinated Universal Time, to the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Utc {
    year: u64,
    month: u64,
    day: u64,
    second_of_day: u64,
}

/// Milliseconds since 1970, now.
pub(crate) fn unix_ms() -> u64 {
    // A clock that is set before 1970 says nothing worth keeping.
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    since.as_millis() as u64
}

impl Utc {
    /// The moment `ms` milliseconds after 1970 began.
    pub(crate) fn from_unix_ms(ms: u64) -> Self {
        let seconds = ms / 1000;
        let (mut day, mut year) = (seconds / 86_400, 1970);
        // The calendar repeats itself every 400 years, which have 146097 days.
        year += day / 146_097 * 400;
        day %= 146_097;
        while day >= days_in(year) {
            day -= days_in(year);
            year += 1;
        }
        let february = if days_in(year) == 366 { 29 } else { 28 };
        let months = [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
        let mut month = 1;
        for days in months {
            if day < days {
                break;
            }
            day -= days;
            month += 1;
        }
        Utc { year, month, day: day + 1, second_of_day: seconds % 86_400 }
    }

    /// Without spaces and colons, for the name of a file.
    pub(crate) fn compact(self) -> String {
        let Utc { year, month, day, .. } = self;
        let [hour, minute, second] = self.clock();
        format!("{year:04}{month:02}{day:02}T{hour:02}{minute:02}{second:02}Z")
    }

    fn clock(self) -> [u64; 3] {
        let second = self.second_of_day;
        [second / 3600, second / 60 % 60, second % 60]
    }
}

impl fmt::Display for Utc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Utc { year, month, day, .. } = self;
        let [hour, minute, second] = self.clock();
        write!(f, "{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02} UTC")
    }
}

fn days_in(year: u64) -> u64 {
    let leaps = year.is_multiple_of(4) && !year.is_multiple_of(100) || year.is_multiple_of(400);
    if leaps { 366 } else { 365 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_and_leap_years_are_counted() {
        for (seconds, text) in [
            (0, "1970-01-01 00:00:00 UTC"),
            (951_782_399, "2000-02-28 23:59:59 UTC"),
            (951_782_400, "2000-02-29 00:00:00 UTC"),
            (978_220_800, "2000-12-31 00:00:00 UTC"),
            (1_700_000_000, "2023-11-14 22:13:20 UTC"),
            (4_107_542_400, "2100-03-01 00:00:00 UTC"),
            (253_402_300_799, "9999-12-31 23:59:59 UTC"),
        ] {
            assert_eq!(Utc::from_unix_ms(seconds * 1000).to_string(), text);
        }
        assert_eq!(Utc::from_unix_ms(1_700_000_000_999).compact(), "20231114T221320Z");
        // Whatever a file says, it has a date.
        assert!(Utc::from_unix_ms(u64::MAX).to_string().ends_with("UTC"));
    }
}
