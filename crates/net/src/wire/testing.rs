//! What every packet's tests do with its bytes.

use std::fmt::Debug;

use super::{Full, Malformed, native};

/// A dialect's packet type.
pub(crate) trait Wire: Debug {
    /// What the packet in `bytes` encodes to.
    fn reencoded(bytes: &[u8]) -> Result<Vec<u8>, Malformed>;
    fn encode(&self, out: &mut [u8]) -> Result<usize, Full>;
    fn assert_decoded_from(&self, bytes: &[u8]);
}

/// Lets a packet be checked.
macro_rules! wire {
    ($packet:ty) => {
        impl testing::Wire for $packet {
            fn reencoded(bytes: &[u8]) -> Result<Vec<u8>, Malformed> {
                let mut out = vec![0; 70_000];
                let packet = <$packet>::decode(bytes)?;
                let len =
                    packet.encode(&mut out).unwrap_or_else(|full| panic!("{full}: {packet:?}"));
                out.truncate(len);
                Ok(out)
            }

            fn encode(&self, out: &mut [u8]) -> Result<usize, Full> {
                <$packet>::encode(self, out)
            }

            fn assert_decoded_from(&self, bytes: &[u8]) {
                assert_eq!(<$packet>::decode(bytes).as_ref(), Ok(self));
            }
        }
    };
}

/// The vector decodes to the packet and the packet encodes to the vector; a buffer one byte
/// short is refused; no truncation is a packet (or it is one with a shorter canonical form of
/// its own); a byte more is none; and whatever a changed byte gives, it re-encodes to itself.
pub(crate) fn check<P: Wire>(bytes: &[u8], packet: &P) {
    packet.assert_decoded_from(bytes);
    let mut out = vec![0; bytes.len()];
    assert_eq!(packet.encode(&mut out), Ok(bytes.len()));
    assert_eq!(out, bytes);
    assert_eq!(packet.encode(&mut out[1..]), Err(Full));
    for len in 0..bytes.len() {
        assert_canonical::<P>(&bytes[..len]);
    }
    let longer = [bytes, &[0]].concat();
    assert!(P::reencoded(&longer).is_err(), "one byte too many was taken");
    let mut changed = bytes.to_vec();
    for at in 0..bytes.len() {
        for value in 0..=255 {
            changed[at] = value;
            assert_canonical::<P>(&changed);
        }
        changed[at] = bytes[at];
    }
}

/// Bytes that decode encode to themselves.
fn assert_canonical<P: Wire>(bytes: &[u8]) {
    if let Ok(again) = P::reencoded(bytes) {
        assert_eq!(again, bytes);
    }
}

/// [`check`] of a native packet of type `kind`, and then of its payload cut and lengthened behind
/// a header that says so.
pub(crate) fn check_native(kind: u8, payload: &[u8], packet: native::Packet<'_>) {
    let bytes = native_datagram(kind, payload);
    check(&bytes, &native::Datagram { sequence: 0x0A0B_0C0D, packet });
    for len in 0..payload.len() {
        assert_canonical::<native::Datagram<'_>>(&native_datagram(kind, &payload[..len]));
    }
    assert_canonical::<native::Datagram<'_>>(&native_datagram(kind, &[payload, &[0]].concat()));
}

/// A native datagram of these bytes, numbered 0x0A0B0C0D.
pub(crate) fn native_datagram(kind: u8, payload: &[u8]) -> Vec<u8> {
    let len = u16::try_from(payload.len()).unwrap().to_be_bytes();
    [&[1, kind, 0, len[0], len[1], 0x0A, 0x0B, 0x0C, 0x0D], payload].concat()
}

/// What is wrong with the native packet of type `kind` and these bytes.
pub(crate) fn native_fault(kind: u8, payload: &[u8]) -> Malformed {
    native::Datagram::decode(&native_datagram(kind, payload)).unwrap_err()
}
