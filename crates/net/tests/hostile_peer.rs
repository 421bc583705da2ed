//! The hostile peer's seeds, as ordinary tests.

mod counting;
mod hostile;

use std::collections::{BTreeSet, HashSet};
use std::path::Path;

use backspin::endpoint::EndpointCounts;
use hostile::{Extent, Outcome, STAGES, Script, stages};

fn seeds() -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds/hostile");
    let files = folder.read_dir().unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let seed = |file: std::fs::DirEntry| {
        (file.file_name().into_string().unwrap(), std::fs::read(file.path()).unwrap())
    };
    files.map(|file| seed(file.unwrap())).collect()
}

fn play(script: &[u8]) -> Outcome {
    hostile::play(script, Extent::WHOLE, counting::bytes_in_use)
}

#[test]
fn no_seed_of_the_hostile_peer_hurts_anyone_and_together_they_go_past_every_limit() {
    let (mut hurt, mut all) = (Vec::new(), EndpointCounts::default());
    let (mut most_sessions, mut most_rooms) = (0, 0);
    for (name, script) in seeds() {
        let played = std::panic::catch_unwind(|| play(&script));
        let Ok(Outcome { most_sessions: sessions, most_rooms: rooms, counts }) = played else {
            hurt.push(name);
            continue;
        };
        most_sessions = most_sessions.max(sessions);
        most_rooms = most_rooms.max(rooms);
        all.malformed += counts.malformed;
        all.stranger_limit += counts.stranger_limit;
        all.player_limit += counts.player_limit;
        all.stray += counts.stray;
        all.numbers += counts.numbers;
        all.bad_proof += counts.bad_proof;
        all.reach += counts.reach;
        all.password_limit += counts.password_limit;
    }
    assert_eq!(hurt, [] as [&str; 0]);
    assert_eq!(most_sessions, 10, "every place is taken");
    assert_eq!(most_rooms, 5, "there are as many rooms as there may be");
    assert!(all.password_limit > 0, "{all:?}");
    let EndpointCounts { malformed, stranger_limit, player_limit, stray, numbers, .. } = all;
    let reached =
        [malformed, stranger_limit, player_limit, stray, numbers, all.bad_proof, all.reach];
    assert!(reached.iter().all(|&count| count > 0), "{all:?}");
}

#[test]
fn every_act_is_in_a_seed() {
    let seeds = seeds();
    let acts = seeds.iter().flat_map(|(_, script)| Script(&script[1..]));
    let kinds: HashSet<_> = acts.map(|act| std::mem::discriminant(&act)).collect();
    assert_eq!(kinds.len(), usize::from(hostile::ACTS));
}

#[test]
fn every_stage_is_in_a_seed() {
    let begun: BTreeSet<_> = seeds().iter().map(|(_, script)| usize::from(script[0])).collect();
    assert!(begun.into_iter().eq(0..STAGES));
}

#[test]
fn every_stage_is_what_it_says() {
    let stages = stages(counting::bytes_in_use);
    let at = |stage| stages.at(stage).scene.crowd();
    let has = |stage| stages.at(stage).attacker.booty();
    assert_eq!((at(0), has(0)), ((4, 4, 3), (0, 0, 0)), "nobody but the honest");
    assert_eq!((at(1), has(1)), ((4, 4, 3), (4, 0, 0)), "cookies");
    assert_eq!((at(2), has(2)), ((8, 8, 3), (4, 4, 0)), "sessions");
    assert_eq!((at(3), has(3)), ((8, 8, 3), (4, 4, 0)), "sessions in silence");
    assert_eq!((at(4), has(4)), ((4, 8, 3), (4, 4, 0)), "places that are kept");
    assert_eq!((at(5), has(5)), ((4, 4, 3), (4, 0, 0)), "old cookies");
    assert_eq!((at(6), has(6)), ((6, 6, 3), (0, 0, 3)), "tokens");
    assert_eq!((at(7), has(7)), ((6, 6, 5), (4, 2, 0)), "rooms");
    // What is nearly over is over before a short script is.
    let soon = |stage| {
        let mut scene = stages.at(stage).scene.clone();
        scene.wait(std::time::Duration::from_millis(200));
        scene.crowd()
    };
    assert_eq!((soon(3), soon(4)), ((4, 8, 3), (4, 4, 3)));
    // A Join with an old cookie, at once and a little later.
    let bad_proof = |script: &[u8]| play(script).counts.bad_proof;
    assert_eq!(bad_proof(&[5, 5, 0, 0, 0, 0]), 0);
    assert_eq!(bad_proof(&[5, 0, 7, 5, 0, 0, 0, 0]), 1);
}
