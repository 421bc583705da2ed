//! What is wrong with bytes that are no packet: the field, and what is the matter with it.

use std::fmt;

/// Bytes that do not decode. They are dropped and counted by [`Fault::reason`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed {
    /// The field at fault, named as in PROTOCOL.md.
    pub field: &'static str,
    /// What is the matter with it.
    pub fault: Fault,
}

/// What can be the matter with a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The bytes end before or inside the field.
    Truncated,
    /// The packet is complete and bytes follow it.
    Trailing {
        /// How many.
        extra: usize,
    },
    /// A size or count that the number of bytes contradicts.
    WrongSize {
        /// What the field says.
        stated: usize,
        /// What the bytes say.
        actual: usize,
    },
    /// A version that is not spoken here.
    Version(u8),
    /// A packet type that the dialect does not have.
    UnknownType(u8),
    /// A number outside the field's range.
    OutOfRange(i64),
    /// A float that is infinite or not a number.
    NotFinite,
    /// A name that fills its field without a NUL.
    Unterminated,
    /// A name with something behind (or, sent raw, at) its first NUL.
    AfterNul,
    /// A second way to write a value that has a shorter one.
    NotCanonical,
    /// A length that fits only if its bytes are read the other way round.
    ByteOrder,
    /// Bytes of no dialect's shape.
    NoDialect,
}

impl Malformed {
    /// That is the matter with this field.
    pub const fn new(field: &'static str, fault: Fault) -> Self {
        Malformed { field, fault }
    }

    /// The field has a number that it may not have.
    pub fn out_of_range(field: &'static str, value: impl Into<i64>) -> Self {
        Malformed::new(field, Fault::OutOfRange(value.into()))
    }
}

impl Fault {
    /// A short, stable name to count by.
    pub const fn reason(self) -> &'static str {
        match self {
            Fault::Truncated => "truncated",
            Fault::Trailing { .. } => "trailing",
            Fault::WrongSize { .. } => "wrong_size",
            Fault::Version(_) => "version",
            Fault::UnknownType(_) => "unknown_type",
            Fault::OutOfRange(_) => "out_of_range",
            Fault::NotFinite => "not_finite",
            Fault::Unterminated => "unterminated",
            Fault::AfterNul => "after_nul",
            Fault::NotCanonical => "not_canonical",
            Fault::ByteOrder => "byte_order",
            Fault::NoDialect => "no_dialect",
        }
    }
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let field = self.field;
        match self.fault {
            Fault::Truncated => write!(f, "{field}: the bytes end before it is complete"),
            Fault::Trailing { extra: 1 } => write!(f, "{field}: one byte too many behind it"),
            Fault::Trailing { extra } => write!(f, "{field}: {extra} bytes too many behind it"),
            Fault::WrongSize { stated, actual } => {
                write!(f, "{field}: says {stated}, but the bytes make it {actual}")
            }
            Fault::Version(found) => write!(f, "{field}: {found} is not version 1"),
            Fault::UnknownType(found) => write!(f, "{field}: no packet has type {found:#04x}"),
            Fault::OutOfRange(value) => write!(f, "{field}: {value} is out of range"),
            Fault::NotFinite => write!(f, "{field}: not a finite number"),
            Fault::Unterminated => write!(f, "{field}: fills its bytes without a closing NUL"),
            Fault::AfterNul => write!(f, "{field}: has bytes at or behind its NUL"),
            Fault::NotCanonical => write!(f, "{field}: not the shortest way to write it"),
            Fault::ByteOrder => write!(
                f,
                "{field}: fits only in little-endian; every number here is big-endian (htons, htonl)"
            ),
            Fault::NoDialect => write!(f, "{field}: no dialect's packet has this shape"),
        }
    }
}

impl std::error::Error for Malformed {}
