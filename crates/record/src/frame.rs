//! The frames of both formats, with a length and a checksum.
//!
//! A file begins with eight letters and the version of its format. Frames follow, each complete in itself: a
//! writer that
//! appends them one by one loses at most the last.
//!
//! ```text
//! 0         8            10
//! | letters | version u16 | frame ... |
//!
//! 0         4           12
//! | len u32 | check u64 | body, len bytes |        big-endian
//! ```
//!
//! The check is SipHash-2-4, with a public key, over letters and version, the frame's number and its body: a
//! frame that was
//! changed, moved or taken from another file does not pass.

use std::fmt;
use std::hash::Hasher;

use siphasher::sip::SipHasher24;
use thiserror::Error;

use backspin::wire::Malformed;

/// What a file is, by its first bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Form {
    pub(super) letters: [u8; 8],
    pub(super) version: u16,
    /// For people.
    pub(super) name: &'static str,
    /// The longest body of a frame: what claims to be longer is damaged.
    pub(super) frame_limit: usize,
}

/// The longest body of a frame of a node log. Writers end a frame long before.
pub const FRAME_LIMIT: usize = 1 << 20;

const PREFIX_LEN: usize = 10;
const HEAD_LEN: usize = 12;

impl Form {
    fn prefix(self) -> [u8; PREFIX_LEN] {
        let mut prefix = [0; PREFIX_LEN];
        prefix[..8].copy_from_slice(&self.letters);
        prefix[8..].copy_from_slice(&self.version.to_be_bytes());
        prefix
    }

    fn check(self, number: u64, body: &[u8]) -> u64 {
        let mut hasher = SipHasher24::new_with_key(b"backspin record.");
        hasher.write(&self.prefix());
        hasher.write(&number.to_be_bytes());
        hasher.write(body);
        hasher.finish()
    }

    /// Whether `bytes` begin like such a file, whatever its version.
    pub(super) fn is_begun_by(self, bytes: &[u8]) -> bool {
        bytes.starts_with(&self.letters)
    }
}

/// Writes frames.
pub(super) struct Framer {
    form: Form,
    number: u64,
    /// Of the frame that is being written.
    pub(super) body: Vec<u8>,
    /// What nobody has taken yet.
    sealed: Vec<u8>,
}

impl Framer {
    pub(super) fn new(form: Form) -> Self {
        Framer { form, number: 0, body: Vec::new(), sealed: form.prefix().to_vec() }
    }

    /// Ends the frame, if anything is in it.
    pub(super) fn seal(&mut self) {
        if self.body.is_empty() {
            return;
        }
        debug_assert!(self.body.len() <= self.form.frame_limit, "a frame that nobody can read");
        let check = self.form.check(self.number, &self.body);
        self.sealed.extend_from_slice(&(self.body.len() as u32).to_be_bytes());
        self.sealed.extend_from_slice(&check.to_be_bytes());
        self.sealed.append(&mut self.body);
        self.number += 1;
    }

    /// Moves what is sealed to the end of `out`.
    pub(super) fn take(&mut self, out: &mut Vec<u8>) {
        out.append(&mut self.sealed);
    }
}

impl fmt::Debug for Framer {
    /// Without the bytes: a log begins with a secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Framer").field("number", &self.number).finish_non_exhaustive()
    }
}

/// Reads frames, from bytes that may come piece by piece.
#[derive(Clone, Debug)]
pub(super) struct Frames {
    form: Form,
    /// Where the next frame begins.
    offset: u64,
    number: u64,
}

/// A whole frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Frame<'a> {
    pub(super) place: FramePlace,
    pub(super) body: &'a [u8],
    /// How many bytes of the input it took.
    pub(super) used: usize,
}

/// Where a frame is in its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FramePlace {
    /// Its number, from 0.
    pub number: u64,
    /// The offset of its first byte.
    pub offset: u64,
}

impl Frames {
    pub(super) fn new(form: Form) -> Self {
        Frames { form, offset: 0, number: 0 }
    }

    /// Where the next frame begins: all before it is good.
    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    /// The frame at the start of `bytes`, which go on where the last one ended; `None` if there is
    /// not all of it yet.
    pub(super) fn next<'a>(&mut self, bytes: &'a [u8]) -> Result<Option<Frame<'a>>, Damage> {
        let skipped = match self.offset {
            0 => match self.check_prefix(bytes)? {
                Some(()) => PREFIX_LEN,
                None => return Ok(None),
            },
            _ => 0,
        };
        let place = FramePlace { number: self.number, offset: self.offset + skipped as u64 };
        let bytes = &bytes[skipped..];
        let Some(&[a, b, c, d, ref check @ ..]) = bytes.first_chunk::<HEAD_LEN>() else {
            return Ok(None);
        };
        let len = u32::from_be_bytes([a, b, c, d]) as usize;
        if len == 0 || len > self.form.frame_limit {
            return Err(Damage::Length { place, len });
        }
        let Some(body) = bytes.get(HEAD_LEN..HEAD_LEN + len) else { return Ok(None) };
        if self.form.check(place.number, body).to_be_bytes() != *check {
            return Err(Damage::Checksum { place });
        }
        self.offset = place.offset + (HEAD_LEN + len) as u64;
        self.number += 1;
        Ok(Some(Frame { place, body, used: skipped + HEAD_LEN + len }))
    }

    fn check_prefix(&self, bytes: &[u8]) -> Result<Option<()>, Damage> {
        let known = self.form;
        let letters = &bytes[..bytes.len().min(known.letters.len())];
        if !known.letters.starts_with(letters) {
            return Err(Damage::Foreign { expected: known.name });
        }
        let Some(prefix) = bytes.first_chunk::<PREFIX_LEN>() else { return Ok(None) };
        let version = u16::from_be_bytes([prefix[8], prefix[9]]);
        match version == known.version {
            true => Ok(Some(())),
            false => Err(Damage::Version { found: version, known: known.version }),
        }
    }
}

/// Why a file is not read, or not to its end.
#[allow(missing_docs)]
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum Damage {
    /// It is something else.
    #[error("it is not a {expected}: its first bytes differ")]
    Foreign { expected: &'static str },
    /// Its format is of another version.
    #[error(
        "its format has version {found}, and this program reads version {known}; use the program that wrote it"
    )]
    Version { found: u16, known: u16 },
    /// It ends in the middle, or without saying that it does; so many bytes are good.
    #[error("it was cut short: {good} bytes are good, and its end is missing")]
    Cut { good: u64 },
    /// A frame of a length that none has.
    #[error("it is damaged in {place}: no frame has a length of {len}")]
    Length { place: FramePlace, len: usize },
    /// A frame whose bytes were changed.
    #[error("it is damaged in {place}: the checksum does not match")]
    Checksum { place: FramePlace },
    /// A frame that is as it was written, by someone who wrote it wrong.
    #[error("it is damaged in {place}: {fault}")]
    Malformed { place: FramePlace, fault: Malformed },
    /// Something follows the end, from this offset on.
    #[error("it ends at byte {offset}, but more bytes follow")]
    Trailing { offset: u64 },
}

impl Damage {
    /// So many bytes from the start are good.
    pub fn good(&self) -> u64 {
        match *self {
            Damage::Foreign { .. } | Damage::Version { .. } => 0,
            Damage::Cut { good } => good,
            Damage::Length { place, .. }
            | Damage::Checksum { place }
            | Damage::Malformed { place, .. } => place.offset,
            Damage::Trailing { offset } => offset,
        }
    }
}

impl fmt::Display for FramePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "frame {}, at byte {}", self.number, self.offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORM: Form =
        Form { letters: *b"BSTESTED", version: 3, name: "test", frame_limit: FRAME_LIMIT };

    fn file(bodies: &[&[u8]]) -> Vec<u8> {
        let (mut framer, mut out) = (Framer::new(FORM), Vec::new());
        for body in bodies {
            framer.body.extend_from_slice(body);
            framer.seal();
        }
        framer.take(&mut out);
        out
    }

    fn read(bytes: &[u8]) -> Result<Vec<Vec<u8>>, Damage> {
        let (mut frames, mut rest, mut bodies) = (Frames::new(FORM), bytes, Vec::new());
        while let Some(frame) = frames.next(rest)? {
            bodies.push(frame.body.to_vec());
            rest = &rest[frame.used..];
        }
        if rest.is_empty() { Ok(bodies) } else { Err(Damage::Cut { good: frames.offset() }) }
    }

    #[test]
    fn frames_are_written_as_they_are_drawn() {
        let bytes = file(&[b"ab", b"", b"c"]);
        let mut expected = b"BSTESTED\0\x03\0\0\0\x02".to_vec();
        let key = b"backspin record.";
        let check = |head: &[u8]| SipHasher24::new_with_key(key).hash(head).to_be_bytes();
        expected.extend(check(b"BSTESTED\0\x03\0\0\0\0\0\0\0\0ab"));
        expected.extend(b"ab\0\0\0\x01");
        expected.extend(check(b"BSTESTED\0\x03\0\0\0\0\0\0\0\x01c"));
        expected.extend(b"c");
        assert_eq!(bytes, expected);
        assert_eq!(read(&bytes), Ok(vec![b"ab".to_vec(), b"c".to_vec()]));
    }

    #[test]
    fn no_byte_can_be_changed_unseen() {
        let bytes = file(&[b"first", b"second"]);
        for at in 0..bytes.len() {
            let mut bent = bytes.clone();
            bent[at] ^= 0x10;
            let damage = read(&bent).unwrap_err();
            let expected = match at {
                0..8 => Damage::Foreign { expected: "test" },
                8..10 => {
                    Damage::Version { found: 3 ^ if at == 9 { 0x10 } else { 0x1000 }, known: 3 }
                }
                _ => damage,
            };
            assert_eq!(damage, expected, "{at}");
            assert!(damage.good() <= at as u64, "{at}: {damage}");
        }
    }

    #[test]
    fn frames_cannot_change_places() {
        let (a, b) = (file(&[b"one"]), file(&[b"two"]));
        let swapped = [&file(&[b"two"])[..], &a[PREFIX_LEN..]].concat();
        let place = FramePlace { number: 1, offset: b.len() as u64 };
        assert_eq!(read(&swapped), Err(Damage::Checksum { place }));
    }

    #[test]
    fn a_frame_is_no_longer_than_its_form_allows() {
        let body = vec![7; FRAME_LIMIT];
        let mut bytes = file(&[&body]);
        assert_eq!(read(&bytes), Ok(vec![body]));
        let len = FRAME_LIMIT + 1;
        bytes[PREFIX_LEN..PREFIX_LEN + 4].copy_from_slice(&(len as u32).to_be_bytes());
        let place = FramePlace { number: 0, offset: PREFIX_LEN as u64 };
        assert_eq!(read(&bytes), Err(Damage::Length { place, len }));
    }
}
