//! Match replays.

use std::time::Duration;

use backspin::client::Frame;
use backspin::game::{Event, Game, GameId, PlayerId, Reach};
use backspin::replication::State;
use backspin::wire::Name;
use backspin_classic::{ClassicGame, Dialect};
use backspin_record::replay::{Player, Replay, ReplayError, ReplayHeader, ReplayWriter};
use backspin_record::{Damage, FileKind};
use backspin_sim::dot::Dots;
use backspin_sim::{Chance, Preset};

use crate::counting;
use crate::scene::{Scene, recorded_match};
use crate::tag::{TAGGED, Tag};

/// It is recorded in `native` alone.
impl ClassicGame for Tag {}

fn names(players: &[Player]) -> Vec<String> {
    players.iter().map(|player| player.name.to_string()).collect()
}

#[test]
fn a_match_is_shown_as_it_was() {
    let game = Dots { swarm: 8 };
    let mut scene = Scene::new(game, 1, Preset::Reference.config());
    scene.join(Dialect::Native);
    scene.run(Duration::from_secs(1));
    let mut writer = ReplayWriter::new(&game, 5, Name::new("one"));
    let (mut bytes, mut states) = (Vec::new(), Vec::<State>::new());
    let mut follow = |scene: &mut Scene<Dots>, seconds| {
        scene.run_with(Duration::from_secs(seconds), |server| {
            let room = &mut server.server_mut().rooms_mut()[0];
            writer.follow(room);
            writer.poll_bytes(&mut bytes);
            if states.last().is_none_or(|last| last.tick < room.state().tick) {
                states.push(room.state().clone());
            }
        });
    };
    follow(&mut scene, 3);
    scene.join(Dialect::Native);
    follow(&mut scene, 3);
    writer.finish(&mut bytes);

    assert_eq!(FileKind::of(&bytes), Some(FileKind::Replay));
    let mut replay = Replay::open(game, bytes).unwrap();
    assert_eq!(replay.ticks(), states[0].tick..=states.last().unwrap().tick);
    assert!((355..=361).contains(&replay.len_ticks()), "{}", replay.len_ticks());
    for state in &states {
        assert_eq!(replay.seek(state.tick), state);
    }
    let (first, last) = replay.ticks().into_inner();
    assert_eq!(names(replay.roster_at(first)), ["Alice"]);
    assert_eq!(names(replay.roster_at(last)), ["Alice", "Bob"]);
    assert_eq!(names(&replay.players()), ["Alice", "Bob"]);
    let header = ReplayHeader { schema: replay.header().schema, ..*replay.header() };
    assert_eq!((header.game, header.tick_rate, header.unix_ms), (game.id(), 60, 5));
}

#[test]
fn seeking_anywhere_is_the_same_as_playing_up_to_there() {
    let bytes = recorded_match(Dots { swarm: 16 }, 2, 2, Duration::from_secs(20));
    let game = Dots { swarm: 16 };
    let (mut played, mut sought) =
        (Replay::open(game, bytes.clone()).unwrap(), Replay::open(game, bytes).unwrap());
    let (first, last) = played.ticks().into_inner();
    let digests: Vec<_> = (first..=last).map(|tick| played.seek(tick).digest()).collect();
    let mut chance = Chance::new(2, 0);
    let frames = |replay: &mut Replay<Dots>, tick: f64| {
        let mut frame = Frame::default();
        replay.draw(tick, &mut frame);
        format!("{frame:?}")
    };
    for _ in 0..100 {
        let back = chance.below(u64::from(last - first) + 1) as u32;
        assert_eq!(sought.seek(first + back).digest(), digests[back as usize], "{back}");
        let between = f64::from(first + back) + chance.below(1_000) as f64 / 1e3;
        assert_eq!(frames(&mut sought, between), frames(&mut played, between));
    }
}

#[test]
fn what_lies_between_two_ticks_is_drawn_between_them() {
    let game = Dots { swarm: 1 };
    let bytes = recorded_match(game, 3, 1, Duration::from_secs(2));
    let mut replay = Replay::open(game, bytes).unwrap();
    let (first, last) = replay.ticks().into_inner();
    let mut frame = Frame::default();
    let mut x = |replay: &mut Replay<Dots>, tick: f64| {
        replay.draw(tick, &mut frame);
        frame.entities.iter().find(|drawn| drawn.entity.id >= 100).unwrap().fields[0]
    };
    for tick in first..last {
        let tick = f64::from(tick);
        let (a, b) = (x(&mut replay, tick), x(&mut replay, tick + 1.0));
        let middle = x(&mut replay, tick + 0.5);
        assert!((middle - (a + b) / 2.0).abs() < 0.01, "{tick}: {a}, {middle}, {b}");
        assert_ne!(a, b);
    }
    // Beyond its ends there is nothing more to see.
    assert_eq!(x(&mut replay, -5.0), x(&mut replay, first.into()));
    assert_eq!(x(&mut replay, 1e12), x(&mut replay, last.into()));
}

#[test]
fn every_event_is_shown_once_however_the_frames_fall() {
    let bytes = recorded_match(Tag, 4, 4, Duration::from_secs(60));
    let replay = Replay::open(Tag, bytes).unwrap();
    let tagged = replay.events().iter().filter(|(_, event)| event.kind == TAGGED).count();
    assert!(tagged > 2, "{tagged} were tagged");
    assert!(replay.events().iter().any(|(_, event)| event.reach == Reach::Own));
    let (first, last) = replay.ticks().into_inner();
    let (mut at, mut shown) = (f64::from(first) - 1.0, Vec::new());
    while at <= f64::from(last) {
        shown.extend_from_slice(replay.events_between(at, at + 0.7));
        at += 0.7;
    }
    assert!(shown == replay.events(), "{} of {}", shown.len(), replay.events().len());
    assert_eq!(replay.events_between(9e9, 0.0), []);
}

#[test]
fn a_replay_cut_anywhere_is_refused_and_shown_up_to_the_cut() {
    let bytes = recorded_match(Tag, 5, 2, Duration::from_secs(3));
    let whole = Replay::open(Tag, bytes.clone()).unwrap();
    let mut lengths = Vec::new();
    for len in 0..bytes.len() {
        let cut = bytes[..len].to_vec();
        let error = Replay::open(Tag, cut.clone()).unwrap_err();
        let ReplayError::Damage(damage @ Damage::Cut { good }) = error else { panic!("{error}") };
        assert!(good <= len as u64);
        match Replay::salvage(Tag, cut) {
            Ok(mut replay) => {
                assert_eq!(replay.damage(), Some(damage));
                let last = *replay.ticks().end();
                assert_eq!(replay.seek(last).tick, last);
                lengths.push(replay.len_ticks());
            }
            Err(other) => assert!(matches!(other, ReplayError::Damage(Damage::Cut { .. }))),
        }
    }
    assert!(lengths.is_sorted());
    assert!(lengths.last().unwrap() + 60 >= whole.len_ticks(), "more than a second is lost");
}

#[test]
fn a_changed_byte_is_refused_with_its_place() {
    let bytes = recorded_match(Tag, 6, 2, Duration::from_secs(3));
    let mut chance = Chance::new(6, 0);
    for at in 0..bytes.len() {
        let mut bent = bytes.clone();
        bent[at] ^= 1 << chance.below(8);
        let error = Replay::open(Tag, bent).unwrap_err();
        let ReplayError::Damage(damage) = error else { panic!("{at}: {error}") };
        assert!(damage.good() <= at as u64, "{at}: {damage}");
    }
}

#[test]
fn another_game_another_version_and_nothing_at_all_are_named() {
    let bytes = recorded_match(Tag, 7, 1, Duration::from_secs(1));
    let error = Replay::open(Dots::default(), bytes.clone()).unwrap_err();
    let here = GameId::new(*b"DOTS", 1);
    assert_eq!(error, ReplayError::Game { found: Tag.id(), here });
    let mut newer = bytes;
    newer[9] = 9;
    let error = Replay::open(Tag, newer).unwrap_err();
    assert_eq!(error, ReplayError::Damage(Damage::Version { found: 9, known: 2 }));
    let mut empty = Vec::new();
    ReplayWriter::new(&Tag, 0, Name::default()).finish(&mut empty);
    assert_eq!(Replay::open(Tag, empty).unwrap_err(), ReplayError::Empty);
}

#[test]
fn states_that_stop_for_a_while_go_on_with_a_whole_one() {
    let game = Dots { swarm: 3 };
    let world = game.begin(1);
    let mut writer = ReplayWriter::new(&game, 0, Name::default());
    let mut state = |tick| {
        let mut state = State::new(tick);
        game.capture(&world, &mut state);
        writer.handle_state(&state);
    };
    // A second frame, a gap that a delta reaches, one that it does not, and states of the past.
    [10, 11, 43, 60, 93, 50, 93, 94].into_iter().for_each(&mut state);
    let event = Event { kind: 1, entity: 2, value: -3, reach: Reach::Everyone };
    writer.handle_event(95, event);
    writer.handle_roster([Player { player: PlayerId(3), name: Name::new("Eve") }].into_iter());
    let mut last = State::new(97);
    game.capture(&world, &mut last);
    writer.handle_state(&last);
    let mut bytes = Vec::new();
    writer.finish(&mut bytes);
    let mut replay = Replay::open(game, bytes).unwrap();
    for (tick, shown) in [(0, 10), (12, 11), (59, 43), (92, 60), (93, 93), (96, 94), (98, 97)] {
        assert_eq!(replay.seek(tick).tick, shown, "{tick}");
    }
    assert_eq!(replay.events(), [(95, event)]);
    assert_eq!(names(replay.roster_at(97)), ["Eve"]);
    assert_eq!(names(replay.roster_at(96)), [""; 0]);
}

#[test]
fn a_replay_takes_memory_by_its_own_size_only() {
    let bytes = recorded_match(Tag, 8, 4, Duration::from_secs(60));
    let len = bytes.len();
    let before = counting::bytes_in_use() - len as isize;
    let mut replay = Replay::open(Tag, bytes).unwrap();
    for tick in replay.ticks() {
        replay.seek(tick);
    }
    let used = (counting::bytes_in_use() - before) as usize;
    // Its bytes, two states and a spare one, events and rosters.
    assert!(used < 2 * len + 64 * 1024, "{used} bytes for {len}");
}
