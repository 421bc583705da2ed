//! The door in `rtype`: the TCP step that hands out tokens, and the UDP Hello that spends one.

use std::collections::{BTreeMap, VecDeque};
use std::net::IpAddr;
use std::num::NonZeroU32;
use std::time::Duration;

use super::answer::Answer;
use super::native::same_peer;
use super::{Admission, Applicant, Call, CallKind, Front, Seat, Tokenless, Voice};
use crate::node::{Path, StreamAction, StreamEvent, StreamId};
use crate::sabotage::{self, Sabotage};
use crate::session::limited_ip;
use crate::time::Time;
use crate::wire::native::{Role, SessionIndex};
use crate::wire::rtype::{Hello, Message, Packet, StartGame, TcpHelloAck, TcpWelcome};
use crate::wire::{Dialect, Full, Name, Packet as AnyPacket};

/// How long a token may wait for its first use.
const TOKEN_FOR: Duration = Duration::from_secs(30);

/// How long a stream may take to say its Hello.
const HELLO_WITHIN: Duration = Duration::from_secs(10);

/// Tokens that wait for their first use or belong to a session, in all.
pub const TOKEN_LIMIT: usize = 4096;

/// Tokens that wait for their first use, from one IP address.
const FRESH_TOKENS_PER_IP: usize = 64;

/// The longest message that a client sends: a header and a raw name.
const INBOX_LEN: usize = crate::wire::rtype::HEADER_LEN + Name::MAX;

/// Streams and tokens: what the TCP step leaves behind.
#[derive(Debug, Default)]
pub(super) struct Lobby {
    streams: BTreeMap<StreamId, Caller>,
    tokens: BTreeMap<NonZeroU32, Token>,
    actions: VecDeque<(StreamId, Deed)>,
}

/// Someone at the other end of a stream.
#[derive(Debug)]
struct Caller {
    ip: IpAddr,
    opened: Time,
    inbox: [u8; INBOX_LEN],
    received: usize,
    token: Option<NonZeroU32>,
}

/// What a token is good for.
#[derive(Debug)]
struct Token {
    ip: IpAddr,
    name: Name,
    stream: StreamId,
    use_: Use,
}

#[derive(Clone, Copy, Debug)]
enum Use {
    Fresh { until: Time },
    Spent { session: SessionIndex },
}

/// What to do to a stream.
#[derive(Clone, Copy, Debug)]
enum Deed {
    Welcome,
    Ack(TcpHelloAck),
    Start,
    Close,
}

impl Front {
    pub(super) fn handle_rtype<'a>(
        &mut self,
        now: Time,
        path: Path,
        bytes: &'a [u8],
    ) -> Option<Call<'a>> {
        let known = self.routes.at_path(Dialect::Rtype, path);
        if !self.admits(now, path, known) {
            return None;
        }
        let packet = match Packet::decode(bytes) {
            Ok(packet) => packet,
            Err(_) => {
                self.counts.malformed += 1;
                return None;
            }
        };
        match (packet, known) {
            (Packet::Hello(hello), _) => return self.rtype_hello(now, path, &hello),
            // Anyone's ping is answered, so that servers can be compared before joining.
            (Packet::Ping(ping), _) => self.answer(Answer::Pong { path, ping }),
            _ => {}
        }
        let from_client = matches!(
            packet.direction(),
            crate::wire::Direction::ToServer | crate::wire::Direction::Both
        );
        match known.and_then(|session| Some((session, self.routes.route(session)?))) {
            Some((session, route)) if from_client => {
                let kind = CallKind::Packet(AnyPacket::Rtype(packet));
                Some(Call { room: route.room, place: route.place, session, kind })
            }
            _ => {
                self.counts.stray += u64::from(!matches!(packet, Packet::Ping(_)));
                None
            }
        }
    }

    /// A wrong token gets silence.
    fn rtype_hello<'a>(&mut self, now: Time, path: Path, hello: &Hello) -> Option<Call<'a>> {
        let Some((key, state, name)) = self.find_token(now, path, hello) else {
            self.counts.bad_proof += 1;
            return None;
        };
        if let Use::Spent { session } = state {
            let route = self.routes.route(session)?;
            let (room, place) = (route.room, route.place);
            // The room knows whether the old address still plays.
            let kind = match same_peer(route.path, path) {
                true => CallKind::Repeat { sequence: 0 },
                false => CallKind::Resume { path, sequence: 0, nonce: 0, fresh: false },
            };
            return Some(Call { room, place, session, kind });
        }
        let applicant = Applicant::guest(Dialect::Rtype, path, Seat::RtypeGuest);
        let found = self.place(now, &applicant).ok()?;
        let token = self.lobby.tokens.get_mut(&key)?;
        token.use_ = Use::Spent { session: found.session };
        let stream = token.stream;
        let open = self.lobby.streams.contains_key(&stream);
        if open {
            self.lobby.actions.push_back((stream, Deed::Start));
        }
        let voice = Voice::Rtype { kept_by_stream: hello.token.is_none() && open };
        let admission = Admission::new(&found, path, voice, Role::Play, name);
        Some(Call::admit(&found, admission))
    }

    /// The token that a Hello names or, without one, that its address was given.
    fn find_token(&self, now: Time, path: Path, hello: &Hello) -> Option<(NonZeroU32, Use, Name)> {
        let good = |token: &Token| match token.use_ {
            Use::Fresh { until } => now < until,
            Use::Spent { .. } => true,
        };
        if let Some(token) = hello.token {
            let key = NonZeroU32::new(token)?;
            let token = self.lobby.tokens.get(&key).filter(|token| good(token))?;
            return Some((key, token.use_, hello.name));
        }
        if self.config.tokenless == Tokenless::Refused {
            return None;
        }
        let ours = |token: &Token| token.ip == path.remote.ip() && good(token);
        let spent_here = |token: &Token| match token.use_ {
            Use::Spent { session } => self.routes.at_path(Dialect::Rtype, path) == Some(session),
            Use::Fresh { .. } => false,
        };
        let fresh = |token: &Token| {
            matches!(token.use_, Use::Fresh { .. })
                && self.lobby.streams.contains_key(&token.stream)
        };
        let mut tokens = self.lobby.tokens.iter().filter(|(_, token)| ours(token));
        let mine = tokens.clone().find(|(_, token)| spent_here(token));
        let (key, token) = mine.or_else(|| tokens.find(|(_, token)| fresh(token)))?;
        Some((*key, token.use_, token.name))
    }

    /// Takes what happened to a stream of the TCP step.
    pub fn handle_stream<'a>(
        &mut self,
        now: Time,
        stream: StreamId,
        event: StreamEvent<'_>,
    ) -> Option<Call<'a>> {
        match event {
            StreamEvent::Opened(peer) => {
                self.open_stream(now, stream, limited_ip(peer.ip()), peer.ip())
            }
            StreamEvent::Received(bytes) => self.read_stream(now, stream, bytes),
            StreamEvent::Closed | StreamEvent::Failed => return self.close_stream(stream),
        }
        None
    }

    /// What to do to a stream of the TCP step next.
    pub fn poll_stream(&mut self, out: &mut [u8]) -> Option<(StreamId, StreamAction)> {
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

    fn open_stream(&mut self, now: Time, stream: StreamId, group: IpAddr, ip: IpAddr) {
        let limits = self.config.limits;
        let same = self.lobby.streams.values().filter(|caller| limited_ip(caller.ip) == group);
        if self.lobby.streams.len() >= limits.streams
            || same.count() >= limits.streams_per_ip
            || self.lobby.tokens.len() >= TOKEN_LIMIT
            || self.lobby.fresh_tokens(group) >= FRESH_TOKENS_PER_IP
        {
            self.counts.stranger_limit += 1;
            self.lobby.actions.push_back((stream, Deed::Close));
            return;
        }
        if self.draining {
            self.lobby.actions.push_back((stream, Deed::Close));
            return;
        }
        let caller = Caller { ip, opened: now, inbox: [0; INBOX_LEN], received: 0, token: None };
        self.lobby.streams.insert(stream, caller);
        self.lobby.actions.push_back((stream, Deed::Welcome));
    }

    fn read_stream(&mut self, now: Time, stream: StreamId, bytes: &[u8]) {
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
                    let token = self.secrets.token();
                    if !self.lobby.tokens.contains_key(&token) {
                        break token;
                    }
                };
                caller.token = Some(token);
                let use_ = Use::Fresh { until: now + TOKEN_FOR };
                let entry = Token { ip: caller.ip, name: hello.name, stream, use_ };
                self.lobby.tokens.insert(token, entry);
                let ack = TcpHelloAck { udp_port: self.config.rtype_port, token: token.get() };
                self.lobby.actions.push_back((stream, Deed::Ack(ack)));
            }
            Ok(Some(_)) | Err(_) => {
                self.counts.malformed += 1;
                self.lobby.streams.remove(&stream);
                self.lobby.actions.push_back((stream, Deed::Close));
            }
        }
    }

    fn close_stream<'a>(&mut self, stream: StreamId) -> Option<Call<'a>> {
        if sabotage::is(Sabotage::StreamLeak) {
            return None;
        }
        let token = self.lobby.streams.remove(&stream)?.token?;
        match self.lobby.tokens.get(&token)?.use_ {
            Use::Fresh { .. } => None,
            Use::Spent { session } => {
                let route = self.routes.route(session)?;
                let kind = CallKind::StreamClosed;
                Some(Call { room: route.room, place: route.place, session, kind })
            }
        }
    }
}

impl Lobby {
    pub(super) fn streams(&self) -> usize {
        self.streams.len()
    }

    pub(super) fn tokens(&self) -> usize {
        self.tokens.len()
    }

    fn fresh_tokens(&self, group: IpAddr) -> usize {
        let fresh = |token: &&Token| matches!(token.use_, Use::Fresh { .. });
        self.tokens.values().filter(fresh).filter(|token| limited_ip(token.ip) == group).count()
    }

    /// The session is over: its token is good for nothing now.
    pub(super) fn forget(&mut self, session: SessionIndex) {
        self.tokens.retain(|_, token| match token.use_ {
            Use::Spent { session: spent } => spent != session,
            Use::Fresh { .. } => true,
        });
    }

    /// Tokens that nobody used and streams that said nothing are given up.
    pub(super) fn handle_timeout(&mut self, now: Time) {
        self.tokens.retain(|_, token| match token.use_ {
            Use::Fresh { until } => now < until,
            Use::Spent { .. } => true,
        });
        let actions = &mut self.actions;
        self.streams.retain(|&stream, caller| {
            let patient = caller.token.is_some()
                || now < caller.opened + HELLO_WITHIN
                || sabotage::is(Sabotage::StreamKept);
            if !patient {
                actions.push_back((stream, Deed::Close));
            }
            patient
        });
    }

    pub(super) fn poll_timeout(&self) -> Option<Time> {
        let tokens = self.tokens.values().filter_map(|token| match token.use_ {
            Use::Fresh { until } => Some(until),
            Use::Spent { .. } => None,
        });
        let streams = self.streams.values().filter(|caller| caller.token.is_none());
        tokens.chain(streams.map(|caller| caller.opened + HELLO_WITHIN)).min()
    }
}
