//! R-Type's lobby as our own clients see it: host, ready marks, the start, and who comes late.

#[allow(dead_code, reason = "the tests of rooms use all of it")]
#[path = "../../net/tests/rooms/scene.rs"]
mod scene;

use backspin::channel::Delivery;
use backspin::client::RosterLine;
use backspin::endpoint::EndpointConfig;
use backspin::game::Buttons;
use backspin::wire::native::{PlayerFlags, RoomFlags};
use backspin_classic::Dialect;
use backspin_rtype::RType;
use backspin_rtype::command::{Command, Setup};
use backspin_rtype::difficulty::Difficulty;
use backspin_rtype::mission::Phase;
use backspin_sim::{HostId, LinkConfig, Partition};

type Scene = scene::Scene<RType>;

fn scene() -> Scene {
    let game = (RType::default(), "R-Type");
    let config = EndpointConfig { other_ports: vec![("rtype", 4300)], ..EndpointConfig::default() };
    Scene::new(1, LinkConfig::PERFECT, game, 8, config)
}

fn say(scene: &mut Scene, host: HostId, command: Command) {
    scene.client(host).send(&command, Delivery::Reliable).unwrap();
    scene.run_ms(300);
}

/// Who is host and who is ready, as `host` reads it.
fn marks(scene: &mut Scene, host: HostId) -> Vec<(u32, bool, bool)> {
    let marks = |line: &RosterLine| {
        let has = |flag| line.flags.contains(flag);
        (line.player.0, has(PlayerFlags::HOST), has(PlayerFlags::READY))
    };
    scene.client(host).roster().iter().map(marks).collect()
}

/// What the list says of the first room.
fn flags(scene: &mut Scene) -> RoomFlags {
    let host = scene.list();
    scene.rooms(host).servers().next().unwrap().rooms[0].flags
}

const CLOSED: Setup = Setup { difficulty: Difficulty::Easy, base_lives: 2, late_joining: false };

#[test]
fn everyone_reads_who_is_host_and_who_is_ready() {
    let mut scene = scene();
    let [ann, bob, cid] = [(); 3].map(|()| scene.join(|_| {}));
    let expected = [(1, true, false), (2, false, false), (3, false, false)];
    assert_eq!(marks(&mut scene, cid), expected);
    say(&mut scene, bob, Command::Ready(true));
    let expected = [(1, true, false), (2, false, true), (3, false, false)];
    for player in [ann, bob, cid] {
        assert_eq!(marks(&mut scene, player), expected);
    }
    // The next is host when the host has gone.
    scene.leave(ann);
    for player in [bob, cid] {
        assert_eq!(marks(&mut scene, player), [(2, true, true), (3, false, false)]);
    }
}

#[test]
fn it_starts_five_seconds_after_the_host_says_so_if_all_others_are_ready() {
    let mut scene = scene();
    let [ann, bob] = [(); 2].map(|()| scene.join(|_| {}));
    let phase = |scene: &Scene| scene.server().rooms()[0].world().mission.phase;
    say(&mut scene, bob, Command::Configure(CLOSED));
    say(&mut scene, ann, Command::Start);
    assert_eq!(phase(&scene), Phase::Lobby, "Bob is not ready, and sets nothing up");
    assert!(scene.server().rooms()[0].world().mission.setup.late_joining);
    say(&mut scene, bob, Command::Ready(true));
    say(&mut scene, ann, Command::Start);
    assert_eq!(phase(&scene), Phase::Countdown);
    scene.run_ms(4_500);
    assert_eq!(phase(&scene), Phase::Countdown);
    scene.run_ms(500);
    assert_eq!(phase(&scene), Phase::Playing);
}

#[test]
fn who_comes_late_is_let_in_or_led_to_another_room_as_the_host_likes() {
    for late_joining in [true, false] {
        let mut scene = scene();
        let ann = scene.join(|_| {});
        assert!(!flags(&mut scene).contains(RoomFlags::STARTED));
        say(&mut scene, ann, Command::Configure(Setup { late_joining, ..CLOSED }));
        say(&mut scene, ann, Command::Start);
        scene.run_ms(5_500);
        let listed = flags(&mut scene);
        assert!(listed.contains(RoomFlags::STARTED));
        assert_eq!(listed.contains(RoomFlags::LATE_JOIN), late_joining);
        let bob = scene.join(|_| {});
        assert_eq!(scene.client(bob).room(), Some(if late_joining { 1 } else { 2 }));
        // Who insists on the room has a place in it, and waits for the next match.
        let cid = scene.join(|config| config.room = 1);
        assert_eq!(scene.client(cid).room(), Some(1));
        let world = scene.server().rooms()[0].world();
        assert_eq!(world.ships().len(), if late_joining { 3 } else { 1 });
    }
}

#[test]
fn the_roster_is_sent_with_every_change_of_lives() {
    let mut scene = scene();
    let ann = scene.join(|_| {});
    let lives = |scene: &mut Scene| scene.client(ann).roster()[0].lives;
    assert_eq!(lives(&mut scene), 3);
    say(&mut scene, ann, Command::Configure(CLOSED));
    say(&mut scene, ann, Command::Start);
    scene.run_ms(5_500);
    // Easy is one life more.
    assert_eq!(lives(&mut scene), 3);
    scene.client(ann).press(Buttons::RIGHT);
    for _ in 0..120 {
        scene.run_ms(500);
        let now = scene.server().rooms()[0].world().players().next().unwrap().lives;
        assert_eq!(lives(&mut scene), now);
        if now < 3 {
            return;
        }
    }
    panic!("nothing hit her");
}

#[test]
fn a_host_whose_line_breaks_is_not_waited_for() {
    let mut scene = scene();
    let [ann, bob] = [(); 2].map(|()| scene.join(|_| {}));
    let server = scene.server;
    scene.world.set_partition(server, ann, Partition::Cut);
    scene.run_ms(11_000);
    assert_eq!(marks(&mut scene, bob), [(1, false, false), (2, true, false)]);
    say(&mut scene, bob, Command::Start);
    scene.run_ms(5_000);
    assert_eq!(scene.server().rooms()[0].world().mission.phase, Phase::Playing);
    // Back in time, with the ship that a bot has flown meanwhile; Bob stays host.
    scene.world.set_partition(server, ann, Partition::Healed);
    scene.run_ms(3_000);
    assert!(scene.client(ann).is_playing());
    let hosts: Vec<_> =
        marks(&mut scene, ann).into_iter().map(|(id, host, _)| (id, host)).collect();
    assert_eq!(hosts, [(1, false), (2, true)]);
}

#[test]
fn both_dialects_play_in_one_room_and_who_speaks_the_old_one_is_ready() {
    let mut scene = scene();
    let ann = scene.join(|_| {});
    let bob = scene
        .join_speaking(|now, game, config, seed| Dialect::Rtype.client(now, game, config, seed));
    assert!(scene.client(bob).is_playing());
    assert_eq!(marks(&mut scene, ann), [(1, true, false), (2, false, true)]);
    let names = |scene: &mut Scene, host| -> Vec<String> {
        scene.client(host).roster().iter().map(|line| line.name.to_string()).collect()
    };
    assert_eq!(names(&mut scene, bob), ["Guest 1", "Guest 2"]);
    assert_eq!(names(&mut scene, ann), ["Guest 1", "Guest 2"]);
    say(&mut scene, ann, Command::Start);
    scene.run_ms(5_500);
    assert_eq!(scene.server().rooms()[0].world().mission.phase, Phase::Playing);
    // Each sees the other fly.
    let ship = |scene: &mut Scene, host, id| {
        let state = scene.client(host).state();
        state.entities().iter().find(|entity| entity.id == id).map(|entity| entity.fields[0])
    };
    for (who, sees, id) in [(ann, bob, 1), (bob, ann, 2)] {
        let before = ship(&mut scene, sees, id);
        scene.client(who).press(Buttons::RIGHT);
        scene.run_ms(500);
        assert!(ship(&mut scene, sees, id) > before, "ship {id}");
    }
}
