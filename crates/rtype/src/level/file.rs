//! From a file's text to a level: the form is the reader's to check, the sense is checked here.

use serde::Deserialize;
use toml::Spanned;

use super::{BossPlan, Course, Fault, Fire, Formation, Level, LevelError, Side, Spawn, Stage};
use crate::enemy::Species;
use crate::power_up::Bonus;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    name: Spanned<String>,
    scroll: Spanned<i64>,
    threat: Spanned<i64>,
    #[serde(default)]
    wave: Vec<Spanned<Wave>>,
    boss: Spanned<Boss>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wave {
    at: Spanned<i64>,
    enemy: Species,
    count: Spanned<i64>,
    formation: Formation,
    y: Spanned<i64>,
    spacing: Spanned<i64>,
    #[serde(default)]
    side: Side,
    drops: Option<Bonus>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Boss {
    health: Spanned<i64>,
    points: Spanned<i64>,
    look: Spanned<i64>,
    #[serde(default)]
    stage: Vec<BossStage>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BossStage {
    below: Spanned<i64>,
    #[serde(rename = "move")]
    course: Course,
    speed: Spanned<i64>,
    fire: Fire,
    every: Spanned<i64>,
}

pub(super) fn read(text: &str) -> Result<Level, LevelError> {
    let lines = Lines { text };
    let file: File = toml::from_str(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        lines.error(at, Fault::Form(error.message().to_owned()))
    })?;
    let name = file.name.as_ref();
    if name.is_empty() || name.chars().count() > 24 {
        return Err(lines.error(file.name.span().start, Fault::Name));
    }
    let scroll = lines.ranged("scroll", &file.scroll, 10, 200)?;
    let threat = lines.ranged("threat", &file.threat, 20, 400)?;
    let spawns = lines.spawns(&file.wave, scroll)?;
    let boss = lines.boss(&file.boss)?;
    let waves = file.wave.len() as u8;
    Ok(Level { name: name.clone(), scroll, threat, waves, spawns, boss })
}

/// The text, to find lines in.
struct Lines<'a> {
    text: &'a str,
}

impl Lines<'_> {
    fn error(&self, at: usize, fault: Fault) -> LevelError {
        let before = &self.text.as_bytes()[..at.min(self.text.len())];
        let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
        LevelError { line, fault }
    }

    fn ranged(
        &self,
        field: &'static str,
        value: &Spanned<i64>,
        least: i64,
        most: i64,
    ) -> Result<i32, LevelError> {
        match *value.as_ref() {
            // Every range given here fits.
            found if (least..=most).contains(&found) => Ok(found as i32),
            found => {
                let fault = Fault::OutOfRange { field, found, least, most };
                Err(self.error(value.span().start, fault))
            }
        }
    }

    fn spawns(&self, waves: &[Spanned<Wave>], scroll: i32) -> Result<Vec<Spawn>, LevelError> {
        if waves.is_empty() {
            return Err(self.error(0, Fault::NoWaves));
        }
        let (mut spawns, mut before) = (Vec::new(), 0);
        for (index, wave) in waves.iter().enumerate() {
            if index == Level::WAVE_LIMIT {
                return Err(self.error(wave.span().start, Fault::TooManyWaves));
            }
            let at = self.ranged("at", &wave.as_ref().at, 0, 100_000)?;
            if at < before {
                let fault = Fault::WaveOrder { before: before.into() };
                return Err(self.error(wave.as_ref().at.span().start, fault));
            }
            before = at;
            let first = (at * 60 / scroll) as u32;
            self.wave(wave, index as u8 + 1, first, &mut spawns)?;
        }
        // Stable, so those of the same tick come in the file's order.
        spawns.sort_by_key(|spawn: &Spawn| spawn.tick);
        Ok(spawns)
    }

    fn wave(
        &self,
        wave: &Spanned<Wave>,
        number: u8,
        first: u32,
        spawns: &mut Vec<Spawn>,
    ) -> Result<(), LevelError> {
        let start = wave.span().start;
        let wave = wave.as_ref();
        let count = self.ranged("count", &wave.count, 1, Level::COUNT_LIMIT)?;
        let y = self.ranged("y", &wave.y, 0, 600)?;
        let spacing = self.ranged("spacing", &wave.spacing, 20, 300)?;
        if wave.side == Side::Left && matches!(wave.enemy, Species::Turret | Species::Carrier) {
            return Err(self.error(start, Fault::NotFromLeft));
        }
        // So long it takes to fly the distance between two.
        let gap = (spacing * 16 / wave.enemy.traits().speed) as u32;
        for member in 0..count {
            let off = 2 * member - (count - 1);
            let (wait, dy) = match wave.formation {
                Formation::Line => (member as u32 * gap, 0),
                Formation::Column => (0, off * spacing / 2),
                Formation::Vee => (off.unsigned_abs() * gap / 2, off * spacing / 2),
                Formation::Echelon => (member as u32 * gap, off * spacing / 2),
            };
            if !(0..=600).contains(&(y + dy)) {
                let fault = Fault::DoesNotFit { y: (y + dy).into() };
                return Err(self.error(wave.y.span().start, fault));
            }
            let drops = wave.drops.filter(|_| member == count - 1);
            let (species, side, tick) = (wave.enemy, wave.side, first + wait);
            spawns.push(Spawn { tick, species, y: y + dy, side, drops, wave: number });
        }
        Ok(())
    }

    fn boss(&self, boss: &Spanned<Boss>) -> Result<BossPlan, LevelError> {
        let start = boss.span().start;
        let boss = boss.as_ref();
        let health = self.ranged("health", &boss.health, 10, 2_000)?;
        let points = self.ranged("points", &boss.points, 0, 100_000)?;
        let look = self.ranged("look", &boss.look, 1, 3)? as u8;
        if !(1..=Level::STAGE_LIMIT).contains(&boss.stage.len()) {
            return Err(self.error(start, Fault::Stages));
        }
        let (mut stages, mut before) = (Vec::new(), 101);
        for stage in &boss.stage {
            let below = self.ranged("below", &stage.below, 1, 100)?;
            let at = stage.below.span().start;
            if stages.is_empty() && below != 100 {
                return Err(self.error(at, Fault::FirstStage));
            }
            if below >= before {
                return Err(self.error(at, Fault::StageOrder { before: before.into() }));
            }
            before = below;
            stages.push(Stage {
                below,
                course: stage.course,
                speed: self.ranged("speed", &stage.speed, 30, 300)?,
                fire: stage.fire,
                every: self.ranged("every", &stage.every, 10, 600)? as u32,
            });
        }
        Ok(BossPlan { health, points, look, stages })
    }
}
