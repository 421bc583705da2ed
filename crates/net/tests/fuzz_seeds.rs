//! The seeds of the fuzz targets are packets, and every packet of every dialect is among them.

use std::collections::BTreeSet;
use std::path::Path;

use backspin::wire::native::{Datagram, Packet};
use backspin_classic::wire::{ack, lan, rtype};

fn seeds(target: &str) -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds").join(target);
    let files = folder.read_dir().unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let seed = |file: std::fs::DirEntry| {
        (file.file_name().into_string().unwrap(), std::fs::read(file.path()).unwrap())
    };
    files.map(|file| seed(file.unwrap())).collect()
}

#[test]
fn every_lan_packet_has_a_seed() {
    let decoded = |(name, bytes): &(String, Vec<u8>)| match lan::Packet::decode(bytes) {
        Ok(packet) => packet.name(),
        Err(error) => panic!("{name}: {error}"),
    };
    assert_eq!(seeds("lan").iter().map(decoded).collect::<BTreeSet<_>>().len(), 6);
}

#[test]
fn every_rtype_packet_has_a_seed() {
    let (mut packets, mut messages) = (BTreeSet::new(), BTreeSet::new());
    for (name, bytes) in seeds("rtype") {
        if name.starts_with("stream-") {
            let mut rest = bytes.as_slice();
            while !rest.is_empty() {
                match rtype::Message::decode_next(rest) {
                    Ok(Some((message, len))) => {
                        messages.insert(message.name());
                        rest = &rest[len..];
                    }
                    other => panic!("{name}: {other:?}"),
                }
            }
        } else {
            match rtype::Packet::decode(&bytes) {
                Ok(packet) => packets.insert(packet.name()),
                Err(error) => panic!("{name}: {error}"),
            };
        }
    }
    assert_eq!((packets.len(), messages.len()), (17, 4));
}

#[test]
fn every_ack_packet_has_a_seed() {
    let decoded = |(name, bytes): &(String, Vec<u8>)| match ack::Datagram::decode(bytes) {
        Ok(datagram) => datagram.packet.name(),
        Err(error) => panic!("{name}: {error}"),
    };
    assert_eq!(seeds("ack").iter().map(decoded).collect::<BTreeSet<_>>().len(), 11);
}

#[test]
fn every_native_packet_has_a_seed() {
    let mut kinds = BTreeSet::new();
    for (name, bytes) in seeds("native") {
        match Datagram::decode(&bytes) {
            Ok(datagram) => kinds.insert(datagram.packet.kind()),
            Err(error) => panic!("{name}: {error}"),
        };
    }
    assert!(kinds.into_iter().eq((0..=255).filter(|&kind| Packet::is_known(kind))));
}

#[test]
fn every_packet_of_matchmaking_but_probe_is_in_a_script() {
    let mut kinds = BTreeSet::new();
    for (name, script) in seeds("matching") {
        let mut rest = &script[1..];
        while let [_, low, high, tail @ ..] = rest {
            let (bytes, tail) = tail.split_at(u16::from_le_bytes([*low, *high]).into());
            rest = tail;
            if !bytes.is_empty() {
                let datagram = Datagram::decode(bytes);
                kinds.insert(
                    datagram.unwrap_or_else(|error| panic!("{name}: {error}")).packet.kind(),
                );
            }
        }
    }
    // Hello, Seek; Challenge, Reject, Probed, Waiting, Matched. Probes are the node's own.
    assert!(kinds.into_iter().eq([0x01, 0x0C, 0x81, 0x88, 0x8A, 0x8B, 0x8C]));
}
