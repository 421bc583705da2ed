//! `backspin inspect`: shows the packets in bytes or in a capture.
//!
//! Bytes come from the command line ([`hex`]) or from a [`capture`]; [`decode`] turns them into packets,
//! `print` shows each
//! one, and [`summary`] sums up a capture.

mod capture;
mod decode;
mod hex;
mod print;
mod sequence;
mod summary;

use std::error::Error;
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, IsTerminal, Read, Write};
use std::path::{Path as FilePath, PathBuf};

use print::{Printer, Style};

/// Show the packets in bytes or in a network capture.
///
/// Prints one line per packet of the dialects lan, rtype, native and ack: dialect, name and fields. For a
/// capture, also the time since its first packet, the addresses and, at the end, a summary: packets by type, loss
/// and reordering by sequence number as seen at the capture point, malformed packets and skipped packets.
#[derive(clap::Args)]
#[command(after_help = "Try --help for examples.", after_long_help = MORE_HELP)]
#[command(group = clap::ArgGroup::new("source").args(["file", "hex"]).required(true))]
pub(crate) struct Args {
    /// A capture, pcap or pcapng; `-` is stdin
    file: Option<PathBuf>,

    /// One datagram in hexadecimal digits; `-` reads one per line from stdin
    ///
    /// Spaces, newlines, commas, colons and 0x between the bytes are fine.
    #[arg(long, value_name = "BYTES")]
    hex: Option<String>,

    /// Read the bytes as rtype's TCP stream: a sequence of messages
    #[arg(long, conflicts_with = "file")]
    tcp: bool,

    /// Print one JSON object per packet and line, and no summary
    #[arg(long)]
    json: bool,

    /// Do not shorten long lists and strings
    #[arg(long, conflicts_with = "json")]
    full: bool,
}

const MORE_HELP: &str = r#"Examples:
  backspin inspect --hex "08 00 07 01 05 00 00 00 39 30 00 00"
  backspin inspect --json --hex 00000201
  backspin inspect --tcp --hex "00 00 64 01 05 00 01 01 41 6c 69 63 65"
  backspin inspect match.pcapng
  tcpdump -i any -U -w - udp | backspin inspect -

Captures may be Ethernet (with VLAN tags), Linux cooked, BSD loopback or raw IP, over IPv4 and
IPv6. rtype's TCP step is followed on port 4243 and wherever a stream starts like one. IP fragments
are skipped, and the summary counts them.

JSON:
  {"dialect":"rtype","packet":"Ping","fields":{"sequence":5,"timestamp":12345}}
  {"dialect":null,"error":"version: 2 is not version 1"}
For a capture, "time" (seconds), "from" and "to" follow in every object.

Exit codes:
  0  all bytes of --hex were read, or at least one packet of the capture
  1  malformed bytes, text that is not hexadecimal, a capture that cannot be read to its end or has
     no packets of ours; stderr says which
  2  wrong usage"#;

/// The longest line of `--hex -`: any datagram fits, however it is written.
const MAX_LINE_LEN: u64 = 1024 * 1024;

/// Runs the command.
pub(crate) fn run(args: &Args) -> Result<(), Box<dyn Error>> {
    let style = match args {
        Args { json: true, .. } => Style::Json,
        Args { full: true, .. } => Style::Full,
        _ => Style::Short,
    };
    let stdin = FilePath::new("-");
    // Whoever watches sees each packet as it comes; a file is written faster.
    let live = args.file.as_deref() == Some(stdin) || io::stdout().is_terminal();
    let out: Box<dyn Write> = match live {
        true => Box::new(io::stdout().lock()),
        false => Box::new(BufWriter::new(io::stdout().lock())),
    };
    let mut printer = Printer::new(out, style);
    let done = match (&args.hex, &args.file) {
        (Some(hex), _) if hex == "-" => inspect_lines(args, &mut printer),
        (Some(hex), _) => inspect_hex(args, hex, &mut printer),
        (None, Some(file)) if file == stdin => {
            capture::inspect("the capture on stdin", io::stdin().lock(), &mut printer)
        }
        (None, Some(file)) => inspect_file(file, &mut printer),
        (None, None) => Err("there is nothing to inspect".into()),
    };
    printer.out.flush()?;
    done
}

/// One datagram or stream from the command line.
fn inspect_hex(
    args: &Args,
    text: &str,
    printer: &mut Printer<impl Write>,
) -> Result<(), Box<dyn Error>> {
    match inspect_text(args, text, printer)? {
        None => Ok(()),
        Some(problem) => {
            // For people the sentence on stderr is enough.
            if args.json {
                printer.error(&problem, None)?;
            }
            Err(format!("this is not a packet: {problem}").into())
        }
    }
}

/// One datagram or stream per line of stdin.
fn inspect_lines(args: &Args, printer: &mut Printer<impl Write>) -> Result<(), Box<dyn Error>> {
    let mut input = io::stdin().lock();
    let (mut line, mut all, mut bad) = (Vec::new(), 0_u64, 0_u64);
    while input.by_ref().take(MAX_LINE_LEN).read_until(b'\n', &mut line)? > 0 {
        if line.len() as u64 == MAX_LINE_LEN {
            return Err(format!("line {} is too long for a datagram", all + 1).into());
        }
        let text = String::from_utf8_lossy(&line);
        if !text.trim().is_empty() {
            all += 1;
            if let Some(problem) = inspect_text(args, &text, printer)? {
                printer.error(&problem, None)?;
                bad += 1;
            }
        }
        line.clear();
    }
    match bad {
        0 => Ok(()),
        bad => Err(format!("{bad} of {all} lines are not packets").into()),
    }
}

/// Prints what is in the text and says what is wrong with it.
fn inspect_text(
    args: &Args,
    text: &str,
    printer: &mut Printer<impl Write>,
) -> io::Result<Option<String>> {
    let bytes = match hex::parse(text) {
        Ok(bytes) => bytes,
        Err(error) => return Ok(Some(error.to_string())),
    };
    if !args.tcp {
        return match decode::datagram(&bytes) {
            Ok(packet) => printer.packet(&packet, None).map(|()| None),
            Err(error) => Ok(Some(error.to_string())),
        };
    }
    let mut rest = &bytes[..];
    loop {
        match decode::message(rest) {
            Ok(Some(message)) => {
                printer.packet(&message, None)?;
                rest = &rest[message.len..];
                if rest.is_empty() {
                    return Ok(None);
                }
            }
            Ok(None) => return Ok(decode::rest_of_stream(rest).map(|error| error.to_string())),
            Err(error) => return Ok(Some(error.to_string())),
        }
    }
}

fn inspect_file(file: &FilePath, printer: &mut Printer<impl Write>) -> Result<(), Box<dyn Error>> {
    let name = file.display().to_string();
    match File::open(file) {
        Ok(opened) => capture::inspect(&name, BufReader::new(opened), printer),
        Err(error) => Err(format!("{name} cannot be opened: {error}").into()),
    }
}
