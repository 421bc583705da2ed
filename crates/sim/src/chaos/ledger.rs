//! What the server owes to whom: bytes from and to every address, and which have proved that they
//! are somebody's.
//!
//! It stands between the server and the network and reads what passes. In `native` and `ack` an address is
//! proved when it sends back a cookie that was sent to it, and until then gets no more bytes than it
//! sent. In the old dialects it is proved when a stream came from there or when it sends back a Ping,
//! which `lan` has not; until then it gets three times what it sent and 200 bytes, headers of IP and
//! UDP included.

use backspin::peer::{LimitKey, PeerAddr};
use std::collections::{BTreeMap, VecDeque};

use backspin::wire::native::{Datagram, Packet, Secret};
use backspin_classic::Dialect;
use backspin_classic::wire::ack;

/// Every address that a server has heard of.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    /// In `native` and `ack`.
    accounts: BTreeMap<PeerAddr, Account<Secret>>,
    /// In the old dialects: a guest in `lan` is answered at another port than it wrote from.
    old: BTreeMap<LimitKey, Account<[u8; 8]>>,
    excess: Option<Excess>,
}

/// More was sent to an address than it may get, and it was not proved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Excess {
    pub(super) address: PeerAddr,
    pub(super) got: u64,
    pub(super) sent: u64,
}

#[derive(Debug)]
struct Account<T> {
    got: u64,
    sent: u64,
    proof: Proven<T>,
}

#[derive(Debug)]
enum Proven<T> {
    /// What was sent there to be sent back, the latest of it.
    Open(VecDeque<T>),
    Given,
}

impl<T> Default for Account<T> {
    fn default() -> Self {
        Account { got: 0, sent: 0, proof: Proven::Open(VecDeque::new()) }
    }
}

impl<T: PartialEq> Account<T> {
    /// This was sent there; it proves the address if it comes back.
    fn ask(&mut self, question: T) {
        if let Proven::Open(asked) = &mut self.proof {
            if asked.len() == KEPT {
                asked.pop_front();
            }
            asked.push_back(question);
        }
    }

    /// This came back.
    fn take(&mut self, answer: &T) {
        if matches!(&self.proof, Proven::Open(asked) if asked.contains(answer)) {
            self.proof = Proven::Given;
        }
    }

    /// Counts what is sent there. Whether it is more than `allowed` of what came.
    fn exceeds(&mut self, bytes: u64, allowed: impl Fn(u64) -> u64) -> bool {
        self.sent += bytes;
        matches!(self.proof, Proven::Open(_)) && self.sent > allowed(self.got)
    }
}

/// A client asks again and again; one of the last answers comes back.
const KEPT: usize = 32;

/// Bytes of IPv4 and UDP around a datagram.
const HEADERS: u64 = 28;

/// What an unproved address may be sent in the old dialects.
fn old_limit(got: u64) -> u64 {
    3 * got + 200
}

impl Ledger {
    /// The server was given a datagram.
    pub(super) fn note_received(&mut self, from: PeerAddr, bytes: &[u8]) {
        let account = self.accounts.entry(from).or_default();
        account.got += bytes.len() as u64;
        match Datagram::decode(bytes).map(|datagram| datagram.packet) {
            Ok(Packet::Join(join)) => account.take(&join.cookie),
            Ok(Packet::CreateRoom(wish)) => account.take(&wish.cookie),
            Ok(Packet::Resume(resume)) => account.take(&resume.cookie),
            Ok(Packet::ListRooms(list)) => account.take(&list.cookie),
            _ => {}
        }
        if let Ok(ack::Packet::Join(join)) = ack::Datagram::decode(bytes).map(|it| it.packet) {
            account.take(&join.cookie);
        }
        if !has_cookies(bytes) {
            let account = self.old.entry(from.limit_key()).or_default();
            account.got += bytes.len() as u64 + HEADERS;
            if let Some(answer) = rtype_bytes(bytes, PONG) {
                account.take(&answer);
            }
        }
    }

    /// Someone there opened a stream, which nobody can forge.
    pub(super) fn note_stream(&mut self, from: PeerAddr) {
        self.old.entry(from.limit_key()).or_default().proof = Proven::Given;
    }

    /// The server sends a datagram.
    pub(super) fn note_sent(&mut self, to: PeerAddr, bytes: &[u8]) {
        let len = bytes.len() as u64;
        let (exceeds, got, sent) = if has_cookies(bytes) {
            let account = self.accounts.entry(to).or_default();
            if let Ok(ack::Datagram { packet: ack::Packet::Challenge(challenge), .. }) =
                ack::Datagram::decode(bytes)
            {
                account.ask(challenge.cookie);
            }
            if let Ok(Datagram { packet: Packet::Challenge(challenge), .. }) =
                Datagram::decode(bytes)
            {
                account.ask(challenge.cookie);
            }
            (account.exceeds(len, |got| got), account.got, account.sent)
        } else {
            let account = self.old.entry(to.limit_key()).or_default();
            if let Some(question) = rtype_bytes(bytes, PING) {
                account.ask(question);
            }
            (account.exceeds(len + HEADERS, old_limit), account.got, account.sent)
        };
        if exceeds {
            self.excess.get_or_insert(Excess { address: to, got, sent });
        }
    }

    /// The first address that got too much.
    pub(super) fn excess(&self) -> Option<Excess> {
        self.excess
    }
}

/// Whether a datagram's dialect proves addresses by cookies.
fn has_cookies(bytes: &[u8]) -> bool {
    matches!(Dialect::detect(bytes), Some(Dialect::Native | Dialect::Ack))
}

/// The types of Ping and Pong in `rtype`.
const PING: u8 = 7;
const PONG: u8 = 8;

/// What a Ping or a Pong in `rtype` carries.
fn rtype_bytes(bytes: &[u8], kind: u8) -> Option<[u8; 8]> {
    match bytes {
        [8, 0, type_, 1, rest @ ..] if *type_ == kind => rest.try_into().ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use backspin::wire::Name;
    use backspin::wire::native::{Challenge, Resume, Token};

    fn bytes(packet: Packet<'_>) -> Vec<u8> {
        let mut out = [0; 1200];
        let len = Datagram { sequence: 1, packet }.encode(&mut out).unwrap();
        out[..len].to_vec()
    }

    fn challenge(cookie: u8) -> Vec<u8> {
        let cookie = Secret([cookie; 16]);
        bytes(Packet::Challenge(Challenge { nonce: 5, cookie, token_required: false }))
    }

    fn resume(cookie: u8) -> Vec<u8> {
        let (cookie, ticket) = (Secret([cookie; 16]), Secret([0; 16]));
        bytes(Packet::Resume(Resume { nonce: 5, cookie, ticket, fresh: false }))
    }

    fn address() -> PeerAddr {
        PeerAddr::socket("10.0.0.9:1".parse().unwrap())
    }

    #[test]
    fn as_much_as_came_may_go_back_and_not_a_byte_more() {
        let mut ledger = Ledger::default();
        ledger.note_received(address(), &[0; 34]);
        ledger.note_sent(address(), &challenge(1));
        assert_eq!(challenge(1).len(), 34);
        assert_eq!(ledger.excess(), None);
        ledger.note_sent(address(), &challenge(1));
        assert_eq!(ledger.excess(), Some(Excess { address: address(), got: 34, sent: 68 }));
    }

    #[test]
    fn a_cookie_that_comes_back_is_proof_and_one_that_was_never_sent_is_none() {
        for (shown, proved) in [(2, true), (3, false)] {
            let mut ledger = Ledger::default();
            ledger.note_received(address(), &[0; 60]);
            ledger.note_sent(address(), &challenge(2));
            ledger.note_received(address(), &resume(shown));
            for _ in 0..10 {
                ledger.note_sent(address(), &challenge(4));
            }
            assert_eq!(ledger.excess().is_none(), proved, "cookie {shown}");
        }
    }

    #[test]
    fn the_same_holds_in_ack() {
        let say = |packet| {
            let mut out = [0; 1200];
            let len = ack::Datagram { sequence: 1, packet }.encode(&mut out).unwrap();
            out[..len].to_vec()
        };
        let (cookie, name, token) = (Secret([2; 16]), Name::default(), Token::new(&[]).unwrap());
        let hello = say(ack::Packet::Hello(ack::Hello {}));
        let challenge = say(ack::Packet::Challenge(ack::Challenge { cookie }));
        let join = say(ack::Packet::Join(ack::Join { cookie, game: 0, name, token }));
        for (proof, is_proved) in [(&join, true), (&hello, false)] {
            let mut ledger = Ledger::default();
            ledger.note_received(address(), &hello);
            ledger.note_sent(address(), &challenge);
            assert_eq!(ledger.excess(), None);
            ledger.note_received(address(), proof);
            (0..10).for_each(|_| ledger.note_sent(address(), &challenge));
            assert_eq!(ledger.excess().is_none(), is_proved);
        }
    }

    const HELLO: [u8; 24] = {
        let mut bytes = [0; 24];
        (bytes[0], bytes[2], bytes[3]) = (20, 1, 1);
        bytes
    };

    fn with(kind: u8, seed: u8) -> Vec<u8> {
        [&[8, 0, kind, 1], &[seed; 8][..]].concat()
    }

    #[test]
    fn three_times_what_came_and_200_bytes_may_go_back_in_the_old_dialects() {
        let mut ledger = Ledger::default();
        ledger.note_received(address(), &HELLO);
        // 3 x 52 + 200 bytes are eight Pings of 40 and one HelloAck of 32.
        (0..8).for_each(|_| ledger.note_sent(address(), &with(PING, 5)));
        ledger.note_sent(address(), &[0, 0, 2, 1]);
        assert_eq!(ledger.excess(), None);
        ledger.note_sent(address(), &[0, 0, 2, 1]);
        assert_eq!(ledger.excess(), Some(Excess { address: address(), got: 52, sent: 384 }));
    }

    #[test]
    fn a_ping_that_comes_back_or_a_stream_is_proof_in_the_old_dialects() {
        let flood = |ledger: &mut Ledger| {
            (0..99).for_each(|n| ledger.note_sent(address(), &with(PING, n)));
            ledger.excess().is_none()
        };
        for (shown, proved) in [(7, true), (8, false)] {
            let mut ledger = Ledger::default();
            ledger.note_received(address(), &HELLO);
            ledger.note_sent(address(), &with(PING, 7));
            ledger.note_received(address(), &with(PONG, shown));
            assert_eq!(flood(&mut ledger), proved, "{shown}");
        }
        let mut ledger = Ledger::default();
        ledger.note_stream(PeerAddr::socket("10.0.0.9:40000".parse().unwrap()));
        assert!(flood(&mut ledger));
    }
}
