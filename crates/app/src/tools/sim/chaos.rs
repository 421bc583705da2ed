//! `backspin sim --chaos`: bad days on all cores, until one of them fails.

use std::collections::BTreeMap;
use std::error::Error;
use std::io::{self, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use backspin_sim::chaos::{Act, Failure, Outcome, Scenario, judge};
use serde::Serialize;
use serde_json::json;

use super::Args;
use super::crew::on_all_cores;

/// What all seeds together came to.
#[derive(Default, Serialize)]
struct Sum {
    seed: u64,
    seeds: u32,
    simulated_hours: f64,
    programs: u64,
    resumes: u64,
    acts: BTreeMap<&'static str, u64>,
    wall_s: f64,
    cores: usize,
}

fn replay(seed: u64) -> String {
    format!("backspin sim --chaos --seed {seed}")
}

/// Runs the command.
pub(super) fn run(args: &Args) -> Result<(), Box<dyn Error>> {
    args.check_seeds()?;
    let seeds = args.seeds.unwrap_or(1);
    let mut out = io::stdout().lock();
    if seeds == 1 && !args.json {
        writeln!(out, "{}\n", Scenario::draw(args.seed))?;
    }
    match play(args.seed, seeds) {
        Ok(sum) if args.json => writeln!(out, "{}", serde_json::to_string(&sum)?)?,
        Ok(sum) => tell(&mut out, &sum)?,
        Err(failure) => {
            if args.json {
                let at_s = failure.at.as_micros() as f64 / 1e6;
                let (seed, breach) = (failure.seed, failure.breach.to_string());
                let json =
                    json!({ "seed": seed, "at_s": at_s, "breach": breach, "replay": replay(seed) });
                writeln!(out, "{json}")?;
            }
            return Err(format!("{failure}\nto replay it: {}", replay(failure.seed)).into());
        }
    }
    Ok(())
}

/// Plays the seeds in order, several at once, and stops at the first that fails.
fn play(first: u64, seeds: u32) -> Result<Sum, Failure> {
    let began = Instant::now();
    let (next, done) = (AtomicU64::new(0), AtomicU64::new(0));
    // The first seed that failed so far, counted from `first`; later ones do not matter.
    let end = AtomicU64::new(seeds.into());
    let results = Mutex::new((Sum { seed: first, seeds, ..Sum::default() }, None));
    let cores = on_all_cores(seeds as usize, &done, seeds.into(), || {
        loop {
            let which = next.fetch_add(1, Ordering::Relaxed);
            if which >= end.load(Ordering::Relaxed) {
                break;
            }
            let judged = judge(first + which);
            done.fetch_add(1, Ordering::Relaxed);
            let mut results = results.lock().unwrap_or_else(PoisonError::into_inner);
            match judged {
                Ok(outcome) => results.0.add(&outcome),
                Err(failure) if end.fetch_min(which, Ordering::Relaxed) > which => {
                    results.1 = Some(failure);
                }
                Err(_) => {}
            }
        }
    });
    let (mut sum, failure) = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    sum.cores = cores;
    sum.wall_s = began.elapsed().as_secs_f64();
    failure.map_or(Ok(sum), Err)
}

impl Sum {
    fn add(&mut self, outcome: &Outcome) {
        self.simulated_hours += outcome.span.as_secs_f64() / HOUR.as_secs_f64();
        self.programs += u64::from(outcome.programs);
        self.resumes += u64::from(outcome.resumes);
        for (name, count) in Act::NAMES.into_iter().zip(outcome.acts) {
            *self.acts.entry(name).or_default() += u64::from(count);
        }
    }
}

const HOUR: Duration = Duration::from_secs(3_600);

fn tell(out: &mut impl Write, sum: &Sum) -> io::Result<()> {
    match sum.seeds {
        1 => writeln!(out, "chaos, seed {}: passed", sum.seed)?,
        seeds => {
            let last = sum.seed + u64::from(seeds - 1);
            writeln!(out, "chaos, seeds {} to {last}: all passed", sum.seed)?;
        }
    }
    let acts: Vec<_> = sum.acts.iter().map(|(name, count)| format!("{count} {name}")).collect();
    writeln!(out, "acts: {}", acts.join(", "))?;
    writeln!(
        out,
        "{} programs were started, {} sessions resumed, in {:.2} simulated hours",
        sum.programs, sum.resumes, sum.simulated_hours
    )?;
    let cores = if sum.cores == 1 { "core" } else { "cores" };
    writeln!(out, "took {:.1} s on {} {cores}", sum.wall_s, sum.cores)
}
