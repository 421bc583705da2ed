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

use backspin::wire::{Direction, Full, Reader, Writer};
use backspin::wire::{Fault, Malformed};

/// The UDP port of a host.
pub const DEFAULT_PORT: u16 = 54000;

/// The longest packet.
pub const MAX_LEN: usize = StateUpdate::LEN;

/// Any packet of the dialect.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(untagged))]
pub enum Packet {
    /// "Is there a host?"
    FindHost(FindHost),
    /// "Here is one."
    HostHere(HostHere),
    /// "I would like to play."
    Hello(Hello),
    /// "You play."
    HelloAck(HelloAck),
    /// Where the guest steers.
    GuestInput(GuestInput),
    /// The world.
    StateUpdate(StateUpdate),
}

impl Packet {
    /// Whether `bytes` have the first byte and the length of a packet of this dialect.
    #[inline]
    pub fn has_shape(bytes: &[u8]) -> bool {
        match (bytes.first(), bytes.len()) {
            (Some(&HostHere::TYPE), HostHere::UPGRADE_LEN) => bytes[3..5] == Upgrade::MAGIC,
            (Some(&kind), len) => length_of(kind) == Some(len),
            (None, _) => false,
        }
    }

    /// Reads one datagram.
    pub fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut r = Reader::new(bytes);
        let kind = r.u8("type")?;
        let packet = match kind {
            FindHost::TYPE => Packet::FindHost(FindHost),
            HostHere::TYPE => Packet::HostHere(HostHere::decode(&mut r)?),
            Hello::TYPE => Packet::Hello(Hello::decode(&mut r)?),
            HelloAck::TYPE => Packet::HelloAck(HelloAck),
            GuestInput::TYPE => Packet::GuestInput(GuestInput::decode(&mut r)?),
            StateUpdate::TYPE => Packet::StateUpdate(StateUpdate::decode(&mut r)?),
            unknown => return Err(Malformed::new("type", Fault::UnknownType(unknown))),
        };
        r.finish(packet.name())?;
        Ok(packet)
    }

    /// Writes one datagram and says how long it is.
    pub fn encode(&self, out: &mut [u8]) -> Result<usize, Full> {
        let mut w = Writer::new(out);
        match self {
            Packet::FindHost(_) => w.u8(FindHost::TYPE),
            Packet::HostHere(packet) => packet.encode(&mut w),
            Packet::Hello(packet) => packet.encode(&mut w),
            Packet::HelloAck(_) => w.u8(HelloAck::TYPE),
            Packet::GuestInput(packet) => packet.encode(&mut w),
            Packet::StateUpdate(packet) => packet.encode(&mut w),
        }
        w.finish()
    }

    /// The packet's name in PROTOCOL.md.
    pub const fn name(&self) -> &'static str {
        match self {
            Packet::FindHost(_) => "FIND_HOST",
            Packet::HostHere(_) => "HOST_HERE",
            Packet::Hello(_) => "HELLO",
            Packet::HelloAck(_) => "HELLO_ACK",
            Packet::GuestInput(_) => "GUEST_INPUT",
            Packet::StateUpdate(_) => "STATE_UPDATE",
        }
    }

    /// Who sends it.
    pub const fn direction(&self) -> Direction {
        match self {
            Packet::FindHost(_) | Packet::Hello(_) | Packet::GuestInput(_) => Direction::ToServer,
            Packet::HostHere(_) | Packet::HelloAck(_) | Packet::StateUpdate(_) => {
                Direction::ToClient
            }
        }
    }
}

fn length_of(kind: u8) -> Option<usize> {
    Some(match kind {
        FindHost::TYPE => FindHost::LEN,
        HostHere::TYPE => HostHere::LEN,
        Hello::TYPE => Hello::LEN,
        HelloAck::TYPE => HelloAck::LEN,
        GuestInput::TYPE => GuestInput::LEN,
        StateUpdate::TYPE => StateUpdate::LEN,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

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
