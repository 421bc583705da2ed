//! `ack`: document 004, literally. Big-endian throughout, floats too; the header is that of `native`.
//!
//! ```text
//! 0         1      2       3                5          9
//! | version | type | flags | payload_length | sequence | payload ...
//! ```

mod end;
mod handshake;
mod input;
mod ping;
mod snapshot;

pub use end::{Bye, Leave};
pub use handshake::{Challenge, Hello, Join, Refused, Welcome};
pub use input::ClientInput;
pub use ping::{Ping, Pong};
pub use snapshot::{ENTITIES_MAX, Snapshot, entity_type};

use backspin::wire::field::packets;
use backspin::wire::native::{HEADER_LEN, MAX_DATAGRAM_LEN, VERSION};
use backspin::wire::{Fault, Full, Malformed, RawName, Reader, Writer};

/// What a person reads: at most 64 bytes.
pub type Sentence = RawName;

/// More datagrams of the same tick follow.
const MORE: u8 = 4;

/// A packet with the number of the datagram that carries it.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Datagram<'a> {
    /// Counts what one side sends to the other, one up each. The answer to a stranger has the number of
    /// what it answers.
    pub sequence: u32,
    /// What is in it.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub packet: Packet<'a>,
}

packets! {
    Packet<'a>
    0x10 ClientInput "CLIENT_INPUT" ToServer, "The buttons, numbered.";
    0x20 Hello "HELLO" ToServer, "A stranger asks for a cookie.";
    0x21 Join<'a> "JOIN" ToServer, "With the cookie: a place to play.";
    0x22 Ping "PING" ToServer, "How far is the server?";
    0x23 Leave "LEAVE" ToServer, "The player leaves.";
    0xA0 Snapshot<'a> "SERVER_SNAPSHOT" ToClient, "The world, and the last input that was processed.";
    0xB0 Challenge "CHALLENGE" ToClient, "Prove your address with this.";
    0xB1 Welcome "WELCOME" ToClient, "The place.";
    0xB2 Refused "REFUSED" ToClient, "No place, and why.";
    0xB3 Pong "PONG" ToClient, "The PING, sent back.";
    0xB4 Bye "BYE" ToClient, "The server ends it, and says why.";
}

impl Packet<'_> {
    const fn flags(&self) -> u8 {
        match self {
            Packet::Snapshot(Snapshot { more: true, .. }) => MORE,
            _ => 0,
        }
    }
}

/// Whether a header is one of this dialect: `native` has types of its own, but for two.
const fn is_ours(kind: u8, flags: u8, payload_len: usize) -> bool {
    match kind {
        0x10 => flags == 0 && payload_len == ClientInput::LEN,
        0xA0 => flags == 0 || flags == MORE,
        kind => Packet::is_known(kind),
    }
}

/// Whether bytes of no dialect's shape come close to this one: a type that no other has, or all of it but the
/// order of the length's bytes.
pub fn is_close(bytes: &[u8]) -> bool {
    let is_its_own = |kind| Packet::is_known(kind) && !matches!(kind, 0x10 | 0xA0);
    matches!(bytes, &[VERSION, kind, ..] if is_its_own(kind)) || Datagram::is_misordered(bytes)
}

impl<'a> Datagram<'a> {
    /// Whether `bytes` have the header of a datagram of this dialect.
    #[inline]
    pub fn has_shape(bytes: &[u8]) -> bool {
        let Some(&[VERSION, kind, flags, high, low, ..]) = bytes.first_chunk::<HEADER_LEN>() else {
            return false;
        };
        let payload_len = usize::from(u16::from_be_bytes([high, low]));
        bytes.len() == HEADER_LEN + payload_len && is_ours(kind, flags, payload_len)
    }

    /// Whether they would, if their length were written in little-endian: a common slip.
    pub fn is_misordered(bytes: &[u8]) -> bool {
        let Some(&[VERSION, kind, flags, low, high, ..]) = bytes.first_chunk::<HEADER_LEN>() else {
            return false;
        };
        let payload_len = usize::from(u16::from_le_bytes([low, high]));
        bytes.len() == HEADER_LEN + payload_len && low != high && is_ours(kind, flags, payload_len)
    }

    /// Reads one datagram.
    pub fn decode(bytes: &'a [u8]) -> Result<Self, Malformed> {
        let mut r = Reader::new(bytes);
        let (version, kind, flags) = (r.u8("version")?, r.u8("type")?, r.u8("flags")?);
        if version != VERSION {
            return Err(Malformed::new("version", Fault::Version(version)));
        }
        if !Packet::is_known(kind) {
            return Err(Malformed::new("type", Fault::UnknownType(kind)));
        }
        if flags != 0 && (flags, kind) != (MORE, 0xA0) {
            return Err(Malformed::out_of_range("flags", flags));
        }
        let (stated, sequence) = (r.u16_be("payload_length")?, r.u32_be("sequence")?);
        let (stated, payload) = (usize::from(stated), r.take_rest());
        if stated != payload.len() {
            let fault = match Datagram::is_misordered(bytes) {
                true => Fault::ByteOrder,
                false => Fault::WrongSize { stated, actual: payload.len() },
            };
            return Err(Malformed::new("payload_length", fault));
        }
        if bytes.len() > MAX_DATAGRAM_LEN {
            return Err(Malformed::out_of_range("payload_length", stated as u32));
        }
        let mut packet = Packet::decode_payload(kind, payload)?;
        if let Packet::Snapshot(snapshot) = &mut packet {
            snapshot.more = flags == MORE;
        }
        Ok(Datagram { sequence, packet })
    }

    /// Writes one datagram and says how long it is.
    pub fn encode(&self, out: &mut [u8]) -> Result<usize, Full> {
        let limit = out.len().min(MAX_DATAGRAM_LEN);
        let mut w = Writer::new(&mut out[..limit]);
        w.bytes(&[VERSION, self.packet.kind(), self.packet.flags(), 0, 0]);
        w.u32_be(self.sequence);
        self.packet.encode_payload(&mut w);
        let len = w.written().saturating_sub(HEADER_LEN) as u16;
        w.patch(3, &len.to_be_bytes());
        w.finish()
    }
}

/// The sentence of these words, as much of it as there is room for.
pub(super) fn sentence(words: &str) -> Sentence {
    let whole = RawName::decode(&mut Reader::new(words.as_bytes()), "sentence");
    whole.unwrap_or_else(|_| backspin::wire::Name::new(words).into())
}

#[cfg(test)]
pub(super) mod testing {
    use super::*;
    use crate::testing::check;

    /// A datagram of these bytes, numbered 0x0A0B0C0D.
    pub(in crate::ack) fn datagram(kind: u8, payload: &[u8]) -> Vec<u8> {
        let len = u16::try_from(payload.len()).unwrap().to_be_bytes();
        [&[1, kind, 0, len[0], len[1], 0x0A, 0x0B, 0x0C, 0x0D], payload].concat()
    }

    /// The vector and all that comes close to it, as every packet's tests do; and the payload cut short or
    /// longer behind a header that says so is refused, or is a packet that encodes to itself.
    pub(in crate::ack) fn check_packet(kind: u8, payload: &[u8], packet: Packet<'_>) {
        check(&datagram(kind, payload), &Datagram { sequence: 0x0A0B_0C0D, packet });
        let longer = [payload, &[0]].concat();
        for other in (0..payload.len()).map(|len| &payload[..len]).chain([&longer[..]]) {
            let bytes = datagram(kind, other);
            let mut out = [0; MAX_DATAGRAM_LEN];
            if let Ok(datagram) = Datagram::decode(&bytes) {
                let len = datagram.encode(&mut out).unwrap();
                assert_eq!(out[..len], bytes);
            }
        }
    }

    pub(in crate::ack) fn fault(kind: u8, payload: &[u8]) -> Malformed {
        Datagram::decode(&datagram(kind, payload)).unwrap_err()
    }
}

#[cfg(test)]
mod tests {
    use super::testing::{datagram, fault};
    use super::*;

    #[test]
    fn every_fault_of_a_header_is_named() {
        let leave = datagram(0x23, &[]);
        let fields = ["version", "type", "flags", "payload_length", "payload_length"];
        for (len, field) in fields.into_iter().chain(["sequence"; 4]).enumerate() {
            let truncated = Malformed::new(field, Fault::Truncated);
            assert_eq!(Datagram::decode(&leave[..len]), Err(truncated));
            assert!(!Datagram::has_shape(&leave[..len]));
        }
        let changed = |at: usize, value| {
            let mut bytes = leave.clone();
            bytes[at] = value;
            Datagram::decode(&bytes).unwrap_err()
        };
        assert_eq!(changed(0, 2), Malformed::new("version", Fault::Version(2)));
        for flags in [1, 2, 4, 8, 255] {
            assert_eq!(changed(2, flags), Malformed::out_of_range("flags", flags));
        }
        let wrong = Fault::WrongSize { stated: 1, actual: 0 };
        assert_eq!(changed(4, 1), Malformed::new("payload_length", wrong));
        let trailing = Malformed::new("LEAVE", Fault::Trailing { extra: 1 });
        assert_eq!(fault(0x23, &[0]), trailing);
        for kind in [0, 1, 0x11, 0x24, 0xA1, 0xB5, 0xFF] {
            assert_eq!(fault(kind, &[]), Malformed::new("type", Fault::UnknownType(kind)));
        }
    }

    #[test]
    fn a_little_endian_length_is_told_from_a_wrong_one() {
        let mut bytes = datagram(0x10, &[0; 14]);
        bytes.swap(3, 4);
        assert!(Datagram::is_misordered(&bytes) && !Datagram::has_shape(&bytes));
        let error = Datagram::decode(&bytes).unwrap_err();
        assert_eq!(error, Malformed::new("payload_length", Fault::ByteOrder));
        bytes.push(0);
        assert!(!Datagram::is_misordered(&bytes));
        // Where both ways read the same there is nothing to tell.
        assert!(!Datagram::is_misordered(&datagram(0x23, &[])));
    }

    #[test]
    fn native_and_this_dialect_share_two_types_and_no_shape() {
        use backspin::wire::native;
        for kind in 0..=255 {
            for flags in 0..=255 {
                for len in [0, 6, 13, 14, 15, 17, 32] {
                    let mut bytes = datagram(kind, &vec![0; len]);
                    bytes[2] = flags;
                    assert!(!(Datagram::has_shape(&bytes) && native::has_shape(&bytes)));
                }
            }
        }
    }
}
