//! The rules: how a world begins and what a tick does to it.
//!
//! A tick goes like this; what is marked is the same in prediction, which does nothing else:
//!
//! ```text
//! the phase's clock *   a countdown ends, everyone lines up
//! ships *               move, charge, fire; pods follow; shots fly; the lost come back
//! the rest flies on     enemies, bullets, power-ups, the boss
//! contacts              each in the time of the player it concerns
//! the director          on the server: who comes, what they decide, what is over
//! ```

use std::sync::Arc;

use backspin::chat::ChatRule;
use backspin::game::{
    Buttons, Effects, Event, Frame, Game, GameId, Impact, Lobby, Marks, PlayerId, PlayerInput,
    PlayerStatus, SpawnName, Stage, Standing, Turn,
};
use backspin::replication::{Entity, Schema, State};
use backspin::typed::Message;
use backspin_classic::EntityState;
use backspin_classic::wire::rtype;
use backspin_classic::{AckBoard, AckSight, ClassicGame, RtypeMatch, RtypeSight, RtypeWish};
use backspin_sim::{Contact, Measured};

use crate::command::{Command, Setup};
use crate::director::Director;
use crate::level::Level;
use crate::mission::{Mission, Phase, Pilot};
use crate::shot::Volley;
use crate::world::World;
use crate::{ack, bot, drawn, impact, schema, view};

/// The rules, with the levels that they are played in.
#[derive(Clone, Debug)]
pub struct RType {
    /// What is played, one after the other: at most [`Level::LIMIT`] of them.
    pub levels: Arc<[Level]>,
    /// How a match begins.
    pub opening: Opening,
    /// How it is set up, until a host says otherwise.
    pub setup: Setup,
    /// So many enemies and bullets are kept in the field instead of a level, half and half, as far
    /// as the limits allow; then lives do not run out and nothing ends. 0 is a normal match.
    pub swarm: u16,
}

/// How a match begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Opening {
    /// When the host says so.
    #[default]
    Lobby,
    /// As soon as there is someone to play it, and again after it has ended: for one player alone,
    /// and for the simulator.
    AtOnce,
}

impl Opening {
    /// How long those who start at once have to get going.
    pub const WARM_UP_TICKS: i32 = 60;
}

impl Default for RType {
    fn default() -> Self {
        RType {
            levels: Level::built_in(),
            opening: Opening::default(),
            setup: Setup::default(),
            swarm: 0,
        }
    }
}

impl RType {
    /// How far back contacts are judged, in ms: nobody is wronged by a late hit in a co-operative
    /// game, so anyone who can play at all is judged as it was drawn.
    pub const REWIND_MS: u32 = 550;

    /// The same in ticks. Word of what happened to a player's ship takes about as long to the player
    /// as what is drawn lies back: whatever the player's own machine must know in time takes longer
    /// than this.
    pub const REWIND_TICKS: i32 = (RType::REWIND_MS * 60 / 1_000) as i32;

    /// The pod of a player as an entity.
    pub(crate) fn pod_id(player: PlayerId) -> u32 {
        8 + player.0
    }

    /// Whether a pod may have this id.
    pub(crate) fn is_pod_id(id: u32) -> bool {
        (9..=16).contains(&id)
    }

    /// Phases that end by themselves.
    fn advance(&self, world: &mut World) {
        let mission = &mut world.mission;
        if mission.timer == 0 {
            return;
        }
        mission.timer -= 1;
        if mission.timer > 0 {
            return;
        }
        match mission.phase {
            Phase::Countdown => world.start(),
            Phase::LevelClear => {
                mission.level = mission.level.saturating_add(1).min(Level::LIMIT as u8);
                (mission.wave, mission.distance) = (0, 0);
                mission.enter(Phase::Playing, 0);
            }
            Phase::Victory | Phase::Defeat => world.return_to_lobby(),
            Phase::Lobby | Phase::Playing | Phase::Boss => {}
        }
    }

    /// The shots of all, and what each of `inputs` does with ship and pod.
    fn fly(&self, world: &mut World, inputs: &[PlayerInput], turn: &mut Turn<'_, RType>) {
        world.shots.retain_mut(|shot| shot.fly());
        for &PlayerInput { player, input, .. } in inputs {
            let buttons: Buttons = input.read();
            if let Some(index) = world.ships.iter().position(|ship| ship.player == player) {
                let pod = world.pods.iter_mut().find(|pod| pod.player == player);
                let (ship, mut fired) = (&mut world.ships[index], Volley::default());
                ship.fly(turn.tick(), buttons, pod, &mut fired);
                if let Some(event) = ship.report(&fired) {
                    turn.raise(event);
                }
                fired.iter().for_each(|shot| world.add_shot(shot));
            }
            world.replace_ship(player);
        }
    }
}

impl Game for RType {
    type World = World;
    type Input = Buttons;
    type Message = Command;
    type JoinData = ();

    fn id(&self) -> GameId {
        GameId::new(*b"RTYP", 3)
    }

    fn rewind_limit_ms(&self) -> u32 {
        RType::REWIND_MS
    }

    fn capacity(&self) -> u8 {
        World::PLAYER_LIMIT as u8
    }

    fn schema(&self) -> &'static Schema {
        &schema::SCHEMA
    }

    fn begin(&self, seed: u64) -> World {
        World::new(Mission::new(self.setup), Some(Director::new(seed)))
    }

    fn join(&self, world: &mut World, player: PlayerId, _: &()) {
        world.enter(player);
    }

    fn leave(&self, world: &mut World, player: PlayerId) {
        world.exit(player);
    }

    fn on_status(&self, world: &mut World, player: PlayerId, status: PlayerStatus) {
        match status {
            PlayerStatus::Mute => world.mute(player),
            PlayerStatus::Away => world.miss(player),
            PlayerStatus::Back => world.welcome(player),
            PlayerStatus::Silent | PlayerStatus::Heard => {}
        }
    }

    fn step(&self, world: &mut World, turn: &mut Turn<'_, Self>) {
        self.advance(world);
        self.fly(world, turn.inputs(), turn);
        world.drift();
        // A match that is over is still seen to go on for a while.
        if !matches!(world.mission.phase, Phase::Lobby | Phase::Countdown) {
            self.judge(world, turn);
        }
        self.direct(world, turn);
    }

    // What meets what is the server's to say: others are known only as they were.
    fn predict(&self, world: &mut World, turn: &mut Turn<'_, Self>) {
        self.advance(world);
        self.fly(world, turn.inputs(), turn);
    }

    fn capture(&self, world: &World, state: &mut State) {
        schema::capture(world, state);
    }

    fn restore(&self, state: &State) -> World {
        let mut world = World::new(Mission::new(Setup::default()), None);
        self.restore_into(state, &mut world);
        world
    }

    fn restore_into(&self, state: &State, world: &mut World) {
        schema::restore(state, world);
    }

    fn is_ahead(&self, entity: &Entity, player: PlayerId) -> bool {
        entity.id == self.entity_of(player)
            || entity.id == RType::pod_id(player)
            || SpawnName::owner(entity.id) == Some(player)
    }

    fn on_message(
        &self,
        world: &mut World,
        player: PlayerId,
        command: Command,
        effects: &mut Effects<'_, Command>,
    ) {
        world.obey(player, command, effects.events());
    }

    /// All fly together, so who watches may say what they see.
    fn chat(&self) -> ChatRule {
        ChatRule::Everyone
    }

    fn bot_input(&self, world: &World, player: PlayerId) -> Option<Buttons> {
        Some(bot::hold(world, player))
    }

    fn impacts(&self, before: &Frame, now: &Frame, player: PlayerId, meet: &mut dyn FnMut(Impact)) {
        impact::seen(before, now, player, meet);
    }

    fn lobby(&self) -> &impl Lobby<World> {
        self
    }
}

impl Lobby<World> for RType {
    fn standing_of(&self, world: &World, player: PlayerId) -> Option<Standing> {
        let Pilot { lives, score, .. } = *world.pilot(player)?;
        Some(Standing { lives: lives.clamp(0, Pilot::LIVES_LIMIT) as u8, score })
    }

    fn marks(&self, world: &World, player: PlayerId) -> Marks {
        let ready = world.pilot(player).is_some_and(|pilot| pilot.is_ready);
        Marks { host: world.mission.host == Some(player), ready }
    }

    fn stage(&self, world: &World) -> Stage {
        let Mission { phase, setup, .. } = world.mission;
        let started = !matches!(phase, Phase::Lobby | Phase::Countdown);
        let is_over = matches!(phase, Phase::Victory | Phase::Defeat);
        Stage { started, late_joining: setup.late_joining && !is_over, over: is_over }
    }
}

impl Measured for RType {
    fn judged_contact(&self, event: &Event) -> Option<Contact> {
        drawn::judged(event)
    }

    fn drawn_contacts(
        &self,
        before: &Frame,
        now: &Frame,
        player: PlayerId,
        meet: &mut dyn FnMut(Contact),
    ) {
        drawn::contacts(before, now, player, meet);
    }

    fn contact_kind(&self, key: u64, _viewer: PlayerId) -> &'static str {
        drawn::contact_kind(key)
    }
}

impl ClassicGame for RType {
    fn rtype_entity(&self, entity: &Entity, _plain: rtype::Entity) -> Option<rtype::Entity> {
        view::shown(entity)
    }

    fn rtype_match(&self, world: &World) -> Option<RtypeMatch> {
        Some(view::standing(&world.mission))
    }

    fn hear_rtype(
        &self,
        world: &mut World,
        player: PlayerId,
        wish: RtypeWish,
        events: &mut Vec<Event>,
    ) {
        let command = match wish {
            RtypeWish::Configure(config) => {
                Command::Configure(view::setup(config, world.mission.setup))
            }
            RtypeWish::Start => Command::Start,
        };
        world.obey(player, command, events);
    }

    fn read_rtype(&self, told: &RtypeSight<'_>, state: &mut State) {
        view::read(told, state);
    }

    fn rtype_wish(&self, words: &[u8]) -> Option<RtypeWish> {
        view::wish(Command::read(words).ok()?)
    }

    /// The countdown gives everyone five seconds.
    fn start(&self, world: &mut World, player: PlayerId, events: &mut Vec<Event>) {
        world.obey(player, Command::Start, events);
    }

    fn ack_entity(
        &self,
        world: &World,
        entity: &Entity,
        plain: EntityState,
    ) -> Option<EntityState> {
        ack::shown(world, entity, plain)
    }

    fn ack_board(&self, world: &World, player: PlayerId) -> AckBoard {
        ack::board(world, player)
    }

    fn read_ack(&self, told: &AckSight<'_>, state: &mut State) {
        ack::read(told, state);
    }
}
