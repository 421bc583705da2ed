//! A recorded match: looks like a match, and nobody steers.

use std::fs;
use std::path::Path;
use std::time::Instant;

use backspin::time::Time;
use backspin_record::replay::{Replay, ReplayHeader};

use super::choices::Step;
use super::launch::sentence;
use super::match_screen::{ChatShown, Chosen, MatchScreen, Moments};
use super::stage::{Names, Stage, side_names};
use super::{Arena, Banner, Bindings, Cell, Cue, Held, Page, Settings, Tone};
use crate::games::{Title, with_game};

/// A match is held in memory; one of a day is far below this.
const LEN_LIMIT: u64 = 256 << 20;

/// How fast it may go.
const SPEEDS: [f64; 6] = [0.25, 0.5, 1.0, 2.0, 4.0, 8.0];

/// The usual of them.
const USUAL: usize = 2;

/// A step to and fro, in seconds.
const STEP: f64 = 5.0;

/// A recorded match.
struct ReplayScreen<G: Stage> {
    replay: Replay<G>,
    moments: Moments<G>,
    /// Where it is, in ticks.
    at: f64,
    speed: usize,
    paused: bool,
    began: Instant,
    looked: Instant,
}

/// Opens a replay of any game.
pub(super) fn open(path: &Path) -> Result<Box<dyn MatchScreen>, String> {
    let unreadable = |error: &dyn std::fmt::Display| {
        sentence(&format!("{} cannot be shown: {error}", path.display()))
    };
    let len = fs::metadata(path).map_err(|error| unreadable(&error))?.len();
    if len > LEN_LIMIT {
        return Err(unreadable(&format!("it is longer than {} MiB", LEN_LIMIT >> 20)));
    }
    let bytes = fs::read(path).map_err(|error| unreadable(&error))?;
    let header = ReplayHeader::read(&bytes).map_err(|damage| unreadable(&damage))?;
    let game = header.game;
    let Some(title) = Title::of(game) else {
        let unknown = format!("it is a replay of {game}, which this program does not have");
        return Err(unreadable(&unknown));
    };
    let reel = with_game!(title, G => reel(G::default(), bytes));
    reel.map_err(|error| unreadable(&error))
}

/// As much of it as is good: a program that was killed leaves its replay without an end.
fn reel<G: Stage>(game: G, bytes: Vec<u8>) -> Result<Box<dyn MatchScreen>, String> {
    let moments = Moments::new(&game);
    let replay = Replay::salvage(game, bytes).map_err(|error| error.to_string())?;
    let (at, now) = (f64::from(*replay.ticks().start()), Instant::now());
    let (speed, paused) = (USUAL, false);
    Ok(Box::new(ReplayScreen { replay, moments, at, speed, paused, began: now, looked: now }))
}

impl<G: Stage> ReplayScreen<G> {
    fn ends(&self) -> (f64, f64) {
        let (first, last) = self.replay.ticks().into_inner();
        (first.into(), last.into())
    }

    fn rate(&self) -> f64 {
        f64::from(self.replay.header().tick_rate)
    }

    fn arena(&mut self) -> Arena {
        let now = Time::ZERO + self.began.elapsed();
        let at = self.at;
        let game = self.replay.game().clone();
        let roster = self.replay.roster_at(at as u32);
        // Who played alone is looked at over the shoulder.
        let own = match roster {
            [alone] => Some(alone.player),
            _ => None,
        };
        let names = Names(roster.iter().map(|it| (it.player, it.name.to_string())).collect());
        self.moments.draw(&game, now, own, |frame| self.replay.draw(at, frame));
        let state = self.replay.seek(at as u32);
        let sight = self.moments.sight();
        let standing = game.progress(state, sight.world);
        let sides = side_names(G::SIDES, &names, &standing);
        let hud = game.hud(&sight, &names);
        let chat = self.moments.chat(now, &names, ChatShown::Lately);
        Arena {
            scene: self.moments.scene(&game, now),
            sides: sides.into_iter().zip(standing.points.iter().copied()).collect(),
            hud,
            status: self.status(),
            banner: self.banner().or_else(|| game.banner(&sight)),
            chat,
            controls: G::CONTROLS,
            ..Arena::default()
        }
    }

    fn banner(&self) -> Option<Banner> {
        let is_over = self.at >= self.ends().1;
        is_over.then(|| Banner { large: String::new(), text: vec!["The end of the replay".into()] })
    }

    /// Where it is, and how fast it goes.
    fn status(&self) -> Vec<Cell> {
        let (first, last) = self.ends();
        let clock = |ticks: f64| {
            let seconds = (ticks / self.rate()).max(0.0) as u64;
            format!("{}:{:02}", seconds / 60, seconds % 60)
        };
        let when = format!("{} / {}", clock(self.at - first), clock(last - first));
        let mut cells = vec![Cell::new("replay", Tone::Dim), Cell::new(when, Tone::Bright)];
        if self.speed != USUAL {
            cells.push(Cell::new(format!("x{}", SPEEDS[self.speed]), Tone::Fair));
        }
        if self.paused {
            cells.push(Cell::new("paused", Tone::Fair));
        }
        cells
    }
}

impl<G: Stage> MatchScreen for ReplayScreen<G> {
    fn look(&mut self, _held: Held) -> Option<String> {
        let passed = self.looked.elapsed().as_secs_f64();
        self.looked = Instant::now();
        let before = self.at;
        if !self.paused {
            let (_, last) = self.ends();
            self.at = (self.at + passed * self.rate() * SPEEDS[self.speed]).min(last);
        }
        let now = Time::ZERO + self.began.elapsed();
        let game = self.replay.game();
        for (_, event) in self.replay.events_between(before, self.at) {
            self.moments.hear(game, now, event);
        }
        None
    }

    /// From the end it begins again.
    fn pause(&mut self) {
        let (first, last) = self.ends();
        if self.at >= last {
            (self.at, self.paused) = (first, false);
        } else {
            self.paused = !self.paused;
        }
    }

    /// Up is faster.
    fn step(&mut self, step: Step) {
        if let Step::By(lines) = step {
            let most = SPEEDS.len() as isize - 1;
            self.speed = (self.speed as isize - lines).clamp(0, most) as usize;
        }
    }

    fn seek(&mut self, steps: isize) {
        let (first, last) = self.ends();
        self.at = (self.at + steps as f64 * STEP * self.rate()).clamp(first, last);
    }

    fn choose(&mut self) -> Chosen {
        self.pause();
        Chosen::Stay
    }

    fn page(&mut self, _settings: &Settings, _overlay: bool) -> Page {
        Page::Arena(Box::new(self.arena()))
    }

    fn hint(&self, _keys: &Bindings) -> String {
        "P: pause   left/right: 5 s   up/down: speed   Esc: leave".into()
    }

    fn take_cues(&mut self) -> Vec<Cue> {
        self.moments.take_cues()
    }
}
