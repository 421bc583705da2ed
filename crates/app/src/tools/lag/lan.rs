//! The one change to a `lan` datagram that makes the answer come back through a proxy.

/// ```text
/// 0      1      3
/// | 0x03 | port |
/// ```
const HELLO: u8 = 3;

/// Puts `port` into a HELLO in place of the guest's; says what that was. All else is left alone.
pub(super) fn rename_port(bytes: &mut [u8], port: u16) -> Option<u16> {
    match bytes {
        [HELLO, high, low] => {
            let named = u16::from_be_bytes([*high, *low]);
            [*high, *low] = port.to_be_bytes();
            Some(named)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_hello_is_changed() {
        let mut hello = [0x03, 0xd2, 0xf1];
        assert_eq!(rename_port(&mut hello, 0x1234), Some(54_001));
        assert_eq!(hello, [0x03, 0x12, 0x34]);
        for other in [&[0x01][..], &[0x03, 0xd2], &[0x03, 0xd2, 0xf1, 0], &[0x05, 0, 0, 1], &[]] {
            let mut bytes = other.to_vec();
            assert_eq!(rename_port(&mut bytes, 0x1234), None);
            assert_eq!(bytes, other);
        }
    }
}
