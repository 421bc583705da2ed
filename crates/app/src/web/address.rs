//! Where the page is, as an operator says it.

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
        match text.parse() {
            Ok(at) => Ok(PageAddress(Some(at))),
            Err(_) => Err("it is a port, or an IP address with one: 8080 or 127.0.0.1:8080".into()),
        }
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

/// The longest token, in bytes.
const TOKEN_LIMIT: usize = 256;

/// A token that a header can carry.
pub(crate) fn parse_token(text: &str) -> Result<String, String> {
    match text.len() {
        0 => Err("an empty token would let everyone in".to_owned()),
        len if len > TOKEN_LIMIT => Err(format!("a token has at most {TOKEN_LIMIT} bytes")),
        _ if text.bytes().all(|byte| byte.is_ascii_graphic()) => Ok(text.to_owned()),
        _ => Err("a token has ASCII letters, digits and signs only, and no space".to_owned()),
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
    fn a_token_is_one_word_that_a_header_can_carry() {
        assert_eq!(parse_token("s3cret"), Ok("s3cret".to_owned()));
        assert!(parse_token(&"x".repeat(TOKEN_LIMIT)).is_ok());
        assert!(parse_token(&"x".repeat(TOKEN_LIMIT + 1)).is_err());
        for text in ["", "two words", "line\nbreak", "ü"] {
            assert!(parse_token(text).is_err(), "{text:?}");
        }
    }
}
