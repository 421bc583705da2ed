//! How well a large world reaches its players: how old what they have of it is, and what it costs.
//!
//! A thing is as old as the last tick at which what a client has of it was right, also if that came
//! behind something newer. The link's own delay is left out: compared is with the newest tick that
//! could have come by now, had nothing been lost.

use std::collections::VecDeque;
use std::fmt;
use std::net::SocketAddr;
use std::time::Duration;

use super::movers::{FIRST_MOVER, Movers};
use backspin::client::{Client, ClientConfig};
use backspin::endpoint::EndpointConfig;
use backspin::game::{Game, PlayerId};
use backspin::replication::{Schema, State};
use backspin::room::RoomConfig;
use backspin::server::Server;
use backspin::time::Time;
use backspin::wire::Name;
use backspin_sim::{Chance, Drift, HostId, LinkConfig, Party, Player, World};

/// States of the server that are kept to compare with.
const KEPT_TICKS: usize = 240;

/// What comes later than this counts as not come, in ticks.
const LATE_TICKS: u32 = 12;

/// The first seconds, while everything comes for the first time, do not count.
const BEGINNING: Duration = Duration::from_secs(4);

/// What is played.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LargeWorld {
    /// The rules, and how large the world is.
    pub(crate) game: Movers,
    /// How many play.
    pub(crate) players: u32,
    /// The link of each.
    pub(crate) link: LinkConfig,
    /// For how long it is measured.
    pub(crate) seconds: u32,
    /// Everything follows from it.
    pub(crate) seed: u64,
}

/// What was seen.
#[derive(Clone, Debug, Default)]
pub(crate) struct LargeWorldReport {
    /// Ages of the nearest things, in ms.
    pub(crate) near: Ages,
    /// Ages of all that may be seen, in ms.
    pub(crate) all: Ages,
    /// Bytes of UDP payload a second to each player.
    pub(crate) down: f64,
    /// From each player.
    pub(crate) up: f64,
    /// Things that a player may see and did not have.
    pub(crate) missing: f64,
    /// What a player had and may not see.
    pub(crate) leaked: u64,
}

/// How often each age was seen, in ticks.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ages {
    counts: Vec<u64>,
    tick_ms: f64,
}

impl Ages {
    fn note(&mut self, ticks: u32) {
        let ticks = ticks as usize;
        if self.counts.len() <= ticks {
            self.counts.resize(ticks + 1, 0);
        }
        self.counts[ticks] += 1;
    }

    /// How many were seen.
    pub(crate) fn len(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// The age that this share was not older than, in ms.
    pub(crate) fn quantile_ms(&self, share: f64) -> f64 {
        let upto = (self.len() as f64 * share).ceil() as u64;
        let mut seen = 0;
        let ticks = self.counts.iter().position(|count| {
            seen += count;
            seen >= upto
        });
        ticks.unwrap_or(0) as f64 * self.tick_ms
    }
}

/// One player's end.
struct Eye {
    host: HostId,
    /// By mover: the last tick at which what the client has was right.
    right: Vec<u32>,
    /// What it had when it was looked at last.
    seen: State,
}

impl LargeWorld {
    /// Plays it.
    pub(crate) fn play(&self) -> LargeWorldReport {
        let mut world: World<Party<Movers>> = World::new(self.seed, self.link);
        let server_address = SocketAddr::from(([10, 0, 0, 1], 4300));
        let mut server = Server::new(EndpointConfig::default(), [7; 32]);
        let room = RoomConfig::default();
        server.open(Time::ZERO, self.game, Name::new("movers"), self.seed, room);
        let server = world.add(Party::Server(Box::new(server)), &[server_address], Drift::NONE);
        let mut eyes = Vec::new();
        for index in 0..self.players {
            let address = SocketAddr::from(([10, 1, (index >> 8) as u8, index as u8], 5000));
            let config = ClientConfig::new(server_address, Name::new("eye"));
            let mut seed = [9; 32];
            seed[..4].copy_from_slice(&index.to_le_bytes());
            let client = Client::new(Time::ZERO, self.game, config, seed);
            let player = Player::new(client, Chance::new(self.seed, u64::from(index)));
            let host = world.add(Party::Player(Box::new(player)), &[address], Drift::NONE);
            eyes.push(Eye { host, right: vec![0; self.game.count as usize], seen: State::new(0) });
        }
        self.watch(&mut world, server, &mut eyes)
    }

    fn watch(
        &self,
        world: &mut World<Party<Movers>>,
        server: HostId,
        eyes: &mut [Eye],
    ) -> LargeWorldReport {
        let tick_ms = 1e3 / f64::from(self.game.tick_rate());
        let ages = || Ages { tick_ms, ..Ages::default() };
        let mut report = LargeWorldReport { near: ages(), all: ages(), ..Default::default() };
        // Nothing can be known of what was sent later than this.
        let delay_ms =
            self.link.delay.as_secs_f64() * 1e3 + self.link.jitter.max().as_secs_f64() * 1e3;
        let delay_ticks = (delay_ms / tick_ms).ceil() as u32 + 1;
        let mut past: VecDeque<State> = VecDeque::new();
        let (mut began, mut looks, mut missing) = (None, 0_u64, 0_u64);
        let end = Time::ZERO + BEGINNING + Duration::from_secs(self.seconds.into());
        while world.now() < end {
            world.run_for(Duration::from_nanos((tick_ms * 1e6) as u64));
            let Party::Server(node) = world.node(server) else { return report };
            let room = &node.rooms()[0];
            if past.back().is_none_or(|newest| newest.tick != room.tick()) {
                let mut state = State::new(room.tick());
                self.game.capture(room.world(), &mut state);
                past.push_back(state);
                if past.len() > KEPT_TICKS {
                    past.pop_front();
                }
            }
            let is_measured = world.now() >= Time::ZERO + BEGINNING;
            if is_measured && began.is_none() {
                began = Some(traffic(world, eyes));
            }
            let now_tick = room.tick();
            for eye in eyes.iter_mut() {
                let Party::Player(player) = world.node(eye.host) else { continue };
                let state = player.client.state();
                if state.tick == 0 || state.tick == eye.seen.tick && !is_measured {
                    continue;
                }
                if find(&past, state.tick).is_none() {
                    continue;
                }
                eye.look(self.game.schema(), state, &past);
                // Once in a while is enough.
                if !is_measured || now_tick % 6 != 0 {
                    continue;
                }
                let Some(could) = find(&past, now_tick.saturating_sub(delay_ticks)) else {
                    continue;
                };
                let Some(id) = player.client.player() else { continue };
                looks += 1;
                missing += self.judge(eye, id, state, could, &mut report);
            }
        }
        let played = f64::from(self.seconds) * f64::from(self.players);
        if let Some((down, up)) = began {
            let (down_now, up_now) = traffic(world, eyes);
            report.down = (down_now - down) as f64 / played;
            report.up = (up_now - up) as f64 / played;
        }
        report.missing = missing as f64 / looks.max(1) as f64;
        report
    }

    /// Notes how old everything is that the player may see. How many things are missing.
    fn judge(
        &self,
        eye: &Eye,
        player: PlayerId,
        state: &State,
        could: &State,
        report: &mut LargeWorldReport,
    ) -> u64 {
        let place = |fields: &[i32]| [i64::from(fields[0]), i64::from(fields[1])];
        let Some(own) = could.find(player.0) else { return 0 };
        let own = place(&own.fields);
        let mut movers: Vec<(i64, u32)> = could
            .entities()
            .iter()
            .filter(|entity| entity.id >= FIRST_MOVER)
            .map(|entity| {
                let [x, y] = place(&entity.fields);
                ((x - own[0]).pow(2) + (y - own[1]).pow(2), entity.id)
            })
            .collect();
        movers.sort_unstable();
        // What is near the edge of sight may have come or gone just now.
        let (inside, outside) = match self.game.sight {
            Some(sight) => (i64::from(sight - 300).pow(2), i64::from(sight + 1_500).pow(2)),
            None => (i64::MAX, i64::MAX),
        };
        let mut missing = 0;
        for (rank, (distance, id)) in movers.into_iter().enumerate() {
            if distance > outside {
                report.leaked += u64::from(state.find(id).is_some());
            }
            if distance > inside {
                continue;
            }
            let right = eye.right[(id - FIRST_MOVER) as usize];
            missing += u64::from(right == 0);
            let age = could.tick.saturating_sub(right);
            report.all.note(age);
            if rank < self.game.near {
                report.near.note(age);
            }
        }
        missing
    }
}

impl Eye {
    /// Compares what the client has with what was there. What came late, behind something newer, was
    /// right at an earlier tick and is carried on from there.
    fn look(&mut self, schema: &Schema, state: &State, past: &VecDeque<State>) {
        let passed = state.tick.saturating_sub(self.seen.tick);
        for entity in state.entities().iter().filter(|entity| entity.id >= FIRST_MOVER) {
            let right = &mut self.right[(entity.id - FIRST_MOVER) as usize];
            let was_right = |back: &u32| {
                let then = find(past, state.tick - back).and_then(|then| then.find(entity.id));
                then.is_some_and(|then| then.extrapolate(schema, *back) == *entity)
            };
            if was_right(&0) {
                *right = state.tick;
                continue;
            }
            let seen = self.seen.find(entity.id);
            if seen.is_none_or(|seen| seen.extrapolate(schema, passed) != *entity) {
                let newer = state.tick.saturating_sub(*right).min(LATE_TICKS);
                *right = (1..newer).find(was_right).map_or(*right, |back| state.tick - back);
            }
        }
        self.seen.clone_from(state);
    }
}

fn find(past: &VecDeque<State>, tick: u32) -> Option<&State> {
    let first = past.front()?.tick;
    past.get(tick.checked_sub(first)? as usize).filter(|state| state.tick == tick)
}

/// Bytes that came to and went from all players.
fn traffic(world: &World<Party<Movers>>, eyes: &[Eye]) -> (u64, u64) {
    eyes.iter().fold((0, 0), |(down, up), eye| {
        let traffic = world.traffic(eye.host);
        (down + traffic.received_bytes, up + traffic.sent_bytes)
    })
}

impl fmt::Display for LargeWorldReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "bytes a second down        {:>9.0}", self.down)?;
        writeln!(f, "bytes a second up          {:>9.0}", self.up)?;
        for (name, ages) in [("nearest", &self.near), ("any", &self.all)] {
            let [p50, p99, p999] = [0.5, 0.99, 0.999].map(|share| ages.quantile_ms(share));
            writeln!(
                f,
                "age of the {name:<8} p50 {p50:>6.0} ms, p99 {p99:>6.0} ms, p99.9 {p999:>6.0} ms"
            )?;
        }
        writeln!(f, "visible, and not there yet {:>9.2}", self.missing)?;
        write!(f, "there, and not visible     {:>9}", self.leaked)
    }
}
