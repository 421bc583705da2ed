//! The names of keys, as the settings have them.

use macroquad::input::KeyCode;

#[rustfmt::skip]
const NAMES: [(&str, KeyCode); 96] = [
    ("A", KeyCode::A),
    ("B", KeyCode::B),
    ("C", KeyCode::C),
    ("D", KeyCode::D),
    ("E", KeyCode::E),
    ("F", KeyCode::F),
    ("G", KeyCode::G),
    ("H", KeyCode::H),
    ("I", KeyCode::I),
    ("J", KeyCode::J),
    ("K", KeyCode::K),
    ("L", KeyCode::L),
    ("M", KeyCode::M),
    ("N", KeyCode::N),
    ("O", KeyCode::O),
    ("P", KeyCode::P),
    ("Q", KeyCode::Q),
    ("R", KeyCode::R),
    ("S", KeyCode::S),
    ("T", KeyCode::T),
    ("U", KeyCode::U),
    ("V", KeyCode::V),
    ("W", KeyCode::W),
    ("X", KeyCode::X),
    ("Y", KeyCode::Y),
    ("Z", KeyCode::Z),
    ("0", KeyCode::Key0),
    ("1", KeyCode::Key1),
    ("2", KeyCode::Key2),
    ("3", KeyCode::Key3),
    ("4", KeyCode::Key4),
    ("5", KeyCode::Key5),
    ("6", KeyCode::Key6),
    ("7", KeyCode::Key7),
    ("8", KeyCode::Key8),
    ("9", KeyCode::Key9),
    ("Up", KeyCode::Up),
    ("Down", KeyCode::Down),
    ("Left", KeyCode::Left),
    ("Right", KeyCode::Right),
    ("Space", KeyCode::Space),
    ("Enter", KeyCode::Enter),
    ("Escape", KeyCode::Escape),
    ("Tab", KeyCode::Tab),
    ("Backspace", KeyCode::Backspace),
    ("Insert", KeyCode::Insert),
    ("Delete", KeyCode::Delete),
    ("Home", KeyCode::Home),
    ("End", KeyCode::End),
    ("PageUp", KeyCode::PageUp),
    ("PageDown", KeyCode::PageDown),
    ("LeftShift", KeyCode::LeftShift),
    ("RightShift", KeyCode::RightShift),
    ("LeftControl", KeyCode::LeftControl),
    ("RightControl", KeyCode::RightControl),
    ("LeftAlt", KeyCode::LeftAlt),
    ("RightAlt", KeyCode::RightAlt),
    ("Comma", KeyCode::Comma),
    ("Period", KeyCode::Period),
    ("Slash", KeyCode::Slash),
    ("Semicolon", KeyCode::Semicolon),
    ("Apostrophe", KeyCode::Apostrophe),
    ("LeftBracket", KeyCode::LeftBracket),
    ("RightBracket", KeyCode::RightBracket),
    ("Backslash", KeyCode::Backslash),
    ("Minus", KeyCode::Minus),
    ("Equal", KeyCode::Equal),
    ("GraveAccent", KeyCode::GraveAccent),
    ("Kp0", KeyCode::Kp0),
    ("Kp1", KeyCode::Kp1),
    ("Kp2", KeyCode::Kp2),
    ("Kp3", KeyCode::Kp3),
    ("Kp4", KeyCode::Kp4),
    ("Kp5", KeyCode::Kp5),
    ("Kp6", KeyCode::Kp6),
    ("Kp7", KeyCode::Kp7),
    ("Kp8", KeyCode::Kp8),
    ("Kp9", KeyCode::Kp9),
    ("KpAdd", KeyCode::KpAdd),
    ("KpSubtract", KeyCode::KpSubtract),
    ("KpMultiply", KeyCode::KpMultiply),
    ("KpDivide", KeyCode::KpDivide),
    ("KpDecimal", KeyCode::KpDecimal),
    ("KpEnter", KeyCode::KpEnter),
    ("F1", KeyCode::F1),
    ("F2", KeyCode::F2),
    ("F3", KeyCode::F3),
    ("F4", KeyCode::F4),
    ("F5", KeyCode::F5),
    ("F6", KeyCode::F6),
    ("F7", KeyCode::F7),
    ("F8", KeyCode::F8),
    ("F9", KeyCode::F9),
    ("F10", KeyCode::F10),
    ("F11", KeyCode::F11),
    ("F12", KeyCode::F12),
];

/// A key's name; `None` for keys that no keyboard has in common.
pub(super) fn name(code: KeyCode) -> Option<&'static str> {
    NAMES.iter().find(|(_, it)| *it == code).map(|(name, _)| *name)
}

/// The key of this name.
pub(super) fn code(name: &str) -> Option<KeyCode> {
    NAMES.iter().find(|(it, _)| *it == name).map(|(_, code)| *code)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::screen::{Action, Bindings};

    #[test]
    fn names_and_keys_belong_together_and_the_usual_ones_are_known() {
        for (name_of, key) in NAMES {
            assert_eq!((name(key), code(name_of)), (Some(name_of), Some(key)));
        }
        let usual = Bindings::default();
        for action in Action::ALL {
            assert!(code(usual.key(action)).is_some(), "{action:?}");
        }
        assert_eq!(code("Nonsense"), None);
    }
}
