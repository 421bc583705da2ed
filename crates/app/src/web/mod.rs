//! The operator's page: `backspin serve --http`.
//!
//! ```text
//! publish     the game loop's side: a status every second, scenes of watched rooms
//! board       where the two threads meet
//! desk        the page's thread: connections and their replies
//! connection  one of them          request, reply   as much of HTTP/1.1 as it takes
//! site        the paths            page/            what a browser runs
//! visitors    connection limits    bans             who is banned from the game, and their file
//! status, history, metrics, scene  the data
//! ```
//!
//! The loop never waits for the page: it swaps a pointer and continues, and takes commands from a short
//! queue. The page's
//! thread never waits for anyone either; a slow reader misses intermediate updates.

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
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::thread::JoinHandle;

use backspin::time::Time;
use backspin_udp::BindError;
use mio::net::TcpListener;
use mio::{Poll, Waker};
use tracing::warn;

pub(crate) use address::{PageAddress, Proxies, parse_token};
pub(crate) use bans::Bans;
use board::Board;
use desk::Desk;
pub(crate) use publish::Publisher;
pub(crate) use scene::{DrawnScene, Thing};
use site::Site;
use visitors::Visitors;

/// Commands that wait for the loop; more are refused.
const COMMAND_LIMIT: usize = 16;

/// What an operator decides about the page.
pub(crate) struct PageConfig {
    /// Where it is.
    pub(crate) at: SocketAddr,
    /// The token that allows changes; without one, nothing can be changed.
    pub(crate) token: Option<String>,
    /// Proxies whose X-Forwarded-For is trusted.
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
    /// Serves the page of a server that started at `started`, with these bans.
    pub(crate) fn open(
        config: PageConfig,
        bans: Bans,
        started: Time,
    ) -> Result<Self, Box<dyn Error>> {
        let PageConfig { at, token, proxies } = config;
        let listener = TcpListener::bind(at)
            .map_err(|cause| format!("the page (--http): {}", BindError::new("TCP", at, cause)))?;
        let address = listener.local_addr()?;
        if !address.ip().is_loopback() {
            warn!("the page at http://{address}/ is open to the network and not encrypted");
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
                warn!("the page stopped, the game continues: {error}");
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

#[cfg(test)]
mod tests;
