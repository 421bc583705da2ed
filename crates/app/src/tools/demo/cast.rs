//! Who plays in the demo: a server and its bots, each with a thread and a socket of its own.
//!
//! They meet over UDP alone. The stage only shows the audience what each of them knows.

use std::error::Error;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{Scope, ScopedJoinHandle};
use std::time::Duration;

use backspin::client::{Client, ClientConfig};
use backspin::dot::{self, Dots};
use backspin::front::FrontConfig;
use backspin::game::{Buttons, Game};
use backspin::room::RoomConfig;
use backspin::server::Server;
use backspin::wire::native::CloseReason;
use backspin::wire::{Dialect, Name};
use backspin_udp::{Loop, Socket};
use serde::Serialize;

use crate::seed;

/// How many bots there are.
pub(super) const BOTS: usize = 2;

/// What they are called.
pub(super) const NAMES: [&str; BOTS] = ["Ann", "Ben"];

/// How long a turn lasts at most: so soon does everyone see the next act.
const TURN: Duration = Duration::from_millis(20);

/// What everyone does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Act {
    #[default]
    Play,
    Still,
    Over,
}

/// What each of them knows, to be looked at.
#[derive(Debug, Default)]
pub(super) struct Stage {
    act: Mutex<Act>,
    server: Mutex<ServerView>,
    bots: [Mutex<BotView>; BOTS],
}

/// A dot, wherever someone has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(super) struct Dot {
    pub(super) player: u32,
    pub(super) x: i32,
    pub(super) y: i32,
}

impl From<&dot::Dot> for Dot {
    fn from(dot: &dot::Dot) -> Self {
        Dot { player: dot.player.0, x: dot.x, y: dot.y }
    }
}

/// What the server knows.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct ServerView {
    pub(super) tick: u32,
    /// The last tick in which a dot moved.
    pub(super) moved_at: u32,
    pub(super) dots: Vec<Dot>,
}

/// What a bot knows.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct BotView {
    pub(super) name: &'static str,
    /// Who it is, once it is in.
    pub(super) player: Option<u32>,
    pub(super) joined_ms: Option<f64>,
    pub(super) round_trip_ms: Option<f64>,
    pub(super) grade: Option<String>,
    pub(super) states: u64,
    /// The tick of the newest.
    pub(super) tick: u32,
    pub(super) dots: Vec<Dot>,
    /// Why it is out, if it is.
    pub(super) ended: Option<String>,
}

/// The server and its bots, before they enter.
pub(super) struct Cast {
    server: (Loop, Server<Dots>),
    bots: [(Loop, Client<Dots>); BOTS],
    /// The server's and then the bots'.
    pub(super) addresses: [SocketAddr; 1 + BOTS],
}

type Thread<'scope> = ScopedJoinHandle<'scope, io::Result<()>>;

impl Stage {
    pub(super) fn set(&self, act: Act) {
        *lock(&self.act) = act;
    }

    pub(super) fn server(&self) -> ServerView {
        lock(&self.server).clone()
    }

    pub(super) fn bots(&self) -> [BotView; BOTS] {
        self.bots.each_ref().map(|bot| lock(bot).clone())
    }

    fn act(&self) -> Act {
        *lock(&self.act)
    }
}

/// Whoever panicked with it has left a whole view behind.
fn lock<T>(view: &Mutex<T>) -> MutexGuard<'_, T> {
    view.lock().unwrap_or_else(PoisonError::into_inner)
}

impl BotView {
    /// Whether it is in, or will never be.
    pub(super) fn is_settled(&self) -> bool {
        self.player.is_some() || self.ended.is_some()
    }
}

impl Cast {
    /// Binds everyone to a free port of this machine.
    pub(super) fn assemble() -> Result<Self, Box<dyn Error>> {
        let (mut server, server_address) = backstage()?;
        let mut room = Server::new(FrontConfig::default(), seed::secret()?);
        let (now, name) = (server.now(), Name::new("Dots"));
        room.open(now, Dots::default(), name, seed::world()?, RoomConfig::default());
        server.flush(&mut room);
        let bot = |name| -> Result<_, Box<dyn Error>> {
            let (driver, address) = backstage()?;
            let name = Name::new(name);
            let config = ClientConfig::new(server_address, Dialect::Native, name);
            let client = Client::new(driver.now(), Dots::default(), config, seed::secret()?);
            Ok(((driver, client), address))
        };
        let [ann, ben] = NAMES;
        let ((ann, ann_address), (ben, ben_address)) = (bot(ann)?, bot(ben)?);
        let addresses = [server_address, ann_address, ben_address];
        Ok(Cast { server: (server, room), bots: [ann, ben], addresses })
    }

    /// Everyone plays until the act is over.
    pub(super) fn enter<'scope>(
        self,
        scope: &'scope Scope<'scope, '_>,
        stage: &'scope Stage,
    ) -> Vec<Thread<'scope>> {
        let (driver, server) = self.server;
        let mut threads = vec![scope.spawn(move || serve(driver, server, stage))];
        for (which, (driver, client)) in self.bots.into_iter().enumerate() {
            threads.push(scope.spawn(move || play(driver, client, which, stage)));
        }
        threads
    }
}

/// A loop with one socket, and where that is.
fn backstage() -> Result<(Loop, SocketAddr), Box<dyn Error>> {
    let socket = Socket::bind((Ipv4Addr::LOCALHOST, 0).into())?;
    let address = socket.local_addr()?;
    Ok((Loop::new(vec![socket])?, address))
}

fn serve(mut driver: Loop, mut server: Server<Dots>, stage: &Stage) -> io::Result<()> {
    while stage.act() != Act::Over {
        let limit = driver.now() + TURN;
        driver.turn(&mut server, limit)?;
        let Some(room) = server.rooms().first() else { break };
        let mut view = lock(&stage.server);
        let dots: Vec<_> = room.world().dots.iter().map(Dot::from).collect();
        view.tick = room.tick();
        if dots != view.dots {
            view.moved_at = view.tick;
            view.dots = dots;
        }
    }
    server.close(CloseReason::Stopping);
    driver.flush(&mut server);
    Ok(())
}

fn play(mut driver: Loop, mut client: Client<Dots>, which: usize, stage: &Stage) -> io::Result<()> {
    let began = driver.now();
    loop {
        match stage.act() {
            Act::Play => client.press(steer(which, driver.now().since(began))),
            Act::Still => client.press(Buttons::default()),
            Act::Over => break,
        }
        let limit = driver.now() + TURN;
        driver.turn(&mut client, limit)?;
        let mut view = lock(&stage.bots[which]);
        if view.player.is_none() && client.player().is_some() {
            view.joined_ms = Some(ms(driver.now().since(began)));
        }
        view.see(which, &client);
    }
    client.leave();
    driver.flush(&mut client);
    Ok(())
}

impl BotView {
    fn see(&mut self, which: usize, client: &Client<Dots>) {
        self.name = NAMES[which];
        self.player = client.player().map(|player| player.0);
        self.round_trip_ms = client.round_trip().mean().map(ms);
        self.grade = client.grade().map(|grade| grade.to_string());
        self.states = client.counts().states;
        self.tick = client.server_tick();
        self.ended = client.ended().map(|reason| reason.to_string());
        self.dots.clear();
        let world = client.game().restore(client.state());
        self.dots.extend(world.dots.iter().map(Dot::from));
    }
}

/// Round and round: one bot clockwise, the other against it.
fn steer(which: usize, since: Duration) -> Buttons {
    const LEG: Duration = Duration::from_millis(600);
    let (up, down) = (Buttons::UP, Buttons::DOWN);
    let (out, back) = match which {
        0 => (Buttons::RIGHT, Buttons::LEFT),
        _ => (Buttons::LEFT, Buttons::RIGHT),
    };
    let legs = [up, up | out, out, out | down, down, down | back, back, back | up];
    legs[(since.as_nanos() / LEG.as_nanos()) as usize % legs.len()]
}

fn ms(span: Duration) -> f64 {
    (span.as_secs_f64() * 1e6).round() / 1e3
}
