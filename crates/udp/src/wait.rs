//! Waits for sockets or for an instant, whichever comes first.

use std::io;
#[cfg(target_os = "linux")]
use std::os::fd::{AsFd, AsRawFd};
use std::time::{Duration, Instant};

use mio::event::{Event, Source};
#[cfg(target_os = "linux")]
use mio::unix::SourceFd;
use mio::{Events, Interest, Poll, Registry, Token};

use crate::Socket;
use crate::batch::Backend;
#[cfg(target_os = "linux")]
use crate::linux;

/// Says when sockets have something to read. It says so once: read until nothing is left before
/// waiting again.
#[derive(Debug)]
pub struct Waiter {
    poll: Poll,
    events: Events,
    backend: Backend,
}

/// Waiting for sockets is good to a millisecond; the rest is another call's.
const COARSE: Duration = Duration::from_millis(1);

/// What is told of at once; the rest is told next time.
const EVENTS: usize = 256;

impl Waiter {
    /// Watches nothing yet.
    pub fn new(backend: Backend) -> io::Result<Self> {
        Ok(Waiter { poll: Poll::new()?, events: Events::with_capacity(EVENTS), backend })
    }

    /// Watches `socket`, under a name for [`Waiter::ready`].
    pub fn add(&self, socket: &mut Socket, name: usize) -> io::Result<()> {
        self.poll.registry().register(socket.source(), Token(name), Interest::READABLE)
    }

    /// Watches `socket` no more.
    pub fn remove(&self, socket: &mut Socket) -> io::Result<()> {
        socket.source().deregister(self.poll.registry())
    }

    /// Watches a socket that was added no more, or again. On systems other than Linux it is watched
    /// all the time.
    pub(crate) fn watch(&self, socket: &Socket, name: usize, on: bool) -> io::Result<()> {
        #[cfg(target_os = "linux")]
        {
            let fd = socket.fd().as_raw_fd();
            let (registry, mut source) = (self.poll.registry(), SourceFd(&fd));
            let done = match on {
                true => registry.register(&mut source, Token(name), Interest::READABLE),
                false => registry.deregister(&mut source),
            };
            match done {
                Err(error) if is_so_already(&error) => Ok(()),
                done => done,
            }
        }
        #[cfg(not(target_os = "linux"))]
        {
            let _ = (socket, name, on);
            Ok(())
        }
    }

    /// Waits until something can be read or `patience` has passed; a signal also ends it.
    pub fn wait(&mut self, patience: Duration) -> io::Result<()> {
        self.events.clear();
        let waited = match self.backend {
            #[cfg(target_os = "linux")]
            Backend::Batched => self.wait_precisely(patience),
            _ => self.wait_portably(patience),
        };
        match waited {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(()),
            other => other,
        }
    }

    /// The names of the sockets that became readable while it waited.
    pub fn ready(&self) -> impl Iterator<Item = usize> {
        self.events.iter().map(|event| event.token().0)
    }

    pub(crate) fn events(&self) -> impl Iterator<Item = &Event> {
        self.events.iter()
    }

    pub(crate) fn registry(&self) -> &Registry {
        self.poll.registry()
    }

    /// Mostly one call, as something comes first; the last millisecond before a deadline takes two
    /// more.
    #[cfg(target_os = "linux")]
    fn wait_precisely(&mut self, patience: Duration) -> io::Result<()> {
        let deadline = Instant::now() + patience;
        self.poll.poll(&mut self.events, Some(patience.saturating_sub(COARSE)))?;
        let rest = deadline.saturating_duration_since(Instant::now());
        if self.events.is_empty() && !rest.is_zero() {
            linux::wait(self.poll.registry().as_fd(), rest)?;
            self.poll.poll(&mut self.events, Some(Duration::ZERO))?;
        }
        Ok(())
    }

    /// What comes in the last millisecond before a deadline is seen at the deadline.
    fn wait_portably(&mut self, patience: Duration) -> io::Result<()> {
        let deadline = Instant::now() + patience;
        self.poll.poll(&mut self.events, Some(patience.saturating_sub(COARSE)))?;
        if self.events.is_empty() {
            std::thread::sleep(deadline.saturating_duration_since(Instant::now()));
        }
        Ok(())
    }
}

/// A socket is watched that was to be, or is not that was not to be.
#[cfg(target_os = "linux")]
fn is_so_already(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::AlreadyExists | io::ErrorKind::NotFound)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Inbox;

    const LONG: Duration = Duration::from_secs(10);

    #[test]
    fn a_socket_is_named_when_something_comes_and_not_after_it_was_removed() {
        for backend in [Backend::Batched, Backend::Portable] {
            let bind = || Socket::bind_with("127.0.0.1:0".parse().unwrap(), backend).unwrap();
            let (mut a, mut b) = (bind(), bind());
            let to = [&a, &b].map(|socket| socket.local_addr().unwrap());
            let mut waiter = Waiter::new(backend).unwrap();
            waiter.add(&mut a, 7).unwrap();
            waiter.add(&mut b, 8).unwrap();
            a.send(to[1], b"x").unwrap();
            waiter.wait(LONG).unwrap();
            assert_eq!(waiter.ready().collect::<Vec<_>>(), [8]);
            assert_eq!(b.receive(&mut Inbox::new(1)).unwrap(), 1);
            waiter.remove(&mut b).unwrap();
            a.send(to[1], b"x").unwrap();
            b.send(to[0], b"x").unwrap();
            waiter.wait(LONG).unwrap();
            assert_eq!(waiter.ready().collect::<Vec<_>>(), [7]);
        }
    }

    #[test]
    fn patience_is_had_and_then_lost() {
        for backend in [Backend::Batched, Backend::Portable] {
            let mut waiter = Waiter::new(backend).unwrap();
            for patience in [0, 300, 2_300].map(Duration::from_micros) {
                let began = Instant::now();
                waiter.wait(patience).unwrap();
                assert!(began.elapsed() >= patience, "{backend:?} {:?}", began.elapsed());
                assert_eq!(waiter.ready().count(), 0);
            }
        }
    }
}
