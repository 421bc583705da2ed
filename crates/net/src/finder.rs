//! Looks for games: on the local network by broadcast, and where it is told to.
//!
//! One question goes out in each dialect at once and then every five seconds; who has answered is
//! asked again every second, so that a list shows players and round trips as they are. A host that
//! answers in another dialect and says where it speaks `native` is one host, not two.

use std::collections::VecDeque;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use crate::game::GameId;
use crate::node::{Node, Path, StreamNode, Transmit};
use crate::time::Time;
use crate::wire::Name;
use crate::wire::native::{self, Datagram, Discover, Here, PROTOCOL};

/// How often everyone is asked.
pub const ASK_EVERY: Duration = Duration::from_secs(5);

/// How often who has answered in `native` is asked again.
const AGAIN_EVERY: Duration = Duration::from_secs(1);

/// A host that has not answered for so long is gone.
pub const FORGET_AFTER: Duration = Duration::from_secs(11);

/// A host that may speak `native` is given so long to say so before it counts as one that does not.
const UPGRADE_WITHIN: Duration = Duration::from_millis(500);

/// An answer is to a question of the last seconds.
const ANSWER_WITHIN: Duration = Duration::from_secs(5);

/// Hosts beyond this are not listed: nobody scrolls so far, and anyone can answer.
pub const HOST_LIMIT: usize = 64;

/// Where to look.
#[derive(Clone, Debug)]
pub struct FinderConfig {
    /// The game, and the version that fits.
    pub game: GameId,
    /// Broadcast addresses and hosts, each through its socket; the port does not count.
    pub places: Vec<Path>,
    /// The addresses of this machine: a host that answers from several of them is one.
    pub own: Vec<IpAddr>,
    /// Where `native` is spoken; `None` if the player does not speak it.
    pub native_port: Option<u16>,
    /// How to ask in the other dialects that the player speaks.
    pub probes: Vec<Probe>,
}

/// How hosts are found in another dialect than `native`.
#[derive(Clone, Copy, Debug)]
pub struct Probe {
    /// What the dialect is called.
    pub dialect: &'static str,
    /// Where its hosts are asked, on IPv4 alone: the old programs know nothing else.
    pub port: u16,
    /// What they are asked.
    pub question: &'static [u8],
    /// Reads a host's answer; `None` if the bytes are none.
    pub read: fn(&[u8]) -> Option<ProbeAnswer>,
}

/// What a host answers in another dialect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProbeAnswer {
    /// Where to join it.
    pub port: u16,
    /// Where it speaks `native`, too.
    pub native_port: Option<u16>,
}

impl FinderConfig {
    /// Looks for `game` at `places` and the usual port, in `native` alone.
    pub fn new(game: GameId, places: Vec<Path>) -> Self {
        let native_port = Some(native::DEFAULT_PORT);
        FinderConfig { game, places, own: Vec::new(), native_port, probes: Vec::new() }
    }
}

/// A host that was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Found {
    /// Where to join it.
    pub address: SocketAddr,
    /// The name of the dialect to speak to it.
    pub dialect: &'static str,
    /// What it calls itself; empty for one that does not speak `native`.
    pub name: Name,
    /// How many play there and how many may, where it says so.
    pub players: Option<(u16, u16)>,
    /// How long an answer took.
    pub ping: Option<Duration>,
    /// Whether its version fits ours.
    pub fit: Fit,
}

/// Whether one can play there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fit {
    /// It can be joined.
    Good,
    /// It speaks another version of the protocol or of the game.
    OtherVersion,
    /// It wants a token.
    Token,
}

/// What changed in the list.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FinderEvent {
    /// A host is new.
    Found(Found),
    /// One is gone.
    Lost(SocketAddr),
}

/// Looks for games until it is dropped.
#[derive(Debug)]
pub struct Finder {
    config: FinderConfig,
    /// What our questions are told by: an answer to someone else's is none.
    key: u64,
    next_ask: Time,
    next_again: Time,
    asked_at: Time,
    questions: VecDeque<Question>,
    entries: Vec<Entry>,
    events: VecDeque<FinderEvent>,
}

#[derive(Clone, Copy, Debug)]
struct Question {
    path: Path,
    /// In another dialect; `None` is `native`.
    probe: Option<Probe>,
}

/// One host, whatever it has said so far.
#[derive(Clone, Copy, Debug)]
struct Entry {
    path: Path,
    ip: IpAddr,
    /// The dialect and port of a host that answered a [`Probe`].
    other: Option<(&'static str, u16)>,
    native_port: Option<u16>,
    card: Option<Here>,
    ping: Option<Duration>,
    since: Time,
    heard: Time,
    told: Option<SocketAddr>,
}

impl Finder {
    /// Begins to look at `now`. `key` must come from the system's generator.
    pub fn new(now: Time, config: FinderConfig, key: u64) -> Self {
        Finder {
            config,
            key,
            next_ask: now,
            next_again: now + AGAIN_EVERY,
            asked_at: now,
            questions: VecDeque::new(),
            entries: Vec::new(),
            events: VecDeque::new(),
        }
    }

    /// Looks here from now on, from these addresses of this machine: networks come and go. If
    /// that is news, everyone is asked at once.
    pub fn look_at(&mut self, now: Time, places: Vec<Path>, own: Vec<IpAddr>) {
        if self.config.places != places {
            self.next_ask = now;
        }
        (self.config.places, self.config.own) = (places, own);
    }

    /// The hosts that can be shown, in the order they were found.
    pub fn hosts(&self) -> impl Iterator<Item = Found> + '_ {
        self.entries.iter().filter(|entry| entry.told.is_some()).filter_map(|e| self.found(e))
    }

    /// What changed since this was asked last.
    pub fn poll_event(&mut self) -> Option<FinderEvent> {
        self.events.pop_front()
    }

    fn found(&self, entry: &Entry) -> Option<Found> {
        let GameId { version, .. } = self.config.game;
        let ip = entry.path.remote.ip()?;
        let at = |port| SocketAddr::new(ip, port);
        match (entry.card, entry.native_port, entry.other) {
            (Some(card), Some(port), _) => Some(Found {
                address: at(port),
                dialect: native::DIALECT,
                name: card.name,
                players: Some((card.players, card.capacity)),
                ping: entry.ping,
                fit: match (card.protocol, card.game_version, card.token_required) {
                    (PROTOCOL, theirs, false) if theirs == version => Fit::Good,
                    (PROTOCOL, theirs, true) if theirs == version => Fit::Token,
                    _ => Fit::OtherVersion,
                },
            }),
            (None, _, Some((dialect, port))) => Some(Found {
                address: at(port),
                dialect,
                name: Name::default(),
                players: None,
                ping: entry.ping,
                fit: Fit::Good,
            }),
            _ => None,
        }
    }

    fn ask_everyone(&mut self, now: Time) {
        self.asked_at = now;
        for i in 0..self.config.places.len() {
            let place = self.config.places[i];
            if let Some(port) = self.config.native_port {
                self.ask(place, port, None);
            }
            for at in 0..self.config.probes.len() {
                let probe = self.config.probes[at];
                if place.remote.ip().is_some_and(|ip| ip.is_ipv4()) {
                    self.ask(place, probe.port, Some(probe));
                }
            }
        }
    }

    fn ask(&mut self, place: Path, port: u16, probe: Option<Probe>) {
        // A peer without ports cannot be asked at one.
        let Some(remote) = place.remote.with_port(port) else { return };
        // Everyone once in each dialect and every host once: more cannot be waiting.
        let everyone = (1 + self.config.probes.len()) * self.config.places.len();
        if self.questions.len() < everyone + HOST_LIMIT {
            self.questions.push_back(Question { path: Path { remote, ..place }, probe });
        }
    }

    /// All addresses of this machine are one.
    fn canonical(&self, ip: IpAddr) -> IpAddr {
        let ip = ip.to_canonical();
        match ip.is_loopback() || self.config.own.contains(&ip) {
            true => IpAddr::V4(Ipv4Addr::LOCALHOST),
            false => ip,
        }
    }

    /// The entry of a host that answered from `path`; a new one if there is room.
    fn entry(
        &mut self,
        now: Time,
        path: Path,
        is_it: impl Fn(&Entry) -> bool,
    ) -> Option<&mut Entry> {
        // A host is listed by where to join it: only a socket address says that.
        let ip = self.canonical(path.remote.socket_addr()?.ip());
        let known = self.entries.iter().position(|entry| entry.ip == ip && is_it(entry));
        let at = match known {
            Some(at) => at,
            None if self.entries.len() == HOST_LIMIT => return None,
            None => {
                let (other, native_port, card, ping, told) = (None, None, None, None, None);
                let (since, heard) = (now, now);
                self.entries.push(Entry {
                    path,
                    ip,
                    other,
                    native_port,
                    card,
                    ping,
                    since,
                    heard,
                    told,
                });
                self.entries.len() - 1
            }
        };
        let entry = &mut self.entries[at];
        entry.heard = now;
        Some(entry)
    }

    fn handle_answer(&mut self, now: Time, path: Path, dialect: &'static str, it: ProbeAnswer) {
        let asked_at = self.asked_at;
        let other = Some((dialect, it.port));
        let native_port = it.native_port.filter(|_| self.config.native_port.is_some());
        let is_it = |entry: &Entry| {
            entry.other == other || native_port.is_some() && entry.native_port == native_port
        };
        let Some(entry) = self.entry(now, path, is_it) else { return };
        let asks = native_port.filter(|_| entry.native_port.is_none());
        entry.other = other;
        entry.native_port = entry.native_port.or(native_port);
        if entry.card.is_none() && now.since(asked_at) < ANSWER_WITHIN {
            entry.ping.get_or_insert(now.since(asked_at));
        }
        if let Some(port) = asks {
            self.ask(path, port, None);
        }
    }

    fn handle_here(&mut self, now: Time, path: Path, here: Here) {
        let asked = Time::from_nanos(here.nonce ^ self.key);
        let game = self.config.game.game;
        // Whoever did not hear a question of ours cannot know what to answer.
        if asked > now || now.since(asked) > ANSWER_WITHIN || here.game != game {
            return;
        }
        let Some(port) = path.remote.socket_addr().map(|address| address.port()) else { return };
        let Some(entry) = self.entry(now, path, |entry| entry.native_port == Some(port)) else {
            return;
        };
        entry.native_port = Some(port);
        entry.card = Some(here);
        entry.ping = Some(now.since(asked));
    }

    /// Tells what is new, once it is known what it is.
    fn tell(&mut self, now: Time) {
        for at in 0..self.entries.len() {
            let entry = self.entries[at];
            let waits = entry.card.is_none()
                && entry.native_port.is_some()
                && now.since(entry.since) < UPGRADE_WITHIN;
            let Some(found) = self.found(&entry).filter(|_| !waits) else { continue };
            if entry.told != Some(found.address) {
                if let Some(old) = self.entries[at].told.replace(found.address) {
                    self.events.push_back(FinderEvent::Lost(old));
                }
                self.events.push_back(FinderEvent::Found(found));
            }
        }
    }

    fn forget(&mut self, now: Time) {
        let events = &mut self.events;
        self.entries.retain(|entry| {
            let stays = now.since(entry.heard) < FORGET_AFTER;
            if !stays {
                events.extend(entry.told.map(FinderEvent::Lost));
            }
            stays
        });
    }
}

impl Node for Finder {
    fn handle_datagram(&mut self, now: Time, path: Path, bytes: &mut [u8]) {
        if native::has_shape(bytes) {
            if self.config.native_port.is_some()
                && let Ok(Datagram { packet: native::Packet::Here(here), .. }) =
                    Datagram::decode(bytes)
            {
                self.handle_here(now, path, here);
            }
        } else {
            let mut answers = self.config.probes.iter();
            let answer = answers.find_map(|probe| Some((probe.dialect, (probe.read)(bytes)?)));
            if let Some((dialect, answer)) = answer {
                self.handle_answer(now, path, dialect, answer);
            }
        }
        self.tell(now);
    }

    fn handle_timeout(&mut self, now: Time) {
        if self.next_ask <= now {
            self.next_ask = now + ASK_EVERY;
            self.ask_everyone(now);
        }
        if self.next_again <= now {
            self.next_again = now + AGAIN_EVERY;
            for at in 0..self.entries.len() {
                let entry = self.entries[at];
                if let Some(port) = entry.native_port {
                    self.ask(entry.path, port, None);
                }
            }
        }
        self.forget(now);
        self.tell(now);
    }

    fn poll_transmit(&mut self, now: Time, out: &mut [u8]) -> Option<Transmit> {
        let Question { path, probe } = self.questions.pop_front()?;
        if let Some(Probe { question, .. }) = probe {
            let len = question.len();
            out.get_mut(..len)?.copy_from_slice(question);
            return Some(Transmit { path, len });
        }
        // The time is in the question and comes back with the answer: nothing is kept.
        let nonce = now.as_nanos() ^ self.key;
        let packet = native::Packet::Discover(Discover { nonce, game: self.config.game.game });
        let len = Datagram { sequence: nonce as u32, packet }.encode(out).ok()?;
        Some(Transmit { path, len })
    }

    fn poll_timeout(&self) -> Option<Time> {
        let waits = self.entries.iter().filter(|entry| entry.told.is_none());
        let told = waits.map(|entry| entry.since + UPGRADE_WITHIN);
        [self.next_ask, self.next_again].into_iter().chain(told).min()
    }
}

impl StreamNode for Finder {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dot::Dots;
    use crate::endpoint::EndpointConfig;
    use crate::game::Game;
    use crate::room::RoomConfig;
    use crate::server::Server;

    const EVERYWHERE: IpAddr = IpAddr::V4(Ipv4Addr::BROADCAST);
    const FINDER: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, 0, 0, 9)), 5000);
    const WAY: Duration = Duration::from_millis(7);

    /// A dialect of one question and one answer: "!", the port, and where `native` is spoken.
    const PROBE: Probe = Probe { dialect: "shout", port: 54000, question: b"?", read };

    fn read(bytes: &[u8]) -> Option<ProbeAnswer> {
        let (port, rest) = bytes.strip_prefix(b"!")?.split_first_chunk()?;
        let native_port = rest.first_chunk().map(|&port| u16::from_be_bytes(port));
        Some(ProbeAnswer { port: u16::from_be_bytes(*port), native_port })
    }

    /// An answer from port 54000, alone and of a host that speaks `native` at 4300.
    const ALONE: [u8; 3] = [b'!', 0xD2, 0xF0];
    const BOTH: [u8; 5] = [b'!', 0xD2, 0xF0, 0x10, 0xCC];

    fn finder() -> Finder {
        let place = Path::to(SocketAddr::new(EVERYWHERE, 0));
        let config = FinderConfig::new(Dots::default().id(), vec![place]);
        let config = FinderConfig { probes: vec![PROBE], ..config };
        Finder::new(Time::ZERO, config, 0x1234_5678_9ABC_DEF0)
    }

    fn server(name: &str) -> Server<Dots> {
        let config = EndpointConfig { name: Name::new(name), ..EndpointConfig::default() };
        let mut server = Server::new(config, [7; 32]);
        let room = RoomConfig::default();
        server.open(Time::ZERO, Dots::default(), Name::new("Room"), 1, room);
        server
    }

    /// Hands every question to the hosts that it reaches and their answers back, [`WAY`] each way.
    fn exchange(now: Time, finder: &mut Finder, hosts: &mut [(SocketAddr, &mut Server<Dots>)]) {
        let mut out = [0; 2048];
        while let Some(Transmit { path, len }) = finder.poll_transmit(now, &mut out) {
            for (address, host) in &mut *hosts {
                let to = path.remote.socket_addr().unwrap();
                let named = to.ip() == EVERYWHERE || to.ip() == address.ip();
                let from = SocketAddr::new(address.ip(), to.port());
                if named && to.port() == 54000 && out[..len] == *PROBE.question {
                    finder.handle_datagram(now + 2 * WAY, Path::to(from), &mut BOTH.clone());
                }
                if named && to.port() == 4300 {
                    let mut bytes = out[..len].to_vec();
                    host.handle_datagram(now + WAY, Path::to(FINDER), &mut bytes);
                    let mut answer = [0; 2048];
                    while let Some(sent) = host.poll_transmit(now + WAY, &mut answer) {
                        let bytes = &mut answer[..sent.len];
                        finder.handle_datagram(now + 2 * WAY, Path::to(from), bytes);
                    }
                }
            }
        }
    }

    fn at(last: u8) -> SocketAddr {
        SocketAddr::from(([10, 0, 0, last], 0))
    }

    fn events(finder: &mut Finder) -> Vec<FinderEvent> {
        std::iter::from_fn(|| finder.poll_event()).collect()
    }

    #[test]
    fn a_host_that_answers_in_both_dialects_is_one_and_is_joined_in_native() {
        let (mut finder, mut attic, mut cellar) = (finder(), server("Attic"), server("Cellar"));
        finder.handle_timeout(Time::ZERO);
        let mut hosts = [(at(1), &mut attic), (at(2), &mut cellar)];
        exchange(Time::ZERO, &mut finder, &mut hosts);
        let found: Vec<Found> = finder.hosts().collect();
        let names: Vec<String> = found.iter().map(|found| found.name.to_string()).collect();
        assert_eq!(names, ["Attic", "Cellar"]);
        assert_eq!(found[0].address, SocketAddr::from(([10, 0, 0, 1], 4300)));
        assert_eq!((found[0].dialect, found[0].fit), (native::DIALECT, Fit::Good));
        assert_eq!(found[0].players, Some((0, 4)));
        assert_eq!(found[0].ping, Some(2 * WAY));
        assert_eq!(events(&mut finder).len(), 2);
    }

    #[test]
    fn a_host_that_answers_in_another_dialect_alone_is_found_in_it() {
        let mut finder = finder();
        finder.handle_timeout(Time::ZERO);
        let (now, from) = (Time::from_millis(30), SocketAddr::from(([10, 0, 0, 3], 54000)));
        finder.handle_datagram(now, Path::to(from), &mut ALONE.clone());
        let found: Vec<Found> = finder.hosts().collect();
        assert_eq!((found[0].address, found[0].dialect), (from, "shout"));
        assert_eq!(found[0].ping, Some(Duration::from_millis(30)));
    }

    #[test]
    fn an_upgrade_that_leads_nowhere_is_the_other_dialect_after_half_a_second() {
        let mut finder = finder();
        finder.handle_timeout(Time::ZERO);
        let from = SocketAddr::from(([10, 0, 0, 3], 54000));
        finder.handle_datagram(Time::ZERO, Path::to(from), &mut BOTH.clone());
        assert_eq!(finder.hosts().count(), 0);
        let due = finder.poll_timeout().unwrap();
        assert_eq!(due, Time::ZERO + UPGRADE_WITHIN);
        finder.handle_timeout(due);
        assert_eq!(finder.hosts().map(|found| found.dialect).collect::<Vec<_>>(), ["shout"]);
    }

    #[test]
    fn who_speaks_one_dialect_asks_and_finds_in_it_alone() {
        for only in ["shout", native::DIALECT] {
            let (mut finder, mut attic) = (finder(), server("Attic"));
            match only {
                native::DIALECT => finder.config.probes.clear(),
                _ => finder.config.native_port = None,
            }
            finder.handle_timeout(Time::ZERO);
            exchange(Time::ZERO, &mut finder, &mut [(at(1), &mut attic)]);
            finder.handle_timeout(Time::ZERO + AGAIN_EVERY);
            exchange(Time::ZERO + AGAIN_EVERY, &mut finder, &mut [(at(1), &mut attic)]);
            let found: Vec<&str> = finder.hosts().map(|found| found.dialect).collect();
            assert_eq!(found, [only]);
            // What comes unasked in the other is none.
            let from = Path::to(SocketAddr::from(([10, 0, 0, 3], 54000)));
            finder.handle_datagram(Time::ZERO, from, &mut ALONE.clone());
            assert_eq!(finder.hosts().count(), 1 + usize::from(only == "shout"));
        }
    }

    #[test]
    fn a_host_of_another_game_is_none_of_ours() {
        for look in 0..20 {
            let (mut finder, mut attic) = (finder(), server("Attic"));
            finder.config.game.game += 1;
            finder.config.probes.clear();
            let mut now = Time::from_millis(37 * look);
            while now < Time::from_millis(12_000) {
                finder.handle_timeout(now);
                exchange(now, &mut finder, &mut [(at(1), &mut attic)]);
                // Someone else has asked, and all hear the answer.
                let from = Path::to(SocketAddr::from(([10, 0, 0, 1], 54000)));
                finder.handle_datagram(now, from, &mut BOTH.clone());
                assert_eq!(finder.hosts().count(), 0, "look {look} at {now:?}");
                now = finder.poll_timeout().unwrap().max(now + WAY);
            }
        }
    }

    #[test]
    fn everyone_is_asked_at_once_and_every_five_seconds() {
        let mut finder = finder();
        let (mut asked, mut out) = (Vec::new(), [0; 2048]);
        let mut now = Time::ZERO;
        while now < Time::from_millis(11_000) {
            finder.handle_timeout(now);
            while let Some(Transmit { len, .. }) = finder.poll_transmit(now, &mut out) {
                asked.extend((out[..len] == *b"?").then_some(now.as_millis()));
            }
            now = finder.poll_timeout().unwrap();
        }
        assert_eq!(asked, [0, 5_000, 10_000]);
    }

    #[test]
    fn a_network_that_comes_up_is_asked_at_once() {
        let mut finder = finder();
        let places = std::mem::take(&mut finder.config.places);
        finder.handle_timeout(Time::ZERO);
        assert!(finder.poll_transmit(Time::ZERO, &mut [0; 2048]).is_none());
        let (up, later) = (Time::from_millis(1_300), Time::from_millis(2_300));
        finder.look_at(up, places.clone(), Vec::new());
        assert_eq!(finder.poll_timeout(), Some(Time::ZERO + AGAIN_EVERY));
        finder.handle_timeout(up);
        assert!(finder.poll_transmit(up, &mut [0; 2048]).is_some());
        // No news is no reason to ask.
        finder.look_at(later, places, Vec::new());
        while finder.poll_transmit(later, &mut [0; 2048]).is_some() {}
        finder.handle_timeout(later);
        assert!(finder.poll_transmit(later, &mut [0; 2048]).is_none());
    }

    #[test]
    fn a_host_that_falls_silent_is_lost() {
        let (mut finder, mut attic) = (finder(), server("Attic"));
        finder.handle_timeout(Time::ZERO);
        exchange(Time::ZERO, &mut finder, &mut [(at(1), &mut attic)]);
        events(&mut finder);
        let later = Time::ZERO + 2 * WAY + FORGET_AFTER;
        finder.handle_timeout(later);
        assert_eq!(finder.hosts().count(), 0);
        let address = SocketAddr::from(([10, 0, 0, 1], 4300));
        assert_eq!(events(&mut finder), [FinderEvent::Lost(address)]);
    }

    #[test]
    fn an_answer_to_nobodys_question_is_none() {
        let (mut finder, mut attic) = (finder(), server("Attic"));
        let mut other = Finder { key: 99, ..self::finder() };
        other.handle_timeout(Time::ZERO);
        let mut out = [0; 2048];
        let Transmit { len, .. } = other.poll_transmit(Time::ZERO, &mut out).unwrap();
        attic.handle_datagram(Time::ZERO, Path::to(FINDER), &mut out[..len]);
        let Transmit { len, .. } = attic.poll_transmit(Time::ZERO, &mut out).unwrap();
        let from = Path::to(SocketAddr::from(([10, 0, 0, 1], 4300)));
        finder.handle_datagram(Time::ZERO, from, &mut out[..len]);
        assert_eq!(finder.hosts().count(), 0);
    }

    #[test]
    fn one_host_on_several_addresses_of_this_machine_is_one() {
        let (mut finder, mut attic) = (finder(), server("Attic"));
        finder.config.own = vec![at(1).ip()];
        finder.config.places =
            [[127, 0, 0, 1], [10, 0, 0, 1]].map(|ip| Path::to(SocketAddr::from((ip, 0)))).to_vec();
        finder.handle_timeout(Time::ZERO);
        exchange(Time::ZERO, &mut finder, &mut [(at(1), &mut attic)]);
        finder.handle_timeout(Time::ZERO + AGAIN_EVERY);
        let here = SocketAddr::from(([127, 0, 0, 1], 0));
        exchange(Time::ZERO + AGAIN_EVERY, &mut finder, &mut [(here, &mut attic)]);
        assert_eq!(finder.hosts().count(), 1);
    }

    #[test]
    fn the_list_is_bounded_at_its_limit() {
        let mut finder = finder();
        finder.handle_timeout(Time::ZERO);
        for i in 0..=HOST_LIMIT {
            let from = SocketAddr::from(([10, 0, 1, i as u8], 54000));
            finder.handle_datagram(Time::ZERO, Path::to(from), &mut ALONE.clone());
            assert_eq!(finder.hosts().count(), (i + 1).min(HOST_LIMIT));
        }
    }
}
