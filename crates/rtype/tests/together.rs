//! Four bots finish the first level together over the reference link, each with a client of its own
//! and no more to go by than what that draws; and all four agree with the server on lives and scores,
//! in every tick and to the end.

#[allow(dead_code, reason = "the tests of rooms use all of it")]
#[path = "../../net/tests/rooms/scene.rs"]
mod scene;

use std::collections::HashMap;
use std::time::Duration;

use backspin::channel::Delivery;
use backspin::client::{ClientEvent, Frame};
use backspin::endpoint::EndpointConfig;
use backspin::game::{Event, Game, PlayerId, Reach};
use backspin::replication::State;
use backspin_rtype::command::{Command, Setup};
use backspin_rtype::difficulty::Difficulty;
use backspin_rtype::event;
use backspin_rtype::mission::Phase;
use backspin_rtype::{RType, World};
use backspin_sim::{HostId, Preset};

const SETUP: Setup = Setup { difficulty: Difficulty::Easy, base_lives: 3, late_joining: true };

/// Two looks in every tick, so that none is missed.
const LOOK_EVERY: Duration = Duration::from_millis(8);

/// A bot changes its mind ten times a second, as people do.
const LOOKS_PER_THOUGHT: u64 = 12;

/// By then they are done, or never will be: ten minutes.
const LOOKS_LIMIT: u64 = 75_000;

/// Longer than any word takes, and shorter than the pause after a level.
const QUIET: Duration = Duration::from_secs(2);

/// Where the match stands: all that players count.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Tally {
    phase: Phase,
    level: u8,
    team_score: i32,
    /// Player, lives, score.
    players: Vec<(PlayerId, u8, i32)>,
}

impl Tally {
    fn of(world: &World) -> Self {
        Tally {
            phase: world.mission.phase,
            level: world.mission.level,
            team_score: world.mission.team_score,
            players: world.players().map(|it| (it.player, it.lives, it.score)).collect(),
        }
    }
}

/// A bot at its screen, and what it was told.
struct Seat {
    host: HostId,
    heard: Vec<Event>,
    compared: u32,
    frame: Frame,
}

struct Match {
    scene: scene::Scene<RType>,
    seats: Vec<Seat>,
    /// The truth, by tick, from the first that was looked at on.
    tallies: HashMap<u32, Tally>,
    first: u32,
    told: Vec<Event>,
    /// Worlds are restored into it.
    known: World,
}

impl Match {
    fn new(seed: u64) -> Self {
        let (game, link) = (RType::default(), Preset::Reference.config());
        let known = game.restore(&State::default());
        let mut scene =
            scene::Scene::new(seed, link, (game, "R-Type"), 1, EndpointConfig::default());
        let seat = |host| Seat { host, heard: Vec::new(), compared: 0, frame: Frame::default() };
        let seats: Vec<Seat> = scene.crowd(4).into_iter().map(seat).collect();
        let first = scene.server().rooms()[0].tick() + 1;
        let (tallies, told) = (HashMap::new(), Vec::new());
        let mut game = Match { scene, seats, tallies, first, told, known };
        game.say(0, Command::Configure(SETUP));
        (1..4).for_each(|seat| game.say(seat, Command::Ready(true)));
        game.say(0, Command::Start);
        game
    }

    fn say(&mut self, seat: usize, command: Command) {
        let client = self.scene.client(self.seats[seat].host);
        client.send(&command, Delivery::Reliable).unwrap();
        self.run(Duration::from_secs(1));
    }

    fn run(&mut self, span: Duration) {
        (0..span.as_nanos() / LOOK_EVERY.as_nanos()).for_each(|_| self.look());
    }

    /// A moment on; what everyone knows then is held against the truth.
    fn look(&mut self) {
        self.scene.world.run_for(LOOK_EVERY);
        let scene::Party::Server(server) = self.scene.world.node_mut(self.scene.server) else {
            unreachable!("it was added as one")
        };
        let room = &mut server.rooms_mut()[0];
        self.tallies.entry(room.tick()).or_insert_with(|| Tally::of(room.world()));
        self.told.extend(
            std::iter::from_fn(|| room.poll_game_event())
                .map(|(_, event)| event)
                .filter(|event| event.reach == Reach::Everyone && counts(event)),
        );
        for seat in &mut self.seats {
            let client = self.scene.client(seat.host);
            while let Some(event) = client.poll_event() {
                if let ClientEvent::Game(event) = event
                    && counts(&event)
                {
                    seat.heard.push(event);
                }
            }
            let state = client.state();
            let then = std::mem::replace(&mut seat.compared, state.tick);
            if state.tick == then || state.tick < self.first {
                continue;
            }
            client.game().restore_into(state, &mut self.known);
            assert_eq!(self.tallies.get(&state.tick), Some(&Tally::of(&self.known)));
        }
    }

    /// Each bot does what it would do about what is on its screen.
    fn think(&mut self) {
        let now = self.scene.world.now();
        for Seat { host, frame, .. } in &mut self.seats {
            let client = self.scene.client(*host);
            let Some(player) = client.player() else { continue };
            client.draw(now, frame);
            let game = client.game();
            let mut state = State::default();
            frame.write(game.schema(), &mut state);
            game.restore_into(&state, &mut self.known);
            let held = game.bot_input(&self.known, player).unwrap_or_default();
            client.press(held);
        }
    }

    fn truth(&self) -> Tally {
        Tally::of(self.scene.server().rooms()[0].world())
    }
}

/// Lives and scores, and the steps that the match takes.
fn counts(event: &Event) -> bool {
    matches!(event.kind, event::SCORE | event::LIVES | event::LEVEL | event::GAME_OVER)
}

fn play_level_one(seed: u64) {
    let mut game = Match::new(seed);
    let mut looks = 0;
    while !matches!(game.truth().phase, Phase::LevelClear | Phase::Defeat) {
        if looks % LOOKS_PER_THOUGHT == 0 {
            game.think();
        }
        game.look();
        looks += 1;
        assert!(looks < LOOKS_LIMIT, "{:?}", game.truth());
    }
    game.run(QUIET);
    let truth = game.truth();
    println!("seed {seed}, after {} s: {truth:?}", looks * LOOK_EVERY.as_millis() as u64 / 1_000);
    assert_eq!((truth.phase, truth.level), (Phase::LevelClear, 1));
    assert!(truth.team_score > 0 && truth.players.len() == 4);
    for seat in &game.seats {
        assert_eq!(game.tallies[&seat.compared], truth);
        assert_eq!(seat.heard, game.told);
    }
    let lives_lost = game.told.iter().filter(|event| event.kind == event::LIVES).count();
    assert!(game.told.len() > lives_lost, "scores were told");
}

#[test]
fn four_bots_finish_level_one_and_agree_with_the_server() {
    play_level_one(1);
}

#[test]
#[cfg_attr(debug_assertions, ignore = "takes a minute in debug")]
fn and_so_they_do_with_other_seeds() {
    (2..=10).for_each(play_level_one);
}
