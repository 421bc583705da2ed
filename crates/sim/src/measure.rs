//! The quality of a match over a link, measured from outside client and server: the simulator
//! knows the truth.
//!
//! What each figure means stands at its field in [`Quality`]; the first two seconds of a session
//! are joining and do not count.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::time::Duration;

use super::change::{Change, Turn, What};
use super::clumps::Clumps;
use super::contact::Umpire;
use super::law::Bar;
use super::measured::Measured;
use super::quality::{Quality, Report, Tally};
use super::watch::{Faults, Observer, Seen, Settling, Truth};
use super::{Chance, Drift, HostId, Lateness, LinkConfig, Party, Player, Preset, Traffic, World};
use backspin::client::{Client, ClientConfig, Frame};
use backspin::dialect::Dialect;
use backspin::endpoint::EndpointConfig;
use backspin::game::Game;
use backspin::room::{Room, RoomConfig};
use backspin::server::Server;
use backspin::time::Time;
use backspin::wire::Name;

/// The first seconds of a session are joining and do not count.
const JOINING: Duration = Duration::from_secs(2);

/// Screens are on for the last part of it: what is drawn first has nothing before it to move from.
const WARMING_UP: Duration = Duration::from_millis(250);

/// Whoever is not in by then does not get in.
const JOIN_WITHIN: Duration = Duration::from_secs(12);

/// The first stream of chance that phases of frames are drawn from; the ones below are the match's.
const PHASES: u64 = 100;

/// The same for lateness.
const LATENESS: u64 = 200;

/// A run to measure.
#[derive(Clone, Copy, Debug)]
pub struct Setup {
    /// The link of every player to the server.
    pub link: LinkConfig,
    /// Everything that is left to chance follows from it.
    pub seed: u64,
    /// How long, joining not counted.
    pub seconds: u32,
    /// How many play.
    pub players: u8,
    /// How the link changes in the middle of the run.
    pub change: Option<Change>,
    /// Frames a second at which the players' screens are looked at. When in a tick they fall is
    /// each player's own matter, and follows from the seed.
    pub frame_hz: f64,
    /// How late the players' clients wake on their busy machines; their screens do not.
    pub lateness: Option<Lateness>,
}

impl Setup {
    /// A minute of two players over `link`, at 60 frames a second.
    pub fn new(link: LinkConfig, seed: u64) -> Self {
        Setup { link, seed, seconds: 60, players: 2, change: None, frame_hz: 60.0, lateness: None }
    }
}

impl Default for Setup {
    fn default() -> Self {
        Setup::new(Preset::Reference.config(), 1)
    }
}

/// Plays a minute of anyone's game between two bots over `link`; the report prints as a table.
pub fn measure<G: Measured + Default>(link: LinkConfig) -> Report {
    measure_with(G::default(), &Setup::new(link, 1))
}

/// Plays a match between bots as `setup` says, and measures it.
pub fn measure_with<G: Measured>(game: G, setup: &Setup) -> Report {
    measure_speaking(game, setup, &[], |_| ())
}

/// The same on a server that speaks these dialects, too. The first player speaks the first of them, the
/// others speak `native` all the same, and the first alone is measured. Calls `each_second` with how
/// many of the seconds have been played.
pub fn measure_speaking<G: Measured>(
    game: G,
    setup: &Setup,
    dialects: &'static [&'static dyn Dialect<G>],
    mut each_second: impl FnMut(u32),
) -> Report {
    let mut scene = Scene::new(game, setup, dialects);
    scene.join();
    scene.begin(setup);
    let (began, before) = (scene.world.now(), scene.inputs());
    scene.inputs_before = before;
    for second in 1..=setup.seconds {
        scene.play_until(began + Duration::from_secs(second.into()));
        each_second(second);
    }
    scene.judge(setup, before)
}

/// The match that is measured.
struct Scene<G: Measured> {
    world: World<Party<G>>,
    server: HostId,
    players: Vec<Watched>,
    /// Ticks and those without input, when they were looked at last.
    inputs_before: (u64, u64),
    faults: Faults,
    /// Ticks without input.
    missing: Clumps,
    /// What is still to happen to the links, and when.
    turns: VecDeque<(Time, Turn)>,
    /// When recovering from it began, each time.
    recovers: Vec<Time>,
    settling: Settling,
    umpire: Umpire,
    /// The tick that the umpire has seen.
    judged_tick: u32,
}

/// A player, and who looks on.
struct Watched {
    host: HostId,
    observer: Observer,
    /// When the measuring began.
    traffic: Traffic,
    screen: Screen,
}

/// When frames are drawn.
#[derive(Clone, Copy, Debug)]
struct Screen {
    began: Time,
    hz: f64,
    /// The first frame, as a part of the time between two.
    phase: f64,
    drawn: u64,
}

impl Screen {
    fn next(&self) -> Time {
        let nanos = (self.drawn as f64 + self.phase) / self.hz * 1e9;
        self.began + Duration::from_nanos(nanos as u64)
    }
}

impl<G: Measured> Scene<G> {
    fn new(game: G, setup: &Setup, dialects: &'static [&'static dyn Dialect<G>]) -> Self {
        let seed = setup.seed;
        let mut world = World::new(seed, setup.link);
        let mut chance = Chance::new(seed, 1);
        let address = SocketAddr::from(([10, 0, 0, 1], backspin::wire::native::DEFAULT_PORT));
        // Whoever comes in `rtype` is told over TCP where to go on.
        let endpoint = EndpointConfig {
            other_ports: vec![("rtype", address.port())],
            ..EndpointConfig::default()
        };
        let mut server = Server::new(endpoint, secret(&mut chance)).speaking(dialects);
        let name = Name::new("Room");
        server.open(Time::ZERO, game.clone(), name, seed, RoomConfig::default());
        let server = world.add(Party::Server(Box::new(server)), &[address], Drift::NONE);
        let mut players = Vec::new();
        for i in 0..setup.players {
            let own = SocketAddr::from(([10, 0, 0, 2 + i], 5000));
            let name = Name::new(["Alice", "Bob", "Carol", "Dave"][usize::from(i) % 4]);
            let spoken = dialects.first().filter(|_| i == 0);
            let mut config = ClientConfig::new(address, name);
            config.own_port = own.port();
            let ppm = chance.below(401) as i32 - Drift::LIMIT_PPM;
            let drift = Drift::new(ppm, Duration::from_millis(chance.below(10_000)));
            let now = drift.local(Time::ZERO);
            let (game, secret) = (game.clone(), secret(&mut chance));
            let client = match spoken {
                None => Client::new(now, game, config, secret),
                Some(dialect) => {
                    Client::speaking(dialect.client(now, &game), now, game, config, secret)
                }
            };
            let mut player = Player::new(client, Chance::new(seed, 2 + u64::from(i)));
            if let Some(lateness) = setup.lateness {
                player = player.with_lateness(lateness, Chance::new(seed, LATENESS + u64::from(i)));
            }
            let host = world.add(Party::Player(Box::new(player)), &[own], drift);
            let (observer, traffic) = (Observer::default(), Traffic::default());
            let phase = Chance::new(seed, PHASES + u64::from(i)).unit();
            let screen = Screen { began: Time::ZERO, hz: setup.frame_hz, phase, drawn: 0 };
            players.push(Watched { host, observer, traffic, screen });
        }
        Scene {
            world,
            server,
            players,
            inputs_before: (0, 0),
            faults: Faults::default(),
            missing: Clumps::default(),
            turns: VecDeque::new(),
            recovers: Vec::new(),
            settling: Settling::default(),
            umpire: Umpire::default(),
            judged_tick: 0,
        }
    }

    /// Runs until everyone is in, and for as long as joining lasts; a link that lets nobody in is
    /// measured as it is.
    fn join(&mut self) {
        let in_time = Time::ZERO + JOIN_WITHIN;
        while self.world.now() < in_time && !self.is_everyone_in() {
            self.world.run_for(Duration::from_millis(10));
        }
        self.world.run_for(JOINING - WARMING_UP);
        let mut frame = Frame::default();
        for _ in 0..10 {
            self.world.run_for(WARMING_UP / 10);
            for Watched { host, .. } in &self.players {
                let local = self.world.local_time(*host);
                if let Party::Player(player) = self.world.node_quietly(*host) {
                    player.client.draw(local, &mut frame);
                }
            }
        }
    }

    fn is_everyone_in(&self) -> bool {
        self.players.iter().all(|watched| player(&self.world, watched.host).client.is_playing())
    }

    fn begin(&mut self, setup: &Setup) {
        let now = self.world.now();
        for Watched { host, observer, traffic, screen } in &mut self.players {
            let player = player(&self.world, *host);
            observer.begin(now, &player.client, player.presses());
            *traffic = self.world.traffic(*host);
            screen.began = now;
        }
        if let Some(change) = setup.change {
            let half = Duration::from_secs(setup.seconds.into()) / 2;
            let turns = change.turns(setup.link, half);
            self.turns = turns.into_iter().map(|turn| (now + half + turn.after, turn)).collect();
        }
    }

    fn room(&self) -> &Room<G> {
        match self.world.node(self.server) {
            Party::Server(server) => &server.rooms()[0],
            Party::Player(_) => unreachable!("the server was added as one"),
        }
    }

    /// Ticks of all players so far, and those without a real input.
    fn inputs(&self) -> (u64, u64) {
        self.room().members().fold((0, 0), |(ticks, missing), member| {
            (ticks + member.ticks, missing + member.ticks_without_input)
        })
    }

    /// Plays on, and looks at every screen whenever it draws a frame.
    fn play_until(&mut self, until: Time) {
        loop {
            let screens = self.players.iter().enumerate().map(|(i, it)| (it.screen.next(), i));
            let Some((due, who)) = screens.min().filter(|(due, _)| *due <= until) else { break };
            self.run_until(due);
            self.look(who);
        }
        self.run_until(until);
    }

    /// Runs to an instant, through all that happens to the links until then.
    fn run_until(&mut self, until: Time) {
        while let Some((at, turn)) = self.turns.pop_front_if(|(at, _)| *at <= until) {
            self.run_events(at);
            if let What::Stall(span) = turn.what {
                self.world.stall(self.server, at + span);
            }
            for watched in &self.players {
                match turn.what {
                    What::Stall(_) => {}
                    What::Link(link) => self.world.set_link(self.server, watched.host, link),
                    What::Sleep | What::Wake => {
                        let now = self.world.local_time(watched.host);
                        if let Party::Player(player) = self.world.node_mut(watched.host) {
                            player.set_asleep(now, turn.what == What::Sleep);
                        }
                    }
                }
            }
            self.recovers.extend(turn.recovers.then_some(at));
        }
        self.run_events(until);
    }

    /// Runs event by event, so that nothing that happens between two frames is missed.
    fn run_events(&mut self, until: Time) {
        while self.world.step_until(until).is_some() {
            let now = self.world.now();
            for Watched { host, observer, .. } in &mut self.players {
                let player = player(&self.world, *host);
                observer.after_event(now, &player.client, player.presses());
            }
            let tick = self.room().state().tick;
            if std::mem::replace(&mut self.judged_tick, tick) != tick
                && let Party::Server(server) = self.world.node_quietly(self.server)
            {
                self.umpire.look(now, &mut server.rooms_mut()[0]);
            }
        }
    }

    /// A frame of one player.
    fn look(&mut self, who: usize) {
        let now = self.world.now();
        let truth = Truth::of(self.room(), now);
        let (ticks, missing) = self.inputs();
        let before = std::mem::replace(&mut self.inputs_before, (ticks, missing));
        let Watched { host, observer, screen, .. } = &mut self.players[who];
        screen.drawn += 1;
        let local = self.world.local_time(*host);
        let mut starved = 0;
        // Drawing changes only what is remembered for drawing; nothing is to be polled after it.
        if let Party::Player(player) = self.world.node_quietly(*host)
            && !player.is_asleep()
        {
            starved = u64::from(observer.look(&mut player.client, local, truth));
            if !self.recovers.is_empty() {
                self.settling.note(now, observer.lead_ms());
            }
        }
        let missing = missing.saturating_sub(before.1);
        self.missing.note(now, missing);
        let faults = missing + starved;
        self.faults.note(now, faults, ticks.saturating_sub(before.0) + 1);
    }

    fn judge(&mut self, setup: &Setup, before: (u64, u64)) -> Report {
        let now = self.world.now();
        let (ticks, missing) = self.inputs();
        self.missing.note(now, missing.saturating_sub(self.inputs_before.1));
        let mut counted = Tally {
            // Whoever drops out and comes back too late is counted from nothing again.
            ticks: ticks.saturating_sub(before.0),
            ticks_without_input: self.missing.over(Duration::from_secs(setup.seconds.into())),
            player_seconds: u64::from(setup.seconds) * self.players.len() as u64,
            ..Tally::default()
        };
        let first = self.players.first().map(|first| first.host);
        if first.is_some_and(|first| !player(&self.world, first).client.is_native()) {
            // Its inputs have no ticks.
            self.players.truncate(1);
            counted = Tally { player_seconds: setup.seconds.into(), ..Tally::default() };
        }
        let mut all = Seen::default();
        for Watched { host, observer, traffic, .. } in &mut self.players {
            let game = player(&self.world, *host).client.game();
            all += observer.end(now, game, &self.umpire);
            let until = self.world.traffic(*host);
            counted.bytes_down += until.received_bytes - traffic.received_bytes;
            counted.bytes_up += until.sent_bytes - traffic.sent_bytes;
        }
        let limit = if setup.link.loss.burst_len > 1.0 { 0.15 } else { 0.05 };
        let ends = self.recovers.iter().skip(1).copied().chain([now]);
        let recovery_s = self.recovers.iter().zip(ends);
        let recovery_s = recovery_s
            .map(|(at, end)| self.faults.recovery(*at..end, limit))
            .max_by(f64::total_cmp);
        let lead_back_s = self.settling.worst_s(&self.recovers, now);
        let (digest, corrections) = (self.world.digest(), all.corrections());
        let kinds = all.kinds().clone();
        let bar = Bar::of(setup).with_tick_rate(self.room().tick_rate());
        let bar = bar.with_foresight(kinds.sum().foresight);
        let (quality, tally) = all.judge(bar, counted);
        let quality = Quality { recovery_s, lead_back_s, ..quality };
        Report { digest, quality, corrections, tally, bar, kinds }
    }
}

fn player<G: Game>(world: &World<Party<G>>, host: HostId) -> &Player<G> {
    match world.node(host) {
        Party::Player(player) => player,
        Party::Server(_) => unreachable!("a player was added as one"),
    }
}

fn secret(chance: &mut Chance) -> [u8; 32] {
    let mut seed = [0; 32];
    for part in seed.chunks_exact_mut(8) {
        part.copy_from_slice(&chance.u64().to_le_bytes());
    }
    seed
}
