//! Seeds on all cores. Each is a world of its own, so the outcome does not depend on who plays it.

use std::num::NonZero;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use backspin::game::Game;
use backspin::sim::{Report, Setup, measure_watched};

use super::progress::Progress;

/// Plays `seeds` matches, the first with the seed of `setup`; the reports are in their order.
pub(super) fn play<G: Game + Send + Sync>(game: G, setup: &Setup, seeds: u32) -> Vec<Report> {
    let next = AtomicU32::new(0);
    let seconds_played = AtomicU64::new(0);
    let reports = Mutex::new(Vec::new());
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    let work = || {
        loop {
            let which = next.fetch_add(1, Ordering::Relaxed);
            if which >= seeds {
                break;
            }
            let setup = Setup { seed: setup.seed + u64::from(which), ..*setup };
            let report = measure_watched(game.clone(), &setup, |_| {
                seconds_played.fetch_add(1, Ordering::Relaxed);
            });
            let mut reports = reports.lock().unwrap_or_else(PoisonError::into_inner);
            reports.push((which, report));
        }
    };
    let total = u64::from(seeds) * u64::from(setup.seconds);
    thread::scope(|scope| {
        let workers: Vec<_> = (0..cores.min(seeds as usize)).map(|_| scope.spawn(work)).collect();
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
