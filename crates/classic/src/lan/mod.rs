//! `lan`, Networked Pong: one HELLO is enough, so it is spoken to the neighbourhood only.

mod client;
mod endpoint;
mod probe;
mod room;
pub mod wire;

pub use client::LanClient;
pub use probe::probe;

use super::ClassicGame;
use backspin::client::ClientDialect;
use backspin::dialect::{Dialect, DialectId, EndpointDialect, RoomDialect};
use backspin::endpoint::Guests;
use backspin::time::Time;

/// The dialect.
#[derive(Clone, Copy, Debug)]
pub struct Lan;

/// What it is called.
pub const NAME: &str = "lan";

/// Its usual port.
pub const PORT: u16 = 54000;

impl<G: ClassicGame> Dialect<G> for Lan {
    fn name(&self) -> &'static str {
        NAME
    }

    /// Nowhere if the match cannot be shown to them.
    fn guests(&self, game: &G) -> Guests {
        match game.lan_state(&game.begin(0)) {
            Some(_) => game.lan_place().map_or(Guests::Anywhere, Guests::At),
            None => Guests::Nowhere,
        }
    }

    fn plays_alone(&self) -> bool {
        true
    }

    fn endpoint(&self, id: DialectId) -> Box<dyn EndpointDialect> {
        Box::new(endpoint::LanEndpoint { id })
    }

    fn room(&self, places: usize) -> Box<dyn RoomDialect<G>> {
        Box::new(room::Room::new(places))
    }

    fn client(&self, now: Time, game: &G) -> Box<dyn ClientDialect<G>> {
        Box::new(LanClient::new(now, game.clone()))
    }
}
