//! Both games in one server: a room plays Pong or R-Type, and a `House` is the rules of either.

use backspin::classic::{ClassicGame, RtypeMatch, RtypeSight, RtypeWish};
use backspin::client::Frame;
use backspin::game::{
    Buttons, Contact, Event, Foresight, Game, GameId, Impact, Marks, PlayerId, Stage, Standing,
    Turn,
};
use backspin::replica::{Drawn, Entity, Schema, State};
use backspin::wire::{lan, rtype};
use backspin_pong::Pong;
use backspin_rtype::RType;

/// The rules of one room.
///
/// A log names a game and not how it is set up, so that rooms are served by the default rules: what
/// a host sets up is part of the world, and said in the session.
#[derive(Clone, Debug)]
pub(crate) enum House {
    /// Pong.
    Pong(Pong),
    /// R-Type.
    RType(RType),
}

/// The world of one room.
#[derive(Debug)]
pub(crate) enum World {
    /// Of Pong.
    Pong(backspin_pong::World),
    /// Of R-Type, which is large.
    RType(Box<backspin_rtype::World>),
}

impl House {
    /// The game that a log or a replay names, if it is here.
    pub(crate) fn of(id: GameId) -> Option<House> {
        let games = [House::Pong(Pong::default()), House::RType(RType::default())];
        games.into_iter().find(|game| game.id() == id)
    }
}

/// Asks the game that is played.
macro_rules! ask {
    ($house:expr, $game:ident => $answer:expr) => {
        match $house {
            House::Pong($game) => $answer,
            House::RType($game) => $answer,
        }
    };
}

/// Asks the game that is played about its world. A room's world is its game's; of another's there
/// is nothing to say.
macro_rules! ask_of {
    ($house:expr, $world:expr, ($game:ident, $its:ident) => $answer:expr) => {
        match ($house, $world) {
            (House::Pong($game), World::Pong($its)) => $answer,
            (House::RType($game), World::RType($its)) => $answer,
            _ => Default::default(),
        }
    };
}

impl World {
    fn pong(&self) -> Option<&backspin_pong::World> {
        match self {
            World::Pong(world) => Some(world),
            World::RType(_) => None,
        }
    }

    fn rtype(&self) -> Option<&backspin_rtype::World> {
        match self {
            World::RType(world) => Some(world),
            World::Pong(_) => None,
        }
    }
}

impl Clone for World {
    fn clone(&self) -> Self {
        match self {
            World::Pong(world) => World::Pong(*world),
            World::RType(world) => World::RType(world.clone()),
        }
    }

    /// Keeps the memory, as the games' own worlds do: the server remembers one every tick.
    fn clone_from(&mut self, source: &Self) {
        match (self, source) {
            (World::Pong(world), World::Pong(source)) => *world = *source,
            (World::RType(world), World::RType(source)) => world.clone_from(source),
            (world, source) => *world = source.clone(),
        }
    }
}

impl Game for House {
    type World = World;

    fn id(&self) -> GameId {
        ask!(self, game => game.id())
    }

    fn tick_rate(&self) -> u8 {
        ask!(self, game => game.tick_rate())
    }

    fn rewind_limit_ms(&self) -> u32 {
        ask!(self, game => game.rewind_limit_ms())
    }

    fn looks_back(&self) -> bool {
        ask!(self, game => game.looks_back())
    }

    fn capacity(&self) -> u8 {
        ask!(self, game => game.capacity())
    }

    fn schema(&self) -> &'static Schema {
        ask!(self, game => game.schema())
    }

    fn begin(&self, seed: u64) -> World {
        match self {
            House::Pong(game) => World::Pong(game.begin(seed)),
            House::RType(game) => World::RType(Box::new(game.begin(seed))),
        }
    }

    fn join(&self, world: &mut World, player: PlayerId) {
        ask_of!(self, world, (game, world) => game.join(world, player))
    }

    fn join_mute(&self, world: &mut World, player: PlayerId) {
        ask_of!(self, world, (game, world) => game.join_mute(world, player))
    }

    fn leave(&self, world: &mut World, player: PlayerId) {
        ask_of!(self, world, (game, world) => game.leave(world, player))
    }

    fn go_away(&self, world: &mut World, player: PlayerId) {
        ask_of!(self, world, (game, world) => game.go_away(world, player))
    }

    fn come_back(&self, world: &mut World, player: PlayerId) {
        ask_of!(self, world, (game, world) => game.come_back(world, player))
    }

    fn fall_silent(&self, world: &mut World, player: PlayerId) {
        ask_of!(self, world, (game, world) => game.fall_silent(world, player))
    }

    fn speak_again(&self, world: &mut World, player: PlayerId) {
        ask_of!(self, world, (game, world) => game.speak_again(world, player))
    }

    fn step(&self, world: &mut World, turn: &mut Turn<'_, World>) {
        match (self, world) {
            (House::Pong(game), World::Pong(world)) => {
                turn.within(World::pong, |turn| game.step(world, turn));
            }
            (House::RType(game), World::RType(world)) => {
                turn.within(World::rtype, |turn| game.step(world, turn));
            }
            _ => {}
        }
    }

    fn predict(&self, world: &mut World, turn: &mut Turn<'_, World>) {
        match (self, world) {
            (House::Pong(game), World::Pong(world)) => {
                turn.within(World::pong, |turn| game.predict(world, turn));
            }
            (House::RType(game), World::RType(world)) => {
                turn.within(World::rtype, |turn| game.predict(world, turn));
            }
            _ => {}
        }
    }

    fn capture(&self, world: &World, state: &mut State) {
        ask_of!(self, world, (game, world) => game.capture(world, state))
    }

    fn restore(&self, state: &State) -> World {
        match self {
            House::Pong(game) => World::Pong(game.restore(state)),
            House::RType(game) => World::RType(Box::new(game.restore(state))),
        }
    }

    fn restore_into(&self, state: &State, world: &mut World) {
        ask_of!(self, world, (game, world) => game.restore_into(state, world))
    }

    fn entity_of(&self, player: PlayerId) -> u16 {
        ask!(self, game => game.entity_of(player))
    }

    fn is_ahead(&self, entity: &Entity, player: PlayerId) -> bool {
        ask!(self, game => game.is_ahead(entity, player))
    }

    fn slide(&self, drawn: &Drawn, player: PlayerId, gap_ticks: f32) -> Option<f32> {
        ask!(self, game => game.slide(drawn, player, gap_ticks))
    }

    fn hear(&self, world: &mut World, player: PlayerId, words: &[u8], events: &mut Vec<Event>) {
        ask_of!(self, world, (game, world) => game.hear(world, player, words, events))
    }

    fn standing_of(&self, world: &World, player: PlayerId) -> Option<Standing> {
        ask_of!(self, world, (game, world) => game.standing_of(world, player))
    }

    fn marks(&self, world: &World, player: PlayerId) -> Marks {
        ask_of!(self, world, (game, world) => game.marks(world, player))
    }

    fn stage(&self, world: &World) -> Stage {
        ask_of!(self, world, (game, world) => game.stage(world))
    }

    fn stand_in(&self, world: &World, player: PlayerId) -> Option<Buttons> {
        ask_of!(self, world, (game, world) => game.stand_in(world, player))
    }

    fn judged_contact(&self, event: &Event) -> Option<Contact> {
        ask!(self, game => game.judged_contact(event))
    }

    fn impacts(&self, before: &Frame, now: &Frame, player: PlayerId, meet: &mut dyn FnMut(Impact)) {
        ask!(self, game => game.impacts(before, now, player, meet))
    }

    fn drawn_contacts(
        &self,
        before: &Frame,
        now: &Frame,
        player: PlayerId,
        meet: &mut dyn FnMut(Contact),
    ) {
        ask!(self, game => game.drawn_contacts(before, now, player, meet))
    }

    fn contact_kind(&self, key: u64, viewer: PlayerId) -> &'static str {
        ask!(self, game => game.contact_kind(key, viewer))
    }

    fn foresight(&self, kind: &str) -> Foresight {
        ask!(self, game => game.foresight(kind))
    }

    fn lan_place(&self) -> Option<u8> {
        ask!(self, game => game.lan_place())
    }

    fn lan_state(&self, world: &World) -> Option<lan::StateUpdate> {
        ask_of!(self, world, (game, world) => game.lan_state(world))
    }

    fn is_spoken_of_in_rtype(&self) -> bool {
        ask!(self, game => game.is_spoken_of_in_rtype())
    }

    fn rtype_entity(&self, entity: &Entity, plain: rtype::Entity) -> Option<rtype::Entity> {
        ask!(self, game => game.rtype_entity(entity, plain))
    }

    fn rtype_match(&self, world: &World) -> Option<RtypeMatch> {
        ask_of!(self, world, (game, world) => game.rtype_match(world))
    }

    fn hear_rtype(
        &self,
        world: &mut World,
        player: PlayerId,
        wish: RtypeWish,
        events: &mut Vec<Event>,
    ) {
        ask_of!(self, world, (game, world) => game.hear_rtype(world, player, wish, events))
    }
}

impl ClassicGame for House {
    fn read_lan(&self, update: &lan::StateUpdate, state: &mut State) {
        ask!(self, game => game.read_lan(update, state))
    }

    fn read_rtype(&self, told: &RtypeSight<'_>, state: &mut State) {
        ask!(self, game => game.read_rtype(told, state))
    }

    fn rtype_wish(&self, words: &[u8]) -> Option<RtypeWish> {
        ask!(self, game => game.rtype_wish(words))
    }
}
