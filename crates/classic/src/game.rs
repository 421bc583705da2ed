//! What a game shows to the old dialects, and reads from them.

use std::fmt;

use crate::ack::wire::entity_type;
use crate::full::EntityState;
use crate::wire::{lan, rtype};
use backspin::game::{Event, Game, PlayerId};
use backspin::replication::{Entity, State};

/// What the old dialects are told of a game, and what it makes of what they tell. A game that says
/// nothing plays in `rtype` and `ack` by the names of its fields, and not in `lan`.
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

    /// Whether players of `rtype` are let into its rooms. They cannot choose a game: on a server with several, they
    /// get into any that says so.
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

    /// Starts the match as soon as `player`, who has no word for it, could: asked before every step.
    fn start(&self, _world: &mut Self::World, _player: PlayerId, _events: &mut Vec<Event>) {}

    /// What is said of an entity in `ack`, where `plain` is what the names of its fields make of it: a game
    /// knows its types and flags better. `None` leaves it out.
    fn ack_entity(
        &self,
        _world: &Self::World,
        _entity: &Entity,
        plain: EntityState,
    ) -> Option<EntityState> {
        Some(plain)
    }

    /// What a player's entity is in `ack`, also while it is not there.
    fn ack_player_type(&self) -> u16 {
        entity_type::PLAYER
    }

    /// How the match stands for a player, as the scoreboard of `ack` has it.
    fn ack_board(&self, _world: &Self::World, _player: PlayerId) -> AckBoard {
        AckBoard::default()
    }

    /// Writes what an `ack` server says into an empty state. The low 16 bits of its ids are the entities'
    /// own; the player's is the [entity](Game::entity_of) of the player.
    ///
    /// The numbers are a stranger's: [`Field::quantise`](backspin::replication::Field::quantise) brings
    /// them into range.
    fn read_ack(&self, _told: &AckSight<'_>, _state: &mut State) {}
}

/// The scoreboard of `ack`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AckBoard {
    /// Two scores, as the game counts them; exact below 2^24.
    pub scores: [i32; 2],
    /// The lives of the player who is told.
    pub lives: u16,
    /// How far the match is, as the game numbers it.
    pub phase: u16,
}

/// What an `ack` server has told of its match, for [`ClassicGame::read_ack`].
#[derive(Clone, Copy, Debug)]
pub struct AckSight<'a> {
    /// Who we are.
    pub player: PlayerId,
    /// The entity that we steer; it is among those that are there, with health 0 while it is dead.
    pub own: u32,
    /// What is there.
    pub entities: &'a [EntityState],
    /// How the match stands.
    pub board: AckBoard,
}

impl AckSight<'_> {
    /// The entity that a player of ours would be: our own, or one that a server of ours numbers so.
    pub fn player_of(&self, entity: &EntityState) -> Option<PlayerId> {
        if entity.entity_id == self.own {
            return Some(self.player);
        }
        let number = PlayerId(entity.entity_id & 0xFFFF);
        (number != self.player && (1..=8).contains(&number.0)).then_some(number)
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
            use $crate::EntityState;
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

                fn start(&self, world: &mut $World, player: PlayerId, events: &mut Vec<Event>) {
                    match (self, world) {
                        $(($Any::$Kind(game), $World::$Kind(world)) => game.start(world, player, events),)+
                        _ => Default::default(),
                    }
                }

                fn ack_entity(
                    &self,
                    world: &$World,
                    entity: &Entity,
                    plain: EntityState,
                ) -> Option<EntityState> {
                    match (self, world) {
                        $(($Any::$Kind(game), $World::$Kind(world)) => game.ack_entity(world, entity, plain),)+
                        _ => Default::default(),
                    }
                }

                fn ack_player_type(&self) -> u16 {
                    match self { $($Any::$Kind(game) => game.ack_player_type(),)+ }
                }

                fn ack_board(&self, world: &$World, player: PlayerId) -> AckBoard {
                    match (self, world) {
                        $(($Any::$Kind(game), $World::$Kind(world)) => game.ack_board(world, player),)+
                        _ => Default::default(),
                    }
                }

                fn read_ack(&self, told: &AckSight<'_>, state: &mut State) {
                    match self { $($Any::$Kind(game) => game.read_ack(told, state),)+ }
                }
            }
        };
    };
}
