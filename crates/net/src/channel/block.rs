//! What of the events goes into a datagram that is sent anyway.

use std::time::Duration;

use super::{Inbox, Outbox};
use crate::time::Time;
use crate::wire::native::{EventBlock, Events};

/// Room for events in a datagram that carries something else: half of the shortest budget.
pub const BLOCK_ROOM: usize = 512;

/// The events that are due, and how far the other side's have come; nothing where there is
/// neither. `again_after` is about a round trip; `room` is for the events and their lengths.
pub fn event_block<'a>(
    outbox: &'a mut Outbox,
    inbox: &mut Inbox,
    now: Time,
    again_after: Duration,
    room: &'a mut [u8],
) -> Option<EventBlock<'a>> {
    let batch = outbox.poll(now, again_after, room.len());
    if batch.is_none() && !inbox.owes() {
        return None;
    }
    let acknowledged = inbox.acknowledge();
    let events = match batch {
        Some(batch) => outbox.write(batch, room),
        None => Events::new(0, [], room),
    };
    Some(EventBlock { acknowledged, events })
}
