//! `backspin demo`: two bots play Pong over a bad link, and how it felt.
//!
//! ```text
//! guest  -> the player behind the link, observed at every event
//! stage  -> host, guest and link, on real sockets or in the simulator
//! course -> the match from joining to the last score, frame by frame
//! screen -> the field in a terminal
//! show   -> the output for people and programs
//! ```

mod course;
mod guest;
mod screen;
mod show;
mod stage;

use std::error::Error;

use backspin_sim::{Bar, LinkConfig, Preset, Quality, Verdict};
use serde::Serialize;

use crate::serve::stop::Stop;
use crate::tools::sim::link::LinkWords;
use course::{Course, GAME, Played, STOPPED, Strain};
use show::Show;
use stage::Stage;

/// Watch two bots play Pong over a bad link, and see how it felt.
///
/// A hard bot hosts and an easy bot joins, over real UDP on this machine and a link with 100 ms round trip,
/// 20 ms jitter and 5 % loss each way. In a terminal, it draws the field as the guest sees it; otherwise it
/// prints a line per second. At the end it prints PASS or FAIL, how the guest's paddle felt, and the most
/// important figures, measured from outside. The host's own player has no link.
///
/// It passes and exits with 0 if points were played and both sides agree on the score. Figures that miss
/// their targets are always shown and marked, but do not fail the demo: the machine may be busy.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// How long to play, unless someone reaches five points first; the first point takes about five seconds,
    /// so give it at least ten
    #[arg(long, value_name = "S", default_value_t = 30)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=3600))]
    seconds: u32,

    /// Play the same match in the simulator, without waiting
    #[arg(long)]
    fast: bool,

    /// Show every figure, not just the six most important ones and those that miss their targets
    #[arg(long)]
    all: bool,

    /// Print only one JSON object at the end
    #[arg(long)]
    json: bool,
}

/// What was seen, and what it comes to.
#[derive(Serialize)]
struct Outcome {
    game: &'static str,
    /// How long they played.
    seconds: u32,
    link: LinkWords,
    /// The host's.
    score: [u8; 2],
    agreed: bool,
    /// Whether points were played and both sides agree.
    passed: bool,
    /// Why it failed, and which figures miss their targets, in words.
    problems: Vec<String>,
    /// The guest's.
    quality: Quality,
    /// How well this machine kept up.
    machine: Strain,
    /// The problem without which there is no match to speak of.
    #[serde(skip)]
    fault: Option<String>,
    #[serde(skip)]
    is_simulated: bool,
}

/// Runs the command.
pub(crate) fn run(args: &Args) -> Result<(), Box<dyn Error>> {
    let link = Preset::Reference.config();
    let stop = Stop::on_signals()?;
    let stage = if args.fast { Stage::simulated(GAME, link) } else { Stage::real(GAME, link)? };
    let played = {
        let mut show = Show::open(args, LinkWords::of(&link))?;
        Course::new(stage).play(args.seconds, &link, &stop, &mut show)?
    };
    let outcome = Outcome::of(args, &played, &link);
    let has_points = outcome.score != [0, 0];
    if !has_points && played.was_stopped {
        return Err(STOPPED.into());
    }
    match args.json {
        true => show::json(&outcome)?,
        // Without a point there is nothing to show but the sentence.
        false if has_points => show::table(&outcome, args.all)?,
        false => {}
    }
    match outcome.fault {
        None => Ok(()),
        // The table begins with it.
        Some(_) if has_points && !args.json => Err("the two sides disagree".into()),
        Some(fault) => Err(format!("FAIL: {fault}").into()),
    }
}

impl Outcome {
    fn of(args: &Args, played: &Played, link: &LinkConfig) -> Self {
        let Played { seconds, score, guest_score, quality, strain, .. } = *played;
        let agreed = score == guest_score;
        let fault = fault(played);
        let short = quality.rows(Bar::reference()).filter(|row| row.verdict() == Verdict::Short);
        let problems: Vec<_> =
            fault.iter().cloned().chain(short.map(|row| row.summary())).collect();
        Outcome {
            game: "pong",
            seconds,
            link: LinkWords::of(link),
            score,
            agreed,
            passed: fault.is_none(),
            problems,
            quality,
            machine: strain,
            fault,
            is_simulated: args.fast,
        }
    }
}

/// Why it was no match to speak of, if it was none.
fn fault(played: &Played) -> Option<String> {
    let Played { seconds, score, guest_score, .. } = *played;
    let words = |[left, right]: [u8; 2]| format!("{left} : {right}");
    if score != guest_score {
        let (host, guest) = (words(score), words(guest_score));
        Some(format!("the host counts {host}, but its guest {guest}"))
    } else if score == [0, 0] {
        Some(format!("no point was played in {seconds} s; give it ten or more (--seconds 10)"))
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault_of(score: [u8; 2], guest_score: [u8; 2]) -> Option<String> {
        let (quality, strain) = (Quality::default(), Strain::default());
        fault(&Played { seconds: 7, score, guest_score, quality, strain, was_stopped: false })
    }

    #[test]
    fn a_match_needs_a_point_and_two_sides_that_agree() {
        assert_eq!(fault_of([3, 1], [3, 1]), None);
        assert!(fault_of([0, 0], [0, 0]).unwrap().starts_with("no point was played in 7 s"));
        let disagreed = "the host counts 3 : 1, but its guest 2 : 1";
        assert_eq!(fault_of([3, 1], [2, 1]).as_deref(), Some(disagreed));
    }
}
