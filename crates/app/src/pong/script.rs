//! A match without a face: a bot or lines on stdin play it, lines on stdout tell it.

use std::error::Error;
use std::io::{self, BufRead};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

use backspin::client::{ClientEvent, Frame};
use backspin::finder::{FinderEvent, Fit, Found};
use backspin::game::{Buttons, Game, PlayerId};
use backspin::replica::State;
use backspin::room::RoomEvent;
use backspin::session::EndReason;
use backspin_pong::{Bot, Phase, Pong};

use super::line::{Line, Lines};
use super::{BotLevel, SeatArgs};
use crate::play::{self, Guest, Opened, Search, Seat};
use crate::seed;
use crate::serve::stop::Stop;

/// How often the match is looked at: often enough to see every tick.
const LOOK_EVERY: Duration = Duration::from_millis(4);

/// A match that nobody wants to play again is left after so long.
const LINGER: Duration = Duration::from_secs(6);

/// How often a ticket is said to be still good.
const TICKET_EVERY: Duration = Duration::from_secs(2);

/// How long a search for hosts lasts before it is given up.
const SEARCH_FOR: Duration = Duration::from_secs(15);

/// Looks for hosts and joins the first that fits. Nothing if someone stopped it.
pub(super) fn find(
    guest: &Guest,
    port: Option<u16>,
    args: &SeatArgs,
) -> Result<Option<Opened<Pong>>, Box<dyn Error>> {
    let lines = Lines::new(args.json);
    let stop = Stop::on_signals()?;
    let mut search = Search::start(Pong::default().id(), port, guest.dialect)?;
    let began = Instant::now();
    let patience = args.span().unwrap_or(SEARCH_FOR).min(SEARCH_FOR);
    let mut last = None;
    while began.elapsed() < patience && !stop.is_asked() {
        std::thread::sleep(LOOK_EVERY);
        if let Some(error) = search.failure() {
            return Err(error.into());
        }
        let (event, hosts) = {
            let mut finder = search.look();
            (finder.poll_event(), finder.hosts().collect::<Vec<_>>())
        };
        if let Some(FinderEvent::Found(found)) = event {
            lines.say(&Line::discovered(&found))?;
            continue;
        }
        // All that was found is told before one of it is joined.
        if let Some(found) = hosts.iter().find(|found| obstacle(found).is_none()) {
            drop(search);
            return play::sit(Pong::default(), guest, found.address, found.dialect, None).map(Some);
        }
        last = hosts.last().copied().or(last);
    }
    match last.and_then(|found| Some((found.address, obstacle(&found)?))) {
        _ if stop.is_asked() => Ok(None),
        Some((address, why)) => Err(format!("the host at {address} {why}").into()),
        None => Err("no host answered on this network; start one with \"backspin pong host\", or \
                     name its address: \"backspin pong join ADDRESS\""
            .into()),
    }
}

/// Why a host cannot be joined, if it cannot.
fn obstacle(found: &Found) -> Option<&'static str> {
    match (found.fit, found.players) {
        (Fit::OtherVersion, _) => {
            Some("has another version of the game; update the older of the two")
        }
        (_, Some((players, capacity))) if players >= capacity => {
            Some("has no place left; try again later, or watch with \"backspin pong watch\"")
        }
        _ => None,
    }
}

/// Plays until the match is over or left.
pub(super) fn play(
    opened: Opened<Pong>,
    versus: Option<BotLevel>,
    args: &SeatArgs,
) -> Result<(), Box<dyn Error>> {
    let mut script = Script::new(opened, versus, args)?;
    let stop = Stop::on_signals()?;
    let commands = read_commands();
    let ended = loop {
        std::thread::sleep(LOOK_EVERY);
        if let Some(error) = script.opened.table.failure() {
            return Err(error.into());
        }
        while let Ok(command) = commands.try_recv() {
            script.obey(&command);
        }
        if let Some(ended) = script.look()? {
            break ended;
        }
        let over = script.over.is_some_and(|at| at.elapsed() > LINGER && args.seconds.is_none());
        let late = args.span().is_some_and(|span| script.began.elapsed() >= span);
        if stop.is_asked() || over || late || script.left {
            script.opened.table.seat().leave();
            break EndReason::Left;
        }
    };
    script.close(ended)
}

/// A match in progress.
struct Script {
    opened: Opened<Pong>,
    lines: Lines,
    began: Instant,
    bots: Vec<(PlayerId, Bot)>,
    /// What stdin says is held.
    held: Buttons,
    left: bool,
    over: Option<Instant>,
    score: [u8; 2],
    /// The newest state that was told.
    told: Option<Line>,
    next_quality: Duration,
    next_ticket: Duration,
    announced: bool,
    frame: Frame,
    drawn: State,
}

impl Script {
    fn new(
        opened: Opened<Pong>,
        versus: Option<BotLevel>,
        args: &SeatArgs,
    ) -> Result<Self, Box<dyn Error>> {
        let own = args.bot.map(|level| (PlayerId(1), level));
        let players = match &*opened.table.seat() {
            Seat::Local(local) => u32::from(local.game().capacity()),
            _ => 1,
        };
        let others = versus
            .into_iter()
            .flat_map(|level| (2..=players).map(move |player| (PlayerId(player), level)));
        let mut bots = Vec::new();
        for (player, level) in own.into_iter().chain(others) {
            bots.push((player, Bot::new(level.0, seed::world()?)));
        }
        Ok(Script {
            opened,
            lines: Lines::new(args.json),
            began: Instant::now(),
            bots,
            held: Buttons::default(),
            left: false,
            over: None,
            score: [0, 0],
            told: None,
            next_quality: Duration::from_secs(1),
            next_ticket: Duration::ZERO,
            announced: false,
            frame: Frame::default(),
            drawn: State::default(),
        })
    }

    fn obey(&mut self, command: &str) {
        match command.trim() {
            "up" => self.held = Buttons::UP,
            "down" => self.held = Buttons::DOWN,
            "still" => self.held = Buttons::default(),
            "again" => {
                self.opened.table.seat().say(PlayerId(1), Pong::AGAIN);
            }
            "quit" => self.left = true,
            _ => {}
        }
    }

    /// Looks at the match once: tells what is new, and plays. Why it is over, if it is.
    fn look(&mut self) -> Result<Option<EndReason>, Box<dyn Error>> {
        let ended = self.tell_connection()?;
        self.tell_match()?;
        self.play();
        self.tell_quality()?;
        self.keep_ticket();
        Ok(ended)
    }

    fn tell_connection(&mut self) -> io::Result<Option<EndReason>> {
        let mut lines = Vec::new();
        let mut ended = None;
        {
            let mut seat = self.opened.table.seat();
            if let Seat::Host(host) = &mut *seat {
                let own = host.client().player();
                if !std::mem::replace(&mut self.announced, true) {
                    lines.push(Line::Hosting { addresses: self.opened.addresses.clone() });
                }
                for room in host.server_mut().rooms_mut() {
                    while let Some(event) = room.poll_event() {
                        lines.extend(tell_room(event, own, room));
                    }
                }
            }
            let resume_left = seat.client().and_then(|it| it.resume_left(self.opened.table.now()));
            if let Some(client) = seat.client_mut() {
                let (dialect, server) = (client.dialect(), client.server());
                while let Some(event) = client.poll_event() {
                    let resumed = matches!(event, ClientEvent::Resumed(_));
                    match event {
                        ClientEvent::Connected(player) | ClientEvent::Resumed(player) => {
                            let address = Some(server).filter(|at| at.port() != 0);
                            let name = self.opened.name;
                            lines.push(Line::connected(player, name, dialect, address, resumed));
                        }
                        ClientEvent::Trying => {
                            let seconds_left = resume_left.unwrap_or_default().as_secs_f64();
                            lines.push(Line::Trying { seconds_left });
                        }
                        ClientEvent::Ended(reason) => ended = Some(reason),
                        _ => {}
                    }
                }
            }
        }
        for line in &lines {
            self.lines.say(line)?;
        }
        Ok(ended)
    }

    fn tell_match(&mut self) -> io::Result<()> {
        let (line, world) = {
            let seat = self.opened.table.seat();
            let state = seat.state();
            if state.entities().is_empty() {
                return Ok(());
            }
            (Line::state(state), Pong::default().restore(state))
        };
        // The tick alone does not tell: a quick host of the old dialect has several states in one.
        if self.told.as_ref() == Some(&line) {
            return Ok(());
        }
        self.lines.say(self.told.insert(line))?;
        let [p1_score, p2_score] = world.score;
        if world.score != self.score {
            self.score = world.score;
            self.lines.say(&Line::Score { p1_score, p2_score })?;
        }
        match (world.phase == Phase::Over, self.over, world.winner()) {
            (true, None, Some(winner)) => {
                self.over = Some(Instant::now());
                let winner = winner.index() as u8 + 1;
                self.lines.say(&Line::GameOver { winner, p1_score, p2_score })
            }
            (false, Some(_), _) => {
                self.over = None;
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// The bots see what is on the screen, and hold the same buttons as people.
    fn play(&mut self) {
        let now = self.opened.table.now();
        let mut seat = self.opened.table.seat();
        let own = seat.client().and_then(|client| client.player()).unwrap_or(PlayerId(1));
        if self.bots.is_empty() {
            seat.press(own, self.held);
            return;
        }
        seat.draw(now, &mut self.frame);
        let game = Pong::default();
        self.frame.write(game.schema(), &mut self.drawn);
        let world = game.restore(&self.drawn);
        let tick = (self.began.elapsed().as_secs_f64() * f64::from(game.tick_rate())) as u32;
        let alone = matches!(&*seat, Seat::Local(_));
        for (player, bot) in &mut self.bots {
            let player = if alone { *player } else { own };
            seat.press(player, bot.buttons(&world, player, tick));
        }
    }

    fn tell_quality(&mut self) -> io::Result<()> {
        if self.began.elapsed() < self.next_quality {
            return Ok(());
        }
        self.next_quality += Duration::from_secs(1);
        let now = self.opened.table.now();
        let line = match &*self.opened.table.seat() {
            Seat::Guest { client, .. } if client.is_playing() => Line::quality(now, client),
            _ => return Ok(()),
        };
        self.lines.say(&line)
    }

    fn keep_ticket(&mut self) {
        if self.began.elapsed() < self.next_ticket {
            return;
        }
        let ticket = self.opened.table.seat().client().and_then(|client| client.ticket());
        if let (Some(file), Some(ticket)) = (&mut self.opened.ticket, ticket) {
            self.next_ticket = self.began.elapsed() + TICKET_EVERY;
            // A disk that is full costs the way back, not the match.
            let _ = file.keep(ticket);
        }
    }

    /// Says why it is over; a match that was played to its end, or left, is no failure.
    fn close(self, ended: EndReason) -> Result<(), Box<dyn Error>> {
        let reason = ended.to_string();
        self.lines.say(&Line::Disconnected { player: None, reason: reason.clone() })?;
        let played = ended == EndReason::Left || self.over.is_some();
        if let Some(ticket) = self.opened.ticket {
            ticket.discard();
        }
        if played { Ok(()) } else { Err(reason.into()) }
    }
}

/// What a host sees of its guests.
fn tell_room(
    event: RoomEvent,
    own: Option<PlayerId>,
    room: &backspin::room::Room<Pong>,
) -> Option<Line> {
    let card = |player| room.members().find(|member| member.player == player);
    let connected = |player, resumed| {
        let card = card(player)?;
        let address = Some(card.path.remote);
        Some(Line::connected(player, card.name, card.dialect, address, resumed))
    };
    let gone = |player: PlayerId, reason: &str| {
        Some(Line::Disconnected { player: Some(player.0), reason: reason.to_owned() })
    };
    match event {
        // The first is who hosts, whose own client says so.
        RoomEvent::Joined(player, _) if Some(player) == own.or(Some(PlayerId(1))) => None,
        RoomEvent::Joined(player, _) => connected(player, false),
        RoomEvent::Resumed(player, _) => connected(player, true),
        RoomEvent::Left(player) => gone(player, "left the match"),
        RoomEvent::Dropped(player) => match card(player) {
            Some(_) => {
                gone(player, "has been silent for too long; the place is kept for half a minute")
            }
            None => gone(player, "has been silent for too long"),
        },
        _ => None,
    }
}

/// Lines of stdin, as they come.
fn read_commands() -> Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    // It waits for input until the program ends.
    std::thread::spawn(move || {
        for line in io::stdin().lock().lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                break;
            }
        }
    });
    receiver
}
