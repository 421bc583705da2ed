//! Known bytes and the exact JSON that is printed of them.

use std::fs;

use super::inspect_stdin;

/// The vectors of WIRE.md and of the documents behind it, and the smallest of what they leave to
/// a table.
const VECTORS: &[(&str, &str)] = &[
    ("00 00 02 01", r#"{"dialect":"rtype","packet":"HelloAck","fields":{}}"#),
    (
        "08 00 07 01  05 00 00 00  39 30 00 00",
        r#"{"dialect":"rtype","packet":"Ping","fields":{"sequence":5,"timestamp":12345}}"#,
    ),
    (
        "08 00 08 01  05 00 00 00  39 30 00 00",
        r#"{"dialect":"rtype","packet":"Pong","fields":{"sequence":5,"timestamp":12345}}"#,
    ),
    (
        "05 00 03 01  00 00 00 00  08",
        r#"{"dialect":"rtype","packet":"Input","fields":{"sequence":0,"bits":8}}"#,
    ),
    (
        "14 00 01 01  78 56 34 12  41 6c 69 63 65 00 00 00 00 00 00 00 00 00 00 00",
        r#"{"dialect":"rtype","packet":"Hello","fields":{"token":305419896,"name":"Alice"}}"#,
    ),
    (
        "05 00 01 01  41 6c 69 63 65",
        r#"{"dialect":"rtype","packet":"Hello","fields":{"name":"Alice"}}"#,
    ),
    (
        "1b 00 04 01  01 00  01 00 00 00 01 00 00 48 42 cd cc cc 3d 00 00 16 c3 00 00 00 00 ff ff aa 55",
        r#"{"dialect":"rtype","packet":"State","fields":{"count":1,"entities":[{"id":1,"kind":1,"x":50.0,"y":0.1,"vx":-150.0,"vy":0.0,"rgba":1437270015}]}}"#,
    ),
    ("00 00 0e 01", r#"{"dialect":"rtype","packet":"StartMatch","fields":{}}"#),
    ("01 00 0f 01 02", r#"{"dialect":"rtype","packet":"GameOver","fields":{"reason":2}}"#),
    ("01", r#"{"dialect":"lan","packet":"FIND_HOST","fields":{}}"#),
    ("02 d2 f0", r#"{"dialect":"lan","packet":"HOST_HERE","fields":{"port":54000}}"#),
    (
        "02 d2 f0 42 53 10 cc 00",
        r#"{"dialect":"lan","packet":"HOST_HERE","fields":{"port":54000,"native_port":4300,"flags":0}}"#,
    ),
    ("03 d2 f1", r#"{"dialect":"lan","packet":"HELLO","fields":{"port":54001}}"#),
    ("04", r#"{"dialect":"lan","packet":"HELLO_ACK","fields":{}}"#),
    ("05 00 00 ff", r#"{"dialect":"lan","packet":"GUEST_INPUT","fields":{"tick":0,"y":-1}}"#),
    (
        "06 00000000 0000c343 0000c343 00803144 0000dc43 0000c8c3 00007ac3 00 00",
        r#"{"dialect":"lan","packet":"STATE_UPDATE","fields":{"seq":0,"p1y":390.0,"p2y":390.0,"ballx":710.0,"bally":440.0,"ballvx":-400.0,"ballvy":-250.0,"p1":0,"p2":0}}"#,
    ),
    (
        "01 04 00 000a 00000007 0000 00000005 00003039",
        r#"{"dialect":"native","packet":"Ping","fields":{"sequence":7,"session":0,"id":5,"timestamp":12345}}"#,
    ),
    (
        "01 14 00 0011 00000009 0001 00000064 0009 09 0821 0506 02 0701 01",
        r#"{"dialect":"native","packet":"Input","fields":{"sequence":9,"session":1,"newest":{"sequence":100,"input_flags":9},"snapshot_back":8,"snapshot_held":33,"acks":{"newest":1286,"mask":263},"history":[9]}}"#,
    ),
    (
        "01 a4 00 0005 00000009 0102 07 01 ab",
        r#"{"dialect":"native","packet":"ViewSnapshot","fields":{"sequence":9,"tick":258,"epoch":7,"is_first":1,"body":"ab"}}"#,
    ),
];

#[test]
fn every_known_vector_prints_its_exact_json() {
    let hex: Vec<_> = VECTORS.iter().map(|(hex, _)| *hex).collect();
    let expected: Vec<_> = VECTORS.iter().map(|(_, json)| (*json).to_owned()).collect();
    check(&["--json", "--hex", "-"], &hex, &expected);
}

/// In PROTOCOL.md, a fenced block with the info string `vectors` holds pairs of lines: dialect,
/// packet and fields, then the bytes. The dialect `rtype-tcp` is rtype's TCP stream.
#[test]
fn every_vector_of_the_specification_prints_its_exact_json() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../PROTOCOL.md");
    let text = fs::read_to_string(path).expect("PROTOCOL.md is at the root of the repository");
    let (mut datagrams, mut messages) = ((vec![], vec![]), (vec![], vec![]));
    for (head, hex) in vectors(&text) {
        let mut parts = head.splitn(3, ' ');
        let (dialect, packet) = (parts.next().unwrap_or(""), parts.next().unwrap_or(""));
        // Through a value: spaces in the document do not count, the order of the fields does.
        let fields: serde_json::Value = serde_json::from_str(parts.next().unwrap_or("{}"))
            .unwrap_or_else(|error| panic!("{head}: {error}"));
        let (side, dialect) = match dialect {
            "rtype-tcp" => (&mut messages, "rtype"),
            other => (&mut datagrams, other),
        };
        side.0.push(hex);
        side.1.push(format!(r#"{{"dialect":"{dialect}","packet":"{packet}","fields":{fields}}}"#));
    }
    assert!(!datagrams.0.is_empty() && !messages.0.is_empty(), "the document has no vectors");
    check(&["--json", "--hex", "-"], &datagrams.0, &datagrams.1);
    check(&["--json", "--tcp", "--hex", "-"], &messages.0, &messages.1);
}

#[track_caller]
fn check(args: &[&str], hex: &[&str], expected: &[String]) {
    let run = inspect_stdin(args, hex.join("\n").as_bytes());
    let printed: Vec<_> = run.stdout.lines().collect();
    assert_eq!(printed.len(), expected.len(), "{}", run.stderr);
    for ((hex, printed), expected) in hex.iter().zip(printed).zip(expected) {
        assert_eq!(printed, expected, "{hex}");
    }
    run.done();
}

fn vectors(document: &str) -> Vec<(&str, &str)> {
    let mut inside = false;
    let lines = document.lines().filter(|line| {
        if line.starts_with("```") {
            inside = !inside && line.trim_end() == "```vectors";
            return false;
        }
        inside && !line.trim().is_empty()
    });
    let lines: Vec<_> = lines.map(str::trim).collect();
    assert!(lines.len().is_multiple_of(2), "a vector is two lines");
    lines.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect()
}
