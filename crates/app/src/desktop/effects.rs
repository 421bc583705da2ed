//! What flies about in a match: sparks, the ball's trail, a shaken screen.
//!
//! It is made of what is seen: a ball that turns round has met something. Nothing here has any part
//! in the game.

use std::collections::VecDeque;
use std::time::Duration;

use macroquad::color::Color;
use macroquad::math::{Rect, Vec2, vec2};

use super::brush::Brush;
use super::colour::{Paint, WHITE, faint};
use crate::screen::{Arena, Look, Thing};

/// More sparks than this are not told apart.
const MAX_SPARKS: usize = 600;

/// How long the ball's trail is, in seconds.
const TRAIL_S: f32 = 0.28;

/// A ball that moves faster than this, in units a second, was served anew.
const LEAP: f32 = 4_000.0;

/// How much of a shake is left after a second.
const SHAKE_LEFT: f32 = 0.002;

/// A spark in the field's own unit.
#[derive(Clone, Copy, Debug)]
struct Spark {
    at: Vec2,
    speed: Vec2,
    age: f32,
    life: f32,
    size: f32,
    colour: Color,
}

/// How sparks fly.
#[derive(Clone, Copy, Debug)]
struct Burst {
    count: usize,
    /// In which direction, and how far to its sides in radians.
    towards: Vec2,
    spread: f32,
    speed: f32,
    colour: Color,
}

#[derive(Debug, Default)]
pub(super) struct Effects {
    sparks: Vec<Spark>,
    trail: VecDeque<(Vec2, f32)>,
    ball: Option<Ball>,
    points: u32,
    shake: f32,
    dice: Dice,
}

#[derive(Clone, Copy, Debug)]
struct Ball {
    at: Vec2,
    speed: Vec2,
}

impl Effects {
    /// Goes on by `span`, with what is seen now.
    pub(super) fn follow(&mut self, arena: &Arena, paint: Paint, span: Duration) {
        let span = span.as_secs_f32().min(0.1);
        self.age(span);
        if arena.dialog.is_some() {
            return;
        }
        let points = arena.sides.iter().map(|(_, points)| u32::from(*points)).sum();
        if points > self.points
            && let Some(ball) = self.ball
        {
            self.goal(ball.at, arena.scene.width, paint);
        }
        self.points = points;
        let things = &arena.scene.things;
        let ball = things.iter().find(|thing| thing.look == Look::Ball);
        match ball {
            Some(ball) if span > 0.0 => self.watch(ball, things, paint, span),
            Some(_) => {}
            None => (self.ball, self.trail) = (None, VecDeque::new()),
        }
    }

    /// By how much the screen is shaken, in units.
    pub(super) fn shake(&mut self) -> Vec2 {
        if self.shake < 0.3 {
            return Vec2::ZERO;
        }
        vec2(self.dice.roll() - 0.5, self.dice.roll() - 0.5) * 2.0 * self.shake
    }

    /// Draws what is behind the things.
    pub(super) fn draw_trail(&self, brush: &mut Brush, size: f32, paint: Paint) {
        for (at, age) in &self.trail {
            let left = 1.0 - age / TRAIL_S;
            let radius = size / 2.0 * (0.3 + 0.7 * left);
            brush.disc(*at, radius, faint(paint.own(), 0.30 * left * left));
        }
    }

    /// Draws what is before them.
    pub(super) fn draw_sparks(&self, brush: &mut Brush) {
        for spark in &self.sparks {
            let left = 1.0 - spark.age / spark.life;
            let tail = spark.at - spark.speed * 0.02;
            brush.line(tail, spark.at, spark.size * left, faint(spark.colour, left));
        }
    }

    fn age(&mut self, span: f32) {
        self.shake *= SHAKE_LEFT.powf(span);
        for spark in &mut self.sparks {
            spark.age += span;
            spark.at += spark.speed * span;
            spark.speed *= 0.08_f32.powf(span);
        }
        self.sparks.retain(|spark| spark.age < spark.life);
        self.trail.iter_mut().for_each(|(_, age)| *age += span);
        while self.trail.front().is_some_and(|(_, age)| *age >= TRAIL_S) {
            self.trail.pop_front();
        }
    }

    fn watch(&mut self, ball: &Thing, things: &[Thing], paint: Paint, span: f32) {
        let at = vec2(ball.x + ball.width / 2.0, ball.y + ball.height / 2.0);
        let Some(before) = self.ball else {
            self.ball = Some(Ball { at, speed: Vec2::ZERO });
            return;
        };
        let speed = (at - before.at) / span;
        if speed.length() > LEAP {
            self.trail.clear();
            self.ball = Some(Ball { at, speed: Vec2::ZERO });
            return;
        }
        let turned = |now: f32, then: f32| now * then < 0.0 && now.abs().min(then.abs()) > 30.0;
        if turned(speed.x, before.speed.x) {
            let near = things.iter().filter(|it| it.look != Look::Ball && it.look != Look::Net);
            let distance = |it: &&Thing| ((it.x + it.width / 2.0 - at.x).abs() * 10.0) as i32;
            let colour = near.min_by_key(distance).map_or(WHITE, |it| paint.look(it.look));
            let towards = vec2(speed.x.signum(), 0.0);
            self.burst(before.at, Burst { count: 26, towards, spread: 1.1, speed: 620.0, colour });
            self.shake = self.shake.max(4.0);
        } else if turned(speed.y, before.speed.y) {
            let towards = vec2(0.0, speed.y.signum());
            let colour = paint.own();
            self.burst(before.at, Burst { count: 9, towards, spread: 1.3, speed: 360.0, colour });
        }
        if speed.length() > 1.0 {
            self.trail.push_back((at, 0.0));
        }
        self.ball = Some(Ball { at, speed });
    }

    fn goal(&mut self, at: Vec2, width: f32, paint: Paint) {
        let left = at.x < width / 2.0;
        let at = vec2(at.x.clamp(0.0, width), at.y);
        let (x, colour) = if left { (1.0, paint.other()) } else { (-1.0, paint.own()) };
        let towards = vec2(x, 0.0);
        self.burst(at, Burst { count: 90, towards, spread: 1.5, speed: 1_100.0, colour });
        self.shake = 14.0;
    }

    fn burst(&mut self, at: Vec2, burst: Burst) {
        let room = MAX_SPARKS - self.sparks.len().min(MAX_SPARKS);
        for _ in 0..burst.count.min(room) {
            let angle = (self.dice.roll() * 2.0 - 1.0) * burst.spread;
            let fast = burst.speed * (0.15 + 0.85 * self.dice.roll());
            self.sparks.push(Spark {
                at,
                speed: Vec2::from_angle(angle).rotate(burst.towards) * fast,
                age: 0.0,
                life: 0.25 + 0.5 * self.dice.roll(),
                size: 3.0 + 5.0 * self.dice.roll(),
                colour: burst.colour,
            });
        }
    }
}

/// Light around a paddle.
pub(super) fn paddle(brush: &mut Brush, area: Rect, colour: Color) {
    brush.halo(area, 26.0, faint(colour, 0.35));
    brush.rect(area, colour);
    let shine = Rect::new(area.x + area.w * 0.3, area.y + 6.0, area.w * 0.4, area.h - 12.0);
    brush.rect(shine, faint(WHITE, 0.55));
}

/// A generator of its own: how sparks fly decides nothing.
#[derive(Debug)]
struct Dice(u32);

impl Default for Dice {
    fn default() -> Self {
        Dice(0x2545_F491)
    }
}

impl Dice {
    /// From 0 to 1.
    fn roll(&mut self) -> f32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 17;
        self.0 ^= self.0 << 5;
        self.0 as f32 / u32::MAX as f32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::screen::{Palette, Scene};

    const PAINT: Paint = Paint(Palette::Usual);
    const FRAME: Duration = Duration::from_millis(16);

    fn arena(x: f32, y: f32, points: u8) -> Arena {
        let thing = |look, x, y, width, height| Thing { look, x, y, width, height };
        let things = vec![
            thing(Look::OwnPaddle, 20.0, 300.0, 20.0, 120.0),
            thing(Look::Ball, x, y, 20.0, 20.0),
        ];
        Arena {
            scene: Scene { width: 1440.0, height: 900.0, things },
            sides: vec![("Ann".into(), 0), ("Ben".into(), points)],
            status: Vec::new(),
            notice: None,
            banner: None,
            dialog: None,
            overlay: None,
            persons: 1,
            flash: false,
        }
    }

    #[test]
    fn a_ball_that_turns_round_throws_sparks_and_shakes() {
        let mut effects = Effects::default();
        for x in [100.0, 90.0, 80.0, 70.0] {
            effects.follow(&arena(x, 400.0, 0), PAINT, FRAME);
        }
        assert!(effects.sparks.is_empty() && effects.trail.len() > 1);
        effects.follow(&arena(80.0, 400.0, 0), PAINT, FRAME);
        assert!(!effects.sparks.is_empty() && effects.shake() != Vec2::ZERO);
        for _ in 0..100 {
            effects.follow(&arena(80.0, 400.0, 0), PAINT, FRAME);
        }
        assert!(effects.sparks.is_empty() && effects.shake() == Vec2::ZERO);
        assert!(effects.trail.is_empty());
    }

    #[test]
    fn a_point_is_a_burst_and_a_served_ball_leaves_no_trail_across_the_field() {
        let mut effects = Effects::default();
        effects.follow(&arena(20.0, 400.0, 0), PAINT, FRAME);
        effects.follow(&arena(10.0, 400.0, 0), PAINT, FRAME);
        effects.follow(&arena(710.0, 440.0, 1), PAINT, FRAME);
        assert!(effects.sparks.len() > 50);
        assert!(effects.trail.is_empty());
    }

    #[test]
    fn there_are_never_more_sparks_than_the_limit() {
        let mut effects = Effects::default();
        for points in 1..40 {
            effects.follow(&arena(20.0, 400.0, points), PAINT, Duration::from_millis(1));
        }
        assert_eq!(effects.sparks.len(), MAX_SPARKS);
    }
}
