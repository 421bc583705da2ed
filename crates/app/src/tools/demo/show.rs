//! What the audience gets: the field in a terminal, else a line a second; then the table and the
//! verdict. Programs get an object and nothing else.

use std::io::{self, IsTerminal, Write};

use backspin::sim::{Bar, Report};

use super::course::{Audience, Sight};
use super::screen::{Screen, figures};
use super::{Args, Outcome};
use crate::tools::paint::Paint;
use crate::tools::sim::link::LinkWords;

/// Where what is seen of the match goes to.
pub(super) enum Show {
    /// Nowhere.
    Quiet,
    /// A line a second, and how many there were.
    Lines(u32),
    /// The field, in every second frame, and how many there were.
    Live(Screen, u32),
}

/// It is drawn in one of so many frames: 30 times a second.
const FRAMES_PER_PICTURE: u32 = 2;

impl Show {
    /// A picture where there is a terminal for it, and time to see it.
    pub(super) fn open(args: &Args, link: LinkWords) -> io::Result<Self> {
        if args.json {
            return Ok(Show::Quiet);
        }
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        if io::stdout().is_terminal() && !dumb && !args.fast {
            let title = format!("Backspin: Pong over real UDP, {link}");
            return Ok(Show::Live(Screen::enter(Paint::for_stdout(), title)?, 0));
        }
        let place = match args.fast {
            true => "in the simulator",
            false => "over real UDP on this machine",
        };
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
                match frames.is_multiple_of(FRAMES_PER_PICTURE) {
                    true => screen.draw(sight),
                    false => Ok(()),
                }
            }
        }
    }
}

/// The table and the verdict.
pub(super) fn table(outcome: &Outcome) -> io::Result<()> {
    let paint = Paint::for_stdout();
    let Outcome { seconds, score: [left, right], link, quality, .. } = outcome;
    let agreed = if outcome.agreed { "both sides agree" } else { "the sides do not agree" };
    say(&format!("\nhard {left} : {right} easy after {seconds} s; {agreed}"))?;
    say(&format!("The guest over its link, {link}:\n\n{}", Report::HEADING))?;
    for row in quality.rows(Bar::Reference) {
        say(&paint.line(row.verdict(), &row.to_string()))?;
    }
    match outcome.problems.as_slice() {
        [] => say("\nPASS: points were played, both sides agree, every target is reached"),
        problems => {
            say("\nIt fell short:")?;
            problems.iter().try_for_each(|problem| say(&format!("  {problem}")))?;
            match outcome.fault.is_none() && !outcome.is_simulated {
                true => say(
                    "A busy machine is late where the link is not; \"backspin demo --fast\" plays \
                     the same\nin the simulator, where nothing is.",
                ),
                false => Ok(()),
            }
        }
    }
}

/// One object.
pub(super) fn json(outcome: &Outcome) -> io::Result<()> {
    say(&serde_json::to_string(outcome)?)
}

fn say(text: &str) -> io::Result<()> {
    writeln!(io::stdout(), "{text}")
}
