//! Datagrams of any dialect: for whoever reads them all.

use std::fmt;

use backspin::wire::{Fault, Malformed, native};

use crate::wire::{ack, lan, rtype};

/// The protocols spoken here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// Networked Pong.
    Lan,
    /// R-Type sessions.
    Rtype,
    /// The R-Type ACK system, extended.
    Native,
    /// The R-Type ACK system, literally.
    Ack,
}

impl Dialect {
    /// All of them.
    pub const ALL: [Dialect; 4] = [Dialect::Native, Dialect::Lan, Dialect::Rtype, Dialect::Ack];

    /// The dialect of a datagram, from its first bytes and its length alone. At most one fits:
    /// PROTOCOL.md, "Telling them apart", shows why.
    #[inline]
    pub fn detect(bytes: &[u8]) -> Option<Dialect> {
        if native::has_shape(bytes) {
            return Some(Dialect::Native);
        }
        if lan::Packet::has_shape(bytes) {
            return Some(Dialect::Lan);
        }
        if rtype::Packet::has_shape(bytes) {
            return Some(Dialect::Rtype);
        }
        ack::Datagram::has_shape(bytes).then_some(Dialect::Ack)
    }

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Dialect::Lan => "lan",
            Dialect::Rtype => "rtype",
            Dialect::Native => "native",
            Dialect::Ack => "ack",
        }
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A datagram of any dialect.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(untagged))]
pub enum Packet<'a> {
    /// Networked Pong.
    Lan(lan::Packet),
    /// R-Type sessions.
    Rtype(rtype::Packet<'a>),
    /// The R-Type ACK system, extended.
    Native(native::Datagram<'a>),
    /// The R-Type ACK system, literally.
    Ack(ack::Datagram<'a>),
}

impl<'a> Packet<'a> {
    /// Reads one datagram of whichever dialect it is.
    ///
    /// A datagram of no dialect's shape gets the error of the dialect that it comes closest to,
    /// for the person who reads it.
    pub fn decode(bytes: &'a [u8]) -> Result<Self, Malformed> {
        match Dialect::detect(bytes).or_else(|| closest(bytes)) {
            Some(Dialect::Lan) => lan::Packet::decode(bytes).map(Packet::Lan),
            Some(Dialect::Rtype) => rtype::Packet::decode(bytes).map(Packet::Rtype),
            Some(Dialect::Native) => native::Datagram::decode(bytes).map(Packet::Native),
            Some(Dialect::Ack) => ack::Datagram::decode(bytes).map(Packet::Ack),
            None => Err(Malformed::new("datagram", Fault::NoDialect)),
        }
    }

    /// Whose packet it is.
    pub const fn dialect(&self) -> Dialect {
        match self {
            Packet::Lan(_) => Dialect::Lan,
            Packet::Rtype(_) => Dialect::Rtype,
            Packet::Native(_) => Dialect::Native,
            Packet::Ack(_) => Dialect::Ack,
        }
    }

    /// The packet's name in PROTOCOL.md.
    pub const fn name(&self) -> &'static str {
        match self {
            Packet::Lan(packet) => packet.name(),
            Packet::Rtype(packet) => packet.name(),
            Packet::Native(datagram) => datagram.packet.name(),
            Packet::Ack(datagram) => datagram.packet.name(),
        }
    }
}

/// The dialect that bytes of no dialect's shape were most likely meant to be.
fn closest(bytes: &[u8]) -> Option<Dialect> {
    let size = bytes.first_chunk().map(|&size| usize::from(u16::from_le_bytes(size)));
    let sized = size.is_some_and(|size| size + rtype::HEADER_LEN == bytes.len());
    if sized || bytes.get(3) == Some(&rtype::VERSION) {
        return Some(Dialect::Rtype);
    }
    match bytes.first() {
        Some(_) if ack::is_close(bytes) => Some(Dialect::Ack),
        Some(&native::VERSION) if bytes.len() > 1 => Some(Dialect::Native),
        Some(1..=6) => Some(Dialect::Lan),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(bytes: &[u8]) -> Malformed {
        assert_eq!(Dialect::detect(bytes), None);
        Packet::decode(bytes).unwrap_err()
    }

    #[test]
    fn bytes_of_no_dialect_get_the_error_of_the_closest() {
        let size = Fault::WrongSize { stated: 8, actual: 2 };
        assert_eq!(error(&[8, 0, 7, 1, 5, 0]), Malformed::new("size", size));
        assert_eq!(error(&[0, 0, 2, 9]), Malformed::new("version", Fault::Version(9)));
        let length = Fault::WrongSize { stated: 8, actual: 0 };
        assert_eq!(
            error(&[1, 0x85, 0, 0, 8, 0, 0, 0, 1]),
            Malformed::new("payload_length", length)
        );
        assert_eq!(error(&[5, 0, 0]), Malformed::new("y", Fault::Truncated));
        for bytes in [&[][..], &[0], &[7, 7, 7], &[0xFF; 40]] {
            assert_eq!(error(bytes), Malformed::new("datagram", Fault::NoDialect));
        }
    }

    #[test]
    fn a_packet_knows_its_dialect_and_name() {
        let vectors = [
            (&[1][..], "lan", "FIND_HOST"),
            (&[0, 0, 2, 1], "rtype", "HelloAck"),
            (&[1, 6, 0, 0, 2, 0, 0, 0, 0, 0, 1], "native", "Goodbye"),
        ];
        for (bytes, dialect, name) in vectors {
            let packet = Packet::decode(bytes).unwrap();
            assert_eq!((packet.dialect().to_string().as_str(), packet.name()), (dialect, name));
        }
    }
}
