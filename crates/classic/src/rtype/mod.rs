//! `rtype`, R-Type sessions: a TCP step that hands out a token, then states and inputs by UDP.

mod board;
mod client;
mod endpoint;
mod reassembler;
mod room;
pub mod wire;

pub use client::RtypeClient;
pub use endpoint::TOKEN_LIMIT;

use super::ClassicGame;
use backspin::client::ClientDialect;
use backspin::dialect::{Dialect, DialectId, EndpointDialect, RoomDialect};
use backspin::endpoint::Guests;
use backspin::time::Time;

/// The dialect.
#[derive(Clone, Copy, Debug)]
pub struct Rtype;

/// What it is called.
pub const NAME: &str = "rtype";

/// Its usual port.
pub const PORT: u16 = 4242;

impl<G: ClassicGame> Dialect<G> for Rtype {
    fn name(&self) -> &'static str {
        NAME
    }

    fn guests(&self, game: &G) -> Guests {
        if game.is_spoken_of_in_rtype() { Guests::Anywhere } else { Guests::Nowhere }
    }

    fn endpoint(&self, id: DialectId) -> Box<dyn EndpointDialect> {
        Box::new(endpoint::RtypeEndpoint::new(id))
    }

    fn room(&self, places: usize) -> Box<dyn RoomDialect<G>> {
        Box::new(room::Room::new(places))
    }

    fn client(&self, now: Time, game: &G) -> Box<dyn ClientDialect<G>> {
        Box::new(RtypeClient::new(now, game.clone()))
    }
}
