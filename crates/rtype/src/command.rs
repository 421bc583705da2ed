//! What players say to the rules beside their buttons: a byte for what, and what belongs to it.
//!
//! ```text
//! 1 ready          0 or 1
//! 2
//! 3 difficulty base_lives late_joining
//! 4 phrase
//! 5
//! ```

use backspin::typed::{self, Message};
use backspin::wire::{Malformed, Reader, Writer};

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

impl Message for Command {
    const MAX_LEN: usize = 4;
    const LAYOUT: u64 =
        typed::layout(typed::LAYOUT, b"ready 1, start 2, configure 3, chat 4, restart 5");

    fn encode(&self, w: &mut Writer<'_>) {
        match *self {
            Command::Ready(ready) => w.bytes(&[1, u8::from(ready)]),
            Command::Start => w.u8(2),
            Command::Configure(Setup { difficulty, base_lives, late_joining }) => {
                w.bytes(&[3, difficulty as u8, base_lives, u8::from(late_joining)]);
            }
            Command::Chat(phrase) => w.bytes(&[4, phrase]),
            Command::Restart => w.u8(5),
        }
    }

    fn decode(r: &mut Reader<'_>) -> Result<Self, Malformed> {
        let below = |r: &mut Reader<'_>, field, from: u8, below: usize| match r.u8(field)? {
            byte if byte >= from && usize::from(byte) < below => Ok(byte),
            byte => Err(Malformed::out_of_range(field, byte)),
        };
        Ok(match r.u8("command")? {
            1 => Command::Ready(r.flag("ready")?),
            2 => Command::Start,
            3 => {
                let difficulty = below(r, "difficulty", 0, Difficulty::ALL.len())?;
                Command::Configure(Setup {
                    difficulty: Difficulty::ALL[usize::from(difficulty)],
                    base_lives: below(r, "base_lives", 1, usize::from(Setup::LIVES_MAX) + 1)?,
                    late_joining: r.flag("late_joining")?,
                })
            }
            4 => Command::Chat(below(r, "phrase", 0, PHRASES.len())?),
            5 => Command::Restart,
            other => return Err(Malformed::out_of_range("command", other)),
        })
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
            assert_eq!(command.to_vec(), bytes);
            assert_eq!(Command::read(bytes), Ok(command));
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
            assert!(Command::read(bytes).is_err(), "{bytes:?}");
        }
    }
}
