//! A capture file, made byte by byte: pcap with raw IP packets, UDP datagrams and TCP segments.

/// LINKTYPE_RAW: a frame is an IPv4 or IPv6 packet.
const LINKTYPE_RAW: u32 = 101;
const TCP: u8 = 6;
const UDP: u8 = 17;

/// The version of the Internet protocol.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Ip {
    V4,
    V6,
}

/// What was captured.
#[derive(Default)]
pub(crate) struct Capture {
    frames: Vec<Vec<u8>>,
    streams: u16,
}

impl Capture {
    /// One datagram, to `port`.
    pub(crate) fn udp(&mut self, ip: Ip, port: u16, payload: &[u8]) {
        let mut datagram = Vec::new();
        datagram.extend(40_001_u16.to_be_bytes());
        datagram.extend(port.to_be_bytes());
        datagram.extend((8 + payload.len() as u16).to_be_bytes());
        datagram.extend([0, 0]);
        datagram.extend(payload);
        self.frames.push(packet(ip, UDP, &datagram));
    }

    /// A stream of its own, in these pieces, from `port`.
    pub(crate) fn tcp<'a>(
        &mut self,
        ip: Ip,
        port: u16,
        pieces: impl IntoIterator<Item = &'a [u8]>,
    ) {
        self.streams += 1;
        let mut sequence = 1_u32;
        for piece in pieces {
            let mut segment = Vec::new();
            segment.extend(port.to_be_bytes());
            segment.extend((41_000 + self.streams).to_be_bytes());
            segment.extend(sequence.to_be_bytes());
            segment.extend(1_u32.to_be_bytes());
            // A header of five words; ACK and PSH; window, checksum, urgent pointer.
            segment.extend([5 << 4, 0x18, 0xFF, 0xFF, 0, 0, 0, 0]);
            segment.extend(piece);
            self.frames.push(packet(ip, TCP, &segment));
            sequence += piece.len() as u32;
        }
    }

    /// The file.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut file = Vec::new();
        file.extend(0xA1B2_C3D4_u32.to_le_bytes());
        file.extend([2, 0, 4, 0]);
        file.extend([0; 8]);
        file.extend(65_535_u32.to_le_bytes());
        file.extend(LINKTYPE_RAW.to_le_bytes());
        for (i, frame) in (0_u32..).zip(&self.frames) {
            let len = (frame.len() as u32).to_le_bytes();
            file.extend(i.to_le_bytes());
            file.extend([0; 4]);
            file.extend(len);
            file.extend(len);
            file.extend(frame);
        }
        file
    }
}

/// An IP packet from one documentation address to another. Checksums are 0: nobody looks.
fn packet(ip: Ip, protocol: u8, payload: &[u8]) -> Vec<u8> {
    let len = payload.len() as u16;
    let mut packet = Vec::new();
    match ip {
        Ip::V4 => {
            packet.extend([0x45, 0]);
            packet.extend((20 + len).to_be_bytes());
            packet.extend([0, 0, 0, 0, 64, protocol, 0, 0]);
            packet.extend([192, 0, 2, 1, 192, 0, 2, 2]);
        }
        Ip::V6 => {
            packet.extend([0x60, 0, 0, 0]);
            packet.extend(len.to_be_bytes());
            packet.extend([protocol, 64]);
            for last in [1, 2] {
                packet.extend([0x20, 0x01, 0x0D, 0xB8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, last]);
            }
        }
    }
    packet.extend(payload);
    packet
}
