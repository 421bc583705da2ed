//! The vectors of PROTOCOL.md hold: they decode to what the document says, encode back to its
//! bytes, and no change of them is worse than a typed error.

use std::collections::BTreeSet;

use backspin::wire::native::{self, Datagram};
use backspin::wire::{Fault, Malformed};
use backspin_classic::wire::{ack, lan, rtype};
use backspin_classic::{Dialect, Packet};

mod vectors;

use vectors::Vector;

const TCP: &str = "rtype-tcp";

#[test]
fn every_vector_decodes_to_its_packet() {
    for vector in vectors::vectors() {
        if vector.dialect == TCP {
            let message = rtype::Message::decode(&vector.bytes);
            let message = message.unwrap_or_else(|error| panic!("{vector:?}: {error}"));
            assert_eq!(message.name(), vector.name, "{vector:?}");
            continue;
        }
        let packet = decode(&vector.bytes);
        let packet = packet.unwrap_or_else(|error| panic!("{vector:?}: {error}"));
        assert_eq!(packet.dialect().name(), vector.dialect, "{vector:?}");
        assert_eq!(packet.name(), vector.name, "{vector:?}");
        assert_eq!(Dialect::detect(&vector.bytes), Some(packet.dialect()), "{vector:?}");
    }
}

#[test]
fn every_vector_encodes_to_its_bytes() {
    for vector in vectors::vectors() {
        let same = reencode(&vector.dialect, &vector.bytes);
        assert_eq!(same, Ok(true), "{vector:?}");
    }
}

#[test]
#[cfg(feature = "serde")]
fn every_vector_has_the_fields_that_the_document_says() {
    for vector in vectors::vectors() {
        let json = match vector.dialect.as_str() {
            TCP => serde_json::to_string(&rtype::Message::decode(&vector.bytes).unwrap()),
            _ => serde_json::to_string(&decode(&vector.bytes).unwrap()),
        };
        // A packet without fields serializes as null; the document writes an empty object.
        let json = Some(json.unwrap()).filter(|json| json != "null").unwrap_or("{}".into());
        assert_eq!(json, vector.fields, "{vector:?}");
    }
}

#[test]
fn every_packet_of_every_dialect_has_a_vector() {
    let known = |fault: Option<Malformed>| {
        !fault.is_some_and(|malformed| matches!(malformed.fault, Fault::UnknownType(_)))
    };
    let expected: BTreeSet<(&str, u8)> = (0..=255)
        .flat_map(|kind| {
            let header = [0, 0, kind, 1];
            [
                ("lan", kind, known(lan::Packet::decode(&[kind]).err())),
                ("rtype", kind, known(rtype::Packet::decode(&header).err())),
                (TCP, kind, known(rtype::Message::decode(&header).err())),
                ("native", kind, native::Packet::is_known(kind)),
                ("ack", kind, ack::Packet::is_known(kind)),
            ]
        })
        .filter(|&(_, _, known)| known)
        .map(|(dialect, kind, _)| (dialect, kind))
        .collect();
    assert_eq!(expected.len(), 6 + 17 + 4 + 31 + 11);

    let vectors = vectors::vectors();
    let found: BTreeSet<(&str, u8)> = vectors
        .iter()
        .map(|vector| match vector.dialect.as_str() {
            "lan" => ("lan", vector.bytes[0]),
            "native" => ("native", vector.bytes[1]),
            "ack" => ("ack", vector.bytes[1]),
            dialect => (dialect, vector.bytes[2]),
        })
        .collect();
    let missing: Vec<_> = expected.difference(&found).collect();
    assert!(missing.is_empty(), "PROTOCOL.md has no vector for {missing:?}");
}

#[test]
fn every_truncation_of_every_vector_is_a_packet_or_a_typed_error() {
    for vector in vectors::vectors() {
        for len in 0..vector.bytes.len() {
            check(&vector, &vector.bytes[..len]);
        }
    }
}

#[test]
fn every_changed_byte_of_every_vector_is_a_packet_or_a_typed_error() {
    for vector in vectors::vectors() {
        let mut bytes = vector.bytes.clone();
        for at in 0..bytes.len() {
            for change in 1..=255 {
                bytes[at] = vector.bytes[at] ^ change;
                check(&vector, &bytes);
            }
            bytes[at] = vector.bytes[at];
        }
    }
}

#[test]
fn a_byte_more_is_malformed() {
    for vector in vectors::vectors() {
        let longer = [&vector.bytes[..], &[0]].concat();
        let decoded = reencode(&vector.dialect, &longer);
        assert!(decoded.is_err(), "{vector:?}");
    }
}

#[test]
fn every_malformed_vector_has_the_field_and_the_reason_that_the_document_says() {
    for vector in vectors::malformed() {
        let fault = match vector.dialect.as_str() {
            "lan" => lan::Packet::decode(&vector.bytes).err(),
            "rtype" => rtype::Packet::decode(&vector.bytes).err(),
            "native" => Datagram::decode(&vector.bytes).err(),
            TCP => rtype::Message::decode(&vector.bytes).err(),
            "ack" => ack::Datagram::decode(&vector.bytes).err(),
            _ => decode(&vector.bytes).err(),
        };
        let found = fault.map(|malformed| (malformed.field, malformed.fault.reason()));
        assert_eq!(found, Some((&*vector.field, &*vector.reason)), "{vector:?}");
        if vector.dialect != TCP {
            assert!(decode(&vector.bytes).is_err(), "{vector:?}");
        }
    }
}

#[test]
fn the_malformed_vectors_show_every_reason_that_the_document_lists() {
    let shown: BTreeSet<_> = vectors::malformed().into_iter().map(|bad| bad.reason).collect();
    let listed = [
        "truncated",
        "trailing",
        "wrong_size",
        "version",
        "unknown_type",
        "out_of_range",
        "not_finite",
        "unterminated",
        "after_nul",
        "not_canonical",
        "byte_order",
        "no_dialect",
    ];
    assert_eq!(shown, listed.map(String::from).into());
}

fn decode(bytes: &[u8]) -> Result<Packet<'_>, Malformed> {
    backspin_classic::Packet::decode(bytes)
}

/// The bytes decode to something that encodes back, or are refused; they never panic.
fn check(vector: &Vector, bytes: &[u8]) {
    if let Ok(same) = reencode(&vector.dialect, bytes) {
        assert!(same, "{vector:?} changed to {bytes:02x?} does not encode back");
    }
}

/// Whether bytes that decode encode to themselves.
fn reencode(dialect: &str, bytes: &[u8]) -> Result<bool, Malformed> {
    let mut out = vec![0; bytes.len()];
    if dialect == TCP {
        let len = rtype::Message::decode(bytes)?.encode(&mut out).expect("fits");
        return Ok(out[..len] == *bytes);
    }
    let packet = decode(bytes)?;
    let len = match packet {
        Packet::Lan(packet) => packet.encode(&mut out),
        Packet::Rtype(packet) => packet.encode(&mut out),
        Packet::Native(datagram) => datagram.encode(&mut out),
        Packet::Ack(datagram) => datagram.encode(&mut out),
    };
    Ok(out[..len.expect("fits")] == *bytes)
}
