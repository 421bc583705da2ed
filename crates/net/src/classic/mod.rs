//! The old dialects, `lan` and `rtype`: what the programs they come from speak.

mod game;
pub mod lan;
mod playback;
pub mod rtype;

pub use crate::wire::{Dialect, Packet};
pub use game::{ClassicGame, RtypeMatch, RtypePlayer, RtypeSight, RtypeThing, RtypeWish};
pub use playback::LegacyPlayback;

use crate::client::{Client, ClientConfig};
use crate::time::Time;

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
        match self {
            Dialect::Native => Client::new(now, game, config, seed),
            Dialect::Lan => {
                let lan = lan::LanClient::new(now, game.clone());
                Client::speaking(Box::new(lan), now, game, config, seed)
            }
            Dialect::Rtype => {
                let rtype = rtype::RtypeClient::new(now, game.clone());
                Client::speaking(Box::new(rtype), now, game, config, seed)
            }
        }
    }
}
