//! The players behind the proxy, and what happens to their datagrams.

use std::collections::{BTreeMap, HashMap};
use std::error::Error;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use backspin::time::Time;
use backspin_sim::{Duplex, Faults, Link, LinkConfig};
use backspin_udp::{Envelope, Socket, Waiter};

use super::flight::{self, Flight, Passenger, Way};
use super::lan;
use super::show::{Counts, Report};

/// The players, each with a link to the game.
pub(super) struct Relay {
    setup: Setup,
    /// By the names of their sockets.
    players: BTreeMap<usize, Player>,
    by_address: HashMap<SocketAddr, usize>,
    flight: Flight,
    /// The last player's. No name is used twice.
    last_name: usize,
    next_expiry: Time,
    player_limit: usize,
    /// The counts of players who are gone, and of datagrams that belong to no player.
    gone: Report,
}

/// What the proxy is for.
#[derive(Clone, Copy, Debug)]
pub(in crate::tools) struct Setup {
    pub(in crate::tools) target: SocketAddr,
    pub(in crate::tools) link: LinkConfig,
    pub(in crate::tools) seed: u64,
    /// How long a player may say nothing.
    pub(in crate::tools) idle: Duration,
    pub(in crate::tools) dialect: Dialect,
}

/// What is known about the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::tools) enum Dialect {
    /// Nothing.
    Any,
    /// A guest's HELLO names a port.
    Lan,
}

/// The name of the socket for all players.
pub(super) const FRONT: usize = 0;

/// Players at once. Each takes a socket, and systems commonly give a program 1,024 files or fewer.
const PLAYER_LIMIT: usize = 200;

/// How often to look for players who are gone.
const EXPIRY_EVERY: Duration = Duration::from_millis(250);

/// One player.
struct Player {
    /// Towards the game.
    socket: Socket,
    port: u16,
    /// Where it sends from.
    address: SocketAddr,
    /// Where it listens, if a HELLO named another port.
    named: Option<SocketAddr>,
    /// The address of this machine that it speaks to.
    local: Option<IpAddr>,
    link: Duplex,
    heard: Time,
    /// When the game last sent it something.
    answered: Time,
    there: Counts,
    back: Counts,
}

impl Relay {
    pub(super) fn new(setup: Setup) -> Self {
        Relay {
            setup,
            players: BTreeMap::new(),
            by_address: HashMap::new(),
            flight: Flight::new(flight::LIMIT_BYTES),
            last_name: FRONT,
            next_expiry: Time::ZERO,
            player_limit: PLAYER_LIMIT,
            gone: Report::default(),
        }
    }

    /// The socket of that name, if it is still open.
    pub(super) fn socket<'a>(&'a self, name: usize, front: &'a Socket) -> Option<&'a Socket> {
        match name {
            FRONT => Some(front),
            name => self.players.get(&name).map(|player| &player.socket),
        }
    }

    /// Takes a datagram for the game.
    pub(super) fn handle_player(
        &mut self,
        now: Time,
        envelope: Envelope,
        bytes: &mut [u8],
        waiter: &Waiter,
    ) {
        let Some(name) = self.find_or_add(now, envelope.remote, waiter) else {
            self.gone.refused += 1;
            return;
        };
        let Some(player) = self.players.get_mut(&name) else { return };
        // Arrival times are measured by two clocks: what came later may seem to have come earlier.
        player.heard = player.heard.max(now);
        player.local = envelope.local;
        if self.setup.dialect == Dialect::Lan
            && let Some(port) = lan::rename_port(bytes, player.port)
        {
            player.listens_at(port, name, &mut self.by_address);
        }
        let Player { link, heard, there, .. } = player;
        launch(&mut self.flight, *heard, &mut link.there, there, (name, Way::There), bytes);
    }

    /// Takes a datagram for the player whose socket has that name.
    pub(super) fn handle_game(
        &mut self,
        now: Time,
        name: usize,
        envelope: Envelope,
        bytes: &mut [u8],
    ) {
        if envelope.remote != self.setup.target {
            self.gone.foreign += 1;
        } else if let Some(Player { link, answered, back, .. }) = self.players.get_mut(&name) {
            *answered = now.max(*answered);
            launch(&mut self.flight, *answered, &mut link.back, back, (name, Way::Back), bytes);
        }
    }

    /// When the next datagram is due.
    pub(super) fn next_due(&self) -> Option<Time> {
        self.flight.next_due()
    }

    /// Sends what is due.
    pub(super) fn deliver(&mut self, now: Time, front: &Socket) {
        while let Some(Passenger { player: name, way, bytes }) = self.flight.land(now) {
            let Some(player) = self.players.get_mut(&name) else {
                // It left while this was under way.
                self.gone.counts_mut(way).land(Err(()));
                continue;
            };
            let (socket, remote, local) = match way {
                Way::There => (&player.socket, self.setup.target, None),
                Way::Back => (front, player.named.unwrap_or(player.address), player.local),
            };
            let sent = socket.send_from(Envelope { remote, local, len: bytes.len() }, &bytes);
            player.counts_mut(way).land(sent.map_err(drop));
        }
    }

    /// Forgets those who have said nothing for too long, and closes their sockets.
    pub(super) fn expire(&mut self, now: Time, waiter: &Waiter) {
        if now < self.next_expiry {
            return;
        }
        self.next_expiry = now + EXPIRY_EVERY;
        let idle = self.setup.idle;
        for (name, mut player) in
            self.players.extract_if(.., |_, player| now.since(player.heard) >= idle)
        {
            self.by_address.retain(|_, of| *of != name);
            player.add_to(&mut self.gone);
            // It is closed in the next moment; there is nothing to do about an error.
            let _ = waiter.remove(&mut player.socket);
        }
    }

    /// What the links do from now on; what is under way keeps its time.
    pub(super) fn set_link(&mut self, link: LinkConfig) {
        self.setup.link = link;
        for Player { link: Duplex { there, back }, .. } in self.players.values_mut() {
            there.set_config(link);
            back.set_config(link);
        }
    }

    /// What has been done so far.
    pub(super) fn report(&self) -> Report {
        let mut report = self.gone;
        report.players = self.players.len();
        self.players.values().for_each(|player| player.add_to(&mut report));
        report
    }

    /// The name of the player at `address`; a new one gets a socket and a link, if there is room.
    fn find_or_add(&mut self, now: Time, address: SocketAddr, waiter: &Waiter) -> Option<usize> {
        if let Some(name) = self.by_address.get(&address) {
            return Some(*name);
        }
        if self.players.len() >= self.player_limit {
            return None;
        }
        let name = self.last_name + 1;
        let player = Player::new(&self.setup, now, address, name, waiter).ok()?;
        self.last_name = name;
        self.players.insert(name, player);
        self.by_address.insert(address, name);
        Some(name)
    }
}

impl Player {
    fn new(
        setup: &Setup,
        now: Time,
        address: SocketAddr,
        name: usize,
        waiter: &Waiter,
    ) -> Result<Self, Box<dyn Error>> {
        let mut socket = Socket::towards(setup.target.ip())?;
        waiter.add(&mut socket, name)?;
        Ok(Player {
            port: socket.local_addr()?.port(),
            socket,
            address,
            named: None,
            local: None,
            link: Duplex::new(setup.link, setup.seed, name as u32),
            heard: now,
            answered: now,
            there: Counts::default(),
            back: Counts::default(),
        })
    }

    /// It may also send from there, and the game must take that for the same guest.
    fn listens_at(&mut self, port: u16, name: usize, names: &mut HashMap<SocketAddr, usize>) {
        let named = SocketAddr::new(self.address.ip(), port);
        let before = self.named.replace(named).filter(|before| *before != self.address);
        if let Some(before) = before
            && names.get(&before) == Some(&name)
        {
            names.remove(&before);
        }
        names.entry(named).or_insert(name);
    }

    fn counts_mut(&mut self, way: Way) -> &mut Counts {
        match way {
            Way::There => &mut self.there,
            Way::Back => &mut self.back,
        }
    }

    fn add_to(&self, report: &mut Report) {
        let add = |counts: &mut Counts, own: &Counts, faults: &Faults| {
            counts.add(own);
            counts.add_faults(faults);
        };
        add(&mut report.there, &self.there, self.link.there.counts());
        add(&mut report.back, &self.back, self.link.back.counts());
    }
}

/// Sends a datagram on its way, as often as the link lets it arrive.
fn launch(
    flight: &mut Flight,
    now: Time,
    link: &mut Link,
    counts: &mut Counts,
    (player, way): (usize, Way),
    bytes: &mut [u8],
) {
    for &due in link.send(now, bytes).times() {
        let passenger = Passenger { player, way, bytes: (&*bytes).into() };
        counts.launch(flight.launch(due, passenger).map_err(drop));
    }
}

#[cfg(test)]
mod tests {
    use backspin_udp::Backend;

    use super::*;

    fn relay() -> (Relay, Waiter, Socket) {
        let target = Socket::bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let setup = Setup {
            target: target.local_addr().unwrap(),
            link: LinkConfig::PERFECT,
            seed: 1,
            idle: Duration::from_secs(60),
            dialect: Dialect::Any,
        };
        (Relay::new(setup), Waiter::new(Backend::Batched).unwrap(), target)
    }

    fn from(port: u16) -> Envelope {
        Envelope { remote: SocketAddr::from(([127, 0, 0, 1], port)), local: None, len: 1 }
    }

    #[test]
    fn there_is_room_for_so_many_players_and_not_one_more() {
        let (mut relay, waiter, _target) = relay();
        for port in 0..=PLAYER_LIMIT as u16 {
            relay.handle_player(Time::ZERO, from(1_000 + port), &mut [0], &waiter);
        }
        let report = relay.report();
        assert_eq!((report.players, report.refused), (PLAYER_LIMIT, 1));
        relay.handle_player(Time::ZERO, from(1_000), &mut [0], &waiter);
        assert_eq!(relay.report().there.received, PLAYER_LIMIT as u64 + 1);
    }

    #[test]
    fn a_player_is_forgotten_when_idle_and_what_was_counted_is_not() {
        let (mut relay, waiter, front) = relay();
        relay.setup.link.delay = Duration::from_secs(59);
        let at = |s| Time::ZERO + Duration::from_secs(s);
        relay.handle_player(at(0), from(1_000), &mut [0], &waiter);
        relay.handle_player(at(2), from(1_001), &mut [0], &waiter);
        relay.expire(at(60), &waiter);
        relay.deliver(at(61), &front);
        let report = relay.report();
        assert_eq!((report.players, report.there.received), (1, 2));
        let Counts { forwarded, unsent, under_way, .. } = report.there;
        assert_eq!((forwarded, unsent, under_way), (1, 1, 0));
        relay.handle_player(at(62), from(1_000), &mut [0], &waiter);
        assert_eq!(relay.report().players, 2, "it may come again");
    }

    #[test]
    fn a_longer_link_is_everyones_and_leaves_what_is_under_way() {
        let (mut relay, waiter, front) = relay();
        relay.handle_player(Time::ZERO, from(1_000), &mut [0], &waiter);
        let delay = Duration::from_millis(25);
        relay.set_link(LinkConfig { delay, ..LinkConfig::PERFECT });
        relay.deliver(Time::ZERO, &front);
        assert_eq!(relay.report().there.forwarded, 1);
        for port in [1_000, 1_001] {
            relay.handle_player(Time::ZERO, from(port), &mut [0], &waiter);
        }
        relay.deliver(Time::from_micros(24_999), &front);
        assert_eq!(relay.report().there.forwarded, 1);
        relay.deliver(Time::from_millis(25), &front);
        assert_eq!(relay.report().there.forwarded, 3);
    }

    #[test]
    fn arrival_times_that_run_backwards_reorder_nothing() {
        let (mut relay, waiter, target) = relay();
        let game = target.local_addr().unwrap();
        for (ms, byte) in [(5, 1), (4, 2), (6, 3)] {
            relay.handle_player(Time::from_millis(ms), from(1_000), &mut [byte], &waiter);
        }
        for (ms, byte) in [(8, 4), (7, 5)] {
            relay.handle_game(Time::from_millis(ms), 1, from(game.port()), &mut [byte]);
        }
        let landed = std::iter::from_fn(|| relay.flight.land(Time::from_millis(9)));
        assert_eq!(landed.map(|it| it.bytes[0]).collect::<Vec<_>>(), [1, 2, 3, 4, 5]);
    }

    #[test]
    fn what_the_game_did_not_send_is_not_forwarded() {
        let (mut relay, waiter, target) = relay();
        relay.handle_player(Time::ZERO, from(1_000), &mut [0], &waiter);
        let game = target.local_addr().unwrap();
        relay.handle_game(Time::ZERO, 1, from(game.port() ^ 1), &mut [0]);
        relay.handle_game(Time::ZERO, 1, from(game.port()), &mut [0]);
        let report = relay.report();
        assert_eq!((report.foreign, report.back.received), (1, 1));
    }

    #[test]
    fn a_lan_guest_may_send_from_the_port_it_named() {
        let (mut relay, waiter, _target) = relay();
        relay.setup.dialect = Dialect::Lan;
        relay.handle_player(Time::ZERO, from(1_000), &mut [3, 0x12, 0x34], &waiter);
        relay.handle_player(Time::ZERO, from(0x1234), &mut [5, 0, 0, 1], &waiter);
        assert_eq!(relay.report().players, 1);
        for port in 2_000..3_000_u16 {
            let [high, low] = port.to_be_bytes();
            relay.handle_player(Time::ZERO, from(1_000), &mut [3, high, low], &waiter);
        }
        assert_eq!(relay.by_address.len(), 2, "its own address and the port it named last");
        relay.expire(Time::ZERO + Duration::from_secs(60), &waiter);
        assert!(relay.by_address.is_empty());
    }
}
