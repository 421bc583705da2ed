//! Which keys steer. A key has the window's name for it: "W", "Space", "LeftShift".

use std::collections::BTreeMap;
use std::mem;

use backspin::game::Buttons;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Held;

/// Something that is steered with a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    Up,
    Down,
    Left,
    Right,
    Shoot,
    Charge,
    /// Sends the pod away, or calls it back.
    Pod,
    SecondUp,
    SecondDown,
    SecondLeft,
    SecondRight,
}

/// Each action in order: its name in the settings and in the menu, what it holds, and its usual key.
const ACTIONS: [(Action, &str, &str, Held, &str); 11] = [
    (Action::Up, "up", "Up", left(Buttons::UP), "W"),
    (Action::Down, "down", "Down", left(Buttons::DOWN), "S"),
    (Action::Left, "left", "Left", left(Buttons::LEFT), "A"),
    (Action::Right, "right", "Right", left(Buttons::RIGHT), "D"),
    (Action::Shoot, "shoot", "Fire", left(Buttons::SHOOT), "Space"),
    (Action::Charge, "charge", "Charge", left(Buttons::CHARGE), "C"),
    (Action::Pod, "pod", "Pod", left(Buttons(Buttons::SHOOT.0 | Buttons::CHARGE.0)), "V"),
    (Action::SecondUp, "second_up", "Up, second hand", right(Buttons::UP), "Up"),
    (Action::SecondDown, "second_down", "Down, second hand", right(Buttons::DOWN), "Down"),
    (Action::SecondLeft, "second_left", "Left, second hand", right(Buttons::LEFT), "Left"),
    (Action::SecondRight, "second_right", "Right, second hand", right(Buttons::RIGHT), "Right"),
];

const fn left(left: Buttons) -> Held {
    Held { left, right: Buttons(0) }
}

const fn right(right: Buttons) -> Held {
    Held { left: Buttons(0), right }
}

impl Action {
    /// All of them, in the order of the menu.
    pub(crate) fn all() -> [Action; ACTIONS.len()] {
        ACTIONS.map(|(action, ..)| action)
    }

    pub(super) fn name(self) -> &'static str {
        ACTIONS[self as usize].2
    }

    /// What is held while its key is.
    pub(crate) fn held(self) -> Held {
        ACTIONS[self as usize].3
    }
}

/// Keys that mean something else in a match: pause, leave, chat, the network overlay.
const TAKEN: [&str; 14] =
    ["P", "T", "G", "Enter", "Escape", "F3", "1", "2", "3", "4", "5", "6", "7", "8"];

/// Whether a key can steer.
pub(super) fn is_free(key: &str) -> bool {
    !TAKEN.contains(&key)
}

/// A key for each action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Bindings([String; ACTIONS.len()]);

impl Default for Bindings {
    fn default() -> Self {
        Bindings(ACTIONS.map(|(.., usual)| usual.into()))
    }
}

impl Serialize for Bindings {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(ACTIONS.iter().map(|(_, setting, ..)| setting).zip(&self.0))
    }
}

impl<'de> Deserialize<'de> for Bindings {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut keys = BTreeMap::<String, String>::deserialize(deserializer)?;
        let key = |(_, setting, _, _, usual): (_, &str, _, _, &str)| {
            keys.remove(setting).unwrap_or(usual.into())
        };
        Ok(Bindings(ACTIONS.map(key)))
    }
}

impl Bindings {
    /// The key of an action.
    pub(crate) fn key(&self, action: Action) -> &str {
        &self.0[action as usize]
    }

    /// Gives an action another key. Whatever had it takes the one that is free now.
    pub(super) fn bind(&mut self, action: Action, key: &str) {
        let old = mem::replace(&mut self.0[action as usize], key.to_owned());
        let other = Action::all().into_iter().find(|it| *it != action && self.key(*it) == key);
        if let Some(other) = other {
            self.0[other as usize] = old;
        }
    }

    /// Two opposite keys in a hint.
    pub(super) fn pair(&self, one: Action, two: Action) -> String {
        match (self.key(one), self.key(two)) {
            ("Up", "Down") => "arrows".into(),
            (one, two) => format!("{one}/{two}"),
        }
    }

    /// The four keys of the first hand in a hint.
    pub(super) fn four(&self) -> String {
        let keys = [Action::Up, Action::Left, Action::Down, Action::Right].map(|it| self.key(it));
        let short = keys.iter().all(|key| key.len() == 1);
        keys.join(if short { "" } else { "/" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_key_steers_two_things() {
        let mut keys = Bindings::default();
        keys.bind(Action::Shoot, "W");
        assert_eq!((keys.key(Action::Shoot), keys.key(Action::Up)), ("W", "Space"));
        keys.bind(Action::Pod, "LeftShift");
        keys.bind(Action::Pod, "LeftShift");
        let mut all = Action::all().map(|action| keys.key(action).to_owned());
        all.sort();
        assert!(all.windows(2).all(|two| two[0] != two[1]), "{all:?}");
    }

    #[test]
    fn hints_name_the_keys_as_they_are() {
        let mut keys = Bindings::default();
        assert_eq!(keys.four(), "WASD");
        assert_eq!(keys.pair(Action::Up, Action::Down), "W/S");
        assert_eq!(keys.pair(Action::SecondUp, Action::SecondDown), "arrows");
        keys.bind(Action::Up, "Home");
        assert_eq!(keys.four(), "Home/A/S/D");
    }
}
