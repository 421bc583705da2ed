//! Gamepads: their reports, as pressed and held keys. One module per system, with a thread that reports while
//! someone
//! listens.
//!
//! ```text
//! joydev   -> Linux's joystick devices, which need no library
//! library  -> Windows (Windows.Gaming.Input) and macOS (IOKit), by gilrs
//! layout   -> reports of `library` in Linux's numbers, pure
//! ```

#[cfg(not(any(windows, target_os = "macos")))]
mod joydev;
#[cfg(any(windows, target_os = "macos", test))]
mod layout;
#[cfg(any(windows, target_os = "macos"))]
mod library;

use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use backspin::game::Buttons;

use crate::screen::{Held, Key};
#[cfg(not(any(windows, target_os = "macos")))]
use joydev as system;
#[cfg(any(windows, target_os = "macos"))]
use library as system;

/// The most pads; the second one is the second hand.
const MAX_PADS: usize = 4;

/// How often pads are looked for, and whether anyone listens.
const EVERY: Duration = Duration::from_secs(2);

/// A stick is pushed from here on; what is less is a hand that rests on it.
const PUSHED: i16 = 14_000;

/// What a pad reports, with the numbers that Linux gives to buttons and axes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Report {
    Button { number: u8, down: bool },
    Axis { number: u8, value: i16 },
}

/// What came from a pad; nothing more when it was unplugged.
type Word = (usize, Option<Report>);

/// No pad has this number: the message only checks that someone listens.
const ANYONE: Word = (usize::MAX, None);

pub(super) struct Pads {
    words: Receiver<Word>,
    pads: [Pad; MAX_PADS],
}

/// One pad as it is held.
#[derive(Clone, Copy, Debug, Default)]
struct Pad {
    stick: Buttons,
    cross: Buttons,
    buttons: Buttons,
}

/// What a match or a menu makes of a pad's buttons.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    Play,
    Menu,
}

impl Pads {
    pub(super) fn start() -> Self {
        let (sender, words) = mpsc::channel();
        thread::spawn(move || system::watch(&sender));
        Pads { words, pads: Default::default() }
    }

    /// What was pressed since the last call.
    pub(super) fn read(&mut self, used: Use) -> Vec<Key> {
        let mut keys = Vec::new();
        while let Ok((number, report)) = self.words.try_recv() {
            let Some(pad) = self.pads.get_mut(number) else { continue };
            match report {
                Some(report) => keys.extend(pad.take(report, used)),
                None => *pad = Pad::default(),
            }
        }
        keys
    }

    pub(super) fn held(&self) -> Held {
        let [first, second, ..] = &self.pads;
        Held { left: first.held(), right: second.held() }
    }
}

impl Pad {
    fn held(self) -> Buttons {
        self.stick | self.cross | self.buttons
    }

    /// Takes a report; the key that it means, if it is one.
    fn take(&mut self, report: Report, used: Use) -> Option<Key> {
        let before = self.held();
        let key = match report {
            Report::Button { number, down } => self.button(number, down, used),
            Report::Axis { number, value } => {
                self.push(number, value);
                None
            }
        };
        let begun = |button| self.held().contains(button) && !before.contains(button);
        match () {
            () if begun(Buttons::UP) => Some(Key::Up),
            () if begun(Buttons::DOWN) => Some(Key::Down),
            () => key,
        }
    }

    /// The first two axes are the stick, the seventh and eighth the cross.
    fn push(&mut self, number: u8, value: i16) {
        let (held, less, more) = match number {
            0 => (&mut self.stick, Buttons::LEFT, Buttons::RIGHT),
            1 => (&mut self.stick, Buttons::UP, Buttons::DOWN),
            6 => (&mut self.cross, Buttons::LEFT, Buttons::RIGHT),
            7 => (&mut self.cross, Buttons::UP, Buttons::DOWN),
            _ => return,
        };
        held.0 &= !(less | more).0;
        if value <= -PUSHED {
            *held = *held | less;
        } else if value >= PUSHED {
            *held = *held | more;
        }
    }

    /// A, B, X and Y are the first four; then back and start are the seventh and eighth.
    fn button(&mut self, number: u8, down: bool, used: Use) -> Option<Key> {
        let held = match number {
            0 => Buttons::SHOOT,
            1 | 2 => Buttons::CHARGE,
            3 => Buttons::SHOOT | Buttons::CHARGE,
            _ => Buttons::default(),
        };
        self.buttons.0 &= !held.0;
        if down && used == Use::Play {
            self.buttons = self.buttons | held;
        }
        match (number, used) {
            _ if !down => None,
            (0 | 7, Use::Menu) => Some(Key::Enter),
            (1 | 6, Use::Menu) | (6, Use::Play) => Some(Key::Esc),
            (7, Use::Play) => Some(Key::Char('p')),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn axis(number: u8, value: i16) -> Report {
        Report::Axis { number, value }
    }

    const fn button(number: u8, down: bool) -> Report {
        Report::Button { number, down }
    }

    /// What a pad makes of reports.
    pub(super) fn taken(used: Use, reports: &[Report]) -> (Buttons, Vec<Key>) {
        let mut pad = Pad::default();
        let keys = reports.iter().filter_map(|it| pad.take(*it, used)).collect();
        (pad.held(), keys)
    }

    #[test]
    fn a_stick_is_held_from_halfway_on_and_is_a_key_once() {
        let (held, keys) = taken(Use::Menu, &[axis(1, -20_000), axis(1, -32_767), axis(0, 9_000)]);
        assert_eq!((held, keys), (Buttons::UP, vec![Key::Up]));
        let (held, keys) = taken(Use::Play, &[axis(7, 32_767), axis(6, -32_767)]);
        assert_eq!((held, keys), (Buttons::DOWN | Buttons::LEFT, vec![Key::Down]));
        let (held, _) = taken(Use::Play, &[axis(0, 32_767), axis(0, 100)]);
        assert_eq!(held, Buttons::default());
    }

    #[test]
    fn buttons_choose_in_a_menu_and_shoot_in_a_match() {
        let presses = [button(0, true), button(0, false), button(1, true)];
        assert_eq!(taken(Use::Menu, &presses), (Buttons::default(), vec![Key::Enter, Key::Esc]));
        assert_eq!(taken(Use::Play, &presses), (Buttons::CHARGE, vec![]));
        assert_eq!(taken(Use::Play, &[button(7, true)]).1, [Key::Char('p')]);
    }

    #[test]
    fn what_is_unknown_does_not_count() {
        assert_eq!(taken(Use::Play, &[axis(200, i16::MIN), button(200, true)]).0.0, 0);
    }

    #[test]
    fn a_pad_that_is_unplugged_holds_nothing() {
        let (sender, words) = mpsc::channel();
        let mut pads = Pads { words, pads: Default::default() };
        for report in [Some(button(0, true)), Some(axis(1, 32_767)), None] {
            sender.send((1, report)).unwrap();
        }
        sender.send(ANYONE).unwrap();
        assert_eq!(pads.read(Use::Play), [Key::Down]);
        assert_eq!(pads.held(), Held::default());
        sender.send((1, Some(button(0, true)))).unwrap();
        pads.read(Use::Play);
        assert_eq!(pads.held(), Held { left: Buttons::default(), right: Buttons::SHOOT });
    }
}
