//! `lan`: the Networked Pong dialect. Integers are big-endian, floats little-endian; the first
//! byte is the type and the length belongs to it.

mod discovery;
mod guest_input;
mod hello;
mod state_update;

pub use discovery::{FindHost, HostHere, Upgrade};
pub use guest_input::{GuestInput, Steer};
pub use hello::{Hello, HelloAck};
pub use state_update::StateUpdate;

use backspin::wire::field::{numbers, packets};
use backspin::wire::{Full, Malformed, Reader, Writer};

/// The UDP port of a host.
pub const DEFAULT_PORT: u16 = 54000;

/// The longest packet.
pub const MAX_LEN: usize = 31;

/// The dialect's byte order.
enum Lan {}

numbers! {
    Lan u8: u8;
    Lan u16: u16_be;
    Lan u32: u32_be;
    Lan f32: f32_le;
}

packets! {
    Packet
    1 FindHost "FIND_HOST" ToServer, "\"Is there a host?\"";
    2 HostHere "HOST_HERE" ToClient, "\"Here is one.\"";
    3 Hello "HELLO" ToServer, "\"I would like to play.\"";
    4 HelloAck "HELLO_ACK" ToClient, "\"You play.\"";
    5 GuestInput "GUEST_INPUT" ToServer, "Where the guest steers.";
    6 StateUpdate "STATE_UPDATE" ToClient, "The world.";
}

impl Packet {
    /// Whether `bytes` have the first byte and the length of a packet of this dialect.
    #[inline]
    pub fn has_shape(bytes: &[u8]) -> bool {
        match (bytes.first(), bytes.len()) {
            (Some(2), HostHere::UPGRADE_LEN) => bytes[3..5] == Upgrade::MAGIC,
            (Some(1 | 4), 1) | (Some(2 | 3), 3) | (Some(5), 4) | (Some(6), MAX_LEN) => true,
            _ => false,
        }
    }

    /// Reads one datagram.
    pub fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut r = Reader::new(bytes);
        let kind = r.u8("type")?;
        Packet::decode_payload(kind, r.take_rest())
    }

    /// Writes one datagram and says how long it is.
    pub fn encode(&self, out: &mut [u8]) -> Result<usize, Full> {
        let mut w = Writer::new(out);
        w.u8(self.kind());
        self.encode_payload(&mut w);
        w.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use backspin::wire::Fault;

    #[test]
    fn a_first_byte_without_a_packet_is_an_unknown_type() {
        for kind in [0, 7, 255] {
            let fault = Malformed::new("type", Fault::UnknownType(kind));
            assert_eq!(Packet::decode(&[kind]), Err(fault));
            assert!(!Packet::has_shape(&[kind]));
        }
        assert_eq!(Packet::decode(&[]), Err(Malformed::new("type", Fault::Truncated)));
    }
}
