//! A number that stands for a whole run: two runs that differ in one delivered bit, or in the
//! instant of one delivery, end in different digests.
//!
//! The `world` above feeds it; tests and tools compare and print it.

use backspin::peer::{PeerAddr, PeerKind};
use backspin::time::Time;
use siphasher::sip::SipHasher24;
use std::fmt;
use std::hash::Hasher;
use std::net::IpAddr;

/// What a run comes to: SipHash-2-4 over everything that was delivered, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Digest(pub u64);

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// Takes deliveries as they happen.
///
/// Each is written as follows, numbers in little-endian order; a socket address is its family (4 or
/// 6), its octets and its port, a connection is 1, its family, octets and number. No two sequences of
/// deliveries are written alike.
///
/// ```text
/// | kind u8 | time u64 | from | to | len u32 | bytes |
/// ```
#[derive(Clone, Debug)]
pub(super) struct Recorder(SipHasher24);

/// What was delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Datagram = 0,
    StreamOpened = 1,
    StreamFailed = 2,
    StreamBytes = 3,
    StreamClosed = 4,
}

impl Recorder {
    pub(super) fn new() -> Self {
        // The key is no secret: a digest guards against mistakes, not against forgers.
        Recorder(SipHasher24::new_with_key(b"backspin digest."))
    }

    pub(super) fn take(
        &mut self,
        kind: Kind,
        at: Time,
        from: PeerAddr,
        to: PeerAddr,
        bytes: &[u8],
    ) {
        let mut head = Head { bytes: [0; HEAD_LEN_MAX], len: 0 };
        head.push(&[kind as u8]);
        head.push(&at.as_nanos().to_le_bytes());
        head.push_peer(from);
        head.push_peer(to);
        head.push(&(bytes.len() as u32).to_le_bytes());
        self.0.write(&head.bytes[..head.len]);
        self.0.write(bytes);
    }

    pub(super) fn digest(&self) -> Digest {
        Digest(self.0.finish())
    }
}

/// All before the bytes, gathered so that the hasher is called once: it is slow on crumbs.
struct Head {
    bytes: [u8; HEAD_LEN_MAX],
    len: usize,
}

/// Kind, time, two connections over IPv6, length.
const HEAD_LEN_MAX: usize = 1 + 8 + 2 * (1 + 1 + 16 + 8) + 4;

impl Head {
    fn push(&mut self, bytes: &[u8]) {
        self.bytes[self.len..self.len + bytes.len()].copy_from_slice(bytes);
        self.len += bytes.len();
    }

    fn push_peer(&mut self, peer: PeerAddr) {
        match peer.kind() {
            PeerKind::Socket(address) => {
                self.push_ip(address.ip());
                self.push(&address.port().to_le_bytes());
            }
            PeerKind::Connection { id, ip } => {
                self.push(&[1]);
                self.push_ip(ip);
                self.push(&id.to_le_bytes());
            }
        }
    }

    fn push_ip(&mut self, ip: IpAddr) {
        match ip {
            IpAddr::V4(ip) => {
                self.push(&[4]);
                self.push(&ip.octets());
            }
            IpAddr::V6(ip) => {
                self.push(&[6]);
                self.push(&ip.octets());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: Time = Time::from_millis(5);

    fn address(text: &str) -> PeerAddr {
        PeerAddr::socket(text.parse().unwrap())
    }

    fn digest(deliveries: &[(Time, &str, &str, &[u8])]) -> Digest {
        let mut recorder = Recorder::new();
        for &(at, from, to, bytes) in deliveries {
            recorder.take(Kind::Datagram, at, address(from), address(to), bytes);
        }
        recorder.digest()
    }

    #[test]
    fn a_delivery_is_hashed_as_it_is_drawn() {
        let mut written = vec![0];
        written.extend(5_000_000u64.to_le_bytes());
        written.extend([4, 10, 0, 0, 1, 0x34, 0x12]);
        written.push(6);
        written.extend([0; 15]);
        written.extend([1, 7, 0]);
        written.extend([2, 0, 0, 0, 0xab, 0xcd]);
        let expected = SipHasher24::new_with_key(b"backspin digest.").hash(&written);
        let digest = digest(&[(AT, "10.0.0.1:4660", "[::1]:7", &[0xab, 0xcd])]);
        assert_eq!(digest, Digest(expected));
    }

    #[test]
    fn every_part_of_a_delivery_counts() {
        let (a, b) = ("10.0.0.1:1", "10.0.0.2:2");
        let all = [
            digest(&[]),
            digest(&[(AT, a, b, &[1, 2])]),
            digest(&[(Time::from_millis(6), a, b, &[1, 2])]),
            digest(&[(AT, b, a, &[1, 2])]),
            digest(&[(AT, a, b, &[1, 3])]),
            digest(&[(AT, a, b, &[1]), (AT, a, b, &[2])]),
            digest(&[(AT, a, b, &[2]), (AT, a, b, &[1])]),
        ];
        for (index, one) in all.iter().enumerate() {
            assert!(!all[..index].contains(one), "{index}");
        }
    }

    #[test]
    fn a_digest_prints_as_sixteen_hex_digits() {
        assert_eq!(Digest(0xab).to_string(), "00000000000000ab");
    }
}
