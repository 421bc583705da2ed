//! The status of a server, as plain data: the game loop writes it every second, the page and `/metrics` read
//! it.

use std::time::Duration;

use backspin::chat::ChatLine;
use backspin::endpoint::EndpointCounts;
use backspin::peer::LimitKey;
use backspin::room::{LeftOutCounts, MessageCounts};
use backspin::wire::Name;
use serde::{Serialize, Serializer};

use crate::serve::meter::{Histogram, Ticks, Traffic};

/// The status of a server.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Status {
    /// Counts them, from 1.
    pub(crate) number: u64,
    /// What the server calls itself.
    pub(crate) name: Name,
    /// How long it has been running.
    #[serde(rename = "uptime_ms", serialize_with = "millis")]
    pub(crate) uptime: Duration,
    /// Whether it is draining.
    pub(crate) draining: bool,
    /// Its sessions, including those of disconnected players.
    pub(crate) sessions: usize,
    /// What went through its sockets.
    pub(crate) traffic: Traffic,
    /// How its ticks went.
    #[serde(serialize_with = "ticks")]
    pub(crate) ticks: Ticks,
    /// Ticks that were skipped, in all rooms.
    pub(crate) skipped_ticks: u64,
    /// What became of messages.
    #[serde(serialize_with = "messages")]
    pub(crate) messages: MessageCounts,
    /// What was left out because of limits, in all rooms.
    #[serde(serialize_with = "left_out")]
    pub(crate) left_out: LeftOutCounts,
    /// Log lines that were not read in time.
    pub(crate) log_dropped: u64,
    /// Dropped datagrams, by reason.
    #[serde(serialize_with = "drops")]
    pub(crate) dropped: Drops,
    /// Its rooms, in the order of their numbers.
    pub(crate) rooms: Vec<RoomStatus>,
}

/// One room.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct RoomStatus {
    /// Its number, from 1.
    pub(crate) room: u32,
    pub(crate) name: Name,
    /// What is played.
    pub(crate) game: &'static str,
    /// How many may play.
    pub(crate) capacity: u8,
    /// The last tick.
    pub(crate) tick: u32,
    /// Ticks a second.
    pub(crate) tick_rate: u8,
    /// Ticks that were skipped.
    pub(crate) skipped_ticks: u64,
    /// Whether it is over its budget, and skips ticks all the time.
    pub(crate) slow: bool,
    /// How much was left out because the game reached a limit.
    pub(crate) left_out: u64,
    /// What that was last, in a sentence.
    pub(crate) last_left_out: Option<String>,
    /// The last lines of chat: told only to who has the token.
    #[serde(skip)]
    pub(crate) chat: Vec<ChatLine>,
    /// The players whom the server plays, by their numbers in the room.
    pub(crate) bots: Vec<u32>,
    /// The members.
    pub(crate) members: Vec<MemberStatus>,
}

/// One member of a room.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct MemberStatus {
    /// The number of the player in the room.
    pub(crate) player: u32,
    pub(crate) name: Name,
    /// Its address, which is never shown.
    #[serde(skip)]
    pub(crate) address: Option<LimitKey>,
    /// Whether the member only watches.
    pub(crate) watches: bool,
    /// `native`, `lan` or `rtype`.
    pub(crate) dialect: &'static str,
    /// Whether the member is here, or only its place.
    pub(crate) present: bool,
    #[serde(rename = "rtt_ms", serialize_with = "fine_millis")]
    pub(crate) rtt: Option<Duration>,
    #[serde(rename = "jitter_ms", serialize_with = "fine_millis")]
    pub(crate) jitter: Option<Duration>,
    /// The share that is lost of what the member sends, over the last seconds; `None` where it
    /// cannot be told.
    #[serde(serialize_with = "share")]
    pub(crate) loss: Option<f64>,
    /// Inputs that have come.
    pub(crate) inputs: u64,
    /// How many of them in a second.
    #[serde(serialize_with = "tenths")]
    pub(crate) input_rate: f64,
    /// Ticks that ran without a real input; `None` where inputs have no ticks.
    pub(crate) gaps: Option<u64>,
    /// How many of them in a second.
    #[serde(serialize_with = "tenths")]
    pub(crate) gap_rate: f64,
    /// What `loss` is reckoned from.
    #[serde(skip)]
    pub(crate) arrivals: Arrivals,
}

/// How many of a member's numbered datagrams were to come, and how many did not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Arrivals {
    pub(crate) expected: u64,
    pub(crate) missing: u64,
}

/// What was dropped, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Drops {
    pub(crate) endpoint: EndpointCounts,
    /// What the system did not take.
    pub(crate) unsent: u64,
}

impl Drops {
    /// Every reason and how often it was.
    pub(crate) fn by_reason(&self) -> [(&'static str, u64); 15] {
        let Drops { endpoint, unsent } = *self;
        // Named one by one, so that a new count cannot be left out. What came in the wrong byte order is among
        // the malformed.
        macro_rules! reasons {
            ($($reason:ident)*) => {{
                let EndpointCounts { byte_order: _, $($reason),* } = endpoint;
                [$((stringify!($reason), $reason),)* ("unsent", unsent)]
            }};
        }
        reasons! {
            malformed stranger_limit player_limit answer_limit stray numbers bad_proof tokenless
            reach unguarded password_limit guest_limit banned other_version
        }
    }

    /// All of them.
    pub(crate) fn total(&self) -> u64 {
        self.by_reason().iter().map(|(_, count)| count).sum()
    }
}

impl Status {
    /// Every member with its room.
    pub(crate) fn members(&self) -> impl Iterator<Item = (&RoomStatus, &MemberStatus)> {
        self.rooms.iter().flat_map(|room| room.members.iter().map(move |member| (room, member)))
    }

    /// The room with a number.
    pub(super) fn room(&self, number: u32) -> Option<&RoomStatus> {
        self.rooms.iter().find(|room| room.room == number)
    }

    /// Connected players.
    pub(crate) fn players(&self) -> impl Iterator<Item = &MemberStatus> {
        self.members().map(|(_, member)| member).filter(|member| member.present && !member.watches)
    }
}

/// How fast the shown loss follows: what is `LOSS_MEMORY` seconds old still counts by a third.
const LOSS_MEMORY: f64 = 5.0;

impl MemberStatus {
    /// Reckons what takes two looks, `elapsed` after the look `before`.
    pub(crate) fn compare(&mut self, before: Option<&MemberStatus>, elapsed: Duration) {
        let seconds = elapsed.as_secs_f64();
        let Some(before) = before.filter(|_| seconds > 0.0) else { return };
        self.input_rate = self.inputs.saturating_sub(before.inputs) as f64 / seconds;
        if let (Some(now), Some(then)) = (self.gaps, before.gaps) {
            self.gap_rate = now.saturating_sub(then) as f64 / seconds;
        }
        let (now, then) = (self.arrivals, before.arrivals);
        // Counts restart when a player comes back.
        let Some(expected) = now.expected.checked_sub(then.expected) else { return };
        let missing = now.missing.saturating_sub(then.missing);
        let newest = (expected > 0).then(|| missing as f64 / expected as f64);
        self.loss = match (before.loss, newest) {
            (Some(old), Some(new)) => {
                let weight = 1.0 - (-seconds / LOSS_MEMORY).exp();
                Some(old + (new.min(1.0) - old) * weight)
            }
            (old, new) => new.map(|new| new.min(1.0)).or(old),
        };
    }
}

fn millis<S: Serializer>(time: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(time.as_millis() as u64)
}

/// A time in ms with three places, as it stands on the page and, in seconds, in `/metrics`.
fn fine_millis<S: Serializer>(time: &Option<Duration>, serializer: S) -> Result<S::Ok, S::Error> {
    time.map(|time| time.as_micros() as f64 / 1e3).serialize(serializer)
}

fn share<S: Serializer>(share: &Option<f64>, serializer: S) -> Result<S::Ok, S::Error> {
    share.map(round_share).serialize(serializer)
}

fn tenths<S: Serializer>(rate: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(round_rate(*rate))
}

/// A share with as many places as are worth telling.
pub(super) fn round_share(share: f64) -> f64 {
    (share * 1e4).round() / 1e4
}

/// A rate with as many places as are worth telling.
pub(super) fn round_rate(rate: f64) -> f64 {
    (rate * 10.0).round() / 10.0
}

fn messages<S: Serializer>(counts: &MessageCounts, serializer: S) -> Result<S::Ok, S::Error> {
    let MessageCounts { overruns, chat_refused, lost, malformed } = *counts;
    serializer.collect_map([
        ("sessions_ended", overruns),
        ("chat_refused", chat_refused),
        ("unreliable_lost", lost),
        ("malformed", malformed),
    ])
}

fn left_out<S: Serializer>(counts: &LeftOutCounts, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(counts.by_kind())
}

fn ticks<S: Serializer>(ticks: &Ticks, serializer: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct TickFigures {
        count: u64,
        late: u64,
        late_by_machine: u64,
        work_us: Quantiles,
        lateness_us: Quantiles,
    }
    TickFigures {
        count: ticks.work.total(),
        late: ticks.late,
        late_by_machine: ticks.held_up,
        work_us: Quantiles::of(&ticks.work),
        lateness_us: Quantiles::of(&ticks.lateness),
    }
    .serialize(serializer)
}

/// A histogram in two numbers, in µs.
#[derive(Serialize)]
pub(super) struct Quantiles {
    pub(super) p50: Option<u64>,
    pub(super) p99: Option<u64>,
}

impl Quantiles {
    pub(super) fn of(histogram: &Histogram) -> Self {
        let micros = |share| histogram.quantile(share).map(|time| time.as_micros() as u64);
        Quantiles { p50: micros(0.5), p99: micros(0.99) }
    }
}

fn drops<S: Serializer>(drops: &Drops, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(drops.by_reason())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn member(inputs: u64, expected: u64, missing: u64) -> MemberStatus {
        let arrivals = Arrivals { expected, missing };
        MemberStatus { inputs, arrivals, ..MemberStatus::default() }
    }

    fn compared(before: &MemberStatus, mut after: MemberStatus) -> MemberStatus {
        after.compare(Some(before), SECOND);
        after
    }

    #[test]
    fn a_rate_is_what_came_since_the_last_look() {
        let after = compared(&member(100, 0, 0), member(160, 0, 0));
        assert_eq!(after.input_rate, 60.0);
        assert_eq!(after.loss, None, "nothing was expected");
    }

    #[test]
    fn loss_follows_within_seconds_and_forgets() {
        let mut last = member(0, 0, 0);
        for second in 1..=30 {
            last = compared(&last, member(0, second * 100, second * 10));
        }
        assert!((last.loss.unwrap() - 0.1).abs() < 1e-9, "{:?}", last.loss);
        for second in 31..=50 {
            last = compared(&last, member(0, second * 100, 300));
        }
        assert!(last.loss.unwrap() < 0.002, "{:?}", last.loss);
    }

    #[test]
    fn counts_that_begin_anew_are_no_loss() {
        let before = compared(&member(0, 0, 0), member(0, 1000, 100));
        let back = compared(&before, member(0, 10, 0));
        assert_eq!(back.loss, None);
        assert_eq!(compared(&back, member(0, 70, 0)).loss, Some(0.0));
        // A late one that arrives after all takes back what was missing.
        assert_eq!(compared(&member(0, 100, 5), member(0, 160, 2)).loss, Some(0.0));
    }

    #[test]
    fn a_status_is_told_in_whole_numbers_and_few_places() {
        let rtt = Some(Duration::from_nanos(12_345_678));
        let member = MemberStatus { rtt, loss: Some(1.0 / 3.0), ..member(7, 0, 0) };
        let json = serde_json::to_value(member).unwrap();
        assert_eq!(json["rtt_ms"], 12.345);
        assert_eq!(json["loss"], 0.3333);
        assert_eq!(json["jitter_ms"], serde_json::Value::Null);
        let status = Status { uptime: Duration::from_micros(1_500_999), ..Status::default() };
        let json = serde_json::to_value(status).unwrap();
        assert_eq!(json["uptime_ms"], 1_500);
        assert_eq!(json["dropped"]["malformed"], 0);
        assert_eq!(json["ticks"]["work_us"]["p99"], serde_json::Value::Null);
    }
}
