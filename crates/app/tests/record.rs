//! `backspin serve --record` and `backspin replay`, as an operator meets them: the built binary,
//! real sockets, real files.
#![cfg(unix)]

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, UdpSocket};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use backspin::client::ClientConfig;
use backspin::game::Buttons;
use backspin::wire::Name;
use backspin_classic::Dialect;
use backspin_rtype::RType;
use backspin_udp::{Loop, Socket};

const HERE: Ipv4Addr = Ipv4Addr::LOCALHOST;
const PATIENCE: Duration = Duration::from_secs(10);

/// A directory of one test, gone afterwards.
struct Dir(PathBuf);

impl Dir {
    fn new(test: &str) -> Dir {
        let name = format!("backspin-{test}-{}", std::process::id());
        let dir = std::env::temp_dir().join(name);
        fs::create_dir_all(&dir).unwrap();
        Dir(dir)
    }

    fn arg(&self) -> &str {
        self.0.to_str().unwrap()
    }

    /// The files with this ending.
    fn files(&self, extension: &str) -> Vec<PathBuf> {
        let entries = fs::read_dir(&self.0).unwrap().map(|entry| entry.unwrap().path());
        entries.filter(|path| path.extension().is_some_and(|ext| ext == extension)).collect()
    }

    #[track_caller]
    fn file(&self, extension: &str) -> PathBuf {
        let files = self.files(extension);
        let [file] = &files[..] else { panic!("{files:?}") };
        file.clone()
    }
}

impl Drop for Dir {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A running server; it is killed if a test fails.
struct Server {
    child: Child,
    port: u16,
}

/// A port that is free for UDP, and for TCP one above.
fn free_port() -> u16 {
    loop {
        let port = UdpSocket::bind((HERE, 0)).unwrap().local_addr().unwrap().port();
        let above = port.checked_add(1).map(|above| TcpListener::bind((HERE, above)));
        if let Some(Ok(_)) = above {
            return port;
        }
    }
}

impl Server {
    /// A server with these arguments, through a shell that was told `first`.
    fn start(first: &str, args: &[&str]) -> Server {
        for _ in 0..10 {
            let port = free_port();
            let ports = format!("--native-port {port} --lan-port {port} --rtype-port {port}");
            let binary = env!("CARGO_BIN_EXE_backspin");
            let script =
                format!("{first} exec {binary} serve --results= --bind 127.0.0.1 {ports} \"$@\"");
            let mut command = Command::new("sh");
            command.args(["-c", &script, "sh"]).args(args);
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
            let mut child = command.spawn().unwrap();
            let lines = BufReader::new(child.stdout.take().unwrap()).lines();
            let mut server = Server { child, port };
            if lines.map_while(Result::ok).any(|line| line == "Ctrl-C stops it") {
                return server;
            }
            let stderr = server.stderr();
            assert!(stderr.contains("is in use by another program"), "{stderr}");
        }
        panic!("other programs took every port that was free");
    }

    fn stop(mut self, signal: &str) -> String {
        let kill = format!("kill -{signal} {}", self.child.id());
        assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
        let limit = Instant::now() + PATIENCE;
        while self.child.try_wait().unwrap().is_none() {
            assert!(Instant::now() < limit, "the server does not end");
            std::thread::sleep(Duration::from_millis(1));
        }
        self.stderr()
    }

    fn stderr(&mut self) -> String {
        let mut text = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut text).unwrap();
        text
    }

    /// Plays for a while, one player in each of these dialects, and is gone without a word.
    fn play(&self, dialects: &[Dialect], span: Duration) {
        let mut players: Vec<_> = (1..)
            .zip(dialects)
            .map(|(n, &dialect)| {
                let socket = Socket::bind((HERE, 0).into()).unwrap();
                let name = Name::new(["Alice", "Bob"][n as usize % 2]);
                let mut config = ClientConfig::new(SocketAddr::from((HERE, self.port)), name);
                config.own_port = socket.local_addr().unwrap().port();
                let driver = Loop::new(vec![socket]).unwrap();
                (dialect.client(driver.now(), RType::default(), config, [n; 32]), driver)
            })
            .collect();
        let began = Instant::now();
        let mut joined = None;
        while joined.is_none_or(|joined: Instant| joined.elapsed() < span) {
            assert!(began.elapsed() < PATIENCE + span, "nobody gets in");
            for (client, driver) in &mut players {
                let limit = driver.now() + Duration::from_millis(2);
                driver.turn(client, limit).unwrap();
                client.press(Buttons::DOWN);
            }
            if joined.is_none() && players.iter().all(|(client, _)| client.is_playing()) {
                joined = Some(Instant::now());
            }
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn replay(args: &[&str], file: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_backspin"));
    command.arg("replay").args(args).arg(file).output().unwrap()
}

fn json(output: &Output) -> serde_json::Value {
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)))
}

fn sentence(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[test]
fn a_recorded_server_replays_to_the_same_digest() {
    let dir = Dir::new("log");
    let server = Server::start("", &["--record", dir.arg(), "--record-matches", dir.arg()]);
    server.play(&[Dialect::Native, Dialect::Rtype], Duration::from_millis(2_500));
    let told = server.stop("TERM");
    assert!(told.contains("recording everything in"), "{told}");
    let log = dir.file("bslog");
    assert_eq!(fs::metadata(&log).unwrap().permissions().mode() & 0o777, 0o600);
    let output = replay(&["--json"], &log);
    let told = json(&output);
    assert_eq!(output.status.code(), Some(0), "{told}");
    assert_eq!(told["same"], true);
    assert_eq!(told["joined"], 2);
    assert!(told["rooms"].as_u64().unwrap() >= 2, "{told}");
    assert!(told["stream_events"].as_u64().unwrap() > 0, "{told}");
    assert!(told["checkpoints"].as_u64().unwrap() >= 3, "{told}");
    let told = String::from_utf8(replay(&[], &log).stdout).unwrap();
    assert!(told.contains("the same digest to the end: "), "{told}");

    let output = replay(&["--json"], &dir.file("bsreplay"));
    let told = json(&output);
    assert_eq!(output.status.code(), Some(0), "{told}");
    let mut names = [0, 1].map(|i| told["players"][i]["name"].as_str().unwrap().to_owned());
    names.sort();
    assert_eq!(names, ["Alice", "Bob"]);
    assert!(told["seconds"].as_f64().unwrap() > 2.0, "{told}");
    let early = json(&replay(&["--json", "--at", "0.5"], &dir.file("bsreplay")));
    assert_eq!(early["at_seconds"], 0.5);
    let first = |told: &serde_json::Value| told["entities"][0]["fields"]["y"].as_f64().unwrap();
    assert!(first(&early) < first(&told), "{early} {told}");
}

#[test]
fn a_killed_server_leaves_a_log_that_replays_but_for_its_last_second() {
    let dir = Dir::new("killed");
    let server = Server::start("", &["--record", dir.arg(), "--record-matches", dir.arg()]);
    server.play(&[Dialect::Native], Duration::from_millis(3_000));
    server.stop("KILL");
    for (extension, good) in [("bslog", "replays"), ("bsreplay", "shows")] {
        let file = dir.file(extension);
        let output = replay(&[], &file);
        assert_eq!(output.status.code(), Some(1));
        assert!(sentence(&output).contains("it was cut short: "), "{}", sentence(&output));
        let advice = format!("; --salvage {good} the undamaged part\n");
        assert!(sentence(&output).ends_with(&advice), "{}", sentence(&output));
        let output = replay(&["--json", "--salvage"], &file);
        let told = json(&output);
        assert_eq!(output.status.code(), Some(0), "{told}");
        assert!(told["seconds"].as_f64().unwrap() > 1.0, "{told}");
        assert!(told["damage"].as_str().unwrap().starts_with("it was cut short"), "{told}");
    }
}

#[test]
fn a_full_disk_ends_the_recording_and_not_the_game() {
    let dir = Dir::new("full");
    // No file may be longer than 8 KiB at most, whatever the shell counts in.
    let server = Server::start("trap '' XFSZ; ulimit -f 8;", &["--record", dir.arg()]);
    server.play(&[Dialect::Native], Duration::from_secs(4));
    server.play(&[Dialect::Native], Duration::from_millis(200));
    let told = server.stop("TERM");
    let stopped = told.matches("recording stopped, the game continues: ").count();
    assert_eq!(stopped, 1, "{told}");
    assert!(told.contains("stopped; all players were told"), "{told}");
}

#[test]
fn a_replay_that_had_to_end_begins_anew_in_another_file() {
    let dir = Dir::new("anew");
    // No file may be longer than 4 KiB at most, whatever the shell counts in.
    let server = Server::start("trap '' XFSZ; ulimit -f 4;", &["--record-matches", dir.arg()]);
    let begun = || {
        let files = dir.files("bsreplay");
        files.iter().filter(|file| fs::metadata(file).unwrap().len() > 0).count()
    };
    let limit = Instant::now() + 3 * PATIENCE;
    while begun() < 2 {
        assert!(Instant::now() < limit, "{} recordings", begun());
        server.play(&[Dialect::Native], Duration::from_secs(2));
    }
    for file in dir.files("bsreplay") {
        assert_eq!(fs::metadata(file).unwrap().permissions().mode() & 0o777, 0o600);
    }
    let told = server.stop("TERM");
    assert!(told.contains("recording stopped, the game continues: "), "{told}");
    assert!(told.contains("stopped; all players were told"), "{told}");
}

#[test]
fn a_node_log_that_had_to_end_begins_anew_when_nobody_is_there() {
    let dir = Dir::new("log-anew");
    let server = Server::start("trap '' XFSZ; ulimit -f 4;", &["--record", dir.arg()]);
    let begun = || {
        let files = dir.files("bslog");
        files.iter().filter(|file| fs::metadata(file).unwrap().len() > 0).count()
    };
    let limit = Instant::now() + 3 * PATIENCE;
    while begun() < 2 {
        assert!(Instant::now() < limit, "{} logs", begun());
        // An empty server writes half a kilobyte a second.
        std::thread::sleep(Duration::from_millis(200));
    }
    // Someone plays on the server that was made anew, as on the one before.
    server.play(&[Dialect::Native], Duration::from_secs(1));
    let told = server.stop("TERM");
    assert!(told.contains("recording everything again"), "{told}");
    // Each begins with a server without a past, and replays as far as it goes.
    for file in dir.files("bslog").iter().take(2) {
        let output = replay(&["--salvage"], file);
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn what_cannot_be_recorded_or_replayed_is_told_in_a_sentence() {
    let dir = Dir::new("sentences");
    let file = dir.0.join("notes.txt");
    fs::write(&file, "not a recording").unwrap();
    let mut serve = Command::new(env!("CARGO_BIN_EXE_backspin"));
    let port = free_port().to_string();
    serve.args(["serve", "--bind", "127.0.0.1", "--lan-port", "0", "--rtype-port", "0"]);
    let output = serve.args(["--native-port", &port, "--record"]).arg(&file).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let told = sentence(&output);
    assert!(told.starts_with("backspin: cannot record to "), "{told}");
    let output = replay(&[], &file);
    assert_eq!(output.status.code(), Some(1));
    let told = sentence(&output);
    assert!(told.ends_with(": it is neither a node log nor a match replay\n"), "{told}");
    let output = replay(&[], &dir.0.join("nothing"));
    assert_eq!(output.status.code(), Some(1));
    assert!(sentence(&output).contains("nothing: "), "{}", sentence(&output));
    assert_eq!(replay(&["--at", "-1"], &file).status.code(), Some(2));
    // A file with a hole, longer than any match.
    let long = dir.0.join("long.bsreplay");
    fs::write(&long, "BSREPLAY").unwrap();
    fs::File::options().write(true).open(&long).unwrap().set_len((256 << 20) + 1).unwrap();
    let told = sentence(&replay(&[], &long));
    assert!(told.ends_with(": it is longer than 256 MiB, more than any match needs\n"), "{told}");
}
