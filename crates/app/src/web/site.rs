//! What is where: every path of the page, and who may ask for it.

use std::hint::black_box;
use std::sync::mpsc::SyncSender;
use std::time::Duration;

use backspin::game::PlayerId;
use serde::Serialize;

use super::metrics;
use super::reply::{Code, Reply};
use super::request::Request;
use super::status::{MemberStatus, Status};

/// What an operator wants done to the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Command {
    /// Remove a player, who may not come back.
    Kick {
        /// Its number.
        room: u32,
        player: PlayerId,
    },
    /// Let nobody new in.
    Drain,
}

/// The answers, and what they need.
#[derive(Debug)]
pub(super) struct Site {
    /// What an operator must say to change anything; without one nobody can.
    pub(super) token: Option<String>,
    pub(super) commands: SyncSender<Command>,
}

/// How a request is answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// At once.
    Reply(Reply),
    /// For as long as someone reads.
    Stream(Topic),
}

/// What a stream of events is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Topic {
    /// How the server stands, once a second.
    Status,
    /// What there is to see in the room with this number.
    Room(u32),
}

/// A loop that says nothing for so long is ill.
const HEALTHY: Duration = Duration::from_secs(5);

const PAGE: &str = include_str!("page/index.html");
const STYLE: &str = include_str!("page/page.css");
const SCRIPTS: [(&str, &str); 3] = [
    ("/page.js", include_str!("page/page.js")),
    ("/chart.js", include_str!("page/chart.js")),
    ("/stage.js", include_str!("page/stage.js")),
];
const ICON: &str = include_str!("page/icon.svg");

const READ: &str = "GET, HEAD";

impl Site {
    /// Answers a request; the status is `age` old.
    pub(super) fn answer(&self, request: &Request<'_>, status: &Status, age: Duration) -> Answer {
        if let Err(foreign) = request.check_source() {
            return Answer::Reply(foreign.into());
        }
        let words: Vec<_> = request.path.split('/').skip(1).collect();
        if let Some(command) = command(&words) {
            return Answer::Reply(match request.method {
                "POST" => self.take(request, status, command),
                _ => Reply::not_allowed("POST"),
            });
        }
        let Some(answer) = self.read(request.path, &words, status, age) else {
            return Answer::Reply(Reply::say(Code::NotFound, "There is nothing here."));
        };
        match request.method {
            "GET" | "HEAD" => answer,
            _ => Answer::Reply(Reply::not_allowed(READ)),
        }
    }

    /// What can be read at a path.
    fn read(&self, path: &str, words: &[&str], status: &Status, age: Duration) -> Option<Answer> {
        let reply = match words {
            [""] => Reply::html(PAGE),
            ["page.css"] => Reply::of("text/css; charset=utf-8", STYLE),
            ["icon.svg"] => Reply::of("image/svg+xml", ICON),
            ["healthz"] => health(status, age),
            ["metrics"] => {
                Reply::of("text/plain; version=0.0.4; charset=utf-8", metrics::text(status))
            }
            ["api", "rooms"] => Reply::json(self.told(status)),
            ["api", "events"] => return Some(Answer::Stream(Topic::Status)),
            ["api", "rooms", room, "events"] => {
                let room = status.room(number(room)?)?.room;
                return Some(Answer::Stream(Topic::Room(room)));
            }
            _ => {
                let (_, script) = SCRIPTS.iter().find(|(name, _)| *name == path)?;
                Reply::of("text/javascript; charset=utf-8", *script)
            }
        };
        Some(Answer::Reply(reply))
    }

    /// A status as JSON, with what belongs to the page.
    pub(super) fn told(&self, status: &Status) -> String {
        #[derive(Serialize)]
        struct Told<'a> {
            version: &'static str,
            /// Whether an operator with the token can change anything.
            commands: bool,
            #[serde(flatten)]
            status: &'a Status,
        }
        let (version, commands) = (env!("CARGO_PKG_VERSION"), self.token.is_some());
        // Plain data: there is nothing in it that JSON has no word for.
        serde_json::to_string(&Told { version, commands, status }).unwrap_or_default()
    }

    fn take(&self, request: &Request<'_>, status: &Status, command: Command) -> Reply {
        let Some(token) = &self.token else {
            let sentence = "Nothing can be changed here: the server has no --http-token.";
            return Reply::say(Code::NotFound, sentence);
        };
        if !request.bearer().is_some_and(|said| is_same(said.as_bytes(), token.as_bytes())) {
            let sentence = "This takes the server's --http-token, as Authorization: Bearer.";
            return Reply::say(Code::Unauthorized, sentence);
        }
        if let Command::Kick { room, player } = command {
            let is_meant = |member: &MemberStatus| member.player == player.0;
            if !status.room(room).is_some_and(|room| room.members.iter().any(is_meant)) {
                return Reply::say(Code::NotFound, "There is no such player.");
            }
        }
        match self.commands.try_send(command) {
            Ok(()) => Reply::say(Code::Accepted, "It will be done."),
            Err(_) => Reply::say(Code::ServiceUnavailable, "The server is busy; try again."),
        }
    }
}

fn command(words: &[&str]) -> Option<Command> {
    match words {
        ["api", "drain"] => Some(Command::Drain),
        ["api", "rooms", room, "players", player, "kick"] => {
            let (room, player) = (number(room)?, PlayerId(number(player)?));
            Some(Command::Kick { room, player })
        }
        _ => None,
    }
}

/// Digits and nothing else.
fn number(word: &str) -> Option<u32> {
    word.bytes().all(|byte| byte.is_ascii_digit()).then(|| word.parse().ok()).flatten()
}

fn health(status: &Status, age: Duration) -> Reply {
    match (age < HEALTHY, status.draining) {
        (false, _) => {
            Reply::say(Code::ServiceUnavailable, "The game's loop has said nothing for too long.")
        }
        (true, true) => Reply::say(Code::Ok, "draining"),
        (true, false) => Reply::say(Code::Ok, "ok"),
    }
}

/// Compares without telling by its time how much was right.
fn is_same(said: &[u8], token: &[u8]) -> bool {
    let differ = said.iter().zip(token).fold(0, |differ, (a, b)| black_box(differ | (a ^ b)));
    said.len() == token.len() && differ == 0
}

#[cfg(test)]
mod tests;
