//! Node logs.

use std::net::IpAddr;
use std::time::Duration;

use backspin::client::ClientConfig;
use backspin::endpoint::EndpointConfig;
use backspin::game::{GameId, PlayerId};
use backspin::node::Node;
use backspin::peer::PeerAddr;
use backspin::room::RoomConfig;
use backspin::session::EndReason;
use backspin::time::Time;
use backspin::wire::Name;
use backspin::wire::native::CloseReason;
use backspin_classic::Dialect;
use backspin_record::log::{Build, LogError, Rerun, Verdict};
use backspin_record::{Damage, FRAME_LIMIT, Recorded};
use backspin_sim::dot::Dots;
use backspin_sim::{Chance, Partition, Preset};

use crate::counting;
use crate::scene::{Scene, bad_link};

fn dots(id: GameId) -> Option<Dots> {
    (id == GameId::new(*b"DOTS", 1)).then_some(Dots::default())
}

/// Replays a log that comes in pieces of `piece` bytes.
fn replay_in(log: &[u8], piece: usize) -> Result<Verdict, LogError> {
    let mut rerun = Rerun::new(dots).speaking(backspin_classic::dialects());
    for bytes in log.chunks(piece) {
        rerun.handle_bytes(bytes)?;
    }
    rerun.finish()
}

fn replay(log: &[u8]) -> Result<Verdict, LogError> {
    replay_in(log, 64 * 1024)
}

/// A match with everything in it: all dialects, losses, a drop and a return, a kick, the end.
fn eventful_match(seed: u64) -> Vec<u8> {
    let mut scene = Scene::new(Dots::default(), seed, bad_link());
    let alice = scene.join(Dialect::Native);
    scene.join(Dialect::Rtype);
    scene.run(Duration::from_secs(3));
    scene.join(Dialect::Lan);
    let dave = scene.join(Dialect::Native);
    scene.run(Duration::from_secs(3));
    let server = scene.server_id();
    scene.world.set_partition(server, alice, Partition::Cut);
    scene.run(Duration::from_secs(12));
    scene.world.set_partition(server, alice, Partition::Healed);
    scene.client(dave).leave();
    scene.run(Duration::from_secs(3));
    let now = scene.world.now();
    scene.server().kick(now, 0, PlayerId(2));
    scene.run(Duration::from_secs(2));
    let now = scene.world.now();
    scene.server().close(now, CloseReason::Stopping);
    scene.run(Duration::from_millis(100));
    scene.finish()
}

#[test]
fn a_recorded_match_replays_to_the_same_digest() {
    for seed in 1..=3 {
        let verdict = replay(&eventful_match(seed)).unwrap();
        assert_eq!(verdict.difference, None);
        let counts = verdict.counts;
        assert!(counts.checkpoints >= 22, "{counts:?}");
        assert!(counts.joined >= 4, "{counts:?}");
        assert!(counts.stream_events > 0 && counts.transmits > 1_000, "{counts:?}");
        assert_eq!(counts.rooms, 2);
        assert_eq!(verdict.origin.build, Build::HERE);
        assert!(verdict.length >= Duration::from_secs(23), "{:?}", verdict.length);
    }
}

#[test]
fn what_an_operator_does_replays_too() {
    let mut scene = Scene::new(Dots::default(), 7, bad_link());
    let (alice, _bob) = (scene.join(Dialect::Native), scene.join(Dialect::Rtype));
    scene.run(Duration::from_secs(3));
    let (now, first) = (scene.world.now(), IpAddr::from([10, 0, 0, 2]).into());
    scene.server().ban(now, first, Some(Duration::from_secs(5))).unwrap();
    scene.server().drain(now);
    scene.run(Duration::from_secs(2));
    assert_eq!(scene.client(alice).ended(), Some(&EndReason::Banned));
    let turned_away = scene.join(Dialect::Native);
    scene.run(Duration::from_secs(2));
    assert_eq!(scene.client(turned_away).ended(), Some(&EndReason::Stopping));
    let now = scene.world.now();
    scene.server().undrain(now);
    scene.server().ban(now, IpAddr::from([10, 0, 0, 6]).into(), None).unwrap();
    scene.server().ban(now, IpAddr::from([10, 0, 0, 5]).into(), None).unwrap();
    scene.server().lift_ban(now, IpAddr::from([10, 0, 0, 5]).into());
    let (lifted, banned) = (scene.join(Dialect::Native), scene.join(Dialect::Native));
    scene.run(Duration::from_secs(4));
    assert_eq!(scene.client(lifted).ended(), None);
    assert_eq!(scene.client(banned).ended(), Some(&EndReason::Banned));
    let now = scene.world.now();
    assert!(!scene.server().server().endpoint().is_banned(now, first));
    let verdict = replay(&scene.finish()).unwrap();
    assert_eq!(verdict.difference, None);
    assert_eq!(verdict.counts.joined, 3);
}

#[test]
fn a_session_that_goes_on_over_a_connection_replays_too() {
    let mut scene = Scene::new(Dots::default(), 9, bad_link());
    let alice = scene.join(Dialect::Native);
    scene.run(Duration::from_secs(3));
    // She has no socket address any more, as a browser has none.
    let moved = PeerAddr::connection(1 << 40, IpAddr::from([203, 0, 113, 5]));
    scene.world.rebind(alice, 0, moved);
    scene.run(Duration::from_secs(20));
    let members = scene.server().server().rooms()[0].members();
    assert_eq!(members.map(|card| card.path.remote).collect::<Vec<_>>(), [moved]);
    let verdict = replay(&scene.finish()).unwrap();
    assert_eq!(verdict.difference, None);
}

#[test]
fn rooms_that_open_and_close_by_themselves_replay_too() {
    let mut scene = Scene::new(Dots::default(), 5, bad_link());
    let now = scene.world.now();
    let (name, config) = (Name::new("More"), RoomConfig::default());
    scene.server().offer(now, Dots::default(), name, 2, config);
    let make = |config: &mut ClientConfig| config.new_room = Some(Name::new("Hangar"));
    let maker = scene.join_with(Dialect::Native, make);
    scene.run(Duration::from_secs(4));
    assert_eq!(scene.server().server().rooms().len(), 4);
    scene.client(maker).leave();
    // Four to the open room, so that another opens.
    for _ in 0..4 {
        scene.join_with(Dialect::Native, |config| config.room = 3);
    }
    scene.run(Duration::from_secs(4));
    let numbers: Vec<_> =
        scene.server().server().rooms().iter().map(|room| room.number()).collect();
    assert_eq!(numbers, [1, 2, 3, 5]);
    let verdict = replay(&scene.finish()).unwrap();
    assert_eq!(verdict.difference, None);
    assert_eq!((verdict.counts.rooms, verdict.counts.joined), (5, 5));
}

#[test]
fn the_same_run_writes_the_same_log() {
    assert_eq!(eventful_match(4), eventful_match(4));
}

#[test]
fn recording_changes_nothing_that_players_see() {
    let digest = |prepare: fn(&mut Recorded<Dots>)| {
        let mut scene = Scene::new(Dots::default(), 5, bad_link());
        prepare(scene.server());
        scene.join_all(&[Dialect::Native, Dialect::Rtype, Dialect::Lan]);
        scene.run(Duration::from_secs(10));
        scene.world.digest()
    };
    assert_eq!(digest(|_| ()), digest(Recorded::drop_log));
}

#[test]
fn the_pieces_in_which_a_log_comes_do_not_matter() {
    let log = eventful_match(6);
    let digest = replay(&log).unwrap().digest;
    for piece in [1, 7, 4096, log.len()] {
        let verdict = replay_in(&log, piece).unwrap();
        assert_eq!((verdict.digest, verdict.difference), (digest, None), "{piece}");
    }
}

/// A short log of three frames and its end.
fn short_log() -> Vec<u8> {
    let mut scene = Scene::new(Dots::default(), 7, bad_link());
    scene.join(Dialect::Native);
    scene.run(Duration::from_millis(1_500));
    scene.finish()
}

#[test]
fn a_log_cut_anywhere_is_refused_and_replays_up_to_the_cut() {
    let log = short_log();
    let whole = replay(&log).unwrap();
    let mut lengths = Vec::new();
    for len in 0..log.len() {
        let mut rerun = Rerun::new(dots).speaking(backspin_classic::dialects());
        rerun.handle_bytes(&log[..len]).unwrap();
        let damage = match rerun.salvage(None) {
            Ok(verdict) => {
                assert_eq!(verdict.difference, None, "{len}");
                lengths.push(verdict.length);
                verdict.damage.unwrap()
            }
            Err(LogError::Damage(damage)) => damage,
            Err(other) => panic!("{len}: {other}"),
        };
        let Damage::Cut { good } = damage else { panic!("{len}: {damage}") };
        assert!(good <= len as u64);
        // The same without salvage, where it takes long not at every byte.
        if len < 300 || len % 97 == 0 {
            assert_eq!(replay(&log[..len]).unwrap_err(), LogError::Damage(damage));
        }
    }
    assert!(lengths.is_sorted());
    let second = Duration::from_secs(1);
    assert!(*lengths.last().unwrap() + second > whole.length, "more than a second is lost");
}

#[test]
fn a_changed_byte_is_refused_with_its_place() {
    let log = short_log();
    let mut chance = Chance::new(8, 0);
    for at in (0..log.len()).step_by(5) {
        let mut bent = log.clone();
        bent[at] ^= 1 << chance.below(8);
        let error = replay(&bent).unwrap_err();
        let LogError::Damage(damage) = error else { panic!("{at}: {error}") };
        assert!(damage.good() <= at as u64, "{at}: {damage}");
    }
}

#[test]
fn what_follows_the_end_is_refused() {
    let mut log = short_log();
    let offset = log.len() as u64;
    log.push(0);
    assert_eq!(replay(&log).unwrap_err(), LogError::Damage(Damage::Trailing { offset }));
}

#[test]
fn another_version_another_game_and_another_file_are_named() {
    let log = short_log();
    let mut newer = log.clone();
    newer[9] += 1;
    let error = replay(&newer).unwrap_err();
    assert_eq!(error, LogError::Damage(Damage::Version { found: 3, known: 2 }));
    assert_eq!(
        error.to_string(),
        "its format has version 3, and this program reads version 2; use the program that wrote it"
    );
    let mut rerun = Rerun::new(|_| None::<Dots>);
    let error = rerun.handle_bytes(&log).unwrap_err();
    assert_eq!(error.to_string(), "it has a room of DOTS 1, which this program does not have");
    let error = replay(b"GET / HTTP/1.1").unwrap_err();
    assert_eq!(error.to_string(), "it is not a node log: its first bytes differ");
}

#[test]
fn a_replay_that_goes_another_way_is_found_within_a_second() {
    let mut scene = Scene::new(Dots::default(), 9, bad_link());
    scene.join(Dialect::Native);
    scene.run(Duration::from_secs(4));
    // Not written down: as if the rules had been others here.
    let at = scene.world.now().since(Time::ZERO);
    scene.server().server_mut().close(CloseReason::Stopping);
    scene.run(Duration::from_secs(4));
    let difference = replay(&scene.finish()).unwrap().difference.unwrap();
    assert!(difference.after <= at && at <= difference.by, "{difference}");
    assert!(difference.by - difference.after <= Duration::from_millis(1_100), "{difference}");
}

#[test]
fn a_flood_from_everywhere_costs_the_log_no_memory() {
    let mut server = Recorded::on(Time::ZERO, 0, EndpointConfig::default(), [1; 32]);
    server.open(Time::ZERO, Dots::default(), Name::new("one"), 1, RoomConfig::default());
    let mut log = Vec::new();
    let mut flood = |server: &mut Recorded<Dots>, rounds: std::ops::Range<u32>| {
        for n in rounds {
            let now = Time::from_millis(n.into());
            let from = std::net::SocketAddr::from((std::net::Ipv4Addr::from(0x0A00_0000 + n), 9));
            server.handle_datagram(now, backspin::node::Path::to(from), &mut [0xFF; 32]);
            while server.poll_transmit(now, &mut [0; 2048]).is_some() {}
            log.clear();
            server.poll_log(now, &mut log);
        }
    };
    flood(&mut server, 0..4_000);
    let before = counting::bytes_in_use();
    flood(&mut server, 4_000..40_000);
    let grown = counting::bytes_in_use() - before;
    assert!(grown < 64 * 1024, "{grown} bytes more are in use");
}

#[test]
fn a_log_is_read_in_bounded_memory() {
    let mut scene = Scene::new(Dots::default(), 10, bad_link());
    scene.join_all(&[Dialect::Native; 4]);
    scene.run(Duration::from_secs(60));
    let log = scene.finish();
    let mut rerun = Rerun::new(dots).speaking(backspin_classic::dialects());
    let (first, rest) = log.split_at(log.len() / 4);
    rerun.handle_bytes(first).unwrap();
    let before = counting::bytes_in_use();
    for piece in rest.chunks(4096) {
        rerun.handle_bytes(piece).unwrap();
        let grown = counting::bytes_in_use() - before;
        assert!(grown < FRAME_LIMIT as isize / 4, "{grown} bytes more are in use");
    }
    assert_eq!(rerun.finish().unwrap().difference, None);
}

/// Bytes a second of a log, with so many players over the reference link.
fn bytes_per_second(players: usize) -> usize {
    let mut scene = Scene::new(Dots::default(), 12, Preset::Reference.config());
    scene.join_all(&vec![Dialect::Native; players]);
    scene.run(Duration::from_secs(30));
    let before = scene.log.len();
    scene.run(Duration::from_secs(30));
    (scene.log.len() - before) / 30
}

#[test]
fn a_log_takes_two_and_a_half_kilobytes_a_second_for_each_player() {
    // `backspin serve --help` and CONTRIBUTING.md say so.
    let [idle, two] = [0, 2].map(bytes_per_second);
    println!("{idle} B/s with nobody there, {two} B/s with two players");
    assert!(idle <= 500, "{idle} B/s with nobody there");
    assert!(two - idle <= 2 * 2_500, "{two} B/s with two players");
}

/// Made once in a release build: `BACKSPIN_BLESS=1 cargo test --release -p backspin-record --test record`
/// makes it again, after a change that is meant to change what a server sends.
const GOLDEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/record/golden.bslog");

#[test]
fn the_golden_log_replays_to_its_digest_in_every_build_profile() {
    if std::env::var_os("BACKSPIN_BLESS").is_some() {
        std::fs::write(GOLDEN, golden()).unwrap();
    }
    let verdict = replay(&std::fs::read(GOLDEN).unwrap()).unwrap();
    assert_eq!(verdict.difference, None, "see GOLDEN");
    assert!(verdict.counts.joined == 3 && verdict.counts.checkpoints >= 5);
}

fn golden() -> Vec<u8> {
    let mut scene = Scene::new(Dots::default(), 11, bad_link());
    scene.join_all(&[Dialect::Native, Dialect::Rtype, Dialect::Lan]);
    scene.run(Duration::from_secs(4));
    let now = scene.world.now();
    scene.server().close(now, CloseReason::Stopping);
    scene.run(Duration::from_millis(100));
    scene.finish()
}
