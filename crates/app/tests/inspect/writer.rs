//! Captures, written byte by byte: payload, headers, file.

use std::net::{IpAddr, SocketAddr};

/// The byte order of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    Little,
    Big,
}

impl Order {
    fn u16(self, value: u16) -> [u8; 2] {
        if self == Order::Big { value.to_be_bytes() } else { value.to_le_bytes() }
    }

    fn u32(self, value: u32) -> [u8; 4] {
        if self == Order::Big { value.to_be_bytes() } else { value.to_le_bytes() }
    }
}

/// What a file's clock counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Clock {
    Micros,
    Nanos,
}

impl Clock {
    fn ticks(self, at_us: u64) -> u64 {
        if self == Clock::Nanos { at_us * 1000 } else { at_us }
    }
}

/// A frame and when it was captured, in microseconds.
pub(crate) type Frame = (u64, Vec<u8>);

/// A pcap file.
pub(crate) fn pcap(order: Order, clock: Clock, link: u32, frames: &[Frame]) -> Vec<u8> {
    let magic = if clock == Clock::Nanos { 0xA1B2_3C4D } else { 0xA1B2_C3D4 };
    let mut file = order.u32(magic).to_vec();
    file.extend(order.u16(2));
    file.extend(order.u16(4));
    for number in [0, 0, 262_144, link] {
        file.extend(order.u32(number));
    }
    for (at_us, frame) in frames {
        let seconds = 1_700_000_000 + at_us / 1_000_000;
        let rest = clock.ticks(at_us % 1_000_000);
        for number in [seconds, rest, frame.len() as u64, frame.len() as u64] {
            file.extend(order.u32(number as u32));
        }
        file.extend(frame);
    }
    file
}

/// A plain pcap file of Ethernet frames that hold these IP packets.
pub(crate) fn ethernet_pcap(packets: impl IntoIterator<Item = (u64, Vec<u8>)>) -> Vec<u8> {
    let frames: Vec<_> =
        packets.into_iter().map(|(at_us, packet)| (at_us, ethernet(&packet))).collect();
    pcap(Order::Little, Clock::Micros, 1, &frames)
}

/// A pcapng file with one interface, and a block in it that nobody knows.
pub(crate) fn pcapng(order: Order, clock: Clock, link: u16, frames: &[Frame]) -> Vec<u8> {
    let mut file = section(order);
    file.extend(block(order, 0x0BAD, b"pass this over"));
    let mut interface = order.u16(link).to_vec();
    interface.extend([0, 0]);
    interface.extend(order.u32(262_144));
    if clock == Clock::Nanos {
        // if_tsresol, and the end of the options.
        interface.extend(order.u16(9));
        interface.extend(order.u16(1));
        interface.extend([9, 0, 0, 0, 0, 0, 0, 0]);
    }
    file.extend(block(order, 1, &interface));
    for (at_us, frame) in frames {
        let ticks = clock.ticks(1_700_000_000_000_000 + at_us);
        let mut packet = order.u32(0).to_vec();
        for number in [ticks >> 32, ticks & 0xFFFF_FFFF, frame.len() as u64, frame.len() as u64] {
            packet.extend(order.u32(number as u32));
        }
        packet.extend(frame);
        file.extend(block(order, 6, &packet));
    }
    file
}

/// A pcapng file of Simple Packet Blocks, which have no time.
pub(crate) fn simple_pcapng(order: Order, link: u16, frames: &[Vec<u8>]) -> Vec<u8> {
    let mut file = section(order);
    let mut interface = order.u16(link).to_vec();
    interface.extend([0; 6]);
    file.extend(block(order, 1, &interface));
    for frame in frames {
        let mut packet = order.u32(frame.len() as u32).to_vec();
        packet.extend(frame);
        file.extend(block(order, 3, &packet));
    }
    file
}

fn section(order: Order) -> Vec<u8> {
    let mut header = order.u32(0x1A2B_3C4D).to_vec();
    header.extend(order.u16(1));
    header.extend(order.u16(0));
    header.extend([0xFF; 8]);
    block(order, 0x0A0D_0D0A, &header)
}

fn block(order: Order, kind: u32, body: &[u8]) -> Vec<u8> {
    let padding = body.len().next_multiple_of(4) - body.len();
    let len = order.u32((body.len() + padding + 12) as u32);
    let mut block = order.u32(kind).to_vec();
    block.extend(len);
    block.extend(body);
    block.extend(vec![0; padding]);
    block.extend(len);
    block
}

/// The Ethernet type of an IP packet.
pub(crate) fn kind(packet: &[u8]) -> [u8; 2] {
    if packet[0] >> 4 == 4 { [0x08, 0x00] } else { [0x86, 0xDD] }
}

/// An Ethernet frame, padded to the 60 bytes that the wire asks for.
pub(crate) fn ethernet(packet: &[u8]) -> Vec<u8> {
    let mut frame = vec![2; 12];
    frame.extend(kind(packet));
    frame.extend(packet);
    frame.resize(frame.len().max(60), 0);
    frame
}

/// A UDP datagram with the IP header that its addresses ask for.
pub(crate) fn udp(from: &str, to: &str, payload: &[u8]) -> Vec<u8> {
    let (from, to) = (address(from), address(to));
    let mut packet = Vec::new();
    packet.extend(from.port().to_be_bytes());
    packet.extend(to.port().to_be_bytes());
    packet.extend((payload.len() as u16 + 8).to_be_bytes());
    packet.extend([0, 0]);
    packet.extend(payload);
    ip(from.ip(), to.ip(), 17, &packet)
}

/// A TCP segment with the IP header that its addresses ask for.
pub(crate) fn tcp(from: &str, to: &str, sequence: u32, syn: bool, payload: &[u8]) -> Vec<u8> {
    let (from, to) = (address(from), address(to));
    let mut packet = Vec::new();
    packet.extend(from.port().to_be_bytes());
    packet.extend(to.port().to_be_bytes());
    packet.extend(sequence.to_be_bytes());
    // No acknowledgement; 24 bytes of header; the flags; a window; no checksum.
    packet.extend([0, 0, 0, 0, 0x60, if syn { 2 } else { 16 }, 1, 0, 0, 0, 0, 0]);
    packet.extend([1; 4]);
    packet.extend(payload);
    ip(from.ip(), to.ip(), 6, &packet)
}

/// An IP packet without options.
pub(crate) fn ip(from: IpAddr, to: IpAddr, protocol: u8, payload: &[u8]) -> Vec<u8> {
    let mut packet = Vec::new();
    match (from, to) {
        (IpAddr::V4(from), IpAddr::V4(to)) => {
            packet.extend([0x45, 0]);
            packet.extend((payload.len() as u16 + 20).to_be_bytes());
            packet.extend([0, 1, 0x40, 0, 64, protocol, 0, 0]);
            packet.extend(from.octets());
            packet.extend(to.octets());
        }
        (IpAddr::V6(from), IpAddr::V6(to)) => {
            packet.extend([0x60, 0, 0, 0]);
            packet.extend((payload.len() as u16).to_be_bytes());
            packet.extend([protocol, 64]);
            packet.extend(from.octets());
            packet.extend(to.octets());
        }
        mixed => panic!("{mixed:?} are of two families"),
    }
    packet.extend(payload);
    packet
}

fn address(text: &str) -> SocketAddr {
    text.parse().expect("an address")
}
