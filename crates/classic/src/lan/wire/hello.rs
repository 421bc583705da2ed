//! The handshake: HELLO and HELLO_ACK.

use super::Lan;
use backspin::wire::field::fields;

/// A guest asks to play.
///
/// ```text
/// 0      1      3
/// | 0x03 | port |
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Hello {
    /// Where the guest listens: HELLO_ACK and every state go there.
    pub port: u16,
}

fields!(Lan Hello { port });

/// The host takes the guest.
///
/// ```text
/// 0      1
/// | 0x04 |
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct HelloAck;

fields!(Lan HelloAck {});

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lan::wire::Packet;
    use crate::testing::check;

    #[test]
    fn hello_names_the_port_big_endian() {
        check(&[3, 0xD2, 0xF1], &Packet::Hello(Hello { port: 54001 }));
    }

    #[test]
    fn hello_ack_is_one_byte() {
        check(&[4], &Packet::HelloAck(HelloAck));
    }
}
