//! Every path of the page, and who may request it.

use std::hint::black_box;
use std::net::IpAddr;
use std::sync::mpsc::SyncSender;
use std::time::{Duration, Instant};

use backspin::endpoint::BAN_LIMIT;
use backspin::game::PlayerId;
use backspin::peer::LimitKey;
use backspin::wire::Name;
use serde::Serialize;

use super::bans::{Bans, LONGEST_MINUTES, Term, parse_address};
use super::metrics::{self, PageCounts};
use super::reply::{Code, Reply};
use super::request::Request;
use super::status::{MemberStatus, Status};
use super::visitors::Tries;
use crate::utc;

/// What an operator wants done to the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Command {
    /// Remove a player.
    Kick {
        /// Its number.
        room: u32,
        player: PlayerId,
    },
    /// Ban an address, for a time or permanently.
    Ban { address: LimitKey, lasts: Option<Duration> },
    /// Let it in again.
    LiftBan(LimitKey),
    /// Drain the server.
    Drain,
    /// Let others in again.
    Undrain,
}

/// What an operator with the token asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wish {
    Kick { room: u32, player: PlayerId, ban: Option<Term> },
    Ban { address: LimitKey, term: Term },
    LiftBan(LimitKey),
    ListBans,
    ReadChat,
    Drain,
    Undrain,
}

/// A request, its client and its time.
pub(super) struct Asked<'a> {
    pub(super) request: &'a Request<'a>,
    pub(super) client: IpAddr,
    pub(super) now: Instant,
    /// How old the status is.
    pub(super) age: Duration,
    /// How the page itself is.
    pub(super) counts: PageCounts,
}

/// The answers, and what they need.
#[derive(Debug)]
pub(super) struct Site {
    /// The token that allows changes; without one, nothing can be changed.
    token: Option<String>,
    commands: SyncSender<Command>,
    pub(super) bans: Bans,
    tries: Tries,
    wrong_tokens: u64,
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

/// A game loop that reports nothing for this long is unhealthy.
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

/// The health check; answered however many viewers there are.
pub(super) const HEALTH: &str = "/healthz";

impl Site {
    pub(super) fn new(token: Option<String>, commands: SyncSender<Command>, bans: Bans) -> Self {
        Site { token, commands, bans, tries: Tries::default(), wrong_tokens: 0 }
    }

    /// The number of wrong tokens, including those over the limit.
    pub(super) fn wrong_tokens(&self) -> u64 {
        self.wrong_tokens
    }

    /// Answers a request.
    pub(super) fn answer(&mut self, asked: &Asked<'_>, status: &Status) -> Answer {
        let request = asked.request;
        if let Err(foreign) = request.check_source() {
            return Answer::Reply(foreign.into());
        }
        let words: Vec<_> = request.path.split('/').skip(1).collect();
        if let Some(wish) = wish(request, &words) {
            let granted = wish.and_then(|wish| self.check_token(asked).map(|()| wish));
            return Answer::Reply(match granted {
                Ok(wish) => self.grant(wish, status),
                Err(reply) => reply,
            });
        }
        let Some(answer) = self.read(asked, &words, status) else {
            return Answer::Reply(Reply::say(Code::NOT_FOUND, "There is no such page."));
        };
        match request.method {
            "GET" | "HEAD" => answer,
            _ => Answer::Reply(Reply::not_allowed(READ)),
        }
    }

    /// What can be read at a path.
    fn read(&self, asked: &Asked<'_>, words: &[&str], status: &Status) -> Option<Answer> {
        let reply = match words {
            [""] => Reply::html(PAGE),
            ["page.css"] => Reply::of("text/css; charset=utf-8", STYLE),
            ["icon.svg"] => Reply::of("image/svg+xml", ICON),
            ["healthz"] => health(status, asked.age),
            ["metrics"] => {
                let text = metrics::text(status, &asked.counts);
                Reply::of("text/plain; version=0.0.4; charset=utf-8", text)
            }
            ["api", "rooms"] => Reply::json(self.told(status)),
            ["api", "events"] => return Some(Answer::Stream(Topic::Status)),
            ["api", "rooms", room, "events"] => {
                let room = status.room(number(room)?)?.room;
                return Some(Answer::Stream(Topic::Room(room)));
            }
            _ => {
                let (_, script) = SCRIPTS.iter().find(|(name, _)| *name == asked.request.path)?;
                Reply::of("text/javascript; charset=utf-8", *script)
            }
        };
        Some(Answer::Reply(reply))
    }

    /// A status as JSON, with what belongs to the page.
    pub(super) fn told(&self, status: &Status) -> String {
        #[derive(Serialize)]
        struct StatusPage<'a> {
            version: &'static str,
            /// Whether an operator with the token can change anything.
            commands: bool,
            #[serde(flatten)]
            status: &'a Status,
        }
        let (version, commands) = (env!("CARGO_PKG_VERSION"), self.token.is_some());
        // Plain data: there is nothing in it that JSON has no word for.
        serde_json::to_string(&StatusPage { version, commands, status }).unwrap_or_default()
    }

    /// Whether the client has the token.
    fn check_token(&mut self, asked: &Asked<'_>) -> Result<(), Reply> {
        let Some(token) = &self.token else {
            let sentence = "This needs an --http-token, and the server was started without one.";
            return Err(Reply::say(Code::NOT_FOUND, sentence));
        };
        let missing = "This needs the server's --http-token, as Authorization: Bearer.";
        let said = asked.request.bearer().ok_or_else(|| Reply::say(Code::UNAUTHORIZED, missing))?;
        if let Some(wait) = self.tries.wait(asked.now, asked.client) {
            self.wrong_tokens += 1;
            let sentence = format!(
                "Too many wrong tokens from your address. Wait {} s, then send the \
                 server's --http-token.",
                wait.as_millis().div_ceil(1000)
            );
            return Err(Reply::later(Code::TOO_MANY_REQUESTS, wait, sentence));
        }
        if !is_same(said.as_bytes(), token.as_bytes()) {
            self.wrong_tokens += 1;
            self.tries.note(asked.now, asked.client);
            return Err(Reply::say(Code::UNAUTHORIZED, format!("Wrong token. {missing}")));
        }
        Ok(())
    }

    /// Does what someone with the token wants.
    fn grant(&mut self, wish: Wish, status: &Status) -> Reply {
        let now_ms = utc::unix_ms();
        let member = |room, player: PlayerId| {
            let is_meant = |member: &&MemberStatus| member.player == player.0;
            status.room(room)?.members.iter().find(is_meant)
        };
        match wish {
            Wish::ListBans => Reply::json(self.bans.told(now_ms)),
            Wish::ReadChat => Reply::json(chat(status)),
            Wish::Drain => self.send(Command::Drain),
            Wish::Undrain => self.send(Command::Undrain),
            Wish::Kick { room, player, ban } => match (member(room, player), ban) {
                (None, _) => Reply::say(Code::NOT_FOUND, "There is no such player."),
                (Some(_), None) => self.send(Command::Kick { room, player }),
                (Some(member), Some(term)) => match member.address {
                    Some(address) => self.ban(now_ms, address, member.name.to_string(), term),
                    None => Reply::say(Code::NOT_FOUND, "The player's address is not known."),
                },
            },
            Wish::Ban { address, term } => self.ban(now_ms, address, String::new(), term),
            Wish::LiftBan(address) if self.bans.holds(now_ms, address) => {
                let reply = self.send(Command::LiftBan(address));
                if reply.code == Code::ACCEPTED {
                    self.bans.lift(now_ms, address);
                }
                reply
            }
            Wish::LiftBan(_) => Reply::say(Code::NOT_FOUND, "That address is not banned."),
        }
    }

    fn ban(&mut self, now_ms: u64, address: LimitKey, name: String, term: Term) -> Reply {
        if !self.bans.has_place(now_ms, address) {
            let sentence =
                format!("The ban list is full: {BAN_LIMIT} addresses. Lift a ban first.");
            return Reply::say(Code::CONFLICT, sentence);
        }
        let reply = self.send(Command::Ban { address, lasts: term.lasts() });
        if reply.code == Code::ACCEPTED {
            // There is a place.
            let _ = self.bans.add(now_ms, address, name, term);
        }
        reply
    }

    fn send(&self, command: Command) -> Reply {
        match self.commands.try_send(command) {
            Ok(()) => Reply::say(Code::ACCEPTED, "Accepted."),
            Err(_) => Reply::say(Code::SERVICE_UNAVAILABLE, "The server is busy; try again."),
        }
    }
}

/// What a request asks for that takes the token; `None` if it is at no such path.
fn wish(request: &Request<'_>, words: &[&str]) -> Option<Result<Wish, Reply>> {
    let method = request.method;
    let found = match words {
        ["api", "drain"] => match method {
            "POST" => Wish::Drain,
            "DELETE" => Wish::Undrain,
            _ => return Some(Err(Reply::not_allowed("POST, DELETE"))),
        },
        ["api", "rooms", room, "players", player, "kick"] => {
            let (room, player) = (number(room)?, PlayerId(number(player)?));
            match (method, term(request.query)) {
                ("POST", Ok(ban)) => Wish::Kick { room, player, ban },
                ("POST", Err(reply)) => return Some(Err(reply)),
                _ => return Some(Err(Reply::not_allowed("POST"))),
            }
        }
        ["api", "chat"] => match method {
            "GET" | "HEAD" => Wish::ReadChat,
            _ => return Some(Err(Reply::not_allowed(READ))),
        },
        ["api", "bans"] => match method {
            "GET" | "HEAD" => Wish::ListBans,
            _ => return Some(Err(Reply::not_allowed(READ))),
        },
        ["api", "bans", address @ ..] => {
            let address = parse_address(&address.join("/"))?;
            match (method, term(request.query)) {
                ("DELETE", _) => Wish::LiftBan(address),
                ("POST", Ok(Some(term))) => Wish::Ban { address, term },
                ("POST", Ok(None)) => return Some(Err(Reply::say(Code::BAD_REQUEST, HOW_LONG))),
                ("POST", Err(reply)) => return Some(Err(reply)),
                _ => return Some(Err(Reply::not_allowed("POST, DELETE"))),
            }
        }
        _ => return None,
    };
    Some(Ok(found))
}

const HOW_LONG: &str = "Say how long the ban lasts: ?minutes=60, or ?minutes=forever. A ban that \
                        ends lasts at most ten years.";

/// How long a ban is to last, if one is wanted.
fn term(query: &str) -> Result<Option<Term>, Reply> {
    let wrong = || Reply::say(Code::BAD_REQUEST, HOW_LONG);
    match query.strip_prefix("minutes=") {
        None if query.is_empty() => Ok(None),
        None => Err(wrong()),
        Some("forever") => Ok(Some(Term::ForGood)),
        Some(minutes) => match number(minutes) {
            Some(minutes @ 1..=LONGEST_MINUTES) => Ok(Some(Term::Minutes(minutes))),
            _ => Err(wrong()),
        },
    }
}

/// Digits and nothing else.
fn number(word: &str) -> Option<u32> {
    word.bytes().all(|byte| byte.is_ascii_digit()).then(|| word.parse().ok()).flatten()
}

/// The last lines of chat in all rooms, those of a room one after the other. Shown with care, as in the log.
fn chat(status: &Status) -> String {
    #[derive(Serialize)]
    struct Line<'a> {
        room: u32,
        room_name: &'a Name,
        player: u32,
        name: &'a Name,
        text: String,
    }
    let lines = status.rooms.iter().flat_map(|room| {
        room.chat.iter().map(move |line| Line {
            room: room.room,
            room_name: &room.name,
            player: line.player.0,
            name: &line.name,
            text: line.text.to_string(),
        })
    });
    // Plain data: there is nothing in it that JSON has no word for.
    serde_json::to_string(&lines.collect::<Vec<_>>()).unwrap_or_default()
}

fn health(status: &Status, age: Duration) -> Reply {
    match (age < HEALTHY, status.draining) {
        (false, _) => {
            Reply::say(Code::SERVICE_UNAVAILABLE, "The game loop has not reported for too long.")
        }
        (true, true) => Reply::say(Code::OK, "draining"),
        (true, false) => Reply::say(Code::OK, "ok"),
    }
}

/// Compares without telling by its time how much was right.
fn is_same(said: &[u8], token: &[u8]) -> bool {
    let differ = said.iter().zip(token).fold(0, |differ, (a, b)| black_box(differ | (a ^ b)));
    said.len() == token.len() && differ == 0
}

#[cfg(test)]
mod tests;
