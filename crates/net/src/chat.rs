//! Lines that players write to each other: short, few, and shown with care.
//!
//! A line goes to the room as a reliable message of its own kind; the room puts the player's name to it
//! and passes it on to everyone who plays or watches, the writer included. Old dialects have no chat.
//! [`Game::chat`](crate::game::Game::chat) says who may write.

use std::fmt;

use crate::channel::SendError;
use crate::game::PlayerId;
use crate::session::Rate;
use crate::wire::{Name, Reader, Writer, show};

/// How many characters a line has at most.
pub const CHAT_CHARS: usize = 120;

/// How many bytes those have at most.
pub const CHAT_BYTES: usize = 4 * CHAT_CHARS;

/// How often a player may write: a line a second, and four at once.
pub const CHAT_RATE: Rate = Rate { per_second: 1, burst: 4 };

/// What a room lets through: lines that were written within [`CHAT_RATE`] may come together, when the
/// link has held them up.
pub(crate) const ROOM_RATE: Rate = Rate { per_second: 1, burst: 12 };

/// Who may write in a game's rooms. Everyone there may read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChatRule {
    /// Nobody.
    Off,
    /// Who plays.
    Players,
    /// Who plays and who watches.
    Everyone,
}

/// The text of a line: 1 to [`CHAT_CHARS`] characters, none of them a control character.
///
/// `Display` makes visible what would draw nothing or reorder the text around it, as names do.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct ChatText(Box<str>);

impl ChatText {
    /// The text of a line, without the spaces around it.
    pub fn new(text: &str) -> Result<Self, ChatError> {
        let text = text.trim();
        if text.is_empty() {
            return Err(ChatError::Empty);
        }
        // Bytes first: nobody counts the characters of a novel.
        if text.len() > CHAT_BYTES || text.chars().count() > CHAT_CHARS {
            return Err(ChatError::TooLong);
        }
        match text.contains(char::is_control) {
            true => Err(ChatError::Control),
            false => Ok(ChatText(text.into())),
        }
    }

    /// The text of these bytes, if they are one.
    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, ChatError> {
        ChatText::new(std::str::from_utf8(bytes).map_err(|_| ChatError::Control)?)
    }

    /// The text as it was written. Show it to people by `Display` only.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ChatText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        show(self.0.as_bytes(), f)
    }
}

impl fmt::Debug for ChatText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{self}\"")
    }
}

/// A line, and who wrote it. `Display` shows both with care.
///
/// ```text
/// 0        2      18
/// | player | name | text ...
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChatLine {
    /// Who; player 0 is the server itself.
    pub player: PlayerId,
    /// Called, when it was written.
    pub name: Name,
    /// What.
    pub text: ChatText,
}

impl ChatLine {
    /// The longest line on the wire.
    pub(crate) const MAX_LEN: usize = 2 + Name::LEN + CHAT_BYTES;

    /// The line of these bytes, if they are one.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let mut r = Reader::new(bytes);
        let player = PlayerId(r.u16_be("player").ok()?.into());
        let name = Name::decode(&mut r, "name").ok()?;
        Some(ChatLine { player, name, text: ChatText::decode(r.take_rest()).ok()? })
    }

    pub(crate) fn encode<'a>(&self, room: &'a mut [u8; ChatLine::MAX_LEN]) -> &'a [u8] {
        let mut w = Writer::new(room);
        w.u16_be(self.player.0 as u16);
        self.name.encode(&mut w);
        w.bytes(self.text.as_str().as_bytes());
        let len = w.written();
        &room[..len]
    }
}

impl fmt::Display for ChatLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.player, self.name.is_empty()) {
            (PlayerId(0), _) => write!(f, "{}", self.text),
            (player, true) => write!(f, "{player}: {}", self.text),
            (_, false) => write!(f, "{}: {}", self.name, self.text),
        }
    }
}

/// Why a line was not written. `Display` says so in a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChatError {
    /// It says nothing.
    Empty,
    /// It has more than [`CHAT_CHARS`] characters.
    TooLong,
    /// It has control characters, or is no text.
    Control,
    /// It is over [`CHAT_RATE`].
    TooFast,
    /// The game has no chat.
    Off,
    /// Only who plays may write.
    Watching,
    /// The server speaks a dialect without chat.
    Dialect,
    /// It cannot be sent.
    Send(SendError),
}

impl fmt::Display for ChatError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ChatError::Empty => f.write_str("There is nothing to send. Write something first."),
            ChatError::TooLong => {
                write!(f, "A line has at most {CHAT_CHARS} characters. Shorten it.")
            }
            ChatError::Control => f.write_str("A line is plain text without control characters."),
            ChatError::TooFast => f.write_str("Not so fast. Wait a second between two lines."),
            ChatError::Off => f.write_str("This game has no chat."),
            ChatError::Watching => f.write_str("Only who plays may write here. You can read."),
            ChatError::Dialect => f.write_str("This server has no chat."),
            ChatError::Send(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ChatError {}

impl From<SendError> for ChatError {
    fn from(error: SendError) -> Self {
        ChatError::Send(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_1_to_120_characters() {
        assert_eq!(ChatText::new("  \t "), Err(ChatError::Empty));
        assert_eq!(ChatText::new(" hi ").unwrap().as_str(), "hi");
        for letter in ["x", "é", "日", "😀"] {
            assert!(ChatText::new(&letter.repeat(CHAT_CHARS)).is_ok());
            let long = letter.repeat(CHAT_CHARS + 1);
            assert_eq!(ChatText::new(&long), Err(ChatError::TooLong));
        }
        assert_eq!(ChatText::new(&"x".repeat(1 << 20)), Err(ChatError::TooLong));
    }

    #[test]
    fn a_line_has_no_control_characters_and_what_draws_nothing_is_made_visible() {
        for text in ["a\nb", "a\x1b[2Jb", "a\0b", "a\u{85}b", "a\u{9b}31mb"] {
            assert_eq!(ChatText::new(text), Err(ChatError::Control), "{text:?}");
        }
        assert_eq!(ChatText::decode(b"a\xffb"), Err(ChatError::Control));
        let text = ChatText::new("a\u{202e}b\u{200b}").unwrap();
        assert_eq!(text.to_string(), "a\\u{202e}b\\u{200b}");
    }

    #[test]
    fn a_line_comes_back_from_its_bytes() {
        let text = ChatText::new(&"😀".repeat(CHAT_CHARS)).unwrap();
        let line = ChatLine { player: PlayerId(7), name: Name::new("Ann"), text };
        let mut room = [0; ChatLine::MAX_LEN];
        let bytes = line.encode(&mut room);
        assert_eq!(bytes.len(), ChatLine::MAX_LEN);
        assert_eq!(ChatLine::decode(bytes), Some(line));
        for len in 0..2 + Name::LEN + 1 {
            assert_eq!(ChatLine::decode(&bytes[..len]), None, "{len} bytes");
        }
    }

    #[test]
    fn a_line_says_who_wrote_it() {
        let line = |player, name| ChatLine {
            player: PlayerId(player),
            name: Name::new(name),
            text: ChatText::new("hi").unwrap(),
        };
        assert_eq!(line(3, "Ann").to_string(), "Ann: hi");
        assert_eq!(line(3, "").to_string(), "player 3: hi");
        assert_eq!(line(0, "").to_string(), "hi");
    }
}
