//! The seeds of the fuzz targets `replay` and `log`, as ordinary tests.
//!
//! `BACKSPIN_BLESS=1 cargo test -p backspin-record --test hostile_files` makes them anew.

#[path = "../../net/tests/counting/mod.rs"]
mod counting;
mod hostile_file;

use std::collections::BTreeMap;
use std::path::{Path as FilePath, PathBuf};

use backspin::endpoint::EndpointConfig;
use backspin::game::{Event, Game, PlayerId, Reach};
use backspin::node::{Node, Path, StreamEvent, StreamId, StreamNode};
use backspin::replication::{Entity, State};
use backspin::room::RoomConfig;
use backspin::time::Time;
use backspin::wire::Name;
use backspin::wire::native::CloseReason;
use backspin_record::replay::Player;
use backspin_record::{FileKind, Recorded, ReplayWriter};
use backspin_sim::dot::Dots;
use hostile_file::GAME;

fn folder(target: &str) -> PathBuf {
    FilePath::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds").join(target)
}

fn seeds(target: &str) -> BTreeMap<String, Vec<u8>> {
    let files = folder(target).read_dir().unwrap_or_else(|error| panic!("{target}: {error}"));
    let seed = |file: std::fs::DirEntry| {
        (file.file_name().into_string().unwrap(), std::fs::read(file.path()).unwrap())
    };
    files.map(|file| seed(file.unwrap())).collect()
}

/// Writes a seed where that is wished for.
fn bless(target: &str, name: &str, script: &[u8]) {
    if std::env::var_os("BACKSPIN_BLESS").is_some() {
        std::fs::create_dir_all(folder(target)).unwrap();
        std::fs::write(folder(target).join(name), script).unwrap();
    }
}

/// The script that makes such a file: with its own first frame, and with the good one.
fn scripts(kind: FileKind, file: &[u8]) -> [Vec<u8>; 2] {
    let frames = kind.unseal(file);
    let script = |own: u8, frames: &[&[u8]]| {
        let mut script = vec![own];
        for frame in frames {
            script.extend((frame.len() as u16).to_be_bytes());
            script.extend_from_slice(frame);
        }
        script
    };
    [script(1, &frames), script(0, &frames[1..])]
}

/// Four ticks with everything in them that a replay can have, and a second second.
fn a_replay() -> Vec<u8> {
    let mut writer = ReplayWriter::new(&GAME, 5, Name::new("one"));
    let player = |n| Player { player: PlayerId(n), name: Name::new(["Al", "Bo"][n as usize % 2]) };
    let rate = u32::from(GAME.tick_rate());
    for (tick, players) in [(7, 1), (8, 2), (9, 2), (12, 1), (7 + rate, 1), (8 + rate, 0)] {
        writer.handle_roster((1..=players).map(player));
        let value = tick as i32;
        writer.handle_event(tick, Event { kind: 1, entity: 2, value, reach: Reach::Own });
        let mut state = State::new(tick);
        for id in 1..=players {
            let counts = [value * 3, value, 1, 0, 0, 0, 0, 0];
            let entity = Entity::new(GAME.schema(), id, 0, &counts);
            assert!(state.push(entity).is_ok());
        }
        writer.handle_state(&state);
    }
    let mut bytes = Vec::new();
    writer.finish(&mut bytes);
    bytes
}

/// A short log with every kind of line.
fn a_log() -> Vec<u8> {
    let at = Time::from_millis;
    let path = Path::to(std::net::SocketAddr::from(([10, 0, 0, 9], 4242)));
    let mut server = Recorded::<Dots>::on(at(3), 5, EndpointConfig::default(), [3; 32])
        .speaking(backspin_classic::dialects());
    server.open(at(3), GAME, Name::new("one"), 7, RoomConfig::default());
    server.offer(at(4), GAME, Name::new("more"), 2, RoomConfig::default());
    let mut log = Vec::new();
    for n in 0..4 {
        let now = at(4 + n * 400);
        let stream = StreamId(StreamId::FIRST_ACCEPTED.0 + n);
        server.handle_stream(now, stream, StreamEvent::Opened(path.remote));
        server.handle_stream(now, stream, StreamEvent::Received(b"\x05\0\x01\x01Alice"));
        // `rtype`: a ping; `lan`: a search, and someone who wants to play.
        server.handle_datagram(now, path, &mut b"\x08\0\x07\x01\x05\0\0\0\x39\x30\0\0".to_vec());
        server.handle_datagram(now, path, &mut b"\x01".to_vec());
        server.handle_datagram(now, path, &mut b"\x03\x10\x92".to_vec());
        server.handle_timeout(now);
        let end = [StreamEvent::Closed, StreamEvent::Failed][n as usize % 2];
        server.handle_stream(now, stream, end);
        while server.poll_stream(now, &mut [0; 2048]).is_some() {}
        // Some are left for later.
        server.poll_transmit(now, &mut [0; 2048]);
        server.poll_log(now, &mut log);
    }
    while server.poll_transmit(at(1_300), &mut [0; 2048]).is_some() {}
    server.kick(at(2_000), 0, PlayerId(1));
    server.drain(at(2_000));
    server.close(at(2_001), CloseReason::Stopping);
    server.finish_log(&mut log);
    log
}

#[test]
fn the_seeds_of_the_target_replay_are_shown() {
    for (name, script) in
        ["whole", "frames"].into_iter().zip(scripts(FileKind::Replay, &a_replay()))
    {
        bless("replay", name, &script);
        bless("replay", &format!("{name}-cut"), &script[..script.len() * 2 / 3]);
    }
    let rate = u32::from(GAME.tick_rate());
    let seeds = seeds("replay");
    for (name, script) in &seeds {
        let ticks = hostile_file::replay(script, counting::bytes_in_use);
        assert_eq!(ticks.is_ok(), !name.ends_with("-cut"), "{name}: {ticks:?}");
        assert!(ticks.is_err() || ticks == Ok(rate + 1), "{name}: {ticks:?}");
    }
    assert!(seeds.len() >= 4);
}

#[test]
fn the_seeds_of_the_target_log_are_replayed() {
    for (name, script) in ["whole", "lines"].into_iter().zip(scripts(FileKind::NodeLog, &a_log())) {
        bless("log", name, &script);
        bless("log", &format!("{name}-cut"), &script[..script.len() * 2 / 3]);
    }
    let seeds = seeds("log");
    for (name, script) in &seeds {
        let verdict = hostile_file::log(script, counting::bytes_in_use);
        assert_eq!(verdict.is_ok(), !name.ends_with("-cut"), "{name}: {verdict:?}");
        let Ok(verdict) = verdict else { continue };
        assert_eq!(verdict.difference, None, "{name}");
        let counts = verdict.counts;
        let some = [counts.datagrams, counts.stream_events, counts.transmits, counts.checkpoints];
        assert!(some.iter().all(|&count| count > 0) && counts.rooms >= 2, "{name}: {counts:?}");
    }
    assert!(seeds.len() >= 4);
}
