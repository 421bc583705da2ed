//! A player's name as all dialects carry it: at most 15 bytes, shown to people with care.

use std::fmt;

use super::malformed::{Fault, Malformed};
use super::{Reader, Writer};

/// A name of at most [`Name::MAX`] bytes, none of them NUL.
///
/// Ours are UTF-8. Those of other programs are kept as they came, so that they go out again
/// unchanged; `Display` shows them lossily and makes visible what would draw nothing or do something
/// else to the screen.
///
/// ```text
/// 0                  len              16
/// | len bytes, no NUL | NUL, 1 or more |
/// ```
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Name {
    bytes: [u8; Name::MAX],
    len: u8,
}

impl Name {
    /// The longest name, in bytes.
    pub const MAX: usize = 15;

    /// The bytes of the padded form.
    pub const LEN: usize = 16;

    /// The name made of as much of `text` as fits, cut at a character boundary and at the first
    /// NUL.
    pub fn new(text: &str) -> Self {
        let text = text.split('\0').next().unwrap_or("");
        let len = (0..=Name::MAX.min(text.len())).rev().find(|&len| text.is_char_boundary(len));
        Name::copied(&text.as_bytes()[..len.unwrap_or(0)])
    }

    /// The bytes of the name.
    #[inline]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }

    /// Whether the name has no bytes.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Reads the padded form: 16 bytes, of which the last is NUL and all behind the first NUL.
    #[inline]
    pub fn decode(r: &mut Reader<'_>, field: &'static str) -> Result<Self, Malformed> {
        let padded: [u8; Name::LEN] = r.array(field)?;
        let Some(len) = padded.iter().position(|&byte| byte == 0) else {
            return Err(Malformed::new(field, Fault::Unterminated));
        };
        if padded[len..].iter().any(|&byte| byte != 0) {
            return Err(Malformed::new(field, Fault::AfterNul));
        }
        Ok(Name::copied(&padded[..len]))
    }

    /// Reads the raw form: all that is left, at most 15 bytes.
    #[inline]
    pub fn decode_raw(r: &mut Reader<'_>, field: &'static str) -> Result<Self, Malformed> {
        let raw = r.take_rest();
        if raw.len() > Name::MAX {
            let (stated, actual) = (Name::MAX, raw.len());
            return Err(Malformed::new(field, Fault::WrongSize { stated, actual }));
        }
        if raw.contains(&0) {
            return Err(Malformed::new(field, Fault::AfterNul));
        }
        Ok(Name::copied(raw))
    }

    /// Writes the padded form.
    #[inline]
    pub fn encode(&self, w: &mut Writer<'_>) {
        w.bytes(&self.bytes);
        w.u8(0);
    }

    /// `bytes` are at most [`Name::MAX`] and hold no NUL: the callers above saw to it.
    #[inline]
    fn copied(bytes: &[u8]) -> Self {
        let mut name = Name::default();
        for (place, byte) in name.bytes.iter_mut().zip(bytes) {
            *place = *byte;
            name.len += 1;
        }
        name
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        show(self.as_bytes(), f)
    }
}

/// Shows bytes as text, and makes visible what would draw nothing.
pub(crate) fn show(bytes: &[u8], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let mut before = ' ';
    for c in String::from_utf8_lossy(bytes).chars() {
        let styles = c == EMOJI_STYLE && is_symbol(before);
        match c.is_control() || is_invisible(c) && !styles {
            true => write!(f, "{}", c.escape_unicode())?,
            false => write!(f, "{c}")?,
        }
        before = c;
    }
    Ok(())
}

/// A name as the first R-Type program sends it: raw, up to [`RawName::MAX`] bytes, none of them NUL.
/// Everyone else is told [`RawName::cut`].
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct RawName {
    bytes: [u8; RawName::MAX],
    len: u8,
}

impl RawName {
    /// The longest one, in bytes.
    pub const MAX: usize = 64;

    /// The bytes as they came.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }

    /// As much of it as a [`Name`] holds, cut at a character.
    pub fn cut(&self) -> Name {
        let bytes = self.as_bytes();
        // What follows must not be the middle of a character; four bytes are the longest one.
        let begins = |at: &usize| bytes.get(*at).is_none_or(|byte| byte & 0xC0 != 0x80);
        let longest = Name::MAX.min(bytes.len());
        let len = (longest.saturating_sub(3)..=longest).rev().find(begins).unwrap_or(longest);
        Name::copied(&bytes[..len])
    }

    /// Reads all that is left.
    pub fn decode(r: &mut Reader<'_>, field: &'static str) -> Result<Self, Malformed> {
        let raw = r.take_rest();
        let mut name = RawName { bytes: [0; RawName::MAX], len: raw.len() as u8 };
        let Some(bytes) = name.bytes.get_mut(..raw.len()) else {
            let (stated, actual) = (RawName::MAX, raw.len());
            return Err(Malformed::new(field, Fault::WrongSize { stated, actual }));
        };
        if raw.contains(&0) {
            return Err(Malformed::new(field, Fault::AfterNul));
        }
        bytes.copy_from_slice(raw);
        Ok(name)
    }

    /// Writes it as it came.
    pub fn encode(&self, w: &mut Writer<'_>) {
        w.bytes(self.as_bytes());
    }
}

impl From<Name> for RawName {
    fn from(name: Name) -> Self {
        let mut raw = RawName { bytes: [0; RawName::MAX], len: name.len };
        raw.bytes[..name.as_bytes().len()].copy_from_slice(name.as_bytes());
        raw
    }
}

impl fmt::Display for RawName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        show(self.as_bytes(), f)
    }
}

impl fmt::Debug for RawName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{self}\"")
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for RawName {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Characters that draw nothing, or reorder the text around a name on a screen: what Unicode calls
/// default-ignorable, its separators of lines and paragraphs, the marks of annotations, and the empty
/// pattern of Braille. With them one name could look like another, or like none.
fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\u{AD}'
            | '\u{34F}'
            | '\u{61C}'
            | '\u{115F}'..='\u{1160}'
            | '\u{17B4}'..='\u{17B5}'
            | '\u{180B}'..='\u{180F}'
            | '\u{200B}'..='\u{200F}'
            | '\u{2028}'..='\u{202E}'
            | '\u{2060}'..='\u{206F}'
            | '\u{2800}'
            | '\u{3164}'
            | '\u{FE00}'..='\u{FE0F}'
            | '\u{FEFF}'
            | '\u{FFA0}'
            | '\u{FFF0}'..='\u{FFFB}'
            | '\u{1BCA0}'..='\u{1BCA3}'
            | '\u{1D173}'..='\u{1D17A}'
            | '\u{E0000}'..='\u{E0FFF}'
    )
}

/// Says that the symbol before it is drawn as an emoji: phones write it behind hearts and stars.
const EMOJI_STYLE: char = '\u{FE0F}';

/// Where the symbols are that it changes.
fn is_symbol(c: char) -> bool {
    matches!(c, '\u{203C}'..='\u{27BF}' | '\u{2900}'..='\u{3299}' | '\u{1F000}'..='\u{1FAFF}')
        && !is_invisible(c)
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{self}\"")
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for Name {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(bytes: &[u8; 16]) -> Result<Name, Malformed> {
        Name::decode(&mut Reader::new(bytes), "name")
    }

    #[test]
    fn a_long_name_is_cut_at_a_character() {
        assert_eq!(Name::new("fourteen bytes").as_bytes(), b"fourteen bytes");
        assert_eq!(Name::new("fifteen bytes..and more").as_bytes(), b"fifteen bytes..");
        assert_eq!(Name::new("fourteen bytesé").as_bytes(), b"fourteen bytes");
        assert_eq!(Name::new("a\0b").as_bytes(), b"a");
    }

    #[test]
    fn the_padded_form_needs_its_nul_and_nothing_behind_it() {
        assert_eq!(decoded(b"Alice\0\0\0\0\0\0\0\0\0\0\0"), Ok(Name::new("Alice")));
        assert_eq!(decoded(&[0; 16]), Ok(Name::default()));
        let fault = |fault| Err(Malformed::new("name", fault));
        assert_eq!(decoded(&[b'a'; 16]), fault(Fault::Unterminated));
        assert_eq!(decoded(b"Alice\0\0\0\0\0\0\0\0\0\0x"), fault(Fault::AfterNul));
    }

    #[test]
    fn other_programs_names_are_kept_and_shown_with_care() {
        let name = Name::decode_raw(&mut Reader::new(b"\xFFa\x1B[2J"), "name").unwrap();
        assert_eq!(name.as_bytes(), b"\xFFa\x1B[2J");
        assert_eq!(name.to_string(), "\u{FFFD}a\\u{1b}[2J");
    }

    #[test]
    fn what_draws_nothing_is_made_visible() {
        let hidden = [
            0xAD, 0x34F, 0x61C, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180B, 0x180F, 0x200B, 0x200F,
            0x2028, 0x202E, 0x2060, 0x206F, 0x2800, 0x3164, 0xFE00, 0xFE0F, 0xFEFF, 0xFFA0, 0xFFF0,
            0xFFFB, 0x1BCA0, 0x1D173, 0xE0000, 0xE0001, 0xE0020, 0xE007F, 0xE0100, 0xE01EF,
        ];
        for code in hidden {
            let c = char::from_u32(code).unwrap();
            assert_eq!(Name::new(&format!("a{c}b")).to_string(), format!("a\\u{{{code:x}}}b"));
        }
        // Letters of every script, spaces and symbols stay what they are, and so does a red heart.
        for name in
            ["Zoë", "Ærøskøbing", "김철수", "สมชาย", "محمد", "日本", "a b", "\u{2764}\u{FE0F}"]
        {
            assert_eq!(Name::new(name).to_string(), name);
        }
        let forged = Name::new("Ann\u{FE0F}");
        assert_eq!(forged.to_string(), "Ann\\u{fe0f}");
        assert_eq!(Name::new("\u{2800}\u{FE0F}").to_string(), "\\u{2800}\\u{fe0f}");
    }

    #[test]
    fn a_raw_name_is_kept_whole_and_cut_at_a_character() {
        let cut = |bytes: &[u8]| {
            RawName::decode(&mut Reader::new(bytes), "name").map(|name| {
                assert_eq!(name.as_bytes(), bytes);
                name.cut().as_bytes().to_vec()
            })
        };
        assert_eq!(cut(b"Alice").unwrap(), b"Alice");
        assert_eq!(cut(&[b'x'; 64]).unwrap(), [b'x'; 15]);
        assert_eq!(cut("fourteen bytesé and more".as_bytes()).unwrap(), b"fourteen bytes");
        assert_eq!(cut("twelve bytes😀".as_bytes()).unwrap(), b"twelve bytes");
        // What is no text is cut where it must be.
        assert_eq!(cut(&[0x80; 30]).unwrap(), [0x80; 15]);
        assert!(cut(&[b'x'; 65]).is_err());
        assert!(cut(b"a\0b").is_err());
        assert_eq!(RawName::from(Name::new("Alice")).cut(), Name::new("Alice"));
    }

    #[test]
    fn the_raw_form_has_at_most_fifteen_bytes_and_no_nul() {
        assert!(Name::decode_raw(&mut Reader::new(&[b'x'; 15]), "name").is_ok());
        assert!(Name::decode_raw(&mut Reader::new(&[b'x'; 16]), "name").is_err());
        assert!(Name::decode_raw(&mut Reader::new(b"a\0"), "name").is_err());
    }
}
