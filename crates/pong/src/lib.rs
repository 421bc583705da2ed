//! Pong: the rules and a bot, nothing else.
//!
//! ```text
//!   0    50 70                             720                            1370 1390 1440
//! 0 +-----------------------------------------------------------------------------+
//!   |    ##                                 :                              ##     |
//!   |    ##     (##)                        :                      (##)    ##     |
//!   |    ##     (##)                        o ->                   (##)    ##     |
//!   |    ##     (##)                        :                      (##)           |
//!   |           (##)                        :                      (##)           |
//! 900 ----------------------------------------------------------------------------+
//!     player 1  player 3                                       player 4   player 2
//! ```
//!
//! Players 1 and 2 have the paddles at the back, 3 and 4 those in front, which there are in
//! doubles only. All lengths are whole numbers of 1/60 px ([`UNITS`]): a step is 1/60 s, so a
//! velocity in px/s is as many units a tick, and what is predicted comes back to the bit.
//!
//! [`Pong`] is the game for the netcode; [`World`] is everything that a step may look at. `flight`
//! is one tick of the ball, `referee` decides when a match begins and ends, `hold` when the ball
//! waits for a player who has gone quiet, `schema` is what is sent, `screen` reads what is drawn, `lan` is the world as Networked Pong has it,
//! `ack` as document 004 does. [`Bot`] plays
//! through the same inputs as a person.

mod ack;
mod bot;
mod command;
mod field;
mod flight;
mod guess;
mod lan;
mod pause;
mod referee;
mod schema;
mod screen;
mod world;

pub use bot::{Bot, Level};
pub use command::Command;
pub use field::{BALL_SIZE, FIELD, PADDLE_SIZE, Position, Side, UNITS};
pub use schema::{BALL_IDS, MATCH_ID};
pub use world::{Attendance, Ball, Heading, Paddle, Phase, World};

use backspin::game::{
    Buttons, Effects, Event, Frame, Game, GameId, Lobby, PlayerId, PlayerStatus, Stage, Turn,
};
use backspin::replication::{Drawn, Entity, Schema, State};
use backspin_classic::EntityState;
use backspin_classic::wire::ack::entity_type;
use backspin_classic::wire::lan::StateUpdate;
use backspin_classic::{AckBoard, AckSight, ClassicGame};
use backspin_sim::{Contact, Foresight, Measured};

/// The rules of a room. A client needs none of them: what it must know is in the state, so it
/// plays in any room with the default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pong {
    /// Who first has so many wins, 1 to [`Pong::MAX_POINTS`]; brought into this range.
    pub points: u8,
    /// Two a side.
    pub doubles: bool,
    /// Ticks from the moment that everyone is there to the first serve, at most
    /// [`Pong::MAX_COUNTDOWN`]. 0 is at once, as in Networked Pong, whose guests never wait.
    pub countdown: u16,
}

impl Pong {
    /// No match is to more points.
    pub const MAX_POINTS: u8 = 99;

    /// The longest countdown, in ticks: 10 s.
    pub const MAX_COUNTDOWN: u16 = 600;

    /// For so many ticks after a match everyone must wish for another who can say so: 5 s. Later
    /// anyone's wish is enough: who is away would be waited for in vain.
    pub const PATIENCE: u16 = 300;

    /// In singles the ball waits so long for a player who has gone quiet, all silences of a match
    /// together: 30 s, as long as a dropped player's place is kept.
    pub const LONGEST_HOLD: u16 = 1800;

    /// Ticks from the end of a hold to the moment the ball flies on: 2 s. They count as waiting, so
    /// nobody stalls a match by many short silences.
    pub const HOLD_COUNTDOWN: u16 = 120;

    /// The ball met the paddle of this entity.
    pub const CONTACT: u8 = 1;
    /// The ball met the upper or the lower edge.
    pub const WALL: u8 = 2;
    /// A point; the value has both scores, see [`Pong::score_of`].
    pub const POINT: u8 = 3;
    /// The match is over; the value has both scores.
    pub const OVER: u8 = 4;
    /// A match begins; the value is the points to win.
    pub const BEGIN: u8 = 5;
    /// So many seconds to the first serve; 0 is "now".
    pub const COUNTDOWN: u8 = 6;
    /// The player with this entity wishes to play again.
    pub const ASKED: u8 = 7;

    /// The scores, left and right, in the value of an event.
    pub fn score_of(value: i32) -> [u8; 2] {
        let [.., left, right] = value.to_be_bytes();
        [left, right]
    }
}

impl Default for Pong {
    fn default() -> Self {
        Pong { points: 5, doubles: false, countdown: 180 }
    }
}

impl Game for Pong {
    type World = World;
    type Input = Buttons;
    type Message = Command;
    type JoinData = ();

    fn id(&self) -> GameId {
        GameId::new(*b"PONG", 2)
    }

    /// The ball is where it is, for everyone.
    fn rewind_limit_ms(&self) -> u32 {
        0
    }

    fn capacity(&self) -> u8 {
        if self.doubles { 4 } else { 2 }
    }

    fn schema(&self) -> &'static Schema {
        &schema::SCHEMA
    }

    // Nothing is left to chance.
    fn begin(&self, _seed: u64) -> World {
        let points = self.points.clamp(1, Pong::MAX_POINTS);
        World { points, doubles: self.doubles, ..World::default() }
    }

    fn join(&self, world: &mut World, player: PlayerId, _: &()) {
        world.join(player);
    }

    fn leave(&self, world: &mut World, player: PlayerId) {
        world.leave(player);
    }

    fn on_status(&self, world: &mut World, player: PlayerId, status: PlayerStatus) {
        match status {
            PlayerStatus::Mute => world.mute(player),
            PlayerStatus::Away | PlayerStatus::Silent => world.miss(player),
            PlayerStatus::Back | PlayerStatus::Heard => world.hear_again(player),
        }
    }

    fn step(&self, world: &mut World, turn: &mut Turn<'_, Self>) {
        let held = world.held(turn.inputs());
        self.advance(world, held, |event| turn.raise(event));
    }

    /// A step in which the opponents stand still and a partner goes on as before. Of what is heard at
    /// once, only what happens in the own half is raised: the rest is drawn later, and may come
    /// otherwise.
    fn predict(&self, world: &mut World, turn: &mut Turn<'_, Self>) {
        let inputs = turn.inputs();
        let post = inputs.first().and_then(|input| Position::of(input.player));
        let own = post.map(Position::side);
        let half = world.ball.half();
        let partner = post.map(Position::partner);
        let held = Position::ALL.map(|at| match Some(at) == partner {
            true => world.held_by(at),
            false => turn.input(at.player()),
        });
        self.advance(world, held, |event| {
            let side = match event.kind {
                Pong::CONTACT => Position::of_paddle(event.entity).map(Position::side),
                Pong::WALL => Some(half),
                _ => own,
            };
            if side == own {
                turn.raise(event);
            }
        });
    }

    fn capture(&self, world: &World, state: &mut State) {
        schema::capture(world, state);
    }

    fn restore(&self, state: &State) -> World {
        schema::restore(state)
    }

    /// The own paddle only: the ball slides.
    fn is_ahead(&self, entity: &Entity, player: PlayerId) -> bool {
        Position::of(player).is_some_and(|post| post.paddle_id() == entity.id)
    }

    fn time_blend(&self, drawn: &Drawn, player: PlayerId, gap_ticks: f32) -> Option<f32> {
        screen::slide(drawn, player, gap_ticks)
    }

    fn on_message(
        &self,
        world: &mut World,
        player: PlayerId,
        command: Command,
        effects: &mut Effects<'_, Command>,
    ) {
        match command {
            Command::Again => self.ask_again(world, player, effects.events()),
            Command::GoOn => world.go_on_without(player),
        }
    }

    fn bot_input(&self, world: &World, player: PlayerId) -> Option<Buttons> {
        Some(bot::bot_input(world, player))
    }

    fn lobby(&self) -> &impl Lobby<World> {
        self
    }
}

impl Lobby<World> for Pong {
    fn stage(&self, world: &World) -> Stage {
        Stage { over: world.phase == Phase::Over, ..Stage::default() }
    }
}

impl Measured for Pong {
    fn judged_contact(&self, event: &Event) -> Option<Contact> {
        let key = event.entity.into();
        (event.kind == Pong::CONTACT).then_some(Contact::new(key, None))
    }

    fn drawn_contacts(
        &self,
        before: &Frame,
        now: &Frame,
        _player: PlayerId,
        meet: &mut dyn FnMut(Contact),
    ) {
        screen::contacts(&before.entities, &now.entities, |post| {
            meet(Contact::new(post.paddle_id().into(), None));
        });
    }

    fn contact_kind(&self, key: u64, viewer: PlayerId) -> &'static str {
        screen::contact_kind(key, viewer)
    }

    /// In doubles nobody knows in time what the partner does, and the ball goes on from there.
    fn foresight(&self, kind: &str) -> Foresight {
        match kind {
            _ if !self.doubles => Foresight::Known,
            screen::PARTNERS => Foresight::Guessed(guess::ODDS),
            _ => Foresight::Follows(guess::ODDS),
        }
    }
}

impl ClassicGame for Pong {
    /// A guest is always on the right.
    fn lan_place(&self) -> Option<u8> {
        Some(Position::RightBack.index() as u8)
    }

    fn lan_state(&self, world: &World) -> Option<StateUpdate> {
        lan::show(world)
    }

    /// It has ships and enemies, and no ball.
    fn is_spoken_of_in_rtype(&self) -> bool {
        false
    }

    fn read_lan(&self, update: &StateUpdate, state: &mut State) {
        self.state_of_lan(update, state);
    }

    fn ack_entity(
        &self,
        _world: &World,
        entity: &Entity,
        plain: EntityState,
    ) -> Option<EntityState> {
        Some(ack::shown(entity, plain))
    }

    fn ack_player_type(&self) -> u16 {
        entity_type::PADDLE
    }

    fn ack_board(&self, world: &World, _player: PlayerId) -> AckBoard {
        ack::board(world)
    }

    fn read_ack(&self, told: &AckSight<'_>, state: &mut State) {
        ack::read(told, state);
    }
}
