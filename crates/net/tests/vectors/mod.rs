//! The test vectors of PROTOCOL.md, read from the document itself.
//!
//! A fenced block `vectors` holds pairs of lines: dialect, packet name and fields as JSON; then
//! the bytes. A block `malformed` holds pairs of dialect, field and reason; then the bytes. A
//! block that does not look so fails the test that reads it.

use std::path::Path;

/// Bytes that decode.
#[derive(Clone, Debug)]
pub(crate) struct Vector {
    /// `lan`, `rtype`, `rtype-tcp`, `native` or `ack`.
    pub(crate) dialect: String,
    /// The packet's name.
    pub(crate) name: String,
    /// Its fields, as JSON.
    pub(crate) fields: String,
    /// The datagram, or the message.
    pub(crate) bytes: Vec<u8>,
}

/// Bytes that do not decode.
#[derive(Clone, Debug)]
pub(crate) struct Malformed {
    /// As in [`Vector`], or `any`: whichever dialect the bytes come closest to.
    pub(crate) dialect: String,
    /// The field at fault.
    pub(crate) field: String,
    /// What is the matter with it.
    pub(crate) reason: String,
    /// The datagram, or the message.
    pub(crate) bytes: Vec<u8>,
}

/// Everything in the blocks `vectors`.
pub(crate) fn vectors() -> Vec<Vector> {
    let parse = |head: &str, bytes| {
        let mut words = head.splitn(3, ' ');
        let (Some(dialect), Some(name), Some(fields)) = (words.next(), words.next(), words.next())
        else {
            panic!("not `dialect name json`: {head}");
        };
        let known = ["lan", "rtype", "rtype-tcp", "native", "ack"].contains(&dialect);
        assert!(known, "no dialect: {head}");
        assert!(fields.starts_with('{') && fields.ends_with('}'), "no JSON object: {head}");
        Vector { dialect: dialect.into(), name: name.into(), fields: fields.into(), bytes }
    };
    pairs("vectors").into_iter().map(|(head, bytes)| parse(&head, bytes)).collect()
}

/// Everything in the blocks `malformed`.
pub(crate) fn malformed() -> Vec<Malformed> {
    let parse = |head: &str, bytes| {
        let words: Vec<_> = head.split(' ').map(String::from).collect();
        let [dialect, field, reason] = words.try_into().unwrap_or_else(|_| {
            panic!("not `dialect field reason`: {head}");
        });
        let dialects = ["lan", "rtype", "rtype-tcp", "native", "ack", "any"];
        let known = dialects.contains(&dialect.as_str());
        assert!(known, "no dialect: {head}");
        Malformed { dialect, field, reason, bytes }
    };
    pairs("malformed").into_iter().map(|(head, bytes)| parse(&head, bytes)).collect()
}

/// The pairs of lines in all blocks with the info string `info`.
fn pairs(info: &str) -> Vec<(String, Vec<u8>)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../PROTOCOL.md");
    let text = std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut pairs = Vec::new();
    let mut lines = text.lines();
    let opening = format!("```{info}");
    while lines.by_ref().any(|line| line == opening) {
        loop {
            let head = lines.next().expect("the block is closed");
            if head == "```" {
                break;
            }
            let bytes = lines.next().unwrap_or_else(|| panic!("no bytes below {head}"));
            pairs.push((head.into(), parse_hex(head, bytes)));
        }
    }
    assert!(!pairs.is_empty(), "PROTOCOL.md has no {info}");
    pairs
}

fn parse_hex(head: &str, line: &str) -> Vec<u8> {
    let byte = |digits| {
        assert!(str::len(digits) == 2, "not two digits a byte below {head}: {line}");
        u8::from_str_radix(digits, 16).unwrap_or_else(|_| panic!("no hex below {head}: {line}"))
    };
    assert!(!line.is_empty(), "no bytes below {head}");
    line.split(' ').map(byte).collect()
}
