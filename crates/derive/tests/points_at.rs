//! What only the compiler can see, it tells at the field it is about.
//!
//! The compiler's sentences differ from version to version, so only the place and the derives' own words are compared.

use std::path::Path;
use std::process::Command;
use std::{env, fs};

/// What each file in `points_at/` is refused for: line, column and words.
const REFUSED: &[(&str, &str, &str)] = &[
    ("no_value.rs", ":5:10:", "`f32` cannot be a part of an input"),
    ("no_value.rs", ":10:8:", "`f32` cannot be a part of a message"),
    ("no_value.rs", ":15:14:", "`f32` cannot be a number of an entity"),
    ("no_value.rs", ":16:9:", "`u8` is not a kind of entity"),
    ("too_long_message.rs", ":6:5:", "a message has at most 900 bytes: `Book` can be longer"),
    ("too_many_bits.rs", ":11:5:", "an input has at most 128 bits: `fire` goes beyond them"),
];

#[test]
fn what_the_compiler_finds_it_tells_at_the_field() {
    let told = check();
    for (file, place, words) in REFUSED {
        let place = format!("{file}{place}");
        let is_told = |line: &str| line.contains(&place) && line.contains(words);
        assert!(told.lines().any(is_told), "{place} {words}, in\n{told}");
    }
    // Nothing else is told of these files.
    for line in told.lines().filter(|line| line.contains(".rs:") && line.contains("error")) {
        let is_known =
            |(file, place, _): &(&str, &str, &str)| line.contains(&format!("{file}{place}"));
        assert!(REFUSED.iter().any(is_known), "{line}");
    }
}

/// What cargo says of a package with these files.
fn check() -> String {
    let derive = Path::new(env!("CARGO_MANIFEST_DIR"));
    let package = Path::new(env!("CARGO_TARGET_TMPDIR")).join("points_at");
    fs::create_dir_all(&package).expect("the target directory can be written");
    let mut manifest = String::from(
        "[package]\nname = \"points_at\"\nversion = \"0.0.0\"\nedition = \"2024\"\n[workspace]\n",
    );
    manifest += &format!("[dependencies]\nbackspin = {{ path = {:?} }}\n", derive.join("../net"));
    for file in ["no_value", "too_long_message", "too_many_bits"] {
        let path = derive.join("tests/points_at").join(file).with_extension("rs");
        manifest += &format!("[[bin]]\nname = {file:?}\npath = {path:?}\n");
    }
    fs::write(package.join("Cargo.toml"), manifest).expect("the manifest can be written");
    fs::copy(derive.join("../../Cargo.lock"), package.join("Cargo.lock")).expect("there is a lock");
    let output = Command::new(env::var_os("CARGO").unwrap_or("cargo".into()))
        .args(["check", "--offline", "--keep-going", "--message-format=short", "--color=never"])
        .arg("--target-dir")
        .arg(package.join("target"))
        .current_dir(&package)
        .output()
        .expect("cargo runs");
    String::from_utf8_lossy(&output.stderr).into_owned()
}
