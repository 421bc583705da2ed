//! The UDP handshake: Hello and HelloAck.

use backspin::wire::Malformed;
use backspin::wire::field::fields;
use backspin::wire::{Name, RawName, Reader, Writer};

/// A player proves the token that it got over TCP.
///
/// ```text
/// 0       4      20
/// | token | name |
/// ```
///
/// The first program's client sends its raw name and no token: 0 to 64 bytes. 20 bytes are a token and
/// a name if they end as a name does, with a NUL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Hello {
    /// The token; `None` is the raw form.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub token: Option<u32>,
    /// The player's name. With a token it has at most 15 bytes.
    pub name: RawName,
}

impl Hello {
    const LEN: usize = 20;

    pub(super) fn decode(r: &mut Reader<'_>) -> Result<Self, Malformed> {
        if r.left() != Hello::LEN || r.rest().last() != Some(&0) {
            return Ok(Hello { token: None, name: RawName::decode(r, "name")? });
        }
        Ok(Hello { token: Some(r.u32_le("token")?), name: Name::decode(r, "name")?.into() })
    }

    pub(super) fn encode(&self, w: &mut Writer<'_>) {
        match self.token {
            Some(token) => {
                w.u32_le(token);
                self.name.cut().encode(w);
            }
            None => self.name.encode(w),
        }
    }
}

/// The server knows the player: a header and nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct HelloAck;

fields!(Little HelloAck {});

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rtype::wire::Packet;
    use crate::testing::check;
    use backspin::wire::Fault;

    #[test]
    fn hello_carries_token_and_padded_name() {
        let hello = Hello { token: Some(0x1234_5678), name: Name::new("Alice").into() };
        let bytes = b"\x14\x00\x01\x01\x78\x56\x34\x12Alice\0\0\0\0\0\0\0\0\0\0\0";
        check(bytes, &Packet::Hello(hello));
    }

    #[test]
    fn a_tokenless_hello_is_a_raw_name() {
        let hello = |name| Packet::Hello(Hello { token: None, name: Name::new(name).into() });
        check(b"\x05\x00\x01\x01Alice", &hello("Alice"));
        assert_eq!(Packet::decode(b"\x00\x00\x01\x01"), Ok(hello("")));
        let longest = b"\x0F\x00\x01\x01fifteen bytes..";
        assert_eq!(Packet::decode(longest), Ok(hello("fifteen bytes..")));
    }

    #[test]
    fn a_long_raw_name_is_kept_and_cut_when_it_is_told() {
        for size in 16..=64_u8 {
            let mut bytes = vec![b'a'; 4 + usize::from(size)];
            bytes[..4].copy_from_slice(&[size, 0, 1, 1]);
            let Ok(Packet::Hello(hello)) = Packet::decode(&bytes) else { panic!("{size}") };
            assert_eq!((hello.token, hello.name.cut()), (None, Name::new("aaaaaaaaaaaaaaa")));
            check(&bytes, &Packet::Hello(hello));
        }
        let mut longer = vec![b'a'; 69];
        longer[..4].copy_from_slice(&[65, 0, 1, 1]);
        let fault = Fault::WrongSize { stated: 64, actual: 65 };
        assert_eq!(Packet::decode(&longer), Err(Malformed::new("name", fault)));
    }

    #[test]
    fn hello_ack_is_a_bare_header() {
        check(&[0, 0, 2, 1], &Packet::HelloAck(HelloAck));
    }
}
