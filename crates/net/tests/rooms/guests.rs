//! Rooms of guests of Networked Pong, who are alone with a bot; what others see of them.

use backspin::client::{Client, ClientConfig};
use backspin::endpoint::{EndpointConfig, Limits};
use backspin::game::{Buttons, PlayerId};
use backspin::session::EndReason;
use backspin::time::Time;
use backspin::wire::native::Role;
use backspin_classic::Dialect;
use backspin_sim::{LinkConfig, Preset};

use super::manned::Manned;
use super::scene;

type Scene = scene::Scene<Manned>;

fn scene_with(link: LinkConfig, config: EndpointConfig) -> Scene {
    Scene::new(4, link, (Manned::default(), "Open"), 8, config)
}

fn scene(link: LinkConfig) -> Scene {
    scene_with(link, EndpointConfig::default())
}

fn guest(now: Time, game: Manned, config: ClientConfig, seed: [u8; 32]) -> Client<Manned> {
    Dialect::Lan.client(now, game, config, seed)
}

#[test]
fn a_guest_plays_with_the_bot_over_a_bad_line_too() {
    for link in [LinkConfig::PERFECT, Preset::Reference.config()] {
        let mut scene = scene(link);
        let guest = scene.join_speaking(guest);
        scene.run_ms(1_000);
        assert_eq!(scene.client(guest).player(), Some(PlayerId(2)));
        assert_eq!(scene.numbers(), [1, 2]);
        let heights = |scene: &Scene| {
            let dots = &scene.server().rooms()[1].world().dots;
            [dots[0].y, dots[1].y]
        };
        let [_, before] = heights(&scene);
        scene.client(guest).press(Buttons::UP);
        scene.run_ms(1_000);
        let [bot, own] = heights(&scene);
        assert!(own < before - 100 && bot > 500, "the guest at {own}, the bot at {bot}");
        let shown = scene.client(guest).state().find(1).map(|bot| bot.fields[1]);
        assert!(shown.is_some_and(|y| y > 500), "the bot is shown at {shown:?}");
    }
}

#[test]
fn others_see_a_full_room_and_play_elsewhere() {
    let mut scene = scene(LinkConfig::PERFECT);
    scene.join_speaking(guest);
    let expected = [(1, 0, "Open 1".to_owned()), (2, 2, "Guest 1".to_owned())];
    assert_eq!(scene.listed(), expected);
    let natives = scene.crowd(3);
    let rooms: Vec<_> = natives.iter().map(|&host| scene.client(host).room()).collect();
    assert_eq!(rooms, [Some(1), Some(1), Some(3)]);
    let pushy = scene.join(|config| config.room = 2);
    assert_eq!(scene.client(pushy).ended(), Some(&EndReason::Full));
    scene.enter(natives[0], 2, Role::Play, "");
    assert_eq!(scene.client(natives[0]).room(), Some(1), "it stays");
    assert_eq!(scene.server().rooms()[1].members().count(), 1);
}

#[test]
fn guests_at_their_limit_leave_rooms_for_others() {
    let limits = Limits { rooms: 8, ..Limits::default() };
    let config = EndpointConfig { limits, ..EndpointConfig::default() };
    let mut scene = scene_with(LinkConfig::PERFECT, config);
    let guests = [(); 3].map(|()| scene.join_speaking(guest));
    let let_in = guests.map(|guest| scene.client(guest).is_playing());
    assert_eq!((let_in, scene.numbers()), ([true, true, false], vec![1, 2, 3]));
    let natives = scene.crowd(4);
    let rooms: Vec<_> = natives.iter().map(|&host| scene.client(host).room()).collect();
    assert_eq!(rooms, [Some(1), Some(1), Some(4), Some(4)]);
    let maker = scene.make("Hangar", "");
    assert!(scene.client(maker).is_playing());
    // The third has asked again and again, for five seconds.
    scene.run_ms(3_000);
    assert!(matches!(scene.client(guests[2]).ended(), Some(EndReason::HostSilent { .. })));
}

#[test]
fn who_watches_a_guest_sees_the_bot_and_is_told_when_the_room_closes() {
    let mut scene = scene(LinkConfig::PERFECT);
    let guest = scene.join_speaking(guest);
    let watcher = scene.join(|config| (config.room, config.role) = (2, Role::Watch));
    let roster: Vec<_> = scene.client(watcher).roster().iter().map(|line| line.name).collect();
    let names: Vec<_> = roster.iter().map(ToString::to_string).collect();
    assert_eq!(names, ["Bot", "Guest", "Guest 2"]);
    assert_eq!(scene.client(watcher).state().entities().len(), 2);
    scene.leave(guest);
    scene.run_ms(8_500);
    assert_eq!((scene.numbers(), scene.client(watcher).ended()), (vec![1, 2], None));
    scene.run_ms(1_000);
    assert_eq!(scene.client(watcher).ended(), Some(&EndReason::RoomClosed));
    assert_eq!(scene.numbers(), [1]);
    assert_eq!(scene.server().endpoint().sessions(), 0);
}
