//! Any bytes as a `native` datagram, plain and compressed, and as a payload without its header:
//! decode, encode, decode.
#![no_main]

use std::cell::RefCell;

use backspin::wire::native::{
    Datagram, EventBlock, Events, History, MAX_DATAGRAM_LEN, Packet, Scratch,
};
use backspin_classic::Dialect;
use backspin::wire::Writer;
use libfuzzer_sys::fuzz_target;

thread_local! {
    static SCRATCHES: RefCell<[Scratch; 2]> = RefCell::default();
}

fuzz_target!(|data: &[u8]| {
    plain(data);
    SCRATCHES.with_borrow_mut(|[theirs, ours]| compressed(data, theirs, ours));
    payload(data);
});

fn plain(data: &[u8]) {
    let Ok(datagram) = Datagram::decode(data) else { return };
    let mut out = [0; MAX_DATAGRAM_LEN];
    assert_eq!(datagram.encode(&mut out), Ok(data.len()));
    assert_eq!(&out[..data.len()], data);
    assert_eq!(Datagram::decode(&out[..data.len()]), Ok(datagram));
    assert_eq!(Dialect::detect(data), Some(Dialect::Native));
}

fn compressed(data: &[u8], theirs: &mut Scratch, ours: &mut Scratch) {
    let Ok(datagram) = Datagram::decode_compressed(data, theirs) else { return };
    assert_eq!(Dialect::detect(data), Some(Dialect::Native));
    let mut out = [0; MAX_DATAGRAM_LEN];
    match datagram.encode_compressed(&mut out, ours) {
        Ok(len) => {
            assert_eq!(Datagram::decode_compressed(&out[..len], ours), Ok(datagram));
        }
        // Someone else's block may be shorter than ours. What came plain always fits.
        Err(_) => assert_eq!(data[2], 1, "{datagram:?}"),
    }
}

/// The first byte is the type.
fn payload(data: &[u8]) {
    let [kind, payload @ ..] = data else { return };
    let Ok(packet) = Packet::decode(*kind, payload) else { return };
    let mut out = vec![0; payload.len()];
    let mut w = Writer::new(&mut out);
    packet.encode(&mut w);
    assert_eq!(w.finish(), Ok(payload.len()));
    assert_eq!(out, payload);
    match packet {
        Packet::Input(input) => {
            let mut room = [0; History::MAX_LEN];
            let flags = input.newest.input_flags;
            assert_eq!(History::new(flags, input.history.iter(), &mut room), input.history);
            same_events(input.events);
        }
        Packet::ClientEvents(packet) => same_events(Some(packet.block)),
        Packet::SnapshotAck(packet) => same_events(packet.events),
        Packet::DeltaSnapshot(packet) => same_events(packet.events),
        Packet::ServerEvents(packet) => same_events(Some(packet.block)),
        _ => {}
    }
}

fn same_events(block: Option<EventBlock<'_>>) {
    let Some(EventBlock { events, .. }) = block else { return };
    let mut room = [0; 1400];
    let bodies: Vec<&[u8]> = events.iter().map(|(_, event)| event).collect();
    assert_eq!(Events::new(events.first(), bodies, &mut room), events);
}
