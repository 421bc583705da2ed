//! renet 2 with its netcode transport, unreliable channel. "Unsecure" there is about who may join;
//! datagrams are sealed all the same.

use std::error::Error;
use std::io;
use std::net::SocketAddr;
use std::time::{Duration, SystemTime};

use renet::{ConnectionConfig, DefaultChannel, RenetClient, RenetServer};
use renet_netcode::{
    ClientAuthentication, NetcodeClientTransport, NetcodeServerTransport, ServerAuthentication,
    ServerConfig,
};

use super::{ready_at, socket};
use crate::TICK;
use crate::control::Ready;
use crate::crowd::{self, Trail};
use crate::server::{self, Done};

pub(super) struct Host {
    address: SocketAddr,
    server: RenetServer,
    transport: NetcodeServerTransport,
    tick: u32,
    done: Done,
}

impl Host {
    pub(super) fn new(clients: usize) -> Result<Self, Box<dyn Error>> {
        let socket = socket()?;
        let address = socket.local_addr()?;
        let config = ServerConfig {
            current_time: unix_time(),
            max_clients: clients,
            protocol_id: 1,
            public_addresses: vec![address],
            authentication: ServerAuthentication::Unsecure,
        };
        Ok(Host {
            address,
            server: RenetServer::new(ConnectionConfig::default()),
            transport: NetcodeServerTransport::new(config, socket)?,
            tick: 0,
            done: Done::default(),
        })
    }

    pub(super) fn ready(&self) -> io::Result<Ready> {
        Ok(ready_at(self.address))
    }
}

impl server::Host for Host {
    fn tick(&mut self) {
        self.tick += 1;
        self.server.update(TICK);
        // An error is of the socket, for one datagram.
        let _ = self.transport.update(TICK, &mut self.server);
        while self.server.get_event().is_some() {}
        for client in self.server.clients_id() {
            while self.server.receive_message(client, DefaultChannel::Unreliable).is_some() {
                self.done.inputs += 1;
            }
            self.done.snapshots += 1;
        }
        let snapshot = crowd::snapshot(self.tick).to_vec();
        self.server.broadcast_message(DefaultChannel::Unreliable, snapshot);
        self.transport.send_packets(&mut self.server);
    }

    fn done(&self) -> Done {
        self.done
    }
}

pub(super) struct Crowd {
    seats: Vec<(RenetClient, NetcodeClientTransport)>,
    trails: Vec<Trail>,
}

impl Crowd {
    pub(super) fn new(server: SocketAddr, clients: usize) -> Result<Self, Box<dyn Error>> {
        let mut seats = Vec::new();
        for number in 0..clients {
            let authentication = ClientAuthentication::Unsecure {
                protocol_id: 1,
                client_id: number as u64,
                server_addr: server,
                user_data: None,
            };
            let transport = NetcodeClientTransport::new(unix_time(), authentication, socket()?)?;
            seats.push((RenetClient::new(ConnectionConfig::default()), transport));
        }
        Ok(Crowd { seats, trails: vec![Trail::default(); clients] })
    }
}

impl crowd::Crowd for Crowd {
    fn tick(&mut self) {
        for (number, ((client, transport), trail)) in
            self.seats.iter_mut().zip(&mut self.trails).enumerate()
        {
            client.update(TICK);
            let _ = transport.update(TICK, client);
            while let Some(snapshot) = client.receive_message(DefaultChannel::Unreliable) {
                trail.see_bytes(&snapshot);
            }
            if client.is_connected() {
                client.send_message(DefaultChannel::Unreliable, crowd::input(number).to_vec());
                let _ = transport.send_packets(client);
            }
        }
    }

    fn trails(&mut self) -> &mut [Trail] {
        &mut self.trails
    }
}

fn unix_time() -> Duration {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default()
}
