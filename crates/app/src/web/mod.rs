//! The operator's page: `backspin serve --http`.
//!
//! ```text
//! publish     the game loop's side: a status once a second, scenes of rooms that are watched
//! board       where the two threads meet
//! desk        the page's thread: connections, and what each is given
//! connection  one of them          request, reply   HTTP/1.1, as much as it takes
//! site        what is where        page/            what a browser runs
//! visitors    who has a place      bans             who is kept out of the game, and their file
//! status, history, metrics, scene  what is told
//! ```
//!
//! The loop never waits for the page: it swaps a pointer and goes on, and takes commands from a
//! short queue. The page's thread never waits for anyone either; whoever reads slowly misses what
//! was new meanwhile.

mod address;
mod bans;
mod board;
mod connection;
mod desk;
mod history;
mod metrics;
mod publish;
mod reply;
mod request;
mod scene;
mod site;
mod status;
mod visitors;

use std::error::Error;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::thread::JoinHandle;

use backspin::time::Time;
use mio::net::TcpListener;
use mio::{Poll, Waker};
use tracing::warn;

pub(crate) use address::{PageAddress, Proxies, parse_token};
pub(crate) use bans::Bans;
use board::Board;
use desk::Desk;
pub(crate) use publish::Publisher;
pub(crate) use scene::{Picture, Thing};
use site::Site;
use visitors::Visitors;

/// Commands that wait for the loop; more are refused.
const COMMAND_LIMIT: usize = 16;

/// What an operator decides about the page.
pub(crate) struct PageConfig {
    /// Where it is.
    pub(crate) at: SocketAddr,
    /// What lets someone change things; without one nobody can.
    pub(crate) token: Option<String>,
    /// Who is believed about whom they ask for.
    pub(crate) proxies: Proxies,
}

/// A page that is being served, until it is dropped.
pub(crate) struct Page {
    /// For the game's loop.
    pub(crate) publisher: Publisher,
    /// Where it is.
    pub(crate) address: SocketAddr,
    board: Arc<Board>,
    thread: Option<JoinHandle<()>>,
}

impl Page {
    /// Serves a page about a server that was started at `started`, and whose door has these bans.
    pub(crate) fn open(
        config: PageConfig,
        bans: Bans,
        started: Time,
    ) -> Result<Self, Box<dyn Error>> {
        let PageConfig { at, token, proxies } = config;
        let listener = TcpListener::bind(at).map_err(|error| sentence(at, &error))?;
        let address = listener.local_addr()?;
        if !address.ip().is_loopback() {
            warn!(
                "the page at http://{address}/ is open to the network, and nothing of it is encrypted"
            );
        }
        let poll = Poll::new()?;
        let waker = Waker::new(poll.registry(), desk::WAKE)?;
        let board = Arc::new(Board::new(waker));
        let (sender, commands) = sync_channel(COMMAND_LIMIT);
        let (site, visitors) = (Site::new(token, sender, bans), Visitors::new(proxies));
        let for_desk = Arc::clone(&board);
        let thread = std::thread::Builder::new().name("page".to_owned()).spawn(move || {
            let done = Desk::new(poll, listener, for_desk, site, visitors).and_then(Desk::run);
            if let Err(error) = done {
                warn!("the page is gone, the game goes on: {error}");
            }
        })?;
        let publisher = Publisher::new(Arc::clone(&board), commands, started);
        Ok(Page { publisher, address, board, thread: Some(thread) })
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        self.board.stop();
        if let Some(thread) = self.thread.take() {
            // It has told what went wrong.
            let _ = thread.join();
        }
    }
}

/// Why the page cannot be where it should.
fn sentence(at: SocketAddr, error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::AddrInUse => {
            format!(
                "TCP {at}, for the page, is taken by another program; stop it or choose another --http"
            )
        }
        io::ErrorKind::PermissionDenied => {
            format!(
                "TCP {at}, for the page, needs more rights than this user has; choose a port above 1023"
            )
        }
        io::ErrorKind::AddrNotAvailable => {
            format!(
                "TCP {at}, for the page, is no address of this machine; use 0.0.0.0 for all of them"
            )
        }
        _ => format!("TCP {at}, for the page, cannot be bound: {error}"),
    }
}

#[cfg(test)]
mod tests;
