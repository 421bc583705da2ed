//! From stranger to session: Hello, Challenge, Join, Resume, Accept and Reject.

use super::SessionIndex;
use crate::game::Refusal;
use crate::wire::field::{Big, Field, codes, fields};
use crate::wire::malformed::Malformed;
use crate::wire::{Name, Reader, Writer};

/// The version of the protocol behind the header.
pub const PROTOCOL: u16 = 2;

/// A stranger asks for a challenge. Long enough that no answer to it is longer.
///
/// ```text
/// 0          2      6              8       16        48
/// | protocol | game | game_version | nonce | padding |
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Hello {
    /// The protocol version that the client speaks.
    pub protocol: u16,
    /// The game it wants to play.
    pub game: u32,
    /// The version of its rules.
    pub game_version: u16,
    /// Chosen by the client; comes back in every answer until the session stands.
    pub nonce: u64,
}

fields!(Big Hello { protocol, game, game_version, nonce } padding 32);

/// Sixteen bytes that cannot be guessed: a cookie or a ticket.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Secret(pub [u8; 16]);

impl<Order> Field<'_, Order> for Secret {
    #[inline]
    fn decode(r: &mut Reader<'_>, field: &'static str) -> Result<Self, Malformed> {
        r.array(field).map(Secret)
    }

    #[inline]
    fn encode(&self, w: &mut Writer<'_>) {
        w.bytes(&self.0);
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for Secret {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        crate::wire::hex::serialize(self.0, serializer)
    }
}

/// Prove your address with this cookie. The server keeps nothing.
///
/// ```text
/// 0       8        24               25
/// | nonce | cookie | token_required |
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Challenge {
    /// The Hello's.
    pub nonce: u64,
    /// Goes into Join, Resume or ListRooms.
    pub cookie: Secret,
    /// Whether Join needs a token.
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::wire::flag_as_number"))]
    pub token_required: bool,
}

fields!(Big Challenge { nonce, cookie, token_required });

/// The longest datagram of a session, 1024 to 1200.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Budget(u16);

impl Budget {
    /// The most there is.
    pub const MAX: Budget = Budget(super::MAX_DATAGRAM_LEN as u16);

    /// `bytes`, if a session may agree on that.
    pub const fn new(bytes: u16) -> Option<Self> {
        if bytes >= super::MIN_BUDGET && bytes <= Budget::MAX.0 {
            Some(Budget(bytes))
        } else {
            None
        }
    }

    /// How many bytes.
    pub const fn bytes(self) -> usize {
        self.0 as usize
    }
}

impl Field<'_> for Budget {
    fn decode(r: &mut Reader<'_>, field: &'static str) -> Result<Self, Malformed> {
        let bytes = r.u16_be(field)?;
        Budget::new(bytes).ok_or(Malformed::out_of_range(field, bytes))
    }

    fn encode(&self, w: &mut Writer<'_>) {
        w.u16_be(self.0);
    }
}

codes! {
    /// What a client is in a room, on the wire 0 and 1.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Role {
        /// A player.
        Play = 0,
        /// A spectator.
        Watch = 1,
    }
}

/// What an operator gave to those who may join, at most [`Token::MAX`] bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token<'a>(&'a [u8]);

impl<'a> Token<'a> {
    /// The longest token. With it the longest question of a stranger, CreateRoom, leaves more than a
    /// hundred bytes of the least budget: for a key and a seal.
    pub const MAX: usize = 800;

    /// The token of these bytes, if they are not too many. None at all is "no token".
    pub const fn new(bytes: &'a [u8]) -> Option<Self> {
        if bytes.len() <= Token::MAX { Some(Token(bytes)) } else { None }
    }

    /// Its bytes.
    pub const fn as_bytes(&self) -> &'a [u8] {
        self.0
    }
}

impl<'a, Order> Field<'a, Order> for Token<'a> {
    fn decode(r: &mut Reader<'a>, field: &'static str) -> Result<Self, Malformed> {
        let len = r.u16_be("token_length")?;
        if usize::from(len) > Token::MAX {
            return Err(Malformed::out_of_range("token_length", len));
        }
        r.take(field, usize::from(len)).map(Token)
    }

    fn encode(&self, w: &mut Writer<'_>) {
        w.u16_be(self.0.len() as u16);
        w.bytes(self.0);
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for Token<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        crate::wire::hex::serialize(self.0, serializer)
    }
}

/// What a player says of itself when joining, as the game reads it: at most [`JoinData::MAX`] bytes, and
/// with the token no more than [`Token::MAX`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JoinData<'a>(&'a [u8]);

impl<'a> JoinData<'a> {
    /// The longest.
    pub const MAX: usize = 200;

    /// What these bytes say, if they are not too many.
    pub const fn new(bytes: &'a [u8]) -> Option<Self> {
        if bytes.len() <= JoinData::MAX { Some(JoinData(bytes)) } else { None }
    }

    /// Its bytes.
    pub const fn as_bytes(&self) -> &'a [u8] {
        self.0
    }
}

impl<'a, Order> Field<'a, Order> for JoinData<'a> {
    fn decode(r: &mut Reader<'a>, field: &'static str) -> Result<Self, Malformed> {
        let len = r.u8("data_length")?;
        if usize::from(len) > JoinData::MAX {
            return Err(Malformed::out_of_range("data_length", len));
        }
        r.take(field, usize::from(len)).map(JoinData)
    }

    fn encode(&self, w: &mut Writer<'_>) {
        w.u8(self.0.len() as u8);
        w.bytes(self.0);
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for JoinData<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        crate::wire::hex::serialize(self.0, serializer)
    }
}

/// The Hello again, with the cookie and everything that the server decides on.
///
/// ```text
/// 0       8        24         26     30             32       36       38     39     43
/// | nonce | cookie | protocol | game | game_version | layout | budget | role | room |
/// 43     59         75            76
/// | name | password | data_length | data | token_length | token |
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Join<'a> {
    /// The Hello's.
    pub nonce: u64,
    /// The Challenge's.
    pub cookie: Secret,
    /// The protocol version that the client speaks.
    pub protocol: u16,
    /// The game.
    pub game: u32,
    /// The version of its rules.
    pub game_version: u16,
    /// How the game lays out what it sends: see [`Game::layout`](crate::game::Game::layout).
    pub layout: u32,
    /// The longest datagram that the client takes.
    pub budget: Budget,
    /// To play or to watch.
    pub role: Role,
    /// Which room; 0 is any.
    pub room: u32,
    /// The player's name.
    pub name: Name,
    /// The room's password, empty where there is none.
    pub password: Name,
    /// What the player says of itself.
    pub data: JoinData<'a>,
    /// What the operator gave out.
    pub token: Token<'a>,
}

fields!(Big Join<'a> {
    nonce, cookie, protocol, game, game_version, layout, budget, role, room, name, password, data,
    token,
});

/// Back into the slot that the ticket names, from whatever address.
///
/// ```text
/// 0       8        24       40      41
/// | nonce | cookie | ticket | fresh |
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Resume {
    /// The Hello's.
    pub nonce: u64,
    /// The Challenge's.
    pub cookie: Secret,
    /// The Accept's.
    pub ticket: Secret,
    /// The client was started anew and has only the ticket: messages are counted from 0 again.
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::wire::flag_as_number"))]
    pub fresh: bool,
}

fields!(Big Resume { nonce, cookie, ticket, fresh });

/// The place, and what is needed to use it.
///
/// ```text
/// 0       8         10       14     18     22          23       25     26        42
/// | nonce | session | player | room | tick | tick_rate | budget | role | ticket  |
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Accept {
    /// The Join's, Resume's or EnterRoom's.
    pub nonce: u64,
    /// What every later packet of the client begins with.
    pub session: SessionIndex,
    /// Who the client is in the roster and in the world.
    pub player: u32,
    /// The room.
    pub room: u32,
    /// The server's tick when this was sent; inputs count on from it.
    pub tick: u32,
    /// Ticks per second, 1 to 255.
    pub tick_rate: u8,
    /// The longest datagram of the session, in both directions.
    pub budget: Budget,
    /// What the client is in the room.
    pub role: Role,
    /// Brings the client back into the same slot after a drop.
    pub ticket: Secret,
}

impl Accept {
    pub(super) fn decode(r: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(Accept {
            nonce: r.u64_be("nonce")?,
            session: <SessionIndex as Field>::decode(r, "session")?,
            player: r.u32_be("player")?,
            room: r.u32_be("room")?,
            tick: r.u32_be("tick")?,
            tick_rate: match r.u8("tick_rate")? {
                0 => return Err(Malformed::out_of_range("tick_rate", 0)),
                rate => rate,
            },
            budget: <Budget as Field>::decode(r, "budget")?,
            role: <Role as Field>::decode(r, "role")?,
            ticket: <Secret as Field>::decode(r, "ticket")?,
        })
    }

    pub(super) fn encode(&self, w: &mut Writer<'_>) {
        w.u64_be(self.nonce);
        w.u16_be(self.session.get());
        w.u32_be(self.player);
        w.u32_be(self.room);
        w.u32_be(self.tick);
        debug_assert!(self.tick_rate > 0, "a server ticks");
        w.u8(self.tick_rate);
        w.u16_be(self.budget.0);
        w.u8(self.role as u8);
        w.bytes(&self.ticket.0);
    }
}

/// No place, and why.
///
/// ```text
/// 0       8        9          11             13                  14
/// | nonce | reason | protocol | game_version | [sentence_length | sentence] |
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Reject {
    /// The question's.
    pub nonce: u64,
    /// Why.
    pub reason: RejectReason,
    /// The protocol version that the server speaks.
    pub protocol: u16,
    /// The version of the game's rules there; 0 if it does not have the game.
    pub game_version: u16,
    /// What the player reads: the game's own words with [`RejectReason::Refused`], else empty.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Refusal::is_empty"))]
    pub sentence: Refusal,
}

codes! {
    /// Why a client is not let in, on the wire 1 to 17.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum RejectReason {
        /// Every place is taken.
        Full = 1,
        /// The server speaks another version of the protocol.
        Protocol = 2,
        /// The server plays another version of the game.
        GameVersion = 3,
        /// The server does not have the game.
        Game = 4,
        /// The operator keeps this player or address out.
        Banned = 5,
        /// A token is needed, and this is none.
        Token = 6,
        /// There is no such room.
        Room = 7,
        /// The room has another password.
        Password = 8,
        /// The ticket is unknown, or its slot was given up.
        Ticket = 9,
        /// Too many sessions from this address.
        Address = 10,
        /// The server is about to stop.
        Stopping = 11,
        /// Too many passwords were tried from this address.
        Tries = 12,
        /// There are as many rooms as there may be.
        Rooms = 13,
        /// A room cannot be called so: another is, or the name is empty.
        RoomName = 14,
        /// This is a matchmaker: nobody plays here.
        Matchmaker = 15,
        /// The server's build of the game lays out otherwise what it sends.
        Layout = 16,
        /// The game does not let this player in; the sentence says why.
        Refused = 17,
    }
}

fields!(Big Reject { nonce, reason, protocol, game_version, sentence });

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::Fault;
    use crate::wire::native::Packet;
    use crate::wire::testing::{check_native, native_fault};

    const NONCE: u64 = 0x0102_0304_0506_0708;
    const NONCE_BYTES: [u8; 8] = [1, 2, 3, 4, 5, 6, 7, 8];
    const COOKIE: Secret = Secret([0xC0; 16]);
    const TICKET: Secret = Secret([0x71; 16]);

    fn hello() -> Vec<u8> {
        [&[0, 1, b'P', b'O', b'N', b'G', 0, 3][..], &NONCE_BYTES, &[0; 32]].concat()
    }

    fn join(token_length: u16, token: &[u8]) -> Vec<u8> {
        let fixed = b"\x00\x01PONG\x00\x03\x1A\x70\x00\x7E\x04\xB0\x01\x00\x00\x00\x07\
            Alice\0\0\0\0\0\0\0\0\0\0\0sesame\0\0\0\0\0\0\0\0\0\0\x03red";
        [&NONCE_BYTES[..], &COOKIE.0, fixed, &token_length.to_be_bytes(), token].concat()
    }

    fn accept() -> Vec<u8> {
        let fixed = [0, 9, 0, 0, 0, 2, 0, 0, 0, 7, 0, 0, 1, 2, 60, 0x04, 0x00, 0];
        [&NONCE_BYTES[..], &fixed, &TICKET.0].concat()
    }

    /// What is wrong when the bytes at `at` are these.
    fn fault_with(kind: u8, mut payload: Vec<u8>, at: usize, bytes: &[u8]) -> Malformed {
        payload[at..at + bytes.len()].copy_from_slice(bytes);
        native_fault(kind, &payload)
    }

    #[test]
    fn hello_is_padded_with_zeros() {
        let packet = Hello { protocol: 1, game: 0x504F_4E47, game_version: 3, nonce: NONCE };
        check_native(0x01, &hello(), Packet::Hello(packet));
        for at in 16..48 {
            let fault = Malformed::out_of_range("padding", 1);
            assert_eq!(fault_with(0x01, hello(), at, &[1]), fault);
        }
    }

    #[test]
    fn challenge_carries_the_cookie() {
        let packet = Challenge { nonce: NONCE, cookie: COOKIE, token_required: true };
        let bytes = [&NONCE_BYTES[..], &COOKIE.0, &[1]].concat();
        check_native(0x81, &bytes, Packet::Challenge(packet));
        let fault = Malformed::out_of_range("token_required", 2);
        assert_eq!(fault_with(0x81, bytes, 24, &[2]), fault);
    }

    #[test]
    fn join_repeats_the_hello_with_the_cookie() {
        let token = [0xEE; 3];
        let packet = Join {
            nonce: NONCE,
            cookie: COOKIE,
            protocol: 1,
            game: 0x504F_4E47,
            game_version: 3,
            layout: 0x1A70_007E,
            budget: Budget::MAX,
            role: Role::Watch,
            room: 7,
            name: Name::new("Alice"),
            password: Name::new("sesame"),
            data: JoinData::new(b"red").unwrap(),
            token: Token::new(&token).unwrap(),
        };
        check_native(0x02, &join(3, &token), Packet::Join(packet));
        let packet = Join { token: Token::new(&[]).unwrap(), ..packet };
        check_native(0x02, &join(0, &[]), Packet::Join(packet));
    }

    #[test]
    fn a_token_has_at_most_800_bytes() {
        let token = [7; 801];
        assert!(Packet::decode_payload(0x02, &join(800, &token[..800])).is_ok());
        let fault = Malformed::out_of_range("token_length", 801);
        assert_eq!(native_fault(0x02, &join(801, &token)), fault);
        assert_eq!(Token::new(&token[..800]).unwrap().as_bytes(), [7; 800]);
        assert_eq!(Token::new(&token), None);
        let truncated = Malformed::new("token", Fault::Truncated);
        assert_eq!(native_fault(0x02, &join(300, &token[..299])), truncated);
        let trailing = Malformed::new("Join", Fault::Trailing { extra: 1 });
        assert_eq!(native_fault(0x02, &join(255, &token[..256])), trailing);
    }

    #[test]
    fn a_budget_is_1024_to_1200() {
        for bytes in [1024, 1200] {
            let budget = Budget::new(bytes).unwrap();
            assert_eq!(budget.bytes(), usize::from(bytes));
        }
        for bytes in [0, 1023, 1201, u16::MAX] {
            assert_eq!(Budget::new(bytes), None);
            let fault = Malformed::out_of_range("budget", bytes);
            assert_eq!(fault_with(0x02, join(0, &[]), 36, &bytes.to_be_bytes()), fault);
            assert_eq!(fault_with(0x82, accept(), 23, &bytes.to_be_bytes()), fault);
        }
    }

    #[test]
    fn a_role_is_0_or_1() {
        let fault = Malformed::out_of_range("role", 2);
        assert_eq!(fault_with(0x02, join(0, &[]), 38, &[2]), fault);
        assert_eq!(fault_with(0x82, accept(), 25, &[2]), fault);
    }

    #[test]
    fn names_and_passwords_have_their_nul() {
        let fault = |field| Malformed::new(field, Fault::Unterminated);
        assert_eq!(fault_with(0x02, join(0, &[]), 43, &[b'x'; 16]), fault("name"));
        assert_eq!(fault_with(0x02, join(0, &[]), 59, &[b'x'; 16]), fault("password"));
    }

    #[test]
    fn resume_carries_cookie_and_ticket() {
        for fresh in [false, true] {
            let packet = Resume { nonce: NONCE, cookie: COOKIE, ticket: TICKET, fresh };
            let bytes = [&NONCE_BYTES[..], &COOKIE.0, &TICKET.0, &[fresh.into()]].concat();
            check_native(0x09, &bytes, Packet::Resume(packet));
        }
        let bytes = [&NONCE_BYTES[..], &COOKIE.0, &TICKET.0, &[2]].concat();
        assert_eq!(native_fault(0x09, &bytes), Malformed::out_of_range("fresh", 2));
    }

    #[test]
    fn accept_gives_the_place() {
        let packet = Accept {
            nonce: NONCE,
            session: SessionIndex::new(9).unwrap(),
            player: 2,
            room: 7,
            tick: 258,
            tick_rate: 60,
            budget: Budget::new(1024).unwrap(),
            role: Role::Play,
            ticket: TICKET,
        };
        check_native(0x82, &accept(), Packet::Accept(packet));
        let fault = Malformed::out_of_range("tick_rate", 0);
        assert_eq!(fault_with(0x82, accept(), 22, &[0]), fault);
    }

    #[test]
    fn a_client_is_rejected_for_one_of_seventeen_reasons_and_may_read_a_sentence() {
        let bytes = |reason| [&NONCE_BYTES[..], &[reason, 0, 1, 0, 3, 3], b"No."].concat();
        let sentence = Refusal::new("No.");
        for (byte, reason) in (1..=17).map(|byte| (byte, RejectReason::from_code(byte).unwrap())) {
            let packet = Reject { nonce: NONCE, reason, protocol: 1, game_version: 3, sentence };
            check_native(0x88, &bytes(byte), Packet::Reject(packet));
        }
        for reason in [0, 18, 255] {
            let fault = Malformed::out_of_range("reason", reason);
            assert_eq!(native_fault(0x88, &bytes(reason)), fault);
        }
        let said = |len: u8, text: &[u8]| [&bytes(17)[..13], &[len], text].concat();
        let fault = Malformed::out_of_range("sentence_length", 81);
        assert_eq!(native_fault(0x88, &said(81, &[b'a'; 81])), fault);
        let fault = Malformed::out_of_range("sentence_length", 0);
        assert_eq!(native_fault(0x88, &said(0, &[])), fault);
        let (reason, sentence) = (RejectReason::Full, Refusal::NONE);
        let packet = Reject { nonce: NONCE, reason, protocol: 1, game_version: 3, sentence };
        check_native(0x88, &bytes(1)[..13], Packet::Reject(packet));
        for text in [&[0xFF][..], b"\n"] {
            let fault = Malformed::out_of_range("sentence", 1);
            assert_eq!(native_fault(0x88, &said(1, text)), fault);
        }
    }

    #[test]
    fn a_byte_too_many_is_refused() {
        let packets = [(0x01, "Hello", 48), (0x09, "Resume", 41), (0x81, "Challenge", 25)];
        for (kind, name, len) in packets {
            let trailing = Malformed::new(name, Fault::Trailing { extra: 1 });
            assert_eq!(native_fault(kind, &vec![0; len + 1]), trailing);
        }
        let trailing = Malformed::new("Accept", Fault::Trailing { extra: 1 });
        assert_eq!(native_fault(0x82, &[accept(), vec![0]].concat()), trailing);
    }
}
