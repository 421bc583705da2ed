//! Any bytes as a `lan` datagram: decode, encode, decode.
#![no_main]

use backspin_classic::Dialect;
use backspin_classic::wire::lan::{MAX_LEN, Packet};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(packet) = Packet::decode(data) else { return };
    let mut out = [0; MAX_LEN];
    assert_eq!(packet.encode(&mut out), Ok(data.len()));
    assert_eq!(&out[..data.len()], data);
    assert_eq!(Packet::decode(&out[..data.len()]), Ok(packet));
    assert_eq!(Dialect::detect(data), Some(Dialect::Lan));
});
