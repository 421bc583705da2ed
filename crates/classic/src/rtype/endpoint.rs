//! The endpoint in `rtype`: the TCP step that hands out tokens, and the UDP Hello that spends one.
//!
//! A Hello can be forged, so that a room never learns of an address that is not proved: by being
//! where the TCP stream comes from, or by sending back the random bytes of a Ping. Until then a Hello
//! gets a HelloAck and that Ping, which is less than three times its length, and holds no place.

use std::collections::{BTreeMap, VecDeque};
use std::net::IpAddr;
use std::num::NonZeroU32;
use std::time::Duration;

use super::{NAME, PORT};
use crate::rtype::wire::{
    HEADER_LEN, Hello, HelloAck, Message, Packet, Ping, StartGame, TcpHelloAck, TcpWelcome, VERSION,
};
use backspin::channel::LogLine;
use backspin::dialect::{DialectId, EndpointDialect};
use backspin::endpoint::{Call, CallKind, Endpoint, Limits, Tokenless, same_peer};
use backspin::node::{Path, StreamAction, StreamEvent, StreamId};
use backspin::peer::{LimitKey, PeerAddr};
use backspin::sabotage::{self, Sabotage};
use backspin::session::Prefix;
use backspin::time::Time;
use backspin::wire::native::SessionIndex;
use backspin::wire::{Direction, Full, Malformed, Name, RawName};

/// How long a token may wait for its first use.
const TOKEN_FOR: Duration = Duration::from_secs(30);

/// How long a stream may take to say its Hello.
const HELLO_WITHIN: Duration = Duration::from_secs(10);

/// How long a stream stays open after StartGame, if nothing depends on it.
const START_GAME_HEARD: Duration = Duration::from_secs(5);

/// How long the address of a stream counts as proved after the stream has closed.
const STREAM_PROVES_FOR: Duration = Duration::from_secs(30);

/// Tokens that wait for their first use or belong to a session, in all.
pub const TOKEN_LIMIT: usize = 4096;

/// Tokens that wait for their first use, from one IP address.
const FRESH_TOKENS_PER_IP: usize = 64;

/// The longest message that a client sends: a header and a raw name.
const INBOX_LEN: usize = HEADER_LEN + RawName::MAX;

/// The dialect at the endpoint.
#[derive(Clone, Debug)]
pub(super) struct RtypeEndpoint {
    id: DialectId,
    lobby: Lobby,
}

/// Streams and tokens: what the TCP step leaves behind.
#[derive(Clone, Debug, Default)]
struct Lobby {
    streams: BTreeMap<StreamId, Caller>,
    tokens: BTreeMap<NonZeroU32, Token>,
    /// Whose Ping has these bytes: at most one for each token.
    challenges: BTreeMap<u64, NonZeroU32>,
    actions: VecDeque<(StreamId, Deed)>,
    /// Nothing is given up before, or at all.
    due: Option<Time>,
}

/// Someone at the other end of a stream.
#[derive(Clone, Debug)]
struct Caller {
    peer: PeerAddr,
    inbox: [u8; INBOX_LEN],
    received: usize,
    token: Option<NonZeroU32>,
    /// When it is closed; with a token that nobody has used, when that is given up; and while it
    /// keeps its player, not at all.
    ends: Option<Time>,
}

/// What a token is good for.
#[derive(Clone, Debug)]
struct Token {
    /// Whose stream it was given to.
    peer: PeerAddr,
    name: Name,
    stream: StreamId,
    /// When its address proves nothing any more: known once the stream has closed.
    proves_until: Option<Time>,
    challenge: Option<Challenge>,
    /// How long it may wait for its first use.
    until: Time,
    /// What it was spent on.
    session: Option<SessionIndex>,
}

/// What an address has to send back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Challenge {
    path: Path,
    /// Whether the Hello had a token, and the name in it.
    hello: Hello,
    bytes: u64,
    /// They were sent back: they are good once.
    is_spent: bool,
}

/// What a Pong says about an address.
enum Proves {
    /// Whoever said this Hello is there.
    Address(Hello),
    /// The same once more: the Ping was sent for every Hello that came.
    Again,
    Nothing,
}

/// What to do to a stream.
#[derive(Clone, Copy, Debug)]
enum Deed {
    Welcome,
    Ack(TcpHelloAck),
    Start,
    Close,
}

impl RtypeEndpoint {
    pub(super) fn new(id: DialectId) -> Self {
        RtypeEndpoint { id, lobby: Lobby::default() }
    }
}

impl EndpointDialect for RtypeEndpoint {
    fn detect(&self, bytes: &[u8]) -> bool {
        Packet::has_shape(bytes)
    }

    fn fault(&self, bytes: &[u8]) -> Option<Malformed> {
        let size = bytes.first_chunk().map(|&size| usize::from(u16::from_le_bytes(size)));
        let sized = size.is_some_and(|size| size + HEADER_LEN == bytes.len());
        let is_close = sized || bytes.get(3) == Some(&VERSION);
        is_close.then(|| Packet::decode(bytes).err()).flatten()
    }

    fn handle<'a>(
        &mut self,
        endpoint: &mut Endpoint,
        now: Time,
        path: Path,
        bytes: &'a mut [u8],
    ) -> Option<Call<'a>> {
        let known = endpoint.session_at(self.id, path);
        if !endpoint.admits(now, path, known) {
            return None;
        }
        let packet = match Packet::decode(bytes) {
            Ok(packet) => packet,
            Err(error) => {
                endpoint.note_malformed(path, bytes.len(), error);
                return None;
            }
        };
        let (direction, name) = (packet.direction(), packet.name());
        let is_ping = matches!(packet, Packet::Ping(_));
        match packet {
            Packet::Hello(hello) => return self.hello(endpoint, now, path, &hello),
            // Anyone's ping is answered, so that servers can be compared before joining.
            Packet::Ping(ping) => {
                endpoint.say(path, None, |out| Packet::Pong(ping.pong()).encode(out));
            }
            Packet::Pong(pong) => {
                let bytes = u64::from(pong.sequence) << 32 | u64::from(pong.timestamp);
                match self.lobby.proves(path, bytes) {
                    Proves::Address(hello) => {
                        let (key, name) = self.find_token(endpoint, now, path, &hello)?;
                        return self.enter(endpoint, now, path, &hello, key, name);
                    }
                    // No answer to a Ping of the room, which would complain of it.
                    Proves::Again => return None,
                    Proves::Nothing => {}
                }
            }
            _ => {}
        }
        match known {
            Some(session) if matches!(direction, Direction::ToServer | Direction::Both) => {
                endpoint.call(session, CallKind::Datagram(bytes))
            }
            _ => {
                if !is_ping {
                    endpoint.counts_mut().stray += 1;
                    endpoint.note_stray(path, direction, name);
                }
                None
            }
        }
    }

    fn has_streams(&self) -> bool {
        true
    }

    fn handle_stream(
        &mut self,
        endpoint: &mut Endpoint,
        now: Time,
        stream: StreamId,
        event: StreamEvent<'_>,
    ) -> Option<Call<'static>> {
        match event {
            StreamEvent::Opened(peer) => self.open_stream(endpoint, now, stream, peer),
            StreamEvent::Received(bytes) => self.read_stream(endpoint, now, stream, bytes),
            StreamEvent::Closed | StreamEvent::Failed => {
                return self.close_stream(endpoint, now, stream);
            }
        }
        None
    }

    fn poll_stream(&mut self, out: &mut [u8]) -> Option<(StreamId, StreamAction)> {
        let (stream, deed) = self.lobby.actions.pop_front()?;
        let message = match deed {
            Deed::Welcome => Message::TcpWelcome(TcpWelcome { tail: &[] }),
            Deed::Ack(ack) => Message::HelloAck(ack),
            Deed::Start => Message::StartGame(StartGame { tail: &[] }),
            Deed::Close => return Some((stream, StreamAction::Close)),
        };
        match message.encode(out) {
            Ok(len) => Some((stream, StreamAction::Send(len))),
            Err(Full) => Some((stream, StreamAction::Close)),
        }
    }

    fn handle_timeout(&mut self, now: Time) {
        self.lobby.handle_timeout(now);
    }

    fn poll_timeout(&self) -> Option<Time> {
        self.lobby.due
    }

    fn forget(&mut self, session: SessionIndex) {
        self.lobby.forget(session);
    }

    fn turn_out(&mut self, key: LimitKey) {
        self.lobby.turn_out(key);
    }

    fn kept(&self) -> [usize; 2] {
        [self.lobby.streams.len(), self.lobby.tokens.len()]
    }

    fn clone_box(&self) -> Box<dyn EndpointDialect> {
        Box::new(self.clone())
    }
}

impl RtypeEndpoint {
    /// A wrong token gets silence.
    fn hello<'a>(
        &mut self,
        endpoint: &mut Endpoint,
        now: Time,
        path: Path,
        hello: &Hello,
    ) -> Option<Call<'a>> {
        let Some((key, name)) = self.find_token(endpoint, now, path, hello) else {
            let refused =
                endpoint.config().tokenless == Tokenless::Refused && hello.token.is_none();
            let counts = endpoint.counts_mut();
            *if refused { &mut counts.tokenless } else { &mut counts.bad_proof } += 1;
            return None;
        };
        if self.is_proved(endpoint, now, path, key) {
            return self.enter(endpoint, now, path, hello, key, name);
        }
        // Who would find no place is not called in.
        if self.session_of(key).is_none() && !endpoint.has_place_for(now, self.id, path) {
            return None;
        }
        let drawn = endpoint.secrets_mut().nonce();
        let bytes = self.lobby.challenge(key, path, *hello, drawn)?;
        let line = LogLine::HelloAckSent { to: path.remote };
        endpoint.say(path, Some(line), |out| Packet::HelloAck(HelloAck).encode(out));
        let (sequence, timestamp) = ((bytes >> 32) as u32, bytes as u32);
        endpoint.say(path, None, |out| Packet::Ping(Ping { sequence, timestamp }).encode(out));
        None
    }

    /// Whether the owner of a token is known to be there: where its stream comes from, or where the
    /// player was before.
    fn is_proved(&self, endpoint: &Endpoint, now: Time, path: Path, key: NonZeroU32) -> bool {
        let Some(token) = self.lobby.tokens.get(&key) else { return false };
        let here = path.remote.limit_key();
        let is_callers =
            token.peer.limit_key() == here && token.proves_until.is_none_or(|until| now < until);
        let route = self.session_of(key).and_then(|session| endpoint.route(session));
        is_callers || route.is_some_and(|route| route.path.remote.limit_key() == here)
    }

    /// The session that a token was spent on.
    fn session_of(&self, key: NonZeroU32) -> Option<SessionIndex> {
        self.lobby.tokens.get(&key)?.session
    }

    /// Someone at an address that is proved comes in, or comes back.
    fn enter<'a>(
        &mut self,
        endpoint: &mut Endpoint,
        now: Time,
        path: Path,
        hello: &Hello,
        key: NonZeroU32,
        name: Name,
    ) -> Option<Call<'a>> {
        if let Some(session) = self.session_of(key) {
            // The room knows whether the old address still plays.
            let kind = match same_peer(endpoint.route(session)?.path, path) {
                true => CallKind::Repeat { sequence: None },
                false => CallKind::Resume { path, sequence: 0, nonce: 0, fresh: false },
            };
            return endpoint.call(session, kind);
        }
        let found = endpoint.place_guest(now, self.id, path, None).ok()?;
        let open = self.lobby.spend(now, key, found.session, hello.token.is_none());
        let kept_by_stream = hello.token.is_none() && open;
        Some(endpoint.admit_guest(&found, self.id, path, name, kept_by_stream))
    }

    /// The token that a Hello names or, without one, that its address was given; and the name that
    /// comes with it.
    fn find_token(
        &self,
        endpoint: &Endpoint,
        now: Time,
        path: Path,
        hello: &Hello,
    ) -> Option<(NonZeroU32, Name)> {
        let good = |token: &Token| token.fresh_until().is_none_or(|until| now < until);
        if let Some(key) = hello.token.and_then(NonZeroU32::new)
            && self.lobby.tokens.get(&key).is_some_and(good)
        {
            return Some((key, hello.name.cut()));
        }
        // Without a token, or with one that nobody was given: then it may be a name of 20 bytes.
        if endpoint.config().tokenless == Tokenless::Refused {
            return None;
        }
        let ip = canonical_ip(path.remote)?;
        let ours = |token: &Token| canonical_ip(token.peer) == Some(ip) && good(token);
        let here = endpoint.session_at(self.id, path);
        let is_open = |token: &Token| self.lobby.streams.contains_key(&token.stream);
        let fresh = |token: &Token| token.session.is_none() && is_open(token);
        let mut tokens = self.lobby.tokens.iter().filter(|(_, token)| ours(token));
        let mine = tokens.clone().find(|(_, token)| here.is_some() && token.session == here);
        let (key, token) = mine.or_else(|| tokens.find(|(_, token)| fresh(token)))?;
        Some((*key, token.name))
    }

    fn open_stream(
        &mut self,
        endpoint: &mut Endpoint,
        now: Time,
        stream: StreamId,
        peer: PeerAddr,
    ) {
        if !endpoint.speaks_unguarded() {
            endpoint.counts_mut().unguarded += 1;
            self.lobby.actions.push_back((stream, Deed::Close));
        } else if endpoint.is_draining() || endpoint.is_banned(now, peer.limit_key()) {
            self.lobby.actions.push_back((stream, Deed::Close));
        } else if !self.lobby.takes(peer.limit_key(), &endpoint.config().limits) {
            endpoint.counts_mut().stranger_limit += 1;
            self.lobby.actions.push_back((stream, Deed::Close));
        } else {
            let ends = Some(now + HELLO_WITHIN).filter(|_| !sabotage::is(Sabotage::StreamKept));
            let caller = Caller { peer, inbox: [0; INBOX_LEN], received: 0, token: None, ends };
            self.lobby.streams.insert(stream, caller);
            self.lobby.actions.push_back((stream, Deed::Welcome));
            self.lobby.look_at(ends);
        }
    }

    fn read_stream(&mut self, endpoint: &mut Endpoint, now: Time, stream: StreamId, bytes: &[u8]) {
        let Some(caller) = self.lobby.streams.get_mut(&stream) else { return };
        // After its Hello a client has nothing more to say here.
        if caller.token.is_some() {
            return;
        }
        let room = &mut caller.inbox[caller.received..];
        let taken = bytes.len().min(room.len());
        room[..taken].copy_from_slice(&bytes[..taken]);
        caller.received += taken;
        match Message::decode_next(&caller.inbox[..caller.received]) {
            Ok(None) => {}
            Ok(Some((Message::Hello(hello), _))) => {
                let token = loop {
                    let token = endpoint.secrets_mut().token();
                    if !self.lobby.tokens.contains_key(&token) {
                        break token;
                    }
                };
                let is_kept = sabotage::is(Sabotage::TokensForever);
                let until = if is_kept { Time::END } else { now + TOKEN_FOR };
                (caller.token, caller.ends) = (Some(token), Some(until));
                let entry = Token {
                    peer: caller.peer,
                    name: hello.name.cut(),
                    stream,
                    proves_until: None,
                    challenge: None,
                    until,
                    session: None,
                };
                self.lobby.tokens.insert(token, entry);
                self.lobby.look_at(Some(until));
                let udp_port = endpoint.config().port_of(NAME).unwrap_or(PORT);
                let ack = TcpHelloAck { udp_port, token: token.get() };
                self.lobby.actions.push_back((stream, Deed::Ack(ack)));
            }
            Ok(Some(_)) | Err(_) => {
                endpoint.counts_mut().malformed += 1;
                self.lobby.end_stream(now, stream);
            }
        }
    }

    fn close_stream(
        &mut self,
        endpoint: &Endpoint,
        now: Time,
        stream: StreamId,
    ) -> Option<Call<'static>> {
        if sabotage::is(Sabotage::StreamLeak) {
            return None;
        }
        let key = self.lobby.forget_stream(now, stream)?;
        let session = self.session_of(key)?;
        endpoint.call(session, CallKind::StreamClosed)
    }
}

/// Where a stream and the datagrams of the same player come from alike.
fn canonical_ip(peer: PeerAddr) -> Option<IpAddr> {
    peer.ip().map(|ip| ip.to_canonical())
}

impl Token {
    /// When it is given up, if nobody uses it before.
    fn fresh_until(&self) -> Option<Time> {
        Some(self.until).filter(|_| self.session.is_none())
    }
}

impl Lobby {
    /// Whether one more stream of a peer with this key may open.
    fn takes(&self, key: LimitKey, limits: &Limits) -> bool {
        let has_room = |prefix: Prefix| {
            let times = limits.wider.times(prefix) as usize;
            let is_in = |peer: PeerAddr| prefix.contains(peer.limit_key());
            let callers = self.streams.values().filter(|caller| is_in(caller.peer));
            let fresh = self.tokens.values().filter(|token| token.session.is_none());
            callers.count() < limits.streams_per_ip * times
                && fresh.filter(|token| is_in(token.peer)).count() < FRESH_TOKENS_PER_IP * times
        };
        self.streams.len() < limits.streams
            && self.tokens.len() < TOKEN_LIMIT
            && Prefix::all(key).all(has_room)
    }

    /// The bytes that the owner of a token has to send back from `path`: the same again, if it asks
    /// again from there, so that a late answer is as good.
    fn challenge(&mut self, key: NonZeroU32, path: Path, hello: Hello, drawn: u64) -> Option<u64> {
        let token = self.tokens.get_mut(&key)?;
        let is_open = |challenge: &Challenge| challenge.path == path && !challenge.is_spent;
        if let Some(challenge) = token.challenge.filter(is_open) {
            return Some(challenge.bytes);
        }
        // Nobody draws the same 64 bits twice; if so, the first one's answer is as good as any.
        let new = Challenge { path, hello, bytes: drawn, is_spent: false };
        let old = token.challenge.replace(new);
        if let Some(old) = old {
            self.challenges.remove(&old.bytes);
        }
        self.challenges.insert(drawn, key);
        Some(drawn)
    }

    /// Whether these bytes answer the Ping of a Hello, from the address that it was sent to.
    fn proves(&mut self, path: Path, bytes: u64) -> Proves {
        let token = self.challenges.get(&bytes).and_then(|key| self.tokens.get_mut(key));
        let challenge = token.and_then(|token| token.challenge.as_mut());
        match challenge.filter(|challenge| same_peer(challenge.path, path)) {
            None => Proves::Nothing,
            Some(challenge) if challenge.is_spent => Proves::Again,
            Some(challenge) => {
                challenge.is_spent = true;
                Proves::Address(challenge.hello)
            }
        }
    }

    /// A token is its player's from now on. Whether the stream that brought it is still open: it is
    /// told that the game starts, and closed soon, unless it keeps the player.
    fn spend(
        &mut self,
        now: Time,
        key: NonZeroU32,
        session: SessionIndex,
        is_tokenless: bool,
    ) -> bool {
        let Some(token) = self.tokens.get_mut(&key) else { return false };
        token.session = Some(session);
        let Some(caller) = self.streams.get_mut(&token.stream) else { return false };
        caller.ends = (!is_tokenless).then(|| now + START_GAME_HEARD);
        let (stream, ends) = (token.stream, caller.ends);
        self.actions.push_back((stream, Deed::Start));
        self.look_at(ends);
        true
    }

    /// The session is over: its token is good for nothing now, nor is its stream.
    fn forget(&mut self, session: SessionIndex) {
        let mut all = self.tokens.iter();
        let its = all.find(|(_, token)| token.session == Some(session));
        if let Some(key) = its.map(|(key, _)| *key) {
            self.give_up(key);
        }
    }

    /// Closes the streams of peers with this key, and takes back the tokens that nobody used.
    fn turn_out(&mut self, key: LimitKey) {
        let is_theirs = |peer: PeerAddr| peer.limit_key() == key;
        let is_idle = |token: &Token| token.session.is_none() && is_theirs(token.peer);
        let tokens = self.tokens.iter().filter(|(_, token)| is_idle(token));
        for key in tokens.map(|(key, _)| *key).collect::<Vec<_>>() {
            self.give_up(key);
        }
        let actions = &mut self.actions;
        self.streams.retain(|&stream, caller| {
            if is_theirs(caller.peer) {
                actions.push_back((stream, Deed::Close));
            }
            !is_theirs(caller.peer)
        });
    }

    fn give_up(&mut self, key: NonZeroU32) {
        let Some(token) = self.tokens.remove(&key) else { return };
        if let Some(challenge) = token.challenge {
            self.challenges.remove(&challenge.bytes);
        }
        if self.streams.remove(&token.stream).is_some() {
            self.actions.push_back((token.stream, Deed::Close));
        }
    }

    fn end_stream(&mut self, now: Time, stream: StreamId) {
        if self.streams.contains_key(&stream) {
            self.forget_stream(now, stream);
            self.actions.push_back((stream, Deed::Close));
        }
    }

    /// The stream is no more; the token that it was given.
    fn forget_stream(&mut self, now: Time, stream: StreamId) -> Option<NonZeroU32> {
        let key = self.streams.remove(&stream)?.token?;
        if let Some(token) = self.tokens.get_mut(&key) {
            token.proves_until = Some(now + STREAM_PROVES_FOR);
        }
        Some(key)
    }

    /// Something ends then.
    fn look_at(&mut self, at: Option<Time>) {
        self.due = self.due.into_iter().chain(at).min();
    }

    /// Tokens that nobody used and streams that are needed no more are given up.
    fn handle_timeout(&mut self, now: Time) {
        if self.due.is_none_or(|due| now < due) {
            return;
        }
        let is_over = |until: Option<Time>| until.is_some_and(|until| until <= now);
        let tokens = self.tokens.iter().filter(|(_, token)| is_over(token.fresh_until()));
        for key in tokens.map(|(key, _)| *key).collect::<Vec<_>>() {
            self.give_up(key);
        }
        let streams = self.streams.iter().filter(|(_, caller)| is_over(caller.ends));
        for stream in streams.map(|(stream, _)| *stream).collect::<Vec<_>>() {
            self.end_stream(now, stream);
        }
        let tokens = self.tokens.values().filter_map(Token::fresh_until);
        let streams = self.streams.values().filter_map(|caller| caller.ends);
        self.due = tokens.chain(streams).min();
    }
}
