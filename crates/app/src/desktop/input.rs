//! Keyboard and mouse input, as pressed and held keys.

use std::collections::HashSet;
use std::mem;

use macroquad::input::{self, KeyCode, MouseButton};
use macroquad::miniquad::{EventHandler, KeyMods};

use super::keys;
use crate::screen::{Action, Bindings, Held, Key};

/// Something that was done.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Pressed {
    /// A key of the keyboard, whatever it means; what it means follows.
    Code(KeyCode),
    Key(Key),
    /// The pointer was moved there, in px.
    Pointed(f32, f32),
    /// And something was chosen with it.
    Clicked(f32, f32),
    /// Ctrl-C, Ctrl-Q.
    Quit,
}

pub(super) struct Input {
    subscriber: usize,
    board: Board,
    pointer: bool,
}

impl Input {
    /// There must be a window.
    pub(super) fn new() -> Self {
        let subscriber = input::utils::register_input_subscriber();
        Input { subscriber, board: Board::default(), pointer: true }
    }

    /// What was done since the last call, and whether there was any sign of life.
    pub(super) fn read(&mut self) -> (Vec<Pressed>, bool) {
        input::utils::repeat_all_miniquad_input(&mut self.board, self.subscriber);
        (mem::take(&mut self.board.pressed), mem::take(&mut self.board.news))
    }

    pub(super) fn held(&self, keys: &Bindings) -> Held {
        self.board.held(keys)
    }

    pub(super) fn show_pointer(&mut self, shown: bool) {
        if self.pointer != shown {
            self.pointer = shown;
            input::show_mouse(shown);
        }
    }
}

/// The keyboard and the mouse.
#[derive(Debug, Default)]
struct Board {
    down: HashSet<KeyCode>,
    pressed: Vec<Pressed>,
    news: bool,
}

impl Board {
    fn held(&self, keys: &Bindings) -> Held {
        let is_down = |action: &Action| {
            keys::code(keys.key(*action)).is_some_and(|code| self.down.contains(&code))
        };
        let down = Action::all().into_iter().filter(is_down).map(Action::held);
        down.fold(Held::default(), |all, one| Held {
            left: all.left | one.left,
            right: all.right | one.right,
        })
    }
}

impl EventHandler for Board {
    fn update(&mut self) {}

    fn draw(&mut self) {}

    fn mouse_motion_event(&mut self, x: f32, y: f32) {
        self.news = true;
        self.pressed.push(Pressed::Pointed(x, y));
    }

    fn mouse_wheel_event(&mut self, _: f32, y: f32) {
        self.news = true;
        self.pressed.push(Pressed::Key(if y > 0.0 { Key::Up } else { Key::Down }));
    }

    fn mouse_button_down_event(&mut self, button: MouseButton, x: f32, y: f32) {
        self.news = true;
        if button == MouseButton::Left {
            self.pressed.push(Pressed::Clicked(x, y));
        }
    }

    fn char_event(&mut self, letter: char, mods: KeyMods, _repeat: bool) {
        if !letter.is_control() && !mods.ctrl && !mods.alt {
            self.pressed.push(Pressed::Key(Key::Char(letter)));
        }
    }

    fn key_down_event(&mut self, code: KeyCode, mods: KeyMods, repeat: bool) {
        self.news = true;
        self.down.insert(code);
        if !repeat {
            self.pressed.push(Pressed::Code(code));
        }
        if mods.ctrl && matches!(code, KeyCode::C | KeyCode::Q) {
            self.pressed.push(Pressed::Quit);
            return;
        }
        let key = match code {
            KeyCode::Up => Key::Up,
            KeyCode::Down => Key::Down,
            KeyCode::Left => Key::Left,
            KeyCode::Right => Key::Right,
            KeyCode::Backspace => Key::Backspace,
            KeyCode::Enter | KeyCode::KpEnter if !repeat => Key::Enter,
            KeyCode::Escape if !repeat => Key::Esc,
            KeyCode::F3 if !repeat => Key::Network,
            _ => return,
        };
        self.pressed.push(Pressed::Key(key));
    }

    fn key_up_event(&mut self, code: KeyCode, _: KeyMods) {
        self.news = true;
        self.down.remove(&code);
    }

    fn window_minimized_event(&mut self) {
        // A key released while another window has the focus is never reported.
        self.down.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use backspin::game::Buttons;

    const NO_MODS: KeyMods = KeyMods { shift: false, ctrl: false, alt: false, logo: false };

    #[test]
    fn a_key_is_held_until_it_is_let_go_or_the_window_loses_it() {
        let (mut board, usual) = (Board::default(), Bindings::default());
        board.key_down_event(KeyCode::W, NO_MODS, false);
        board.key_down_event(KeyCode::Down, NO_MODS, false);
        assert_eq!(board.held(&usual), Held { left: Buttons::UP, right: Buttons::DOWN });
        board.key_up_event(KeyCode::W, NO_MODS);
        assert_eq!(board.held(&usual).left, Buttons::default());
        board.window_minimized_event();
        assert_eq!(board.held(&usual), Held::default());
    }

    #[test]
    fn a_letter_is_one_key_and_a_held_enter_chooses_once() {
        let mut board = Board::default();
        board.char_event('w', NO_MODS, false);
        board.key_down_event(KeyCode::W, NO_MODS, false);
        board.char_event('\r', NO_MODS, false);
        board.key_down_event(KeyCode::Enter, NO_MODS, false);
        board.char_event('\r', NO_MODS, true);
        board.key_down_event(KeyCode::Enter, NO_MODS, true);
        let keys = |it: &&Pressed| matches!(it, Pressed::Key(_));
        let pressed: Vec<_> = board.pressed.iter().filter(keys).collect();
        assert_eq!(pressed, [&Pressed::Key(Key::Char('w')), &Pressed::Key(Key::Enter)]);
    }

    #[test]
    fn ctrl_q_ends_it() {
        let mut board = Board::default();
        let ctrl = KeyMods { ctrl: true, ..NO_MODS };
        board.char_event('\u{11}', ctrl, false);
        board.key_down_event(KeyCode::Q, ctrl, false);
        assert_eq!(board.pressed, [Pressed::Code(KeyCode::Q), Pressed::Quit]);
    }
}
