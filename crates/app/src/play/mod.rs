//! One player's program without a UI: it connects, plays and leaves.
//!
//! ```text
//! address     -> the address that a player typed, as addresses to try
//! fallback    -> the old dialect, for a server that does not answer in `native`
//! open        -> how a player gets into a match
//! quick       -> a room among several servers: a matchmaker's choice, or the nearest
//! rooms       -> the rooms of servers, and the best of them
//! search      -> who hosts a game on the local network
//! seat        -> the match itself: on this machine, hosted here, or as a guest
//! node_thread -> a thread that keeps a seat on time
//! ticket      -> the way back into a match after a crash
//! ```
//!
//! A UI, or a script with `--ui none`, asks a [`NodeThread`] what to draw and tells it what is pressed.

mod address;
mod fallback;
mod node_thread;
mod open;
mod quick;
mod rooms;
mod search;
mod seat;
mod ticket;

pub(crate) use address::Address;
use fallback::Fallback;
pub(crate) use node_thread::{Access, NodeThread, Worker};
pub(crate) use open::{Guest, Opened, RoomWish, host, join, local, sit};
pub(crate) use quick::{QuickNews, quick};
pub(crate) use rooms::{RoomSearch, at_native};
pub(crate) use search::{Search, check_search, dialect_of};
pub(crate) use seat::Seat;
pub(crate) use ticket::{TicketFile, TicketKeeper};
