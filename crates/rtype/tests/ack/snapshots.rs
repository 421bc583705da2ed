//! What is shown: who is first, what is in every datagram, and under which ids.

use std::collections::{BTreeMap, BTreeSet};

use backspin::endpoint::EndpointConfig;
use backspin_rtype::mission::Phase;
use backspin_rtype::{Opening, RType};

use crate::table::*;

/// A match that is on, with so much in the field.
fn swarm(swarm: u16) -> Table {
    let game = RType { opening: Opening::AtOnce, swarm, ..RType::default() };
    Table::with(game, EndpointConfig::default())
}

#[test]
fn a_crowded_tick_is_several_datagrams_and_each_acknowledges() {
    let mut table = swarm(200);
    let own_id = table.join(alice());
    table.join(bobby());
    let mut next_sequence = None;
    let mut most = 0;
    for number in 1..400 {
        table.input(alice(), number, 0);
        let sent = table.tick();
        let parts = snapshots(&sent, alice());
        let tick = table.world_tick();
        let mut ids = BTreeSet::new();
        for (at, part) in parts.iter().enumerate() {
            assert_eq!((part.tick, part.more), (tick, at + 1 < parts.len()));
            assert!(next_sequence.is_none_or(|next| next == part.sequence), "no gap");
            next_sequence = Some(part.sequence + 1);
            assert!(part.entities.len() == 45 || !part.more, "{}", part.entities.len());
            let own = part.entities[0];
            assert_eq!((own.id, own.kind, own.ack), (own_id, 1, number));
            assert_eq!(part.find(256).is_some(), at == 0, "the scoreboard is in the first");
            let rest = part.entities[1..].iter().filter(|it| it.kind != 256);
            assert!(rest.clone().all(|entity| ids.insert(entity.id)), "each once");
            assert!(rest.clone().all(|entity| entity.ack == 0 && entity.id != own_id));
            // Players first, then enemies, then bullets.
            let kinds: Vec<_> = rest.map(|entity| entity.kind).collect();
            assert!(kinds.is_sorted(), "{kinds:?}");
        }
        let state = table.desk.node.rooms()[0].state();
        let with_place = state.entities().iter().filter(|it| !matches!(it.kind, 2 | 3)).count();
        let is_alive = u8::from(parts[0].entities[0].health > 0);
        assert_eq!(ids.len() + usize::from(is_alive), with_place);
        most = most.max(parts.len());
    }
    assert!(most >= 4, "{most}");
}

#[test]
fn a_dead_ship_is_shown_with_health_0_and_acknowledges_on() {
    let mut table = swarm(200);
    let own_id = table.join(alice());
    let mut health = BTreeMap::new();
    for number in 1..1_200 {
        table.input(alice(), number, 0);
        let sent = table.tick();
        let own = own(&sent, alice());
        assert_eq!((own.id, own.kind, own.ack), (own_id, 1, number));
        let is_there = table.world().ships().iter().any(|ship| ship.player.0 == 1);
        assert_eq!(own.health > 0, is_there);
        assert!(own.health > 0 || (own.vx, own.vy) == (0, 0));
        *health.entry(own.health > 0).or_insert(0) += 1;
    }
    assert!(health[&false] > 30 && health[&true] > 300, "{health:?}");
}

#[test]
fn lives_scores_and_the_phase_are_in_the_scoreboard_of_every_tick() {
    let game = RType { opening: Opening::AtOnce, ..RType::default() };
    let mut table = Table::with(game, EndpointConfig::default());
    table.join(alice());
    table.join(bobby());
    let mut phases = BTreeSet::new();
    for number in 1..2_400 {
        table.input(alice(), number, SHOOT | [UP, DOWN][number as usize / 60 % 2]);
        table.input(bobby(), number, 0);
        let sent = table.tick();
        for (player, from) in [(1, alice()), (2, bobby())] {
            let board = snapshots(&sent, from)[0].find(256).expect("a scoreboard");
            let card = table.world().players().find(|card| card.player.0 == player).unwrap();
            let mission = table.world().mission;
            assert_eq!((board.x, board.y), (card.score as f32, mission.team_score as f32));
            assert_eq!((board.health, board.flags), (card.lives.into(), mission.phase as u16));
            phases.insert(board.flags);
        }
    }
    assert!(table.world().mission.team_score > 0);
    assert!(phases.contains(&(Phase::Playing as u16)), "{phases:?}");
}

#[test]
fn both_players_acknowledgements_are_beside_their_ships() {
    let mut table = Table::new();
    let ids = [alice(), bobby()].map(|from| table.join(from));
    for number in 1..20 {
        table.input(alice(), number, 0);
        table.input(bobby(), 1_000 + 2 * number, 0);
        let sent = table.tick();
        for from in [alice(), bobby()] {
            let ships = &snapshots(&sent, from)[0].entities;
            let ack = |id| ships.iter().find(|ship| ship.id == id).map(|ship| ship.ack);
            assert_eq!(ids.map(ack), [Some(number), Some(1_000 + 2 * number)]);
        }
    }
}

#[test]
fn no_id_means_something_else_within_ten_seconds() {
    let mut table = swarm(120);
    table.join(alice());
    // By id, with the tick in which it was there last.
    let mut seen: BTreeMap<u32, (Entity, u32)> = BTreeMap::new();
    for number in 1..3_000 {
        table.input(alice(), number, SHOOT);
        let sent = table.tick();
        let tick = table.world_tick();
        for part in snapshots(&sent, alice()) {
            for it in part.entities[1..].iter().filter(|it| it.kind != 256) {
                let Some((was, last)) = seen.insert(it.id, (*it, tick)) else { continue };
                assert!(tick - last <= 1 || tick - last > 600, "{it:?} after {}", tick - last);
                if tick - last == 1 {
                    assert_eq!((was.kind, was.flags), (it.kind, it.flags));
                    assert!((was.x - it.x).abs() < 40.0, "{was:?} is not {it:?}");
                }
            }
        }
    }
    assert!(seen.len() > 500, "{}", seen.len());
}
