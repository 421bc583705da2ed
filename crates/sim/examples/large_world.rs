//! How well a large world reaches its players:
//!
//! ```text
//! cargo run --release -p backspin-sim --example large_world [MOVERS [PLAYERS [SECONDS [SIGHT]]]]
//! ```
//!
//! Without loss and with 5 %, each beside the time that all of it took on one core.

#[path = "large_world/measure.rs"]
mod measure;
#[path = "large_world/movers.rs"]
mod movers;

use std::time::Instant;

use backspin_sim::{LinkConfig, Loss, Preset};
use measure::LargeWorld;
use movers::Movers;

fn main() {
    let mut given = std::env::args().skip(1).map(|arg| arg.parse::<u32>());
    let mut number = |default: u32| match given.next() {
        Some(Ok(number)) => number,
        Some(Err(_)) => {
            eprintln!("MOVERS, PLAYERS, SECONDS and SIGHT are whole numbers");
            std::process::exit(2);
        }
        None => default,
    };
    let (count, players, seconds) = (number(2_000), number(32), number(20));
    let sight = Some(number(0) as i32).filter(|sight| *sight > 0);
    let game = Movers { count, sight, ..Movers::default() };
    let reference = Preset::Reference.config();
    for loss in [Loss::NONE, reference.loss] {
        let link = LinkConfig { loss, ..reference };
        let began = Instant::now();
        let report = LargeWorld { game, players, link, seconds, seed: 1 }.play();
        println!("{count} movers, {players} players, loss {loss:?}, {seconds} s");
        println!("{report}");
        println!("server and clients together took {:.1} s\n", began.elapsed().as_secs_f64());
    }
}
