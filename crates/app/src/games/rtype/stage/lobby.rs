//! Who is present, and the choices before and after a match.

use backspin::game::PlayerId;
use backspin_rtype::command::{Command, Setup};
use backspin_rtype::difficulty::Difficulty;
use backspin_rtype::mission::Phase;
use backspin_rtype::{Opening, RType, World};

use super::{difficulty_name, thousands, words};
use crate::screen::stage::{Names, Offer};
use crate::screen::{Cell, Row, Tone};

/// What a player can choose.
pub(super) fn offers(game: &RType, world: &World, own: Option<PlayerId>) -> Vec<Offer> {
    let is_host = own.is_some() && own == world.mission.host;
    let offer = |text: &str, key, command: Option<Command>| Offer {
        row: Row::new(text),
        key,
        words: command.map(words).unwrap_or_default(),
    };
    match world.mission.phase {
        Phase::Lobby if is_host => {
            let all_ready = world.players().all(|card| card.is_ready || card.is_host);
            let start = match all_ready {
                true => offer("Start the match", Some(('g', "start")), Some(Command::Start)),
                false => offer("Waiting for everyone to be ready ...", None, None),
            };
            std::iter::once(start).chain(setup_offers(world.mission.setup)).collect()
        }
        Phase::Lobby => {
            let Some(own) = world.players().find(|card| Some(card.player) == own) else {
                return Vec::new();
            };
            let (text, does) = match own.is_ready {
                true => ("Not ready", "not ready"),
                false => ("Ready", "ready"),
            };
            vec![offer(text, Some(('r', does)), Some(Command::Ready(!own.is_ready)))]
        }
        Phase::Victory | Phase::Defeat if is_host => {
            let text = match game.opening {
                Opening::AtOnce => "Play again",
                Opening::Lobby => "Back to the lobby",
            };
            vec![offer(text, None, Some(Command::Restart))]
        }
        Phase::Victory | Phase::Defeat => vec![offer("Waiting for the host ...", None, None)],
        _ => Vec::new(),
    }
}

/// What the host decides: each choice leads to the next value.
fn setup_offers(setup: Setup) -> [Offer; 3] {
    let harder = match setup.difficulty {
        Difficulty::Easy => Difficulty::Normal,
        Difficulty::Normal => Difficulty::Hard,
        Difficulty::Hard => Difficulty::Easy,
    };
    let lives = setup.base_lives % Setup::LIVES_MAX + 1;
    let offer = |name: &str, value: String, next: Setup| Offer {
        row: Row { cells: vec![Cell::new(name, Tone::Plain), Cell::new(value, Tone::Bright)] },
        key: None,
        words: words(Command::Configure(next)),
    };
    let late = if setup.late_joining { "at once" } else { "in the next match" };
    [
        offer(
            "Difficulty",
            difficulty_name(setup.difficulty).into(),
            Setup { difficulty: harder, ..setup },
        ),
        offer("Lives", setup.base_lives.to_string(), Setup { base_lives: lives, ..setup }),
        offer(
            "Late joiners play",
            late.into(),
            Setup { late_joining: !setup.late_joining, ..setup },
        ),
    ]
}

/// The players and, for those who cannot change them, the match settings.
pub(super) fn facts(world: &World, own: Option<PlayerId>, names: &Names) -> Vec<Row> {
    let mut rows: Vec<Row> = world
        .players()
        .map(|card| {
            let (mark, tone) = match card {
                _ if card.is_host => ("host", Tone::Fair),
                _ if card.is_ready => ("ready", Tone::Good),
                _ => ("not ready", Tone::Dim),
            };
            let tone_of_name = if own == Some(card.player) { Tone::Bright } else { Tone::Plain };
            let score = if card.score > 0 { thousands(card.score) } else { String::new() };
            let cells = vec![
                Cell::new(names.of(card.player), tone_of_name),
                Cell::new(mark, tone),
                Cell::new(score, Tone::Dim),
            ];
            Row { cells }
        })
        .collect();
    if own.is_none() || own != world.mission.host {
        let setup = world.mission.setup;
        let text = format!("{}, {} lives", difficulty_name(setup.difficulty), setup.base_lives);
        let cells = vec![Cell::new("The match", Tone::Dim), Cell::new(text, Tone::Plain)];
        rows.push(Row { cells });
    }
    rows
}
