//! The terminal device: whether input is waiting, and whether it is still there.

use std::io;
use std::time::Duration;

/// What became of the line while it was waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// Something may have come.
    Open,
    /// The terminal is gone: its window was closed, or the connection to it.
    Gone,
}

/// Waits until something comes, the line is gone, a signal wants to be seen, or `patience` is over.
/// Reading from a terminal that is gone may block forever, so ask this first.
#[cfg(unix)]
pub(super) fn wait(patience: Duration) -> io::Result<Line> {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let stdin = io::stdin();
    let mut fds = [PollFd::new(&stdin, PollFlags::IN)];
    let patience = Timespec::try_from(patience).ok();
    match poll(&mut fds, patience.as_ref()) {
        Ok(_) | Err(rustix::io::Errno::INTR) => {}
        Err(error) => return Err(error.into()),
    }
    let gone = PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL;
    Ok(if fds[0].revents().intersects(gone) { Line::Gone } else { Line::Open })
}

/// Waits until the line is gone, however long that takes.
#[cfg(unix)]
pub(super) fn wait_until_gone() {
    use rustix::event::{PollFd, PollFlags, poll};
    let stdin = io::stdin();
    loop {
        // That it is gone is told unasked.
        let mut fds = [PollFd::new(&stdin, PollFlags::empty())];
        match poll(&mut fds, None) {
            Err(rustix::io::Errno::INTR) => {}
            Ok(0) => {}
            _ => return,
        }
    }
}

/// Elsewhere a window that is closed ends its programs.
#[cfg(not(unix))]
pub(super) fn wait(patience: Duration) -> io::Result<Line> {
    crossterm::event::poll(patience)?;
    Ok(Line::Open)
}
