//! Waiting: for sockets and for an instant, whichever comes first.

use std::io;
#[cfg(target_os = "linux")]
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use mio::event::{Event, Source};
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

/// Portable waiting is good to a millisecond; the rest is slept off.
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

    /// Waits until something can be read or `patience` has passed; a signal also ends it.
    pub fn wait(&mut self, patience: Duration) -> io::Result<()> {
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

    #[cfg(target_os = "linux")]
    fn wait_precisely(&mut self, patience: Duration) -> io::Result<()> {
        self.events.clear();
        if !patience.is_zero() {
            linux::wait(self.poll.registry().as_fd(), patience)?;
        }
        self.poll.poll(&mut self.events, Some(Duration::ZERO))
    }

    fn wait_portably(&mut self, patience: Duration) -> io::Result<()> {
        let deadline = Instant::now() + patience;
        self.events.clear();
        self.poll.poll(&mut self.events, Some(patience.saturating_sub(COARSE)))?;
        if self.events.is_empty() {
            std::thread::sleep(deadline.saturating_duration_since(Instant::now()));
        }
        Ok(())
    }
}
