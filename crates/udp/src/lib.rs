//! Sockets for Backspin nodes: the only place where bytes meet the operating system.
//!
//! [`Socket`] is one bound UDP socket, [`Listener`] one TCP port for `rtype`'s first step;
//! [`Loop`] owns the clock, the sockets and the waiting, and drives a
//! [`StreamNode`](backspin::node::StreamNode).

mod bind;
mod clock;
mod driver;
mod listener;
mod socket;
mod stream;
mod streams;

pub use bind::BindError;
pub use driver::{Loop, Wake};
pub use listener::Listener;
pub use socket::Socket;
