//! What a player sees meet before the server has said so.
//!
//! The game says which of the drawn things meet ([`Game::impacts`]). What stops there is drawn in
//! that frame and in none after it, until the server has stepped the tick it was seen in: then either
//! the thing is gone, or it flies on. What the player's own thing ended, by the server's word, is gone
//! from the screen at the tick in which it did, also where the snapshot of that tick was lost. Nothing
//! here changes what is predicted.

use super::Frame;
use crate::game::{Game, Impact, PlayerId};
use crate::replication::{Drawn, State};

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

impl Awaited {
    /// Whether what was met ends by it, and by the server's word has.
    fn has_ended_target(&self, said: Option<&State>) -> bool {
        self.impact.ends_target
            && said.is_some_and(|said| {
                let is_stepped = said.tick.wrapping_sub(self.tick) as i32 >= 0;
                is_stepped && said.find(self.impact.target).is_none()
            })
    }
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
        let drawn_tick = frame.drawn_tick;
        let is_over = |drawn: &Drawn| {
            let id = drawn.entity.id;
            self.awaited.iter().any(|awaited @ Awaited { impact, tick }| {
                let is_reached = drawn_tick.is_some_and(|drawn| f64::from(*tick) <= drawn);
                impact.entity == id && impact.stops
                    || impact.target == id && is_reached && awaited.has_ended_target(said)
            })
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
        self.awaited.retain(|awaited @ Awaited { impact, tick }| {
            let is_stepped = said.tick.wrapping_sub(*tick) as i32 >= GRACE_TICKS as i32;
            let is_gone = said.find(impact.entity).is_none();
            let is_drawn = frame.find(impact.entity).is_some()
                || frame.find(impact.target).is_some() && awaited.has_ended_target(Some(said));
            !is_stepped || impact.stops && is_gone && is_drawn
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dot::{Dot, Dots, World};

    const ALICE: PlayerId = PlayerId(1);
    const TARGET: u32 = 2;

    fn state(tick: u32, players: &[u32]) -> State {
        let dot = |&player| Dot { player: PlayerId(player), x: 100, y: 100, moved: (5, 0) };
        let mut world = World::default();
        world.dots.extend(players.iter().map(dot));
        let mut state = State::new(tick);
        Dots::default().capture(&world, &mut state);
        state
    }

    /// What is drawn of dots 1 and 2 when the own things are at `ahead` and the server has said so.
    fn draw(impacts: &mut Impacts, ahead: f64, said: &State) -> Frame {
        let mut frame = Frame::default();
        let schema = Dots::default().schema();
        frame.entities.extend(
            state(0, &[1, 2])
                .entities()
                .iter()
                .map(|entity| Drawn { entity: entity.clone(), fields: schema.values(entity) }),
        );
        impacts.look(&Dots::default(), ALICE, ahead, Some(said), &mut frame);
        frame
    }

    /// Dot 1 was seen to stop at dot 2 in tick 100.
    fn stopped() -> Impacts {
        let mut impacts = Impacts::default();
        draw(&mut impacts, 99.2, &state(95, &[1, 2]));
        let mut frame = Frame::default();
        let impact =
            Impact { entity: 1, target: TARGET, at: 0.5, stops: true, ends_target: true, value: 0 };
        impacts.take(impact, 100.2, &mut frame);
        impacts.take(impact, 100.2, &mut frame);
        assert_eq!(frame.impacts, [impact]);
        impacts
    }

    fn ids(frame: &Frame) -> Vec<u32> {
        frame.entities.iter().map(|drawn| drawn.entity.id).collect()
    }

    #[test]
    fn what_has_stopped_is_not_drawn_until_the_server_has_stepped_its_tick() {
        let mut impacts = stopped();
        for tick in 95..102 {
            let frame = draw(&mut impacts, f64::from(tick) + 5.0, &state(tick, &[1, 2]));
            assert_eq!((ids(&frame), frame.awaited.len()), (vec![TARGET], 1), "{tick}");
        }
    }

    #[test]
    fn it_flies_on_if_the_server_has_not_taken_it_away() {
        let mut impacts = stopped();
        let frame = draw(&mut impacts, 110.0, &state(102, &[1, 2]));
        assert_eq!((ids(&frame), frame.awaited.len()), (vec![1, TARGET], 0));
    }

    #[test]
    fn what_the_server_took_away_stays_hidden_for_as_long_as_it_would_be_drawn() {
        let mut impacts = stopped();
        for tick in 102..110 {
            let frame = draw(&mut impacts, f64::from(tick) + 9.0, &state(tick, &[2]));
            assert_eq!(ids(&frame), [TARGET], "{tick}");
        }
    }

    #[test]
    fn what_the_own_thing_ended_is_gone_at_its_tick_also_where_that_snapshot_was_lost() {
        let mut impacts = stopped();
        // The server has said of tick 104 that both are gone; those before it were lost, so that dot 2
        // would be drawn until 104.
        let ids_at = |impacts: &mut Impacts, drawn_tick| {
            let mut frame = Frame { drawn_tick: Some(drawn_tick), ..Frame::default() };
            let schema = Dots::default().schema();
            frame.entities.extend(
                state(0, &[1, 2])
                    .entities()
                    .iter()
                    .map(|entity| Drawn { entity: entity.clone(), fields: schema.values(entity) }),
            );
            let said = state(104, &[]);
            impacts.look(&Dots::default(), ALICE, drawn_tick + 9.0, Some(&said), &mut frame);
            ids(&frame)
        };
        assert_eq!(ids_at(&mut impacts, 99.5), [TARGET]);
        assert_eq!(ids_at(&mut impacts, 100.0), []);
        assert_eq!(ids_at(&mut impacts, 103.9), []);
    }

    #[test]
    fn no_more_is_awaited_than_there_is_room_for() {
        let mut impacts = Impacts::default();
        let mut frame = Frame::default();
        for entity in 0..LIMIT as u32 + 5 {
            let impact = Impact {
                entity,
                target: TARGET,
                at: 0.0,
                stops: true,
                ends_target: false,
                value: 0,
            };
            impacts.take(impact, 7.0, &mut frame);
        }
        assert_eq!((impacts.awaited.len(), frame.impacts.len()), (LIMIT, LIMIT));
    }
}
