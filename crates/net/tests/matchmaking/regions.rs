//! Two hundred players in four regions: what they get, beside what chance would give them.
//!
//! The table is in `docs/server.md`.

use std::collections::BTreeMap;
use std::time::Duration;

use backspin::matching::WAIT_MOST;
use backspin_sim::{Chance, HostId, Jitter, LinkConfig, Loss};

use crate::scene::{CAPACITY, KEY, Scene, ms, server_address};

/// How many play in Europe, North America, South America and Asia.
const PLAYERS: [usize; 4] = [80, 60, 20, 40];

/// The round trip in ms from each region to the server in each, without the player's own line.
const RTT_MS: [[u64; 4]; 4] =
    [[20, 90, 190, 230], [90, 25, 130, 160], [190, 130, 30, 300], [230, 160, 300, 30]];

/// A player's own line takes 2 ms and up to so much more.
const LINE_MS: u64 = 40;

/// They come within so many seconds.
const ARRIVE_WITHIN_S: u64 = 60;

struct Visitor {
    arrives: Duration,
    rtts: [Duration; 4],
}

fn visitors(chance: &mut Chance) -> Vec<Visitor> {
    let mut visitors = Vec::new();
    for (region, players) in PLAYERS.into_iter().enumerate() {
        for _ in 0..players {
            let line = Duration::from_micros(2_000 + chance.below(LINE_MS * 1_000));
            let arrives = Duration::from_micros(chance.below(ARRIVE_WITHIN_S * 1_000_000));
            let rtts = RTT_MS[region].map(|rtt| ms(rtt) + line);
            visitors.push(Visitor { arrives, rtts });
        }
    }
    visitors.sort_by_key(|visitor| visitor.arrives);
    visitors
}

/// What a way to put players together comes to, in ms.
#[derive(Debug)]
struct Outcome {
    rooms: usize,
    /// The longest round trip of each room, sorted.
    worst: Vec<f64>,
    /// Every player's round trip, sorted.
    all: Vec<f64>,
    /// How long each has waited, sorted.
    waits: Vec<f64>,
}

impl Outcome {
    fn new(rooms: &[Vec<Duration>], waits: &[Duration]) -> Self {
        let sorted = |mut values: Vec<f64>| {
            values.sort_by(f64::total_cmp);
            values
        };
        let in_ms = |it: &Duration| it.as_secs_f64() * 1e3;
        let worst = rooms.iter().map(|room| in_ms(room.iter().max().unwrap()));
        Outcome {
            rooms: rooms.len(),
            worst: sorted(worst.collect()),
            all: sorted(rooms.iter().flatten().map(in_ms).collect()),
            waits: sorted(waits.iter().map(in_ms).collect()),
        }
    }

    fn row(&self, name: &str) -> String {
        format!(
            "| {name} | {} | {:.0} ms | {:.0} ms | {:.0} ms | {:.1} s | {:.1} s |",
            self.rooms,
            at(&self.worst, 50),
            at(&self.worst, 100),
            at(&self.all, 50),
            at(&self.waits, 50) / 1e3,
            at(&self.waits, 100) / 1e3,
        )
    }
}

fn at(sorted: &[f64], percentile: usize) -> f64 {
    sorted[(sorted.len() - 1) * percentile / 100]
}

/// In the order in which they come, four by four, on any server.
fn by_chance(visitors: &[Visitor], chance: &mut Chance) -> Outcome {
    let (mut rooms, mut waits) = (Vec::new(), Vec::new());
    for four in visitors.chunks(CAPACITY.into()) {
        let server = chance.below(4) as usize;
        rooms.push(four.iter().map(|visitor| visitor.rtts[server]).collect::<Vec<_>>());
        let last = four.last().unwrap().arrives;
        waits.extend(four.iter().map(|visitor| last - visitor.arrives));
    }
    Outcome::new(&rooms, &waits)
}

/// Through the matchmaker, over links with jitter and loss.
fn by_latency(seed: u64, visitors: &[Visitor]) -> Outcome {
    let link = LinkConfig {
        jitter: Jitter::uniform(ms(3)),
        loss: Loss { probability: 0.01, burst_len: 1.0 },
        ..LinkConfig::PERFECT
    };
    let mut scene = Scene::new(seed, link.with_rtt(ms(40)), &[Some(KEY); 4]);
    let mut hosts: Vec<HostId> = Vec::new();
    let mut waits = vec![None; visitors.len()];
    let end = ms(1_000 * ARRIVE_WITHIN_S) + 2 * WAIT_MOST;
    let mut now = Duration::ZERO;
    while now < end {
        while let Some(visitor) = visitors.get(hosts.len()).filter(|it| it.arrives <= now) {
            let host = scene.seek(&[]);
            for (at, rtt) in visitor.rtts.iter().enumerate() {
                scene.world.set_link(host, scene.servers[at], link.with_rtt(*rtt));
            }
            hosts.push(host);
        }
        scene.run_ms(20);
        now += ms(20);
        for ((host, wait), visitor) in hosts.iter().zip(&mut waits).zip(visitors) {
            if wait.is_none() && scene.matched(*host).is_some() {
                *wait = Some(now - visitor.arrives);
            }
        }
    }
    let waits: Option<Vec<Duration>> = waits.into_iter().collect();
    let waits = waits.expect("everyone is placed");
    let mut rooms = BTreeMap::<String, Vec<Duration>>::new();
    for (host, visitor) in hosts.iter().zip(visitors) {
        let matched = scene.matched(*host).unwrap();
        let is_it = |at: &usize| server_address(*at) == matched.server.socket_addr();
        let server = (0..4).find(is_it).unwrap();
        // Who is alone goes to any room of the server: each is a row of its own here.
        let room = match matched.players {
            1 => format!("alone {host:?}"),
            _ => format!("{server} {}", matched.room_name),
        };
        let room = rooms.entry(room).or_default();
        room.push(visitor.rtts[server]);
        assert!(room.len() <= usize::from(matched.players));
    }
    Outcome::new(&rooms.into_values().collect::<Vec<_>>(), &waits)
}

#[test]
fn two_hundred_players_in_four_regions_play_with_those_who_are_near() {
    const SEED: u64 = 7;
    let mut chance = Chance::new(SEED, 1);
    let visitors = visitors(&mut chance);
    let random = by_chance(&visitors, &mut chance);
    let latency = by_latency(SEED, &visitors);
    println!(
        "| placed | rooms | worst in a room, median | and at most | median of all players | wait, median | and at most |"
    );
    println!("{}\n{}", random.row("at random"), latency.row("by latency"));
    assert_eq!(latency.all.len(), 200, "everyone is placed");
    let times = |of: fn(&Outcome) -> f64| of(&random) / of(&latency);
    assert!(times(|it| at(&it.worst, 50)) >= 3.0, "the longest round trip of the usual room");
    assert!(times(|it| at(&it.all, 50)) >= 2.5, "the usual round trip");
    assert!(at(&latency.waits, 100) <= WAIT_MOST.as_secs_f64() * 1e3 + 2_500.0);
}
