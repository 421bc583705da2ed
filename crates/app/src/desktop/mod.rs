//! The UI in a window: draws a [`View`], reads keyboard, mouse and gamepad, decides nothing.
//!
//! ```text
//! window  -> the window, or why it cannot be opened
//! input   -> keyboard and mouse, as pressed and held keys
//! keys    -> the names of keys
//! pad     -> gamepads
//! pacer   -> when the next frame is due: a menu sleeps, a match is smooth
//! draw    -> draws a view: lists, a match, the overlay
//! effects -> sparks, the ball's trail, screen shake; stars are the background
//! canvas  -> a screen of one size for every window, with text
//! brush   -> shapes as triangles, pure
//! sound   -> sound effects
//! sheet   -> the one texture, painted by code when the window opens
//! ```

pub(crate) mod brush;
mod canvas;
pub(crate) mod colour;
#[cfg(all(test, unix))]
mod cost;
mod draw;
mod effects;
mod input;
mod keys;
mod pacer;
mod pad;
pub(crate) mod sheet;
mod sound;
mod stars;
mod window;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use macroquad::input::KeyCode;
use macroquad::window::next_frame;

use crate::screen::{Held, Key, Page, Program, View};
use canvas::Canvas;
pub(crate) use colour::Paint;
use draw::{Drawing, Spots};
use input::{Input, Pressed};
use pacer::Pacer;
use pad::{Pads, Use};
use sound::Sound;
use window::Extent;

pub(crate) use window::{Unopened, has_display};

/// Shows the program in a window until its player has had enough, someone stops it, or `span` is
/// over.
pub(crate) fn run(program: Program, span: Option<Duration>) -> Result<(), Box<Unopened>> {
    window::open(program, move |program, stopped| async move {
        let until = span.map(|span| Instant::now() + span);
        Face::new(program, stopped, until).play().await;
    })
}

struct Face {
    program: Program,
    /// Set by a signal.
    stopped: Arc<AtomicBool>,
    until: Option<Instant>,
    input: Input,
    pads: Pads,
    pacer: Pacer,
    canvas: Canvas,
    drawing: Drawing,
    sound: Sound,
    /// Where something can be clicked.
    spots: Spots,
    /// Whether a match is played, and there is nothing to choose.
    plays: bool,
}

impl Face {
    fn new(mut program: Program, stopped: Arc<AtomicBool>, until: Option<Instant>) -> Self {
        program.in_window();
        Face {
            program,
            stopped,
            until,
            input: Input::new(),
            pads: Pads::start(),
            plays: false,
            pacer: Pacer::default(),
            canvas: Canvas::new(),
            drawing: Drawing::default(),
            sound: Sound::start(),
            spots: Spots::default(),
        }
    }

    async fn play(mut self) {
        let mut extent = Extent::new(self.program.settings().fullscreen);
        let mut before = Instant::now();
        while !self.program.is_over() {
            // What is pressed goes in before the wait, what is drawn is as it is after it.
            let news = self.read();
            self.pacer.wait(self.program.pace(), news);
            if self.is_stopped() {
                self.program.end();
                break;
            }
            self.program.look();
            let view = self.program.view();
            self.follow(&view);
            self.sound.set_volume(f32::from(self.program.settings().volume) / 100.0);
            if self.sound.is_missing() {
                self.program.in_silent_window();
            }
            while let Some(cue) = self.program.poll_cue() {
                self.sound.play(cue);
            }
            let now = Instant::now();
            let span = now.saturating_duration_since(before);
            before = now;
            self.canvas.begin();
            self.spots = self.drawing.draw(&mut self.canvas, &view, span);
            self.canvas.finish();
            extent.follow(self.program.settings().fullscreen);
            next_frame().await;
        }
    }

    fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
            || macroquad::input::is_quit_requested()
            || self.until.is_some_and(|until| Instant::now() >= until)
    }

    /// Hands on what was pressed. Whether anything was.
    fn read(&mut self) -> bool {
        let (pressed, news) = self.input.read();
        for it in pressed {
            match it {
                Pressed::Code(code) if self.program.awaits_key() => match keys::name(code) {
                    _ if code == KeyCode::Escape => self.program.press(Key::Esc),
                    Some(name) => self.program.bind(name),
                    None => {}
                },
                Pressed::Code(_) => {}
                Pressed::Key(_) if self.program.awaits_key() => {}
                Pressed::Key(key) => self.program.press(key),
                Pressed::Pointed(x, y) => {
                    if let Some(row) = self.spots.row_at(x, y) {
                        self.program.point(row);
                    }
                }
                Pressed::Clicked(x, y) => {
                    if let Some(row) = self.spots.row_at(x, y) {
                        self.program.point(row);
                        self.program.choose();
                    }
                }
                Pressed::Quit => self.program.end(),
            }
        }
        let keys = self.pads.read(if self.plays { Use::Play } else { Use::Menu });
        let news = news || !keys.is_empty();
        keys.into_iter().for_each(|key| self.program.press(key));
        let (board, pads) = (self.input.held(&self.program.settings().keys), self.pads.held());
        self.program.hold(Held { left: board.left | pads.left, right: board.right | pads.right });
        news
    }

    /// The pointer is in the way only where there is nothing to point at.
    fn follow(&mut self, view: &View) {
        self.plays = matches!(&view.page, Page::Arena(arena) if arena.dialog.is_none());
        self.input.show_pointer(!self.plays);
    }
}
