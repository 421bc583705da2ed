//! What a terminal reports of its keyboard, as keys and as what is held.
//!
//! Most terminals tell only that a key was pressed, and the first repeat comes so late that a
//! time-out would stutter. There a direction is latched: it is held until the opposite is pressed,
//! or a stop key. A terminal that tells releases needs none of that.

use backspin::game::Buttons;
use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use crate::screen::{Held, Key};

/// What was pressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Press {
    Key(Key),
    /// Ctrl-C: in raw mode it is a key like any other.
    Quit,
}

/// The keyboard.
#[derive(Debug)]
pub(super) struct Keys {
    mode: Mode,
    held: Held,
    /// How many persons play at this keyboard: one plays with all of its keys.
    persons: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Released,
    Latched,
}

/// A key that steers.
#[derive(Clone, Copy)]
enum Steer {
    Left(Buttons),
    Right(Buttons),
    /// Nothing more is held, where directions are latched.
    StopLeft,
    StopRight,
    StopBoth,
}

impl Keys {
    pub(super) fn new(releases: bool) -> Self {
        let mode = if releases { Mode::Released } else { Mode::Latched };
        Keys { mode, held: Held::default(), persons: 1 }
    }

    /// What is held.
    pub(super) fn held(&self) -> Held {
        self.held
    }

    /// What a player must know of this keyboard.
    pub(super) fn hint(&self) -> Option<&'static str> {
        (self.mode == Mode::Latched).then_some("Space: stop")
    }

    /// So many persons steer from now on.
    pub(super) fn play(&mut self, persons: usize) {
        self.persons = persons;
    }

    /// Nobody steers: what is latched in a menu is not held in the next match.
    pub(super) fn rest(&mut self) {
        self.held = Held::default();
    }

    /// Takes a report; says what was pressed.
    pub(super) fn handle(&mut self, event: KeyEvent) -> Option<Press> {
        let KeyEvent { code, modifiers, kind, .. } = event;
        if let Some(steer) = steer_of(code) {
            match (self.mode, kind) {
                (Mode::Released, KeyEventKind::Release) => self.let_go(steer),
                (Mode::Released, _) => self.hold(steer),
                (Mode::Latched, KeyEventKind::Release) => {}
                (Mode::Latched, _) => self.latch(steer),
            }
        }
        if kind == KeyEventKind::Release {
            return None;
        }
        if modifiers.contains(KeyModifiers::CONTROL) {
            return matches!(code, KeyCode::Char('c' | 'C')).then_some(Press::Quit);
        }
        let key = match code {
            KeyCode::Up => Key::Up,
            KeyCode::Down => Key::Down,
            KeyCode::Enter => Key::Enter,
            KeyCode::Esc => Key::Esc,
            KeyCode::Backspace => Key::Backspace,
            KeyCode::F(3) => Key::Network,
            KeyCode::Char(letter) => Key::Char(letter),
            _ => return None,
        };
        // A key that is held down repeats itself, but only where it moves or writes something.
        let repeats = matches!(key, Key::Up | Key::Down | Key::Backspace | Key::Char(_));
        (kind == KeyEventKind::Press || repeats).then_some(Press::Key(key))
    }

    fn hold(&mut self, steer: Steer) {
        match steer {
            Steer::Left(button) => self.held.left = self.held.left | button,
            Steer::Right(button) => self.held.right = self.held.right | button,
            _ => {}
        }
    }

    fn let_go(&mut self, steer: Steer) {
        match steer {
            Steer::Left(button) => self.held.left.0 &= !button.0,
            Steer::Right(button) => self.held.right.0 &= !button.0,
            _ => {}
        }
    }

    fn latch(&mut self, steer: Steer) {
        // What one hand of a person presses is in place of what the other did.
        if self.persons < 2 {
            self.held = Held::default();
        }
        match steer {
            Steer::Left(button) => self.held.left = button,
            Steer::Right(button) => self.held.right = button,
            Steer::StopLeft => self.held.left = Buttons::default(),
            Steer::StopRight => self.held.right = Buttons::default(),
            Steer::StopBoth => self.held = Held::default(),
        }
    }
}

fn steer_of(code: KeyCode) -> Option<Steer> {
    Some(match code {
        KeyCode::Char('w' | 'W') => Steer::Left(Buttons::UP),
        KeyCode::Char('s' | 'S') => Steer::Left(Buttons::DOWN),
        KeyCode::Up => Steer::Right(Buttons::UP),
        KeyCode::Down => Steer::Right(Buttons::DOWN),
        KeyCode::Char('a' | 'd' | 'A' | 'D') => Steer::StopLeft,
        KeyCode::Left | KeyCode::Right => Steer::StopRight,
        KeyCode::Char(' ') => Steer::StopBoth,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn press(keys: &mut Keys, code: KeyCode) -> Option<Press> {
        keys.handle(KeyEvent::new(code, KeyModifiers::NONE))
    }

    fn release(keys: &mut Keys, code: KeyCode) -> Option<Press> {
        keys.handle(KeyEvent::new_with_kind(code, KeyModifiers::NONE, KeyEventKind::Release))
    }

    fn held(left: Buttons, right: Buttons) -> Held {
        Held { left, right }
    }

    const NONE: Buttons = Buttons(0);

    #[test]
    fn where_releases_are_told_a_key_is_held_until_it_is_let_go() {
        let mut keys = Keys::new(true);
        assert_eq!(press(&mut keys, KeyCode::Char('w')), Some(Press::Key(Key::Char('w'))));
        press(&mut keys, KeyCode::Down);
        assert_eq!(keys.held(), held(Buttons::UP, Buttons::DOWN));
        assert_eq!(release(&mut keys, KeyCode::Char('w')), None);
        assert_eq!(keys.held(), held(NONE, Buttons::DOWN));
        press(&mut keys, KeyCode::Char(' '));
        assert_eq!(keys.held(), held(NONE, Buttons::DOWN));
        release(&mut keys, KeyCode::Down);
        assert_eq!(keys.held(), Held::default());
        assert_eq!(keys.hint(), None);
    }

    #[test]
    fn without_releases_a_direction_is_latched_until_the_opposite_or_the_stop_key() {
        let mut keys = Keys::new(false);
        press(&mut keys, KeyCode::Char('w'));
        assert_eq!(keys.held(), held(Buttons::UP, NONE));
        press(&mut keys, KeyCode::Char('s'));
        assert_eq!(keys.held(), held(Buttons::DOWN, NONE));
        // The other hand of the same person.
        press(&mut keys, KeyCode::Up);
        assert_eq!(keys.held(), held(NONE, Buttons::UP));
        press(&mut keys, KeyCode::Char(' '));
        assert_eq!(keys.held(), Held::default());
        assert!(keys.hint().is_some());
    }

    #[test]
    fn two_at_one_keyboard_latch_and_stop_each_their_own() {
        let mut keys = Keys::new(false);
        keys.play(2);
        press(&mut keys, KeyCode::Char('w'));
        press(&mut keys, KeyCode::Down);
        assert_eq!(keys.held(), held(Buttons::UP, Buttons::DOWN));
        press(&mut keys, KeyCode::Char('d'));
        assert_eq!(keys.held(), held(NONE, Buttons::DOWN));
        press(&mut keys, KeyCode::Left);
        assert_eq!(keys.held(), Held::default());
        press(&mut keys, KeyCode::Up);
        keys.rest();
        assert_eq!(keys.held(), Held::default());
    }

    #[test]
    fn ctrl_c_ends_the_program_and_a_held_enter_chooses_once() {
        let mut keys = Keys::new(true);
        let ctrl_c = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
        assert_eq!(keys.handle(ctrl_c), Some(Press::Quit));
        let repeat = |code| KeyEvent::new_with_kind(code, KeyModifiers::NONE, KeyEventKind::Repeat);
        assert_eq!(press(&mut keys, KeyCode::Enter), Some(Press::Key(Key::Enter)));
        assert_eq!(keys.handle(repeat(KeyCode::Enter)), None);
        assert_eq!(keys.handle(repeat(KeyCode::Down)), Some(Press::Key(Key::Down)));
    }
}
