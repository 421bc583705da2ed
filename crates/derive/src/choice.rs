//! `#[derive(Choice)]`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::spanned::Spanned;
use syn::{Data, DeriveInput, Error, Fields, Result};

use crate::fields::{bytes, no_generics, plain};

pub(crate) fn derive(item: &DeriveInput) -> Result<TokenStream> {
    no_generics(item)?;
    let ident = &item.ident;
    let Data::Enum(data) = &item.data else {
        return Err(Error::new(ident.span(), "a choice is an enum without fields"));
    };
    let Some(first) = data.variants.first().map(|variant| &variant.ident) else {
        return Err(Error::new(ident.span(), "a choice has at least one variant"));
    };
    let mut hash = quote! { ::backspin::typed::LAYOUT };
    for (index, variant) in data.variants.iter().enumerate() {
        if !matches!(variant.fields, Fields::Unit) {
            return Err(Error::new(
                variant.fields.span(),
                "the variants of a choice have no fields",
            ));
        }
        if let Some((_, number)) = &variant.discriminant {
            let message = "the variants of a choice are numbered in their order";
            return Err(Error::new(number.span(), message));
        }
        if index == 256 {
            return Err(Error::new(variant.span(), "a choice has at most 256 variants"));
        }
        let said = bytes(&plain(&variant.ident));
        hash = quote! { ::backspin::typed::layout(#hash, #said) };
    }
    let len = data.variants.len();
    let last = (len - 1) as i32;
    let bits = usize::BITS - (len - 1).leading_zeros();
    let variants: Vec<_> = data.variants.iter().map(|variant| &variant.ident).collect();
    let numbers: Vec<_> = (0..len).map(|index| index as u8).collect();
    Ok(quote! {
        const _: () = {
            const __LAYOUT: u64 = #hash;

            const fn __number(choice: &#ident) -> u8 {
                match choice { #(#ident::#variants => #numbers),* }
            }

            const fn __choice(number: u8) -> ::core::option::Option<#ident> {
                match number {
                    #(#numbers => ::core::option::Option::Some(#ident::#variants),)*
                    #[allow(unreachable_patterns)]
                    _ => ::core::option::Option::None,
                }
            }

            #[automatically_derived]
            impl ::backspin::typed::InputValue for #ident {
                const BITS: u32 = #bits;
                const LAYOUT: u64 = __LAYOUT;

                fn to_bits(self) -> u128 {
                    __number(&self).into()
                }

                fn from_bits(bits: u128) -> Self {
                    let number = bits & ((1 << #bits) - 1);
                    __choice(number as u8).unwrap_or(#ident::#first)
                }
            }

            #[automatically_derived]
            impl ::backspin::typed::MessageValue for #ident {
                const MAX_LEN: usize = 1;
                const LAYOUT: u64 = __LAYOUT;

                fn encode(&self, w: &mut ::backspin::wire::Writer<'_>) {
                    w.u8(__number(self));
                }

                fn decode(
                    r: &mut ::backspin::wire::Reader<'_>,
                    field: &'static str,
                ) -> ::core::result::Result<Self, ::backspin::wire::Malformed> {
                    let number = r.u8(field)?;
                    __choice(number).ok_or_else(|| ::backspin::wire::Malformed::out_of_range(field, number))
                }
            }

            #[automatically_derived]
            impl ::backspin::typed::FieldValue for #ident {
                const MIN: i32 = 0;
                const MAX: i32 = #last;
                const STEP: ::backspin::replication::Step = ::backspin::replication::Step::ONE;
                const LAYOUT: u64 = __LAYOUT;

                fn count(self) -> i32 {
                    __number(&self).into()
                }

                fn from_count(count: i32) -> Self {
                    let number = u8::try_from(count).ok();
                    number.and_then(__choice).unwrap_or(#ident::#first)
                }
            }
        };
    })
}
