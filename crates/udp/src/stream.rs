//! One TCP stream: never waits, and buffers little.

use std::io::{self, Read, Write};
use std::net::SocketAddr;

use backspin::node::StreamId;
use backspin::time::Time;
use mio::net::TcpStream;

/// What may wait to be sent when the system takes no more. A peer that reads so slowly has left.
const OUTBOX_LIMIT: usize = 4096;

#[derive(Debug)]
pub(crate) struct Stream {
    pub(crate) id: StreamId,
    pub(crate) stage: Stage,
    inner: TcpStream,
    /// What the system has not taken yet.
    outbox: Vec<u8>,
    signals: Signals,
}

/// How far a stream has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// The peer has not answered yet.
    Opening,
    Open,
    /// The node has closed it; what it wrote before is still to go out, until then.
    Lingering {
        until: Time,
    },
}

/// What the system has said and we have not used up.
#[derive(Clone, Copy, Debug, Default)]
struct Signals {
    readable: bool,
    writable: bool,
}

/// What a read gave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Came {
    Bytes(usize),
    /// Nothing until the system says so.
    Nothing,
    Closed,
    Broken,
}

/// The stream is good for nothing more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Broken;

impl Stream {
    pub(crate) fn new(id: StreamId, stage: Stage, inner: TcpStream) -> Self {
        // Short messages that someone waits for. Without it they only come later.
        let _ = inner.set_nodelay(true);
        Stream { id, stage, inner, outbox: Vec::new(), signals: Signals::default() }
    }

    pub(crate) fn source(&mut self) -> &mut TcpStream {
        &mut self.inner
    }

    pub(crate) fn signal(&mut self, event: &mio::event::Event) {
        let ended = event.is_error();
        self.signals.readable |= event.is_readable() || event.is_read_closed() || ended;
        self.signals.writable |= event.is_writable() || event.is_write_closed() || ended;
    }

    /// Whether there may be something to read.
    pub(crate) fn is_readable(&self) -> bool {
        self.signals.readable && self.stage == Stage::Open
    }

    /// Whether a stream that is being opened stands now, and with whom.
    pub(crate) fn check_opened(&mut self) -> Result<Option<SocketAddr>, Broken> {
        if self.stage != Stage::Opening || !self.signals.writable {
            return Ok(None);
        }
        if !matches!(self.inner.take_error(), Ok(None)) {
            return Err(Broken);
        }
        match self.inner.peer_addr() {
            Ok(peer) => {
                self.stage = Stage::Open;
                Ok(Some(peer))
            }
            Err(error) if error.kind() == io::ErrorKind::NotConnected => {
                self.signals.writable = false;
                Ok(None)
            }
            Err(_) => Err(Broken),
        }
    }

    pub(crate) fn read(&mut self, buffer: &mut [u8]) -> Came {
        loop {
            match self.inner.read(buffer) {
                Ok(0) => return Came::Closed,
                Ok(len) => return Came::Bytes(len),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.signals.readable = false;
                    return Came::Nothing;
                }
                Err(_) => return Came::Broken,
            }
        }
    }

    /// Sends, or keeps what the system does not take now.
    pub(crate) fn send(&mut self, bytes: &[u8]) -> Result<(), Broken> {
        if self.outbox.len() + bytes.len() > OUTBOX_LIMIT {
            return Err(Broken);
        }
        self.outbox.extend_from_slice(bytes);
        // The signal is given when there is room again, not while there is.
        self.signals.writable = true;
        self.flush()
    }

    /// Sends what was kept, as far as the system takes it.
    pub(crate) fn flush(&mut self) -> Result<(), Broken> {
        if self.stage == Stage::Opening || !self.signals.writable {
            return Ok(());
        }
        while !self.outbox.is_empty() {
            match self.inner.write(&self.outbox) {
                Ok(0) => return Err(Broken),
                Ok(len) => drop(self.outbox.drain(..len)),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.signals.writable = false;
                    return Ok(());
                }
                Err(_) => return Err(Broken),
            }
        }
        Ok(())
    }

    /// Whether all that was written has gone out.
    pub(crate) fn is_flushed(&self) -> bool {
        self.outbox.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn the_outbox_holds_so_much_and_not_a_byte_more() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let mut stream = Stream::new(StreamId(0), Stage::Opening, stream);
        assert_eq!(stream.send(&[0; OUTBOX_LIMIT - 1]), Ok(()));
        assert_eq!(stream.send(&[0]), Ok(()));
        assert_eq!(stream.send(&[0]), Err(Broken));
    }
}
