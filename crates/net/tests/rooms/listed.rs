//! The list of rooms.

use std::time::Duration;

use backspin::client::ListStatus;
use backspin::endpoint::EndpointConfig;
use backspin::session::EndReason;
use backspin::wire::Name;
use backspin::wire::native::RoomFlags;
use backspin_sim::{LinkConfig, Preset};

use super::scene::server_address;
use super::scene_with;

#[test]
fn the_list_says_who_is_where_and_how_far_it_is() {
    let link = LinkConfig::PERFECT.with_rtt(Duration::from_millis(50));
    let mut scene = scene_with(6, link, 8, EndpointConfig::default());
    scene.join(|_| {});
    scene.make("Vault", "sesame");
    let host = scene.list();
    let rooms = scene.rooms(host);
    assert!(rooms.is_settled());
    let server = rooms.servers().next().unwrap();
    assert_eq!((server.address, server.status), (server_address().into(), ListStatus::Listed));
    let ping = server.ping.unwrap().as_secs_f64() * 1e3;
    assert!((ping - 50.0).abs() < 1.0, "{ping} ms");
    let [open, vault] = server.rooms[..] else { panic!("{:?}", server.rooms) };
    assert_eq!((open.room, open.players, open.capacity, open.name), (1, 1, 4, Name::new("Dots 1")));
    assert!(!open.flags.contains(RoomFlags::LOCKED));
    assert_eq!((vault.room, vault.players, vault.name), (2, 1, Name::new("Vault")));
    assert!(vault.flags.contains(RoomFlags::LOCKED));
    assert_eq!(rooms.named(Name::new("Vault")).map(|pick| pick.room.room), Some(2));
    assert_eq!(rooms.named(Name::new("Cellar")), None);
    // Nobody is sent into a locked room.
    assert_eq!(rooms.best().map(|pick| pick.room.room), Some(1));
    // It stays new.
    scene.join(|_| {});
    scene.run_ms(2_100);
    assert_eq!(scene.rooms(host).servers().next().unwrap().rooms[0].players, 2);
}

#[test]
fn a_long_list_comes_in_pages_over_a_bad_line_too() {
    let mut scene = scene_with(7, Preset::Reference.config(), 8, EndpointConfig::default());
    for room in 0..40 {
        scene.knock(&format!("10.1.1.{}", room + 1), |config| {
            config.new_room = Some(Name::new(&format!("Room {room}")));
        });
    }
    scene.run_ms(3_000);
    let host = scene.list();
    scene.run_ms(3_000);
    let server = scene.rooms(host).servers().next().unwrap();
    assert_eq!(server.rooms.len(), 41);
    let mut numbers: Vec<_> = server.rooms.iter().map(|room| room.room).collect();
    numbers.dedup();
    assert_eq!(numbers.len(), 41);
}

#[test]
fn a_server_that_is_not_there_is_given_up_and_the_nearest_with_a_place_is_the_best() {
    let link = LinkConfig::PERFECT.with_rtt(Duration::from_millis(20));
    let mut scene = scene_with(8, link, 1, EndpointConfig::default());
    let nowhere = "10.0.0.77:4300".parse().unwrap();
    let host = scene.list_of(&[nowhere, server_address()]);
    assert!(!scene.rooms(host).is_settled());
    assert_eq!(scene.rooms(host).best().map(|pick| pick.server), Some(server_address().into()));
    scene.run_ms(5_000);
    let rooms = scene.rooms(host);
    assert!(rooms.is_settled());
    let failed = ListStatus::Failed(EndReason::NoAnswer { address: nowhere.into() });
    assert_eq!(rooms.servers().next().unwrap().status, failed);
    // A full room is no place to go.
    scene.crowd(4);
    scene.run_ms(2_100);
    assert_eq!(scene.rooms(host).best(), None);
}
