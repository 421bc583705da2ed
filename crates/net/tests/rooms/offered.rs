//! Rooms that are always there.

use std::cell::Cell;
use std::time::Duration;

use backspin::endpoint::{EndpointConfig, Limits};
use backspin::node::{Node, Prefetch};
use backspin::session::EndReason;
use backspin::wire::native::Role;
use backspin_sim::{Chance, LinkConfig};

use super::{Scene, scene_with};

fn scene(most: u16) -> Scene {
    scene_with(1, LinkConfig::PERFECT, most, EndpointConfig::default())
}

#[test]
fn there_is_one_open_room_and_the_next_opens_with_the_last_place() {
    let mut scene = scene(3);
    assert_eq!(scene.listed(), [(1, 0, "Dots 1".to_owned())]);
    for players in 1..=3 {
        scene.join(|_| {});
        assert_eq!(scene.listed(), [(1, players, "Dots 1".to_owned())]);
    }
    let fourth = scene.join(|_| {});
    assert_eq!(scene.client(fourth).room(), Some(1));
    let both = [(1, 4, "Dots 1".to_owned()), (2, 0, "Dots 2".to_owned())];
    assert_eq!(scene.listed(), both);
    let fifth = scene.join(|_| {});
    assert_eq!(scene.client(fifth).room(), Some(2));
    // One place is free again: the next goes there, to the fuller room.
    scene.leave(fourth);
    let sixth = scene.join(|_| {});
    assert_eq!(scene.client(sixth).room(), Some(1));
}

#[test]
fn a_room_that_is_needed_no_more_closes_and_its_number_does_not_come_again() {
    let mut scene = scene(3);
    let guests = scene.crowd(4);
    assert_eq!(scene.numbers(), [1, 2]);
    scene.leave(guests[0]);
    assert_eq!(scene.numbers(), [1]);
    scene.join(|_| {});
    assert_eq!(scene.numbers(), [1, 3]);
    assert_eq!(scene.listed()[1].2, "Dots 2");
}

#[test]
fn many_rooms_tick_bit_by_bit_and_all_of_them() {
    let mut scene = scene(80);
    scene.crowd(160);
    let ticks = |scene: &Scene| -> Vec<u32> {
        scene.server().rooms().iter().map(|room| room.tick()).collect()
    };
    let before = ticks(&scene);
    let due = scene.server().poll_timeout().unwrap();
    scene.server_mut().handle_timeout(due);
    // Rooms with 128 members are enough for one go, and the others are still due.
    let rooms = scene.server().rooms().iter().zip(&before);
    let stepped = rooms.filter(|(room, then)| room.tick() > **then);
    let told: usize = stepped.map(|(room, _)| room.members().count()).sum();
    assert_eq!((told, scene.server().poll_timeout()), (128, Some(due)));
    while scene.server().poll_timeout().is_some_and(|next| next <= due) {
        scene.server_mut().handle_timeout(due);
    }
    assert!(ticks(&scene).iter().zip(&before).all(|(now, then)| *now == then + 1));
}

#[test]
fn a_server_too_slow_for_its_rooms_keeps_none_of_them_waiting_for_others_to_tick_twice() {
    let mut scene = scene(80);
    scene.crowd(160);
    let begun = scene.server().poll_timeout().unwrap();
    // Each go takes as long as a tick, and what is due at first takes more than one.
    let (mut now, mut goes) = (begun, 0);
    while scene.server().poll_timeout().is_some_and(|due| due <= begun) {
        scene.server_mut().handle_timeout(now);
        now += Duration::from_millis(17);
        goes += 1;
        assert!(goes < 100, "some rooms never have their turn");
    }
    assert_eq!(goes, 2);
}

thread_local! {
    /// How many bytes were asked for.
    static FETCHED: Cell<usize> = const { Cell::new(0) };
}

/// How many bytes a server wants near for what is coming.
fn foreseen(scene: &Scene, coming: Prefetch<'_>) -> usize {
    FETCHED.set(0);
    scene.server().prefetch(coming, |_, len| FETCHED.set(FETCHED.get() + len));
    FETCHED.get()
}

#[test]
fn what_a_tick_will_touch_is_foreseen_of_the_rooms_that_are_due() {
    let mut scene = scene(3);
    let due = scene.server().poll_timeout().unwrap();
    assert_eq!(foreseen(&scene, Prefetch::Timeout(due - Duration::from_nanos(1))), 0);
    let of_one = foreseen(&scene, Prefetch::Timeout(due));
    assert!(of_one > 0);
    scene.crowd(2);
    let later = scene.world.now() + Duration::from_secs(1);
    let with_members = foreseen(&scene, Prefetch::Timeout(later));
    assert!(with_members > of_one + 2 * 256, "{of_one} {with_members}");
}

#[test]
fn whatever_comes_can_be_foreseen() {
    let mut scene = scene(3);
    scene.crowd(4);
    let mut chance = Chance::new(1, 0);
    for _ in 0..10_000 {
        let mut bytes = vec![0; chance.below(40) as usize];
        bytes.fill_with(|| chance.below(4) as u8);
        let steps = [Prefetch::Sender(&bytes), Prefetch::Way(&bytes), Prefetch::Datagram(&bytes)];
        for step in steps {
            assert!(foreseen(&scene, step) <= 2048);
        }
    }
}

#[test]
fn ticks_that_were_let_go_count_when_their_room_is_closed_too() {
    let mut scene = scene(3);
    let guests = scene.crowd(4);
    let late = scene.world.now() + Duration::from_secs(2);
    scene.server_mut().handle_timeout(late);
    let of_rooms = |scene: &Scene| -> Vec<u64> {
        scene.server().rooms().iter().map(|room| room.late_ticks()).collect()
    };
    let lost = of_rooms(&scene);
    assert!(lost.len() == 2 && lost.iter().all(|&ticks| ticks > 100), "{lost:?}");
    assert_eq!(scene.server().late_ticks(), lost[0] + lost[1]);
    scene.run_ms(4_000);
    scene.leave(guests[0]);
    assert_eq!(of_rooms(&scene), lost[..1]);
    assert_eq!(scene.server().late_ticks(), lost[0] + lost[1]);
}

#[test]
fn a_watcher_keeps_a_room_open_and_takes_nobodys_place() {
    let mut scene = scene(3);
    scene.crowd(4);
    let watcher = scene.join(|config| {
        (config.room, config.role) = (2, Role::Watch);
    });
    assert_eq!(scene.client(watcher).room(), Some(2));
    assert_eq!(scene.listed()[1].1, 0, "nobody plays");
    scene.leave(watcher);
    assert_eq!(scene.numbers(), [1, 2], "and the other one is full");
}

#[test]
fn open_rooms_end_at_their_limit_and_one_past_it_nobody_gets_in() {
    let mut scene = scene(2);
    let guests = scene.crowd(8);
    assert_eq!(scene.numbers(), [1, 2]);
    assert!(guests.iter().all(|guest| scene.client(*guest).is_playing()));
    let ninth = scene.join(|_| {});
    assert_eq!(scene.client(ninth).ended(), Some(&EndReason::Full));
    scene.leave(guests[0]);
    let tenth = scene.join(|_| {});
    assert!(scene.client(tenth).is_playing());
}

#[test]
fn the_limit_of_the_server_counts_too() {
    let limits = Limits { rooms: 2, ..Limits::default() };
    let config = EndpointConfig { limits, ..EndpointConfig::default() };
    let mut scene = scene_with(2, LinkConfig::PERFECT, 9, config);
    scene.crowd(8);
    assert_eq!(scene.numbers(), [1, 2]);
    let ninth = scene.join(|_| {});
    assert_eq!(scene.client(ninth).ended(), Some(&EndReason::Full));
}
