//! Finished matches outlive the server, however that ends.

use std::process::Child;
use std::time::{Duration, Instant};

use crate::server::{Home, Ports, Server};

/// A whole match takes a while: five points, each a serve and a flight.
const MATCH: Duration = Duration::from_secs(120);

/// A program that is killed when the test ends.
struct Player(Child);

impl Player {
    fn join(home: &Home, server: &Server, args: &[&str]) -> Self {
        let address = server.native().to_string();
        let mut command = home.command(&["pong", "join", &address, "--ui", "none", "--json"]);
        Player(command.args(args).spawn().unwrap())
    }
}

impl Drop for Player {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn results(home: &Home, args: &[&str]) -> String {
    let done = home.command(&["results"]).args(args).output().unwrap();
    let told = String::from_utf8(done.stderr).unwrap();
    assert!(done.status.success(), "{told}");
    String::from_utf8(done.stdout).unwrap()
}

#[test]
fn a_match_is_there_after_the_server_was_killed() {
    let home = Home::new();
    let mut server = Server::start_in(&home, Ports::native, &[]);
    assert_eq!(results(&home, &[]), "No results yet.\n");
    {
        let _keen = Player::join(&home, &server, &["--bot", "hard", "--name", "Keen"]);
        let _idle = Player::join(&home, &server, &["--name", "Idle"]);
        let limit = Instant::now() + MATCH;
        while results(&home, &["--json"]).is_empty() {
            assert!(Instant::now() < limit, "the match is not over");
            std::thread::sleep(Duration::from_millis(100));
        }
        server.kill();
    }
    let kept = results(&home, &["--json"]);
    let result: serde_json::Value = serde_json::from_str(&kept).unwrap();
    assert_eq!((&result["game"], &result["outcome"]), (&"pong".into(), &"decided".into()));
    let player = |name: &str| {
        let players = result["players"].as_array().unwrap();
        players.iter().find(|player| player["name"] == name).cloned().unwrap()
    };
    let (keen, idle) = (player("Keen"), player("Idle"));
    assert_eq!((&keen["score"], &keen["won"]), (&5.into(), &true.into()));
    assert_eq!(&idle["won"], false);
    assert!(keen["round_trip_ms"].is_number());
    // A server that is started anew goes on with the same file.
    let server = Server::start_in(&home, Ports::native, &[]);
    assert_eq!(results(&home, &["--json"]), kept);
    let board = results(&home, &["--leaderboard", "--game", "pong"]);
    assert!(board.starts_with("Keen") && board.contains("won    1 of    1"), "{board}");
    drop(server);
}
