//! `#[derive(Entities)]` and `#[derive(EntityKind)]`.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{
    Attribute, Data, DeriveInput, Error, Field, Fields, Ident, LitInt, LitStr, Result, Token,
};

use crate::fields::{names, no_generics, pattern, plain, snake, value};

/// As the schema has it.
const MAX_FIELDS: usize = 64;
const MAX_KINDS: usize = 255;

/// What one kind comes to.
struct Body {
    /// Its fields, as a list of the schema's.
    fields: TokenStream,
    /// A hash of what their numbers mean.
    hash: TokenStream,
    /// Writes the variables of the pattern into `fields`.
    write: TokenStream,
    /// Reads the variables of the pattern from `fields`.
    read: TokenStream,
}

pub(crate) fn derive_kind(item: &DeriveInput) -> Result<TokenStream> {
    no_generics(item)?;
    let ident = &item.ident;
    let data = match &item.data {
        Data::Struct(data) if !matches!(data.fields, Fields::Unnamed(_)) => data,
        _ => {
            return Err(Error::new(ident.span(), "a kind of entity is a struct with named fields"));
        }
    };
    let (_, pattern) = pattern(&data.fields);
    let Body { fields, hash, write, read } = kind(&data.fields)?;
    let name = snake(ident);
    Ok(quote! {
        const _: () = {
            #[automatically_derived]
            impl ::backspin::typed::EntityKind for #ident {
                const KIND: ::backspin::replication::Kind = ::backspin::replication::Kind { name: #name, fields: #fields };
                const LAYOUT: u64 = #hash;

                #[allow(unused_variables)]
                fn write(&self, fields: &mut [i32]) {
                    let #ident #pattern = *self;
                    #write
                }

                #[allow(unused_variables)]
                fn read(fields: &[i32]) -> Self {
                    #read
                    #ident #pattern
                }
            }

            const _: () = {
                const KINDS: &[::backspin::replication::Kind] = &[<#ident as ::backspin::typed::EntityKind>::KIND];
                if let ::core::result::Result::Err(mistake) = ::backspin::replication::Schema::new(KINDS).check() {
                    mistake.refuse();
                }
            };
        };
    })
}

pub(crate) fn derive_entities(item: &DeriveInput) -> Result<TokenStream> {
    no_generics(item)?;
    let ident = &item.ident;
    let Data::Enum(data) = &item.data else {
        return Err(Error::new(ident.span(), "entities are an enum, with a variant for each kind"));
    };
    let pixel = pixel(&item.attrs)?;
    let (mut kinds, mut kind_of) = (TokenStream::new(), TokenStream::new());
    let (mut write, mut read) = (TokenStream::new(), TokenStream::new());
    let mut hash = quote! { Self::SCHEMA.layout() };
    for (index, variant) in data.variants.iter().enumerate() {
        if index == MAX_KINDS {
            let message = format!("there are at most {MAX_KINDS} kinds of entity");
            return Err(Error::new(variant.span(), message));
        }
        let (index, variant_ident, name) = (index as u8, &variant.ident, snake(&variant.ident));
        kind_of.extend(quote! { Self::#variant_ident { .. } => #index, });
        let of_kind = match &variant.fields {
            Fields::Unnamed(unnamed) if unnamed.unnamed.len() == 1 => {
                let inner = value(&unnamed.unnamed[0], "EntityKind");
                kinds.extend(
                    quote! { ::backspin::replication::Kind { name: #name, ..#inner::KIND }, },
                );
                write.extend(quote! { Self::#variant_ident(kind) => #inner::write(kind, fields), });
                read.extend(quote! { #index => Self::#variant_ident(#inner::read(fields)), });
                quote! { #inner::LAYOUT }
            }
            Fields::Unnamed(unnamed) => {
                let message =
                    "a kind of entity has named fields, or is one struct that derives EntityKind";
                return Err(Error::new(unnamed.span(), message));
            }
            fields => {
                let (variables, pattern) = pattern(fields);
                let body = kind(fields)?;
                let (list, body_write, body_read) = (body.fields, body.write, body.read);
                kinds.extend(
                    quote! { ::backspin::replication::Kind { name: #name, fields: #list }, },
                );
                write.extend(quote! {
                    Self::#variant_ident #pattern => { #(let #variables = *#variables;)* #body_write }
                });
                read.extend(quote! { #index => { #body_read Self::#variant_ident #pattern } });
                body.hash
            }
        };
        hash = quote! { ::backspin::typed::layout_number(#hash, #of_kind as i64) };
    }
    let never = data.variants.is_empty().then(|| quote! { _ => ::core::unreachable!(), });
    Ok(quote! {
        const _: () = {
            const __KINDS: &[::backspin::replication::Kind] = &[#kinds];

            #[automatically_derived]
            impl ::backspin::typed::Entities for #ident {
                const SCHEMA: ::backspin::replication::Schema = ::backspin::replication::Schema::new(__KINDS) #pixel;
                const LAYOUT: u64 = #hash;

                fn kind(&self) -> u8 {
                    match self { #kind_of #never }
                }

                #[allow(unused_variables)]
                fn write(&self, fields: &mut [i32]) {
                    match self { #write #never }
                }

                #[allow(unused_variables, unreachable_code)]
                fn read(kind: u8, fields: &[i32]) -> ::core::option::Option<Self> {
                    ::core::option::Option::Some(match kind {
                        #read
                        _ => return ::core::option::Option::None,
                    })
                }
            }

            const _: () = {
                let schema = <#ident as ::backspin::typed::Entities>::SCHEMA;
                if let ::core::result::Result::Err(mistake) = schema.check() {
                    mistake.refuse();
                }
            };
        };
    })
}

/// What `#[entities(pixel = "1/20")]` adds to the schema.
fn pixel(attrs: &[Attribute]) -> Result<TokenStream> {
    let mut pixel = TokenStream::new();
    for attr in attrs.iter().filter(|attr| attr.path().is_ident("entities")) {
        attr.parse_nested_meta(|meta| {
            if !meta.path.is_ident("pixel") {
                return Err(meta.error("the only thing to say here is pixel = \"1/20\""));
            }
            let text: LitStr = meta.value()?.parse()?;
            let value = text.value();
            let (above, below) = value.split_once('/').unwrap_or((&value, "1"));
            let number = |part: &str| part.trim().parse::<u32>().ok().filter(|&part| part > 0);
            let (Some(above), Some(below)) = (number(above), number(below)) else {
                let message =
                    "what a pixel is worth is a fraction such as \"1/20\", or a whole number";
                return Err(Error::new(text.span(), message));
            };
            pixel = quote! { .with_pixel(::backspin::replication::Step::new(#above, #below)) };
            Ok(())
        })?;
    }
    Ok(pixel)
}

fn kind(fields: &Fields) -> Result<Body> {
    if let Some(field) = fields.iter().nth(MAX_FIELDS) {
        let message = format!("a kind of entity has at most {MAX_FIELDS} fields");
        return Err(Error::new(field.span(), message));
    }
    let motions = fields.iter().map(Motion::read).collect::<Result<Vec<_>>>()?;
    let (variables, _) = pattern(fields);
    let mut list = TokenStream::new();
    let mut hash = quote! { ::backspin::typed::LAYOUT };
    let (mut counts, mut read) = (TokenStream::new(), TokenStream::new());
    for (index, (field, name)) in fields.iter().zip(names(fields)).enumerate() {
        let (ty, value, variable) = (&field.ty, value(field, "FieldValue"), &variables[index]);
        let motion = motions[index].written(index, fields, &motions)?;
        let moving = motion.map(|motion| quote! { .moving(#motion) });
        list.extend(quote_spanned! { ty.span() => ::backspin::replication::Field::of::<#ty>(#name) #moving, });
        hash = quote! { ::backspin::typed::layout_number(#hash, #value::LAYOUT as i64) };
        counts.extend(quote! { #value::count(#variable), });
        read.extend(quote! {
            let #variable = #value::from_count(fields.get(#index).copied().unwrap_or(0));
        });
    }
    let write = quote! {
        let counts: &[i32] = &[#counts];
        fields.iter_mut().zip(counts).for_each(|(field, count)| *field = *count);
    };
    Ok(Body { fields: quote! { &[#list] }, hash, write, read })
}

/// What a field's attribute says of its motion.
enum Motion {
    /// What its type says.
    OfType,
    Still,
    Teleport {
        attr: proc_macro2::Span,
    },
    Along {
        attr: proc_macro2::Span,
        velocity: Ident,
        per_ticks: u16,
    },
}

impl Motion {
    fn read(field: &Field) -> Result<Motion> {
        let mut motion = Motion::OfType;
        for attr in &field.attrs {
            let path = attr.path();
            if !["along", "teleports", "still"].iter().any(|name| path.is_ident(name)) {
                continue;
            }
            if !matches!(motion, Motion::OfType) {
                let message = "a field moves in one way: `along`, `teleports` or `still`";
                return Err(Error::new(path.span(), message));
            }
            motion = if path.is_ident("along") {
                Motion::along(attr)?
            } else {
                attr.meta.require_path_only()?;
                match path.is_ident("still") {
                    true => Motion::Still,
                    false => Motion::Teleport { attr: path.span() },
                }
            };
        }
        Ok(motion)
    }

    /// `#[along(vx)]` or `#[along(vx, per_ticks = 60)]`.
    fn along(attr: &Attribute) -> Result<Motion> {
        attr.parse_args_with(|input: syn::parse::ParseStream<'_>| {
            let velocity: Ident = input.parse()?;
            let mut per_ticks = 1;
            if input.peek(Token![,]) {
                input.parse::<Token![,]>()?;
                let name: Ident = input.parse()?;
                if name != "per_ticks" {
                    return Err(Error::new(
                        name.span(),
                        "only `per_ticks = 60` can follow the velocity",
                    ));
                }
                input.parse::<Token![=]>()?;
                let ticks: LitInt = input.parse()?;
                per_ticks = ticks.base10_parse()?;
                if per_ticks == 0 {
                    return Err(Error::new(ticks.span(), "a velocity counts per 1 tick or more"));
                }
            }
            Ok(Motion::Along { attr: attr.path().span(), velocity, per_ticks })
        })
    }

    /// The schema's word for it, where it is not what the type says.
    fn written(
        &self,
        index: usize,
        fields: &Fields,
        motions: &[Motion],
    ) -> Result<Option<TokenStream>> {
        let own = fields.iter().nth(index).and_then(|field| field.ident.as_ref());
        let is_velocity = motions.iter().any(
            |motion| matches!(motion, Motion::Along { velocity, .. } if Some(velocity) == own),
        );
        match self {
            Motion::Teleport { attr } | Motion::Along { attr, .. } if is_velocity => {
                let name = own.map(plain).unwrap_or_default();
                let message =
                    format!("`{name}` is a velocity, and a velocity does not move itself");
                Err(Error::new(*attr, message))
            }
            Motion::OfType if !is_velocity => Ok(None),
            Motion::OfType | Motion::Still => {
                Ok(Some(quote! { ::backspin::replication::Motion::Still }))
            }
            Motion::Teleport { .. } => {
                Ok(Some(quote! { ::backspin::replication::Motion::Teleport }))
            }
            Motion::Along { velocity, per_ticks, .. } => {
                let is_it = |field: &Field| field.ident.as_ref() == Some(velocity);
                let Some(velocity) = fields.iter().position(is_it) else {
                    let message = format!("there is no field `{velocity}` here to move along");
                    return Err(Error::new(velocity.span(), message));
                };
                Ok(Some(quote! {
                    ::backspin::replication::Motion::Along { velocity: #velocity, per_ticks: #per_ticks }
                }))
            }
        }
    }
}
