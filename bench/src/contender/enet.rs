//! ENet in Rust. Packets are "always unreliable": else its throttle drops some of them.

use std::error::Error;
use std::io;
use std::net::{SocketAddr, UdpSocket};

use rusty_enet::{Event, HostSettings, Packet, PeerID};

use super::{ready_at, socket};
use crate::control::Ready;
use crate::crowd::{self, Trail};
use crate::server::{self, Done};

pub(super) struct Host {
    host: rusty_enet::Host<UdpSocket>,
    peers: Vec<PeerID>,
    tick: u32,
    done: Done,
}

fn host(peer_limit: usize) -> Result<rusty_enet::Host<UdpSocket>, Box<dyn Error>> {
    let settings = HostSettings { peer_limit, channel_limit: 1, ..HostSettings::default() };
    rusty_enet::Host::new(socket()?, settings).map_err(|error| format!("{error:?}").into())
}

impl Host {
    pub(super) fn new(clients: usize) -> Result<Self, Box<dyn Error>> {
        Ok(Host { host: host(clients)?, peers: Vec::new(), tick: 0, done: Done::default() })
    }

    pub(super) fn ready(&self) -> io::Result<Ready> {
        Ok(ready_at(self.host.socket().local_addr()?))
    }
}

impl server::Host for Host {
    fn tick(&mut self) {
        self.tick += 1;
        while let Ok(Some(event)) = self.host.service() {
            match event {
                Event::Connect { peer, .. } => self.peers.push(peer.id()),
                Event::Disconnect { .. } => {}
                Event::Receive { .. } => self.done.inputs += 1,
            }
        }
        let packet = Packet::always_unreliable(&crowd::snapshot(self.tick)[..]);
        for &peer in &self.peers {
            let sent = self.host.peer_mut(peer).send(0, &packet);
            self.done.snapshots += u64::from(sent.is_ok());
        }
        self.host.flush();
    }

    fn done(&self) -> Done {
        self.done
    }
}

pub(super) struct Crowd {
    seats: Vec<Seat>,
    trails: Vec<Trail>,
}

struct Seat {
    host: rusty_enet::Host<UdpSocket>,
    server: Option<PeerID>,
}

impl Crowd {
    pub(super) fn new(server: SocketAddr, clients: usize) -> Result<Self, Box<dyn Error>> {
        let mut seats = Vec::new();
        for _ in 0..clients {
            let mut host = host(1)?;
            host.connect(server, 1, 0).map_err(|error| format!("{error:?}"))?;
            seats.push(Seat { host, server: None });
        }
        Ok(Crowd { seats, trails: vec![Trail::default(); clients] })
    }
}

impl crowd::Crowd for Crowd {
    fn tick(&mut self) {
        for (number, (seat, trail)) in self.seats.iter_mut().zip(&mut self.trails).enumerate() {
            while let Ok(Some(event)) = seat.host.service() {
                match event {
                    Event::Connect { peer, .. } => seat.server = Some(peer.id()),
                    Event::Disconnect { .. } => seat.server = None,
                    Event::Receive { packet, .. } => trail.see_bytes(packet.data()),
                }
            }
            if let Some(server) = seat.server {
                let packet = Packet::always_unreliable(&crowd::input(number)[..]);
                let _ = seat.host.peer_mut(server).send(0, &packet);
                seat.host.flush();
            }
        }
    }

    fn trails(&mut self) -> &mut [Trail] {
        &mut self.trails
    }
}
