//! Both ends of matchmaking against anyone's datagrams: nothing panics, nobody whose address is unproved
//! gets more bytes than came from there, nobody is put into a room without a server's sealed
//! measurement, and a player sends only to the matchmaker and its servers.
//!
//! The first byte says which end is looked at. The rest is a script: a byte that names the sender and
//! the time that passes, two for the length, then the datagram. What nobody can guess is put in: cookies
//! and seals into a player's Seek, the nonce into what the matchmaker says to a player.
#![no_main]

use std::net::SocketAddr;
use std::time::Duration;

use backspin::endpoint::EndpointConfig;
use backspin::game::{Game, GameId};
use backspin::matching::{
    Families, MatchKey, MatchLimits, Matchmaker, MatchmakerConfig, SeekStatus, Seeker,
};
use backspin::node::{Node, Path, Transmit};
use backspin::room::RoomConfig;
use backspin::server::Server;
use backspin::time::Time;
use backspin::wire::Name;
use backspin::wire::native::{Datagram, Packet, Probe, Secret, ServerAddress};
use backspin_sim::dot::Dots;
use libfuzzer_sys::fuzz_target;

const KEY: MatchKey = MatchKey(*b"a key for tests.");
const FAMILIES: Families = Families { v4: Some(0), v6: None };

/// Who can prove an address; one more cannot.
const PLAYERS: usize = 3;

/// Bytes before a packet: version, type, flags, length and sequence.
const HEADER: usize = 9;
const SEEK: u8 = 0x0C;

fuzz_target!(|data: &[u8]| {
    let Some((end, script)) = data.split_first() else { return };
    match end % 2 {
        0 => play(script, &mut Office::new()),
        _ => play(script, &mut Player::new()),
    }
});

/// One end, and what surrounds it.
trait Stage {
    fn wait(&mut self, span: Duration);
    fn receive(&mut self, sender: usize, bytes: &mut [u8]);
}

fn play(script: &[u8], stage: &mut impl Stage) {
    let mut rest = script;
    while let [who, low, high, tail @ ..] = rest {
        let len = usize::from(u16::from_le_bytes([*low, *high])).min(tail.len());
        let (bytes, tail) = tail.split_at(len);
        rest = tail;
        stage.wait(Duration::from_millis(u64::from(who >> 2) * 50));
        stage.receive(usize::from(who % 4), &mut bytes.to_vec());
    }
}

/// A matchmaker and a server that it has met.
struct Office {
    matchmaker: Matchmaker,
    server: Server<Dots>,
    now: Time,
    known: [Known; PLAYERS],
    /// What the one who proves nothing may still be sent.
    credit: usize,
}

/// What a player has been told.
#[derive(Clone, Copy, Default)]
struct Known {
    proof: Option<(u64, Secret)>,
    /// A round trip and its seal.
    report: Option<(u32, Secret)>,
    has_reported: bool,
}

impl Office {
    fn new() -> Self {
        let servers = ServerAddress::new(server_address()).into_iter().collect();
        let games = vec![(game(), 4)];
        let limits = MatchLimits { waiting: 2, ..MatchLimits::default() };
        let config = MatchmakerConfig { servers, key: KEY, games, families: FAMILIES, limits };
        let matchmaker = Matchmaker::new(Time::ZERO, config, [1; 32]);
        let config = EndpointConfig { match_key: Some(KEY), ..EndpointConfig::default() };
        let mut server = Server::new(config, [2; 32]);
        server.offer(Time::ZERO, Dots::default(), Name::new("Dots"), 1, RoomConfig::default());
        let known = [Known::default(); PLAYERS];
        let mut office = Office { matchmaker, server, now: Time::ZERO, known, credit: 0 };
        office.drain();
        office
    }

    fn drain(&mut self) {
        let mut out = [0; 2048];
        while let Some(transmit) = self.matchmaker.poll_transmit(self.now, &mut out) {
            let (to, bytes) = (socket_of(transmit), &mut out[..transmit.len]);
            if to == server_address() {
                let answer = ask(&mut self.server, self.now, matchmaker_address(), bytes);
                if let Some(mut answer) = answer {
                    let path = Path::to(server_address());
                    self.matchmaker.handle_datagram(self.now, path, &mut answer);
                }
                continue;
            }
            let player = (0..=PLAYERS).find(|it| player_address(*it) == to);
            let player = player.expect("only who wrote is answered");
            let Some(known) = self.known.get_mut(player) else {
                self.credit = self.credit.checked_sub(bytes.len()).expect("more bytes than came");
                continue;
            };
            match Datagram::decode(bytes).expect("a datagram").packet {
                Packet::Challenge(it) => known.proof = Some((it.nonce, it.cookie)),
                Packet::Waiting(it) => {
                    known.report = measure(&mut self.server, self.now, to, it.pass)
                }
                Packet::Matched(_) => assert!(known.has_reported, "matched without a measurement"),
                Packet::Reject(_) => {}
                other => panic!("{other:?}"),
            }
        }
        while self.matchmaker.poll_event().is_some() {}
        assert!(self.matchmaker.kept() <= 2, "more than the limit");
    }
}

impl Stage for Office {
    fn wait(&mut self, span: Duration) {
        let until = self.now + span;
        while let Some(due) = self.matchmaker.poll_timeout().filter(|&due| due <= until) {
            self.now = self.now.max(due);
            self.matchmaker.handle_timeout(self.now);
            self.drain();
        }
        self.now = until;
    }

    fn receive(&mut self, sender: usize, bytes: &mut [u8]) {
        match self.known.get_mut(sender) {
            Some(known) if bytes.get(1) == Some(&SEEK) && bytes.len() >= HEADER + 24 => {
                if let Some((nonce, Secret(cookie))) = known.proof {
                    bytes[HEADER..][..8].copy_from_slice(&nonce.to_be_bytes());
                    bytes[HEADER + 8..][..16].copy_from_slice(&cookie);
                }
                if let (Some(report), Some((round_trip, seal))) =
                    (bytes.get_mut(HEADER + 33..HEADER + 54), known.report)
                {
                    report[0] = 0;
                    report[1..5].copy_from_slice(&round_trip.to_be_bytes());
                    report[5..].copy_from_slice(&seal.0);
                    known.has_reported = true;
                }
            }
            Some(_) => {}
            None => self.credit += bytes.len(),
        }
        let path = Path::to(player_address(sender));
        self.matchmaker.handle_datagram(self.now, path, bytes);
        self.drain();
    }
}

/// A server's answer to one datagram.
fn ask(
    server: &mut Server<Dots>,
    now: Time,
    from: SocketAddr,
    bytes: &mut [u8],
) -> Option<Vec<u8>> {
    server.handle_datagram(now, Path::to(from), bytes);
    let mut out = [0; 2048];
    let answer = server.poll_transmit(now, &mut out)?;
    Some(out[..answer.len].to_vec())
}

/// What the server measures and seals, a millisecond away.
fn measure(
    server: &mut Server<Dots>,
    now: Time,
    from: SocketAddr,
    pass: Secret,
) -> Option<(u32, Secret)> {
    let (mut stamp, mut cookie) = (0, Secret([0; 16]));
    for after in 0..2 {
        let mut out = [0; 200];
        let packet = Packet::Probe(Probe { pass, stamp, cookie });
        let len = Datagram { sequence: 1, packet }.encode(&mut out).expect("room for a Probe");
        let answer = ask(server, now + Duration::from_millis(after), from, &mut out[..len])?;
        let Ok(Packet::Probed(it)) = Datagram::decode(&answer).map(|it| it.packet) else {
            return None;
        };
        if it.round_trip > 0 {
            return Some((it.round_trip, it.seal));
        }
        (stamp, cookie) = (it.stamp, it.cookie);
    }
    None
}

/// A player who seeks, and what it has been told.
struct Player {
    seeker: Seeker,
    now: Time,
    nonce: [u8; 8],
    /// Where the matchmaker's lists lead.
    listed: Vec<SocketAddr>,
}

impl Player {
    fn new() -> Self {
        let seeker = Seeker::new(Time::ZERO, game(), matchmaker_address(), FAMILIES, [3; 32]);
        let seeker = seeker.expect("there is a way to the matchmaker");
        let mut player = Player { seeker, now: Time::ZERO, nonce: [0; 8], listed: Vec::new() };
        player.wait(Duration::from_millis(1));
        player
    }

    fn drain(&mut self) {
        let mut out = [0; 2048];
        let mut count = 0;
        while let Some(transmit) = self.seeker.poll_transmit(self.now, &mut out) {
            count += 1;
            assert!(count <= 32, "it never ends");
            let (to, bytes) = (socket_of(transmit), &out[..transmit.len]);
            match Datagram::decode(bytes).expect("a datagram").packet {
                Packet::Hello(it) if to == matchmaker_address() => {
                    self.nonce = it.nonce.to_be_bytes();
                }
                Packet::Seek(_) if to == matchmaker_address() => {}
                Packet::Probe(_) => assert!(self.listed.contains(&to), "{to} is in no list"),
                other => panic!("{other:?} to {to}"),
            }
        }
    }
}

impl Stage for Player {
    fn wait(&mut self, span: Duration) {
        let until = self.now + span;
        while let Some(due) = self.seeker.poll_timeout().filter(|&due| due <= until) {
            self.now = self.now.max(due);
            self.seeker.handle_timeout(self.now);
            self.drain();
        }
        self.now = until;
    }

    /// 0 and 1 are the matchmaker, 2 the first server of its list, 3 the player, who gives up.
    fn receive(&mut self, sender: usize, bytes: &mut [u8]) {
        if sender == 3 {
            self.seeker.leave();
        } else {
            let from = match sender {
                2 => self.listed.first().copied().unwrap_or(server_address()),
                _ => matchmaker_address(),
            };
            if from == matchmaker_address() {
                if let Some(nonce) = bytes.get_mut(HEADER..HEADER + 8) {
                    nonce.copy_from_slice(&self.nonce);
                }
                if let Ok(Packet::Waiting(it)) = Datagram::decode(bytes).map(|it| it.packet) {
                    self.listed.extend(it.servers.iter().map(|it| it.socket_addr()));
                }
            }
            self.seeker.handle_datagram(self.now, Path::to(from), bytes);
        }
        self.drain();
        if !matches!(self.seeker.status(), SeekStatus::Asking | SeekStatus::Waiting(_)) {
            assert_eq!(self.seeker.poll_timeout(), None, "it is over");
        }
    }
}

fn game() -> GameId {
    Dots::default().id()
}

fn socket_of(transmit: Transmit) -> SocketAddr {
    transmit.path.remote.socket_addr().expect("a socket address")
}

fn matchmaker_address() -> SocketAddr {
    SocketAddr::from(([10, 9, 0, 1], 4300))
}

fn server_address() -> SocketAddr {
    SocketAddr::from(([10, 0, 0, 1], 4300))
}

fn player_address(player: usize) -> SocketAddr {
    SocketAddr::from(([10, 100, 0, player as u8], 5000))
}
