//! The games on the local network, as a list that is kept up to date.

use std::error::Error;
use std::net::SocketAddr;

use backspin::finder::{Fit, Found};
use backspin::game::Game;
use backspin::session::Grade;
use backspin_pong::Pong;

use super::errand::Options;
use super::figures::{grade_tone, short_ms};
use super::{Cell, List, Row, Tone};
use crate::play::Search;

/// A search, and the line that is chosen.
pub(super) struct Hosts {
    search: Search,
    /// Hosts come and go; what is chosen stays chosen. `None` is the first line.
    chosen: Option<Choice>,
}

/// A line of the list.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Choice {
    Host(Found),
    TypeAddress,
    Back,
}

impl Choice {
    /// Whether it is the same line: a host is where it is, whatever its ping.
    fn is(&self, other: &Choice) -> bool {
        match (self, other) {
            (Choice::Host(one), Choice::Host(two)) => one.address == two.address,
            _ => self == other,
        }
    }
}

impl Hosts {
    pub(super) fn start(options: &Options) -> Result<Self, Box<dyn Error>> {
        let search = Search::start(Pong::default().id(), options.port, options.dialect)?;
        Ok(Hosts { search, chosen: None })
    }

    /// Why the search has ended by itself, if it has.
    pub(super) fn failure(&mut self) -> Option<String> {
        self.search.failure().map(|error| error.to_string())
    }

    fn choices(&mut self) -> Vec<Choice> {
        let mut finder = self.search.look();
        // The list says it all; nobody reads the news.
        while finder.poll_event().is_some() {}
        let hosts = finder.hosts().map(Choice::Host);
        hosts.chain([Choice::TypeAddress, Choice::Back]).collect()
    }

    fn selected(&self, choices: &[Choice]) -> usize {
        let is_it = |it: &Choice| self.chosen.is_some_and(|chosen| chosen.is(it));
        choices.iter().position(is_it).unwrap_or(0)
    }

    /// The line that is chosen now.
    pub(super) fn choice(&mut self) -> Choice {
        let choices = self.choices();
        choices[self.selected(&choices)]
    }

    /// Moves the choice by so many lines, around the ends.
    pub(super) fn turn(&mut self, lines: isize) {
        let choices = self.choices();
        let at = self.selected(&choices) as isize + lines;
        self.chosen = Some(choices[at.rem_euclid(choices.len() as isize) as usize]);
    }

    pub(super) fn list(&mut self) -> List {
        let choices = self.choices();
        let selected = self.selected(&choices);
        let none = choices.len() == 2;
        let text = if none { "Looking for games on this network..." } else { "On this network:" };
        let rows = choices.iter().map(row).collect();
        let text = vec![(text.to_owned(), Tone::Dim)];
        List { title: "Join a game".into(), text, entry: None, rows, selected }
    }
}

fn row(choice: &Choice) -> Row {
    match choice {
        Choice::Host(found) => host_row(found.address, found),
        Choice::TypeAddress => Row::new("Type an address"),
        Choice::Back => Row::new("Back"),
    }
}

/// Name, players, ping, dialect, and what speaks against it.
fn host_row(address: SocketAddr, found: &Found) -> Row {
    let name = match found.name.to_string() {
        name if name.is_empty() => address.to_string(),
        name => name,
    };
    let players = match found.players {
        Some((players, of)) if players >= of => {
            Cell::new(format!("{players}/{of} full"), Tone::Fair)
        }
        Some((players, of)) => Cell::new(format!("{players}/{of}"), Tone::Plain),
        None => Cell::new("-", Tone::Dim),
    };
    let ping = match found.ping {
        Some(ping) => Cell::new(short_ms(ping), grade_tone(Grade::of(ping))),
        None => Cell::new("-", Tone::Dim),
    };
    let mut cells = vec![
        Cell::new(name, Tone::Plain),
        players,
        ping,
        Cell::new(found.dialect.name(), Tone::Dim),
    ];
    match found.fit {
        Fit::Good => {}
        Fit::OtherVersion => cells.push(Cell::new("another version", Tone::Bad)),
        Fit::Token => cells.push(Cell::new("needs a token", Tone::Fair)),
    }
    Row { cells }
}
