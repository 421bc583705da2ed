//! One player's program without a face: a place at a table, and what happens there.
//!
//! ```text
//! address  -> what a player typed, as addresses to try
//! fallback -> the old dialect, for a server that does not answer in `native`
//! open     -> how a player gets to a table
//! quick    -> a room among several servers: a matchmaker's choice, or the nearest
//! rooms    -> which rooms servers have, and the best of them
//! search   -> who hosts a game on the local network
//! seat     -> the match itself: on this machine, hosted here, or as someone's guest
//! table    -> a seat that a thread of its own keeps on time
//! ticket   -> the way back into a match after the program was killed
//! ```
//!
//! A face, or a script with `--ui none`, asks a [`NodeThread`] what to draw and tells it what is pressed.

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
pub(crate) use node_thread::{Access, NodeThread};
pub(crate) use open::{Guest, Opened, RoomWish, host, join, local, sit};
pub(crate) use quick::{QuickNews, quick};
pub(crate) use rooms::{RoomSearch, at_native};
pub(crate) use search::{Search, dialect_of};
pub(crate) use seat::Seat;
pub(crate) use ticket::{TicketFile, TicketKeeper};
