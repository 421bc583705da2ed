use super::*;

const AGAIN: Duration = Duration::from_millis(100);
const ROOM: usize = 1_000;

fn at(ms: u64) -> Time {
    Time::from_millis(ms)
}

fn outbox(first: u16, events: &[&[u8]]) -> Outbox {
    let mut outbox = Outbox::starting_at(first);
    for (i, event) in events.iter().enumerate() {
        assert_eq!(outbox.push(event), Ok(first.wrapping_add(i as u16)));
    }
    outbox
}

fn batch(first: u16, count: u16) -> Option<Batch> {
    Some(Batch { first, count })
}

/// What an inbox delivers of a datagram with these events.
fn deliver(inbox: &mut Inbox, first: u16, events: &[&[u8]]) -> Vec<Vec<u8>> {
    let mut room = [0; 1024];
    let events = Events::new(first, events.iter().copied(), &mut room);
    inbox.handle(&events).map(<[u8]>::to_vec).collect()
}

#[test]
fn an_event_goes_out_at_once_and_again_after_a_round_trip_without_acknowledgement() {
    let mut outbox = outbox(0, &[b"go"]);
    assert_eq!(outbox.due(AGAIN), Some(Time::ZERO));
    assert_eq!(outbox.poll(at(1_000), AGAIN, ROOM), batch(0, 1));
    assert_eq!(outbox.poll(at(1_016), AGAIN, ROOM), None);
    assert_eq!(outbox.due(AGAIN), Some(at(1_100)));
    assert_eq!(outbox.poll(at(1_099), AGAIN, ROOM), None);
    assert_eq!(outbox.poll(at(1_100), AGAIN, ROOM), batch(0, 1));
    assert_eq!(outbox.poll(at(1_101), AGAIN, ROOM), None);
    assert_eq!(outbox.acknowledge(1), 1);
    assert_eq!((outbox.poll(at(9_000), AGAIN, ROOM), outbox.due(AGAIN)), (None, None));
}

#[test]
fn a_new_event_takes_along_what_is_not_acknowledged() {
    let mut outbox = outbox(0, &[b"a"]);
    assert_eq!(outbox.poll(at(0), AGAIN, ROOM), batch(0, 1));
    outbox.push(b"bc").unwrap();
    let both = outbox.poll(at(16), AGAIN, ROOM).unwrap();
    assert_eq!(outbox.events(both).collect::<Vec<_>>(), [&b"a"[..], b"bc"]);
    assert_eq!(outbox.poll(at(32), AGAIN, ROOM), None);
    outbox.acknowledge(1);
    outbox.push(b"").unwrap();
    assert_eq!(outbox.poll(at(48), AGAIN, ROOM), batch(1, 2));
}

#[test]
fn what_does_not_fit_one_datagram_goes_into_the_next() {
    let event = [7; 255];
    let mut outbox = outbox(10, &[&event[..]; 10]);
    assert_eq!(outbox.poll(at(0), AGAIN, 4 * 256), batch(10, 4));
    assert_eq!(outbox.poll(at(1), AGAIN, 4 * 256), batch(14, 4));
    assert_eq!(outbox.poll(at(2), AGAIN, 4 * 256 - 1), batch(18, 2));
    assert_eq!(outbox.poll(at(3), AGAIN, 4 * 256), None);
    // The second datagram was lost: all of it comes again, from where the other side stands.
    assert_eq!(outbox.acknowledge(14), 4);
    assert_eq!(outbox.poll(at(102), AGAIN, 4 * 256), batch(14, 4));
    assert_eq!(outbox.poll(at(103), AGAIN, 4 * 256), batch(18, 2));
    assert_eq!(outbox.poll(at(104), AGAIN, 4 * 256), None);
}

#[test]
fn an_event_without_room_waits_for_a_larger_datagram() {
    let mut outbox = outbox(0, &[&[0; 100]]);
    assert_eq!(outbox.poll(at(0), AGAIN, 100), None);
    assert_eq!(outbox.poll(at(0), AGAIN, 0), None);
    assert_eq!(outbox.poll(at(0), AGAIN, 101), batch(0, 1));
}

#[test]
fn a_batch_becomes_the_packets_events() {
    let mut outbox = outbox(u16::MAX, &[b"go", b"", b"x"]);
    let batch = outbox.poll(at(0), AGAIN, ROOM).unwrap();
    let mut room = [0; ROOM];
    let written: Vec<_> = outbox.write(batch, &mut room).iter().collect();
    assert_eq!(written, [(u16::MAX, &b"go"[..]), (0, b""), (1, b"x")]);
}

#[test]
fn the_65th_event_without_acknowledgement_is_refused() {
    let mut outbox = outbox(0, &[b"x".as_slice(); EVENT_LIMIT as usize]);
    assert_eq!(outbox.push(b"x"), Err(Backlog::Events));
    outbox.poll(at(0), AGAIN, ROOM);
    outbox.acknowledge(1);
    assert_eq!(outbox.push(b"x"), Ok(64));
    assert_eq!(outbox.push(b"x"), Err(Backlog::Events));
    assert_eq!((outbox.len(), outbox.is_empty()), (64, false));
}

#[test]
fn the_4097th_byte_without_acknowledgement_is_refused() {
    let longest = [0; EVENT_BYTES];
    let mut outbox = outbox(0, &[&longest[..]; 15]);
    let left = BACKLOG_BYTES - 15 * 256;
    assert_eq!(outbox.push(&longest[..left - 2]), Ok(15));
    assert_eq!(outbox.push(b"x"), Err(Backlog::Bytes));
    assert_eq!(outbox.push(b""), Ok(16));
    assert_eq!(outbox.push(b""), Err(Backlog::Bytes));
}

#[test]
fn an_event_of_256_bytes_is_refused() {
    let mut outbox = Outbox::new();
    assert_eq!(outbox.push(&[0; EVENT_BYTES + 1]), Err(Backlog::TooLong));
    assert_eq!(outbox.push(&[0; EVENT_BYTES]), Ok(0));
}

#[test]
fn a_refusal_reads_as_words() {
    assert_eq!(Backlog::TooLong.to_string(), "an event has at most 255 bytes");
    assert_eq!(Backlog::Events.to_string(), "64 events have not arrived yet");
    assert_eq!(Backlog::Bytes.to_string(), "4096 bytes of events have not arrived yet");
}

#[test]
fn acknowledging_what_was_never_sent_is_ignored() {
    let mut outbox = outbox(100, &[b"a", b"b"]);
    assert_eq!(outbox.acknowledge(101), 0);
    outbox.poll(at(0), AGAIN, 2);
    for hostile in [102, 103, 100 + 0x7FFF] {
        assert_eq!(outbox.acknowledge(hostile), 0);
    }
    assert_eq!(outbox.len(), 2);
    assert_eq!(outbox.acknowledge(101), 1);
    for old in [100, 0, 101_u16.wrapping_sub(0x8000)] {
        assert_eq!(outbox.acknowledge(old), 0);
    }
    assert_eq!(outbox.len(), 1);
}

#[test]
fn an_acknowledgement_of_what_is_being_sent_again_counts() {
    let event = [7; 255];
    let mut outbox = outbox(0, &[&event[..]; 4]);
    outbox.poll(at(0), AGAIN, 512);
    outbox.poll(at(1), AGAIN, 512);
    assert_eq!(outbox.poll(at(200), AGAIN, 512), batch(0, 2));
    assert_eq!(outbox.acknowledge(3), 3);
    assert_eq!(outbox.poll(at(201), AGAIN, 512), batch(3, 1));
}

#[test]
fn an_inbox_delivers_what_is_new_and_in_order() {
    let mut inbox = Inbox::new();
    assert!(!inbox.owes());
    assert_eq!(deliver(&mut inbox, 0, &[b"a", b"b"]), [b"a", b"b"]);
    assert!(inbox.owes());
    assert_eq!((inbox.acknowledge(), inbox.expected(), inbox.owes()), (2, 2, false));
    assert_eq!(deliver(&mut inbox, 0, &[b"a", b"b", b"c"]), [b"c"]);
    assert_eq!(deliver(&mut inbox, 4, &[b"e"]), [b""; 0]);
    assert_eq!(deliver(&mut inbox, 1, &[b"b", b"c"]), [b""; 0]);
    assert_eq!(deliver(&mut inbox, 3, &[b"d", b"e"]), [b"d", b"e"]);
    assert_eq!(inbox.expected(), 5);
}

#[test]
fn a_repeated_event_is_acknowledged_again() {
    let mut inbox = Inbox::new();
    deliver(&mut inbox, 0, &[b"a"]);
    inbox.acknowledge();
    deliver(&mut inbox, 0, &[b"a"]);
    assert!(inbox.owes());
    inbox.acknowledge();
    deliver(&mut inbox, 0, &[]);
    assert!(!inbox.owes(), "a mere acknowledgement asks for none");
}

#[test]
fn far_off_numbers_are_ignored() {
    let mut inbox = Inbox::new();
    for first in [NEAR + 1, 0x7FFF, 0x8000, 0_u16.wrapping_sub(NEAR + 1)] {
        assert_eq!(deliver(&mut inbox, first, &[b"x".as_slice(); 255]), [b""; 0]);
    }
    assert_eq!(inbox.expected(), 0);
    assert_eq!(deliver(&mut inbox, NEAR, &[b"x"]), [b""; 0]);
    // The last one that still overlaps.
    let behind = 0_u16.wrapping_sub(NEAR);
    assert_eq!(deliver(&mut inbox, behind, &[b"x".as_slice(); NEAR as usize + 1]), [b"x"]);
    assert_eq!(inbox.expected(), 1);
}

#[test]
fn numbers_wrap() {
    let mut outbox = outbox(u16::MAX - 1, &[b"a", b"b", b"c"]);
    let batch = outbox.poll(at(0), AGAIN, ROOM).unwrap();
    let mut inbox = Inbox { expected: u16::MAX - 1, ..Inbox::new() };
    let mut room = [0; ROOM];
    assert_eq!(inbox.handle(&outbox.write(batch, &mut room)).count(), 3);
    assert_eq!(inbox.acknowledge(), 1);
    assert_eq!((outbox.acknowledge(1), outbox.is_empty()), (3, true));
    assert_eq!(outbox.acknowledge(u16::MAX), 0);
}
