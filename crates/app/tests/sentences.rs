//! What a stranger trips over in the first minute is one sentence on stderr, and nothing else: no
//! library's noise, and nothing said twice.

use std::process::{Command, Stdio};

/// Runs it without a display and without a terminal. What it says on stdout and stderr.
fn failing(args: &[&str], variables: &[(&str, &str)]) -> (String, String) {
    let home = std::env::temp_dir().join(format!("backspin-sentences-{}", std::process::id()));
    let mut command = Command::new(env!("CARGO_BIN_EXE_backspin"));
    for name in ["DISPLAY", "WAYLAND_DISPLAY", "XDG_RUNTIME_DIR", "XDG_DATA_HOME"] {
        command.env_remove(name);
    }
    let output = command
        .args(args)
        .env("HOME", &home)
        .envs(variables.iter().copied())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1), "{args:?}");
    let words = |bytes| String::from_utf8(bytes).unwrap();
    (words(output.stdout), words(output.stderr))
}

/// It says so on stderr, in one line, and nothing on stdout.
fn assert_sentence(args: &[&str], variables: &[(&str, &str)], words: &str) {
    let (stdout, stderr) = failing(args, variables);
    assert_eq!(stdout, "", "{args:?}");
    assert!(stderr.starts_with("backspin: ") && stderr.contains(words), "{args:?}: {stderr}");
    assert_eq!(stderr.lines().count(), 1, "{args:?}: {stderr}");
}

#[test]
fn a_menu_that_cannot_be_shown_says_so() {
    assert_sentence(&[], &[], "no display and no terminal");
    assert_sentence(&["--ui", "terminal"], &[], "needs a terminal");
    assert_sentence(&["pong", "local", "--ui", "terminal"], &[], "needs a terminal");
}

#[cfg(target_os = "linux")]
#[test]
fn a_display_that_is_not_there_is_one_sentence_whatever_its_name() {
    let desktop = ["pong", "local", "--ui", "desktop"];
    assert_sentence(&["--ui", "desktop"], &[], "neither DISPLAY nor WAYLAND_DISPLAY is set");
    for display in [":7777", "no such display", "nowhere.invalid:0"] {
        assert_sentence(&desktop, &[("DISPLAY", display)], "no window can be opened here");
    }
    for display in ["wayland-77", "/nowhere/wayland-0"] {
        let variables = [("WAYLAND_DISPLAY", display)];
        assert_sentence(&desktop, &variables, "no window can be opened here");
    }
}

#[test]
fn results_that_are_not_there_yet_are_no_riddle() {
    assert_sentence(&["results"], &[], "there are no results in ");
    assert_sentence(&["results", "--file", "/nowhere/a.db"], &[], "in /nowhere/a.db yet");
}

#[test]
fn a_script_that_cannot_join_hears_why_once() {
    // Nobody listens on the port of "discard" here.
    let join = ["pong", "join", "127.0.0.1:9", "--ui", "none"];
    assert_sentence(&join, &[], "No host answers");
    let (stdout, stderr) = failing(&[&join[..], &["--json"]].concat(), &[]);
    assert_eq!((stdout.lines().count(), stderr.lines().count()), (1, 1), "{stdout}{stderr}");
}
