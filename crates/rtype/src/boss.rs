//! What waits at the end of a level. How it flies and fires follows its health, by the level's
//! [`BossPlan`].

use crate::level::{BossPlan, Course, Fire, Stage};
use crate::space::{FIELD, Moving, PX, Size};

/// A boss in the field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Boss {
    /// How it looks, 1 to 3.
    pub look: u8,
    /// Where.
    pub at: Moving,
    /// What is left of it.
    pub health: i32,
    /// What it began with.
    pub full: i32,
    /// The stage of its plan, from 0.
    pub stage: u8,
    /// What the server knows of it.
    pub(crate) mind: BossMind,
}

/// What a boss is up to: not sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct BossMind {
    age: u32,
    reload: u32,
    has_arrived: bool,
}

impl Boss {
    /// Its id: there is only one.
    pub const ID: u32 = 26;

    /// How large it is.
    pub const SIZE: Size = Size::px(110, 130);

    /// The most health that one can have: of four ships' boss on hard.
    pub const HEALTH_LIMIT: i32 = 16_383;

    /// What each point of its health is worth.
    pub const POINTS: i32 = 5;

    const ENTRY_SPEED: i32 = -2 * PX;
    const REST_X: i32 = 830 * PX;
    const NEAR_X: i32 = 560 * PX;
    const CHARGE_X: i32 = 60 * PX;
    const CHARGE_EVERY: u32 = 300;
    const TOP: i32 = 30 * PX;
    const BOTTOM: i32 = FIELD.h - Boss::SIZE.h - 30 * PX;

    /// A boss that comes in from the right.
    pub(crate) fn new(plan: &BossPlan, health: i32) -> Self {
        let full = health.clamp(1, Boss::HEALTH_LIMIT);
        let at =
            Moving { x: FIELD.w, y: (FIELD.h - Boss::SIZE.h) / 2, vx: Boss::ENTRY_SPEED, vy: 0 };
        Boss { look: plan.look, at, health: full, full, stage: 0, mind: BossMind::default() }
    }

    /// The stage that its health has brought it to.
    pub(crate) fn due_stage(&self, plan: &BossPlan) -> u8 {
        let reached = |stage: &Stage| self.health * 100 <= stage.below * self.full;
        plan.stages.iter().rposition(reached).unwrap_or(0) as u8
    }

    /// Decides how it flies on, and whether it fires now. `reload` is how many percent of the
    /// plan's time it takes.
    pub(crate) fn think(&mut self, plan: &BossPlan, reload: i32) -> Option<Fire> {
        if !self.mind.has_arrived {
            self.mind.has_arrived = self.at.x <= Boss::REST_X;
            return None;
        }
        let stage = plan.stages.get(usize::from(self.stage))?;
        self.mind.age += 1;
        self.steer(stage);
        if self.mind.reload > 0 {
            self.mind.reload -= 1;
            return None;
        }
        self.mind.reload = crate::difficulty::percent(stage.every as i32, reload) as u32;
        Some(stage.fire)
    }

    fn steer(&mut self, stage: &Stage) {
        // Counts of 1/16 px a tick.
        let speed = stage.speed * PX / 60;
        let at = &mut self.at;
        match stage.course {
            Course::Hover => {
                at.vx = if at.x < Boss::REST_X - speed { speed } else { 0 };
                hover(at, speed);
            }
            Course::Sweep => {
                let turns = at.vx == 0 || at.x >= Boss::REST_X;
                if at.x <= Boss::NEAR_X {
                    at.vx = speed / 2;
                } else if turns {
                    at.vx = -speed / 2;
                }
                hover(at, speed);
            }
            Course::Charge => {
                if at.vx < 0 && at.x <= Boss::CHARGE_X {
                    at.vx = 2 * speed;
                } else if at.vx > 0 && at.x >= Boss::REST_X - 2 * speed {
                    at.vx = 0;
                } else if at.vx == 0 && self.mind.age.is_multiple_of(Boss::CHARGE_EVERY) {
                    (at.vx, at.vy) = (-4 * speed, 0);
                }
                if at.vx == 0 {
                    hover(at, speed);
                }
            }
        }
    }
}

/// Up and down.
fn hover(at: &mut Moving, speed: i32) {
    at.vy = match at.y {
        y if y <= Boss::TOP => speed,
        y if y >= Boss::BOTTOM => -speed,
        _ if at.vy < 0 => -speed,
        _ => speed,
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::level::Level;

    fn plan(course: Course) -> BossPlan {
        let stage = Stage { below: 100, course, speed: 120, fire: Fire::Ring, every: 60 };
        let second = Stage { below: 40, ..stage };
        BossPlan { health: 100, points: 1, look: 1, stages: vec![stage, second] }
    }

    #[test]
    fn it_comes_in_before_it_fires_and_stays_in_the_field() {
        for course in [Course::Hover, Course::Sweep, Course::Charge] {
            let plan = plan(course);
            let mut boss = Boss::new(&plan, plan.health);
            let (mut fired, mut leftmost) = (0, i32::MAX);
            for tick in 0..3_000 {
                boss.at.go();
                let fire = boss.think(&plan, 100);
                assert!(fire.is_none() || tick > 80, "{course:?}: fires in {tick}");
                fired += i32::from(fire.is_some());
                leftmost = leftmost.min(boss.at.x);
                assert!((0..=FIELD.h - Boss::SIZE.h).contains(&boss.at.y), "{:?}", boss.at);
                assert!((0..=FIELD.w).contains(&boss.at.x), "{:?}", boss.at);
            }
            assert!((45..=50).contains(&fired), "{course:?}: {fired}");
            assert_eq!(leftmost < 100 * PX, course == Course::Charge, "{course:?}");
        }
    }

    #[test]
    fn its_stage_follows_its_health() {
        let plan = plan(Course::Hover);
        let mut boss = Boss::new(&plan, 200);
        for (health, stage) in [(200, 0), (81, 0), (80, 1), (1, 1), (-5, 1)] {
            boss.health = health;
            assert_eq!(boss.due_stage(&plan), stage, "{health}");
        }
    }

    #[test]
    fn a_boss_of_every_level_fits_its_field() {
        for level in Level::built_in().iter() {
            let boss = Boss::new(&level.boss, i32::MAX);
            assert_eq!(boss.full, Boss::HEALTH_LIMIT);
        }
    }
}
