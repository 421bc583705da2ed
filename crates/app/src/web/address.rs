//! The operator's settings for the page's address and its trusted proxies.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

/// `8080` is this machine alone, an address with a port is that one, 0 is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PageAddress(pub(crate) Option<SocketAddr>);

impl std::str::FromStr for PageAddress {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Ok(port) = text.parse::<u16>() {
            let at = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port);
            return Ok(PageAddress((port != 0).then_some(at)));
        }
        let wrong = "give a port, or an IP address with a port: 8080 or 127.0.0.1:8080";
        text.parse().map(|at| PageAddress(Some(at))).map_err(|_| wrong.into())
    }
}

/// As it is read again.
impl serde::Serialize for PageAddress {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Some(at) => serializer.collect_str(&at),
            None => serializer.serialize_str("0"),
        }
    }
}

/// A range of addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cidr {
    first: IpAddr,
    len: u8,
}

impl Cidr {
    fn contains(self, ip: IpAddr) -> bool {
        // What is left of an address without its last bits; all bits may be the last.
        let head = |bits: u128, whole: u8| {
            bits.checked_shr(u32::from(whole - self.len)).unwrap_or_default()
        };
        match (self.first, ip.to_canonical()) {
            (IpAddr::V4(first), IpAddr::V4(ip)) => {
                head(first.to_bits().into(), 32) == head(ip.to_bits().into(), 32)
            }
            (IpAddr::V6(first), IpAddr::V6(ip)) => {
                head(first.to_bits(), 128) == head(ip.to_bits(), 128)
            }
            _ => false,
        }
    }
}

impl std::str::FromStr for Cidr {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("{text:?} is not an address range like 127.0.0.1/32 or fd00::/8");
        let (address, len) = match text.split_once('/') {
            Some((address, len)) => (address, Some(len.parse().map_err(|_| wrong())?)),
            None => (text, None),
        };
        let first: IpAddr = address.parse().map_err(|_| wrong())?;
        let whole = if first.is_ipv4() { 32 } else { 128 };
        match len.unwrap_or(whole) {
            len if len <= whole => Ok(Cidr { first, len }),
            _ => Err(wrong()),
        }
    }
}

/// Proxies that are believed when they say for whom they ask.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Proxies(Vec<Cidr>);

/// The most ranges.
const RANGE_LIMIT: usize = 16;

impl Proxies {
    pub(super) fn contain(&self, ip: IpAddr) -> bool {
        self.0.iter().any(|range| range.contains(ip))
    }
}

impl std::str::FromStr for Proxies {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let ranges = text.split(',').map(str::trim).filter(|range| !range.is_empty());
        let ranges: Vec<Cidr> = ranges.map(str::parse).collect::<Result<_, _>>()?;
        match ranges.len() <= RANGE_LIMIT {
            true => Ok(Proxies(ranges)),
            false => Err(format!("give at most {RANGE_LIMIT} ranges")),
        }
    }
}

impl fmt::Display for Proxies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, Cidr { first, len }) in self.0.iter().enumerate() {
            write!(f, "{}{first}/{len}", if n == 0 { "" } else { "," })?;
        }
        Ok(())
    }
}

impl serde::Serialize for Proxies {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// The longest token, in bytes.
const TOKEN_LIMIT: usize = 256;

/// A token that a header can carry.
pub(crate) fn parse_token(text: &str) -> Result<String, String> {
    match text.len() {
        0 => Err("an empty token would let everyone in".to_owned()),
        len if len > TOKEN_LIMIT => Err(format!("a token has at most {TOKEN_LIMIT} bytes")),
        _ if text.bytes().all(|byte| byte.is_ascii_graphic()) => Ok(text.to_owned()),
        _ => Err("a token may contain only ASCII letters, digits and punctuation".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_is_on_this_machine_alone_and_0_is_none() {
        let parsed = |text: &str| text.parse::<PageAddress>().map(|at| at.0);
        assert_eq!(parsed("8080"), Ok(Some(([127, 0, 0, 1], 8080).into())));
        assert_eq!(parsed("0"), Ok(None));
        assert_eq!(parsed("0.0.0.0:80"), Ok(Some(([0, 0, 0, 0], 80).into())));
        assert_eq!(parsed("127.0.0.1:0"), Ok(Some(([127, 0, 0, 1], 0).into())));
        assert_eq!(parsed("[::1]:80"), Ok(Some("[::1]:80".parse().unwrap())));
        for text in ["", "70000", "host:80", "127.0.0.1", "::1:80:"] {
            assert!(parsed(text).is_err(), "{text}");
        }
    }

    #[test]
    fn proxies_are_ranges_of_addresses() {
        let proxies = |text: &str| text.parse::<Proxies>();
        let some = proxies("127.0.0.0/8, fd00::/8,192.0.2.7").unwrap();
        let contain = |ip: &str| some.contain(ip.parse().unwrap());
        for ip in ["127.0.0.1", "127.255.0.1", "::ffff:127.0.0.1", "fd12::1", "192.0.2.7"] {
            assert!(contain(ip), "{ip}");
        }
        for ip in ["128.0.0.1", "192.0.2.6", "::1", "fe00::1", "::127.0.0.1"] {
            assert!(!contain(ip), "{ip}");
        }
        assert_eq!(some.to_string(), "127.0.0.0/8,fd00::/8,192.0.2.7/32");
        assert_eq!(proxies(&some.to_string()), Ok(some.clone()));
        let all = proxies("0.0.0.0/0,::/0").unwrap();
        assert!(all.contain("1.2.3.4".parse().unwrap()) && all.contain("::1".parse().unwrap()));
        assert_eq!(proxies(""), Ok(Proxies::default()));
        for text in ["proxy.example", "127.0.0.1/33", "::/129", "127.0.0.1/", "/8", "127.0.0.1/-1"]
        {
            assert!(proxies(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_token_is_one_word_that_a_header_can_carry() {
        assert_eq!(parse_token("s3cret"), Ok("s3cret".to_owned()));
        assert!(parse_token(&"x".repeat(TOKEN_LIMIT)).is_ok());
        assert!(parse_token(&"x".repeat(TOKEN_LIMIT + 1)).is_err());
        for text in ["", "two words", "line\nbreak", "ü"] {
            assert!(parse_token(text).is_err(), "{text:?}");
        }
    }
}
