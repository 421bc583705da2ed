//! A node that does what a test tells it to, and remembers what it saw.

use backspin::node::{Node, Path, StreamAction, StreamEvent, StreamId, StreamNode, Transmit};
use backspin::peer::PeerAddr;
use backspin::time::Time;
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::time::Duration;

#[derive(Debug, Default)]
pub(super) struct Toy {
    pub(super) outbox: VecDeque<(Path, Vec<u8>)>,
    pub(super) heard: Vec<Heard>,
    pub(super) timeouts: Vec<Time>,
    pub(super) manner: Manner,
    pub(super) ticker: Option<Ticker>,
    pub(super) to_do: VecDeque<(StreamId, Deed)>,
    pub(super) news: Vec<(Time, StreamId, News)>,
    pub(super) listens: bool,
}

/// What a toy does to a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Deed {
    Open(SocketAddr),
    Send(Vec<u8>),
    Close,
}

/// What a toy heard of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum News {
    Opened(PeerAddr),
    Failed,
    Received(Vec<u8>),
    Closed,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Heard {
    pub(super) at: Time,
    pub(super) path: Path,
    pub(super) bytes: Vec<u8>,
}

/// What a toy does with a datagram besides remembering it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Manner {
    #[default]
    Listen,
    /// Sends it back; what comes over a stream, too.
    Echo,
    /// Closes this stream as soon as any stands.
    HangUp(StreamId),
}

/// Sends a numbered datagram to every peer at a fixed rate.
#[derive(Clone, Debug)]
pub(super) struct Ticker {
    pub(super) peers: Vec<SocketAddr>,
    pub(super) period: Duration,
    pub(super) next: Time,
    pub(super) ticks: u64,
}

impl Toy {
    pub(super) fn echo() -> Self {
        Toy { manner: Manner::Echo, ..Toy::default() }
    }

    /// Ticks at once and then after every `period` of its own clock.
    pub(super) fn ticking(peers: &[SocketAddr], period: Duration) -> Self {
        let peers = peers.to_vec();
        let ticker = Ticker { peers, period, next: Time::ZERO, ticks: 0 };
        Toy { ticker: Some(ticker), ..Toy::default() }
    }

    pub(super) fn say(&mut self, to: SocketAddr, bytes: &[u8]) {
        self.outbox.push_back((Path::to(to), bytes.to_vec()));
    }

    /// Accepts streams.
    pub(super) fn listening(self) -> Self {
        Toy { listens: true, ..self }
    }

    pub(super) fn do_stream(&mut self, stream: u64, deed: Deed) {
        self.to_do.push_back((StreamId(stream), deed));
    }

    /// All bytes that came over streams.
    pub(super) fn read(&self) -> Vec<u8> {
        let pieces = self.news.iter().filter_map(|(_, _, news)| match news {
            News::Received(bytes) => Some(bytes.as_slice()),
            _ => None,
        });
        pieces.collect::<Vec<_>>().concat()
    }

    /// When what happened to streams.
    pub(super) fn news(&self) -> Vec<(Time, News)> {
        self.news.iter().map(|(at, _, news)| (*at, news.clone())).collect()
    }

    /// The first byte of each datagram heard.
    pub(super) fn heard_first(&self) -> Vec<u8> {
        self.heard.iter().map(|heard| heard.bytes[0]).collect()
    }

    pub(super) fn heard_at(&self) -> Vec<Time> {
        self.heard.iter().map(|heard| heard.at).collect()
    }
}

impl Node for Toy {
    fn handle_datagram(&mut self, at: Time, path: Path, bytes: &mut [u8]) {
        self.heard.push(Heard { at, path, bytes: bytes.to_vec() });
        if self.manner == Manner::Echo {
            self.outbox.push_back((path, bytes.to_vec()));
        }
    }

    fn handle_timeout(&mut self, now: Time) {
        let Some(ticker) = &mut self.ticker else { return };
        self.timeouts.push(now);
        ticker.next += ticker.period;
        ticker.ticks += 1;
        for &peer in &ticker.peers {
            self.outbox.push_back((Path::to(peer), ticker.ticks.to_le_bytes().to_vec()));
        }
    }

    fn poll_transmit(&mut self, _: Time, out: &mut [u8]) -> Option<Transmit> {
        let (path, bytes) = self.outbox.pop_front()?;
        out[..bytes.len()].copy_from_slice(&bytes);
        Some(Transmit { path, len: bytes.len() })
    }

    fn poll_timeout(&self) -> Option<Time> {
        self.ticker.as_ref().map(|ticker| ticker.next)
    }
}

impl StreamNode for Toy {
    fn accepts_streams(&self) -> bool {
        self.listens
    }

    fn handle_stream(&mut self, now: Time, stream: StreamId, event: StreamEvent<'_>) {
        let news = match event {
            StreamEvent::Opened(peer) => News::Opened(peer),
            StreamEvent::Failed => News::Failed,
            StreamEvent::Received(bytes) => News::Received(bytes.to_vec()),
            StreamEvent::Closed => News::Closed,
        };
        match (&news, self.manner) {
            (News::Received(bytes), Manner::Echo) => {
                let chunks = bytes.chunks(1_000).map(|chunk| Deed::Send(chunk.to_vec()));
                self.to_do.extend(chunks.map(|deed| (stream, deed)));
            }
            (News::Opened(_), Manner::HangUp(other)) => self.to_do.push_back((other, Deed::Close)),
            _ => (),
        }
        self.news.push((now, stream, news));
    }

    fn poll_stream(&mut self, _: Time, out: &mut [u8]) -> Option<(StreamId, StreamAction)> {
        let (stream, deed) = self.to_do.pop_front()?;
        let action = match deed {
            Deed::Open(peer) => StreamAction::Open(peer.into()),
            Deed::Send(bytes) => {
                out[..bytes.len()].copy_from_slice(&bytes);
                StreamAction::Send(bytes.len())
            }
            Deed::Close => StreamAction::Close,
        };
        Some((stream, action))
    }
}
