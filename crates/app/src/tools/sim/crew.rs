//! Plays matches on all cores. Each has its own world, so the outcome does not depend on the thread.

use std::num::NonZero;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use backspin::dialect::Dialect;
use backspin_sim::{Measured, Report, Setup, measure_speaking};

use super::progress::Progress;

/// The same match with this many seeds.
pub(super) fn with_seeds(setup: &Setup, seeds: u32) -> Vec<Setup> {
    (0..seeds).map(|which| Setup { seed: setup.seed + u64::from(which), ..*setup }).collect()
}

/// Plays every match; the reports are in their order.
pub(super) fn play_all<G: Measured + Send + Sync>(game: G, setups: &[Setup]) -> Vec<Report> {
    play_all_speaking(game, setups, &[])
}

/// The same, with a first player who speaks the first of these dialects.
pub(super) fn play_all_speaking<G: Measured + Send + Sync>(
    game: G,
    setups: &[Setup],
    dialects: &'static [&'static dyn Dialect<G>],
) -> Vec<Report> {
    let (next, seconds_played) = (AtomicUsize::new(0), AtomicU64::new(0));
    let reports = Mutex::new(Vec::new());
    let total = setups.iter().map(|setup| u64::from(setup.seconds)).sum();
    on_all_cores(setups.len(), &seconds_played, total, || {
        loop {
            let which = next.fetch_add(1, Ordering::Relaxed);
            let Some(setup) = setups.get(which) else { break };
            let report = measure_speaking(game.clone(), setup, dialects, |_| {
                seconds_played.fetch_add(1, Ordering::Relaxed);
            });
            let mut reports = reports.lock().unwrap_or_else(PoisonError::into_inner);
            reports.push((which, report));
        }
    });
    let mut reports = reports.into_inner().unwrap_or_else(PoisonError::into_inner);
    reports.sort_unstable_by_key(|(which, _)| *which);
    reports.into_iter().map(|(_, report)| report).collect()
}

/// Works in as many threads as there are cores, at most `pieces`, and shows how much of `total` is `done`. Returns the
/// number of threads.
pub(super) fn on_all_cores(
    pieces: usize,
    done: &AtomicU64,
    total: u64,
    work: impl Fn() + Copy + Send,
) -> usize {
    let cores = thread::available_parallelism().map_or(1, NonZero::get).min(pieces);
    thread::scope(|scope| {
        let workers: Vec<_> = (0..cores).map(|_| scope.spawn(work)).collect();
        let mut progress = Progress::on_stderr(total);
        while !workers.iter().all(|worker| worker.is_finished()) {
            thread::park_timeout(Progress::EVERY);
            progress.show(done.load(Ordering::Relaxed));
        }
        progress.clear();
    });
    cores
}
