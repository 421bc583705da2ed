//! HTTP replies.

use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

use super::request::{Foreign, Refusal};
use super::visitors::Crowd;

/// A whole reply. Every connection is for one: it is closed behind it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Reply {
    pub(super) code: Code,
    kind: &'static str,
    pub(super) body: Cow<'static, str>,
    /// What may be done here instead.
    allow: Option<&'static str>,
    /// When to ask again, in s.
    retry_after: Option<u64>,
}

/// A status line: its code and what that means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Code(&'static str);

impl Code {
    pub(super) const OK: Code = Code("200 OK");
    pub(super) const ACCEPTED: Code = Code("202 Accepted");
    pub(super) const BAD_REQUEST: Code = Code("400 Bad Request");
    pub(super) const UNAUTHORIZED: Code = Code("401 Unauthorized");
    pub(super) const FORBIDDEN: Code = Code("403 Forbidden");
    pub(super) const NOT_FOUND: Code = Code("404 Not Found");
    pub(super) const METHOD_NOT_ALLOWED: Code = Code("405 Method Not Allowed");
    pub(super) const REQUEST_TIMEOUT: Code = Code("408 Request Timeout");
    pub(super) const CONFLICT: Code = Code("409 Conflict");
    pub(super) const CONTENT_TOO_LARGE: Code = Code("413 Content Too Large");
    pub(super) const MISDIRECTED_REQUEST: Code = Code("421 Misdirected Request");
    pub(super) const TOO_MANY_REQUESTS: Code = Code("429 Too Many Requests");
    pub(super) const FIELDS_TOO_LARGE: Code = Code("431 Request Header Fields Too Large");
    pub(super) const SERVICE_UNAVAILABLE: Code = Code("503 Service Unavailable");
}

/// The fields that every reply has. Nothing here loads from elsewhere, is kept by anyone, or may
/// stand in another page.
const FIELDS: &str = "Cache-Control: no-store\r\n\
    Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; \
    connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; \
    frame-ancestors 'none'\r\n\
    Cross-Origin-Resource-Policy: same-origin\r\n\
    Referrer-Policy: no-referrer\r\n\
    X-Content-Type-Options: nosniff\r\n\
    Connection: close\r\n";

impl Reply {
    pub(super) fn html(body: &'static str) -> Self {
        Reply::of("text/html; charset=utf-8", body)
    }

    pub(super) fn of(kind: &'static str, body: impl Into<Cow<'static, str>>) -> Self {
        Reply { code: Code::OK, kind, body: body.into(), allow: None, retry_after: None }
    }

    pub(super) fn json(body: String) -> Self {
        Reply::of("application/json", body)
    }

    /// A sentence.
    pub(super) fn say(code: Code, sentence: impl fmt::Display) -> Self {
        Reply { code, ..Reply::of("text/plain; charset=utf-8", format!("{sentence}\n")) }
    }

    /// The same, for a client that should retry after this long.
    pub(super) fn later(code: Code, wait: Duration, sentence: impl fmt::Display) -> Self {
        let seconds = wait.as_millis().div_ceil(1000) as u64;
        Reply { retry_after: Some(seconds), ..Reply::say(code, sentence) }
    }

    /// The same, and what may be done.
    pub(super) fn not_allowed(allow: &'static str) -> Self {
        let reply = Reply::say(Code::METHOD_NOT_ALLOWED, "That method is not allowed here.");
        Reply { allow: Some(allow), ..reply }
    }

    /// The bytes; without the body if only the head was asked for.
    pub(super) fn encode(&self, with_body: WithBody) -> Vec<u8> {
        let mut out = self.to_string().into_bytes();
        if with_body == WithBody::Yes {
            out.extend_from_slice(self.body.as_bytes());
        }
        out
    }
}

/// Whether the body of a reply was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WithBody {
    Yes,
    No,
}

/// The head.
impl fmt::Display for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HTTP/1.1 {}\r\nContent-Type: {}\r\n", self.code.0, self.kind)?;
        write!(f, "Content-Length: {}\r\n{FIELDS}", self.body.len())?;
        if let Some(allow) = self.allow {
            write!(f, "Allow: {allow}\r\n")?;
        }
        if let Some(seconds) = self.retry_after {
            write!(f, "Retry-After: {seconds}\r\n")?;
        }
        if self.code == Code::UNAUTHORIZED {
            f.write_str("WWW-Authenticate: Bearer\r\n")?;
        }
        f.write_str("\r\n")
    }
}

/// The head of a stream of events, which has no end of its own.
pub(super) fn stream_head() -> String {
    format!("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n{FIELDS}\r\nretry: 1000\n\n")
}

impl From<Refusal> for Reply {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Malformed => {
                Reply::say(Code::BAD_REQUEST, "That is not a valid HTTP request.")
            }
            Refusal::TooLong => {
                Reply::say(Code::FIELDS_TOO_LARGE, "The request header is too long.")
            }
            Refusal::Body => Reply::say(Code::CONTENT_TOO_LARGE, "Requests must not have a body."),
            Refusal::Slow => Reply::say(Code::REQUEST_TIMEOUT, "The request took too long."),
        }
    }
}

impl From<Crowd> for Reply {
    fn from(crowd: Crowd) -> Self {
        let soon = Duration::from_secs(5);
        match crowd {
            Crowd::Everywhere => Reply::later(
                Code::SERVICE_UNAVAILABLE,
                soon,
                "Too many connections to this page. Close one that is open elsewhere, or try \
                 again.",
            ),
            Crowd::Address => Reply::later(
                Code::TOO_MANY_REQUESTS,
                soon,
                "Your address has too many connections to this page. Close one, or try again.",
            ),
        }
    }
}

impl From<Foreign> for Reply {
    fn from(foreign: Foreign) -> Self {
        match foreign {
            Foreign::Host => Reply::say(
                Code::MISDIRECTED_REQUEST,
                "This page answers only to an IP address or localhost.",
            ),
            Foreign::Origin => {
                Reply::say(Code::FORBIDDEN, "Requests from other sites are not allowed.")
            }
        }
    }
}
