//! Restores the terminal: at the end, after a signal and after a panic.

use std::io::{self, Write};
use std::panic;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
#[cfg(unix)]
use std::time::Duration;

use crossterm::event::{
    DisableFocusChange, EnableFocusChange, KeyboardEnhancementFlags, PopKeyboardEnhancementFlags,
    PushKeyboardEnhancementFlags,
};
use crossterm::terminal::{self, EnterAlternateScreen, LeaveAlternateScreen};
use crossterm::{cursor, execute};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

/// What a thread other than the face's said when it panicked: told once the terminal is its own
/// again.
static LAST_WORDS: Mutex<String> = Mutex::new(String::new());

/// Whether the terminal is taken: it is given back once, or the cursor would jump over what was
/// said since.
static TAKEN: AtomicBool = AtomicBool::new(false);

/// Whether releases were asked for: only then is there something to take back.
static ASKED: AtomicBool = AtomicBool::new(false);

/// The terminal, taken over until this is dropped.
pub(super) struct Guard {
    stopped: Arc<AtomicBool>,
    releases: bool,
}

/// How long the UI has to say goodbye once its terminal is gone.
#[cfg(unix)]
const LAST_MOMENTS: Duration = Duration::from_secs(2);

/// Ends the program some time after its terminal is gone. The face sees that by itself, unless the
/// terminal goes while its keys are read: that read never comes back, and keeps a core busy.
#[cfg(unix)]
fn watch_line(stopped: Arc<AtomicBool>) -> io::Result<()> {
    let watch = move || {
        super::line::wait_until_gone();
        stopped.store(true, Ordering::Relaxed);
        thread::sleep(LAST_MOMENTS);
        std::process::exit(0);
    };
    thread::Builder::new().name("line".into()).spawn(watch).map(drop)
}

impl Guard {
    pub(super) fn enter() -> io::Result<Self> {
        let stopped = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM] {
            flag::register(signal, Arc::clone(&stopped))?;
        }
        // A remote terminal is gone: the other player is still told.
        #[cfg(unix)]
        flag::register(signal_hook::consts::SIGHUP, Arc::clone(&stopped))?;
        #[cfg(unix)]
        watch_line(Arc::clone(&stopped))?;
        let face = thread::current().id();
        let usual = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if thread::current().id() == face {
                restore();
                usual(info);
            } else {
                let mut words = LAST_WORDS.lock().unwrap_or_else(PoisonError::into_inner);
                *words += &format!("{info}\n");
            }
        }));
        terminal::enable_raw_mode()?;
        TAKEN.store(true, Ordering::Relaxed);
        let mut guard = Guard { stopped, releases: false };
        execute!(io::stdout(), EnterAlternateScreen, EnableFocusChange, cursor::Hide)?;
        // A terminal that does not answer has no releases.
        guard.releases = terminal::supports_keyboard_enhancement().unwrap_or(false);
        if guard.releases {
            let flags = KeyboardEnhancementFlags::DISAMBIGUATE_ESCAPE_CODES
                | KeyboardEnhancementFlags::REPORT_EVENT_TYPES
                | KeyboardEnhancementFlags::REPORT_ALTERNATE_KEYS
                | KeyboardEnhancementFlags::REPORT_ALL_KEYS_AS_ESCAPE_CODES;
            ASKED.store(true, Ordering::Relaxed);
            execute!(io::stdout(), PushKeyboardEnhancementFlags(flags))?;
        }
        Ok(guard)
    }

    /// Whether the terminal reports key releases.
    pub(super) fn releases(&self) -> bool {
        self.releases
    }

    /// Whether someone has asked the program to stop.
    pub(super) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        restore();
        let words = std::mem::take(&mut *LAST_WORDS.lock().unwrap_or_else(PoisonError::into_inner));
        let _ = io::stderr().write_all(words.as_bytes());
    }
}

/// Gives the terminal back. What fails, fails: there is nothing else to try.
fn restore() {
    if !TAKEN.swap(false, Ordering::Relaxed) {
        return;
    }
    if ASKED.swap(false, Ordering::Relaxed) {
        let _ = execute!(io::stdout(), PopKeyboardEnhancementFlags);
    }
    let _ = execute!(io::stdout(), DisableFocusChange, LeaveAlternateScreen, cursor::Show);
    let _ = terminal::disable_raw_mode();
}
