//! What a game shows to the old dialects, and reads from them.

use std::fmt;

use crate::wire::{lan, rtype};
use backspin::game::{Event, Game, PlayerId};
use backspin::replication::{Entity, State};

/// What the old dialects are told of a game, and what it makes of what they tell. A game that says
/// nothing plays in `rtype` by the names of its fields, and not in `lan`.
pub trait ClassicGame: Game<World: Send + Sync> + fmt::Debug + Send + Sync {
    /// The only place that a guest of Networked Pong can take, counted from 0; `None` is any.
    fn lan_place(&self) -> Option<u8> {
        None
    }

    /// The world as Networked Pong sees it; `None` if the game cannot be shown so.
    fn lan_state(&self, _world: &Self::World) -> Option<lan::StateUpdate> {
        None
    }

    /// Writes what a host of Networked Pong says into an empty state, in the order of ids. The
    /// right paddle is the guest's own: the [entity](Game::entity_of) of player 2.
    ///
    /// The numbers are a stranger's: [`Field::quantise`](backspin::replication::Field::quantise) brings
    /// them into range.
    fn read_lan(&self, _update: &lan::StateUpdate, _state: &mut State) {}

    /// Whether players of `rtype` are let into its rooms.
    fn is_spoken_of_in_rtype(&self) -> bool {
        true
    }

    /// What is said of an entity in `rtype`, where `plain` is what the names of its fields make of
    /// it: a game knows its kinds and colours better. `None` leaves it out.
    fn rtype_entity(&self, _entity: &Entity, plain: rtype::Entity) -> Option<rtype::Entity> {
        Some(plain)
    }

    /// How the match stands, in the words of `rtype`; `None` if the game has no such words.
    fn rtype_match(&self, _world: &Self::World) -> Option<RtypeMatch> {
        None
    }

    /// Hears what a player asks for in `rtype`, before the step of the next tick: anyone may ask,
    /// and the game knows who is host.
    fn hear_rtype(
        &self,
        _world: &mut Self::World,
        _player: PlayerId,
        _wish: RtypeWish,
        _events: &mut Vec<Event>,
    ) {
    }

    /// Writes what an `rtype` server says into an empty state. Its ids are its own: a player's ship
    /// becomes the [entity](Game::entity_of) of the player, other things get ids from their slots.
    ///
    /// The numbers are a stranger's: [`Field::quantise`](backspin::replication::Field::quantise) brings
    /// them into range.
    fn read_rtype(&self, _told: &RtypeSight<'_>, _state: &mut State) {}

    /// What the words that a player sends ask an `rtype` server for; `None` if the dialect cannot
    /// say it.
    fn rtype_wish(&self, _words: &[u8]) -> Option<RtypeWish> {
        None
    }
}

/// A match as `rtype` speaks of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RtypeMatch {
    /// Who is host, how the match is set up and whether it runs.
    pub lobby: rtype::LobbyStatus,
    /// What everyone has scored together.
    pub team_score: i32,
    /// How it has ended, until everyone is back in the lobby.
    pub over: Option<rtype::GameOverReason>,
}

/// What an `rtype` server has told of its match, for [`ClassicGame::read_rtype`].
#[derive(Clone, Copy, Debug)]
pub struct RtypeSight<'a> {
    /// What is there.
    pub things: &'a [RtypeThing],
    /// Who plays, by number.
    pub players: &'a [RtypePlayer],
    /// What is set in the lobby, if the server has said so; the host's number is one of `players`.
    pub lobby: Option<rtype::LobbyStatus>,
    /// How the match has ended, until everyone is back in the lobby.
    pub over: Option<rtype::GameOverReason>,
    /// What everyone has scored together.
    pub team_score: i32,
}

/// Something that an `rtype` server shows. Its ids are its own and have 32 bits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RtypeThing {
    /// As the server tells it.
    pub entity: rtype::Entity,
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

/// What a player can ask for in `rtype`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RtypeWish {
    /// To set the match up.
    Configure(rtype::LobbyConfig),
    /// To start it.
    Start,
}

/// Lets an enum of games that [`any_game!`](backspin::any_game) wrote be spoken of in the old dialects: the
/// enum of the games, that of their worlds, and their names in both.
#[macro_export]
macro_rules! any_classic_game {
    ($Any:ident, $World:ident, $($Kind:ident)+) => {
        const _: () = {
            use $crate::*;
            use $crate::backspin::game::{Event, PlayerId};
            use $crate::backspin::replication::{Entity, State};
            use $crate::wire::{lan, rtype};

            #[allow(unreachable_patterns)]
            impl ClassicGame for $Any {
                fn lan_place(&self) -> Option<u8> {
                    match self { $($Any::$Kind(game) => game.lan_place(),)+ }
                }

                fn lan_state(&self, world: &$World) -> Option<lan::StateUpdate> {
                    match (self, world) {
                        $(($Any::$Kind(game), $World::$Kind(world)) => game.lan_state(world),)+
                        _ => Default::default(),
                    }
                }

                fn read_lan(&self, update: &lan::StateUpdate, state: &mut State) {
                    match self { $($Any::$Kind(game) => game.read_lan(update, state),)+ }
                }

                fn is_spoken_of_in_rtype(&self) -> bool {
                    match self { $($Any::$Kind(game) => game.is_spoken_of_in_rtype(),)+ }
                }

                fn rtype_entity(
                    &self,
                    entity: &Entity,
                    plain: rtype::Entity,
                ) -> Option<rtype::Entity> {
                    match self {
                        $($Any::$Kind(game) => game.rtype_entity(entity, plain),)+
                    }
                }

                fn rtype_match(&self, world: &$World) -> Option<RtypeMatch> {
                    match (self, world) {
                        $(($Any::$Kind(game), $World::$Kind(world)) => game.rtype_match(world),)+
                        _ => Default::default(),
                    }
                }

                fn hear_rtype(
                    &self,
                    world: &mut $World,
                    player: PlayerId,
                    wish: RtypeWish,
                    events: &mut Vec<Event>,
                ) {
                    match (self, world) {
                        $(($Any::$Kind(game), $World::$Kind(world)) => game.hear_rtype(world, player, wish, events),)+
                        _ => Default::default(),
                    }
                }

                fn read_rtype(&self, told: &RtypeSight<'_>, state: &mut State) {
                    match self { $($Any::$Kind(game) => game.read_rtype(told, state),)+ }
                }

                fn rtype_wish(&self, words: &[u8]) -> Option<RtypeWish> {
                    match self { $($Any::$Kind(game) => game.rtype_wish(words),)+ }
                }
            }
        };
    };
}
