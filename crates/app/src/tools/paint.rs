//! Colours, where the output is a terminal.

use std::io::{self, IsTerminal};

use backspin_sim::Verdict;

/// Whether to paint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Paint {
    Plain,
    Coloured,
}

impl Paint {
    pub(super) fn for_stdout() -> Paint {
        let unwanted = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        if io::stdout().is_terminal() && !unwanted { Paint::Coloured } else { Paint::Plain }
    }

    /// A line of a table of figures.
    pub(super) fn line(self, verdict: Verdict, line: &str) -> String {
        let colour = match (self, verdict) {
            (Paint::Plain, _) | (_, Verdict::Unjudged | Verdict::Undecided) => {
                return line.to_owned();
            }
            (Paint::Coloured, Verdict::Reached) => 32,
            (Paint::Coloured, Verdict::Short) => 31,
        };
        format!("\x1b[{colour}m{line}\x1b[0m")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_falls_short_is_red_and_what_is_reached_green() {
        let paint = |verdict| Paint::Coloured.line(verdict, "x");
        assert_eq!(paint(Verdict::Short), "\x1b[31mx\x1b[0m");
        assert_eq!(paint(Verdict::Reached), "\x1b[32mx\x1b[0m");
        assert_eq!(paint(Verdict::Unjudged), "x");
        assert_eq!(Paint::Plain.line(Verdict::Short, "x"), "x");
    }
}
