//! Where a match stands, and how its pilots do: everything that has no place in the field.

use backspin::game::PlayerId;

use crate::command::Setup;
use crate::rules::RType;

/// Where the match stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mission {
    /// What is going on.
    pub phase: Phase,
    /// Ticks until the phase is over by itself; 0 where it is not.
    pub timer: i32,
    /// The level, from 1.
    pub level: u8,
    /// The wave of the level that came last, from 1; 0 before the first.
    pub wave: u8,
    /// How far the level has scrolled, in 1/16 px.
    pub distance: i32,
    /// How fast it scrolls, in 1/16 px a tick.
    pub scroll: i32,
    /// What the team has scored.
    pub team_score: i32,
    /// Who may start the match and set it up.
    pub host: Option<PlayerId>,
    /// How it is set up.
    pub setup: Setup,
}

/// What is going on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Phase {
    /// Players come, fly about and get ready.
    #[default]
    Lobby,
    /// It begins in up to five seconds.
    Countdown,
    /// A level is played.
    Playing,
    /// Its boss is there.
    Boss,
    /// Its boss has fallen; the next level follows.
    LevelClear,
    /// The last boss has fallen.
    Victory,
    /// Nobody has a life left.
    Defeat,
}

impl Phase {
    /// All of them, as they are numbered when sent and in events.
    pub const ALL: [Phase; 7] = [
        Phase::Lobby,
        Phase::Countdown,
        Phase::Playing,
        Phase::Boss,
        Phase::LevelClear,
        Phase::Victory,
        Phase::Defeat,
    ];

    /// Whether the match is on: from its start until it is won or lost.
    pub fn is_on(self) -> bool {
        matches!(self, Phase::Playing | Phase::Boss | Phase::LevelClear)
    }
}

impl Mission {
    /// The countdown to the start: 5 s.
    pub const COUNTDOWN_TICKS: i32 = 300;

    /// The pause between two levels: 4 s.
    pub const CLEAR_TICKS: i32 = 240;

    /// How long the end is shown before everyone is back in the lobby: 8 s.
    pub const END_TICKS: i32 = 480;

    /// A level scrolls at most so far, in 1/16 px.
    pub(crate) const DISTANCE_LIMIT: i32 = (1 << 24) - 1;

    pub(crate) fn new(setup: Setup) -> Self {
        Mission {
            phase: Phase::Lobby,
            timer: 0,
            level: 1,
            wave: 0,
            distance: 0,
            scroll: 0,
            team_score: 0,
            host: None,
            setup,
        }
    }

    pub(crate) fn enter(&mut self, phase: Phase, ticks: i32) {
        (self.phase, self.timer) = (phase, ticks);
    }
}

/// How a player does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pilot {
    /// Who.
    pub player: PlayerId,
    /// Lives left, with the one that is being lived.
    pub lives: i32,
    /// Ticks until the next ship; 0 while there is one that nothing has destroyed.
    pub away: i32,
    /// What the player has scored.
    pub score: i32,
    /// Kills one after another.
    pub chain: i32,
    /// Ticks in which the next kill must come for the chain to go on.
    pub chain_left: i32,
    /// Ready for the match.
    pub is_ready: bool,
    /// Speaks an old dialect, and can say nothing but its buttons: ready in every lobby. Known to
    /// the server alone.
    pub is_mute: bool,
    /// Was dropped and may come back: nobody waits for it in the lobby. Known to the server alone.
    pub is_absent: bool,
    /// Came after the start, and has to wait for the next match.
    pub is_waiting: bool,
}

impl Pilot {
    /// The most lives.
    pub const LIVES_LIMIT: i32 = 9;

    /// A ship is replaced so long after it was hit: 1.5 s.
    pub const AWAY_TICKS: i32 = 90;

    /// Until then a ship that was hit flies and fires on as a wreck: about half a second, longer
    /// than the word of it takes to the player, whose own prediction would else fire shots that
    /// never were.
    pub const WRECK_TICKS: i32 = RType::REWIND_TICKS;

    /// A chain goes on with a kill within 2 s.
    pub const CHAIN_TICKS: i32 = 120;

    /// The longest chain that is counted.
    pub const CHAIN_LIMIT: i32 = 99;

    /// The highest score.
    pub const SCORE_LIMIT: i32 = 9_999_999;

    pub(crate) fn new(player: PlayerId, lives: i32) -> Self {
        Pilot {
            player,
            lives,
            away: 0,
            score: 0,
            chain: 0,
            chain_left: 0,
            is_ready: false,
            is_mute: false,
            is_absent: false,
            is_waiting: false,
        }
    }

    /// Whether the ship is hit, and still in the field.
    pub(crate) fn is_wrecked(&self) -> bool {
        self.away > Pilot::AWAY_TICKS - Pilot::WRECK_TICKS
    }

    /// By how much a kill is multiplied: one more for every fifth of a chain, up to five.
    pub fn multiplier(&self) -> i32 {
        (1 + self.chain / 5).min(5)
    }

    /// Counts a kill; what it is worth in the chain.
    pub(crate) fn kill(&mut self, points: i32) -> i32 {
        self.chain = (self.chain + 1).min(Pilot::CHAIN_LIMIT);
        self.chain_left = Pilot::CHAIN_TICKS;
        points * self.multiplier()
    }

    /// Adds to the score.
    pub(crate) fn earn(&mut self, points: i32) {
        self.score = (self.score + points).min(Pilot::SCORE_LIMIT);
    }

    /// One tick of the chain: whether it has just ended.
    pub(crate) fn ends_chain(&mut self) -> bool {
        if self.chain_left == 0 {
            return false;
        }
        self.chain_left -= 1;
        self.chain_left == 0 && std::mem::take(&mut self.chain) > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kills_in_a_chain_are_worth_more_up_to_five_times() {
        let mut pilot = Pilot::new(PlayerId(1), 3);
        let worth: Vec<i32> = (0..30).map(|_| pilot.kill(100)).collect();
        assert_eq!((worth[0], worth[3], worth[4], worth[29]), (100, 100, 200, 500));
    }

    #[test]
    fn a_chain_ends_two_seconds_after_its_last_kill() {
        let mut pilot = Pilot::new(PlayerId(1), 3);
        pilot.kill(100);
        assert!((0..119).all(|_| !pilot.ends_chain()));
        pilot.kill(100);
        assert!((0..119).all(|_| !pilot.ends_chain()));
        assert_eq!(pilot.chain, 2);
        assert!(pilot.ends_chain() && pilot.chain == 0 && !pilot.ends_chain());
    }

    #[test]
    fn scores_and_chains_stop_at_their_limits() {
        let mut pilot = Pilot::new(PlayerId(1), 3);
        (0..200).for_each(|_| _ = pilot.kill(1));
        assert_eq!(pilot.chain, Pilot::CHAIN_LIMIT);
        pilot.earn(Pilot::SCORE_LIMIT);
        pilot.earn(1);
        assert_eq!(pilot.score, Pilot::SCORE_LIMIT);
    }
}
