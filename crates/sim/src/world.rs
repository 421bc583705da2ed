//! A world of hosts joined by links, which jumps from deadline to deadline and never sleeps.
//!
//! It drives [`Node`](backspin::node::Node)s as a socket loop would, with a clock of its own for
//! each, and decides by its seed alone what becomes of every datagram. So a run can be
//! replayed, and its [`Digest`] says whether it was the same.
//!
//! ```text
//! agenda  -> what happens when, and true time
//! flight  -> the datagrams under way
//! links   -> a pair of links for every two hosts
//! streams -> the connections that stand, and their bytes under way; tcp drives them
//! ```

use super::digest::{Kind, Recorder};
use super::{Digest, Drift, Faults, LinkConfig, Partition};
use agenda::{Agenda, Event};
use backspin::node::{Path, StreamNode};
use backspin::peer::PeerAddr;
use backspin::time::Time;
use flight::{Flight, Slot};
use links::Links;
use std::collections::BTreeMap;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;
use streams::Streams;
use tcp::Survivor;

mod agenda;
mod flight;
mod links;
mod streams;
mod tcp;

/// Hosts, the links between any two of them, and everything under way.
///
/// All chance comes from the seed. Links draw from streams of [`Chance`](super::Chance) of
/// their own; the streams below 2^31 are left to nodes and scenarios.
#[derive(Debug)]
pub struct World<N> {
    hosts: Vec<Host<N>>,
    /// Who has an address now, and as which socket.
    addresses: BTreeMap<PeerAddr, (HostId, u8)>,
    links: Links,
    agenda: Agenda,
    flight: Flight,
    streams: Streams,
    strays: Strays,
    recorder: Recorder,
    /// Hosts that the caller may have changed since they were last polled.
    touched: Vec<HostId>,
    /// What nodes write into.
    out: Vec<u8>,
}

/// A host of a [`World`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct HostId(u32);

/// What one host has sent and received, in UDP payload.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Datagrams given to the network, a broadcast counted once.
    pub sent: u64,
    /// Their bytes.
    pub sent_bytes: u64,
    /// Datagrams handed to the node.
    pub received: u64,
    /// Their bytes.
    pub received_bytes: u64,
}

/// Datagrams that no host got, through no fault of a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Strays {
    /// Sent to an address that nobody had.
    pub unroutable: u64,
    /// Arrived at an address that somebody had when they were sent.
    pub orphaned: u64,
}

#[derive(Debug)]
struct Host<N> {
    node: N,
    addresses: Vec<PeerAddr>,
    drift: Drift,
    traffic: Traffic,
    /// Until then nothing runs on it.
    stalled_until: Time,
    /// How long it takes to do what is due.
    timeout_cost: Duration,
    /// Whether it is at that: what it has to say is said when it is done.
    is_working: bool,
    /// Whether it is among [`World::touched`].
    is_touched: bool,
}

impl<N: StreamNode> World<N> {
    /// The longest datagram that a node may send.
    pub const DATAGRAM_LEN_MAX: usize = 2_048;

    /// The most hosts.
    pub const HOSTS_LIMIT: usize = 1 << 16;

    /// The most datagrams that a node may send after one thing that it handled.
    pub const TRANSMITS_LIMIT: usize = 1 << 14;

    /// How many events may follow from each other at one instant. Beyond, time would stand
    /// still for ever.
    pub const HOPS_LIMIT: u32 = 1_000;

    /// A world without hosts at time zero. Any two will be joined by `link`, both ways.
    ///
    /// # Panics
    /// If [`LinkConfig::check`] refuses the link.
    pub fn new(seed: u64, link: LinkConfig) -> Self {
        World {
            hosts: Vec::new(),
            addresses: BTreeMap::new(),
            links: Links::new(seed, link),
            agenda: Agenda::default(),
            flight: Flight::default(),
            streams: Streams::new(seed),
            strays: Strays::default(),
            recorder: Recorder::new(),
            touched: Vec::new(),
            out: vec![0; Self::DATAGRAM_LEN_MAX],
        }
    }

    /// Starts a node now. Its socket `i` is `addresses[i]`, which may be a connection: then it has no
    /// socket address at all. If it accepts streams, then at any port of their IPs. It reads a clock that drifts so. It is polled for the first time when
    /// the world runs on.
    ///
    /// # Panics
    /// If there is no address, or one that nobody can have or somebody has; or if
    /// there are [`World::HOSTS_LIMIT`] hosts.
    pub fn add<A>(&mut self, node: N, addresses: &[A], drift: Drift) -> HostId
    where
        A: Copy + Into<PeerAddr>,
    {
        assert!(self.hosts.len() < Self::HOSTS_LIMIT, "the world is full");
        assert!(!addresses.is_empty(), "a host needs an address");
        let addresses: Vec<PeerAddr> = addresses.iter().map(|&address| address.into()).collect();
        let id = HostId(self.hosts.len() as u32);
        for (socket, &address) in addresses.iter().enumerate() {
            let socket = u8::try_from(socket).expect("a host has at most 256 sockets");
            self.claim(id, socket, address);
        }
        let traffic = Traffic::default();
        self.hosts.push(Host {
            node,
            addresses,
            drift,
            traffic,
            stalled_until: Time::ZERO,
            timeout_cost: Duration::ZERO,
            is_working: false,
            is_touched: false,
        });
        self.agenda.add_host();
        self.touch(id);
        id
    }

    /// What runs on a host.
    pub fn node(&self, id: HostId) -> &N {
        &self.hosts[id.index()].node
    }

    /// What runs on a host, to be changed: it is polled when the world runs on.
    pub fn node_mut(&mut self, id: HostId) -> &mut N {
        self.touch(id);
        &mut self.hosts[id.index()].node
    }

    /// What runs on a host, to be looked at by something that changes what it remembers of
    /// being looked at: it is not polled for that.
    pub(super) fn node_quietly(&mut self, id: HostId) -> &mut N {
        &mut self.hosts[id.index()].node
    }

    /// True time.
    pub fn now(&self) -> Time {
        self.agenda.now()
    }

    /// What a host's own clock shows.
    pub fn local_time(&self, id: HostId) -> Time {
        self.hosts[id.index()].drift.local(self.now())
    }

    /// Lets everything happen that is due at or before `until`, and stops there. An instant
    /// that has passed is taken for now.
    pub fn run_until(&mut self, until: Time) {
        while self.step_until(until).is_some() {}
    }

    /// Lets everything happen that is due within `span`.
    pub fn run_for(&mut self, span: Duration) {
        self.run_until(self.now() + span);
    }

    /// Jumps to the next deadline or delivery, lets that one thing happen, and says when it
    /// was; `None` if nothing will ever happen.
    pub fn step(&mut self) -> Option<Time> {
        self.poll_touched();
        let event = self.agenda.pop(Time::from_nanos(u64::MAX))?;
        self.handle(event);
        Some(self.now())
    }

    /// Like [`World::step`], if that is due at or before `until`; else stops there.
    ///
    /// For who watches what each single event does to a node, between two instants.
    pub fn step_until(&mut self, until: Time) -> Option<Time> {
        self.poll_touched();
        let Some(event) = self.agenda.pop(until.max(self.now())) else {
            self.agenda.rest_until(until);
            return None;
        };
        self.handle(event);
        Some(self.now())
    }

    /// What the links between two hosts do from now on, both ways.
    ///
    /// # Panics
    /// If [`LinkConfig::check`] refuses it, or `a` is `b`.
    pub fn set_link(&mut self, a: HostId, b: HostId, config: LinkConfig) {
        self.set_link_one_way(a, b, config);
        self.set_link_one_way(b, a, config);
    }

    /// What the link from one host to another does from now on; the way back is left alone.
    ///
    /// # Panics
    /// If [`LinkConfig::check`] refuses it, or `from` is `to`.
    pub fn set_link_one_way(&mut self, from: HostId, to: HostId, config: LinkConfig) {
        self.links.link(from, to).set_config(config);
    }

    /// Nothing runs on a host until then: its deadlines pass, and datagrams to it lie in its sockets.
    /// Streams go on.
    pub fn stall(&mut self, id: HostId, until: Time) {
        self.hosts[id.index()].stalled_until = until;
    }

    /// From now on it takes a host so long to do what is due: a slow machine, or rules that cost too
    /// much. Until it is done nothing else runs there, and what it has to say is said then.
    pub fn set_timeout_cost(&mut self, id: HostId, cost: Duration) {
        self.hosts[id.index()].timeout_cost = cost;
    }

    /// Cuts the links between two hosts or heals them, both ways.
    ///
    /// # Panics
    /// If `a` is `b`.
    pub fn set_partition(&mut self, a: HostId, b: HostId, partition: Partition) {
        self.links.set_partition(a, b, partition);
    }

    /// A NAT gave one socket of a host a new address, and the host does not know. From now on
    /// it sends from there, and what goes to the old one is lost, also what is under way. Its
    /// streams break.
    ///
    /// # Panics
    /// If nobody can have the new address, or somebody has it, or there is no such socket.
    pub fn rebind(&mut self, id: HostId, socket: u8, new: impl Into<PeerAddr>) {
        let new = new.into();
        let old = self.source(id, socket);
        self.addresses.remove(&old);
        self.claim(id, socket, new);
        self.hosts[id.index()].addresses[usize::from(socket)] = new;
        self.break_streams(id, Survivor::Both);
    }

    /// The program on a host crashed and was started anew, at the same addresses and with the
    /// same clock. Datagrams under way still arrive, at the new one; streams break, and only
    /// the peers hear of it. Returns the old one.
    pub fn replace(&mut self, id: HostId, node: N) -> N {
        self.break_streams(id, Survivor::Peer);
        std::mem::replace(self.node_mut(id), node)
    }

    /// Lets a stranger's datagram arrive at `at`, now at the earliest: from any address that
    /// it likes to write there, over no link.
    pub fn inject(
        &mut self,
        at: Time,
        from: impl Into<PeerAddr>,
        to: impl Into<PeerAddr>,
        bytes: &[u8],
    ) {
        let (from, to) = (from.into(), to.into());
        self.agenda.start_afresh();
        let (flight, agenda) = (&mut self.flight, &mut self.agenda);
        let mut put = |to| agenda.push(at, Event::Arrive(flight.put(from, to, bytes)));
        match broadcast_port(to) {
            Some(port) => {
                self.hosts.iter().filter_map(|host| host.address_at(port)).for_each(put);
            }
            None => put(to),
        }
    }

    /// What the link from one host to another has done to datagrams so far.
    ///
    /// # Panics
    /// If `from` is `to`.
    pub fn link_counts(&self, from: HostId, to: HostId) -> Faults {
        self.links.counts(from, to)
    }

    /// What a host has sent and received so far, whatever has run on it.
    pub fn traffic(&self, id: HostId) -> Traffic {
        self.hosts[id.index()].traffic
    }

    /// What was sent to nobody so far.
    pub fn strays(&self) -> Strays {
        self.strays
    }

    /// What the run comes to so far: every delivery with its time, addresses and bytes, and
    /// everything that happened to streams.
    pub fn digest(&self) -> Digest {
        self.recorder.digest()
    }
}

impl HostId {
    fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for HostId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "host {}", self.0)
    }
}

/// Where a datagram to everybody goes.
const BROADCAST: IpAddr = IpAddr::V4(Ipv4Addr::BROADCAST);

/// The port at which everybody gets what is sent to this address; `None` if it goes to one alone.
fn broadcast_port(to: PeerAddr) -> Option<u16> {
    let address = to.socket_addr()?;
    (address.ip() == BROADCAST).then_some(address.port())
}

impl<N> Host<N> {
    /// The first socket that has this port.
    fn address_at(&self, port: u16) -> Option<PeerAddr> {
        let has_port = |peer: &PeerAddr| peer.socket_addr().is_some_and(|at| at.port() == port);
        self.addresses.iter().copied().find(has_port)
    }
}

impl<N: StreamNode> World<N> {
    fn handle(&mut self, event: Event) {
        match event {
            Event::Arrive(slot) => self.arrive(slot),
            Event::Wake(id) if self.hosts[id.index()].stalled_until > self.now() => {
                self.agenda.set_wake(id, Some(self.hosts[id.index()].stalled_until));
            }
            Event::Wake(id) => {
                self.assert_time_passes(id);
                self.wake(id);
            }
            Event::Depart(segment) => self.depart(segment),
            Event::Land(segment) => self.land(segment),
        }
    }

    /// Lets a host do what is due, or say what it has done meanwhile.
    fn wake(&mut self, id: HostId) {
        let (true_now, now) = (self.now(), self.local_time(id));
        let host = &mut self.hosts[id.index()];
        if std::mem::take(&mut host.is_working) {
            return self.poll(id);
        }
        host.node.handle_timeout(now);
        if host.timeout_cost.is_zero() {
            return self.poll(id);
        }
        host.is_working = true;
        host.stalled_until = true_now + host.timeout_cost;
        self.agenda.set_wake(id, Some(host.stalled_until));
    }

    fn arrive(&mut self, slot: Slot) {
        let now = self.now();
        let datagram = self.flight.datagram(slot);
        let (from, to) = (datagram.from, datagram.to);
        let Some(&(id, socket)) = self.addresses.get(&to) else {
            self.strays.orphaned += 1;
            self.flight.release(slot);
            return;
        };
        let stalled_until = self.hosts[id.index()].stalled_until;
        if stalled_until > now {
            return self.agenda.push(stalled_until, Event::Arrive(slot));
        }
        self.recorder.take(Kind::Datagram, now, from, to, &datagram.bytes);
        let host = &mut self.hosts[id.index()];
        host.traffic.received += 1;
        host.traffic.received_bytes += datagram.bytes.len() as u64;
        let path = Path { socket, local: to.ip(), remote: from };
        host.node.handle_datagram(host.drift.local(now), path, &mut datagram.bytes);
        self.flight.release(slot);
        self.assert_time_passes(id);
        self.poll(id);
    }

    fn poll_touched(&mut self) {
        if self.touched.is_empty() {
            return;
        }
        self.agenda.start_afresh();
        for index in 0..self.touched.len() {
            let id = self.touched[index];
            self.hosts[id.index()].is_touched = false;
            // What is at work says what it has to say when it is done.
            if !self.hosts[id.index()].is_working {
                self.poll(id);
            }
        }
        self.touched.clear();
    }

    /// Takes from a node all that it has to send, and its deadline.
    fn poll(&mut self, id: HostId) {
        self.poll_transmit(id);
        self.poll_stream(id);
        let host = &self.hosts[id.index()];
        let wake = host.node.poll_timeout().map(|deadline| host.drift.real(deadline));
        self.agenda.set_wake(id, wake);
    }

    fn poll_transmit(&mut self, id: HostId) {
        let now = self.local_time(id);
        let mut out = std::mem::take(&mut self.out);
        for _ in 0..=Self::TRANSMITS_LIMIT {
            let node = &mut self.hosts[id.index()].node;
            let Some(transmit) = node.poll_transmit(now, &mut out) else {
                self.out = out;
                return;
            };
            let bytes = self.written(id, &out, transmit.len);
            self.send(id, transmit.path, bytes);
        }
        panic!(
            "{} has sent more than {} datagrams in a row at {}: does its poll_transmit ever return None?",
            self.describe(id),
            Self::TRANSMITS_LIMIT,
            self.now()
        );
    }

    fn send(&mut self, sender: HostId, path: Path, bytes: &[u8]) {
        let from = self.source(sender, path.socket);
        let traffic = &mut self.hosts[sender.index()].traffic;
        traffic.sent += 1;
        traffic.sent_bytes += bytes.len() as u64;
        let to = path.remote;
        if let Some(port) = broadcast_port(to) {
            for index in 0..self.hosts.len() {
                let receiver = HostId(index as u32);
                let address = self.hosts[index].address_at(port);
                if let Some(to) = address.filter(|_| receiver != sender) {
                    self.carry(sender, receiver, (from, to), bytes);
                }
            }
        } else if let Some(&(receiver, _)) = self.addresses.get(&to) {
            self.carry(sender, receiver, (from, to), bytes);
        } else {
            self.strays.unroutable += 1;
        }
    }

    /// Gives a datagram to the link between two hosts, which says when it arrives. What a host
    /// sends to itself arrives at once.
    fn carry(
        &mut self,
        sender: HostId,
        receiver: HostId,
        (from, to): (PeerAddr, PeerAddr),
        bytes: &[u8],
    ) {
        let now = self.now();
        let slot = self.flight.put(from, to, bytes);
        if sender == receiver {
            self.agenda.push(now, Event::Arrive(slot));
            return;
        }
        // The link may flip a bit, in this copy only.
        let copy = &mut self.flight.datagram(slot).bytes;
        let deliveries = self.links.link(sender, receiver).send(now, copy);
        match *deliveries.times() {
            [] => self.flight.release(slot),
            [first, ref more @ ..] => {
                self.agenda.push(first, Event::Arrive(slot));
                for &at in more {
                    let copy = self.flight.duplicate(slot);
                    self.agenda.push(at, Event::Arrive(copy));
                }
            }
        }
    }

    fn touch(&mut self, id: HostId) {
        if !std::mem::replace(&mut self.hosts[id.index()].is_touched, true) {
            self.touched.push(id);
        }
    }

    fn claim(&mut self, id: HostId, socket: u8, address: PeerAddr) {
        let can_be = |ip: IpAddr| !ip.is_unspecified() && ip != BROADCAST;
        let has_port = address.socket_addr().is_none_or(|address| address.port() != 0);
        assert!(address.ip().is_none_or(can_be) && has_port, "no host can be at {address}");
        let previous = self.addresses.insert(address, (id, socket));
        assert!(previous.is_none(), "{id} cannot be at {address}: another is");
    }

    fn source(&self, id: HostId, socket: u8) -> PeerAddr {
        let addresses = &self.hosts[id.index()].addresses;
        *addresses.get(usize::from(socket)).unwrap_or_else(|| {
            panic!("{} has no socket {socket}, only {}", self.describe(id), addresses.len())
        })
    }

    /// What a node has written into its buffer.
    fn written<'a>(&self, id: HostId, out: &'a [u8], len: usize) -> &'a [u8] {
        out.get(..len).unwrap_or_else(|| {
            panic!("{} says it wrote {len} bytes into {}", self.describe(id), out.len())
        })
    }

    fn assert_time_passes(&self, id: HostId) {
        assert!(
            self.agenda.hops() <= Self::HOPS_LIMIT,
            "{} keeps time standing still at {} after {} events: either its poll_timeout does \
             not move on, or hosts answer each other over links without delay",
            self.describe(id),
            self.now(),
            Self::HOPS_LIMIT
        );
    }

    fn describe(&self, id: HostId) -> String {
        format!("{id} ({})", self.hosts[id.index()].addresses[0])
    }
}

#[cfg(test)]
mod tests;
