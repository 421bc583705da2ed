//! The old dialect, for a server that does not answer in `native`.
//!
//! A second without an answer says little: on a slow link it comes later. So the old program is tried as
//! well, in a way
//! that takes no slot on a server of ours: FIND_HOST in `lan`, the TCP step in `rtype`. The first answer
//! wins; on a link of
//! any length that is `native`, which was asked a second earlier. If neither answers, the old dialect is
//! tried last.

use std::time::Duration;

use backspin::client::{Client, ClientConfig};
use backspin::game::Game;
use backspin::node::{Node, Path, StreamAction, StreamEvent, StreamId, StreamNode, Transmit};
use backspin::session::{Retry, RetryPolicy, RetryStep};
use backspin::time::Time;
use backspin_classic::wire::lan::{FindHost, Packet};
use backspin_classic::{ClassicGame, Dialect};

/// How long without an answer until the old program is tried.
pub(super) const LOOK_AFTER: Duration = Duration::from_secs(1);

/// After so long the old dialect is all that is left to try. Up to 1,500 ms round trip, `native` has
/// answered its first Hello by then, or the next ones if that was lost.
const SETTLE_AFTER: Duration = Duration::from_millis(3_500);

/// How to ask in the old dialect if nobody answers in `native`.
#[derive(Debug)]
pub(crate) struct Fallback<G: Game> {
    dialect: Dialect,
    config: ClientConfig,
    seed: [u8; 32],
    look_at: Time,
    settle_at: Time,
    old: Option<Old<G>>,
    /// `native` has answered: what is left is to end the TCP step.
    is_over: bool,
}

/// What has begun in the old dialect.
#[derive(Debug)]
enum Old<G: Game> {
    /// `lan`, where a HELLO takes a place.
    Probe(HostProbe),
    /// `rtype`, whose TCP step does not.
    Client(Box<Client<G>>),
}

impl<G: ClassicGame> Fallback<G> {
    /// For a client that begins to ask in `native` at `now`. The seed must come from the system's
    /// generator.
    pub(super) fn new(now: Time, dialect: Dialect, config: ClientConfig, seed: [u8; 32]) -> Self {
        let (look_at, settle_at) = (now + LOOK_AFTER, now + SETTLE_AFTER);
        Fallback { dialect, config, seed, look_at, settle_at, old: None, is_over: false }
    }

    /// Does what is due, and puts the client of the old dialect in the place of `client` if that is
    /// how to go on. Whether nothing is left to be done.
    pub(super) fn handle_timeout(&mut self, now: Time, client: &mut Client<G>) -> bool {
        if self.is_over {
            return true;
        }
        if client.has_answer() || client.ended().is_some() {
            if let Some(Old::Client(old)) = &mut self.old {
                old.leave();
            }
            self.is_over = true;
            return false;
        }
        if now < self.look_at {
            return false;
        }
        if self.old.is_none() {
            self.old = Some(match self.dialect {
                Dialect::Lan => Old::Probe(HostProbe::new(now, &self.config)),
                _ => Old::Client(Box::new(self.begin(now, client))),
            });
        }
        let found = match &mut self.old {
            Some(Old::Probe(probe)) => {
                probe.handle_timeout(now);
                if let Some(port) = probe.hello_port {
                    let server = &mut self.config.server;
                    *server = server.with_port(port).unwrap_or(*server);
                }
                probe.has_found
            }
            Some(Old::Client(old)) => {
                old.handle_timeout(now);
                old.has_answer()
            }
            None => false,
        };
        let settled = found || now >= self.settle_at;
        if settled {
            *client = match self.old.take() {
                Some(Old::Client(old)) => *old,
                _ => self.begin(now, client),
            };
        }
        settled
    }

    fn begin(&self, now: Time, native: &Client<G>) -> Client<G> {
        self.dialect.client(now, native.game().clone(), self.config.clone(), self.seed)
    }

    pub(super) fn handle_datagram(&mut self, now: Time, path: Path, bytes: &mut [u8]) {
        match &mut self.old {
            Some(Old::Probe(probe)) => probe.handle_datagram(path, bytes),
            Some(Old::Client(old)) => old.handle_datagram(now, path, bytes),
            None => {}
        }
    }

    pub(super) fn poll_transmit(&mut self, now: Time, out: &mut [u8]) -> Option<Transmit> {
        match self.old.as_mut()? {
            Old::Probe(probe) => probe.poll_transmit(out),
            Old::Client(old) => old.poll_transmit(now, out),
        }
    }

    pub(super) fn poll_timeout(&self) -> Option<Time> {
        let due = match &self.old {
            _ if self.is_over => Some(Time::ZERO),
            None => Some(self.look_at),
            Some(Old::Probe(probe)) => Some(probe.due()),
            // It has what it needs to go on with.
            Some(Old::Client(old)) if old.has_answer() => Some(Time::ZERO),
            Some(Old::Client(old)) => old.poll_timeout(),
        };
        due.into_iter().chain([self.settle_at]).min()
    }

    pub(super) fn handle_stream(&mut self, now: Time, stream: StreamId, event: StreamEvent<'_>) {
        if let Some(Old::Client(old)) = &mut self.old {
            old.handle_stream(now, stream, event);
        }
    }

    pub(super) fn poll_stream(
        &mut self,
        now: Time,
        out: &mut [u8],
    ) -> Option<(StreamId, StreamAction)> {
        match &mut self.old {
            Some(Old::Client(old)) => old.poll_stream(now, out),
            _ => None,
        }
    }
}

/// Asks one address whether the first program's host is there: HELLO would be a guest already, and
/// take the only place from the `native` guest that we are about to be.
#[derive(Debug)]
struct HostProbe {
    path: Path,
    retry: Retry,
    copies: u8,
    /// Where the host takes HELLO, if it has said so.
    hello_port: Option<u16>,
    /// Whether a host has answered that does not speak `native`.
    has_found: bool,
}

impl HostProbe {
    fn new(now: Time, config: &ClientConfig) -> Self {
        HostProbe {
            path: Path::to(config.server),
            retry: Retry::new(now, RetryPolicy::HELLO),
            copies: 0,
            hello_port: None,
            has_found: false,
        }
    }

    fn handle_timeout(&mut self, now: Time) {
        if let RetryStep::Send { copies } = self.retry.poll(now) {
            self.copies = copies;
        }
    }

    fn handle_datagram(&mut self, path: Path, bytes: &[u8]) {
        if path.remote != self.path.remote {
            return;
        }
        if let Ok(Packet::HostHere(host)) = Packet::decode(bytes)
            && host.upgrade.is_none_or(|upgrade| upgrade.native_port == 0)
        {
            (self.hello_port, self.has_found) = (Some(host.port), true);
        }
    }

    fn poll_transmit(&mut self, out: &mut [u8]) -> Option<Transmit> {
        self.copies = self.copies.checked_sub(1)?;
        let len = Packet::FindHost(FindHost).encode(out).ok()?;
        Some(Transmit { path: self.path, len })
    }

    fn due(&self) -> Time {
        if self.has_found { Time::ZERO } else { self.retry.deadline() }
    }
}
