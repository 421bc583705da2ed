//! A server that records what is done to it.

use std::time::Duration;

use super::entry::{Context, Entry, Polled};
use super::origin::{Build, Origin};
use super::witness::Witness;
use super::{BUFFER_LEN, FORM, LONGEST};
use crate::frame::Framer;
use backspin::dialect::Dialect;
use backspin::endpoint::{BansFull, EndpointConfig};
use backspin::game::{Game, PlayerId};
use backspin::node::{
    Fetch, Node, Path, Prefetch, StreamAction, StreamEvent, StreamId, StreamNode, Transmit,
};
use backspin::peer::LimitKey;
use backspin::room::RoomConfig;
use backspin::server::Server;
use backspin::time::Time;
use backspin::wire::Name;
use backspin::wire::native::CloseReason;

/// A server and, where it is wanted, its log. It is driven like the server itself.
///
/// While it writes, the server is polled at the time of what it was handed last: so the log needs
/// no times for polls. A driver that polls at once, as all do, makes no difference of it.
#[derive(Debug)]
pub struct Recorded<G: Game> {
    server: Server<G>,
    tape: Option<Tape>,
}

#[derive(Debug)]
struct Tape {
    framer: Framer,
    context: Context,
    witness: Witness,
    /// Polls that are not written yet.
    run: Option<(Polled, u64)>,
    /// What has nothing until something is handled.
    dry: Vec<Polled>,
    next_checkpoint: Time,
}

/// A frame is ended once it has so many bytes.
const FRAME_LEN: usize = 16 * 1024;

const CHECKPOINT_EVERY: Duration = Duration::from_secs(1);

impl<G: Game> Recorded<G> {
    /// A server without rooms that writes nothing down. `seed` as for [`Server::new`].
    pub fn off(config: EndpointConfig, seed: [u8; 32]) -> Self {
        Recorded { server: Server::new(config, seed), tape: None }
    }

    /// A server without rooms that writes everything down from `now` on; the wall clock shows
    /// `unix_ms`.
    pub fn on(now: Time, unix_ms: u64, config: EndpointConfig, seed: [u8; 32]) -> Self {
        let origin =
            Origin { build: Build::HERE, unix_ms, start: now, seed, config: config.clone() };
        let mut framer = Framer::new(FORM);
        origin.encode(&mut framer.body);
        framer.seal();
        let tape = Tape {
            framer,
            context: Context::new(now),
            witness: Witness::new(),
            run: None,
            dry: Vec::new(),
            next_checkpoint: now + CHECKPOINT_EVERY,
        };
        Recorded { server: Server::new(config, seed), tape: Some(tape) }
    }

    /// Like [`Server::speaking`]. The log does not say which dialects: who runs it again must name the
    /// same.
    pub fn speaking(self, dialects: &'static [&'static dyn Dialect<G>]) -> Self {
        Recorded { server: self.server.speaking(dialects), ..self }
    }

    /// Like [`Server::open`].
    pub fn open(&mut self, now: Time, game: G, name: Name, seed: u64, config: RoomConfig) -> usize {
        let now = self.handle(now, &Entry::Open { game: game.id(), name, seed, config });
        self.server.open(now, game, name, seed, config)
    }

    /// Like [`Server::offer`].
    pub fn offer(&mut self, now: Time, game: G, name: Name, most: u16, config: RoomConfig) {
        let now = self.handle(now, &Entry::Offer { game: game.id(), name, most, config });
        self.server.offer(now, game, name, most, config);
    }

    /// Like [`Server::close`].
    pub fn close(&mut self, now: Time, reason: CloseReason) {
        self.handle(now, &Entry::Close(reason));
        self.server.close(reason);
    }

    /// Like [`Server::kick`].
    pub fn kick(&mut self, now: Time, room: usize, player: PlayerId) {
        self.handle(now, &Entry::Kick { room: room as u64, player });
        self.server.kick(room, player);
    }

    /// Like [`Server::drain`].
    pub fn drain(&mut self, now: Time) {
        self.handle(now, &Entry::Drain);
        self.server.drain();
    }

    /// Like [`Server::undrain`].
    pub fn undrain(&mut self, now: Time) {
        self.handle(now, &Entry::Undrain);
        self.server.undrain();
    }

    /// Like [`Server::ban`], from now on for so long, at most ten years; `None` is for good.
    pub fn ban(
        &mut self,
        now: Time,
        key: LimitKey,
        lasts: Option<Duration>,
    ) -> Result<(), BansFull> {
        let lasts = lasts.map(|lasts| lasts.min(LONGEST));
        let now = self.handle(now, &Entry::Ban { key, lasts });
        self.server.ban(now, key, lasts.map(|lasts| now + lasts))
    }

    /// Like [`Server::lift_ban`].
    pub fn lift_ban(&mut self, now: Time, key: LimitKey) {
        self.handle(now, &Entry::LiftBan(key));
        self.server.lift_ban(key);
    }

    /// Like [`Server::release_end`].
    pub fn release_end(&mut self, now: Time, room: usize) {
        self.handle(now, &Entry::ReleaseEnd { room: room as u64 });
        self.server.release_end(room);
    }

    /// The server.
    pub fn server(&self) -> &Server<G> {
        &self.server
    }

    /// The server, to be asked what happened. What is done to it here is not written down.
    pub fn server_mut(&mut self) -> &mut Server<G> {
        &mut self.server
    }

    /// Moves what was written to the end of `out`: call it after every turn. A second after it
    /// happened, everything is there.
    pub fn poll_log(&mut self, now: Time, out: &mut Vec<u8>) {
        let Some(tape) = &mut self.tape else { return };
        if now >= tape.next_checkpoint {
            tape.next_checkpoint = now + CHECKPOINT_EVERY;
            tape.check(&self.server);
            tape.framer.seal();
        }
        tape.framer.take(out);
    }

    /// Ends the log, and moves the rest of it to the end of `out`.
    pub fn finish_log(&mut self, out: &mut Vec<u8>) {
        let Some(mut tape) = self.tape.take() else { return };
        tape.check(&self.server);
        tape.write(&Entry::End);
        tape.framer.seal();
        tape.framer.take(out);
    }

    /// Forgets the log; the server goes on without.
    pub fn drop_log(&mut self) {
        self.tape = None;
    }

    /// Writes down what is about to be done, and says when it is done.
    fn handle(&mut self, now: Time, entry: &Entry<'_>) -> Time {
        self.tape.as_mut().map_or(now, |tape| tape.handle(now, entry))
    }

    /// Polls, and writes down that it did.
    fn poll<T>(
        &mut self,
        polled: Polled,
        now: Time,
        poll: impl FnOnce(&mut Server<G>, Time) -> Option<T>,
        see: impl FnOnce(&mut Witness, &T),
    ) -> Option<T> {
        let Some(tape) = &mut self.tape else { return poll(&mut self.server, now) };
        if tape.dry.contains(&polled) {
            return None;
        }
        if tape.run.is_some_and(|(running, _)| running != polled) {
            tape.end_run();
        }
        let found = poll(&mut self.server, tape.context.now());
        match &found {
            Some(found) => {
                see(&mut tape.witness, found);
                tape.run = Some((polled, tape.run.map_or(1, |(_, calls)| calls + 1)));
            }
            None => {
                tape.run = None;
                tape.dry.push(polled);
                tape.write(&Entry::Polled(polled, None));
            }
        }
        found
    }
}

impl Tape {
    fn handle(&mut self, now: Time, entry: &Entry<'_>) -> Time {
        self.end_run();
        self.dry.clear();
        let after = self.context.advance(now);
        self.context.encode(after, entry, &mut self.framer.body);
        if self.framer.body.len() >= FRAME_LEN {
            self.framer.seal();
        }
        self.context.now()
    }

    fn end_run(&mut self) {
        if let Some((polled, calls)) = self.run.take() {
            self.write(&Entry::Polled(polled, Some(calls)));
        }
    }

    fn check<G: Game>(&mut self, server: &Server<G>) {
        self.end_run();
        let checkpoint = self.witness.checkpoint(server);
        self.write(&Entry::Checkpoint(checkpoint));
    }

    /// A line without a time.
    fn write(&mut self, entry: &Entry<'_>) {
        self.context.encode(Duration::ZERO, entry, &mut self.framer.body);
    }
}

impl<G: Game> Node for Recorded<G> {
    fn handle_datagram(&mut self, now: Time, path: Path, bytes: &mut [u8]) {
        let now = self.handle(now, &Entry::Datagram { path, bytes });
        self.server.handle_datagram(now, path, bytes);
    }

    fn handle_timeout(&mut self, now: Time) {
        let now = self.handle(now, &Entry::Timeout);
        self.server.handle_timeout(now);
    }

    fn poll_transmit(&mut self, now: Time, out: &mut [u8]) -> Option<Transmit> {
        let len = out.len().min(BUFFER_LEN);
        let out = &mut out[..len];
        let buffer = &mut *out;
        let transmit = self.poll(
            Polled::Transmits,
            now,
            |server, now| {
                let transmit = server.poll_transmit(now, buffer)?;
                Some((transmit, &buffer[..transmit.len]))
            },
            |witness, (transmit, bytes)| witness.transmit(transmit, bytes),
        );
        transmit.map(|(transmit, _)| transmit)
    }

    fn poll_timeout(&self) -> Option<Time> {
        self.server.poll_timeout()
    }

    fn prefetch(&self, coming: Prefetch<'_>, fetch: Fetch) {
        self.server.prefetch(coming, fetch);
    }
}

impl<G: Game> StreamNode for Recorded<G> {
    fn accepts_streams(&self) -> bool {
        self.server.accepts_streams()
    }

    fn handle_stream(&mut self, now: Time, stream: StreamId, event: StreamEvent<'_>) {
        let now = self.handle(now, &Entry::Stream { stream, event });
        self.server.handle_stream(now, stream, event);
    }

    fn poll_stream(&mut self, now: Time, out: &mut [u8]) -> Option<(StreamId, StreamAction)> {
        let len = out.len().min(BUFFER_LEN);
        let out = &mut out[..len];
        let done = self.poll(
            Polled::Streams,
            now,
            |server, now| {
                let (stream, action) = server.poll_stream(now, out)?;
                Some((stream, action, &*out))
            },
            |witness, &(stream, action, bytes)| witness.stream(stream, action, bytes),
        );
        done.map(|(stream, action, _)| (stream, action))
    }
}
