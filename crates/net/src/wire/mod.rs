//! Bytes and packets: three dialects, each a folder, every message in both directions.
//!
//! Below is the socket with its datagrams; above, the session with what they mean. Decoding
//! allocates nothing, never panics, and takes exactly one encoding of every value: a packet that
//! decodes encodes to the same bytes. What does not decode is a [`Malformed`] that names the field.

mod list;
mod malformed;
mod name;
mod reader;
mod writer;

#[cfg(feature = "serde")]
pub(crate) mod hex;
#[cfg(feature = "lan")]
pub mod lan;
pub mod native;
#[cfg(feature = "rtype")]
pub mod rtype;
#[cfg(test)]
mod testing;

pub use list::{List, Record};
pub use malformed::{Fault, Malformed};
pub use name::Name;
pub use reader::Reader;
pub use writer::{Full, Writer};

use std::fmt;

/// The protocols spoken here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// Networked Pong.
    #[cfg(feature = "lan")]
    Lan,
    /// R-Type sessions.
    #[cfg(feature = "rtype")]
    Rtype,
    /// The R-Type ACK system, extended.
    Native,
}

/// Who sends a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// A client, to a server.
    ToServer,
    /// A server, to a client.
    ToClient,
    /// Either.
    Both,
}

impl Dialect {
    /// The dialect of a datagram, from its first bytes and its length alone. At most one fits:
    /// PROTOCOL.md, "Telling them apart", shows why.
    #[inline]
    pub fn detect(bytes: &[u8]) -> Option<Dialect> {
        if native::has_shape(bytes) {
            return Some(Dialect::Native);
        }
        #[cfg(feature = "lan")]
        if lan::Packet::has_shape(bytes) {
            return Some(Dialect::Lan);
        }
        #[cfg(feature = "rtype")]
        if rtype::Packet::has_shape(bytes) {
            return Some(Dialect::Rtype);
        }
        None
    }

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            #[cfg(feature = "lan")]
            Dialect::Lan => "lan",
            #[cfg(feature = "rtype")]
            Dialect::Rtype => "rtype",
            Dialect::Native => "native",
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
    #[cfg(feature = "lan")]
    Lan(lan::Packet),
    /// R-Type sessions.
    #[cfg(feature = "rtype")]
    Rtype(rtype::Packet<'a>),
    /// The R-Type ACK system, extended.
    Native(native::Datagram<'a>),
}

impl<'a> Packet<'a> {
    /// Reads one datagram of whichever dialect it is. A compressed payload goes through `scratch`.
    ///
    /// A datagram of no dialect's shape gets the error of the dialect that it comes closest to,
    /// for the person who reads it.
    pub fn decode(bytes: &'a [u8], scratch: &'a mut native::Scratch) -> Result<Self, Malformed> {
        match Dialect::detect(bytes).or_else(|| closest(bytes)) {
            #[cfg(feature = "lan")]
            Some(Dialect::Lan) => lan::Packet::decode(bytes).map(Packet::Lan),
            #[cfg(feature = "rtype")]
            Some(Dialect::Rtype) => rtype::Packet::decode(bytes).map(Packet::Rtype),
            Some(Dialect::Native) => {
                native::Datagram::decode_compressed(bytes, scratch).map(Packet::Native)
            }
            None => Err(Malformed::new("datagram", Fault::NoDialect)),
        }
    }

    /// Whose packet it is.
    pub const fn dialect(&self) -> Dialect {
        match self {
            #[cfg(feature = "lan")]
            Packet::Lan(_) => Dialect::Lan,
            #[cfg(feature = "rtype")]
            Packet::Rtype(_) => Dialect::Rtype,
            Packet::Native(_) => Dialect::Native,
        }
    }

    /// The packet's name in PROTOCOL.md.
    pub const fn name(&self) -> &'static str {
        match self {
            #[cfg(feature = "lan")]
            Packet::Lan(packet) => packet.name(),
            #[cfg(feature = "rtype")]
            Packet::Rtype(packet) => packet.name(),
            Packet::Native(datagram) => datagram.packet.name(),
        }
    }
}

/// Serializes a flag as the wire has it.
#[cfg(feature = "serde")]
pub(crate) fn flag_as_number<S: serde::Serializer>(
    flag: &bool,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.serialize_u8(u8::from(*flag))
}

/// The dialect that bytes of no dialect's shape were most likely meant to be.
fn closest(bytes: &[u8]) -> Option<Dialect> {
    #[cfg(feature = "rtype")]
    {
        let size = bytes.first_chunk().map(|&size| usize::from(u16::from_le_bytes(size)));
        let sized = size.is_some_and(|size| size + rtype::HEADER_LEN == bytes.len());
        if sized || bytes.get(3) == Some(&rtype::VERSION) {
            return Some(Dialect::Rtype);
        }
    }
    match bytes.first() {
        Some(&native::VERSION) if bytes.len() > 1 => Some(Dialect::Native),
        #[cfg(feature = "lan")]
        Some(1..=6) => Some(Dialect::Lan),
        _ => None,
    }
}
