//! What an `rtype` server tells beside its States: who plays under which number, how everyone
//! stands, what is set in the lobby. And what the player asked for there.
//!
//! The dialect acknowledges nothing. What was asked for is asked again until LobbyStatus shows it,
//! and given up after a few tries: only the host is listened to.

use std::time::Duration;

use crate::rtype::wire::{
    GameOverReason, Kind, LobbyConfig, LobbyStatus, Packet, RosterEntry, StartMatch,
};
use crate::{RtypePlayer, RtypeThing, RtypeWish};
use backspin::game::PlayerId;
use backspin::time::Time;
use backspin::wire::List;

/// So many players have a number here; a game of the dialect has four.
const PLAYER_LIMIT: usize = 8;

const ASK_EVERY: Duration = Duration::from_millis(500);
const TRIES: u8 = 4;

/// Everything but the States.
#[derive(Clone, Debug, Default)]
pub(super) struct Board {
    pub(super) players: Vec<RtypePlayer>,
    /// As the server says it, but for the host's number, which is ours.
    pub(super) lobby: Option<LobbyStatus>,
    pub(super) over: Option<GameOverReason>,
    pub(super) team_score: i32,
    config: Option<Asked<LobbyConfig>>,
    start: Option<Asked<StartMatch>>,
}

/// Something to be asked for until it is granted.
#[derive(Clone, Copy, Debug)]
struct Asked<T> {
    what: T,
    left: u8,
    next: Time,
}

impl Board {
    /// The number of the player whom the server calls `id`: the same if it can be, so that our own
    /// server's players are who they are; else one that is free.
    pub(super) fn number(&mut self, id: u32) -> Option<PlayerId> {
        if let Some(known) = self.players.iter().find(|known| known.id == id) {
            return Some(known.player);
        }
        let is_free = |number: &u32| self.players.iter().all(|it| it.player.0 != *number);
        let numbers = 1..=PLAYER_LIMIT as u32;
        let same = Some(id).filter(|id| numbers.contains(id) && is_free(id));
        let player = PlayerId(same.or_else(|| numbers.clone().find(is_free))?);
        self.players.push(RtypePlayer { id, player, lives: 0, score: 0 });
        self.players.sort_unstable_by_key(|it| it.player.0);
        Some(player)
    }

    /// What the server calls a player.
    pub(super) fn id_of(&self, player: PlayerId) -> Option<u32> {
        self.players.iter().find(|it| it.player == player).map(|it| it.id)
    }

    /// Takes the roster: who is not in it, nor in the field, has no number any more.
    pub(super) fn handle_roster(&mut self, entries: &List<'_, RosterEntry>, field: &[RtypeThing]) {
        let is_listed = |id| entries.iter().any(|entry| entry.id == id);
        let ships = field.iter().map(|it| it.entity).filter(|it| it.kind == Kind::Player);
        let flies = |id| ships.clone().any(|it| it.id == id);
        self.players.retain(|it| is_listed(it.id) || flies(it.id));
        for entry in entries.iter() {
            self.set_lives(entry.id, entry.lives);
        }
    }

    pub(super) fn set_lives(&mut self, id: u32, lives: u8) {
        if let Some(player) = self.entry(id) {
            player.lives = lives;
        }
    }

    /// The team's score is told of player 0.
    pub(super) fn set_score(&mut self, id: u32, score: i32) {
        match id {
            0 => self.team_score = score,
            _ => {
                if let Some(player) = self.entry(id) {
                    player.score = score;
                }
            }
        }
    }

    fn entry(&mut self, id: u32) -> Option<&mut RtypePlayer> {
        let player = self.number(id)?;
        self.players.iter_mut().find(|it| it.player == player)
    }

    pub(super) fn handle_lobby(&mut self, said: LobbyStatus) {
        let is_set = |asked: &Asked<LobbyConfig>| {
            (asked.what.base_lives, asked.what.difficulty) == (said.base_lives, said.difficulty)
        };
        self.config = self.config.filter(|asked| !is_set(asked));
        if said.started {
            self.start = None;
        } else {
            // Back in the lobby: what was is over for good.
            self.over = None;
        }
        let host = match said.host {
            0 => 0,
            id => self.number(id).map_or(0, |host| host.0),
        };
        self.lobby = Some(LobbyStatus { host, ..said });
    }

    /// Asks for something from now on.
    pub(super) fn ask(&mut self, wish: RtypeWish) {
        let (left, next) = (TRIES, Time::ZERO);
        match wish {
            RtypeWish::Configure(what) => self.config = Some(Asked { what, left, next }),
            RtypeWish::Start => self.start = Some(Asked { what: StartMatch, left, next }),
        }
    }

    /// What is to be asked for now: a match is set up before it starts.
    pub(super) fn poll(&mut self, now: Time) -> Option<Packet<'static>> {
        let config = poll(&mut self.config, now).map(Packet::LobbyConfig);
        config.or_else(|| poll(&mut self.start, now).map(Packet::StartMatch))
    }
}

fn poll<T: Copy>(asked: &mut Option<Asked<T>>, now: Time) -> Option<T> {
    let due = asked.as_mut().filter(|asked| asked.next <= now)?;
    let what = due.what;
    (due.left, due.next) = (due.left - 1, now + ASK_EVERY);
    if due.left == 0 {
        *asked = None;
    }
    Some(what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn players_keep_their_number_and_strangers_get_a_free_one() {
        let mut board = Board::default();
        assert_eq!(board.number(2), Some(PlayerId(2)));
        assert_eq!(board.number(70_000), Some(PlayerId(1)));
        assert_eq!(board.number(1), Some(PlayerId(3)), "1 is taken");
        assert_eq!(board.number(70_000), Some(PlayerId(1)));
        assert_eq!(board.id_of(PlayerId(1)), Some(70_000));
        for id in 100..105 {
            assert!(board.number(id).is_some());
        }
        assert_eq!(board.number(105), None, "the ninth has no number");
        board.handle_roster(&List::new(&[]), &[]);
        assert_eq!(board.number(105), Some(PlayerId(1)));
    }

    #[test]
    fn what_is_asked_for_is_asked_four_times_or_until_it_is_granted() {
        let mut board = Board::default();
        board.ask(RtypeWish::Start);
        let asked = |board: &mut Board, ms| board.poll(Time::from_millis(ms)).is_some();
        assert!(asked(&mut board, 0) && !asked(&mut board, 499) && asked(&mut board, 500));
        assert!(asked(&mut board, 1_000) && asked(&mut board, 1_500) && !asked(&mut board, 9_000));
        board.ask(RtypeWish::Start);
        assert!(asked(&mut board, 10_000));
        let started = LobbyStatus {
            host: 0,
            base_lives: crate::rtype::wire::Lives::new(3).unwrap(),
            difficulty: crate::rtype::wire::Difficulty::Normal,
            started: true,
            reserved: 0,
        };
        board.handle_lobby(started);
        assert!(!asked(&mut board, 11_000));
    }
}
