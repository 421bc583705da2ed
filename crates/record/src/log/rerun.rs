//! Replays a log into a server made from it.

use std::fmt;
use std::time::Duration;

use super::entry::{Checkpoint, Context, Entry, Polled};
use super::origin::{Build, Origin};
use super::witness::Witness;
use super::{BUFFER_LEN, FORM, OFFER_LIMIT, ROOM_LIMIT};
use crate::frame::{Damage, FramePlace, Frames};
use backspin::dialect::Dialect;
use backspin::game::{Game, GameId};
use backspin::node::{Node, StreamNode};
use backspin::room::RoomEvent;
use backspin::server::Server;
use backspin::time::Time;
use backspin::wire::{Fault, Malformed, Reader};
use thiserror::Error;

/// Does again what a log says was done, as fast as it can.
///
/// Hand it the log with [`Rerun::handle_bytes`], in pieces of any size: it keeps no more of it
/// than one frame. Where it ends, ask for the [`Verdict`].
#[derive(Debug)]
pub struct Rerun<G: Game, F> {
    /// The rules of the game with this id, if they are here.
    rules: F,
    frames: Frames,
    /// The start of a frame whose rest has not come yet.
    rest: Vec<u8>,
    run: Option<Run<G>>,
    out: Box<[u8; BUFFER_LEN]>,
    ended: bool,
    dialects: &'static [&'static dyn Dialect<G>],
}

#[derive(Debug)]
struct Run<G: Game> {
    origin: Origin,
    server: Server<G>,
    context: Context,
    witness: Witness,
    counts: Counts,
    /// How many games were offered.
    offers: usize,
    /// When the last checkpoint was as recorded.
    agreed: Time,
    difference: Option<Difference>,
}

/// What there was in a log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Datagrams that came in.
    pub datagrams: u64,
    /// Their bytes.
    pub datagram_bytes: u64,
    /// Things that happened to streams.
    pub stream_events: u64,
    /// Deadlines that passed.
    pub timeouts: u64,
    /// Datagrams that went out.
    pub transmits: u64,
    /// Rooms that were opened.
    pub rooms: u64,
    /// Players and watchers who joined.
    pub joined: u64,
    /// Checkpoints that were compared.
    pub checkpoints: u64,
}

/// Where a replay went another way than the recording. Times count from the start of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Up to here all was the same.
    pub after: Duration,
    /// Here it was not.
    pub by: Duration,
    /// What was not.
    pub what: Differs,
}

/// What was otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Differs {
    /// What the node sent; the rooms were the same.
    Sent,
    /// What there was in the rooms.
    World,
}

/// What a replay came to.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// How the node began.
    pub origin: Origin,
    /// From the start to the last line.
    pub length: Duration,
    /// What there was in the log.
    pub counts: Counts,
    /// The digest of all that the replay sent.
    pub digest: u64,
    /// Where the replay first went another way, if it did.
    pub difference: Option<Difference>,
    /// Why the log was not read to its end, if it was not.
    pub damage: Option<Damage>,
}

/// Why a log cannot be replayed, or not further.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum LogError {
    /// The log is not whole.
    #[error(transparent)]
    Damage(#[from] Damage),
    /// It was written by a program with another protocol or other dialects.
    #[error(
        "it was written by a program with protocol {} and dialects {}, and this one has protocol {} and dialects {}; \
         use the one that wrote it",
        .0.protocol, .0.dialects, Build::HERE.protocol, Build::HERE.dialects
    )]
    Build(Build),
    /// It has a room of a game that is not here, or not in this version.
    #[error("it has a room of {0}, which this program does not have")]
    Game(GameId),
}

impl<G: Game, F: FnMut(GameId) -> Option<G>> Rerun<G, F> {
    /// A replay of a log that is still to come. `rules` has the games.
    pub fn new(rules: F) -> Self {
        Rerun {
            rules,
            frames: Frames::new(FORM),
            rest: Vec::new(),
            run: None,
            out: Box::new([0; BUFFER_LEN]),
            ended: false,
            dialects: &[],
        }
    }

    /// The same of a server that spoke these dialects: see
    /// [`Recorded::speaking`](super::Recorded::speaking).
    pub fn speaking(self, dialects: &'static [&'static dyn Dialect<G>]) -> Self {
        Rerun { dialects, ..self }
    }

    /// Replays the next bytes of the log. After an error nothing more can be.
    pub fn handle_bytes(&mut self, bytes: &[u8]) -> Result<(), LogError> {
        let mut rest = std::mem::take(&mut self.rest);
        rest.extend_from_slice(bytes);
        let mut used = 0;
        while used < rest.len() {
            if self.ended {
                let offset = self.frames.offset();
                return Err(LogError::Damage(Damage::Trailing { offset }));
            }
            let Some(frame) = self.frames.next(&rest[used..])? else { break };
            self.handle_frame(frame.place, frame.body)?;
            used += frame.used;
        }
        rest.drain(..used);
        self.rest = rest;
        Ok(())
    }

    /// The server as it is now, for whoever looks for what went wrong; `None` before the first
    /// frame.
    pub fn server(&self) -> Option<&Server<G>> {
        self.run.as_ref().map(|run| &run.server)
    }

    /// What the log came to, which has no more bytes. One that does not say that it ends was cut
    /// short.
    pub fn finish(self) -> Result<Verdict, LogError> {
        match self.ended {
            true => self.salvage(None),
            false => Err(Damage::Cut { good: self.frames.offset() }.into()),
        }
    }

    /// What the log came to as far as it was good: what could be replayed of one that
    /// [`Rerun::handle_bytes`] refused, or that was cut short.
    pub fn salvage(self, damage: Option<Damage>) -> Result<Verdict, LogError> {
        let cut = Damage::Cut { good: self.frames.offset() };
        let Some(run) = self.run else { return Err(damage.unwrap_or(cut).into()) };
        Ok(Verdict {
            length: run.context.now().since(run.origin.start),
            counts: Counts { rooms: run.server.endpoint().rooms_opened().into(), ..run.counts },
            digest: run.witness.checkpoint(&run.server).sent,
            difference: run.difference,
            origin: run.origin,
            damage: damage.or((!self.ended).then_some(cut)),
        })
    }

    fn handle_frame(&mut self, place: FramePlace, body: &[u8]) -> Result<(), LogError> {
        let malformed = |fault| LogError::Damage(Damage::Malformed { place, fault });
        let mut r = Reader::new(body);
        let Some(run) = &mut self.run else {
            let origin = Origin::decode(&mut r).map_err(malformed)?.map_err(LogError::Build)?;
            r.finish("origin").map_err(malformed)?;
            let spoken = origin.build.dialects_spoken().unwrap_or(0).min(self.dialects.len());
            self.run = Some(Run::new(origin, &self.dialects[..spoken]));
            return Ok(());
        };
        let rules = &mut self.rules;
        let mut game = |id| rules(id).filter(|game| game.id() == id).ok_or(LogError::Game(id));
        while r.left() > 0 {
            let entry = run.context.decode(&mut r).map_err(malformed)?;
            match entry {
                Entry::Open { game: id, name, seed, config } => {
                    limit("room", run.server.rooms().len(), ROOM_LIMIT).map_err(malformed)?;
                    run.server.open(run.context.now(), game(id)?, name, seed, config);
                }
                Entry::Offer { game: id, name, most, config } => {
                    limit("offer", run.offers, OFFER_LIMIT).map_err(malformed)?;
                    run.offers += 1;
                    run.server.offer(run.context.now(), game(id)?, name, most, config);
                }
                Entry::End => {
                    self.ended = true;
                    return r.finish("end").map_err(malformed);
                }
                entry => run.handle(entry, &mut self.out[..]),
            }
        }
        Ok(())
    }
}

impl<G: Game> Run<G> {
    fn new(origin: Origin, dialects: &'static [&'static dyn Dialect<G>]) -> Self {
        Run {
            server: Server::new(origin.config.clone(), origin.seed).speaking(dialects),
            context: Context::new(origin.start),
            witness: Witness::new(),
            counts: Counts::default(),
            offers: 0,
            agreed: origin.start,
            difference: None,
            origin,
        }
    }

    fn handle(&mut self, entry: Entry<'_>, out: &mut [u8]) {
        let now = self.context.now();
        match entry {
            Entry::Datagram { path, bytes } => {
                self.counts.datagrams += 1;
                self.counts.datagram_bytes += bytes.len() as u64;
                // No driver hands over more than its buffer holds.
                let len = bytes.len().min(out.len());
                out[..len].copy_from_slice(&bytes[..len]);
                self.server.handle_datagram(now, path, &mut out[..len]);
            }
            Entry::Timeout => {
                self.counts.timeouts += 1;
                self.server.handle_timeout(now);
            }
            Entry::Stream { stream, event } => {
                self.counts.stream_events += 1;
                self.server.handle_stream(now, stream, event);
            }
            Entry::Polled(polled, calls) => {
                // Polls no further than there is something, whatever the log says.
                let mut left = calls.unwrap_or(u64::MAX);
                while left > 0 && self.poll(polled, now, out).is_some() {
                    left -= 1;
                }
            }
            Entry::Close(reason) => self.server.close(reason),
            Entry::Kick { room, player } => {
                self.server.kick(usize::try_from(room).unwrap_or(usize::MAX), player);
            }
            Entry::Drain => self.server.drain(),
            Entry::Undrain => self.server.undrain(),
            Entry::Ban { key, lasts } => {
                // There was no place for it then either.
                let _ = self.server.ban(now, key, lasts.map(|lasts| now + lasts));
            }
            Entry::LiftBan(key) => self.server.lift_ban(key),
            Entry::ReleaseEnd { room } => {
                self.server.release_end(usize::try_from(room).unwrap_or(usize::MAX));
            }
            Entry::Checkpoint(recorded) => self.compare(recorded),
            Entry::Open { .. } | Entry::Offer { .. } | Entry::End => {}
        }
    }

    fn poll(&mut self, polled: Polled, now: Time, out: &mut [u8]) -> Option<()> {
        match polled {
            Polled::Transmits => {
                let transmit = self.server.poll_transmit(now, out)?;
                self.counts.transmits += 1;
                self.witness.transmit(&transmit, out);
            }
            Polled::Streams => {
                let (stream, action) = self.server.poll_stream(now, out)?;
                self.witness.stream(stream, action, out);
            }
        }
        Some(())
    }

    fn compare(&mut self, recorded: Checkpoint) {
        self.counts.checkpoints += 1;
        let joined = |event: &RoomEvent| u64::from(matches!(event, RoomEvent::Joined(..)));
        for room in self.server.rooms_mut() {
            while let Some(event) = room.poll_event() {
                self.counts.joined += joined(&event);
            }
        }
        while let Some(room) = self.server.poll_closed() {
            self.counts.joined += room.events.iter().map(joined).sum::<u64>();
        }
        let (now, start) = (self.context.now(), self.origin.start);
        let replayed = self.witness.checkpoint(&self.server);
        if replayed == recorded {
            if self.difference.is_none() {
                self.agreed = now;
            }
            return;
        }
        let what = if replayed.world == recorded.world { Differs::Sent } else { Differs::World };
        let (after, by) = (self.agreed.since(start), now.since(start));
        self.difference.get_or_insert(Difference { after, by, what });
    }
}

/// There are `count` already: there is room for one more.
fn limit(what: &'static str, count: usize, limit: usize) -> Result<(), Malformed> {
    match count < limit {
        true => Ok(()),
        false => Err(Malformed::new(what, Fault::OutOfRange(limit as i64 + 1))),
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (after, by) = (self.after.as_secs_f64(), self.by.as_secs_f64());
        let what = match self.what {
            Differs::Sent => "it sent something different",
            Differs::World => "its rooms were different",
        };
        write!(f, "identical up to {after:.3} s; by {by:.3} s {what}")
    }
}
