//! A player's end of matchmaking: asks a matchmaker, probes its servers, reports what they measure, and
//! hears where to go. [`crate::client::Client`] then goes there.

use std::net::SocketAddr;
use std::time::Duration;

use super::Families;
use super::prober::Prober;
use crate::game::GameId;
use crate::node::{Node, Path, StreamNode, Transmit};
use crate::session::{EndReason, Retry, RetryPolicy, RetryStep, Secrets};
use crate::time::Time;
use crate::wire::List;
use crate::wire::native::{
    Datagram, Hello, MATCH_SERVERS_MAX, Matched, PROTOCOL, Packet, Probed, RoundTripReport, Secret,
    Seek, ServerAddress, Waiting,
};

/// Each server is asked for so many measurements; the shortest counts.
const MEASUREMENTS: u8 = 4;

/// From the first measurement on, the other servers are given so long.
const PROBING_FOR: Duration = Duration::from_millis(1_500);

/// Who still waits after so long has the servers measure anew: one may have been started again.
const PROBE_AGAIN_AFTER: Duration = Duration::from_secs(5);

/// How often a player who waits says so.
const SEEK_EVERY: Duration = Duration::from_secs(1);

/// Whoever gives up says so so often: nothing comes back, and one may be lost.
const FAREWELLS: u8 = 3;

/// How far it has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeekStatus {
    /// The matchmaker has not answered yet.
    Asking,
    /// So many wait, this player among them.
    Waiting(u16),
    /// Go there.
    Matched(Matched),
    /// It is over, and why.
    Failed(EndReason),
}

/// Seeks others to play with until it is matched or dropped.
#[derive(Debug)]
pub struct Seeker {
    game: GameId,
    path: Path,
    families: Families,
    secrets: Secrets,
    nonce: u64,
    cookie: Option<Secret>,
    sequence: u32,
    /// Until something comes back; asked anew for every question.
    retry: Retry,
    /// When to say again that one waits.
    next_seek: Option<Time>,
    /// Copies of the question that are to be sent.
    due: u8,
    /// What the servers are probed with.
    pass: Option<Secret>,
    probes: Vec<Probing>,
    /// When the first measurement came.
    measured: Option<Time>,
    /// Whether the reports are in every question from now on.
    reports: bool,
    next_probes: Time,
    status: SeekStatus,
}

#[derive(Debug)]
struct Probing {
    address: ServerAddress,
    /// None where there is no socket to reach it with.
    prober: Option<Prober>,
    best: Option<Probed>,
}

impl Seeker {
    /// Asks the matchmaker at `matchmaker` for others who play `game`. `None` where no socket leads
    /// there. `seed` must come from the system's generator.
    pub fn new(
        now: Time,
        game: GameId,
        matchmaker: SocketAddr,
        families: Families,
        seed: [u8; 32],
    ) -> Option<Self> {
        let path = families.path(matchmaker)?;
        let mut secrets = Secrets::new(seed);
        Some(Seeker {
            game,
            path,
            families,
            nonce: secrets.nonce(),
            cookie: None,
            sequence: secrets.sequence(),
            secrets,
            retry: Retry::new(now, RetryPolicy::HELLO),
            next_seek: None,
            due: 0,
            pass: None,
            probes: Vec::new(),
            measured: None,
            reports: false,
            next_probes: Time::END,
            status: SeekStatus::Asking,
        })
    }

    /// How far it has come.
    pub fn status(&self) -> SeekStatus {
        self.status
    }

    /// The servers and their shortest round trips so far, as they measure them.
    pub fn round_trips(&self) -> impl Iterator<Item = (SocketAddr, Option<Duration>)> + '_ {
        self.probes.iter().map(|probing| {
            let micros = |best: Probed| Duration::from_micros(best.round_trip.into());
            (probing.address.socket_addr(), probing.best.map(micros))
        })
    }

    /// Gives up: what is sent next tells the matchmaker, which puts nobody together with this player
    /// from then on. Harmless if it is over already.
    pub fn leave(&mut self) {
        if !self.is_over() {
            self.status = SeekStatus::Failed(EndReason::Left);
            self.game.game = Seek::NO_GAME;
            // Without a cookie the matchmaker has not heard of this player.
            self.due = if self.cookie.is_some() { FAREWELLS } else { 0 };
        }
    }

    /// It is over by what the matchmaker said, or did not say.
    fn end(&mut self, status: SeekStatus) {
        (self.status, self.due) = (status, 0);
    }

    fn is_over(&self) -> bool {
        matches!(self.status, SeekStatus::Matched(_) | SeekStatus::Failed(_))
    }

    /// The next question goes out at once.
    fn ask_next(&mut self, now: Time) {
        self.next_seek = None;
        self.retry = Retry::new(now, RetryPolicy::HELLO);
    }

    fn handle(&mut self, now: Time, datagram: &Datagram<'_>) {
        match datagram.packet {
            // One for each question: who repeats the same one gets no second question.
            Packet::Challenge(it) if it.nonce == self.nonce && self.cookie != Some(it.cookie) => {
                self.cookie = Some(it.cookie);
                self.ask_next(now);
            }
            Packet::Waiting(it) if it.nonce == self.nonce => self.handle_waiting(now, &it),
            Packet::Matched(it) if it.nonce == self.nonce => self.end(SeekStatus::Matched(it)),
            Packet::Reject(it) if it.nonce == self.nonce => {
                let reason = EndReason::from_reject(&it, self.game.version);
                self.end(SeekStatus::Failed(reason));
            }
            _ => {}
        }
    }

    fn handle_waiting(&mut self, now: Time, waiting: &Waiting<'_>) {
        self.status = SeekStatus::Waiting(waiting.waiting);
        self.next_seek.get_or_insert(now + SEEK_EVERY);
        self.due = 0;
        if self.pass == Some(waiting.pass) {
            return;
        }
        // A matchmaker that was started anew knows nothing of what was sealed before.
        self.pass = Some(waiting.pass);
        (self.measured, self.reports) = (None, false);
        self.next_probes = now + PROBE_AGAIN_AFTER;
        self.probes.clear();
        for address in waiting.servers.iter() {
            let (pass, sequence) = (waiting.pass, self.secrets.sequence());
            let path = self.families.path(address.socket_addr());
            let prober = path.map(|path| Prober::new(now, path, pass, sequence, MEASUREMENTS));
            self.probes.push(Probing { address, prober, best: None });
        }
    }

    fn handle_probed(&mut self, now: Time, path: Path, datagram: &Datagram<'_>) {
        let Packet::Probed(probed) = datagram.packet else { return };
        for probing in &mut self.probes {
            let Some(prober) = &mut probing.prober else { continue };
            if prober.path().remote != path.remote {
                continue;
            }
            if let Some(measured) = prober.handle(now, datagram.sequence, &probed) {
                self.measured.get_or_insert(now);
                let is_better = |best: &Probed| {
                    best.server != measured.server || best.round_trip > measured.round_trip
                };
                if probing.best.as_ref().is_none_or(is_better) {
                    probing.best = Some(measured);
                }
            }
        }
        self.report(now);
    }

    /// Tells the matchmaker once every server is measured, or those that answer are.
    fn report(&mut self, now: Time) {
        let is_done = |it: &Probing| it.prober.as_ref().is_none_or(Prober::is_done);
        let is_late = self.measured.is_some_and(|at| now.since(at) >= PROBING_FOR);
        if !self.reports && self.measured.is_some() && (is_late || self.probes.iter().all(is_done))
        {
            self.reports = true;
            self.ask_next(now);
        }
    }

    fn question(&mut self, out: &mut [u8]) -> Option<usize> {
        let (nonce, protocol) = (self.nonce, PROTOCOL);
        let GameId { game, version: game_version } = self.game;
        let sequence = self.sequence;
        self.sequence = sequence.wrapping_add(1);
        let none = RoundTripReport { index: 0, round_trip: 1, seal: Secret([0; 16]) };
        let (mut reports, mut count) = ([none; MATCH_SERVERS_MAX], 0);
        for (index, probing) in (0..).zip(&self.probes).filter(|_| self.reports) {
            if let Some(Probed { round_trip, seal, .. }) = probing.best {
                reports[count] = RoundTripReport { index, round_trip, seal };
                count += 1;
            }
        }
        let packet = match self.cookie {
            None => Packet::Hello(Hello { protocol, game, game_version, nonce }),
            Some(cookie) => {
                let reports = List::new(&reports[..count]);
                Packet::Seek(Seek { nonce, cookie, protocol, game, game_version, reports })
            }
        };
        Datagram { sequence, packet }.encode(out).ok()
    }
}

impl Node for Seeker {
    fn handle_datagram(&mut self, now: Time, path: Path, bytes: &mut [u8]) {
        if self.is_over() {
            return;
        }
        let Ok(datagram) = Datagram::decode(bytes) else { return };
        match path.remote == self.path.remote {
            true => self.handle(now, &datagram),
            false => self.handle_probed(now, path, &datagram),
        }
    }

    fn handle_timeout(&mut self, now: Time) {
        if self.is_over() {
            return;
        }
        let again = self.next_probes <= now;
        if again {
            self.next_probes = now + PROBE_AGAIN_AFTER;
        }
        for prober in self.probes.iter_mut().filter_map(|probing| probing.prober.as_mut()) {
            if again && prober.is_done() {
                prober.ask_anew(now, MEASUREMENTS);
            }
            prober.handle_timeout(now);
        }
        self.report(now);
        match self.next_seek {
            Some(next) if next <= now => self.ask_next(now),
            Some(_) => return,
            None => {}
        }
        match self.retry.poll(now) {
            RetryStep::Wait => {}
            RetryStep::Send { copies } => self.due = copies,
            RetryStep::GiveUp => {
                let address = self.path.remote;
                self.end(SeekStatus::Failed(EndReason::NoAnswer { address }));
            }
        }
    }

    fn poll_transmit(&mut self, now: Time, out: &mut [u8]) -> Option<Transmit> {
        if let Some(due) = self.due.checked_sub(1) {
            self.due = due;
            let len = self.question(out)?;
            return Some(Transmit { path: self.path, len });
        }
        if self.is_over() {
            return None;
        }
        let probers = self.probes.iter_mut().filter_map(|probing| probing.prober.as_mut());
        probers.into_iter().find_map(|prober| prober.poll_transmit(now, out))
    }

    fn poll_timeout(&self) -> Option<Time> {
        if self.is_over() {
            return None;
        }
        let probers = self.probes.iter().filter_map(|probing| probing.prober.as_ref());
        let probes = probers.filter_map(Prober::poll_timeout);
        let late = self.measured.filter(|_| !self.reports).map(|at| at + PROBING_FOR);
        let next = self.next_seek.unwrap_or(self.retry.deadline());
        probes.chain(late).chain([next, self.next_probes]).min()
    }
}

impl StreamNode for Seeker {}
