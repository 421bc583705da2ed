//! The terminal's key reports, as pressed and held keys.
//!
//! Most terminals report only presses, and the first repeat comes so late that a time-out would stutter.
//! There, a direction
//! is latched: it is held until the opposite or a stop key is pressed. A terminal that reports releases needs
//! none of that.
//! A ship's directions are latched on each axis, and the opposite stops it first; firing and charging
//! alternate.

use backspin::game::Buttons;
use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use crate::screen::{Controls, Held, Key};

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
    controls: Controls,
    /// How many more looks both buttons are held, for the pod.
    pulse: u8,
    /// Whether keys write, and steer nothing.
    writes: bool,
}

/// The pod needs both buttons for this many looks.
const PULSE: u8 = 6;

const WAYS: Buttons = Buttons(15);

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
        let controls = Controls::Paddle;
        Keys { mode, held: Held::default(), persons: 1, controls, pulse: 0, writes: false }
    }

    /// What is held at this look.
    pub(super) fn held(&mut self) -> Held {
        if self.pulse == 0 {
            return self.held;
        }
        self.pulse -= 1;
        Held { left: self.held.left | Buttons::SHOOT | Buttons::CHARGE, ..self.held }
    }

    /// What a player must know of this keyboard.
    pub(super) fn hint(&self) -> Option<&'static str> {
        match (self.mode, self.controls) {
            (Mode::Released, _) => None,
            (Mode::Latched, Controls::Paddle) => Some("Space: stop"),
            (Mode::Latched, Controls::Ship) => Some("X: stop"),
        }
    }

    /// The number of people who steer from now on.
    pub(super) fn play(&mut self, persons: usize, controls: Controls) {
        (self.persons, self.controls) = (persons, controls);
        self.writes = false;
    }

    /// Keys write from now on: none of them is held.
    pub(super) fn write(&mut self) {
        self.rest();
        self.writes = true;
    }

    /// Clears the latches: what was latched in a menu is not held in the next match.
    pub(super) fn rest(&mut self) {
        (self.held, self.pulse, self.writes) = (Held::default(), 0, false);
    }

    /// Takes a report; says what was pressed.
    pub(super) fn handle(&mut self, event: KeyEvent) -> Option<Press> {
        let KeyEvent { code, modifiers, kind, .. } = event;
        let steers = match self.controls {
            _ if self.writes => None,
            Controls::Paddle => steer_of(code),
            Controls::Ship => {
                self.fly(code, kind);
                None
            }
        };
        if let Some(steer) = steers {
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
            KeyCode::Left => Key::Left,
            KeyCode::Right => Key::Right,
            KeyCode::Enter => Key::Enter,
            KeyCode::Esc => Key::Esc,
            KeyCode::Backspace => Key::Backspace,
            KeyCode::F(3) => Key::Network,
            KeyCode::Char(letter) => Key::Char(letter),
            _ => return None,
        };
        // A key that is held down repeats itself, but only where it moves or writes something.
        let repeats = matches!(
            key,
            Key::Up | Key::Down | Key::Left | Key::Right | Key::Backspace | Key::Char(_)
        );
        (kind == KeyEventKind::Press || repeats).then_some(Press::Key(key))
    }

    /// A ship is steered with all keys, in one hand's buttons.
    fn fly(&mut self, code: KeyCode, kind: KeyEventKind) {
        let is_press = kind != KeyEventKind::Release;
        let held = &mut self.held.left;
        match (fly_of(code), self.mode) {
            (Some(Fly::Stop), Mode::Latched) if is_press => *held = Buttons::default(),
            (Some(Fly::Pod), Mode::Latched) if kind == KeyEventKind::Press => self.pulse = PULSE,
            (Some(Fly::Pod), Mode::Released) => {
                put(held, Buttons::SHOOT | Buttons::CHARGE, is_press)
            }
            (Some(Fly::Button(button)), Mode::Released) => put(held, button, is_press),
            (Some(Fly::Button(button)), Mode::Latched) if is_press => {
                let other = opposite(button);
                // A way that is turned back from is stopped first.
                let stops = WAYS.contains(button) && held.contains(other);
                put(held, other, false);
                put(held, button, !stops);
            }
            _ => {}
        }
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

/// A key of a ship.
#[derive(Clone, Copy)]
enum Fly {
    Button(Buttons),
    /// Shoot and charge together.
    Pod,
    /// Nothing more is held, where keys are latched.
    Stop,
}

fn fly_of(code: KeyCode) -> Option<Fly> {
    Some(match code {
        KeyCode::Char('w' | 'W') | KeyCode::Up => Fly::Button(Buttons::UP),
        KeyCode::Char('s' | 'S') | KeyCode::Down => Fly::Button(Buttons::DOWN),
        KeyCode::Char('a' | 'A') | KeyCode::Left => Fly::Button(Buttons::LEFT),
        KeyCode::Char('d' | 'D') | KeyCode::Right => Fly::Button(Buttons::RIGHT),
        KeyCode::Char(' ') => Fly::Button(Buttons::SHOOT),
        KeyCode::Char('c' | 'C') => Fly::Button(Buttons::CHARGE),
        KeyCode::Char('v' | 'V') => Fly::Pod,
        KeyCode::Char('x' | 'X') => Fly::Stop,
        _ => return None,
    })
}

fn opposite(button: Buttons) -> Buttons {
    match button {
        Buttons::UP => Buttons::DOWN,
        Buttons::DOWN => Buttons::UP,
        Buttons::LEFT => Buttons::RIGHT,
        Buttons::RIGHT => Buttons::LEFT,
        Buttons::SHOOT => Buttons::CHARGE,
        _ => Buttons::SHOOT,
    }
}

fn put(held: &mut Buttons, buttons: Buttons, on: bool) {
    held.0 = if on { held.0 | buttons.0 } else { held.0 & !buttons.0 };
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
    fn keys_that_write_steer_nothing_neither_now_nor_afterwards() {
        for (releases, controls) in [(true, Controls::Paddle), (false, Controls::Ship)] {
            let mut keys = Keys::new(releases);
            keys.play(1, controls);
            press(&mut keys, KeyCode::Char('w'));
            keys.write();
            assert_eq!(keys.held(), Held::default());
            assert_eq!(press(&mut keys, KeyCode::Char('s')), Some(Press::Key(Key::Char('s'))));
            press(&mut keys, KeyCode::Char('v'));
            keys.play(1, controls);
            assert_eq!(keys.held(), Held::default());
            press(&mut keys, KeyCode::Char('s'));
            assert_eq!(keys.held(), held(Buttons::DOWN, NONE));
        }
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
        keys.play(2, Controls::Paddle);
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
    fn a_ship_latches_each_axis_and_the_opposite_stops_it_first() {
        let mut keys = Keys::new(false);
        keys.play(1, Controls::Ship);
        press(&mut keys, KeyCode::Right);
        press(&mut keys, KeyCode::Char('w'));
        press(&mut keys, KeyCode::Char(' '));
        let all = Buttons::RIGHT | Buttons::UP | Buttons::SHOOT;
        assert_eq!(keys.held(), held(all, NONE));
        press(&mut keys, KeyCode::Left);
        assert_eq!(keys.held(), held(Buttons::UP | Buttons::SHOOT, NONE));
        press(&mut keys, KeyCode::Left);
        press(&mut keys, KeyCode::Char('c'));
        assert_eq!(keys.held(), held(Buttons::UP | Buttons::LEFT | Buttons::CHARGE, NONE));
        press(&mut keys, KeyCode::Char('x'));
        assert_eq!(keys.held(), Held::default());
        press(&mut keys, KeyCode::Char('v'));
        let both = held(Buttons::SHOOT | Buttons::CHARGE, NONE);
        assert!((0..PULSE).all(|_| keys.held() == both));
        assert_eq!(keys.held(), Held::default());
        assert_eq!(keys.hint(), Some("X: stop"));
    }

    #[test]
    fn where_releases_are_told_a_ship_fires_for_as_long_as_the_key_is_held() {
        let mut keys = Keys::new(true);
        keys.play(1, Controls::Ship);
        press(&mut keys, KeyCode::Char(' '));
        press(&mut keys, KeyCode::Char('c'));
        assert_eq!(keys.held(), held(Buttons::SHOOT | Buttons::CHARGE, NONE));
        release(&mut keys, KeyCode::Char(' '));
        assert_eq!(keys.held(), held(Buttons::CHARGE, NONE));
        press(&mut keys, KeyCode::Char('x'));
        release(&mut keys, KeyCode::Char('c'));
        assert_eq!((keys.held(), keys.hint()), (Held::default(), None));
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
