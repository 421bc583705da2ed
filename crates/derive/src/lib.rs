//! Derives for the inputs, messages and entities of a Backspin game: what `backspin::typed` explains.
//!
//! Each writes an implementation as it could be written by hand. What is wrong with a type is told at the field
//! it is about.

mod choice;
mod entities;
mod fields;
mod input;
mod message;

use proc_macro::TokenStream;
use syn::{DeriveInput, parse_macro_input};

/// Packs a struct into the bits of a player's input: see `backspin::typed::Input`.
#[proc_macro_derive(Input)]
pub fn input(item: TokenStream) -> TokenStream {
    written(input::derive(&parse_macro_input!(item as DeriveInput)))
}

/// Writes an enum or a struct as the bytes of a message: see `backspin::typed::Message`.
#[proc_macro_derive(Message)]
pub fn message(item: TokenStream) -> TokenStream {
    written(message::derive(&parse_macro_input!(item as DeriveInput)))
}

/// Makes the schema of an enum of things: see `backspin::typed::Entities`.
#[proc_macro_derive(Entities, attributes(along, teleports, still, entities))]
pub fn entities(item: TokenStream) -> TokenStream {
    written(entities::derive_entities(&parse_macro_input!(item as DeriveInput)))
}

/// Makes one kind of thing of a struct: see `backspin::typed::EntityKind`.
#[proc_macro_derive(EntityKind, attributes(along, teleports, still))]
pub fn entity_kind(item: TokenStream) -> TokenStream {
    written(entities::derive_kind(&parse_macro_input!(item as DeriveInput)))
}

/// Makes an enum without fields a value of inputs, messages and entities: its variants are numbered from 0
/// in their order.
///
/// A number that no variant has is the first variant in an input and in an entity, and malformed in a message.
///
/// ```
/// use backspin::typed::{Choice, FieldValue, InputValue};
///
/// #[derive(Clone, Copy, Debug, PartialEq, Choice)]
/// enum Weapon {
///     Fist,
///     Bow,
///     Sword,
/// }
///
/// assert_eq!(Weapon::Sword.to_bits(), 2);
/// assert_eq!(<Weapon as InputValue>::BITS, 2);
/// assert_eq!(Weapon::from_bits(3), Weapon::Fist);
/// assert_eq!(<Weapon as FieldValue>::MAX, 2);
/// ```
#[proc_macro_derive(Choice)]
pub fn choice(item: TokenStream) -> TokenStream {
    written(choice::derive(&parse_macro_input!(item as DeriveInput)))
}

fn written(code: syn::Result<proc_macro2::TokenStream>) -> TokenStream {
    code.unwrap_or_else(|error| error.into_compile_error()).into()
}
