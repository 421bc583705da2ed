//! How a player comes in: HELLO, CHALLENGE, JOIN; and WELCOME or REFUSED.

use backspin::wire::field::{Big, fields};
use backspin::wire::native::{Secret, Token};
use backspin::wire::{Fault, Malformed, Name, Reader, Writer};

use super::Sentence;

/// A stranger asks for a cookie: 32 bytes of zero, so that the answer is not longer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Hello {}

fields!(Big Hello {} padding 32);

/// Prove your address with this cookie. The server keeps nothing.
///
/// ```text
/// 0        16
/// | cookie |
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Challenge {
    /// Goes into JOIN.
    pub cookie: Secret,
}

fields!(Big Challenge { cookie });

/// A place to play.
///
/// ```text
/// 0        16     20     36
/// | cookie | game | name | token, 0 to 800 bytes
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Join<'a> {
    /// The CHALLENGE's.
    pub cookie: Secret,
    /// Four letters, read as a number; 0 is any.
    pub game: u32,
    /// The player's.
    pub name: Name,
    /// What the operator gave out.
    pub token: Token<'a>,
}

impl<'a> Join<'a> {
    pub(super) fn decode(r: &mut Reader<'a>) -> Result<Self, Malformed> {
        let (cookie, game) = (Secret(r.array("cookie")?), r.u32_be("game")?);
        let (name, token) = (Name::decode(r, "name")?, r.take_rest());
        let too_long = Fault::WrongSize { stated: Token::MAX, actual: token.len() };
        let token = Token::new(token).ok_or(Malformed::new("token", too_long))?;
        Ok(Join { cookie, game, name, token })
    }

    pub(super) fn encode(&self, w: &mut Writer<'_>) {
        w.bytes(&self.cookie.0);
        w.u32_be(self.game);
        self.name.encode(w);
        w.bytes(self.token.as_bytes());
    }
}

/// The player is in.
///
/// ```text
/// 0           4           8             12          13
/// | player_id | entity_id | server_tick | tick_rate |
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Welcome {
    /// Who, in the room.
    pub player_id: u32,
    /// The entity that the player steers: where the snapshots acknowledge inputs.
    pub entity_id: u32,
    /// The tick in which the player came.
    pub server_tick: u32,
    /// Ticks a second; not 0.
    pub tick_rate: u8,
}

impl Welcome {
    pub(super) fn decode(r: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(Welcome {
            player_id: r.u32_be("player_id")?,
            entity_id: r.u32_be("entity_id")?,
            server_tick: r.u32_be("server_tick")?,
            tick_rate: match r.u8("tick_rate")? {
                0 => return Err(Malformed::out_of_range("tick_rate", 0)),
                rate => rate,
            },
        })
    }

    pub(super) fn encode(&self, w: &mut Writer<'_>) {
        w.u32_be(self.player_id);
        w.u32_be(self.entity_id);
        w.u32_be(self.server_tick);
        w.u8(self.tick_rate);
    }
}

/// There is no place.
///
/// ```text
/// 0        1
/// | reason | sentence, 0 to 64 bytes
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Refused {
    /// As in `native`'s Reject.
    pub reason: u8,
    /// The same in words.
    pub sentence: Sentence,
}

fields!(Big Refused { reason, sentence });

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ack::wire::testing::{check_packet, fault};
    use crate::ack::wire::{Packet, sentence};

    const COOKIE: [u8; 16] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16];

    #[test]
    fn a_hello_is_32_zeros() {
        check_packet(0x20, &[0; 32], Packet::Hello(Hello {}));
        let mut payload = [0; 32];
        payload[31] = 7;
        assert_eq!(fault(0x20, &payload), Malformed::out_of_range("padding", 7));
        assert_eq!(fault(0x20, &[0; 31]), Malformed::new("padding", Fault::Truncated));
    }

    #[test]
    fn a_challenge_is_a_cookie() {
        check_packet(0xB0, &COOKIE, Packet::Challenge(Challenge { cookie: Secret(COOKIE) }));
    }

    #[test]
    fn a_join_ends_with_its_token_of_up_to_800_bytes() {
        let name = b"Alice\0\0\0\0\0\0\0\0\0\0\0";
        let head = [&COOKIE[..], b"RTYP", name].concat();
        let join = |token| Join {
            cookie: Secret(COOKIE),
            game: 0x5254_5950,
            name: Name::new("Alice"),
            token: Token::new(token).unwrap(),
        };
        check_packet(0x21, &[&head[..], &[9; 800]].concat(), Packet::Join(join(&[9; 800])));
        // Without one it is as short as it gets: a byte more is a token.
        let bytes = super::super::testing::datagram(0x21, &head);
        let decoded = crate::ack::wire::Datagram::decode(&bytes).unwrap().packet;
        assert_eq!(decoded, Packet::Join(join(&[])));
        let too_long = Fault::WrongSize { stated: 800, actual: 801 };
        let longer = [&head[..], &[9; 801]].concat();
        assert_eq!(fault(0x21, &longer), Malformed::new("token", too_long));
        let mut unterminated = head;
        unterminated[20..].fill(b'x');
        assert_eq!(fault(0x21, &unterminated), Malformed::new("name", Fault::Unterminated));
    }

    #[test]
    fn a_welcome_says_who_and_where() {
        let payload = [0, 0, 0, 1, 0, 1, 0, 1, 0, 0, 2, 3, 60];
        let welcome =
            Welcome { player_id: 1, entity_id: 0x1_0001, server_tick: 515, tick_rate: 60 };
        check_packet(0xB1, &payload, Packet::Welcome(welcome));
        let stopped = [&payload[..12], &[0]].concat();
        assert_eq!(fault(0xB1, &stopped), Malformed::out_of_range("tick_rate", 0));
    }

    #[test]
    fn a_refusal_has_a_number_and_a_sentence() {
        let words = "x".repeat(64);
        let refused = Refused { reason: 1, sentence: sentence(&words) };
        check_packet(0xB2, &[&[1], words.as_bytes()].concat(), Packet::Refused(refused));
        let too_long = Fault::WrongSize { stated: 64, actual: 65 };
        assert_eq!(fault(0xB2, &[b'x'; 66]), Malformed::new("sentence", too_long));
        assert_eq!(fault(0xB2, b"\x01a\0b"), Malformed::new("sentence", Fault::AfterNul));
    }
}
