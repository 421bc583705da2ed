//! What players and rules tell each other, as bytes.

use std::fmt;

use crate::channel::MESSAGE_BYTES;
use crate::wire::{Full, Malformed, Reader, Writer};

/// A message between a client and the rules, in either direction; and what a player says when joining.
///
/// Derive it for an enum or a struct of numbers, [`Text`](super::Text), [`PlayerId`](crate::game::PlayerId) and so on.
/// An enum is one byte, the number of the variant, and its fields; a struct is its fields.
///
/// ```
/// use backspin::channel::MESSAGE_BYTES;
/// use backspin::game::PlayerId;
/// use backspin::typed::{Message, Text};
///
/// #[derive(Clone, Debug, PartialEq, Message)]
/// enum Word {
///     Ready,
///     Killed { who: PlayerId, by: Option<PlayerId> },
///     Chat(Text<120>),
/// }
///
/// let mut room = [0; MESSAGE_BYTES];
/// let killed = Word::Killed { who: PlayerId(2), by: None };
/// assert_eq!(killed.write(&mut room), Ok(&[1, 0, 0, 0, 2, 0][..]));
/// assert_eq!(Word::read(&[1, 0, 0, 0, 2, 0]), Ok(killed));
/// assert!(Word::read(&[3]).is_err());
/// assert_eq!(Word::MAX_LEN, 122);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no message",
    note = "derive Message for an enum or a struct of what is told"
)]
pub trait Message: Clone + fmt::Debug + Send + Sized + 'static {
    /// The longest, in bytes. [`MESSAGE_BYTES`] is the most that can be sent.
    const MAX_LEN: usize;

    /// A hash of how it is laid out: see [`layout`](super::layout).
    const LAYOUT: u64;

    /// Writes it.
    fn encode(&self, w: &mut Writer<'_>);

    /// Reads it. The bytes come from a peer and may be anything.
    fn decode(r: &mut Reader<'_>) -> Result<Self, Malformed>;

    /// Its bytes, written into `room`.
    fn write<'a>(&self, room: &'a mut [u8; MESSAGE_BYTES]) -> Result<&'a [u8], Full> {
        let mut w = Writer::new(room);
        self.encode(&mut w);
        let len = w.finish()?;
        Ok(&room[..len])
    }

    /// Its bytes, for whoever keeps them: at most [`MESSAGE_BYTES`].
    fn to_vec(&self) -> Vec<u8> {
        let mut room = [0; MESSAGE_BYTES];
        self.write(&mut room).unwrap_or_default().to_vec()
    }

    /// What all of `bytes` say.
    fn read(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut r = Reader::new(bytes);
        let message = Self::decode(&mut r)?;
        r.finish("message")?;
        Ok(message)
    }
}

/// Nothing to say.
impl Message for () {
    const MAX_LEN: usize = 0;
    const LAYOUT: u64 = super::layout(super::LAYOUT, b"nothing");

    fn encode(&self, _: &mut Writer<'_>) {}

    fn decode(_: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(())
    }
}

/// A message before the game has looked at it, or one of a game that writes its own bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RawMessage(pub Vec<u8>);

impl std::ops::Deref for RawMessage {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl<B: AsRef<[u8]> + ?Sized> From<&B> for RawMessage {
    fn from(bytes: &B) -> Self {
        RawMessage(bytes.as_ref().to_vec())
    }
}

impl Message for RawMessage {
    const MAX_LEN: usize = MESSAGE_BYTES;
    const LAYOUT: u64 = super::layout(super::LAYOUT, b"raw message");

    fn encode(&self, w: &mut Writer<'_>) {
        w.bytes(&self.0);
    }

    fn decode(r: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(RawMessage(r.take_rest().to_vec()))
    }
}
