//! Lag compensation: which server time a member had on the screen, as far as it is believed.
//!
//! A client says how far behind its inputs it draws the others, and contacts are judged at that
//! time. Whoever could choose it would step out of the way of every shot, so it is held to what the
//! round trip allows, and moves with the ticks: at 0.9 to 1.1 of their pace.

use std::time::Duration;

use crate::sabotage::{self, Sabotage};
use crate::session::RoundTrip;

/// How much nearer or further the drawn time may come with a tick. A client bends its clocks by up to
/// 5 % each.
const BEND: f32 = 0.1;

/// For so many ticks clocks are found: as far as the round trip allows, the time is the client's to
/// choose.
const FINDING_TICKS: u8 = 64;

/// A client waits for snapshots and sends inputs early by as much as the link's unrest asks for, and
/// by so many ticks for those that get lost.
const UNREST: u32 = 6;
const LOST_TICKS: f32 = 8.0;

/// Past the newest snapshot that it has, a client draws so many ticks on, and the own entity is drawn
/// a tick late.
const PAST_NEWEST_TICKS: u32 = 7;

/// What a room allows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    /// Ticks a second.
    pub(super) rate: u8,
    /// How far the game lets it rewind.
    pub(super) limit_ticks: u32,
}

/// What one member says of its screen, and what is believed of it, in ticks behind its inputs.
#[derive(Clone, Debug, Default)]
pub(super) struct Sight {
    said: Option<f32>,
    believed: Option<f32>,
    /// The furthest that the round trip allows, in ms, once it is measured.
    most_ms: Option<u16>,
    /// Ticks since the member came, up to [`FINDING_TICKS`].
    ticks: u8,
}

impl Sight {
    /// Takes what an input says, in 256ths of a tick.
    pub(super) fn handle(&mut self, back: Option<u16>) {
        if let Some(back) = back {
            self.said = Some(f32::from(back) / 256.0);
        }
    }

    /// The round trip has been measured.
    pub(super) fn measure(&mut self, round_trip: &RoundTrip) {
        let Some(mean) = round_trip.mean() else { return };
        let most = mean + round_trip.jitter().unwrap_or(Duration::ZERO) * UNREST;
        self.most_ms = Some(most.as_millis().min(u16::MAX.into()) as u16);
    }

    /// How many ticks behind its input the member had the others on the screen: once a tick. Its
    /// newest snapshot is `newest` ticks old.
    pub(super) fn take(&mut self, newest: Option<u32>, bounds: Bounds) -> f64 {
        let limit = bounds.limit_ticks as f32;
        if sabotage::is(Sabotage::TimeChosen) {
            return self.said.unwrap_or_default().min(limit).into();
        }
        let least = newest.map_or(0, |ticks| ticks.saturating_sub(PAST_NEWEST_TICKS)) as f32;
        let per_ms = f32::from(bounds.rate) / 1e3;
        let most = self.most_ms.map_or(limit, |ms| f32::from(ms) * per_ms + LOST_TICKS);
        let said = self.said.unwrap_or(least).max(least).min(most.min(limit));
        let believed = match self.believed {
            Some(before) if self.ticks == FINDING_TICKS => {
                said.clamp(before - BEND, before + BEND).clamp(0.0, limit)
            }
            _ => said,
        };
        self.ticks = (self.ticks + 1).min(FINDING_TICKS);
        self.believed = Some(believed);
        believed.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOUNDS: Bounds = Bounds { rate: 60, limit_ticks: 33 };

    /// What is believed of who says `back` ticks for so many ticks.
    fn say(sight: &mut Sight, back: f32, ticks: u32) -> f64 {
        sight.handle(Some((back * 256.0) as u16));
        (0..ticks).fold(0.0, |_, _| sight.take(Some(4), BOUNDS))
    }

    fn found(back: f32) -> Sight {
        let mut sight = Sight::default();
        assert_eq!(say(&mut sight, back, 100), f64::from(back));
        sight
    }

    #[test]
    fn a_time_that_is_chosen_is_followed_at_a_tenth_of_a_tick_a_tick() {
        let mut sight = found(9.0);
        assert!((say(&mut sight, 20.0, 1) - 9.1).abs() < 1e-5);
        assert!((say(&mut sight, 0.0, 1) - 9.0).abs() < 1e-5);
        assert!((say(&mut sight, 0.0, 30) - 6.0).abs() < 1e-4);
        // To say nothing is not to say "now".
        sight.handle(None);
        assert!((sight.take(Some(4), BOUNDS) - 5.9).abs() < 1e-4);
    }

    #[test]
    fn a_time_is_no_further_back_than_the_round_trip_and_the_game_allow() {
        let mut sight = found(33.0);
        assert_eq!(say(&mut sight, 200.0, 100), 33.0);
        let mut round_trip = RoundTrip::default();
        (0..20).for_each(|_| _ = round_trip.sample(Duration::from_millis(100)));
        sight.measure(&round_trip);
        assert!((say(&mut sight, 200.0, 400) - 14.0).abs() < 1e-4);
    }

    #[test]
    fn a_time_is_not_before_what_has_come() {
        let mut sight = found(12.0);
        sight.handle(Some(0));
        let believed = (0..400).fold(0.0, |_, _| sight.take(Some(15), BOUNDS));
        assert!((believed - 8.0).abs() < 1e-4, "{believed}");
        // Whoever has said nothing yet draws what has come.
        assert_eq!(Sight::default().take(Some(15), BOUNDS), 8.0);
        assert_eq!(Sight::default().take(None, BOUNDS), 0.0);
    }
}
