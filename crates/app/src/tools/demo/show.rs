//! The demo's output: the field in a terminal or a line per second, then the verdict and how it felt.
//! Programs get one JSON
//! object.

use std::io::{self, IsTerminal, Write};

use backspin_sim::{Bar, FIGURES, Report, Verdict};

use super::course::{Audience, Sight};
use super::screen::{Screen, figures};
use super::{Args, Outcome};
use crate::tools::paint::Paint;
use crate::tools::sim::link::LinkWords;

/// Where the match is shown.
pub(super) enum Show {
    /// Nowhere.
    Quiet,
    /// A line a second, and how many there were.
    Lines(u32),
    /// The field, in every second frame, and how many there were.
    Live(Screen, u32),
}

/// Draws every this many frames: 30 times a second.
const FRAMES_PER_PICTURE: u32 = 2;

impl Show {
    /// A picture where there is a terminal for it, and time to see it.
    pub(super) fn open(args: &Args, link: LinkWords) -> io::Result<Self> {
        if args.json {
            return Ok(Show::Quiet);
        }
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        if io::stdout().is_terminal() && !dumb && !args.fast {
            return Ok(Show::Live(Screen::enter(format!("real UDP, {link}"))?, 0));
        }
        let place = if args.fast { "in the simulator" } else { "over real UDP on this machine" };
        say(&format!(
            "Pong {place}: a hard bot hosts, an easy one is its guest\nlink: {link}\n\n  time  score"
        ))?;
        Ok(Show::Lines(0))
    }
}

impl Audience for Show {
    fn see(&mut self, sight: &Sight) -> io::Result<()> {
        match self {
            Show::Quiet => Ok(()),
            Show::Lines(told) if *told == sight.seconds => Ok(()),
            Show::Lines(told) => {
                *told = sight.seconds;
                let [left, right] = sight.score;
                say(&format!("{told:>4} s  {left} : {right}   {}", figures(sight)))
            }
            Show::Live(screen, frames) => {
                *frames += 1;
                if frames.is_multiple_of(FRAMES_PER_PICTURE) { screen.draw(sight) } else { Ok(()) }
            }
        }
    }
}

/// The figures that say most about how it felt.
const KEY_FIGURES: [&str; 6] = [
    "own input to own screen, p99",
    "server ticks without a real input",
    "input to acknowledgement, median",
    "drawing delay of others, median",
    "visible jumps",
    "contacts drawn otherwise than judged",
];

/// The verdict first, then what it felt like.
pub(super) fn table(outcome: &Outcome, all: bool) -> io::Result<()> {
    let paint = Paint::for_stdout();
    lines(outcome, all, paint).iter().try_for_each(|line| say(line))
}

/// At most 23 lines of 80 characters, unless all figures are asked for.
fn lines(outcome: &Outcome, all: bool, paint: Paint) -> Vec<String> {
    let Outcome { link, quality, machine, .. } = outcome;
    let mut lines = vec![String::new(), verdict(outcome, paint)];
    if let (Some(own), Some(ack)) = (quality.own_input_ms_p99, quality.ack_ms_p50) {
        lines.push(format!(
            "Your paddle would have answered in {own:.0} ms; without prediction in {ack:.0} ms."
        ));
    }
    lines.push(format!("The guest's side of a link with {link}:"));
    lines.push(Report::HEADING.to_owned());
    let (mut hidden, mut short) = (0, 0);
    for (figure, row) in FIGURES.iter().zip(quality.rows(Bar::reference())) {
        let is_short = row.verdict() == Verdict::Short;
        short += u32::from(is_short);
        match all || is_short || KEY_FIGURES.contains(&figure.what) {
            true => lines.push(paint.line(row.verdict(), &format!("{row:#}"))),
            false => hidden += 1,
        }
    }
    if hidden > 0 {
        lines.push(format!("{hidden} more reach their targets or have none; --all shows them."));
    }
    if machine.is_busy() {
        lines.push(format!(
            "This machine was busy: {} of {} frames late, by up to {} ms; {} ticks lost.",
            machine.late_frames, machine.frames, machine.latest_ms, machine.skipped_ticks
        ));
    }
    if short > 0 && !outcome.is_simulated {
        lines.push(
            "To see the same match without this machine's delays: backspin demo --fast".into(),
        );
    } else {
        lines.push("Next, play it yourself: backspin pong local --versus normal".into());
    }
    lines
}

/// PASS or FAIL, in one line.
fn verdict(outcome: &Outcome, paint: Paint) -> String {
    let Outcome { seconds, score: [left, right], fault, problems, .. } = outcome;
    let short = problems.len() - usize::from(fault.is_some());
    let missed = match short {
        0 => "every target reached".to_owned(),
        1 => "1 figure misses its target".to_owned(),
        _ => format!("{short} figures miss their targets"),
    };
    match fault {
        None => paint.line(
            Verdict::Reached,
            &format!("PASS: {left} : {right} after {seconds} s, both sides agree; {missed}"),
        ),
        Some(fault) => paint.line(Verdict::Short, &format!("FAIL: {fault}; {missed}")),
    }
}

/// One object.
pub(super) fn json(outcome: &Outcome) -> io::Result<()> {
    say(&serde_json::to_string(outcome)?)
}

fn say(text: &str) -> io::Result<()> {
    writeln!(io::stdout(), "{text}")
}

#[cfg(test)]
mod tests {
    use backspin_sim::{Preset, Quality};

    use super::super::course::{Played, Strain};
    use super::*;

    /// Every figure that has a target misses it.
    fn dreadful() -> Quality {
        let much = Some(9_999.0);
        Quality {
            own_input_ms_p99: much,
            ticks_without_input_pct: much,
            lead_ms_p50: much,
            lead_ms_p95: much,
            ack_ms_p50: much,
            ack_ms_p99: much,
            draw_delay_ms_p50: much,
            draw_delay_ms_p95: much,
            starved_frames_pct: much,
            corrections_over_1px_pct: much,
            visible_jump_pct: much,
            contact_disagreement_pct: much,
            contacts: 9_999,
            // Pong has no shots.
            past_target_frames_p99: None,
            past_target_px_p99: None,
            contact_to_burst_ms_p50: None,
            recovery_s: much,
            lead_back_s: much,
            playback_rate_min: Some(0.1),
            playback_rate_max: much,
            clock_error_ms_p99: much,
            entities_mean: much,
            bytes_per_s_down: much,
            bytes_per_s_up: much,
        }
    }

    fn outcome(quality: Quality, strain: Strain, guest_score: [u8; 2]) -> Outcome {
        let args = Args { seconds: 30, fast: false, all: false, json: false };
        let (score, was_stopped) = ([5, 2], false);
        let played = Played { seconds: 28, score, guest_score, quality, strain, was_stopped };
        Outcome::of(&args, &played, &Preset::Reference.config())
    }

    #[test]
    fn the_worst_that_there_is_to_tell_fits_80_by_24_and_no_miss_is_hidden() {
        let strain =
            Strain { frames: 1_680, late_frames: 1_680, latest_ms: 999, skipped_ticks: 99 };
        let outcome = outcome(dreadful(), strain, [5, 2]);
        let lines = lines(&outcome, false, Paint::Plain);
        let missed = outcome.problems.len();
        assert!(missed > 12, "{missed}");
        let marked = lines.iter().filter(|line| line.ends_with("short of it")).count();
        assert_eq!(marked, missed, "{lines:#?}");
        assert!(lines[1].starts_with("PASS: 5 : 2 after 28 s"), "{lines:#?}");
        assert!(lines[1].ends_with(&format!("{missed} figures miss their targets")));
        assert!(lines.len() <= 23, "{lines:#?}");
        assert!(lines.iter().all(|line| line.chars().count() <= 80), "{lines:#?}");
        assert!(lines.iter().any(|line| line.starts_with("This machine was busy: 1680 of 1680")));
    }

    #[test]
    fn sides_that_do_not_agree_fail_whatever_the_figures_say() {
        let outcome = outcome(Quality::default(), Strain::default(), [5, 1]);
        let lines = lines(&outcome, false, Paint::Plain);
        let words = "FAIL: the host counts 5 : 2, but its guest 5 : 1; every target reached";
        assert_eq!(lines[1], words);
        assert!(!outcome.passed);
    }

    #[test]
    fn a_machine_that_kept_up_is_not_mentioned() {
        let strain = Strain { frames: 1_680, late_frames: 10, latest_ms: 9, skipped_ticks: 0 };
        let outcome = outcome(Quality::default(), strain, [5, 2]);
        let lines = lines(&outcome, false, Paint::Plain);
        assert!(!lines.iter().any(|line| line.contains("machine was busy")), "{lines:#?}");
        let busy = Strain { late_frames: 17, ..strain };
        assert!(busy.is_busy() && Strain { skipped_ticks: 1, ..strain }.is_busy());
    }
}
