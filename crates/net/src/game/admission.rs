//! Who may play: what a game is asked before someone takes a slot.

use std::fmt;
use std::hash::{Hash, Hasher};

use crate::wire::Name;
use crate::wire::field::Field;
use crate::wire::{Malformed, Reader, Writer};

/// Someone who asks for a slot.
#[derive(Clone, Copy, Debug)]
pub struct Applicant<'a, D> {
    /// Called, as everyone will read it.
    pub name: Name,
    /// What the operator's own service has given the player, if anything. Where the server has a token of
    /// its own, this is that one.
    pub token: &'a [u8],
    /// What the player says.
    pub data: &'a D,
}

/// Why someone may not play, in a sentence that the player reads.
///
/// ```text
/// 0        1
/// | length | sentence |
/// ```
///
/// Where there is nothing to say there are no bytes, as in protocol 1, whose programs are refused in words.
#[derive(Clone, Copy)]
pub struct Refusal {
    len: u8,
    bytes: [u8; Refusal::MAX_LEN],
}

impl Refusal {
    /// So many bytes are sent; the rest of a longer sentence is left out.
    pub const MAX_LEN: usize = 80;

    /// Nothing to say.
    pub(crate) const NONE: Refusal = Refusal { len: 0, bytes: [0; Refusal::MAX_LEN] };

    const UNREADABLE: &'static str =
        "The server cannot read what your game says of you. Update the game.";

    /// A sentence that says what is wrong and what to do. Control characters are left out.
    pub fn new(sentence: &str) -> Self {
        let mut refusal = Refusal::NONE;
        for letter in sentence.chars().filter(|letter| !letter.is_control()) {
            let (from, len) = (usize::from(refusal.len), letter.len_utf8());
            let Some(room) = refusal.bytes.get_mut(from..from + len) else { break };
            letter.encode_utf8(room);
            refusal.len += len as u8;
        }
        refusal
    }

    /// Of someone whose join data is none: for games that are made of others.
    #[doc(hidden)]
    pub fn unreadable() -> Self {
        Refusal::new(Refusal::UNREADABLE)
    }

    /// Whether there is nothing to read.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The sentence.
    pub fn as_str(&self) -> &str {
        // It is whole letters, from wherever it came.
        str::from_utf8(&self.bytes[..usize::from(self.len)]).unwrap_or_default()
    }
}

impl<'a, Order> Field<'a, Order> for Refusal {
    fn decode(r: &mut Reader<'a>, field: &'static str) -> Result<Self, Malformed> {
        if r.left() == 0 {
            return Ok(Refusal::NONE);
        }
        let len = r.u8("sentence_length")?;
        if !(1..=Refusal::MAX_LEN).contains(&len.into()) {
            return Err(Malformed::out_of_range("sentence_length", len));
        }
        let sentence = str::from_utf8(r.take(field, usize::from(len))?);
        match sentence.map(Refusal::new) {
            Ok(refusal) if refusal.len == len => Ok(refusal),
            // Not UTF-8, or with control characters.
            _ => Err(Malformed::out_of_range(field, len)),
        }
    }

    fn encode(&self, w: &mut Writer<'_>) {
        if self.len > 0 {
            w.u8(self.len);
            w.bytes(self.as_str().as_bytes());
        }
    }
}

impl PartialEq for Refusal {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for Refusal {}

impl Hash for Refusal {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_str().hash(state);
    }
}

impl fmt::Debug for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for Refusal {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl From<&str> for Refusal {
    fn from(sentence: &str) -> Self {
        Refusal::new(sentence)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_cut_at_a_letter_and_has_no_control_characters() {
        assert_eq!(Refusal::new("Red is\n full.").as_str(), "Red is full.");
        let long = Refusal::new(&"é".repeat(100));
        assert_eq!(long.as_str(), "é".repeat(40));
        let odd = Refusal::new(&format!("x{}", "é".repeat(100)));
        assert_eq!(odd.as_str().len(), 79);
    }
}
