//! A match in progress: who steers what, what the player sees, when it is over.
//!
//! Below is a [`NodeThread`]; `page` is what is shown, `news` what a host is told of the guests, `moments`
//! the explosions
//! and chat. The program sees every game as a [`MatchScreen`].

mod moments;
mod news;
mod page;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use backspin::channel::{Alarm, AlarmEvent};
use backspin::chat::{CHAT_CHARS, ChatError};
use backspin::client::{ClientEvent, Frame};
use backspin::game::{Buttons, PlayerId};
use backspin::replication::State;
use backspin::session::EndReason;
use backspin::time::Time;
use backspin::wire::Name;
use backspin::wire::native::Role;
use backspin_record::replay::Player;

use super::choices::Step;
use super::figures::{Figures, Reading};
use super::launch::sentence;
use super::library::Recorder;
use super::stage::{Interlude, Names, Offer, Stage, Standing, StandingPhase};
use super::{Bindings, Cell, Cue, Held, Key, Page, Settings, Tone};
use crate::netlog::NetLog;
use crate::play::{NodeThread, Opened, Seat, TicketKeeper};
pub(super) use moments::{ChatShown, Moments};
use news::{News, hear_room, remember};

/// How long a notice stays.
const NOTICE_FOR: Duration = Duration::from_secs(4);

/// How long a point is seen.
const FLASH_FOR: Duration = Duration::from_millis(180);

/// A match in progress, whichever game it is.
pub(super) trait MatchScreen {
    /// Looks at the match once: hears what is new, and steers. Why it is over, if it is.
    fn look(&mut self, held: Held) -> Option<String>;

    /// Why the connection has ended, if it has.
    fn end_reason(&self) -> Option<EndReason> {
        None
    }

    /// Leaves, and says goodbye to the other side.
    fn leave(self: Box<Self>) {}

    /// Puts away what is left of a match that is over.
    fn close(self: Box<Self>) {}

    /// Opens the pause menu, or closes it.
    fn pause(&mut self);

    /// Goes back one level: into the pause menu, out of it, or away.
    fn escape(&mut self) -> Chosen {
        Chosen::Leave
    }

    /// Moves the choice.
    fn step(&mut self, step: Step);

    /// Seeks this many steps forward or back, in a replay.
    fn seek(&mut self, _steps: isize) {}

    /// Does what the chosen line says.
    fn choose(&mut self) -> Chosen;

    /// A letter or a digit was pressed.
    fn type_key(&mut self, _key: char) {}

    /// Begins a line of chat, where one may write.
    fn begin_chat(&mut self) {}

    /// Whether one is being typed: then every key is part of it.
    fn is_typing(&self) -> bool {
        false
    }

    /// A key of it.
    fn edit(&mut self, _key: Key) {}

    /// Whether there is anything to choose from.
    fn has_lines(&self) -> bool {
        false
    }

    /// Whether the field is shown, and something moves.
    fn is_shown(&self) -> bool {
        true
    }

    /// What is on the screen now.
    fn page(&mut self, settings: &Settings, overlay: bool) -> Page;

    /// What the keys do.
    fn hint(&self, keys: &Bindings) -> String;

    /// What there is to hear since this was asked last.
    fn take_cues(&mut self) -> Vec<Cue>;
}

/// A match in progress.
pub(super) struct Match<G: Stage> {
    game: G,
    node: NodeThread<Seat<G>>,
    ticket: Option<TicketKeeper>,
    name: String,
    addresses: Vec<SocketAddr>,
    hands: Vec<Hand<G>>,
    standing: Standing,
    /// The newest that is known of the match.
    world: G::World,
    /// What the bots see.
    frame: Frame,
    seen: State,
    moments: Moments<G>,
    /// Where the match is written down, if the player wishes so.
    shelf: Option<PathBuf>,
    recorder: Option<Recorder>,
    net_log: Option<NetLog>,
    figures: Figures,
    notice: Option<(Cell, Time)>,
    /// The line of chat that is being typed.
    typing: Option<String>,
    /// Signs that inputs wait too long for their acknowledgement.
    alarms: Vec<Alarm>,
    /// Nothing has arrived from the other side for a while.
    quiet: bool,
    /// Why the connection has ended.
    end_reason: Option<EndReason>,
    /// Everyone who was ever here, by name: those who left are not on the roster.
    known: Vec<(PlayerId, String)>,
    /// Who left, in words.
    gone: Option<(PlayerId, String)>,
    flash_until: Time,
    dialog: Option<Dialog>,
    /// Since when the match is over.
    over_since: Option<Time>,
    selected: usize,
}

/// Who steers a player of this machine.
pub(crate) struct Hand<G: Stage> {
    /// Which player, in a match on this machine alone; elsewhere the server decides.
    pub(crate) player: PlayerId,
    pub(crate) name: String,
    pub(crate) steers: Steers<G>,
}

pub(crate) enum Steers<G: Stage> {
    Person(Lane),
    Bot(G::Bot),
}

/// Which keys a person plays with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lane {
    Left,
    Right,
    Both,
}

impl Lane {
    fn of(self, held: Held) -> Buttons {
        match self {
            Lane::Left => held.left,
            Lane::Right => held.right,
            Lane::Both => held.left | held.right,
        }
    }
}

/// A menu over the field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Dialog {
    Pause,
    /// Whether to leave.
    Leave,
    Over,
}

/// A line of a menu over the field, or of the page where one waits.
#[derive(Clone, Debug, PartialEq)]
enum Line {
    GoOn,
    /// What the game offers.
    Offer(Offer),
    Leave,
}

/// What becomes of the match after a choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Chosen {
    Stay,
    Leave,
}

impl<G: Stage> Match<G> {
    /// Begins a match. It is recorded on the `shelf`, and what happens on the line is written to
    /// `net_log`, if there are such.
    pub(super) fn new(
        opened: Opened<G>,
        hands: Vec<Hand<G>>,
        shelf: Option<PathBuf>,
        net_log: Option<NetLog>,
    ) -> Self {
        let Opened { node, ticket, name, addresses } = opened;
        let now = node.now();
        let game = node.seat().game().clone();
        let world = game.restore(&State::default());
        Match {
            moments: Moments::new(&game),
            world,
            game,
            node,
            ticket,
            name: name.to_string(),
            addresses,
            hands,
            standing: Standing { points: vec![0; G::SIDES.len()], ..Standing::default() },
            frame: Frame::default(),
            seen: State::default(),
            shelf,
            recorder: None,
            net_log,
            figures: Figures::default(),
            notice: None,
            typing: None,
            alarms: Vec::new(),
            quiet: false,
            end_reason: None,
            known: Vec::new(),
            gone: None,
            flash_until: now,
            dialog: None,
            over_since: None,
            selected: 0,
        }
    }

    /// Writes down what has happened on the line since this was called last.
    fn log(&self) {
        if let Some(net_log) = &self.net_log {
            net_log.take(self.node.now(), &mut self.node.seat());
        }
    }

    /// Sends a row's message for every player at this machine.
    fn say(&mut self, words: &[u8]) {
        if words.is_empty() {
            return;
        }
        // On this machine alone, a match that is over stands still.
        self.set_paused(false);
        let mut seat = self.node.seat();
        for hand in &self.hands {
            seat.say(hand.player, words);
        }
    }

    /// Whether a line of chat may be written here.
    fn may_chat(&self) -> Result<(), ChatError> {
        self.node.seat().client().map_or(Err(ChatError::Off), |client| client.may_chat())
    }

    /// Sends the line that was typed. One that is refused stays to be mended, if it can be.
    fn send_typed(&mut self) {
        let Some(text) = self.typing.take() else { return };
        let now = self.node.now();
        let sent = self.node.seat().chat(now, &text);
        match sent {
            Ok(()) | Err(ChatError::Empty) => {}
            Err(error) => {
                self.notice = Some((Cell::new(error.to_string(), Tone::Fair), now + NOTICE_FOR));
                let is_mendable = matches!(error, ChatError::TooFast | ChatError::TooLong);
                self.typing = is_mendable.then_some(text);
            }
        }
    }

    /// The lines that can be chosen now.
    fn lines(&self) -> Vec<Line> {
        let offers = || self.offers().into_iter().map(Line::Offer).chain([Line::Leave]).collect();
        match self.dialog {
            Some(Dialog::Pause) => {
                let offer = self.interlude().and_then(|it| it.offer).map(Line::Offer);
                [Line::GoOn].into_iter().chain(offer).chain([Line::Leave]).collect()
            }
            Some(Dialog::Leave) => vec![Line::GoOn, Line::Leave],
            Some(Dialog::Over) => offers(),
            None if self.is_shown() => Vec::new(),
            None => offers(),
        }
    }

    /// What the game offers; who watches, speaks an old dialect or is not in yet cannot wish.
    fn offers(&self) -> Vec<Offer> {
        let can_speak = self
            .node
            .seat()
            .client()
            .is_none_or(|client| client.timeline().is_some() && client.player().is_some());
        match can_speak && !self.hands.is_empty() {
            true => self.game.offers(&self.world, self.own()),
            false => Vec::new(),
        }
    }

    /// Why the match stands still, if it does.
    fn interlude(&self) -> Option<Interlude> {
        self.game.interlude(&self.world, self.own(), &self.names())
    }

    /// Whether the other end is gone, and being looked for.
    fn is_cut_off(&self) -> bool {
        let now = self.node.now();
        self.node.seat().client().is_some_and(|client| client.resume_left(now).is_some())
    }

    /// Whether leaving would cost someone a match.
    fn is_missed(&self) -> bool {
        let is_on = self.is_shown() && self.over_since.is_none() && !self.is_cut_off();
        !self.hands.is_empty() && (is_on || self.is_host() && self.has_company())
    }

    /// Whether anyone else is here.
    fn has_company(&self) -> bool {
        let seat = self.node.seat();
        let own = seat.client().and_then(|client| client.player());
        let roster = seat.client().map_or(&[][..], |client| client.roster());
        roster.iter().any(|line| Some(line.player) != own)
    }

    /// Leaves, or asks first.
    fn ask_to_leave(&mut self) -> Chosen {
        if !self.is_missed() {
            return Chosen::Leave;
        }
        self.open(Dialog::Leave);
        Chosen::Stay
    }

    fn open(&mut self, dialog: Dialog) {
        (self.dialog, self.selected) = (Some(dialog), 0);
        self.set_paused(true);
    }

    fn close_dialog(&mut self) {
        self.dialog = None;
        self.set_paused(false);
    }

    fn is_host(&self) -> bool {
        matches!(&*self.node.seat(), Seat::Host(_))
    }

    fn is_local(&self) -> bool {
        matches!(&*self.node.seat(), Seat::Local(_))
    }

    fn set_paused(&mut self, paused: bool) {
        let now = self.node.now();
        if let Seat::Local(local) = &mut *self.node.seat() {
            if paused {
                local.pause(now);
            } else {
                local.unpause(now);
            }
        }
    }

    /// What the connection has to say. Why it is over, if it is.
    fn hear(&mut self, now: Time) -> Option<String> {
        let mut notice = None;
        let mut ended = None;
        let mut seat = self.node.seat();
        if let Seat::Host(host) = &mut *seat {
            self.known = remember(std::mem::take(&mut self.known), host.client().roster());
            let (standing, known) = (&self.standing, &self.known);
            while let Some(news) = hear_room(host, standing, known) {
                match news {
                    News::Notice(cell) => notice = Some(cell),
                    News::Gone(player, how) => self.gone = Some((player, how)),
                    // Players who said goodbye are freed as well.
                    News::Freed(player, how) => {
                        self.gone.take_if(|(gone, _)| *gone != player);
                        self.gone.get_or_insert((player, how));
                    }
                }
            }
        }
        let Some(client) = seat.client_mut() else {
            if let Seat::Local(local) = &mut *seat {
                // Without a connection the rules themselves tell what happens.
                while let Some(event) = local.poll_event() {
                    self.moments.hear(&self.game, now, &event);
                    self.recorder.iter_mut().for_each(|it| it.hear(local.tick(), event));
                }
            }
            return None;
        };
        while let Some(event) = client.poll_event() {
            match event {
                ClientEvent::Connected(_) => {
                    notice.get_or_insert(Cell::new("Connected!", Tone::Good));
                }
                ClientEvent::Resumed(_) => {
                    self.quiet = false;
                    notice = Some(Cell::new("Connected again!", Tone::Good));
                }
                ClientEvent::Line(AlarmEvent::Raised(alarm)) => self.alarms.push(alarm),
                ClientEvent::Line(AlarmEvent::Lowered(alarm)) => {
                    self.alarms.retain(|it| *it != alarm);
                }
                ClientEvent::Quiet => self.quiet = true,
                ClientEvent::Heard => self.quiet = false,
                ClientEvent::Game(event) => {
                    self.moments.hear(&self.game, now, &event);
                    let tick = client.server_tick();
                    self.recorder.iter_mut().for_each(|it| it.hear(tick, event));
                }
                ClientEvent::Chat(line) => self.moments.read(now, &line),
                ClientEvent::Ended(reason) => {
                    self.end_reason = Some(reason);
                    ended = Some(reason.to_string());
                }
                _ => {}
            }
        }
        drop(seat);
        // Where all play together the others go on.
        if let Some((_, how)) = self.gone.take_if(|_| G::SIDES.is_empty()) {
            notice = Some(Cell::new(how, Tone::Fair));
        }
        if let Some(notice) = notice {
            self.notice = Some((notice, now + NOTICE_FOR));
        }
        self.notice.take_if(|(_, until)| *until <= now);
        ended
    }

    /// How far the match is, and what opens or closes by itself.
    fn follow(&mut self, now: Time) {
        let standing = {
            let seat = self.node.seat();
            if seat.state().entities().is_empty() {
                return;
            }
            self.game.restore_into(seat.state(), &mut self.world);
            self.game.progress(seat.state(), &self.world)
        };
        let scored = standing.points.iter().sum::<u8>() > self.standing.points.iter().sum();
        if scored && self.is_shown() {
            self.flash_until = now + FLASH_FOR;
            self.moments.cue(Cue::Point);
        }
        if let StandingPhase::Countdown(_) = standing.phase
            && standing.phase != self.standing.phase
        {
            self.moments.cue(Cue::Countdown);
        }
        let winner = match standing.phase {
            StandingPhase::Over { winner } => Some(winner),
            _ => None,
        };
        if let (Some(winner), None) = (winner, self.over_since) {
            self.over_since = Some(now);
            let side = self.own().map_or(Some(0), |own| standing.side_of(own));
            self.moments.cue(if side == Some(winner) { Cue::Win } else { Cue::Lose });
        }
        self.over_since.take_if(|_| winner.is_none());
        self.standing = standing;
        let is_seen = self.over_since.is_some_and(|since| now.since(since) >= G::CURTAIN);
        match self.dialog {
            None | Some(Dialog::Pause) if is_seen => self.open(Dialog::Over),
            Some(Dialog::Over) if winner.is_none() => self.dialog = None,
            // Back in the lobby there is nothing to pause.
            Some(Dialog::Pause) if !self.is_shown() => self.dialog = None,
            _ => {}
        }
    }

    /// Hands hold what persons hold, or what bots see fit.
    fn steer(&mut self, now: Time, held: Held) {
        let game = &self.game;
        let mut seat = self.node.seat();
        let own = seat.client().and_then(|client| client.player());
        if self.hands.iter().any(|hand| matches!(hand.steers, Steers::Bot(_))) {
            seat.draw(now, &mut self.frame);
            self.frame.write(game.schema(), &mut self.seen);
        }
        let world = game.restore(&self.seen);
        let tick = (now.as_nanos() as f64 * f64::from(game.tick_rate()) / 1e9) as u32;
        for hand in &mut self.hands {
            let player = own.unwrap_or(hand.player);
            let buttons = match &mut hand.steers {
                Steers::Person(lane) if self.dialog.is_none() && self.typing.is_none() => {
                    lane.of(held)
                }
                Steers::Person(_) => Buttons::default(),
                Steers::Bot(bot) => G::steer(bot, &world, player, tick),
            };
            seat.press(player, buttons);
        }
    }

    /// Writes the match down, from its beginning to its end.
    fn record(&mut self, now: Time) {
        let Some(shelf) = &self.shelf else { return };
        if !self.is_shown() {
            if let Some(recorder) = self.recorder.take() {
                recorder.finish();
            }
            return;
        }
        let recorder = self.recorder.take();
        let recorder = recorder.map_or_else(|| Recorder::begin(shelf, &self.game, &self.name), Ok);
        let followed = recorder.and_then(|mut recorder| {
            let Names(names) = self.names();
            let player =
                |(player, name): (PlayerId, String)| Player { player, name: Name::new(&name) };
            recorder.follow(names.into_iter().map(player), self.node.seat().state())?;
            Ok(recorder)
        });
        match followed {
            Ok(recorder) => self.recorder = Some(recorder),
            Err(error) => {
                let text = format!("The match is not being recorded: {error}");
                self.notice = Some((Cell::new(text, Tone::Bad), now + NOTICE_FOR));
                self.shelf = None;
            }
        }
    }

    fn measure(&mut self, now: Time) {
        let reading = match &*self.node.seat() {
            Seat::Local(_) => return,
            Seat::Guest { client, .. } => {
                client.is_playing().then(|| Reading::of_client(now, client))
            }
            Seat::Host(host) => {
                let own = host.client().player();
                let mut members = host.server().rooms().iter().flat_map(|room| room.members());
                let other = members.find(|it| Some(it.player) != own && it.role == Role::Play);
                other.as_ref().map(Reading::of_member)
            }
        };
        self.figures.take(now, reading);
    }

    fn keep_ticket(&mut self, now: Time) {
        if let Some(keeper) = &mut self.ticket {
            keeper.keep(now, self.node.seat().client().and_then(|client| client.ticket()));
        }
    }
}

impl<G: Stage> MatchScreen for Match<G> {
    fn look(&mut self, held: Held) -> Option<String> {
        if let Some(error) = self.node.failure() {
            return Some(sentence(&error.to_string()));
        }
        let now = self.node.now();
        let ended = self.hear(now);
        self.log();
        self.follow(now);
        self.steer(now, held);
        self.record(now);
        self.measure(now);
        self.keep_ticket(now);
        let deserted = self.standing.phase == StandingPhase::Left && self.is_host();
        let deserted = deserted.then(|| {
            let gone = self.gone.as_ref().map(|(_, how)| how.clone());
            gone.unwrap_or_else(|| "The other player has left the match.".into())
        });
        ended.or(deserted)
    }

    fn end_reason(&self) -> Option<EndReason> {
        self.end_reason
    }

    fn leave(self: Box<Self>) {
        self.log();
        self.node.seat().leave();
        self.close();
    }

    fn close(self: Box<Self>) {
        if let Some(recorder) = self.recorder {
            recorder.finish();
        }
        drop(self.node);
        if let Some(ticket) = self.ticket {
            ticket.discard();
        }
    }

    fn pause(&mut self) {
        match self.dialog {
            None if self.is_shown() => self.open(Dialog::Pause),
            Some(Dialog::Pause) => self.close_dialog(),
            _ => {}
        }
    }

    fn escape(&mut self) -> Chosen {
        match self.dialog {
            Some(Dialog::Leave) if self.is_shown() => self.open(Dialog::Pause),
            Some(Dialog::Leave | Dialog::Pause) => self.close_dialog(),
            None if self.is_shown() && !self.is_cut_off() => self.open(Dialog::Pause),
            None | Some(Dialog::Over) => return self.ask_to_leave(),
        }
        Chosen::Stay
    }

    fn step(&mut self, step: Step) {
        self.selected = step.after(self.selected, self.lines().len());
    }

    fn choose(&mut self) -> Chosen {
        let mut lines = self.lines();
        if lines.is_empty() {
            return Chosen::Stay;
        }
        match lines.swap_remove(self.selected.min(lines.len() - 1)) {
            Line::Leave if self.dialog == Some(Dialog::Leave) => return Chosen::Leave,
            Line::Leave => return self.ask_to_leave(),
            Line::GoOn => self.close_dialog(),
            Line::Offer(offer) => {
                self.say(&offer.words);
                // What was said is seen in the match.
                if self.dialog == Some(Dialog::Pause) {
                    self.close_dialog();
                }
            }
        }
        Chosen::Stay
    }

    fn type_key(&mut self, key: char) {
        let key = key.to_ascii_lowercase();
        let lines = self.lines().into_iter().filter_map(|line| match line {
            Line::Offer(offer) => Some(offer),
            _ => None,
        });
        let offers = lines.chain(self.interlude().and_then(|it| it.offer));
        let offered = { offers }.find_map(|offer| match offer {
            Offer { key: Some((its, _)), words, .. } if its == key => Some(words),
            _ => None,
        });
        if let Some(words) = offered.or_else(|| self.game.phrase(key)) {
            self.say(&words);
        }
    }

    fn begin_chat(&mut self) {
        match self.may_chat() {
            // Also after the match: then there is most to say.
            Ok(()) if matches!(self.dialog, None | Some(Dialog::Over)) => {
                self.typing = Some(String::new());
            }
            // Who may only read is told; where there is no chat at all there is no key for it.
            Err(error @ ChatError::Watching) => {
                let until = self.node.now() + NOTICE_FOR;
                self.notice = Some((Cell::new(error.to_string(), Tone::Fair), until));
            }
            _ => {}
        }
    }

    fn is_typing(&self) -> bool {
        self.typing.is_some()
    }

    fn edit(&mut self, key: Key) {
        let Some(text) = &mut self.typing else { return };
        match key {
            Key::Char(letter) if !letter.is_control() && text.chars().count() < CHAT_CHARS => {
                text.push(letter);
            }
            Key::Backspace => drop(text.pop()),
            Key::Esc => self.typing = None,
            Key::Enter => self.send_typed(),
            _ => {}
        }
    }

    fn has_lines(&self) -> bool {
        self.dialog.is_some() || !self.is_shown()
    }

    fn is_shown(&self) -> bool {
        let connected = match &*self.node.seat() {
            Seat::Local(_) => true,
            seat => seat.client().is_some_and(|client| client.player().is_some()),
        };
        connected && self.standing.phase != StandingPhase::Waiting
    }

    fn page(&mut self, settings: &Settings, overlay: bool) -> Page {
        match self.is_shown() {
            true => Page::Arena(Box::new(self.arena(settings, overlay))),
            false => Page::List(self.waiting()),
        }
    }

    fn hint(&self, keys: &Bindings) -> String {
        self.key_hint(keys)
    }

    fn take_cues(&mut self) -> Vec<Cue> {
        self.moments.take_cues()
    }
}
