//! A game is its rules: how a world begins, who is in it, and what one step does to it.
//!
//! The layers below carry worlds and inputs without knowing what they mean; a room steps the
//! world, a client predicts its own part of it and shows the rest. Rules are pure: the same world
//! and the same [`Turn`] give the same world, on the server and in prediction.

use std::fmt;

use crate::client::Frame;
use crate::replica::{Drawn, Entity, Schema, State};

/// A player in a room, the same for as long as the slot is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PlayerId(pub u32);

impl fmt::Display for PlayerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "player {}", self.0)
    }
}

/// Which game, and which version of its rules: both sides must agree on both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GameId {
    /// Four letters, read as a big-endian number.
    pub game: u32,
    /// Raised with every change that would let two sides disagree.
    pub version: u16,
}

impl GameId {
    /// The game with these four letters.
    pub const fn new(letters: [u8; 4], version: u16) -> Self {
        GameId { game: u32::from_be_bytes(letters), version }
    }
}

impl fmt::Display for GameId {
    /// The four letters, what is none of them escaped, and the version.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.game.to_be_bytes().escape_ascii(), self.version)
    }
}

/// The buttons a player holds, as the game numbers them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Buttons(pub u16);

impl Buttons {
    /// Move up. The first six are the same in every game and in the old dialects.
    pub const UP: Buttons = Buttons(1);
    /// Move down.
    pub const DOWN: Buttons = Buttons(2);
    /// Move left.
    pub const LEFT: Buttons = Buttons(4);
    /// Move right.
    pub const RIGHT: Buttons = Buttons(8);
    /// Shoot.
    pub const SHOOT: Buttons = Buttons(16);
    /// Charge a heavy shot.
    pub const CHARGE: Buttons = Buttons(32);

    /// Whether all of `other` are held.
    pub const fn contains(self, other: Buttons) -> bool {
        self.0 & other.0 == other.0
    }

    /// -1, 0 or 1: which of two opposite buttons is held alone.
    pub fn axis(self, less: Buttons, more: Buttons) -> i32 {
        i32::from(self.contains(more)) - i32::from(self.contains(less))
    }
}

impl std::ops::BitOr for Buttons {
    type Output = Buttons;

    fn bitor(self, other: Buttons) -> Buttons {
        Buttons(self.0 | other.0)
    }
}

/// Something worth a sound, a flash or a line on the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// What, as the game numbers it.
    pub kind: u8,
    /// To which entity; 0 where there is none.
    pub entity: u16,
    /// How much.
    pub value: i32,
    /// Who must know.
    pub reach: Reach,
}

/// How far an event goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Shown by whoever steps it: the player who predicted it.
    Own,
    /// Everyone is told, in order and exactly once.
    Everyone,
}

/// Two things that met: a ball and a paddle, a shot and what it hit.
///
/// Whether it can be known in time how contacts of a kind end: [`Game::foresight`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Foresight {
    /// It is known when they are drawn.
    #[default]
    Known,
    /// What comes before them on the screen is [`Foresight::Guessed`].
    Follows,
    /// They depend on what somebody else does, and are drawn before that can have come.
    Guessed,
}

/// For measuring only: what a player saw meet is held against what the server judged. A game says
/// both, the server's half in [`Game::judged_contact`], the screen's in [`Game::drawn_contacts`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contact {
    /// Which, as the game numbers them; the same may meet again a second later. A contact is drawn
    /// as it was judged if both have the same key within a second.
    pub key: u64,
    /// Whom it concerns; `None` is everyone who plays.
    pub player: Option<PlayerId>,
    /// The entity that ends with the contact: a shot, which must not be drawn any further. `None`
    /// if nothing does: a ball bounces, and a shot that pierces flies on. Looked at in what is
    /// drawn.
    pub spent: Option<u16>,
    /// The entity that was met, if a contact may be the end of it. From the contact on the screen
    /// until it is gone there is the time from contact to burst.
    pub target: Option<u16>,
}

impl Contact {
    /// A contact that ends nothing.
    pub const fn new(key: u64, player: Option<PlayerId>) -> Self {
        Contact { key, player, spent: None, target: None }
    }
}

/// Something that a player sees meet something else, before the server has said so: an own shot and
/// what it hits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Impact {
    /// What meets something: one of the things that are drawn.
    pub entity: u16,
    /// What it meets.
    pub target: u16,
    /// When, as a share of the time from the frame before to this one: a screen shows what stops
    /// where it was then.
    pub at: f32,
    /// Whether it ends there: it is drawn no further, unless the server says that it flies on.
    pub stops: bool,
    /// How much, as the game counts it.
    pub value: i32,
}

/// What one player does in a turn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlayerInput {
    /// Who.
    pub player: PlayerId,
    /// What is held.
    pub buttons: Buttons,
    /// The server tick, with its fraction, that was on the player's screen; `None` is "this one".
    pub drawn: Option<f64>,
}

/// Everything that a step may know beside the world.
#[derive(Debug)]
pub struct Turn<'a, W> {
    tick: u32,
    inputs: &'a [PlayerInput],
    past: Past<'a, W>,
    events: &'a mut Vec<Event>,
    /// How many ticks it rewinds at most.
    rewind_ticks: u32,
}

/// The worlds after earlier ticks: kept here, or parts of those that are kept elsewhere.
enum Past<'a, W> {
    Kept(&'a [(u32, W)]),
    Parts(&'a dyn Fn(u32) -> Option<&'a W>),
}

impl<W> Clone for Past<'_, W> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<W> Copy for Past<'_, W> {}

impl<'a, W> Past<'a, W> {
    fn at(self, tick: u32) -> Option<&'a W> {
        match self {
            Past::Kept(past) => past.iter().find(|(past, _)| *past == tick).map(|(_, world)| world),
            Past::Parts(part_at) => part_at(tick),
        }
    }
}

impl<W> fmt::Debug for Past<'_, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Past::Kept(past) => f.debug_list().entries(past.iter().map(|(tick, _)| tick)).finish(),
            Past::Parts(_) => f.write_str("parts"),
        }
    }
}

/// A room rewinds at most so far for a game that says nothing else, in ms.
pub const REWIND_LIMIT_MS: u32 = 250;

/// No room rewinds further, in ticks: an input cannot say more.
pub const REWIND_TICKS_MAX: u32 = 255;

/// How many ticks a room rewinds at most: what the game says in ms, at its own tick rate.
pub fn rewind_limit_ticks<G: Game>(game: &G) -> u32 {
    let ticks = game.rewind_limit_ms().saturating_mul(game.tick_rate().into()) / 1_000;
    ticks.min(REWIND_TICKS_MAX)
}

impl<'a, W> Turn<'a, W> {
    /// The turn of `tick`. `past` are the worlds after earlier ticks, in any order; it rewinds as
    /// far as they go.
    pub fn new(
        tick: u32,
        inputs: &'a [PlayerInput],
        past: &'a [(u32, W)],
        events: &'a mut Vec<Event>,
    ) -> Self {
        let ages = past.iter().map(|(past, _)| tick.saturating_sub(*past));
        let rewind_ticks = ages.max().unwrap_or(0);
        Turn { tick, inputs, past: Past::Kept(past), events, rewind_ticks }
    }

    /// The same, and rewinds by at most `ticks`: see [`rewind_limit_ticks`].
    pub fn rewinding(self, ticks: u32) -> Self {
        Turn { rewind_ticks: ticks, ..self }
    }

    /// The same turn for a game whose worlds are parts of these: a server of several games has
    /// worlds of several kinds.
    pub fn within<V>(
        &mut self,
        part: impl Fn(&W) -> Option<&V>,
        step: impl FnOnce(&mut Turn<'_, V>),
    ) {
        let past = self.past;
        let part_at = |tick| past.at(tick).and_then(&part);
        let (tick, inputs, past) = (self.tick, self.inputs, Past::Parts(&part_at));
        let rewind_ticks = self.rewind_ticks;
        step(&mut Turn { tick, inputs, past, events: self.events, rewind_ticks });
    }

    /// The tick that is stepped.
    pub fn tick(&self) -> u32 {
        self.tick
    }

    /// What everyone does.
    pub fn inputs(&self) -> &'a [PlayerInput] {
        self.inputs
    }

    /// What `player` holds.
    pub fn buttons(&self, player: PlayerId) -> Buttons {
        let input = self.inputs.iter().find(|input| input.player == player);
        input.map_or(Buttons::default(), |input| input.buttons)
    }

    /// The world that `player` had on the screen when the input was made, no longer ago than
    /// [`Game::rewind_limit_ms`]: what the player hit or was hit by is judged in it. `None` is "as
    /// it is now".
    pub fn seen_by(&self, player: PlayerId) -> Option<&'a W> {
        self.past.at(self.drawn_by(player)?.round() as u32)
    }

    /// The same more finely: the last world before what `player` had on the screen, and the part
    /// of a tick, below 1, that was drawn past it. What was there in it was drawn, moved on by that
    /// part.
    pub fn sight_of(&self, player: PlayerId) -> Option<(&'a W, f64)> {
        let drawn = self.drawn_by(player)?;
        Some((self.past.at(drawn.floor() as u32)?, drawn.fract()))
    }

    /// The world a tick before that of [`Turn::sight_of`]: a tick ago `player` had on the screen
    /// what was there in it, moved on by the same part.
    pub fn sight_before(&self, player: PlayerId) -> Option<&'a W> {
        self.past.at((self.drawn_by(player)?.floor() as u32).checked_sub(1)?)
    }

    fn drawn_by(&self, player: PlayerId) -> Option<f64> {
        let drawn = self.inputs.iter().find(|input| input.player == player)?.drawn?;
        Some(drawn.max(f64::from(self.tick.saturating_sub(self.rewind_ticks))))
    }

    /// Says that something happened.
    pub fn raise(&mut self, event: Event) {
        self.events.push(event);
    }
}

/// The name of something that a player's input brings into the world: the same on the server and
/// in prediction, so that the two are one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpawnName {
    /// Whose, 1 to 8.
    pub player: PlayerId,
    /// The tick of the input.
    pub tick: u32,
    /// Which of those that the input spawned, 0 to 3.
    pub count: u8,
}

impl SpawnName {
    const FIRST: u16 = 0x8000;

    /// An id keeps these bits of its tick.
    pub const LOW_TICKS: u32 = 0x3FF;

    /// The low bits of the tick in which the entity with this id was spawned.
    pub fn low_tick(entity_id: u16) -> u32 {
        u32::from(entity_id >> 2) & SpawnName::LOW_TICKS
    }

    /// The entity's id: from 0x8000 up, and not the same for another spawn within 1024 ticks.
    pub fn entity_id(self) -> u16 {
        let player = (self.player.0.wrapping_sub(1) & 7) as u16;
        let tick = (self.tick & SpawnName::LOW_TICKS) as u16;
        SpawnName::FIRST | player << 12 | tick << 2 | u16::from(self.count & 3)
    }

    /// Whose spawn the entity with this id is, if it is one.
    pub fn owner(entity_id: u16) -> Option<PlayerId> {
        let player = u32::from(entity_id >> 12 & 7) + 1;
        (entity_id >= SpawnName::FIRST).then_some(PlayerId(player))
    }
}

/// How a player does, in games that count it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// Lives left.
    pub lives: u8,
    /// The score.
    pub score: i32,
}

/// What a player is in the lobby, in games that have one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Marks {
    /// May set the match up and start it.
    pub host: bool,
    /// Is ready to start.
    pub ready: bool,
}

impl Default for Marks {
    fn default() -> Self {
        Marks { host: false, ready: true }
    }
}

/// How far the match in a room is, as who looks for a room must know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stage {
    /// Whether it is on.
    pub started: bool,
    /// Whether who comes then plays at once.
    pub late_joining: bool,
    /// Whether it has been decided, and nothing else has begun since.
    pub over: bool,
}

impl Default for Stage {
    fn default() -> Self {
        Stage { started: false, late_joining: true, over: false }
    }
}

/// A match as `rtype` speaks of it.
#[cfg(feature = "rtype")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RtypeMatch {
    /// Who is host, how the match is set up and whether it runs.
    pub lobby: crate::wire::rtype::LobbyStatus,
    /// What everyone has scored together.
    pub team_score: i32,
    /// How it has ended, until everyone is back in the lobby.
    pub over: Option<crate::wire::rtype::GameOverReason>,
}

/// What a player can ask for in `rtype`.
#[cfg(feature = "rtype")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RtypeWish {
    /// To set the match up.
    Configure(crate::wire::rtype::LobbyConfig),
    /// To start it.
    Start,
}

/// A game's rules.
pub trait Game: Clone + 'static {
    /// Everything that a step may look at or change.
    type World: Clone + fmt::Debug;

    /// Which game it is.
    fn id(&self) -> GameId;

    /// Steps per second.
    fn tick_rate(&self) -> u8 {
        60
    }

    /// Whether the rules ever ask what a player had on the screen: see [`Turn::seen_by`]. Of a game
    /// that does not, no past worlds are kept.
    fn looks_back(&self) -> bool {
        true
    }

    /// How far back contacts may be judged, in ms: see [`Turn::seen_by`]. Further away than that
    /// from the server, a player's hits are judged otherwise than they were drawn; but whoever is
    /// hit learns of it so much later than it was seen, so a game in which players fight each other
    /// keeps it short. At most [`REWIND_TICKS_MAX`] ticks.
    fn rewind_limit_ms(&self) -> u32 {
        REWIND_LIMIT_MS
    }

    /// How many may play in one room.
    fn capacity(&self) -> u8;

    /// What is sent of a world: kinds of entities and their fields.
    fn schema(&self) -> &'static Schema;

    /// The world before the first step.
    fn begin(&self, seed: u64) -> Self::World;

    /// A player takes a slot.
    fn join(&self, world: &mut Self::World, player: PlayerId);

    /// A player who speaks an old dialect, or a bot, takes a slot: one that can say nothing but its
    /// buttons.
    fn join_mute(&self, world: &mut Self::World, player: PlayerId) {
        self.join(world, player);
    }

    /// A player's slot is given up.
    fn leave(&self, world: &mut Self::World, player: PlayerId);

    /// A player was dropped or has gone, and may come back: the slot is kept, and a bot
    /// [stands in](Game::stand_in).
    fn go_away(&self, _world: &mut Self::World, _player: PlayerId) {}

    /// The player is back.
    fn come_back(&self, _world: &mut Self::World, _player: PlayerId) {}

    /// Nothing has come from a player for a second, who still counts as here: the line may be dead,
    /// or the program. Told once per silence, before the step of a tick; in `rtype`, where silence
    /// may mean that nothing changed, never.
    fn fall_silent(&self, _world: &mut Self::World, _player: PlayerId) {}

    /// The player is heard again after [`Game::fall_silent`].
    fn speak_again(&self, _world: &mut Self::World, _player: PlayerId) {}

    /// One tick.
    fn step(&self, world: &mut Self::World, turn: &mut Turn<'_, Self::World>);

    /// What a client does ahead of the server with its own input: all of [`Game::step`], with
    /// nobody else's input, unless the game knows better.
    fn predict(&self, world: &mut Self::World, turn: &mut Turn<'_, Self::World>) {
        self.step(world, turn);
    }

    /// Writes what is sent of a world into an empty state.
    fn capture(&self, world: &Self::World, state: &mut State);

    /// The world of a state: what is predicted must come out as it went in.
    fn restore(&self, state: &State) -> Self::World;

    /// The same in the place of an older world, so that a game can use its memory again: a client
    /// does this with every snapshot.
    fn restore_into(&self, state: &State, world: &mut Self::World) {
        *world = self.restore(state);
    }

    /// The entity that a player steers.
    fn entity_of(&self, player: PlayerId) -> u16 {
        player.0 as u16
    }

    /// Whether `player` sees the entity ahead of the server, as predicted: its own, and what it
    /// spawned.
    fn is_ahead(&self, entity: &Entity, player: PlayerId) -> bool {
        entity.id == self.entity_of(player) || SpawnName::owner(entity.id) == Some(player)
    }

    /// When the entity that is drawn so is drawn: 0 is with the others, behind the server, 1 with
    /// what is the player's own, ahead of it. `None` is one of the two, as [`Game::is_ahead`] says.
    ///
    /// For what both sides meet, a ball: its time slides from one clock to the other as it
    /// crosses the field, so it must change gently with where the entity is. From 0 to 1 are
    /// `gap_ticks`: where there is little way for much time, a game lets some of it be.
    fn slide(&self, _drawn: &Drawn, _player: PlayerId, _gap_ticks: f32) -> Option<f32> {
        None
    }

    /// What `player` sees meet from one frame to the next, and what ends there: own shots at what
    /// they hit, what hits the own ship. Both are where they are drawn, each in its own time: the
    /// player's own things ahead of the server, the rest behind it. That is how
    /// [`Turn::seen_by`] lets the server judge it, a round trip later.
    ///
    /// What stops is drawn in this frame and not again. If the server does not take it away in the
    /// tick it was seen in, it flies on. Frames say what was seen: [`Frame::impacts`] what is new,
    /// [`Frame::awaited`] what the server has not spoken of yet. The same two meet once until then.
    fn impacts(
        &self,
        _before: &Frame,
        _now: &Frame,
        _player: PlayerId,
        _meet: &mut dyn FnMut(Impact),
    ) {
    }

    /// Hears what a player said with [`Client::send`](crate::client::Client::send), at most 255
    /// bytes: in order and once, before the step of the next tick. They may be anything.
    fn hear(
        &self,
        _world: &mut Self::World,
        _player: PlayerId,
        _words: &[u8],
        _events: &mut Vec<Event>,
    ) {
    }

    /// How a player does; `None` if the game does not count, or the player is not in it.
    fn standing_of(&self, _world: &Self::World, _player: PlayerId) -> Option<Standing> {
        None
    }

    /// What a player is in the lobby; who plays without one is always ready.
    fn marks(&self, _world: &Self::World, _player: PlayerId) -> Marks {
        Marks::default()
    }

    /// How far the match is; without a lobby it is one that anyone may join at any time.
    fn stage(&self, _world: &Self::World) -> Stage {
        Stage::default()
    }

    /// What a bot would hold in the place of `player`: of one who was dropped and may come back,
    /// of those who play with a guest who is alone, and of those who play in the simulator. `None`
    /// if there is no bot for this game.
    fn stand_in(&self, _world: &Self::World, _player: PlayerId) -> Option<Buttons> {
        None
    }

    /// The contact that the server's event speaks of, if it is about one.
    fn judged_contact(&self, _event: &Event) -> Option<Contact> {
        None
    }

    /// The contacts that `player` sees happen from one frame to the next.
    ///
    /// A contact is **drawn** when what is on the screen tells a person that two things met. Frames
    /// fall anywhere between ticks, at any rate, so nearly no contact is on a frame itself. Read it
    /// off both frames:
    ///
    /// - A thing in both frames moved evenly from one place to the other, and met whatever lay on
    ///   its way at that moment.
    /// - A thing that is only in the first frame is gone now. It moved on as it did before, until
    ///   the second frame at the latest, and may have met something on that way: this is how a shot
    ///   that hits, and what it kills, are drawn. It moves no further than a frame's time, so a
    ///   shot that vanishes well before its target was not seen to hit it.
    /// - A thing that is only in the second frame came in between, and can be met from then on.
    /// - Use the shapes and the test of the rules, on the places that are drawn, not on those that
    ///   the server has. What nobody can see (a pixel) may be forgiven; time may not be.
    ///
    /// Report a contact in every frame in which it goes on: repeats within a quarter of a second
    /// are one. Things that no player can tell apart (which of two enemies in the same place) should
    /// have the same key. Do not ask whether the server will agree: that is what is measured.
    fn drawn_contacts(
        &self,
        _before: &Frame,
        _now: &Frame,
        _player: PlayerId,
        _meet: &mut dyn FnMut(Contact),
    ) {
    }

    /// What kind of contact has this key, as `viewer` sees it: "own shot", "opponent's paddle".
    /// Each kind is counted and judged by itself, so that a rare one does not vanish among many
    /// others.
    fn contact_kind(&self, _key: u64, _viewer: PlayerId) -> &'static str {
        "contact"
    }

    /// Whether contacts of a kind can be known when they are drawn. For measuring only: what has to be
    /// guessed has another target.
    fn foresight(&self, _kind: &str) -> Foresight {
        Foresight::Known
    }

    /// The only place that a guest of Networked Pong can take, counted from 0; `None` is any.
    #[cfg(feature = "lan")]
    fn lan_place(&self) -> Option<u8> {
        None
    }

    /// The world as Networked Pong sees it; `None` if the game cannot be shown so.
    #[cfg(feature = "lan")]
    fn lan_state(&self, _world: &Self::World) -> Option<crate::wire::lan::StateUpdate> {
        None
    }

    /// Whether players of `rtype` are let into its rooms.
    #[cfg(feature = "rtype")]
    fn is_spoken_of_in_rtype(&self) -> bool {
        true
    }

    /// What is said of an entity in `rtype`, where `plain` is what the names of its fields make of
    /// it: a game knows its kinds and colours better. `None` leaves it out.
    #[cfg(feature = "rtype")]
    fn rtype_entity(
        &self,
        _entity: &Entity,
        plain: crate::wire::rtype::Entity,
    ) -> Option<crate::wire::rtype::Entity> {
        Some(plain)
    }

    /// How the match stands, in the words of `rtype`; `None` if the game has no such words.
    #[cfg(feature = "rtype")]
    fn rtype_match(&self, _world: &Self::World) -> Option<RtypeMatch> {
        None
    }

    /// Hears what a player asks for in `rtype`, before the step of the next tick: anyone may ask,
    /// and the game knows who is host.
    #[cfg(feature = "rtype")]
    fn hear_rtype(
        &self,
        _world: &mut Self::World,
        _player: PlayerId,
        _wish: RtypeWish,
        _events: &mut Vec<Event>,
    ) {
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spawns_of_the_same_input_have_the_same_name_on_both_sides() {
        let name = SpawnName { player: PlayerId(3), tick: 70_000, count: 1 };
        assert_eq!(name.entity_id(), name.entity_id());
        assert_eq!(SpawnName::owner(name.entity_id()), Some(PlayerId(3)));
        assert_eq!(SpawnName::owner(3), None);
        let next = SpawnName { tick: 70_001, ..name };
        assert_ne!(name.entity_id(), next.entity_id());
    }

    #[test]
    fn a_turn_rewinds_to_what_the_player_saw_and_no_further_than_its_limit() {
        let past: Vec<(u32, &str)> = vec![(90, "far"), (95, "near"), (85, "limit")];
        let input = |drawn| PlayerInput {
            player: PlayerId(1),
            buttons: Buttons::default(),
            drawn: Some(drawn),
        };
        let seen = |drawn| {
            let mut events = Vec::new();
            let inputs = [input(drawn)];
            let turn = Turn::new(100, &inputs, &past, &mut events).rewinding(15);
            turn.seen_by(PlayerId(1)).copied()
        };
        assert_eq!(seen(94.6), Some("near"));
        assert_eq!(seen(90.4), Some("far"));
        assert_eq!(seen(10.0), Some("limit"));
        assert_eq!(seen(99.0), None);
    }

    #[test]
    fn a_game_within_another_sees_its_part_of_the_past_and_raises_what_happens() {
        let past: Vec<(u32, (u8, &str))> = vec![(90, (1, "far")), (95, (0, "not its own"))];
        let player = PlayerId(1);
        let mut seen = Vec::new();
        let mut events = Vec::new();
        for drawn in [90.0, 95.0, 96.0] {
            let inputs = [PlayerInput { player, buttons: Buttons::UP, drawn: Some(drawn) }];
            let mut turn = Turn::new(100, &inputs, &past, &mut events);
            turn.within(
                |(own, world)| (*own == 1).then_some(world),
                |turn| {
                    seen.push(turn.seen_by(player).copied());
                    assert_eq!((turn.tick(), turn.buttons(player)), (100, Buttons::UP));
                    turn.raise(Event { kind: 1, entity: 0, value: 0, reach: Reach::Own });
                },
            );
        }
        assert_eq!(seen, [Some("far"), None, None]);
        assert_eq!(events.len(), 3);
    }

    #[test]
    fn a_sight_is_the_world_before_it_and_the_part_of_a_tick_since() {
        let past: Vec<(u32, &str)> = vec![(90, "far"), (85, "limit")];
        let sight = |drawn| {
            let player = PlayerId(1);
            let inputs = [PlayerInput { player, buttons: Buttons::default(), drawn: Some(drawn) }];
            Turn::new(100, &inputs, &past, &mut Vec::new())
                .rewinding(15)
                .sight_of(player)
                .map(|(world, part)| (*world, part))
        };
        assert_eq!(sight(90.75), Some(("far", 0.75)));
        assert_eq!(sight(90.0), Some(("far", 0.0)));
        assert_eq!(sight(12.5), Some(("limit", 0.0)));
        assert_eq!(sight(91.0), None);
        assert_eq!(sight(f64::NAN), Some(("limit", 0.0)));
        assert_eq!(sight(f64::INFINITY), None);
    }

    #[test]
    fn the_sight_a_tick_ago_is_in_the_world_before() {
        let past: Vec<(u32, &str)> = vec![(90, "far"), (85, "limit"), (84, "before the limit")];
        let before = |drawn| {
            let player = PlayerId(1);
            let inputs = [PlayerInput { player, buttons: Buttons::default(), drawn: Some(drawn) }];
            let (past, mut events) = (&past, Vec::new());
            let turn = Turn::new(100, &inputs, past, &mut events).rewinding(15);
            turn.sight_before(player).copied()
        };
        assert_eq!(before(91.75), Some("far"));
        assert_eq!(before(90.75), None);
        assert_eq!(before(12.5), Some("before the limit"));
    }
}
