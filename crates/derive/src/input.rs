//! `#[derive(Input)]`.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Data, DeriveInput, Error, Result};

use crate::fields::{layout, names, no_generics, pattern, sum, value};

pub(crate) fn derive(item: &DeriveInput) -> Result<TokenStream> {
    no_generics(item)?;
    let Data::Struct(data) = &item.data else {
        return Err(Error::new(item.ident.span(), "an input is a struct: what is held in a tick"));
    };
    let (ident, fields) = (&item.ident, &data.fields);
    let (variables, pattern) = pattern(fields);
    let values: Vec<_> = fields.iter().map(|field| value(field, "InputValue")).collect();
    let bits: Vec<_> = values.iter().map(|value| quote! { #value::BITS }).collect();
    let all_bits = sum(&bits);
    let mut checks = TokenStream::new();
    for (index, (field, name)) in fields.iter().zip(names(fields)).enumerate() {
        let so_far = sum(&bits[..=index]);
        let message = format!("an input has at most 128 bits: `{}` goes beyond them", name.value());
        checks.extend(quote_spanned! { field.span() =>
            const _: () = ::core::assert!(#so_far <= 128, #message);
        });
    }
    // With the type's place, so that an error points there.
    let typed = || fields.iter().map(|field| &field.ty).zip(&variables);
    let puts = typed().map(|(ty, it)| quote_spanned! { ty.span() => bits.put::<#ty>(#it); });
    let takes =
        typed().map(|(ty, it)| quote_spanned! { ty.span() => let #it = bits.take::<#ty>(); });
    let hash = layout(quote! { ::backspin::typed::LAYOUT }, fields, "InputValue");
    Ok(quote! {
        const _: () = {
            #checks

            #[automatically_derived]
            impl ::backspin::typed::Input for #ident {
                const BITS: u32 = #all_bits;
                const LAYOUT: u64 = #hash;

                fn to_bits(self) -> u128 {
                    let #ident #pattern = self;
                    #[allow(unused_mut)]
                    let mut bits = ::backspin::typed::InputBits::default();
                    #(#puts)*
                    bits.all()
                }

                fn from_bits(bits: u128) -> Self {
                    #[allow(unused_mut, unused_variables)]
                    let mut bits = ::backspin::typed::InputBits::of(bits);
                    #(#takes)*
                    #ident #pattern
                }
            }
        };
    })
}
