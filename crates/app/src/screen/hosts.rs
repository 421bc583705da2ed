//! The games on the local network, as a live list.

use std::error::Error;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use backspin::finder::{Fit, Found};
use backspin::wire::native::DEFAULT_PORT;

use super::choices::Choices;
use super::figures::{short_ms, span_tone};
use super::launch::Options;
use super::{Cell, List, Row, Tone};
use crate::games::{Title, with_game};
use crate::play::Search;

/// Hosts answer sooner than this; after it, the list says what to check.
const NEWS_WITHIN: Duration = Duration::from_secs(10);

/// A search for each game, and the line that is chosen.
pub(super) struct Hosts {
    searches: Vec<(Title, Search)>,
    began: Instant,
    port: u16,
    chosen: Option<Choice>,
}

/// A line of the list.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Choice {
    Host(Title, Found),
    TypeAddress(Title),
    Back,
}

impl Hosts {
    pub(super) fn start(options: &Options) -> Result<Self, Box<dyn Error>> {
        let is_wanted = |title: &Title| options.title.is_none_or(|only| only == *title);
        let titles = Title::ALL.iter().copied().filter(is_wanted);
        let Options { port, dialect, .. } = *options;
        let search = |title: Title| {
            Ok((title, with_game!(title, G => Search::start(&G::default(), port, dialect)?)))
        };
        let searches = titles.map(search).collect::<Result<_, Box<dyn Error>>>()?;
        let (began, port) = (Instant::now(), port.unwrap_or(DEFAULT_PORT));
        Ok(Hosts { searches, began, port, chosen: None })
    }

    /// Moves the choice to a line that is there, or will be.
    pub(super) fn choose_line(&mut self, chosen: Choice) {
        self.chosen = Some(chosen);
    }

    /// Why the search has ended by itself, if it has.
    pub(super) fn failure(&mut self) -> Option<String> {
        let failed = self.searches.iter_mut().find_map(|(_, search)| search.failure());
        failed.map(|error| error.to_string())
    }

    pub(super) fn list(&mut self) -> List {
        let choices = self.choices();
        let selected = self.selected(&choices);
        let none = !choices.iter().any(|choice| matches!(choice, Choice::Host(..)));
        let text = match none {
            true if self.began.elapsed() >= NEWS_WITHIN => self.advice(),
            true => "Looking for games on this network...".to_owned(),
            false => "On this network:".to_owned(),
        };
        let several = self.searches.len() > 1;
        let rows = choices.iter().map(|choice| row(choice, several)).collect();
        let text = vec![(text, Tone::Dim)];
        List { title: "Join a game".into(), text, rows, selected, ..List::default() }
    }

    /// What to check if no host answers.
    fn advice(&self) -> String {
        format!(
            "Still looking: no game has answered yet. Is someone hosting on this network? Does \
             the host's firewall allow UDP port {}? If you know the host's address, type it.",
            self.port
        )
    }
}

impl Choices for Hosts {
    type Choice = Choice;

    fn choices(&mut self) -> Vec<Choice> {
        let mut choices = Vec::new();
        for (title, search) in &mut self.searches {
            let mut finder = search.look();
            // The list shows everything, so events are not read.
            while finder.poll_event().is_some() {}
            choices.extend(finder.hosts().map(|found| Choice::Host(*title, found)));
        }
        choices.extend(self.searches.iter().map(|(title, _)| Choice::TypeAddress(*title)));
        choices.push(Choice::Back);
        choices
    }

    fn chosen(&mut self) -> &mut Option<Choice> {
        &mut self.chosen
    }

    /// Whether it is the same line: a host is where it is, whatever its ping, and may have both
    /// games there.
    fn is_same(one: &Choice, other: &Choice) -> bool {
        match (one, other) {
            (Choice::Host(game, one), Choice::Host(other, two)) => {
                game == other && one.address == two.address
            }
            _ => one == other,
        }
    }
}

/// Which game it is, is said where it may be one of several.
fn row(choice: &Choice, several: bool) -> Row {
    match choice {
        Choice::Host(title, found) => {
            let mut row = host_row(found.address, found);
            if several {
                row.cells.insert(1, Cell::new(title.name(), Tone::Plain));
            }
            row
        }
        Choice::TypeAddress(title) if several => {
            Row::new(format!("Type an address for {}", title.name()))
        }
        Choice::TypeAddress(_) => Row::new("Type an address"),
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
    let none = Cell::new("-", Tone::Dim);
    let ping = found.ping.map_or(none, |ping| Cell::new(short_ms(ping), span_tone(ping)));
    let mut cells =
        vec![Cell::new(name, Tone::Plain), players, ping, Cell::new(found.dialect, Tone::Dim)];
    match found.fit {
        Fit::Good => {}
        Fit::OtherVersion => cells.push(Cell::new("another version", Tone::Bad)),
        Fit::Token => cells.push(Cell::new("needs a token", Tone::Fair)),
    }
    Row { cells }
}

#[cfg(test)]
mod tests {
    use backspin::wire::Name;
    use backspin_classic::Dialect;

    use super::*;

    #[test]
    fn a_host_with_both_games_is_two_lines() {
        let found = Found {
            address: "127.0.0.1:4300".parse().unwrap(),
            dialect: Dialect::Native.name(),
            name: Name::new("Attic"),
            players: Some((0, 2)),
            ping: None,
            fit: Fit::Good,
        };
        let pong = Choice::Host(Title::Pong, found);
        let later = Found { ping: Some(Duration::from_millis(3)), ..found };
        assert!(Hosts::is_same(&pong, &Choice::Host(Title::Pong, later)));
        assert!(!Hosts::is_same(&pong, &Choice::Host(Title::Rtype, found)));
    }

    #[test]
    fn after_ten_seconds_without_a_host_it_says_what_to_check() {
        let mut hosts = Hosts::start(&Options { port: Some(9), ..Options::default() }).unwrap();
        let text = |hosts: &mut Hosts| hosts.list().text.remove(0).0;
        assert_eq!(text(&mut hosts), "Looking for games on this network...");
        hosts.began = Instant::now().checked_sub(NEWS_WITHIN).unwrap();
        let advice = text(&mut hosts);
        for words in ["on this network", "firewall", "UDP port 9", "address, type it"] {
            assert!(advice.contains(words), "{advice}");
        }
    }
}
