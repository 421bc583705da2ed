//! One line of a log: what was done to the node, or a checkpoint.

use std::collections::BTreeMap;
use std::time::Duration;

use super::super::field::{
    self, put_bytes, put_game, put_ip, put_name, put_path, put_peer, put_varint, small, varint,
};
use super::LONGEST;
use super::origin::{decode_room, encode_room};
use backspin::game::{GameId, PlayerId};
use backspin::node::{Path, StreamEvent, StreamId};
use backspin::peer::LimitKey;
use backspin::room::RoomConfig;
use backspin::time::Time;
use backspin::wire::field::Field;
use backspin::wire::native::CloseReason;
use backspin::wire::{Malformed, Name, Reader};

/// What happened, in the order in which it happened.
///
/// ```text
/// kind  what            behind it
/// 1     datagram        | after | path, a place in the table | bytes |
/// 2     datagram        | after | path, which takes the next place in the table | bytes |
/// 3     timeout         | after |
/// 4     stream opened   | after | stream | peer |
/// 5     stream failed   | after | stream |
/// 6     stream received | after | stream | bytes |
/// 7     stream closed   | after | stream |
/// 8     transmits were polled until there were none
/// 9     so many transmits were polled, and there might have been more: | count |
/// 10    streams were polled until there was nothing to do
/// 11    so many things to do to streams were polled: | count |
/// 12    room opened     | after | game u32 | version u16 | name | seed u64 | room |
/// 13    close           | after | reason u8 |
/// 14    kick            | after | room | player |
/// 15    checkpoint      | sent u64 | world u64 |
/// 16    end
/// 17    game offered    | after | game u32 | version u16 | name | rooms at most | room |
/// 18    drain           | after |
/// 19    undrain         | after |
/// 20    ban for good    | after | ip |
/// 21    ban             | after | ip | ns |
/// 22    ban lifted      | after | ip |
/// 23    end released    | after | room |
/// ```
///
/// `after` counts nanoseconds since the line before that has a time. Bytes stand behind their
/// length, a stream with its top bit turned, all counts are varints. `room` is
/// `| warn | drop | resume_for | claim_within | high_latency | hold_end |` in ns.
#[derive(Clone, Copy, Debug)]
pub(super) enum Entry<'a> {
    Datagram {
        path: Path,
        bytes: &'a [u8],
    },
    Timeout,
    Stream {
        stream: StreamId,
        event: StreamEvent<'a>,
    },
    /// Until there was nothing, or so often: something else came between.
    Polled(Polled, Option<u64>),
    Open {
        game: GameId,
        name: Name,
        seed: u64,
        config: RoomConfig,
    },
    Offer {
        game: GameId,
        name: Name,
        most: u16,
        config: RoomConfig,
    },
    Close(CloseReason),
    Kick {
        room: u64,
        player: PlayerId,
    },
    Drain,
    Undrain,
    Ban {
        key: LimitKey,
        lasts: Option<Duration>,
    },
    LiftBan(LimitKey),
    ReleaseEnd {
        room: u64,
    },
    Checkpoint(Checkpoint),
    End,
}

/// What a node is polled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Polled {
    Transmits = 8,
    Streams = 10,
}

/// What a node had come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Checkpoint {
    /// All that it has sent.
    pub(super) sent: u64,
    /// What there is in its rooms.
    pub(super) world: u64,
}

/// What a line says in terms of those before it: the same for writer and reader.
#[derive(Debug)]
pub(super) struct Context {
    now: Time,
    paths: Paths,
}

/// The longest time between two lines: none of ours is a second.
const LONGEST_PAUSE: Duration = Duration::from_secs(30 * 24 * 3600);

impl Context {
    pub(super) fn new(start: Time) -> Self {
        Context { now: start, paths: Paths::default() }
    }

    /// The time of the newest line.
    pub(super) fn now(&self) -> Time {
        self.now
    }

    /// Takes the time of the next line, which never lies before the last.
    pub(super) fn advance(&mut self, now: Time) -> Duration {
        let after = now.since(self.now).min(LONGEST_PAUSE);
        self.now += after;
        after
    }

    /// Appends a line; `after` is what [`Context::advance`] said, if the line has a time.
    pub(super) fn encode(&mut self, after: Duration, entry: &Entry<'_>, out: &mut Vec<u8>) {
        let head = |out: &mut Vec<u8>, kind| {
            out.push(kind);
            put_varint(out, after.as_nanos() as u64);
        };
        match *entry {
            Entry::Datagram { path, bytes } => {
                match self.paths.place(path) {
                    Some(place) => {
                        head(out, 1);
                        put_varint(out, place as u64);
                    }
                    None => {
                        head(out, 2);
                        put_path(out, path);
                        self.paths.add(path);
                    }
                }
                put_bytes(out, bytes);
            }
            Entry::Timeout => head(out, 3),
            Entry::Stream { stream, event } => {
                head(out, 4 + stream_kind(&event));
                put_varint(out, stream.0 ^ StreamId::FIRST_ACCEPTED.0);
                match event {
                    StreamEvent::Opened(peer) => put_peer(out, peer),
                    StreamEvent::Received(bytes) => put_bytes(out, bytes),
                    StreamEvent::Failed | StreamEvent::Closed => {}
                }
            }
            Entry::Polled(polled, None) => out.push(polled as u8),
            Entry::Polled(polled, Some(calls)) => {
                out.push(polled as u8 + 1);
                put_varint(out, calls);
            }
            Entry::Open { game, name, seed, config } => {
                head(out, 12);
                put_game(out, game);
                put_name(out, &name);
                out.extend_from_slice(&seed.to_be_bytes());
                encode_room(&config, out);
            }
            Entry::Offer { game, name, most, config } => {
                head(out, 17);
                put_game(out, game);
                put_name(out, &name);
                put_varint(out, most.into());
                encode_room(&config, out);
            }
            Entry::Close(reason) => {
                head(out, 13);
                out.push(reason as u8);
            }
            Entry::Kick { room, player } => {
                head(out, 14);
                put_varint(out, room);
                put_varint(out, player.0.into());
            }
            Entry::Checkpoint(Checkpoint { sent, world }) => {
                out.push(15);
                out.extend_from_slice(&sent.to_be_bytes());
                out.extend_from_slice(&world.to_be_bytes());
            }
            Entry::End => out.push(16),
            Entry::Drain => head(out, 18),
            Entry::Undrain => head(out, 19),
            Entry::Ban { key, lasts } => {
                head(out, 20 + u8::from(lasts.is_some()));
                put_ip(out, key.network());
                lasts.iter().for_each(|ns| put_varint(out, ns.min(&LONGEST).as_nanos() as u64));
            }
            Entry::LiftBan(key) => {
                head(out, 22);
                put_ip(out, key.network());
            }
            Entry::ReleaseEnd { room } => {
                head(out, 23);
                put_varint(out, room);
            }
        }
    }

    /// Reads the next line.
    pub(super) fn decode<'a>(&mut self, r: &mut Reader<'a>) -> Result<Entry<'a>, Malformed> {
        let kind = r.u8("kind")?;
        if matches!(kind, 1..=7 | 12..=14 | 17..=23) {
            let longest = LONGEST_PAUSE.as_nanos() as u64;
            self.now += Duration::from_nanos(field::varint_upto(r, "after", longest)?);
            if self.now.as_nanos() > LONGEST.as_nanos() as u64 {
                return Err(Malformed::out_of_range("after", i64::MAX));
            }
        }
        Ok(match kind {
            1 => {
                let place = varint(r, "path")?;
                let path = self.paths.at(place).ok_or(Malformed::out_of_range("path", i64::MAX))?;
                Entry::Datagram { path, bytes: field::bytes(r, "bytes")? }
            }
            2 => {
                let path = field::path(r)?;
                self.paths.add(path);
                Entry::Datagram { path, bytes: field::bytes(r, "bytes")? }
            }
            3 => Entry::Timeout,
            4..=7 => {
                let stream = StreamId(varint(r, "stream")? ^ StreamId::FIRST_ACCEPTED.0);
                let event = match kind {
                    4 => StreamEvent::Opened(field::peer(r, "peer")?),
                    5 => StreamEvent::Failed,
                    6 => StreamEvent::Received(field::bytes(r, "bytes")?),
                    _ => StreamEvent::Closed,
                };
                Entry::Stream { stream, event }
            }
            8 => Entry::Polled(Polled::Transmits, None),
            9 => Entry::Polled(Polled::Transmits, Some(varint(r, "polls")?)),
            10 => Entry::Polled(Polled::Streams, None),
            11 => Entry::Polled(Polled::Streams, Some(varint(r, "polls")?)),
            12 => {
                let (game, name) = (field::game(r)?, field::name(r, "name")?);
                Entry::Open { game, name, seed: r.u64_be("seed")?, config: decode_room(r)? }
            }
            13 => Entry::Close(<CloseReason as Field>::decode(r, "reason")?),
            14 => Entry::Kick { room: varint(r, "room")?, player: PlayerId(small(r, "player")?) },
            15 => {
                let (sent, world) = (r.u64_be("sent")?, r.u64_be("world")?);
                Entry::Checkpoint(Checkpoint { sent, world })
            }
            16 => Entry::End,
            17 => {
                let (game, name) = (field::game(r)?, field::name(r, "name")?);
                Entry::Offer { game, name, most: small(r, "most")?, config: decode_room(r)? }
            }
            18 => Entry::Drain,
            19 => Entry::Undrain,
            20 => Entry::Ban { key: field::ip(r, "ip")?.into(), lasts: None },
            21 => {
                let key = field::ip(r, "ip")?.into();
                let lasts = field::varint_upto(r, "lasts", LONGEST.as_nanos() as u64)?;
                Entry::Ban { key, lasts: Some(Duration::from_nanos(lasts)) }
            }
            22 => Entry::LiftBan(field::ip(r, "ip")?.into()),
            23 => Entry::ReleaseEnd { room: varint(r, "room")? },
            other => return Err(Malformed::out_of_range("kind", other)),
        })
    }
}

fn stream_kind(event: &StreamEvent<'_>) -> u8 {
    match event {
        StreamEvent::Opened(_) => 0,
        StreamEvent::Failed => 1,
        StreamEvent::Received(_) => 2,
        StreamEvent::Closed => 3,
    }
}

/// Paths that were met lately, so that each is written once. The oldest makes room, so that a
/// flood from everywhere costs neither side memory.
#[derive(Debug, Default)]
struct Paths {
    places: BTreeMap<Path, usize>,
    table: Vec<Path>,
    next: usize,
}

/// So many paths are remembered.
const PATH_LIMIT: usize = 1024;

impl Paths {
    fn place(&self, path: Path) -> Option<usize> {
        self.places.get(&path).copied()
    }

    fn at(&self, place: u64) -> Option<Path> {
        self.table.get(usize::try_from(place).ok()?).copied()
    }

    fn add(&mut self, path: Path) {
        match self.table.get_mut(self.next) {
            Some(place) => {
                self.places.remove(place);
                *place = path;
            }
            None => self.table.push(path),
        }
        self.places.insert(path, self.next);
        self.next = (self.next + 1) % PATH_LIMIT;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(n: u16) -> Path {
        Path::to(std::net::SocketAddr::from(([10, 0, 0, 1], n)))
    }

    fn datagram(context: &mut Context, n: u16) -> Vec<u8> {
        let mut out = Vec::new();
        let entry = Entry::Datagram { path: path(n), bytes: b"x" };
        context.encode(Duration::ZERO, &entry, &mut out);
        out
    }

    #[test]
    fn a_path_is_written_once_until_1024_others_were() {
        let (mut writer, mut reader) = (Context::new(Time::ZERO), Context::new(Time::ZERO));
        let mut read = |bytes: &[u8], n| {
            let mut r = Reader::new(bytes);
            let entry = reader.decode(&mut r).unwrap();
            assert!(
                matches!(entry, Entry::Datagram { path: read, bytes: b"x" } if read == path(n))
            );
            assert_eq!(r.left(), 0);
        };
        for n in 1..=1024 {
            let bytes = datagram(&mut writer, n);
            assert_eq!(bytes[0], 2);
            read(&bytes, n);
        }
        // The first is still known, and forgotten after one more.
        let again = datagram(&mut writer, 1);
        assert_eq!(again, [1, 0, 0, 1, b'x']);
        read(&again, 1);
        read(&datagram(&mut writer, 1025), 1025);
        let forgotten = datagram(&mut writer, 1);
        assert_eq!(forgotten[0], 2);
        read(&forgotten, 1);
        assert_eq!((writer.paths.table.len(), writer.paths.places.len()), (1024, 1024));
    }

    #[test]
    fn time_never_runs_back_and_never_further_than_its_limits() {
        let mut context = Context::new(Time::from_millis(5));
        assert_eq!(context.advance(Time::from_millis(3)), Duration::ZERO);
        assert_eq!(context.advance(Time::from_millis(6)), Duration::from_millis(1));
        assert_eq!(context.now(), Time::from_millis(6));
        let timeout = |context: &mut Context, after: Duration| {
            let mut bytes = Vec::new();
            context.encode(after, &Entry::Timeout, &mut bytes);
            context.decode(&mut Reader::new(&bytes)).map(|_| ())
        };
        assert_eq!(timeout(&mut context, LONGEST_PAUSE), Ok(()));
        let past = LONGEST_PAUSE + Duration::from_nanos(1);
        assert!(timeout(&mut context, past).is_err());
        let mut late = Context::new(Time::ZERO + LONGEST - Duration::from_nanos(1));
        assert_eq!(timeout(&mut late, Duration::from_nanos(1)), Ok(()));
        assert!(timeout(&mut late, Duration::from_nanos(1)).is_err());
    }
}
