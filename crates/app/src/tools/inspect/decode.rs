//! Decodes bytes for printing: the packet's name and its fields as JSON.

use backspin::wire::{Malformed, native};
use backspin_classic::wire::{ack, lan, rtype};
use backspin_classic::{Dialect, Packet};
use serde::Serialize;

/// A packet, ready to print.
#[derive(Clone, Debug)]
pub(super) struct Decoded {
    pub(super) dialect: &'static str,
    pub(super) name: &'static str,
    /// A JSON object.
    pub(super) fields: String,
    /// The bytes that it took.
    pub(super) len: usize,
    pub(super) numbered: Option<Numbered>,
}

/// A packet's place in a count that its sender keeps, one up each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Numbered {
    /// What is counted: one sender may keep several counts.
    pub(super) count: &'static str,
    pub(super) number: u32,
}

/// Bytes that are no packet, and why.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
pub(super) enum NoPacket {
    #[error(transparent)]
    Malformed(#[from] Malformed),
    #[error("stream: bytes before these are missing from the capture")]
    Gap,
}

impl NoPacket {
    /// A short, stable name to count by.
    pub(super) fn reason(&self) -> &'static str {
        match self {
            NoPacket::Malformed(malformed) => malformed.fault.reason(),
            NoPacket::Gap => "stream_gap",
        }
    }
}

/// Reads one datagram of any dialect.
pub(super) fn datagram(bytes: &[u8]) -> Result<Decoded, NoPacket> {
    let packet = Packet::decode(bytes)?;
    Ok(Decoded {
        dialect: packet.dialect().name(),
        name: packet.name(),
        fields: fields(&packet),
        len: bytes.len(),
        numbered: numbered(&packet),
    })
}

/// Reads the first message of `rtype`'s TCP stream, or `None` while it is not complete.
pub(super) fn message(bytes: &[u8]) -> Result<Option<Decoded>, NoPacket> {
    let Some((message, len)) = rtype::Message::decode_next(bytes)? else {
        return Ok(None);
    };
    Ok(Some(Decoded {
        dialect: Dialect::Rtype.name(),
        name: message.name(),
        fields: fields(&message),
        len,
        numbered: None,
    }))
}

/// Why `bytes`, the rest of a stream, are no message.
pub(super) fn rest_of_stream(bytes: &[u8]) -> Option<NoPacket> {
    rtype::Message::decode(bytes).err().map(NoPacket::from)
}

/// The packet's fields as a JSON object. Straight to text: a `Value` has only `f64`, and would
/// show what the wire's `f32` does not have.
fn fields(packet: &impl Serialize) -> String {
    match serde_json::to_string(packet) {
        Ok(fields) if fields != "null" => fields,
        // A packet without fields.
        _ => "{}".to_owned(),
    }
}

fn numbered(packet: &Packet<'_>) -> Option<Numbered> {
    let (count, number) = match packet {
        Packet::Lan(lan::Packet::StateUpdate(state)) => ("lan STATE_UPDATE", state.seq),
        Packet::Rtype(rtype::Packet::Input(input)) => ("rtype Input", input.sequence),
        Packet::Rtype(rtype::Packet::Ping(ping)) => ("rtype Ping", ping.sequence),
        Packet::Native(datagram) if in_session(&datagram.packet) => ("native", datagram.sequence),
        Packet::Ack(datagram) if is_counted(&datagram.packet) => ("ack", datagram.sequence),
        _ => return None,
    };
    Some(Numbered { count, number })
}

/// The same of `ack`, where a PONG may answer a stranger or a player.
fn is_counted(packet: &ack::Packet<'_>) -> bool {
    use ack::Packet::{Challenge, Hello, Join, Ping, Pong, Refused};
    !matches!(packet, Hello(_) | Join(_) | Challenge(_) | Refused(_) | Ping(_) | Pong(_))
}

/// Whether the packet's number counts its sender's datagrams. A stranger has no count yet, and
/// the answer to one carries the question's number.
fn in_session(packet: &native::Packet<'_>) -> bool {
    use native::Packet::*;
    match packet {
        Ping(ping) => ping.session.is_some(),
        Hello(_) | Join(_) | Discover(_) | ListRooms(_) | Resume(_) => false,
        Probe(_) | Probed(_) | Seek(_) | Waiting(_) | Matched(_) => false,
        Challenge(_) | Here(_) | RoomList(_) | Reject(_) | UnknownSession(_) => false,
        _ => true,
    }
}
