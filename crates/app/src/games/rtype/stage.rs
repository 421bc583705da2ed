//! How R-Type is shown.
//!
//! ```text
//! scene   -> everything in the field, as plain things
//! changes -> explosions and sounds between two frames
//! lobby   -> who is present, and the choices before and after a match
//! ```

mod changes;
mod lobby;
mod scene;

use std::error::Error;
use std::time::Duration;

use backspin::game::{Buttons, Event, PlayerId};
use backspin::replication::State;
use backspin::typed::Message;
use backspin_rtype::command::{Command, PHRASES};
use backspin_rtype::difficulty::Difficulty;
use backspin_rtype::mission::{Mission, Phase, Pilot};
use backspin_rtype::schema::MISSION_ID;
use backspin_rtype::ship::Ship;
use backspin_rtype::{Opening, RType, World, event};

use crate::games::command::LEVELS;
use crate::screen::stage::{Happenings, Names, Offer, Sight, Stage, Standing, StandingPhase, Way};
use crate::screen::{Banner, Controls, Crew, Hud, Row, Scene, Tone};

/// Ticks in a second.
const SECOND: i32 = 60;

/// The name of a level is shown for so many ticks when it begins.
const TITLE_TICKS: i32 = 150;

impl Stage for RType {
    /// It has no memory.
    type Bot = ();

    const SIDES: &'static [&'static str] = &[];

    const WAYS: &'static [(&'static str, Way)] =
        &[("R-Type, easy", Some(0)), ("R-Type, normal", Some(1)), ("R-Type, hard", Some(2))];

    const CONTROLS: Controls = Controls::Ship;

    const PHRASES: &'static [&'static str] = &PHRASES;

    /// The last ship is a wreck for a quarter of a second, then it bursts.
    const CURTAIN: Duration = Duration::from_secs(1);

    fn scene(&self, sight: &Sight<'_, Self>) -> Scene {
        scene::of(sight.world, sight.own)
    }

    fn happened(&self, before: &Sight<'_, Self>, now: &Sight<'_, Self>, out: &mut Happenings) {
        changes::between(before, now, out);
    }

    fn progress(&self, state: &State, world: &World) -> Standing {
        let phase = match world.mission.phase {
            // The old dialect tells nothing of the match but what flies.
            _ if state.find(MISSION_ID).is_none() => StandingPhase::Playing,
            Phase::Lobby => StandingPhase::Waiting,
            Phase::Countdown => StandingPhase::Countdown(seconds(world.mission.timer)),
            Phase::Playing | Phase::Boss | Phase::LevelClear => StandingPhase::Playing,
            Phase::Victory => StandingPhase::Over { winner: 0 },
            Phase::Defeat => StandingPhase::Over { winner: 1 },
        };
        let players = world.players().map(|card| (card.player, 0)).collect();
        Standing { phase, players, ..Standing::default() }
    }

    fn banner(&self, sight: &Sight<'_, Self>) -> Option<Banner> {
        let mission = &sight.world.mission;
        let words = |text: &str| Some(Banner { large: String::new(), text: vec![text.into()] });
        match mission.phase {
            Phase::Countdown => {
                let large = seconds(mission.timer).to_string();
                Some(Banner { large, text: Vec::new() })
            }
            Phase::LevelClear => words("Level clear!"),
            Phase::Playing if mission.distance < mission.scroll * TITLE_TICKS => {
                words(&title(self, mission))
            }
            Phase::Playing | Phase::Boss => {
                let pilot = sight.own.and_then(|own| sight.world.pilot(own))?;
                match note(pilot)? {
                    "next match" => words("You play in the next match."),
                    "out" => words("No lives left. The others fight on."),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    fn offers(&self, world: &World, own: Option<PlayerId>) -> Vec<Offer> {
        lobby::offers(self, world, own)
    }

    fn verdict(
        &self,
        world: &World,
        _own: Option<PlayerId>,
        names: &Names,
    ) -> (String, Vec<(String, Tone)>) {
        let title = if world.mission.phase == Phase::Victory { "Victory!" } else { "Defeat" };
        let alone = world.players().count() == 1;
        let whose = if alone { "Score" } else { "Team score" };
        let score = format!("{whose} {}", thousands(world.mission.team_score));
        let mut text = vec![(score, Tone::Bright)];
        if !alone {
            let line = |player, score| format!("{} {}", names.of(player), thousands(score));
            text.extend(world.players().map(|card| (line(card.player, card.score), Tone::Plain)));
        }
        (title.into(), text)
    }

    fn alone(mut self, way: Way) -> Self {
        let difficulty = way.and_then(|way| Difficulty::ALL.get(usize::from(way)));
        self.setup.difficulty = difficulty.copied().unwrap_or(self.setup.difficulty);
        RType { opening: Opening::AtOnce, ..self }
    }

    fn bot(_level: u8) -> Result<(), Box<dyn Error>> {
        Ok(())
    }

    fn steer(_bot: &mut (), seen: &World, player: PlayerId, _tick: u32) -> Buttons {
        backspin_rtype::bot::hold(seen, player)
    }

    fn facts(&self, world: &World, own: Option<PlayerId>, names: &Names) -> Vec<Row> {
        lobby::facts(world, own, names)
    }

    fn hud(&self, sight: &Sight<'_, Self>, names: &Names) -> Option<Hud> {
        let (world, mission) = (sight.world, &sight.world.mission);
        let crew = world.players().filter_map(|card| {
            let pilot = world.pilot(card.player)?;
            let charge = world.ship(card.player).map_or(0, |ship| ship.charge);
            Some(Crew {
                number: number(card.player),
                name: names.of(card.player),
                own: sight.own == Some(card.player),
                lives: card.lives,
                score: card.score.max(0) as u32,
                combo: pilot.multiplier().clamp(1, 5) as u8,
                charge: charge as f32 / Ship::CHARGE_TICKS as f32,
                note: note(pilot),
            })
        });
        let is_on = mission.phase.is_on() && world.players().next().is_some();
        let waves = self.levels.get(usize::from(mission.level).saturating_sub(1));
        Some(Hud {
            title: if is_on { title(self, mission) } else { String::new() },
            wave: waves.filter(|_| is_on).map(|level| (mission.wave, level.waves)),
            team_score: mission.team_score.max(0) as u32,
            crew: crew.collect(),
            boss: world.boss.map(|boss| boss.health.max(0) as f32 / boss.full.max(1) as f32),
        })
    }

    fn said(&self, event: &Event) -> Option<(PlayerId, &'static str)> {
        let phrase = PHRASES.get(usize::try_from(event.value).ok()?)?;
        (event.kind == event::CHAT).then_some((PlayerId(event.entity), phrase))
    }

    fn phrase(&self, key: char) -> Option<Vec<u8>> {
        let number = key.to_digit(10)?.checked_sub(1)? as u8;
        (usize::from(number) < PHRASES.len()).then(|| words(Command::Chat(number)))
    }
}

/// What else there is to say of a player.
fn note(pilot: &Pilot) -> Option<&'static str> {
    match pilot {
        Pilot { is_waiting: true, .. } => Some("next match"),
        Pilot { lives: ..=0, .. } => Some("out"),
        Pilot { away: 1.., .. } => Some("shot down"),
        _ => None,
    }
}

/// What a level is called.
fn title(game: &RType, mission: &Mission) -> String {
    match game.levels.get(usize::from(mission.level).saturating_sub(1)) {
        Some(level) => format!("Level {}: {}", mission.level, level.name),
        None => format!("Level {}", mission.level),
    }
}

/// A command as it is said.
pub(crate) fn words(command: Command) -> Vec<u8> {
    command.to_vec()
}

/// A difficulty in words.
pub(crate) fn difficulty_name(difficulty: Difficulty) -> &'static str {
    LEVELS[difficulty as usize]
}

/// A player's number on the screen, from 0.
fn number(player: PlayerId) -> u8 {
    player.0.saturating_sub(1).min(u8::MAX.into()) as u8
}

fn seconds(ticks: i32) -> u8 {
    ((ticks + SECOND - 1) / SECOND).clamp(1, 99) as u8
}

/// A score as people read it: 12,300.
fn thousands(score: i32) -> String {
    let score = score.max(0);
    match score {
        ..=999 => score.to_string(),
        1_000..=999_999 => format!("{},{:03}", score / 1_000, score % 1_000),
        _ => {
            let (millions, rest) = (score / 1_000_000, score % 1_000_000);
            format!("{millions},{:03},{:03}", rest / 1_000, rest % 1_000)
        }
    }
}
