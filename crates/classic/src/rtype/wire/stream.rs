//! The TCP step before the session: TcpWelcome, Hello, HelloAck with port and token, StartGame.
//! One message after another, each with the header of [`super`].

use super::{HEADER_LEN, Header};
use backspin::wire::field::{Little, fields, packets};
use backspin::wire::{Fault, Full, Malformed, RawName, Reader, Writer};

// Their names in PROTOCOL.md, which UDP's have, too.
use {TcpHello as Hello, TcpHelloAck as HelloAck};

packets! {
    Message<'a>
    100 TcpWelcome<'a> "TcpWelcome" ToClient, "The server greets.";
    1 Hello "Hello" ToServer, "The client says its name.";
    2 HelloAck "HelloAck" ToClient, "The server says where to go on.";
    101 StartGame<'a> "StartGame" ToClient, "The match begins.";
}

/// The server's greeting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct TcpWelcome<'a> {
    /// Nothing, or six bytes that some servers add; kept as they came.
    #[cfg_attr(
        feature = "serde",
        serde(
            serialize_with = "backspin::wire::hex::serialize",
            skip_serializing_if = "<[u8]>::is_empty"
        )
    )]
    pub tail: &'a [u8],
}

fields!(Little TcpWelcome<'a> { tail });

/// The client's name, raw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct TcpHello {
    /// The name.
    pub name: RawName,
}

fields!(Little TcpHello { name });

/// Where to send the UDP Hello, and what to prove there.
///
/// ```text
/// 0          2       6
/// | udp_port | token |
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct TcpHelloAck {
    /// The server's UDP port.
    pub udp_port: u16,
    /// For the UDP Hello. The first program's server sends 0 and checks nothing.
    pub token: u32,
}

fields!(Little TcpHelloAck { udp_port, token });

/// The match begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct StartGame<'a> {
    /// Means nothing; kept as it came.
    #[cfg_attr(
        feature = "serde",
        serde(
            serialize_with = "backspin::wire::hex::serialize",
            skip_serializing_if = "<[u8]>::is_empty"
        )
    )]
    pub tail: &'a [u8],
}

fields!(Little StartGame<'a> { tail });

impl<'a> Message<'a> {
    /// The longest message that [`Message::decode_next`] waits for: a header and the longest tail.
    pub const MAX_LEN: usize = HEADER_LEN + u16::MAX as usize;

    /// Reads the first message of `bytes` and says how many bytes it took, or `None` while it is
    /// not complete. A header that no message can have is refused before its payload has come.
    pub fn decode_next(bytes: &'a [u8]) -> Result<Option<(Self, usize)>, Malformed> {
        let mut r = Reader::new(bytes);
        if bytes.len() < HEADER_LEN {
            return Ok(None);
        }
        let header = Header::decode(&mut r)?;
        Message::check_size(&header)?;
        let Ok(payload) = r.take("payload", header.size) else {
            return Ok(None);
        };
        let message = Message::decode_payload(header.kind, payload)?;
        Ok(Some((message, HEADER_LEN + header.size)))
    }

    /// Reads exactly one message.
    pub fn decode(bytes: &'a [u8]) -> Result<Self, Malformed> {
        match Message::decode_next(bytes)? {
            Some((message, len)) if len == bytes.len() => Ok(message),
            Some((message, len)) => {
                let extra = bytes.len() - len;
                Err(Malformed::new(message.name(), Fault::Trailing { extra }))
            }
            None => Err(Malformed::new("payload", Fault::Truncated)),
        }
    }

    /// Writes one message and says how long it is.
    pub fn encode(&self, out: &mut [u8]) -> Result<usize, Full> {
        let mut w = Writer::new(out);
        Header::begin(&mut w, self.kind());
        self.encode_payload(&mut w);
        Header::end(&mut w);
        w.finish()
    }

    fn check_size(header: &Header) -> Result<(), Malformed> {
        let known = match header.kind {
            100 => matches!(header.size, 0 | 6),
            1 => header.size <= RawName::MAX,
            2 => header.size == 6,
            101 => true,
            unknown => return Err(Malformed::new("type", Fault::UnknownType(unknown))),
        };
        if known { Ok(()) } else { Err(Malformed::out_of_range("size", header.size as u32)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::check;
    use backspin::wire::Name;

    #[test]
    fn the_whole_tcp_step() {
        check(&[0, 0, 100, 1], &Message::TcpWelcome(TcpWelcome { tail: &[] }));
        check(
            b"\x05\0\x01\x01Alice",
            &Message::Hello(TcpHello { name: Name::new("Alice").into() }),
        );
        let ack = TcpHelloAck { udp_port: 4242, token: 0x1234_5678 };
        check(&[6, 0, 2, 1, 0x92, 0x10, 0x78, 0x56, 0x34, 0x12], &Message::HelloAck(ack));
        check(&[0, 0, 101, 1], &Message::StartGame(StartGame { tail: &[] }));
    }

    #[test]
    fn tolerated_tails_are_kept() {
        let tail = [1, 2, 3, 4, 5, 6];
        let welcome = Message::TcpWelcome(TcpWelcome { tail: &tail });
        check(&[6, 0, 100, 1, 1, 2, 3, 4, 5, 6], &welcome);
        check(&[2, 0, 101, 1, 7, 8], &Message::StartGame(StartGame { tail: &[7, 8] }));
    }

    #[test]
    fn a_message_in_pieces_is_waited_for() {
        let ack = [6, 0, 2, 1, 0x92, 0x10, 0x78, 0x56, 0x34, 0x12];
        for len in 0..ack.len() {
            assert_eq!(Message::decode_next(&ack[..len]), Ok(None));
        }
        let two = [&ack[..], &[0, 0, 101, 1]].concat();
        let (first, len) = Message::decode_next(&two).unwrap().unwrap();
        assert_eq!((first.name(), len), ("HelloAck", 10));
        let (second, len) = Message::decode_next(&two[len..]).unwrap().unwrap();
        assert_eq!((second.name(), len), ("StartGame", 4));
    }

    #[test]
    fn a_header_that_no_message_has_is_refused_before_its_payload() {
        let error = |bytes: &[u8]| Message::decode_next(bytes).unwrap_err();
        let size = |size: u32| Malformed::out_of_range("size", size);
        assert_eq!(error(&[65, 0, 1, 1]), size(65));
        assert_eq!(error(&[5, 0, 100, 1]), size(5));
        assert_eq!(error(&[0, 0, 2, 1]), size(0));
        assert_eq!(error(&[0, 0, 3, 1]), Malformed::new("type", Fault::UnknownType(3)));
        assert_eq!(error(&[0, 0, 1, 2]), Malformed::new("version", Fault::Version(2)));
    }
}
