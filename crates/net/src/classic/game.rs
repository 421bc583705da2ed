//! What a game says of itself in the old dialects.

use std::fmt;

use crate::game::{Game, PlayerId};
use crate::replica::State;
use crate::wire::lan::StateUpdate;
use crate::wire::rtype::{Entity, GameOverReason, LobbyStatus};

pub use crate::game::{RtypeMatch, RtypeWish};

/// What an `rtype` server has told of its match, for [`ClassicGame::read_rtype`].
#[derive(Clone, Copy, Debug)]
pub struct RtypeSight<'a> {
    /// What is there.
    pub things: &'a [RtypeThing],
    /// Who plays, by number.
    pub players: &'a [RtypePlayer],
    /// What is set in the lobby, if the server has said so; the host's number is one of `players`.
    pub lobby: Option<LobbyStatus>,
    /// How the match has ended, until everyone is back in the lobby.
    pub over: Option<GameOverReason>,
    /// What everyone has scored together.
    pub team_score: i32,
}

/// Something that an `rtype` server shows. Its ids are its own and have 32 bits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RtypeThing {
    /// As the server tells it.
    pub entity: Entity,
    /// A number that nothing else in the field has, the same for as long as the thing is there.
    pub slot: u16,
}

impl RtypeThing {
    /// Slots are below this.
    pub const SLOTS: u16 = 0x7000;
}

/// A player on an `rtype` server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RtypePlayer {
    /// What the server calls the player, and the player's entity.
    pub id: u32,
    /// The player's number here, from 1.
    pub player: PlayerId,
    /// Lives left, as they were told last.
    pub lives: u8,
    /// The score, as it was told last.
    pub score: i32,
}

/// A game that can be played in the old dialects. What it does not say is not spoken of in them.
pub trait ClassicGame: Game<World: Send + Sync> + fmt::Debug + Send + Sync + 'static {
    /// Writes what a host of Networked Pong says into an empty state, in the order of ids. The
    /// right paddle is the guest's own: the [entity](Game::entity_of) of player 2.
    ///
    /// The numbers are a stranger's: [`Field::quantise`](crate::replica::Field::quantise) brings
    /// them into range.
    fn read_lan(&self, _update: &StateUpdate, _state: &mut State) {}

    /// Writes what an `rtype` server says into an empty state. Its ids are its own: a player's ship
    /// becomes the [entity](Game::entity_of) of the player, other things get ids from their slots.
    ///
    /// The numbers are a stranger's: [`Field::quantise`](crate::replica::Field::quantise) brings
    /// them into range.
    fn read_rtype(&self, _told: &RtypeSight<'_>, _state: &mut State) {}

    /// What the words that a player sends ask an `rtype` server for; `None` if the dialect cannot
    /// say it.
    fn rtype_wish(&self, _words: &[u8]) -> Option<RtypeWish> {
        None
    }
}
