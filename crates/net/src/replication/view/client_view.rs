//! The server's side: what one client has of the world, and what it is to be sent next.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use super::View;
use super::body::{Encoder, Form, Goner, Item, Terms, most_bytes};
use crate::replication::{ENTITY_LIMIT, Entity, History, Schema, State};
use crate::sabotage::{self, Sabotage};

/// Datagrams that may be without word of their arrival; of older ones nothing is expected any more.
const RECORD_LIMIT: usize = 512;

/// A datagram is lost when one of so many ticks later, and of another snapshot, has come: those of
/// one snapshot, or of two that follow closely, overtake each other.
const LOST_AFTER_TICKS: u32 = 3;

/// Snapshots that may turn out to have come whole.
const CANDIDATES: usize = 32;

/// What an item is taken to need until some were written, in bits.
const FIRST_ITEM_BITS: f32 = 64.0;

/// What a body has beside what is the player's own: room for what is gone, and the lists' heads.
const OWN_HEAD_BYTES: usize = 40;

/// A datagram with less than this in it is not worth its head.
const LEAST_BYTES: i64 = 100;

/// What is sent whatever the budget says: what the player steers and predicts.
const FORCED: u64 = u64::MAX;

/// What one client has of the world.
#[derive(Clone, Debug)]
pub struct ClientView {
    /// Tells datagrams of this view from those of one before it in the same session.
    epoch: u8,
    slots: Vec<Slot>,
    free: BinaryHeap<Reverse<u32>>,
    /// What the client may see, by id, with its slot.
    shown: Vec<(u32, u32)>,
    /// The same while it is made anew.
    next_shown: Vec<(u32, u32)>,
    /// The slots of what it may see no more, and has not been told so for sure.
    leaving: Vec<u32>,
    /// What has been sent, oldest first, and what was in it.
    records: VecDeque<Record>,
    sent: VecDeque<Sent>,
    /// Snapshots with which the client has everything, if all up to them arrives.
    candidates: VecDeque<Candidate>,
    /// The newest tick at which the client surely has everything.
    whole: Option<u32>,
    newest_acked: Option<u32>,
    plan: Plan,
    item_bits: f32,
    /// Bytes that may be sent; below 0 they were sent ahead.
    credit: i64,
    counts: ViewCounts,
}

/// An entity that the client knows, or is to be told of.
#[derive(Clone, Debug, Default)]
struct Slot {
    id: u32,
    kind: u8,
    /// Counts what was in this slot.
    generation: u8,
    /// How many snapshots in a row had no room for it.
    passed_over: u16,
    /// Its place in the last state that was looked at; in others it is near that.
    at: u32,
    /// The newest value that the client surely has.
    acked: Option<(u32, Entity)>,
    /// The tick of the newest value that was sent since, and may still arrive.
    sent: Option<u32>,
    /// The newest tick of a value that was taken for lost: it may have come all the same, so that only
    /// newer ones are sure to be the client's newest.
    doubt: Option<u32>,
    /// Whether it was ever sent.
    is_told: bool,
    /// The last tick at which what the client has, or will have, was right.
    since: u32,
    gone: Option<Gone>,
}

/// Why something is to go from the client's view.
#[derive(Clone, Copy, Debug)]
struct Gone {
    destroyed: bool,
    /// Whether a datagram that says so is under way.
    is_sent: bool,
}

/// A datagram that was sent.
#[derive(Clone, Copy, Debug)]
struct Record {
    sequence: u32,
    tick: u32,
    items: u32,
    is_done: bool,
}

/// What was in a datagram.
#[derive(Clone, Copy, Debug)]
struct Sent {
    slot: u32,
    generation: u8,
    is_goner: bool,
}

#[derive(Clone, Copy, Debug)]
struct Candidate {
    tick: u32,
    last_sequence: u32,
}

/// What one snapshot is to bring.
#[derive(Clone, Debug, Default)]
struct Plan {
    tick: u32,
    wanted: Vec<Wanted>,
    /// So many of them are sent.
    done: usize,
    goners: Vec<Goner>,
    goners_done: usize,
    datagrams: u32,
    /// What the client has no slot for.
    slotless: u32,
    /// What is the player's own takes no more than this.
    own_bytes: usize,
    last_sequence: u32,
    is_open: bool,
}

/// Something that the client has otherwise, or not at all.
#[derive(Clone, Copy, Debug)]
struct Wanted {
    score: u64,
    slot: u32,
    /// Its place in the state.
    at: u32,
    /// How it is written, once that was found out, and how many ticks ago it turned.
    form: Option<Form>,
    turn: Option<u8>,
}

/// How well a client is served.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ViewCounts {
    /// What it may see.
    pub shown: u32,
    /// Of these, what the last snapshot had no room for.
    pub unsent: u32,
    /// For how many ticks the longest of those has been passed over; what the link lost does not count.
    pub oldest_ticks: u32,
}

/// What a snapshot is made of: the same for all clients.
#[derive(Clone, Copy, Debug)]
pub struct Snapshot<'a> {
    /// The game's.
    pub schema: &'a Schema,
    /// The states of the last snapshots.
    pub history: &'a History,
    /// The newest of them.
    pub state: &'a State,
    /// Ticks from one snapshot to the next.
    pub every: u32,
}

impl ClientView {
    /// A client that has nothing; `epoch` is another than that of the view before it.
    pub fn new(epoch: u8) -> Self {
        ClientView {
            epoch,
            slots: Vec::new(),
            free: BinaryHeap::new(),
            shown: Vec::new(),
            next_shown: Vec::new(),
            leaving: Vec::new(),
            records: VecDeque::new(),
            sent: VecDeque::new(),
            candidates: VecDeque::new(),
            whole: None,
            newest_acked: None,
            plan: Plan::default(),
            item_bits: FIRST_ITEM_BITS,
            credit: 0,
            counts: ViewCounts::default(),
        }
    }

    /// Which view of its session it is.
    pub fn epoch(&self) -> u8 {
        self.epoch
    }

    /// How well the client was served last.
    pub fn counts(&self) -> ViewCounts {
        self.counts
    }

    /// The newest tick at which the client surely has all of it, as it was.
    pub fn whole(&self) -> Option<u32> {
        self.whole
    }

    /// Decides what the client is to be sent of a snapshot: see [`ClientView::poll`]. `budget` is how
    /// many bytes a snapshot may have in the long run; `is_own` says what is in every one of them.
    pub fn plan(
        &mut self,
        snapshot: Snapshot<'_>,
        view: &View,
        budget: u32,
        is_own: impl Fn(&Entity) -> bool,
    ) {
        let tick = snapshot.state.tick;
        let most = 2 * i64::from(budget);
        self.credit = (self.credit + i64::from(budget)).min(most);
        self.plan.begin(tick);
        self.leaving.retain(|slot| self.slots[*slot as usize].gone.is_some());
        match sabotage::is(Sabotage::HiddenSent) {
            false => self.merge(snapshot, view, &is_own),
            true => self.merge(snapshot, &self.with_known(view), &is_own),
        }
        self.plan.put_forced_first();
        for &slot in &self.leaving {
            if let Some(gone) = self.slots[slot as usize].gone.filter(|gone| !gone.is_sent) {
                self.plan.goners.push(Goner { slot, destroyed: gone.destroyed });
            }
        }
        self.plan.goners.sort_unstable_by_key(|goner| goner.slot);
        self.counts.shown = self.shown.len() as u32;
    }

    /// What may be seen, and what could be.
    fn with_known(&self, view: &View) -> View {
        let mut view = view.clone();
        self.shown.iter().for_each(|(id, _)| view.show(*id, View::PLAIN));
        view.finish();
        view
    }

    /// Goes through what the client knows and may see, both in the order of ids. Each is looked for near
    /// where it was, so that the size of the world does not matter.
    fn merge(&mut self, snapshot: Snapshot<'_>, view: &View, is_own: &impl Fn(&Entity) -> bool) {
        let (state, entities) = (snapshot.state, snapshot.state.entities());
        let known = std::mem::take(&mut self.shown);
        let mut next = std::mem::take(&mut self.next_shown);
        next.clear();
        let mut rest = &known[..];
        if view.is_everything() {
            for (at, entity) in entities.iter().enumerate() {
                let slot = self.pass(&mut rest, entity.id, state);
                if let Some(slot) = self.settle(slot, entity, state.tick) {
                    next.push((entity.id, slot));
                    self.consider(snapshot, slot, at, View::PLAIN, is_own);
                }
            }
        } else {
            // The place of the one before, and how far that is from where it was.
            let (mut at, mut moved) = (0, 0);
            for shown in view.shown() {
                let slot = self.pass(&mut rest, shown.id, state);
                let was = slot.map(|slot| self.slots[slot as usize].at as usize);
                at = state.place_near(shown.id, was.map_or(at, |was| was.wrapping_add(moved)));
                moved = was.map_or(moved, |was| at.wrapping_sub(was));
                match entities.get(at).filter(|entity| entity.id == shown.id) {
                    Some(entity) => {
                        if let Some(slot) = self.settle(slot, entity, state.tick) {
                            next.push((shown.id, slot));
                            self.consider(snapshot, slot, at, shown.priority, is_own);
                        }
                    }
                    // The game names what it has no more.
                    None => slot.into_iter().for_each(|slot| self.leave(slot, true)),
                }
            }
        }
        rest.iter().for_each(|(_, slot)| self.lose_sight(*slot, state));
        (self.shown, self.next_shown) = (next, known);
    }

    /// The slot of what has this id, if the client knows it. What comes before it in `rest` may not be
    /// seen any more.
    #[inline]
    fn pass(&mut self, rest: &mut &[(u32, u32)], id: u32, state: &State) -> Option<u32> {
        while let [(known, slot), behind @ ..] = *rest
            && *known <= id
        {
            *rest = behind;
            if *known == id {
                return Some(*slot);
            }
            self.lose_sight(*slot, state);
        }
        None
    }

    /// The slot of an entity that is to be shown: the one it has, unless another kind of thing had its
    /// id, or a new one, if there is any.
    #[inline]
    fn settle(&mut self, slot: Option<u32>, entity: &Entity, tick: u32) -> Option<u32> {
        match slot {
            Some(slot) if self.slots[slot as usize].kind == entity.kind => Some(slot),
            Some(slot) => {
                self.leave(slot, true);
                self.enter(entity, tick)
            }
            None => self.enter(entity, tick),
        }
    }

    fn lose_sight(&mut self, slot: u32, state: &State) {
        let it = &self.slots[slot as usize];
        self.leave(slot, state.find_near(it.id, it.at as usize).is_none());
    }

    /// A slot for something that the client does not know.
    fn enter(&mut self, entity: &Entity, tick: u32) -> Option<u32> {
        let slot = match self.free.pop() {
            Some(Reverse(slot)) => slot,
            None if self.slots.len() < ENTITY_LIMIT => {
                self.slots.push(Slot::default());
                self.slots.len() as u32 - 1
            }
            // Until the client knows what is gone, there is no room.
            None => {
                self.plan.slotless += 1;
                return None;
            }
        };
        let generation = self.slots[slot as usize].generation;
        let (id, kind, since) = (entity.id, entity.kind, tick);
        self.slots[slot as usize] = Slot { id, kind, generation, since, ..Slot::default() };
        Some(slot)
    }

    /// What is in a slot is to go from the client's view.
    fn leave(&mut self, slot: u32, destroyed: bool) {
        let destroyed = destroyed || sabotage::is(Sabotage::HiddenDestroyed);
        let it = &mut self.slots[slot as usize];
        if it.is_told {
            it.gone = Some(Gone { destroyed, is_sent: false });
            self.leaving.push(slot);
        } else {
            self.release(slot);
        }
    }

    fn release(&mut self, slot: u32) {
        let it = &mut self.slots[slot as usize];
        let generation = it.generation.wrapping_add(1);
        *it = Slot { generation, ..Slot::default() };
        self.free.push(Reverse(slot));
    }

    /// Notes what the client has otherwise than it is.
    fn consider(
        &mut self,
        snapshot: Snapshot<'_>,
        slot: u32,
        at: usize,
        priority: u8,
        is_own: &impl Fn(&Entity) -> bool,
    ) {
        let Snapshot { schema, history, state, every } = snapshot;
        let entity = &state.entities()[at];
        let it = &mut self.slots[slot as usize];
        it.at = at as u32;
        let under_way = it.sent.map(|tick| {
            let then = history.at(tick).and_then(|then| then.find_near(it.id, at));
            then.map(|then| (tick, then))
        });
        let is_sure = |acked: u32| it.doubt.is_none_or(|lost| acked.wrapping_sub(lost) as i32 > 0);
        let acked = it.acked.as_ref().map(|(tick, value)| (*tick, value));
        let acked = acked.filter(|(tick, _)| is_sure(*tick));
        let believed = match under_way {
            Some(Some(value)) => Some(value),
            // Nobody knows any more what was sent.
            Some(None) => {
                it.sent = None;
                None
            }
            None => acked,
        };
        let (kind, is_own) = (&schema.kinds[usize::from(entity.kind)], is_own(entity));
        let is_right = |known: Option<(u32, &Entity)>| {
            known.is_some_and(|(tick, value)| {
                value.is_carried_to(entity, kind, state.tick.wrapping_sub(tick))
            })
        };
        // What may get lost or come late is not enough for what the player predicts: it would be corrected.
        if is_right(believed) && (!is_own || is_right(acked)) {
            (it.since, it.passed_over) = (state.tick, 0);
            return;
        }
        let waited = state.tick.wrapping_sub(it.since).max(every);
        let score = match is_own {
            true => {
                self.plan.own_bytes += most_bytes(kind);
                FORCED
            }
            false if sabotage::is(Sabotage::Starved) => u64::from(priority),
            false => u64::from(waited) * u64::from(priority),
        };
        let (at, form, turn) = (at as u32, None, None);
        self.plan.wanted.push(Wanted { score, slot, at, form, turn });
    }

    /// Writes the next datagram of the snapshot into `out`, which goes out with this number behind so
    /// many other bytes, and says how long it is and whether it is the first; `None` when there is nothing more to send, or no
    /// budget left for it.
    pub fn poll(
        &mut self,
        snapshot: Snapshot<'_>,
        sequence: u32,
        head_len: usize,
        out: &mut [u8],
    ) -> Option<(usize, bool)> {
        let is_first = self.plan.datagrams == 0;
        let is_left = self.plan.done < self.plan.wanted.len()
            || self.plan.goners_done < self.plan.goners.len();
        let has_credit = self.credit > LEAST_BYTES + head_len as i64;
        if !self.plan.is_open || !is_first && (!is_left || !has_credit) {
            self.end_plan(snapshot.every);
            return None;
        }
        // What is the player's own goes out in any case.
        let least = if is_first { self.plan.own_bytes } else { 0 };
        let credit = (self.credit - head_len as i64).max(0) as usize;
        let room = out.len().min(credit.max(least));
        let (len, items) = self.write(snapshot, &mut out[..room]);
        self.credit -= (head_len + len) as i64;
        self.plan.datagrams += 1;
        self.plan.last_sequence = sequence;
        let (tick, is_done) = (self.plan.tick, false);
        self.records.push_back(Record { sequence, tick, items, is_done });
        if self.records.len() > RECORD_LIMIT {
            self.lose_oldest();
        }
        Some((len, is_first))
    }

    /// Writes one datagram: how long it is, and how many things are in it.
    fn write(&mut self, snapshot: Snapshot<'_>, out: &mut [u8]) -> (usize, u32) {
        let Snapshot { schema, state, every, .. } = snapshot;
        let mut encoder = Encoder::new(Terms { schema, tick: state.tick, every }, out);
        let goners = encoder.goners(&self.plan.goners[self.plan.goners_done..]);
        let mut items = goners as u32;
        for _ in 0..goners {
            let slot = self.plan.goners[self.plan.goners_done].slot;
            self.plan.goners_done += 1;
            let it = &mut self.slots[slot as usize];
            it.gone = it.gone.map(|gone| Gone { is_sent: true, ..gone });
            self.sent.push_back(Sent { slot, generation: it.generation, is_goner: true });
        }
        // The player's own first, by themselves; then as many of the rest as are likely to fit, and
        // again for what is left.
        let mut forced = self.plan.forced_left();
        loop {
            let left = self.plan.wanted.len() - self.plan.done;
            let room_bits = encoder.room_bits() as f32 - 16.0;
            let likely = (room_bits / self.item_bits * 0.95).max(0.0) as usize;
            let mut count = if forced > 0 { forced } else { likely.min(left) };
            let bits = encoder.room_bits();
            while count > 0 {
                match self.batch(snapshot, &mut encoder, count) {
                    Ok(()) => break,
                    Err(fitting) => count = fitting.min(count - 1),
                }
            }
            if count == 0 {
                // One that is larger than others may fit by itself.
                let one = left > 0 && room_bits > 0.0 && forced == 0;
                if !(one && likely == 0 && self.batch(snapshot, &mut encoder, 1).is_ok()) {
                    break;
                }
                count = 1;
            }
            let used = (bits - encoder.room_bits()) as f32 / count as f32;
            self.item_bits += (used - self.item_bits) * 0.1;
            self.note_sent(count, state.tick);
            items += count as u32;
            forced = self.plan.forced_left();
        }
        (encoder.finish().unwrap_or(0), items)
    }

    /// Writes the `count` most important of what is left, a list for each form. If they have no room,
    /// nothing, and how many had.
    fn batch(
        &mut self,
        snapshot: Snapshot<'_>,
        encoder: &mut Encoder<'_, '_>,
        count: usize,
    ) -> Result<(), usize> {
        let Snapshot { schema, state, every, .. } = snapshot;
        let terms = Terms { schema, tick: state.tick, every };
        let rest = &mut self.plan.wanted[self.plan.done..];
        if count < rest.len() {
            rest.select_nth_unstable_by_key(count - 1, |wanted| Reverse(wanted.score));
        }
        let (chosen, slots) = (&mut rest[..count], &self.slots);
        let base = |wanted: &Wanted| {
            let acked = slots[wanted.slot as usize].acked.as_ref();
            acked.map(|(tick, value)| (*tick, value))
        };
        let entity = |wanted: &Wanted| &state.entities()[wanted.at as usize];
        for wanted in chosen.iter_mut() {
            if wanted.form.is_none() {
                let (form, turn) = Form::of(terms, entity(wanted), base(wanted));
                (wanted.form, wanted.turn) = (Some(form), turn);
            }
        }
        chosen.sort_unstable_by_key(|wanted| (wanted.form, wanted.slot));
        let (start, mut written) = (encoder.mark(), 0);
        for list in chosen.chunk_by(|a, b| a.form == b.form) {
            let Some(Wanted { form: Some(form), slot: last, .. }) = list.last() else { continue };
            let items = list.iter().map(|wanted| Item {
                slot: wanted.slot,
                entity: entity(wanted),
                base: base(wanted),
                turn: wanted.turn,
            });
            match encoder.list(*form, items, *last) {
                Ok(()) => written += list.len(),
                Err(fitting) => {
                    encoder.rewind(start);
                    return Err(written + fitting);
                }
            }
        }
        Ok(())
    }

    fn note_sent(&mut self, count: usize, tick: u32) {
        for wanted in &self.plan.wanted[self.plan.done..][..count] {
            let it = &mut self.slots[wanted.slot as usize];
            (it.sent, it.is_told, it.since) = (Some(tick), true, tick);
            it.passed_over = 0;
            let (slot, generation) = (wanted.slot, it.generation);
            self.sent.push_back(Sent { slot, generation, is_goner: false });
        }
        self.plan.done += count;
    }

    /// The snapshot is out, or as much of it as the budget allows.
    fn end_plan(&mut self, every: u32) {
        if !std::mem::take(&mut self.plan.is_open) {
            return;
        }
        let unsent = &self.plan.wanted[self.plan.done..];
        self.counts.unsent = unsent.len() as u32 + self.plan.slotless;
        let mut longest = 0;
        for wanted in unsent {
            let it = &mut self.slots[wanted.slot as usize];
            it.passed_over = it.passed_over.saturating_add(1);
            longest = longest.max(it.passed_over);
        }
        self.counts.oldest_ticks = u32::from(longest) * every;
        if self.counts.unsent == 0 && self.plan.goners_done == self.plan.goners.len() {
            let (tick, last_sequence) = (self.plan.tick, self.plan.last_sequence);
            if self.candidates.len() == CANDIDATES {
                self.candidates.pop_front();
            }
            self.candidates.push_back(Candidate { tick, last_sequence });
        }
    }

    /// The client has the datagram with this number, and of those before it the ones in `mask`: bit n
    /// is n + 1 before it.
    pub fn handle_acks(&mut self, newest: u32, mask: u64, history: &History, every: u32) {
        let arrived = |sequence: u32| match newest.wrapping_sub(sequence) {
            0 => true,
            back @ 1..=64 => mask >> (back - 1) & 1 == 1,
            _ => false,
        };
        let mut from = 0;
        for index in 0..self.records.len() {
            let Record { sequence, tick, items, is_done } = self.records[index];
            if (newest.wrapping_sub(sequence) as i32) < 0 {
                break;
            }
            if !is_done && arrived(sequence) {
                self.acknowledge(from, items as usize, tick, history);
                self.records[index].is_done = true;
                if self.newest_acked.is_none_or(|acked| tick.wrapping_sub(acked) as i32 > 0) {
                    self.newest_acked = Some(tick);
                }
            }
            from += items as usize;
        }
        self.find_losses(every);
        self.drop_done();
    }

    /// What is older than something that has come, by more than datagrams overtake each other, is lost.
    fn find_losses(&mut self, every: u32) {
        let Some(acked) = self.newest_acked else { return };
        let late = every.max(LOST_AFTER_TICKS) as i32;
        let mut from = 0;
        for index in 0..self.records.len() {
            let Record { tick, items, is_done, .. } = self.records[index];
            if (acked.wrapping_sub(tick) as i32) < late {
                break;
            }
            if !is_done {
                self.lose(from, items as usize, tick);
                self.records[index].is_done = true;
            }
            from += items as usize;
        }
    }

    fn drop_done(&mut self) {
        while let Some(record) = self.records.front().filter(|record| record.is_done) {
            let sequence = record.sequence;
            self.sent.drain(..record.items as usize);
            self.records.pop_front();
            while let Some(candidate) = self.candidates.front()
                && (sequence.wrapping_sub(candidate.last_sequence) as i32) >= 0
            {
                self.whole = Some(candidate.tick);
                self.candidates.pop_front();
            }
        }
    }

    fn acknowledge(&mut self, from: usize, items: usize, tick: u32, history: &History) {
        let state = history.at(tick);
        for index in from..from + items {
            let Sent { slot, generation, is_goner } = self.sent[index];
            let it = &mut self.slots[slot as usize];
            if it.generation != generation {
                continue;
            }
            if is_goner {
                self.release(slot);
                continue;
            }
            if it.acked.as_ref().is_some_and(|(acked, _)| tick.wrapping_sub(*acked) as i32 <= 0) {
                continue;
            }
            // Word that comes later than the history reaches is of no use.
            if let Some(value) = state.and_then(|state| state.find_near(it.id, it.at as usize)) {
                match &mut it.acked {
                    Some((acked, known)) => {
                        *acked = tick;
                        known.clone_from(value);
                    }
                    None => it.acked = Some((tick, value.clone())),
                }
                it.sent = it.sent.filter(|sent| sent.wrapping_sub(tick) as i32 > 0);
            }
        }
    }

    fn lose(&mut self, from: usize, items: usize, tick: u32) {
        self.candidates.clear();
        for index in from..from + items {
            let Sent { slot, generation, is_goner } = self.sent[index];
            let it = &mut self.slots[slot as usize];
            if it.generation != generation {
                continue;
            }
            if is_goner {
                it.gone = it.gone.map(|gone| Gone { is_sent: false, ..gone });
            } else if it.sent == Some(tick) {
                it.sent = None;
                it.doubt = Some(it.doubt.map_or(tick, |known| known.max(tick)));
                // It has waited since the client's own value was right.
                it.since = it.acked.as_ref().map_or(tick, |(acked, _)| *acked).min(it.since);
            }
        }
    }

    fn lose_oldest(&mut self) {
        if let Some(Record { tick, items, is_done: false, .. }) = self.records.front().copied() {
            self.lose(0, items as usize, tick);
            self.records[0].is_done = true;
        }
        self.drop_done();
    }
}

impl Plan {
    fn begin(&mut self, tick: u32) {
        self.wanted.clear();
        self.goners.clear();
        (self.tick, self.done, self.goners_done) = (tick, 0, 0);
        (self.datagrams, self.slotless, self.is_open) = (0, 0, true);
        self.own_bytes = OWN_HEAD_BYTES;
    }

    fn put_forced_first(&mut self) {
        let mut forced = 0;
        for index in 0..self.wanted.len() {
            if self.wanted[index].score == FORCED {
                self.wanted.swap(index, forced);
                forced += 1;
            }
        }
    }

    fn forced_left(&self) -> usize {
        self.wanted[self.done..].iter().take_while(|wanted| wanted.score == FORCED).count()
    }
}
