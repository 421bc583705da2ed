//! One bound UDP socket.

use std::fmt;
use std::io;
use std::net::SocketAddr;

use mio::net::UdpSocket;
use socket2::{Domain, Protocol, Type};

/// A UDP socket that never stops for what a peer did: errors that only say that some earlier
/// datagram was refused are swallowed.
#[derive(Debug)]
pub struct Socket {
    inner: UdpSocket,
}

/// Why an address cannot be bound.
#[derive(Debug)]
pub struct BindError {
    address: SocketAddr,
    cause: io::Error,
}

/// What the kernel may hold for us between two wake-ups.
const BUFFER_BYTES: usize = 4 << 20;

impl Socket {
    /// Binds `address`; port 0 lets the system choose.
    pub fn bind(address: SocketAddr) -> Result<Self, BindError> {
        Socket::open(address).map_err(|cause| BindError { address, cause })
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

    /// Sends a datagram. One that the system cannot take now is lost, like one lost on the way.
    pub fn send(&self, to: SocketAddr, bytes: &[u8]) -> io::Result<()> {
        match self.inner.send_to(bytes, to) {
            Ok(_) => Ok(()),
            Err(error) if is_passing(&error) || is_unreachable(&error) => Ok(()),
            Err(error) => Err(error),
        }
    }
}

/// An earlier datagram was refused by a peer that is gone; it says nothing about the socket.
fn is_passing(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionRefused, ConnectionReset, Interrupted};
    matches!(error.kind(), Interrupted | ConnectionRefused | ConnectionReset)
}

/// The peer cannot be reached from here, or the system's buffer is full: lost, nothing worse.
fn is_unreachable(error: &io::Error) -> bool {
    use io::ErrorKind::{
        HostUnreachable, InvalidInput, NetworkDown, NetworkUnreachable, PermissionDenied,
        WouldBlock,
    };
    matches!(
        error.kind(),
        HostUnreachable
            | NetworkUnreachable
            | NetworkDown
            | InvalidInput
            | PermissionDenied
            | WouldBlock
    )
}

impl fmt::Display for BindError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (address, cause) = (self.address, &self.cause);
        match cause.kind() {
            io::ErrorKind::AddrInUse => write!(
                f,
                "UDP {address} is taken by another program; stop it or choose another port"
            ),
            io::ErrorKind::PermissionDenied => {
                write!(
                    f,
                    "UDP {address} needs more rights than this user has; choose a port above 1023"
                )
            }
            io::ErrorKind::AddrNotAvailable => {
                write!(
                    f,
                    "UDP {address} is no address of this machine; use 0.0.0.0 for all of them"
                )
            }
            _ => write!(f, "UDP {address} cannot be bound: {cause}"),
        }
    }
}

impl std::error::Error for BindError {}

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
