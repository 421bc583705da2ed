//! Why an address cannot be bound, in a sentence that says what to do about it.

use std::fmt;
use std::io;
use std::net::SocketAddr;

/// Why an address cannot be bound.
#[derive(Debug)]
pub struct BindError {
    transport: &'static str,
    address: SocketAddr,
    cause: io::Error,
}

impl BindError {
    /// Why `address` cannot be bound for `transport`, "UDP" or "TCP".
    pub fn new(transport: &'static str, address: SocketAddr, cause: io::Error) -> Self {
        BindError { transport, address, cause }
    }
}

impl fmt::Display for BindError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let BindError { transport, address, cause } = self;
        write!(f, "{transport} {address} ")?;
        match cause.kind() {
            io::ErrorKind::AddrInUse => {
                f.write_str("is in use by another program; stop it or choose another port")
            }
            io::ErrorKind::PermissionDenied => {
                f.write_str("needs more rights than this user has; choose a port above 1023")
            }
            io::ErrorKind::AddrNotAvailable => f.write_str(
                "is not an address of this machine; use 0.0.0.0 for all of its addresses",
            ),
            _ => write!(f, "cannot be bound: {cause}"),
        }
    }
}

impl std::error::Error for BindError {}
