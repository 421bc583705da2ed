//! What players say to the rules beside their buttons: a byte for what, and what belongs to it.
//!
//! ```text
//! 1 ready          0 or 1
//! 2
//! 3 difficulty base_lives late_joining
//! 4 phrase
//! 5
//! ```

use crate::difficulty::Difficulty;

/// Something that a player says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// The player is ready, or is not after all.
    Ready(bool),
    /// The host starts the match; everyone else must be ready.
    Start,
    /// The host sets the match up, before it starts.
    Configure(Setup),
    /// The player says one of [`PHRASES`].
    Chat(u8),
    /// The host ends the match: back to the lobby.
    Restart,
}

/// How a match is set up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setup {
    /// How hard it is.
    pub difficulty: Difficulty,
    /// The lives that everyone starts with, 1 to [`Setup::LIVES_MAX`]; the difficulty adds its own.
    pub base_lives: u8,
    /// Whether who joins later may play at once.
    pub late_joining: bool,
}

impl Setup {
    /// The most lives that a room gives.
    pub const LIVES_MAX: u8 = 6;
}

impl Default for Setup {
    fn default() -> Self {
        Setup { difficulty: Difficulty::Normal, base_lives: 3, late_joining: true }
    }
}

/// What can be said in the quick chat.
pub const PHRASES: [&str; 8] = [
    "Hello!",
    "Ready?",
    "Help me!",
    "Take the power-up.",
    "Watch out!",
    "Nice shot!",
    "Thanks!",
    "Good game.",
];

impl Command {
    /// The longest, in bytes.
    pub const LEN_MAX: usize = 4;

    /// The command that the bytes are, if they are one.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        match *bytes {
            [1, ready] => Some(Command::Ready(flag(ready)?)),
            [2] => Some(Command::Start),
            [3, difficulty, base_lives, late_joining] => Some(Command::Configure(Setup {
                difficulty: *Difficulty::ALL.get(usize::from(difficulty))?,
                base_lives: (1..=Setup::LIVES_MAX).contains(&base_lives).then_some(base_lives)?,
                late_joining: flag(late_joining)?,
            })),
            [4, phrase] => (usize::from(phrase) < PHRASES.len()).then_some(Command::Chat(phrase)),
            [5] => Some(Command::Restart),
            _ => None,
        }
    }

    /// Writes it, and says how many bytes it is.
    pub fn encode(&self, out: &mut [u8; Command::LEN_MAX]) -> usize {
        match *self {
            Command::Ready(ready) => put(out, &[1, u8::from(ready)]),
            Command::Start => put(out, &[2]),
            Command::Configure(Setup { difficulty, base_lives, late_joining }) => {
                put(out, &[3, difficulty as u8, base_lives, u8::from(late_joining)])
            }
            Command::Chat(phrase) => put(out, &[4, phrase]),
            Command::Restart => put(out, &[5]),
        }
    }
}

fn put(out: &mut [u8; Command::LEN_MAX], bytes: &[u8]) -> usize {
    out[..bytes.len()].copy_from_slice(bytes);
    bytes.len()
}

fn flag(byte: u8) -> Option<bool> {
    match byte {
        0 => Some(false),
        1 => Some(true),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_as_specified_and_come_back() {
        let setup = Setup { difficulty: Difficulty::Hard, base_lives: 6, late_joining: true };
        for (command, bytes) in [
            (Command::Ready(true), &[1, 1][..]),
            (Command::Ready(false), &[1, 0]),
            (Command::Start, &[2]),
            (Command::Configure(setup), &[3, 2, 6, 1]),
            (Command::Chat(7), &[4, 7]),
            (Command::Restart, &[5]),
        ] {
            let mut out = [0; Command::LEN_MAX];
            let len = command.encode(&mut out);
            assert_eq!(&out[..len], bytes);
            assert_eq!(Command::decode(bytes), Some(command));
        }
    }

    #[test]
    fn whatever_else_comes_is_no_command() {
        for bytes in [
            &[][..],
            &[0],
            &[1],
            &[1, 2],
            &[1, 1, 1],
            &[2, 0],
            &[3, 3, 3, 1],
            &[3, 0, 0, 1],
            &[3, 0, 7, 1],
            &[3, 0, 3, 2],
            &[3, 0, 3],
            &[4, 8],
            &[5, 5],
            &[6],
            &[255; 255],
        ] {
            assert_eq!(Command::decode(bytes), None, "{bytes:?}");
        }
    }
}
