//! The page's thread: one thread for all connections, which waits for nobody in particular.

use std::collections::BTreeMap;
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use mio::net::{TcpListener, TcpStream};
use mio::{Events, Interest, Poll, Token};

use super::board::{Board, Watch};
use super::connection::{Connection, Fate, Given, Host, Subject};
use super::history::History;
use super::reply::{Code, Reply, stream_head};
use super::request::{Refusal, Request};
use super::scene;
use super::site::{Answer, Site, Topic};
use super::status::Status;

/// Connections at once; more are told that there is no place.
pub(super) const CONNECTION_LIMIT: usize = 64;

/// Those of them that follow something; there is always one left for a request.
pub(super) const STREAM_LIMIT: usize = 48;

/// Connections that are being told that there is no place.
const REFUSED_LIMIT: usize = 16;

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
struct Office {
    board: Arc<Board>,
    site: Site,
    history: History,
    /// The number of the newest status in the history.
    newest: u64,
    /// How many connections follow something.
    streams: usize,
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
    ) -> io::Result<Self> {
        poll.registry().register(&mut listener, LISTENER, Interest::READABLE)?;
        let office = Office {
            board,
            site,
            history: History::default(),
            newest: 0,
            streams: 0,
            status_news: None,
            room_news: BTreeMap::new(),
        };
        Ok(Desk { poll, listener, connections: Vec::new(), office })
    }

    /// Answers until it is asked to stop.
    pub(super) fn run(mut self) -> io::Result<()> {
        let mut events = Events::with_capacity(CONNECTION_LIMIT);
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

    /// Takes whoever has come. There are few enough that each has a turn whenever anything happens.
    fn accept(&mut self) {
        // After an error, as when the system has no more descriptors, the next wake-up tries again.
        while let Ok((stream, _)) = self.listener.accept() {
            let now = Instant::now();
            let open = self.connections.iter().flatten().count();
            let connection = match open {
                0..CONNECTION_LIMIT => Connection::new(stream, now),
                _ if open < CONNECTION_LIMIT + REFUSED_LIMIT => {
                    let reply = Reply::say(Code::ServiceUnavailable, "Too many are looking.");
                    Connection::refused(stream, &reply, now)
                }
                _ => continue,
            };
            self.keep(connection);
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
        if self.poll.registry().register(stream, token, interest).is_ok() {
            self.connections[place] = Some(connection);
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
                Fate::Close => *slot = None,
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
            return Given::Reply(Reply::say(Code::ServiceUnavailable, "Too many are watching."));
        }
        let subject = match topic {
            Topic::Status => Subject::Status,
            Topic::Room(room) => Subject::Room(Watch::new(&self.board, room)),
        };
        Given::Stream(stream_head(), subject)
    }

    /// How the server stands, with the newest sample of the charts.
    fn status_event(&self, status: &Status) -> String {
        let sample = serde_json::to_string(&self.history.newest()).unwrap_or_default();
        let status = self.site.told(status);
        format!("event: status\ndata: {{\"status\":{status},\"sample\":{sample}}}\n\n")
    }

    /// Everything that the charts show, for one who has just come.
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
}

impl Host for Office {
    fn answer(&mut self, asked: Result<&Request<'_>, Refusal>) -> Given {
        let request = match asked {
            Ok(request) => request,
            Err(refusal) => return Given::Reply(refusal.into()),
        };
        let (status, age) = self.board.status();
        match self.site.answer(request, &status, age) {
            Answer::Reply(reply) => Given::Reply(reply),
            Answer::Stream(topic) => self.follow(topic),
        }
    }

    fn news(&mut self, subject: &Subject, seen: Option<u64>) -> Option<(u64, Rc<[u8]>)> {
        match subject {
            Subject::Status => self.status_news(seen),
            Subject::Room(watch) => self.room_news(watch.room(), seen),
        }
    }
}
