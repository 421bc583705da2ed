//! A player's input, numbered by the tick it is for: Input; and SnapshotAck for watchers,
//! who have none. Both say which snapshot has come, and carry messages along.

use std::fmt;
use std::time::Duration;

use super::{MessageBlock, SessionIndex};
use crate::typed::RawInput;
use crate::wire::field::Field;
use crate::wire::malformed::{Fault, Malformed};
use crate::wire::{Reader, Writer};

/// How many older inputs a datagram carries at most.
pub const MAX_HISTORY: usize = 63;

/// One player's input for one tick.
///
/// ```text
/// 0          4             6
/// | sequence | input_flags |
/// ```
///
/// `input_flags` has the lowest 16 bits; the others, if any is set, are the Input's `wide`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct InputRecord {
    /// The server tick that the input is for; never 0.
    pub sequence: u32,
    /// The input's bits, as the game lays them out.
    pub input_flags: RawInput,
}

impl InputRecord {
    fn decode(r: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(InputRecord {
            sequence: match r.u32_be("sequence")? {
                0 => return Err(Malformed::out_of_range("sequence", 0)),
                sequence => sequence,
            },
            input_flags: RawInput(r.u16_be("input_flags")?.into()),
        })
    }

    fn encode(&self, w: &mut Writer<'_>) {
        debug_assert!(self.sequence != 0, "0 means none");
        w.u32_be(self.sequence);
        w.u16_be(self.input_flags.0 as u16);
    }
}

/// What `held` counts in Input and in SnapshotAck.
const HELD_UNIT: Duration = Duration::from_micros(250);

/// How long a snapshot was held, as Input and SnapshotAck say it.
pub fn held_units(held: Duration) -> u8 {
    (held.as_nanos() / HELD_UNIT.as_nanos()).min(u8::MAX.into()) as u8
}

/// How long that was, if it can be told: 255 is that or more.
pub fn held_for(units: u8) -> Option<Duration> {
    (units < u8::MAX).then(|| HELD_UNIT * units.into())
}

/// The newest snapshot that a client has received.
///
/// ```text
/// 0               1               2
/// | snapshot_back | snapshot_held |
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct SnapshotEcho {
    /// It is of so many ticks before the newest input's.
    #[cfg_attr(feature = "serde", serde(rename = "snapshot_back"))]
    pub back: u8,
    /// It had come so many 1/4 ms before this was sent; 255 is that or more.
    #[cfg_attr(feature = "serde", serde(rename = "snapshot_held"))]
    pub held: u8,
}

impl SnapshotEcho {
    fn decode(r: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(SnapshotEcho { back: r.u8("snapshot_back")?, held: r.u8("snapshot_held")? })
    }

    fn encode(&self, w: &mut Writer<'_>) {
        w.u8(self.back);
        w.u8(self.held);
    }
}

/// Which datagrams with a [`ViewSnapshot`](super::ViewSnapshot) a client has taken.
///
/// ```text
/// 0        2       3
/// | newest | len   | mask: len bytes |
/// ```
///
/// Bit n of the mask, the lowest of its first byte being bit 0, is the datagram n + 1 before the newest.
/// The last byte of a mask is not 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Acks {
    /// The low half of the newest's number.
    pub newest: u16,
    /// The 64 before it.
    pub mask: u64,
}

impl Acks {
    /// The longest.
    pub const MAX_LEN: usize = 2 + 1 + 8;

    fn decode(r: &mut Reader<'_>) -> Result<Self, Malformed> {
        let (newest, len) = (r.u16_be("acks")?, r.u8("mask_len")?);
        if len > 8 {
            return Err(Malformed::out_of_range("mask_len", len));
        }
        let (mut mask, mut last) = (0, 1);
        for index in 0..len {
            last = r.u8("mask")?;
            mask |= u64::from(last) << (8 * index);
        }
        match last {
            0 => Err(Malformed::new("mask", Fault::NotCanonical)),
            _ => Ok(Acks { newest, mask }),
        }
    }

    fn encode(&self, w: &mut Writer<'_>) {
        let len = (u64::BITS - self.mask.leading_zeros()).div_ceil(8);
        w.u16_be(self.newest);
        w.u8(len as u8);
        w.bytes(&self.mask.to_le_bytes()[..len as usize]);
    }
}

/// The newest input, what the client has received, and all older inputs without acknowledgement.
///
/// ```text
/// 0         2        8         9
/// | session | newest | present | [wide] [SnapshotEcho] [drawn_back:u16] [Acks] [MessageBlock] [History ...]
/// ```
///
/// `present` has bit 0 for the SnapshotEcho, bit 1 for `drawn_back`, bit 2 for the MessageBlock, bit 3 for
/// the Acks and bit 4 for `wide`: `len:u8` (1 to 14) and `len` bytes, lowest first and the last not 0, the
/// bits of the newest input from bit 16 on.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Input<'a> {
    /// The client's.
    pub session: SessionIndex,
    /// The newest input.
    pub newest: InputRecord,
    /// The newest snapshot received, if it is of one of the 255 ticks before.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub snapshot: Option<SnapshotEcho>,
    /// The server time drawn when the input was made is so many 1/256 ticks before
    /// `newest.sequence`.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub drawn_back: Option<u16>,
    /// What has come of a world that is the player's own.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub acks: Option<Acks>,
    /// What the client has to say.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub messages: Option<MessageBlock<'a>>,
    /// The inputs of the ticks before, newest first; made for `newest.input_flags`.
    pub history: History<'a>,
}

impl<'a> Input<'a> {
    /// The longest one without messages.
    pub const MAX_LEN: usize = 9 + 2 + 2 + Acks::MAX_LEN + History::MAX_LEN;

    const SNAPSHOT: u8 = 1;
    const DRAWN_BACK: u8 = 2;
    const MESSAGES: u8 = 4;
    const ACKS: u8 = 8;
    const WIDE: u8 = 16;

    pub(super) fn decode(r: &mut Reader<'a>) -> Result<Self, Malformed> {
        let (session, mut newest) =
            (<SessionIndex as Field>::decode(r, "session")?, InputRecord::decode(r)?);
        let present = r.u8("present")?;
        if present > 31 {
            return Err(Malformed::out_of_range("present", present));
        }
        let has = |bit| present & bit != 0;
        if has(Input::WIDE) {
            newest.input_flags.0 |= decode_wide(r)? << 16;
        }
        Ok(Input {
            session,
            newest,
            snapshot: r.optional(has(Input::SNAPSHOT), SnapshotEcho::decode)?,
            drawn_back: r.optional(has(Input::DRAWN_BACK), |r| r.u16_be("drawn_back"))?,
            acks: r.optional(has(Input::ACKS), Acks::decode)?,
            messages: r.optional(has(Input::MESSAGES), MessageBlock::decode_from_client)?,
            history: History::decode(r, newest.input_flags)?,
        })
    }

    pub(super) fn encode(&self, w: &mut Writer<'_>) {
        debug_assert_eq!(
            self.history.newest, self.newest.input_flags,
            "the history counts its changes from the newest input"
        );
        w.u16_be(self.session.get());
        self.newest.encode(w);
        let snapshot = self.snapshot.map_or(0, |_| Input::SNAPSHOT);
        let drawn_back = self.drawn_back.map_or(0, |_| Input::DRAWN_BACK);
        let acks = self.acks.map_or(0, |_| Input::ACKS);
        let wide_len = wide_len(self.newest.input_flags);
        let wide = wide_len.map_or(0, |_| Input::WIDE);
        w.u8(snapshot | drawn_back | acks | wide | self.messages.map_or(0, |_| Input::MESSAGES));
        if let Some(len) = wide_len {
            w.u8(len as u8);
            w.bytes(&(self.newest.input_flags.0 >> 16).to_le_bytes()[..len]);
        }
        if let Some(snapshot) = self.snapshot {
            snapshot.encode(w);
        }
        if let Some(back) = self.drawn_back {
            w.u16_be(back);
        }
        if let Some(acks) = self.acks {
            acks.encode(w);
        }
        if let Some(messages) = self.messages {
            messages.encode(w);
        }
        w.bytes(self.history.runs);
    }
}

/// The inputs of the ticks before the newest, as runs of ticks in which nothing changed.
///
/// ```text
/// | same:u8 | ( changed:varint, ticks:u8 ) ... |
/// ```
///
/// `same` ticks had the newest input; before them, `ticks` (1 or more) had those with
/// the bits in `changed` (not 0) flipped, and so on, [`MAX_HISTORY`] ticks in all. Nothing at all
/// is no history. A varint has seven bits a byte, lowest first, and the high bit where more
/// follows; it has up to 128 bits.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct History<'a> {
    newest: RawInput,
    /// How many ticks there are in all.
    ticks: u8,
    /// Checked when decoded, or written by [`History::new`].
    runs: &'a [u8],
}

impl<'a> History<'a> {
    /// Room for any history of 16 bits in which every tick differs from the next. The wide part of the
    /// newest input is taken from it; of wide inputs that all differ it holds the newest eleven or more,
    /// which are those that matter.
    pub const MAX_LEN: usize = 1 + MAX_HISTORY * 4;

    /// Writes `older` (the inputs before `newest`, newest first) into `room`. Stops at [`MAX_HISTORY`]
    /// and at what has no room.
    pub fn new(
        newest: RawInput,
        older: impl IntoIterator<Item = RawInput>,
        room: &'a mut [u8; History::MAX_LEN],
    ) -> History<'a> {
        let mut w = Writer::new(room);
        let (mut run_flags, mut run, mut ticks) = (newest, 0_u8, 0_u8);
        for flags in older.into_iter().take(MAX_HISTORY) {
            if flags != run_flags {
                let changed = flags.0 ^ run_flags.0;
                // The run before, this change, and this run.
                if w.written() + 1 + varint_len(changed) + 1 > room_for(newest) {
                    break;
                }
                w.u8(run);
                encode_varint(&mut w, changed);
                (run_flags, run) = (flags, 0);
            }
            run += 1;
            ticks += 1;
        }
        if ticks > 0 {
            w.u8(run);
        }
        let len = w.written();
        History { newest, ticks, runs: &room[..len] }
    }

    /// The inputs of the ticks before the newest, newest first.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = RawInput> + use<'a> {
        let mut r = Reader::new(self.runs);
        // The first run is like the newest, and may be of no ticks.
        let (mut flags, mut run) = (self.newest, r.u8("same").unwrap_or(0));
        (0..self.ticks).map(move |_| {
            if run == 0 {
                flags.0 ^= decode_varint(&mut r).unwrap_or(0);
                run = r.u8("ticks").unwrap_or(u8::MAX);
            }
            run -= 1;
            flags
        })
    }

    fn decode(r: &mut Reader<'a>, newest: RawInput) -> Result<Self, Malformed> {
        let runs = r.take_rest();
        if runs.len() > room_for(newest) {
            return Err(Malformed::out_of_range("history", runs.len() as u32));
        }
        let mut check = Reader::new(runs);
        if runs.is_empty() {
            return Ok(History { newest, ticks: 0, runs });
        }
        let mut total = usize::from(check.u8("same")?);
        // "No ticks like the newest, and none unlike it" is written as nothing.
        if total == 0 && check.left() == 0 {
            return Err(Malformed::new("same", Fault::NotCanonical));
        }
        while check.left() > 0 {
            decode_varint(&mut check)?;
            match check.u8("ticks")? {
                0 => return Err(Malformed::out_of_range("ticks", 0)),
                ticks => total += usize::from(ticks),
            }
        }
        match total {
            0..=MAX_HISTORY => Ok(History { newest, ticks: total as u8, runs }),
            _ => Err(Malformed::out_of_range("ticks", total as u32)),
        }
    }
}

impl fmt::Debug for History<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for History<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter().map(|input| input.0))
    }
}

/// How long a history may be behind this input.
fn room_for(newest: RawInput) -> usize {
    History::MAX_LEN - wide_len(newest).map_or(0, |len| 1 + len)
}

/// How many bytes the bits from 16 on take, if any is set.
fn wide_len(input: RawInput) -> Option<usize> {
    let high = input.0 >> 16;
    (high != 0).then(|| (u128::BITS - high.leading_zeros()).div_ceil(8) as usize)
}

/// The longest varint: 128 bits.
const MAX_VARINT: usize = 19;

fn decode_varint(r: &mut Reader<'_>) -> Result<u128, Malformed> {
    const FIELD: &str = "changed";
    let mut value = 0;
    for index in 0..MAX_VARINT {
        let byte = r.u8(FIELD)?;
        let part = u128::from(byte & 0x7F);
        // The last has room for two bits.
        if index + 1 == MAX_VARINT && part > 3 {
            break;
        }
        value |= part << (7 * index);
        if byte & 0x80 == 0 {
            // A last byte of 0 adds nothing: the number has a shorter form, or is 0.
            return match byte {
                0 => Err(Malformed::new(FIELD, Fault::NotCanonical)),
                _ => Ok(value),
            };
        }
    }
    Err(Malformed::out_of_range(FIELD, value as i64))
}

fn varint_len(value: u128) -> usize {
    (u128::BITS - value.leading_zeros()).div_ceil(7) as usize
}

fn encode_varint(w: &mut Writer<'_>, mut value: u128) {
    while value >= 0x80 {
        w.u8(value as u8 | 0x80);
        value >>= 7;
    }
    w.u8(value as u8);
}

/// The bits of an input beyond the lowest 16.
fn decode_wide(r: &mut Reader<'_>) -> Result<u128, Malformed> {
    let len = match r.u8("wide_len")? {
        len @ 1..=14 => usize::from(len),
        len => return Err(Malformed::out_of_range("wide_len", len)),
    };
    let mut bytes = [0; 16];
    bytes[..len].copy_from_slice(r.take("wide", len)?);
    match bytes[len - 1] {
        0 => Err(Malformed::new("wide", Fault::NotCanonical)),
        _ => Ok(u128::from_le_bytes(bytes)),
    }
}

/// Which snapshot a watcher has.
///
/// ```text
/// 0         2             6               7         8
/// | session | server_tick | snapshot_held | present | [Acks] [MessageBlock]
/// ```
///
/// `present` has bit 0 for the Acks and bit 1 for the MessageBlock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct SnapshotAck<'a> {
    /// The client's.
    pub session: SessionIndex,
    /// The newest snapshot's.
    pub server_tick: u32,
    /// It had come so many 1/4 ms before this was sent; 255 is that or more.
    #[cfg_attr(feature = "serde", serde(rename = "snapshot_held"))]
    pub held: u8,
    /// What has come of a world that is the watcher's own.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub acks: Option<Acks>,
    /// What the client has to say.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub messages: Option<MessageBlock<'a>>,
}

impl<'a> SnapshotAck<'a> {
    const ACKS: u8 = 1;
    const MESSAGES: u8 = 2;

    pub(super) fn decode(r: &mut Reader<'a>) -> Result<Self, Malformed> {
        let (session, server_tick) =
            (<SessionIndex as Field>::decode(r, "session")?, r.u32_be("server_tick")?);
        let (held, present) = (r.u8("snapshot_held")?, r.u8("present")?);
        if present > SnapshotAck::ACKS | SnapshotAck::MESSAGES {
            return Err(Malformed::out_of_range("present", present));
        }
        let has = |bit| present & bit != 0;
        let acks = r.optional(has(SnapshotAck::ACKS), Acks::decode)?;
        let messages = r.optional(has(SnapshotAck::MESSAGES), MessageBlock::decode_from_client)?;
        Ok(SnapshotAck { session, server_tick, held, acks, messages })
    }

    pub(super) fn encode(&self, w: &mut Writer<'_>) {
        w.u16_be(self.session.get());
        w.u32_be(self.server_tick);
        w.u8(self.held);
        let acks = self.acks.map_or(0, |_| SnapshotAck::ACKS);
        w.u8(acks | self.messages.map_or(0, |_| SnapshotAck::MESSAGES));
        if let Some(acks) = self.acks {
            acks.encode(w);
        }
        if let Some(messages) = self.messages {
            messages.encode(w);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::native::{BlockWriter, MessageKind, Packet};
    use crate::wire::testing::{check_native, native_fault};

    const NEWEST: InputRecord = InputRecord { sequence: 100, input_flags: RawInput(0x0009) };
    const SESSION: SessionIndex = SessionIndex::new(0x0A0B).unwrap();

    /// An Input with a snapshot and a drawn time, and these bytes of history.
    fn bytes(runs: &[u8]) -> Vec<u8> {
        let start = [
            0x0A, 0x0B, 0, 0, 0, 100, 0, 9, // session, newest
            3, 8, 0x21, 0x03, 0x80, // present, snapshot_back, snapshot_held, drawn_back
        ];
        [&start, runs].concat()
    }

    const ECHO: SnapshotEcho = SnapshotEcho { back: 8, held: 0x21 };

    fn input(history: History<'_>) -> Input<'_> {
        Input {
            session: SESSION,
            newest: NEWEST,
            snapshot: Some(ECHO),
            drawn_back: Some(0x0380),
            acks: None,
            messages: None,
            history,
        }
    }

    /// A block with one message, and its bytes.
    fn block(room: &mut [u8]) -> MessageBlock<'_> {
        let mut w = BlockWriter::new(room);
        assert!(w.reliable(0x0102, MessageKind::Game, [b"hi", b""]));
        w.finish(0x0304)
    }

    const BLOCK: [u8; 9] = [2, 3, 4, 1, 2, 1, 16, b'h', b'i'];

    fn history_fault(runs: &[u8]) -> Malformed {
        native_fault(0x14, &bytes(runs))
    }

    #[test]
    fn an_input_carries_what_is_not_acknowledged() {
        let mut room = [0; History::MAX_LEN];
        // Two like the newest, then three without button 8, then one with 0x8000 besides.
        let older = [9, 9, 1, 1, 1, 0x8001].map(RawInput);
        let history = History::new(RawInput(9), older, &mut room);
        let runs = [2, 0x08, 3, 0x80, 0x80, 0x02, 1];
        check_native(0x14, &bytes(&runs), Packet::Input(input(history)));
        assert_eq!(history.iter().collect::<Vec<_>>(), older);
    }

    #[test]
    fn every_combination_of_optional_fields_has_its_bytes() {
        let (mut room, mut message_room) = ([0; History::MAX_LEN], [0; 16]);
        let history = History::new(RawInput(9), [RawInput(9)], &mut room);
        let block = block(&mut message_room);
        let acks = Acks { newest: 0x0506, mask: 0x0107 };
        for present in 0..16 {
            let has = |bit: u8| present & bit != 0;
            let input = Input {
                snapshot: has(1).then_some(ECHO),
                drawn_back: has(2).then_some(0x0380),
                acks: has(8).then_some(acks),
                messages: has(4).then_some(block),
                ..input(history)
            };
            let mut vector = bytes(&[])[..8].to_vec();
            vector.push(present);
            vector.extend(has(1).then_some([8, 0x21]).iter().flatten());
            vector.extend(has(2).then_some([3, 0x80]).iter().flatten());
            vector.extend(has(8).then_some([5, 6, 2, 7, 1]).iter().flatten());
            vector.extend(has(4).then_some(BLOCK).iter().flatten());
            let bare =
                Input { history: History { newest: RawInput(9), ticks: 0, runs: &[] }, ..input };
            check_native(0x14, &vector, Packet::Input(bare));
            vector.push(1);
            check_native(0x14, &vector, Packet::Input(input));
        }
        for present in [0x20, 0x40, 0x80, 0xFF] {
            let vector = [&bytes(&[])[..8], &[present, 0, 0, 0]].concat();
            assert_eq!(native_fault(0x14, &vector), Malformed::out_of_range("present", present));
        }
    }

    #[test]
    fn an_optional_field_that_is_cut_short_is_named() {
        let fault = |present, tail: &[u8]| {
            native_fault(0x14, &[&bytes(&[])[..8], &[present], tail].concat())
        };
        let truncated = |field| Malformed::new(field, Fault::Truncated);
        assert_eq!(fault(1, &[]), truncated("snapshot_back"));
        assert_eq!(fault(1, &[8]), truncated("snapshot_held"));
        assert_eq!(fault(2, &[3]), truncated("drawn_back"));
        for (len, name) in ["acks", "acks", "mask_len", "mask", "mask"].into_iter().enumerate() {
            assert_eq!(fault(8, &[5, 6, 2, 7, 1][..len]), truncated(name), "{len} bytes");
        }
        let names = ["present", "acknowledged", "acknowledged", "first", "first", "count", "head"];
        for (len, name) in names.into_iter().chain(["message", "message"]).enumerate() {
            assert_eq!(fault(4, &BLOCK[..len]), truncated(name), "{len} bytes");
        }
    }

    #[test]
    #[cfg(debug_assertions)]
    #[should_panic(expected = "the history counts its changes from the newest input")]
    fn a_history_of_another_newest_input_is_the_callers_mistake() {
        let mut room = [0; History::MAX_LEN];
        let input = input(History::new(RawInput(8), [RawInput(8)], &mut room));
        input.encode(&mut Writer::new(&mut [0; 100]));
    }

    #[test]
    fn ten_unchanged_inputs_are_one_byte() {
        let mut room = [0; History::MAX_LEN];
        assert_eq!(History::new(RawInput(5), [RawInput(5); 10], &mut room).runs, [10]);
        assert_eq!(History::new(RawInput(5), [RawInput(4); 10], &mut room).runs, [0, 1, 10]);
    }

    #[test]
    fn the_longest_history_fits_its_room() {
        let mut room = [0; History::MAX_LEN];
        // Every tick flips every button: four bytes each.
        let flips = |i| RawInput(if i % 2 == 0 { 0xFFFF } else { 0 });
        let older: Vec<RawInput> = (0..100).map(flips).collect();
        let history = History::new(RawInput(0), older.iter().copied(), &mut room);
        assert_eq!(history.runs.len(), History::MAX_LEN);
        assert_eq!(history.iter().collect::<Vec<_>>(), older[..MAX_HISTORY]);
    }

    #[test]
    fn a_history_has_at_most_63_ticks() {
        assert!(Packet::decode_payload(0x14, &bytes(&[63])).is_ok());
        assert_eq!(history_fault(&[64]), Malformed::out_of_range("ticks", 64));
        assert!(Packet::decode_payload(0x14, &bytes(&[60, 1, 3])).is_ok());
        assert_eq!(history_fault(&[60, 1, 4]), Malformed::out_of_range("ticks", 64));
        assert_eq!(history_fault(&[255, 1, 255]), Malformed::out_of_range("ticks", 510));
    }

    #[test]
    fn a_history_has_one_form() {
        let fault = |field, fault| Malformed::new(field, fault);
        assert_eq!(history_fault(&[0]), fault("same", Fault::NotCanonical));
        assert_eq!(history_fault(&[1, 1, 0]), Malformed::out_of_range("ticks", 0));
        assert_eq!(history_fault(&[1, 0, 1]), fault("changed", Fault::NotCanonical));
        assert_eq!(history_fault(&[1, 0x81, 0, 1]), fault("changed", Fault::NotCanonical));
        assert_eq!(history_fault(&[1, 0x81, 0x80, 0, 1]), fault("changed", Fault::NotCanonical));
        assert_eq!(history_fault(&[1, 1]), fault("ticks", Fault::Truncated));
        assert_eq!(history_fault(&[1, 0x81]), fault("changed", Fault::Truncated));
    }

    #[test]
    fn inputs_have_up_to_128_bits() {
        let wide = |bits: u128, runs: &[u8]| {
            let high = (bits >> 16).to_le_bytes();
            let len = (u128::BITS - bits.leading_zeros()).div_ceil(8) as u8 - 2;
            let low = (bits as u16).to_be_bytes();
            let head = [&[0x0A, 0x0B, 0, 0, 0, 100][..], &low, &[19, len]].concat();
            [&head[..], &high[..usize::from(len)], &[8, 0x21, 0x03, 0x80], runs].concat()
        };
        for bits in [0x1_0009, 0xFFFF_FFFF, 1 << 127, u128::MAX] {
            let (newest, mut room) = (RawInput(bits), [0; History::MAX_LEN]);
            let history = History::new(newest, [newest, RawInput(bits ^ 0x80)], &mut room);
            let newest = InputRecord { input_flags: newest, ..NEWEST };
            let packet = Packet::Input(Input { newest, ..input(history) });
            check_native(0x14, &wide(bits, &[1, 0x80, 1, 1]), packet);
        }
        // A change of the highest bit takes 19 bytes, and none takes more.
        let longest = [&[1][..], &[0x80; 18], &[2, 1]].concat();
        assert!(Packet::decode_payload(0x14, &bytes(&longest)).is_ok());
        let over = [&[1][..], &[0x80; 18], &[4, 1]].concat();
        assert_eq!(history_fault(&over), Malformed::out_of_range("changed", 0));
    }

    #[test]
    fn the_wide_part_of_an_input_has_one_form() {
        let fault = |tail: &[u8]| native_fault(0x14, &[&bytes(&[])[..8], &[16], tail].concat());
        assert_eq!(fault(&[]), Malformed::new("wide_len", Fault::Truncated));
        assert_eq!(fault(&[0]), Malformed::out_of_range("wide_len", 0));
        assert_eq!(fault(&[15]), Malformed::out_of_range("wide_len", 15));
        assert_eq!(fault(&[2, 1]), Malformed::new("wide", Fault::Truncated));
        assert_eq!(fault(&[2, 1, 0]), Malformed::new("wide", Fault::NotCanonical));
    }

    #[test]
    fn of_wide_inputs_that_all_differ_the_newest_eleven_have_room() {
        let mut room = [0; History::MAX_LEN];
        let older = (0..63).map(|i| RawInput(if i % 2 == 0 { u128::MAX } else { 0 }));
        let history = History::new(RawInput(0), older.clone(), &mut room);
        assert_eq!(history.iter().len(), 12);
        let wide = RawInput(1 << 127);
        assert_eq!(History::new(wide, older, &mut room).iter().len(), 11);
        let long = [&[1][..], &[[0x80; 18].as_slice(), &[2, 1]].concat().repeat(13)].concat();
        assert_eq!(history_fault(&long), Malformed::out_of_range("history", 261));
    }

    #[test]
    fn an_input_is_for_a_tick() {
        let mut none = bytes(&[]);
        none[2..6].fill(0);
        assert_eq!(native_fault(0x14, &none), Malformed::out_of_range("sequence", 0));
    }

    #[test]
    fn a_watcher_acknowledges_the_newest_snapshot() {
        let (session, server_tick, held) = (SESSION, 0x0102_0304, 0x21);
        let bare = SnapshotAck { session, server_tick, held, acks: None, messages: None };
        let bytes = [0x0A, 0x0B, 1, 2, 3, 4, 0x21, 0];
        check_native(0x12, &bytes, Packet::SnapshotAck(bare));
        let mut room = [0; 16];
        let messages = Some(block(&mut room));
        let bytes = [&bytes[..7], &[2], &BLOCK[..]].concat();
        check_native(0x12, &bytes, Packet::SnapshotAck(SnapshotAck { messages, ..bare }));
        let acks = Some(Acks { newest: 0x0506, mask: 0x0107 });
        let acked = [0x0A, 0x0B, 1, 2, 3, 4, 0x21, 1, 5, 6, 2, 7, 1];
        check_native(0x12, &acked, Packet::SnapshotAck(SnapshotAck { acks, ..bare }));
        let longer = [0x0A, 0x0B, 1, 2, 3, 4, 0x21, 1, 5, 6, 2, 7, 0];
        assert_eq!(native_fault(0x12, &longer), Malformed::new("mask", Fault::NotCanonical));
        let nine = [0x0A, 0x0B, 1, 2, 3, 4, 0x21, 1, 5, 6, 9];
        assert_eq!(native_fault(0x12, &nine), Malformed::out_of_range("mask_len", 9));
        let truncated = Malformed::new("acknowledged", Fault::Truncated);
        assert_eq!(native_fault(0x12, &bytes[..10]), truncated);
        let trailing = Malformed::new("SnapshotAck", Fault::Trailing { extra: 1 });
        assert_eq!(native_fault(0x12, &[&bytes[..], &[5]].concat()), trailing);
    }
}
