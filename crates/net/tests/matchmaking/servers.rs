//! Which servers are played on, and what players see of a matchmaker.

use std::time::Duration;

use backspin::client::{ListStatus, Rooms};
use backspin::matching::{MatchEvent, MatchKey, MatchLimits, READY_FOR, SeekStatus, WAIT_MOST};
use backspin::node::Node;
use backspin::session::EndReason;
use backspin::time::Time;
use backspin::wire::Name;
use backspin_sim::{HostId, LinkConfig, Loss, Partition};

use crate::desk::Desk;
use crate::scene::{KEY, Scene, game, matchmaker, matchmaker_address, ms, server_address};

const LINK: LinkConfig = LinkConfig::PERFECT;

fn seek_four(scene: &mut Scene, rtts: &[Duration]) -> [HostId; 4] {
    [(); 4].map(|()| scene.seek(rtts))
}

#[test]
fn four_players_meet_in_one_room_on_the_server_that_is_near_to_them() {
    let mut scene = Scene::new(1, LINK.with_rtt(ms(30)), &[Some(KEY); 2]);
    scene.run_ms(1_000);
    let four = seek_four(&mut scene, &[ms(80), ms(10)]);
    scene.run_ms(3_000);
    let matched = four.map(|host| scene.matched(host).expect("within three seconds"));
    let first = matched[0];
    assert_eq!(first.server.socket_addr(), server_address(1));
    assert!(!first.room_name.is_empty() && !first.password.is_empty());
    assert!(matched.iter().all(|it| it.room_name == first.room_name));
    assert!(matched.iter().all(|it| it.password == first.password && it.players == 4));
    let mut seats = matched.map(|it| it.seat);
    seats.sort_unstable();
    assert_eq!(seats, [0, 1, 2, 3], "one makes the room");
    assert!((10_000..13_000).contains(&first.worst), "{} µs", first.worst);
    // The next four get another room, with another password.
    let next = seek_four(&mut scene, &[ms(80), ms(10)]);
    scene.run_ms(3_000);
    let next = scene.matched(next[0]).unwrap();
    assert!(next.room_name != first.room_name && next.password != first.password);
}

#[test]
fn a_lone_player_waits_so_long_and_goes_where_others_may_come() {
    let mut scene = Scene::new(2, LINK.with_rtt(ms(30)), &[Some(KEY); 2]);
    scene.run_ms(1_000);
    let host = scene.seek(&[ms(80), ms(10)]);
    scene.run_ms(WAIT_MOST.as_millis() as u64 - 500);
    assert_eq!(scene.status(host), SeekStatus::Waiting(1));
    scene.run_ms(2_000);
    let matched = scene.matched(host).unwrap();
    assert_eq!(matched.server.socket_addr(), server_address(1));
    assert_eq!((matched.room_name, matched.players), (Name::default(), 1));
}

#[test]
fn a_player_who_gives_up_is_forgotten_at_once_and_put_into_no_room() {
    let mut scene = Scene::new(5, LINK.with_rtt(ms(30)), &[Some(KEY)]);
    scene.run_ms(1_000);
    let four = seek_four(&mut scene, &[ms(10)]);
    // They wait, and are not measured yet.
    scene.run_ms(70);
    assert!(four.iter().all(|host| matches!(scene.status(*host), SeekStatus::Waiting(_))));
    assert_eq!(scene.kept(), 4);
    scene.leave(four[3]);
    scene.run_ms(20);
    assert_eq!(scene.kept(), 3);
    assert_eq!(scene.status(four[3]), SeekStatus::Failed(EndReason::Left));
    // Three never fill a room of four before they have waited long enough to play with fewer.
    scene.run_ms(5_000);
    assert!(four.iter().all(|host| scene.matched(*host).is_none()));
    scene.run_ms(WAIT_MOST.as_millis() as u64);
    assert!(four[..3].iter().all(|host| scene.matched(*host).is_some_and(|it| it.players == 3)));
}

#[test]
fn on_a_line_that_loses_a_tenth_and_on_one_of_1300_ms_players_meet() {
    let loss = Loss { probability: 0.1, burst_len: 1.0 };
    for (seed, link) in [(3, LinkConfig { loss, ..LINK }), (4, LINK.with_rtt(ms(1_300)))] {
        let mut scene = Scene::new(seed, link, &[Some(KEY); 2]);
        scene.run_ms(8_000);
        let four = seek_four(&mut scene, &[]);
        scene.run_ms(WAIT_MOST.as_millis() as u64 + 5_000);
        let matched = four.map(|host| scene.matched(host).expect("everyone is placed"));
        assert!(matched.iter().all(|it| it.room_name == matched[0].room_name), "{matched:?}");
    }
}

#[test]
fn a_server_that_falls_silent_drains_or_has_another_key_is_not_played_on() {
    let keys = [Some(KEY), Some(MatchKey([9; 16])), None, Some(KEY), Some(KEY)];
    let mut scene = Scene::new(5, LINK.with_rtt(ms(30)), &keys);
    scene.run_ms(1_000);
    let mut events = scene.events();
    events.sort_by_key(|event| format!("{event:?}"));
    let ready = |index| MatchEvent::ServerReady(server_address(index));
    let lost = |index| MatchEvent::ServerLost(server_address(index));
    let foreign = MatchEvent::ServerKey(server_address(1));
    assert_eq!(events, [foreign, ready(0), ready(3), ready(4)]);
    scene.server_mut(0).drain();
    let (matchmaker, third) = (scene.matchmaker, scene.servers[3]);
    scene.world.set_partition(matchmaker, third, Partition::Cut);
    scene.run_ms(READY_FOR.as_millis() as u64 + 2_500);
    let mut events = scene.events();
    events.sort_by_key(|event| format!("{event:?}"));
    assert_eq!(events, [lost(0), lost(2), lost(3)]);
    // All are nearer than the last.
    let four = seek_four(&mut scene, &[ms(5), ms(5), ms(5), ms(5), ms(90)]);
    scene.run_ms(5_000);
    let matched = four.map(|host| scene.matched(host).expect("there is one server left"));
    assert!(matched.iter().all(|it| it.server.socket_addr() == server_address(4)));
    scene.world.set_partition(matchmaker, third, Partition::Healed);
    scene.run_ms(5_000);
    assert!(scene.events().contains(&ready(3)));
}

#[test]
fn who_falls_silent_is_not_put_into_a_room() {
    let mut scene = Scene::new(6, LINK.with_rtt(ms(30)), &[Some(KEY)]);
    scene.run_ms(1_000);
    let gone = scene.seek(&[]);
    let three = [(); 3].map(|()| scene.seek(&[]));
    // One is cut off before the fourth report is in.
    scene.run_ms(40);
    scene.world.set_partition(gone, scene.matchmaker, Partition::Cut);
    scene.run_ms(WAIT_MOST.as_millis() as u64 + 2_000);
    assert_eq!(scene.matched(gone), None);
    let matched = three.map(|host| scene.matched(host).expect("the three play"));
    assert!(matched.iter().all(|it| it.players == 3), "{matched:?}");
}

#[test]
fn a_server_that_was_started_anew_and_a_matchmaker_that_was_are_found_again() {
    use crate::scene::{Party, game_server, seeded_matchmaker};
    let mut scene = Scene::new(8, LINK.with_rtt(ms(30)), &[Some(KEY)]);
    scene.run_ms(1_000);
    let host = scene.seek(&[]);
    scene.run_ms(1_000);
    assert_eq!(scene.status(host), SeekStatus::Waiting(1));
    let fresh = Party::Server(Box::new(game_server(Some(KEY), 77)));
    scene.world.replace(scene.servers[0], fresh);
    let fresh = seeded_matchmaker(1, MatchLimits::default(), 2);
    scene.world.replace(scene.matchmaker, Party::Matchmaker(Box::new(fresh)));
    scene.run_ms(5_000);
    let others = [(); 3].map(|()| scene.seek(&[]));
    scene.run_ms(3_000);
    for host in [host, others[0], others[1], others[2]] {
        assert_eq!(scene.matched(host).expect("all four play").players, 4);
    }
}

#[test]
fn who_asks_a_matchmaker_for_its_rooms_is_told_what_it_is() {
    let mut desk = Desk::new(matchmaker(1, MatchLimits::default()));
    let own = "192.0.2.1:5000".parse().unwrap();
    let mut rooms = Rooms::new(Time::ZERO, game(), &[matchmaker_address()], [8; 32]);
    let path = backspin::node::Path::to(matchmaker_address());
    let mut out = [0; 2048];
    for _ in 0..4 {
        rooms.handle_timeout(desk.now);
        while let Some(sent) = rooms.poll_transmit(desk.now, &mut out) {
            for (_, mut bytes) in desk.receive(own, &out[..sent.len]) {
                rooms.handle_datagram(desk.now, path, &mut bytes);
            }
        }
        desk.now += ms(10);
    }
    let status = rooms.servers().next().unwrap().status;
    assert_eq!(status, ListStatus::Failed(EndReason::Matchmaker));
}
