//! The rooms of a server, as a live list.

use std::error::Error;
use std::sync::mpsc::{self, Receiver, TryRecvError};
use std::time::{Duration, Instant};

use backspin::client::{ListStatus, ServerRooms};
use backspin::wire::native::{RoomEntry, RoomFlags};

use super::choices::Choices;
use super::figures::{short_ms, span_tone};
use super::launch::{Launch, sentence};
use super::{Cell, List, Row, Tone};
use crate::games::Title;
use crate::play::{RoomSearch, Search, at_native};

/// A server that is asked for its rooms, and the line that is chosen.
pub(super) struct Rooms {
    title: Title,
    address: String,
    /// What is done where there is nothing to choose.
    join: Launch,
    asking: Asking,
    chosen: Option<Choice>,
}

enum Asking {
    /// To ask for a host's name may take a while.
    Coming(Receiver<Result<Asked, String>>),
    There(Asked),
}

/// What a server is asked for.
struct Asked {
    rooms: RoomSearch,
    /// Its name: a host's only room has the host's name.
    itself: Search,
    at: Instant,
}

/// A server that says nothing of its rooms for so long, though asked twice, may be of the old dialect.
const ANSWERS_WITHIN: Duration = Duration::from_millis(2_500);

/// A line of the list.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Choice {
    Room(RoomEntry),
    Any,
    New,
    Back,
}

/// What becomes of the list by itself.
pub(super) enum Outcome {
    /// It goes on.
    Stay,
    /// There is nothing to choose: someone hosts one open room, or a server has no rooms.
    Join,
    /// It cannot be asked for.
    Failed(String),
}

impl Rooms {
    /// Asks the server at an address; `join` is what is done where there is nothing to choose.
    pub(super) fn start(title: Title, address: String, join: Launch) -> Self {
        let (sender, receiver) = mpsc::channel();
        let text = address.clone();
        std::thread::spawn(move || {
            let asked = ask(title, &text);
            let _ = sender.send(asked.map_err(|error| sentence(&error.to_string())));
        });
        Rooms { title, address, join, asking: Asking::Coming(receiver), chosen: None }
    }

    pub(super) fn title(&self) -> Title {
        self.title
    }

    pub(super) fn address(&self) -> &str {
        &self.address
    }

    /// What is done where there is nothing to choose.
    pub(super) fn join(&self) -> Launch {
        self.join.clone()
    }

    /// Whether there is anything to choose from yet.
    pub(super) fn is_listed(&self) -> bool {
        self.known().is_some_and(|known| known.status == ListStatus::Listed)
    }

    /// Looks at what has come of it.
    pub(super) fn look(&mut self) -> Outcome {
        match &mut self.asking {
            Asking::Coming(coming) => match coming.try_recv() {
                Ok(Ok(asked)) => self.asking = Asking::There(asked),
                Ok(Err(sentence)) => return Outcome::Failed(sentence),
                Err(TryRecvError::Empty) => {}
                Err(TryRecvError::Disconnected) => {
                    return Outcome::Failed("The server could not be asked for its rooms.".into());
                }
            },
            Asking::There(Asked { rooms, itself, at }) => {
                if let Some(error) = rooms.failure().or_else(|| itself.failure()) {
                    return Outcome::Failed(sentence(&error.to_string()));
                }
                let host = itself.look().hosts().next().map(|found| found.name);
                let waited = at.elapsed();
                let Some(known) = self.known() else { return Outcome::Stay };
                let is_open = |room: &RoomEntry| !room.flags.contains(RoomFlags::LOCKED);
                match (known.status, known.rooms.as_slice()) {
                    // A server without a list may speak an old dialect; joining says what is wrong.
                    (ListStatus::Failed(_), _) => return Outcome::Join,
                    (ListStatus::Asking, []) if waited > ANSWERS_WITHIN => return Outcome::Join,
                    // Once something was chosen it stays so.
                    (ListStatus::Listed, [one])
                        if is_open(one) && host == Some(one.name) && self.chosen.is_none() =>
                    {
                        return Outcome::Join;
                    }
                    _ => {}
                }
            }
        }
        Outcome::Stay
    }

    fn known(&self) -> Option<ServerRooms> {
        match &self.asking {
            Asking::There(asked) => asked.rooms.servers().into_iter().next(),
            Asking::Coming(_) => None,
        }
    }

    pub(super) fn list(&mut self) -> List {
        let choices = self.choices();
        let ping = self.known().and_then(|known| known.ping);
        let (text, tone) = match ping {
            Some(ping) => {
                let text = format!("Rooms on {}, {} away", self.address, short_ms(ping));
                (text, span_tone(ping))
            }
            None => (format!("Asking {} for its rooms ...", self.address), Tone::Dim),
        };
        List {
            title: "Rooms".into(),
            text: vec![(text, tone)],
            rows: choices.iter().map(row).collect(),
            selected: self.selected(&choices),
            ..List::default()
        }
    }
}

impl Choices for Rooms {
    type Choice = Choice;

    fn choices(&mut self) -> Vec<Choice> {
        let rooms = self.known().map(|known| known.rooms).unwrap_or_default();
        let rooms = rooms.into_iter().map(Choice::Room);
        rooms.chain([Choice::Any, Choice::New, Choice::Back]).collect()
    }

    fn chosen(&mut self) -> &mut Option<Choice> {
        &mut self.chosen
    }

    /// Whether it is the same row: a room is identified by its number.
    fn is_same(one: &Choice, other: &Choice) -> bool {
        match (one, other) {
            (Choice::Room(one), Choice::Room(two)) => one.room == two.room,
            _ => one == other,
        }
    }
}

fn ask(title: Title, address: &str) -> Result<Asked, Box<dyn Error>> {
    let server = at_native(address)?;
    let rooms = RoomSearch::start(title.id(), &[server])?;
    Ok(Asked { rooms, itself: Search::at(title.id(), server)?, at: Instant::now() })
}

fn row(choice: &Choice) -> Row {
    match choice {
        Choice::Any => Row::new("Any room with a free slot"),
        Choice::New => Row::new("Make a room"),
        Choice::Back => Row::new("Back"),
        Choice::Room(room) => {
            let RoomEntry { players, capacity, flags, .. } = room;
            let full = players >= capacity;
            let is = |flag| flags.contains(flag);
            let (state, tone) = match () {
                () if full => ("full", Tone::Fair),
                () if is(RoomFlags::LOCKED) => ("password", Tone::Fair),
                () if !is(RoomFlags::STARTED) => ("in the lobby", Tone::Good),
                () if is(RoomFlags::LATE_JOIN) => ("playing, open", Tone::Good),
                () => ("plays", Tone::Dim),
            };
            let cells = vec![
                Cell::new(room.name.to_string(), Tone::Plain),
                Cell::new(format!("{players}/{capacity}"), Tone::Plain),
                Cell::new(state, tone),
            ];
            Row { cells }
        }
    }
}
