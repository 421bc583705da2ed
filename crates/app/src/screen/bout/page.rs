//! What is shown of a match.

use backspin::game::PlayerId;
use backspin::wire::Dialect;
use backspin::wire::native::DEFAULT_PORT;
use backspin_udp::interfaces;

use super::super::stage::{Stage, StandingPhase};
use super::super::{Arena, Banner, Cell, List, Page, Row, Settings, Tone};
use super::{Bout, Dialog, Hand, Line, Steers};
use crate::play::Seat;

impl<G: Stage> Bout<G> {
    /// What is on the screen now.
    pub(in super::super) fn page(&mut self, settings: &Settings, overlay: bool) -> Page {
        match self.is_shown() {
            true => Page::Arena(Box::new(self.arena(settings, overlay))),
            false => Page::List(self.waiting()),
        }
    }

    /// What the keys do.
    pub(in super::super) fn hint(&self) -> String {
        if self.dialog.is_some() || !self.is_shown() {
            return "W/S or arrows: choose   Enter: go   Esc: menu".into();
        }
        let moves = match self.persons().count() {
            0 => "",
            1 => "W/S or arrows: move   ",
            _ => "W/S: left   arrows: right   ",
        };
        let pause = if self.is_local() { "pause" } else { "match menu" };
        let network = if self.is_local() { "" } else { "F3: network   " };
        format!("{moves}P: {pause}   {network}Esc: leave")
    }

    /// Before anything is played.
    fn waiting(&self) -> List {
        let seat = self.table.seat();
        let mut text = Vec::new();
        let title = match &*seat {
            Seat::Host(_) => {
                text.push(("Waiting for someone to join.".into(), Tone::Bright));
                text.push((
                    "Others on this network see it in their list, or join it at:".into(),
                    Tone::Dim,
                ));
                text.extend(self.reachable().into_iter().map(|at| (at, Tone::Plain)));
                "Hosting"
            }
            Seat::Guest { client, .. } if client.player().is_none() => {
                let (server, dialect) = (client.server(), client.dialect());
                text.push((format!("Asking {server} ({}) ...", dialect.name()), Tone::Plain));
                "Joining"
            }
            _ => {
                text.push(("Waiting for another player.".into(), Tone::Bright));
                "Connected"
            }
        };
        let roster = seat.client().map(|client| client.roster().to_vec()).unwrap_or_default();
        if roster.len() > 1 {
            let names: Vec<_> = roster.iter().map(|line| line.name.to_string()).collect();
            text.push((format!("Here: {}", names.join(", ")), Tone::Good));
        }
        drop(seat);
        let (rows, selected) = self.rows();
        List { title: title.into(), text, entry: None, rows, selected }
    }

    /// Where others can come to, as they would type it.
    fn reachable(&self) -> Vec<String> {
        let mut ports: Vec<u16> =
            self.addresses.iter().filter(|at| at.is_ipv4()).map(|at| at.port()).collect();
        if ports.contains(&DEFAULT_PORT) {
            ports = vec![DEFAULT_PORT];
        }
        let found = interfaces().unwrap_or_default();
        let mut hosts: Vec<_> = found.iter().map(|it| it.address.to_string()).collect();
        if hosts.is_empty() {
            hosts.push("127.0.0.1".into());
        }
        let at = |host: &String| {
            let host = host.clone();
            ports.iter().map(move |port| match *port {
                DEFAULT_PORT => host.clone(),
                port => format!("{host}:{port}"),
            })
        };
        hosts.iter().flat_map(at).collect()
    }

    fn rows(&self) -> (Vec<Row>, usize) {
        let lines = self.lines();
        let word = |line: &Line| match line {
            Line::GoOn => "Go on",
            Line::Again => "Play again",
            Line::Wished => "Waiting for the other side ...",
            Line::BeginNow => "Begin without waiting for more",
            Line::Leave if self.dialog == Some(Dialog::Pause) && !self.is_local() => {
                "Leave the match"
            }
            Line::Leave => "Menu",
        };
        let rows = lines.iter().map(|line| Row::new(word(line))).collect();
        (rows, self.selected.min(lines.len().saturating_sub(1)))
    }

    fn arena(&mut self, settings: &Settings, overlay: bool) -> Arena {
        let now = self.table.now();
        self.table.seat().draw(now, &mut self.frame);
        let own = self.own();
        let names = self.names();
        let sides = names.into_iter().zip(self.standing.points.iter().copied()).collect();
        let online = !self.is_local();
        Arena {
            scene: self.game.scene(&self.frame, own),
            sides,
            status: if online { self.status() } else { Vec::new() },
            notice: self.notice.as_ref().map(|(cell, _)| cell.clone()),
            banner: self.banner(),
            dialog: self.dialog.map(|dialog| self.dialog_list(dialog)),
            overlay: (online && overlay && self.dialog.is_none()).then(|| self.figures.overlay()),
            persons: self.persons().count(),
            flash: now < self.flash_until && !settings.reduced_flashing,
        }
    }

    fn persons(&self) -> impl Iterator<Item = &Hand<G>> {
        self.hands.iter().filter(|hand| matches!(hand.steers, Steers::Person(_)))
    }

    /// Whose screen it is; nobody's where two share it, or where it is only watched.
    fn own(&self) -> Option<PlayerId> {
        if let Some(client) = self.table.seat().client() {
            return client.player().filter(|_| !self.hands.is_empty());
        }
        let mut persons = self.persons();
        match (persons.next(), persons.next()) {
            (Some(hand), None) => Some(hand.player),
            _ => None,
        }
    }

    /// What the sides are called.
    fn names(&self) -> Vec<String> {
        let seat = self.table.seat();
        let mut sides = vec![Vec::new(); G::SIDES.len()];
        let mut put = |player: PlayerId, name: String| {
            if let Some(side) = self.standing.side_of(player).and_then(|side| sides.get_mut(side)) {
                side.push(if name.is_empty() { "Guest".to_owned() } else { name });
            }
        };
        match seat.client() {
            None => self.hands.iter().for_each(|hand| put(hand.player, hand.name.clone())),
            // It has no names.
            Some(client) if client.dialect() == Dialect::Lan => {
                put(PlayerId(1), "Host".into());
                put(client.player().unwrap_or(PlayerId(2)), self.name.clone());
            }
            Some(client) => {
                client.roster().iter().for_each(|line| put(line.player, line.name.to_string()));
            }
        }
        let word = |(side, names): (&Vec<String>, &&str)| match side.is_empty() {
            true => names.to_string(),
            false => side.join(" & "),
        };
        sides.iter().zip(G::SIDES).map(word).collect()
    }

    /// The ping, and what else is to be said of the line.
    fn status(&self) -> Vec<Cell> {
        let mut cells = self.figures.status();
        if self.hands.is_empty() {
            cells.push(Cell::new("watching", Tone::Dim));
        }
        if self.quiet {
            cells.push(Cell::new("no word from the other side", Tone::Bad));
        }
        cells
    }

    fn banner(&self) -> Option<Banner> {
        let now = self.table.now();
        let left = self.table.seat().client().and_then(|client| client.resume_left(now));
        if let Some(left) = left {
            let text = format!("connection lost, trying again ({} s)", left.as_secs());
            return Some(Banner { large: String::new(), text: vec![text] });
        }
        match self.standing.phase {
            StandingPhase::Countdown(seconds) => {
                Some(Banner { large: seconds.to_string(), text: Vec::new() })
            }
            StandingPhase::Left => Some(Banner {
                large: String::new(),
                text: vec!["The other player has left. Waiting for another.".into()],
            }),
            _ => None,
        }
    }

    fn dialog_list(&self, dialog: Dialog) -> List {
        let (rows, selected) = self.rows();
        let mut text = Vec::new();
        let title = match (dialog, self.standing.phase) {
            (Dialog::Pause, _) if self.is_local() => "Paused".to_owned(),
            (Dialog::Pause, _) => "The match goes on".to_owned(),
            (Dialog::Over, StandingPhase::Over { winner }) => {
                let points: Vec<_> = self.standing.points.iter().map(u8::to_string).collect();
                text.push((points.join(" : "), Tone::Bright));
                text.extend(self.wishes());
                match self.own().and_then(|own| self.standing.side_of(own)) {
                    Some(side) if side == winner => "You win!".to_owned(),
                    Some(_) => "You lose".to_owned(),
                    None => format!("{} wins", self.names()[winner]),
                }
            }
            (Dialog::Over, _) => String::new(),
        };
        List { title, text, entry: None, rows, selected }
    }

    /// Whether the other side wishes for another match.
    fn wishes(&self) -> Option<(String, Tone)> {
        let seat = self.table.seat();
        let client = seat.client()?;
        if client.timeline().is_none() {
            return Some(("The host decides whether there is another.".into(), Tone::Dim));
        }
        let own = client.player();
        let theirs = self.standing.wishes.iter().any(|player| Some(*player) != own);
        theirs.then(|| ("The other side wants to play again.".into(), Tone::Good))
    }
}
