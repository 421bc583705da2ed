//! The same work done by raw sockets, by Backspin and by its peers, side by side in one run.
//!
//! `run` starts a server and its clients as two processes, each on a core of its own; `contender`
//! has what runs in them, one file each; `server` and `crowd` pace them and take the figures;
//! `report` and `plot` show what came out. `pair` holds one build of all this against another.

mod contender;
mod control;
mod crowd;
mod machine;
mod pair;
mod plot;
mod profile;
mod report;
mod run;
mod server;

use std::error::Error;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use clap::Parser;

use contender::Contender;
use pair::Comparison;
use run::{Job, Outcome, Side};

/// Ticks, inputs and snapshots a second.
const RATE: u32 = 60;

/// The time between two of them.
const TICK: Duration = Duration::from_nanos(1_000_000_000 / RATE as u64);

/// What a client sends each tick.
const INPUT_LEN: usize = 13;

/// What a client is sent each tick.
const SNAPSHOT_LEN: usize = 200;

/// Backspin beside raw sockets and other netcode: what a server costs for each client and tick.
#[derive(Parser)]
pub(crate) struct Args {
    /// How many clients there are
    #[arg(long, default_value_t = 256)]
    clients: usize,

    /// How many there are to see what more of them cost; 0 leaves that out
    #[arg(long, default_value_t = 1024)]
    crowd: usize,

    /// How long each is measured, in seconds
    #[arg(long, default_value_t = 10.0)]
    seconds: f64,

    /// How often each is measured, in turn; the figures are medians
    #[arg(long, default_value_t = 3)]
    repeat: usize,

    /// Only these, beside raw sendto
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    only: Vec<Contender>,

    /// Compare this build with another build of this program, turn by turn, instead: --repeat pairs of the
    /// contender that --only names (backspin if it names none)
    #[arg(long, value_name = "BIN", conflicts_with = "write")]
    against: Option<PathBuf>,

    /// Print one JSON object instead of the table
    #[arg(long)]
    json: bool,

    /// Write bench.md and bench.svg there, too
    #[arg(long, value_name = "DIR")]
    write: Option<PathBuf>,

    /// The date to write beside the figures
    #[arg(long, default_value = "")]
    date: String,

    /// One side of one measurement, as this program starts itself
    #[arg(long, hide = true)]
    side: Option<Side>,

    #[arg(long, hide = true, default_value = "sendto")]
    contender: Contender,
}

fn main() -> Result<(), Box<dyn Error>> {
    let args = Args::parse();
    let job = Job { contender: args.contender, clients: args.clients, seconds: args.seconds };
    if let Some(side) = args.side {
        return run::take_side(side, &job);
    }
    let own_network = machine::enter_own_network().is_ok();
    if !own_network {
        eprintln!("no network of its own: what others send over loopback is counted, too");
    }
    if let Some(against) = &args.against {
        let contender = args.only.first().copied().unwrap_or(Contender::Backspin);
        let comparison = Comparison::measure(against, Job { contender, ..job }, args.repeat)?;
        match args.json {
            true => println!("{}", comparison.json()),
            false => print!("{}", comparison.table()),
        }
        return Ok(());
    }
    let outcomes = measure(&args)?;
    let report = report::Report::new(&args, outcomes, own_network);
    match args.json {
        true => println!("{}", report.json()),
        false => print!("{}", report.table()),
    }
    if let Some(dir) = &args.write {
        fs::write(dir.join("bench.md"), report.page())?;
        fs::write(dir.join("bench.svg"), plot::draw(&report))?;
    }
    Ok(())
}

/// Everyone once, then everyone again: whatever the machine does meanwhile, it does to all.
fn measure(args: &Args) -> Result<Vec<Outcome>, Box<dyn Error>> {
    let wanted = |contender: &Contender| {
        *contender == Contender::Sendto || args.only.is_empty() || args.only.contains(contender)
    };
    let own = std::env::current_exe()?;
    let mut outcomes = Vec::new();
    for repetition in 0..args.repeat {
        for clients in [args.clients, args.crowd].into_iter().filter(|&clients| clients > 0) {
            for contender in Contender::ALL.into_iter().filter(wanted) {
                let job = Job { contender, clients, seconds: args.seconds };
                match run::run(&own, &job) {
                    Ok(figures) => {
                        eprintln!("{} of {}: {job}: {figures}", repetition + 1, args.repeat);
                        outcomes.push(Outcome { job, repetition, figures });
                    }
                    Err(error) => eprintln!("{job}: left out: {error}"),
                }
            }
        }
    }
    Ok(outcomes)
}
