//! laminar, unreliable packets, polled once a tick. Its socket keeps the buffers it was born with.

use std::collections::HashSet;
use std::error::Error;
use std::io;
use std::net::SocketAddr;
use std::time::Instant;

use laminar::{Config, Packet, Socket, SocketEvent};

use super::{local, ready_at};
use crate::control::Ready;
use crate::crowd::{self, Trail};
use crate::server::{self, Done};

fn socket() -> Result<Socket, Box<dyn Error>> {
    let config = Config { max_unestablished_connections: u16::MAX, ..Config::default() };
    Ok(Socket::bind_with_config(local(0), config)?)
}

pub(super) struct Host {
    socket: Socket,
    clients: HashSet<SocketAddr>,
    tick: u32,
    done: Done,
}

impl Host {
    pub(super) fn new() -> Result<Self, Box<dyn Error>> {
        Ok(Host { socket: socket()?, clients: HashSet::new(), tick: 0, done: Done::default() })
    }

    pub(super) fn ready(&self) -> io::Result<Ready> {
        Ok(ready_at(self.socket.local_addr().map_err(io::Error::other)?))
    }
}

impl server::Host for Host {
    fn tick(&mut self) {
        self.tick += 1;
        while let Some(event) = self.socket.recv() {
            if let SocketEvent::Packet(packet) = event {
                self.clients.insert(packet.addr());
                self.done.inputs += 1;
            }
        }
        for &client in &self.clients {
            let snapshot = crowd::snapshot(self.tick).to_vec();
            let sent = self.socket.send(Packet::unreliable(client, snapshot));
            self.done.snapshots += u64::from(sent.is_ok());
        }
        self.socket.manual_poll(Instant::now());
    }

    fn done(&self) -> Done {
        self.done
    }
}

pub(super) struct Crowd {
    server: SocketAddr,
    sockets: Vec<Socket>,
    trails: Vec<Trail>,
}

impl Crowd {
    pub(super) fn new(server: SocketAddr, clients: usize) -> Result<Self, Box<dyn Error>> {
        let sockets = (0..clients).map(|_| socket()).collect::<Result<Vec<_>, _>>()?;
        Ok(Crowd { server, sockets, trails: vec![Trail::default(); clients] })
    }
}

impl crowd::Crowd for Crowd {
    fn tick(&mut self) {
        let now = Instant::now();
        for (number, (socket, trail)) in self.sockets.iter_mut().zip(&mut self.trails).enumerate() {
            let input = crowd::input(number).to_vec();
            let _ = socket.send(Packet::unreliable(self.server, input));
            socket.manual_poll(now);
            while let Some(event) = socket.recv() {
                if let SocketEvent::Packet(packet) = event {
                    trail.see_bytes(packet.payload());
                }
            }
        }
    }

    fn trails(&mut self) -> &mut [Trail] {
        &mut self.trails
    }
}
