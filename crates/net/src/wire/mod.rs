//! Bytes and packets: `native`, a file per packet, and what other dialects read and write with.
//!
//! Below is the socket with its datagrams; above, the session with what they mean. Decoding
//! allocates nothing, never panics, and takes exactly one encoding of every value: a packet that
//! decodes encodes to the same bytes. What does not decode is a [`Malformed`] that names the field.

#[doc(hidden)]
pub mod field;
mod list;
mod malformed;
mod name;
mod reader;
mod writer;

#[cfg(feature = "serde")]
#[doc(hidden)]
pub mod hex;
pub mod native;
#[cfg(test)]
#[macro_use]
mod testing;
#[cfg(test)]
wire!(native::Datagram<'_>);

pub use list::{List, Record};
pub use malformed::{Fault, Malformed};
pub(crate) use name::show;
pub use name::{Name, RawName};
pub use reader::Reader;
pub use writer::{Full, Writer};

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

/// Serializes a flag as the wire has it.
#[cfg(feature = "serde")]
#[doc(hidden)]
pub fn flag_as_number<S: serde::Serializer>(flag: &bool, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u8(u8::from(*flag))
}
