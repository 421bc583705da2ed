//! Which keys steer. A key is named as the window names it: "W", "Space", "LeftShift".

use std::mem;

use backspin::game::Buttons;
use serde::{Deserialize, Serialize};

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

impl Action {
    pub(crate) const ALL: [Action; 11] = [
        Action::Up,
        Action::Down,
        Action::Left,
        Action::Right,
        Action::Shoot,
        Action::Charge,
        Action::Pod,
        Action::SecondUp,
        Action::SecondDown,
        Action::SecondLeft,
        Action::SecondRight,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Action::Up => "Up",
            Action::Down => "Down",
            Action::Left => "Left",
            Action::Right => "Right",
            Action::Shoot => "Fire",
            Action::Charge => "Charge",
            Action::Pod => "Pod",
            Action::SecondUp => "Up, second hand",
            Action::SecondDown => "Down, second hand",
            Action::SecondLeft => "Left, second hand",
            Action::SecondRight => "Right, second hand",
        }
    }

    /// What is held while its key is.
    pub(crate) fn held(self) -> Held {
        let left = |left| Held { left, ..Held::default() };
        let right = |right| Held { right, ..Held::default() };
        match self {
            Action::Up => left(Buttons::UP),
            Action::Down => left(Buttons::DOWN),
            Action::Left => left(Buttons::LEFT),
            Action::Right => left(Buttons::RIGHT),
            Action::Shoot => left(Buttons::SHOOT),
            Action::Charge => left(Buttons::CHARGE),
            Action::Pod => left(Buttons::SHOOT | Buttons::CHARGE),
            Action::SecondUp => right(Buttons::UP),
            Action::SecondDown => right(Buttons::DOWN),
            Action::SecondLeft => right(Buttons::LEFT),
            Action::SecondRight => right(Buttons::RIGHT),
        }
    }
}

/// Keys that mean something else in a match: pause, leave, chat, the network overlay.
const TAKEN: [&str; 13] =
    ["P", "G", "Enter", "Escape", "F3", "1", "2", "3", "4", "5", "6", "7", "8"];

/// Whether a key can steer.
pub(super) fn is_free(key: &str) -> bool {
    !TAKEN.contains(&key)
}

/// A key for each action.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Bindings {
    up: String,
    down: String,
    left: String,
    right: String,
    shoot: String,
    charge: String,
    pod: String,
    second_up: String,
    second_down: String,
    second_left: String,
    second_right: String,
}

impl Default for Bindings {
    fn default() -> Self {
        Bindings {
            up: "W".into(),
            down: "S".into(),
            left: "A".into(),
            right: "D".into(),
            shoot: "Space".into(),
            charge: "C".into(),
            pod: "V".into(),
            second_up: "Up".into(),
            second_down: "Down".into(),
            second_left: "Left".into(),
            second_right: "Right".into(),
        }
    }
}

impl Bindings {
    /// The key of an action.
    pub(crate) fn key(&self, action: Action) -> &str {
        match action {
            Action::Up => &self.up,
            Action::Down => &self.down,
            Action::Left => &self.left,
            Action::Right => &self.right,
            Action::Shoot => &self.shoot,
            Action::Charge => &self.charge,
            Action::Pod => &self.pod,
            Action::SecondUp => &self.second_up,
            Action::SecondDown => &self.second_down,
            Action::SecondLeft => &self.second_left,
            Action::SecondRight => &self.second_right,
        }
    }

    fn key_mut(&mut self, action: Action) -> &mut String {
        match action {
            Action::Up => &mut self.up,
            Action::Down => &mut self.down,
            Action::Left => &mut self.left,
            Action::Right => &mut self.right,
            Action::Shoot => &mut self.shoot,
            Action::Charge => &mut self.charge,
            Action::Pod => &mut self.pod,
            Action::SecondUp => &mut self.second_up,
            Action::SecondDown => &mut self.second_down,
            Action::SecondLeft => &mut self.second_left,
            Action::SecondRight => &mut self.second_right,
        }
    }

    /// Gives an action another key. Whatever had it takes the one that is free now.
    pub(super) fn bind(&mut self, action: Action, key: &str) {
        let old = mem::replace(self.key_mut(action), key.to_owned());
        let other = Action::ALL.into_iter().find(|it| *it != action && self.key(*it) == key);
        if let Some(other) = other {
            *self.key_mut(other) = old;
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
        let keys = [&self.up, &self.left, &self.down, &self.right];
        let short = keys.iter().all(|key| key.len() == 1);
        keys.map(String::as_str).join(if short { "" } else { "/" })
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
        let mut all = Action::ALL.map(|action| keys.key(action).to_owned());
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
