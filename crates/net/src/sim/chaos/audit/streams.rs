//! The TCP step of `rtype`: who may open a stream, and for how long.

use std::net::SocketAddr;
use std::time::Duration;

use super::super::breach::Breach;
use super::Audit;
use super::door::is_full_there;
use crate::node::{StreamAction, StreamEvent, StreamId};
use crate::time::Time;

/// A stream that is open, as far as has passed.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpenStream {
    id: StreamId,
    peer: SocketAddr,
    opened: Time,
    has_spoken: bool,
    /// What is said or done next decides.
    due: Option<Due>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Due {
    Welcome,
    Close,
}

/// A stream says its Hello within so long, and a little for the timer.
const HELLO_WITHIN: Duration = Duration::from_millis(10_040);

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
                let there = self.streams.iter().map(|open| open.peer.ip());
                let is_full = self.streams.len() >= limits.streams
                    || is_full_there(there, peer.ip(), limits.streams_per_ip, limits.wider);
                let due = Some(if is_full { Due::Close } else { Due::Welcome });
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

    /// The server does something to a stream.
    pub(in super::super) fn note_action(&mut self, stream: StreamId, action: &StreamAction) {
        let is_close = matches!(action, StreamAction::Close);
        let Some(open) = self.streams.iter_mut().find(|open| open.id == stream) else { return };
        let (due, address) = (open.due.take(), open.peer);
        let judged = match due {
            Some(Due::Welcome) if is_close => Err(Breach::StreamRefused { address }),
            Some(Due::Close) if !is_close => {
                Err(Breach::OverRate { address, what: "streams" })
            }
            _ => Ok(()),
        };
        if is_close {
            self.streams.retain(|open| open.id != stream);
        }
        self.report(judged);
    }
}
