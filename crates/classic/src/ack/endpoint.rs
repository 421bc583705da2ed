//! The endpoint in `ack`: a cookie before anything is kept, and not a word too many before it.

use super::wire::{Challenge, Datagram, Join, Packet, Refused, is_close, sentence};
use backspin::dialect::{DialectId, EndpointDialect};
use backspin::endpoint::{Call, CallKind, Endpoint};
use backspin::node::Path;
use backspin::time::Time;
use backspin::wire::Malformed;
use backspin::wire::native::{RejectReason, SessionIndex};

/// Cookies are baked with it: those of `native` are good for nothing here, and these for nothing there.
const NONCE: u64 = u64::from_be_bytes(*b"ack JOIN");

/// It keeps nothing: a player is its address, and sessions are the endpoint's.
#[derive(Clone, Copy, Debug)]
pub(super) struct AckEndpoint {
    pub(super) id: DialectId,
}

impl EndpointDialect for AckEndpoint {
    fn detect(&self, bytes: &[u8]) -> bool {
        Datagram::has_shape(bytes)
    }

    fn fault(&self, bytes: &[u8]) -> Option<Malformed> {
        is_close(bytes).then(|| Datagram::decode(bytes).err()).flatten()
    }

    fn carries_token(&self) -> bool {
        true
    }

    fn handle<'a>(
        &mut self,
        endpoint: &mut Endpoint,
        now: Time,
        path: Path,
        bytes: &'a mut [u8],
    ) -> Option<Call<'a>> {
        let known = endpoint.session_at(self.id, path);
        if !endpoint.admits(now, path, known) {
            return None;
        }
        let Datagram { sequence, packet } = match Datagram::decode(bytes) {
            Ok(datagram) => datagram,
            Err(error) => {
                endpoint.note_malformed(path, bytes.len(), error);
                return None;
            }
        };
        match (packet, known) {
            (Packet::Hello(_), _) => challenge(endpoint, now, path, sequence),
            (Packet::Join(join), _) => {
                return self.join(endpoint, (now, path), sequence, &join, known);
            }
            // Anyone's is answered, so that servers can be compared before joining.
            (Packet::Ping(ping), None) => say(endpoint, path, sequence, Packet::Pong(ping.pong())),
            (Packet::ClientInput(_) | Packet::Ping(_) | Packet::Leave(_), Some(session)) => {
                return endpoint.call(session, CallKind::Datagram(bytes));
            }
            (packet, _) => {
                endpoint.counts_mut().stray += 1;
                endpoint.note_stray(path, packet.direction(), packet.name());
            }
        }
        None
    }

    fn clone_box(&self) -> Box<dyn EndpointDialect> {
        Box::new(*self)
    }
}

impl AckEndpoint {
    fn join<'a>(
        &self,
        endpoint: &mut Endpoint,
        (now, path): (Time, Path),
        sequence: u32,
        join: &Join<'_>,
        known: Option<SessionIndex>,
    ) -> Option<Call<'a>> {
        if !endpoint.proves_address(now, path, NONCE, &join.cookie) {
            challenge(endpoint, now, path, sequence);
            return None;
        }
        if let Some(session) = known {
            return endpoint.call(session, CallKind::Repeat { sequence: None });
        }
        let game = Some(join.game).filter(|&game| game != 0);
        let found = match endpoint.takes_token(join.token.as_bytes()) {
            true => endpoint.place_guest(now, self.id, path, game),
            false => Err(RejectReason::Token),
        };
        match found {
            Ok(found) => Some(endpoint.admit_guest(&found, self.id, path, join.name, false)),
            Err(reason) => {
                let sentence = sentence(words(reason));
                let refused = Refused { reason: reason as u8, sentence };
                say(endpoint, path, sequence, Packet::Refused(refused));
                None
            }
        }
    }
}

fn challenge(endpoint: &mut Endpoint, now: Time, path: Path, sequence: u32) {
    let cookie = endpoint.bake_cookie(now, path, NONCE);
    say(endpoint, path, sequence, Packet::Challenge(Challenge { cookie }));
}

/// The answer to a stranger has the number of the question.
fn say(endpoint: &mut Endpoint, path: Path, sequence: u32, packet: Packet<'_>) {
    endpoint.say(path, None, |out| Datagram { sequence, packet }.encode(out));
}

fn words(reason: RejectReason) -> &'static str {
    match reason {
        RejectReason::Full => "The server is full. Try again later.",
        RejectReason::Game => "The server does not have this game.",
        RejectReason::Token => "The token is wrong. Ask whoever runs the server for one.",
        RejectReason::Address => "Too many players have joined from your address.",
        RejectReason::Stopping => "The server is about to stop. Try again later.",
        _ => "There is no place for you. Try again later.",
    }
}
