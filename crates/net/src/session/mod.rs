//! [`Session`], the same at both ends, and the small machines it is made of.
//!
//! ```text
//! session     one peer: what comes in is judged by it, what goes out leaves through it
//! limiter     how much strangers may ask
//! cookie      who receives at its address
//! secrets     what nobody guesses
//! retry       when to ask again, and how often
//! replay_window which datagrams are the peer's, and new
//! liveness    whether the peer is still there
//! pinger      questions of our own, and what their answers are worth
//! round_trip  the figures that their samples make
//! reason      why it is over, in words
//! ```
//!
//! Below lies [`crate::wire`], whose packets these judge or answer; above, whoever owns them.
//! None has a clock or chance of its own, and none allocates after it was made.

mod cookie;
mod limiter;
mod liveness;
mod pinger;
mod reason;
mod replay_window;
mod retry;
mod round_trip;
mod secrets;
#[allow(clippy::module_inception, reason = "it is the session")]
mod session;

pub use cookie::{CookieCheck, CookieJar};
pub use limiter::{Allowance, Bucket, Limiter, LimiterConfig, Prefix, Rate, Wider};
pub use liveness::{Life, LifeEvent, Limits, Liveness};
pub use pinger::{PingCounts, Pinger, Question, Verdict};
pub use reason::EndReason;
pub use replay_window::{Arrival, ArrivalCounts, ReplayWindow};
pub use retry::{Retry, RetryPolicy, RetryStep};
pub use round_trip::{Grade, RoundTrip, Sample};
pub use secrets::{Secrets, is_same_secret};
pub use session::{Opening, Outgoing, RESEND_SLACK, Session, Unopened};
