//! The hostile peer's seeds, as ordinary tests.

mod counting;
mod hostile;

use std::collections::HashSet;
use std::path::Path;

use backspin::front::FrontCounts;
use hostile::Outcome;

fn seeds() -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds/hostile");
    let files = folder.read_dir().unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let seed = |file: std::fs::DirEntry| {
        (file.file_name().into_string().unwrap(), std::fs::read(file.path()).unwrap())
    };
    files.map(|file| seed(file.unwrap())).collect()
}

#[test]
fn no_seed_of_the_hostile_peer_hurts_anyone_and_together_they_go_past_every_limit() {
    let (mut hurt, mut all) = (Vec::new(), FrontCounts::default());
    let (mut most_sessions, mut most_rooms) = (0, 0);
    for (name, script) in seeds() {
        let played = std::panic::catch_unwind(|| hostile::play(&script, counting::bytes_in_use));
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
    let FrontCounts { malformed, stranger_limit, player_limit, stray, numbers, .. } = all;
    let reached =
        [malformed, stranger_limit, player_limit, stray, numbers, all.bad_proof, all.reach];
    assert!(reached.iter().all(|&count| count > 0), "{all:?}");
}

#[test]
fn every_act_is_in_a_seed() {
    let seeds = seeds();
    let acts = seeds.iter().flat_map(|(_, script)| hostile::Script(script));
    let kinds: HashSet<_> = acts.map(|act| std::mem::discriminant(&act)).collect();
    assert_eq!(kinds.len(), usize::from(hostile::ACTS));
}
