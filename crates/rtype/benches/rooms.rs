//! What a server's tick costs with 100 matches of four bots: everything that a tick brings, from the
//! first datagram that is decoded to the last that is encoded, beside the 16.67 ms that it may take.
//!
//! ```text
//! cargo bench -p backspin-rtype --bench rooms
//! ```
//!
//! Clients are real, too: 400 sessions of `native`, 50 ms away, with one datagram in twenty lost.
//! What they cost is not counted, nor is the system's part of sending: there are no sockets here.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use backspin::client::{Client, ClientConfig};
use backspin::endpoint::EndpointConfig;
use backspin::game::Game;
use backspin::node::{Node, Path};
use backspin::peer::PeerAddr;
use backspin::room::RoomConfig;
use backspin::server::Server;
use backspin::time::Time;
use backspin::wire::Name;
use backspin_rtype::{Opening, RType, World};
use backspin_sim::Chance;

const ROOMS: usize = 100;
const PLAYERS: usize = 4;
const TICK: Duration = Duration::from_nanos(1_000_000_000 / 60);
/// Datagrams come all through a tick: it is driven in so many steps.
const STEPS: usize = 4;
/// One way.
const DELAY_STEPS: usize = 3 * STEPS;
const LOST_ONE_IN: u64 = 20;
/// Bots decide ten times a second, as people do.
const THINK_TICKS: usize = 6;
const SERVER: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1)), 4300);

fn main() {
    // Without the flag this is a test run, which only has to come to an end.
    let (rooms, warm_up, ticks) = match std::env::args().any(|arg| arg == "--bench") {
        true => (ROOMS, 1_200, 3_600),
        false => (2, 120, 60),
    };
    let mut hall = Hall::new(rooms);
    (0..warm_up).for_each(|_| _ = hall.tick());
    let (sent, playing) = (hall.sent_bytes, hall.playing());
    let mut costs: Vec<Duration> = (0..ticks).map(|_| hall.tick()).collect();
    let all: Duration = costs.iter().sum();
    costs.sort_unstable();
    let ms = |per_mille: usize| costs[(costs.len() - 1) * per_mille / 1000].as_secs_f64() * 1e3;
    let [p50, p99, most] = [ms(500), ms(990), ms(1000)];
    let (rooms, span) = (hall.server.rooms(), TICK * ticks as u32);
    let things: usize = rooms.iter().map(|room| room.state().entities().len()).sum();
    let core = 100.0 * all.as_secs_f64() / span.as_secs_f64();
    let per_client = (hall.sent_bytes - sent) as f64 / span.as_secs_f64() / playing.max(1) as f64;
    println!("{} rooms, {playing} players, {} things", rooms.len(), things);
    println!("a tick: p50 {p50:.2} ms, p99 {p99:.2} ms, most {most:.2} ms, of 16.67 ms");
    println!("{core:.1} % of a core; {per_client:.0} B/s to each player");
}

/// A server, its guests, and what is on its way between them.
struct Hall {
    now: Time,
    step: usize,
    server: Server<RType>,
    clients: Vec<Client<RType>>,
    up: Way,
    down: Way,
    chance: Chance,
    sent_bytes: usize,
    /// Worlds are restored into it.
    seen: World,
}

/// Whose client sends or gets it, and its bytes.
type Datagram = (usize, Vec<u8>);

/// Datagrams of one direction, by the step in which they come.
struct Way {
    steps: Vec<Vec<Datagram>>,
}

impl Way {
    fn new() -> Self {
        Way { steps: vec![Vec::new(); DELAY_STEPS] }
    }

    /// What comes in this step; first of all, then what is sent in it comes [`DELAY_STEPS`] later.
    fn take(&mut self, step: usize) -> Vec<Datagram> {
        std::mem::take(&mut self.steps[step % DELAY_STEPS])
    }

    fn push(&mut self, step: usize, datagram: Datagram) {
        self.steps[step % DELAY_STEPS].push(datagram);
    }
}

impl Hall {
    fn new(rooms: usize) -> Self {
        let game = RType { opening: Opening::AtOnce, ..RType::default() };
        let now = Time::from_millis(1);
        let mut server =
            Server::new(EndpointConfig::default(), [7; 32]).speaking(backspin_classic::dialects());
        for room in 0..rooms {
            let name = Name::new(&format!("Room {room}"));
            server.open(now, game.clone(), name, room as u64, RoomConfig::default());
        }
        let client = |index: usize| {
            let mut config = ClientConfig::new(SERVER, Name::new("Bot"));
            config.room = server.rooms()[index % rooms].number();
            let mut seed = [3; 32];
            seed[..8].copy_from_slice(&(index as u64).to_le_bytes());
            Client::new(now, game.clone(), config, seed)
        };
        let clients = (0..rooms * PLAYERS).map(client).collect();
        let (up, down, chance) = (Way::new(), Way::new(), Chance::new(1, 1));
        let seen = game.begin(1);
        Hall { now, step: 0, server, clients, up, down, chance, sent_bytes: 0, seen }
    }

    fn playing(&self) -> usize {
        self.clients.iter().filter(|client| client.is_playing()).count()
    }

    /// Plays a tick; what it cost the server.
    fn tick(&mut self) -> Duration {
        (0..STEPS).map(|_| self.advance()).sum()
    }

    fn advance(&mut self) -> Duration {
        self.step += 1;
        self.now += TICK / STEPS as u32;
        let (up, down) = (self.up.take(self.step), self.down.take(self.step));
        self.run_clients(down);
        self.run_server(up)
    }

    fn run_clients(&mut self, came: Vec<Datagram>) {
        let now = self.now;
        for (index, mut bytes) in came {
            self.clients[index].handle_datagram(now, Path::to(SERVER), &mut bytes);
        }
        let mut buffer = [0; 2_048];
        for (index, client) in self.clients.iter_mut().enumerate() {
            if (self.step + index).is_multiple_of(STEPS * THINK_TICKS)
                && let Some(player) = client.player()
            {
                let game = client.game();
                game.restore_into(client.state(), &mut self.seen);
                let held = game.bot_input(&self.seen, player).unwrap_or_default();
                client.press(held);
            }
            if client.poll_timeout().is_some_and(|due| due <= now) {
                client.handle_timeout(now);
            }
            while let Some(transmit) = client.poll_transmit(now, &mut buffer) {
                if self.chance.below(LOST_ONE_IN) > 0 {
                    self.up.push(self.step, (index, buffer[..transmit.len].to_vec()));
                }
            }
        }
    }

    /// What has come and what is due is dealt with, and what is to be sent is encoded.
    fn run_server(&mut self, mut came: Vec<Datagram>) -> Duration {
        let now = self.now;
        let (mut bytes, mut sent) = (Vec::with_capacity(1 << 20), Vec::with_capacity(1 << 12));
        let mut buffer = [0; 2_048];
        let began = cpu_time();
        for (index, bytes) in &mut came {
            self.server.handle_datagram(now, Path::to(address(*index)), bytes);
        }
        if self.server.poll_timeout().is_some_and(|due| due <= now) {
            self.server.handle_timeout(now);
        }
        while let Some(transmit) = self.server.poll_transmit(now, &mut buffer) {
            bytes.extend_from_slice(&buffer[..transmit.len]);
            sent.push((transmit.path.remote, transmit.len));
        }
        let cost = cpu_time().saturating_sub(began);
        self.sent_bytes += bytes.len();
        let mut rest = bytes.as_slice();
        for (remote, len) in sent {
            let (datagram, after) = rest.split_at(len);
            rest = after;
            if self.chance.below(LOST_ONE_IN) > 0 {
                self.down.push(self.step, (index_of(remote), datagram.to_vec()));
            }
        }
        cost
    }
}

/// Everyone comes from another address.
fn address(index: usize) -> SocketAddr {
    let [high, low] = (index as u16).to_be_bytes();
    SocketAddr::from(([10, 1, high, low], 5_000))
}

fn index_of(peer: PeerAddr) -> usize {
    match peer.ip() {
        Some(IpAddr::V4(ip)) => usize::from(u16::from_be_bytes([ip.octets()[2], ip.octets()[3]])),
        _ => unreachable!("nobody has one here"),
    }
}

/// The time that this thread has run: what others do on the machine does not count.
#[cfg(unix)]
fn cpu_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

#[cfg(not(unix))]
fn cpu_time() -> Duration {
    static BEGAN: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    BEGAN.get_or_init(std::time::Instant::now).elapsed()
}
