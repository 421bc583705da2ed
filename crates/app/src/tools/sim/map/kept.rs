//! The figures of a grid in a file: no cell gets worse without a word.

use std::error::Error;
use std::fs;
use std::path::Path;

use backspin_sim::{Quality, Report};

use super::Cell;

/// A figure that is kept.
struct Kept {
    name: &'static str,
    of: fn(&Quality) -> Option<f64>,
    /// So much more is no worse, however little there was.
    slack: f64,
}

/// A time is worse by more than 3 % or 1 ms, whichever is more; a percentage by more than 3 % or
/// 0.02 points, which is a single frame of a match; contacts by one more.
const FIGURES: [Kept; 9] = [
    Kept { name: "lead_ms", of: |q| q.lead_ms_p50, slack: 1.0 },
    Kept { name: "delay_ms", of: |q| q.draw_delay_ms_p50, slack: 1.0 },
    Kept { name: "ack_ms", of: |q| q.ack_ms_p50, slack: 1.0 },
    Kept { name: "missing_pct", of: |q| q.ticks_without_input_pct, slack: 0.02 },
    Kept { name: "starved_pct", of: |q| q.starved_frames_pct, slack: 0.02 },
    Kept { name: "corrected_pct", of: |q| q.corrections_over_1px_pct, slack: 0.02 },
    Kept { name: "jumps_pct", of: |q| q.visible_jump_pct, slack: 0.02 },
    Kept { name: "contacts_pct", of: |q| q.contact_disagreement_pct, slack: 1.0 },
    Kept { name: "past_frames", of: |q| q.past_target_frames_p99, slack: 0.5 },
];

/// Worse by more than this share is worse.
const WORSE: f64 = 1.03;

/// One line for each cell: its name, and each figure of its first seed.
pub(super) fn lines(cells: &[Cell], reports: &[Vec<Report>]) -> Vec<String> {
    let line = |(cell, reports): (&Cell, &Vec<Report>)| {
        let first = reports.first().map(|report| report.quality).unwrap_or_default();
        let figures = FIGURES.map(|kept| match (kept.of)(&first) {
            Some(value) => format!(" {}={value:.3}", kept.name),
            None => String::new(),
        });
        format!("{cell}{}", figures.concat())
    };
    cells.iter().zip(reports).map(line).collect()
}

/// Holds `lines` against those of a file, or writes them there.
pub(super) fn check(path: &Path, lines: &[String], bless: bool) -> Result<(), Box<dyn Error>> {
    let name = path.display();
    if bless {
        let text = lines.join("\n") + "\n";
        return fs::write(path, text)
            .map_err(|error| format!("{name} cannot be written: {error}").into());
    }
    let text = fs::read_to_string(path).map_err(|error| {
        format!("{name} cannot be read: {error}; --bless or BACKSPIN_BLESS=1 writes it")
    })?;
    let kept: Vec<&str> = text.lines().collect();
    let worse = compare(&kept, lines);
    if worse.is_empty() {
        println!("\nNo cell is worse than in {name}.");
        return Ok(());
    }
    let count = worse.len();
    Err(format!(
        "{count} figures are worse than in {name} (--bless or BACKSPIN_BLESS=1 keeps the new \
         ones):\n  {}",
        worse.join("\n  ")
    )
    .into())
}

/// What is worse than it was, in words. A cell that nobody knew yet is told, too.
fn compare(kept: &[&str], lines: &[String]) -> Vec<String> {
    let mut worse = Vec::new();
    for line in lines {
        let cell = line.split(' ').next().unwrap_or_default();
        let known = kept.iter().find(|known| known.split(' ').next() == Some(cell));
        let Some(known) = known else {
            worse.push(format!("{cell} is not in it"));
            continue;
        };
        for figure in &FIGURES {
            let (was, is) = (value(known, figure.name), value(line, figure.name));
            let Some(is) = is else { continue };
            let was = was.unwrap_or(0.0);
            if is > (was * WORSE).max(was + figure.slack) {
                worse.push(format!("{cell}: {} was {was}, is {is}", figure.name));
            }
        }
    }
    worse
}

fn value(line: &str, name: &str) -> Option<f64> {
    let mut words = line.split(' ').filter_map(|word| word.split_once('='));
    words.find(|(key, _)| *key == name)?.1.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn worse(was: &str, is: &str) -> Vec<String> {
        compare(&[was], &[is.to_owned()])
    }

    #[test]
    fn a_millisecond_or_three_percent_more_is_no_worse_and_more_is() {
        assert!(worse("a lead_ms=10.000", "a lead_ms=11.000").is_empty());
        assert_eq!(worse("a lead_ms=10.000", "a lead_ms=11.001").len(), 1);
        assert!(worse("a lead_ms=200.000", "a lead_ms=206.000").is_empty());
        assert_eq!(
            worse("a lead_ms=200.000", "a lead_ms=206.100"),
            ["a: lead_ms was 200, is 206.1"]
        );
        assert!(worse("a lead_ms=10.000", "a lead_ms=1.000").is_empty());
    }

    #[test]
    fn a_percentage_that_was_nothing_may_be_a_frame_and_no_more() {
        assert!(worse("a jumps_pct=0.000", "a jumps_pct=0.020").is_empty());
        assert_eq!(worse("a jumps_pct=0.000", "a jumps_pct=0.021").len(), 1);
        assert_eq!(worse("a", "a jumps_pct=0.5").len(), 1);
    }

    #[test]
    fn a_cell_that_is_not_kept_is_told() {
        assert_eq!(worse("a lead_ms=1", "b lead_ms=1"), ["b is not in it"]);
    }
}
