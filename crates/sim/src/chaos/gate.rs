//! The server as a driver runs it, on a machine with troubles of its own: everything that goes in
//! and out passes the [ledger](Ledger) and the [audit](Audit).
//!
//! What the real loop does in each trouble, and so this one (`crates/udp/src/driver.rs`): a stalled
//! process finds in its socket what came meanwhile, up to what the socket holds, and reads all of it
//! before it looks at its timers. The system says by the wall clock when each datagram came, and the
//! node is told that, but never a time before the last that it was told, and none after now: so a
//! wall clock that was set forward in between dates all of it at the beginning of the stall, and one
//! that was set back dates it now. Timers themselves run on a clock that nobody sets. What the
//! system does not take (ENOBUFS, EAGAIN) is lost, as if on the way. What it cannot read or accept
//! (an error of the socket, EMFILE) waits there; ECONNREFUSED belongs to a datagram before, and the
//! next is read at once.

use std::collections::{BTreeMap, VecDeque};

use super::act::Dating;
use super::audit::Audit;
use super::ledger::Ledger;
use super::play::Play;
use super::probe::Probe;
use super::rules::Rules;
use backspin::node::{Node, Path, StreamAction, StreamEvent, StreamId, StreamNode, Transmit};
use backspin::peer::PeerAddr;
use backspin::room::{ClosedRoom, RoomEvent};
use backspin::server::Server;
use backspin::time::Time;
use backspin::wire::native::{Datagram, Packet, SessionIndex};

/// A server whose datagrams are counted and whose answers are judged.
#[derive(Debug)]
pub(super) struct Gate {
    pub(super) server: Server<Probe>,
    pub(super) ledger: Ledger,
    pub(super) audit: Audit,
    /// What rooms said of their members and nobody has asked for, with the room's number.
    pub(super) events: Vec<(u32, RoomEvent)>,
    /// Datagrams with a world of someone's own that nobody has looked at, and whose they are.
    pub(super) views: Vec<(SessionIndex, Vec<u8>)>,
    /// The number of the last of them that went to each session, or of the Accept.
    numbers: BTreeMap<SessionIndex, u32>,
    play: Play,
    /// Does nothing, and what comes is dated so when it goes on.
    pub(super) stalled: Option<Dating>,
    /// Nothing can be read.
    pub(super) is_deaf: bool,
    /// Every second datagram is not taken by the system.
    pub(super) is_mute: bool,
    /// What came and was not read yet.
    unread: VecDeque<Unread>,
    /// The last time that the server was told: it never goes back.
    told: Time,
    sent: u64,
}

/// Something that waits to be read.
#[derive(Debug)]
struct Unread {
    at: Time,
    what: Came,
}

#[derive(Debug)]
enum Came {
    Datagram(Path, Vec<u8>),
    Opened(StreamId, PeerAddr),
    Failed(StreamId),
    Received(StreamId, Vec<u8>),
    Closed(StreamId),
}

/// The types of a ViewSnapshot and of an Accept, in the header.
const VIEW_TYPE: u8 = 0xA4;
const ACCEPT_TYPE: u8 = 0x82;

/// Datagrams that a socket holds; more are lost.
const SOCKET_HOLDS: usize = 900;

impl Gate {
    pub(super) fn new(server: Server<Probe>, rules: Rules, play: Play) -> Self {
        Gate {
            server,
            ledger: Ledger::default(),
            audit: Audit::new(rules),
            events: Vec::new(),
            views: Vec::new(),
            numbers: BTreeMap::new(),
            play,
            stalled: None,
            is_deaf: false,
            is_mute: false,
            unread: VecDeque::new(),
            told: Time::ZERO,
            sent: 0,
        }
    }

    /// Goes on; what came meanwhile is read first.
    pub(super) fn wake(&mut self) {
        let Some(dating) = self.stalled.take() else { return };
        for unread in &mut self.unread {
            match dating {
                Dating::ByArrival => {}
                Dating::SetForward => unread.at = Time::ZERO,
                Dating::SetBack => unread.at = Time::END,
            }
        }
    }

    fn waits(&self) -> bool {
        self.stalled.is_some() || self.is_deaf || !self.unread.is_empty()
    }

    pub(super) fn handle_datagram(&mut self, now: Time, path: Path, bytes: &mut [u8]) {
        if !self.waits() {
            self.told = self.told.max(now);
            self.read(path, bytes);
        } else if self.unread.len() < SOCKET_HOLDS {
            let what = Came::Datagram(path, bytes.to_vec());
            self.unread.push_back(Unread { at: now, what });
        }
    }

    fn read(&mut self, path: Path, bytes: &mut [u8]) {
        self.ledger.note_received(path.remote, bytes);
        self.audit.note_received(self.told, path.remote, bytes, &self.server);
        self.server.handle_datagram(self.told, path, bytes);
    }

    pub(super) fn handle_timeout(&mut self, now: Time) {
        if self.stalled.is_some() {
            return;
        }
        if !self.is_deaf && !self.unread.is_empty() {
            self.read_some(now);
            self.audit.check_answers(&self.server);
            return;
        }
        self.told = self.told.max(now);
        self.audit.note_timeout();
        self.server.handle_timeout(self.told);
        self.collect_events();
    }

    /// Asks the rooms what happened, also those that have closed. Whose queue was full has no place any
    /// more.
    pub(super) fn collect_events(&mut self) {
        let news = self.events.len();
        while let Some(ClosedRoom { number, events, .. }) = self.server.poll_closed() {
            self.events.extend(events.into_iter().map(|event| (number, event)));
        }
        for room in self.server.rooms_mut() {
            let number = room.number();
            self.events.extend(std::iter::from_fn(|| Some((number, room.poll_event()?))));
        }
        for (number, event) in &self.events[news..] {
            if let RoomEvent::Overrun(player) = event {
                self.audit.note_overrun(*number, *player);
            }
        }
    }

    /// Reads the oldest of what waits: one, or all that are next to each other and change nobody's
    /// place, so that their answers wait for each other, too.
    fn read_some(&mut self, now: Time) {
        let mut is_first = true;
        while let Some(next) = self.unread.front() {
            let is_plain = matches!(&next.what, Came::Datagram(_, bytes) if is_plain(bytes));
            if !is_first && !is_plain {
                return;
            }
            let Some(Unread { at, what }) = self.unread.pop_front() else { return };
            self.told = self.told.max(at.min(now));
            match what {
                Came::Datagram(path, mut bytes) => self.read(path, &mut bytes),
                Came::Opened(stream, peer) => self.hear(stream, StreamEvent::Opened(peer)),
                Came::Failed(stream) => self.hear(stream, StreamEvent::Failed),
                Came::Received(stream, bytes) => self.hear(stream, StreamEvent::Received(&bytes)),
                Came::Closed(stream) => self.hear(stream, StreamEvent::Closed),
            }
            if !is_plain {
                return;
            }
            is_first = false;
        }
    }

    pub(super) fn poll_transmit(&mut self, now: Time, out: &mut [u8]) -> Option<Transmit> {
        if self.stalled.is_some() {
            return None;
        }
        while let Some(transmit) = self.server.poll_transmit(self.told.max(now), out) {
            let bytes = &out[..transmit.len];
            self.ledger.note_sent(transmit.path.remote, bytes);
            self.audit.note_sent(transmit.path.remote, bytes);
            if !self.play.is_small() {
                self.note_view(&out[..transmit.len]);
            }
            self.sent += 1;
            if !self.is_mute || self.sent.is_multiple_of(2) {
                return Some(transmit);
            }
        }
        None
    }

    /// Keeps a datagram with a world of someone's own. It does not say whose it is, and two sessions may
    /// be at one address: its number tells.
    fn note_view(&mut self, bytes: &[u8]) {
        if !matches!(bytes.get(1), Some(&(VIEW_TYPE | ACCEPT_TYPE))) {
            return;
        }
        let Ok(Datagram { sequence, packet }) = Datagram::decode(bytes) else { return };
        if let Packet::Accept(accept) = packet {
            self.numbers.insert(accept.session, sequence);
            return;
        }
        let nearest = self.numbers.iter_mut().min_by_key(|(_, last)| sequence.wrapping_sub(**last));
        if let Some((session, last)) = nearest {
            *last = sequence;
            self.views.push((*session, bytes.to_vec()));
        }
    }

    pub(super) fn poll_timeout(&self) -> Option<Time> {
        match self.stalled {
            Some(_) => None,
            None if !self.is_deaf && !self.unread.is_empty() => Some(self.told),
            None => self.server.poll_timeout(),
        }
    }

    pub(super) fn handle_stream(&mut self, now: Time, stream: StreamId, event: StreamEvent<'_>) {
        if !self.waits() {
            self.told = self.told.max(now);
            self.hear(stream, event);
            return;
        }
        let what = match event {
            StreamEvent::Opened(peer) => Came::Opened(stream, peer),
            StreamEvent::Failed => Came::Failed(stream),
            StreamEvent::Received(bytes) => Came::Received(stream, bytes.to_vec()),
            StreamEvent::Closed => Came::Closed(stream),
        };
        self.unread.push_back(Unread { at: now, what });
    }

    fn hear(&mut self, stream: StreamId, event: StreamEvent<'_>) {
        if let StreamEvent::Opened(peer) = event {
            self.ledger.note_stream(peer);
        }
        self.audit.note_stream(self.told, stream, &event);
        self.server.handle_stream(self.told, stream, event);
    }

    pub(super) fn poll_stream(
        &mut self,
        now: Time,
        out: &mut [u8],
    ) -> Option<(StreamId, StreamAction)> {
        if self.stalled.is_some() {
            return None;
        }
        let action = self.server.poll_stream(self.told.max(now), out);
        match &action {
            Some((stream, action)) => self.audit.note_action(self.told, *stream, action, out),
            // Nothing more to be said or done for now.
            None => self.audit.settle(self.told, &self.server),
        }
        action
    }
}

/// Whether a datagram changes nothing of who has a place where: then its answer can wait.
fn is_plain(bytes: &[u8]) -> bool {
    let packet = Datagram::decode(bytes).map(|datagram| datagram.packet);
    packet.is_ok_and(|packet| {
        !matches!(
            packet,
            Packet::Join(_)
                | Packet::CreateRoom(_)
                | Packet::Resume(_)
                | Packet::EnterRoom(_)
                | Packet::Goodbye(_)
        )
    })
}
