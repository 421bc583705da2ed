//! Which UI shows the program: a window, a terminal, or none.

use std::error::Error;
use std::io::{self, IsTerminal, Write};
use std::time::Duration;

use clap::ValueEnum;

use crate::screen::Program;
use crate::{desktop, terminal};

/// How something is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Ui {
    /// In a window
    Desktop,
    /// In this terminal
    Terminal,
    /// As lines of text or JSON
    None,
}

impl Ui {
    pub(crate) fn name(self) -> &'static str {
        ["desktop", "terminal", "none"][self as usize]
    }

    /// A window where there is a display, else the terminal where a person sits at one.
    pub(crate) fn usual() -> Option<Ui> {
        match () {
            () if desktop::has_display() => Some(Ui::Desktop),
            () if has_terminal() => Some(Ui::Terminal),
            () => None,
        }
    }
}

/// Shows the program until it is over, or for `span`. Where no window can be opened a sentence
/// says so, and a terminal does.
pub(crate) fn show(program: Program, ui: Ui, span: Option<Duration>) -> Result<(), Box<dyn Error>> {
    if ui == Ui::Terminal {
        let none = "--ui terminal needs a terminal for input and output; scripts use --ui none";
        return if has_terminal() { terminal::run(program, span) } else { Err(none.into()) };
    }
    let Err(unopened) = desktop::run(program, span) else { return Ok(()) };
    if !has_terminal() {
        return Err(unopened.sentence.into());
    }
    // If stderr is gone, nobody can be told, but the game can still start.
    let _ = writeln!(io::stderr(), "backspin: {}; using the terminal instead", unopened.sentence);
    terminal::run(unopened.program, span)
}

/// Whether a person sits at a terminal.
fn has_terminal() -> bool {
    io::stdin().is_terminal() && io::stdout().is_terminal()
}
