//! `#[derive(Message)]`.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Data, DataEnum, DeriveInput, Error, Fields, Result};

use crate::fields::{bytes, layout, names, no_generics, pattern, plain, sum, value};

/// What both shapes of message come to.
struct Body {
    max_len: TokenStream,
    hash: TokenStream,
    encode: TokenStream,
    decode: TokenStream,
    checks: TokenStream,
}

pub(crate) fn derive(item: &DeriveInput) -> Result<TokenStream> {
    no_generics(item)?;
    let ident = &item.ident;
    let Body { max_len, hash, encode, decode, checks } = match &item.data {
        Data::Struct(data) => of_struct(item, &data.fields),
        Data::Enum(data) => of_enum(item, data)?,
        Data::Union(_) => return Err(Error::new(ident.span(), "a message is an enum or a struct")),
    };
    Ok(quote! {
        const _: () = {
            #checks

            #[automatically_derived]
            impl ::backspin::typed::Message for #ident {
                const MAX_LEN: usize = #max_len;
                const LAYOUT: u64 = #hash;

                #[allow(unused_variables)]
                fn encode(&self, w: &mut ::backspin::wire::Writer<'_>) {
                    #encode
                }

                #[allow(unused_variables)]
                fn decode(r: &mut ::backspin::wire::Reader<'_>) -> ::core::result::Result<Self, ::backspin::wire::Malformed> {
                    #decode
                }
            }

            #[automatically_derived]
            impl ::backspin::typed::MessageValue for #ident {
                const MAX_LEN: usize = <#ident as ::backspin::typed::Message>::MAX_LEN;
                const LAYOUT: u64 = <#ident as ::backspin::typed::Message>::LAYOUT;

                fn encode(&self, w: &mut ::backspin::wire::Writer<'_>) {
                    <#ident as ::backspin::typed::Message>::encode(self, w);
                }

                // A fault is that of the field within.
                fn decode(
                    r: &mut ::backspin::wire::Reader<'_>,
                    _: &'static str,
                ) -> ::core::result::Result<Self, ::backspin::wire::Malformed> {
                    <#ident as ::backspin::typed::Message>::decode(r)
                }
            }
        };
    })
}

fn of_struct(item: &DeriveInput, fields: &Fields) -> Body {
    let (ident, (_, pattern)) = (&item.ident, pattern(fields));
    let (max_len, encode, read) = parts(fields);
    Body {
        checks: check(ident.span(), &max_len, &plain(ident)),
        max_len,
        hash: layout(quote! { ::backspin::typed::LAYOUT }, fields, "MessageValue"),
        encode: quote! { let #ident #pattern = self; #encode },
        decode: quote! { #read ::core::result::Result::Ok(#ident #pattern) },
    }
}

fn of_enum(item: &DeriveInput, data: &DataEnum) -> Result<Body> {
    if data.variants.is_empty() {
        let message = "an enum without variants has nothing to say; `()` is a message, too";
        return Err(Error::new(item.ident.span(), message));
    }
    if let Some(variant) = data.variants.iter().nth(256) {
        return Err(Error::new(variant.span(), "a message has at most 256 variants"));
    }
    let name = plain(&item.ident);
    let mut checks = TokenStream::new();
    let mut longest = quote! { 0 };
    let mut hash = quote! { ::backspin::typed::LAYOUT };
    let (mut encode, mut decode) = (TokenStream::new(), TokenStream::new());
    for (tag, variant) in data.variants.iter().enumerate() {
        let (tag, ident, fields) = (tag as u8, &variant.ident, &variant.fields);
        let (_, pattern) = pattern(fields);
        let (max_len, write, read) = parts(fields);
        checks.extend(check(variant.span(), &quote! { 1 + #max_len }, &plain(ident)));
        longest = quote! { __longer(#longest, #max_len) };
        let said = bytes(&plain(ident));
        hash = layout(quote! { ::backspin::typed::layout(#hash, #said) }, fields, "MessageValue");
        encode.extend(quote! { Self::#ident #pattern => { w.u8(#tag); #write } });
        decode.extend(quote! { #tag => { #read Self::#ident #pattern } });
    }
    checks.extend(quote! {
        const fn __longer(a: usize, b: usize) -> usize {
            if a > b { a } else { b }
        }
    });
    Ok(Body {
        checks,
        max_len: quote! { 1 + #longest },
        hash,
        encode: quote! { match self { #encode } },
        decode: quote! {
            ::core::result::Result::Ok(match r.u8(#name)? {
                #decode
                #[allow(unreachable_patterns)]
                other => return ::core::result::Result::Err(::backspin::wire::Malformed::out_of_range(#name, other)),
            })
        },
    })
}

/// The longest that the fields can be, and how they are written and read.
fn parts(fields: &Fields) -> (TokenStream, TokenStream, TokenStream) {
    let values: Vec<_> = fields.iter().map(|field| value(field, "MessageValue")).collect();
    let (variables, _) = pattern(fields);
    let names = names(fields);
    let lens: Vec<_> = values.iter().map(|value| quote! { #value::MAX_LEN }).collect();
    (
        sum(&lens),
        quote! { #(#values::encode(#variables, w);)* },
        quote! { #(let #variables = #values::decode(r, #names)?;)* },
    )
}

/// Refuses what is longer than a message can be.
fn check(span: proc_macro2::Span, max_len: &TokenStream, name: &str) -> TokenStream {
    let message = format!("a message has at most 900 bytes: `{name}` can be longer");
    quote_spanned! { span =>
        const _: () = {
            let max_len = #max_len;
            ::core::assert!(max_len <= ::backspin::channel::MESSAGE_BYTES, #message);
        };
    }
}
