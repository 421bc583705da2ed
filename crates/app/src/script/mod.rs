//! A match without a UI, in any game: bots or lines on stdin play, events go to stdout.
//!
//! ```text
//! seat   -> the options of every game
//! find   -> the first suitable host on the local network
//! line   -> events around a match, as lines
//! room   -> the options that choose a room
//! ```
//!
//! What a game reads and writes is its [`ScriptGame`], in its folder of [`crate::games`].

mod find;
mod line;
mod room;
mod seat;

use std::error::Error;
use std::io::{self, BufRead, Read};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

use backspin::chat::ChatError;
use backspin::client::{ClientEvent, Frame, RosterLine};
use backspin::game::{Buttons, PlayerId};
use backspin::replication::State;
use backspin::room::{Room, RoomEvent};
use backspin::session::EndReason;
use backspin::wire::native::PlayerFlags;

use crate::netlog::NetLog;
use crate::play::{self, Opened, QuickNews, Seat};
use crate::screen::stage::Stage;
use crate::screen::{Launch, Options};
use crate::serve::stop::Stop;

pub(crate) use line::{Lines, Tell};
pub(crate) use room::{MakeArgs, RoomArgs};
pub(crate) use seat::{SeatArgs, Steers};

use line::Line;

/// How often the match is looked at: often enough to see every tick.
const LOOK_EVERY: Duration = Duration::from_millis(4);

/// How long to wait for a rematch before leaving.
const LINGER: Duration = Duration::from_secs(6);

/// The most stdin lines handled per look, and waiting for the next.
const COMMANDS: usize = 64;

/// A line of stdin is read in pieces of this length; commands are a few words.
const COMMAND_LEN: u64 = 1024;

/// How a game is played and reported without a UI.
pub(crate) trait ScriptGame {
    /// The game.
    type Game: Stage;

    /// Players of this machine, in a match on this machine alone.
    fn players(&self) -> Vec<PlayerId>;

    /// A line of stdin. What is said to the game, if anything.
    fn obey(&mut self, command: &str) -> Vec<u8>;

    /// Whether a bot here needs to see the match.
    fn has_eyes(&self) -> bool;

    /// What a player of this machine holds; `seen` is current if [`ScriptGame::has_eyes`].
    fn hold(
        &mut self,
        seen: &<Self::Game as backspin::game::Game>::World,
        player: PlayerId,
        tick: u32,
    ) -> Buttons;

    /// Tells what is new in the newest state. What is said to the game, if anything.
    fn tell(&mut self, lines: &Lines, news: News<'_>) -> io::Result<Vec<u8>>;

    /// Whether the match has been played to its end.
    fn is_over(&self) -> bool;
}

/// The newest that is known of a match.
pub(crate) struct News<'a> {
    pub(crate) state: &'a State,
    pub(crate) roster: &'a [RosterLine],
    /// Who this program plays as.
    pub(crate) own: Option<PlayerId>,
}

/// Opens the match that `launch` leads to, or that of the first host that is found, and plays there
/// until the match is over or left, or someone stops it.
pub(crate) fn run<V: ScriptGame>(
    game: V::Game,
    options: &Options,
    launch: Option<&Launch>,
    script_game: V,
    args: &SeatArgs,
) -> Result<(), Box<dyn Error>> {
    let lines = args.lines()?;
    match open(game, options, launch, args, &lines)? {
        Some(opened) => {
            let net_log = options.net_log.clone();
            play(Script { net_log, ..Script::new(opened, script_game, lines) }, args)
        }
        None => Ok(()),
    }
}

/// Opens a match. `None` if someone stopped the search.
fn open<G: Stage>(
    game: G,
    options: &Options,
    launch: Option<&Launch>,
    args: &SeatArgs,
    lines: &Lines,
) -> Result<Option<Opened<G>>, Box<dyn Error>> {
    let guest = options.guest(args.name());
    match launch {
        Some(Launch::Quick(_, addresses)) => {
            let stop = Stop::on_signals()?;
            let tell = |news: QuickNews<'_>| match news {
                QuickNews::Server(server) => lines.say(&Line::server(server)),
                QuickNews::Picked(pick) => lines.say(&Line::picked(pick)),
                QuickNews::Waiting(players) => lines.say(&Line::Waiting { players }),
                QuickNews::Matched(matched) => lines.say(&Line::matched(matched)),
            };
            play::quick(game, &guest, addresses, || !stop.is_asked(), tell)
        }
        Some(launch) => launch.connect(game, options, args.name(), &|| true).map(Some),
        None => find::find(game, &guest, options.port, args, lines),
    }
}

/// Plays until the match is over or left.
fn play<V: ScriptGame>(mut script: Script<V>, args: &SeatArgs) -> Result<(), Box<dyn Error>> {
    let stop = Stop::on_signals()?;
    let commands = read_commands();
    let ended = loop {
        std::thread::sleep(LOOK_EVERY);
        if let Some(error) = script.opened.node.failure() {
            return Err(error.into());
        }
        for command in commands.try_iter().take(COMMANDS) {
            script.obey(command.trim())?;
        }
        if let Some(ended) = script.look()? {
            break ended;
        }
        let over = script.over.is_some_and(|at| at.elapsed() > LINGER && args.span().is_none());
        let late = args.span().is_some_and(|span| script.began.elapsed() >= span);
        if stop.is_asked() || over || late || script.left {
            script.opened.node.seat().leave();
            break EndReason::Left;
        }
    };
    script.log();
    script.close(ended)
}

/// A match in progress.
struct Script<V: ScriptGame> {
    opened: Opened<V::Game>,
    script_game: V,
    lines: Lines,
    net_log: Option<NetLog>,
    began: Instant,
    left: bool,
    /// Since when the match is played to its end.
    over: Option<Instant>,
    next_quality: Duration,
    announced: bool,
    frame: Frame,
    drawn: State,
}

impl<V: ScriptGame> Script<V> {
    fn new(opened: Opened<V::Game>, script_game: V, lines: Lines) -> Self {
        Script {
            opened,
            script_game,
            lines,
            net_log: None,
            began: Instant::now(),
            left: false,
            over: None,
            next_quality: Duration::from_secs(1),
            announced: false,
            frame: Frame::default(),
            drawn: State::default(),
        }
    }

    fn obey(&mut self, command: &str) -> io::Result<()> {
        match command.split_once(' ') {
            Some(("say", text)) => return self.write(text),
            _ if command == "say" => return self.write(""),
            _ if command == "quit" => self.left = true,
            _ => {
                let words = self.script_game.obey(command);
                self.say(&words);
            }
        }
        Ok(())
    }

    /// Writes a line of chat, or tells why not.
    fn write(&self, text: &str) -> io::Result<()> {
        let now = self.opened.node.now();
        let refused = self.opened.node.seat().chat(now, text).err();
        let say =
            |error: ChatError| self.lines.say(&Line::ChatRefused { reason: error.to_string() });
        refused.map_or(Ok(()), say)
    }

    fn say(&self, words: &[u8]) {
        if !words.is_empty() {
            self.opened.node.seat().say(PlayerId(1), words);
        }
    }

    /// Looks at the match once: tells what is new, and plays. Why it is over, if it is.
    fn look(&mut self) -> Result<Option<EndReason>, Box<dyn Error>> {
        let ended = self.tell_connection()?;
        self.log();
        self.tell_match()?;
        self.play();
        self.tell_quality()?;
        self.keep_ticket();
        Ok(ended)
    }

    /// Writes down what has happened on the line since this was called last.
    fn log(&self) {
        if let Some(net_log) = &self.net_log {
            net_log.take(self.opened.node.now(), &mut self.opened.node.seat());
        }
    }

    fn tell_connection(&mut self) -> io::Result<Option<EndReason>> {
        let mut lines = Vec::new();
        let mut ended = None;
        {
            let mut seat = self.opened.node.seat();
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
            let resume_left = seat.client().and_then(|it| it.resume_left(self.opened.node.now()));
            if let Some(client) = seat.client_mut() {
                let (dialect, server) = (client.dialect(), client.server());
                while let Some(event) = client.poll_event() {
                    let resumed = matches!(event, ClientEvent::Resumed(_));
                    match event {
                        ClientEvent::Connected(player) | ClientEvent::Resumed(player) => {
                            // Whoever plays on a server of its own has no address to tell.
                            let is_own = server.socket_addr().is_some_and(|at| at.port() == 0);
                            let address = (!is_own).then_some(server);
                            let name = self.opened.name;
                            lines.push(Line::connected(player, name, dialect, address, resumed));
                        }
                        ClientEvent::Trying => {
                            let seconds_left = resume_left.unwrap_or_default().as_secs_f64();
                            lines.push(Line::Trying { seconds_left });
                        }
                        ClientEvent::Chat(line) => lines.push(Line::chat(&line)),
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
        let words = {
            let seat = self.opened.node.seat();
            if seat.state().entities().is_empty() {
                return Ok(());
            }
            let client = seat.client();
            let (name, flags) = (self.opened.name, PlayerFlags::default());
            let alone = [RosterLine { player: PlayerId(1), name, lives: 0, flags }];
            let roster = client.map_or(&alone[..], |client| client.roster());
            let own = client.map_or(Some(PlayerId(1)), |client| client.player());
            self.script_game.tell(&self.lines, News { state: seat.state(), roster, own })?
        };
        self.say(&words);
        match (self.script_game.is_over(), self.over) {
            (true, None) => self.over = Some(Instant::now()),
            (false, Some(_)) => self.over = None,
            _ => {}
        }
        Ok(())
    }

    /// The bots see what is on the screen, and hold the same buttons as people.
    fn play(&mut self) {
        use backspin::game::Game;
        let now = self.opened.node.now();
        let mut seat = self.opened.node.seat();
        let game = seat.game().clone();
        if self.script_game.has_eyes() {
            seat.draw(now, &mut self.frame);
            self.frame.write(game.schema(), &mut self.drawn);
        }
        let world = game.restore(&self.drawn);
        let tick = (self.began.elapsed().as_secs_f64() * f64::from(game.tick_rate())) as u32;
        let players = match seat.client() {
            None => self.script_game.players(),
            Some(client) => vec![client.player().unwrap_or(PlayerId(1))],
        };
        for player in players {
            let buttons = self.script_game.hold(&world, player, tick);
            seat.press(player, buttons);
        }
    }

    fn tell_quality(&mut self) -> io::Result<()> {
        if self.began.elapsed() < self.next_quality {
            return Ok(());
        }
        self.next_quality += Duration::from_secs(1);
        let now = self.opened.node.now();
        let line = match &*self.opened.node.seat() {
            Seat::Guest { client, .. } if client.is_playing() => Line::quality(now, client),
            _ => return Ok(()),
        };
        self.lines.say(&line)
    }

    fn keep_ticket(&mut self) {
        let Opened { node, ticket: Some(keeper), .. } = &mut self.opened else { return };
        keeper.keep(node.now(), node.seat().client().and_then(|client| client.ticket()));
    }

    /// Says why it is over; a match that was played to its end, or left, is no failure.
    fn close(self, ended: EndReason) -> Result<(), Box<dyn Error>> {
        let reason = ended.to_string();
        let played = ended == EndReason::Left || self.over.is_some();
        // People read why it failed on stderr, once; programs read their lines.
        if played || self.lines.is_json() {
            self.lines.say(&Line::Disconnected { player: None, reason: reason.clone() })?;
        }
        if let Some(ticket) = self.opened.ticket {
            ticket.discard();
        }
        if played { Ok(()) } else { Err(reason.into()) }
    }
}

/// What a host sees of its guests.
fn tell_room<G: Stage>(event: RoomEvent, own: Option<PlayerId>, room: &Room<G>) -> Option<Line> {
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
        // Player 1 is the host, whose own client says so.
        RoomEvent::Joined(player, _) if Some(player) == own.or(Some(PlayerId(1))) => None,
        RoomEvent::Joined(player, _) => connected(player, false),
        RoomEvent::Resumed(player, _) => connected(player, true),
        RoomEvent::Left(player) => gone(player, "left the match"),
        RoomEvent::Dropped(player) => match card(player) {
            Some(_) => gone(player, "timed out; the slot is kept for 30 s"),
            None => gone(player, "timed out"),
        },
        _ => None,
    }
}

/// Lines of stdin, as they come.
fn read_commands() -> Receiver<String> {
    let (sender, receiver) = mpsc::sync_channel(COMMANDS);
    // It waits for input until the program ends.
    std::thread::spawn(move || {
        let (mut input, mut line) = (io::stdin().lock(), Vec::new());
        while let Ok(1..) = input.by_ref().take(COMMAND_LEN).read_until(b'\n', &mut line) {
            // A piece of a line that is too long is no command.
            if sender.send(String::from_utf8_lossy(&line).into_owned()).is_err() {
                break;
            }
            line.clear();
        }
    });
    receiver
}
