//! One frame: strips the link, network and transport headers off the payload.

use std::net::{IpAddr, SocketAddr};

use etherparse::err::ip::LaxHeaderSliceError;
use etherparse::err::packet::SliceError;
use etherparse::{EtherType, LaxNetSlice, LaxSlicedPacket, TransportSlice};

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

/// Takes the headers off a frame of link type `link`.
pub(crate) fn open(link: u16, frame: &[u8]) -> Result<Carried<'_>, Skip> {
    let packet = match link {
        // BSD loopback: an address family of four bytes, in the byte order of whoever captured.
        0 | 108 => open_ip(frame.get(4..).unwrap_or_default())?,
        1 => LaxSlicedPacket::from_ethernet(frame).map_err(|_| Skip::CutShort)?,
        // IP itself; the two low numbers are older ones for the same.
        12 | 14 | 101 | 228 | 229 => open_ip(frame)?,
        // Linux cooked, first and second version.
        113 => open_cooked(frame, 14, 16)?,
        276 => open_cooked(frame, 0, 20)?,
        unknown => return Err(Skip::Link(unknown)),
    };
    let (from, to, body): (IpAddr, IpAddr, _) = match &packet.net {
        Some(LaxNetSlice::Ipv4(ip)) => {
            (ip.header().source_addr().into(), ip.header().destination_addr().into(), ip.payload())
        }
        Some(LaxNetSlice::Ipv6(ip)) => {
            (ip.header().source_addr().into(), ip.header().destination_addr().into(), ip.payload())
        }
        Some(LaxNetSlice::Arp(_)) => return Err(Skip::Other),
        None => return Err(why_not(&packet)),
    };
    if body.fragmented {
        return Err(Skip::Fragment);
    }
    let path =
        |source, destination| Path { from: (from, source).into(), to: (to, destination).into() };
    match packet.transport {
        Some(TransportSlice::Udp(udp)) if usize::from(udp.length()) == udp.slice().len() => {
            let path = path(udp.source_port(), udp.destination_port());
            Ok(Carried::Datagram { path, payload: udp.payload() })
        }
        Some(TransportSlice::Udp(_)) => Err(Skip::CutShort),
        Some(TransportSlice::Tcp(_)) if body.incomplete => Err(Skip::CutShort),
        Some(TransportSlice::Tcp(tcp)) => {
            let path = path(tcp.source_port(), tcp.destination_port());
            let (sequence, syn) = (tcp.sequence_number(), tcp.syn());
            Ok(Carried::Segment {
                path,
                segment: Segment { sequence, syn, payload: tcp.payload() },
            })
        }
        _ => Err(why_not(&packet)),
    }
}

fn open_ip(packet: &[u8]) -> Result<LaxSlicedPacket<'_>, Skip> {
    LaxSlicedPacket::from_ip(packet).map_err(|error| match error {
        LaxHeaderSliceError::Len(_) => Skip::CutShort,
        LaxHeaderSliceError::Content(_) => Skip::Other,
    })
}

/// A header of `len` bytes with an Ethernet type at `at`.
fn open_cooked(frame: &[u8], at: usize, len: usize) -> Result<LaxSlicedPacket<'_>, Skip> {
    let (head, body) = frame.split_at_checked(len).ok_or(Skip::CutShort)?;
    let kind = EtherType(u16::from_be_bytes([head[at], head[at + 1]]));
    Ok(LaxSlicedPacket::from_ether_type(kind, body))
}

/// Why there is no payload of ours in a packet.
fn why_not(packet: &LaxSlicedPacket<'_>) -> Skip {
    match packet.stop_err {
        Some((SliceError::Len(_), _)) => Skip::CutShort,
        _ => Skip::Other,
    }
}
