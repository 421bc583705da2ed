//! Any bytes as an `ack` datagram, and as a payload without its header: decode, encode, decode.
#![no_main]

use backspin::wire::native::MAX_DATAGRAM_LEN;
use backspin_classic::Dialect;
use backspin_classic::wire::ack::Datagram;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    whole(data);
    // The first byte is the type, the next the flags.
    if let [kind, flags, payload @ ..] = data
        && let Ok(len) = u16::try_from(payload.len())
    {
        let [high, low] = len.to_be_bytes();
        whole(&[&[1, *kind, *flags, high, low, 0, 0, 0, 7], payload].concat());
    }
});

fn whole(data: &[u8]) {
    assert!(!(Datagram::is_misordered(data) && Datagram::has_shape(data)));
    let Ok(datagram) = Datagram::decode(data) else { return };
    let mut out = [0; MAX_DATAGRAM_LEN];
    assert_eq!(datagram.encode(&mut out), Ok(data.len()));
    assert_eq!(&out[..data.len()], data);
    assert_eq!(Datagram::decode(&out[..data.len()]), Ok(datagram));
    assert_eq!(Dialect::detect(data), Some(Dialect::Ack));
}
