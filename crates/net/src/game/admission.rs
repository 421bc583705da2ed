//! Who may play: what a game is asked before someone takes a slot.

use std::fmt;

use crate::wire::Name;

/// Someone who asks for a slot.
#[derive(Clone, Copy, Debug)]
pub struct Applicant<'a, D> {
    /// Called, as everyone will read it.
    pub name: Name,
    /// What the operator's own service has given the player, if anything. Whoever runs the server
    /// checks it.
    pub token: &'a [u8],
    /// What the player says.
    pub data: &'a D,
}

/// Why someone may not play, in a sentence that the player reads.
#[derive(Clone, PartialEq, Eq)]
pub struct Refusal(String);

impl Refusal {
    /// So many bytes are sent; the rest of a longer sentence is left out.
    pub const MAX_LEN: usize = 120;

    /// Of someone whose join data is none.
    pub const UNREADABLE: &'static str =
        "The server could not read what your client says of you. Update the game.";

    /// A sentence that says what is wrong and what to do. Control characters are left out.
    pub fn new(sentence: &str) -> Self {
        let mut kept = String::new();
        for letter in sentence.chars().filter(|letter| !letter.is_control()) {
            if kept.len() + letter.len_utf8() > Refusal::MAX_LEN {
                break;
            }
            kept.push(letter);
        }
        Refusal(kept)
    }

    /// The sentence.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
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
        assert_eq!(long.as_str(), "é".repeat(60));
    }
}
