//! Any bytes as a `native` datagram, and as a payload without its header: decode, encode, decode.
#![no_main]

use backspin::wire::Writer;
use backspin::wire::native::{
    BlockWriter, Datagram, History, MAX_DATAGRAM_LEN, MessageBlock, Packet,
};
use backspin_classic::Dialect;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    datagram(data);
    payload(data);
});

fn datagram(data: &[u8]) {
    let Ok(datagram) = Datagram::decode(data) else { return };
    let mut out = [0; MAX_DATAGRAM_LEN];
    assert_eq!(datagram.encode(&mut out), Ok(data.len()));
    assert_eq!(&out[..data.len()], data);
    assert_eq!(Datagram::decode(&out[..data.len()]), Ok(datagram));
    assert_eq!(Dialect::detect(data), Some(Dialect::Native));
}

/// The first byte is the type.
fn payload(data: &[u8]) {
    let [kind, payload @ ..] = data else { return };
    let Ok(packet) = Packet::decode_payload(*kind, payload) else { return };
    let mut out = vec![0; payload.len()];
    let mut w = Writer::new(&mut out);
    packet.encode_payload(&mut w);
    assert_eq!(w.finish(), Ok(payload.len()));
    assert_eq!(out, payload);
    match packet {
        Packet::Input(input) => {
            let mut room = [0; History::MAX_LEN];
            let flags = input.newest.input_flags;
            assert_eq!(History::new(flags, input.history.iter(), &mut room), input.history);
            same_block(input.messages);
        }
        Packet::ClientMessages(packet) => same_block(Some(packet.block)),
        Packet::SnapshotAck(packet) => same_block(packet.messages),
        Packet::DeltaSnapshot(packet) => same_block(packet.messages),
        Packet::ViewSnapshot(packet) => same_block(packet.messages),
        Packet::ServerMessages(packet) => same_block(Some(packet.block)),
        _ => {}
    }
}

fn same_block(block: Option<MessageBlock<'_>>) {
    let Some(block) = block else { return };
    let mut room = [0; 1400];
    let mut w = BlockWriter::new(&mut room);
    w.selective(block.selective.iter());
    for message in block.reliable.iter() {
        assert!(w.reliable(message.number, message.kind, [message.bytes, &[]]));
    }
    block.unreliable.iter().for_each(|message| assert!(w.unreliable(message)));
    assert_eq!(w.finish(block.acknowledged), block);
}
