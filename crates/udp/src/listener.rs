//! One bound TCP port.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use mio::net::{TcpListener, TcpStream};
use socket2::{Domain, Protocol, SockRef, TcpKeepalive, Type};

use crate::bind::BindError;

/// A TCP port that others may open streams to, for a [`Loop`](crate::Loop) whose node takes them.
#[derive(Debug)]
pub struct Listener {
    inner: TcpListener,
}

/// Streams that the system holds until they are accepted.
const BACKLOG: i32 = 128;

/// A stream that nothing comes through is asked after so long whether its peer is still there, and
/// then every few seconds. A machine that vanished is noticed in a minute.
const KEEP_ALIVE: TcpKeepalive =
    TcpKeepalive::new().with_time(Duration::from_secs(30)).with_interval(Duration::from_secs(10));

/// Where the system cannot do it, streams last until something is written to them.
fn keep_alive(stream: &TcpStream) {
    let _ = SockRef::from(stream).set_tcp_keepalive(&KEEP_ALIVE);
}

impl Listener {
    /// Binds `address`; port 0 lets the system choose.
    pub fn bind(address: SocketAddr) -> Result<Self, BindError> {
        Listener::open(address).map_err(|cause| BindError::new("TCP", address, cause))
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
                Ok((stream, peer)) => {
                    keep_alive(&stream);
                    return Ok(Some((stream, peer)));
                }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_that_is_accepted_is_kept_alive() {
        let listener = Listener::bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let _peer = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (stream, _) = loop {
            match listener.accept().unwrap() {
                Some(accepted) => break accepted,
                None => std::thread::yield_now(),
            }
        };
        assert!(SockRef::from(&stream).keepalive().unwrap());
    }
}
