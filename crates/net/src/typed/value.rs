//! What fields of inputs, messages and entities can be.

use crate::game::PlayerId;
use crate::replication::{Motion, Step};
use crate::wire::{Malformed, Reader, Writer};

use super::{LAYOUT, layout, layout_number};

/// A part of an [`Input`](super::Input): some of its bits.
///
/// `bool`, [`Axis`](super::Axis), [`Axis2`](super::Axis2), [`Angle`](super::Angle), [`Fixed`](super::Fixed),
/// [`Int`](super::Int), and an enum that derives `Choice`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a part of an input",
    label = "not a part of an input",
    note = "an input is made of bool, Axis, Axis2, Angle, Fixed, Int, and enums that derive Choice"
)]
pub trait InputValue: Copy {
    /// How many bits it takes.
    const BITS: u32;

    /// A hash of how they are laid out: see [`layout`](super::layout()).
    const LAYOUT: u64;

    /// Its bits, none beyond [`InputValue::BITS`].
    fn to_bits(self) -> u128;

    /// What the lowest [`InputValue::BITS`] say; the others may be anything. They come from a peer: whatever
    /// is no value becomes one.
    fn from_bits(bits: u128) -> Self;
}

/// A part of a [`Message`](super::Message): some of its bytes.
///
/// `bool`, the integers up to 64 bits, [`PlayerId`], `Option`, [`Text`](super::Text), [`List`](super::List),
/// [`Fixed`](super::Fixed), [`Angle`](super::Angle), [`Int`](super::Int), [`Axis`](super::Axis),
/// [`Axis2`](super::Axis2), `()`, an enum that derives `Choice`, and whatever derives `Message`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a part of a message",
    label = "not a part of a message",
    note = "a message is made of bool, integers, PlayerId, Option, Text, List, Fixed, Angle, Int, Axis, Axis2, and of what derives Choice or Message"
)]
pub trait MessageValue: Sized {
    /// The longest, in bytes.
    const MAX_LEN: usize;

    /// A hash of how it is laid out: see [`layout`](super::layout()).
    const LAYOUT: u64;

    /// Writes it.
    fn encode(&self, w: &mut Writer<'_>);

    /// Reads it; a fault is one of this field. The bytes come from a peer and may be anything.
    fn decode(r: &mut Reader<'_>, field: &'static str) -> Result<Self, Malformed>;
}

/// A number of an entity: see [`Field`](crate::replication::Field).
///
/// `bool`, `u8`, `i8`, `u16`, `i16`, [`Fixed`](super::Fixed), [`Angle`](super::Angle), [`Int`](super::Int),
/// [`PlayerId`], `Option<PlayerId>`, and an enum that derives `Choice`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a number of an entity",
    label = "not a number of an entity",
    note = "entities are made of bool, u8, i8, u16, i16, Fixed, Angle, Int, PlayerId, Option<PlayerId>, and enums that derive Choice"
)]
pub trait FieldValue: Copy {
    /// The least count.
    const MIN: i32;

    /// The greatest count.
    const MAX: i32;

    /// What one count is worth.
    const STEP: Step;

    /// What becomes of it in time, where the entity says nothing else.
    const MOTION: Motion = Motion::Still;

    /// A hash of what its counts mean beyond their range and step: the names of a choice.
    const LAYOUT: u64 = LAYOUT;

    /// Its count, within the range.
    fn count(self) -> i32;

    /// The value with this count; what is beyond the range becomes something within it.
    fn from_count(count: i32) -> Self;
}

impl InputValue for bool {
    const BITS: u32 = 1;
    const LAYOUT: u64 = layout(LAYOUT, b"bool");

    fn to_bits(self) -> u128 {
        self.into()
    }

    fn from_bits(bits: u128) -> Self {
        bits & 1 == 1
    }
}

impl MessageValue for bool {
    const MAX_LEN: usize = 1;
    const LAYOUT: u64 = <bool as InputValue>::LAYOUT;

    fn encode(&self, w: &mut Writer<'_>) {
        w.flag(*self);
    }

    fn decode(r: &mut Reader<'_>, field: &'static str) -> Result<Self, Malformed> {
        r.flag(field)
    }
}

impl FieldValue for bool {
    const MIN: i32 = 0;
    const MAX: i32 = 1;
    const STEP: Step = Step::ONE;

    fn count(self) -> i32 {
        self.into()
    }

    fn from_count(count: i32) -> Self {
        count > 0
    }
}

macro_rules! message_integers {
    ($($type:ty)*) => {$(
        impl MessageValue for $type {
            const MAX_LEN: usize = size_of::<$type>();
            const LAYOUT: u64 = layout(LAYOUT, stringify!($type).as_bytes());

            fn encode(&self, w: &mut Writer<'_>) {
                w.bytes(&self.to_be_bytes());
            }

            fn decode(r: &mut Reader<'_>, field: &'static str) -> Result<Self, Malformed> {
                r.array(field).map(<$type>::from_be_bytes)
            }
        }
    )*};
}

message_integers! { u8 i8 u16 i16 u32 i32 u64 i64 }

macro_rules! field_integers {
    ($($type:ty)*) => {$(
        impl FieldValue for $type {
            const MIN: i32 = <$type>::MIN as i32;
            const MAX: i32 = <$type>::MAX as i32;
            const STEP: Step = Step::ONE;

            fn count(self) -> i32 {
                self.into()
            }

            fn from_count(count: i32) -> Self {
                count.clamp(<Self as FieldValue>::MIN, <Self as FieldValue>::MAX) as $type
            }
        }
    )*};
}

field_integers! { u8 i8 u16 i16 }

/// The greatest id that fits a field; a room counts its players from 1 to 255.
const LAST_PLAYER: i32 = 511;

impl MessageValue for PlayerId {
    const MAX_LEN: usize = 4;
    const LAYOUT: u64 = layout(LAYOUT, b"player");

    fn encode(&self, w: &mut Writer<'_>) {
        w.u32_be(self.0);
    }

    fn decode(r: &mut Reader<'_>, field: &'static str) -> Result<Self, Malformed> {
        r.u32_be(field).map(PlayerId)
    }
}

/// Up to 511.
impl FieldValue for PlayerId {
    const MIN: i32 = 0;
    const MAX: i32 = LAST_PLAYER;
    const STEP: Step = Step::ONE;

    fn count(self) -> i32 {
        self.0.min(LAST_PLAYER as u32) as i32
    }

    fn from_count(count: i32) -> Self {
        PlayerId(count.clamp(0, LAST_PLAYER) as u32)
    }
}

/// The count 0 is nobody.
impl FieldValue for Option<PlayerId> {
    const MIN: i32 = 0;
    const MAX: i32 = LAST_PLAYER + 1;
    const STEP: Step = Step::ONE;

    fn count(self) -> i32 {
        self.map_or(0, |player| player.count() + 1)
    }

    fn from_count(count: i32) -> Self {
        (count > 0).then(|| PlayerId::from_count(count - 1))
    }
}

impl<T: MessageValue> MessageValue for Option<T> {
    const MAX_LEN: usize = 1 + T::MAX_LEN;
    const LAYOUT: u64 = layout_number(layout(LAYOUT, b"option"), T::LAYOUT as i64);

    fn encode(&self, w: &mut Writer<'_>) {
        w.flag(self.is_some());
        self.iter().for_each(|value| value.encode(w));
    }

    fn decode(r: &mut Reader<'_>, field: &'static str) -> Result<Self, Malformed> {
        let is_there = r.flag(field)?;
        r.optional(is_there, |r| T::decode(r, field))
    }
}

impl MessageValue for () {
    const MAX_LEN: usize = 0;
    const LAYOUT: u64 = layout(LAYOUT, b"nothing");

    fn encode(&self, _: &mut Writer<'_>) {}

    fn decode(_: &mut Reader<'_>, _: &'static str) -> Result<Self, Malformed> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::replication::Field;
    use crate::typed::testing::{
        every_byte_is_needed, goes_round_in_an_input, goes_round_in_bytes,
    };

    /// Every count of its range comes back, and any other becomes one of them.
    fn is_a_field<T: FieldValue + PartialEq + std::fmt::Debug>(counts: &[i32]) {
        let Field { min, max, .. } = Field::of::<T>("field");
        for &count in counts.iter().chain(&[min, max, i32::MIN, i32::MAX]) {
            let value = T::from_count(count);
            assert!((min..=max).contains(&value.count()), "{value:?}");
            assert_eq!(T::from_count(value.count()), value);
            if (min..=max).contains(&count) {
                assert_eq!(value.count(), count);
            }
        }
    }

    #[test]
    fn a_player_beyond_511_is_drawn_as_the_last() {
        assert_eq!(PlayerId(511).count(), 511);
        assert_eq!(PlayerId(u32::MAX).count(), 511);
        assert_eq!(Some(PlayerId(0)).count(), 1);
        assert_eq!(None::<PlayerId>.count(), 0);
    }

    #[test]
    fn one_byte_has_only_two_truths_in_a_message() {
        let read = |byte| <bool as MessageValue>::decode(&mut Reader::new(&[byte]), "is");
        assert_eq!((read(0), read(1)), (Ok(false), Ok(true)));
        assert_eq!(read(2), Err(Malformed::out_of_range("is", 2)));
        let read = |bytes: &[u8]| <Option<u8>>::decode(&mut Reader::new(bytes), "is");
        assert_eq!((read(&[0]), read(&[1, 7])), (Ok(None), Ok(Some(7))));
        assert_eq!(read(&[2, 7]), Err(Malformed::out_of_range("is", 2)));
    }

    #[test]
    fn integers_are_big_endian() {
        let mut room = [0; 16];
        let mut w = Writer::new(&mut room);
        MessageValue::encode(&0x0102_u16, &mut w);
        MessageValue::encode(&-2_i32, &mut w);
        assert_eq!(w.finish(), Ok(6));
        assert_eq!(room[..6], [1, 2, 255, 255, 255, 254]);
        every_byte_is_needed(&u64::MAX);
        every_byte_is_needed(&Some(PlayerId(3)));
    }

    proptest! {
        #[test]
        fn any_goes_round_in_a_message(
            (a, b, c, d) in any::<(bool, u8, i8, u16)>(),
            (e, f, g, h, i) in any::<(i16, u32, i32, u64, i64)>(),
        ) {
            goes_round_in_bytes(&a);
            goes_round_in_an_input(a);
            goes_round_in_bytes(&b);
            goes_round_in_bytes(&c);
            goes_round_in_bytes(&d);
            goes_round_in_bytes(&e);
            goes_round_in_bytes(&f);
            goes_round_in_bytes(&g);
            goes_round_in_bytes(&h);
            goes_round_in_bytes(&i);
            goes_round_in_bytes(&PlayerId(f));
            goes_round_in_bytes(&Some(h));
            goes_round_in_bytes(&None::<u8>);
            goes_round_in_bytes(&());
        }

        #[test]
        fn any_count_is_a_value(count: i32) {
            is_a_field::<bool>(&[count]);
            is_a_field::<u8>(&[count]);
            is_a_field::<i8>(&[count]);
            is_a_field::<u16>(&[count]);
            is_a_field::<i16>(&[count]);
            is_a_field::<PlayerId>(&[count]);
            is_a_field::<Option<PlayerId>>(&[count]);
            is_a_field::<crate::typed::Fixed<-9, 9, 16>>(&[count]);
            is_a_field::<crate::typed::Int<-9, 9>>(&[count]);
            is_a_field::<crate::typed::Angle<10>>(&[count]);
        }
    }
}
