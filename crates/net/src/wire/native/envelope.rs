//! What is around every native packet: the header.
//!
//! ```text
//! 0         1      2       3                5          9
//! | version | type | flags | payload_length | sequence | payload ...
//! ```

use super::{Packet, SessionIndex};
use crate::sabotage::{self, Sabotage};
use crate::wire::malformed::{Fault, Malformed};
use crate::wire::{Full, Reader, Writer};

/// The version byte of every header.
pub const VERSION: u8 = 1;

/// The bytes of a header.
pub const HEADER_LEN: usize = 9;

/// The longest datagram; a session may agree on less.
pub const MAX_DATAGRAM_LEN: usize = 1200;

/// The shortest budget that a session may agree on.
pub const MIN_BUDGET: u16 = 1024;

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
    let Some(&[VERSION, kind, _, high, low, ..]) = bytes.first_chunk::<HEADER_LEN>() else {
        return false;
    };
    let payload_len = usize::from(u16::from_be_bytes([high, low]));
    bytes.len() == HEADER_LEN + payload_len && Packet::is_known(kind)
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
    /// Reads one datagram.
    #[inline]
    pub fn decode(bytes: &'a [u8]) -> Result<Self, Malformed> {
        let mut r = Reader::new(bytes);
        let (version, kind, flags) = (r.u8("version")?, r.u8("type")?, r.u8("flags")?);
        if version != VERSION {
            return Err(Malformed::new("version", Fault::Version(version)));
        }
        if !Packet::is_known(kind) {
            return Err(Malformed::new("type", Fault::UnknownType(kind)));
        }
        if flags != 0 {
            return Err(Malformed::out_of_range("flags", flags));
        }
        let (stated, sequence) = (r.u16_be("payload_length")?, r.u32_be("sequence")?);
        let stated = usize::from(stated);
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
        Ok(Datagram { sequence, packet: Packet::decode_payload(kind, payload)? })
    }

    /// Writes one datagram and says how long it is.
    #[inline]
    pub fn encode(&self, out: &mut [u8]) -> Result<usize, Full> {
        let limit = out.len().min(MAX_DATAGRAM_LEN);
        let mut w = Writer::new(&mut out[..limit]);
        let [a, b, c, d] = self.sequence.to_be_bytes();
        w.bytes(&[VERSION, self.packet.kind(), 0, 0, 0, a, b, c, d]);
        self.packet.encode_payload(&mut w);
        match u16::try_from(w.written().saturating_sub(HEADER_LEN)) {
            Ok(len) => w.patch(3, &len.to_be_bytes()),
            Err(_) => w.overflow(),
        }
        w.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::native::{DeltaSnapshot, Pong};
    use crate::wire::testing::{check, native_datagram};

    const PONG: [u8; 17] = [1, 0x85, 0, 0, 8, 0x0A, 0x0B, 0x0C, 0x0D, 0, 0, 0, 5, 0, 0, 0x30, 0x39];

    fn delta(body: &[u8]) -> Datagram<'_> {
        let (baseline_back, feedback, messages) = (0, None, None);
        let delta = DeltaSnapshot { tick: 9, baseline_back, feedback, messages, body };
        Datagram { sequence: 0x0A0B_0C0D, packet: Packet::DeltaSnapshot(delta) }
    }

    #[test]
    fn a_header_is_nine_bytes() {
        let pong = Packet::Pong(Pong { id: 5, timestamp: 12345 });
        check(&PONG, &Datagram { sequence: 0x0A0B_0C0D, packet: pong });
        assert!(has_shape(&PONG));
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
    }

    #[test]
    fn flags_other_than_0_are_refused() {
        for flags in [1, 2, 4, 0x80, 0xFF] {
            let mut bytes = PONG;
            bytes[2] = flags;
            let fault = Malformed::out_of_range("flags", flags);
            assert_eq!(Datagram::decode(&bytes), Err(fault));
            assert!(has_shape(&bytes), "so that the fault is named");
        }
    }

    #[test]
    fn a_datagram_has_at_most_1200_bytes() {
        let body = [0xA5; MAX_DATAGRAM_LEN - HEADER_LEN - 3 + 1];
        let longest = delta(&body[1..]);
        let mut out = [0; 1500];
        assert_eq!(longest.encode(&mut out), Ok(MAX_DATAGRAM_LEN));
        assert_eq!(Datagram::decode(&out[..MAX_DATAGRAM_LEN]), Ok(longest));
        assert_eq!(delta(&body).encode(&mut out), Err(Full));
        let mut payload = vec![0, 9, 0];
        payload.extend(&body);
        let fault = Malformed::out_of_range("payload_length", 1192);
        assert_eq!(Datagram::decode(&native_datagram(0xA1, &payload)), Err(fault));
    }
}
