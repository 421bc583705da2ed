//! What is around every native packet: the header, and the compression of what is behind it.
//!
//! ```text
//! 0         1      2       3                5          9                     13
//! | version | type | flags | payload_length | sequence | uncompressed_size   | payload ...
//!                                                        (if COMPRESSED)
//! ```

use super::Packet;
use crate::wire::malformed::{Fault, Malformed};
use crate::wire::{Full, Reader, Writer};

/// The version byte of every header.
pub const VERSION: u8 = 1;

/// The bytes of a header without compression.
pub const HEADER_LEN: usize = 9;

/// The longest datagram; a session may agree on less.
pub const MAX_DATAGRAM_LEN: usize = 1200;

/// The shortest budget that a session may agree on.
pub const MIN_BUDGET: u16 = 1024;

/// The longest payload after decompression.
pub const MAX_UNCOMPRESSED_LEN: usize = 16 * 1024;

const COMPRESSED: u8 = 1;
const COMPRESSED_HEADER_LEN: usize = HEADER_LEN + 4;

/// Room for a payload on either side of the compression; made once, used for every datagram.
#[derive(Clone)]
pub struct Scratch {
    plain: Box<[u8; MAX_UNCOMPRESSED_LEN]>,
    // LZ4 asks for room for its worst case before it starts.
    packed: Box<[u8; lz4_flex::block::get_maximum_output_size(MAX_UNCOMPRESSED_LEN)]>,
}

impl Default for Scratch {
    fn default() -> Self {
        Scratch {
            plain: Box::new([0; MAX_UNCOMPRESSED_LEN]),
            packed: Box::new([0; lz4_flex::block::get_maximum_output_size(MAX_UNCOMPRESSED_LEN)]),
        }
    }
}

impl std::fmt::Debug for Scratch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Scratch")
    }
}

/// A packet with the number of the datagram that carries it.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Datagram<'a> {
    /// Counts the datagrams of a session, one up each, from a random start. The answer to a
    /// stranger carries the number of what it answers.
    pub sequence: u32,
    /// What is in it.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub packet: Packet<'a>,
}

/// Whether `bytes` have the header of a native datagram.
#[inline]
pub fn has_shape(bytes: &[u8]) -> bool {
    let Some(&[VERSION, kind, flags, high, low, ..]) = bytes.first_chunk::<HEADER_LEN>() else {
        return false;
    };
    let header_len = if flags & COMPRESSED == 0 { HEADER_LEN } else { COMPRESSED_HEADER_LEN };
    let payload_len = usize::from(u16::from_be_bytes([high, low]));
    bytes.len() == header_len + payload_len && Packet::is_known(kind)
}

impl<'a> Datagram<'a> {
    /// Reads one datagram whose payload is not compressed: all that a server ever takes.
    #[inline]
    pub fn decode(bytes: &'a [u8]) -> Result<Self, Malformed> {
        let envelope = Envelope::decode(bytes)?;
        match envelope.uncompressed_len {
            None => envelope.open(envelope.payload),
            Some(_) => Err(Malformed::out_of_range("flags", COMPRESSED)),
        }
    }

    /// Reads one datagram; a compressed payload is unpacked into `scratch`.
    #[inline]
    pub fn decode_compressed(bytes: &'a [u8], scratch: &'a mut Scratch) -> Result<Self, Malformed> {
        let envelope = Envelope::decode(bytes)?;
        let Some(len) = envelope.uncompressed_len else {
            return envelope.open(envelope.payload);
        };
        let wrong = Malformed::new("payload", Fault::Compression);
        let room = scratch.plain.get_mut(..len).ok_or(wrong)?;
        match lz4_flex::block::decompress_into(envelope.payload, room) {
            Ok(written) if written == len => envelope.open(room),
            _ => Err(wrong),
        }
    }

    /// Writes one datagram and says how long it is.
    #[inline]
    pub fn encode(&self, out: &mut [u8]) -> Result<usize, Full> {
        let limit = out.len().min(MAX_DATAGRAM_LEN);
        let mut w = Writer::new(&mut out[..limit]);
        write_header(&mut w, self.packet.kind(), 0, self.sequence);
        self.packet.encode(&mut w);
        write_payload_len(&mut w, HEADER_LEN);
        w.finish()
    }

    /// Writes one datagram with its payload compressed, through `scratch`, if that makes it
    /// shorter and it is one that a client takes compressed; else as [`Datagram::encode`] does.
    pub fn encode_compressed(&self, out: &mut [u8], scratch: &mut Scratch) -> Result<usize, Full> {
        let mut w = Writer::new(&mut scratch.plain[..]);
        self.packet.encode(&mut w);
        let len = w.finish()?;
        let packed = lz4_flex::block::compress_into(&scratch.plain[..len], &mut scratch.packed[..]);
        match packed {
            Ok(packed) if packed + 4 < len && Packet::is_to_client(self.packet.kind()) => {
                let limit = out.len().min(MAX_DATAGRAM_LEN);
                let mut w = Writer::new(&mut out[..limit]);
                write_header(&mut w, self.packet.kind(), COMPRESSED, self.sequence);
                w.u32_be(len as u32);
                w.bytes(&scratch.packed[..packed]);
                write_payload_len(&mut w, COMPRESSED_HEADER_LEN);
                w.finish()
            }
            _ => self.encode(out),
        }
    }
}

/// A datagram with its payload still closed.
struct Envelope<'a> {
    kind: u8,
    sequence: u32,
    uncompressed_len: Option<usize>,
    payload: &'a [u8],
}

impl<'a> Envelope<'a> {
    #[inline]
    fn decode(bytes: &'a [u8]) -> Result<Self, Malformed> {
        let mut r = Reader::new(bytes);
        let (version, kind, flags) = (r.u8("version")?, r.u8("type")?, r.u8("flags")?);
        if version != VERSION {
            return Err(Malformed::new("version", Fault::Version(version)));
        }
        if !Packet::is_known(kind) {
            return Err(Malformed::new("type", Fault::UnknownType(kind)));
        }
        // A server never unpacks for a stranger: only what goes to a client may be compressed.
        if flags > COMPRESSED || flags == COMPRESSED && !Packet::is_to_client(kind) {
            return Err(Malformed::out_of_range("flags", flags));
        }
        let (stated, sequence) = (r.u16_be("payload_length")?, r.u32_be("sequence")?);
        let stated = usize::from(stated);
        let uncompressed_len = match flags {
            COMPRESSED => Some(check_uncompressed(r.u32_be("uncompressed_size")?, stated)?),
            _ => None,
        };
        let payload = r.take_rest();
        if stated != payload.len() {
            let fault = Fault::WrongSize { stated, actual: payload.len() };
            return Err(Malformed::new("payload_length", fault));
        }
        if bytes.len() > MAX_DATAGRAM_LEN {
            return Err(Malformed::out_of_range("payload_length", stated as u32));
        }
        Ok(Envelope { kind, sequence, uncompressed_len, payload })
    }

    #[inline]
    fn open(&self, payload: &'a [u8]) -> Result<Datagram<'a>, Malformed> {
        let packet = Packet::decode(self.kind, payload)?;
        Ok(Datagram { sequence: self.sequence, packet })
    }
}

/// Compression that does not make shorter is a second way to say the same.
fn check_uncompressed(size: u32, compressed: usize) -> Result<usize, Malformed> {
    let field = "uncompressed_size";
    let len = usize::try_from(size).unwrap_or(usize::MAX);
    match len {
        len if len > MAX_UNCOMPRESSED_LEN => Err(Malformed::out_of_range(field, size)),
        len if len <= compressed => Err(Malformed::new(field, Fault::NotCanonical)),
        len => Ok(len),
    }
}

#[inline]
fn write_header(w: &mut Writer<'_>, kind: u8, flags: u8, sequence: u32) {
    w.bytes(&[VERSION, kind, flags, 0, 0]);
    w.u32_be(sequence);
}

#[inline]
fn write_payload_len(w: &mut Writer<'_>, header_len: usize) {
    match u16::try_from(w.written().saturating_sub(header_len)) {
        Ok(len) => w.patch(3, &len.to_be_bytes()),
        Err(_) => w.overflow(),
    }
}
