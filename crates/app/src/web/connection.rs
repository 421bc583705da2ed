//! One connection: it sends one request, gets one reply or a stream of events, and is closed.
//!
//! Nothing here blocks. A connection gets a turn whenever anything happens, does what it can, and says
//! whether to keep it.

use std::io::{self, Read, Write};
use std::net::{IpAddr, Shutdown};
use std::rc::Rc;
use std::time::{Duration, Instant};

use mio::net::TcpStream;

use super::board::Watch;
use super::desk::Office;
use super::reply::{Reply, WithBody, stream_head};
use super::request::{HEAD_LIMIT, Head, Refusal};
use super::visitors::Seat;

/// How long a request may take to be said.
pub(super) const ASK_WITHIN: Duration = Duration::from_secs(5);

/// A reader that takes nothing for this long is dropped.
pub(super) const READ_WITHIN: Duration = Duration::from_secs(10);

/// How long and how much a connection may go on talking behind its answer: a close in its face
/// could take the answer with it.
const LINGER: Duration = Duration::from_secs(1);
const LINGER_BYTES: usize = 256 * 1024;

/// A client.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) stream: TcpStream,
    pub(super) seat: Seat,
    pub(super) since: Instant,
    peer: IpAddr,
    state: State,
}

#[derive(Debug)]
enum State {
    /// It is asking.
    Asking { head: Vec<u8>, until: Instant },
    /// It is being answered.
    Answering { out: Outgoing },
    /// It is told what happens.
    Following { out: Outgoing, subject: Subject, seen: Option<u64>, said: usize },
    /// It has its answer; what it still says is thrown away.
    Leaving { until: Instant, left: usize },
}

/// What a connection follows.
#[derive(Debug)]
pub(super) enum Subject {
    /// The server.
    Status,
    /// A room.
    Room(Watch),
}

/// What the connection gets for what it asked.
pub(super) enum Given {
    /// A reply.
    Reply(Reply),
    /// Events about a subject.
    Stream(Subject),
}

/// Whether a connection is still of use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    Keep,
    Close,
}

/// Bytes on their way to a client.
#[derive(Debug)]
struct Outgoing {
    bytes: Rc<[u8]>,
    sent: usize,
    /// When something was taken last.
    moved: Instant,
}

impl Outgoing {
    fn new(bytes: impl Into<Rc<[u8]>>, now: Instant) -> Self {
        Outgoing { bytes: bytes.into(), sent: 0, moved: now }
    }

    fn is_sent(&self) -> bool {
        self.sent == self.bytes.len()
    }

    /// Writes as much as the client takes.
    fn write(&mut self, stream: &mut TcpStream, now: Instant) -> io::Result<()> {
        while !self.is_sent() {
            match stream.write(&self.bytes[self.sent..]) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(count) => (self.sent, self.moved) = (self.sent + count, now),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        match now.duration_since(self.moved) >= READ_WITHIN && !self.is_sent() {
            true => Err(io::ErrorKind::TimedOut.into()),
            false => Ok(()),
        }
    }
}

impl Connection {
    pub(super) fn new(stream: TcpStream, peer: IpAddr, seat: Seat, now: Instant) -> Self {
        let state = State::Asking { head: Vec::new(), until: now + ASK_WITHIN };
        Connection { stream, seat, since: now, peer, state }
    }

    /// Whether it is a stream.
    pub(super) fn is_following(&self) -> bool {
        matches!(self.state, State::Following { .. })
    }

    /// When it must have its turn again, even if nothing happens.
    pub(super) fn deadline(&self) -> Option<Instant> {
        match &self.state {
            State::Asking { until, .. } | State::Leaving { until, .. } => Some(*until),
            State::Answering { out } => Some(out.moved + READ_WITHIN),
            State::Following { out, .. } => (!out.is_sent()).then(|| out.moved + READ_WITHIN),
        }
    }

    /// Does what can be done now.
    pub(super) fn turn(&mut self, now: Instant, office: &mut Office) -> Fate {
        // Any error means that nobody is there.
        self.advance(now, office).unwrap_or(Fate::Close)
    }

    fn advance(&mut self, now: Instant, office: &mut Office) -> io::Result<Fate> {
        loop {
            match &mut self.state {
                State::Asking { head, until } => {
                    let is_over = head.len() < HEAD_LIMIT
                        && read(&mut self.stream, |bytes| {
                            head.extend_from_slice(
                                &bytes[..bytes.len().min(HEAD_LIMIT - head.len())],
                            );
                            head.len() < HEAD_LIMIT
                        })?;
                    let asked = match Head::read(head) {
                        Head::Partial if is_over => return Ok(Fate::Close),
                        Head::Partial if now >= *until => Err(Refusal::Slow),
                        Head::Partial => return Ok(Fate::Keep),
                        Head::Whole(request) => Ok(request),
                        Head::Refused(refusal) => Err(refusal),
                    };
                    let with_body = match asked {
                        Ok(request) if request.method == "HEAD" => WithBody::No,
                        _ => WithBody::Yes,
                    };
                    let (peer, seat) = (self.peer, &mut self.seat);
                    let asked = asked.as_ref().map_err(|refusal| *refusal);
                    self.state = match office.answer(now, asked, peer, seat) {
                        Given::Reply(reply) => {
                            State::Answering { out: Outgoing::new(reply.encode(with_body), now) }
                        }
                        Given::Stream(subject) => {
                            let out = Outgoing::new(stream_head().into_bytes(), now);
                            match with_body {
                                WithBody::No => State::Answering { out },
                                WithBody::Yes => {
                                    State::Following { out, subject, seen: None, said: 0 }
                                }
                            }
                        }
                    };
                }
                State::Answering { out } => {
                    out.write(&mut self.stream, now)?;
                    if !out.is_sent() {
                        return Ok(Fate::Keep);
                    }
                    self.stream.shutdown(Shutdown::Write)?;
                    self.state = State::Leaving { until: now + LINGER, left: LINGER_BYTES };
                }
                State::Following { out, subject, seen, said } => {
                    if discard(&mut self.stream, HEAD_LIMIT, said)? {
                        return Ok(Fate::Close);
                    }
                    out.write(&mut self.stream, now)?;
                    if !out.is_sent() {
                        return Ok(Fate::Keep);
                    }
                    // A slow reader skips to the newest.
                    let Some((number, bytes)) = office.news(subject, *seen) else {
                        return Ok(Fate::Keep);
                    };
                    *seen = Some(number);
                    *out = Outgoing::new(bytes, now);
                }
                State::Leaving { until, left } => {
                    let mut said = 0;
                    let is_over = discard(&mut self.stream, *left, &mut said)?;
                    *left -= said.min(*left);
                    return Ok(if is_over || now >= *until { Fate::Close } else { Fate::Keep });
                }
            }
        }
    }
}

/// Reads what has come, and hands it on until that wants no more; says whether the client has closed
/// its side.
fn read(stream: &mut TcpStream, mut wants_more: impl FnMut(&[u8]) -> bool) -> io::Result<bool> {
    let mut buffer = [0; 1024];
    loop {
        match stream.read(&mut buffer) {
            Ok(0) => return Ok(true),
            Ok(count) if wants_more(&buffer[..count]) => {}
            Ok(_) => return Ok(false),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Throws away what the client says, and counts it in `said`; says whether it has closed its side
/// or said more than `limit`.
fn discard(stream: &mut TcpStream, limit: usize, said: &mut usize) -> io::Result<bool> {
    let is_over = read(stream, |bytes| {
        *said += bytes.len();
        *said <= limit
    })?;
    Ok(is_over || *said > limit)
}
