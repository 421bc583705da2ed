//! Reassembles `rtype`'s TCP streams, one direction each.

use std::collections::HashMap;

use backspin_classic::wire::rtype;

use super::super::decode::{self, Decoded, NoPacket};
use super::frame::{Path, Segment};

/// The most directions that are followed; the one that was silent longest makes room.
const MAX_STREAMS: usize = 128;

/// The most bytes and segments of one direction that wait for an earlier one.
const MAX_WAITING_LEN: usize = 64 * 1024;
const MAX_WAITING: usize = 64;

const RTYPE_PORT: u16 = rtype::DEFAULT_PORT + 1;

/// All streams of a capture.
#[derive(Default)]
pub(crate) struct Streams {
    streams: HashMap<Path, Stream>,
    /// Counts segments, to know which stream was silent longest.
    clock: u64,
}

/// A message of a stream, or why there is none.
pub(crate) type Found = Result<Decoded, (NoPacket, usize)>;

struct Stream {
    state: State,
    /// The number of the first byte.
    start: u32,
    /// The number of the byte that is to come next.
    next: u32,
    /// Bytes in order, not yet a whole message.
    pending: Vec<u8>,
    /// Segments that came before their turn.
    waiting: Vec<(u32, Vec<u8>)>,
    last_used: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// It may be `rtype`'s: its first bytes will tell.
    Undecided,
    Followed,
    /// What comes cannot be told apart any more.
    Lost,
}

impl Streams {
    /// Takes the next segment of the capture and hands every message that it completes to
    /// `found`. Segments of other protocols' streams are passed over: then it returns `false`.
    pub(crate) fn handle_segment(
        &mut self,
        path: Path,
        segment: &Segment<'_>,
        found: &mut impl FnMut(Path, Found),
    ) -> bool {
        self.clock += 1;
        let sequence = segment.sequence.wrapping_add(u32::from(segment.syn));
        let known = self.streams.get(&path);
        if segment.syn && known.is_none_or(|stream| stream.start != sequence) {
            self.open(path, sequence, State::Undecided, found);
        } else if known.is_none() && begins_midway(path, segment.payload) {
            self.open(path, sequence, State::Followed, found);
        }
        let Some(stream) = self.streams.get_mut(&path) else {
            return is_rtype(path);
        };
        stream.last_used = self.clock;
        stream.handle_bytes(sequence, segment.payload);
        stream.decide(path);
        stream.decode(&mut |one| found(path, one));
        if stream.state == State::Undecided && stream.pending.len() >= rtype::HEADER_LEN {
            self.streams.remove(&path);
            return false;
        }
        true
    }

    /// The capture has ended: what is incomplete stays so.
    pub(crate) fn finish(&mut self, found: &mut impl FnMut(Path, Found)) {
        let mut rest: Vec<_> = self.streams.drain().collect();
        rest.sort_by_key(|(_, stream)| stream.last_used);
        for (path, stream) in rest {
            stream.close(&mut |one| found(path, one));
        }
    }

    fn open(&mut self, path: Path, start: u32, state: State, found: &mut impl FnMut(Path, Found)) {
        let mut leaves = self.streams.contains_key(&path).then_some(path);
        if leaves.is_none() && self.streams.len() >= MAX_STREAMS {
            let silent = self.streams.iter().min_by_key(|(_, stream)| stream.last_used);
            leaves = silent.map(|(&path, _)| path);
        }
        if let Some((path, stream)) = leaves.and_then(|path| self.streams.remove_entry(&path)) {
            stream.close(&mut |one| found(path, one));
        }
        self.streams.insert(path, Stream::new(start, state));
    }
}

/// Whether bytes of a stream whose start was not captured are `rtype`'s: by its port, or because
/// a whole message is there.
fn begins_midway(path: Path, payload: &[u8]) -> bool {
    let whole = || matches!(rtype::Message::decode_next(payload), Ok(Some(_)));
    !payload.is_empty() && (is_rtype(path) || whole())
}

fn is_rtype(path: Path) -> bool {
    path.from.port() == RTYPE_PORT || path.to.port() == RTYPE_PORT
}

impl Stream {
    fn new(start: u32, state: State) -> Self {
        let (pending, waiting) = (Vec::new(), Vec::new());
        Stream { state, start, next: start, pending, waiting, last_used: 0 }
    }

    /// Puts bytes where they belong. Those seen before are dropped.
    fn handle_bytes(&mut self, sequence: u32, bytes: &[u8]) {
        if self.state == State::Lost || bytes.is_empty() {
            return;
        }
        if ahead(self.next, sequence) > 0 {
            self.waiting.push((sequence, bytes.to_vec()));
            return;
        }
        self.append(sequence, bytes);
        while let Some(at) = self.waiting.iter().position(|&(at, _)| ahead(self.next, at) <= 0) {
            let (sequence, bytes) = self.waiting.swap_remove(at);
            self.append(sequence, &bytes);
        }
    }

    fn append(&mut self, sequence: u32, bytes: &[u8]) {
        let seen = self.next.wrapping_sub(sequence) as usize;
        let new = bytes.get(seen..).unwrap_or_default();
        self.pending.extend_from_slice(new);
        self.next = self.next.wrapping_add(new.len() as u32);
    }

    fn decide(&mut self, path: Path) {
        if self.state == State::Undecided {
            let begun = self.pending.len() >= rtype::HEADER_LEN;
            let fits = begun && rtype::Message::decode_next(&self.pending).is_ok();
            if fits || is_rtype(path) {
                self.state = State::Followed;
            }
        }
    }

    fn decode(&mut self, found: &mut impl FnMut(Found)) {
        let waiting_len = self.waiting_len();
        if waiting_len > MAX_WAITING_LEN || self.waiting.len() > MAX_WAITING {
            return self.lose(NoPacket::Gap, waiting_len, found);
        }
        if self.state != State::Followed {
            return;
        }
        let mut done = 0;
        loop {
            match decode::message(&self.pending[done..]) {
                Ok(Some(message)) => {
                    done += message.len;
                    found(Ok(message));
                }
                Ok(None) => break,
                Err(error) => return self.lose(error, self.pending.len() - done, found),
            }
        }
        self.pending.drain(..done);
    }

    fn waiting_len(&self) -> usize {
        self.waiting.iter().map(|(_, bytes)| bytes.len()).sum()
    }

    /// Nothing behind this point can be read.
    fn lose(&mut self, error: NoPacket, len: usize, found: &mut impl FnMut(Found)) {
        (self.pending, self.waiting) = (Vec::new(), Vec::new());
        // Of a stream that may be anyone's there is nothing to tell.
        if std::mem::replace(&mut self.state, State::Lost) == State::Followed {
            found(Err((error, len)));
        }
    }

    fn close(self, found: &mut impl FnMut(Found)) {
        if self.state != State::Followed {
            return;
        }
        if !self.waiting.is_empty() {
            found(Err((NoPacket::Gap, self.waiting_len())));
        } else if !self.pending.is_empty()
            && let Some(error) = decode::rest_of_stream(&self.pending)
        {
            found(Err((error, self.pending.len())));
        }
    }
}

/// How far behind `next` is `sequence`, the shorter way round.
fn ahead(next: u32, sequence: u32) -> i32 {
    sequence.wrapping_sub(next) as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(port: u16) -> Path {
        let (from, to) = (([192, 0, 2, 1], RTYPE_PORT), ([192, 0, 2, 7], port));
        Path { from: from.into(), to: to.into() }
    }

    /// Hands `bytes` over as a segment and returns what came of it: names, or reasons.
    fn hand(streams: &mut Streams, path: Path, sequence: u32, payload: &[u8]) -> Vec<&'static str> {
        let mut names = Vec::new();
        let segment = Segment { sequence, syn: false, payload };
        streams.handle_segment(path, &segment, &mut |_, found| names.push(name(found)));
        names
    }

    fn rest(streams: &mut Streams) -> Vec<&'static str> {
        let mut names = Vec::new();
        streams.finish(&mut |_, found| names.push(name(found)));
        names
    }

    fn name(found: Found) -> &'static str {
        match found {
            Ok(message) => message.name,
            Err((error, _)) => error.reason(),
        }
    }

    const WELCOME: [u8; 4] = [0, 0, 100, 1];

    #[test]
    fn a_hole_is_waited_for_until_too_much_has_come() {
        for (segments, lost) in [(MAX_WAITING, false), (MAX_WAITING + 1, true)] {
            let mut streams = Streams::default();
            assert_eq!(hand(&mut streams, path(1), 0, &WELCOME), ["TcpWelcome"]);
            let mut found = Vec::new();
            for i in 1..=segments as u32 {
                found.extend(hand(&mut streams, path(1), 4 + 4 * i, &WELCOME));
            }
            assert_eq!(found, if lost { vec!["stream_gap"] } else { vec![] });
            // The missing piece comes: everything is read, or nothing any more.
            let all = hand(&mut streams, path(1), 4, &WELCOME).len();
            assert_eq!(all, if lost { 0 } else { segments + 1 });
            assert!(rest(&mut streams).is_empty());
        }
    }

    #[test]
    fn the_bytes_behind_a_hole_are_bounded() {
        for (len, lost) in [(MAX_WAITING_LEN, false), (MAX_WAITING_LEN + 1, true)] {
            let mut streams = Streams::default();
            hand(&mut streams, path(1), 0, &WELCOME);
            let found = hand(&mut streams, path(1), 8, &vec![0; len]);
            assert_eq!(found, if lost { vec!["stream_gap"] } else { vec![] });
        }
    }

    #[test]
    fn one_stream_too_many_ends_the_most_silent() {
        let mut streams = Streams::default();
        for port in 0..MAX_STREAMS as u16 {
            assert!(hand(&mut streams, path(port), 0, &WELCOME[..3]).is_empty());
        }
        assert!(hand(&mut streams, path(0), 3, &[]).is_empty());
        let mut ended = Vec::new();
        let segment = Segment { sequence: 0, syn: false, payload: &WELCOME[..3] };
        streams.handle_segment(path(9999), &segment, &mut |path, found| {
            ended.push((path.to.port(), name(found)));
        });
        assert_eq!(ended, [(1, "truncated")]);
        assert_eq!(streams.streams.len(), MAX_STREAMS);
        assert_eq!(rest(&mut streams).len(), MAX_STREAMS);
    }

    #[test]
    fn a_stream_that_makes_no_sense_is_reported_once() {
        let mut streams = Streams::default();
        assert_eq!(hand(&mut streams, path(1), 0, b"GET / HTTP/1.1"), ["version"]);
        assert!(hand(&mut streams, path(1), 14, &WELCOME).is_empty());
        assert!(rest(&mut streams).is_empty());
    }

    #[test]
    fn a_port_used_again_is_a_new_stream() {
        let mut streams = Streams::default();
        let syn = |sequence| Segment { sequence, syn: true, payload: &[] };
        let mut ended = Vec::new();
        streams.handle_segment(path(1), &syn(9), &mut |_, found| ended.push(name(found)));
        assert!(hand(&mut streams, path(1), 10, &WELCOME[..3]).is_empty());
        // The same SYN again is only a repetition.
        streams.handle_segment(path(1), &syn(9), &mut |_, found| ended.push(name(found)));
        assert!(ended.is_empty());
        streams.handle_segment(path(1), &syn(700), &mut |_, found| ended.push(name(found)));
        assert_eq!(ended, ["truncated"]);
        assert_eq!(hand(&mut streams, path(1), 701, &WELCOME), ["TcpWelcome"]);
    }
}
