//! Prints a packet: a line for people, or a JSON object.

use std::fmt::Write as _;
use std::io::{self, Write};

use serde_json::Value;

use super::capture::frame::Path;
use super::decode::{Decoded, NoPacket};

/// Where in a capture something was.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// Seconds since the first packet, if the capture has a clock.
    pub(super) seconds: Option<f64>,
    pub(super) path: Path,
    pub(super) transport: Transport,
}

/// What carried a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Transport {
    Udp,
    Tcp,
}

impl Transport {
    /// What is added to a packet's name.
    pub(super) const fn mark(self) -> &'static str {
        match self {
            Transport::Udp => "",
            Transport::Tcp => " (tcp)",
        }
    }
}

/// For whom the output is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    /// People, with long lists and strings shortened.
    Short,
    /// People who want to see everything.
    Full,
    /// Programs.
    Json,
}

/// A number of things, in words: "1 packet", "2 packets".
pub(super) fn counted(number: u64, thing: &str) -> String {
    format!("{number} {thing}{}", if number == 1 { "" } else { "s" })
}

/// Prints one line per packet.
pub(super) struct Printer<W> {
    pub(super) out: W,
    style: Style,
    /// The widest pair of addresses so far, so that what follows them stands in a column.
    path_width: usize,
}

impl<W: Write> Printer<W> {
    pub(super) fn new(out: W, style: Style) -> Self {
        Printer { out, style, path_width: 0 }
    }

    /// Whether the output is for programs.
    pub(super) fn is_json(&self) -> bool {
        self.style == Style::Json
    }

    /// Prints a packet.
    pub(super) fn packet(&mut self, packet: &Decoded, place: Option<&Place>) -> io::Result<()> {
        let Decoded { dialect, name, fields, .. } = packet;
        if self.is_json() {
            let head = format!(r#""dialect":"{dialect}","packet":"{name}","fields":{fields}"#);
            return self.json(&head, place);
        }
        let mark = place.map_or("", |place| place.transport.mark());
        let mut line = format!("{dialect} {name}{mark}");
        if let Ok(Value::Object(fields)) = serde_json::from_str(fields) {
            for (name, value) in &fields {
                let _ = write!(line, " {name}=");
                self.show(&mut line, name, value);
            }
        }
        self.line(&line, place)
    }

    /// Prints why `len` bytes are no packet.
    pub(super) fn no_packet(
        &mut self,
        error: &NoPacket,
        len: usize,
        place: Option<&Place>,
    ) -> io::Result<()> {
        match self.style {
            Style::Json => self.error(error, place),
            _ => {
                let len = counted(len as u64, "byte");
                self.line(&format!("malformed ({len}): {error}"), place)
            }
        }
    }

    /// Prints why there are no bytes at all.
    pub(super) fn error(
        &mut self,
        error: &impl std::fmt::Display,
        place: Option<&Place>,
    ) -> io::Result<()> {
        match self.style {
            Style::Json => {
                let error = Value::String(error.to_string());
                self.json(&format!(r#""dialect":null,"error":{error}"#), place)
            }
            _ => self.line(&format!("malformed: {error}"), place),
        }
    }

    fn json(&mut self, head: &str, place: Option<&Place>) -> io::Result<()> {
        write!(self.out, "{{{head}")?;
        if let Some(Place { seconds, path: Path { from, to }, .. }) = place {
            let time = seconds.map_or(Value::Null, Value::from);
            write!(self.out, r#","time":{time},"from":"{from}","to":"{to}""#)?;
        }
        writeln!(self.out, "}}")
    }

    fn line(&mut self, line: &str, place: Option<&Place>) -> io::Result<()> {
        if let Some(Place { seconds, path: Path { from, to }, .. }) = place {
            let path = format!("{from} -> {to}");
            self.path_width = self.path_width.max(path.len());
            let time = seconds.map_or("-".to_owned(), |seconds| format!("{seconds:.6}"));
            write!(self.out, "{time:>10}  {path:<width$}  ", width = self.path_width)?;
        }
        writeln!(self.out, "{line}")
    }

    /// Appends a value as people read it.
    fn show(&self, line: &mut String, name: &str, value: &Value) {
        let full = self.style == Style::Full;
        // Writing into a string does not fail.
        let _ = match value {
            Value::Object(fields) => {
                line.push('{');
                for (i, (name, value)) in fields.iter().enumerate() {
                    let _ = write!(line, "{}{name}=", if i == 0 { "" } else { " " });
                    self.show(line, name, value);
                }
                line.push('}');
                Ok(())
            }
            Value::Array(items) => {
                self.show_list(line, name, items);
                Ok(())
            }
            Value::String(text) => match text.char_indices().nth(MAX_TEXT) {
                Some((cut, _)) if !full => {
                    let more = text[cut..].chars().count();
                    write!(line, "\"{}… {more} more\"", &text[..cut])
                }
                _ => write!(line, "\"{text}\""),
            },
            Value::Number(colour) if name == "rgba" => match colour.as_u64() {
                Some(colour) => write!(line, "#{colour:08x}"),
                None => write!(line, "{colour}"),
            },
            other => write!(line, "{other}"),
        };
    }

    fn show_list(&self, line: &mut String, name: &str, items: &[Value]) {
        let most = match items.first() {
            _ if self.style == Style::Full => usize::MAX,
            Some(Value::Object(_)) => MAX_RECORDS,
            _ => MAX_ITEMS,
        };
        line.push('[');
        for (i, item) in items.iter().take(most).enumerate() {
            line.push_str(if i == 0 { "" } else { ", " });
            self.show(line, name, item);
        }
        if items.len() > most {
            let _ = write!(line, ", … {} more", items.len() - most);
        }
        line.push(']');
    }
}

/// How much of a list of records, of another list and of a string is shown for short: two ships,
/// a dozen buttons, a cookie.
const MAX_RECORDS: usize = 2;
const MAX_ITEMS: usize = 12;
const MAX_TEXT: usize = 32;
