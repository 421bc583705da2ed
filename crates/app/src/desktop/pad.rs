//! Gamepads, where the system tells of them as files: Linux's joystick devices, which need no
//! library. Elsewhere there are none.
//!
//! A thread for each pad waits for what it reports; another looks for pads that are plugged in.

use std::fs::File;
use std::io::Read;
use std::path::PathBuf;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::Duration;

use backspin::game::Buttons;

use crate::screen::{Held, Key};

/// So many pads are looked at; the second steers the second hand.
const MAX_PADS: usize = 4;

/// How often pads are looked for.
const EVERY: Duration = Duration::from_secs(2);

/// A stick is pushed from here on; what is less is a hand that rests on it.
const PUSHED: i16 = 14_000;

/// Bytes of a report.
const REPORT_LEN: usize = 8;

/// What a pad reports.
///
/// ```text
/// 0         4       6      7        8
/// | time    | value | kind | number |     little endian on every machine with such a device
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Report {
    Button { number: u8, down: bool },
    Axis { number: u8, value: i16 },
}

impl Report {
    fn decode(bytes: [u8; REPORT_LEN]) -> Option<Self> {
        const BUTTON: u8 = 1;
        const AXIS: u8 = 2;
        /// How it was when the device was opened.
        const FIRST: u8 = 0x80;
        let [_, _, _, _, low, high, kind, number] = bytes;
        let value = i16::from_ne_bytes([low, high]);
        match kind & !FIRST {
            BUTTON => Some(Report::Button { number, down: value != 0 }),
            AXIS => Some(Report::Axis { number, value }),
            _ => None,
        }
    }
}

/// What came from a pad; nothing more when it was unplugged.
type Word = (usize, Option<Report>);

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
        if cfg!(target_os = "linux") {
            let path = |number| PathBuf::from(format!("/dev/input/js{number}"));
            thread::spawn(move || watch(&sender, path));
        }
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

/// Looks for pads for as long as someone listens.
fn watch(words: &Sender<Word>, path: impl Fn(usize) -> PathBuf) {
    let mut readers: [Option<thread::JoinHandle<()>>; MAX_PADS] = Default::default();
    let end = (usize::MAX, None);
    // Nobody has the pad of this number: the word only asks whether anyone listens.
    while words.send(end).is_ok() {
        for (number, reader) in readers.iter_mut().enumerate() {
            reader.take_if(|it| it.is_finished());
            if reader.is_none()
                && let Ok(file) = File::open(path(number))
            {
                let words = words.clone();
                *reader = Some(thread::spawn(move || report(file, number, &words)));
            }
        }
        thread::sleep(EVERY);
    }
}

/// Tells what a pad reports until it is unplugged.
fn report(mut file: impl Read, number: usize, words: &Sender<Word>) {
    let mut bytes = [0; REPORT_LEN];
    while file.read_exact(&mut bytes).is_ok() {
        let Some(report) = Report::decode(bytes) else { continue };
        if words.send((number, Some(report))).is_err() {
            return;
        }
    }
    let _ = words.send((number, None));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(kind: u8, number: u8, value: i16) -> [u8; REPORT_LEN] {
        let [low, high] = value.to_ne_bytes();
        [1, 2, 3, 4, low, high, kind, number]
    }

    /// What a pad makes of reports.
    fn taken(used: Use, reports: &[[u8; REPORT_LEN]]) -> (Buttons, Vec<Key>) {
        let mut pad = Pad::default();
        let keys = reports.iter().filter_map(|it| pad.take(Report::decode(*it)?, used)).collect();
        (pad.held(), keys)
    }

    #[test]
    fn a_stick_is_held_from_halfway_on_and_is_a_key_once() {
        let (held, keys) =
            taken(Use::Menu, &[bytes(2, 1, -20_000), bytes(2, 1, -32_767), bytes(2, 0, 9_000)]);
        assert_eq!((held, keys), (Buttons::UP, vec![Key::Up]));
        let (held, keys) = taken(Use::Play, &[bytes(2, 7, 32_767), bytes(2, 6, -32_767)]);
        assert_eq!((held, keys), (Buttons::DOWN | Buttons::LEFT, vec![Key::Down]));
        let (held, _) = taken(Use::Play, &[bytes(2, 0, 32_767), bytes(2, 0, 100)]);
        assert_eq!(held, Buttons::default());
    }

    #[test]
    fn buttons_choose_in_a_menu_and_shoot_in_a_match() {
        let presses = [bytes(1, 0, 1), bytes(1, 0, 0), bytes(1, 1, 1)];
        assert_eq!(taken(Use::Menu, &presses), (Buttons::default(), vec![Key::Enter, Key::Esc]));
        assert_eq!(taken(Use::Play, &presses), (Buttons::CHARGE, vec![]));
        let start = [bytes(1, 7, 1)];
        assert_eq!(taken(Use::Play, &start).1, [Key::Char('p')]);
    }

    #[test]
    fn how_it_was_at_first_counts_and_what_is_unknown_does_not() {
        assert_eq!(
            Report::decode(bytes(0x81, 3, 1)),
            Some(Report::Button { number: 3, down: true })
        );
        assert_eq!(Report::decode(bytes(4, 3, 1)), None);
        assert_eq!(taken(Use::Play, &[bytes(2, 200, i16::MIN), bytes(1, 200, 1)]).0.0, 0);
    }

    #[test]
    fn a_pad_that_is_unplugged_holds_nothing() {
        let (sender, words) = mpsc::channel();
        let mut pads = Pads { words, pads: Default::default() };
        let mut reports = bytes(1, 0, 1).to_vec();
        reports.extend(bytes(2, 1, 32_767));
        // The last report is cut off.
        reports.extend([0; 3]);
        report(&reports[..16], 1, &sender);
        assert_eq!(pads.read(Use::Play), [Key::Down]);
        assert_eq!(pads.held(), Held::default());
        sender.send((1, Report::decode(bytes(1, 0, 1)))).unwrap();
        pads.read(Use::Play);
        assert_eq!(pads.held(), Held { left: Buttons::default(), right: Buttons::SHOOT });
    }
}
