//! What all derives ask of a type.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{DeriveInput, Error, Field, Fields, Ident, LitByteStr, LitStr, Result};

/// Two builds must agree on every type, so none may depend on another.
pub(crate) fn no_generics(item: &DeriveInput) -> Result<()> {
    match item.generics.params.first() {
        Some(param) => Err(Error::new(param.span(), "a type on the wire has no parameters")),
        None => Ok(()),
    }
}

/// Each field's name, or its number in a tuple.
pub(crate) fn names(fields: &Fields) -> Vec<LitStr> {
    let name = |(index, field): (usize, &Field)| match &field.ident {
        Some(ident) => LitStr::new(&plain(ident), ident.span()),
        None => LitStr::new(&index.to_string(), field.span()),
    };
    fields.iter().enumerate().map(name).collect()
}

/// A name without the `r#` that a keyword needs.
pub(crate) fn plain(ident: &Ident) -> String {
    let name = ident.to_string();
    name.strip_prefix("r#").unwrap_or(&name).to_owned()
}

/// The same as bytes, for hashes.
pub(crate) fn bytes(name: &str) -> LitByteStr {
    LitByteStr::new(name.as_bytes(), Span::call_site())
}

/// A name in lower case with underscores, as fields and kinds have it.
pub(crate) fn snake(ident: &Ident) -> String {
    let mut snake = String::new();
    for c in plain(ident).chars() {
        if c.is_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.extend(c.to_lowercase());
    }
    snake
}

/// One variable for each field, and the pattern (which also builds the value) behind the type's or variant's
/// name.
pub(crate) fn pattern(fields: &Fields) -> (Vec<Ident>, TokenStream) {
    let variable = |index: usize| format_ident!("field_{index}");
    let variables: Vec<_> = (0..fields.len()).map(variable).collect();
    let pattern = match fields {
        Fields::Named(named) => {
            let names = named.named.iter().map(|field| &field.ident);
            quote! { { #(#names: #variables),* } }
        }
        Fields::Unnamed(_) => quote! { ( #(#variables),* ) },
        Fields::Unit => quote! {},
    };
    (variables, pattern)
}

/// `<Type as Trait>`, so that an error points at the type.
pub(crate) fn value(field: &Field, value_trait: &str) -> TokenStream {
    let (ty, value_trait) = (&field.ty, Ident::new(value_trait, Span::call_site()));
    quote_spanned! { ty.span() => <#ty as ::backspin::typed::#value_trait> }
}

/// A hash of the fields' names and of what their types say, going on from `hash`.
pub(crate) fn layout(hash: TokenStream, fields: &Fields, value_trait: &str) -> TokenStream {
    let mut hash = hash;
    for (field, name) in fields.iter().zip(names(fields)) {
        let (value, name) = (value(field, value_trait), bytes(&name.value()));
        hash = quote! {
            ::backspin::typed::layout_number(
                ::backspin::typed::layout(#hash, #name),
                #value::LAYOUT as i64,
            )
        };
    }
    hash
}

/// A sum without a needless 0.
pub(crate) fn sum(parts: &[TokenStream]) -> TokenStream {
    match parts {
        [] => quote! { 0 },
        parts => quote! { #(#parts)+* },
    }
}
