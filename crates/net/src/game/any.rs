//! Several games in one server.

/// Writes an enum of games that is a [`Game`](crate::game::Game) itself, and the enum of their
/// worlds: a [`Server`](crate::server::Server) of it has rooms of each. Nothing is forwarded by
/// hand. A large world is boxed, so that rooms of the others stay small. A room's world is that of its
/// game; asked about another's, a game does nothing.
///
/// ```
/// # mod dots { pub use backspin_sim::dot::{Dots, World}; }
/// # mod pucks { pub use backspin_sim::dot::{Dots as Pucks, World}; }
/// backspin::any_game! {
///     /// The rules of one room.
///     #[derive(Clone, Debug)]
///     pub enum AnyGame, AnyWorld {
///         Dots(dots::Dots, dots::World),
///         Pucks(pucks::Pucks, Box<pucks::World>),
///     }
/// }
/// ```
#[macro_export]
macro_rules! any_game {
    (
        $(#[$meta:meta])*
        $vis:vis enum $Any:ident, $World:ident { $($Kind:ident($Rules:ty, $Its:ty)),+ $(,)? }
    ) => {
        $(#[$meta])*
        $vis enum $Any { $(#[allow(missing_docs)] $Kind($Rules)),+ }

        /// The world of a room: that of its game.
        #[derive(Debug)]
        $vis enum $World { $(#[allow(missing_docs)] $Kind($Its)),+ }

        impl Clone for $World {
            fn clone(&self) -> Self {
                match self { $($World::$Kind(world) => $World::$Kind(world.clone()),)+ }
            }

            // Keeps the memory, as the games' own worlds do: a room remembers one every tick.
            fn clone_from(&mut self, source: &Self) {
                #[allow(unreachable_patterns)]
                match (self, source) {
                    $(($World::$Kind(to), $World::$Kind(from)) => to.clone_from(from),)+
                    (world, source) => *world = source.clone(),
                }
            }
        }

        const _: () = {
            use $crate::game::*;
            use $crate::replication::{Drawn, Entity, Schema, State};
            use $crate::typed::{Message, RawInput, RawMessage};

            #[allow(unreachable_patterns)]
            impl Game for $Any {
                type World = $World;
                type Input = RawInput;
                type Message = RawMessage;
                type JoinData = RawMessage;

                fn begin(&self, seed: u64) -> $World {
                    match self { $($Any::$Kind(game) => $World::$Kind(game.begin(seed).into()),)+ }
                }

                fn restore(&self, state: &State) -> $World {
                    match self {
                        $($Any::$Kind(game) => $World::$Kind(game.restore(state).into()),)+
                    }
                }

                fn lobby(&self) -> &impl Lobby<$World> {
                    self
                }

                fn id(&self) -> GameId {
                    match self { $($Any::$Kind(game) => game.id(),)+ }
                }

                fn tick_rate(&self) -> u8 {
                    match self { $($Any::$Kind(game) => game.tick_rate(),)+ }
                }

                fn send_every(&self) -> u8 {
                    match self { $($Any::$Kind(game) => game.send_every(),)+ }
                }

                fn byte_budget(&self) -> u32 {
                    match self { $($Any::$Kind(game) => game.byte_budget(),)+ }
                }

                fn visible(&self, world: &$World, viewer: $crate::replication::Viewer, view: &mut $crate::replication::View) {
                    match (self, world) {
                        $(($Any::$Kind(game), $World::$Kind(world)) => game.visible(world, viewer, view),)+
                        _ => Default::default(),
                    }
                }

                fn rewind_limit_ms(&self) -> u32 {
                    match self { $($Any::$Kind(game) => game.rewind_limit_ms(),)+ }
                }

                fn capacity(&self) -> u8 {
                    match self { $($Any::$Kind(game) => game.capacity(),)+ }
                }

                fn schema(&self) -> &'static Schema {
                    match self { $($Any::$Kind(game) => game.schema(),)+ }
                }

                fn admit(&self, world: &$World, applicant: &Applicant<'_, RawMessage>) -> Result<(), Refusal> {
                    let &Applicant { name, token, data } = applicant;
                    match (self, world) {
                        $(($Any::$Kind(game), $World::$Kind(world)) => {
                            let data = Message::read(&data.0).map_err(|_| Refusal::unreadable())?;
                            game.admit(world, &Applicant { name, token, data: &data })
                        })+
                        _ => Ok(()),
                    }
                }

                fn join(&self, world: &mut $World, player: PlayerId, data: &RawMessage) {
                    match (self, world) {
                        $(($Any::$Kind(game), $World::$Kind(world)) => {
                            game.join(world, player, &Message::read(&data.0).unwrap_or_default());
                        })+
                        _ => {}
                    }
                }

                fn layout(&self) -> u64 {
                    match self { $($Any::$Kind(game) => game.layout(),)+ }
                }

                fn leave(&self, world: &mut $World, player: PlayerId) {
                    match (self, world) {
                        $(($Any::$Kind(game), $World::$Kind(world)) => game.leave(world, player),)+
                        _ => Default::default(),
                    }
                }

                fn on_status(&self, world: &mut $World, player: PlayerId, status: PlayerStatus) {
                    match (self, world) {
                        $(($Any::$Kind(game), $World::$Kind(world)) => game.on_status(world, player, status),)+
                        _ => Default::default(),
                    }
                }

                fn step(&self, world: &mut $World, turn: &mut Turn<'_, Self>) {
                    match (self, world) {
                        $(($Any::$Kind(game), $World::$Kind(world)) => turn.within::<$Rules>(
                            |world| match world {
                                $World::$Kind(world) => {
                                    let world: &<$Rules as Game>::World = world;
                                    Some(world)
                                }
                                _ => None,
                            },
                            |turn| game.step(world, turn),
                        ),)+
                        _ => {}
                    }
                }

                fn predict(&self, world: &mut $World, turn: &mut Turn<'_, Self>) {
                    match (self, world) {
                        $(($Any::$Kind(game), $World::$Kind(world)) => turn.within::<$Rules>(
                            |world| match world {
                                $World::$Kind(world) => {
                                    let world: &<$Rules as Game>::World = world;
                                    Some(world)
                                }
                                _ => None,
                            },
                            |turn| game.predict(world, turn),
                        ),)+
                        _ => {}
                    }
                }

                fn capture(&self, world: &$World, state: &mut State) {
                    match (self, world) {
                        $(($Any::$Kind(game), $World::$Kind(world)) => game.capture(world, state),)+
                        _ => Default::default(),
                    }
                }

                fn restore_into(&self, state: &State, world: &mut $World) {
                    match (self, world) {
                        $(($Any::$Kind(game), $World::$Kind(world)) => game.restore_into(state, world),)+
                        _ => Default::default(),
                    }
                }

                fn entity_of(&self, player: PlayerId) -> u32 {
                    match self { $($Any::$Kind(game) => game.entity_of(player),)+ }
                }

                fn is_ahead(&self, entity: &Entity, player: PlayerId) -> bool {
                    match self { $($Any::$Kind(game) => game.is_ahead(entity, player),)+ }
                }

                fn time_blend(&self, drawn: &Drawn, player: PlayerId, gap_ticks: f32) -> Option<f32> {
                    match self { $($Any::$Kind(game) => game.time_blend(drawn, player, gap_ticks),)+ }
                }

                fn impacts(
                    &self,
                    before: &Frame,
                    now: &Frame,
                    player: PlayerId,
                    meet: &mut dyn FnMut(Impact),
                ) {
                    match self { $($Any::$Kind(game) => game.impacts(before, now, player, meet),)+ }
                }

                fn handle_message(
                    &self,
                    world: &mut $World,
                    player: PlayerId,
                    message: &[u8],
                    effects: &mut Effects<'_, RawMessage>,
                ) -> Result<(), $crate::wire::Malformed> {
                    match (self, world) {
                        $(($Any::$Kind(game), $World::$Kind(world)) => {
                            game.handle_message(world, player, message, &mut effects.within())
                        })+
                        _ => Ok(()),
                    }
                }

                fn chat(&self) -> $crate::chat::ChatRule {
                    match self { $($Any::$Kind(game) => game.chat(),)+ }
                }

                fn bot_input(&self, world: &$World, player: PlayerId) -> Option<RawInput> {
                    match (self, world) {
                        $(($Any::$Kind(game), $World::$Kind(world)) => game.bot_input(world, player).map(RawInput::of),)+
                        _ => Default::default(),
                    }
                }
            }

            #[allow(unreachable_patterns)]
            impl Lobby<$World> for $Any {
                fn standing_of(&self, world: &$World, player: PlayerId) -> Option<Standing> {
                    match (self, world) {
                        $(($Any::$Kind(game), $World::$Kind(world)) => game.lobby().standing_of(world, player),)+
                        _ => Default::default(),
                    }
                }

                fn marks(&self, world: &$World, player: PlayerId) -> Marks {
                    match (self, world) {
                        $(($Any::$Kind(game), $World::$Kind(world)) => game.lobby().marks(world, player),)+
                        _ => Default::default(),
                    }
                }

                fn stage(&self, world: &$World) -> Stage {
                    match (self, world) {
                        $(($Any::$Kind(game), $World::$Kind(world)) => game.lobby().stage(world),)+
                        _ => Default::default(),
                    }
                }
            }
        };
    };
}
