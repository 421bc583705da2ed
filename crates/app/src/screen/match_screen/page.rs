//! What a match shows.

use backspin::channel::Alarm;
use backspin::client::RosterLine;
use backspin::game::PlayerId;
use backspin::wire::native::DEFAULT_PORT;
use backspin_classic::Dialect;
use backspin_udp::interfaces;

use super::super::stage::{Names, Offer, Sight, Stage, side_names};
use super::super::{
    Action, Arena, Banner, Bindings, Cell, Controls, Entry, List, Row, Settings, Tone,
};
use super::{ChatShown, Dialog, Hand, Line, Match, MatchScreen, Steers};
use crate::play::Seat;

impl<G: Stage> Match<G> {
    /// What the keys do.
    pub(super) fn key_hint(&self, keys: &Bindings) -> String {
        if self.typing.is_some() {
            return "Enter: send   Esc: cancel".into();
        }
        let chat = if self.may_chat().is_ok() { "T: chat   " } else { "" };
        if self.dialog.is_some() || !self.is_shown() {
            let chat = if matches!(self.dialog, None | Some(Dialog::Over)) { chat } else { "" };
            let talks = self.dialog.is_none() && self.talks(&self.facts());
            let say = match G::PHRASES.len() {
                count @ 1.. if talks => &format!("1-{count}: say   "),
                _ => "",
            };
            let keys: String = self.lines().iter().filter_map(key_of).collect();
            let back = match self.dialog {
                Some(Dialog::Pause) => "back to the match",
                Some(Dialog::Leave) => "stay",
                Some(Dialog::Over) | None => "menu",
            };
            return format!("W/S or arrows: choose   {keys}{say}{chat}Enter: go   Esc: {back}");
        }
        let pause = match self.is_local() {
            true => "pause",
            false if self.is_cut_off() => "leave",
            false => "menu",
        };
        if let Some(offer) = self.interlude().and_then(|it| it.offer) {
            let key = key_of(&Line::Offer(offer)).unwrap_or_default();
            return format!("{key}Esc: {pause}");
        }
        let first = keys.pair(Action::Up, Action::Down);
        let second = keys.pair(Action::SecondUp, Action::SecondDown);
        let moves = match (G::CONTROLS, self.persons().count()) {
            (_, 0) => "",
            (Controls::Ship, _) => {
                let [fire, charge, pod] =
                    [Action::Shoot, Action::Charge, Action::Pod].map(|action| keys.key(action));
                let fly = keys.four();
                &format!("{fly}: fly   {fire}: fire   {charge}: charge   {pod}: pod   ")
            }
            (Controls::Paddle, 1) => &format!("{first} or {second}: move   "),
            (Controls::Paddle, _) => &format!("{first}: left   {second}: right   "),
        };
        let crowded = G::CONTROLS == Controls::Ship && self.persons().count() > 0;
        let network = if self.is_local() || crowded { "" } else { "F3: network   " };
        format!("{moves}{chat}{network}Esc: {pause}")
    }

    fn chat_shown(&self) -> ChatShown {
        if self.typing.is_some() { ChatShown::All } else { ChatShown::Lately }
    }

    /// Who is in the lobby, where there is one.
    fn facts(&self) -> Vec<Row> {
        self.game.facts(&self.world, self.own(), &self.names())
    }

    /// Whether someone here may speak in the lobby.
    fn talks(&self, facts: &[Row]) -> bool {
        !facts.is_empty() && !self.hands.is_empty()
    }

    /// Before anything is played.
    pub(super) fn waiting(&self) -> List {
        if let Some(dialog) = self.dialog {
            return self.dialog_list(dialog);
        }
        let facts = self.facts();
        let is_lobby = !facts.is_empty();
        let seat = self.node.seat();
        let mut text = Vec::new();
        let title = match &*seat {
            Seat::Host(_) => {
                if !is_lobby {
                    text.push(("Waiting for someone to join.".into(), Tone::Bright));
                }
                text.push((
                    "Others on this network see it in their list, or join it at:".into(),
                    Tone::Dim,
                ));
                text.extend(self.reachable().into_iter().map(|at| (at, Tone::Plain)));
                "Hosting"
            }
            Seat::Guest { client, .. } if client.player().is_none() => {
                let (server, dialect) = (client.server(), client.dialect());
                text.push((format!("Asking {server} ({dialect}) ..."), Tone::Plain));
                if seat.is_unanswered(self.node.now()) {
                    text.push(("No answer yet, still trying.".into(), Tone::Dim));
                }
                "Joining"
            }
            _ if is_lobby => "Lobby",
            _ => {
                text.push(("Waiting for another player.".into(), Tone::Bright));
                "Connected"
            }
        };
        let roster = seat.client().map(|client| client.roster().to_vec()).unwrap_or_default();
        if roster.len() > 1 && !is_lobby {
            let names: Vec<_> = roster.iter().map(|line| line.name.to_string()).collect();
            text.push((format!("Here: {}", names.join(", ")), Tone::Good));
        }
        if self.talks(&facts) {
            let phrase = |(number, words): (usize, &&str)| format!("{} {words}", number + 1);
            let phrases: Vec<_> = G::PHRASES.iter().enumerate().map(phrase).collect();
            text.extend(phrases.chunks(4).map(|row| (row.join("   "), Tone::Dim)));
        }
        drop(seat);
        let chat = self.moments.chat(self.node.now(), &self.names(), self.chat_shown());
        text.extend(chat.into_iter().map(|line| match line.name.is_empty() {
            true => (line.text, Tone::Fair),
            false => (format!("{}: {}", line.name, line.text), Tone::Plain),
        }));
        text.extend(self.notice.iter().map(|(cell, _)| (cell.text.clone(), cell.tone)));
        let (rows, selected) = self.rows();
        let entry = self.typing.as_ref().map(|typed| Entry {
            label: "Say".into(),
            text: typed.clone(),
            offer: String::new(),
        });
        List { title: title.into(), text, facts, entry, rows, selected }
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
        let row = |line: &Line| match line {
            Line::GoOn if self.dialog == Some(Dialog::Leave) => Row::new("Stay"),
            Line::GoOn => Row::new("Continue"),
            Line::Offer(offer) => offer.row.clone(),
            Line::Leave => Row::new(match self.dialog {
                Some(Dialog::Pause) => "Leave the match",
                Some(Dialog::Leave) => "Leave",
                Some(Dialog::Over) | None => "Menu",
            }),
        };
        let rows = lines.iter().map(row).collect();
        (rows, self.selected.min(lines.len().saturating_sub(1)))
    }

    pub(super) fn arena(&mut self, settings: &Settings, overlay: bool) -> Arena {
        let now = self.node.now();
        let own = self.own();
        self.moments.draw(&self.game, now, own, |frame| self.node.seat().draw(now, frame));
        let names = self.names();
        let sides = side_names(G::SIDES, &names, &self.standing);
        let sides = sides.into_iter().zip(self.standing.points.iter().copied()).collect();
        let online = !self.is_local();
        let sight = self.moments.sight();
        let hud = self.game.hud(&sight, &names);
        Arena {
            scene: self.moments.scene(&self.game, now),
            sides,
            hud,
            status: if online { self.status() } else { Vec::new() },
            notice: self.notice.as_ref().map(|(cell, _)| cell.clone()),
            banner: self.banner(&sight),
            chat: self.moments.chat(now, &names, self.chat_shown()),
            typing: self.typing.clone(),
            dialog: self.dialog.map(|dialog| self.dialog_list(dialog)),
            overlay: (online && overlay && self.dialog.is_none()).then(|| self.figures.overlay()),
            persons: self.persons().count(),
            controls: G::CONTROLS,
            flash: now < self.flash_until && !settings.reduced_flashing,
        }
    }

    fn persons(&self) -> impl Iterator<Item = &Hand<G>> {
        self.hands.iter().filter(|hand| matches!(hand.steers, Steers::Person(_)))
    }

    /// The player whose screen it is; none if two share it or it is only watched.
    pub(super) fn own(&self) -> Option<PlayerId> {
        if let Some(client) = self.node.seat().client() {
            return client.player().filter(|_| !self.hands.is_empty());
        }
        let mut persons = self.persons();
        match (persons.next(), persons.next()) {
            (Some(hand), None) => Some(hand.player),
            // A bot that plays alone is looked at over its shoulder.
            (None, _) if self.hands.len() == 1 => self.hands.first().map(|hand| hand.player),
            _ => None,
        }
    }

    /// What everyone is called.
    pub(super) fn names(&self) -> Names {
        let seat = self.node.seat();
        let name = |name: String| if name.is_empty() { "Guest".to_owned() } else { name };
        Names(match seat.client() {
            None => self.hands.iter().map(|hand| (hand.player, hand.name.clone())).collect(),
            // It has no names.
            Some(client) if client.dialect() == Dialect::Lan.name() => {
                let own = client.player().unwrap_or(PlayerId(2));
                vec![(PlayerId(1), "Host".into()), (own, self.name.clone())]
            }
            Some(client) => {
                let line = |line: &RosterLine| (line.player, name(line.name.to_string()));
                client.roster().iter().map(line).collect()
            }
        })
    }

    /// The ping, and what else is to be said of the line.
    fn status(&self) -> Vec<Cell> {
        let mut cells = self.figures.status();
        if self.hands.is_empty() {
            cells.push(Cell::new("watching", Tone::Dim));
        }
        // The gravest says it all.
        let gravest = Alarm::ALL.iter().rev().find(|alarm| self.alarms.contains(alarm));
        cells.extend(gravest.map(|alarm| warning(*alarm)));
        if self.quiet {
            cells.push(Cell::new("no data from the other side", Tone::Bad));
        }
        cells
    }

    fn banner(&self, sight: &Sight<'_, G>) -> Option<Banner> {
        let now = self.node.now();
        let left = self.node.seat().client().and_then(|client| client.resume_left(now));
        if let Some(left) = left {
            let text = format!("connection lost, trying again ({} s)", left.as_secs());
            return Some(Banner { large: String::new(), text: vec![text] });
        }
        self.interlude().map(|it| it.banner).or_else(|| self.game.banner(sight))
    }

    fn dialog_list(&self, dialog: Dialog) -> List {
        let (rows, selected) = self.rows();
        let (title, text) = match dialog {
            Dialog::Pause if self.is_local() => ("Paused".to_owned(), Vec::new()),
            Dialog::Pause => ("The match goes on".to_owned(), Vec::new()),
            Dialog::Leave => ("Leave the match?".to_owned(), vec![(self.cost(), Tone::Plain)]),
            Dialog::Over => {
                let (title, mut text) = self.game.verdict(&self.world, self.own(), &self.names());
                text.extend(self.wishes());
                (title, text)
            }
        };
        List { title, text, rows, selected, ..List::default() }
    }

    /// What leaving does to the match.
    fn cost(&self) -> String {
        match self.is_host() && self.has_company() {
            true => "You are the host: it ends for everyone.",
            false if self.is_local() || !G::SIDES.is_empty() => "The match ends.",
            false => "The others go on without you.",
        }
        .into()
    }

    /// Whether the other side wishes for another match.
    fn wishes(&self) -> Option<(String, Tone)> {
        let seat = self.node.seat();
        let client = seat.client()?;
        if client.timeline().is_none() {
            return Some(("The host decides whether to play again.".into(), Tone::Dim));
        }
        let own = client.player();
        let theirs = self.standing.wishes.iter().any(|player| Some(*player) != own);
        theirs.then(|| ("The other side wants to play again.".into(), Tone::Good))
    }
}

/// The key of a row, as the hint shows it.
fn key_of(line: &Line) -> Option<String> {
    let Line::Offer(Offer { key: Some((key, does)), .. }) = line else { return None };
    Some(format!("{}: {does}   ", key.to_ascii_uppercase()))
}

/// What an alarm of the line reads like beside the ping. A connection that is lost has a banner, too.
fn warning(alarm: Alarm) -> Cell {
    match alarm {
        Alarm::Lag => Cell::new("lag", Tone::Fair),
        Alarm::HighLatency | Alarm::ConnectionLost => Cell::new("High latency detected", Tone::Bad),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_many_pending_inputs_are_told_as_high_latency() {
        assert_eq!(warning(Alarm::HighLatency).text, "High latency detected");
        assert_eq!(warning(Alarm::Lag).text, "lag");
    }
}
