//! Reads hexadecimal bytes as people write them.

use std::fmt;

/// Text that is no sequence of bytes.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum NotHex {
    Digit(char),
    /// A group of digits that ends inside a byte.
    Odd(String),
}

/// Reads hexadecimal digits, two a byte. Groups of them may be parted by spaces, newlines, commas
/// or colons, and each may begin with `0x`.
pub(super) fn parse(text: &str) -> Result<Vec<u8>, NotHex> {
    let mut bytes = Vec::with_capacity(text.len() / 2);
    for group in text.split(|c: char| c.is_whitespace() || matches!(c, ',' | ':')) {
        let digits = group.strip_prefix("0x").or(group.strip_prefix("0X")).unwrap_or(group);
        let mut high = None;
        for c in digits.chars() {
            let digit = c.to_digit(16).ok_or(NotHex::Digit(c))? as u8;
            match high.take() {
                None => high = Some(digit << 4),
                Some(high) => bytes.push(high | digit),
            }
        }
        if high.is_some() {
            return Err(NotHex::Odd(group.to_owned()));
        }
    }
    Ok(bytes)
}

impl fmt::Display for NotHex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotHex::Digit(c) => write!(f, "{c:?} is not a hexadecimal digit"),
            NotHex::Odd(group) if group.len() > 20 => {
                write!(f, "{} hexadecimal digits in one group: a byte has two", group.len())
            }
            NotHex::Odd(group) => {
                write!(f, "{group:?} has an odd number of hexadecimal digits: a byte has two")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_to_write_the_same_bytes_is_read() {
        for text in
            ["08 00 07 01", "08000701", "0x08,0x00, 0x07,\n0x01", "0X0800:07:01", " 0800\t0701\n"]
        {
            assert_eq!(parse(text), Ok(vec![8, 0, 7, 1]), "{text:?}");
        }
        assert_eq!(parse("aF"), Ok(vec![0xAF]));
        assert_eq!(parse(" "), Ok(vec![]));
    }

    #[test]
    fn what_is_no_bytes_is_refused() {
        assert_eq!(parse("08 0g"), Err(NotHex::Digit('g')));
        assert_eq!(parse("08 0 07"), Err(NotHex::Odd("0".to_owned())));
        assert_eq!(parse("0x080"), Err(NotHex::Odd("0x080".to_owned())));
        assert_eq!(parse("08-00"), Err(NotHex::Digit('-')));
    }
}
