//! The connections of a world: who is at their ends, and which bytes are under way.
//!
//! Only the table; `tcp` says how long pieces take and tells the nodes.

use super::HostId;
use super::links::Pair;
use crate::Chance;
use backspin::node::StreamId;
use backspin::peer::PeerAddr;
use std::collections::{BTreeMap, VecDeque};

/// Every stream of a world.
#[derive(Debug, Default)]
pub(super) struct Streams {
    seed: u64,
    opened: u32,
    connections: BTreeMap<u32, Connection>,
    /// The end that a host knows by a number.
    ends: BTreeMap<(HostId, StreamId), EndId>,
    chances: BTreeMap<Pair, Chance>,
}

/// One end of one connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct EndId {
    pub(super) connection: u32,
    pub(super) side: Side,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Opener,
    Acceptor,
}

/// A piece of a stream, under way to an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SegmentId {
    pub(super) to: EndId,
    number: u32,
}

/// What a piece of a stream carries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Content {
    /// "Shall we?", the first to the acceptor.
    Request,
    /// "Yes", the first to the opener.
    Accepted,
    /// "No", likewise.
    Refused,
    Bytes(Vec<u8>),
    /// The sender has closed the stream.
    Close,
    /// The sender no longer knows the stream.
    Reset,
}

/// Who is at an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Party {
    pub(super) host: HostId,
    pub(super) id: StreamId,
    pub(super) local: PeerAddr,
    pub(super) peer: PeerAddr,
    pub(super) state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Opening,
    Open,
}

#[derive(Debug)]
struct Connection {
    hosts: [HostId; 2],
    /// `None` once that side knows the stream no more.
    ends: [Option<End>; 2],
}

#[derive(Debug)]
struct End {
    party: Party,
    /// What is under way to this end, in the order in which it was sent.
    inbox: VecDeque<Segment>,
    /// The number of the first in there.
    next: u32,
}

#[derive(Debug)]
struct Segment {
    content: Content,
    tries: u32,
    progress: Progress,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Progress {
    UnderWay,
    Landed,
}

impl EndId {
    pub(super) fn other(self) -> Self {
        let side = match self.side {
            Side::Opener => Side::Acceptor,
            Side::Acceptor => Side::Opener,
        };
        EndId { side, ..self }
    }
}

impl Streams {
    pub(super) fn new(seed: u64) -> Self {
        Streams { seed, ..Streams::default() }
    }

    /// The number of the next connection.
    pub(super) fn next_connection(&self) -> u32 {
        self.opened
    }

    /// A new connection. Without an acceptor it will be refused.
    pub(super) fn open(&mut self, opener: Party, acceptor: Option<Party>) -> EndId {
        let end = EndId { connection: self.opened, side: Side::Opener };
        self.opened += 1;
        let hosts = [opener.host, acceptor.map_or(opener.host, |acceptor| acceptor.host)];
        let ends = [Some(End::new(opener)), acceptor.map(End::new)];
        self.connections.insert(end.connection, Connection { hosts, ends });
        self.ends.insert((opener.host, opener.id), end);
        end
    }

    /// The end that a host knows by this number.
    pub(super) fn find(&self, host: HostId, id: StreamId) -> Option<EndId> {
        self.ends.get(&(host, id)).copied()
    }

    /// Every end that a host knows.
    pub(super) fn ends_of(&self, host: HostId) -> Vec<EndId> {
        let range = (host, StreamId(0))..=(host, StreamId(u64::MAX));
        self.ends.range(range).map(|(_, &end)| end).collect()
    }

    /// Who is at an end, as long as it knows of the stream.
    pub(super) fn party(&self, end: EndId) -> Option<Party> {
        let connection = self.connections.get(&end.connection)?;
        connection.ends[end.side as usize].as_ref().map(|end| end.party)
    }

    /// The host of an end and that of its peer.
    pub(super) fn hosts(&self, end: EndId) -> Option<(HostId, HostId)> {
        let hosts = self.connections.get(&end.connection)?.hosts;
        Some((hosts[end.side as usize], hosts[end.other().side as usize]))
    }

    /// The acceptor's host knows of the stream from now on.
    pub(super) fn introduce(&mut self, party: Party, end: EndId) {
        self.ends.insert((party.host, party.id), end);
    }

    /// Both ends stand, and their parties are returned; `None` if one is gone.
    pub(super) fn establish(&mut self, connection: u32) -> Option<[Party; 2]> {
        let [Some(opener), Some(acceptor)] = &mut self.connections.get_mut(&connection)?.ends
        else {
            return None;
        };
        opener.party.state = State::Open;
        acceptor.party.state = State::Open;
        Some([opener.party, acceptor.party])
    }

    /// This end knows the stream no more; nothing reaches it. What it sent is still under way.
    pub(super) fn forget(&mut self, end: EndId) -> Option<Party> {
        let connection = self.connections.get_mut(&end.connection)?;
        let party = connection.ends[end.side as usize].take()?.party;
        if connection.ends.iter().all(Option::is_none) {
            self.connections.remove(&end.connection);
        }
        self.ends.remove(&(party.host, party.id));
        Some(party)
    }

    /// Adds a piece to what is under way to an end, if that still knows the stream.
    pub(super) fn push(&mut self, to: EndId, content: Content) -> Option<SegmentId> {
        let end = self.end_mut(to)?;
        let number = end.next + end.inbox.len() as u32;
        end.inbox.push_back(Segment { content, tries: 0, progress: Progress::UnderWay });
        Some(SegmentId { to, number })
    }

    /// Counts one try to send a piece: from whom to whom, and how many there were before.
    pub(super) fn try_once(&mut self, segment: SegmentId) -> Option<(HostId, HostId, u32)> {
        let (to, from) = self.hosts(segment.to)?;
        let end = self.end_mut(segment.to)?;
        let tries = &mut end.inbox.get_mut((segment.number - end.next) as usize)?.tries;
        *tries += 1;
        Some((from, to, *tries - 1))
    }

    /// A piece has landed. Returns what can now be read in order, adjoining bytes as one
    /// up to [`READ_LEN_MAX`].
    pub(super) fn land(&mut self, segment: SegmentId) -> Vec<Content> {
        let mut readable = Vec::new();
        let Some(end) = self.end_mut(segment.to) else { return readable };
        let index = (segment.number - end.next) as usize;
        end.inbox[index].progress = Progress::Landed;
        while end.inbox.front().is_some_and(|front| front.progress == Progress::Landed) {
            let Some(front) = end.inbox.pop_front() else { break };
            end.next += 1;
            match (readable.last_mut(), front.content) {
                (Some(Content::Bytes(before)), Content::Bytes(more))
                    if before.len() + more.len() <= READ_LEN_MAX =>
                {
                    before.extend(more);
                }
                (_, content) => readable.push(content),
            }
        }
        readable
    }

    /// The chance of all streams between two hosts; their datagrams have another.
    pub(super) fn chance(&mut self, pair: Pair) -> &mut Chance {
        let seed = self.seed;
        let stream = FIRST_CHANCE_STREAM + u64::from(pair.0);
        self.chances.entry(pair).or_insert_with(|| Chance::new(seed, stream))
    }

    /// Whether nothing is left of any stream.
    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        self.connections.is_empty() && self.ends.is_empty()
    }

    fn end_mut(&mut self, end: EndId) -> Option<&mut End> {
        self.connections.get_mut(&end.connection)?.ends[end.side as usize].as_mut()
    }
}

/// The most bytes that a node gets at once, as if a driver read into a buffer of this size.
const READ_LEN_MAX: usize = 4_096;

/// Below the chance of the links, which begins at 2^32.
const FIRST_CHANCE_STREAM: u64 = 1 << 31;

impl End {
    fn new(party: Party) -> Self {
        End { party, inbox: VecDeque::new(), next: 0 }
    }
}
