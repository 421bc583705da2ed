//! What packagers ask the program for.

use std::process::{Command, Output};

fn backspin(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_backspin")).args(args).output().unwrap()
}

#[test]
fn every_shell_gets_completions_that_know_the_commands() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let out = backspin(&["completions", shell]);
        assert!(out.status.success());
        let script = String::from_utf8(out.stdout).unwrap();
        for word in ["rtype", "difficulty", "inspect"] {
            assert!(script.contains(word), "{word} in {shell}");
        }
    }
    assert_eq!(backspin(&["completions", "abacus"]).status.code(), Some(2));
}

#[test]
fn there_is_a_manual_page_and_one_for_every_command() {
    let page = String::from_utf8(backspin(&["man"]).stdout).unwrap();
    assert!(page.contains(".TH backspin 1") && page.contains("backspin\\-rtype(1)"), "{page}");
    let dir = std::env::temp_dir().join(format!("backspin-man-{}", std::process::id()));
    let path = dir.to_str().unwrap();
    assert!(backspin(&["man", "--dir", path]).status.success());
    for name in ["backspin.1", "backspin-pong-join.1", "backspin-rtype-host.1"] {
        let page = std::fs::read_to_string(dir.join(name)).unwrap();
        assert!(page.contains(".SH SYNOPSIS"), "{name}");
    }
    std::fs::remove_dir_all(&dir).unwrap();
}
