//! The old dialects, `lan` and `rtype`: what the programs they come from speak. Each is a folder, and
//! a line in [`dialects`].

mod game;
pub mod lan;
mod playback;
pub mod rtype;

pub use crate::wire::{Dialect, Packet};
pub use game::{ClassicGame, RtypeMatch, RtypePlayer, RtypeSight, RtypeThing, RtypeWish};
pub use playback::LegacyPlayback;

use crate::client::{Client, ClientConfig};
use crate::time::Time;

/// All of them, in the order in which a server lists them.
pub fn dialects<G: ClassicGame>() -> &'static [&'static dyn crate::dialect::Dialect<G>] {
    &[&rtype::Rtype, &lan::Lan]
}

impl Dialect {
    /// The dialect of this name.
    pub fn named(name: &str) -> Option<Dialect> {
        [Dialect::Native, Dialect::Lan, Dialect::Rtype].into_iter().find(|it| it.name() == name)
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
