//! What an operator with the token may do.

use crate::process::{Home, Ports};
use crate::server::{Server, TOKEN};

#[test]
fn without_a_token_configured_nothing_can_be_changed() {
    let server = Server::start();
    for path in ["/api/drain", "/api/rooms/1/players/1/kick", "/api/bans/192.0.2.7?minutes=1"] {
        assert_eq!(server.command(path).code, 404, "{path}");
        assert_eq!(server.get(path).code, 405, "{path}");
    }
    assert_eq!(server.told()["draining"], false);
    assert_eq!(server.told()["commands"], false);
}

#[test]
fn a_wrong_token_is_refused() {
    let server = Server::start_with_token();
    for fields in ["", "Authorization: Bearer s3cre7\r\n", "Authorization: Basic s3cret\r\n"] {
        let reply = server.ask("POST /api/drain", fields);
        assert_eq!(reply.code, 401, "{fields}");
        assert!(reply.head.contains("WWW-Authenticate: Bearer"), "{}", reply.head);
    }
    let foreign = format!("Authorization: Bearer {TOKEN}\r\nOrigin: http://evil.example\r\n");
    assert_eq!(server.ask("POST /api/drain", &foreign).code, 403);
    assert_eq!(server.told()["draining"], false);
}

#[test]
fn a_player_who_is_removed_reads_why_and_the_others_play_on() {
    let server = Server::start_with_token();
    let anna = server.join("Anna");
    server.wait_for_players(1);
    let _ben = server.join("Ben");
    let told = server.wait_for_players(2);
    let members = told["rooms"][0]["members"].as_array().unwrap();
    let player = &members.iter().find(|member| member["name"] == "Anna").unwrap()["player"];
    let reply = server.command(&format!("/api/rooms/1/players/{player}/kick"));
    assert_eq!(reply.code, 202, "{reply:?}");
    let (code, told) = anna.wait();
    assert_eq!(code, Some(1));
    assert!(told.contains("removed"), "{told}");
    let told = server.wait_for_players(1);
    assert_eq!(told["rooms"][0]["members"][0]["name"], "Ben");
    let gone = server.command(&format!("/api/rooms/1/players/{player}/kick"));
    assert_eq!(gone.code, 404);
}

#[test]
fn a_drained_server_lets_nobody_in_and_keeps_its_players() {
    let server = Server::start_with_token();
    let _anna = server.join("Anna");
    server.wait_for_players(1);
    assert_eq!(server.command("/api/drain").code, 202);
    server.wait_for(|told| told["draining"] == true);
    assert_eq!(server.get("/healthz").body, "draining\n");
    let (code, told) = server.join("Ben").wait();
    assert_eq!(code, Some(1));
    assert!(told.contains("about to stop"), "{told}");
    let told = server.wait_for_players(1);
    assert_eq!(told["rooms"][0]["members"][0]["name"], "Anna");
    let (code, log) = server.terminate();
    assert_eq!(code, Some(0));
    assert!(log.contains("started draining"), "{log}");
}

#[test]
fn a_drained_server_can_let_others_in_again() {
    let server = Server::start_with_token();
    assert_eq!(server.command("/api/drain").code, 202);
    server.wait_for(|told| told["draining"] == true);
    assert_eq!(server.command_by("DELETE", "/api/drain").code, 202);
    server.wait_for(|told| told["draining"] == false);
    assert_eq!(server.get("/healthz").body, "ok\n");
    let _anna = server.join("Anna");
    server.wait_for_players(1);
}

/// Joins, and ends with the sentence of the banned.
#[track_caller]
fn is_turned_away(server: &Server) {
    let (code, told) = server.join("Anna").wait();
    assert_eq!(code, Some(1));
    assert!(told.contains("You are banned from this server."), "{told}");
}

#[test]
fn a_banned_player_reads_why_also_after_a_restart_until_the_ban_is_lifted() {
    let home = Home::new();
    let server = Server::start_in(&home);
    let anna = server.join("Anna");
    let told = server.wait_for_players(1);
    let player = &told["rooms"][0]["members"][0]["player"];
    let reply = server.command(&format!("/api/rooms/1/players/{player}/kick?minutes=60"));
    assert_eq!(reply.code, 202, "{reply:?}");
    let (code, told) = anna.wait();
    assert_eq!(code, Some(1));
    assert!(told.contains("You are banned from this server."), "{told}");
    is_turned_away(&server);
    let told = server.bans();
    assert_eq!(
        (&told["bans"][0]["address"], &told["bans"][0]["name"]),
        (&"127.0.0.1".into(), &"Anna".into())
    );
    assert!(server.get("/metrics").body.contains("backspin_bans 1\n"));
    let (code, log) = server.terminate();
    assert_eq!(code, Some(0), "{log}");
    assert!(log.contains("the operator banned 127.0.0.1 for 60 minutes"), "{log}");

    // A server without a page keeps the same ones out.
    let plain = crate::process::Server::start_in(&home, Ports::native, &[]);
    let at = plain.native().to_string();
    let join = Home::new().command(&["pong", "join", &at, "--ui", "none"]).output().unwrap();
    assert_eq!(join.status.code(), Some(1));
    let said = String::from_utf8(join.stderr).unwrap();
    assert!(said.contains("You are banned from this server."), "{said}");
    drop(plain);

    let server = Server::start_in(&home);
    is_turned_away(&server);
    assert_eq!(server.bans(), told_again(&told));
    assert_eq!(server.command_by("DELETE", "/api/bans/127.0.0.1").code, 202);
    assert_eq!(server.bans()["bans"].as_array().unwrap().len(), 0);
    // The second status from now was made behind the command.
    let number = server.told()["number"].as_u64().unwrap();
    server.wait_for(|told| told["number"].as_u64() >= Some(number + 2));
    let _anna = server.join("Anna");
    server.wait_for_players(1);
}

/// What a server says of the same bans once they are in their file.
fn told_again(told: &serde_json::Value) -> serde_json::Value {
    serde_json::json!({ "saved": true, "bans": told["bans"] })
}
