//! What a dialect writes its packets with: a [`Field`] is a value in one, and the macros make packets
//! of fields, enums of numbers, and the table of a dialect's packets.

use super::{List, Malformed, Name, RawName, Reader, Record, Writer};

/// A value in a packet, with numbers in this byte order.
pub trait Field<'a, Order = Big>: Sized {
    /// Reads the value of the field `field`.
    fn decode(r: &mut Reader<'a>, field: &'static str) -> Result<Self, Malformed>;

    /// Writes it.
    fn encode(&self, w: &mut Writer<'_>);
}

/// Numbers have their high byte first.
#[derive(Clone, Copy, Debug)]
pub enum Big {}

/// Numbers have their low byte first.
#[derive(Clone, Copy, Debug)]
pub enum Little {}

/// What reads and writes each type of numbers in a byte order.
#[macro_export]
#[doc(hidden)]
macro_rules! wire_numbers {
    ($($order:ident $type:ty: $method:ident;)*) => {$(
        impl $crate::wire::field::Field<'_, $order> for $type {
            #[inline]
            fn decode(
                r: &mut $crate::wire::Reader<'_>,
                field: &'static str,
            ) -> Result<Self, $crate::wire::Malformed> {
                r.$method(field)
            }

            #[inline]
            fn encode(&self, w: &mut $crate::wire::Writer<'_>) {
                w.$method(*self);
            }
        }
    )*};
}

wire_numbers! {
    Big bool: flag;
    Big u8: u8;
    Big u16: u16_be;
    Big u32: u32_be;
    Big u64: u64_be;
    Big i16: i16_be;
    Big f32: f32_be;
    Little bool: flag;
    Little u8: u8;
    Little u16: u16_le;
    Little u32: u32_le;
    Little i32: i32_le;
    Little f32: f32_le;
}

macro_rules! names {
    ($($type:ident)*) => {$(
        impl<Order> Field<'_, Order> for $type {
            #[inline]
            fn decode(r: &mut Reader<'_>, field: &'static str) -> Result<Self, Malformed> {
                $type::decode(r, field)
            }

            #[inline]
            fn encode(&self, w: &mut Writer<'_>) {
                $type::encode(self, w);
            }
        }
    )*};
}

names! { Name RawName }

/// All that is left.
impl<'a, Order> Field<'a, Order> for &'a [u8] {
    #[inline]
    fn decode(r: &mut Reader<'a>, _field: &'static str) -> Result<Self, Malformed> {
        Ok(r.take_rest())
    }

    #[inline]
    fn encode(&self, w: &mut Writer<'_>) {
        w.bytes(self);
    }
}

/// A count of at most [`Record::MOST`], and so many records, which are all that is left.
impl<'a, Order, T: Record> Field<'a, Order> for List<'a, T> {
    fn decode(r: &mut Reader<'a>, _field: &'static str) -> Result<Self, Malformed> {
        match r.u8("count")? {
            count if count <= T::MOST => List::decode(r, "count", count.into()),
            count => Err(Malformed::out_of_range("count", count)),
        }
    }

    fn encode(&self, w: &mut Writer<'_>) {
        match u8::try_from(self.len()) {
            Ok(count) if count <= T::MOST => w.u8(count),
            _ => w.overflow(),
        }
        List::encode(self, w);
    }
}

/// Reads bytes that only make a packet long enough: a server answers with no more than it got.
pub fn decode_padding<const N: usize>(r: &mut Reader<'_>) -> Result<(), Malformed> {
    match r.array::<N>("padding")?.iter().find(|&&byte| byte != 0) {
        None => Ok(()),
        Some(&byte) => Err(Malformed::out_of_range("padding", byte)),
    }
}

/// `decode` and `encode` for a packet of these fields in this order, and of so many bytes of padding.
#[macro_export]
#[doc(hidden)]
macro_rules! packet_fields {
    (
        $order:ident $packet:ident $(<$lifetime:lifetime>)? { $($field:ident),* $(,)? }
        $(padding $padding:expr)?
    ) => {
        impl<'a> $packet $(<$lifetime>)? {
            #[inline]
            #[allow(unused_variables)]
            pub(super) fn decode(
                r: &mut $crate::wire::Reader<'a>,
            ) -> Result<Self, $crate::wire::Malformed> {
                use $crate::wire::field::Field;
                let packet = $packet {
                    $($field: <_ as Field<'a, $order>>::decode(r, stringify!($field))?),*
                };
                $($crate::wire::field::decode_padding::<{ $padding }>(r)?;)?
                Ok(packet)
            }

            #[inline]
            #[allow(unused_variables)]
            pub(super) fn encode(&self, w: &mut $crate::wire::Writer<'_>) {
                use $crate::wire::field::Field;
                $(Field::<'_, $order>::encode(&self.$field, w);)*
                $(w.bytes(&[0; $padding]);)?
            }
        }
    };
}

/// A [`Record`] of so many bytes, of these fields in this order.
#[macro_export]
#[doc(hidden)]
macro_rules! record_fields {
    ($order:ident $record:ident $len:literal { $($field:ident),* $(,)? }) => {
        impl $crate::wire::Record for $record {
            const LEN: usize = $len;

            #[inline]
            fn decode(r: &mut $crate::wire::Reader<'_>) -> Result<Self, $crate::wire::Malformed> {
                use $crate::wire::field::Field;
                Ok($record {
                    $($field: <_ as Field<'_, $order>>::decode(r, stringify!($field))?),*
                })
            }

            #[inline]
            fn encode(&self, w: &mut $crate::wire::Writer<'_>) {
                use $crate::wire::field::Field;
                $(Field::<'_, $order>::encode(&self.$field, w);)*
            }
        }
    };
}

/// A set of these bits in a byte; no others exist.
#[macro_export]
#[doc(hidden)]
macro_rules! wire_flags {
    (
        $(#[$about:meta])*
        pub struct $name:ident { $($(#[$doc:meta])* $flag:ident = $bit:literal,)* }
    ) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize))]
        pub struct $name(u8);

        impl $name {
            $($(#[$doc])* pub const $flag: $name = $name($bit);)*

            /// The set that `bits` name, if all of them exist.
            #[inline]
            pub const fn from_bits(bits: u8) -> Option<Self> {
                if bits & !(0 $(| $bit)*) == 0 { Some($name(bits)) } else { None }
            }

            /// The set as a number.
            #[inline]
            pub const fn bits(self) -> u8 {
                self.0
            }

            /// Whether all of `other` are set.
            #[inline]
            pub const fn contains(self, other: $name) -> bool {
                self.0 & other.0 == other.0
            }
        }

        impl std::ops::BitOr for $name {
            type Output = $name;

            fn bitor(self, other: $name) -> $name {
                $name(self.0 | other.0)
            }
        }

        impl<Order> $crate::wire::field::Field<'_, Order> for $name {
            #[inline]
            fn decode(
                r: &mut $crate::wire::Reader<'_>,
                field: &'static str,
            ) -> Result<Self, $crate::wire::Malformed> {
                let bits = r.u8(field)?;
                $name::from_bits(bits).ok_or($crate::wire::Malformed::out_of_range(field, bits))
            }

            #[inline]
            fn encode(&self, w: &mut $crate::wire::Writer<'_>) {
                w.u8(self.0);
            }
        }
    };
}

/// An enum that is its number in a byte.
#[macro_export]
#[doc(hidden)]
macro_rules! wire_codes {
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

        impl<Order> $crate::wire::field::Field<'_, Order> for $name {
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
#[macro_export]
#[doc(hidden)]
macro_rules! serialize_counted {
    ($packet:ident { $($field:ident),* } $list:ident) => {
        #[cfg(feature = "serde")]
        impl serde::Serialize for $packet<'_> {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                use serde::ser::SerializeStruct;
                let names: &[&str] = &[$(stringify!($field),)* "count", stringify!($list)];
                let mut fields = serializer.serialize_struct(stringify!($packet), names.len())?;
                $(fields.serialize_field(stringify!($field), &self.$field)?;)*
                fields.serialize_field("count", &self.$list.len())?;
                fields.serialize_field(stringify!($list), &self.$list)?;
                fields.end()
            }
        }
    };
}

/// The packets of a dialect: for each its type, its name in PROTOCOL.md and who sends it.
#[macro_export]
#[doc(hidden)]
macro_rules! wire_packets {
    (
        $Packet:ident $(<$any:lifetime>)?
        $($kind:literal $name:ident $(<$lifetime:lifetime>)? $written:literal $to:ident, $doc:literal;)*
    ) => {
        /// Any packet of the dialect.
        #[derive(Clone, Copy, Debug, PartialEq)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize), serde(untagged))]
        pub enum $Packet $(<$any>)? {
            $(#[doc = $doc] $name($name $(<$lifetime>)?),)*
        }

        impl<'a> $Packet $(<$any>)? {
            /// Reads the payload of a packet of type `kind`.
            #[inline]
            pub fn decode_payload(
                kind: u8,
                payload: &'a [u8],
            ) -> Result<Self, $crate::wire::Malformed> {
                use $crate::wire::{Fault, Malformed, Reader};
                let mut r = Reader::new(payload);
                let packet = match kind {
                    $($kind => $Packet::$name($name::decode(&mut r)?),)*
                    unknown => return Err(Malformed::new("type", Fault::UnknownType(unknown))),
                };
                r.finish(packet.name())?;
                Ok(packet)
            }

            /// Writes the payload.
            #[inline]
            pub fn encode_payload(&self, w: &mut $crate::wire::Writer<'_>) {
                match self {
                    $($Packet::$name(packet) => packet.encode(w),)*
                }
            }

            /// The packet's name in PROTOCOL.md.
            pub const fn name(&self) -> &'static str {
                match self {
                    $($Packet::$name(_) => $written,)*
                }
            }

            /// The type byte.
            pub const fn kind(&self) -> u8 {
                match self {
                    $($Packet::$name(_) => $kind,)*
                }
            }

            /// Who sends it.
            pub const fn direction(&self) -> $crate::wire::Direction {
                match self {
                    $($Packet::$name(_) => $crate::wire::Direction::$to,)*
                }
            }

            /// Whether there is a packet of type `kind`.
            pub const fn is_known(kind: u8) -> bool {
                matches!(kind, $($kind)|*)
            }
        }
    };
}

pub use {
    packet_fields as fields, record_fields as record, serialize_counted, wire_codes as codes,
    wire_flags as flags, wire_numbers as numbers, wire_packets as packets,
};
