//! A match, from the lobby to the first kill and the first lost ship.

use std::time::{Duration, Instant};

use crate::player::{BULLET, DOWN, ENEMY, Player, RIGHT, SHOOT, START_MATCH, STATE, UP};
use crate::server::{PATIENCE, Ports, Server};

/// One life, easy.
const EASY: &[u8] = &[2, 0, 13, 1, 1, 0];

/// Holds what `choose` says with every State, until it has no more to say.
#[track_caller]
fn steer(player: &mut Player, what: &str, mut choose: impl FnMut(&Player) -> Option<u8>) {
    let limit = Instant::now() + PATIENCE;
    loop {
        assert!(Instant::now() < limit, "{what}: {:?}", player.world);
        if player.receive()[2] == STATE {
            match choose(player) {
                Some(bits) => player.hold(bits),
                None => break,
            }
        }
    }
}

/// The nearest enemy in front of ship 1, and which way to fly to its height.
fn aim(player: &Player) -> u8 {
    let Some(ship) = player.ship(1) else { return 0 };
    let ahead = player.world.iter().filter(|other| other.kind == ENEMY && other.x > ship.x);
    let Some(enemy) = ahead.min_by(|a, b| a.x.total_cmp(&b.x)) else { return 0 };
    match enemy.y + 4.0 - ship.y {
        above if above < -4.0 => UP,
        below if below > 4.0 => DOWN,
        _ => 0,
    }
}

#[test]
fn a_match_is_set_up_started_played_and_counted() {
    let server = Server::start(Ports::rtype, &[]);
    let (mut alice, _alices) = Player::join(&server, b"Alice");
    let (mut bobby, _bobbys) = Player::join(&server, b"Bobby");
    // The guest has no say; the host sets it up, and everyone is told.
    bobby.send(&[2, 0, 13, 1, 6, 2]);
    bobby.send(START_MATCH);
    alice.send(EASY);
    bobby.until("word of the setup", |bobby| bobby.lobby == Some((1, 1, 0, 0)));
    alice.send(START_MATCH);
    let asked = Instant::now();
    bobby.until("start", |bobby| bobby.lobby == Some((1, 1, 0, 1)));
    let countdown = asked.elapsed();
    assert!((4.9..6.5).contains(&countdown.as_secs_f64()), "{countdown:?}");
    // Easy is one life more.
    bobby.until("lives", |bobby| bobby.lives.get(&1) == Some(&2));

    // She moves and shoots.
    let start = alice.ship(1).unwrap();
    steer(&mut alice, "moving", |alice| {
        let moved = alice.ship(1).is_some_and(|ship| ship.x > start.x + 30.0);
        (!moved).then_some(RIGHT)
    });
    steer(&mut alice, "shooting", |alice| {
        let fired = alice.world.iter().any(|entity| entity.kind == BULLET);
        (!fired).then_some(SHOOT)
    });
    // She kills: the enemy is despawned, her score and the team's are told to everyone.
    let mut enemies = Vec::new();
    steer(&mut alice, "killing", |alice| {
        let seen = alice.world.iter().filter(|entity| entity.kind == ENEMY);
        enemies.extend(seen.map(|entity| entity.id));
        let scored = alice.scores.get(&1).is_some_and(|score| *score > 0);
        (!scored).then(|| aim(alice) | SHOOT)
    });
    assert!(alice.despawned.iter().any(|id| enemies.contains(id)), "{:?}", alice.despawned);
    bobby.until("score", |bobby| bobby.scores.get(&1).is_some_and(|score| *score > 0));
    bobby.until("team score", |bobby| bobby.scores.get(&0).is_some_and(|score| *score > 0));
    // She flies into what comes: a life is gone, in the roster too.
    steer(&mut alice, "losing a ship", |alice| {
        let lost = alice.lives.get(&1) == Some(&1);
        (!lost).then(|| aim(alice) | RIGHT)
    });
    bobby.until("lost life", |bobby| bobby.lives.get(&1) == Some(&1));
    bobby.until("roster", |bobby| bobby.roster.contains(&(1, 1)));
    assert!(alice.longest < 1400 && bobby.longest < 1400);
}

#[test]
fn states_come_sixty_times_a_second_and_pings_once() {
    let server = Server::start(Ports::rtype, &[]);
    let (mut alice, _ticket) = Player::join(&server, b"Alice");
    // A busy machine may hold one of them up.
    let counts = [(); 3].map(|()| alice.listen(Duration::from_secs(2), STATE));
    assert!(counts.iter().any(|count| (114..=124).contains(count)), "{counts:?} in two seconds");
    assert!((5..=8).contains(&alice.pings), "{} in six seconds", alice.pings);
}

#[test]
fn a_ping_comes_back_verbatim_at_once_whatever_it_says() {
    let server = Server::start(Ports::rtype, &[]);
    let (mut alice, _ticket) = Player::join(&server, b"Alice");
    let mut stranger = Player::new(&server);
    for payload in [*b"\x05\0\0\0\x39\x30\0\0", [0; 8], [0xFF; 8], *b"nonsense"] {
        let ping = [&[8, 0, 7, 1], &payload[..]].concat();
        let pong = [&[8, 0, 8, 1], &payload[..]].concat();
        stranger.send(&ping);
        assert_eq!(stranger.receive(), pong);
        alice.send(&ping);
        let limit = Instant::now() + PATIENCE;
        while alice.receive() != pong {
            assert!(Instant::now() < limit, "no pong");
        }
    }
}
