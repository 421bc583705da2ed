//! One bound UDP socket.

use std::io;
use std::net::SocketAddr;

use mio::net::UdpSocket;
use socket2::{Domain, Protocol, Type};

use crate::bind::{BindError, Transport};

/// A UDP socket that never stops for what a peer did: errors that only say that some earlier
/// datagram was refused are swallowed.
#[derive(Debug)]
pub struct Socket {
    inner: UdpSocket,
}

/// What the kernel may hold for us between two wake-ups.
const BUFFER_BYTES: usize = 4 << 20;

impl Socket {
    /// Binds `address`; port 0 lets the system choose.
    pub fn bind(address: SocketAddr) -> Result<Self, BindError> {
        Socket::open(address).map_err(|cause| BindError::new(Transport::Udp, address, cause))
    }

    fn open(address: SocketAddr) -> io::Result<Self> {
        let domain = Domain::for_address(address);
        let socket = socket2::Socket::new(domain, Type::DGRAM, Some(Protocol::UDP))?;
        if address.is_ipv6() {
            // The same port is bound for IPv4 by itself, so that addresses have one form.
            socket.set_only_v6(true)?;
        } else {
            socket.set_broadcast(true)?;
        }
        // Best effort: a system that gives less still works.
        let _ = socket.set_recv_buffer_size(BUFFER_BYTES);
        let _ = socket.set_send_buffer_size(BUFFER_BYTES);
        socket.bind(&address.into())?;
        socket.set_nonblocking(true)?;
        Ok(Socket { inner: UdpSocket::from_std(socket.into()) })
    }

    pub(crate) fn source(&mut self) -> &mut UdpSocket {
        &mut self.inner
    }

    /// Where it is bound.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.inner.local_addr()
    }

    /// The next datagram that has come, if one has: never waits. One that is longer than `buffer`
    /// is cut, so give it a byte more than any that is good.
    pub fn receive(&self, buffer: &mut [u8]) -> io::Result<Option<(usize, SocketAddr)>> {
        loop {
            match self.inner.recv_from(buffer) {
                Ok(received) => return Ok(Some(received)),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(None),
                Err(error) if is_passing(&error) => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Sends a datagram. An error is about this one alone: it is lost, like one lost on the way.
    pub fn send(&self, to: SocketAddr, bytes: &[u8]) -> io::Result<()> {
        match self.inner.send_to(bytes, to) {
            // The error was an earlier datagram's, and telling it has kept this one from going.
            Err(error) if is_passing(&error) => self.inner.send_to(bytes, to).map(drop),
            sent => sent.map(drop),
        }
    }
}

/// An earlier datagram was refused or found no way; it says nothing about the socket.
fn is_passing(error: &io::Error) -> bool {
    use io::ErrorKind::{
        ConnectionRefused, ConnectionReset, HostUnreachable, Interrupted, NetworkDown,
        NetworkUnreachable,
    };
    matches!(
        error.kind(),
        Interrupted
            | ConnectionRefused
            | ConnectionReset
            | HostUnreachable
            | NetworkUnreachable
            | NetworkDown
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOOPBACK: SocketAddr =
        SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 0);

    #[test]
    fn a_peer_that_is_gone_does_not_stop_the_socket() {
        let a = Socket::bind(LOOPBACK).unwrap();
        let gone = Socket::bind(LOOPBACK).unwrap().local_addr().unwrap();
        let mut buffer = [0; 16];
        for _ in 0..3 {
            a.send(gone, b"anyone?").unwrap();
            assert_eq!(a.receive(&mut buffer).unwrap(), None);
        }
        a.send(a.local_addr().unwrap(), b"still here").unwrap();
        assert_eq!(a.receive(&mut buffer).unwrap(), Some((10, a.local_addr().unwrap())));
    }

    #[test]
    fn a_port_that_is_taken_is_named() {
        let a = Socket::bind(LOOPBACK).unwrap();
        let error = Socket::bind(a.local_addr().unwrap()).unwrap_err().to_string();
        assert!(error.contains("taken by another program"), "{error}");
        assert!(error.contains(&a.local_addr().unwrap().to_string()), "{error}");
    }
}
