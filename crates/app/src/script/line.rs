//! Events around a match, as lines: JSON for scripts, text for people. Each game has lines of its own for
//! what happens in
//! the match.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use backspin::chat::ChatLine;
use backspin::client::{Client, ListStatus, RoomPick, ServerRooms};
use backspin::finder::Found;
use backspin::game::{Game, PlayerId};
use backspin::peer::PeerAddr;
use backspin::time::Time;
use backspin::wire::Name;
use backspin::wire::native::{Matched, RoomEntry, RoomFlags};
use serde::Serialize;

use crate::spool::{self, Feed, Spool};

/// Something to tell.
pub(crate) trait Tell: Serialize {
    /// For people; what comes sixty times a second is for scripts alone.
    fn text(&self) -> Option<String>;
}

/// The most bytes of lines waiting to be read: three seconds of a match or more.
const LINE_LIMIT: usize = 32 * 1024;

/// Where lines go: to stdout, through a queue. Where nobody reads them they are dropped and counted,
/// and the match goes on.
pub(crate) struct Lines {
    json: bool,
    spool: Spool,
}

/// One thing that happened.
#[derive(Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub(super) enum Line {
    /// No host that can be joined has answered yet.
    Searching {
        seconds: u64,
        refused: Option<String>,
    },
    Discovered {
        address: SocketAddr,
        name: String,
        dialect: &'static str,
        players: Option<u16>,
        capacity: Option<u16>,
        ping_ms: Option<f64>,
    },
    /// What one server of several has.
    Server {
        address: String,
        ping_ms: Option<f64>,
        rooms: Vec<RoomCard>,
        error: Option<String>,
    },
    /// The room that is joined.
    Picked {
        address: String,
        room: u32,
        name: String,
        ping_ms: f64,
    },
    /// The players waiting at a matchmaker, including this one.
    Waiting {
        players: u16,
    },
    /// A matchmaker found a match.
    Matched {
        address: SocketAddr,
        room: String,
        players: u8,
        worst_ms: f64,
    },
    Hosting {
        addresses: Vec<SocketAddr>,
    },
    Connected {
        player: u32,
        name: String,
        dialect: &'static str,
        address: Option<String>,
        resumed: bool,
    },
    Quality {
        ping_ms: Option<f64>,
        jitter_ms: Option<f64>,
        loss_pct: Option<f64>,
        grade: Option<String>,
        lead_ms: Option<f64>,
        draw_delay_ms: Option<f64>,
        pending_inputs: Option<usize>,
    },
    Trying {
        seconds_left: f64,
    },
    /// Someone has written a line; player 0 is the server itself.
    Chat {
        player: u32,
        name: String,
        text: String,
    },
    /// A line that was to be written was not, and why.
    ChatRefused {
        reason: String,
    },
    Disconnected {
        player: Option<u32>,
        reason: String,
    },
    /// So many lines are missing here: nobody read them in time.
    Dropped {
        lines: u64,
    },
}

/// A room, as a script reads it.
#[derive(Serialize)]
pub(super) struct RoomCard {
    room: u32,
    name: String,
    players: u8,
    capacity: u8,
    locked: bool,
    started: bool,
}

impl Lines {
    /// Whether a program reads them.
    pub(super) fn is_json(&self) -> bool {
        self.json
    }

    /// Starts to write to stdout.
    pub(crate) fn start(json: bool) -> io::Result<Self> {
        let notice = move |feed: &Feed, lines| {
            // It fails if the reader is gone, so there is nobody to tell.
            let _ = put(feed, json, &Line::Dropped { lines });
        };
        Ok(Lines { json, spool: Spool::start("lines", spool::stdout()?, LINE_LIMIT, notice)? })
    }

    /// Queues a line without waiting for a reader. An error means that the reader is gone.
    pub(crate) fn say(&self, line: &impl Tell) -> io::Result<()> {
        put(self.spool.feed(), self.json, line)
    }
}

fn put(feed: &Feed, json: bool, line: &impl Tell) -> io::Result<()> {
    let text = if json { Some(serde_json::to_string(line)?) } else { line.text() };
    text.map_or(Ok(()), |text| feed.put((text + "\n").as_bytes()))
}

impl Line {
    pub(super) fn discovered(found: &Found) -> Self {
        Line::Discovered {
            address: found.address,
            name: found.name.to_string(),
            dialect: found.dialect,
            players: found.players.map(|(players, _)| players),
            capacity: found.players.map(|(_, capacity)| capacity),
            ping_ms: found.ping.map(ms),
        }
    }

    pub(super) fn server(known: &ServerRooms) -> Self {
        let card = |entry: &RoomEntry| RoomCard {
            room: entry.room,
            name: entry.name.to_string(),
            players: entry.players,
            capacity: entry.capacity,
            locked: entry.flags.contains(RoomFlags::LOCKED),
            started: entry.flags.contains(RoomFlags::STARTED),
        };
        Line::Server {
            address: known.address.to_string(),
            ping_ms: known.ping.map(ms),
            rooms: known.rooms.iter().map(card).collect(),
            error: match known.status {
                ListStatus::Failed(reason) => Some(reason.to_string()),
                ListStatus::Asking => Some("no answer in time".into()),
                ListStatus::Listed => None,
            },
        }
    }

    pub(super) fn picked(pick: &RoomPick) -> Self {
        Line::Picked {
            address: pick.server.to_string(),
            room: pick.room.room,
            name: pick.room.name.to_string(),
            ping_ms: ms(pick.ping),
        }
    }

    pub(super) fn matched(matched: &Matched) -> Self {
        Line::Matched {
            address: matched.server.socket_addr(),
            room: matched.room_name.to_string(),
            players: matched.players,
            worst_ms: ms(Duration::from_micros(matched.worst.into())),
        }
    }

    pub(super) fn connected(
        player: PlayerId,
        name: Name,
        dialect: &'static str,
        address: Option<PeerAddr>,
        resumed: bool,
    ) -> Self {
        let (player, name) = (player.0, name.to_string());
        let address = address.map(|address| address.to_string());
        Line::Connected { player, name, dialect, address, resumed }
    }

    /// Names and texts show themselves with care, for people and in JSON alike.
    pub(super) fn chat(line: &ChatLine) -> Self {
        let (name, text) = (line.name.to_string(), line.text.to_string());
        Line::Chat { player: line.player.0, name, text }
    }

    pub(super) fn quality(now: Time, client: &Client<impl Game>) -> Self {
        let tick_ms = 1e3 / f64::from(client.game().tick_rate());
        let lead = client.ahead_tick(now).zip(client.server_tick_at(now));
        Line::Quality {
            ping_ms: client.round_trip().mean().map(ms),
            jitter_ms: client.round_trip().jitter().map(ms),
            loss_pct: client.loss().map(|loss| round(loss * 100.0)),
            grade: client.grade().map(|grade| grade.to_string()),
            lead_ms: lead.map(|(ahead, server)| round((ahead - server) * tick_ms)),
            draw_delay_ms: client.delay().map(|delay| ms(delay.total)),
            pending_inputs: client.pending().map(backspin::channel::Pending::len),
        }
    }
}

impl Tell for Line {
    fn text(&self) -> Option<String> {
        Some(match self {
            Line::Searching { seconds, refused } => {
                let why = refused.as_deref().unwrap_or("no host has answered yet");
                format!("still searching after {seconds} s: {why} (Ctrl-C stops)")
            }
            Line::Discovered { address, name, dialect, players, capacity, ping_ms } => {
                let name = if name.is_empty() { "a host" } else { name };
                let players = players.zip(*capacity);
                let players =
                    players.map_or(String::new(), |(n, of)| format!(", {n}/{of} players"));
                let ping = ping_ms.map_or(String::new(), |ping| format!(", {ping:.1} ms"));
                format!("found {name} at {address} ({dialect}{players}{ping})")
            }
            Line::Server { address, error: Some(error), .. } => format!("{address}: {error}"),
            Line::Server { address, ping_ms, rooms, .. } => {
                let ping = ping_ms.map_or(String::new(), |ping| format!(" ({ping:.1} ms)"));
                let one = |room: &RoomCard| {
                    let RoomCard { name, players, capacity, .. } = room;
                    let locked = if room.locked { ", locked" } else { "" };
                    let started = if room.started { ", started" } else { "" };
                    format!("{name} {players}/{capacity}{locked}{started}")
                };
                let rooms: Vec<_> = rooms.iter().map(one).collect();
                format!("{address}{ping}: {}", rooms.join(" | "))
            }
            Line::Picked { address, name, ping_ms, .. } => {
                format!("joining {name} at {address}, {ping_ms:.1} ms away")
            }
            Line::Waiting { players: 1 } => "waiting for other players".into(),
            Line::Waiting { players } => {
                format!("waiting for a room; {players} players are waiting")
            }
            Line::Matched { address, players: 1, worst_ms, .. } => {
                format!("nobody else is there; joining {address}, {worst_ms:.1} ms away")
            }
            Line::Matched { address, players, worst_ms, .. } => {
                format!("{players} players meet at {address}, at most {worst_ms:.1} ms away")
            }
            Line::Hosting { addresses } => {
                let at: Vec<_> = addresses.iter().map(ToString::to_string).collect();
                format!("hosting at {}, waiting for someone to join", at.join(", "))
            }
            Line::Connected { player, name, dialect, address, resumed } => {
                let back = if *resumed { " again" } else { "" };
                let from = address.as_ref().map_or(String::new(), |at| format!(" from {at}"));
                format!("{name} joined{back} as player {player} ({dialect}{from})")
            }
            Line::Quality { ping_ms, loss_pct, grade, .. } => {
                let ping = (*ping_ms)?;
                let grade = grade.as_deref().unwrap_or("not graded yet");
                let loss = loss_pct.map_or(String::new(), |loss| format!(", {loss:.1} % lost"));
                format!("ping {ping:.1} ms{loss}, {grade}")
            }
            Line::Trying { seconds_left } => {
                format!("connection lost, trying again ({seconds_left:.0} s)")
            }
            Line::Chat { player: 0, text, .. } => text.clone(),
            Line::Chat { player, name, text } if name.is_empty() => {
                format!("player {player}: {text}")
            }
            Line::Chat { name, text, .. } => format!("{name}: {text}"),
            Line::ChatRefused { reason } => reason.clone(),
            Line::Disconnected { player: Some(player), reason } => {
                format!("player {player} left: {reason}")
            }
            Line::Disconnected { player: None, reason } => reason.clone(),
            Line::Dropped { lines } => {
                format!("{lines} lines are missing here: they were not read in time")
            }
        })
    }
}

fn ms(span: Duration) -> f64 {
    round(span.as_secs_f64() * 1e3)
}

/// Three digits are enough for anyone.
fn round(value: f64) -> f64 {
    (value * 1e3).round() / 1e3
}
