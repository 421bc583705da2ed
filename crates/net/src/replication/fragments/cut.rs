//! The server's side: ranges whose parts fit a datagram.

use super::{MAX_PARTS, RANGE_LEN};
use crate::replication::delta::{self, IdRange};
use crate::replication::{HISTORY_LEN, Schema, State};
use crate::wire::Full;
use crate::wire::native::Part;

/// The parts of one tick: cut once per baseline, whoever asks.
#[derive(Clone, Debug)]
pub struct FragmentCache {
    room_len: usize,
    tick: Option<u32>,
    /// By the age of the baseline; 0 is none.
    cuts: [Option<Result<Cut, Full>>; HISTORY_LEN + 1],
    bytes: Vec<u8>,
}

/// Where a state's parts are among the bytes: one behind the other.
#[derive(Clone, Copy, Debug)]
struct Cut {
    start: usize,
    count: u8,
    /// How long each is.
    lens: [usize; MAX_PARTS],
}

/// The parts of a state.
#[derive(Clone, Copy, Debug)]
pub struct Parts<'a> {
    cut: Cut,
    bytes: &'a [u8],
}

impl FragmentCache {
    /// A cache for parts whose bodies have at most `room_len` bytes.
    pub const fn new(room_len: usize) -> Self {
        FragmentCache { room_len, tick: None, cuts: [None; HISTORY_LEN + 1], bytes: Vec::new() }
    }

    /// The parts of `current`, at least two, each against the same range of `baseline`; cut if
    /// they were not yet. Full is a state that needs more than [`MAX_PARTS`], or of which there
    /// is nothing to cut. The parts of another tick are forgotten.
    ///
    /// # Panics
    /// Like [`delta::encode`].
    pub fn parts(
        &mut self,
        schema: &Schema,
        baseline: Option<&State>,
        current: &State,
    ) -> Result<Parts<'_>, Full> {
        if self.tick != Some(current.tick) {
            self.tick = Some(current.tick);
            self.cuts = [None; HISTORY_LEN + 1];
            self.bytes.clear();
        }
        let back = baseline.map_or(0, |baseline| current.tick.wrapping_sub(baseline.tick) as usize);
        // Of a baseline that is too old, the encoder complains.
        let cut = match self.cuts.get(back).copied().flatten() {
            Some(cut) => cut,
            None => self.cut(schema, baseline, current),
        };
        self.cuts[back] = Some(cut);
        cut.map(|cut| Parts { cut, bytes: &self.bytes })
    }

    fn cut(
        &mut self,
        schema: &Schema,
        baseline: Option<&State>,
        current: &State,
    ) -> Result<Cut, Full> {
        let start = self.bytes.len();
        self.bytes.resize(start + MAX_PARTS * self.room_len, 0);
        let scissors = Scissors { schema, baseline, current, room_len: self.room_len };
        let cut = scissors.cut(&mut self.bytes[start..]);
        let len: usize = cut.as_ref().map_or(0, |(_, lens)| lens.iter().sum());
        self.bytes.truncate(start + len);
        cut.map(|(count, lens)| Cut { start, count, lens })
    }
}

impl<'a> Parts<'a> {
    /// How many.
    pub const fn count(&self) -> u8 {
        self.cut.count
    }

    /// Part `index` and its body, if there are so many.
    pub fn get(&self, index: u8) -> Option<(Part, &'a [u8])> {
        let part = Part::new(index, self.cut.count)?;
        let (before, from) = self.cut.lens.split_at(index.into());
        let start = self.cut.start + before.iter().sum::<usize>();
        Some((part, &self.bytes[start..start + from[0]]))
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = (Part, &'a [u8])> {
        let parts = *self;
        (0..parts.count()).filter_map(move |index| parts.get(index))
    }
}

/// What is cut, and how small.
struct Scissors<'a> {
    schema: &'a Schema,
    baseline: Option<&'a State>,
    current: &'a State,
    room_len: usize,
}

impl Scissors<'_> {
    /// Writes the parts one behind the other; how many, and how long each is.
    fn cut(&self, out: &mut [u8]) -> Result<(u8, [usize; MAX_PARTS]), Full> {
        let mut rest = self.current.entities();
        let whole = delta::encode(self.schema, self.baseline, self.current, out)?;
        let room = self.room_len.checked_sub(RANGE_LEN).filter(|&room| room > 0).ok_or(Full)?;
        if rest.len() < 2 {
            return Err(Full);
        }
        // Parts of as many entities each: then the loss of any one costs the same.
        let mut expected = whole.div_ceil(room).max(2);
        let (mut from, mut end, mut lens) = (0, 0, [0; MAX_PARTS]);
        for (count, len) in (1..).zip(&mut lens) {
            let even = rest.len().div_ceil(expected);
            let mut take = even;
            let (upto, written) = loop {
                let upto = rest.get(take).map_or(u16::MAX, |next| next.id - 1);
                match self.write(IdRange { from, upto }, &mut out[end..]) {
                    Ok(written) => break (upto, written),
                    Err(Full) if take > 1 => take = take.div_ceil(2),
                    Err(Full) => return Err(Full),
                }
            };
            *len = written;
            if upto == u16::MAX {
                return Ok((count, lens));
            }
            end += written;
            from = upto + 1;
            rest = &rest[take..];
            // One that was halved left about as much as was expected before it.
            expected = if take == even { expected.saturating_sub(1).max(1) } else { expected };
        }
        Err(Full)
    }

    fn write(&self, ids: IdRange, out: &mut [u8]) -> Result<usize, Full> {
        let room = out.len().min(self.room_len);
        let (range, body) = out[..room].split_at_mut(RANGE_LEN);
        range.copy_from_slice(&ids.encode());
        let len = delta::encode_range(self.schema, self.baseline, self.current, ids, body)?;
        Ok(RANGE_LEN + len)
    }
}
