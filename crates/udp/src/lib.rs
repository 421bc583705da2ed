//! UDP sockets for Backspin nodes: the only place where bytes meet the operating system.
//!
//! [`Socket`] is one bound socket; [`Loop`] owns the clock, the sockets and a
//! [`Node`](backspin::node::Node), and drives it.

mod driver;
mod socket;

pub use driver::{Loop, Wake};
pub use socket::{BindError, Socket};
