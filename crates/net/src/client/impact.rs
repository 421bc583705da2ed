//! What a player sees meet before the server has said so.
//!
//! The game says which of the drawn things meet ([`Game::impacts`]). What stops there is drawn in
//! that frame and in none after it, until the server has stepped the tick it was seen in: then either
//! the thing is gone, or it flies on. Nothing here changes what is predicted.

use super::Frame;
use crate::game::{Game, Impact, PlayerId};
use crate::replica::{Drawn, State};

/// The server may judge a contact so many ticks later than it was seen: the two clocks of a client
/// are bent while the inputs that speak of them are under way.
const GRACE_TICKS: u32 = 2;

/// So many things are seen to meet at a time; further ones are left to the server.
const LIMIT: usize = 256;

/// What was seen to meet and is not decided yet.
#[derive(Clone, Debug, Default)]
pub(super) struct Impacts {
    awaited: Vec<Awaited>,
    found: Vec<Impact>,
    /// The frame before, and the tick at which it showed the own things.
    before: Frame,
    ahead: Option<f64>,
}

#[derive(Clone, Copy, Debug)]
struct Awaited {
    impact: Impact,
    /// The tick in which the server judges it.
    tick: u32,
}

impl Impacts {
    /// Ends what is seen to end in a frame that shows the own things at `ahead`. `said` is the
    /// newest snapshot.
    pub(super) fn look<G: Game>(
        &mut self,
        game: &G,
        player: PlayerId,
        ahead: f64,
        said: Option<&State>,
        frame: &mut Frame,
    ) {
        self.decide(said, frame);
        let is_over = |drawn: &Drawn| {
            let mut stopped = self.awaited.iter().filter(|awaited| awaited.impact.stops);
            stopped.any(|awaited| awaited.impact.entity == drawn.entity.id)
        };
        frame.entities.retain(|drawn| !is_over(drawn));
        frame.awaited.extend(self.awaited.iter().map(|awaited| awaited.impact));
        let mut found = std::mem::take(&mut self.found);
        if self.ahead.is_some() {
            game.impacts(&self.before, frame, player, &mut |impact| found.push(impact));
        }
        for impact in found.drain(..) {
            self.take(impact, ahead, frame);
        }
        self.found = found;
        self.before.copy_from(frame);
        self.ahead = Some(ahead);
    }

    /// What the server has stepped since is decided. What it took away stays hidden where it is
    /// still drawn: others are drawn later than they are known.
    fn decide(&mut self, said: Option<&State>, frame: &Frame) {
        let Some(said) = said else { return };
        self.awaited.retain(|Awaited { impact, tick }| {
            let is_stepped = said.tick.wrapping_sub(*tick) as i32 >= GRACE_TICKS as i32;
            let is_gone = said.find(impact.entity).is_none();
            !is_stepped || impact.stops && is_gone && frame.find(impact.entity).is_some()
        });
    }

    fn take(&mut self, impact: Impact, ahead: f64, frame: &mut Frame) {
        let is_same =
            |known: &Impact| (known.entity, known.target) == (impact.entity, impact.target);
        let is_over = |known: &Impact| known.stops && known.entity == impact.entity;
        let mut known = self.awaited.iter().map(|awaited| &awaited.impact);
        if self.awaited.len() == LIMIT || known.any(|known| is_same(known) || is_over(known)) {
            return;
        }
        let at = impact.at.clamp(0.0, 1.0);
        let from = self.ahead.unwrap_or(ahead).min(ahead);
        let tick = (from + f64::from(at) * (ahead - from)).ceil().max(0.0) as u32;
        self.awaited.push(Awaited { impact, tick });
        frame.impacts.push(impact);
    }
}
