//! The UI in a terminal, local or remote: draws a [`View`], reads keys, decides nothing.
//!
//! ```text
//! keys   -> the terminal's key reports, as pressed and held keys
//! draw   -> draws a view; lists, arena and overlay are its parts
//! grid   -> a field in characters, and what any game draws on it
//! field  -> a field between two sides, finer than a character
//! space  -> a field that a crew flies through
//! large  -> letters and digits made of blocks
//! guard  -> restores the terminal, whatever happens
//! line   -> whether the terminal is still there
//! ```

mod draw;
mod field;
pub(crate) mod grid;
mod guard;
mod keys;
mod large;
mod line;
pub(crate) mod space;

use std::error::Error;
use std::io;
use std::time::{Duration, Instant};

use crossterm::event::{self, Event};
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;

use crate::screen::{Page, Program, RedrawRate, View};
pub(crate) use draw::{Paint, view as draw};
use guard::Guard;
use keys::{Keys, Press};
use line::Line;

/// From one picture to the next, where something moves.
const FRAME: Duration = Duration::from_nanos(1_000_000_000 / 60);

/// How often a screen that hardly changes is polled, and signals with it.
const GLANCE: Duration = Duration::from_millis(200);

/// Shows the program until its player has had enough, someone stops it, or `span` is over.
pub(crate) fn run(mut program: Program, span: Option<Duration>) -> Result<(), Box<dyn Error>> {
    let guard = Guard::enter()?;
    let mut face = Face {
        screen: Terminal::new(CrosstermBackend::new(io::stdout()))?,
        keys: Keys::new(guard.releases()),
        shown: None,
    };
    let until = span.map(|span| Instant::now() + span);
    while !program.is_over() {
        if guard.is_stopped() || until.is_some_and(|until| Instant::now() >= until) {
            program.end();
            break;
        }
        let began = Instant::now();
        program.hold(face.keys.held());
        program.look();
        face.show(program.view())?;
        let wait = match program.pace() {
            RedrawRate::Still | RedrawRate::Slow => GLANCE,
            RedrawRate::Smooth => FRAME.saturating_sub(began.elapsed()),
        };
        face.read(&mut program, wait)?;
    }
    Ok(())
}

struct Face {
    screen: Terminal<CrosstermBackend<io::Stdout>>,
    keys: Keys,
    /// What is on the screen; nothing after the size has changed.
    shown: Option<View>,
}

impl Face {
    /// Draws, if there is something new.
    fn show(&mut self, view: View) -> io::Result<()> {
        match &view.page {
            Page::Arena(arena) if arena.dialog.is_none() && arena.typing.is_none() => {
                self.keys.play(arena.persons, arena.controls);
            }
            Page::Arena(arena) if arena.typing.is_some() => self.keys.write(),
            _ => self.keys.rest(),
        }
        if self.shown.as_ref() != Some(&view) {
            let keys = &self.keys;
            self.screen.draw(|frame| draw(frame, &view, keys.hint()))?;
            self.shown = Some(view);
        }
        Ok(())
    }

    /// Waits for keys, and hands on all that have come.
    fn read(&mut self, program: &mut Program, wait: Duration) -> io::Result<()> {
        if line::wait(wait)? == Line::Gone {
            // The terminal is gone, but the other player is told.
            program.end();
            return Ok(());
        }
        while event::poll(Duration::ZERO)? {
            match event::read()? {
                Event::Key(key) => match self.keys.handle(key) {
                    Some(Press::Key(key)) => program.press(key),
                    Some(Press::Quit) => program.end(),
                    None => {}
                },
                Event::Resize(..) => self.shown = None,
                // A key released while another window has the focus is never reported.
                Event::FocusLost => self.keys.rest(),
                _ => {}
            }
        }
        Ok(())
    }
}
