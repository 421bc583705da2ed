//! Matches on all cores. Each is a world of its own, so the outcome does not depend on who plays it.

use std::num::NonZero;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use backspin::dialect::Dialect;
use backspin::game::Game;
use backspin_sim::{Report, Setup, measure_speaking};

use super::progress::Progress;

/// The same match with so many seeds.
pub(super) fn with_seeds(setup: &Setup, seeds: u32) -> Vec<Setup> {
    (0..seeds).map(|which| Setup { seed: setup.seed + u64::from(which), ..*setup }).collect()
}

/// Plays every match; the reports are in their order.
pub(super) fn play_all<G: Game + Send + Sync>(game: G, setups: &[Setup]) -> Vec<Report> {
    play_all_speaking(game, setups, &[])
}

/// The same, with a first player who speaks the first of these dialects.
pub(super) fn play_all_speaking<G: Game + Send + Sync>(
    game: G,
    setups: &[Setup],
    dialects: &'static [&'static dyn Dialect<G>],
) -> Vec<Report> {
    let next = AtomicUsize::new(0);
    let seconds_played = AtomicU64::new(0);
    let reports = Mutex::new(Vec::new());
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    let work = || {
        loop {
            let which = next.fetch_add(1, Ordering::Relaxed);
            let Some(setup) = setups.get(which) else { break };
            let report = measure_speaking(game.clone(), setup, dialects, |_| {
                seconds_played.fetch_add(1, Ordering::Relaxed);
            });
            let mut reports = reports.lock().unwrap_or_else(PoisonError::into_inner);
            reports.push((which, report));
        }
    };
    let total = setups.iter().map(|setup| u64::from(setup.seconds)).sum();
    thread::scope(|scope| {
        let workers: Vec<_> = (0..cores.min(setups.len())).map(|_| scope.spawn(work)).collect();
        let mut progress = Progress::on_stderr(total);
        while !workers.iter().all(|worker| worker.is_finished()) {
            thread::park_timeout(Progress::EVERY);
            progress.show(seconds_played.load(Ordering::Relaxed));
        }
        progress.clear();
    });
    let mut reports = reports.into_inner().unwrap_or_else(PoisonError::into_inner);
    reports.sort_unstable_by_key(|(which, _)| *which);
    reports.into_iter().map(|(_, report)| report).collect()
}
