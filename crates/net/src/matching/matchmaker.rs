//! The node that players ask for others to play with.
//!
//! It keeps a bounded table of those who wait, each behind a proved address, and looks for rooms twice a
//! second. Game servers never hear of it but by its probes, which tell it who is there; players bring
//! the servers' sealed measurements themselves.

use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddr;
use std::time::Duration;

use super::placing::{Candidate, Group, place};
use super::prober::Prober;
use super::{Families, MatchKey};
use crate::game::GameId;
use crate::game::Refusal;
use crate::node::{Node, Path, StreamNode, Transmit};
use crate::peer::PeerAddr;
use crate::session::{
    Allowance, CookieCheck, CookieJar, Limiter, LimiterConfig, Prefix, Secrets, Wider,
};
use crate::time::Time;
use crate::wire::native::{
    Challenge, Datagram, MATCH_SERVERS_MAX, Matched, PROTOCOL, Packet, Reject, RejectReason,
    Secret, Seek, ServerAddress, Waiting,
};
use crate::wire::{List, Name};

/// How often players are put together.
pub const ROUND_EVERY: Duration = Duration::from_millis(500);

/// Who has said nothing for so long is not put into a room.
pub const PRESENT_FOR: Duration = Duration::from_secs(3);

/// And after so long is forgotten.
pub const FORGET_AFTER: Duration = Duration::from_secs(10);

/// A server that has answered is probed again after so long.
const PROBE_EVERY: Duration = Duration::from_secs(2);

/// A server whose last sealed answer is older is not played on.
pub const READY_FOR: Duration = Duration::from_secs(10);

/// Answers that wait to be sent at most; more are dropped and counted.
const ANSWER_LIMIT: usize = 256;

/// Events that wait to be told at most; more are dropped.
const EVENT_LIMIT: usize = 256;

/// What an operator decides.
#[derive(Clone, Debug)]
pub struct MatchmakerConfig {
    /// The game servers, at most [`MATCH_SERVERS_MAX`]; the others are left out.
    pub servers: Vec<ServerAddress>,
    /// What they share with it.
    pub key: MatchKey,
    /// The games, and how many play in a room.
    pub games: Vec<(GameId, u8)>,
    /// Which socket leads where.
    pub families: Families,
    /// What is enough.
    pub limits: MatchLimits,
}

/// The named limits of a matchmaker. Each is tested at it and one past it.
#[derive(Clone, Copy, Debug)]
pub struct MatchLimits {
    /// Players who wait at once.
    pub waiting: usize,
    /// Players who wait at one IP address; an IPv6 /56 may have four and a /48 eight times as many.
    pub waiting_per_ip: usize,
    /// Datagrams a second from one IP address.
    pub datagrams_per_s: u32,
}

impl Default for MatchLimits {
    fn default() -> Self {
        MatchLimits { waiting: 1024, waiting_per_ip: 16, datagrams_per_s: 64 }
    }
}

/// What happened, for a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatchEvent {
    /// A server answers, and has the key.
    ServerReady(SocketAddr),
    /// It no longer does, or never did since the start.
    ServerLost(SocketAddr),
    /// It answers with another key.
    ServerKey(SocketAddr),
    /// Players were put together.
    Made {
        /// Where.
        server: SocketAddr,
        /// In which room; empty is any.
        room: Name,
        /// How many.
        players: u8,
        /// The longest round trip among them.
        worst: Duration,
        /// How long the first of them has waited.
        waited: Duration,
    },
}

/// What was dropped, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MatchCounts {
    /// Bytes that are no packet.
    pub malformed: u64,
    /// Datagrams beyond [`MatchLimits::datagrams_per_s`].
    pub datagram_limit: u64,
    /// Players beyond [`MatchLimits::waiting`] or [`MatchLimits::waiting_per_ip`].
    pub waiting_limit: u64,
    /// Answers beyond what can wait.
    pub answer_limit: u64,
    /// Packets that make no sense here.
    pub stray: u64,
    /// Cookies that are not good.
    pub bad_proof: u64,
    /// Reports whose seal is not good.
    pub bad_seal: u64,
}

/// Puts players together until it is dropped.
#[derive(Debug)]
pub struct Matchmaker {
    config: MatchmakerConfig,
    servers: Vec<ServerCard>,
    secrets: Secrets,
    jar: CookieJar,
    strangers: Limiter,
    /// One for each address.
    players: BTreeMap<PeerAddr, Player>,
    next_round: Time,
    answers: VecDeque<Answer>,
    events: VecDeque<MatchEvent>,
    counts: MatchCounts,
}

/// What is known of a game server.
#[derive(Debug)]
struct ServerCard {
    address: ServerAddress,
    prober: Prober,
    next_probe: Time,
    /// Its number, and when it was proved last.
    proved: Option<(u64, Time)>,
    state: ServerState,
    since: Time,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ServerState {
    /// Nothing is known yet.
    New,
    Ready,
    Lost,
    /// It has another key.
    Foreign,
}

/// A player who waits, or was told where to go.
#[derive(Debug)]
struct Player {
    path: Path,
    nonce: u64,
    pass: Secret,
    /// An index into the games.
    game: usize,
    since: Time,
    heard: Time,
    round_trips: [Option<u32>; MATCH_SERVERS_MAX],
    matched: Option<Matched>,
}

/// An answer, kept small until it is sent.
#[derive(Clone, Copy, Debug)]
enum Answer {
    Challenge {
        path: Path,
        sequence: u32,
        challenge: Challenge,
    },
    Reject {
        path: Path,
        sequence: u32,
        reject: Reject,
    },
    /// Waiting or Matched, to a player.
    Standing {
        remote: PeerAddr,
        sequence: u32,
    },
}

impl Matchmaker {
    /// Begins at `now`. `seed` must come from the system's generator: cookies, passes and passwords
    /// are drawn from it.
    pub fn new(now: Time, mut config: MatchmakerConfig, seed: [u8; 32]) -> Self {
        config.servers.truncate(MATCH_SERVERS_MAX);
        let mut secrets = Secrets::new(seed);
        let per_second = config.limits.datagrams_per_s.max(1);
        let strangers = LimiterConfig { per_second, burst: per_second, ..LimiterConfig::STRANGERS };
        let (jar, key) = (CookieJar::new(secrets.key()), secrets.key());
        let mut servers = Vec::new();
        for &address in &config.servers {
            let remote = address.socket_addr();
            let path = config.families.path(remote).unwrap_or(Path::to(remote));
            let prober = Prober::new(now, path, secrets.ticket(), secrets.sequence(), 1);
            let (next_probe, proved) = (now, None);
            let (state, since) = (ServerState::New, now);
            servers.push(ServerCard { address, prober, next_probe, proved, state, since });
        }
        Matchmaker {
            servers,
            secrets,
            jar,
            strangers: Limiter::new(key, strangers),
            players: BTreeMap::new(),
            next_round: now + ROUND_EVERY,
            answers: VecDeque::with_capacity(ANSWER_LIMIT),
            events: VecDeque::new(),
            counts: MatchCounts::default(),
            config,
        }
    }

    /// What happened since this was asked last.
    pub fn poll_event(&mut self) -> Option<MatchEvent> {
        self.events.pop_front()
    }

    /// What was dropped, by reason.
    pub fn counts(&self) -> &MatchCounts {
        &self.counts
    }

    /// How many players are kept: those who wait, and those who were told where to go and may not
    /// have heard it. At most [`MatchLimits::waiting`].
    pub fn kept(&self) -> usize {
        self.players.len()
    }

    fn tell(&mut self, event: MatchEvent) {
        if self.events.len() < EVENT_LIMIT {
            self.events.push_back(event);
        }
    }

    fn answer(&mut self, answer: Answer) {
        match self.answers.len() < ANSWER_LIMIT {
            true => self.answers.push_back(answer),
            false => self.counts.answer_limit += 1,
        }
    }

    fn handle_stranger(&mut self, now: Time, path: Path, datagram: &Datagram<'_>) {
        let sequence = datagram.sequence;
        let refuse = |it: &mut Self, nonce, reason| it.reject(path, sequence, nonce, reason);
        match datagram.packet {
            Packet::Hello(hello) => {
                match self.game(hello.protocol, hello.game, hello.game_version) {
                    Ok(_) => self.challenge(now, path, sequence, hello.nonce),
                    Err(reason) => refuse(self, hello.nonce, reason),
                }
            }
            Packet::Seek(seek) => self.handle_seek(now, path, sequence, &seek),
            // Who wants a server is told what this is: in fewer bytes than it took to ask.
            Packet::ListRooms(it) => refuse(self, it.nonce, RejectReason::Matchmaker),
            Packet::Join(it) => refuse(self, it.nonce, RejectReason::Matchmaker),
            Packet::CreateRoom(it) => refuse(self, it.nonce, RejectReason::Matchmaker),
            Packet::Resume(it) => refuse(self, it.nonce, RejectReason::Matchmaker),
            _ => self.counts.stray += 1,
        }
    }

    fn challenge(&mut self, now: Time, path: Path, sequence: u32, nonce: u64) {
        let cookie = self.jar.bake(now, path.remote, nonce);
        let challenge = Challenge { nonce, cookie, token_required: false };
        self.answer(Answer::Challenge { path, sequence, challenge });
    }

    fn reject(&mut self, path: Path, sequence: u32, nonce: u64, reason: RejectReason) {
        let reject =
            Reject { nonce, reason, protocol: PROTOCOL, game_version: 0, sentence: Refusal::NONE };
        self.answer(Answer::Reject { path, sequence, reject });
    }

    /// Which game is meant.
    fn game(&self, protocol: u16, game: u32, version: u16) -> Result<usize, RejectReason> {
        if protocol != PROTOCOL {
            return Err(RejectReason::Protocol);
        }
        let mut games = self.config.games.iter();
        let index = games.position(|(id, _)| id.game == game).ok_or(RejectReason::Game)?;
        match self.config.games[index].0.version == version {
            true => Ok(index),
            false => Err(RejectReason::GameVersion),
        }
    }

    fn handle_seek(&mut self, now: Time, path: Path, sequence: u32, seek: &Seek<'_>) {
        let remote = path.remote;
        let is_known = |it: &Player| it.nonce == seek.nonce && it.path.socket == path.socket;
        let is_known = self.players.get(&remote).is_some_and(is_known);
        if is_known && seek.game == Seek::NO_GAME {
            // No place is held for someone who has gone.
            self.players.remove(&remote);
            return;
        }
        if !is_known {
            if self.jar.check(now, remote, seek.nonce, &seek.cookie) == CookieCheck::Bad {
                self.counts.bad_proof += 1;
                return self.challenge(now, path, sequence, seek.nonce);
            }
            if let Err(reason) = self.admit(now, path, seek) {
                return self.reject(path, sequence, seek.nonce, reason);
            }
        }
        let Some(player) = self.players.get_mut(&remote) else { return };
        player.heard = now;
        for report in seek.reports.iter() {
            let index = usize::from(report.index);
            // Who is told where to go goes there; who repeats a report has had it checked.
            if player.matched.is_some() || player.round_trips[index] == Some(report.round_trip) {
                continue;
            }
            let proved = self.servers.get(index).and_then(|server| server.proved);
            let is_sealed = proved.is_some_and(|(server, _)| {
                let key = &self.config.key;
                key.has_sealed(server, &player.pass, report.round_trip, &report.seal)
            });
            match is_sealed {
                true => player.round_trips[index] = Some(report.round_trip),
                false => self.counts.bad_seal += 1,
            }
        }
        self.answer(Answer::Standing { remote, sequence });
    }

    /// Someone new waits, whose address is proved.
    fn admit(&mut self, now: Time, path: Path, seek: &Seek<'_>) -> Result<(), RejectReason> {
        let game = self.game(seek.protocol, seek.game, seek.game_version)?;
        let remote = path.remote;
        // A second question from the same address and port replaces the first.
        self.players.remove(&remote);
        let limits = self.config.limits;
        let is_crowded = |prefix: Prefix| {
            let there = self.players.keys().filter(|it| prefix.contains(it.limit_key())).count();
            there >= limits.waiting_per_ip * Wider::DEFAULT.times(prefix) as usize
        };
        let refusal = if self.players.len() >= limits.waiting {
            RejectReason::Full
        } else if Prefix::all(remote.limit_key()).any(is_crowded) {
            RejectReason::Address
        } else {
            let (pass, nonce, heard) = (self.secrets.ticket(), seek.nonce, now);
            let (round_trips, matched) = ([None; MATCH_SERVERS_MAX], None);
            let player =
                Player { path, nonce, pass, game, since: now, heard, round_trips, matched };
            self.players.insert(remote, player);
            return Ok(());
        };
        self.counts.waiting_limit += 1;
        Err(refusal)
    }

    fn handle_server(&mut self, now: Time, index: usize, datagram: &Datagram<'_>) {
        let Packet::Probed(probed) = datagram.packet else { return };
        let server = &mut self.servers[index];
        let Some(measured) = server.prober.handle(now, datagram.sequence, &probed) else { return };
        server.next_probe = now + PROBE_EVERY;
        let address = server.address.socket_addr();
        if self.config.key.has_sealed_answer(&measured) {
            server.proved = Some((measured.server, now));
            if std::mem::replace(&mut server.state, ServerState::Ready) != ServerState::Ready {
                self.tell(MatchEvent::ServerReady(address));
            }
        } else if std::mem::replace(&mut server.state, ServerState::Foreign) != ServerState::Foreign
        {
            self.tell(MatchEvent::ServerKey(address));
        }
    }

    fn watch_servers(&mut self, now: Time) {
        for at in 0..self.servers.len() {
            let server = &mut self.servers[at];
            if server.prober.is_done() && server.next_probe <= now {
                server.prober.ask_anew(now, 1);
            }
            server.prober.handle_timeout(now);
            let heard = server.proved.map_or(server.since, |(_, at)| at);
            let is_told = !matches!(server.state, ServerState::New | ServerState::Ready);
            if !is_told && now.since(heard) >= READY_FOR {
                server.state = ServerState::Lost;
                let address = server.address.socket_addr();
                self.tell(MatchEvent::ServerLost(address));
            }
        }
    }

    /// Puts players together, game by game.
    fn play_round(&mut self, now: Time) {
        self.players.retain(|_, player| now.since(player.heard) < FORGET_AFTER);
        let is_ready: Vec<bool> =
            self.servers.iter().map(|it| it.state == ServerState::Ready).collect();
        for game in 0..self.config.games.len() {
            let capacity = usize::from(self.config.games[game].1);
            let waits = |player: &Player| {
                let is_here = now.since(player.heard) < PRESENT_FOR;
                player.game == game && player.matched.is_none() && is_here
            };
            let mut who = Vec::new();
            let mut round_trips = Vec::new();
            for (&remote, player) in self.players.iter().filter(|(_, it)| waits(it)) {
                let mut reachable = player.round_trips;
                for (round_trip, is_ready) in reachable.iter_mut().zip(&is_ready) {
                    *round_trip = round_trip.filter(|_| *is_ready);
                }
                who.push((remote, now.since(player.since)));
                round_trips.push(reachable);
            }
            let candidates: Vec<_> = who
                .iter()
                .zip(&round_trips)
                .map(|(&(_, waited), round_trips)| Candidate { round_trips, waited })
                .collect();
            for group in place(&candidates, capacity) {
                self.make_room(&group, &who);
            }
        }
    }

    fn make_room(&mut self, group: &Group, who: &[(PeerAddr, Duration)]) {
        let server = self.servers[group.server].address;
        // Who is alone goes where others may come; a group has a room to itself.
        let (room_name, password) = match group.members.len() {
            1 => (Name::default(), Name::default()),
            _ => (self.draw_name("match-", 4), self.draw_name("", 7)),
        };
        let players = u8::try_from(group.members.len()).unwrap_or(u8::MAX);
        for (seat, &member) in (0..players).zip(&group.members) {
            let remote = who[member].0;
            let Some(player) = self.players.get_mut(&remote) else { continue };
            let (nonce, worst) = (player.nonce, group.worst);
            player.matched =
                Some(Matched { nonce, server, room_name, password, seat, players, worst });
            // Told at once; who does not hear it asks again.
            self.answer(Answer::Standing { remote, sequence: 0 });
        }
        let waited = group.members.iter().map(|&member| who[member].1).max().unwrap_or_default();
        let worst = Duration::from_micros(group.worst.into());
        let server = server.socket_addr();
        self.tell(MatchEvent::Made { server, room: room_name, players, worst, waited });
    }

    /// A name that nobody guesses: so many random bytes in hexadecimal digits.
    fn draw_name(&mut self, prefix: &str, bytes: usize) -> Name {
        let drawn = self.secrets.key();
        let digits = drawn[..bytes].iter().map(|byte| format!("{byte:02x}"));
        Name::new(&digits.fold(prefix.to_owned(), |name, digits| name + &digits))
    }

    fn encode(&self, answer: Answer, out: &mut [u8]) -> Option<Transmit> {
        let send = |path, sequence, packet, out: &mut [u8]| {
            let len = Datagram { sequence, packet }.encode(out).ok()?;
            Some(Transmit { path, len })
        };
        match answer {
            Answer::Challenge { path, sequence, challenge } => {
                send(path, sequence, Packet::Challenge(challenge), out)
            }
            Answer::Reject { path, sequence, reject } => {
                send(path, sequence, Packet::Reject(reject), out)
            }
            Answer::Standing { remote, sequence } => {
                let player = self.players.get(&remote)?;
                if let Some(matched) = player.matched {
                    return send(player.path, sequence, Packet::Matched(matched), out);
                }
                let waits = |it: &&Player| it.game == player.game && it.matched.is_none();
                let waiting = Waiting {
                    nonce: player.nonce,
                    pass: player.pass,
                    waiting: self.players.values().filter(waits).count() as u16,
                    servers: List::new(&self.config.servers),
                };
                send(player.path, sequence, Packet::Waiting(waiting), out)
            }
        }
    }
}

impl Node for Matchmaker {
    fn handle_datagram(&mut self, now: Time, path: Path, bytes: &mut [u8]) {
        let from = |server: &ServerCard| server.prober.path().remote == path.remote;
        let server = self.servers.iter().position(from);
        if server.is_none()
            && self.strangers.allow(now, path.remote.limit_key(), 1) == Allowance::No
        {
            self.counts.datagram_limit += 1;
            return;
        }
        let Ok(datagram) = Datagram::decode(bytes) else {
            self.counts.malformed += 1;
            return;
        };
        match server {
            Some(index) => self.handle_server(now, index, &datagram),
            None => self.handle_stranger(now, path, &datagram),
        }
    }

    fn handle_timeout(&mut self, now: Time) {
        self.watch_servers(now);
        if self.next_round <= now {
            self.next_round = now + ROUND_EVERY;
            self.play_round(now);
        }
    }

    fn poll_transmit(&mut self, now: Time, out: &mut [u8]) -> Option<Transmit> {
        let probe = |it: &mut ServerCard| it.prober.poll_transmit(now, out);
        if let Some(transmit) = self.servers.iter_mut().find_map(probe) {
            return Some(transmit);
        }
        while let Some(answer) = self.answers.pop_front() {
            if let Some(transmit) = self.encode(answer, out) {
                return Some(transmit);
            }
        }
        None
    }

    fn poll_timeout(&self) -> Option<Time> {
        let probes =
            self.servers.iter().map(|it| it.prober.poll_timeout().unwrap_or(it.next_probe));
        probes.chain([self.next_round]).min()
    }
}

impl StreamNode for Matchmaker {}
