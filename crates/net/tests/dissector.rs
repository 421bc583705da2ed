//! The Wireshark dissector, `tools/backspin.lua`, agrees with the wire layer: on every vector of
//! PROTOCOL.md and on thousands of damaged ones, in captures that are written here.
//!
//! Needs `tshark`. Without it the tests say so and pass, except where `CI` is set.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use backspin::wire::native;
use backspin_classic::wire::{lan, rtype};
use serde_json::Value;

mod capture;
mod vectors;

use capture::{Capture, Ip};

const TCP: &str = "rtype-tcp";
/// Of no dialect, so that the shape alone must tell.
const OTHER_PORT: u16 = 40_002;
/// Between the values of a field that occurs more than once; in no vector's text.
const BETWEEN: char = '|';

#[test]
fn every_vector_is_recognised_with_all_its_fields() {
    let Some(tshark) = Tshark::find() else { return };
    let vectors: Vec<_> =
        vectors::vectors().into_iter().filter(|vector| vector.dialect != TCP).collect();
    let mut capture = Capture::default();
    for vector in &vectors {
        capture.udp(Ip::V4, default_port(&vector.dialect), &vector.bytes);
        capture.udp(Ip::V6, OTHER_PORT, &vector.bytes);
    }

    let fields = vectors.iter().flat_map(leaves).map(|(field, _)| field);
    let fields: BTreeSet<_> = fields.collect();
    let columns: Vec<_> = ["backspin.dialect", "backspin.packet", "backspin.malformed"]
        .into_iter()
        .chain(fields.iter().map(String::as_str))
        .collect();
    let rows = tshark.fields("vectors", &capture, &columns);
    assert_eq!(rows.len(), 2 * vectors.len());

    for (vector, row) in vectors.iter().flat_map(|vector| [vector, vector]).zip(&rows) {
        let cell = |name| {
            let at = columns.iter().position(|column| *column == name).expect("asked for");
            row[at].as_str()
        };
        assert_eq!(cell("backspin.dialect"), vector.dialect, "{vector:?}");
        assert_eq!(cell("backspin.packet"), vector.name, "{vector:?}");
        assert_eq!(cell("backspin.malformed"), "", "{vector:?}");
        let expected = leaves(vector);
        for (field, _) in &expected {
            let values = expected.iter().filter(|(other, _)| other == field);
            let values: Vec<_> =
                values.map(|(_, value)| value).filter(|value| !value.is_empty()).collect();
            let shown: Vec<_> =
                cell(field).split(BETWEEN).filter(|value| !value.is_empty()).collect();
            let same = values.len() == shown.len()
                && values.iter().zip(&shown).all(|(value, shown)| is_same(value, shown));
            assert!(same, "{field}: {values:?}, but tshark shows {shown:?} in {vector:?}");
        }
    }
}

#[test]
fn the_info_column_names_the_packet_and_its_fields() {
    let Some(tshark) = Tshark::find() else { return };
    let mut capture = Capture::default();
    let ping = [8, 0, 7, 1, 5, 0, 0, 0, 0x39, 0x30, 0, 0];
    capture.udp(Ip::V4, rtype::DEFAULT_PORT, &ping);
    capture.udp(Ip::V6, rtype::DEFAULT_PORT, b"\x05\0\x01\x01Alice");
    capture.udp(Ip::V4, lan::DEFAULT_PORT, &[5, 0, 0, 0xFF]);
    capture.udp(Ip::V4, native::DEFAULT_PORT, &[1, 6, 0, 0, 2, 0, 0, 0, 7, 0, 1]);
    capture.udp(Ip::V4, native::DEFAULT_PORT, &[1, 6, 0, 0, 2, 0, 0, 0, 7, 0, 0]);
    assert_eq!(
        tshark.info("info", &capture),
        [
            "rtype Ping sequence=5 timestamp=12345",
            "rtype Hello name=\"Alice\"",
            "lan GUEST_INPUT tick=0 y=-1",
            "native Goodbye sequence=7 session=1",
            "native Goodbye malformed session: out_of_range",
        ]
    );
}

#[test]
fn the_stream_is_put_together_from_its_pieces() {
    let Some(tshark) = Tshark::find() else { return };
    let vectors: Vec<_> =
        vectors::vectors().into_iter().filter(|vector| vector.dialect == TCP).collect();
    let stream: Vec<u8> = vectors.iter().flat_map(|vector| vector.bytes.clone()).collect();
    for (ip, piece) in [(Ip::V4, 1), (Ip::V6, 7), (Ip::V4, stream.len())] {
        let mut capture = Capture::default();
        capture.tcp(ip, rtype::DEFAULT_PORT + 1, stream.chunks(piece));
        let columns = [
            "backspin.packet",
            "backspin.rtype.name",
            "backspin.rtype.token",
            "backspin.rtype.tail",
        ];
        let rows = tshark.fields("stream", &capture, &columns);
        let column = |at: usize| -> Vec<String> {
            let cells = rows.iter().flat_map(|row| row[at].split(BETWEEN));
            cells.filter(|cell| !cell.is_empty()).map(String::from).collect()
        };
        let names: Vec<_> = vectors.iter().map(|vector| vector.name.clone()).collect();
        assert_eq!(column(0), names, "in pieces of {piece}");
        assert_eq!(column(1), ["Alice", "fifteen bytes.."]);
        assert_eq!(column(2), ["0x12345678", "0x00000000"]);
        assert_eq!(column(3), ["010203040506", "0708"]);
    }
}

#[test]
fn malformed_vectors_are_marked_with_field_and_reason() {
    let Some(tshark) = Tshark::find() else { return };
    let columns = ["backspin.malformed", "_ws.expert.message"];
    let mut capture = Capture::default();
    let mut expected = Vec::new();
    for vector in vectors::malformed() {
        if vector.dialect != TCP {
            capture.udp(Ip::V4, native::DEFAULT_PORT, &vector.bytes);
            expected.push(fault_of(&vector.bytes).expect("malformed"));
        } else if vector.field != "payload" {
            capture.tcp(Ip::V4, rtype::DEFAULT_PORT + 1, [&vector.bytes[..]]);
            expected.push(format!("{}: {}", vector.field, vector.reason));
        }
    }
    let rows = tshark.fields("malformed", &capture, &columns);
    assert_eq!(rows.len(), expected.len());
    for (row, expected) in rows.iter().zip(&expected) {
        assert_eq!(row[0], *expected);
        assert!(row[1].contains(&format!("Malformed {expected}")), "no expert says so: {row:?}");
    }
}

#[test]
fn damaged_vectors_have_the_same_fault_as_in_the_wire_layer() {
    let Some(tshark) = Tshark::find() else { return };
    let mut damaged = Vec::new();
    for vector in vectors::vectors().into_iter().filter(|vector| vector.dialect != TCP) {
        damaged.extend((1..vector.bytes.len()).map(|len| vector.bytes[..len].to_vec()));
        damaged.push([&vector.bytes[..], &[0]].concat());
        for at in 0..vector.bytes.len() {
            damaged.extend([0x01, 0x80, 0xFF].map(|change| {
                let mut bytes = vector.bytes.clone();
                bytes[at] ^= change;
                bytes
            }));
        }
    }
    let mut capture = Capture::default();
    damaged.iter().for_each(|bytes| capture.udp(Ip::V4, native::DEFAULT_PORT, bytes));
    let columns = ["backspin.packet", "backspin.malformed"];
    let rows = tshark.fields("damaged", &capture, &columns);
    assert_eq!(rows.len(), damaged.len());
    for (bytes, row) in damaged.iter().zip(&rows) {
        let fault = fault_of(bytes).unwrap_or_default();
        assert_eq!(row[1], fault, "{bytes:02x?}");
        if fault.is_empty() {
            let packet = backspin_classic::Packet::decode(bytes).expect("no fault");
            assert_eq!(row[0], packet.name(), "{bytes:02x?}");
        }
    }
}

/// What our own decoder finds wrong with a datagram.
fn fault_of(bytes: &[u8]) -> Option<String> {
    let fault = backspin_classic::Packet::decode(bytes).err()?;
    Some(format!("{}: {}", fault.field, fault.fault.reason()))
}

fn default_port(dialect: &str) -> u16 {
    match dialect {
        "lan" => lan::DEFAULT_PORT,
        "rtype" => rtype::DEFAULT_PORT,
        _ => native::DEFAULT_PORT,
    }
}

/// The fields of a vector under their names in the dissector, in order.
fn leaves(vector: &vectors::Vector) -> Vec<(String, String)> {
    fn walk(path: &str, value: &Value, out: &mut Vec<(String, String)>) {
        match value {
            Value::Object(fields) => {
                fields.iter().for_each(|(name, value)| walk(&format!("{path}.{name}"), value, out));
            }
            Value::Array(items) => items.iter().for_each(|item| walk(path, item, out)),
            Value::String(text) => out.push((path.into(), text.clone())),
            // Of wide inputs the dissector shows the lowest 16 bits as flags, and the others as bytes.
            Value::Number(bits) if path.ends_with("input_flags") || path.ends_with("history") => {
                let low = bits.as_u64().map(|bits| bits as u16).expect("no more than 64 bits");
                out.push((path.into(), low.to_string()));
            }
            number => out.push((path.into(), number.to_string())),
        }
    }
    let mut out = Vec::new();
    let fields = serde_json::from_str(&vector.fields).expect("JSON");
    walk(&format!("backspin.{}", vector.dialect), &fields, &mut out);
    out
}

/// Whether tshark shows the value: in decimal, in hexadecimal, or as a float of its own taste.
fn is_same(value: &str, shown: &str) -> bool {
    let number = |text: &str| match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok().map(|number| number as f64),
        None => text.parse::<f64>().ok(),
    };
    value == shown || number(value).is_some_and(|value| number(shown) == Some(value))
}

/// The program, with our dissector.
struct Tshark;

impl Tshark {
    fn find() -> Option<Tshark> {
        match Command::new("tshark").arg("--version").output() {
            Ok(found) if found.status.success() => Some(Tshark),
            _ if std::env::var_os("CI").is_some() => panic!("tshark is needed where CI is set"),
            _ => {
                eprintln!("skipped: tshark is not installed");
                None
            }
        }
    }

    /// For each frame of the capture, the values of `columns`.
    fn fields(&self, name: &str, capture: &Capture, columns: &[&str]) -> Vec<Vec<String>> {
        let between = format!("aggregator={BETWEEN}");
        let mut arguments = vec!["-T", "fields", "-E", "separator=/t", "-E", &between];
        columns.iter().for_each(|column| arguments.extend(["-e", column]));
        let lines = self.run(name, capture, &arguments);
        lines.iter().map(|line| line.split('\t').map(String::from).collect()).collect()
    }

    /// For each frame of the capture, the info column.
    fn info(&self, name: &str, capture: &Capture) -> Vec<String> {
        let lines = self.run(name, capture, &["-o", r#"gui.column.format:"Info","%i""#]);
        lines.iter().map(|line| line.trim().to_string()).collect()
    }

    fn run(&self, name: &str, capture: &Capture, arguments: &[&str]) -> Vec<String> {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let file = folder.join(format!("{name}.pcap"));
        std::fs::write(&file, capture.bytes()).expect("the target folder is writable");
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tools/backspin.lua");
        let output = Command::new("tshark")
            // Without the preferences and plugins of whoever runs the test.
            .env("HOME", folder)
            .env("XDG_CONFIG_HOME", folder)
            .args(["-n", "-X", &format!("lua_script:{}", script.display()), "-r"])
            .arg(&file)
            .args(arguments)
            .output()
            .expect("tshark runs");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && !errors.contains("Lua"), "tshark: {errors}");
        let text = String::from_utf8(output.stdout).expect("UTF-8");
        text.lines().map(String::from).collect()
    }
}
