//! A short text in a message.

use std::fmt;
use std::ops::Deref;

use super::{LAYOUT, MessageValue, layout, layout_number};
use crate::wire::{Fault, Malformed, Reader, Writer};

/// A text of at most `N` bytes of UTF-8 without control characters, so also in one line: what a player is
/// called or says.
///
/// ```
/// use backspin::typed::Text;
///
/// let said = Text::<12>::cut("good\n game, all");
/// assert_eq!(&*said, "good game, a");
/// assert_eq!(Text::<12>::new("good game, all"), None);
/// ```
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Text<const N: usize>(Box<str>);

impl<const N: usize> Text<N> {
    /// The size of the length before it.
    const COUNT_LEN: usize = {
        assert!(N <= u16::MAX as usize, "a text has at most 65,535 bytes");
        if N <= u8::MAX as usize { 1 } else { 2 }
    };

    /// This text, if it is one.
    pub fn new(text: &str) -> Option<Self> {
        (text.len() <= N && !text.contains(char::is_control)).then(|| Text(text.into()))
    }

    /// What fits of a text, without its control characters: for what somebody has typed.
    pub fn cut(text: &str) -> Self {
        let mut kept = String::with_capacity(text.len().min(N));
        for c in text.chars().filter(|c| !c.is_control()) {
            if kept.len() + c.len_utf8() > N {
                break;
            }
            kept.push(c);
        }
        Text(kept.into())
    }
}

impl<const N: usize> Deref for Text<N> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl<const N: usize> fmt::Display for Text<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&*self.0, f)
    }
}

impl<const N: usize> fmt::Debug for Text<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.0, f)
    }
}

/// ```text
/// | length: u8, or u16 where N is above 255 | UTF-8 |
/// ```
impl<const N: usize> MessageValue for Text<N> {
    const MAX_LEN: usize = Self::COUNT_LEN + N;
    const LAYOUT: u64 = layout_number(layout(LAYOUT, b"text"), N as i64);

    fn encode(&self, w: &mut Writer<'_>) {
        write_len(self.len(), Self::COUNT_LEN, w);
        w.bytes(self.as_bytes());
    }

    fn decode(r: &mut Reader<'_>, field: &'static str) -> Result<Self, Malformed> {
        let len = read_len(r, field, Self::COUNT_LEN, N)?;
        let bytes = r.take(field, len)?;
        let refused = |byte: u32| Malformed::new(field, Fault::OutOfRange(byte.into()));
        let text = std::str::from_utf8(bytes).map_err(|error| {
            // Where a text breaks off in the middle of a character, it is its first byte.
            refused(bytes.get(error.valid_up_to()).copied().unwrap_or_default().into())
        })?;
        match text.chars().find(|c| c.is_control()) {
            Some(control) => Err(refused(control.into())),
            None => Ok(Text(text.into())),
        }
    }
}

/// Writes a length in so many bytes, one or two.
pub(super) fn write_len(len: usize, count_len: usize, w: &mut Writer<'_>) {
    match count_len {
        1 => w.u8(len as u8),
        _ => w.u16_be(len as u16),
    }
}

/// Reads a length of at most `most`.
pub(super) fn read_len(
    r: &mut Reader<'_>,
    field: &'static str,
    count_len: usize,
    most: usize,
) -> Result<usize, Malformed> {
    let len = match count_len {
        1 => r.u8(field)?.into(),
        _ => r.u16_be(field)?,
    };
    match usize::from(len) <= most {
        true => Ok(len.into()),
        false => Err(Malformed::out_of_range(field, len)),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::typed::testing::{every_byte_is_needed, goes_round_in_bytes};

    fn read(bytes: &[u8]) -> Result<Text<8>, Malformed> {
        Text::decode(&mut Reader::new(bytes), "said")
    }

    #[test]
    fn a_text_is_its_length_and_its_bytes() {
        let mut room = [0; 16];
        let mut w = Writer::new(&mut room);
        Text::<8>::cut("né").encode(&mut w);
        assert_eq!(w.finish(), Ok(4));
        assert_eq!(room[..4], [3, b'n', 0xC3, 0xA9]);
        assert_eq!(read(&room[..4]), Ok(Text::cut("né")));
        assert_eq!((Text::<255>::MAX_LEN, Text::<256>::MAX_LEN), (256, 258));
    }

    #[test]
    fn what_is_too_long_or_no_text_is_malformed() {
        let refused = |value: i64| Err(Malformed::new("said", Fault::OutOfRange(value)));
        assert_eq!(read(b"\x09123456789"), refused(9));
        assert_eq!(read(b"\x03a\nb"), refused(10));
        assert_eq!(read(&[3, b'a', 0xC2, 0x85]), refused(0x85));
        assert_eq!(read(&[2, b'a', 0xFF]), refused(0xFF));
        assert_eq!(read(&[2, b'a', 0xC3]), refused(0xC3));
        assert_eq!(read(&[3, b'a', b'b']), Err(Malformed::new("said", Fault::Truncated)));
        every_byte_is_needed(&Text::<8>::cut("12345678"));
        every_byte_is_needed(&Text::<300>::cut("12345678"));
    }

    #[test]
    fn what_is_cut_ends_with_a_whole_character() {
        assert_eq!(&*Text::<8>::cut("1234567é"), "1234567");
        assert_eq!(&*Text::<8>::cut("\u{1b}[31mred\0"), "[31mred");
        assert_eq!(Text::<8>::new("a\tb"), None);
        assert_eq!(Text::<8>::new("123456789"), None);
        assert_eq!(Text::<8>::new("12345678").as_deref(), Some("12345678"));
    }

    proptest! {
        #[test]
        fn any_goes_round(text: String) {
            let cut = Text::<8>::cut(&text);
            prop_assert!(cut.len() <= 8 && Text::<8>::new(&cut).as_ref() == Some(&cut));
            goes_round_in_bytes(&cut);
            goes_round_in_bytes(&Text::<300>::cut(&text));
        }

        #[test]
        fn any_bytes_are_a_text_or_malformed(bytes: Vec<u8>) {
            if let Ok(text) = read(&bytes) {
                prop_assert_eq!(Text::<8>::new(&text), Some(text));
            }
        }
    }
}
