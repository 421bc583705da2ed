//! The names of keys in the settings.

use macroquad::input::KeyCode;

/// The keys with the names of the library's constants.
macro_rules! named {
    ($($key:ident)*) => { [$((stringify!($key), KeyCode::$key)),*] };
}

const KEYS: [(&str, KeyCode); 96] = named! {
    A B C D E F G H I J K L M N O P Q R S T U V W X Y Z Key0 Key1 Key2 Key3 Key4 Key5 Key6 Key7 Key8
    Key9 Up Down Left Right Space Enter Escape Tab Backspace Insert Delete Home End PageUp PageDown
    LeftShift RightShift LeftControl RightControl LeftAlt RightAlt Comma Period Slash Semicolon
    Apostrophe LeftBracket RightBracket Backslash Minus Equal GraveAccent Kp0 Kp1 Kp2 Kp3 Kp4 Kp5
    Kp6 Kp7 Kp8 Kp9 KpAdd KpSubtract KpMultiply KpDivide KpDecimal KpEnter F1 F2 F3 F4 F5 F6 F7 F8
    F9 F10 F11 F12
};

/// A digit is named like itself.
fn short(name: &'static str) -> &'static str {
    name.strip_prefix("Key").unwrap_or(name)
}

/// A key's name; `None` for keys that no keyboard has in common.
pub(super) fn name(code: KeyCode) -> Option<&'static str> {
    KEYS.iter().find(|(_, it)| *it == code).map(|(name, _)| short(name))
}

/// The key of this name.
pub(super) fn code(name: &str) -> Option<KeyCode> {
    KEYS.iter().find(|(it, _)| short(it) == name).map(|(_, code)| *code)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::screen::{Action, Bindings};

    #[test]
    fn names_and_keys_belong_together_and_the_usual_ones_are_known() {
        for (name_of, key) in KEYS {
            assert_eq!((name(key), code(short(name_of))), (Some(short(name_of)), Some(key)));
        }
        let usual = Bindings::default();
        for action in Action::all() {
            assert!(code(usual.key(action)).is_some(), "{action:?}");
        }
        assert_eq!((code("Nonsense"), code("7"), code("Key7")), (None, Some(KeyCode::Key7), None));
    }
}
