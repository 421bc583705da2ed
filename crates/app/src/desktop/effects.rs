//! Effects in a match: sparks, flashes, the ball's trail, screen shake.
//!
//! They follow from what is on the screen and never change the game.

use std::collections::VecDeque;
use std::time::Duration;

use macroquad::color::Color;
use macroquad::math::{Vec2, vec2};

use super::brush::Brush;
use super::colour::{self, Paint, WHITE, faint};
use crate::screen::{Arena, Burst, BurstKind, Flashing, Look, Scene};

/// More sparks than this are not told apart.
const MAX_SPARKS: usize = 900;

/// How long the ball's trail is, in seconds.
const TRAIL_S: f32 = 0.28;

/// From one piece of it to the next, in units.
const TRAIL_STEP: f32 = 9.0;

/// A ball that moves faster than this, in units per second, was served again.
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

/// Light that opens and fades.
#[derive(Clone, Copy, Debug)]
struct Flash {
    at: Vec2,
    radius: f32,
    age: f32,
    life: f32,
    colour: Color,
}

/// How something bursts.
#[derive(Clone, Copy, Debug)]
struct Charge {
    sparks: usize,
    speed: f32,
    colour: Color,
    /// Of the light.
    radius: f32,
    life: f32,
    shake: f32,
}

#[derive(Debug, Default)]
pub(super) struct Effects {
    sparks: Vec<Spark>,
    flashes: Vec<Flash>,
    trail: VecDeque<(Vec2, f32)>,
    ball: Option<Vec2>,
    points: u32,
    /// The newest burst that was seen.
    seen: Option<u32>,
    shake: f32,
    dice: Dice,
}

impl Effects {
    /// Goes on by `span`, with what is seen now.
    pub(super) fn follow(&mut self, arena: &Arena, paint: Paint, span: Duration) {
        let span = span.as_secs_f32().min(0.1);
        self.age(span);
        let scene = &arena.scene;
        for burst in &scene.bursts {
            if self.seen.is_none_or(|seen| burst.number > seen) {
                self.seen = Some(burst.number);
                self.burst(burst, scene, paint);
            }
        }
        let points = arena.sides.iter().map(|(_, points)| u32::from(*points)).sum();
        if points > self.points
            && let Some(ball) = self.ball
        {
            // The point is that of the other side.
            let colour = paint.side(scene.own_side(), ball.x >= scene.width / 2.0);
            let at = vec2(ball.x.clamp(0.0, scene.width), ball.y);
            let charge =
                Charge { sparks: 110, speed: 900.0, colour, radius: 170.0, life: 0.5, shake: 14.0 };
            self.explode(at, charge);
        }
        self.points = points;
        self.chase(scene, span);
    }

    /// By how much the screen is shaken, in units of the canvas.
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
    pub(super) fn draw_sparks(&self, brush: &mut Brush, flashing: Flashing) {
        for flash in &self.flashes {
            let part = flash.age / flash.life;
            let left = 1.0 - part;
            let radius = flash.radius * (0.35 + 0.65 * part.sqrt());
            if flashing == Flashing::Reduced {
                brush.glow(flash.at, radius, faint(flash.colour, 0.25 * left));
                continue;
            }
            brush.glow(flash.at, radius, faint(flash.colour, 0.8 * left));
            // Its heart is gone before the eye has seen it.
            let heart = (1.0 - part * 3.0).max(0.0);
            brush.disc(flash.at, radius * 0.45, faint(WHITE, 0.8 * heart));
        }
        for spark in &self.sparks {
            let left = 1.0 - spark.age / spark.life;
            let tail = spark.at - spark.speed * 0.02;
            brush.line(tail, spark.at, spark.size * left, faint(spark.colour, left));
        }
    }

    fn age(&mut self, span: f32) {
        self.shake *= SHAKE_LEFT.powf(span);
        let slower = 0.08_f32.powf(span);
        for spark in &mut self.sparks {
            spark.age += span;
            spark.at += spark.speed * span;
            spark.speed *= slower;
        }
        self.sparks.retain(|spark| spark.age < spark.life);
        self.flashes.iter_mut().for_each(|flash| flash.age += span);
        self.flashes.retain(|flash| flash.age < flash.life);
        self.trail.iter_mut().for_each(|(_, age)| *age += span);
        while self.trail.front().is_some_and(|(_, age)| *age >= TRAIL_S) {
            self.trail.pop_front();
        }
    }

    /// The ball leaves a trail, but not where it is served.
    fn chase(&mut self, scene: &Scene, span: f32) {
        let ball = scene.things.iter().find(|thing| thing.look == Look::Ball);
        let at = ball.map(|it| vec2(it.x + it.width / 2.0, it.y + it.height / 2.0));
        match (self.ball, at) {
            (Some(before), Some(at)) if before.distance(at) <= LEAP * span => {
                // As dense at every frame rate.
                let steps = (before.distance(at) / TRAIL_STEP).ceil();
                for step in 1..=steps as u32 {
                    let part = step as f32 / steps;
                    self.trail.push_back((before.lerp(at, part), span * (1.0 - part)));
                }
            }
            _ => self.trail.clear(),
        }
        self.ball = at;
    }

    fn burst(&mut self, burst: &Burst, scene: &Scene, paint: Paint) {
        let at = vec2(burst.x, burst.y);
        // Fields are of different size; what bursts is to look the same.
        let unit = scene.height / 900.0;
        let charge = |sparks, speed: f32, colour, radius: f32, life, shake| Charge {
            sparks,
            speed: speed * unit,
            colour,
            radius: radius * unit,
            life,
            shake,
        };
        let side = paint.side(scene.own_side(), burst.x < scene.width / 2.0);
        self.explode(
            at,
            match burst.kind {
                BurstKind::Spark => charge(6, 420.0, colour::FLAME, 26.0, 0.15, 0.0),
                BurstKind::Bounce => charge(22, 560.0, side, 70.0, 0.22, 3.0),
                BurstKind::Taken => charge(24, 340.0, paint.own(), 90.0, 0.4, 0.0),
                BurstKind::Enemy => charge(34, 620.0, colour::FLAME, 110.0, 0.4, 3.0),
                BurstKind::Ship => charge(90, 800.0, WHITE, 220.0, 0.7, 14.0),
                BurstKind::Boss => charge(220, 1_200.0, colour::FLAME, 520.0, 1.2, 22.0),
            },
        );
    }

    fn explode(&mut self, at: Vec2, charge: Charge) {
        let Charge { colour, radius, life, .. } = charge;
        self.shake = self.shake.max(charge.shake);
        self.flashes.push(Flash { at, radius, age: 0.0, life, colour });
        let room = MAX_SPARKS - self.sparks.len().min(MAX_SPARKS);
        for _ in 0..charge.sparks.min(room) {
            let angle = self.dice.roll() * std::f32::consts::TAU;
            let fast = charge.speed * (0.1 + 0.9 * self.dice.roll());
            let hot = self.dice.roll();
            self.sparks.push(Spark {
                at,
                speed: Vec2::from_angle(angle) * fast,
                age: 0.0,
                life: 0.2 + 0.5 * self.dice.roll(),
                size: (1.5 + 3.0 * self.dice.roll()) * (charge.speed / 600.0).clamp(0.6, 1.6),
                colour: colour::between(colour, WHITE, hot * hot * 0.8),
            });
        }
    }
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
    use crate::desktop::draw::sample;
    use crate::screen::Palette;

    const PAINT: Paint = Paint(Palette::Usual);
    const FRAME: Duration = Duration::from_millis(16);

    fn with_bursts(numbers: impl IntoIterator<Item = u32>) -> Arena {
        let mut arena = sample::pong(80.0, 400.0, 0);
        let burst = |number| Burst { number, kind: BurstKind::Boss, x: 5.0, y: 5.0, age: 0.0 };
        arena.scene.bursts = numbers.into_iter().map(burst).collect();
        arena
    }

    #[test]
    fn a_burst_throws_sparks_once_and_they_go_out() {
        let mut effects = Effects::default();
        effects.follow(&with_bursts([0]), PAINT, FRAME);
        let count = effects.sparks.len();
        assert!(count > 0 && effects.shake() != Vec2::ZERO);
        effects.follow(&with_bursts([0]), PAINT, FRAME);
        assert_eq!(effects.sparks.len(), count);
        for _ in 0..100 {
            effects.follow(&with_bursts([0]), PAINT, FRAME);
        }
        assert!(effects.sparks.is_empty() && effects.flashes.is_empty());
        assert_eq!(effects.shake(), Vec2::ZERO);
    }

    #[test]
    fn there_are_never_more_sparks_than_the_limit() {
        let mut effects = Effects::default();
        effects.follow(&with_bursts(0..40), PAINT, FRAME);
        assert_eq!(effects.sparks.len(), MAX_SPARKS);
    }

    #[test]
    fn a_ball_leaves_a_trail_but_not_across_the_field_when_it_is_served() {
        let mut effects = Effects::default();
        for x in [40.0, 30.0, 20.0] {
            effects.follow(&sample::pong(x, 400.0, 0), PAINT, FRAME);
        }
        assert_eq!(effects.trail.len(), 4);
        effects.follow(&sample::pong(710.0, 440.0, 1), PAINT, FRAME);
        assert!(effects.trail.is_empty());
        assert!(effects.sparks.len() > 50, "a point is a burst");
    }
}
