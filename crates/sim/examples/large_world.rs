//! How well a large world reaches its players:
//!
//! ```text
//! cargo run --release -p backspin-sim --example large_world [MOVERS [PLAYERS [SECONDS [SIGHT [SEED [LINK]]]]]]
//! ```
//!
//! `LINK` is `clear`, `reference` (5 % loss), `lossy` (10 %), `jittery` (60 ms) or `bursty`; without it, the
//! first two. Each is told beside the time that all of it took on one core.

#[path = "large_world/measure.rs"]
mod measure;
#[path = "large_world/movers.rs"]
mod movers;

use std::time::{Duration, Instant};

use backspin_sim::{Jitter, LinkConfig, Loss, Preset};
use measure::LargeWorld;
use movers::Movers;

fn link(name: &str) -> Option<LinkConfig> {
    let reference = Preset::Reference.config();
    Some(match name {
        "clear" => LinkConfig { loss: Loss::NONE, ..reference },
        "reference" => reference,
        "lossy" => LinkConfig { loss: Loss::independent(0.1), ..reference },
        "jittery" => LinkConfig { jitter: Jitter::uniform(Duration::from_millis(60)), ..reference },
        "bursty" => LinkConfig { loss: Loss::bursts(0.05, 4.0), ..reference },
        _ => return None,
    })
}

fn main() {
    let given: Vec<String> = std::env::args().skip(1).collect();
    let number = |index: usize, default: u32| match given.get(index).map(|arg| arg.parse()) {
        Some(Ok(number)) => number,
        Some(Err(_)) => {
            eprintln!("MOVERS, PLAYERS, SECONDS, SIGHT and SEED are whole numbers");
            std::process::exit(2);
        }
        None => default,
    };
    let (count, players, seconds) = (number(0, 2_000), number(1, 32), number(2, 20));
    let sight = Some(number(3, 0) as i32).filter(|sight| *sight > 0);
    let seed = number(4, 1).into();
    let game = Movers { count, sight, ..Movers::default() };
    let links = match given.get(5) {
        Some(name) => vec![name.as_str()],
        None => vec!["clear", "reference"],
    };
    for name in links {
        let Some(link) = link(name) else {
            eprintln!("LINK is clear, reference, lossy, jittery or bursty");
            std::process::exit(2);
        };
        let began = Instant::now();
        let report = LargeWorld { game, players, link, seconds, seed }.play();
        println!("{count} movers, {players} players, a {name} link, {seconds} s, seed {seed}");
        println!("{report}");
        println!("server and clients together took {:.1} s\n", began.elapsed().as_secs_f64());
    }
}
