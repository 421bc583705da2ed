//! The vectors of PROTOCOL.md hold: they decode to what the document says, encode back to its
//! bytes, and no change of them is worse than a typed error.

use std::collections::BTreeSet;

use backspin::wire::native::{self, Datagram, MAX_UNCOMPRESSED_LEN, Scratch};
use backspin::wire::{Fault, Full, Malformed, Writer};
use backspin_classic::wire::{lan, rtype};
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
        let mut scratch = Scratch::default();
        let packet = decode(&vector.bytes, &mut scratch);
        let packet = packet.unwrap_or_else(|error| panic!("{vector:?}: {error}"));
        assert_eq!(packet.dialect().name(), vector.dialect, "{vector:?}");
        assert_eq!(packet.name(), vector.name, "{vector:?}");
        assert_eq!(Dialect::detect(&vector.bytes), Some(packet.dialect()), "{vector:?}");
    }
}

#[test]
fn every_vector_encodes_to_its_bytes() {
    let mut compressed = 0;
    for vector in vectors::vectors() {
        compressed += usize::from(is_compressed(&vector));
        let same = reencode(&vector.dialect, &vector.bytes, &mut Scratch::default());
        assert_eq!(same, Ok(true), "{vector:?}");
    }
    assert!(compressed > 0, "no vector is compressed");
}

#[test]
#[cfg(feature = "serde")]
fn every_vector_has_the_fields_that_the_document_says() {
    for vector in vectors::vectors() {
        let mut scratch = Scratch::default();
        let json = match vector.dialect.as_str() {
            TCP => serde_json::to_string(&rtype::Message::decode(&vector.bytes).unwrap()),
            _ => serde_json::to_string(&decode(&vector.bytes, &mut scratch).unwrap()),
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
            ]
        })
        .filter(|&(_, _, known)| known)
        .map(|(dialect, kind, _)| (dialect, kind))
        .collect();
    assert_eq!(expected.len(), 6 + 17 + 4 + 31);

    let vectors = vectors::vectors();
    let found: BTreeSet<(&str, u8)> = vectors
        .iter()
        .map(|vector| match vector.dialect.as_str() {
            "lan" => ("lan", vector.bytes[0]),
            "native" => ("native", vector.bytes[1]),
            dialect => (dialect, vector.bytes[2]),
        })
        .collect();
    let missing: Vec<_> = expected.difference(&found).collect();
    assert!(missing.is_empty(), "PROTOCOL.md has no vector for {missing:?}");
}

#[test]
fn every_truncation_of_every_vector_is_a_packet_or_a_typed_error() {
    let mut scratch = Scratch::default();
    for vector in vectors::vectors() {
        for len in 0..vector.bytes.len() {
            check(&vector, &vector.bytes[..len], &mut scratch);
        }
    }
}

#[test]
fn every_changed_byte_of_every_vector_is_a_packet_or_a_typed_error() {
    let mut scratch = Scratch::default();
    for vector in vectors::vectors() {
        let mut bytes = vector.bytes.clone();
        for at in 0..bytes.len() {
            for change in 1..=255 {
                bytes[at] = vector.bytes[at] ^ change;
                check(&vector, &bytes, &mut scratch);
            }
            bytes[at] = vector.bytes[at];
        }
    }
}

#[test]
fn a_byte_more_is_malformed() {
    for vector in vectors::vectors() {
        let longer = [&vector.bytes[..], &[0]].concat();
        let decoded = reencode(&vector.dialect, &longer, &mut Scratch::default());
        assert!(decoded.is_err(), "{vector:?}");
    }
}

#[test]
fn every_malformed_vector_has_the_field_and_the_reason_that_the_document_says() {
    for vector in vectors::malformed() {
        let mut scratch = Scratch::default();
        let fault = match vector.dialect.as_str() {
            "lan" => lan::Packet::decode(&vector.bytes).err(),
            "rtype" => rtype::Packet::decode(&vector.bytes).err(),
            "native" => Datagram::decode_compressed(&vector.bytes, &mut scratch).err(),
            TCP => rtype::Message::decode(&vector.bytes).err(),
            _ => decode(&vector.bytes, &mut scratch).err(),
        };
        let found = fault.map(|malformed| (malformed.field, malformed.fault.reason()));
        assert_eq!(found, Some((&*vector.field, &*vector.reason)), "{vector:?}");
        if vector.dialect != TCP {
            assert!(decode(&vector.bytes, &mut Scratch::default()).is_err(), "{vector:?}");
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
        "compression",
        "no_dialect",
    ];
    assert_eq!(shown, listed.map(String::from).into());
}

fn decode<'a>(bytes: &'a [u8], scratch: &'a mut Scratch) -> Result<Packet<'a>, Malformed> {
    backspin_classic::Packet::decode(bytes, scratch)
}

/// The bytes decode to something that encodes back, or are refused; they never panic.
fn check(vector: &Vector, bytes: &[u8], scratch: &mut Scratch) {
    if let Ok(same) = reencode(&vector.dialect, bytes, scratch) {
        assert!(same, "{vector:?} changed to {bytes:02x?} does not encode back");
    }
}

/// Whether bytes that decode encode to themselves; for a compressed payload, whether what was
/// unpacked does.
fn reencode(dialect: &str, bytes: &[u8], scratch: &mut Scratch) -> Result<bool, Malformed> {
    let mut out = vec![0; bytes.len()];
    if dialect == TCP {
        let len = rtype::Message::decode(bytes)?.encode(&mut out).expect("fits");
        return Ok(out[..len] == *bytes);
    }
    let packet = decode(bytes, scratch)?;
    let len = match packet {
        Packet::Lan(packet) => packet.encode(&mut out),
        Packet::Rtype(packet) => packet.encode(&mut out),
        Packet::Native(datagram) if bytes[2] != 0 => return Ok(repack(&datagram, bytes)),
        Packet::Native(datagram) => datagram.encode(&mut out),
    };
    Ok(out[..len.expect("fits")] == *bytes)
}

/// Whether the packet encodes to the payload that its compressed datagram unpacks to, and comes
/// back from a compression of our own if that fits a datagram.
fn repack(datagram: &Datagram<'_>, bytes: &[u8]) -> bool {
    let mut unpacked = [0; MAX_UNCOMPRESSED_LEN];
    let unpacked_len = lz4_flex::block::decompress_into(&bytes[13..], &mut unpacked).expect("lz4");
    let mut payload = [0; MAX_UNCOMPRESSED_LEN];
    let mut w = Writer::new(&mut payload);
    datagram.packet.encode(&mut w);
    let len = w.finish().expect("fits");

    let (mut out, mut scratch) = ([0; native::MAX_DATAGRAM_LEN], Scratch::default());
    let comes_back = match datagram.encode_compressed(&mut out, &mut scratch) {
        Ok(len) => Datagram::decode_compressed(&out[..len], &mut scratch) == Ok(*datagram),
        Err(Full) => true,
    };
    unpacked[..unpacked_len] == payload[..len] && comes_back
}

fn is_compressed(vector: &Vector) -> bool {
    vector.dialect == "native" && vector.bytes[2] == 1
}
