//! The dialects of others: `lan` and `rtype`, which the programs they come from speak, and `ack`, document
//! 004 to the letter. Each is a folder, and a line in [`dialects`]:
//!
//! ```text
//! wire      its packets
//! endpoint  who is let in
//! room      what a player says and is told
//! client    the other side
//! ```
#![forbid(unsafe_code)]

pub mod ack;
mod any;
mod full;
mod game;
pub mod lan;
mod playback;
pub mod rtype;
mod sight;

// What the tests of every packet do is written once, beside the packets of `native`.
#[cfg(test)]
use backspin::wire::{Full, Malformed, native};
#[cfg(test)]
#[macro_use]
#[path = "../../net/src/wire/testing.rs"]
#[allow(dead_code, reason = "whole in its own crate")]
mod testing;
#[cfg(test)]
wire!(native::Datagram<'_>);
#[cfg(test)]
wire!(lan::wire::Packet);
#[cfg(test)]
wire!(rtype::wire::Packet<'_>);
#[cfg(test)]
wire!(rtype::wire::Message<'_>);
#[cfg(test)]
wire!(ack::wire::Datagram<'_>);

/// The packets of each dialect.
pub mod wire {
    pub use crate::ack::wire as ack;
    pub use crate::lan::wire as lan;
    pub use crate::rtype::wire as rtype;
}

pub use any::{Dialect, Packet};
#[doc(hidden)]
pub use backspin;
pub use full::{EntityState, FullForm};
pub use game::{
    AckBoard, AckSight, ClassicGame, RtypeMatch, RtypePlayer, RtypeSight, RtypeThing, RtypeWish,
};
pub use playback::LegacyPlayback;

use backspin::client::{Client, ClientConfig};
use backspin::time::Time;

/// All of them, in the order in which a server lists them.
pub fn dialects<G: ClassicGame>() -> &'static [&'static dyn backspin::dialect::Dialect<G>] {
    &[&rtype::Rtype, &lan::Lan, &ack::Ack]
}

impl Dialect {
    /// The dialect of this name.
    pub fn named(name: &str) -> Option<Dialect> {
        Dialect::ALL.into_iter().find(|it| it.name() == name)
    }

    /// A client that speaks it: [`Client::new`], for every dialect.
    pub fn client<G: ClassicGame>(
        self,
        now: Time,
        game: G,
        config: ClientConfig,
        seed: [u8; 32],
    ) -> Client<G> {
        if self == Dialect::Native {
            return Client::new(now, game, config, seed);
        }
        let spoken = dialects().iter().find(|it| it.name() == self.name());
        match spoken.map(|dialect| dialect.client(now, &game)) {
            Some(dialect) => Client::speaking(dialect, now, game, config, seed),
            None => unreachable!("{self} is in the list"),
        }
    }
}
