//! HTTP/1.1 request headers, and whether a request is allowed here at all.

use std::net::IpAddr;

use httparse::Status as Parsed;

/// The longest head of a request, in bytes.
pub(super) const HEAD_LIMIT: usize = 8 * 1024;

/// The most header fields.
pub(super) const FIELD_LIMIT: usize = 64;

/// A request whose head is whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Request<'a> {
    pub(super) method: &'a str,
    /// Without what follows a question mark.
    pub(super) path: &'a str,
    /// What follows it.
    pub(super) query: &'a str,
    /// For whom a proxy asks, as it says: X-Forwarded-For.
    pub(super) forwarded: Option<&'a str>,
    host: Option<&'a str>,
    origin: Option<&'a str>,
    fetch_site: Option<&'a str>,
    authorization: Option<&'a str>,
}

/// What the bytes that have come are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Head<'a> {
    /// The beginning of a request.
    Partial,
    /// A request.
    Whole(Request<'a>),
    /// Nothing that is answered.
    Refused(Refusal),
}

/// Why a request is not answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// It is no HTTP.
    Malformed,
    /// Its head is longer than [`HEAD_LIMIT`] or has more than [`FIELD_LIMIT`] fields.
    TooLong,
    /// It has a body, and nothing here takes one.
    Body,
    /// It took too long to say.
    Slow,
}

/// Why a request that is whole may not be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Foreign {
    /// It was meant for a name: another site's name may have been pointed at this machine.
    Host,
    /// Another site's page asks.
    Origin,
}

impl<'a> Head<'a> {
    /// Reads the bytes that have come so far.
    pub(super) fn read(bytes: &'a [u8]) -> Head<'a> {
        let mut fields = [httparse::EMPTY_HEADER; FIELD_LIMIT];
        let mut parsed = httparse::Request::new(&mut fields);
        match parsed.parse(bytes) {
            Ok(Parsed::Complete(_)) => {}
            Ok(Parsed::Partial) if bytes.len() < HEAD_LIMIT => return Head::Partial,
            Ok(Parsed::Partial) | Err(httparse::Error::TooManyHeaders) => {
                return Head::Refused(Refusal::TooLong);
            }
            Err(_) => return Head::Refused(Refusal::Malformed),
        }
        let (Some(method), Some(target)) = (parsed.method, parsed.path) else {
            return Head::Refused(Refusal::Malformed);
        };
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let mut request = Request { method, path, query, ..Request::default() };
        for field in parsed.headers.iter() {
            if let Err(refusal) = request.take(field) {
                return Head::Refused(refusal);
            }
        }
        Head::Whole(request)
    }
}

impl<'a> Request<'a> {
    fn take(&mut self, field: &httparse::Header<'a>) -> Result<(), Refusal> {
        let is = |name: &str| field.name.eq_ignore_ascii_case(name);
        let Ok(text) = std::str::from_utf8(field.value) else { return Ok(()) };
        let text = text.trim();
        let place = match () {
            () if is("host") => &mut self.host,
            () if is("origin") => &mut self.origin,
            () if is("sec-fetch-site") => &mut self.fetch_site,
            () if is("authorization") => &mut self.authorization,
            () if is("x-forwarded-for") => {
                // The last is the one that the nearest proxy wrote.
                self.forwarded = Some(text);
                return Ok(());
            }
            () if is("content-length") && text == "0" => return Ok(()),
            () if is("content-length") || is("transfer-encoding") => return Err(Refusal::Body),
            () => return Ok(()),
        };
        // Of two that say different things it is not clear which is meant.
        place.replace(text).map_or(Ok(()), |_| Err(Refusal::Malformed))
    }

    /// What stands behind `Bearer`.
    pub(super) fn bearer(&self) -> Option<&'a str> {
        let (scheme, token) = self.authorization?.split_once(' ')?;
        scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
    }

    /// Whether the request names this machine and does not come from another site.
    ///
    /// A browser that was led to a name which now points here (DNS rebinding) says that name; an
    /// address or `localhost` can belong to no other site.
    pub(super) fn check_source(&self) -> Result<(), Foreign> {
        let host = self.host.unwrap_or_default();
        if !is_plain_host(host) {
            return Err(Foreign::Host);
        }
        let origin_is_ours =
            |origin: &str| origin.strip_prefix("http://").is_some_and(|at| at == host);
        let is_read = matches!(self.method, "GET" | "HEAD");
        match (self.origin, self.fetch_site) {
            // A link from anywhere may lead to the page; only its own script may ask for more.
            (_, Some("same-origin" | "none")) | (None, None) => Ok(()),
            (None, Some(_)) if is_read => Ok(()),
            (Some(origin), None) if origin_is_ours(origin) => Ok(()),
            _ => Err(Foreign::Origin),
        }
    }
}

/// Whether a host, with or without a port, is an address or `localhost`.
fn is_plain_host(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    let bracketed = name.strip_prefix('[').and_then(|name| name.strip_suffix(']'));
    let is_v6 = |address: &str| address.parse::<std::net::Ipv6Addr>().is_ok();
    bracketed.map_or_else(|| name.eq_ignore_ascii_case("localhost") || is_v4(name), is_v6)
}

fn is_v4(name: &str) -> bool {
    matches!(name.parse(), Ok(IpAddr::V4(_)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(text: &str) -> Request<'_> {
        match Head::read(text.as_bytes()) {
            Head::Whole(request) => request,
            other => panic!("{text:?} is {other:?}"),
        }
    }

    #[test]
    fn a_request_is_read_once_it_is_whole() {
        let text = "GET /api/rooms?x=1 HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n\r\n";
        for len in 0..text.len() {
            assert_eq!(Head::read(&text.as_bytes()[..len]), Head::Partial, "{len}");
        }
        let request = whole(text);
        assert_eq!((request.method, request.path, request.query), ("GET", "/api/rooms", "x=1"));
        let twice =
            "GET / HTTP/1.1\r\nX-Forwarded-For: 1.2.3.4\r\nx-forwarded-for: 5.6.7.8\r\n\r\n";
        assert_eq!(whole(twice).forwarded, Some("5.6.7.8"));
        assert_eq!(request.check_source(), Ok(()));
    }

    #[test]
    fn what_is_too_long_or_no_http_or_has_a_body_is_refused() {
        let refused = |text: &str| match Head::read(text.as_bytes()) {
            Head::Refused(refusal) => Some(refusal),
            _ => None,
        };
        let at_limit = format!("GET /{}", "a".repeat(HEAD_LIMIT - 5));
        assert_eq!(refused(&at_limit[..HEAD_LIMIT - 1]), None);
        assert_eq!(refused(&at_limit), Some(Refusal::TooLong));
        let fields = |count| format!("GET / HTTP/1.1\r\n{}\r\n", "A: b\r\n".repeat(count));
        assert_eq!(refused(&fields(FIELD_LIMIT)), None);
        assert_eq!(refused(&fields(FIELD_LIMIT + 1)), Some(Refusal::TooLong));
        assert_eq!(refused("\x01\x03\0\0"), Some(Refusal::Malformed));
        let two_hosts = "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n";
        assert_eq!(refused(two_hosts), Some(Refusal::Malformed));
        let post = |field| format!("POST /api/drain HTTP/1.1\r\n{field}\r\n\r\n");
        assert_eq!(refused(&post("Content-Length: 0")), None);
        assert_eq!(refused(&post("Content-Length: 1")), Some(Refusal::Body));
        assert_eq!(refused(&post("Transfer-Encoding: chunked")), Some(Refusal::Body));
    }

    #[test]
    fn only_addresses_and_localhost_are_this_machine() {
        for host in
            ["127.0.0.1", "127.0.0.1:80", "192.168.0.7:8080", "[::1]:80", "[::1]", "LocalHost:1"]
        {
            assert!(is_plain_host(host), "{host}");
        }
        for host in [
            "",
            ":80",
            "evil.example",
            "evil.example:80",
            "localhost.evil.example",
            "::1",
            "[evil]",
        ] {
            assert!(!is_plain_host(host), "{host}");
        }
    }

    #[test]
    fn another_sites_page_may_link_here_and_nothing_else() {
        let check = |method: &str, fields: &str| {
            let text = format!("{method} / HTTP/1.1\r\nHost: 127.0.0.1:80\r\n{fields}\r\n");
            whole(&text).check_source()
        };
        assert_eq!(check("GET", "Sec-Fetch-Site: cross-site\r\n"), Ok(()));
        assert_eq!(check("POST", "Sec-Fetch-Site: cross-site\r\n"), Err(Foreign::Origin));
        assert_eq!(check("POST", "Origin: http://evil.example\r\n"), Err(Foreign::Origin));
        assert_eq!(check("GET", "Origin: http://evil.example\r\n"), Err(Foreign::Origin));
        assert_eq!(check("POST", "Origin: http://127.0.0.1:81\r\n"), Err(Foreign::Origin));
        assert_eq!(check("POST", "Origin: null\r\n"), Err(Foreign::Origin));
        assert_eq!(check("POST", "Origin: http://127.0.0.1:80\r\n"), Ok(()));
        let own = "Origin: http://127.0.0.1:80\r\nSec-Fetch-Site: same-origin\r\n";
        assert_eq!(check("POST", own), Ok(()));
        // Not a browser.
        assert_eq!(check("POST", ""), Ok(()));
    }

    #[test]
    fn a_bearer_is_what_stands_behind_the_word() {
        let bearer = |value: &str| {
            let text = format!("GET / HTTP/1.1\r\nAuthorization: {value}\r\n\r\n");
            whole(&text).bearer().map(str::to_owned)
        };
        assert_eq!(bearer("Bearer secret").as_deref(), Some("secret"));
        assert_eq!(bearer("bearer  secret").as_deref(), Some("secret"));
        assert_eq!(bearer("Basic secret"), None);
        assert_eq!(bearer("Bearersecret"), None);
    }
}
