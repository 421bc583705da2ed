//! The body of one datagram.
//!
//! ```text
//! | goners | gap destroyed ... | list | list | ... | 0 | padding |
//! list: | count | low | form | gap item | gap item ... |
//! item: | id kind fields |              form 0: new to the client
//!       | fields |                      form 1: in full
//!       | 1 change |                    form 2: against the value of as many snapshots ago as before
//!       | 0 back change |                       against that of so many snapshots ago
//! ```

use super::MAX_BASE_TICKS;
use crate::game::{PlayerId, SpawnName};
use crate::replication::bits::{BitReader, BitWriter, Mark};
use crate::replication::delta::Change;
use crate::replication::{ENTITY_LIMIT, Entity, Fields, Kind, Schema};
use crate::wire::{Fault, Malformed};

/// The tick of a turn is one of those since what it is written against.
const _: () = assert!(MAX_BASE_TICKS <= u8::MAX as u32);

/// A gap's low bits are said in so many bits.
const LOW_BITS: u32 = 4;

/// And how its items are written in so many.
const FORM_BITS: u32 = 2;

/// What is the same for all items of a datagram.
#[derive(Clone, Copy)]
pub(super) struct Terms<'a> {
    pub(super) schema: &'a Schema,
    pub(super) tick: u32,
    /// Ticks from one snapshot to the next.
    pub(super) every: u32,
}

/// An entity as it is to be written.
pub(super) struct Item<'a> {
    pub(super) slot: u32,
    pub(super) entity: &'a Entity,
    /// What the client has: a value, and its tick.
    pub(super) base: Option<(u32, &'a Entity)>,
    /// How many ticks ago it turned, where that is written.
    pub(super) turn: Option<u8>,
}

/// How an entity is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Form {
    /// The client does not know it yet.
    New,
    /// Without what the client has of it.
    Full,
    /// Against what the client has.
    Change,
}

impl Form {
    const ALL: [Form; 3] = [Form::New, Form::Full, Form::Change];

    /// The shortest; and how many ticks ago it turned, which takes longest to find out.
    pub(super) fn of(
        terms: Terms<'_>,
        entity: &Entity,
        base: Option<(u32, &Entity)>,
    ) -> (Form, Option<u8>) {
        let Terms { schema, tick, every } = terms;
        let Some((base, before)) = base else { return (Form::New, None) };
        let (kind, ticks) = (&schema.kinds[usize::from(entity.kind)], tick.wrapping_sub(base));
        let is_of_use = ticks <= MAX_BASE_TICKS && ticks.is_multiple_of(every);
        if !is_of_use || before.is_carried_to(entity, kind, ticks) {
            return (Form::Full, None);
        }
        let (change, mut w) = (Change::new(kind, before, ticks), BitWriter::new(&mut []));
        let turn = change.turn(entity);
        change.encode_turned(entity, turn, &mut w);
        match w.len_bits() < fields_bits(kind) {
            true => (Form::Change, turn.map(|turn| turn as u8)),
            false => (Form::Full, None),
        }
    }
}

/// What is gone from a client's view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Goner {
    pub(super) slot: u32,
    /// It is no more; else it is only out of sight.
    pub(super) destroyed: bool,
}

/// Writes a body.
pub(super) struct Encoder<'a, 'b> {
    terms: Terms<'a>,
    w: BitWriter<'b>,
}

/// The body's room is used up.
#[derive(Debug)]
pub(super) struct NoRoom;

impl<'a, 'b> Encoder<'a, 'b> {
    pub(super) fn new(terms: Terms<'a>, out: &'b mut [u8]) -> Self {
        Encoder { terms, w: BitWriter::new(out) }
    }

    /// Begins with what is gone, in the order of slots: as many of them as fit.
    pub(super) fn goners(&mut self, goners: &[Goner]) -> usize {
        // A gap and its bit take 30 at most, their count and the end 36.
        let count = goners.len().min(self.w.room_bits().saturating_sub(36) / 30);
        self.w.count(count as u32);
        let mut next = 0;
        for goner in &goners[..count] {
            self.w.count(goner.slot - next);
            self.w.flag(goner.destroyed);
            next = goner.slot + 1;
        }
        count
    }

    /// How many bits are left for items.
    pub(super) fn room_bits(&self) -> usize {
        // The end takes one.
        self.w.room_bits().saturating_sub(1)
    }

    /// Where the writing is, to come back to.
    pub(super) fn mark(&self) -> Mark {
        self.w.mark()
    }

    /// Takes back what was written since.
    pub(super) fn rewind(&mut self, mark: Mark) {
        self.w.rewind(mark);
    }

    /// Writes a list of items of one form, in the order of their slots. If there is no room for all,
    /// how many there was room for.
    pub(super) fn list<'i>(
        &mut self,
        form: Form,
        items: impl ExactSizeIterator<Item = Item<'i>>,
        last_slot: u32,
    ) -> Result<(), usize> {
        let count = items.len();
        let low = (last_slot / count as u32).checked_ilog2().unwrap_or(0).min(15);
        self.w.count(count as u32);
        self.w.bits(low, LOW_BITS);
        self.w.bits(form as u32, FORM_BITS);
        let (mut next, mut last_back) = (0, 0);
        for (written, item) in items.enumerate() {
            self.w.rice(item.slot - next, low);
            next = item.slot + 1;
            self.item(form, &item, &mut last_back);
            if !self.w.has_room(1) {
                return Err(written);
            }
        }
        Ok(())
    }

    fn item(&mut self, form: Form, item: &Item<'_>, last_back: &mut u32) {
        let Terms { schema, tick, every } = self.terms;
        let Item { entity, .. } = *item;
        let kind = &schema.kinds[usize::from(entity.kind)];
        match (form, item.base) {
            (Form::Change, Some((base, before))) => {
                let ticks = tick.wrapping_sub(base);
                let back = ticks / every;
                self.w.flag(back == *last_back);
                if back != *last_back {
                    self.w.count(back);
                }
                *last_back = back;
                let turn = item.turn.map(u32::from);
                Change::new(kind, before, ticks).encode_turned(entity, turn, &mut self.w);
            }
            (Form::New, _) => {
                encode_id(entity.id, tick, &mut self.w);
                self.w.ranged(entity.kind.into(), schema.kinds.len() as u32 - 1);
                encode_fields(kind, entity, &mut self.w);
            }
            _ => encode_fields(kind, entity, &mut self.w),
        }
    }

    /// How many bytes it is.
    pub(super) fn finish(mut self) -> Result<usize, NoRoom> {
        self.w.count(0);
        self.w.finish().map_err(|_| NoRoom)
    }
}

fn fields_bits(kind: &Kind) -> usize {
    kind.fields.iter().map(|field| field.bits() as usize).sum()
}

/// No entity of this kind takes more, however it is written.
pub(super) fn most_bytes(kind: &Kind) -> usize {
    // The gap, and the id of one that is new.
    (fields_bits(kind) + 36 + 68).div_ceil(8)
}

fn encode_fields(kind: &Kind, entity: &Entity, w: &mut BitWriter<'_>) {
    for (field, &value) in kind.fields.iter().zip(&entity.fields) {
        w.bits(value.abs_diff(field.min), field.bits());
    }
}

fn decode_fields(kind: &Kind, r: &mut BitReader<'_>) -> Result<Fields<i32>, Malformed> {
    let mut fields = Fields::zeros(kind.fields.len());
    for (place, field) in fields.iter_mut().zip(kind.fields) {
        *place = field.min.wrapping_add_unsigned(r.ranged(field.name, field.span())?);
    }
    Ok(fields)
}

/// An id by itself: the game's own as a count, a spawn's by its name.
fn encode_id(id: u32, tick: u32, w: &mut BitWriter<'_>) {
    match SpawnName::read(id) {
        None => {
            w.flag(false);
            w.count(id);
        }
        Some(name) => {
            w.flag(true);
            name.encode(tick, w);
        }
    }
}

fn decode_id(tick: u32, r: &mut BitReader<'_>) -> Result<u32, Malformed> {
    if r.flag("spawn")? {
        return SpawnName::decode(tick, r).map(SpawnName::entity_id);
    }
    match r.count("id")? {
        id if id < SpawnName::FIRST => Ok(id),
        id => Err(Malformed::out_of_range("id", id)),
    }
}

impl SpawnName {
    /// By player, age and count, in a state of this tick.
    pub(in crate::replication) fn encode(self, tick: u32, w: &mut BitWriter<'_>) {
        w.count(self.player.0 - 1);
        w.count(tick.wrapping_sub(self.tick) & SpawnName::LOW_TICKS);
        w.count(self.count.into());
    }

    pub(in crate::replication) fn decode(
        tick: u32,
        r: &mut BitReader<'_>,
    ) -> Result<Self, Malformed> {
        let (player, back, count) = (r.count("player")?, r.count("back")?, r.count("count")?);
        if player >= SpawnName::PLAYERS {
            return Err(Malformed::out_of_range("player", player));
        }
        if back > SpawnName::LOW_TICKS {
            return Err(Malformed::out_of_range("back", back));
        }
        let count = u8::try_from(count).map_err(|_| Malformed::out_of_range("count", count))?;
        Ok(SpawnName { player: PlayerId(player + 1), tick: tick.wrapping_sub(back), count })
    }
}

/// What a client has to know to read an item.
pub(super) trait Slots {
    /// The id and kind of what is in a slot, if it was in it at this tick already.
    fn named(&self, slot: u32, tick: u32) -> Option<(u32, u8)>;

    /// What came of it at this tick.
    fn value(&self, slot: u32, tick: u32) -> Option<&Entity>;
}

/// What an item says.
#[derive(Debug)]
pub(super) struct Value {
    pub(super) slot: u32,
    pub(super) is_new: bool,
    pub(super) entity: Entity,
}

/// Why a body was not read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Unread {
    Malformed(Malformed),
    /// It stands on something that has not come.
    Stray,
}

impl From<Malformed> for Unread {
    fn from(malformed: Malformed) -> Self {
        Unread::Malformed(malformed)
    }
}

/// Reads a body.
pub(super) fn decode(
    terms: Terms<'_>,
    slots: &impl Slots,
    bytes: &[u8],
    goners: &mut Vec<Goner>,
    values: &mut Vec<Value>,
) -> Result<(), Unread> {
    goners.clear();
    values.clear();
    let r = &mut BitReader::new(bytes);
    let mut next = 0;
    for _ in 0..r.count("goners")? {
        let slot = slot(next, r.count("slot")?)?;
        goners.push(Goner { slot, destroyed: r.flag("destroyed")? });
        next = slot + 1;
    }
    loop {
        let count = r.count("count")?;
        if count == 0 {
            break;
        }
        let low = r.bits("low", LOW_BITS)?;
        let form = r.bits("form", FORM_BITS)?;
        let Some(&form) = Form::ALL.get(form as usize) else {
            return Err(Malformed::out_of_range("form", form).into());
        };
        let (mut next, mut last_back) = (0, 0);
        for _ in 0..count {
            let slot = slot(next, r.rice("slot", low, ENTITY_LIMIT as u32)?)?;
            next = slot + 1;
            values.push(decode_item(terms, slots, (slot, form), &mut last_back, r)?);
        }
    }
    Ok(r.clone().finish("body")?)
}

fn slot(next: u32, gap: u32) -> Result<u32, Malformed> {
    match next.saturating_add(gap) {
        slot if (slot as usize) < ENTITY_LIMIT => Ok(slot),
        slot => Err(Malformed::out_of_range("slot", slot)),
    }
}

fn decode_item(
    terms: Terms<'_>,
    slots: &impl Slots,
    (slot, form): (u32, Form),
    last_back: &mut u32,
    r: &mut BitReader<'_>,
) -> Result<Value, Unread> {
    let Terms { schema, tick, every } = terms;
    if form == Form::New {
        let id = decode_id(tick, r)?;
        let index = r.ranged("kind", schema.kinds.len().saturating_sub(1) as u32)?;
        let Some(kind) = schema.kinds.get(index as usize) else {
            return Err(Malformed::out_of_range("kind", index).into());
        };
        let entity = Entity { id, kind: index as u8, fields: decode_fields(kind, r)? };
        return Ok(Value { slot, is_new: true, entity });
    }
    let (id, index) = slots.named(slot, tick).ok_or(Unread::Stray)?;
    let kind = &schema.kinds[usize::from(index)];
    if form == Form::Full {
        let entity = Entity { id, kind: index, fields: decode_fields(kind, r)? };
        return Ok(Value { slot, is_new: false, entity });
    }
    if !r.flag("same")? {
        let back = r.count("back")?;
        if back == *last_back {
            return Err(Malformed::new("back", Fault::NotCanonical).into());
        }
        *last_back = back;
    }
    let ticks = last_back.saturating_mul(every);
    if ticks == 0 || ticks > MAX_BASE_TICKS {
        return Err(Malformed::out_of_range("back", *last_back).into());
    }
    let before = slots.value(slot, tick.wrapping_sub(ticks)).ok_or(Unread::Stray)?;
    let entity = Change::new(kind, before, ticks).decode(r)?;
    Ok(Value { slot, is_new: false, entity })
}
