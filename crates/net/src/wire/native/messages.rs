//! What players and the game say to each other beside inputs and snapshots: a [`MessageBlock`]. It
//! rides along in Input, SnapshotAck, DeltaSnapshot and ViewSnapshot, and is a packet of its own
//! (ClientMessages, ServerMessages) where none of them is due or has room.

use std::fmt;

use super::SessionIndex;
use crate::wire::field::{Field, codes};
use crate::wire::malformed::{Fault, Malformed};
use crate::wire::{Reader, Writer};

/// The longest message. With its heads it fits a datagram of the shortest budget.
pub const MAX_MESSAGE_LEN: usize = 900;

/// The longest selective acknowledgement: it speaks of 512 messages.
pub const MAX_SELECTIVE_LEN: usize = 64;

codes! {
    /// What a reliable message is.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub enum MessageKind {
        /// The game's own bytes.
        #[default]
        Game = 0,
        /// An event of the game: server to client only.
        Event = 1,
        /// A line of chat.
        Chat = 2,
    }
}

/// A reliable message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Message<'a> {
    /// Counts this side's reliable messages.
    pub number: u16,
    /// What it is.
    pub kind: MessageKind,
    /// What it says.
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::wire::hex::serialize"))]
    pub bytes: &'a [u8],
}

/// One side's messages, and which of the other side's have come. It says itself where it ends.
///
/// ```text
/// 0         1              3
/// | present | acknowledged | [selective] [reliable] [unreliable]
///
/// selective        | length:u8 | bytes |
/// reliable    | first:u16 | count:u8 | count x ( head:varint, [skipped:u8], bytes ) |
/// unreliable  | count:u8 | count x ( length:varint, bytes ) |
/// ```
///
/// `present` has bit 0 for `selective`, bit 1 for `reliable` and bit 2 for `unreliable`. `head` is
/// `length << 3 | kind << 1 | gap`; after a gap, `skipped` numbers (1 or more) are left out. A varint
/// has one byte, or two: seven bits each, lowest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageBlock<'a> {
    /// The other side's messages before this number have been delivered.
    pub acknowledged: u16,
    /// Those after it that have come, too.
    pub selective: Selective<'a>,
    /// This side's messages that arrive once and in order.
    pub reliable: Reliable<'a>,
    /// This side's messages that arrive at most once.
    pub unreliable: Unreliable<'a>,
}

impl<'a> MessageBlock<'a> {
    /// The bytes of a block that only acknowledges.
    pub const MIN_LEN: usize = 3;

    /// The bytes of a block with one message of [`MAX_MESSAGE_LEN`], reliable or not, and the longest
    /// `selective`: no datagram is too short for it.
    pub const ONE_MESSAGE_LEN: usize =
        MessageBlock::MIN_LEN + 1 + MAX_SELECTIVE_LEN + 3 + 2 + MAX_MESSAGE_LEN;

    const SELECTIVE: u8 = 1;
    const RELIABLE: u8 = 2;
    const UNRELIABLE: u8 = 4;

    /// How many bytes it takes.
    pub fn byte_len(&self) -> usize {
        let list = |is_empty: bool, head: usize, body: &[u8]| match is_empty {
            true => 0,
            false => head + body.len(),
        };
        MessageBlock::MIN_LEN
            + list(self.selective.is_empty(), 1, self.selective.0)
            + list(self.reliable.is_empty(), 3, self.reliable.body)
            + list(self.unreliable.is_empty(), 1, self.unreliable.body)
    }

    /// Reads a block of a server.
    pub(super) fn decode(r: &mut Reader<'a>) -> Result<Self, Malformed> {
        const ALL: u8 = MessageBlock::SELECTIVE | MessageBlock::RELIABLE | MessageBlock::UNRELIABLE;
        let present = r.u8("present")?;
        if present > ALL {
            return Err(Malformed::out_of_range("present", present));
        }
        let has = |bit| present & bit != 0;
        Ok(MessageBlock {
            acknowledged: r.u16_be("acknowledged")?,
            selective: if has(Self::SELECTIVE) { Selective::decode(r)? } else { Selective::NONE },
            reliable: if has(Self::RELIABLE) { Reliable::decode(r)? } else { Reliable::NONE },
            unreliable: if has(Self::UNRELIABLE) {
                Unreliable::decode(r)?
            } else {
                Unreliable::NONE
            },
        })
    }

    /// Reads a block of a client, who raises no events.
    pub(super) fn decode_from_client(r: &mut Reader<'a>) -> Result<Self, Malformed> {
        let block = MessageBlock::decode(r)?;
        match block.reliable.has_events {
            false => Ok(block),
            true => Err(Malformed::out_of_range("kind", MessageKind::Event as u8)),
        }
    }

    pub(super) fn encode(&self, w: &mut Writer<'_>) {
        let present = [
            (self.selective.is_empty(), Self::SELECTIVE),
            (self.reliable.is_empty(), Self::RELIABLE),
            (self.unreliable.is_empty(), Self::UNRELIABLE),
        ];
        let present = present.iter().filter(|(is_empty, _)| !is_empty);
        w.u8(present.fold(0, |bits, (_, bit)| bits | bit));
        w.u16_be(self.acknowledged);
        if !self.selective.is_empty() {
            w.u8(self.selective.0.len() as u8);
            w.bytes(self.selective.0);
        }
        if !self.reliable.is_empty() {
            w.u16_be(self.reliable.first);
            w.u8(self.reliable.count);
            w.bytes(self.reliable.body);
        }
        if !self.unreliable.is_empty() {
            w.u8(self.unreliable.count);
            w.bytes(self.unreliable.body);
        }
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for MessageBlock<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeStruct;
        let mut fields = serializer.serialize_struct("MessageBlock", 4)?;
        fields.serialize_field("acknowledged", &self.acknowledged)?;
        if !self.selective.is_empty() {
            fields.serialize_field("selective", &crate::wire::hex::Hex(self.selective.0))?;
        }
        if !self.reliable.is_empty() {
            fields.serialize_field("reliable", &self.reliable.iter().collect::<Vec<_>>())?;
        }
        if !self.unreliable.is_empty() {
            let bodies: Vec<_> = self.unreliable.iter().map(crate::wire::hex::Hex).collect();
            fields.serialize_field("unreliable", &bodies)?;
        }
        fields.end()
    }
}

/// Which messages from `acknowledged` on have come and wait: bit 0 of the first byte is
/// `acknowledged` itself. The last byte is not 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Selective<'a>(&'a [u8]);

impl<'a> Selective<'a> {
    /// None of them.
    pub const NONE: Selective<'static> = Selective(&[]);

    /// Whether none has.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How far behind `acknowledged` each of them is.
    pub fn iter(&self) -> impl Iterator<Item = u16> + use<'a> {
        let bits = |(at, &byte): (usize, &u8)| {
            (0..8).filter(move |bit| byte & 1 << bit != 0).map(move |bit| (at * 8 + bit) as u16)
        };
        self.0.iter().enumerate().flat_map(bits)
    }

    fn decode(r: &mut Reader<'a>) -> Result<Self, Malformed> {
        let len = match usize::from(r.u8("selective")?) {
            len @ 1..=MAX_SELECTIVE_LEN => len,
            other => return Err(Malformed::out_of_range("selective", other as u32)),
        };
        match r.take("selective", len)? {
            [.., 0] => Err(Malformed::new("selective", Fault::NotCanonical)),
            bits => Ok(Selective(bits)),
        }
    }
}

/// Messages that arrive once and in order, in the order of their numbers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Reliable<'a> {
    first: u16,
    count: u8,
    has_events: bool,
    /// Checked when decoded, or written by a [`BlockWriter`].
    body: &'a [u8],
}

impl<'a> Reliable<'a> {
    /// None.
    pub const NONE: Reliable<'static> =
        Reliable { first: 0, count: 0, has_events: false, body: &[] };

    /// How many there are.
    pub fn len(&self) -> usize {
        usize::from(self.count)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The messages.
    pub fn iter(&self) -> impl Iterator<Item = Message<'a>> + use<'a> {
        let (mut r, mut next) = (Reader::new(self.body), self.first);
        (0..self.count).map_while(move |_| {
            let Head { len, kind, gap } = Head::decode(&mut r).ok()?;
            if gap {
                next = next.wrapping_add(r.u8("skipped").ok()?.into());
            }
            let number = next;
            next = next.wrapping_add(1);
            Some(Message { number, kind, bytes: r.take("message", len).ok()? })
        })
    }

    fn decode(r: &mut Reader<'a>) -> Result<Self, Malformed> {
        let (first, count) = (r.u16_be("first")?, count(r)?);
        let (mut ahead, mut has_events) = (r.clone(), false);
        for at in 0..count {
            let Head { len, kind, gap } = Head::decode(&mut ahead)?;
            match gap {
                // `first` says where they begin.
                true if at == 0 => return Err(Malformed::new("head", Fault::NotCanonical)),
                true if ahead.u8("skipped")? == 0 => {
                    return Err(Malformed::new("skipped", Fault::NotCanonical));
                }
                _ => {}
            }
            has_events |= kind == MessageKind::Event;
            ahead.take("message", len)?;
        }
        let body = r.take("message", r.left() - ahead.left())?;
        Ok(Reliable { first, count, has_events, body })
    }
}

impl fmt::Debug for Reliable<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// Messages that arrive at most once.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Unreliable<'a> {
    count: u8,
    /// Checked when decoded, or written by a [`BlockWriter`].
    body: &'a [u8],
}

impl<'a> Unreliable<'a> {
    /// None.
    pub const NONE: Unreliable<'static> = Unreliable { count: 0, body: &[] };

    /// How many there are.
    pub fn len(&self) -> usize {
        usize::from(self.count)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The messages.
    pub fn iter(&self) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        let mut r = Reader::new(self.body);
        (0..self.count).map_while(move |_| {
            let len = decode_varint(&mut r, "length").ok()?;
            r.take("message", len.into()).ok()
        })
    }

    fn decode(r: &mut Reader<'a>) -> Result<Self, Malformed> {
        let count = count(r)?;
        let mut ahead = r.clone();
        for _ in 0..count {
            let len = length(decode_varint(&mut ahead, "length")?)?;
            ahead.take("message", len)?;
        }
        let body = r.take("message", r.left() - ahead.left())?;
        Ok(Unreliable { count, body })
    }
}

impl fmt::Debug for Unreliable<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// What stands before a reliable message.
struct Head {
    len: usize,
    kind: MessageKind,
    gap: bool,
}

impl Head {
    fn decode(r: &mut Reader<'_>) -> Result<Self, Malformed> {
        let head = decode_varint(r, "head")?;
        let kind = (head >> 1 & 3) as u8;
        Ok(Head {
            len: length(head >> 3)?,
            kind: MessageKind::from_code(kind).ok_or(Malformed::out_of_range("kind", kind))?,
            gap: head & 1 != 0,
        })
    }
}

fn length(len: u16) -> Result<usize, Malformed> {
    match usize::from(len) {
        len if len <= MAX_MESSAGE_LEN => Ok(len),
        _ => Err(Malformed::out_of_range("length", len)),
    }
}

/// A count of messages: "none" is written as nothing.
fn count(r: &mut Reader<'_>) -> Result<u8, Malformed> {
    match r.u8("count")? {
        0 => Err(Malformed::new("count", Fault::NotCanonical)),
        count => Ok(count),
    }
}

fn decode_varint(r: &mut Reader<'_>, field: &'static str) -> Result<u16, Malformed> {
    let low = r.u8(field)?;
    if low & 0x80 == 0 {
        return Ok(low.into());
    }
    match r.u8(field)? {
        0 => Err(Malformed::new(field, Fault::NotCanonical)),
        high @ 1..0x80 => Ok(u16::from(high) << 7 | u16::from(low & 0x7F)),
        high => Err(Malformed::out_of_range(field, u32::from(high) << 7 | u32::from(low & 0x7F))),
    }
}

/// The bytes of a varint; at most 16383 fits.
fn varint(value: u16) -> ([u8; 2], usize) {
    debug_assert!(value < 1 << 14, "a varint has two bytes at most");
    match value {
        0..0x80 => ([value as u8, 0], 1),
        _ => ([value as u8 | 0x80, (value >> 7) as u8], 2),
    }
}

/// Writes a block, as much as fits: first [`BlockWriter::selective`], then reliable messages, then
/// unreliable ones.
#[derive(Debug)]
pub struct BlockWriter<'a> {
    room: &'a mut [u8],
    /// How many more bytes the block may have.
    left: usize,
    /// Of `room`, so far.
    written: usize,
    selective_len: usize,
    reliable_end: usize,
    first: u16,
    next: u16,
    reliable: u8,
    has_events: bool,
    unreliable: u8,
}

impl<'a> BlockWriter<'a> {
    /// A block of at most as many bytes as `room` has.
    pub fn new(room: &'a mut [u8]) -> Self {
        BlockWriter {
            left: room.len().saturating_sub(MessageBlock::MIN_LEN),
            room,
            written: 0,
            selective_len: 0,
            reliable_end: 0,
            first: 0,
            next: 0,
            reliable: 0,
            has_events: false,
            unreliable: 0,
        }
    }

    /// Says which messages have come, by how far behind `acknowledged` they are, in rising order.
    /// Those without room are left out.
    pub fn selective(&mut self, behind: impl IntoIterator<Item = u16>) {
        debug_assert!(self.written == 0, "what has come stands first");
        let limit = MAX_SELECTIVE_LEN.min(self.left.saturating_sub(1));
        for behind in behind {
            let at = usize::from(behind / 8);
            if at >= limit {
                break;
            }
            if at >= self.written {
                self.room[self.written..=at].fill(0);
                self.written = at + 1;
            }
            self.room[at] |= 1 << (behind % 8);
        }
        if self.written > 0 {
            self.left -= 1 + self.written;
        }
        (self.selective_len, self.reliable_end) = (self.written, self.written);
    }

    /// Adds a reliable message, whose bytes are in two pieces; `false` if there is no room for it.
    /// Numbers rise.
    pub fn reliable(&mut self, number: u16, kind: MessageKind, bytes: [&[u8]; 2]) -> bool {
        debug_assert!(self.unreliable == 0, "reliable messages stand before the others");
        let len = bytes[0].len() + bytes[1].len();
        let is_first = self.reliable == 0;
        let skipped = if is_first { 0 } else { number.wrapping_sub(self.next) };
        let (Ok(skipped), true) = (u8::try_from(skipped), self.reliable < u8::MAX) else {
            return false;
        };
        let gap = skipped > 0;
        let (head, head_len) = varint((len as u16) << 3 | (kind as u16) << 1 | u16::from(gap));
        let intro = if is_first { 3 } else { 0 };
        let needed = intro + head_len + usize::from(gap) + len;
        if len > MAX_MESSAGE_LEN || needed > self.left {
            return false;
        }
        self.left -= needed;
        self.put(&head[..head_len]);
        if gap {
            self.put(&[skipped]);
        }
        bytes.iter().for_each(|piece| self.put(piece));
        if is_first {
            self.first = number;
        }
        self.next = number.wrapping_add(1);
        self.reliable += 1;
        self.has_events |= kind == MessageKind::Event;
        self.reliable_end = self.written;
        true
    }

    /// Adds an unreliable message; `false` if there is no room for it.
    pub fn unreliable(&mut self, bytes: &[u8]) -> bool {
        let (head, head_len) = varint(bytes.len().min(MAX_MESSAGE_LEN) as u16);
        let needed = usize::from(self.unreliable == 0) + head_len + bytes.len();
        let too_many = self.unreliable == u8::MAX;
        if bytes.len() > MAX_MESSAGE_LEN || needed > self.left || too_many {
            return false;
        }
        self.left -= needed;
        self.put(&head[..head_len]);
        self.put(bytes);
        self.unreliable += 1;
        true
    }

    /// The bytes of a reliable message of this length that follows the one before.
    pub fn reliable_len(len: usize) -> usize {
        len + if len < 16 { 1 } else { 2 }
    }

    /// How many more bytes there is room for.
    pub fn left(&self) -> usize {
        self.left
    }

    /// The block.
    pub fn finish(self, acknowledged: u16) -> MessageBlock<'a> {
        let BlockWriter { room, written, selective_len, reliable_end, first, has_events, .. } =
            self;
        let room: &'a [u8] = room;
        MessageBlock {
            acknowledged,
            selective: Selective(&room[..selective_len]),
            reliable: Reliable {
                first,
                count: self.reliable,
                has_events,
                body: &room[selective_len..reliable_end],
            },
            unreliable: Unreliable { count: self.unreliable, body: &room[reliable_end..written] },
        }
    }

    /// Nothing is put without room.
    fn put(&mut self, bytes: &[u8]) {
        self.room[self.written..self.written + bytes.len()].copy_from_slice(bytes);
        self.written += bytes.len();
    }
}

/// What a client has to say.
///
/// ```text
/// 0         2
/// | session | MessageBlock |
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct ClientMessages<'a> {
    /// The client's.
    pub session: SessionIndex,
    /// The client's messages.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub block: MessageBlock<'a>,
}

impl<'a> ClientMessages<'a> {
    pub(super) fn decode(r: &mut Reader<'a>) -> Result<Self, Malformed> {
        let session = <SessionIndex as Field>::decode(r, "session")?;
        Ok(ClientMessages { session, block: MessageBlock::decode_from_client(r)? })
    }

    pub(super) fn encode(&self, w: &mut Writer<'_>) {
        w.u16_be(self.session.get());
        self.block.encode(w);
    }
}

/// What a server has to say: a [`MessageBlock`] and nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct ServerMessages<'a> {
    /// The server's messages.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub block: MessageBlock<'a>,
}

impl<'a> ServerMessages<'a> {
    pub(super) fn decode(r: &mut Reader<'a>) -> Result<Self, Malformed> {
        Ok(ServerMessages { block: MessageBlock::decode(r)? })
    }

    pub(super) fn encode(&self, w: &mut Writer<'_>) {
        self.block.encode(w);
    }
}

const _: () = assert!(
    super::HEADER_LEN + 2 + MessageBlock::ONE_MESSAGE_LEN <= super::MIN_BUDGET as usize,
    "the longest message fits the shortest datagram"
);

#[cfg(test)]
mod tests;
