//! Any bytes as an `rtype` datagram, and as its TCP stream: decode, encode, decode.
#![no_main]

use backspin_classic::Dialect;
use backspin_classic::wire::rtype::{Message, Packet};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    datagram(data);
    stream(data);
});

fn datagram(data: &[u8]) {
    let Ok(packet) = Packet::decode(data) else { return };
    let mut out = vec![0; data.len()];
    assert_eq!(packet.encode(&mut out), Ok(data.len()));
    assert_eq!(out, data);
    assert_eq!(Packet::decode(&out), Ok(packet));
    assert_eq!(Dialect::detect(data), Some(Dialect::Rtype));
}

/// One message after another, up to the first that is incomplete or malformed.
fn stream(mut data: &[u8]) {
    while let Ok(Some((message, len))) = Message::decode_next(data) {
        let mut out = vec![0; len];
        assert_eq!(message.encode(&mut out), Ok(len));
        assert_eq!(out, data[..len]);
        assert_eq!(Message::decode(&out), Ok(message));
        // However little of it has come, nobody takes it for something else.
        assert_eq!(Message::decode_next(&data[..len - 1]), Ok(None));
        data = &data[len..];
    }
}
