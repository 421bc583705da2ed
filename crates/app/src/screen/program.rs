//! Which screen is shown, and what a key does there: the state machine of document 002, extended.
//!
//! ```text
//!          +---------------- Esc ---------------+----------- Esc, leave -------+
//!          v                                    |                              |
//! menu --> typing, hosts, rooms --> opening --> match (waits, counts down, plays, is over)
//!   ^                                  |          |
//!   +------- closed: why, and what  --<+----------+
//!            next
//! ```

mod asking;

use std::collections::VecDeque;
use std::mem;
use std::path::{Path, PathBuf};
use std::sync::mpsc::TryRecvError;

use backspin::finder::{Fit, Found};
use backspin::game::Buttons;
use backspin::session::EndReason;
use backspin::wire::Name;
use backspin_classic::Dialect;

use super::bindings::{Action, Bindings, is_free};
use super::choices::{Choices, Step};
use super::closed::{Again, Closed};
use super::hosts::{Choice, Hosts};
use super::launch::{Coming, Launch, Options, sentence};
use super::library::{self, Library};
use super::match_screen::{Chosen, MatchScreen};
use super::menu::{Lead, Medium, Menu, Places, Question};
use super::replay_screen;
use super::rooms::{Outcome, Rooms};
use super::settings::{Settings, Shelf};
use super::typing::Typing;
use super::{Cue, Flashing, List, Page, Palette, Tone, View};

/// A key that was pressed. Keys that are held are also in [`Held`].
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

/// The buttons held with the keys of the left and of the right hand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Held {
    pub(crate) left: Buttons,
    pub(crate) right: Buttons,
}

/// How often to poll and draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RedrawRate {
    /// Only after a key.
    Still,
    /// A few times a second.
    Slow,
    /// As often as the UI can.
    Smooth,
}

/// The most sounds that wait to be played; older ones are dropped.
const CUE_LIMIT: usize = 32;

/// The program, as its player sees it.
pub(crate) struct Program {
    settings: Settings,
    shelf: Shelf,
    library: Library,
    options: Options,
    screen: Screen,
    /// Where one was in the menus.
    places: Places,
    held: Held,
    overlay: bool,
    /// A sentence for the menu.
    note: Option<String>,
    cues: VecDeque<Cue>,
    /// A window steers with the keys of the settings, a terminal with the usual ones.
    medium: Medium,
    /// What is set out for once the password of a room is known, or its name.
    door: Option<Launch>,
    /// The address that was typed last.
    typed: String,
    /// What begins once the player has a name.
    start: Start,
    over: bool,
}

/// How the program begins.
#[derive(Default)]
enum Start {
    #[default]
    Menu,
    Launch(Launch),
    Search,
}

enum Screen {
    Menu(Menu),
    Typing(Typing),
    /// A key is asked for, and perhaps asked for again.
    Binding {
        action: Action,
        refused: bool,
    },
    Hosts(Hosts),
    Rooms(Rooms),
    Opening {
        launch: Launch,
        coming: Coming,
    },
    Match {
        again: Again,
        running: Box<dyn MatchScreen>,
    },
    Replays {
        entries: Vec<library::Entry>,
        selected: usize,
    },
    Closed(Closed),
}

impl Program {
    /// Begins in the menu.
    pub(crate) fn new(shelf: Shelf, options: Options) -> Self {
        Program::starting(shelf, options, Start::Menu)
    }

    /// Begins as the command line says: with an launch, or looking for a host.
    pub(crate) fn begin(shelf: Shelf, options: Options, launch: Option<Launch>) -> Self {
        Program::starting(shelf, options, launch.map_or(Start::Search, Start::Launch))
    }

    /// Asks a person for a name first, if they were never asked.
    fn starting(shelf: Shelf, options: Options, start: Start) -> Self {
        let (settings, note) = shelf.load();
        let asks = settings.name.is_none() && note.is_none() && shelf.remembers();
        let is_person = options.name.is_none() && options.bot.is_none();
        let overlay = settings.network_overlay;
        let mut program = Program {
            settings,
            shelf,
            library: Library::usual(),
            options,
            screen: Screen::Menu(Menu::Main),
            places: Places::default(),
            held: Held::default(),
            overlay,
            note,
            cues: VecDeque::new(),
            medium: Medium::Terminal,
            door: None,
            typed: String::new(),
            start,
            over: false,
        };
        if asks && is_person {
            program.ask(Question::FirstName)
        } else {
            program.start()
        }
        program
    }

    fn start(&mut self) {
        match mem::take(&mut self.start) {
            Start::Menu => self.open(Menu::Main),
            Start::Launch(launch) => self.set_out(launch),
            Start::Search => self.search(),
        }
    }

    /// With matches that are recorded elsewhere.
    #[cfg(test)]
    pub(super) fn with_library(self, library: Library) -> Self {
        Program { library, ..self }
    }

    /// Drops the connection without a goodbye.
    #[cfg(test)]
    pub(super) fn fall_silent(&mut self) {
        if let Screen::Match { running, .. } =
            mem::replace(&mut self.screen, Screen::Menu(Menu::Main))
        {
            running.close();
        }
    }

    /// Sets out at once.
    pub(crate) fn set_out(&mut self, launch: Launch) {
        self.leave();
        let shelf = self.library.folder().filter(|_| self.settings.record_matches);
        let coming = launch.set_out(&self.options, self.name(), shelf.map(Into::into));
        self.screen = Screen::Opening { launch, coming };
    }

    /// Looks for games on the local network.
    pub(crate) fn search(&mut self) {
        self.leave();
        self.screen = match Hosts::start(&self.options) {
            Ok(hosts) => Screen::Hosts(hosts),
            Err(error) => failed(Again::Search, sentence(&error.to_string())),
        };
    }

    /// The same, with this line chosen.
    fn search_at(&mut self, choice: Choice) {
        self.search();
        if let Screen::Hosts(hosts) = &mut self.screen {
            hosts.choose_line(choice);
        }
    }

    /// Whether the player has had enough.
    pub(crate) fn is_over(&self) -> bool {
        self.over
    }

    /// Ends like Esc and Exit do: the other side is told.
    pub(crate) fn end(&mut self) {
        self.leave();
        self.over = true;
    }

    /// How often to poll and draw.
    pub(crate) fn pace(&self) -> RedrawRate {
        match &self.screen {
            Screen::Menu(_)
            | Screen::Typing(_)
            | Screen::Binding { .. }
            | Screen::Closed(_)
            | Screen::Replays { .. } => RedrawRate::Still,
            Screen::Rooms(rooms) if !rooms.is_listed() => RedrawRate::Smooth,
            Screen::Hosts(_) | Screen::Rooms(_) => RedrawRate::Slow,
            Screen::Opening { .. } => RedrawRate::Smooth,
            Screen::Match { running, .. } if running.is_shown() => RedrawRate::Smooth,
            Screen::Match { .. } => RedrawRate::Slow,
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

    /// The UI is a window, which uses the keys of the settings.
    pub(crate) fn in_window(&mut self) {
        self.medium = Medium::Window;
    }

    /// The same, on a machine where no sound device opens.
    pub(crate) fn in_silent_window(&mut self) {
        self.medium = Medium::SilentWindow;
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
        self.open(Menu::Keys);
        self.keep_settings();
    }

    /// What is held from now on.
    pub(crate) fn hold(&mut self, held: Held) {
        self.held = held;
    }

    /// A key was pressed.
    pub(crate) fn press(&mut self, key: Key) {
        // Who steers with it does not write with it.
        let steers = self.medium != Medium::Terminal
            && Action::all().into_iter().any(|action| self.settings.keys.key(action) == "T");
        match (&mut self.screen, key) {
            (Screen::Typing(_), key) => self.edit(key),
            (Screen::Binding { .. }, Key::Esc) => self.open(Menu::Keys),
            (Screen::Binding { .. }, Key::Char(letter)) => {
                self.bind(&letter.to_uppercase().to_string());
            }
            (Screen::Binding { .. }, _) => {}
            (Screen::Match { running, .. }, key) if running.is_typing() => running.edit(key),
            (Screen::Match { running, .. }, Key::Char('t' | 'T')) if !steers => {
                running.begin_chat()
            }
            (_, Key::Network) => self.overlay = !self.overlay,
            (_, Key::Esc) => self.back(),
            (Screen::Match { running, .. }, Key::Char('p' | 'P')) => running.pause(),
            // It stops a paddle or fires, so it must not ask for another match.
            (Screen::Match { .. }, Key::Char(' ')) => {}
            (_, Key::Up | Key::Char('w' | 'W')) => self.turn(-1),
            (_, Key::Down | Key::Char('s' | 'S')) => self.turn(1),
            (Screen::Menu(menu), Key::Left | Key::Char('a' | 'A')) => {
                let menu = *menu;
                self.adjust(menu, Settings::softer);
            }
            (Screen::Menu(menu), Key::Right | Key::Char('d' | 'D')) => {
                let menu = *menu;
                self.adjust(menu, Settings::louder);
            }
            (Screen::Match { running, .. }, Key::Left) => running.seek(-1),
            (Screen::Match { running, .. }, Key::Right) => running.seek(1),
            (_, Key::Enter | Key::Char(' ')) => self.choose(),
            (Screen::Match { running, .. }, Key::Char(letter)) => running.type_key(letter),
            _ => {}
        }
    }

    /// Looks at what goes on by itself.
    pub(crate) fn look(&mut self) {
        match &mut self.screen {
            Screen::Opening { launch, coming } => {
                let launch = launch.clone();
                match coming.try_recv() {
                    Ok(Ok(running)) => {
                        self.screen = Screen::Match { again: Again::Launch(launch), running };
                    }
                    Ok(Err(sentence)) => {
                        self.screen = Screen::Closed(Closed::unopened(launch, sentence));
                    }
                    Err(TryRecvError::Empty) => {}
                    Err(TryRecvError::Disconnected) => {
                        self.screen =
                            failed(Again::Launch(launch), "The match could not be opened.".into());
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
                    let launch = rooms.join();
                    self.set_out(launch);
                }
                Outcome::Failed(sentence) => {
                    self.screen = Screen::Closed(Closed::unopened(rooms.join(), sentence));
                }
            },
            Screen::Match { again, running } => {
                let shown = running.is_shown();
                let Some(sentence) = running.look(self.held) else { return };
                let (again, reason) = (again.clone(), running.end_reason());
                let closed = match (&again, reason) {
                    _ if shown => Screen::Closed(Closed::over(again, sentence)),
                    (_, Some(EndReason::HostLeft { .. })) => {
                        Screen::Closed(Closed::over(again, sentence))
                    }
                    (Again::Launch(launch), Some(EndReason::Password)) => {
                        self.door = Some(launch.clone());
                        let again = Typing::new(Question::RoomPassword, String::new());
                        Screen::Typing(again.because("Wrong room password."))
                    }
                    (Again::Launch(launch @ Launch::Enter { .. }), Some(EndReason::RoomName)) => {
                        self.door = Some(launch.clone());
                        let again = Typing::new(Question::RoomName, String::new());
                        Screen::Typing(again.because("Another room already has this name."))
                    }
                    (Again::Launch(launch), Some(reason)) => {
                        let sentence = launch.silence(reason).unwrap_or(sentence);
                        failed(again, sentence)
                    }
                    _ => failed(again, sentence),
                };
                if let Screen::Match { running, .. } = mem::replace(&mut self.screen, closed) {
                    running.close();
                }
            }
            _ => {}
        }
    }

    /// What is on the screen now.
    pub(crate) fn view(&mut self) -> View {
        let keys = match self.medium {
            Medium::Window | Medium::SilentWindow => self.settings.keys.clone(),
            Medium::Terminal => Bindings::default(),
        };
        let choose = "W/S or arrows: choose   Enter: go   Esc: back";
        let (page, hint) = match &mut self.screen {
            Screen::Menu(menu) => {
                let (note, selected) = (self.note.as_deref(), *self.places.of(*menu));
                let list = menu.list(&self.settings, self.medium, selected, note);
                let hint = match menu {
                    Menu::Settings => {
                        "W/S or arrows: choose   Left/Right: change   Enter: go   Esc: back"
                    }
                    _ => choose,
                };
                (Page::List(list), hint.to_owned())
            }
            Screen::Typing(typing) => (Page::List(typing.list()), typing.hint()),
            Screen::Binding { action, refused } => {
                (Page::List(key_list(*action, *refused)), "Esc: cancel".to_owned())
            }
            Screen::Hosts(hosts) => (Page::List(hosts.list()), choose.to_owned()),
            Screen::Rooms(rooms) => (Page::List(rooms.list()), choose.to_owned()),
            Screen::Replays { entries, selected } => {
                (Page::List(library::list(entries, *selected)), choose.to_owned())
            }
            Screen::Opening { launch, .. } => {
                let text = vec![("One moment ...".to_owned(), Tone::Dim)];
                let list = List { title: launch.heading().into(), text, ..List::default() };
                (Page::List(list), "Esc: menu".to_owned())
            }
            Screen::Match { running, .. } => {
                let shown = (running.page(&self.settings, self.overlay), running.hint(&keys));
                for cue in running.take_cues() {
                    hear(&mut self.cues, cue);
                }
                shown
            }
            Screen::Closed(closed) => (Page::List(closed.list()), choose.to_owned()),
        };
        let palette = if self.settings.safe_colours { Palette::Safe } else { Palette::Usual };
        let is_reduced = self.settings.reduced_flashing;
        let flashing = if is_reduced { Flashing::Reduced } else { Flashing::Usual };
        View { page, hint, palette, shake: self.settings.screen_shake, flashing }
    }

    /// Whether there is nothing to choose from, because a match is played.
    fn is_flying(&self) -> bool {
        matches!(&self.screen, Screen::Match { running, .. } if !running.has_lines())
    }

    fn name(&self) -> Name {
        self.options.name.unwrap_or(self.settings.player_name())
    }

    /// Back to the menu from anywhere; nothing stays open.
    fn leave(&mut self) {
        let menu = Screen::Menu(Menu::Main);
        if let Screen::Match { running, .. } = mem::replace(&mut self.screen, menu) {
            running.leave();
        }
    }

    fn open(&mut self, menu: Menu) {
        self.screen = Screen::Menu(menu);
    }

    fn back(&mut self) {
        match &mut self.screen {
            // The last line is the way out.
            Screen::Menu(Menu::Main) => {
                *self.places.of(Menu::Main) = self.line_count(Menu::Main) - 1;
            }
            Screen::Hosts(_) => self.open(Menu::Online),
            Screen::Rooms(rooms) => match rooms.join() {
                Launch::Join(title, _) => self.search_at(Choice::TypeAddress(title)),
                _ => self.search(),
            },
            Screen::Menu(Menu::Keys) => self.open(Menu::Settings),
            Screen::Replays { .. } => self.open(Menu::Play),
            Screen::Match { again: Again::Replay(path), .. } => {
                let path = path.clone();
                self.show_replays(Some(&path));
            }
            Screen::Match { running, .. } => {
                if running.escape() == Chosen::Leave {
                    self.leave();
                }
            }
            _ => self.leave(),
        }
    }

    fn turn(&mut self, lines: isize) {
        if !self.is_flying() {
            hear(&mut self.cues, Cue::Move);
        }
        self.step(Step::By(lines));
    }

    /// Moves the choice to this row, as a pointer does.
    pub(crate) fn point(&mut self, row: usize) {
        self.step(Step::To(row));
    }

    fn step(&mut self, step: Step) {
        match &mut self.screen {
            Screen::Menu(menu) => {
                let count = menu.lines(&self.settings, self.medium).len();
                let place = self.places.of(*menu);
                *place = step.after(*place, count);
            }
            Screen::Hosts(hosts) => hosts.step(step),
            Screen::Rooms(rooms) => rooms.step(step),
            Screen::Replays { entries, selected } => {
                *selected = step.after(*selected, entries.len() + 1);
            }
            Screen::Match { running, .. } => running.step(step),
            Screen::Closed(closed) => {
                closed.selected = step.after(closed.selected, closed.count());
            }
            Screen::Typing(_) | Screen::Binding { .. } | Screen::Opening { .. } => {}
        }
    }

    /// Does what the chosen row says.
    pub(crate) fn choose(&mut self) {
        if !self.is_flying() {
            hear(&mut self.cues, Cue::Choose);
        }
        match &mut self.screen {
            Screen::Menu(menu) => {
                let menu = *menu;
                let lead = self.lead(menu);
                self.follow(lead);
            }
            Screen::Hosts(hosts) => match hosts.choice() {
                Choice::Host(_, found) if found.fit == Fit::OtherVersion => {
                    let why = "This host runs a different version of the game. Update the older \
                               one, or join another host.";
                    self.screen = failed(Again::Search, why.into());
                }
                Choice::Host(title, found) => {
                    let Found { address, .. } = found;
                    let dialect = crate::play::dialect_of(&found);
                    let launch = Launch::Sit { title, address, dialect };
                    match dialect {
                        Dialect::Native => self.knock(title, address.to_string(), launch),
                        _ => self.set_out(launch),
                    }
                }
                Choice::TypeAddress(title) => self.ask(Question::JoinAddress(title)),
                Choice::Back => self.back(),
            },
            Screen::Rooms(rooms) => {
                let (choice, title) = (rooms.choice(), rooms.title());
                let (address, join) = (rooms.address().to_owned(), rooms.join());
                self.enter(choice, title, address, join);
            }
            Screen::Replays { entries, selected } => match entries.get(*selected) {
                Some(entry) => {
                    let path = entry.path.clone();
                    self.show_replay(path);
                }
                None => self.back(),
            },
            Screen::Match { running, .. } => {
                if running.choose() == Chosen::Leave {
                    self.leave();
                }
            }
            Screen::Closed(closed) => {
                let (next, again) = (closed.next(), closed.again().clone());
                self.go_on(next, again);
            }
            Screen::Typing(_) | Screen::Binding { .. } | Screen::Opening { .. } => {}
        }
    }

    /// The recorded matches; the one that was shown just now is chosen.
    fn show_replays(&mut self, shown: Option<&Path>) {
        let entries = self.library.list();
        let selected = entries.iter().position(|it| Some(it.path.as_path()) == shown);
        self.screen = Screen::Replays { entries, selected: selected.unwrap_or(0) };
    }

    fn show_replay(&mut self, path: PathBuf) {
        self.screen = match replay_screen::open(&path) {
            Ok(running) => Screen::Match { again: Again::Replay(path), running },
            Err(sentence) => failed(Again::Replay(path), sentence),
        };
    }

    /// What the chosen line of a menu leads to.
    fn lead(&mut self, menu: Menu) -> Lead {
        let selected = *self.places.of(menu);
        menu.lines(&self.settings, self.medium).swap_remove(selected).1
    }

    fn line_count(&self, menu: Menu) -> usize {
        menu.lines(&self.settings, self.medium).len()
    }

    /// Changes the chosen setting where it stands.
    fn adjust(&mut self, menu: Menu, volume: fn(&mut Settings)) {
        match self.lead(menu) {
            Lead::Volume => {
                volume(&mut self.settings);
                self.keep_settings();
            }
            lead @ Lead::Switch(_) => self.follow(lead),
            _ => return,
        }
        hear(&mut self.cues, Cue::Move);
    }

    fn follow(&mut self, lead: Lead) {
        match lead {
            Lead::Menu(menu) => {
                self.note = None;
                self.open(menu);
            }
            Lead::Launch(launch) => self.set_out(launch),
            Lead::Search => self.search(),
            Lead::Replays => self.show_replays(None),
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
            // After the loudest comes silence.
            Lead::Volume => {
                match self.settings.volume {
                    Settings::LOUDEST => self.settings.volume = 0,
                    _ => self.settings.louder(),
                }
                self.keep_settings();
            }
            Lead::Exit => self.end(),
        }
    }

    fn keep_settings(&mut self) {
        let kept = self.shelf.keep(&self.settings);
        self.note = kept.err().map(|error| {
            format!("The settings could not be saved ({error}); they last until you exit.")
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
    Screen::Closed(Closed::failed(again, sentence))
}

fn key_list(action: Action, refused: bool) -> List {
    let mut text = vec![(format!("Press the key for: {}", action.name()), Tone::Bright)];
    if refused {
        let why = "This key is already used in a match. Press another one.";
        text.push((why.into(), Tone::Fair));
    }
    List { title: "Keys".into(), text, ..List::default() }
}
