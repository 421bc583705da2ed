//! One frame: link, network and transport headers off, the payload is left.

use std::net::{IpAddr, SocketAddr};

use backspin::wire::{Malformed, Reader};

/// What a frame carries.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Carried<'a> {
    Datagram { path: Path, payload: &'a [u8] },
    Segment { path: Path, segment: Segment<'a> },
}

/// Sender and receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Path {
    pub(crate) from: SocketAddr,
    pub(crate) to: SocketAddr,
}

/// A piece of a TCP stream.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Segment<'a> {
    /// The number of the first byte, or of the SYN.
    pub(crate) sequence: u32,
    pub(crate) syn: bool,
    pub(crate) payload: &'a [u8],
}

/// Why a frame is passed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Skip {
    /// Neither UDP nor TCP over IP.
    Other,
    /// A part of a larger IP packet.
    Fragment,
    /// Shorter than its headers say.
    CutShort,
    /// A link layer that is not known here.
    Link(u16),
}

/// A header that ends too early.
impl From<Malformed> for Skip {
    fn from(_: Malformed) -> Self {
        Skip::CutShort
    }
}

/// Takes the headers off a frame of link type `link`.
pub(crate) fn open(link: u16, frame: &[u8]) -> Result<Carried<'_>, Skip> {
    let mut r = Reader::new(frame);
    match link {
        // BSD loopback: the address family, in the byte order of whoever captured.
        0 | 108 => {
            r.take("family", 4)?;
            open_ip(r.take_rest())
        }
        // Ethernet: two addresses and a type.
        1 => {
            r.take("addresses", 12)?;
            open_typed(r)
        }
        // IP itself; the two low numbers are older ones for the same.
        12 | 14 | 101 | 228 | 229 => open_ip(frame),
        // Linux cooked: the type is last of the header.
        113 => {
            r.take("cooked", 14)?;
            open_typed(r)
        }
        // Its second version: the type is first.
        276 => {
            let kind = r.u16_be("type")?;
            r.take("cooked", 18)?;
            match kind {
                IPV4 | IPV6 => open_ip(r.take_rest()),
                _ => Err(Skip::Other),
            }
        }
        unknown => Err(Skip::Link(unknown)),
    }
}

const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86DD;
const VLAN: u16 = 0x8100;
const VLAN_OUTER: [u16; 2] = [0x88A8, 0x9100];

/// An Ethernet type, behind any number of VLAN tags.
fn open_typed(mut r: Reader<'_>) -> Result<Carried<'_>, Skip> {
    loop {
        match r.u16_be("type")? {
            IPV4 | IPV6 => return open_ip(r.take_rest()),
            tag if tag == VLAN || VLAN_OUTER.contains(&tag) => r.take("tag", 2)?,
            _ => return Err(Skip::Other),
        };
    }
}

fn open_ip(packet: &[u8]) -> Result<Carried<'_>, Skip> {
    match packet.first().ok_or(Skip::CutShort)? >> 4 {
        4 => open_ipv4(packet),
        6 => open_ipv6(packet),
        _ => Err(Skip::Other),
    }
}

fn open_ipv4(packet: &[u8]) -> Result<Carried<'_>, Skip> {
    let mut r = Reader::new(packet);
    let header_len = usize::from(r.u8("version")? & 15) * 4;
    r.u8("service")?;
    let total_len = match r.u16_be("total_length")? {
        // A card that cuts large packets itself leaves this to be filled in.
        0 => packet.len(),
        len => usize::from(len),
    };
    r.u16_be("identification")?;
    // "More follow" and the offset.
    let fragment = r.u16_be("fragment")? & 0x3FFF != 0;
    r.u8("time_to_live")?;
    let protocol = r.u8("protocol")?;
    r.u16_be("checksum")?;
    let (from, to) = (r.array::<4>("from")?, r.array::<4>("to")?);
    let payload = packet.get(header_len.max(20)..total_len).ok_or(Skip::CutShort)?;
    match fragment {
        true => Err(Skip::Fragment),
        false => open_transport(protocol, from.into(), to.into(), payload),
    }
}

fn open_ipv6(packet: &[u8]) -> Result<Carried<'_>, Skip> {
    let mut r = Reader::new(packet);
    r.u32_be("version")?;
    let payload_len = r.u16_be("payload_length")?;
    let mut next = r.u8("next_header")?;
    r.u8("hop_limit")?;
    let (from, to) = (r.array::<16>("from")?, r.array::<16>("to")?);
    let payload = match payload_len {
        0 => r.take_rest(),
        len => r.take("payload", usize::from(len))?,
    };
    let mut r = Reader::new(payload);
    // Every turn takes eight bytes or more.
    while let HOP_BY_HOP | ROUTING | FRAGMENT | AUTHENTICATION | OPTIONS | MOBILITY = next {
        let [following, len] = r.array("extension")?;
        let len = match next {
            FRAGMENT => 8,
            AUTHENTICATION => (usize::from(len) + 2) * 4,
            _ => (usize::from(len) + 1) * 8,
        };
        let body = r.take("extension", len - 2)?;
        // Offset and "more follow" are zero in a packet that is its own only fragment.
        if next == FRAGMENT && (body[0], body[1] & !0b110) != (0, 0) {
            return Err(Skip::Fragment);
        }
        next = following;
    }
    open_transport(next, from.into(), to.into(), r.take_rest())
}

const HOP_BY_HOP: u8 = 0;
const ROUTING: u8 = 43;
const FRAGMENT: u8 = 44;
const AUTHENTICATION: u8 = 51;
const OPTIONS: u8 = 60;
const MOBILITY: u8 = 135;

fn open_transport(
    protocol: u8,
    from: IpAddr,
    to: IpAddr,
    packet: &[u8],
) -> Result<Carried<'_>, Skip> {
    let mut r = Reader::new(packet);
    if protocol != 17 && protocol != 6 {
        return Err(Skip::Other);
    }
    let (from, to) = ((from, r.u16_be("from")?).into(), (to, r.u16_be("to")?).into());
    let path = Path { from, to };
    if protocol == 17 {
        let len = usize::from(r.u16_be("length")?);
        let payload = packet.get(8..len).ok_or(Skip::CutShort)?;
        return Ok(Carried::Datagram { path, payload });
    }
    let sequence = r.u32_be("sequence")?;
    r.u32_be("acknowledgement")?;
    let header_len = usize::from(r.u8("offset")? >> 4) * 4;
    let syn = r.u8("flags")? & 2 != 0;
    let payload = packet.get(header_len.max(20)..).ok_or(Skip::CutShort)?;
    Ok(Carried::Segment { path, segment: Segment { sequence, syn, payload } })
}
