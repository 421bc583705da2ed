//! What a bad network makes of streams: everything arrives in order, and late.
//!
//! Each write is cut into pieces at random. A piece takes the link's delay and jitter; one that
//! is lost, by the link's loss or while it is cut, is sent again later; one that lands
//! before its turn waits, and is then read in one go with its neighbours. Duplication,
//! reordering, corruption and bandwidth are not modelled: TCP hides the first three, and what is
//! said over streams is short. Bursts are not, either: a repetition comes long after.

use super::agenda::Event;
use super::links::Pair;
use super::streams::{Content, EndId, Party, SegmentId, Side, State};
use super::{HostId, World};
use crate::Partition;
use crate::digest::Kind;
use backspin::node::{StreamAction, StreamEvent, StreamId, StreamNode};
use backspin::peer::PeerAddr;
use std::net::SocketAddr;
use std::time::Duration;

/// How long until a lost piece is sent again for the first time; then twice as long each time.
const RETRANSMIT_AFTER: Duration = Duration::from_millis(200);

/// How often a piece is sent before the stream is given up, after 204 s.
const TRIES_LIMIT: u32 = 11;

/// How likely a piece is all that is left of a write.
const WHOLE_PROBABILITY: f64 = 0.5;

/// The ports from which hosts open streams.
const FIRST_EPHEMERAL_PORT: u16 = 49_152;
const EPHEMERAL_PORTS: u32 = 1 << 14;

/// Which side of a stream outlives its end and hears of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Survivor {
    Peer,
    Both,
}

impl<N: StreamNode> World<N> {
    /// Does to streams all that a node wants done.
    pub(super) fn poll_stream(&mut self, id: HostId) {
        let now = self.local_time(id);
        let mut out = std::mem::take(&mut self.out);
        for _ in 0..=Self::TRANSMITS_LIMIT {
            let node = &mut self.hosts[id.index()].node;
            let Some((stream, action)) = node.poll_stream(now, &mut out) else {
                self.out = out;
                return;
            };
            match action {
                StreamAction::Open(address) => self.open(id, stream, address),
                StreamAction::Send(len) => {
                    let bytes = self.written(id, &out, len);
                    self.write(id, stream, bytes);
                }
                StreamAction::Close => self.close(id, stream),
            }
        }
        panic!(
            "{} has done more than {} things to streams in a row at {}: does its poll_stream ever return \
             None?",
            self.describe(id),
            Self::TRANSMITS_LIMIT,
            self.now()
        );
    }

    fn open(&mut self, host: HostId, id: StreamId, to: PeerAddr) {
        assert!(
            id < StreamId::FIRST_ACCEPTED && self.streams.find(host, id).is_none(),
            "{} cannot open a stream by the number {}: choose one below 2^63 that it has not used",
            self.describe(host),
            id.0
        );
        let connection = self.streams.next_connection();
        let port = FIRST_EPHEMERAL_PORT + (connection % EPHEMERAL_PORTS) as u16;
        let own = self.hosts[host.index()].addresses[0];
        let from = own.with_port(port).unwrap_or(own);
        let state = State::Opening;
        let opener = Party { host, id, local: from, peer: to, state };
        let acceptor = self.listener(to).map(|host| {
            let id = StreamId(StreamId::FIRST_ACCEPTED.0 + u64::from(connection));
            Party { host, id, local: to, peer: from, state }
        });
        let end = self.streams.open(opener, acceptor);
        if acceptor.is_some() {
            self.dispatch(end.other(), Content::Request);
        } else if let Some(refusal) = self.streams.push(end, Content::Refused) {
            // Some router on the way says so.
            let round_trip = self.links.config().delay * 2;
            self.agenda.push(self.now() + round_trip, Event::Land(refusal));
        }
    }

    fn write(&mut self, host: HostId, id: StreamId, mut bytes: &[u8]) {
        let Some(end) = self.streams.find(host, id) else { return };
        let state = self.streams.party(end).map(|party| party.state);
        assert!(
            state == Some(State::Open),
            "{} writes to stream {} before it stands",
            self.describe(host),
            id.0
        );
        while !bytes.is_empty() {
            let len = self.piece_len(end, bytes.len());
            let (piece, rest) = bytes.split_at(len);
            self.dispatch(end.other(), Content::Bytes(piece.to_vec()));
            bytes = rest;
        }
    }

    fn close(&mut self, host: HostId, id: StreamId) {
        if let Some(end) = self.streams.find(host, id) {
            self.streams.forget(end);
            self.dispatch(end.other(), Content::Close);
        }
    }

    /// Ends all streams of a host without a word of its own.
    pub(super) fn break_streams(&mut self, host: HostId, survivor: Survivor) {
        self.agenda.start_afresh();
        for end in self.streams.ends_of(host) {
            self.dispatch(end.other(), Content::Reset);
            match survivor {
                Survivor::Peer => {
                    self.streams.forget(end);
                }
                Survivor::Both => self.end(end, StreamEvent::Failed),
            }
        }
    }

    /// Sends a piece to an end, if there still is one.
    fn dispatch(&mut self, to: EndId, content: Content) {
        if let Some(segment) = self.streams.push(to, content) {
            self.depart(segment);
        }
    }

    /// Tries to send a piece. The world may have gone on without its stream.
    pub(super) fn depart(&mut self, segment: SegmentId) {
        let Some((from, to, tries)) = self.streams.try_once(segment) else { return };
        let now = self.now();
        if from == to {
            self.agenda.push(now, Event::Land(segment));
            return;
        }
        let link = self.links.link(from, to);
        let chance = self.streams.chance(Pair::of(from, to));
        let config = link.config();
        if link.partition() == Partition::Healed && !chance.happens(config.loss.probability) {
            let delay = config.delay + config.jitter.draw(chance);
            self.agenda.push(now + delay, Event::Land(segment));
        } else if tries + 1 < TRIES_LIMIT {
            let wait = RETRANSMIT_AFTER * (1 << tries);
            self.agenda.push(now + wait, Event::Depart(segment));
        } else {
            self.end(segment.to, StreamEvent::Failed);
            self.end(segment.to.other(), StreamEvent::Failed);
        }
    }

    /// A piece has come; its turn may be now, or later.
    pub(super) fn land(&mut self, segment: SegmentId) {
        let end = segment.to;
        for content in self.streams.land(segment) {
            // What was read before may have ended the stream.
            let Some(party) = self.streams.party(end) else { return };
            match content {
                Content::Request => self.answer(end, party),
                Content::Accepted => self.establish(end),
                Content::Refused | Content::Reset => self.end(end, StreamEvent::Failed),
                Content::Bytes(bytes) => self.tell(party, StreamEvent::Received(&bytes)),
                Content::Close => self.end(end, StreamEvent::Closed),
            }
        }
    }

    fn answer(&mut self, end: EndId, party: Party) {
        let host = &self.hosts[party.host.index()];
        let is_there = host.addresses.iter().any(|address| address.ip() == party.local.ip());
        if is_there && host.node.accepts_streams() {
            self.streams.introduce(party, end);
            self.dispatch(end.other(), Content::Accepted);
        } else {
            self.streams.forget(end);
            self.dispatch(end.other(), Content::Refused);
        }
    }

    /// Both sides hear of it at once, one round trip after it was asked for.
    fn establish(&mut self, opener: EndId) {
        let Some([party, acceptor]) = self.streams.establish(opener.connection) else {
            return self.end(opener, StreamEvent::Failed);
        };
        self.tell(acceptor, StreamEvent::Opened(acceptor.peer));
        // One host may be both sides, and may just have closed this one.
        if self.streams.party(opener).is_some() {
            self.tell(party, StreamEvent::Opened(party.peer));
        }
    }

    /// A stream is over at this end, which hears of it if it ever heard of the stream.
    fn end(&mut self, end: EndId, event: StreamEvent<'_>) {
        if let Some(party) = self.streams.forget(end)
            && (end.side == Side::Opener || party.state == State::Open)
        {
            self.tell(party, event);
        }
    }

    fn tell(&mut self, party: Party, event: StreamEvent<'_>) {
        let (kind, bytes): (_, &[u8]) = match event {
            StreamEvent::Opened(_) => (Kind::StreamOpened, &[]),
            StreamEvent::Failed => (Kind::StreamFailed, &[]),
            StreamEvent::Received(bytes) => (Kind::StreamBytes, bytes),
            StreamEvent::Closed => (Kind::StreamClosed, &[]),
        };
        self.recorder.take(kind, self.now(), party.peer, party.local, bytes);
        let now = self.local_time(party.host);
        self.hosts[party.host.index()].node.handle_stream(now, party.id, event);
        self.assert_time_passes(party.host);
        self.poll(party.host);
    }

    /// Who has this IP; one who accepts streams, if several have. Nobody is reached at a connection.
    fn listener(&self, address: PeerAddr) -> Option<HostId> {
        let ip = address.socket_addr()?.ip();
        let [first, last] = [0, u16::MAX].map(|port| PeerAddr::socket(SocketAddr::new(ip, port)));
        let ports = first..=last;
        let hosts = || self.addresses.range(ports.clone()).map(|(_, &(host, _))| host);
        hosts().find(|host| self.node(*host).accepts_streams()).or_else(|| hosts().next())
    }

    fn piece_len(&mut self, end: EndId, len: usize) -> usize {
        let Some((from, to)) = self.streams.hosts(end).filter(|(from, to)| from != to) else {
            return len;
        };
        let chance = self.streams.chance(Pair::of(from, to));
        if chance.happens(WHOLE_PROBABILITY) { len } else { 1 + chance.below(len as u64) as usize }
    }
}
