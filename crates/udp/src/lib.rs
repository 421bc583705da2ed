//! Sockets for Backspin nodes: the only place where bytes meet the operating system.
//!
//! [`Socket`] is one bound UDP socket, [`Listener`] one TCP port for `rtype`'s first step; [`Loop`] owns the
//! clock, the
//! sockets and the waiting, and drives a [`StreamNode`](backspin::node::StreamNode). [`interfaces()`] lists
//! where a search
//! goes. A program that forwards datagrams instead of driving a node uses [`Inbox`], [`Outbox`] and
//! [`Waiter`].

mod batch;
mod bind;
mod clock;
mod driver;
mod interfaces;
#[cfg(target_os = "linux")]
mod linux;
mod listener;
mod prefetch;
mod schedule;
mod send_pool;
mod socket;
mod stream;
mod streams;
mod wait;

pub use batch::{Backend, Envelope, Inbox, Outbox};
pub use bind::BindError;
pub use clock::Clock;
pub use driver::{Loop, Wake};
pub use interfaces::{INTERFACE_LIMIT, Interface, interfaces, search_paths};
pub use listener::Listener;
pub use socket::Socket;
pub use wait::Waiter;
