//! The world in which a scenario is played: starts and stops its programs, bends its links.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use super::act::{Act, Knock, Place, Refused, Visit};
use super::cast::{Actor, Guest, Mood};
use super::gate::Gate;
use super::play::Play;
use super::probe::Probe;
use super::rules::Rules;
use super::scenario::{Home, Network, Scenario};
use super::stranger;
use super::visitor::{self, Visitor};
use crate::{Chance, HostId, LinkConfig, Partition, Preset, World};
use backspin::client::ClientConfig;
use backspin::endpoint::EndpointConfig;
use backspin::room::RoomConfig;
use backspin::server::Server;
use backspin::time::Time;
use backspin::wire::Name;
use backspin::wire::native::{CloseReason, DEFAULT_PORT};
use backspin_classic::Dialect;

/// A scenario's hosts and what is about to happen to them.
#[derive(Debug)]
pub(super) struct Stage {
    pub(super) world: World<Actor>,
    pub(super) server: HostId,
    pub(super) hosts: Vec<HostId>,
    visitors: Vec<HostId>,
    /// Where each guest is now.
    pub(super) addresses: Vec<SocketAddr>,
    scenario: Scenario,
    chance: Chance,
    /// How many programs were started.
    lives: u32,
    /// How many addresses were given out beside the first ones.
    moves: u16,
}

/// What an act comes to, for those who watch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Deed {
    /// A guest's program was started.
    Started { guest: usize, life: u32 },
    /// A guest's program is gone.
    Gone { guest: usize },
    /// A guest said goodbye.
    Left { guest: usize },
    /// A guest was removed.
    Kicked { guest: usize },
    /// Another server runs now.
    Restarted,
    /// The server said goodbye.
    Stopped,
    /// Nothing that anyone is told.
    Other,
}

/// Rooms that are opened as they are needed, at the most.
const OFFERED: u16 = 2;

/// Where the server is.
const SERVER: ([u8; 4], u16) = ([10, 0, 0, 1], DEFAULT_PORT);

impl Stage {
    pub(super) fn new(scenario: Scenario) -> Self {
        let seed = scenario.seed;
        let mut chance = Chance::new(seed, 2);
        let mut world = World::new(seed, Preset::Lan.config());
        let now = scenario.clock.local(Time::ZERO);
        let gate = Actor::Server(Box::new(open(now, scenario.rules, scenario.play, &mut chance)));
        let server = world.add(gate, &[server_address()], scenario.clock);
        let mut stage = Stage {
            world,
            server,
            hosts: Vec::new(),
            visitors: Vec::new(),
            addresses: Vec::new(),
            scenario,
            chance,
            lives: 0,
            moves: 0,
        };
        for guest in 0..stage.scenario.guests.len() {
            let address = stage.first_address(guest);
            let clock = stage.scenario.guests[guest].clock;
            stage.hosts.push(stage.world.add(Actor::Nobody, &[address], clock));
            stage.addresses.push(address);
        }
        for visitor in 0..Scenario::VISITORS {
            let ip = match stage.scenario.network {
                Network::V4 => IpAddr::from([10, 5, 0, 1 + visitor as u8]),
                // Two in one /56, all in one /48.
                Network::V6 => {
                    let subnet = [0x0100, 0x0101, 0x0200][visitor % 3];
                    IpAddr::from([0x2001, 0xdb8, 1, subnet, 0, 0, 0, 1])
                }
            };
            let sockets = (0..Visitor::SOCKETS).map(u16::from);
            let addresses: Vec<_> = sockets.map(|port| SocketAddr::new(ip, 7_000 + port)).collect();
            let program = Visitor::new(Chance::new(seed, 3 + visitor as u64));
            let actor = Actor::Visitor(Box::new(program));
            stage.visitors.push(stage.world.add(actor, &addresses, stage.scenario.clock));
        }
        stage
    }

    pub(super) fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    pub(super) fn server(&self) -> &Server<Probe> {
        match self.world.node(self.server) {
            Actor::Server(gate) => &gate.server,
            _ => unreachable!("the server was added as one"),
        }
    }

    pub(super) fn gate(&mut self) -> &mut Gate {
        match self.world.node_quietly(self.server) {
            Actor::Server(gate) => gate,
            _ => unreachable!("the server was added as one"),
        }
    }

    pub(super) fn guest(&mut self, guest: usize) -> Option<&mut Guest> {
        match self.world.node_quietly(self.hosts[guest]) {
            Actor::Guest(guest) => Some(guest),
            _ => None,
        }
    }

    /// Whether a datagram between a guest and the server was ever damaged: it may have said
    /// anything then.
    pub(super) fn is_damaged(&self, guest: usize) -> bool {
        let (server, host) = (self.server, self.hosts[guest]);
        let damaged = |from, to| self.world.link_counts(from, to).corrupted > 0;
        damaged(server, host) || damaged(host, server)
    }

    /// Whether that is so for anyone.
    pub(super) fn is_anything_damaged(&self) -> bool {
        (0..self.hosts.len()).any(|guest| self.is_damaged(guest))
    }

    /// Lets an act happen now.
    pub(super) fn perform(&mut self, act: Act) -> Deed {
        match act {
            Act::Start { guest, place } => return self.start(guest, place),
            Act::Leave { guest } => {
                if let Some(guest) = self.guest_mut(guest) {
                    guest.wake();
                    guest.client.leave();
                }
                return Deed::Left { guest };
            }
            Act::Crash { guest } => {
                self.world.replace(self.hosts[guest], Actor::Nobody);
                return Deed::Gone { guest };
            }
            Act::Sleep { guest, .. } => {
                // What a stream brings to a stopped process waits for it; here it would be lost.
                let sleeps = !has_streams(self.scenario.guests[guest].dialect);
                if let Some(guest) = self.guest_mut(guest).filter(|_| sleeps) {
                    guest.mood = Mood::Asleep;
                }
            }
            Act::Line { guest, preset, twist } => self.set_link(guest, twist.applied_to(preset)),
            Act::Cut { guest, .. } => self.set_partition(guest, Partition::Cut),
            Act::Rebind { guest } => self.rebind(guest),
            Act::Kick { guest } => return self.kick(guest),
            Act::Restart => {
                let now = self.world.local_time(self.server);
                let gate = open(now, self.scenario.rules, self.scenario.play, &mut self.chance);
                self.world.replace(self.server, Actor::Server(Box::new(gate)));
                return Deed::Restarted;
            }
            Act::Stop => {
                let gate = self.gate_mut();
                gate.server.close(CloseReason::Stopping);
                gate.audit.note_closing(None);
                return Deed::Stopped;
            }
            Act::Knock { knock, guest, times } => self.knock(knock, guest, times),
            Act::Move { guest, room } => {
                let now = self.world.local_time(self.hosts[guest]);
                let role = self.scenario.guests[guest].role;
                let is_open = self.chance.below(2) == 0;
                let password = if is_open { Name::default() } else { visitor::password() };
                let mover = self.guest_mut(guest).filter(|guest| guest.mood == Mood::Lively);
                if let Some(guest) = mover {
                    guest.client.enter_room(now, room, role, password);
                }
            }
            Act::Visit { visitor, errand, guest } => self.visit(visitor, errand, guest),
            Act::Stall { dating, .. } => self.gate_mut().stalled = Some(dating),
            Act::Errors { refused, .. } => self.set_errors(refused, true),
        }
        Deed::Other
    }

    fn gate_mut(&mut self) -> &mut Gate {
        match self.world.node_mut(self.server) {
            Actor::Server(gate) => gate,
            _ => unreachable!("the server was added as one"),
        }
    }

    fn set_errors(&mut self, refused: Refused, on: bool) {
        match refused {
            Refused::Sending => self.gate_mut().is_mute = on,
            Refused::Receiving => self.gate_mut().is_deaf = on,
        }
    }

    fn visit(&mut self, visitor: usize, errand: Visit, guest: usize) {
        let ticket = self.guest(guest).and_then(|guest| guest.client.ticket());
        let now = self.world.local_time(self.visitors[visitor]);
        if let Actor::Visitor(visitor) = self.world.node_mut(self.visitors[visitor]) {
            visitor.go(now, errand, ticket);
        }
    }

    /// What an act began and lasts for a while is over.
    pub(super) fn end(&mut self, act: Act) {
        match act {
            Act::Sleep { guest, .. } => self.wake(guest),
            Act::Cut { guest, .. } => self.set_partition(guest, Partition::Healed),
            Act::Stall { .. } => self.gate_mut().wake(),
            Act::Errors { refused, .. } => self.set_errors(refused, false),
            _ => {}
        }
    }

    /// Every link heals, and everyone lets go.
    pub(super) fn heal(&mut self) {
        self.gate_mut().wake();
        self.set_errors(Refused::Sending, false);
        self.set_errors(Refused::Receiving, false);
        for &visitor in &self.visitors {
            if let Actor::Visitor(visitor) = self.world.node_mut(visitor) {
                visitor.calm_down();
            }
        }
        for guest in 0..self.hosts.len() {
            self.set_link(guest, Preset::Lan.config());
            self.set_partition(guest, Partition::Healed);
            self.wake(guest);
            if let Some(guest) = self.guest_mut(guest) {
                guest.calm_down();
            }
        }
    }

    fn wake(&mut self, guest: usize) {
        if let Some(guest) = self.guest_mut(guest) {
            guest.wake();
        }
    }

    fn guest_mut(&mut self, guest: usize) -> Option<&mut Guest> {
        match self.world.node_mut(self.hosts[guest]) {
            Actor::Guest(guest) => Some(guest),
            _ => None,
        }
    }

    fn set_link(&mut self, guest: usize, link: LinkConfig) {
        self.world.set_link(self.server, self.hosts[guest], link);
    }

    fn set_partition(&mut self, guest: usize, partition: Partition) {
        self.world.set_partition(self.server, self.hosts[guest], partition);
    }

    fn start(&mut self, guest: usize, place: Place) -> Deed {
        if place == Place::NewAddress {
            self.rebind(guest);
        }
        let life = self.lives;
        self.lives += 1;
        let plan = self.scenario.guests[guest];
        let config = ClientConfig {
            role: plan.role,
            own_port: self.addresses[guest].port(),
            liveness: self.scenario.rules.liveness,
            resume_for: self.scenario.rules.resume_for,
            ..ClientConfig::new(server_address(), name_of(life))
        };
        let now = self.world.local_time(self.hosts[guest]);
        let seed = secret(&mut self.chance);
        let play = self.scenario.play;
        let client = plan.dialect.client(now, Probe::new(play), config, seed);
        let chance = Chance::new(self.scenario.seed, 100 + u64::from(life));
        let guest_node = Guest::new(now, client, life, play.talk, chance);
        self.world.replace(self.hosts[guest], Actor::Guest(Box::new(guest_node)));
        Deed::Started { guest, life }
    }

    fn rebind(&mut self, guest: usize) {
        self.moves += 1;
        let port = 6_000 + self.moves;
        let address = match (self.scenario.home, self.moves % 2) {
            // A phone that leaves the house gets another IP as well, and shares it with others.
            (Home::Apart, 0) => {
                SocketAddr::from(([10, 2, 0, 1 + self.chance.below(3) as u8], port))
            }
            _ => SocketAddr::new(self.addresses[guest].ip(), port),
        };
        self.world.rebind(self.hosts[guest], 0, address);
        self.addresses[guest] = address;
    }

    fn kick(&mut self, guest: usize) -> Deed {
        let Some(name) = self.guest(guest).map(|guest| name_of(guest.life)) else {
            return Deed::Other;
        };
        let gate = self.gate_mut();
        let mut found = Vec::new();
        for (slot, _, room) in gate.server.listed() {
            let theirs = room.members().filter(|card| card.name == name);
            found.extend(theirs.map(|card| (slot, card.player, card.session)));
        }
        for (slot, player, session) in found {
            gate.server.kick(slot, player);
            gate.audit.note_closing(Some(session));
        }
        Deed::Kicked { guest }
    }

    fn knock(&mut self, knock: Knock, guest: usize, times: u16) {
        let overheard = self.guest(guest).map(|guest| guest.overheard.clone()).unwrap_or_default();
        let stranger = SocketAddr::from(([10, 3, 0, 1 + self.chance.below(4) as u8], 7_000));
        for number in 0..times {
            let from = match knock {
                Knock::Replay | Knock::FarNumbers | Knock::NearNumbers => self.addresses[guest],
                Knock::Spoofed => {
                    let [high, low] = number.to_be_bytes();
                    SocketAddr::from(([10, 4, high, low], 7_000))
                }
                _ => stranger,
            };
            let at = self.world.now() + Duration::from_micros(self.chance.below(1_000_000));
            if let Some(bytes) = stranger::write(knock, &overheard, &mut self.chance) {
                self.world.inject(at, from, server_address(), &bytes);
            }
        }
    }

    fn first_address(&self, guest: usize) -> SocketAddr {
        let number = guest as u8;
        match self.scenario.home {
            Home::Apart => SocketAddr::from(([10, 1, 0, 1 + number], 5_000)),
            Home::Together => SocketAddr::from(([10, 1, 0, 1], 5_000 + u16::from(number))),
        }
    }
}

/// What a program calls itself: every one otherwise, and twice, so that a name with a flipped bit
/// is nobody's.
pub(super) fn name_of(life: u32) -> Name {
    Name::new(&format!("{life}-{life}"))
}

pub(super) fn server_address() -> SocketAddr {
    SocketAddr::from(SERVER)
}

fn has_streams(dialect: Dialect) -> bool {
    dialect == Dialect::Rtype
}

/// A server that has just been started: one room that stays, and more as they are needed.
fn open(now: Time, rules: Rules, play: Play, chance: &mut Chance) -> Gate {
    let Rules { liveness, resume_for, claim_within, limits } = rules;
    let config = EndpointConfig {
        other_ports: vec![("rtype", DEFAULT_PORT)],
        limits,
        ..EndpointConfig::default()
    };
    let mut server = Server::new(config, secret(chance)).speaking(backspin_classic::dialects());
    let room = RoomConfig { liveness, resume_for, claim_within, ..RoomConfig::default() };
    server.open(now, Probe::new(play), Name::new("Chaos"), chance.u64(), room);
    server.offer(now, Probe::new(play), Name::new("More"), OFFERED, room);
    Gate::new(server, rules, play)
}

fn secret(chance: &mut Chance) -> [u8; 32] {
    let mut seed = [0; 32];
    for part in seed.chunks_exact_mut(8) {
        part.copy_from_slice(&chance.u64().to_le_bytes());
    }
    seed
}
