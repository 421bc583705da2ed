//! The signals that stop a server, Ctrl-C and SIGTERM, and SIGHUP.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

/// Whether someone has asked the program to stop.
pub(crate) struct Stop {
    asked: Arc<AtomicBool>,
}

impl Stop {
    /// From now on the first signal only asks; the second ends the program at once.
    pub(crate) fn on_signals() -> io::Result<Self> {
        let asked = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM] {
            // In this order: the first signal must find the flag down before it is raised.
            flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&asked))?;
            flag::register(signal, Arc::clone(&asked))?;
        }
        Ok(Stop { asked })
    }

    pub(crate) fn is_asked(&self) -> bool {
        self.asked.load(Ordering::Relaxed)
    }
}

/// Raised when the operator asks that settings are read again; only Unix has a signal for it.
pub(crate) fn on_hang_up() -> io::Result<Arc<AtomicBool>> {
    let asked = Arc::new(AtomicBool::new(false));
    #[cfg(unix)]
    flag::register(signal_hook::consts::SIGHUP, Arc::clone(&asked))?;
    Ok(asked)
}
