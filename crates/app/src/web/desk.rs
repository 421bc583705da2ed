//! The page's thread: one thread for all connections.

use std::collections::BTreeMap;
use std::io;
use std::net::IpAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use mio::net::{TcpListener, TcpStream};
use mio::{Events, Interest, Poll, Token};

use super::board::{Board, Watch};
use super::connection::{Connection, Fate, Given, Subject};
use super::history::History;
use super::metrics::{PageCounts, Refused};
use super::reply::{Code, Reply};
use super::request::{Refusal, Request};
use super::scene;
use super::site::{Answer, Asked, HEALTH, Site, Topic};
use super::status::Status;
use super::visitors::{CONNECTION_LIMIT, Crowd, HEALTH_RESERVE, LOOPBACK_RESERVE, Seat, Visitors};
use crate::utc;

/// Connections that follow something; there is always a place left for a request.
pub(super) const STREAM_LIMIT: usize = 48;

/// What can happen at once: something to every connection, a newcomer, and a wake-up.
const EVENT_LIMIT: usize = CONNECTION_LIMIT + LOOPBACK_RESERVE + HEALTH_RESERVE + 2;

pub(super) const WAKE: Token = Token(0);
const LISTENER: Token = Token(1);
const FIRST_CONNECTION: usize = 2;

/// Everything that the thread has.
pub(super) struct Desk {
    poll: Poll,
    listener: TcpListener,
    /// By token.
    connections: Vec<Option<Connection>>,
    office: Office,
}

/// What connections are answered from.
pub(super) struct Office {
    board: Arc<Board>,
    site: Site,
    history: History,
    /// The number of the newest status in the history.
    newest: u64,
    visitors: Visitors,
    /// How many connections follow something.
    streams: usize,
    /// Those who were told that there is no place for them.
    refused: Refused,
    /// The newest events about the server and about each room, made once for all who follow.
    status_news: Option<(u64, Rc<[u8]>)>,
    room_news: BTreeMap<u32, (u64, Rc<[u8]>)>,
}

impl Desk {
    pub(super) fn new(
        poll: Poll,
        mut listener: TcpListener,
        board: Arc<Board>,
        site: Site,
        visitors: Visitors,
    ) -> io::Result<Self> {
        poll.registry().register(&mut listener, LISTENER, Interest::READABLE)?;
        let office = Office {
            board,
            site,
            history: History::default(),
            newest: 0,
            visitors,
            streams: 0,
            refused: Refused::default(),
            status_news: None,
            room_news: BTreeMap::new(),
        };
        Ok(Desk { poll, listener, connections: Vec::new(), office })
    }

    /// Answers until it is asked to stop.
    pub(super) fn run(mut self) -> io::Result<()> {
        let mut events = Events::with_capacity(EVENT_LIMIT);
        while !self.office.board.is_stopping() {
            let deadline = self.connections.iter().flatten().filter_map(Connection::deadline).min();
            let patience = deadline.map(|at| at.saturating_duration_since(Instant::now()));
            match self.poll.poll(&mut events, patience) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                polled => polled?,
            }
            self.accept();
            self.office.look();
            self.turn_all();
        }
        Ok(())
    }

    /// Accepts new connections. There are few enough that each gets a turn whenever anything happens.
    fn accept(&mut self) {
        // After an error, as when the system has no more descriptors, the next wake-up tries again.
        while let Ok((stream, peer)) = self.listener.accept() {
            let seat = self.office.visitors.arrive(peer.ip());
            self.keep(Connection::new(stream, peer.ip(), seat, Instant::now()));
            if self.office.visitors.is_crowded() {
                self.close_oldest();
            }
        }
    }

    /// Closes the oldest connection of those that have no place.
    fn close_oldest(&mut self) {
        let has_none = |slot: &&mut Option<Connection>| {
            slot.as_ref().is_some_and(|connection| connection.seat == Seat::Reserve)
        };
        let since = |slot: &&mut Option<Connection>| slot.as_ref().map(|its| its.since);
        let oldest = self.connections.iter_mut().filter(has_none).min_by_key(since);
        if let Some(connection) = oldest.and_then(Option::take) {
            self.office.streams -= usize::from(connection.is_following());
            self.office.visitors.leave(connection.seat);
        }
    }

    fn keep(&mut self, mut connection: Connection) {
        let free = self.connections.iter().position(Option::is_none);
        let place = free.unwrap_or_else(|| {
            self.connections.push(None);
            self.connections.len() - 1
        });
        let stream: &mut TcpStream = &mut connection.stream;
        // Scenes are small and many: none waits for the next.
        let _ = stream.set_nodelay(true);
        let interest = Interest::READABLE | Interest::WRITABLE;
        let token = Token(FIRST_CONNECTION + place);
        match self.poll.registry().register(stream, token, interest) {
            Ok(()) => self.connections[place] = Some(connection),
            Err(_) => self.office.visitors.leave(connection.seat),
        }
    }

    fn turn_all(&mut self) {
        let now = Instant::now();
        for slot in &mut self.connections {
            let Some(connection) = slot else { continue };
            self.office.streams -= usize::from(connection.is_following());
            let fate = connection.turn(now, &mut self.office);
            match fate {
                Fate::Keep => self.office.streams += usize::from(connection.is_following()),
                // Dropping it closes it, and takes it out of the poll.
                Fate::Close => {
                    self.office.visitors.leave(connection.seat);
                    *slot = None;
                }
            }
        }
    }
}

impl Office {
    /// Takes in a status that is new.
    fn look(&mut self) {
        let (status, _) = self.board.status();
        if status.number > self.newest {
            self.newest = status.number;
            self.history.push(status);
            let board = &self.board;
            self.room_news.retain(|room, _| board.scene(*room).is_some());
        }
    }

    fn follow(&mut self, topic: Topic) -> Given {
        if self.streams >= STREAM_LIMIT {
            self.refused.streams += 1;
            let sentence = "Too many viewers. Close a page that is open elsewhere.";
            return Given::Reply(Reply::say(Code::SERVICE_UNAVAILABLE, sentence));
        }
        let subject = match topic {
            Topic::Status => Subject::Status,
            Topic::Room(room) => Subject::Room(Watch::new(&self.board, room)),
        };
        Given::Stream(subject)
    }

    /// How the server stands, with the newest sample of the charts.
    fn status_event(&self, status: &Status) -> String {
        let sample = serde_json::to_string(&self.history.newest()).unwrap_or_default();
        let status = self.site.told(status);
        format!("event: status\ndata: {{\"status\":{status},\"sample\":{sample}}}\n\n")
    }

    /// Everything that the charts show, for a new viewer.
    fn history_event(&self) -> String {
        let samples = serde_json::to_string(self.history.samples()).unwrap_or_default();
        format!("event: history\ndata: {samples}\n\n")
    }

    fn status_news(&mut self, seen: Option<u64>) -> Option<(u64, Rc<[u8]>)> {
        let (status, _) = self.board.status();
        if status.number == 0 || seen == Some(status.number) {
            return None;
        }
        if seen.is_none() {
            let events = self.history_event() + &self.status_event(&status);
            return Some((status.number, events.into_bytes().into()));
        }
        match &self.status_news {
            Some((number, _)) if *number == status.number => {}
            _ => {
                let event = self.status_event(&status).into_bytes();
                self.status_news = Some((status.number, event.into()));
            }
        }
        self.status_news.clone()
    }

    fn room_news(&mut self, room: u32, seen: Option<u64>) -> Option<(u64, Rc<[u8]>)> {
        let scene = self.board.scene(room)?;
        let number = u64::from(scene.state.tick);
        if seen == Some(number) {
            return None;
        }
        if self.room_news.get(&room).is_none_or(|(made, _)| *made != number) {
            let event = format!("event: scene\ndata: {}\n\n", scene::told(&scene));
            self.room_news.insert(room, (number, event.into_bytes().into()));
        }
        self.room_news.get(&room).cloned()
    }

    /// Answers a request, or bytes that are not one, from a connection.
    pub(super) fn answer(
        &mut self,
        now: Instant,
        asked: Result<&Request<'_>, Refusal>,
        peer: IpAddr,
        seat: &mut Seat,
    ) -> Given {
        let request = match asked {
            Ok(request) => request,
            Err(refusal) => return Given::Reply(refusal.into()),
        };
        let client = self.visitors.client(peer, request.forwarded);
        if request.path != HEALTH {
            match self.visitors.name(*seat, client) {
                Ok(named) => *seat = named,
                Err(crowd) => {
                    match crowd {
                        Crowd::Everywhere => self.refused.places += 1,
                        Crowd::Address => self.refused.address += 1,
                    }
                    return Given::Reply(crowd.into());
                }
            }
        }
        let (status, age) = self.board.status();
        let counts = PageCounts {
            connections: self.visitors.len(),
            streams: self.streams,
            refused: Refused { tokens: self.site.wrong_tokens(), ..self.refused },
            bans: self.site.bans.len(utc::unix_ms()),
        };
        let asked = Asked { request, client, now, age, counts };
        match self.site.answer(&asked, &status) {
            Answer::Reply(reply) => Given::Reply(reply),
            Answer::Stream(topic) => self.follow(topic),
        }
    }

    /// The events about a subject that are newer than number `seen`, and the newest's number.
    pub(super) fn news(&mut self, subject: &Subject, seen: Option<u64>) -> Option<(u64, Rc<[u8]>)> {
        match subject {
            Subject::Status => self.status_news(seen),
            Subject::Room(watch) => self.room_news(watch.room(), seen),
        }
    }
}
