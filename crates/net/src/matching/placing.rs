//! Who is put together, and where: the longest round trip in a room is to be as short as it can be,
//! and nobody waits for ever.
//!
//! A player accepts a room by its longest round trip, whoever has it: at first hardly more than the
//! player's own shortest, and more with every second. Of all rooms that could be made, the one with
//! the shortest longest round trip is made first.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

/// A player accepts at once what is so much longer than the player's own shortest round trip.
pub const ACCEPTS_AT_ONCE: Duration = Duration::from_millis(20);

/// And so much more with every second of waiting.
pub const ACCEPTS_MORE_PER_S: Duration = Duration::from_millis(15);

/// Who has waited so long accepts everything, and plays with fewer or alone.
pub const WAIT_MOST: Duration = Duration::from_secs(15);

/// Full rooms that are made at once; more come in the next round.
pub const ROOMS_PER_ROUND: usize = 32;

/// A player who waits.
#[derive(Clone, Copy, Debug)]
pub struct Candidate<'a> {
    /// The round trip to each server in µs; `None` where the player cannot or does not go.
    pub round_trips: &'a [Option<u32>],
    /// For how long.
    pub waited: Duration,
}

/// Players who are put together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Where: an index into the round trips.
    pub server: usize,
    /// Who: indices of the candidates. One alone finds nobody to play with in time.
    pub members: Vec<usize>,
    /// The longest round trip among them, in µs.
    pub worst: u32,
}

/// Puts candidates together for rooms of `capacity`.
pub fn place(candidates: &[Candidate<'_>], capacity: usize) -> Vec<Group> {
    let mut placing = Placing::new(candidates, capacity.max(1));
    let mut groups = Vec::new();
    while groups.len() < ROOMS_PER_ROUND
        && let Some(group) = placing.best_full_room()
    {
        placing.take(&group);
        groups.push(group);
    }
    // While there are full rooms to make, they come first.
    let impatient = if groups.len() < ROOMS_PER_ROUND { placing.impatient() } else { Vec::new() };
    for player in impatient {
        if !placing.is_taken[player]
            && let Some(group) = placing.best_room_with(player)
        {
            placing.take(&group);
            groups.push(group);
        }
    }
    groups
}

struct Placing<'a> {
    candidates: &'a [Candidate<'a>],
    capacity: usize,
    /// The longest round trip that each accepts in a room.
    accepts: Vec<u32>,
    /// For each server, who has a round trip to it, the shortest first.
    near: Vec<Vec<(u32, usize)>>,
    is_taken: Vec<bool>,
}

impl<'a> Placing<'a> {
    fn new(candidates: &'a [Candidate<'a>], capacity: usize) -> Self {
        let servers = candidates.iter().map(|it| it.round_trips.len()).max().unwrap_or(0);
        let near = (0..servers).map(|server| {
            let to = |(player, it): (usize, &Candidate<'_>)| {
                Some(((*it.round_trips.get(server)?)?, player))
            };
            let mut near: Vec<_> = candidates.iter().enumerate().filter_map(to).collect();
            near.sort_unstable();
            near
        });
        Placing {
            candidates,
            capacity,
            accepts: candidates.iter().map(accepts).collect(),
            near: near.collect(),
            is_taken: vec![false; candidates.len()],
        }
    }

    fn take(&mut self, group: &Group) {
        group.members.iter().for_each(|&member| self.is_taken[member] = true);
    }

    /// The full room with the shortest longest round trip that everyone in it accepts.
    fn best_full_room(&self) -> Option<Group> {
        let servers = 0..self.near.len();
        servers.filter_map(|server| self.full_room_at(server)).min_by_key(|group| group.worst)
    }

    /// Goes outwards from the server. Who does not accept a room as wide as it has become accepts
    /// none that is wider; when enough are left, they are the room.
    fn full_room_at(&self, server: usize) -> Option<Group> {
        let mut willing = BinaryHeap::new();
        for &(worst, player) in self.free_near(server) {
            willing.push(Reverse((self.accepts[player], player)));
            while willing.peek().is_some_and(|Reverse((accepts, _))| *accepts < worst) {
                willing.pop();
            }
            if willing.len() == self.capacity {
                let members = willing.into_iter().map(|Reverse((_, player))| player).collect();
                return Some(self.group(server, members, worst));
            }
        }
        None
    }

    fn free_near(&self, server: usize) -> impl Iterator<Item = &(u32, usize)> {
        self.near[server].iter().filter(|(_, player)| !self.is_taken[*player])
    }

    fn group(&self, server: usize, mut members: Vec<usize>, worst: u32) -> Group {
        // Who has waited longest makes the room.
        members.sort_unstable_by_key(|&it| (Reverse(self.candidates[it].waited), it));
        Group { server, members, worst }
    }

    /// Who has waited long enough for a room that is not full, the longest first.
    fn impatient(&self) -> Vec<usize> {
        let waited = |player: &usize| self.candidates[*player].waited;
        let all = 0..self.candidates.len();
        let mut impatient: Vec<_> = all.filter(|player| waited(player) >= WAIT_MOST).collect();
        impatient.sort_by_key(|player| Reverse(waited(player)));
        impatient
    }

    /// The best room for one who accepts everything: with others sooner than alone, then by its
    /// longest round trip, then by how many are in it.
    fn best_room_with(&self, player: usize) -> Option<Group> {
        let rooms = (0..self.near.len()).filter_map(|server| self.room_with(player, server));
        rooms.min_by_key(|it| (it.members.len() == 1, it.worst, Reverse(it.members.len())))
    }

    fn room_with(&self, player: usize, server: usize) -> Option<Group> {
        let mut worst = (*self.candidates[player].round_trips.get(server)?)?;
        let (mut members, mut accepted) = (vec![player], self.accepts[player]);
        for &(round_trip, other) in self.free_near(server).filter(|(_, other)| *other != player) {
            let wider = worst.max(round_trip);
            if members.len() < self.capacity && wider <= accepted.min(self.accepts[other]) {
                members.push(other);
                (worst, accepted) = (wider, accepted.min(self.accepts[other]));
            }
        }
        Some(self.group(server, members, worst))
    }
}

/// The longest round trip that a player accepts in a room by now.
fn accepts(it: &Candidate<'_>) -> u32 {
    if it.waited >= WAIT_MOST {
        return u32::MAX;
    }
    let shortest = it.round_trips.iter().flatten().min().copied().unwrap_or(0);
    let more = ACCEPTS_AT_ONCE + ACCEPTS_MORE_PER_S.mul_f64(it.waited.as_secs_f64());
    shortest.saturating_add(u32::try_from(more.as_micros()).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Places players with these round trips in ms, who have waited so many seconds.
    fn placed(players: &[(&[u32], f64)], capacity: usize) -> Vec<Group> {
        let round_trips: Vec<Vec<_>> =
            players.iter().map(|(ms, _)| ms.iter().map(|ms| Some(ms * 1_000)).collect()).collect();
        let candidates: Vec<_> = players
            .iter()
            .zip(&round_trips)
            .map(|((_, waited), round_trips)| Candidate {
                round_trips,
                waited: Duration::from_secs_f64(*waited),
            })
            .collect();
        place(&candidates, capacity)
    }

    fn room(server: usize, members: &[usize], worst_ms: u32) -> Group {
        Group { server, members: members.to_vec(), worst: worst_ms * 1_000 }
    }

    #[test]
    fn players_meet_at_the_server_that_is_near_to_all_of_them() {
        let players: [(&[u32], f64); 4] =
            [(&[10, 90], 0.0), (&[80, 20], 0.0), (&[12, 70], 0.0), (&[95, 15], 0.0)];
        assert_eq!(placed(&players, 2), [room(0, &[0, 2], 12), room(1, &[1, 3], 20)]);
    }

    #[test]
    fn between_two_servers_the_shortest_longest_round_trip_counts() {
        // Each is near to one server; the third is a little far for both.
        let players: [(&[u32], f64); 2] = [(&[10, 90, 40], 3.0), (&[90, 10, 45], 3.0)];
        assert_eq!(placed(&players, 2), [room(2, &[0, 1], 45)]);
    }

    #[test]
    fn who_is_near_waits_for_others_who_are_and_less_and_less() {
        let players = |waited: f64| {
            let near: (&[u32], f64) = (&[10], waited);
            placed(&[near, near, near, (&[150], 0.0)], 4)
        };
        assert_eq!(players(0.0), []);
        // 10 + 20 + 15 for each second.
        assert_eq!(players(7.9), []);
        assert_eq!(players(8.1), [room(0, &[0, 1, 2, 3], 150)]);
    }

    #[test]
    fn who_is_far_from_everywhere_is_at_home_with_others_who_are() {
        let far: (&[u32], f64) = (&[300, 310], 0.0);
        assert_eq!(placed(&[far; 4], 4), [room(0, &[0, 1, 2, 3], 300)]);
    }

    #[test]
    fn who_has_waited_long_enough_plays_with_fewer_or_alone() {
        let most = WAIT_MOST.as_secs_f64();
        let near: (&[u32], f64) = (&[10, 50], most);
        assert_eq!(placed(&[(&[10, 50], most - 0.1)], 4), []);
        assert_eq!(placed(&[near], 4), [room(0, &[0], 10)]);
        // With another at a farther server sooner than alone at the nearest.
        let candidates = [
            Candidate { round_trips: &[Some(10_000), Some(50_000)], waited: WAIT_MOST },
            Candidate { round_trips: &[None, Some(40_000)], waited: Duration::ZERO },
        ];
        assert_eq!(place(&candidates, 4), [room(1, &[0, 1], 50)]);
        // But nobody is drawn into what they do not accept yet.
        let candidates = [
            Candidate { round_trips: &[Some(200_000)], waited: WAIT_MOST },
            Candidate { round_trips: &[Some(10_000)], waited: Duration::ZERO },
        ];
        assert_eq!(place(&candidates, 4), [room(0, &[0], 200)]);
    }

    #[test]
    fn who_reaches_no_server_is_not_placed() {
        let candidates = [Candidate { round_trips: &[None, None], waited: 2 * WAIT_MOST }];
        assert_eq!(place(&candidates, 2), []);
        assert_eq!(place(&[], 4), []);
    }

    #[test]
    fn a_round_makes_so_many_full_rooms_and_the_next_one_the_rest() {
        let near: (&[u32], f64) = (&[10], WAIT_MOST.as_secs_f64());
        let enough = vec![near; 2 * ROOMS_PER_ROUND];
        assert_eq!(placed(&enough, 2).len(), ROOMS_PER_ROUND);
        let more = vec![near; 2 * ROOMS_PER_ROUND + 3];
        let groups = placed(&more, 2);
        assert_eq!(groups.len(), ROOMS_PER_ROUND, "the other three in the next round");
        assert!(groups.iter().all(|group| group.members.len() == 2));
    }
}
