//! One bound TCP port, where others open streams.

use std::io;
use std::net::SocketAddr;

use mio::net::{TcpListener, TcpStream};
use socket2::{Domain, Protocol, Type};

use crate::bind::{BindError, Transport};

/// A TCP port that others may open streams to, for a [`Loop`](crate::Loop) whose node takes them.
#[derive(Debug)]
pub struct Listener {
    inner: TcpListener,
}

/// Streams that the system holds until they are accepted.
const BACKLOG: i32 = 128;

impl Listener {
    /// Binds `address`; port 0 lets the system choose.
    pub fn bind(address: SocketAddr) -> Result<Self, BindError> {
        Listener::open(address).map_err(|cause| BindError::new(Transport::Tcp, address, cause))
    }

    fn open(address: SocketAddr) -> io::Result<Self> {
        let domain = Domain::for_address(address);
        let socket = socket2::Socket::new(domain, Type::STREAM, Some(Protocol::TCP))?;
        if address.is_ipv6() {
            socket.set_only_v6(true)?;
        }
        // Elsewhere this would let a second program take the port from the first.
        #[cfg(unix)]
        socket.set_reuse_address(true)?;
        socket.bind(&address.into())?;
        socket.listen(BACKLOG)?;
        socket.set_nonblocking(true)?;
        Ok(Listener { inner: TcpListener::from_std(socket.into()) })
    }

    /// Where it is bound.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.inner.local_addr()
    }

    pub(crate) fn source(&mut self) -> &mut TcpListener {
        &mut self.inner
    }

    /// The next stream that someone has opened, if one has: never waits.
    pub(crate) fn accept(&self) -> io::Result<Option<(TcpStream, SocketAddr)>> {
        loop {
            match self.inner.accept() {
                Ok(accepted) => return Ok(Some(accepted)),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(None),
                Err(error) if is_passing(&error) => {}
                Err(error) => return Err(error),
            }
        }
    }
}

/// Whoever knocked is gone; the next may still be there.
fn is_passing(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionReset, Interrupted};
    matches!(error.kind(), Interrupted | ConnectionAborted | ConnectionReset)
}
