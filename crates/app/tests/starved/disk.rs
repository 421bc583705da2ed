//! A disk without room: a small file system of the test's own.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use crate::process::{Home, PATIENCE, Ports, Server};
use crate::{ask, play, wait_until};

/// Starts the command behind it with a small file system at `$1`.
const MOUNT: &str = "mount -t tmpfs -o size=1m none \"$1\" && shift && exec \"$@\"";

fn may_mount() -> bool {
    let mut mount = Command::new("unshare");
    mount.args(["-r", "-m", "sh", "-c", MOUNT, "sh", "/mnt", "true"]);
    mount.status().is_ok_and(|status| status.success())
}

/// The one file with this ending.
fn file(dir: &PathBuf, extension: &str) -> PathBuf {
    let files = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    let files = files.filter(|path| path.extension().is_some_and(|it| it == extension));
    let files: Vec<_> = files.collect();
    assert_eq!(files.len(), 1, "{files:?}");
    files[0].clone()
}

#[test]
fn a_full_disk_ends_neither_the_game_nor_the_recording_and_nothing_is_missing_later() {
    if !may_mount() {
        eprintln!("skipped: this system allows no mounts of one's own");
        return;
    }
    let home = Home::new();
    let dir = home.path().join("small");
    fs::create_dir(&dir).unwrap();
    let server = Server::launch(&home, Ports::native, |command| {
        let serve = std::mem::replace(command, Command::new("unshare"));
        command.args(["-r", "-m", "sh", "-c", MOUNT, "sh"]).arg(&dir);
        command.arg(serve.get_program()).args(serve.get_args());
        for (name, value) in serve.get_envs().filter_map(|(name, value)| Some((name, value?))) {
            command.env(name, value);
        }
        command.arg("--record").arg(&dir).arg("--record-matches").arg(&dir);
        command.args(["--results=", "--http", "127.0.0.1:0"]);
        command.stdin(std::process::Stdio::null()).stdout(std::process::Stdio::piped());
        command.stderr(fs::File::create(home.path().join("log")).unwrap())
    });
    let told = || fs::read_to_string(home.path().join("log")).unwrap();
    // The same file system, seen from outside.
    let inside = PathBuf::from(format!("/proc/{}/root", server.id()));
    let inside = inside.join(dir.strip_prefix("/").unwrap());
    fs::write(inside.join("ballast"), vec![0; 2 << 20]).unwrap_err();
    play(&home, &server, 4, 3);
    wait_until("it is told", PATIENCE, || told().contains("trying again"));
    assert_eq!(ask(&server, "/healthz").0, 200);
    fs::remove_file(inside.join("ballast")).unwrap();
    let replays = || {
        let files = fs::read_dir(&inside).unwrap();
        files.filter(|file| {
            let file = file.as_ref().unwrap();
            let is_replay = file.path().extension().is_some_and(|it| it == "bsreplay");
            is_replay && file.metadata().unwrap().len() > 0
        })
    };
    play(&home, &server, 2, 2);
    wait_until("there is room again", PATIENCE, || {
        told().contains("there is space again, and nothing is missing in") && replays().count() > 0
    });
    std::thread::sleep(Duration::from_secs(2));
    let kept = home.path().join("kept.bslog");
    fs::copy(file(&inside, "bslog"), &kept).unwrap();
    server.signal("TERM");
    assert!(server.wait().0.success());
    let replayed = home.command(&["replay", "--salvage", "--json"]).arg(&kept).output().unwrap();
    let told = String::from_utf8_lossy(&replayed.stdout).into_owned();
    let outcome: serde_json::Value = serde_json::from_str(&told).unwrap();
    assert_eq!((&outcome["same"], &outcome["joined"]), (&true.into(), &6.into()), "{told}");
}
