//! The TCP step of `rtype`: who may open a stream, and for how long.

use backspin::peer::PeerAddr;
use std::time::Duration;

use super::super::breach::Breach;
use super::Audit;
use super::answers::is_full_there;
use super::{Certainty, Due, Key, Question, Why};
use crate::chaos::probe::Probe;
use backspin::node::{StreamAction, StreamEvent, StreamId};
use backspin::server::Server;
use backspin::time::Time;
use backspin_classic::Dialect;
use backspin_classic::wire::rtype::{HEADER_LEN, Hello, Message, Packet};

/// A stream that is open, as far as has passed.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpenStream {
    id: StreamId,
    peer: PeerAddr,
    opened: Time,
    has_spoken: bool,
    /// What is said or done next decides.
    due: Option<Next>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    Welcome,
    Close,
}

/// A stream says its Hello within so long, and a little for the timer.
const HELLO_WITHIN: Duration = Duration::from_millis(10_040);

/// A token is good for so long, if nobody uses it.
const TOKEN_FOR: Duration = Duration::from_secs(30);

/// Whether the server says so that it knows a player.
pub(super) fn is_hello_ack(bytes: &[u8]) -> bool {
    bytes.len() == HEADER_LEN
        && Dialect::detect(bytes) == Some(Dialect::Rtype)
        && matches!(Packet::decode(bytes), Ok(Packet::HelloAck(_)))
}

impl Audit {
    /// Something happened to a stream, and the server is about to hear of it.
    pub(in super::super) fn note_stream(
        &mut self,
        now: Time,
        stream: StreamId,
        event: &StreamEvent<'_>,
    ) {
        self.is_stale = true;
        match *event {
            StreamEvent::Opened(peer) => {
                let limits = self.rules.limits;
                let there = self.streams.iter().map(|open| open.peer);
                let is_full = self.streams.len() >= limits.streams
                    || is_full_there(there, peer, limits.streams_per_ip, limits.wider);
                let due = Some(if is_full { Next::Close } else { Next::Welcome });
                let (id, opened, has_spoken) = (stream, now, false);
                self.streams.push(OpenStream { id, peer, opened, has_spoken, due });
            }
            StreamEvent::Closed | StreamEvent::Failed => {
                self.streams.retain(|open| open.id != stream);
            }
            StreamEvent::Received(_) => {
                let open = self.streams.iter_mut().find(|open| open.id == stream);
                open.into_iter().for_each(|open| open.has_spoken = true);
            }
        }
    }

    /// Timers have run: no stream is left that said nothing for too long.
    pub(super) fn check_streams(&mut self, now: Time) {
        let is_kept =
            |open: &&OpenStream| !open.has_spoken && now.since(open.opened) > HELLO_WITHIN;
        if let Some(kept) = self.streams.iter().find(is_kept) {
            let (address, span) = (kept.peer, now.since(kept.opened));
            self.report(Err(Breach::KeptStream { address, span }));
        }
    }

    /// A datagram that may be in `rtype`: a Hello has a token or gets nothing.
    pub(super) fn ask_with_token(
        &mut self,
        now: Time,
        from: PeerAddr,
        bytes: &[u8],
        stranger: Option<Certainty>,
        server: &Server<Probe>,
    ) {
        let is_rtype = Dialect::detect(bytes) == Some(Dialect::Rtype);
        let Ok(Packet::Hello(Hello { token: Some(token), .. })) = Packet::decode(bytes) else {
            return;
        };
        // Whether a token that was used is still good is the room's to say.
        if !is_rtype || self.spent.contains(&token) {
            return;
        }
        if stranger.is_none() {
            // Someone plays there already; whose token it is now is not told.
            self.spent.insert(token);
            return;
        }
        let given = self.tokens.get(&token).is_some_and(|at| now.since(*at) < TOKEN_FOR);
        let due = match given {
            true if self.takes(now, from, server) => Due::HelloAck,
            true => return,
            false => Due::Nothing(Why::Token),
        };
        let question = Question::new(now, from, 0, Key::Token(token), due);
        self.questions.push(Question { stranger, ..question });
    }

    /// The server does something to a stream.
    pub(in super::super) fn note_action(
        &mut self,
        now: Time,
        stream: StreamId,
        action: &StreamAction,
        out: &[u8],
    ) {
        if let StreamAction::Send(len) = *action
            && let Ok(Some((Message::HelloAck(ack), _))) = Message::decode_next(&out[..len])
        {
            self.tokens.insert(ack.token, now);
        }
        let is_close = matches!(action, StreamAction::Close);
        let Some(open) = self.streams.iter_mut().find(|open| open.id == stream) else { return };
        let (due, address) = (open.due.take(), open.peer);
        let judged = match due {
            Some(Next::Welcome) if is_close => Err(Breach::StreamRefused { address }),
            Some(Next::Close) if !is_close => Err(Breach::OverRate { address, what: "streams" }),
            _ => Ok(()),
        };
        if is_close {
            self.streams.retain(|open| open.id != stream);
        }
        self.report(judged);
    }
}
