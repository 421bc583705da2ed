//! What happened on the line, in the documents' words: the log lines of document 004, section 7.3, the
//! latency lines of 000 and 001, and what was dropped or answered at the endpoint. A [`super::Journal`]
//! keeps them; text is made only when one is read.

use std::fmt;

use crate::peer::PeerAddr;
use crate::session::{Question, Verdict};
use crate::time::Time;
use crate::wire::{Fault, Malformed};

/// One line of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogLine {
    /// The client sent an input.
    InputSent {
        /// Its tick; in `rtype` its number.
        seq: u32,
        /// The buttons.
        flags: u128,
        /// The client's clock in ms.
        ts: u32,
    },
    /// The client got a snapshot.
    AckReceived {
        /// The last input that it acknowledges.
        seq: u32,
        /// How many inputs wait on.
        pending: usize,
    },
    /// The server got an input.
    InputRecv {
        /// Whose.
        player: u32,
        /// Its tick.
        seq: u32,
        /// Inputs before it that no datagram has brought: see [`super::Received::gap`].
        gap: u32,
    },
    /// The server applied an input.
    InputProcess {
        /// Whose.
        player: u32,
        /// Its tick.
        seq: u32,
        /// See [`super::InputQueue::last_ack`].
        last_ack: u32,
    },
    /// Between the last input that was applied and this one, ticks ran without theirs.
    InputsLost {
        /// Whose.
        player: u32,
        /// How many.
        lost: u32,
        /// The first of them.
        first: u32,
        /// The last of them.
        last: u32,
    },
    /// The server sent a snapshot.
    SnapshotSent {
        /// Its tick.
        tick: u32,
        /// How many entities it shows.
        entities: usize,
        /// To whom.
        player: u32,
        /// The last input of theirs that was applied; 0 before the first.
        ack: u32,
    },
    /// Nothing came from a player for a while.
    Inactive {
        /// Who.
        player: u32,
        /// For how long.
        secs: u64,
    },
    /// A Pong measured the round trip.
    Latency {
        /// The round trip.
        ms: u64,
        /// Of which Ping.
        seq: u32,
    },
    /// The same of a player, as the server measures it.
    PlayerLatency {
        /// Who.
        player: u32,
        /// The round trip.
        ms: u64,
        /// Of which Ping.
        seq: u32,
    },
    /// A player's round trip is above [`crate::room::RoomConfig::high_latency`].
    HighLatency {
        /// Who.
        player: u32,
        /// The round trip.
        ms: u64,
    },
    /// A Pong to no Ping that waits for one.
    PongUnknown {
        /// Which Ping it names.
        seq: u32,
    },
    /// A Pong whose Ping was sent later than now.
    PongFuture,
    /// A Pong that does not have its Ping's timestamp.
    PongMismatch,
    /// Who looks for a game was told of this one.
    SearchAnswered {
        /// Where to.
        to: PeerAddr,
    },
    /// A HelloAck of `rtype`, or a HELLO_ACK of `lan`, was sent.
    HelloAckSent {
        /// Where to.
        to: PeerAddr,
    },
    /// A packet from who is not the other end.
    WrongSender {
        /// Where from.
        from: PeerAddr,
        /// Whether it is a HelloAck.
        hello_ack: bool,
    },
    /// A packet that the other end has no reason to send.
    WrongType {
        /// Where from.
        from: PeerAddr,
        /// What it is.
        name: &'static str,
    },
    /// Bytes that are no packet.
    Malformed {
        /// Where from.
        from: PeerAddr,
        /// How many bytes.
        len: usize,
        /// What is wrong with them.
        error: Malformed,
    },
    /// Lines are missing here: nobody asked for them in time.
    Missed {
        /// How many.
        lines: u64,
    },
}

/// What anyone can cause with a datagram, any number of times: whoever writes such lines writes only
/// so many of each kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LineKind {
    /// [`LogLine::SearchAnswered`].
    Search,
    /// [`LogLine::HelloAckSent`].
    HelloAck,
    /// [`LogLine::WrongSender`].
    Sender,
    /// [`LogLine::WrongType`], and bytes of no known type.
    Type,
    /// Bytes that are too many or too few.
    Size,
    /// A HelloAck with something in it.
    Payload,
    /// Bytes that are wrong in another way.
    Value,
    /// A Pong that is not good.
    Pong,
}

impl LineKind {
    /// All of them.
    pub const ALL: [LineKind; 8] = [
        LineKind::Search,
        LineKind::HelloAck,
        LineKind::Sender,
        LineKind::Type,
        LineKind::Size,
        LineKind::Payload,
        LineKind::Value,
        LineKind::Pong,
    ];
}

impl fmt::Display for LineKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            LineKind::Search => "Discovery answered",
            LineKind::HelloAck => "HelloAck sent",
            LineKind::Sender => "Invalid sender",
            LineKind::Type => "Wrong message type",
            LineKind::Size => "Invalid packet size",
            LineKind::Payload => "HelloAck has unexpected payload",
            LineKind::Value => "Invalid packet",
            LineKind::Pong => "Invalid Pong",
        })
    }
}

impl LogLine {
    /// What there is to say of a Pong: the round trip, or what is wrong with it. Of a second one to
    /// the same Ping there is nothing.
    pub fn of_pong(now: Time, pong: Question, verdict: Verdict) -> Option<Self> {
        let Question { sequence: seq, .. } = pong;
        match verdict {
            Verdict::Sample(rtt) => Some(LogLine::Latency { ms: rtt.as_millis() as u64, seq }),
            Verdict::Unknown | Verdict::Stale => Some(LogLine::PongUnknown { seq }),
            Verdict::Corrupt if pong.is_ahead(now) => Some(LogLine::PongFuture),
            Verdict::Corrupt => Some(LogLine::PongMismatch),
            Verdict::Duplicate => None,
        }
    }

    /// Which kind of line it is, if anyone can cause it; nothing for what a match says of itself.
    pub const fn kind(&self) -> Option<LineKind> {
        Some(match self {
            LogLine::SearchAnswered { .. } => LineKind::Search,
            LogLine::HelloAckSent { .. } => LineKind::HelloAck,
            LogLine::WrongSender { .. } => LineKind::Sender,
            LogLine::WrongType { .. } => LineKind::Type,
            LogLine::Malformed { error, .. } => match error.fault {
                Fault::Trailing { .. } if is_hello_ack(error) => LineKind::Payload,
                Fault::Truncated
                | Fault::Trailing { .. }
                | Fault::WrongSize { .. }
                | Fault::ByteOrder => LineKind::Size,
                Fault::UnknownType(_) | Fault::NoDialect => LineKind::Type,
                _ => LineKind::Value,
            },
            LogLine::PongUnknown { .. } | LogLine::PongFuture | LogLine::PongMismatch => {
                LineKind::Pong
            }
            _ => return None,
        })
    }
}

/// Whether the packet was a HelloAck of `rtype` or `lan`, which has no payload.
const fn is_hello_ack(error: &Malformed) -> bool {
    matches!(error.field.as_bytes(), b"HelloAck" | b"HELLO_ACK")
}

impl fmt::Display for LogLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            LogLine::InputSent { seq, flags, ts } => {
                write!(f, "[Client] INPUT_SENT    seq={seq} flags={flags:#04x} ts={ts}")
            }
            LogLine::AckReceived { seq, pending } => {
                write!(f, "[Client] ACK_RECEIVED  seq={seq} ({pending} inputs pending)")
            }
            LogLine::InputRecv { player, seq, gap } => {
                write!(f, "[Server] INPUT_RECV    player={player} seq={seq} (gap={gap})")
            }
            LogLine::InputProcess { player, seq, last_ack } => {
                write!(f, "[Server] INPUT_PROCESS player={player} seq={seq} last_ack={last_ack}")
            }
            LogLine::InputsLost { player, lost, first, last } => {
                write!(f, "Player {player} lost {lost} inputs (seq {first}-{last})")
            }
            LogLine::SnapshotSent { tick, entities, player, ack } => {
                write!(f, "[Server] SNAPSHOT_SENT tick={tick} entities={entities} ")?;
                write!(f, "(player{player}_ack={ack})")
            }
            LogLine::Inactive { player, secs } => {
                write!(f, "Player {player} inactive for {secs}s")
            }
            LogLine::Latency { ms, seq } => write!(f, "Latency: {ms}ms (seq={seq})"),
            LogLine::PlayerLatency { player, ms, seq } => {
                write!(f, "Player {player} latency: {ms}ms (seq={seq})")
            }
            LogLine::HighLatency { player, ms } => {
                write!(f, "Player {player} has high latency: {ms}ms")
            }
            LogLine::PongUnknown { seq } => write!(f, "Pong for unknown sequence: {seq}"),
            LogLine::PongFuture => f.write_str("Pong timestamp is in the future!"),
            LogLine::PongMismatch => f.write_str("Timestamp mismatch in Pong!"),
            LogLine::SearchAnswered { to } => write!(f, "{}: {to}", LineKind::Search),
            LogLine::HelloAckSent { to } => write!(f, "{} to {to}", LineKind::HelloAck),
            LogLine::WrongSender { from, hello_ack: true } => {
                write!(f, "HelloAck from unexpected sender: {from}")
            }
            LogLine::WrongSender { from, hello_ack: false } => {
                write!(f, "{}: {from}", LineKind::Sender)
            }
            LogLine::WrongType { from, name } => {
                write!(f, "{}: {name} from {from}", LineKind::Type)
            }
            LogLine::Malformed { from, len, error } => {
                let kind = self.kind().unwrap_or(LineKind::Value);
                write!(f, "{kind}: {len} bytes from {from}, {error}")
            }
            LogLine::Missed { lines } => {
                write!(f, "{lines} lines are missing here: nobody read them in time")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::session::Pinger;

    #[test]
    fn the_log_lines_are_those_of_document_004() {
        let lines = [
            LogLine::InputSent { seq: 12345, flags: 5, ts: 1_234_567_890 },
            LogLine::AckReceived { seq: 12340, pending: 5 },
            LogLine::InputRecv { player: 1, seq: 12345, gap: 0 },
            LogLine::InputProcess { player: 1, seq: 12345, last_ack: 12345 },
            LogLine::SnapshotSent { tick: 6789, entities: 20, player: 1, ack: 12345 },
            LogLine::InputsLost { player: 1, lost: 2, first: 101, last: 102 },
            LogLine::Inactive { player: 1, secs: 5 },
        ];
        let document = [
            "[Client] INPUT_SENT    seq=12345 flags=0x05 ts=1234567890",
            "[Client] ACK_RECEIVED  seq=12340 (5 inputs pending)",
            "[Server] INPUT_RECV    player=1 seq=12345 (gap=0)",
            "[Server] INPUT_PROCESS player=1 seq=12345 last_ack=12345",
            "[Server] SNAPSHOT_SENT tick=6789 entities=20 (player1_ack=12345)",
            "Player 1 lost 2 inputs (seq 101-102)",
            "Player 1 inactive for 5s",
        ];
        assert_eq!(lines.map(|line| line.to_string()), document);
        assert!(lines.iter().all(|line| line.kind().is_none()));
    }

    #[test]
    fn flags_have_as_many_digits_as_they_need() {
        let line = LogLine::InputSent { seq: 1, flags: 0x8001, ts: 0 };
        assert_eq!(line.to_string(), "[Client] INPUT_SENT    seq=1 flags=0x8001 ts=0");
    }

    #[test]
    fn a_pong_is_a_latency_or_one_of_three_complaints_as_in_document_000() {
        let mut pinger = Pinger::starting_at(Duration::from_secs(1), 5);
        let ping = pinger.ask(Time::from_millis(20_000));
        let at = Time::from_millis(20_045);
        let mut line = |pong| {
            let verdict = pinger.handle_answer(at, pong);
            LogLine::of_pong(at, pong, verdict).map(|line| line.to_string())
        };
        let said = [
            line(Question { sequence: 99, ..ping }),
            line(Question { timestamp: 20_046, ..ping }),
            line(Question { timestamp: 19_999, ..ping }),
            line(ping),
            // "Silently ignore duplicate".
            line(ping),
        ];
        let document = [
            Some("Pong for unknown sequence: 99"),
            Some("Pong timestamp is in the future!"),
            Some("Timestamp mismatch in Pong!"),
            Some("Latency: 45ms (seq=5)"),
            None,
        ];
        assert_eq!(said.each_ref().map(Option::as_deref), document);
    }

    #[test]
    fn latencies_of_players_are_those_of_document_001() {
        let line = LogLine::HighLatency { player: 2, ms: 310 };
        assert_eq!(line.to_string(), "Player 2 has high latency: 310ms");
        let line = LogLine::PlayerLatency { player: 2, ms: 45, seq: 5 };
        assert_eq!(line.to_string(), "Player 2 latency: 45ms (seq=5)");
    }

    #[test]
    fn what_is_dropped_is_told_in_the_words_of_002_and_003() {
        let from = PeerAddr::socket(([10, 0, 0, 1], 4242).into());
        let malformed =
            |field, fault| LogLine::Malformed { from, len: 9, error: Malformed { field, fault } };
        let lines = [
            (LogLine::SearchAnswered { to: from }, "Discovery answered: 10.0.0.1:4242"),
            (LogLine::HelloAckSent { to: from }, "HelloAck sent to 10.0.0.1:4242"),
            (LogLine::WrongSender { from, hello_ack: false }, "Invalid sender: 10.0.0.1:4242"),
            (
                LogLine::WrongSender { from, hello_ack: true },
                "HelloAck from unexpected sender: 10.0.0.1:4242",
            ),
            (
                LogLine::WrongType { from, name: "State" },
                "Wrong message type: State from 10.0.0.1:4242",
            ),
            (
                malformed("type", Fault::UnknownType(9)),
                "Wrong message type: 9 bytes from 10.0.0.1:4242, type: no packet has type 0x09",
            ),
            (
                malformed("size", Fault::WrongSize { stated: 8, actual: 2 }),
                "Invalid packet size: 9 bytes from 10.0.0.1:4242, size: says 8, but the bytes make \
                 it 2",
            ),
            (
                malformed("HelloAck", Fault::Trailing { extra: 5 }),
                "HelloAck has unexpected payload: 9 bytes from 10.0.0.1:4242, HelloAck: 5 bytes \
                 too many behind it",
            ),
        ];
        for (line, text) in lines {
            assert_eq!(line.to_string(), text);
            assert!(line.kind().is_some());
        }
    }
}
