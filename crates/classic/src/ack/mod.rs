//! `ack`: document 004, literally, for whoever has read only that. Inputs are numbered and each is
//! processed once; every snapshot has the number of the last one beside the entity it moved.

mod assembly;
mod client;
mod endpoint;
mod ids;
mod inputs;
mod room;
pub mod wire;

pub use client::AckClient;

use super::ClassicGame;
use backspin::client::ClientDialect;
use backspin::dialect::{Dialect, DialectId, EndpointDialect, RoomDialect};
use backspin::endpoint::Guests;
use backspin::time::Time;

/// The dialect.
#[derive(Clone, Copy, Debug)]
pub struct Ack;

/// What it is called.
pub const NAME: &str = "ack";

impl<G: ClassicGame> Dialect<G> for Ack {
    fn name(&self) -> &'static str {
        NAME
    }

    fn guests(&self, _game: &G) -> Guests {
        Guests::Anywhere
    }

    fn endpoint(&self, id: DialectId) -> Box<dyn EndpointDialect> {
        Box::new(endpoint::AckEndpoint { id })
    }

    fn room(&self, places: usize) -> Box<dyn RoomDialect<G>> {
        Box::new(room::Room::new(places))
    }

    fn client(&self, now: Time, game: &G) -> Box<dyn ClientDialect<G>> {
        Box::new(AckClient::new(now, game.clone()))
    }
}
