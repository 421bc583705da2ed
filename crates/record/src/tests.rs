//! Files with right checksums and wrong contents.

use std::net::IpAddr;
use std::time::Duration;

use super::frame::{Form, Framer, Frames};
use super::log::{LogError, Recorded, Rerun};
use super::replay::{Player, Replay, ReplayError, ReplayWriter};
use super::{Damage, log, replay};
use backspin::endpoint::EndpointConfig;
use backspin::game::{Event, Game, PlayerId, Reach};
use backspin::node::{Node, Path, StreamEvent, StreamId, StreamNode};
use backspin::replication::State;
use backspin::room::RoomConfig;
use backspin::time::Time;
use backspin::wire::Name;
use backspin::wire::native::CloseReason;
use backspin_sim::Chance;
use backspin_sim::dot::Dots;

/// The frames of a file.
fn bodies(form: Form, bytes: &[u8]) -> Vec<Vec<u8>> {
    let (mut frames, mut rest, mut bodies) = (Frames::new(form), bytes, Vec::new());
    while let Some(frame) = frames.next(rest).unwrap() {
        bodies.push(frame.body.to_vec());
        rest = &rest[frame.used..];
    }
    bodies
}

/// A file of these frames, with good checksums.
fn file(form: Form, bodies: &[Vec<u8>]) -> Vec<u8> {
    let (mut framer, mut out) = (Framer::new(form), Vec::new());
    for body in bodies {
        framer.body.extend_from_slice(body);
        framer.seal();
    }
    framer.take(&mut out);
    out
}

/// The same file with something changed, added or left out in one of its frames.
fn bent(form: Form, bodies: &[Vec<u8>], chance: &mut Chance) -> Vec<u8> {
    let mut bodies = bodies.to_vec();
    let which = chance.below(bodies.len() as u64) as usize;
    let body = &mut bodies[which];
    for _ in 0..=chance.below(3) {
        let at = chance.below(body.len() as u64) as usize;
        let byte = [0, 1, 0x7F, 0x80, 0xFF, chance.below(256) as u8][chance.below(6) as usize];
        match chance.below(4) {
            0 => body.insert(at, byte),
            1 if body.len() > 1 => drop(body.remove(at)),
            _ => body[at] = byte,
        }
    }
    file(form, &bodies)
}

fn a_log() -> Vec<u8> {
    let at = |ms| Time::from_millis(ms);
    let path = Path::to(std::net::SocketAddr::from(([10, 0, 0, 9], 4242)));
    let mut server = Recorded::on(at(3), 5, EndpointConfig::default(), [3; 32])
        .speaking(backspin_classic::dialects());
    server.open(at(3), Dots { swarm: 5 }, Name::new("one"), 7, RoomConfig::default());
    let mut log = Vec::new();
    for n in 0..30 {
        let now = at(4 + n * 50);
        let stream = StreamId(StreamId::FIRST_ACCEPTED.0 + n);
        server.handle_stream(now, stream, StreamEvent::Opened(path.remote));
        server.handle_stream(now, stream, StreamEvent::Received(b"\x05\0\x01\x01Alice"));
        server.handle_datagram(now, path, &mut b"\x08\0\x07\x01\x05\0\0\0\x39\x30\0\0".to_vec());
        server.handle_datagram(now, path, &mut b"\x01".to_vec());
        server.handle_timeout(now);
        server.handle_stream(now, stream, StreamEvent::Closed);
        while server.poll_stream(now, &mut [0; 2048]).is_some() {}
        // One is left for later.
        server.poll_transmit(now, &mut [0; 2048]);
        server.poll_log(now, &mut log);
    }
    server.kick(at(2_000), 0, PlayerId(1));
    server.drain(at(2_000));
    server.undrain(at(2_000));
    server.ban(at(2_000), path.remote.limit_key(), Some(Duration::from_secs(60))).unwrap();
    server.ban(at(2_000), IpAddr::from([10, 0, 0, 8]).into(), None).unwrap();
    server.lift_ban(at(2_000), IpAddr::from([10, 0, 0, 8]).into());
    server.release_end(at(2_000), 0);
    server.close(at(2_001), CloseReason::Stopping);
    server.finish_log(&mut log);
    log
}

fn rerun(bytes: &[u8]) -> Result<log::Verdict, LogError> {
    let mut rerun = Rerun::new(|_| Some(Dots { swarm: 5 })).speaking(backspin_classic::dialects());
    match rerun.handle_bytes(bytes) {
        Ok(()) => rerun.finish(),
        Err(error) => Err(error),
    }
}

fn a_replay(game: Dots) -> Vec<u8> {
    let mut writer = ReplayWriter::new(&game, 5, Name::new("one"));
    let (mut world, mut bytes) = (game.begin(1), Vec::new());
    for tick in 1..150 {
        if tick == 70 {
            game.join(&mut world, PlayerId(1), &());
            let name = Name::new("Alice");
            writer.handle_roster([Player { player: PlayerId(1), name }].into_iter());
        }
        let mut events = Vec::new();
        game.step(&mut world, &mut backspin::game::Turn::new(tick, &[], &[], &mut events));
        let event = Event { kind: 1, entity: 2, value: -1, reach: Reach::Own };
        writer.handle_event(tick, event);
        let mut state = State::new(tick);
        game.capture(&world, &mut state);
        writer.handle_state(&state);
    }
    writer.finish(&mut bytes);
    bytes
}

#[test]
fn a_forged_log_does_no_harm() {
    let good = a_log();
    let verdict = rerun(&good).unwrap();
    assert_eq!(verdict.difference, None);
    assert!(verdict.length > Duration::from_secs(1));
    let bodies = bodies(log::FORM, &good);
    assert_eq!(file(log::FORM, &bodies), good);
    let mut chance = Chance::new(1, 0);
    let (mut refused, mut otherwise) = (0, 0);
    for _ in 0..3_000 {
        match rerun(&bent(log::FORM, &bodies, &mut chance)) {
            Err(_) => refused += 1,
            Ok(verdict) => otherwise += u32::from(verdict.difference.is_some()),
        }
    }
    assert!(refused > 100 && otherwise > 100, "{refused} refused, {otherwise} went otherwise");
}

#[test]
fn a_forged_replay_does_no_harm() {
    let game = Dots { swarm: 5 };
    let good = a_replay(game);
    let bodies = bodies(replay::FORM, &good);
    let mut chance = Chance::new(2, 0);
    let (mut refused, mut shown) = (0, 0);
    for _ in 0..3_000 {
        match Replay::salvage(game, bent(replay::FORM, &bodies, &mut chance)) {
            Err(_) => refused += 1,
            Ok(mut replay) => {
                shown += u32::from(replay.damage().is_none());
                let (first, last) = replay.ticks().into_inner();
                for tick in [0, first, last / 2, last, u32::MAX] {
                    replay.draw(tick.into(), &mut backspin::client::Frame::default());
                    assert!(replay.seek(tick).tick <= last);
                }
            }
        }
    }
    assert!(refused > 50 && shown > 50, "{refused} refused, {shown} shown");
}

#[test]
fn a_replay_does_not_go_back_in_time() {
    let game = Dots { swarm: 1 };
    let mut bodies = bodies(replay::FORM, &a_replay(game));
    let last = bodies.len() - 1;
    bodies.insert(last, bodies[1].clone());
    let error = Replay::open(game, file(replay::FORM, &bodies)).unwrap_err();
    assert!(matches!(error, ReplayError::Damage(Damage::Malformed { .. })), "{error}");
}

#[test]
fn a_log_has_at_most_4096_rooms() {
    let mut bodies = bodies(log::FORM, &a_log());
    let room = {
        let mut server = Recorded::on(Time::ZERO, 0, EndpointConfig::default(), [0; 32]);
        server.open(Time::ZERO, Dots::default(), Name::new("one"), 7, RoomConfig::default());
        let mut log = Vec::new();
        server.finish_log(&mut log);
        let rooms = self::bodies(log::FORM, &log);
        // Behind it stand a checkpoint and the end.
        rooms[1][..rooms[1].len() - 18].to_vec()
    };
    bodies.truncate(1);
    bodies.extend(std::iter::repeat_n(room.clone(), 4096));
    bodies.push(vec![16]);
    assert_eq!(rerun_small(&file(log::FORM, &bodies)).unwrap().counts.rooms, 4096);
    bodies.insert(1, room);
    let error = rerun_small(&file(log::FORM, &bodies)).unwrap_err();
    assert!(error.to_string().ends_with("room: 4097 is out of range"), "{error}");
}

#[test]
fn a_log_has_at_most_16_games_that_are_offered() {
    let log = |offers: usize| {
        let mut server = Recorded::on(Time::ZERO, 0, EndpointConfig::default(), [0; 32]);
        for _ in 0..offers {
            let (name, config) = (Name::new("Dots"), RoomConfig::default());
            server.offer(Time::ZERO, Dots::default(), name, 1, config);
        }
        let mut log = Vec::new();
        server.finish_log(&mut log);
        log
    };
    assert_eq!(rerun_small(&log(16)).unwrap().counts.rooms, 16);
    let error = rerun_small(&log(17)).unwrap_err();
    assert!(error.to_string().ends_with("offer: 17 is out of range"), "{error}");
}

fn rerun_small(bytes: &[u8]) -> Result<log::Verdict, LogError> {
    let mut rerun = Rerun::new(|_| Some(Dots::default()));
    rerun.handle_bytes(bytes)?;
    rerun.finish()
}
