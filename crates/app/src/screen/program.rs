//! Which screen there is, and what a key does there: the state machine of document 002, grown up.
//!
//! ```text
//!          +------------------------------------+--------------------- Esc ----+
//!          v                                    |                              |
//! menu --> typing, hosts, rooms --> opening --> bout (waits, counts down, plays, is over)
//!   ^                                  |          |
//!   +------- closed: why, and what  --<+----------+
//!            next
//! ```

use std::collections::VecDeque;
use std::mem;
use std::path::PathBuf;
use std::sync::mpsc::TryRecvError;

use backspin::finder::Fit;
use backspin::game::Buttons;
use backspin::wire::Name;
use backspin::wire::native::RoomFlags;

use super::bindings::{Action, Bindings, is_free};
use super::bout::{Chosen, Sitting};
use super::errand::{Coming, Errand, Options, Title, sentence};
use super::hosts::{Choice, Hosts};
use super::library::{self, Library};
use super::menu::{Lead, Menu, Question};
use super::reel;
use super::rooms::{self, Outcome, Rooms};
use super::settings::{Settings, Shelf};
use super::{Cue, Entry, Flashing, List, Page, Palette, Row, Tone, View};
use crate::play::RoomWish;

/// A key that was pressed. What is held for a while is told by [`Held`] as well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Key {
    Up,
    Down,
    Left,
    Right,
    Enter,
    Esc,
    Backspace,
    /// F3.
    Network,
    Char(char),
}

/// What is held: with the keys of the left hand, and with those of the right.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Held {
    pub(crate) left: Buttons,
    pub(crate) right: Buttons,
}

/// How often it is worth to look and to draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pace {
    /// Only after a key.
    Still,
    /// A few times a second.
    Slow,
    /// As often as the face can.
    Smooth,
}

/// Longer addresses are none.
const ADDRESS_LIMIT: usize = 64;

/// Sounds that nobody has asked for yet; older ones make room.
const CUE_LIMIT: usize = 32;

/// The program, as its player sees it.
pub(crate) struct Program {
    settings: Settings,
    shelf: Shelf,
    library: Library,
    options: Options,
    screen: Screen,
    held: Held,
    overlay: bool,
    /// A sentence for the menu.
    note: Option<String>,
    cues: VecDeque<Cue>,
    /// Whether the face steers with the keys of the settings; else with the usual ones.
    uses_bindings: bool,
    /// The server whose room is asked about.
    door: String,
    over: bool,
}

enum Screen {
    Menu {
        menu: Menu,
        selected: usize,
    },
    Typing {
        question: Question,
        text: String,
    },
    /// A key is asked for, and perhaps asked for again.
    Binding {
        action: Action,
        refused: bool,
    },
    Hosts(Hosts),
    Rooms(Rooms),
    Opening {
        errand: Errand,
        coming: Coming,
    },
    Bout {
        again: Again,
        bout: Box<dyn Sitting>,
    },
    Replays {
        entries: Vec<library::Entry>,
        selected: usize,
    },
    Closed(Closed),
}

/// Something did not work, or is over.
struct Closed {
    title: &'static str,
    sentence: String,
    again: Again,
    selected: usize,
}

/// What can be tried again.
#[derive(Clone)]
enum Again {
    Errand(Errand),
    Search,
    Replay(PathBuf),
}

impl Program {
    /// Begins in the menu.
    pub(crate) fn new(shelf: Shelf, options: Options) -> Self {
        let (settings, note) = shelf.load();
        let overlay = settings.network_overlay;
        let screen = Screen::Menu { menu: Menu::Main, selected: 0 };
        Program {
            settings,
            shelf,
            library: Library::usual(),
            options,
            screen,
            held: Held::default(),
            overlay,
            note,
            cues: VecDeque::new(),
            uses_bindings: false,
            door: String::new(),
            over: false,
        }
    }

    /// Begins as the command line says: with an errand, or looking for a host.
    pub(crate) fn begin(shelf: Shelf, options: Options, errand: Option<Errand>) -> Self {
        let mut program = Program::new(shelf, options);
        match errand {
            Some(errand) => program.set_out(errand),
            None => program.search(),
        }
        program
    }

    /// With matches that are recorded elsewhere.
    #[cfg(test)]
    pub(super) fn with_library(self, library: Library) -> Self {
        Program { library, ..self }
    }

    /// Sets out at once.
    pub(crate) fn set_out(&mut self, errand: Errand) {
        self.leave();
        let shelf = self.library.folder().filter(|_| self.settings.record_matches);
        let coming = errand.set_out(&self.options, self.name(), shelf.map(Into::into));
        self.screen = Screen::Opening { errand, coming };
    }

    /// Looks for games on the local network.
    pub(crate) fn search(&mut self) {
        self.leave();
        self.screen = match Hosts::start(&self.options) {
            Ok(hosts) => Screen::Hosts(hosts),
            Err(error) => failed(Again::Search, sentence(&error.to_string())),
        };
    }

    /// Whether the player has had enough.
    pub(crate) fn is_over(&self) -> bool {
        self.over
    }

    /// Ends as Esc and Exit do: whoever is at the other end is told.
    pub(crate) fn end(&mut self) {
        self.leave();
        self.over = true;
    }

    /// How often it is worth to look and to draw.
    pub(crate) fn pace(&self) -> Pace {
        match &self.screen {
            Screen::Menu { .. }
            | Screen::Typing { .. }
            | Screen::Binding { .. }
            | Screen::Closed(_)
            | Screen::Replays { .. } => Pace::Still,
            Screen::Hosts(_) | Screen::Rooms(_) => Pace::Slow,
            Screen::Opening { .. } => Pace::Smooth,
            Screen::Bout { bout, .. } if bout.is_shown() => Pace::Smooth,
            Screen::Bout { .. } => Pace::Slow,
        }
    }

    /// What the player likes.
    pub(crate) fn settings(&self) -> &Settings {
        &self.settings
    }

    /// What there is to hear since this was asked last.
    pub(crate) fn poll_cue(&mut self) -> Option<Cue> {
        self.cues.pop_front()
    }

    /// This face steers with the keys of the settings.
    pub(crate) fn use_bindings(&mut self) {
        self.uses_bindings = true;
    }

    /// Whether a key is asked for, to [`Program::bind`] it.
    pub(crate) fn awaits_key(&self) -> bool {
        matches!(self.screen, Screen::Binding { .. })
    }

    /// The key that was asked for, by its name.
    pub(crate) fn bind(&mut self, key: &str) {
        let Screen::Binding { action, refused } = &mut self.screen else { return };
        if !is_free(key) {
            *refused = true;
            return;
        }
        self.settings.keys.bind(*action, key);
        let selected = Action::ALL.iter().position(|it| it == action).unwrap_or(0);
        self.screen = Screen::Menu { menu: Menu::Keys, selected };
        self.keep_settings();
    }

    /// What is held from now on.
    pub(crate) fn hold(&mut self, held: Held) {
        self.held = held;
    }

    /// A key was pressed.
    pub(crate) fn press(&mut self, key: Key) {
        match (&mut self.screen, key) {
            (Screen::Typing { .. }, key) => self.edit(key),
            (Screen::Binding { .. }, Key::Esc) => self.open(Menu::Keys),
            (Screen::Binding { .. }, Key::Char(letter)) => {
                self.bind(&letter.to_uppercase().to_string());
            }
            (Screen::Binding { .. }, _) => {}
            (_, Key::Network) => self.overlay = !self.overlay,
            (_, Key::Esc) => self.back(),
            (Screen::Bout { bout, .. }, Key::Char('p' | 'P')) => bout.pause(),
            // Whoever stops a paddle with it, or shoots, does not wish for another match.
            (Screen::Bout { .. }, Key::Char(' ')) => {}
            (_, Key::Up | Key::Char('w' | 'W')) => self.turn(-1),
            (_, Key::Down | Key::Char('s' | 'S')) => self.turn(1),
            (Screen::Bout { bout, .. }, Key::Left) => bout.seek(-1),
            (Screen::Bout { bout, .. }, Key::Right) => bout.seek(1),
            (_, Key::Enter | Key::Char(' ')) => self.choose(),
            (Screen::Bout { bout, .. }, Key::Char(letter)) => bout.type_key(letter),
            _ => {}
        }
    }

    /// Looks at what goes on by itself.
    pub(crate) fn look(&mut self) {
        match &mut self.screen {
            Screen::Opening { errand, coming } => {
                let errand = errand.clone();
                match coming.try_recv() {
                    Ok(Ok(bout)) => {
                        self.screen = Screen::Bout { again: Again::Errand(errand), bout };
                    }
                    Ok(Err(sentence)) => self.screen = failed(Again::Errand(errand), sentence),
                    Err(TryRecvError::Empty) => {}
                    Err(TryRecvError::Disconnected) => {
                        self.screen =
                            failed(Again::Errand(errand), "The match could not be opened.".into());
                    }
                }
            }
            Screen::Hosts(hosts) => {
                if let Some(error) = hosts.failure() {
                    self.screen = failed(Again::Search, sentence(&error));
                }
            }
            Screen::Rooms(rooms) => match rooms.look() {
                Outcome::Stay => {}
                Outcome::Join => {
                    let address = rooms.address().to_owned();
                    self.set_out(Errand::Join(Title::RType, address));
                }
                Outcome::Failed(sentence) => {
                    let errand = Errand::Join(Title::RType, rooms.address().to_owned());
                    self.screen = failed(Again::Errand(errand), sentence);
                }
            },
            Screen::Bout { again, bout } => {
                let shown = bout.is_shown();
                let Some(sentence) = bout.look(self.held) else { return };
                let again = again.clone();
                let closed = match shown {
                    true => closed("The match is over", again, sentence),
                    false => failed(again, sentence),
                };
                if let Screen::Bout { bout, .. } = mem::replace(&mut self.screen, closed) {
                    bout.close();
                }
            }
            _ => {}
        }
    }

    /// What is on the screen now.
    pub(crate) fn view(&mut self) -> View {
        let keys = match self.uses_bindings {
            true => self.settings.keys.clone(),
            false => Bindings::default(),
        };
        let choose = "W/S or arrows: choose   Enter: go   Esc: back";
        let (page, hint) = match &mut self.screen {
            Screen::Menu { menu, selected } => {
                let note = self.note.as_deref();
                (Page::List(menu.list(&self.settings, *selected, note)), choose.to_owned())
            }
            Screen::Typing { question, text } => {
                let hint = "Enter: done   Esc: back".to_owned();
                (Page::List(question_list(*question, text)), hint)
            }
            Screen::Binding { action, refused } => {
                (Page::List(key_list(*action, *refused)), "Esc: as it was".to_owned())
            }
            Screen::Hosts(hosts) => (Page::List(hosts.list()), choose.to_owned()),
            Screen::Rooms(rooms) => (Page::List(rooms.list()), choose.to_owned()),
            Screen::Replays { entries, selected } => {
                (Page::List(library::list(entries, *selected)), choose.to_owned())
            }
            Screen::Opening { errand, .. } => {
                let text = vec![("One moment ...".to_owned(), Tone::Dim)];
                let list = List { title: errand.heading().into(), text, ..List::default() };
                (Page::List(list), "Esc: menu".to_owned())
            }
            Screen::Bout { bout, .. } => {
                let shown = (bout.page(&self.settings, self.overlay), bout.hint(&keys));
                for cue in bout.take_cues() {
                    hear(&mut self.cues, cue);
                }
                shown
            }
            Screen::Closed(closed) => (Page::List(closed.list()), choose.to_owned()),
        };
        let palette = if self.settings.safe_colours { Palette::Safe } else { Palette::Usual };
        let flashing = match self.settings.reduced_flashing {
            true => Flashing::Reduced,
            false => Flashing::Usual,
        };
        View { page, hint, palette, shake: self.settings.screen_shake, flashing }
    }

    /// Whether there is nothing to choose from, because a match is played.
    fn is_flying(&self) -> bool {
        matches!(&self.screen, Screen::Bout { bout, .. } if !bout.has_lines())
    }

    fn name(&self) -> Name {
        self.options.name.unwrap_or(self.settings.player_name())
    }

    /// Back to the menu from anywhere; nothing stays open.
    fn leave(&mut self) {
        let menu = Screen::Menu { menu: Menu::Main, selected: 0 };
        if let Screen::Bout { bout, .. } = mem::replace(&mut self.screen, menu) {
            bout.leave();
        }
    }

    fn open(&mut self, menu: Menu) {
        self.screen = Screen::Menu { menu, selected: 0 };
    }

    fn back(&mut self) {
        match &mut self.screen {
            // The last line is the way out.
            Screen::Menu { menu: Menu::Main, selected } => {
                *selected = Menu::Main.lines(&self.settings).len() - 1;
            }
            Screen::Hosts(_) | Screen::Rooms(_) => self.open(Menu::Online),
            Screen::Menu { menu: Menu::Keys, .. } => self.open(Menu::Settings),
            Screen::Replays { .. } => self.open(Menu::Play),
            Screen::Bout { again: Again::Replay(_), .. } => self.show_replays(),
            _ => self.leave(),
        }
    }

    fn turn(&mut self, lines: isize) {
        if !self.is_flying() {
            hear(&mut self.cues, Cue::Move);
        }
        let around = |selected: &mut usize, count: usize| {
            *selected = (*selected as isize + lines).rem_euclid(count as isize) as usize;
        };
        match &mut self.screen {
            Screen::Menu { menu, selected } => {
                around(selected, menu.lines(&self.settings).len());
            }
            Screen::Hosts(hosts) => hosts.turn(lines),
            Screen::Rooms(rooms) => rooms.turn(lines),
            Screen::Replays { entries, selected } => around(selected, entries.len() + 1),
            Screen::Bout { bout, .. } => bout.turn(lines),
            Screen::Closed(closed) => around(&mut closed.selected, Closed::ROWS),
            Screen::Typing { .. } | Screen::Binding { .. } | Screen::Opening { .. } => {}
        }
    }

    /// Moves the choice to this row, as a pointer does.
    pub(crate) fn point(&mut self, row: usize) {
        let within = |count: usize| row.min(count.saturating_sub(1));
        match &mut self.screen {
            Screen::Menu { menu, selected } => {
                *selected = within(menu.lines(&self.settings).len());
            }
            Screen::Hosts(hosts) => hosts.point(row),
            Screen::Rooms(rooms) => rooms.point(row),
            Screen::Replays { entries, selected } => *selected = within(entries.len() + 1),
            Screen::Bout { bout, .. } => bout.point(row),
            Screen::Closed(closed) => closed.selected = within(Closed::ROWS),
            Screen::Typing { .. } | Screen::Binding { .. } | Screen::Opening { .. } => {}
        }
    }

    /// Does what the chosen row says.
    pub(crate) fn choose(&mut self) {
        if !self.is_flying() {
            hear(&mut self.cues, Cue::Choose);
        }
        match &mut self.screen {
            Screen::Menu { menu, selected } => {
                let (_, lead) = menu.lines(&self.settings).swap_remove(*selected);
                self.follow(lead);
            }
            Screen::Hosts(hosts) => match hosts.choice() {
                Choice::Host(_, found) if found.fit == Fit::OtherVersion => {
                    let why = "This host has another version of the game. Update the older of the \
                               two, or join another one.";
                    self.screen = failed(Again::Search, why.into());
                }
                Choice::Host(title, found) => {
                    let (address, dialect) = (found.address, found.dialect);
                    self.set_out(Errand::Sit { title, address, dialect });
                }
                Choice::TypeAddress(title) => self.ask(Question::JoinAddress(title)),
                Choice::Back => self.back(),
            },
            Screen::Rooms(rooms) => {
                let (choice, address) = (rooms.choice(), rooms.address().to_owned());
                self.enter(choice, address);
            }
            Screen::Replays { entries, selected } => match entries.get(*selected) {
                Some(entry) => {
                    let path = entry.path.clone();
                    self.show_replay(path);
                }
                None => self.back(),
            },
            Screen::Bout { bout, .. } => {
                if bout.choose() == Chosen::Leave {
                    self.leave();
                }
            }
            Screen::Closed(closed) if closed.is_again() => match &closed.again {
                Again::Errand(errand) => {
                    let errand = errand.clone();
                    self.set_out(errand);
                }
                Again::Search => self.search(),
                Again::Replay(path) => {
                    let path = path.clone();
                    self.show_replay(path);
                }
            },
            Screen::Closed(_) => self.leave(),
            Screen::Typing { .. } | Screen::Binding { .. } | Screen::Opening { .. } => {}
        }
    }

    fn show_replays(&mut self) {
        self.screen = Screen::Replays { entries: self.library.list(), selected: 0 };
    }

    fn show_replay(&mut self, path: PathBuf) {
        self.screen = match reel::open(&path) {
            Ok(bout) => Screen::Bout { again: Again::Replay(path), bout },
            Err(sentence) => failed(Again::Replay(path), sentence),
        };
    }

    /// Goes to a room, or asks for what is missing.
    fn enter(&mut self, choice: rooms::Choice, address: String) {
        match choice {
            rooms::Choice::Room(room) if room.flags.contains(RoomFlags::LOCKED) => {
                self.door = address;
                self.ask(Question::RoomPassword(room.room));
            }
            rooms::Choice::Room(room) => {
                let (room, password) = (RoomWish::Number(room.room), Name::default());
                self.set_out(Errand::Enter { address, room, password });
            }
            rooms::Choice::Any => self.set_out(Errand::Join(Title::RType, address)),
            rooms::Choice::New => {
                self.door = address;
                self.ask(Question::RoomName);
            }
            rooms::Choice::Back => self.back(),
        }
    }

    fn follow(&mut self, lead: Lead) {
        match lead {
            Lead::Menu(menu) => {
                self.note = None;
                self.open(menu);
            }
            Lead::Errand(errand) => self.set_out(errand),
            Lead::Search => self.search(),
            Lead::Replays => self.show_replays(),
            Lead::Type(question) => self.ask(question),
            Lead::Switch(switch) => {
                let on = switch.of(&mut self.settings);
                *on = !*on;
                self.overlay = self.settings.network_overlay;
                self.keep_settings();
            }
            Lead::Bind(action) => self.screen = Screen::Binding { action, refused: false },
            Lead::UsualKeys => {
                self.settings.keys = Bindings::default();
                self.keep_settings();
            }
            Lead::Louder => {
                self.settings.louder();
                self.keep_settings();
            }
            Lead::Exit => self.end(),
        }
    }

    fn ask(&mut self, question: Question) {
        let text = match question {
            Question::Name => self.settings.name.clone(),
            _ => String::new(),
        };
        self.screen = Screen::Typing { question, text };
    }

    fn edit(&mut self, key: Key) {
        let Screen::Typing { question, text } = &mut self.screen else { return };
        let question = *question;
        let limit = match question {
            Question::JoinAddress(_) | Question::WatchAddress(_) => ADDRESS_LIMIT,
            Question::Name | Question::RoomName | Question::RoomPassword(_) => Name::MAX,
        };
        match key {
            Key::Char(letter)
                if !letter.is_control() && text.len() + letter.len_utf8() <= limit =>
            {
                text.push(letter);
            }
            Key::Backspace => {
                text.pop();
            }
            Key::Esc => self.screen = Screen::Menu { menu: question.menu(), selected: 0 },
            Key::Enter if !text.trim().is_empty() => {
                let text = text.trim().to_owned();
                self.answer(question, text);
            }
            _ => {}
        }
    }

    fn answer(&mut self, question: Question, text: String) {
        match question {
            Question::JoinAddress(Title::RType) => self.screen = Screen::Rooms(Rooms::start(text)),
            Question::JoinAddress(title) => self.set_out(Errand::Join(title, text)),
            Question::RoomPassword(number) => {
                let (room, address) = (RoomWish::Number(number), self.door.clone());
                self.set_out(Errand::Enter { address, room, password: Name::new(&text) });
            }
            Question::RoomName => {
                let (room, address) = (RoomWish::New(Name::new(&text)), self.door.clone());
                self.set_out(Errand::Enter { address, room, password: Name::default() });
            }
            Question::WatchAddress(title) => self.set_out(Errand::Watch(title, text)),
            Question::Name => {
                self.settings.name = text;
                self.screen = Screen::Menu { menu: Menu::Settings, selected: 0 };
                self.keep_settings();
            }
        }
    }

    fn keep_settings(&mut self) {
        let kept = self.shelf.keep(&self.settings);
        self.note = kept.err().map(|error| {
            format!("The settings could not be kept ({error}); they are good until you exit.")
        });
    }
}

fn hear(cues: &mut VecDeque<Cue>, cue: Cue) {
    if cues.len() == CUE_LIMIT {
        cues.pop_front();
    }
    cues.push_back(cue);
}

fn failed(again: Again, sentence: String) -> Screen {
    closed("That did not work", again, sentence)
}

fn closed(title: &'static str, again: Again, sentence: String) -> Screen {
    Screen::Closed(Closed { title, sentence, again, selected: 0 })
}

impl Closed {
    const ROWS: usize = 2;

    /// Whether to try again is chosen.
    fn is_again(&self) -> bool {
        self.selected == 1
    }

    fn list(&self) -> List {
        let again = match self.again {
            Again::Errand(Errand::Host(_)) => "Host again",
            _ => "Try again",
        };
        List {
            title: self.title.into(),
            text: vec![(self.sentence.clone(), Tone::Plain)],
            rows: vec![Row::new("Menu"), Row::new(again)],
            selected: self.selected,
            ..List::default()
        }
    }
}

fn key_list(action: Action, refused: bool) -> List {
    let mut text = vec![(format!("Press the key for: {}", action.name()), Tone::Bright)];
    if refused {
        let why = "This key has another meaning in a match. Press another one.";
        text.push((why.into(), Tone::Fair));
    }
    List { title: "Keys".into(), text, ..List::default() }
}

fn question_list(question: Question, text: &str) -> List {
    List {
        title: question.title().into(),
        text: vec![(question.advice().into(), Tone::Dim)],
        entry: Some(Entry { label: question.label().into(), text: text.to_owned() }),
        ..List::default()
    }
}
