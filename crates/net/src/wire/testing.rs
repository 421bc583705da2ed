//! What every packet's tests do with its bytes.

use std::fmt::Debug;

use super::{Full, Malformed, lan, native, rtype};

/// A dialect's packet type.
pub(crate) trait Dialect<'a>: Sized + PartialEq + Debug {
    fn decode(bytes: &'a [u8]) -> Result<Self, Malformed>;
    fn encode(&self, out: &mut [u8]) -> Result<usize, Full>;

    fn encoded(&self) -> Vec<u8> {
        let mut out = vec![0; 70_000];
        let len = self.encode(&mut out).expect("fits");
        out.truncate(len);
        out
    }
}

macro_rules! dialect {
    ($($packet:ty),*) => {$(
        impl<'a> Dialect<'a> for $packet {
            fn decode(bytes: &'a [u8]) -> Result<Self, Malformed> {
                <$packet>::decode(bytes)
            }
            fn encode(&self, out: &mut [u8]) -> Result<usize, Full> {
                <$packet>::encode(self, out)
            }
        }
    )*};
}

dialect!(lan::Packet, rtype::Packet<'a>, rtype::Message<'a>, native::Datagram<'a>);

/// The vector decodes to the packet and the packet encodes to the vector; a buffer one byte
/// short is refused; no truncation is a packet (or it is one with a shorter canonical form of
/// its own); a byte more is none; and whatever a changed byte gives, it re-encodes to itself.
pub(crate) fn check<'a, P: Dialect<'a>>(bytes: &'a [u8], packet: &P) {
    assert_eq!(P::decode(bytes).as_ref(), Ok(packet));
    assert_eq!(packet.encoded(), bytes);
    assert_eq!(packet.encode(&mut vec![0; bytes.len() - 1]), Err(Full));
    for len in 0..bytes.len() {
        canonical::<P>(bytes[..len].to_vec());
    }
    let mut longer = bytes.to_vec();
    longer.push(0);
    let longer: &'static [u8] = longer.leak();
    assert!(P::decode(longer).is_err(), "one byte too many was taken");
    for at in 0..bytes.len() {
        for value in 0..=255 {
            let mut changed = bytes.to_vec();
            changed[at] = value;
            canonical::<P>(changed);
        }
    }
}

/// Bytes that decode encode to themselves.
fn canonical<'a, P: Dialect<'a>>(bytes: Vec<u8>) {
    // Leaked: the packet borrows for as long as the vector did. A few megabytes in a test.
    let bytes: &'static [u8] = bytes.leak();
    if let Ok(packet) = P::decode(bytes) {
        assert_eq!(packet.encoded(), bytes, "{packet:?}");
    }
}
