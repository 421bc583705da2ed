//! From one room to another.

use backspin::client::ClientEvent;
use backspin::endpoint::EndpointConfig;
use backspin::game::{Buttons, PlayerId};
use backspin::session::EndReason;
use backspin::wire::native::Role;
use backspin_sim::{LinkConfig, Loss, Preset};

use super::{Scene, scene_with};

fn scene(link: LinkConfig) -> Scene {
    scene_with(9, link, 8, EndpointConfig::default())
}

#[test]
fn a_player_goes_to_another_room_with_the_same_session_and_plays_there() {
    for (link, seed) in [(LinkConfig::PERFECT, 9), (Preset::Reference.config(), 10)] {
        let mut scene = scene_with(seed, link, 8, EndpointConfig::default());
        scene.make("Hangar", "");
        scene.run_ms(2_000);
        let guest = scene.join(|config| config.room = 1);
        scene.run_ms(2_000);
        let (session, ticket) = (scene.client(guest).session(), scene.client(guest).ticket());
        scene.events(guest);
        scene.enter(guest, 2, Role::Play, "");
        scene.run_ms(2_000);
        assert!(scene.events(guest).contains(&ClientEvent::Connected(PlayerId(2))));
        let client = scene.client(guest);
        assert_eq!((client.room(), client.player()), (Some(2), Some(PlayerId(2))));
        assert_eq!((client.session(), client.ticket()), (session, ticket));
        assert_eq!(client.roster().len(), 2);
        let dots: Vec<_> =
            scene.server().rooms().iter().map(|room| room.world().dots.len()).collect();
        assert_eq!(dots, [0, 2]);
        // What is held there moves the dot there.
        let before = scene.server().rooms()[1].world().dots[1].y;
        scene.client(guest).press(Buttons::DOWN);
        scene.run_ms(1_000);
        assert!(scene.server().rooms()[1].world().dots[1].y > before + 200);
        assert!(scene.client(guest).predicted().is_some());
        // And back to any other room.
        scene.enter(guest, 0, Role::Play, "");
        scene.run_ms(2_000);
        assert_eq!(scene.client(guest).room(), Some(1));
    }
}

#[test]
fn who_is_refused_stays_and_is_told_why() {
    let mut scene = scene(LinkConfig::PERFECT);
    scene.make("Vault", "sesame");
    let guest = scene.join(|_| {});
    scene.events(guest);
    for (room, password, reason) in [
        (2, "guess", EndReason::Password),
        (7, "", EndReason::NoSuchRoom),
        (0, "", EndReason::Full),
    ] {
        scene.enter(guest, room, Role::Play, password);
        assert_eq!(scene.client(guest).room(), Some(1));
        let events = scene.events(guest);
        assert!(events.contains(&ClientEvent::Stayed(reason)), "{events:?}");
        assert!(scene.client(guest).is_playing());
    }
    let states = scene.client(guest).counts().states;
    scene.run_ms(1_000);
    assert!(scene.client(guest).counts().states > states + 50, "it plays on");
    scene.enter(guest, 2, Role::Play, "sesame");
    assert_eq!(scene.client(guest).room(), Some(2));
}

#[test]
fn a_player_becomes_a_watcher_and_a_player_again() {
    let mut scene = scene(LinkConfig::PERFECT);
    let guest = scene.join(|_| {});
    scene.enter(guest, 1, Role::Watch, "");
    assert_eq!(scene.client(guest).player(), Some(PlayerId(5)));
    assert!(scene.server().rooms()[0].world().dots.is_empty());
    let states = scene.client(guest).counts().states;
    scene.run_ms(1_000);
    assert!(scene.client(guest).counts().states > states + 50);
    scene.enter(guest, 1, Role::Play, "");
    assert_eq!(scene.client(guest).player(), Some(PlayerId(1)));
    assert_eq!(scene.server().rooms()[0].world().dots.len(), 1);
    assert_eq!(scene.server().endpoint().sessions(), 1);
}

#[test]
fn who_enters_the_room_that_it_is_in_has_a_new_place_and_begins_anew_there() {
    let mut scene = scene(LinkConfig::PERFECT);
    let guest = scene.join(|_| {});
    scene.events(guest);
    scene.enter(guest, 1, Role::Play, "");
    // Not `Resumed`: what was told in the old place is over, and counting on from there would skip
    // what is told in the new one.
    assert!(scene.events(guest).contains(&ClientEvent::Connected(PlayerId(2))));
    assert_eq!(scene.client(guest).player(), Some(PlayerId(2)));
    assert_eq!(scene.server().endpoint().sessions(), 1);
}

#[test]
fn a_made_room_closes_when_its_last_player_goes_to_another() {
    let mut scene = scene(LinkConfig::PERFECT);
    let maker = scene.make("Hangar", "");
    assert_eq!(scene.numbers(), [1, 2]);
    scene.enter(maker, 1, Role::Play, "");
    assert_eq!((scene.client(maker).room(), scene.numbers()), (Some(1), vec![1]));
}

#[test]
fn who_loses_the_line_on_the_way_is_found_where_the_ticket_leads() {
    let mut scene = scene(LinkConfig::PERFECT);
    scene.make("Hangar", "");
    let guest = scene.join(|config| config.room = 1);
    // The question arrives; no answer does.
    let deaf = LinkConfig { loss: Loss::independent(1.0), ..LinkConfig::PERFECT };
    let server = scene.server;
    scene.world.set_link_one_way(server, guest, deaf);
    scene.enter(guest, 2, Role::Play, "");
    scene.run_ms(6_000);
    assert_eq!(scene.server().rooms()[1].world().dots.len(), 2);
    scene.world.set_link_one_way(server, guest, LinkConfig::PERFECT);
    scene.run_ms(4_000);
    assert_eq!(scene.client(guest).room(), Some(2));
    assert!(scene.client(guest).is_playing());
}
