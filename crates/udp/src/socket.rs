//! One bound UDP socket.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
#[cfg(target_os = "linux")]
use std::os::fd::{AsFd, BorrowedFd};

use mio::net::UdpSocket;
use socket2::{Domain, Protocol, Type};

#[cfg(target_os = "linux")]
use crate::batch::CALL;
use crate::batch::{BATCH, Backend, Envelope, Inbox};
use crate::bind::BindError;
#[cfg(target_os = "linux")]
use crate::linux;

/// A UDP socket that never stops for what a peer did: errors that only say that some earlier
/// datagram was refused are swallowed.
#[derive(Debug)]
pub struct Socket {
    inner: UdpSocket,
    backend: Backend,
    tells_addresses: bool,
    /// Whether the system says when each datagram came.
    tells_arrivals: bool,
}

/// What the kernel may hold for us between two wake-ups.
const BUFFER_BYTES: usize = 4 << 20;

impl Socket {
    /// Binds `address`; port 0 lets the system choose.
    pub fn bind(address: SocketAddr) -> Result<Self, BindError> {
        Socket::bind_with(address, Backend::Batched)
    }

    /// Binds a free port on every address from which `peer` may be reached.
    pub fn towards(peer: IpAddr) -> Result<Self, BindError> {
        let any: IpAddr = match peer {
            IpAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
            IpAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
        };
        Socket::bind((any, 0).into())
    }

    /// Like [`Socket::bind`], and read and written in a given way.
    pub fn bind_with(address: SocketAddr, backend: Backend) -> Result<Self, BindError> {
        let opened = Socket::open(address, backend);
        opened.map_err(|cause| BindError::new("UDP", address, cause))
    }

    fn open(address: SocketAddr, backend: Backend) -> io::Result<Self> {
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
        let inner = UdpSocket::from_std(socket.into());
        #[cfg(target_os = "linux")]
        let backend = if linux::can_batch(inner.as_fd()) { backend } else { Backend::Portable };
        // Without it answers leave by the default route, as they do everywhere else. A socket that
        // is bound to one address has no other to answer from.
        #[cfg(target_os = "linux")]
        let tells_addresses = backend == Backend::Batched
            && address.ip().is_unspecified()
            && linux::tell_local_addresses(inner.as_fd(), address).is_ok();
        #[cfg(not(target_os = "linux"))]
        let tells_addresses = false;
        #[cfg(target_os = "linux")]
        let tells_arrivals =
            backend == Backend::Batched && linux::tell_arrivals(inner.as_fd()).is_ok();
        #[cfg(not(target_os = "linux"))]
        let tells_arrivals = false;
        Ok(Socket { inner, backend, tells_addresses, tells_arrivals })
    }

    /// The same socket, whose datagrams leave whole or not at all: for what fits every path, such as
    /// `native`. The system need not number them then. Where it cannot be told so, nothing changes.
    #[must_use]
    pub fn without_fragments(self) -> Self {
        #[cfg(target_os = "linux")]
        let _ = linux::never_fragment(self.fd());
        self
    }

    pub(crate) fn source(&mut self) -> &mut UdpSocket {
        &mut self.inner
    }

    pub(crate) fn backend(&self) -> Backend {
        self.backend
    }

    pub(crate) fn tells_arrivals(&self) -> bool {
        self.tells_arrivals
    }

    /// Whether an envelope says which address of this machine a datagram came to, and can say which
    /// one it is to leave from.
    pub fn tells_addresses(&self) -> bool {
        self.tells_addresses
    }

    /// Where it is bound.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.inner.local_addr()
    }

    /// Fills `inbox` with what has come, in place of what was there; says how many. Never waits.
    /// If the inbox is not full, there was no more.
    pub fn receive(&self, inbox: &mut Inbox) -> io::Result<usize> {
        inbox.clear();
        // Each of these errors is told once; a flood of them must not hold us here.
        for _ in 0..BATCH {
            match self.fill(inbox) {
                Ok(()) => break,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if is_passing(&error) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(inbox.envelopes.len())
    }

    /// Sends a datagram. An error is about this one alone: it is lost, like one lost on the way.
    pub fn send(&self, to: SocketAddr, bytes: &[u8]) -> io::Result<()> {
        self.send_from(Envelope { remote: to, local: None, len: bytes.len() }, bytes)
    }

    /// Like [`Socket::send`], and it leaves from the local address in its envelope.
    pub fn send_from(&self, envelope: Envelope, bytes: &[u8]) -> io::Result<()> {
        self.send_some(std::iter::once((envelope, bytes))).map(drop)
    }

    /// Sends datagrams in as few calls as it takes; says how many were sent.
    pub(crate) fn send_all<'a>(
        &self,
        datagrams: impl ExactSizeIterator<Item = (Envelope, &'a [u8])> + Clone,
    ) -> usize {
        let (mut sent, mut done) = (0, 0);
        while done < datagrams.len() {
            match self.send_some(datagrams.clone().skip(done)) {
                Ok(count) => {
                    sent += count;
                    done += count;
                }
                // The system's buffer is full. The rest would be late: better lost.
                Err(error) if is_full(&error) => break,
                Err(_) => done += 1,
            }
        }
        sent
    }

    /// Sends one or more of `datagrams`. An error is about the first.
    fn send_some<'a>(
        &self,
        datagrams: impl Iterator<Item = (Envelope, &'a [u8])> + Clone,
    ) -> io::Result<usize> {
        match self.give(datagrams.clone()) {
            // The error was an earlier datagram's, and telling it has kept this one from going.
            Err(error) if is_passing(&error) => self.give(datagrams),
            given => given,
        }
    }
}

#[cfg(target_os = "linux")]
impl Socket {
    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.inner.as_fd()
    }

    fn fill(&self, inbox: &mut Inbox) -> io::Result<()> {
        match self.backend {
            Backend::Batched => {
                let filled = self.fill_by_calls(inbox);
                inbox.taken = linux::since_epoch();
                filled
            }
            Backend::Portable => self.fill_portably(inbox),
        }
    }

    fn fill_by_calls(&self, inbox: &mut Inbox) -> io::Result<()> {
        while !inbox.is_full() {
            let (slots, slot_len, envelopes, stamps) = inbox.parts();
            let came = linux::receive(self.fd(), slots, slot_len, |envelope, stamp| {
                envelopes.push(envelope);
                stamps.push(stamp);
            })?;
            if came < CALL {
                break;
            }
        }
        Ok(())
    }

    fn give<'a>(&self, datagrams: impl Iterator<Item = (Envelope, &'a [u8])>) -> io::Result<usize> {
        match self.backend {
            Backend::Batched => linux::send(self.fd(), datagrams),
            Backend::Portable => self.give_portably(datagrams),
        }
    }
}

#[cfg(not(target_os = "linux"))]
impl Socket {
    fn fill(&self, inbox: &mut Inbox) -> io::Result<()> {
        self.fill_portably(inbox)
    }

    fn give<'a>(&self, datagrams: impl Iterator<Item = (Envelope, &'a [u8])>) -> io::Result<usize> {
        self.give_portably(datagrams)
    }
}

/// What every system can do.
impl Socket {
    fn fill_portably(&self, inbox: &mut Inbox) -> io::Result<()> {
        let (slots, slot_len, envelopes, _) = inbox.parts();
        for slot in slots.chunks_exact_mut(slot_len) {
            let (len, remote) = self.inner.recv_from(slot)?;
            envelopes.push(Envelope { remote, local: None, len });
        }
        Ok(())
    }

    fn give_portably<'a>(
        &self,
        mut datagrams: impl Iterator<Item = (Envelope, &'a [u8])>,
    ) -> io::Result<usize> {
        match datagrams.next() {
            Some((envelope, bytes)) => self.inner.send_to(bytes, envelope.remote).map(|_| 1),
            None => Ok(0),
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

/// The system takes no more for now.
fn is_full(error: &io::Error) -> bool {
    use io::ErrorKind::{OutOfMemory, WouldBlock};
    #[cfg(target_os = "linux")]
    if error.raw_os_error() == Some(libc::ENOBUFS) {
        return true;
    }
    matches!(error.kind(), WouldBlock | OutOfMemory)
}

#[cfg(test)]
mod tests;
