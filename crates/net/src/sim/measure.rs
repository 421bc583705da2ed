//! The quality of a match over a link, measured from outside client and server: the simulator
//! knows the truth.

use std::net::SocketAddr;
use std::time::Duration;

use super::{Chance, Digest, Drift, HostId, LinkConfig, Party, Player, World};
use crate::client::{Client, ClientConfig};
use crate::front::FrontConfig;
use crate::game::Game;
use crate::room::RoomConfig;
use crate::server::Server;
use crate::time::Time;
use crate::wire::{Dialect, Name};

/// The first seconds of a session are joining and do not count.
const JOINING: Duration = Duration::from_secs(2);

/// Frames a second at which the players' screens are looked at.
const FRAME_RATE: u32 = 60;

const PLAYERS: usize = 2;

/// What a run was like, and its digest.
#[derive(Clone, Debug)]
pub struct Report {
    /// The same for the same seed, link and code.
    pub digest: Digest,
    /// The figures.
    pub quality: Quality,
}

/// The figures of DESIGN.md's table; `None` is "not measured".
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Quality {
    /// How far the newest input is ahead of the server's true clock, median.
    pub lead_ms_p50: Option<f64>,
    /// The same, of 95 in a hundred.
    pub lead_ms_p95: Option<f64>,
    /// From making an input to receiving a snapshot whose tick has applied it, median.
    pub ack_ms_p50: Option<f64>,
    /// The same, of 99 in a hundred.
    pub ack_ms_p99: Option<f64>,
    /// Things in a snapshot.
    pub entities_mean: Option<f64>,
    /// UDP payload to each client.
    pub bytes_per_s_down: Option<f64>,
    /// UDP payload from each client.
    pub bytes_per_s_up: Option<f64>,
}

/// Plays `seconds` of `game` between two bots over `link`, and measures it.
pub fn measure<G: Game>(game: G, link: LinkConfig, seed: u64, seconds: u32) -> Report {
    let mut scene = Scene::new(game, link, seed);
    let mut samples = Samples::default();
    scene.world.run_for(JOINING);
    let before = scene.traffic();
    let frames = seconds * FRAME_RATE;
    for frame in 1..=frames {
        let at = Duration::from_nanos(u64::from(frame) * 1_000_000_000 / u64::from(FRAME_RATE));
        scene.world.run_until(Time::ZERO + JOINING + at);
        scene.look(&mut samples);
    }
    let after = scene.traffic();
    let per_s = |before: u64, after: u64| {
        Some((after - before) as f64 / f64::from(seconds) / PLAYERS as f64)
    };
    let quality = Quality {
        lead_ms_p50: percentile(&mut samples.lead_ms, 50),
        lead_ms_p95: percentile(&mut samples.lead_ms, 95),
        ack_ms_p50: percentile(&mut samples.ack_ms, 50),
        ack_ms_p99: percentile(&mut samples.ack_ms, 99),
        entities_mean: mean(&samples.entities),
        bytes_per_s_down: per_s(before.0, after.0),
        bytes_per_s_up: per_s(before.1, after.1),
    };
    Report { digest: scene.world.digest(), quality }
}

/// The match that is measured.
struct Scene<G: Game> {
    world: World<Party<G>>,
    server: HostId,
    players: Vec<Watched>,
}

/// A player, and the inputs that wait for their acknowledgement: number and time.
struct Watched {
    host: HostId,
    newest: u32,
    waiting: std::collections::VecDeque<(u32, Time)>,
}

#[derive(Default)]
struct Samples {
    lead_ms: Vec<f64>,
    ack_ms: Vec<f64>,
    entities: Vec<f64>,
}

impl<G: Game> Scene<G> {
    fn new(game: G, link: LinkConfig, seed: u64) -> Self {
        let mut world = World::new(seed, link);
        let mut chance = Chance::new(seed, 1);
        let address = SocketAddr::from(([10, 0, 0, 1], crate::wire::native::DEFAULT_PORT));
        let id = game.id();
        let mut server = Server::new(FrontConfig::default(), secret(&mut chance));
        server.open(Time::ZERO, game, Name::new("Room"), seed, RoomConfig::default());
        let server = world.add(Party::Server(Box::new(server)), &[address], Drift::NONE);
        let players = (0..PLAYERS).map(|i| {
            let own = SocketAddr::from(([10, 0, 0, 2 + i as u8], 5000));
            let name = Name::new(["Alice", "Bob"][i % 2]);
            let config = ClientConfig::new(address, Dialect::Native, id, name);
            let ppm = chance.below(401) as i32 - Drift::LIMIT_PPM;
            let drift = Drift::new(ppm, Duration::from_millis(chance.below(10_000)));
            let client = Client::new(drift.local(Time::ZERO), config, secret(&mut chance));
            let player = Player::new(client, Chance::new(seed, 2 + i as u64));
            let host = world.add(Party::Player(Box::new(player)), &[own], drift);
            Watched { host, newest: 0, waiting: std::collections::VecDeque::new() }
        });
        let players = players.collect();
        Scene { world, server, players }
    }

    /// Bytes to and from all players.
    fn traffic(&self) -> (u64, u64) {
        let traffic = self.players.iter().map(|player| self.world.traffic(player.host));
        traffic.fold((0, 0), |(down, up), traffic| {
            (down + traffic.received_bytes, up + traffic.sent_bytes)
        })
    }

    fn look(&mut self, samples: &mut Samples) {
        let now = self.world.now();
        let Party::Server(server) = self.world.node(self.server) else { return };
        let Some(room) = server.rooms().first() else { return };
        let true_tick = room.ticks_at(now);
        let tick_ms = 1_000.0 / f64::from(room.tick_rate());
        for watched in &mut self.players {
            let Party::Player(player) = self.world.node(watched.host) else { continue };
            let client = &player.client;
            let Some(newest) = client.newest_input() else { continue };
            if newest != watched.newest {
                watched.newest = newest;
                watched.waiting.push_back((newest, now));
            }
            let acknowledged = client.server_tick();
            while let Some((_, made)) =
                watched.waiting.pop_front_if(|(input, _)| *input <= acknowledged)
            {
                samples.ack_ms.push(now.since(made).as_secs_f64() * 1e3);
            }
            samples.lead_ms.push((f64::from(newest) - true_tick) * tick_ms);
            samples.entities.push(client.entities().len() as f64);
        }
    }
}

fn secret(chance: &mut Chance) -> [u8; 32] {
    let mut seed = [0; 32];
    for part in seed.chunks_exact_mut(8) {
        part.copy_from_slice(&chance.u64().to_le_bytes());
    }
    seed
}

fn percentile(samples: &mut [f64], percent: usize) -> Option<f64> {
    samples.sort_unstable_by(f64::total_cmp);
    let last = samples.len().checked_sub(1)?;
    samples.get(last * percent / 100).copied()
}

fn mean(samples: &[f64]) -> Option<f64> {
    (!samples.is_empty()).then(|| samples.iter().sum::<f64>() / samples.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dot::Dots;
    use crate::sim::Preset;

    #[test]
    fn a_measured_match_has_figures_and_a_digest_of_its_own() {
        let run = |seed| measure(Dots, Preset::Reference.config(), seed, 10);
        let (first, again, other) = (run(1), run(1), run(2));
        assert_eq!(first.digest, again.digest);
        assert_ne!(first.digest, other.digest);
        let quality = first.quality;
        assert_eq!(quality.entities_mean, Some(2.0));
        assert!(quality.bytes_per_s_up.unwrap() > 1_000.0);
        // Half the way there, half the way back, and a tick.
        assert!((100.0..500.0).contains(&quality.ack_ms_p50.unwrap()), "{quality:?}");
    }
}
