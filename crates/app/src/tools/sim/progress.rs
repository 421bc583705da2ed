//! A progress bar, for people at a terminal.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

/// A bar in the last line of stderr; where that is no terminal, nothing.
pub(super) struct Progress {
    total: u64,
    began: Instant,
    terminal: bool,
    shown: bool,
}

impl Progress {
    /// How often the bar is updated.
    pub(super) const EVERY: Duration = Duration::from_millis(50);

    /// Shorter runs need no bar.
    const PATIENCE: Duration = Duration::from_secs(1);

    const CELLS: u64 = 30;

    pub(super) fn on_stderr(total: u64) -> Self {
        let terminal = io::stderr().is_terminal();
        Progress { total, began: Instant::now(), terminal, shown: false }
    }

    pub(super) fn show(&mut self, done: u64) {
        let waited = self.began.elapsed();
        if self.terminal && waited >= Progress::PATIENCE {
            self.shown = true;
            // A bar that cannot be drawn must not stop the run.
            let _ = write!(io::stderr(), "\r{}\x1b[K", bar(done, self.total, waited));
        }
    }

    pub(super) fn clear(&mut self) {
        if self.shown {
            let _ = write!(io::stderr(), "\r\x1b[K");
        }
    }
}

fn bar(done: u64, total: u64, waited: Duration) -> String {
    let (done, total) = (done.min(total), total.max(1));
    let full = (Progress::CELLS * done / total) as usize;
    let rest = Progress::CELLS as usize - full;
    let left = match done {
        0 => String::new(),
        done => {
            let left = waited.as_secs_f64() * (total - done) as f64 / done as f64;
            format!(", {left:.0} s left")
        }
    };
    let percent = 100 * done / total;
    format!("[{}{}] {percent:>3} %{left}", "#".repeat(full), ".".repeat(rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bar_fills_and_says_how_long_it_takes() {
        let waited = Duration::from_secs(2);
        let dots = ".".repeat(30);
        assert_eq!(bar(0, 120, waited), format!("[{dots}]   0 %"));
        let half = format!("[{}{}]  50 %, 2 s left", "#".repeat(15), ".".repeat(15));
        assert_eq!(bar(60, 120, waited), half);
        assert_eq!(bar(120, 120, waited), format!("[{}] 100 %, 0 s left", "#".repeat(30)));
    }
}
