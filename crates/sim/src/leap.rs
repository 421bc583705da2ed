//! What leapt in truth: rules that put a ball back in front of a paddle, say. To show that is no
//! fault of the drawing.

use std::time::Duration;

use backspin::replication::{Entity, Schema, State};
use backspin::time::Time;

/// Something that moves further than this beyond its own motion leaps.
pub(super) const JUMP_PX: f32 = 4.0;

/// A player sees a leap at most so much earlier or later than it happens.
const WITHIN: Duration = Duration::from_millis(600);

/// Where something is, and how fast it says it moves.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spot {
    pub(super) id: u32,
    pub(super) at: [f32; 2],
    pub(super) speed: f32,
    /// When it was said to be so fast.
    pub(super) said: Time,
}

impl Spot {
    /// This spot, after `last`. A thing that stops is drawn up to where it stands with no velocity, but
    /// on the way there it is as fast as it was a tick ago.
    pub(super) fn after(self, last: &Spot, tick_ms: f64) -> Spot {
        let is_slowing = self.said.since(last.said).as_secs_f64() * 1e3 < 1.5 * tick_ms;
        match is_slowing && last.speed > self.speed {
            true => Spot { speed: last.speed, said: last.said, ..self },
            false => self,
        }
    }

    /// Whether it is further from where it was than its speed carries it in `time`, where a pixel is worth
    /// so much.
    pub(super) fn leapt(&self, before: &[Spot], time: f32, pixel: f32) -> bool {
        let before = before.iter().find(|before| before.id == self.id);
        before.is_some_and(|before| {
            let own_motion = before.speed.max(self.speed) * time;
            distance(before.at, self.at) > own_motion + JUMP_PX * pixel
        })
    }
}

/// The leaps of a match.
#[derive(Debug, Default)]
pub(super) struct Leaps {
    tick: u32,
    places: Vec<Spot>,
    leaps: Vec<(Time, u32)>,
}

impl Leaps {
    /// Looks at the true state.
    pub(super) fn look(&mut self, now: Time, schema: &Schema, state: &State) {
        let ticks = state.tick.wrapping_sub(std::mem::replace(&mut self.tick, state.tick));
        let spot = |entity: &Entity| {
            let kind = schema.kinds.get(usize::from(entity.kind))?;
            let (at, [x, y]) = kind.place(&kind.values(entity))?;
            Some(Spot { id: entity.id, at, speed: (x * x + y * y).sqrt(), said: now })
        };
        let places: Vec<Spot> = state.entities().iter().filter_map(spot).collect();
        let pixel = schema.pixel.value();
        let leapt = places.iter().filter(|spot| spot.leapt(&self.places, ticks as f32, pixel));
        self.leaps.extend(leapt.map(|spot| (now, spot.id)));
        self.places = places;
    }

    /// Whether the thing leapt in truth about when it was seen to.
    pub(super) fn explain(&self, (at, id): (Time, u32)) -> bool {
        self.leaps
            .iter()
            .any(|(leapt, thing)| *thing == id && at.since(*leapt).max(leapt.since(at)) < WITHIN)
    }
}

pub(super) fn distance(a: [f32; 2], b: [f32; 2]) -> f32 {
    ((a[0] - b[0]).powi(2) + (a[1] - b[1]).powi(2)).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dot::{Dot, Dots, World};
    use backspin::game::{Game, PlayerId};

    fn state(tick: u32, x: i32) -> State {
        let dot = Dot { player: PlayerId(1), x, y: 100, moved: (5, 0) };
        let mut world = World::default();
        world.dots.push(dot);
        let mut state = State::new(tick);
        Dots::default().capture(&world, &mut state);
        state
    }

    #[test]
    fn what_stops_is_as_fast_as_it_was_for_a_tick_and_a_leap_later_is_a_leap() {
        let spot = |ms, x: f32, speed: f32| Spot {
            id: 1,
            at: [x, 0.0],
            speed,
            said: Time::from_millis(ms),
        };
        let flies = spot(0, 0.0, 0.5);
        let stops = spot(16, 8.0, 0.0).after(&flies, 16.7);
        let stands = spot(33, 12.5, 0.0).after(&stops, 16.7);
        assert!(!stands.leapt(&[stops], 16.7, 1.0));
        assert!(spot(50, 17.0, 0.0).after(&stands, 16.7).leapt(&[stands], 16.7, 1.0));
        // Where a pixel is a twentieth of a metre, a quarter of one is a leap.
        assert!(!stands.leapt(&[spot(33, 12.4, 0.0)], 16.7, 0.05));
        assert!(stands.leapt(&[spot(33, 12.2, 0.0)], 16.7, 0.05));
    }

    #[test]
    fn only_what_really_leapt_and_about_then_is_explained() {
        let (mut leaps, schema) = (Leaps::default(), Dots::default().schema());
        for (tick, x) in [(1, 100), (2, 105), (3, 119), (4, 133), (5, 142)] {
            let now = Time::from_millis(u64::from(tick) * 1_000);
            leaps.look(now, schema, &state(tick, x));
        }
        let explained = |ms, id| leaps.explain((Time::from_millis(ms), id));
        assert!(!explained(2_000, 1));
        assert!(explained(3_100, 1) && explained(2_500, 1));
        assert!(!explained(3_100, 2));
        // Nine pixels are within what its speed and a glance allow.
        assert!(!explained(5_000, 1));
    }
}
