//! The coarse map, held against the figures that are kept beside this test: no link's feel gets
//! worse without a word. `BACKSPIN_BLESS=1 cargo test --release -p backspin-app --test feel` keeps
//! the new ones.

use std::process::Command;

fn check(game: &str, players: &str) {
    let kept = format!("{}/tests/feel/{game}-{players}.txt", env!("CARGO_MANIFEST_DIR"));
    let args = ["sim", "--map", "--coarse", "--game", game, "--players", players, "--kept", &kept];
    let output = Command::new(env!("CARGO_BIN_EXE_backspin")).args(args).output().unwrap();
    let told = String::from_utf8_lossy(&output.stdout);
    let worse = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{told}\n{worse}");
}

#[test]
#[cfg_attr(debug_assertions, ignore = "fifteen simulated minutes: for release builds")]
fn no_link_of_the_coarse_map_feels_worse_in_pong() {
    check("pong", "2");
    check("pong", "4");
}

#[test]
#[cfg_attr(debug_assertions, ignore = "fifteen simulated minutes: for release builds")]
fn no_link_of_the_coarse_map_feels_worse_in_rtype() {
    check("rtype", "2");
    check("rtype", "4");
}
