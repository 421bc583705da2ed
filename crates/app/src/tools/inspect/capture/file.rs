//! The file formats: pcap and pcapng, in either byte order and with any clock.
//!
//! Blocks are delimited here, so that a live stream is read as it comes and a length in the file allocates
//! nothing;
//! `pcap-parser` reads what is inside them.

use std::io::{self, BufRead, Read};

use pcap_parser::pcapng::{
    Block, EnhancedPacketBlock, InterfaceDescriptionBlock, SimplePacketBlock,
};
use pcap_parser::traits::PcapNGPacketBlock;
use pcap_parser::{LegacyPcapBlock, PcapHeader, parse_block_be, parse_block_le};
use pcap_parser::{parse_pcap_frame, parse_pcap_frame_be, parse_pcap_header};

/// The longest packet with all that a capture keeps beside it.
pub(crate) const MAX_BLOCK_LEN: u32 = 512 * 1024;

/// The most interfaces of a pcapng section.
pub(crate) const MAX_INTERFACES: usize = 1024;

/// A capture that is being read.
pub(crate) struct Capture<R> {
    input: R,
    format: Format,
    block: Vec<u8>,
}

enum Format {
    Pcap { header: PcapHeader },
    PcapNg { big_endian: bool, interfaces: Vec<Interface> },
}

/// One packet of a capture.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Frame<'a> {
    /// Nanoseconds since whenever the capture's clock began, if it has one.
    pub(crate) at_ns: Option<i128>,
    /// What the bytes begin with, as tcpdump.org numbers it.
    pub(crate) link: u16,
    pub(crate) bytes: &'a [u8],
}

/// Why a capture could not be read, or not to its end.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CaptureError {
    #[error("it cannot be read: {0}")]
    Io(#[from] io::Error),
    #[error("it is not a pcap or pcapng capture")]
    NotACapture,
    #[error("it is compressed: unpack it first")]
    Compressed,
    #[error("it ends in the middle of a packet")]
    CutShort,
    #[error("it says that a packet has {0} bytes: it is damaged from there on")]
    TooLong(u32),
    #[error("it is damaged from there on")]
    Broken,
}

/// Where the frames of a pcapng file come from.
struct Interface {
    link: u16,
    snap_len: usize,
    ticks_per_second: u128,
    offset_seconds: i64,
}

impl<R: BufRead> Capture<R> {
    /// Reads the start of the file.
    pub(crate) fn open(mut input: R) -> Result<Self, CaptureError> {
        let mut block = Vec::new();
        match read(&mut input, &mut block, 4) {
            Err(CaptureError::CutShort) => return Err(CaptureError::NotACapture),
            other => other?,
        }
        let format = match block[..] {
            [0x0A, 0x0D, 0x0D, 0x0A] => {
                let big_endian = read_section(&mut input, &mut block)?;
                Format::PcapNg { big_endian, interfaces: Vec::new() }
            }
            [0x1F, 0x8B, ..] | [0x28, 0xB5, 0x2F, 0xFD] => return Err(CaptureError::Compressed),
            _ => {
                read(&mut input, &mut block, 20)?;
                let (_, header) =
                    parse_pcap_header(&block).map_err(|_| CaptureError::NotACapture)?;
                // A variant of the nineties with longer records.
                if header.is_modified_format() {
                    return Err(CaptureError::NotACapture);
                }
                Format::Pcap { header }
            }
        };
        Ok(Capture { input, format, block })
    }

    /// The next packet, or `None` at the end of the file.
    pub(crate) fn next_frame(&mut self) -> Result<Option<Frame<'_>>, CaptureError> {
        let Capture { input, format, block } = self;
        match format {
            Format::Pcap { header } => next_record(input, header, block),
            Format::PcapNg { big_endian, interfaces } => {
                while let Some(kind) = next_block(input, big_endian, block)? {
                    match kind {
                        Kind::Section => interfaces.clear(),
                        Kind::Interface => add_interface(interfaces, block, *big_endian)?,
                        Kind::Packet => return packet(interfaces, block, *big_endian).map(Some),
                        Kind::Other => {}
                    }
                }
                Ok(None)
            }
        }
    }
}

fn next_record<'a>(
    input: &mut impl BufRead,
    header: &PcapHeader,
    block: &'a mut Vec<u8>,
) -> Result<Option<Frame<'a>>, CaptureError> {
    block.clear();
    if input.fill_buf()?.is_empty() {
        return Ok(None);
    }
    read(input, block, 16)?;
    let len = number(block, 8, header.is_bigendian());
    read(input, block, check_len(len)?)?;
    let parse = if header.is_bigendian() { parse_pcap_frame_be } else { parse_pcap_frame };
    let (_, record): (_, LegacyPcapBlock<'a>) = parse(block).map_err(|_| CaptureError::Broken)?;
    let unit_ns = if header.is_nanosecond_precision() { 1 } else { 1000 };
    Ok(Some(Frame {
        at_ns: Some(
            i128::from(record.ts_sec) * 1_000_000_000 + i128::from(record.ts_usec) * unit_ns,
        ),
        // The high half says how long the frame check sequence is.
        link: header.network.0 as u16,
        bytes: record.data,
    }))
}

/// What is read of a pcapng file.
enum Kind {
    Section,
    Interface,
    Packet,
    Other,
}

/// Reads the next block into `block`, unless it is one that is passed over.
fn next_block(
    input: &mut impl BufRead,
    big_endian: &mut bool,
    block: &mut Vec<u8>,
) -> Result<Option<Kind>, CaptureError> {
    block.clear();
    if input.fill_buf()?.is_empty() {
        return Ok(None);
    }
    read(input, block, 4)?;
    let kind = match number(block, 0, *big_endian) {
        // The same in either byte order, which may change here.
        0x0A0D_0D0A => {
            *big_endian = read_section(input, block)?;
            return Ok(Some(Kind::Section));
        }
        1 => Kind::Interface,
        3 | 6 => Kind::Packet,
        _ => Kind::Other,
    };
    read(input, block, 4)?;
    let len = number(block, 4, *big_endian).checked_sub(8).ok_or(CaptureError::Broken)?;
    match kind {
        Kind::Other => {
            let skipped = io::copy(&mut input.take(u64::from(len)), &mut io::sink())?;
            if skipped < u64::from(len) {
                return Err(CaptureError::CutShort);
            }
        }
        _ => read(input, block, check_len(len)?)?,
    }
    Ok(Some(kind))
}

/// Reads the rest of a section header and says whether the section is big-endian.
fn read_section(input: &mut impl BufRead, block: &mut Vec<u8>) -> Result<bool, CaptureError> {
    read(input, block, 8)?;
    let big_endian = match block[8..] {
        [0x1A, 0x2B, 0x3C, 0x4D] => true,
        [0x4D, 0x3C, 0x2B, 0x1A] => false,
        _ => return Err(CaptureError::NotACapture),
    };
    let len = number(block, 4, big_endian).checked_sub(12).ok_or(CaptureError::Broken)?;
    read(input, block, check_len(len)?)?;
    Ok(big_endian)
}

fn add_interface(
    interfaces: &mut Vec<Interface>,
    block: &[u8],
    big_endian: bool,
) -> Result<(), CaptureError> {
    let Block::InterfaceDescription(description) = parse(block, big_endian)? else {
        return Err(CaptureError::Broken);
    };
    if interfaces.len() == MAX_INTERFACES {
        return Err(CaptureError::Broken);
    }
    interfaces.push(Interface::new(&description, big_endian));
    Ok(())
}

impl Interface {
    fn new(description: &InterfaceDescriptionBlock<'_>, big_endian: bool) -> Self {
        let exponent = u32::from(description.if_tsresol & 0x7F);
        let base: u128 = if description.if_tsresol & 0x80 == 0 { 10 } else { 2 };
        let offset = description.if_tsoffset;
        Interface {
            link: description.linktype.0 as u16,
            snap_len: match description.snaplen {
                0 => usize::MAX,
                len => len as usize,
            },
            // Beyond 10^38 or 2^127 no clock ticks: every packet is at 0.
            ticks_per_second: base.checked_pow(exponent).unwrap_or(u128::MAX),
            // The parser reads it little-endian always.
            offset_seconds: if big_endian { offset.swap_bytes() } else { offset },
        }
    }

    fn at_ns(&self, packet: &EnhancedPacketBlock<'_>) -> i128 {
        let ticks = u128::from(packet.ts_high) << 32 | u128::from(packet.ts_low);
        let seconds = (ticks / self.ticks_per_second) as i128 + i128::from(self.offset_seconds);
        let rest = ticks % self.ticks_per_second;
        seconds * 1_000_000_000 + (rest * 1_000_000_000 / self.ticks_per_second) as i128
    }
}

fn packet<'a>(
    interfaces: &[Interface],
    block: &'a [u8],
    big_endian: bool,
) -> Result<Frame<'a>, CaptureError> {
    let interface = |index: u32| interfaces.get(index as usize).ok_or(CaptureError::Broken);
    match parse(block, big_endian)? {
        Block::EnhancedPacket(packet) => {
            let interface = interface(packet.if_id)?;
            let bytes = &packet.data[..packet.packet_data().len()];
            Ok(Frame { at_ns: Some(interface.at_ns(&packet)), link: interface.link, bytes })
        }
        Block::SimplePacket(SimplePacketBlock { origlen, data, .. }) => {
            let interface = interface(0)?;
            let len = data.len().min(origlen as usize).min(interface.snap_len);
            Ok(Frame { at_ns: None, link: interface.link, bytes: &data[..len] })
        }
        _ => Err(CaptureError::Broken),
    }
}

/// Reads a block that is complete: a parser that asks for more was misled.
fn parse(block: &[u8], big_endian: bool) -> Result<Block<'_>, CaptureError> {
    let parse = if big_endian { parse_block_be } else { parse_block_le };
    parse(block).map(|(_, block)| block).map_err(|_| CaptureError::Broken)
}

/// The four bytes at `at`; the callers have read them.
fn number(block: &[u8], at: usize, big_endian: bool) -> u32 {
    let bytes = block.get(at..).and_then(|rest| rest.first_chunk()).copied().unwrap_or_default();
    if big_endian { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) }
}

fn check_len(len: u32) -> Result<u32, CaptureError> {
    if len <= MAX_BLOCK_LEN { Ok(len) } else { Err(CaptureError::TooLong(len)) }
}

/// Appends exactly `len` bytes, with memory for those that are really there.
fn read(input: &mut impl Read, block: &mut Vec<u8>, len: u32) -> Result<(), CaptureError> {
    let read = input.take(u64::from(len)).read_to_end(block)?;
    if read == len as usize { Ok(()) } else { Err(CaptureError::CutShort) }
}
