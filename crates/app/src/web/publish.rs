//! The game loop's side of the page: what it publishes, and the commands it takes.

use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::time::Duration;

use backspin::endpoint::{BAN_LIMIT, BansFull};
use backspin::game::Game;
use backspin::room::{MemberCard, Room};
use backspin::server::Server;
use backspin::time::Time;
use backspin::wire::Name;
use backspin::wire::native::Role;
use backspin_record::Recorded;
use tracing::{info, warn};

use super::board::{Board, Scene};
use super::site::Command;
use super::status::{Arrivals, Drops, MemberStatus, RoomStatus, Status};
use crate::games::Title;
use crate::serve::meter::Meter;

/// How often a status is put up.
const STATUS_EVERY: Duration = Duration::from_secs(1);

/// So many rooms are asked how they are behind one tick: a crowd's all at once would make the next
/// one late.
const ROOMS_AT_ONCE: usize = 16;

/// Scenes per second of a watched room.
pub(super) const SCENES_PER_SECOND: u32 = 30;

/// A status that is being made: its rooms are asked one after the other, all else was noted at once.
#[derive(Debug)]
struct Draft {
    status: Status,
    /// The slot of the room that is asked next.
    next: usize,
}

/// What the loop has.
#[derive(Debug)]
pub(crate) struct Publisher {
    board: Arc<Board>,
    commands: Receiver<Command>,
    started: Time,
    last: Arc<Status>,
    next_status: Time,
    draft: Option<Draft>,
    /// The rooms that are watched, and the tick that was seen last.
    watched: Vec<(u32, Option<u32>)>,
}

impl Publisher {
    pub(super) fn new(board: Arc<Board>, commands: Receiver<Command>, started: Time) -> Self {
        Publisher {
            board,
            commands,
            started,
            last: Arc::default(),
            next_status: started,
            draft: None,
            watched: Vec::new(),
        }
    }

    /// Tells what is new, behind a tick, when the next one is furthest away.
    pub(crate) fn tell<G: Game>(
        &mut self,
        now: Time,
        server: &Server<G>,
        meter: &Meter,
        unsent: u64,
    ) {
        self.show(server.rooms());
        if self.draft.is_none() && now >= self.next_status {
            self.next_status = now + STATUS_EVERY;
            let status = self.status(now, server, meter, unsent);
            self.draft = Some(Draft { status, next: 0 });
        }
        if let Some(mut draft) = self.draft.take() {
            self.ask(server, &mut draft);
            if draft.next < server.slots() {
                self.draft = Some(draft);
            } else {
                sort(&mut draft.status.rooms);
                self.last = Arc::new(draft.status);
                self.board.put_status(Arc::clone(&self.last));
            }
        }
    }

    /// Does what an operator wants done.
    pub(crate) fn obey<G: Game>(&mut self, now: Time, server: &mut Recorded<G>) {
        while let Ok(command) = self.commands.try_recv() {
            match command {
                Command::Kick { room, player } => {
                    info!("room {room}: the operator removed {player}");
                    let mut rooms = server.server().listed();
                    // It may have been closed meanwhile.
                    if let Some((slot, ..)) = rooms.find(|(_, _, its)| its.number() == room) {
                        drop(rooms);
                        server.kick(now, slot, player);
                    }
                }
                Command::Ban { address, lasts } => {
                    let who = address;
                    match lasts.map(|lasts| lasts.as_secs() / 60) {
                        Some(minutes) => {
                            info!("the operator banned {who} for {minutes} minutes");
                        }
                        None => info!("the operator banned {who} permanently"),
                    }
                    if let Err(BansFull) = server.ban(now, address, lasts) {
                        warn!("{who} is not banned: there are {BAN_LIMIT} bans already");
                    }
                }
                Command::LiftBan(address) => {
                    info!("the operator lifted the ban on {}", address);
                    server.lift_ban(now, address);
                }
                Command::Drain => {
                    info!("the operator started draining: no new players");
                    server.drain(now);
                }
                Command::Undrain => {
                    info!("the operator stopped draining");
                    server.undrain(now);
                }
            }
            // Whoever asked sees what came of it: what was noted before does not count.
            (self.draft, self.next_status) = (None, now);
        }
    }

    /// Puts up what there is to see in the rooms that are watched.
    fn show<G: Game>(&mut self, rooms: &[Box<Room<G>>]) {
        self.board.list_watched(&mut self.watched);
        let mut is_new = false;
        for &(number, seen) in &self.watched {
            let Some(room) = rooms.iter().find(|room| room.number() == number) else { continue };
            let every = u32::from(room.tick_rate()).div_ceil(SCENES_PER_SECOND);
            if seen.is_some_and(|seen| room.tick().wrapping_sub(seen) < every) {
                continue;
            }
            let (game, state) = (room.game().id(), room.state().clone());
            self.board.put_scene(number, Scene { game, tick_rate: room.tick_rate(), state });
            is_new = true;
        }
        if is_new {
            self.board.wake();
        }
    }

    /// Asks the next rooms how they are.
    fn ask<G: Game>(&self, server: &Server<G>, Draft { status, next }: &mut Draft) {
        let elapsed = status.uptime.saturating_sub(self.last.uptime);
        let enough = status.rooms.len() + ROOMS_AT_ONCE;
        while *next < server.slots() && status.rooms.len() < enough {
            if let Some((name, room)) = server.room(*next) {
                status.rooms.push(self.room_status(name, room, elapsed));
            }
            *next += 1;
        }
    }

    fn room_status<G: Game>(&self, name: Name, room: &Room<G>, elapsed: Duration) -> RoomStatus {
        let number = room.number();
        let before = self.last.rooms.binary_search_by_key(&number, |room| room.room);
        let before = before.ok().map(|place| &self.last.rooms[place]);
        let members = room.members().map(|card| {
            let mut member = MemberStatus::from(card);
            let same =
                |other: &&MemberStatus| (other.player, other.name) == (member.player, member.name);
            let before = before.and_then(|room| room.members.iter().find(same));
            member.compare(before, elapsed);
            member
        });
        RoomStatus {
            room: number,
            name,
            game: Title::of(room.game().id()).map_or("another game", Title::name),
            capacity: room.game().capacity(),
            tick: room.tick(),
            tick_rate: room.tick_rate(),
            skipped_ticks: room.late_ticks(),
            slow: room.is_slow(),
            left_out: room.left_out().total(),
            last_left_out: room.last_left_out().map(|what| what.to_string()),
            chat: room.recent_chat().cloned().collect(),
            bots: room.bots().iter().map(|bot| bot.0).collect(),
            members: members.collect(),
        }
    }

    /// How the server is, its rooms left out.
    fn status<G: Game>(&self, now: Time, server: &Server<G>, meter: &Meter, unsent: u64) -> Status {
        let endpoint = server.endpoint();
        Status {
            number: self.last.number + 1,
            name: endpoint.name(),
            uptime: now.since(self.started),
            draining: endpoint.is_draining(),
            sessions: endpoint.sessions(),
            traffic: meter.traffic,
            ticks: meter.ticks.clone(),
            skipped_ticks: server.late_ticks(),
            messages: server.message_counts(),
            left_out: server.left_out(),
            log_dropped: meter.log_dropped,
            dropped: Drops { endpoint: *endpoint.counts(), unsent },
            rooms: Vec::with_capacity(server.rooms().len()),
        }
    }
}

/// In the order of their numbers, which rise as rooms open and wrap after 2^32.
fn sort(rooms: &mut [RoomStatus]) {
    rooms.sort_unstable_by_key(|room| room.room);
}

impl From<MemberCard> for MemberStatus {
    fn from(card: MemberCard) -> Self {
        let pings = card.pings;
        let (dialect, arrivals, gaps) = match card.dialect {
            "native" => {
                let counts = card.arrivals.unwrap_or_default();
                let arrivals = Arrivals { expected: counts.expected, missing: counts.lost() };
                ("native", arrivals, Some(card.ticks_without_input))
            }
            // Inputs have no numbers that count; the pings have.
            "rtype" => {
                let expected = pings.answered + pings.lost;
                ("rtype", Arrivals { expected, missing: pings.lost }, None)
            }
            // Inputs are processed one a tick.
            "ack" => ("ack", Arrivals::default(), Some(card.ticks_without_input)),
            other => (other, Arrivals::default(), None),
        };
        MemberStatus {
            player: card.player.0,
            name: card.name,
            address: Some(card.path.remote.limit_key()),
            watches: card.role == Role::Watch,
            dialect,
            present: card.present,
            rtt: card.rtt,
            jitter: card.jitter,
            loss: None,
            inputs: card.inputs,
            input_rate: 0.0,
            gaps,
            gap_rate: 0.0,
            arrivals,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::process::{Command, Stdio};

    use backspin::endpoint::EndpointConfig;
    use backspin::node::{Node, Path};
    use backspin::room::RoomConfig;
    use backspin_pong::Pong;

    use super::*;
    use crate::web::metrics::{self, PageCounts};
    use crate::web::{Bans, Page, PageConfig, Proxies};

    fn page() -> Page {
        let at = "127.0.0.1:0".parse().unwrap();
        let config = PageConfig { at, token: None, proxies: Proxies::default() };
        Page::open(config, Bans::default(), Time::ZERO).unwrap()
    }

    fn server(rooms: usize) -> Server<Pong> {
        let mut server =
            Server::new(EndpointConfig::default(), [7; 32]).speaking(backspin_classic::dialects());
        for room in 0..rooms {
            let name = Name::new(&format!("Room {room}"));
            server.open(Time::ZERO, Pong::default(), name, 1, RoomConfig::default());
        }
        server
    }

    #[test]
    fn a_crowds_status_is_made_bit_by_bit_and_put_up_whole() {
        let server = server(2 * ROOMS_AT_ONCE + 1);
        let Page { publisher, .. } = &mut page();
        let mut rooms_told = |ms| {
            publisher.tell(Time::from_millis(ms), &server, &Meter::default(), 0);
            (publisher.last.number, publisher.last.rooms.len())
        };
        assert_eq!((rooms_told(0), rooms_told(4)), ((0, 0), (0, 0)));
        let all = 2 * ROOMS_AT_ONCE + 1;
        assert_eq!(rooms_told(8), (1, all));
        // The next one begins when it is time.
        assert_eq!(
            [999, 1_000, 1_004, 1_008].map(rooms_told),
            [(1, all), (1, all), (1, all), (2, all)]
        );
    }

    /// Whether promtool, where it is installed, finds nothing to say about `text`.
    fn check_with_promtool(text: &str) {
        let promtool =
            Command::new("promtool").args(["check", "metrics"]).stdin(Stdio::piped()).spawn();
        let Ok(mut promtool) = promtool else {
            println!("promtool is not installed: what Prometheus would say is not checked");
            return;
        };
        promtool.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
        assert!(promtool.wait().unwrap().success(), "promtool finds fault with\n{text}");
    }

    #[test]
    fn the_metrics_of_500_rooms_have_under_300_lines_and_please_promtool() {
        let mut server = server(500);
        let Page { publisher, .. } = &mut page();
        // Someone with a name of their own, in a room of their own making.
        let guest = Path::to(std::net::SocketAddr::from(([10, 0, 0, 9], 54001)));
        server.handle_datagram(Time::ZERO, guest, &mut [3, 0xD2, 0xF1]);
        let mut ms = 0;
        while publisher.last.rooms.len() < 500 {
            publisher.tell(Time::from_millis(ms), &server, &Meter::default(), 0);
            ms += 4;
            assert!(ms < 1_000, "the status is not put up");
        }
        assert_eq!(publisher.last.players().count(), 1);
        let text = metrics::text(&publisher.last, &PageCounts::default());
        let lines = text.lines().count();
        assert!(lines < 300, "{lines} lines");
        assert!(!text.contains("Room ") && !text.contains("Guest"), "{text}");
        check_with_promtool(&text);
    }
}
