//! What a browser gets: a reply with its head.

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
    body: Cow<'static, str>,
    /// What may be done here instead.
    allow: Option<&'static str>,
    /// When to ask again, in s.
    retry_after: Option<u64>,
}

/// The codes that are used here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Code {
    Ok,
    Accepted,
    BadRequest,
    Unauthorized,
    Forbidden,
    NotFound,
    MethodNotAllowed,
    RequestTimeout,
    Conflict,
    ContentTooLarge,
    MisdirectedRequest,
    TooManyRequests,
    FieldsTooLarge,
    ServiceUnavailable,
}

impl Code {
    fn line(self) -> &'static str {
        match self {
            Code::Ok => "200 OK",
            Code::Accepted => "202 Accepted",
            Code::BadRequest => "400 Bad Request",
            Code::Unauthorized => "401 Unauthorized",
            Code::Forbidden => "403 Forbidden",
            Code::NotFound => "404 Not Found",
            Code::MethodNotAllowed => "405 Method Not Allowed",
            Code::RequestTimeout => "408 Request Timeout",
            Code::Conflict => "409 Conflict",
            Code::ContentTooLarge => "413 Content Too Large",
            Code::MisdirectedRequest => "421 Misdirected Request",
            Code::TooManyRequests => "429 Too Many Requests",
            Code::FieldsTooLarge => "431 Request Header Fields Too Large",
            Code::ServiceUnavailable => "503 Service Unavailable",
        }
    }
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
        Reply { code: Code::Ok, kind, body: body.into(), allow: None, retry_after: None }
    }

    pub(super) fn json(body: String) -> Self {
        Reply::of("application/json", body)
    }

    /// A sentence.
    pub(super) fn say(code: Code, sentence: impl fmt::Display) -> Self {
        Reply { code, ..Reply::of("text/plain; charset=utf-8", format!("{sentence}\n")) }
    }

    /// The same, to one who is to ask again after so long.
    pub(super) fn later(code: Code, wait: Duration, sentence: impl fmt::Display) -> Self {
        let seconds = wait.as_millis().div_ceil(1000) as u64;
        Reply { retry_after: Some(seconds), ..Reply::say(code, sentence) }
    }

    /// The same, and what may be done.
    pub(super) fn not_allowed(allow: &'static str) -> Self {
        let reply = Reply::say(Code::MethodNotAllowed, "That cannot be done here.");
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
        write!(f, "HTTP/1.1 {}\r\nContent-Type: {}\r\n", self.code.line(), self.kind)?;
        write!(f, "Content-Length: {}\r\n{FIELDS}", self.body.len())?;
        if let Some(allow) = self.allow {
            write!(f, "Allow: {allow}\r\n")?;
        }
        if let Some(seconds) = self.retry_after {
            write!(f, "Retry-After: {seconds}\r\n")?;
        }
        if self.code == Code::Unauthorized {
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
            Refusal::Malformed => Reply::say(Code::BadRequest, "That is no HTTP request."),
            Refusal::TooLong => {
                Reply::say(Code::FieldsTooLarge, "The head of the request is too long.")
            }
            Refusal::Body => Reply::say(Code::ContentTooLarge, "Nothing here takes a body."),
            Refusal::Slow => Reply::say(Code::RequestTimeout, "The request took too long."),
        }
    }
}

impl From<Crowd> for Reply {
    fn from(crowd: Crowd) -> Self {
        let soon = Duration::from_secs(5);
        match crowd {
            Crowd::Everywhere => Reply::later(
                Code::ServiceUnavailable,
                soon,
                "Too many are looking at this page. Close one that is open elsewhere, or try again.",
            ),
            Crowd::Address => Reply::later(
                Code::TooManyRequests,
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
                Code::MisdirectedRequest,
                "This page answers to an IP address or to localhost, and to no other name.",
            ),
            Foreign::Origin => {
                Reply::say(Code::Forbidden, "Another site's page may not ask for this.")
            }
        }
    }
}
