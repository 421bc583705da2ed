//! Who is measured: one file each, with a server and its clients.

mod backspin;
mod enet;
mod laminar;
mod quinn;
mod raw;
mod renet;

use std::error::Error;
use std::fmt;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};

use serde::Serialize;

use crate::control::{self, Orders, Ready};
use crate::run::Job;
use crate::{crowd, machine, server};

/// Who is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Contender {
    /// A loop around `recvfrom` and `sendto`: what the others are held against.
    Sendto,
    /// The same with `recvmmsg` and `sendmmsg`.
    Sendmmsg,
    /// Ours.
    Backspin,
    /// renet with its netcode transport.
    Renet,
    /// ENet in Rust.
    #[value(name = "rusty_enet")]
    RustyEnet,
    /// laminar.
    Laminar,
    /// QUIC datagrams.
    Quinn,
}

impl Contender {
    pub(crate) const ALL: [Contender; 7] = [
        Contender::Sendto,
        Contender::Sendmmsg,
        Contender::Backspin,
        Contender::RustyEnet,
        Contender::Laminar,
        Contender::Quinn,
        Contender::Renet,
    ];

    /// Runs its server, until told to end.
    pub(crate) fn serve(self, job: &Job) -> Result<(), Box<dyn Error>> {
        let start = |ready: Ready| control::say(&ready);
        match self {
            Contender::Sendto | Contender::Sendmmsg => {
                let mut host = raw::Host::new(self == Contender::Sendmmsg)?;
                start(host.ready()?)?;
                server::serve(&mut host)
            }
            Contender::Backspin => {
                let mut host = backspin::Host::new(job.clients)?;
                start(host.ready()?)?;
                server::serve(&mut host)
            }
            Contender::Renet => {
                let mut host = renet::Host::new(job.clients)?;
                start(host.ready()?)?;
                server::serve(&mut host)
            }
            Contender::RustyEnet => {
                let mut host = enet::Host::new(job.clients)?;
                start(host.ready()?)?;
                server::serve(&mut host)
            }
            Contender::Laminar => {
                let mut host = laminar::Host::new()?;
                start(host.ready()?)?;
                server::serve(&mut host)
            }
            Contender::Quinn => {
                let mut host = quinn::Host::new()?;
                start(host.ready()?)?;
                server::serve(&mut host)
            }
        }
    }

    /// Runs its clients, until told to end.
    pub(crate) fn play(self, job: &Job) -> Result<(), Box<dyn Error>> {
        let orders = Orders::listen();
        let ready = orders.ready()?;
        let server = local(ready.port);
        match self {
            Contender::Sendto | Contender::Sendmmsg => {
                crowd::play(&mut raw::Crowd::new(server, job.clients)?, &orders)
            }
            Contender::Backspin => {
                crowd::play(&mut backspin::Crowd::new(server, job.clients)?, &orders)
            }
            Contender::Renet => crowd::play(&mut renet::Crowd::new(server, job.clients)?, &orders),
            Contender::RustyEnet => {
                crowd::play(&mut enet::Crowd::new(server, job.clients)?, &orders)
            }
            Contender::Laminar => {
                crowd::play(&mut laminar::Crowd::new(server, job.clients)?, &orders)
            }
            Contender::Quinn => {
                crowd::play(&mut quinn::Crowd::new(server, job.clients, &ready)?, &orders)
            }
        }
    }
}

impl fmt::Display for Contender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Contender::Sendto => "raw sendto",
            Contender::Sendmmsg => "raw sendmmsg",
            Contender::Backspin => "backspin",
            Contender::Renet => "renet",
            Contender::RustyEnet => "rusty_enet",
            Contender::Laminar => "laminar",
            Contender::Quinn => "quinn",
        })
    }
}

/// A port of this machine, on loopback.
fn local(port: u16) -> SocketAddr {
    (Ipv4Addr::LOCALHOST, port).into()
}

/// A socket on any port of loopback, with large buffers, that never waits.
fn socket() -> std::io::Result<UdpSocket> {
    let socket = UdpSocket::bind(local(0))?;
    socket.set_nonblocking(true)?;
    machine::widen(&socket);
    Ok(socket)
}

fn ready_at(address: SocketAddr) -> Ready {
    Ready { port: address.port(), certificate: Vec::new() }
}
