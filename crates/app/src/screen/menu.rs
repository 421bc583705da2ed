//! The menus, and where their rows lead.

use super::bindings::Action;
use super::launch::Launch;
use super::settings::Settings;
use super::stage::Stage;
use super::{Cell, List, Row, Tone};
use crate::games::{Title, with_game};

/// A menu.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Menu {
    Main,
    Play,
    Online,
    Settings,
    Keys,
}

/// What the menus are shown in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Medium {
    Terminal,
    Window,
    /// A window, on a machine where no sound device opens.
    SilentWindow,
}

/// The line that is chosen in each menu.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Places([usize; Menu::COUNT]);

impl Places {
    pub(super) fn of(&mut self, menu: Menu) -> &mut usize {
        &mut self.0[menu as usize]
    }
}

/// Where a line leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Lead {
    Menu(Menu),
    Launch(Launch),
    Search,
    Replays,
    Type(Question),
    Switch(Switch),
    /// Louder or softer.
    Volume,
    /// Asks for another key.
    Bind(Action),
    /// The keys are as they were at first.
    UsualKeys,
    Exit,
}

/// What is asked for, to be typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Question {
    JoinAddress(Title),
    WatchAddress(Title),
    RoomPassword,
    RoomName,
    Name,
    /// The same, at the first start.
    FirstName,
}

/// A setting that is on or off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Switch {
    SafeColours,
    ReducedFlashing,
    ScreenShake,
    Fullscreen,
    NetworkOverlay,
    RecordMatches,
}

impl Switch {
    pub(super) fn of(self, settings: &mut Settings) -> &mut bool {
        match self {
            Switch::SafeColours => &mut settings.safe_colours,
            Switch::ReducedFlashing => &mut settings.reduced_flashing,
            Switch::ScreenShake => &mut settings.screen_shake,
            Switch::Fullscreen => &mut settings.fullscreen,
            Switch::NetworkOverlay => &mut settings.network_overlay,
            Switch::RecordMatches => &mut settings.record_matches,
        }
    }
}

impl Menu {
    const COUNT: usize = 5;

    fn title(self) -> &'static str {
        match self {
            Menu::Main => "BACKSPIN",
            Menu::Play => "Play",
            Menu::Online => "Online",
            Menu::Settings => "Settings",
            Menu::Keys => "Keys",
        }
    }

    /// Its lines, and where each leads.
    pub(super) fn lines(self, settings: &Settings, medium: Medium) -> Vec<(Row, Lead)> {
        let line = |text: &str, lead| (Row::new(text), lead);
        // What a terminal cannot do is for the window.
        let apart = |text: &str| match medium {
            Medium::Window | Medium::SilentWindow => text.to_owned(),
            Medium::Terminal => format!("{text} (window)"),
        };
        let switch = |text: &str, switch: Switch| {
            let on = *switch.of(&mut settings.clone());
            let (word, tone) = if on { ("on", Tone::Good) } else { ("off", Tone::Dim) };
            let cells = vec![Cell::new(text, Tone::Plain), Cell::new(word, tone)];
            (Row { cells }, Lead::Switch(switch))
        };
        match self {
            Menu::Main => vec![
                line("Play", Lead::Menu(Menu::Play)),
                line("Online", Lead::Menu(Menu::Online)),
                line("Settings", Lead::Menu(Menu::Settings)),
                line("Exit", Lead::Exit),
            ],
            Menu::Play => {
                let mut lines = Vec::new();
                for &title in Title::ALL {
                    let ways = with_game!(title, G => G::WAYS);
                    let lead = |way| Lead::Launch(Launch::Local(title, way));
                    lines.extend(ways.iter().map(|&(text, way)| line(text, lead(way))));
                }
                lines.push(line("Replays", Lead::Replays));
                lines.push(line("Back", Lead::Menu(Menu::Main)));
                lines
            }
            Menu::Online => {
                let host = |&title: &Title| {
                    let text = format!("Host {}", title.name());
                    line(&text, Lead::Launch(Launch::Host(title)))
                };
                let watch = |&title: &Title| {
                    let text = format!("Watch {}", title.name());
                    line(&text, Lead::Type(Question::WatchAddress(title)))
                };
                let mut lines = vec![line("Join a game", Lead::Search)];
                lines.extend(Title::ALL.iter().map(host));
                lines.extend(Title::ALL.iter().map(watch));
                lines.push(line("Back", Lead::Menu(Menu::Main)));
                lines
            }
            Menu::Settings => {
                let name = Cell::new(settings.name(), Tone::Bright);
                let cells = vec![Cell::new("Name", Tone::Plain), name];
                let volume = match settings.volume {
                    0 => Cell::new("off", Tone::Dim),
                    volume if medium == Medium::SilentWindow => {
                        Cell::new(format!("{volume} %, no sound device"), Tone::Dim)
                    }
                    volume => Cell::new(format!("{volume} %"), Tone::Bright),
                };
                let loud = Row { cells: vec![Cell::new(apart("Volume"), Tone::Plain), volume] };
                vec![
                    (Row { cells }, Lead::Type(Question::Name)),
                    switch("Colour-blind mode", Switch::SafeColours),
                    switch("Reduced flashing", Switch::ReducedFlashing),
                    switch("Network overlay (F3)", Switch::NetworkOverlay),
                    switch("Record matches", Switch::RecordMatches),
                    (loud, Lead::Volume),
                    switch(&apart("Screen shake"), Switch::ScreenShake),
                    switch(&apart("Full screen"), Switch::Fullscreen),
                    line(&apart("Keys"), Lead::Menu(Menu::Keys)),
                    line("Back", Lead::Menu(Menu::Main)),
                ]
            }
            Menu::Keys => {
                let key = |action: Action| {
                    let name = Cell::new(action.name(), Tone::Plain);
                    let key = Cell::new(settings.keys.key(action), Tone::Bright);
                    (Row { cells: vec![name, key] }, Lead::Bind(action))
                };
                let mut lines: Vec<_> = Action::all().map(key).into();
                lines.push(line("Reset to defaults", Lead::UsualKeys));
                lines.push(line("Back", Lead::Menu(Menu::Settings)));
                lines
            }
        }
    }

    /// What it shows, with a sentence above if there is one to tell.
    pub(super) fn list(
        self,
        settings: &Settings,
        medium: Medium,
        selected: usize,
        note: Option<&str>,
    ) -> List {
        let rows = self.lines(settings, medium).into_iter().map(|(row, _)| row).collect();
        let text = note.map(|note| (note.to_owned(), Tone::Fair)).into_iter().collect();
        List { title: self.title().into(), text, rows, selected, ..List::default() }
    }
}

impl Question {
    pub(super) fn title(self) -> String {
        match self {
            Question::JoinAddress(title) => format!("Join {}", title.name()),
            Question::WatchAddress(title) => format!("Watch {}", title.name()),
            Question::RoomPassword => "A room with a password".into(),
            Question::RoomName => "Make a room".into(),
            Question::Name | Question::FirstName => "Your name".into(),
        }
    }

    pub(super) fn label(self) -> &'static str {
        match self {
            Question::JoinAddress(_) | Question::WatchAddress(_) => "Address",
            Question::RoomPassword => "Password",
            Question::RoomName | Question::Name | Question::FirstName => "Name",
        }
    }

    pub(super) fn advice(self) -> &'static str {
        match self {
            Question::JoinAddress(_) | Question::WatchAddress(_) => {
                "An address or host name, with or without a port: 192.168.0.7, \
                 play.example.org:4300, [::1]:4300."
            }
            Question::RoomPassword => "Ask whoever made the room.",
            Question::RoomName => {
                "What others see in the list: up to 15 letters, fewer with accents or symbols."
            }
            Question::Name | Question::FirstName => {
                "What others see: up to 15 letters, fewer with accents or symbols."
            }
        }
    }
}
