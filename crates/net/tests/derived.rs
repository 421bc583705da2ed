//! What the derives of `backspin::typed` write is what one would write by hand.
#![cfg(feature = "derive")]

use backspin::channel::MESSAGE_BYTES;
use backspin::game::PlayerId;
use backspin::replication::{Field, Kind, Motion, PushError, Schema, State, Step};
use backspin::typed::{
    Angle, Axis, Axis2, Choice, Entities, EntityKind, FieldValue, Fixed, Input, InputBits,
    InputValue, Int, LAYOUT, List, Message, MessageValue, Text, layout, layout_number,
};
use backspin::wire::{Fault, Malformed, Reader, Writer};
use proptest::prelude::*;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
enum Weapon {
    #[default]
    Fist,
    Bow,
    Sword,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
enum Only {
    #[default]
    One,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Input)]
struct Pad {
    go: Axis2,
    aim: Angle<10>,
    fire: bool,
    weapon: Weapon,
    r#use: Int<-1, 5>,
}

/// The same by hand.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct HandPad {
    go: Axis2,
    aim: Angle<10>,
    fire: bool,
    weapon: Weapon,
    r#use: Int<-1, 5>,
}

impl Input for HandPad {
    const BITS: u32 = 16 + 10 + 1 + 2 + 3;
    const LAYOUT: u64 = {
        let hash = layout(LAYOUT, b"go");
        let hash = layout(layout_number(hash, <Axis2 as InputValue>::LAYOUT as i64), b"aim");
        let hash = layout(layout_number(hash, <Angle<10> as InputValue>::LAYOUT as i64), b"fire");
        let hash = layout(layout_number(hash, <bool as InputValue>::LAYOUT as i64), b"weapon");
        let hash = layout(layout_number(hash, <Weapon as InputValue>::LAYOUT as i64), b"use");
        layout_number(hash, <Int<-1, 5> as InputValue>::LAYOUT as i64)
    };

    fn to_bits(self) -> u128 {
        let mut bits = InputBits::default();
        bits.put(self.go);
        bits.put(self.aim);
        bits.put(self.fire);
        bits.put(self.weapon);
        bits.put(self.r#use);
        bits.all()
    }

    fn from_bits(bits: u128) -> Self {
        let mut bits = InputBits::of(bits);
        HandPad {
            go: bits.take(),
            aim: bits.take(),
            fire: bits.take(),
            weapon: bits.take(),
            r#use: bits.take(),
        }
    }
}

/// As wide as an input can be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Input)]
struct Widest(Wide, Wide, Wide, Wide, Only);

type Wide = Int<{ i32::MIN }, { i32::MAX }>;

#[derive(Clone, Copy, Debug, Default, PartialEq, Input)]
struct Nothing;

#[derive(Clone, Debug, PartialEq, Message)]
enum Word {
    Ready,
    Killed { who: PlayerId, by: Option<PlayerId>, with: Weapon },
    Chat(Text<20>, bool),
    Places(List<Place, 3>),
}

#[derive(Clone, Debug, PartialEq, Message)]
struct Place {
    x: Fixed<-10, 10, 16>,
    y: i16,
}

/// The same by hand.
#[derive(Clone, Debug, PartialEq)]
enum HandWord {
    Ready,
    Killed { who: PlayerId, by: Option<PlayerId>, with: Weapon },
    Chat(Text<20>, bool),
    Places(List<Place, 3>),
}

impl Message for HandWord {
    const MAX_LEN: usize = 1 + 22;
    const LAYOUT: u64 = {
        let hash = layout(layout(LAYOUT, b"Ready"), b"Killed");
        let hash = layout(hash, b"who");
        let hash = layout(layout_number(hash, <PlayerId as MessageValue>::LAYOUT as i64), b"by");
        let hash = layout_number(hash, <Option<PlayerId> as MessageValue>::LAYOUT as i64);
        let hash = layout(hash, b"with");
        let hash = layout_number(hash, <Weapon as MessageValue>::LAYOUT as i64);
        let hash = layout(layout(hash, b"Chat"), b"0");
        let hash = layout(layout_number(hash, <Text<20> as MessageValue>::LAYOUT as i64), b"1");
        let hash = layout_number(hash, <bool as MessageValue>::LAYOUT as i64);
        let hash = layout(layout(hash, b"Places"), b"0");
        layout_number(hash, <List<Place, 3> as MessageValue>::LAYOUT as i64)
    };

    fn encode(&self, w: &mut Writer<'_>) {
        match self {
            HandWord::Ready => w.u8(0),
            HandWord::Killed { who, by, with } => {
                w.u8(1);
                who.encode(w);
                by.encode(w);
                MessageValue::encode(with, w);
            }
            HandWord::Chat(text, aloud) => {
                w.u8(2);
                text.encode(w);
                aloud.encode(w);
            }
            HandWord::Places(places) => {
                w.u8(3);
                places.encode(w);
            }
        }
    }

    fn decode(r: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(match r.u8("HandWord")? {
            0 => HandWord::Ready,
            1 => {
                let (who, by) = (PlayerId::decode(r, "who")?, Option::decode(r, "by")?);
                HandWord::Killed { who, by, with: MessageValue::decode(r, "with")? }
            }
            2 => HandWord::Chat(Text::decode(r, "0")?, bool::decode(r, "1")?),
            3 => HandWord::Places(List::decode(r, "0")?),
            other => return Err(Malformed::out_of_range("HandWord", other)),
        })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, EntityKind)]
struct Runner {
    #[along(vx)]
    x: Fixed<0, 480, 16>,
    #[along(vy, per_ticks = 60)]
    y: Fixed<0, 320, 16>,
    vx: Fixed<-8, 8, 16>,
    #[still]
    vy: i16,
    aim: Angle<10>,
    reach: Fixed<0, 9, 4>,
    #[still]
    heat: Fixed<0, 9, 4>,
    #[teleports]
    life: u8,
    weapon: Weapon,
    is_it: bool,
    tagged_by: Option<PlayerId>,
}

#[derive(Clone, Copy, Debug, PartialEq, Entities)]
#[entities(pixel = "1/20")]
enum Thing {
    Runner(Runner),
    FarShot {
        #[along(vx)]
        x: Fixed<0, 480, 16>,
        vx: i8,
        by: PlayerId,
    },
    Whistle,
}

/// The same by hand.
#[derive(Clone, Copy, Debug, PartialEq)]
enum HandThing {
    Runner(Runner),
    FarShot { x: Fixed<0, 480, 16>, vx: i8, by: PlayerId },
    Whistle,
}

impl Entities for HandThing {
    const SCHEMA: Schema = Schema::new(&[
        Kind {
            name: "runner",
            fields: &[
                counted("x", 0, 7680, 16, along(2, 1)),
                counted("y", 0, 5120, 16, along(3, 60)),
                counted("vx", -128, 128, 16, Motion::Still),
                counted("vy", -32_768, 32_767, 1, Motion::Still),
                counted("aim", 0, 1023, 1024, Motion::Circular),
                counted("reach", 0, 36, 4, Motion::Smooth),
                counted("heat", 0, 36, 4, Motion::Still),
                counted("life", 0, 255, 1, Motion::Teleport),
                counted("weapon", 0, 2, 1, Motion::Still),
                counted("is_it", 0, 1, 1, Motion::Still),
                counted("tagged_by", 0, 512, 1, Motion::Still),
            ],
        },
        Kind {
            name: "far_shot",
            fields: &[
                Field::of::<Fixed<0, 480, 16>>("x").moving(along(1, 1)),
                Field::of::<i8>("vx"),
                Field::of::<PlayerId>("by"),
            ],
        },
        Kind { name: "whistle", fields: &[] },
    ])
    .with_pixel(Step::new(1, 20));

    const LAYOUT: u64 = {
        let shot = layout_number(LAYOUT, <Fixed<0, 480, 16> as FieldValue>::LAYOUT as i64);
        let shot = layout_number(shot, <i8 as FieldValue>::LAYOUT as i64);
        let shot = layout_number(shot, <PlayerId as FieldValue>::LAYOUT as i64);
        let hash = layout_number(Self::SCHEMA.layout(), <Runner as EntityKind>::LAYOUT as i64);
        layout_number(layout_number(hash, shot as i64), LAYOUT as i64)
    };

    fn kind(&self) -> u8 {
        match self {
            HandThing::Runner(_) => 0,
            HandThing::FarShot { .. } => 1,
            HandThing::Whistle => 2,
        }
    }

    fn write(&self, fields: &mut [i32]) {
        match self {
            HandThing::Runner(runner) => runner.write(fields),
            HandThing::FarShot { x, vx, by } => {
                fields.copy_from_slice(&[x.count(), vx.count(), by.count()]);
            }
            HandThing::Whistle => {}
        }
    }

    fn read(kind: u8, fields: &[i32]) -> Option<Self> {
        Some(match (kind, fields) {
            (0, fields) => HandThing::Runner(Runner::read(fields)),
            (1, &[x, vx, by]) => HandThing::FarShot {
                x: Fixed::from_count(x),
                vx: FieldValue::from_count(vx),
                by: FieldValue::from_count(by),
            },
            (2, _) => HandThing::Whistle,
            _ => return None,
        })
    }
}

const fn along(velocity: usize, per_ticks: u16) -> Motion {
    Motion::Along { velocity, per_ticks }
}

const fn counted(name: &'static str, min: i32, max: i32, steps: u32, motion: Motion) -> Field {
    Field { name, min, max, step: Step::new(1, steps), motion }
}

fn pad(x: i8, y: i8, aim: i32, fire: bool, number: i32) -> Pad {
    Pad {
        go: Axis2 { x: Axis::new(x), y: Axis::new(y) },
        aim: Angle::from_count(aim),
        fire,
        weapon: FieldValue::from_count(number),
        r#use: Int::new(number),
    }
}

fn bytes(word: &impl Message) -> Vec<u8> {
    let mut room = [0; MESSAGE_BYTES];
    word.write(&mut room).expect("it fits").to_vec()
}

fn shape<M: Message>() -> (usize, u64) {
    (M::MAX_LEN, M::LAYOUT)
}

fn words() -> Vec<Word> {
    let place = Place { x: Fixed::whole(-10), y: -2 };
    vec![
        Word::Ready,
        Word::Killed { who: PlayerId(1), by: Some(PlayerId(2)), with: Weapon::Sword },
        Word::Killed { who: PlayerId(1), by: None, with: Weapon::Fist },
        Word::Chat(Text::cut("good game"), true),
        Word::Places([place.clone(), place].into_iter().collect()),
    ]
}

fn runner() -> Runner {
    Runner {
        x: Fixed::whole(100),
        y: Fixed::from_count(7),
        vx: Fixed::MIN,
        vy: -300,
        aim: Angle::from_count(1000),
        reach: Fixed::whole(2),
        heat: Fixed::MAX,
        life: 3,
        weapon: Weapon::Bow,
        is_it: true,
        tagged_by: Some(PlayerId(4)),
    }
}

#[test]
fn an_input_is_packed_from_bit_0_in_the_order_of_its_fields() {
    let held = pad(1, -1, 3, true, 2);
    assert_eq!(Pad::BITS, 32);
    let expected = 0x01 | 0xFF << 8 | 3 << 16 | 1 << 26 | 2 << 27 | 3 << 29;
    assert_eq!(held.to_bits(), expected);
    assert_eq!(Pad::from_bits(expected), held);
}

#[test]
fn all_128_bits_can_be_used_and_none_is_fine_too() {
    let widest = Widest(Int::MIN, Int::MAX, Int::new(-1), Int::new(1), Only::One);
    assert_eq!(Widest::BITS, 128);
    assert_eq!(Widest::from_bits(widest.to_bits()), widest);
    assert_eq!(widest.to_bits() >> 96, 0x8000_0001);
    assert_eq!((Nothing::BITS, Nothing.to_bits(), Nothing::from_bits(7)), (0, 0, Nothing));
}

#[test]
fn a_derived_input_has_the_layout_of_one_by_hand() {
    assert_eq!((Pad::BITS, Pad::LAYOUT), (HandPad::BITS, HandPad::LAYOUT));
    assert_ne!(Pad::LAYOUT, Nothing::LAYOUT);
}

#[test]
fn a_derived_message_is_that_of_one_by_hand() {
    assert_eq!(shape::<Word>(), shape::<HandWord>());
    for word in words() {
        let by_hand = match word.clone() {
            Word::Ready => HandWord::Ready,
            Word::Killed { who, by, with } => HandWord::Killed { who, by, with },
            Word::Chat(text, aloud) => HandWord::Chat(text, aloud),
            Word::Places(places) => HandWord::Places(places),
        };
        let written = bytes(&word);
        assert_eq!(written, bytes(&by_hand));
        assert_eq!(Word::read(&written), Ok(word));
        assert_eq!(HandWord::read(&written), Ok(by_hand));
    }
}

#[test]
fn a_message_is_its_variants_number_and_its_fields() {
    let [_, killed, ..] = &words()[..] else { panic!("there are five") };
    assert_eq!(bytes(killed), [1, 0, 0, 0, 1, 1, 0, 0, 0, 2, 2]);
    assert_eq!(bytes(&words()[4]), [3, 2, 0, 0, 255, 254, 0, 0, 255, 254]);
}

#[test]
fn whatever_is_wrong_with_a_message_is_told_with_its_field() {
    let refused = |field, value: i64| Err(Malformed::new(field, Fault::OutOfRange(value)));
    assert_eq!(Word::read(&[4]), refused("Word", 4));
    assert_eq!(Word::read(&[1, 0, 0, 0, 1, 0, 3]), refused("with", 3));
    assert_eq!(Word::read(&[1, 0, 0, 0, 1, 2]), refused("by", 2));
    assert_eq!(Word::read(&[3, 1, 1, 65, 0, 0]), refused("x", 161));
    assert_eq!(Word::read(&[3, 4]), refused("0", 4));
    assert_eq!(Word::read(&[0, 0]), Err(Malformed::new("message", Fault::Trailing { extra: 1 })));
    for word in words() {
        let bytes = bytes(&word);
        for len in 0..bytes.len() {
            let Err(malformed) = Word::read(&bytes[..len]) else {
                panic!("{len} bytes of {word:?}")
            };
            assert_eq!(malformed.fault, Fault::Truncated);
        }
    }
}

#[test]
fn a_derived_schema_is_that_of_one_by_hand() {
    assert_eq!(Thing::SCHEMA, HandThing::SCHEMA);
    assert_eq!(Thing::LAYOUT, HandThing::LAYOUT);
    assert_eq!(Runner::KIND, Thing::SCHEMA.kinds[0]);
}

#[test]
fn things_come_back_from_a_state_as_they_went_in() {
    let shot = |x| (Fixed::whole(x), -7, PlayerId(9));
    let (x, vx, by) = shot(50);
    let things = [Thing::Whistle, Thing::FarShot { x, vx, by }, Thing::Runner(runner())];
    let by_hand =
        [HandThing::Whistle, HandThing::FarShot { x, vx, by }, HandThing::Runner(runner())];
    let (mut state, mut state_by_hand) = (State::new(4), State::new(4));
    for (id, (thing, by_hand)) in (1..).zip(things.iter().zip(&by_hand)) {
        state.put(id, thing);
        state_by_hand.put(id, by_hand);
    }
    assert_eq!(state, state_by_hand);
    assert!(state.entities().iter().all(|entity| entity.conforms(&Thing::SCHEMA)));
    assert!(state.things().eq((1..).zip(things)));
    assert_eq!(state.thing(2), Some(by_hand[1]));
    assert_eq!(state.thing::<Thing>(8), None);
    state.put(2, &Thing::Whistle);
    assert_eq!(state.refused(), Some(PushError::Duplicate(2)));
}

#[test]
fn a_kind_that_is_not_there_is_nothing_and_missing_counts_are_0() {
    assert_eq!(Thing::read(3, &[]), None);
    let Some(Thing::FarShot { x, vx, by }) = Thing::read(1, &[16]) else { panic!("it is a shot") };
    assert_eq!((x, vx, by), (Fixed::whole(1), 0, PlayerId(0)));
    assert_eq!(Thing::read(2, &[1, 2, 3]), Some(Thing::Whistle));
}

#[test]
fn a_choice_has_its_place_among_the_variants() {
    assert_eq!([Weapon::Fist, Weapon::Bow, Weapon::Sword].map(FieldValue::count), [0, 1, 2]);
    assert_eq!((<Only as InputValue>::BITS, Only::One.to_bits()), (0, 0));
    assert_eq!(<Weapon as InputValue>::from_bits(3), Weapon::Fist);
    assert_eq!(<Weapon as FieldValue>::from_count(-1), Weapon::Fist);
    assert_eq!(<Weapon as FieldValue>::from_count(256), Weapon::Fist);
}

/// Builds that would misread each other are told so.
mod another_build {
    use super::*;

    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
    pub(super) enum Weapon {
        #[default]
        Fist,
        Sword,
        Bow,
    }

    #[derive(Clone, Copy, Debug, PartialEq, Entities)]
    pub(super) enum One {
        Thing { weapon: super::Weapon },
    }

    #[derive(Clone, Copy, Debug, PartialEq, Entities)]
    pub(super) enum Other {
        Thing { weapon: Weapon },
    }
}

#[test]
fn a_choice_in_another_order_is_another_layout_though_the_schema_is_the_same() {
    use another_build::{One, Other};
    assert_eq!(One::SCHEMA, Other::SCHEMA);
    assert_ne!(One::LAYOUT, Other::LAYOUT);
}

/// A game may call its things as it likes.
mod names_of_their_own {
    use backspin::typed;

    #[derive(Clone, Copy, Debug, Default, PartialEq, typed::Choice)]
    pub(super) enum Field {
        #[default]
        Kind,
        Motion,
    }

    #[derive(Clone, Debug, PartialEq, typed::Message)]
    pub(super) enum Message {
        Reader(Field),
        Writer { r: u8, w: u8, fields: u8 },
    }

    #[derive(Clone, Copy, Debug, Default, PartialEq, typed::Input)]
    pub(super) struct Input {
        bits: bool,
        r#fn: Field,
    }

    #[derive(Clone, Copy, Debug, PartialEq, typed::EntityKind)]
    pub(super) struct Kind {
        pub(super) fields: u8,
        pub(super) kind: Field,
    }

    #[derive(Clone, Copy, Debug, PartialEq, typed::Entities)]
    pub(super) enum Schema {
        Step(Kind),
        Motion { fields: Field },
    }
}

#[test]
fn no_name_is_taken() {
    use names_of_their_own::{Field, Input as Held, Kind, Message as Said, Schema as Thing};
    let said = Said::Writer { r: 1, w: 2, fields: 3 };
    assert_eq!(Said::read(&bytes(&said)), Ok(said));
    assert_eq!(bytes(&Said::Reader(Field::Motion)), [0, 1]);
    assert_eq!(Held::from_bits(3).to_bits(), 3);
    let step = Thing::Step(Kind { fields: 3, kind: Field::Motion });
    let mut state = State::new(1);
    state.put(1, &step);
    state.put(2, &Thing::Motion { fields: Field::Kind });
    assert_eq!(state.thing(1), Some(step));
    assert_eq!(Thing::SCHEMA.kinds[0].name, "step");
}

proptest! {
    #[test]
    fn any_input_is_that_of_one_by_hand(x: i8, y: i8, aim: i32, fire: bool, number in -1..6) {
        let held = pad(x, y, aim, fire, number);
        let Pad { go, aim, fire, weapon, r#use } = held;
        let by_hand = HandPad { go, aim, fire, weapon, r#use };
        prop_assert_eq!(held.to_bits(), by_hand.to_bits());
        prop_assert_eq!(Pad::from_bits(held.to_bits()), held);
    }

    #[test]
    fn any_bits_are_an_input(bits: u128) {
        let held = Pad::from_bits(bits);
        prop_assert_eq!(Pad::from_bits(held.to_bits()), held);
    }

    #[test]
    fn any_bytes_are_a_message_or_malformed(bytes in proptest::collection::vec(0..9u8, 0..30)) {
        if let Ok(word) = Word::read(&bytes) {
            prop_assert_eq!(self::bytes(&word), bytes);
        }
    }

    #[test]
    fn any_counts_are_a_thing_or_nothing(kind in 0..5u8, counts: Vec<i32>) {
        let thing = Thing::read(kind, &counts);
        prop_assert_eq!(thing.is_some(), kind < 3);
        if let Some(thing) = thing {
            let mut state = State::new(1);
            state.put(1, &thing);
            prop_assert!(state.entities()[0].conforms(&Thing::SCHEMA));
            prop_assert_eq!(state.thing(1), Some(thing));
        }
    }
}
