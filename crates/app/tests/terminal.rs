//! The game in real terminals: tmux draws what a player would see, and presses what one would.
//!
//! Where there is no tmux the tests say so and pass.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// Longer than anything here takes, on the slowest machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// A tmux server of its own, with a home of its own.
struct Tmux {
    socket: String,
    home: PathBuf,
}

impl Tmux {
    /// One whose player is called Cid. `None` where there is no tmux.
    fn start() -> Option<Tmux> {
        let tmux = Tmux::fresh()?;
        let folder = tmux.home.join("backspin");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("settings.json"), r#"{"name": "Cid"}"#).unwrap();
        Some(tmux)
    }

    /// One whose player has never played, and is Annabel to the system.
    fn fresh() -> Option<Tmux> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        if Command::new("tmux").arg("-V").output().is_err() {
            eprintln!("skipped: tmux is not installed");
            return None;
        }
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let socket = format!("backspin-{}-{number}", std::process::id());
        let home = std::env::temp_dir().join(&socket);
        std::fs::create_dir_all(&home).unwrap();
        Some(Tmux { socket, home })
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let mut tmux = Command::new("tmux");
        tmux.args(["-L", &self.socket, "-f", "/dev/null"]).args(arguments);
        tmux.env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY");
        tmux.env_remove("TMUX").env("HOME", &self.home).env("LC_ALL", "C.UTF-8");
        tmux.env("BACKSPIN_SEARCH_FROM", "127.0.0.1").env("USER", "Annabel");
        for name in ["XDG_CONFIG_HOME", "XDG_STATE_HOME"] {
            tmux.env(name, &self.home);
        }
        tmux.output().unwrap()
    }

    /// A pane of this size that runs `backspin` with `arguments`, and tells how it ended.
    fn open(&self, name: &'static str, size: (u16, u16), arguments: &str) -> Pane<'_> {
        let program = env!("CARGO_BIN_EXE_backspin");
        let script = format!("echo before; '{program}' {arguments}; echo \"ended with $?\"; cat");
        let (width, height) = (size.0.to_string(), size.1.to_string());
        let begin = ["new-session", "-d", "-s", name, "-x", &width, "-y", &height, &script];
        let done = self.run(&begin);
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        Pane { tmux: self, name }
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        self.run(&["kill-server"]);
        let _ = std::fs::remove_dir_all(&self.home);
    }
}

struct Pane<'a> {
    tmux: &'a Tmux,
    name: &'static str,
}

impl Pane<'_> {
    fn text(&self) -> String {
        let out = self.tmux.run(&["capture-pane", "-p", "-t", self.name]);
        String::from_utf8(out.stdout).unwrap()
    }

    fn press(&self, key: &str) {
        assert!(self.tmux.run(&["send-keys", "-t", self.name, key]).status.success());
    }

    /// Leaves a match: Esc opens the panel, and leaving asks.
    fn leave(&self) {
        self.press("Escape");
        self.wait_for("> Continue");
        self.press("Up");
        self.wait_for("> Leave the match");
        self.press("Enter");
        self.wait_for("Leave the match?");
        self.wait_for("> Stay");
        self.press("Up");
        self.wait_for("> Leave");
        self.press("Enter");
        self.wait_for("> Play");
    }

    /// The screen once it is as it should be.
    fn wait(&self, what: &str, done: impl Fn(&str) -> bool) -> String {
        let began = Instant::now();
        loop {
            let text = self.text();
            if done(&text) {
                return text;
            }
            assert!(began.elapsed() < PATIENCE, "{what} did not come:\n{text}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn wait_for(&self, words: &str) -> String {
        self.wait(words, |text| text.contains(words))
    }

    /// What is true of the pane, by tmux's name for it.
    fn has(&self, what: &str) -> bool {
        let format = format!("#{{{what}}}");
        let out = self.tmux.run(&["display-message", "-p", "-t", self.name, &format]);
        String::from_utf8(out.stdout).unwrap().trim() == "1"
    }

    /// Sends a signal to the game in this pane.
    fn signal(&self, signal: &str) {
        let out = self.tmux.run(&["display-message", "-p", "-t", self.name, "#{pane_pid}"]);
        let shell = String::from_utf8(out.stdout).unwrap();
        let out = Command::new("pgrep").args(["-P", shell.trim()]).output().unwrap();
        let game = String::from_utf8(out.stdout).unwrap();
        let game = game.split_whitespace().next().expect("a game in the pane");
        assert!(Command::new("kill").args([signal, game]).status().unwrap().success());
    }

    /// The game has ended so, and the terminal is as it was.
    fn wait_restored(&self, status: &str) {
        let text = self.wait_for(&format!("ended with {status}"));
        assert!(text.starts_with("before"), "{text}");
        assert!(!self.has("alternate_on") && self.has("cursor_flag"), "{text}");
    }
}

/// A server beside the terminals: one whose terminal is gone would go on.
struct Server(Child);

impl Server {
    /// One that is ready, for `native` players at `port`.
    fn start(port: u16) -> Self {
        let port = port.to_string();
        let child = Command::new(env!("CARGO_BIN_EXE_backspin"))
            .args(["serve", "--results=", "--bind", "127.0.0.1", "--native-port", &port])
            .args(["--lan-port", "0", "--rtype-port", "0"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        let mut server = Server(child.unwrap());
        let lines = BufReader::new(server.0.stdout.take().unwrap()).lines();
        assert!(lines.map_while(Result::ok).any(|line| line == "Ctrl-C stops it"));
        server
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// `backspin lag` in front of `port`: a line of 260 ms that loses a fifth in bursts; and its own port.
fn bad_line(port: u16) -> (Server, u16) {
    let own = free_port();
    let child = Command::new(env!("CARGO_BIN_EXE_backspin"))
        .args(["lag", "--listen", &format!("127.0.0.1:{own}")])
        .args(["--target", &format!("127.0.0.1:{port}")])
        .args(["--rtt-ms", "260", "--jitter-ms", "5", "--loss", "20", "--burst", "5"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    (Server(child.unwrap()), own)
}

/// A port that was free a moment ago.
fn free_port() -> u16 {
    let socket = std::net::UdpSocket::bind("0.0.0.0:0").unwrap();
    socket.local_addr().unwrap().port()
}

#[test]
fn from_the_menu_a_match_is_played_and_left_and_the_terminal_is_as_it_was() {
    let Some(tmux) = Tmux::start() else { return };
    let pane = tmux.open("one", (80, 24), "");
    pane.wait_for("> Play");
    pane.press("Down");
    pane.wait_for("> Online");
    pane.press("w");
    pane.wait_for("> Play");
    pane.press("Enter");
    pane.wait_for("> Pong against an easy bot");
    pane.press("Enter");
    let field = pane.wait_for("Easy bot");
    assert!(field.contains("Cid") && field.contains('┊'), "{field}");
    // The paddle is steered to the upper edge and stays there.
    pane.press("w");
    pane.wait("the paddle at the edge", |text| {
        text.lines().nth(2).is_some_and(|line| line.starts_with("│   █"))
    });
    pane.press("p");
    pane.wait_for("Paused");
    pane.press("Enter");
    pane.wait("the match", |text| !text.contains("Paused"));
    // A quarter as large, and back.
    tmux.run(&["resize-window", "-t", "one", "-x", "40", "-y", "12"]);
    pane.wait_for("too small");
    tmux.run(&["resize-window", "-t", "one", "-x", "80", "-y", "24"]);
    pane.wait_for("Easy bot");
    pane.leave();
    pane.press("Up");
    pane.wait_for("> Exit");
    pane.press("Enter");
    pane.wait_for("ended with 0");
    assert!(!pane.has("alternate_on") && pane.has("cursor_flag"));
}

#[test]
fn two_terminals_play_and_who_is_left_is_told_why() {
    let Some(tmux) = Tmux::start() else { return };
    let port = free_port();
    let host = tmux.open("host", (100, 30), &format!("pong host --name Ann --port {port}"));
    host.wait_for("Waiting for someone to join.");
    let guest = tmux.open("guest", (80, 24), &format!("pong join --name Ben --port {port}"));
    guest.wait_for("> Ann   1/2");
    guest.press("Enter");
    host.wait_for("Client connected! It is Ben");
    let status = guest.wait("the ping", |text| text.contains(" ms Excellent"));
    assert!(status.starts_with(" Ann ") && status.contains(" Ben"), "{status}");
    host.wait("the ping", |text| text.contains(" ms Excellent"));
    guest.press("F3");
    let overlay = guest.wait("the overlay", |text| text.contains("B/s") && text.contains("sent"));
    for figure in ["jitter", "loss", "lead", "delay", "corrected", "applied ["] {
        assert!(overlay.contains(figure), "{figure}:\n{overlay}");
    }
    guest.leave();
    host.wait_for("Ben has left the match.");
    host.press("Enter");
    host.wait_for("> Play");
}

#[test]
fn a_host_that_vanishes_is_waited_for_and_one_that_is_stopped_says_goodbye() {
    let Some(tmux) = Tmux::start() else { return };
    let port = free_port();
    let host = tmux.open("host", (80, 24), &format!("pong host --name Ann --port {port}"));
    host.wait_for("Waiting for someone to join.");
    let join = format!("pong join 127.0.0.1:{port} --name Ben");
    let guest = tmux.open("guest", (80, 24), &join);
    guest.wait_for(" ms Excellent");
    host.signal("-KILL");
    guest.wait_for("connection lost, trying again (");
    guest.press("Escape");
    guest.wait_for("> Play");

    let host = tmux.open("again", (80, 24), &format!("pong host --name Ann --port {port}"));
    host.wait_for("Waiting for someone to join.");
    let guest = tmux.open("other", (80, 24), &join);
    guest.wait_for(" ms Excellent");
    host.signal("-TERM");
    host.wait_restored("0");
    guest.wait_for("Ann ended the match.");
    guest.signal("-TERM");
    guest.wait_restored("0");
}

#[test]
fn a_bad_line_is_seen_in_the_overlay_with_its_range_its_losses_and_the_lag_sign() {
    let Some(tmux) = Tmux::start() else { return };
    let port = free_port();
    let hosting = format!("pong host --name Ann --points 21 --port {port}");
    let host = tmux.open("host", (80, 24), &hosting);
    host.wait_for("Waiting for someone to join.");
    let (_lag, slow) = bad_line(port);
    let join = format!("pong join 127.0.0.1:{slow} --dialect native --name Ben");
    let guest = tmux.open("guest", (100, 30), &join);
    // Above 200 ms from an input to its acknowledgement.
    guest.wait("the sign of a poor line, and lag", |text| {
        text.contains("▂··· ping 2") && text.contains(" ms Poor") && text.contains("   lag ")
    });
    guest.press("F3");
    let text = guest.wait_for("packet_loss_rate");
    for name in [" min  ", " average  ", " max  ", " jitter  ", " grade     Poor ▂···"] {
        assert!(text.contains(name), "{name}:\n{text}");
    }
    guest.wait("an acknowledgement with its mark", |text| {
        text.contains(" ^  ") && text.contains("+-- ACK(")
    });
    let text = guest.wait("a lost input", |text| text.contains("[ X ]") || text.contains("[ X  ]"));
    assert!(text.contains("[   ]") || text.contains("[    ]"), "missing below, too:\n{text}");
}

#[test]
fn from_the_menu_r_type_is_flown_alone_and_left() {
    let Some(tmux) = Tmux::start() else { return };
    let pane = tmux.open("one", (80, 24), "");
    pane.wait_for("> Play");
    pane.press("Enter");
    (0..4).for_each(|_| pane.press("Down"));
    pane.wait_for("> R-Type, easy");
    pane.press("Enter");
    pane.wait_for("Level 1: Outer Belt");
    // Up to the edge, and firing.
    pane.press("w");
    pane.press("Space");
    pane.wait("shots", |text| {
        text.lines().nth(2).is_some_and(|line| line.contains("═▶") && line.contains('─'))
    });
    pane.press("p");
    pane.wait_for("Paused");
    pane.press("Escape");
    pane.wait("the match", |text| !text.contains("Paused"));
    pane.leave();
}

#[test]
fn a_killed_guest_is_waited_for_and_comes_back_to_a_countdown() {
    let Some(tmux) = Tmux::start() else { return };
    let port = free_port();
    let host =
        tmux.open("host", (80, 24), &format!("pong host --name Ann --port {port} --points 99"));
    host.wait_for("Waiting for someone to join.");
    let join = format!("pong join 127.0.0.1:{port} --name Ben");
    let guest = tmux.open("guest", (80, 24), &join);
    guest.wait_for(" ms Excellent");
    guest.signal("-KILL");
    let waiting = host.wait_for("Ben is not responding. The ball waits (");
    assert!(waiting.contains("G: continue against a bot"), "{waiting}");
    let guest = tmux.open("back", (80, 24), &join);
    guest.wait_for(" ms Excellent");
    host.wait("play", |text| !text.contains("is not responding"));
    // The second time the host would rather not wait.
    guest.signal("-KILL");
    host.wait_for("Ben is not responding. The ball waits (");
    host.press("g");
    host.wait_for("A bot plays for Ben.");
    host.wait("play", |text| !text.contains("A bot plays"));
    host.leave();
}

#[test]
fn a_host_that_leaves_ends_the_match_and_the_guest_reads_who_did() {
    let Some(tmux) = Tmux::start() else { return };
    let port = free_port();
    let host =
        tmux.open("host", (80, 24), &format!("pong host --name Ann --port {port} --points 99"));
    host.wait_for("Waiting for someone to join.");
    let guest = tmux.open("guest", (80, 24), &format!("pong join 127.0.0.1:{port} --name Ben"));
    guest.wait_for(" ms Excellent");
    host.leave();
    guest.wait_for("Ann ended the match.");
    guest.press("Enter");
    guest.wait_for("> Play");
}

#[test]
fn a_crew_in_two_terminals_gets_ready_talks_and_flies() {
    let Some(tmux) = Tmux::start() else { return };
    let port = free_port();
    let host = tmux.open("host", (100, 30), &format!("rtype host --name Ann --port {port}"));
    host.wait_for("> Start the match");
    let guest = tmux.open("guest", (80, 24), &format!("rtype join --name Ben --port {port}"));
    guest.wait_for("> Ann   1/4");
    guest.press("Enter");
    guest.wait_for("> Ready");
    host.wait_for("Client connected! It is Ben");
    guest.press("r");
    host.wait_for("> Start the match");
    host.press("g");
    guest.wait_for("Level 1: Outer Belt");
    guest.press("7");
    host.wait_for("Ben: Thanks!");
    let status = guest.wait("the ping", |text| text.contains(" ms Excellent"));
    assert!(status.contains("Ann ♥3") && status.contains("Ben ♥3"), "{status}");
    guest.press("F3");
    guest.wait("the overlay", |text| text.contains("B/s") && text.contains("applied ["));
    host.signal("-TERM");
    host.wait_restored("0");
    guest.wait_for("Ann ended the match.");
}

#[test]
fn a_room_with_a_password_is_chosen_from_a_servers_list() {
    let Some(tmux) = Tmux::start() else { return };
    let port = free_port();
    let _server = Server::start(port);
    let address = format!("127.0.0.1:{port}");
    let make = format!("rtype join {address} --room Attic --create --password moth --name Ann");
    let host = tmux.open("host", (80, 24), &make);
    host.wait_for("> Start the match");
    let guest = tmux.open("guest", (80, 24), "");
    guest.wait_for("> Play");
    guest.press("Down");
    guest.press("Enter");
    guest.wait_for("> Join a game");
    guest.press("Enter");
    guest.wait_for("Type an address for R-Type");
    guest.press("Down");
    guest.wait_for("> Type an address for R-Type");
    guest.press("Enter");
    guest.wait_for("Address:");
    guest.press(&address);
    guest.press("Enter");
    let list = guest.wait_for("> R-Type 1");
    assert!(list.contains("Attic      1/4   password"), "{list}");
    guest.press("Down");
    guest.wait_for("> Attic");
    guest.press("Enter");
    guest.wait_for("Password:");
    guest.press("wasp");
    guest.press("Enter");
    // It is asked for again, and what was wrong is gone.
    let again = guest.wait_for("Wrong room password.");
    assert!(again.contains("Password:") && !again.contains("wasp"), "{again}");
    guest.press("moth");
    guest.press("Enter");
    guest.wait_for("> Ready");
    host.wait_for("Cid   not ready");
}

#[test]
fn rooms_of_pong_are_made_and_chosen_from_the_list_and_at_an_address() {
    let Some(tmux) = Tmux::start() else { return };
    let port = free_port();
    let _server = Server::start(port);
    // From the list: the server has one room, and another one is made.
    let ann = tmux.open("ann", (80, 24), &format!("pong join --name Ann --port {port}"));
    ann.wait("the server", |text| {
        text.lines().any(|line| line.contains("> ") && line.contains("0/2"))
    });
    ann.press("Enter");
    ann.wait_for("> Pong 1");
    ann.press("Up");
    ann.press("Up");
    ann.wait_for("> Make a room");
    ann.press("Enter");
    ann.wait_for("Name:");
    ann.press("Pong 1");
    ann.press("Enter");
    ann.wait_for("Another room already has this name.");
    ann.press("Attic");
    ann.press("Enter");
    ann.wait_for("Waiting for");
    // At an address: both rooms are there to choose from.
    let ben = tmux.open("ben", (80, 24), &format!("pong join --name Ben --port {}", free_port()));
    ben.wait_for("> Type an address");
    ben.press("Enter");
    ben.wait_for("Address:");
    ben.press(&format!("127.0.0.1:{port}"));
    ben.press("Enter");
    let list = ben.wait_for("> Pong 1");
    assert!(list.contains("Attic"), "{list}");
    ben.press("Down");
    ben.wait_for("> Attic");
    ben.press("Enter");
    let field = ben.wait_for(" ms Excellent");
    assert!(field.contains("Ann") && field.contains("Ben"), "{field}");
}

#[test]
fn at_the_first_start_a_name_is_asked_for_and_remembered() {
    let Some(tmux) = Tmux::fresh() else { return };
    let pane = tmux.open("first", (80, 24), "");
    let question = pane.wait_for("Your name");
    assert!(question.contains("Annabel") && question.contains("up to 15 letters"), "{question}");
    pane.press("Enter");
    pane.wait_for("> Play");
    pane.press("Down");
    pane.press("Down");
    pane.press("Enter");
    let settings = pane.wait_for("> Name");
    assert!(settings.contains("Annabel"), "{settings}");
    pane.press("Down");
    pane.wait_for("> Colour-blind mode");
    pane.press("Right");
    pane.wait("the colours", |text| {
        text.lines().any(|line| line.contains("> Colour-blind mode") && line.contains("on"))
    });
    let pane = tmux.open("second", (80, 24), "");
    pane.wait_for("> Play");
}

#[test]
fn the_menu_opens_in_the_terminal_that_is_asked_for() {
    let Some(tmux) = Tmux::start() else { return };
    let pane = tmux.open("menu", (80, 24), "--ui terminal");
    pane.wait_for("Settings");
}

#[test]
fn the_demo_fits_a_small_terminal_and_ends_with_the_verdict_on_the_screen() {
    let Some(tmux) = Tmux::start() else { return };
    let pane = tmux.open("demo", (80, 24), "demo --seconds 12");
    let field = pane.wait_for("the guest has: ping");
    assert!(field.starts_with(" Hard bot      real UDP, 100 ms round trip"), "{field}");
    assert!(field.contains("└"), "{field}");
    let end = pane.wait_for("ended with 0");
    assert!(end.contains("PASS: "), "{end}");
}
