use super::*;
use crate::wire::native::Packet;
use crate::wire::testing::{check_native, native_fault};

fn message(number: u16, kind: MessageKind, bytes: &[u8]) -> Message<'_> {
    Message { number, kind, bytes }
}

/// A block with all there is: two messages that wait, three reliable with a gap, two unreliable.
fn full(room: &mut [u8]) -> MessageBlock<'_> {
    let mut w = BlockWriter::new(room);
    w.selective([1, 9]);
    assert!(w.reliable(0x0506, MessageKind::Game, [b"g", b"o"]));
    assert!(w.reliable(0x0507, MessageKind::Chat, [b"", b""]));
    assert!(w.reliable(0x050A, MessageKind::Event, [b"x", b""]));
    assert!(w.unreliable(b"yz"));
    assert!(w.unreliable(b""));
    w.finish(0x0304)
}

const FULL: [u8; 20] = [
    7,
    3,
    4, // present, acknowledged
    2,
    0x02,
    0x02, // selective
    5,
    6,
    3, // first, count
    2 << 3,
    b'g',
    b'o',
    2 << 1,
    1 << 3 | 1 << 1 | 1,
    2,
    b'x', // reliable
    2,
    2,
    b'y',
    b'z', // unreliable, but for the empty one
];

fn full_bytes() -> Vec<u8> {
    [&FULL[..], &[0]].concat()
}

#[test]
fn server_messages_are_a_block() {
    let mut room = [0; 64];
    let packet = ServerMessages { block: full(&mut room) };
    check_native(0xA2, &full_bytes(), Packet::ServerMessages(packet));
    let none = BlockWriter::new(&mut []).finish(9);
    check_native(0xA2, &[0, 0, 9], Packet::ServerMessages(ServerMessages { block: none }));
    assert_eq!(MessageBlock::MIN_LEN, 3);
}

#[test]
fn client_messages_begin_with_the_session_and_have_no_events() {
    let mut room = [0; 64];
    let mut w = BlockWriter::new(&mut room);
    assert!(w.reliable(u16::MAX, MessageKind::Game, [b"a", b""]));
    assert!(w.reliable(0, MessageKind::Chat, [b"", b"b"]));
    let session = SessionIndex::new(0x0102).unwrap();
    let packet = ClientMessages { session, block: w.finish(0x0304) };
    let bytes = [1, 2, 2, 3, 4, 0xFF, 0xFF, 2, 8, b'a', 12, b'b'];
    check_native(0x11, &bytes, Packet::ClientMessages(packet));
    let event = [1, 2, 2, 3, 4, 0xFF, 0xFF, 1, 8 | 2, b'a'];
    assert_eq!(native_fault(0x11, &event), Malformed::out_of_range("kind", 1));
    assert!(Packet::decode_payload(0xA2, &event[2..]).is_ok(), "a server has events");
}

#[test]
fn a_block_ends_where_it_says() {
    let bytes = [&full_bytes()[..], &[0xAB, 0xCD]].concat();
    let mut r = Reader::new(&bytes);
    let block = MessageBlock::decode(&mut r).unwrap();
    assert_eq!(block, full(&mut [0; 64]));
    assert_eq!(r.take_rest(), [0xAB, 0xCD]);
    let reliable: Vec<_> = block.reliable.iter().collect();
    let expected = [
        message(0x0506, MessageKind::Game, b"go"),
        message(0x0507, MessageKind::Chat, b""),
        message(0x050A, MessageKind::Event, b"x"),
    ];
    assert_eq!(reliable, expected);
    assert_eq!(block.unreliable.iter().collect::<Vec<_>>(), [&b"yz"[..], b""]);
    assert_eq!(block.selective.iter().collect::<Vec<_>>(), [1, 9]);
    assert_eq!((block.reliable.len(), block.unreliable.len()), (3, 2));
}

#[test]
fn numbers_wrap_and_are_left_out_by_up_to_255() {
    let mut room = [0; 64];
    let mut w = BlockWriter::new(&mut room);
    assert!(w.reliable(u16::MAX, MessageKind::Game, [b"", b""]));
    assert!(w.reliable(255, MessageKind::Game, [b"", b""]));
    assert!(!w.reliable(512, MessageKind::Game, [b"", b""]), "256 are left out");
    let numbers: Vec<_> = w.finish(0).reliable.iter().map(|message| message.number).collect();
    assert_eq!(numbers, [u16::MAX, 255]);
}

#[test]
fn the_longest_message_has_a_head_of_two_bytes_and_a_longer_one_is_refused() {
    let long = [7; MAX_MESSAGE_LEN + 1];
    let mut room = [0; 2_000];
    let mut w = BlockWriter::new(&mut room);
    assert!(!w.reliable(0, MessageKind::Game, [&long, b""]));
    assert!(w.reliable(0, MessageKind::Game, [&long[1..], b""]));
    assert!(!w.unreliable(&long));
    assert!(w.unreliable(&long[1..]));
    let block = w.finish(0);
    let (mut out, packet) = ([0; 1_900], ServerMessages { block });
    let mut w = Writer::new(&mut out);
    packet.encode(&mut w);
    let len = w.finish().unwrap();
    assert_eq!(len, 3 + 3 + 2 + MAX_MESSAGE_LEN + 1 + 2 + MAX_MESSAGE_LEN);
    assert_eq!(BlockWriter::reliable_len(MAX_MESSAGE_LEN), 2 + MAX_MESSAGE_LEN);
    let (short, shorter) = (BlockWriter::reliable_len(16), BlockWriter::reliable_len(15));
    assert_eq!((short, shorter), (18, 16));
}

#[test]
fn what_has_no_room_is_left_out() {
    // Three bytes of the block, three of the list, one of the head and two of the message.
    for (room_len, fits) in [(9, true), (8, false), (3, false), (0, false)] {
        let mut room = vec![0; room_len];
        let mut w = BlockWriter::new(&mut room);
        assert_eq!(w.reliable(1, MessageKind::Game, [b"go", b""]), fits, "{room_len}");
        assert_eq!(w.left(), room_len.saturating_sub(if fits { 9 } else { 3 }));
    }
    for (room_len, fits) in [(7, true), (6, false)] {
        assert_eq!(BlockWriter::new(&mut vec![0; room_len]).unreliable(b"go"), fits);
    }
    // A byte for the length and two of the eight that there are.
    for (room_len, held) in [(12, 64), (6, 16), (5, 8), (4, 0), (3, 0)] {
        let mut room = vec![0xFF; room_len];
        let mut w = BlockWriter::new(&mut room);
        w.selective(0..64);
        assert_eq!(w.finish(0).selective.iter().count(), held, "{room_len}");
    }
    let mut room = vec![0; 2_000];
    let mut w = BlockWriter::new(&mut room);
    w.selective(0..2_000);
    assert_eq!(w.finish(0).selective.iter().count(), MAX_SELECTIVE_LEN * 8);
}

#[test]
fn a_block_has_at_most_255_messages_of_each_kind() {
    let mut room = vec![0; 2_000];
    let mut w = BlockWriter::new(&mut room);
    assert_eq!((0..300).filter(|n| w.reliable(*n, MessageKind::Game, [b"", b""])).count(), 255);
    assert_eq!((0..300).filter(|_| w.unreliable(b"")).count(), 255);
}

#[test]
fn every_fault_of_a_block_is_named() {
    let fault = |bytes: &[u8]| native_fault(0xA2, bytes);
    let truncated = |field| Malformed::new(field, Fault::Truncated);
    let twice = |field| Malformed::new(field, Fault::NotCanonical);
    let names = [
        "present",
        "acknowledged",
        "acknowledged",
        "selective",
        "selective",
        "selective",
        "first",
        "first",
        "count",
        "head",
        "message",
        "message",
        "head",
        "head",
        "skipped",
        "message",
        "count",
        "length",
        "message",
        "message",
        "length",
    ];
    for (len, field) in names.into_iter().enumerate() {
        assert_eq!(fault(&full_bytes()[..len]), truncated(field), "{len} bytes");
    }
    assert_eq!(fault(&[8, 0, 0]), Malformed::out_of_range("present", 8));
    assert_eq!(fault(&[1, 0, 0, 0]), Malformed::out_of_range("selective", 0));
    assert_eq!(fault(&[1, 0, 0, 65]), Malformed::out_of_range("selective", 65));
    assert_eq!(fault(&[1, 0, 0, 2, 1, 0]), twice("selective"));
    assert_eq!(fault(&[2, 0, 0, 0, 0, 0]), twice("count"));
    assert_eq!(fault(&[4, 0, 0, 0]), twice("count"));
    assert_eq!(fault(&[2, 0, 0, 0, 0, 1, 1, 1]), twice("head"), "a gap before the first");
    assert_eq!(fault(&[2, 0, 0, 0, 0, 2, 0, 1, 0]), twice("skipped"));
    assert_eq!(fault(&[2, 0, 0, 0, 0, 1, 6]), Malformed::out_of_range("kind", 3));
    assert_eq!(fault(&[2, 0, 0, 0, 0, 1, 0x80, 0]), twice("head"), "one byte would do");
    let [low, high] = [(901 << 3) as u8 | 0x80, (901_u16 << 3 >> 7) as u8];
    let long = Malformed::out_of_range("length", 901);
    assert_eq!(fault(&[2, 0, 0, 0, 0, 1, low, high]), long);
    assert_eq!(fault(&[4, 0, 0, 1, 901_u16 as u8 | 0x80, (901_u16 >> 7) as u8]), long);
    let three = Malformed::out_of_range("length", 0x80_u32 << 7);
    assert_eq!(fault(&[4, 0, 0, 1, 0x80, 0x80, 1]), three, "no varint has three bytes");
    let trailing = Malformed::new("ServerMessages", Fault::Trailing { extra: 2 });
    assert_eq!(fault(&[0, 0, 0, 7, 7]), trailing);
}
