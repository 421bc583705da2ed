//! What is around every native packet: the header, and the compression of what is behind it.
//!
//! ```text
//! 0         1      2       3                5          9                     13
//! | version | type | flags | payload_length | sequence | uncompressed_size   | payload ...
//!                                                        (if COMPRESSED)
//! ```

use super::{Packet, SessionIndex};
use crate::sabotage::{self, Sabotage};
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

/// The bytes of `uncompressed_size`.
const SIZE_LEN: usize = 4;
const COMPRESSED_HEADER_LEN: usize = HEADER_LEN + SIZE_LEN;

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

/// Where a datagram says that it belongs: all that is read of it before its session opens it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Label {
    /// Which of the server's sessions.
    pub session: SessionIndex,
    /// The number of the datagram.
    pub sequence: u32,
}

impl Label {
    /// The label of a client's datagram, if it names a session. Nothing else about it is checked.
    #[inline]
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let &[VERSION, kind, 0, _, _, a, b, c, d, high, low] = bytes.first_chunk()? else {
            return None;
        };
        let session = SessionIndex::new(u16::from_be_bytes([high, low]))?;
        let sequence = u32::from_be_bytes([a, b, c, d]);
        Packet::is_in_session(kind).then_some(Label { session, sequence })
    }
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
            Ok(packed) if packed + SIZE_LEN < len && Packet::is_to_client(self.packet.kind()) => {
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
        let mut payload = r.take_rest();
        if sabotage::is(Sabotage::TrustLength) {
            payload = &payload[..stated];
        }
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

/// Compression that does not make the datagram shorter is a second way to say the same.
fn check_uncompressed(size: u32, compressed: usize) -> Result<usize, Malformed> {
    let field = "uncompressed_size";
    let len = usize::try_from(size).unwrap_or(usize::MAX);
    match len {
        len if len > MAX_UNCOMPRESSED_LEN => Err(Malformed::out_of_range(field, size)),
        len if len <= compressed + SIZE_LEN => Err(Malformed::new(field, Fault::NotCanonical)),
        len => Ok(len),
    }
}

#[inline]
fn write_header(w: &mut Writer<'_>, kind: u8, flags: u8, sequence: u32) {
    let [a, b, c, d] = sequence.to_be_bytes();
    w.bytes(&[VERSION, kind, flags, 0, 0, a, b, c, d]);
}

#[inline]
fn write_payload_len(w: &mut Writer<'_>, header_len: usize) {
    match u16::try_from(w.written().saturating_sub(header_len)) {
        Ok(len) => w.patch(3, &len.to_be_bytes()),
        Err(_) => w.overflow(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::List;
    use crate::wire::native::{DeltaSnapshot, EntityState, Hello, Part, Pong, Snapshot};
    use crate::wire::testing::{check, native_datagram};

    const PONG: [u8; 17] = [1, 0x85, 0, 0, 8, 0x0A, 0x0B, 0x0C, 0x0D, 0, 0, 0, 5, 0, 0, 0x30, 0x39];

    /// A DeltaSnapshot with a body of 36 zeros: eight literals, a match of 26 at distance 1, and
    /// the five literals that end every block.
    const PACKED: [u8; 31] = [
        1, 0xA1, 1, 0, 18, 0x0A, 0x0B, 0x0C, 0x0D, 0, 0, 0, 39, // header
        0x8F, 0, 9, 0, 0, 0, 0, 0, 0, 1, 0, 7, 0x50, 0, 0, 0, 0, 0,
    ];

    fn delta(body: &[u8]) -> Datagram<'_> {
        let (baseline_back, feedback, part, events) = (0, None, Part::WHOLE, None);
        let delta = DeltaSnapshot { tick: 9, baseline_back, feedback, part, events, body };
        Datagram { sequence: 0x0A0B_0C0D, packet: Packet::DeltaSnapshot(delta) }
    }

    fn unpacked(bytes: &[u8]) -> Result<(), Malformed> {
        Datagram::decode_compressed(bytes, &mut Scratch::default()).map(|_| ())
    }

    /// [`PACKED`] with another `uncompressed_size`.
    fn sized(size: u32) -> [u8; 31] {
        let mut bytes = PACKED;
        bytes[9..13].copy_from_slice(&size.to_be_bytes());
        bytes
    }

    /// What `datagram` looks like when compressed and back.
    fn packed(datagram: &Datagram<'_>) -> Result<Vec<u8>, Full> {
        let (mut out, mut scratch) = (vec![0; 2000], Scratch::default());
        let len = datagram.encode_compressed(&mut out, &mut scratch)?;
        out.truncate(len);
        assert_eq!(Datagram::decode_compressed(&out, &mut scratch).as_ref(), Ok(datagram));
        Ok(out)
    }

    /// Bytes that no compressor shortens.
    fn noise(len: usize) -> Vec<u8> {
        let mut state = 1_u32;
        let next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        };
        std::iter::repeat_with(next).take(len).collect()
    }

    #[test]
    fn a_header_is_nine_bytes() {
        let pong = Packet::Pong(Pong { id: 5, timestamp: 12345 });
        check(&PONG, &Datagram { sequence: 0x0A0B_0C0D, packet: pong });
        assert!(has_shape(&PONG));
        let mut scratch = Scratch::default();
        let plain = Datagram::decode_compressed(&PONG, &mut scratch);
        assert_eq!(plain, Datagram::decode(&PONG));
    }

    #[test]
    fn every_fault_of_a_header_is_named() {
        let fields = [
            (0, "version"),
            (1, "type"),
            (2, "flags"),
            (3, "payload_length"),
            (4, "payload_length"),
            (5, "sequence"),
            (8, "sequence"),
        ];
        for (len, field) in fields {
            let truncated = Malformed::new(field, Fault::Truncated);
            assert_eq!(Datagram::decode(&PONG[..len]), Err(truncated));
            assert!(!has_shape(&PONG[..len]));
        }
        let changed = |at: usize, value| {
            let mut bytes = PONG;
            bytes[at] = value;
            Datagram::decode(&bytes).unwrap_err()
        };
        for version in [0, 2, 255] {
            assert_eq!(changed(0, version), Malformed::new("version", Fault::Version(version)));
        }
        assert_eq!(changed(1, 0xFF), Malformed::new("type", Fault::UnknownType(0xFF)));
        for stated in [7, 9] {
            let fault = Fault::WrongSize { stated, actual: 8 };
            assert_eq!(changed(4, stated as u8), Malformed::new("payload_length", fault));
        }
        let truncated = Malformed::new("uncompressed_size", Fault::Truncated);
        assert_eq!(unpacked(&PACKED[..12]), Err(truncated));
    }

    #[test]
    fn reserved_flags_are_refused() {
        for flags in [2, 3, 4, 0x80, 0xFF] {
            let fault = Err(Malformed::out_of_range("flags", flags));
            let mut bytes = PONG;
            bytes[2] = flags;
            assert_eq!(unpacked(&bytes), fault);
            let mut bytes = PACKED;
            bytes[2] = flags;
            assert_eq!(unpacked(&bytes), fault);
        }
    }

    #[test]
    fn a_server_unpacks_nothing() {
        let fault = Err(Malformed::out_of_range("flags", 1));
        assert_eq!(Datagram::decode(&PACKED).map(|_| ()), fault);
        for kind in (0..0x80).filter(|&kind| Packet::is_known(kind)) {
            let mut bytes = PACKED;
            bytes[1] = kind;
            assert_eq!(unpacked(&bytes), fault, "type {kind:#04x}");
        }
        // Its padding would compress well.
        let hello = Packet::Hello(Hello { protocol: 1, game: 0, game_version: 0, nonce: 0 });
        assert_eq!(packed(&Datagram { sequence: 0, packet: hello }).unwrap()[2], 0);
    }

    #[test]
    fn a_compressed_packet_is_unpacked_into_the_scratch() {
        let mut scratch = Scratch::default();
        let unpacked = Datagram::decode_compressed(&PACKED, &mut scratch);
        assert_eq!(unpacked, Ok(delta(&[0; 36])));
        assert!(has_shape(&PACKED));
        // A block has more than one form: ours finds its match sooner and is shorter.
        let ours = packed(&delta(&[0; 36])).unwrap();
        assert_eq!(ours[5..COMPRESSED_HEADER_LEN], PACKED[5..COMPRESSED_HEADER_LEN]);
        assert!(ours.len() < PACKED.len());
    }

    #[test]
    fn compression_that_does_not_shorten_is_a_second_form() {
        // The match grows from 8 to 9 bytes, so that 17 + 4 is no longer all of the payload.
        let block = |token, size| {
            let start = [1, 0xA1, 1, 0, 17, 0, 0, 0, 0, 0, 0, 0, size, token];
            [&start[..], &[0, 9, 0, 0, 0, 0, 0, 0, 1, 0, 0x50, 0, 0, 0, 0, 0]].concat()
        };
        let second = Malformed::new("uncompressed_size", Fault::NotCanonical);
        assert_eq!(unpacked(&block(0x84, 21)), Err(second));
        assert_eq!(unpacked(&block(0x85, 22)), Ok(()));
        assert_eq!(unpacked(&sized(0)), Err(second));
        let noise = noise(100);
        let plain = delta(&noise);
        assert_eq!(packed(&plain).unwrap()[2], 0);
    }

    #[test]
    fn the_uncompressed_size_is_bounded_before_anything_is_unpacked() {
        const FIELD: &str = "uncompressed_size";
        let most = MAX_UNCOMPRESSED_LEN as u32;
        for size in [most + 1, u32::MAX] {
            assert_eq!(unpacked(&sized(size)), Err(Malformed::out_of_range(FIELD, size)));
        }
        let wrong = Malformed::new("payload", Fault::Compression);
        assert_eq!(unpacked(&sized(most)), Err(wrong));
        let body = [0; MAX_UNCOMPRESSED_LEN];
        let longest = packed(&delta(&body[3..])).unwrap();
        assert_eq!(longest[9..13], most.to_be_bytes());
        assert_eq!(packed(&delta(&body[2..])), Err(Full));
    }

    #[test]
    fn a_block_that_does_not_give_the_stated_size_is_refused() {
        let wrong = Err(Malformed::new("payload", Fault::Compression));
        for size in [38, 40] {
            assert_eq!(unpacked(&sized(size)), wrong);
        }
        for distance in [0, 9] {
            let mut bytes = PACKED;
            bytes[22] = distance;
            assert_eq!(unpacked(&bytes), wrong, "a match at distance {distance}");
        }
        let mut bytes = PACKED.to_vec();
        bytes.pop();
        bytes[4] -= 1;
        assert_eq!(unpacked(&bytes), wrong);
    }

    #[test]
    fn what_is_unpacked_is_checked_like_what_came_plain() {
        let mut bytes = PACKED;
        bytes[1] = 0x85;
        let trailing = Malformed::new("Pong", Fault::Trailing { extra: 31 });
        assert_eq!(unpacked(&bytes), Err(trailing));
        let mut bytes = PACKED;
        bytes[16] = 33;
        assert_eq!(unpacked(&bytes), Err(Malformed::out_of_range("baseline_back", 33)));
    }

    #[test]
    fn whatever_a_changed_byte_unpacks_to_packs_again() {
        let (mut scratch, mut again) = (Scratch::default(), Scratch::default());
        for at in 0..PACKED.len() {
            assert!(unpacked(&PACKED[..at]).is_err());
            for value in 0..=255 {
                let mut bytes = PACKED;
                bytes[at] = value;
                let Ok(datagram) = Datagram::decode_compressed(&bytes, &mut scratch) else {
                    continue;
                };
                let mut out = [0; MAX_DATAGRAM_LEN];
                let len = datagram.encode_compressed(&mut out, &mut again).unwrap();
                assert_eq!(Datagram::decode_compressed(&out[..len], &mut again), Ok(datagram));
            }
        }
    }

    #[test]
    fn a_large_snapshot_goes_through_compression() {
        let entities: Vec<_> = (0..600)
            .map(|i| EntityState {
                entity_id: i,
                entity_type: 2,
                x: 0.0,
                y: 0.0,
                vx: -60,
                vy: 0,
                health: 1,
                flags: 0,
                last_ack_sequence: 0,
            })
            .collect();
        let snapshot = |n| {
            let snapshot = Snapshot { server_tick: 7, entities: List::new(&entities[..n]) };
            Datagram { sequence: 1, packet: Packet::Snapshot(snapshot) }
        };
        let large = snapshot(100);
        let bytes = packed(&large).unwrap();
        assert!(bytes[2] == 1 && bytes.len() <= MAX_DATAGRAM_LEN);
        assert_eq!(large.encode(&mut [0; 4000]), Err(Full), "it does not fit uncompressed");
        assert_eq!(packed(&snapshot(600)), Err(Full), "too much, even compressed");
        assert_eq!(large.encode_compressed(&mut [0; 100], &mut Scratch::default()), Err(Full));
    }

    #[test]
    fn a_datagram_has_at_most_1200_bytes() {
        let body = noise(MAX_DATAGRAM_LEN - HEADER_LEN - 3 + 1);
        let longest = delta(&body[1..]);
        let mut out = [0; 1500];
        assert_eq!(longest.encode(&mut out), Ok(MAX_DATAGRAM_LEN));
        assert_eq!(Datagram::decode(&out[..MAX_DATAGRAM_LEN]), Ok(longest));
        assert_eq!(delta(&body).encode(&mut out), Err(Full));
        assert_eq!(packed(&delta(&body)), Err(Full));
        let mut payload = vec![0, 9, 0];
        payload.extend(&body);
        let fault = Malformed::out_of_range("payload_length", 1192);
        assert_eq!(Datagram::decode(&native_datagram(0xA1, &payload)), Err(fault));
    }

    #[test]
    fn a_compressed_datagram_has_at_most_1200_bytes() {
        let mut bytes = sized(2000).to_vec();
        bytes.resize(MAX_DATAGRAM_LEN + 1, 0);
        bytes[3..5].copy_from_slice(&1188_u16.to_be_bytes());
        assert_eq!(unpacked(&bytes), Err(Malformed::out_of_range("payload_length", 1188)));
    }
}
