//! All streams of a loop: those that peers opened and those that the node opened.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::time::Duration;

use backspin::node::{StreamAction, StreamEvent, StreamId, StreamNode};
use mio::net::TcpStream;
use mio::{Interest, Registry, Token};

use crate::clock::Clock;
use crate::listener::Listener;
use crate::stream::{Broken, Came, Stage, Stream};

/// Streams at once; who knocks beyond that finds the stream closed. A node limits them more
/// finely, this is for one that does not.
const STREAM_LIMIT: usize = 512;

/// How many streams are accepted, and how often one is read, before the node may do other things.
const ACCEPTS_PER_TURN: usize = 64;
const READS_PER_TURN: usize = 4;

/// How long a stream that the node closed may take to send the rest.
const LINGER_FOR: Duration = Duration::from_secs(5);

#[derive(Debug)]
pub(crate) struct Streams {
    registry: Registry,
    doors: Vec<Entrance>,
    streams: BTreeMap<Token, Stream>,
    tokens: BTreeMap<StreamId, Token>,
    /// Streams that the system has said something about.
    ready: BTreeSet<Token>,
    accepted: u64,
    next_token: usize,
    limit: usize,
}

#[derive(Debug)]
struct Entrance {
    listener: Listener,
    /// Someone may be waiting.
    knocked: bool,
}

impl Streams {
    /// The table of a loop whose own sources have the tokens below `first_token`.
    pub(crate) fn new(
        registry: Registry,
        listeners: Vec<Listener>,
        first_token: usize,
    ) -> io::Result<Self> {
        let mut doors = Vec::new();
        for (i, mut listener) in listeners.into_iter().enumerate() {
            let token = Token(first_token + i);
            registry.register(listener.source(), token, Interest::READABLE)?;
            doors.push(Entrance { listener, knocked: false });
        }
        Ok(Streams {
            registry,
            next_token: first_token + doors.len(),
            doors,
            streams: BTreeMap::new(),
            tokens: BTreeMap::new(),
            ready: BTreeSet::new(),
            accepted: 0,
            limit: STREAM_LIMIT,
        })
    }

    pub(crate) fn listeners(&self) -> impl Iterator<Item = &Listener> {
        self.doors.iter().map(|door| &door.listener)
    }

    /// Handles the system's events. Tokens of listeners count from `first_token`.
    pub(crate) fn handle_event(&mut self, event: &mio::event::Event, first_token: usize) {
        let token = event.token();
        if let Some(stream) = self.streams.get_mut(&token) {
            stream.signal(event);
            self.ready.insert(token);
        } else if let Some(door) =
            token.0.checked_sub(first_token).and_then(|i| self.doors.get_mut(i))
        {
            door.knocked = true;
        }
    }

    /// Whether there is more to do without a further word of the system.
    pub(crate) fn is_busy(&self) -> bool {
        !self.ready.is_empty()
    }

    /// Hands the node what happened to its streams; says whether anything did.
    pub(crate) fn receive(
        &mut self,
        clock: Clock,
        node: &mut impl StreamNode,
        buffer: &mut [u8],
    ) -> bool {
        let accepted = self.accept(clock, node);
        let ready = std::mem::take(&mut self.ready);
        for &token in &ready {
            self.serve(token, clock, node, buffer);
        }
        self.give_up_lingering(clock);
        accepted || !ready.is_empty()
    }

    /// Does what the node wants done.
    pub(crate) fn perform(&mut self, clock: Clock, node: &mut impl StreamNode, buffer: &mut [u8]) {
        while let Some((id, action)) = node.poll_stream(clock.now(), buffer) {
            let done = match action {
                StreamAction::Open(peer) => {
                    self.assert_unused(id);
                    let address = peer.socket_addr().ok_or(io::ErrorKind::Unsupported.into());
                    let opened = address.and_then(TcpStream::connect);
                    opened.and_then(|stream| self.add(id, Stage::Opening, stream)).is_ok()
                }
                StreamAction::Send(len) => self.send(id, &buffer[..len]).is_ok(),
                StreamAction::Close => {
                    self.close(clock, id);
                    true
                }
            };
            if !done {
                self.remove(id);
                node.handle_stream(clock.now(), id, StreamEvent::Failed);
            }
        }
    }

    fn accept(&mut self, clock: Clock, node: &mut impl StreamNode) -> bool {
        let before = self.accepted;
        for door in 0..self.doors.len() {
            for _ in 0..ACCEPTS_PER_TURN {
                if !self.doors[door].knocked {
                    break;
                }
                let (stream, peer) = match self.doors[door].listener.accept() {
                    Ok(Some(accepted)) => accepted,
                    Ok(None) => {
                        self.doors[door].knocked = false;
                        break;
                    }
                    // The system has no room for another stream: perhaps at the next turn.
                    Err(_) => break,
                };
                let id = StreamId(StreamId::FIRST_ACCEPTED.0 + self.accepted);
                if self.add(id, Stage::Open, stream).is_ok() {
                    self.accepted += 1;
                    node.handle_stream(clock.now(), id, StreamEvent::Opened(peer.into()));
                }
            }
        }
        self.accepted > before
    }

    fn add(&mut self, id: StreamId, stage: Stage, stream: TcpStream) -> io::Result<()> {
        if self.streams.len() >= self.limit {
            return Err(io::ErrorKind::QuotaExceeded.into());
        }
        let mut stream = Stream::new(id, stage, stream);
        let token = Token(self.next_token);
        self.registry.register(stream.source(), token, Interest::READABLE | Interest::WRITABLE)?;
        self.next_token += 1;
        self.streams.insert(token, stream);
        self.tokens.insert(id, token);
        Ok(())
    }

    /// Uses up what the system has said about a stream.
    fn serve(&mut self, token: Token, clock: Clock, node: &mut impl StreamNode, buffer: &mut [u8]) {
        let Some(stream) = self.streams.get_mut(&token) else { return };
        let id = stream.id;
        let mut last = None;
        match stream.check_opened() {
            Ok(None) => {}
            Ok(Some(peer)) => {
                node.handle_stream(clock.now(), id, StreamEvent::Opened(peer.into()));
            }
            Err(Broken) => last = Some(StreamEvent::Failed),
        }
        if last.is_none() && stream.flush().is_err() {
            last = Some(StreamEvent::Failed);
        }
        for _ in 0..READS_PER_TURN {
            if last.is_some() || !stream.is_readable() {
                break;
            }
            match stream.read(buffer) {
                Came::Bytes(len) => {
                    node.handle_stream(clock.now(), id, StreamEvent::Received(&buffer[..len]));
                }
                Came::Nothing => {}
                Came::Closed => last = Some(StreamEvent::Closed),
                Came::Broken => last = Some(StreamEvent::Failed),
            }
        }
        let lingers = matches!(stream.stage, Stage::Lingering { .. });
        if stream.is_readable() && last.is_none() {
            self.ready.insert(token);
        }
        let sent_off = lingers && stream.is_flushed();
        if last.is_some() || sent_off {
            self.remove(id);
        }
        if let (Some(event), false) = (last, lingers) {
            node.handle_stream(clock.now(), id, event);
        }
    }

    /// What is written to a stream that has just ended is lost.
    fn send(&mut self, id: StreamId, bytes: &[u8]) -> Result<(), Broken> {
        let stream = self.tokens.get(&id).and_then(|token| self.streams.get_mut(token));
        stream.map_or(Ok(()), |stream| stream.send(bytes))
    }

    fn close(&mut self, clock: Clock, id: StreamId) {
        let Some(token) = self.tokens.get(&id) else { return };
        let Some(stream) = self.streams.get_mut(token) else { return };
        if stream.stage == Stage::Open && !stream.is_flushed() {
            stream.stage = Stage::Lingering { until: clock.now() + LINGER_FOR };
        } else {
            self.remove(id);
        }
    }

    fn give_up_lingering(&mut self, clock: Clock) {
        let now = clock.now();
        let overdue = |stream: &&Stream| match stream.stage {
            Stage::Lingering { until } => until <= now,
            _ => false,
        };
        let ids: Vec<_> = self.streams.values().filter(overdue).map(|stream| stream.id).collect();
        ids.into_iter().for_each(|id| self.remove(id));
    }

    fn remove(&mut self, id: StreamId) {
        let Some(token) = self.tokens.remove(&id) else { return };
        self.ready.remove(&token);
        if let Some(mut stream) = self.streams.remove(&token) {
            // It is closed in the next moment; there is nothing to do about an error.
            let _ = self.registry.deregister(stream.source());
        }
    }

    fn assert_unused(&self, id: StreamId) {
        assert!(
            id < StreamId::FIRST_ACCEPTED && !self.tokens.contains_key(&id),
            "a node cannot open a stream by the number {}: choose one below 2^63 that it has not \
             used",
            id.0
        );
    }
}

#[cfg(test)]
mod tests;
