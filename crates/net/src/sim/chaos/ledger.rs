//! What the server owes to whom: bytes from and to every address, and which have proved that they
//! are somebody's.
//!
//! It stands between the server and the network and reads what passes. An address is proved when
//! it sends back a cookie that was sent to it. Only `native` proves addresses; what the server says
//! in the old dialects is not counted.

use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddr;

use crate::wire::Dialect;
use crate::wire::native::{Datagram, Packet, Secret};

/// Every address that a server has heard of.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    accounts: BTreeMap<SocketAddr, Account>,
    excess: Option<Excess>,
}

/// More was sent to an address than came from it, and it was not proved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Excess {
    pub(super) address: SocketAddr,
    pub(super) got: u64,
    pub(super) sent: u64,
}

#[derive(Debug, Default)]
struct Account {
    got: u64,
    sent: u64,
    proof: Proof,
}

#[derive(Debug)]
enum Proof {
    /// The cookies that were sent there, the latest of them.
    Open(VecDeque<Secret>),
    Given,
}

impl Default for Proof {
    fn default() -> Self {
        Proof::Open(VecDeque::new())
    }
}

/// A client asks again and again; one of the last cookies comes back.
const COOKIES_KEPT: usize = 32;

impl Ledger {
    /// The server was given a datagram.
    pub(super) fn note_received(&mut self, from: SocketAddr, bytes: &[u8]) {
        let account = self.accounts.entry(from).or_default();
        account.got += bytes.len() as u64;
        let Proof::Open(cookies) = &account.proof else { return };
        let shown = match Datagram::decode(bytes).map(|datagram| datagram.packet) {
            Ok(Packet::Join(join)) => join.cookie,
            Ok(Packet::CreateRoom(wish)) => wish.cookie,
            Ok(Packet::Resume(resume)) => resume.cookie,
            Ok(Packet::ListRooms(list)) => list.cookie,
            _ => return,
        };
        if cookies.contains(&shown) {
            account.proof = Proof::Given;
        }
    }

    /// The server sends a datagram.
    pub(super) fn note_sent(&mut self, to: SocketAddr, bytes: &[u8]) {
        let account = self.accounts.entry(to).or_default();
        let Proof::Open(cookies) = &mut account.proof else { return };
        if Dialect::detect(bytes) != Some(Dialect::Native) {
            return;
        }
        account.sent += bytes.len() as u64;
        if let Ok(Datagram { packet: Packet::Challenge(challenge), .. }) = Datagram::decode(bytes) {
            if cookies.len() == COOKIES_KEPT {
                cookies.pop_front();
            }
            cookies.push_back(challenge.cookie);
        }
        if account.sent > account.got {
            let Account { got, sent, .. } = *account;
            self.excess.get_or_insert(Excess { address: to, got, sent });
        }
    }

    /// The first address that got too much.
    pub(super) fn excess(&self) -> Option<Excess> {
        self.excess
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::native::{Challenge, Resume};

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

    fn address() -> SocketAddr {
        "10.0.0.9:1".parse().unwrap()
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
}
