//! Packets that are one field after another: what a field is on the wire, and the macros that read and
//! write them.

use super::SessionIndex;
use crate::wire::malformed::Malformed;
use crate::wire::{Name, Reader, Writer};

/// A value in a packet, big-endian.
pub(super) trait Field<'a>: Sized {
    /// Reads the value of the field `field`.
    fn decode(r: &mut Reader<'a>, field: &'static str) -> Result<Self, Malformed>;

    /// Writes it.
    fn encode(&self, w: &mut Writer<'_>);
}

macro_rules! numbers {
    ($($type:ty: $method:ident;)*) => {$(
        impl Field<'_> for $type {
            #[inline]
            fn decode(r: &mut Reader<'_>, field: &'static str) -> Result<Self, Malformed> {
                r.$method(field)
            }

            #[inline]
            fn encode(&self, w: &mut Writer<'_>) {
                w.$method(*self);
            }
        }
    )*};
}

numbers! {
    bool: flag;
    u8: u8;
    u16: u16_be;
    u32: u32_be;
    u64: u64_be;
}

impl Field<'_> for SessionIndex {
    #[inline]
    fn decode(r: &mut Reader<'_>, field: &'static str) -> Result<Self, Malformed> {
        let index = r.u16_be(field)?;
        SessionIndex::new(index).ok_or(Malformed::out_of_range(field, index))
    }

    #[inline]
    fn encode(&self, w: &mut Writer<'_>) {
        w.u16_be(self.get());
    }
}

impl Field<'_> for Name {
    #[inline]
    fn decode(r: &mut Reader<'_>, field: &'static str) -> Result<Self, Malformed> {
        Name::decode(r, field)
    }

    #[inline]
    fn encode(&self, w: &mut Writer<'_>) {
        Name::encode(self, w);
    }
}

/// Reads bytes that only make a packet long enough: a server answers with no more than it got.
pub(super) fn decode_padding<const N: usize>(r: &mut Reader<'_>) -> Result<(), Malformed> {
    match r.array::<N>("padding")?.iter().find(|&&byte| byte != 0) {
        None => Ok(()),
        Some(&byte) => Err(Malformed::out_of_range("padding", byte)),
    }
}

/// `decode` and `encode` for a packet of these fields in this order, and of so many bytes of padding.
macro_rules! fields {
    ($packet:ident $(<$lifetime:lifetime>)? { $($field:ident),* $(,)? } $(padding $padding:expr)?) => {
        impl<'a> $packet $(<$lifetime>)? {
            pub(super) fn decode(
                r: &mut $crate::wire::Reader<'a>,
            ) -> Result<Self, $crate::wire::Malformed> {
                use $crate::wire::native::field::Field;
                let packet = $packet { $($field: Field::decode(r, stringify!($field))?),* };
                $($crate::wire::native::field::decode_padding::<{ $padding }>(r)?;)?
                Ok(packet)
            }

            pub(super) fn encode(&self, w: &mut $crate::wire::Writer<'_>) {
                use $crate::wire::native::field::Field;
                $(Field::encode(&self.$field, w);)*
                $(w.bytes(&[0; $padding]);)?
            }
        }
    };
}

/// An enum that is its number in a byte.
macro_rules! codes {
    (
        $(#[$about:meta])*
        pub enum $name:ident { $($(#[$doc:meta])* $variant:ident = $code:literal,)* }
    ) => {
        $(#[$about])*
        pub enum $name { $($(#[$doc])* $variant = $code,)* }

        impl $name {
            /// What has this number.
            pub const fn from_code(code: u8) -> Option<Self> {
                match code {
                    $($code => Some($name::$variant),)*
                    _ => None,
                }
            }
        }

        impl $crate::wire::native::field::Field<'_> for $name {
            #[inline]
            fn decode(
                r: &mut $crate::wire::Reader<'_>,
                field: &'static str,
            ) -> Result<Self, $crate::wire::Malformed> {
                let code = r.u8(field)?;
                $name::from_code(code).ok_or($crate::wire::Malformed::out_of_range(field, code))
            }

            #[inline]
            fn encode(&self, w: &mut $crate::wire::Writer<'_>) {
                w.u8(*self as u8);
            }
        }

        #[cfg(feature = "serde")]
        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_u8(*self as u8)
            }
        }
    };
}

/// Serializes a packet that ends in a list as its fields, the list's count and the list.
macro_rules! serialize_counted {
    ($packet:ident { $($field:ident),* } $list:ident) => {
        #[cfg(feature = "serde")]
        impl serde::Serialize for $packet<'_> {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                use serde::ser::SerializeStruct;
                let len = [$(stringify!($field)),*].len() + 2;
                let mut fields = serializer.serialize_struct(stringify!($packet), len)?;
                $(fields.serialize_field(stringify!($field), &self.$field)?;)*
                fields.serialize_field("count", &self.$list.len())?;
                fields.serialize_field(stringify!($list), &self.$list)?;
                fields.end()
            }
        }
    };
}

pub(super) use {codes, fields, serialize_counted};
