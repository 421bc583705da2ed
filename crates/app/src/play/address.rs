//! The address that a player typed.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr, SocketAddr, ToSocketAddrs};

/// A host, and its port if the player named one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Address {
    host: String,
    port: Option<u16>,
}

/// Why that is no address.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub(crate) enum AddressError {
    #[error("an address is missing; write one like 192.168.0.7 or play.example.org:4300")]
    Empty,
    #[error("\"{0}\" is not a port; ports are numbers from 1 to 65535")]
    Port(String),
    #[error("\"{0}\" is not an address; write IPv6 with a port like [::1]:4300")]
    Brackets(String),
    #[error("cannot find host \"{host}\" ({cause}); check the spelling")]
    Unknown { host: String, cause: String },
}

impl Address {
    /// `host`, `host:port`, an IPv4 or IPv6 address; IPv6 with a port in brackets.
    pub(crate) fn parse(text: &str) -> Result<Self, AddressError> {
        let text = text.trim();
        if text.parse::<Ipv6Addr>().is_ok() {
            return Ok(Address { host: text.to_owned(), port: None });
        }
        let (host, port) = match text.strip_prefix('[') {
            Some(rest) => {
                let wrong = || AddressError::Brackets(text.to_owned());
                let (host, behind) = rest.split_once(']').ok_or_else(wrong)?;
                host.parse::<Ipv6Addr>().map_err(|_| wrong())?;
                match behind.strip_prefix(':') {
                    Some(port) => (host, Some(port)),
                    None if behind.is_empty() => (host, None),
                    None => return Err(wrong()),
                }
            }
            None => match text.split_once(':') {
                Some((_, port)) if port.contains(':') => {
                    return Err(AddressError::Brackets(text.to_owned()));
                }
                Some((host, port)) => (host, Some(port)),
                None => (text, None),
            },
        };
        if host.is_empty() {
            return Err(AddressError::Empty);
        }
        let number = |port: &str| match port.parse() {
            Ok(0) | Err(_) => Err(AddressError::Port(port.to_owned())),
            Ok(port) => Ok(port),
        };
        Ok(Address { host: host.to_owned(), port: port.map(number).transpose()? })
    }

    /// The port that the player named.
    pub(crate) fn port(&self) -> Option<u16> {
        self.port
    }

    /// Where the host is: asks the system for a name, which may take a while. IPv4 first: games on
    /// a LAN are found there.
    pub(crate) fn resolve(&self) -> Result<IpAddr, AddressError> {
        if let Ok(ip) = self.host.parse() {
            return Ok(ip);
        }
        let unknown = |cause: String| AddressError::Unknown { host: self.host.clone(), cause };
        let found = (self.host.as_str(), 0).to_socket_addrs();
        let found: Vec<SocketAddr> = found.map_err(|error| unknown(error.to_string()))?.collect();
        let first = found.iter().find(|at| at.is_ipv4()).or(found.first());
        first.map(SocketAddr::ip).ok_or_else(|| unknown("it has no address".into()))
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.port {
            Some(port) if self.host.contains(':') => write!(f, "[{}]:{port}", self.host),
            Some(port) => write!(f, "{}:{port}", self.host),
            None => f.write_str(&self.host),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<(String, Option<u16>), AddressError> {
        Address::parse(text).map(|Address { host, port }| (host, port))
    }

    #[test]
    fn every_usual_form_is_understood() {
        for (text, host, port) in [
            ("192.168.0.7", "192.168.0.7", None),
            ("192.168.0.7:4300", "192.168.0.7", Some(4300)),
            (" attic ", "attic", None),
            ("attic.local:54000", "attic.local", Some(54000)),
            ("::1", "::1", None),
            ("[::1]", "::1", None),
            ("[fe80::1]:4300", "fe80::1", Some(4300)),
        ] {
            assert_eq!(parse(text), Ok((host.to_owned(), port)), "{text}");
        }
    }

    #[test]
    fn what_is_none_is_told_with_what_to_write() {
        for (text, says) in [
            ("", "write one like"),
            (":4300", "write one like"),
            ("attic:0", "1 to 65535"),
            ("attic:70000", "1 to 65535"),
            ("attic:", "1 to 65535"),
            ("fe80::1::2:4300", "[::1]:4300"),
            ("[attic]:4300", "[::1]:4300"),
            ("[::1]4300", "[::1]:4300"),
        ] {
            let error = parse(text).unwrap_err().to_string();
            assert!(error.contains(says), "{text}: {error}");
        }
    }

    #[test]
    fn numbers_need_no_asking_and_this_machine_is_known() {
        assert_eq!(Address::parse("[::1]:1").unwrap().resolve().unwrap().to_string(), "::1");
        assert!(Address::parse("localhost").unwrap().resolve().unwrap().is_loopback());
        let error = Address::parse("no-such-host.invalid").unwrap().resolve().unwrap_err();
        assert!(error.to_string().contains("no-such-host.invalid"), "{error}");
    }
}
