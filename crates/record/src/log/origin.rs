//! How a node began: everything needed to make it again.

use std::fmt;
use std::time::Duration;

use super::super::field::{self, put_bytes, put_name, put_varint, small, varint, varint_upto};
use super::LONGEST;
use backspin::endpoint::{Audience, EndpointConfig, Limits, Tokenless, Unguarded};
use backspin::matching::MatchKey;
use backspin::room::RoomConfig;
use backspin::session::{self, Wider};
use backspin::time::Time;
use backspin::wire::native::{PROTOCOL, Token};
use backspin::wire::{Malformed, Name, Reader};

/// What the first frame of a log says.
///
/// ```text
/// | protocol u16 | dialects u8 | unix_ms | start ns | seed, 32 bytes | configuration of the endpoint |
/// ```
#[derive(Clone)]
pub struct Origin {
    /// What wrote the log.
    pub build: Build,
    /// The wall clock's time at the start, in ms since 1970.
    pub unix_ms: u64,
    /// The node's own time at the start.
    pub start: Time,
    pub(super) seed: [u8; 32],
    pub(super) config: EndpointConfig,
}

/// What must be the same in two programs for one to replay the other's log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Build {
    /// The version of `native`.
    pub protocol: u16,
    /// A bit for each dialect of others: 1 is `lan`, 2 is `rtype`, 4 is `ack`.
    pub dialects: u8,
}

impl Build {
    /// This one.
    pub const HERE: Build = Build {
        protocol: PROTOCOL,
        // `lan`, `rtype` and `ack`.
        dialects: 0b111,
    };

    /// Before there was `ack`.
    const WITHOUT_ACK: Build = Build { dialects: 0b11, ..Build::HERE };

    /// How many dialects of others the server spoke that wrote a log, if this program can replay it: new ones
    /// come last in the list, so that an older server spoke the first of them.
    pub(super) fn dialects_spoken(self) -> Option<usize> {
        let is_known = self == Build::HERE || self == Build::WITHOUT_ACK;
        is_known.then_some(self.dialects.count_ones() as usize)
    }
}

impl Origin {
    /// What the server calls itself.
    pub fn name(&self) -> Name {
        self.config.name
    }

    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        let Origin { build, unix_ms, start, seed, config } = self;
        out.extend_from_slice(&build.protocol.to_be_bytes());
        out.push(build.dialects);
        put_varint(out, *unix_ms);
        put_varint(out, start.as_nanos());
        out.extend_from_slice(seed);
        encode_endpoint(config, out);
    }

    /// Reads as far as the build, and the rest only if it is this one: another may have written
    /// it otherwise.
    pub(super) fn decode(r: &mut Reader<'_>) -> Result<Result<Self, Build>, Malformed> {
        let build = Build { protocol: r.u16_be("protocol")?, dialects: r.u8("dialects")? };
        if build.dialects_spoken().is_none() {
            return Ok(Err(build));
        }
        let unix_ms = varint(r, "unix_ms")?;
        let start = Time::from_nanos(varint_upto(r, "start", LONGEST.as_nanos() as u64)?);
        let seed = r.array("seed")?;
        let config = decode_endpoint(r)?;
        Ok(Ok(Origin { build, unix_ms, start, seed, config }))
    }
}

impl fmt::Debug for Origin {
    /// Without the seed, which would let a reader forge every cookie and ticket.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Origin { build, unix_ms, start, config, .. } = self;
        let mut shown = f.debug_struct("Origin");
        shown.field("build", build).field("unix_ms", unix_ms).field("start", start);
        shown.field("name", &config.name).finish_non_exhaustive()
    }
}

/// The dialects whose ports a log has, and the usual ones.
const OTHER_PORTS: [(&str, u16); 2] = [("lan", 54000), ("rtype", 4242)];

fn encode_endpoint(config: &EndpointConfig, out: &mut Vec<u8>) {
    let EndpointConfig {
        name,
        native_port,
        other_ports: _,
        token,
        unguarded,
        tokenless,
        reach,
        limits,
        match_key,
    } = config;
    put_name(out, name);
    put_varint(out, (*native_port).into());
    for (dialect, usual) in OTHER_PORTS {
        put_varint(out, config.port_of(dialect).unwrap_or(usual).into());
    }
    put_bytes(out, token);
    out.push(u8::from(*unguarded == Unguarded::Allowed));
    out.push(u8::from(*tokenless == Tokenless::Allowed));
    out.push(u8::from(*reach == Audience::Everywhere));
    let Limits {
        sessions,
        sessions_per_ip,
        stranger_datagrams_per_s,
        player_datagrams_per_s,
        streams,
        streams_per_ip,
        rooms,
        rooms_per_ip,
        password_tries,
        wider: Wider { per_56, per_48 },
    } = *limits;
    put_varint(out, sessions.into());
    put_varint(out, sessions_per_ip.into());
    put_varint(out, stranger_datagrams_per_s.into());
    put_varint(out, player_datagrams_per_s.into());
    put_varint(out, streams as u64);
    put_varint(out, streams_per_ip as u64);
    put_varint(out, rooms.into());
    put_varint(out, rooms_per_ip.into());
    put_varint(out, password_tries.into());
    put_varint(out, per_56.into());
    put_varint(out, per_48.into());
    // The last field: a log without one is as it always was.
    if let Some(MatchKey(key)) = match_key {
        out.extend_from_slice(key);
    }
}

fn decode_endpoint(r: &mut Reader<'_>) -> Result<EndpointConfig, Malformed> {
    Ok(EndpointConfig {
        name: field::name(r, "name")?,
        native_port: small(r, "native_port")?,
        other_ports: OTHER_PORTS
            .into_iter()
            .map(|(dialect, _)| Ok((dialect, small(r, "port")?)))
            .collect::<Result<_, Malformed>>()?,
        // Nor one with a token that nobody can send.
        token: match field::bytes(r, "token")? {
            token if token.len() <= Token::MAX => token.to_vec(),
            token => return Err(Malformed::out_of_range("token", token.len() as i64)),
        },
        unguarded: if r.flag("unguarded")? { Unguarded::Allowed } else { Unguarded::Refused },
        tokenless: if r.flag("tokenless")? { Tokenless::Allowed } else { Tokenless::Refused },
        reach: if r.flag("reach")? { Audience::Everywhere } else { Audience::PrivateOnly },
        limits: Limits {
            sessions: small(r, "sessions")?,
            sessions_per_ip: small(r, "sessions_per_ip")?,
            // An endpoint that reads nothing from strangers cannot be made.
            stranger_datagrams_per_s: match small(r, "stranger_datagrams_per_s")? {
                0 => return Err(Malformed::out_of_range("stranger_datagrams_per_s", 0)),
                rate => rate,
            },
            player_datagrams_per_s: small(r, "player_datagrams_per_s")?,
            streams: small(r, "streams")?,
            streams_per_ip: small(r, "streams_per_ip")?,
            rooms: small(r, "rooms")?,
            rooms_per_ip: small(r, "rooms_per_ip")?,
            password_tries: small(r, "password_tries")?,
            wider: Wider { per_56: small(r, "per_56")?, per_48: small(r, "per_48")? },
        },
        match_key: match r.left() {
            0 => None,
            _ => Some(MatchKey(r.array("match_key")?)),
        },
    })
}

pub(super) fn encode_room(config: &RoomConfig, out: &mut Vec<u8>) {
    // What a room tells about itself changes nothing that it does.
    let RoomConfig { liveness, resume_for, claim_within, high_latency, journal: _, hold_end } =
        *config;
    for span in [liveness.warn, liveness.drop, resume_for, claim_within, high_latency, hold_end] {
        put_varint(out, span.min(LONGEST).as_nanos() as u64);
    }
}

pub(super) fn decode_room(r: &mut Reader<'_>) -> Result<RoomConfig, Malformed> {
    let mut span = |field| {
        let ns = varint_upto(r, field, LONGEST.as_nanos() as u64)?;
        Ok(Duration::from_nanos(ns))
    };
    Ok(RoomConfig {
        liveness: session::Limits { warn: span("warn")?, drop: span("drop")? },
        resume_for: span("resume_for")?,
        claim_within: span("claim_within")?,
        high_latency: span("high_latency")?,
        journal: 0,
        hold_end: span("hold_end")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_for_a_matchmaker_is_kept_and_none_takes_no_bytes() {
        let encoded = |match_key| {
            let mut bytes = Vec::new();
            encode_endpoint(&EndpointConfig { match_key, ..EndpointConfig::default() }, &mut bytes);
            let decoded = decode_endpoint(&mut Reader::new(&bytes)).unwrap().match_key;
            assert_eq!(decoded, match_key);
            bytes.len()
        };
        assert_eq!(encoded(Some(MatchKey([7; 16]))), encoded(None) + 16);
    }

    #[test]
    fn a_door_that_lets_no_stranger_speak_is_refused() {
        let endpoint = |strangers: u8| {
            let bytes = [1, b'x', 1, 2, 3, 0, 0, 0, 0, 10, 3, strangers, 10, 6, 3, 5, 1, 16, 4, 8];
            let mut r = Reader::new(&bytes);
            let decoded =
                decode_endpoint(&mut r).map(|config| config.limits.stranger_datagrams_per_s);
            decoded.inspect(|_| assert_eq!(r.left(), 0))
        };
        assert_eq!(endpoint(1), Ok(1));
        assert_eq!(endpoint(0), Err(Malformed::out_of_range("stranger_datagrams_per_s", 0)));
    }
}
