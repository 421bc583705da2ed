use super::super::message::*;
use super::*;
use crate::wire::native::{Message, Selective};

const AGAIN: Duration = Duration::from_millis(100);
const ROOM: usize = 1_100;

fn at(ms: u64) -> Time {
    Time::from_millis(ms)
}

fn outbox(first: u16, messages: &[&[u8]]) -> Outbox {
    let mut outbox = Outbox::starting_at(first);
    for (i, message) in messages.iter().enumerate() {
        let number = first.wrapping_add(i as u16);
        assert_eq!(outbox.push(MessageKind::Game, message), Ok(number));
    }
    outbox
}

/// The numbers of the messages that go into a datagram with so much room.
fn polled(outbox: &mut Outbox, now: Time, room_len: usize) -> Vec<u16> {
    let mut room = vec![0; room_len];
    let mut w = BlockWriter::new(&mut room);
    outbox.poll(now, AGAIN, &mut w);
    w.finish(0).reliable.iter().map(|message| message.number).collect()
}

fn acknowledge(outbox: &mut Outbox, next: u16, held: &[u16]) -> u16 {
    let mut room = [0; 100];
    let mut w = BlockWriter::new(&mut room);
    w.selective(held.iter().copied());
    outbox.acknowledge(next, w.finish(next).selective)
}

fn deliver(inbox: &mut Inbox, numbers: &[u16]) -> Vec<u16> {
    for &number in numbers {
        let bytes = number.to_be_bytes();
        inbox.handle(&Message { number, kind: MessageKind::Game, bytes: &bytes });
    }
    taken(inbox)
}

fn taken(inbox: &mut Inbox) -> Vec<u16> {
    let mut taken = Vec::new();
    while let Some((_, bytes)) = inbox.take() {
        taken.push(u16::from_be_bytes(bytes.try_into().unwrap()));
    }
    inbox.tidy();
    taken
}

#[test]
fn a_message_goes_out_at_once_and_again_after_a_round_trip_without_acknowledgement() {
    let mut outbox = outbox(0, &[b"go"]);
    assert_eq!(outbox.due(AGAIN), Some(Time::ZERO));
    assert_eq!(polled(&mut outbox, at(1_000), ROOM), [0]);
    assert_eq!(polled(&mut outbox, at(1_016), ROOM), [0; 0]);
    assert_eq!(outbox.due(AGAIN), Some(at(1_100)));
    assert_eq!(polled(&mut outbox, at(1_099), ROOM), [0; 0]);
    assert_eq!(polled(&mut outbox, at(1_100), ROOM), [0]);
    assert_eq!(polled(&mut outbox, at(1_101), ROOM), [0; 0]);
    assert_eq!(acknowledge(&mut outbox, 1, &[]), 1);
    assert_eq!((polled(&mut outbox, at(9_000), ROOM), outbox.due(AGAIN)), (vec![], None));
}

#[test]
fn a_small_message_rides_along_once_more_with_the_next() {
    let mut outbox = outbox(0, &[b"a"]);
    assert_eq!(polled(&mut outbox, at(0), ROOM), [0]);
    outbox.push(MessageKind::Game, b"bc").unwrap();
    assert_eq!(polled(&mut outbox, at(16), ROOM), [0, 1]);
    outbox.push(MessageKind::Game, b"d").unwrap();
    assert_eq!(polled(&mut outbox, at(32), ROOM), [1, 2]);
    assert_eq!(polled(&mut outbox, at(48), ROOM), [0; 0]);
    // What is large is not sent twice on suspicion, and takes the room of what has to go.
    outbox.push(MessageKind::Game, &[7; 500]).unwrap();
    assert_eq!(polled(&mut outbox, at(64), 512), [3]);
    outbox.push(MessageKind::Game, b"e").unwrap();
    assert_eq!(polled(&mut outbox, at(80), ROOM), [2, 4]);
}

#[test]
fn only_what_is_missing_is_sent_again() {
    let message = [7; 200];
    let mut outbox = outbox(10, &[&message[..]; 10]);
    assert_eq!(polled(&mut outbox, at(0), ROOM), [10, 11, 12, 13, 14]);
    assert_eq!(polled(&mut outbox, at(0), ROOM), [15, 16, 17, 18, 19]);
    assert_eq!(polled(&mut outbox, at(0), ROOM), [0; 0]);
    // The other side has the first two, and holds five behind a gap.
    assert_eq!(acknowledge(&mut outbox, 12, &[3, 4, 5, 6, 7]), 2);
    assert_eq!(polled(&mut outbox, at(100), ROOM), [12, 13, 14]);
    assert_eq!(acknowledge(&mut outbox, 20, &[]), 8);
    assert!(outbox.is_empty());
}

#[test]
fn while_nothing_is_acknowledged_one_datagram_of_repeats_in_a_round_trip_is_enough() {
    let mut outbox = outbox(0, &[&[7; 500][..]; 20]);
    for _ in 0..10 {
        assert_eq!(polled(&mut outbox, at(0), ROOM).len(), 2);
    }
    for round in 1..5 {
        // The first repeats are all late at once: they show that nothing comes through.
        assert_eq!(polled(&mut outbox, at(round * 100), ROOM).len(), 2, "{round}");
        assert_eq!(polled(&mut outbox, at(round * 100), ROOM), [0; 0]);
        assert_eq!(outbox.due(AGAIN), Some(at(round * 100 + 100)));
        assert_eq!(polled(&mut outbox, at(round * 100 + 99), ROOM), [0; 0]);
    }
    // One word from the other side, and it goes on at once.
    assert_eq!(acknowledge(&mut outbox, 2, &[]), 2);
    assert_eq!(polled(&mut outbox, at(410), ROOM), [2, 3]);
}

#[test]
fn what_was_never_sent_does_not_wait_for_repeats() {
    let mut outbox = outbox(0, &[&[7; 500][..]; 2]);
    assert_eq!(polled(&mut outbox, at(0), ROOM), [0, 1]);
    assert_eq!(polled(&mut outbox, at(100), ROOM), [0, 1]);
    outbox.push(MessageKind::Game, b"new").unwrap();
    assert_eq!(outbox.due(AGAIN), Some(Time::ZERO));
    assert_eq!(polled(&mut outbox, at(116), ROOM), [2]);
}

#[test]
fn a_message_without_room_waits_for_a_larger_datagram() {
    let mut outbox = outbox(0, &[&[0; 100]]);
    assert_eq!(polled(&mut outbox, at(0), 100), [0; 0]);
    assert_eq!(polled(&mut outbox, at(0), 0), [0; 0]);
    assert_eq!(polled(&mut outbox, at(0), 107), [0; 0]);
    assert_eq!(polled(&mut outbox, at(0), 108), [0]);
}

#[test]
fn no_more_is_under_way_than_the_other_side_holds() {
    let mut outbox = Outbox::new();
    for _ in 0..WINDOW_MESSAGES + 1 {
        outbox.push(MessageKind::Game, b"").unwrap();
    }
    let mut last = Vec::new();
    while outbox.due(AGAIN) == Some(Time::ZERO) {
        last = polled(&mut outbox, at(0), ROOM);
    }
    assert_eq!(last.last(), Some(&(WINDOW_MESSAGES as u16 - 1)));
    assert_eq!(acknowledge(&mut outbox, 1, &[]), 1);
    assert_eq!(polled(&mut outbox, at(1), ROOM).last(), Some(&(WINDOW_MESSAGES as u16)));

    let mut outbox = Outbox::new();
    let long = [0; MESSAGE_BYTES];
    for _ in 0..WINDOW_BYTES / MESSAGE_BYTES + 1 {
        outbox.push(MessageKind::Game, &long).unwrap();
    }
    let mut sent = 0;
    while outbox.due(AGAIN) == Some(Time::ZERO) {
        sent += polled(&mut outbox, at(0), ROOM).len();
    }
    assert_eq!(sent, WINDOW_BYTES / MESSAGE_BYTES);
}

#[test]
fn message_4097_without_acknowledgement_is_refused() {
    let mut outbox = outbox(0, &[b"x".as_slice(); QUEUE_MESSAGES]);
    assert_eq!(outbox.push(MessageKind::Game, b"x"), Err(SendError::QueueMessages));
    polled(&mut outbox, at(0), ROOM);
    acknowledge(&mut outbox, 1, &[]);
    assert_eq!(outbox.push(MessageKind::Game, b"x"), Ok(4096));
    assert_eq!(outbox.push(MessageKind::Game, b"x"), Err(SendError::QueueMessages));
    assert_eq!((outbox.len(), outbox.is_empty()), (QUEUE_MESSAGES, false));
}

#[test]
fn byte_65537_without_acknowledgement_is_refused() {
    let longest = [0; MESSAGE_BYTES];
    let whole = QUEUE_BYTES / MESSAGE_BYTES;
    let mut outbox = outbox(0, &vec![&longest[..]; whole]);
    let left = QUEUE_BYTES - whole * MESSAGE_BYTES;
    assert_eq!(outbox.push(MessageKind::Game, &longest[..left + 1]), Err(SendError::QueueBytes));
    assert!(outbox.push(MessageKind::Game, &longest[..left]).is_ok());
    assert_eq!(outbox.push(MessageKind::Game, b"x"), Err(SendError::QueueBytes));
    assert!(outbox.push(MessageKind::Game, b"").is_ok());
}

#[test]
fn a_message_of_901_bytes_is_refused() {
    let mut channel = MessageChannel::new();
    let long = [0; MESSAGE_BYTES + 1];
    assert_eq!(channel.send(MessageKind::Game, &long), Err(SendError::TooLong));
    assert_eq!(channel.send_unreliable(&long), Err(SendError::TooLong));
    assert_eq!(channel.send(MessageKind::Game, &long[1..]), Ok(()));
    assert_eq!(channel.send_unreliable(&long[1..]), Ok(()));
}

#[test]
fn the_17th_unreliable_message_and_the_3601st_byte_wait_for_the_next_tick() {
    let mut channel = MessageChannel::new();
    for _ in 0..UNRELIABLE_MESSAGES {
        channel.send_unreliable(b"x").unwrap();
    }
    assert_eq!(channel.send_unreliable(b"x"), Err(SendError::TickMessages));
    let mut room = [0; ROOM];
    let block = channel.poll(at(0), AGAIN, &mut room).unwrap();
    assert_eq!(block.unreliable.len(), UNRELIABLE_MESSAGES);
    assert!(!channel.is_busy(), "they are sent once");
    let long = [0; MESSAGE_BYTES];
    for _ in 0..UNRELIABLE_BYTES / MESSAGE_BYTES {
        channel.send_unreliable(&long).unwrap();
    }
    assert_eq!(channel.send_unreliable(b"x"), Err(SendError::TickBytes));
    for _ in 0..UNRELIABLE_BYTES / MESSAGE_BYTES {
        assert_eq!(channel.poll(at(0), AGAIN, &mut room).unwrap().unreliable.len(), 1);
    }
    assert_eq!(channel.poll(at(0), AGAIN, &mut room), None);
}

#[test]
fn refusals_are_sentences() {
    let all = [
        SendError::TooLong,
        SendError::QueueMessages,
        SendError::QueueBytes,
        SendError::TickMessages,
        SendError::TickBytes,
        SendError::StepBytes,
        SendError::NotConnected,
        SendError::Watching,
        SendError::Dialect,
    ];
    for error in all {
        let text = error.to_string();
        assert!(text.starts_with(|c: char| c.is_uppercase() || c.is_numeric()), "{text}");
        assert!(text.ends_with('.') && !text.contains("  "), "{text}");
    }
    assert_eq!(SendError::TooLong.to_string(), "A message has at most 900 bytes.");
}

#[test]
fn acknowledging_what_was_never_sent_is_ignored() {
    let mut outbox = outbox(100, &[b"a", b"b"]);
    assert_eq!(acknowledge(&mut outbox, 101, &[]), 0);
    assert_eq!(polled(&mut outbox, at(0), 8), [100]);
    for hostile in [102, 103, 100 + 0x7FFF] {
        assert_eq!(acknowledge(&mut outbox, hostile, &[]), 0);
    }
    // It says that it holds what was never sent: that is sent all the same.
    acknowledge(&mut outbox, 100, &[1, 2, 300]);
    assert_eq!(polled(&mut outbox, at(1), ROOM), [100, 101]);
    assert_eq!(outbox.len(), 2);
    assert_eq!(acknowledge(&mut outbox, 101, &[]), 1);
    for old in [100, 0, 101_u16.wrapping_sub(0x8000)] {
        assert_eq!(acknowledge(&mut outbox, old, &[0, 1]), 0);
    }
    assert_eq!(polled(&mut outbox, at(200), ROOM), [101]);
}

#[test]
fn after_a_break_everything_that_is_not_known_to_have_come_goes_out_at_once() {
    let mut outbox = outbox(0, &[&[1; 200], &[2; 200], &[3; 200]]);
    polled(&mut outbox, at(1_000), ROOM);
    acknowledge(&mut outbox, 0, &[1]);
    outbox.resend();
    assert_eq!(outbox.due(AGAIN), Some(AGAIN).map(|again| Time::ZERO + again));
    assert_eq!(polled(&mut outbox, at(1_001), ROOM), [0, 2]);
}

#[test]
fn an_inbox_delivers_in_order_and_holds_what_came_early() {
    let mut inbox = Inbox::default();
    assert!(!inbox.owes());
    assert_eq!(deliver(&mut inbox, &[0, 1]), [0, 1]);
    assert!(inbox.owes());
    assert_eq!((inbox.acknowledge(), inbox.expected(), inbox.owes()), (2, 2, false));
    assert_eq!(deliver(&mut inbox, &[0, 1, 2]), [2]);
    assert_eq!(deliver(&mut inbox, &[5, 7, 5]), [0; 0]);
    assert_eq!(inbox.held().collect::<Vec<_>>(), [2, 4]);
    assert_eq!(deliver(&mut inbox, &[4, 3]), [3, 4, 5]);
    assert_eq!(inbox.held().collect::<Vec<_>>(), [1]);
    assert_eq!(deliver(&mut inbox, &[6]), [6, 7]);
    assert_eq!(inbox.expected(), 8);
}

#[test]
fn what_is_not_taken_is_not_acknowledged_and_waits() {
    let mut inbox = Inbox::default();
    for number in 0..3u16 {
        let bytes = number.to_be_bytes();
        inbox.handle(&Message { number, kind: MessageKind::Chat, bytes: &bytes });
    }
    assert_eq!(inbox.acknowledge(), 0);
    assert_eq!(inbox.held().collect::<Vec<_>>(), [0, 1, 2]);
    assert_eq!(inbox.take().map(|(kind, _)| kind), Some(MessageKind::Chat));
    assert!(inbox.owes() && inbox.is_ready());
    assert_eq!(inbox.acknowledge(), 1);
    assert_eq!(taken(&mut inbox), [1, 2]);
    assert!(!inbox.is_ready());
}

#[test]
fn far_off_numbers_are_ignored() {
    let mut inbox = Inbox::default();
    let window = WINDOW_MESSAGES as u16;
    assert_eq!(deliver(&mut inbox, &[window, 0x7FFF, 0x8000, u16::MAX]), [0; 0]);
    assert_eq!((inbox.expected(), inbox.held().count()), (0, 0));
    assert_eq!(deliver(&mut inbox, &[window - 1]), [0; 0]);
    assert_eq!(inbox.held().collect::<Vec<_>>(), [window - 1]);
}

#[test]
fn an_inbox_holds_at_most_its_window_of_bytes_however_they_come() {
    let mut inbox = Inbox::default();
    let long = [0; MESSAGE_BYTES];
    let fit = (WINDOW_BYTES / MESSAGE_BYTES) as u16;
    for number in 1..100 {
        inbox.handle(&Message { number, kind: MessageKind::Game, bytes: &long });
    }
    assert_eq!(inbox.held().count(), usize::from(fit));
    // Room is used again while there is always something that waits.
    inbox.handle(&Message { number: 0, kind: MessageKind::Game, bytes: b"" });
    assert!(inbox.take().is_some());
    for number in fit + 1..1_000 {
        assert!(inbox.take().is_some(), "{number}");
        inbox.tidy();
        inbox.handle(&Message { number, kind: MessageKind::Game, bytes: &long });
    }
    assert!(inbox.take().is_some());
}

#[test]
fn a_repeated_message_is_acknowledged_again() {
    let mut inbox = Inbox::default();
    deliver(&mut inbox, &[0]);
    inbox.acknowledge();
    deliver(&mut inbox, &[0]);
    assert!(inbox.owes());
    inbox.acknowledge();
    assert!(!inbox.owes());
}

#[test]
fn numbers_wrap() {
    let mut outbox = outbox(u16::MAX - 1, &[&[0, 0], &[0, 1], &[0, 2]]);
    let numbers = polled(&mut outbox, at(0), ROOM);
    assert_eq!(numbers, [u16::MAX - 1, u16::MAX, 0]);
    let mut inbox = Inbox::expecting(u16::MAX - 1);
    assert_eq!(deliver(&mut inbox, &[0, u16::MAX]), [0; 0]);
    assert_eq!(deliver(&mut inbox, &[u16::MAX - 1]), numbers);
    assert_eq!(inbox.acknowledge(), 1);
    assert_eq!((acknowledge(&mut outbox, 1, &[]), outbox.is_empty()), (3, true));
    assert_eq!(outbox.acknowledge(u16::MAX, Selective::NONE), 0);
}

#[test]
fn a_channel_that_says_nothing_has_no_memory_and_a_mere_acknowledgement_asks_for_none() {
    let (mut a, mut b) = (MessageChannel::new(), MessageChannel::new());
    let mut room = [0; ROOM];
    assert_eq!(a.poll(at(0), AGAIN, &mut room), None);
    a.send(MessageKind::Game, b"hi").unwrap();
    b.handle(&a.poll(at(0), AGAIN, &mut room).unwrap());
    assert!(b.has_mail());
    assert_eq!(b.take(), Some((MessageKind::Game, &b"hi"[..])));
    assert_eq!(b.take(), None);
    b.tidy();
    assert!(!b.has_mail());
    a.handle(&b.poll(at(0), AGAIN, &mut room).unwrap());
    assert!(!a.is_busy() && !b.is_busy());
    assert_eq!(a.poll(at(9_000), AGAIN, &mut room), None);
    let mut c = MessageChannel::new();
    c.handle(&BlockWriter::new(&mut []).finish(7));
    assert!(c.boxes.is_none());
}

#[test]
fn a_flood_of_unreliable_messages_is_dropped_and_counted() {
    let mut channel = MessageChannel::new();
    let mut room = [0; ROOM];
    let mut lost = 0;
    for _ in 0..20 {
        let mut w = BlockWriter::new(&mut room);
        assert!((0..16).all(|_| w.unreliable(&[7; 60])));
        lost += channel.handle(&w.finish(0));
    }
    let mut came = 0;
    while channel.take_unreliable().is_some() {
        came += 1;
    }
    assert_eq!((came, lost), (8 * UNRELIABLE_MESSAGES, 20 * 16 - 8 * UNRELIABLE_MESSAGES));
}

#[test]
fn memory_of_a_burst_is_given_back() {
    let mut outbox = outbox(0, &vec![&[0; MESSAGE_BYTES][..]; 70]);
    let mut now = 0;
    while !outbox.is_empty() {
        now += 1;
        let numbers = polled(&mut outbox, at(now), ROOM);
        acknowledge(&mut outbox, numbers.last().unwrap() + 1, &[]);
    }
    assert!(outbox.memory() < 32 << 10, "{} bytes are kept", outbox.memory());
}
