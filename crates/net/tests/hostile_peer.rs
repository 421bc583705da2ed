//! The hostile peer's seeds, as ordinary tests.

mod counting;
mod hostile;

use std::path::Path;

fn seeds() -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds/hostile");
    let files = folder.read_dir().unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let seed = |file: std::fs::DirEntry| {
        (file.file_name().into_string().unwrap(), std::fs::read(file.path()).unwrap())
    };
    files.map(|file| seed(file.unwrap())).collect()
}

#[test]
fn no_seed_of_the_hostile_peer_hurts_anyone() {
    let mut hurt = Vec::new();
    for (name, script) in seeds() {
        let played = std::panic::catch_unwind(|| hostile::play(&script, counting::bytes_in_use));
        if played.is_err() {
            hurt.push(name);
        }
    }
    assert_eq!(hurt, [] as [&str; 0]);
}
