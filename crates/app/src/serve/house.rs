//! The games that a server has rooms of.

use backspin::game::{Game, GameId};
use backspin_pong::Pong;
use backspin_rtype::RType;

backspin::any_game! {
    /// The rules of one room.
    ///
    /// A log names a game and not how it is set up, so that rooms are served by the default rules:
    /// what a host sets up is part of the world, and said in the session.
    #[derive(Clone, Debug)]
    pub(crate) enum House, World {
        Pong(Pong, backspin_pong::World),
        RType(RType, Box<backspin_rtype::World>),
    }
}

impl House {
    /// The game that a log or a replay names, if it is here.
    pub(crate) fn of(id: GameId) -> Option<House> {
        let games = [House::Pong(Pong::default()), House::RType(RType::default())];
        games.into_iter().find(|game| game.id() == id)
    }
}
