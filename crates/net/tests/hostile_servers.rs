//! The hostile server's seeds, as ordinary tests.

mod counting;
mod hostile_server;

use std::collections::{BTreeSet, HashSet};
use std::path::Path;

use hostile_server::{ACTS, STAGES, Script};

fn seeds() -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds/client");
    let files = folder.read_dir().unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let seed = |file: std::fs::DirEntry| {
        (file.file_name().into_string().unwrap(), std::fs::read(file.path()).unwrap())
    };
    files.map(|file| seed(file.unwrap())).collect()
}

#[test]
fn no_seed_of_the_hostile_server_hurts_a_client_and_together_they_end_it_in_many_ways() {
    let (mut hurt, mut reasons) = (Vec::new(), BTreeSet::new());
    let (mut states, mut malformed, mut playing) = (0, 0, HashSet::new());
    for (name, script) in seeds() {
        let played =
            std::panic::catch_unwind(|| hostile_server::play(&script, counting::bytes_in_use));
        let Ok(outcome) = played else {
            hurt.push(name);
            continue;
        };
        println!("{name}: {outcome:?}");
        states += outcome.states;
        malformed += outcome.malformed;
        reasons.extend(outcome.ended.map(|reason| reason.to_string()));
        if outcome.is_playing {
            playing.insert(outcome.dialect);
        }
    }
    assert_eq!(hurt, [] as [&str; 0]);
    assert!(states > 100 && malformed > 5, "{states}, {malformed}");
    assert_eq!(playing.len(), 4, "in every dialect someone plays on");
    assert!(reasons.len() >= 6, "{reasons:?}");
}

#[test]
fn every_act_and_every_stage_is_in_a_seed() {
    let seeds = seeds();
    let acts = seeds.iter().flat_map(|(_, script)| Script(&script[1..]));
    let kinds: HashSet<_> = acts.map(|act| std::mem::discriminant(&act)).collect();
    assert_eq!(kinds.len(), usize::from(ACTS));
    let stages: BTreeSet<_> = seeds.iter().map(|(_, script)| usize::from(script[0])).collect();
    assert!(stages.into_iter().eq(0..STAGES));
}
