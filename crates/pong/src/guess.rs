//! How often a partner's contact cannot be drawn as it will be judged.
//!
//! The ball at a partner's paddle is drawn before it can be known what the partner does. Two things bound
//! what anyone can draw, whatever the code does:
//!
//! - **What is known**: the partner's paddle and what was held, both of some ticks ago. A partner who has changed
//!   course since has said nothing yet. The best guess is that everything goes on as before: on 200,000 contacts no
//!   other (the paddle stands, it stops where it faces the ball, the more likely outcome by
//!   place, course and time on that course) was wrong less often where partners see the world as late as the guesser.
//! - **What may be shown**: nothing leaps. A guess that turns out wrong is put right by no more than 4 px in a frame beyond
//!   the paddle's own motion, so it stays wrong for a while after it is known. The further ahead a paddle is drawn, the
//!   more there is to put right: the best of five measures counts.

use backspin_sim::Odds;

/// By how many ticks later than own inputs are made the partner is known: how many contacts are wrong, in
/// hundredths of a percent of those that are drawn, judged or both. What is drawn of the own is a tick older than the
/// newest input, and the ball at the partner's paddle is drawn 5.5 ticks earlier still: up to there nothing is a guess.
///
/// Played by players like the simulator's, who see the world as late; the test below does it again.
pub(crate) const ODDS: Odds = &[
    0, 0, 0, 0, 0, 0, 0, 26, 130, 374, 709, 1_002, 1_578, 2_005, 2_283, 2_670, 3_216, 3_652, 4_099,
    4_388, 4_712, 5_160, 5_338, 5_595, 5_809, 5_917, 6_115, 6_131, 6_270, 6_482, 6_507,
];

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::time::Duration;

    use backspin::game::{Buttons, Game, PlayerId, PlayerInput, Turn};
    use backspin::time::Time;
    use backspin_sim::{Chance, Mind};

    use super::*;
    use crate::field::{BALL_LOWEST, PADDLE_LOWEST, Position};
    use crate::screen::PARTNERS_TICKS;
    use crate::world::{Ball, Paddle, Phase, World};
    use crate::{BALL_SIZE, PADDLE_SIZE, Pong, UNITS};

    const PONG: Pong = Pong { points: Pong::MAX_POINTS, doubles: true, countdown: 0 };

    /// A match of four players who see the world as it was some ticks ago.
    struct Match {
        tick: u32,
        world: World,
        /// The newest first.
        past: VecDeque<World>,
        players: [(Mind, Buttons); 4],
    }

    impl Match {
        fn new(seed: u64) -> Self {
            let mut world = PONG.begin(seed);
            (1..=4).for_each(|player| PONG.join(&mut world, PlayerId(player), &()));
            let players = [2, 3, 4, 5]
                .map(|stream| (Mind::new(Chance::new(seed, stream)), Buttons::default()));
            Match { tick: 0, world, past: VecDeque::from([world]), players }
        }

        fn ago(&self, ticks: usize) -> &World {
            &self.past[ticks.min(self.past.len() - 1)]
        }

        fn step(&mut self, late_ticks: usize) {
            let now = Time::ZERO + Duration::from_secs(1) * self.tick / 60;
            let seen = *self.ago(late_ticks);
            for (post, (mind, held)) in Position::ALL.into_iter().zip(&mut self.players) {
                let advice = || PONG.bot_input(&seen, post.player());
                *held = mind.change(now, advice).unwrap_or(*held);
            }
            let inputs = Position::ALL.map(|post| {
                let (_, buttons) = self.players[post.index()];
                PlayerInput::new(post.player(), buttons)
            });
            PONG.step(&mut self.world, &mut Turn::new(self.tick, &inputs, &[], &mut Vec::new()));
            self.past.push_front(self.world);
            self.past.truncate(64);
            self.tick += 1;
        }
    }

    /// Whether the ball comes to the plane of a post in the next tick.
    fn comes(ball: &Ball, post: Position) -> bool {
        let sign = post.side().sign();
        let gap = |x: i32| (x - post.plane()) * sign;
        ball.vx * sign > 0 && gap(ball.x) <= 0 && gap(ball.x + ball.vx) > 0
    }

    /// Whether it meets the paddle there.
    fn meets(ball: &Ball, paddle_y: i32) -> bool {
        let y = (ball.y + ball.vy).clamp(0, BALL_LOWEST);
        (paddle_y - BALL_SIZE..=paddle_y + PADDLE_SIZE.1).contains(&y)
    }

    /// A partner's paddle is drawn these parts of the time ahead that has to be guessed.
    const AHEAD: [f32; 5] = [0.0, 0.25, 0.5, 0.75, 1.0];

    /// The partners' paddles on a screen on which nothing leaps.
    #[derive(Clone, Copy)]
    struct Drawn {
        /// How late the paddles are known.
        ticks: usize,
        /// By post, and by how far ahead they are drawn.
        y: [[i32; AHEAD.len()]; 4],
    }

    impl Drawn {
        fn follow(&mut self, game: &Match) {
            let known = game.ago(self.ticks).paddles;
            for (paddle, drawn) in known.iter().zip(&mut self.y) {
                let Some(paddle) = paddle else { continue };
                // Own motion may be 5 % faster, and 4 px are no leap.
                let most = paddle.vy.abs() * 21 / 20 + 4 * UNITS;
                for (y, part) in drawn.iter_mut().zip(AHEAD) {
                    let ticks = (self.ticks as f32 * part) as i32;
                    let goal = (paddle.y + paddle.vy * ticks).clamp(0, PADDLE_LOWEST);
                    *y += (goal - *y).clamp(-most, most);
                }
            }
        }
    }

    /// The share of contacts that are drawn wrong, in percent, in so many minutes.
    fn wrong_pct(late_ticks: usize, minutes: u64) -> f64 {
        // The ball is drawn between two ticks there.
        let earlier = [PARTNERS_TICKS.floor(), PARTNERS_TICKS.ceil()];
        let (mut wrong, mut all) = ([0u32; AHEAD.len()], [0u32; AHEAD.len()]);
        for seed in 0..minutes {
            let mut game = Match::new(seed);
            let mut screens = earlier.map(|earlier| {
                let ticks = late_ticks.saturating_sub(1 + earlier as usize);
                Drawn { ticks, y: [[Paddle::START.y; AHEAD.len()]; 4] }
            });
            for _ in 0..3_600 {
                let before = game.world;
                game.step(late_ticks);
                screens.iter_mut().for_each(|drawn| drawn.follow(&game));
                if before.phase != Phase::Playing || game.world.ball.which != before.ball.which {
                    continue;
                }
                for post in Position::ALL.into_iter().filter(|post| comes(&before.ball, *post)) {
                    let judged = game.world.ball.vx * post.side().sign() < 0;
                    for (ahead, y) in
                        screens.iter().flat_map(|it| it.y[post.index()].into_iter().enumerate())
                    {
                        let drawn = meets(&before.ball, y);
                        wrong[ahead] += u32::from(drawn != judged);
                        all[ahead] += u32::from(drawn || judged);
                    }
                }
            }
        }
        let shares =
            wrong.iter().zip(all).map(|(wrong, all)| f64::from(*wrong) / f64::from(all.max(1)));
        100.0 * shares.fold(1.0, f64::min)
    }

    #[test]
    fn the_odds_are_those_of_the_best_picture_that_does_not_leap() {
        for late_ticks in [0, 5, 8, 12, 18, 26] {
            let (told, played) = (f64::from(ODDS[late_ticks]) / 100.0, wrong_pct(late_ticks, 40));
            assert!((told - played).abs() < 2.5, "{late_ticks}: {told} told, {played} played");
        }
    }
}
