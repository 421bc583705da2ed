//! What every value of a game must keep to.

use std::fmt;

use super::{InputValue, MessageValue};
use crate::channel::MESSAGE_BYTES;
use crate::wire::{Fault, Malformed, Reader, Writer};

/// It comes back from its bits as it was, and has no more of them than it says.
pub(super) fn goes_round_in_an_input<V: InputValue + PartialEq + fmt::Debug>(value: V) {
    let bits = value.to_bits();
    assert!(bits < 1 << V::BITS, "{value:?} is {bits:#x}");
    assert_eq!(V::from_bits(bits), value);
    // What lies beyond its bits is not its own.
    assert_eq!(V::from_bits(bits | u128::MAX << V::BITS), value);
}

/// It comes back from its bytes as it was, and has no more of them than it says.
pub(super) fn goes_round_in_bytes<V: MessageValue + PartialEq + fmt::Debug>(value: &V) {
    let mut room = [0; MESSAGE_BYTES];
    let bytes = bytes(value, &mut room);
    assert!(bytes.len() <= V::MAX_LEN, "{value:?} has {} bytes", bytes.len());
    let mut r = Reader::new(bytes);
    assert_eq!(V::decode(&mut r, "value").as_ref(), Ok(value));
    assert_eq!(r.left(), 0);
}

/// However much is missing from its bytes, it is truncated.
pub(super) fn every_byte_is_needed<V: MessageValue + fmt::Debug>(value: &V) {
    let mut room = [0; MESSAGE_BYTES];
    let bytes = bytes(value, &mut room);
    for len in 0..bytes.len() {
        let read = V::decode(&mut Reader::new(&bytes[..len]), "value");
        assert_eq!(read.unwrap_err(), Malformed::new("value", Fault::Truncated), "{len} bytes");
    }
}

fn bytes<'a, V: MessageValue>(value: &V, room: &'a mut [u8; MESSAGE_BYTES]) -> &'a [u8] {
    let mut w = Writer::new(room);
    value.encode(&mut w);
    let len = w.finish().expect("it fits");
    &room[..len]
}
