//! What happened to inputs, as a picture: the timeline of document 004, section 7.3. Nothing here
//! decides anything.

use std::fmt;

use super::{PENDING_LIMIT, tick};

/// How many inputs a timeline shows.
pub const TIMELINE_LEN: usize = 16;

/// How many are remembered: on a slow link the newest are all under way, so beside as many as wait
/// at most there is a whole picture of those whose fate is known.
const KEPT: usize = PENDING_LIMIT + TIMELINE_LEN;

/// So many of those under way are in the picture once it is full.
const UNDER_WAY: usize = 2;

/// What became of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// No snapshot of its tick has come yet.
    Sent,
    /// Its tick has run with it.
    Acknowledged,
    /// Its tick has run without it.
    Lost,
}

/// The fate of the last inputs, as a picture of [`TIMELINE_LEN`] of them around where fates are
/// decided.
///
/// ```text
/// Client Sequence Timeline:
/// [100][101][102][X][104][105][106]  <- X = packet lost
///        ^                      ^
///        +-- ACK(101)           +-- ACK(106) -> clears all <=106
///
/// Server Processed Sequence:
/// [100][101][102][  ][104][105][106]  <- Gap detected between 102-104
///                      ^
///                      +-- Server continues with seq=104
/// ```
#[derive(Clone, Debug)]
pub struct Timeline {
    /// The inputs, the oldest first; `len` of them.
    inputs: [(u32, Fate); KEPT],
    len: usize,
    /// The newest acknowledgement, and the one before.
    acks: [Option<u32>; 2],
    /// Which inputs were the last that an acknowledgement named: bit n is that of tick n before the
    /// newest. Ticks between two such were acknowledged together.
    named: u64,
}

impl Timeline {
    /// An empty picture.
    pub const fn new() -> Self {
        Timeline { inputs: [(0, Fate::Sent); KEPT], len: 0, acks: [None; 2], named: 0 }
    }

    /// An input was sent; the oldest is forgotten where there is no room.
    pub fn handle_sent(&mut self, tick: u32) {
        if self.len == KEPT {
            self.inputs.rotate_left(1);
            self.len -= 1;
        }
        self.inputs[self.len] = (tick, Fate::Sent);
        self.len += 1;
    }

    /// A snapshot of `server_tick` came. `missing` has bit n if there was no input for the tick
    /// n before it.
    pub fn handle_snapshot(&mut self, server_tick: u32, missing: u8) {
        for (tick, fate) in &mut self.inputs[..self.len] {
            let back = tick::since(server_tick, *tick);
            let lost = u32::try_from(back).ok().and_then(|back| missing.checked_shr(back));
            if lost.is_some_and(|bits| bits & 1 != 0) {
                *fate = Fate::Lost;
            } else if back >= 0 && *fate == Fate::Sent {
                *fate = Fate::Acknowledged;
            }
        }
        self.acknowledge(server_tick, missing);
    }

    /// An acknowledgement names the last input whose tick has run with it. Where the last inputs are
    /// missing it stands still, and jumps when one comes again.
    fn acknowledge(&mut self, server_tick: u32, missing: u8) {
        let back = missing.trailing_ones();
        let ack = tick::before(server_tick, back);
        let [newest, _] = self.acks;
        if back == u8::BITS || newest.is_some_and(|newest| !tick::is_after(ack, newest)) {
            return;
        }
        let ahead = newest.map_or(u64::BITS, |newest| tick::since(ack, newest).unsigned_abs());
        self.named = self.named.checked_shl(ahead).unwrap_or(0) | 1;
        self.acks = [Some(ack), newest];
    }

    /// The inputs in the picture that acknowledgements named, the oldest first.
    pub fn acks(&self) -> impl Iterator<Item = u32> {
        let is_named = |tick: u32| {
            let back = self.acks[0].map(|newest| tick::since(newest, tick))?;
            let bits = self.named.checked_shr(u32::try_from(back).ok()?)?;
            Some(bits & 1 == 1)
        };
        self.inputs().map(|(tick, _)| tick).filter(move |tick| is_named(*tick) == Some(true))
    }

    /// What became of an input that is remembered.
    pub fn fate(&self, tick: u32) -> Option<Fate> {
        self.kept().iter().find(|(input, _)| *input == tick).map(|(_, fate)| *fate)
    }

    /// The client's half.
    pub const fn client(&self) -> ClientTimeline<'_> {
        ClientTimeline(self)
    }

    /// The server's half, as far as the client knows it.
    pub const fn server(&self) -> ServerTimeline<'_> {
        ServerTimeline(self)
    }

    /// The inputs in the picture and what became of them, the oldest first: the last whose tick has
    /// run, and the first of those under way. The newest where none has run.
    pub fn inputs(&self) -> impl Iterator<Item = (u32, Fate)> {
        let run = self.kept().iter().rposition(|(_, fate)| *fate != Fate::Sent);
        let end = run.map_or(self.len, |last| (last + 1 + UNDER_WAY).max(TIMELINE_LEN));
        let end = end.min(self.len);
        self.kept()[end.saturating_sub(TIMELINE_LEN)..end].iter().copied()
    }

    fn kept(&self) -> &[(u32, Fate)] {
        &self.inputs[..self.len]
    }

    /// The inputs whose tick has run.
    fn run(&self) -> impl Iterator<Item = (u32, Fate)> {
        self.inputs().filter(|(_, fate)| *fate != Fate::Sent)
    }

    /// The last inputs in a row that were lost: the first and the last of them.
    fn gap(&self) -> Option<(u32, u32)> {
        let mut gap = None;
        let mut before = Fate::Sent;
        for (tick, fate) in self.run() {
            gap = match (fate, before, gap) {
                (Fate::Lost, Fate::Lost, Some((first, _))) => Some((first, tick)),
                (Fate::Lost, ..) => Some((tick, tick)),
                _ => gap,
            };
            before = fate;
        }
        gap
    }
}

impl Default for Timeline {
    fn default() -> Self {
        Timeline::new()
    }
}

impl fmt::Display for Timeline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n\n{}", self.client(), self.server())
    }
}

/// The client's half of a [`Timeline`]: what was sent, and the last acknowledgements below.
#[derive(Clone, Copy, Debug)]
pub struct ClientTimeline<'a>(&'a Timeline);

impl ClientTimeline<'_> {
    /// Where the acknowledgement of `ack` stands: under the newest input that it clears.
    fn column(&self, ack: u32) -> Option<usize> {
        let cleared = self.0.inputs().filter(|(tick, _)| !tick::is_after(*tick, ack));
        middle(self.0.inputs().map(sent_cell), cleared.count())
    }
}

impl fmt::Display for ClientTimeline<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let timeline = self.0;
        f.write_str("Client Sequence Timeline:\n")?;
        timeline.inputs().map(sent_cell).try_for_each(|cell| cell.fmt(f))?;
        if timeline.inputs().any(|(_, fate)| fate == Fate::Lost) {
            f.write_str("  <- X = packet lost")?;
        }
        let mark = |ack: Option<u32>| ack.and_then(|ack| Some((ack, self.column(ack)?)));
        let [newest, before] = timeline.acks.map(mark);
        let Some((newest, column)) = newest else { return Ok(()) };
        // The acknowledgement before is shown where it has room: it ends with a space.
        let len = |ack: u32| "+-- ACK() ".len() + digits(ack);
        let before = before.filter(|(ack, start)| start + len(*ack) <= column);
        match before {
            Some((ack, start)) => {
                let gap = column - start;
                write!(f, "\n{:start$}^{:>gap$}\n", "", '^')?;
                let label = Ack(ack);
                write!(f, "{:start$}{label}{:>fill$}", "", "", fill = gap + 1 - len(ack))?;
            }
            None => write!(f, "\n{:column$}^\n{:column$}", "", "")?,
        }
        write!(f, "{} -> clears all <={newest}", Ack(newest))
    }
}

/// The server's half of a [`Timeline`]: what was applied, and where it went on after a gap.
#[derive(Clone, Copy, Debug)]
pub struct ServerTimeline<'a>(&'a Timeline);

impl fmt::Display for ServerTimeline<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let timeline = self.0;
        f.write_str("Server Processed Sequence:\n")?;
        timeline.run().map(applied_cell).try_for_each(|cell| cell.fmt(f))?;
        let Some((first, last)) = timeline.gap() else { return Ok(()) };
        let before = timeline.run().filter(|(tick, _)| !tick::is_after(*tick, last)).count();
        let next = timeline.run().nth(before).map_or(tick::after(last, 1), |(tick, _)| tick);
        write!(f, "  <- Gap detected between {}-{next}", tick::before(first, 1))?;
        match middle(timeline.run().map(applied_cell), before + 1) {
            Some(at) => write!(f, "\n{:at$}^\n{:at$}+-- Server continues with seq={next}", "", ""),
            None => Ok(()),
        }
    }
}

/// One place of a line.
#[derive(Clone, Copy)]
enum Cell {
    Number(u32),
    Cross,
    Blank,
}

fn sent_cell((tick, fate): (u32, Fate)) -> Cell {
    if fate == Fate::Lost { Cell::Cross } else { Cell::Number(tick) }
}

fn applied_cell((tick, fate): (u32, Fate)) -> Cell {
    if fate == Fate::Lost { Cell::Blank } else { Cell::Number(tick) }
}

impl Cell {
    fn width(self) -> usize {
        2 + match self {
            Cell::Number(tick) => digits(tick),
            Cell::Cross => 1,
            Cell::Blank => 2,
        }
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cell::Number(tick) => write!(f, "[{tick}]"),
            Cell::Cross => f.write_str("[X]"),
            Cell::Blank => f.write_str("[  ]"),
        }
    }
}

struct Ack(u32);

impl fmt::Display for Ack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "+-- ACK({})", self.0)
    }
}

/// The column in the middle of the last of the first `count` cells.
fn middle(cells: impl Iterator<Item = Cell>, count: usize) -> Option<usize> {
    let mut start = 0;
    let mut cells = cells.map(|cell| {
        let middle = start + cell.width() / 2;
        start += cell.width();
        middle
    });
    cells.nth(count.checked_sub(1)?)
}

fn digits(number: u32) -> usize {
    number.checked_ilog10().unwrap_or(0) as usize + 1
}

#[cfg(test)]
mod tests;
