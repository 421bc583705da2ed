//! Rooms that players make.

use backspin::client::ClientConfig;
use backspin::endpoint::{EndpointConfig, Limits};
use backspin::session::EndReason;
use backspin::wire::Name;
use backspin_sim::{HostId, LinkConfig, Preset};

use super::{Scene, scene_with};

fn scene() -> Scene {
    scene_with(3, LinkConfig::PERFECT, 8, EndpointConfig::default())
}

/// To that room with that password.
fn room(number: u32, password: &str) -> impl FnOnce(&mut ClientConfig) {
    let password = Name::new(password);
    move |config| (config.room, config.password) = (number, password)
}

fn ended(scene: &mut Scene, guest: HostId) -> Option<EndReason> {
    scene.client(guest).ended().copied()
}

#[test]
fn who_makes_a_room_is_in_it_and_it_closes_behind_the_last() {
    let mut scene = scene();
    let maker = scene.make("Hangar", "");
    assert_eq!(scene.client(maker).room(), Some(2));
    assert_eq!(scene.client(maker).player().map(|player| player.0), Some(1));
    assert_eq!(scene.listed()[1], (2, 1, "Hangar".to_owned()));
    let guest = scene.join(room(2, ""));
    assert_eq!(scene.client(guest).room(), Some(2));
    scene.leave(maker);
    assert_eq!(scene.numbers(), [1, 2]);
    scene.leave(guest);
    assert_eq!(scene.numbers(), [1]);
    let late = scene.join(room(2, ""));
    assert_eq!(ended(&mut scene, late), Some(EndReason::NoSuchRoom));
}

#[test]
fn a_room_is_made_once_over_a_bad_line_too() {
    for seed in 1..=10 {
        let link = Preset::Reference.config();
        let mut scene = scene_with(seed, link, 8, EndpointConfig::default());
        let maker = scene.make("Hangar", "");
        scene.run_ms(4_000);
        assert_eq!(scene.client(maker).room(), Some(2));
        assert_eq!(scene.numbers(), [1, 2]);
    }
}

#[test]
fn nobody_is_sent_into_a_locked_room_and_only_the_password_opens_it() {
    let mut scene = scene();
    scene.make("Vault", "sesame");
    let anyone = scene.join(|_| {});
    assert_eq!(scene.client(anyone).room(), Some(1));
    for wrong in ["", "Sesame", "sesam", "sesame!"] {
        let guest = scene.join(room(2, wrong));
        assert_eq!(ended(&mut scene, guest), Some(EndReason::Password), "{wrong:?}");
    }
    let guest = scene.join(room(2, "sesame"));
    assert_eq!(scene.client(guest).room(), Some(2));
}

#[test]
fn passwords_are_tried_so_often_and_then_not_at_all_for_a_while() {
    let mut scene = scene();
    scene.make("Vault", "sesame");
    // All at once, from one address: nobody waits for the others.
    let guesses: Vec<_> = (0..=Limits::default().password_tries)
        .map(|_| scene.knock("10.9.9.9", room(2, "guess")))
        .collect();
    scene.run_ms(900);
    let mut reasons: Vec<_> =
        guesses.iter().map(|guess| ended(&mut scene, *guess).unwrap()).collect();
    assert_eq!(reasons.pop(), Some(EndReason::TooManyTries));
    assert!(reasons.iter().all(|reason| *reason == EndReason::Password), "{reasons:?}");
    // The right one is not listened to either; from elsewhere it is.
    let right = scene.knock("10.9.9.9", room(2, "sesame"));
    scene.run_ms(50);
    assert_eq!(ended(&mut scene, right), Some(EndReason::TooManyTries));
    let friend = scene.join(room(2, "sesame"));
    assert_eq!(scene.client(friend).room(), Some(2));
    // A moment later it is.
    scene.run_ms(1_000);
    let again = scene.join_from("10.9.9.9", room(2, "sesame"));
    assert_eq!(scene.client(again).room(), Some(2));
    assert_eq!(scene.server().endpoint().counts().password_limit, 2);
}

#[test]
fn a_name_is_needed_and_nobody_elses() {
    let mut scene = scene();
    scene.make("Hangar", "");
    for taken in ["Hangar", "Dots 1", ""] {
        let maker = scene.make(taken, "");
        assert_eq!(ended(&mut scene, maker), Some(EndReason::RoomName), "{taken:?}");
    }
    // The longest there is.
    let maker = scene.make("fifteen bytes..", "fifteen bytes..");
    assert!(scene.client(maker).is_playing());
    assert_eq!(scene.listed().len(), 3);
}

#[test]
fn one_address_makes_four_rooms_and_no_fifth() {
    let mut scene = scene();
    let make = |scene: &mut Scene, name: &str| {
        scene.join_from("10.7.7.7", |config| config.new_room = Some(Name::new(name)))
    };
    let makers = ["a", "b", "c", "d"].map(|name| make(&mut scene, name));
    assert!(makers.iter().all(|maker| scene.client(*maker).is_playing()));
    let fifth = make(&mut scene, "e");
    assert_eq!(ended(&mut scene, fifth), Some(EndReason::TooManyRooms));
    let elsewhere = scene.make("f", "");
    assert!(scene.client(elsewhere).is_playing());
    scene.leave(makers[0]);
    let again = make(&mut scene, "g");
    assert!(scene.client(again).is_playing());
}

#[test]
fn a_server_has_as_many_rooms_as_it_may_and_no_more() {
    let limits = Limits { rooms: 3, ..Limits::default() };
    let config = EndpointConfig { limits, ..EndpointConfig::default() };
    let mut scene = scene_with(4, LinkConfig::PERFECT, 8, config);
    let makers = ["a", "b"].map(|name| scene.make(name, ""));
    assert!(makers.iter().all(|maker| scene.client(*maker).is_playing()));
    let third = scene.make("c", "");
    assert_eq!(ended(&mut scene, third), Some(EndReason::TooManyRooms));
    assert_eq!(scene.numbers(), [1, 2, 3]);
}

#[test]
fn a_room_that_cannot_be_entered_is_not_made() {
    let limits = Limits { sessions: 1, sessions_per_ip: 1, ..Limits::default() };
    let config = EndpointConfig { limits, ..EndpointConfig::default() };
    let mut scene = scene_with(5, LinkConfig::PERFECT, 8, config);
    scene.join_from("10.5.5.5", |_| {});
    let same = scene.join_from("10.5.5.5", |config| config.new_room = Some(Name::new("a")));
    assert_eq!(ended(&mut scene, same), Some(EndReason::TooManyFromAddress));
    let other = scene.make("b", "");
    assert_eq!(ended(&mut scene, other), Some(EndReason::Full));
    assert_eq!(scene.numbers(), [1]);
}
