//! A server, four honest players who play, and the checks: after every tick each of them stands
//! where it would stand if nobody else were there.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::OnceLock;
use std::time::Duration;

use backspin::endpoint::{EndpointConfig, EndpointCounts, Limits};
use backspin::game::PlayerId;
use backspin::node::{Node, Path, StreamAction, StreamEvent, StreamId, StreamNode};
use backspin::room::{Room, RoomConfig};
use backspin::server::Server;
use backspin::session;
use backspin::time::Time;
use backspin::wire::Name;
use backspin::wire::native::{Secret, SessionIndex};
use backspin_classic::Dialect;
use backspin_classic::wire::rtype;

use super::honest::Honest;
use super::yard::{Heard, Yard};

/// Where the server is.
const SERVER: SocketAddr = address([10, 0, 0, 1], 4242);

/// The honest: where, and how they speak.
pub(crate) const HONEST: [(Dialect, SocketAddr); 4] = [
    (Dialect::Native, address([10, 0, 0, 2], 5000)),
    (Dialect::Native, address([10, 0, 0, 3], 5000)),
    (Dialect::Lan, address([10, 0, 0, 4], 5000)),
    (Dialect::Rtype, address([10, 0, 0, 5], 5000)),
];

/// Low, so that a short script reaches them and goes past.
pub(crate) const LIMITS: Limits = Limits {
    sessions: 10,
    sessions_per_ip: 3,
    stranger_datagrams_per_s: 10,
    player_datagrams_per_s: 10,
    streams: 6,
    streams_per_ip: 3,
    rooms: 5,
    rooms_per_ip: 1,
    password_tries: 16,
    wider: session::Wider::DEFAULT,
};

/// Short, so that a script sees who is silent dropped and given up.
const LIVENESS: session::Limits =
    session::Limits { warn: Duration::from_millis(1_000), drop: Duration::from_millis(1_500) };
const RESUME_FOR: Duration = Duration::from_secs(2);
const CLAIM_WITHIN: Duration = Duration::from_millis(1_200);

/// When the match begins: a cookie of the first tenth of a second after [`PEACE`] is no good from
/// 10 s on, so that a short script sees it grow old.
pub(crate) const START: Time = Time::from_millis(3_900);

/// How long the honest are left alone, until all of them play.
pub(crate) const PEACE: Duration = Duration::from_secs(1);

/// The longest match after that: long enough for a script that begins when a cookie grows old.
const LONGEST: Duration = Duration::from_secs(12);

/// The stream of the honest `rtype` player; those of others come after it.
pub(crate) const HONEST_STREAM: StreamId = StreamId::FIRST_ACCEPTED;

/// The number that an `rtype` client gives its only stream.
const OWN_STREAM: StreamId = StreamId(0);

pub(crate) const fn address(ip: [u8; 4], port: u16) -> SocketAddr {
    SocketAddr::new(IpAddr::V4(Ipv4Addr::new(ip[0], ip[1], ip[2], ip[3])), port)
}

/// How one of the honest stands after a tick, as the server has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Standing {
    session: SessionIndex,
    player: PlayerId,
    present: bool,
    buttons: u16,
    place: (i32, i32),
    heard: Heard,
}

/// All of them; `None` is not yet in.
type Standings = [Option<Standing>; HONEST.len()];

/// What `native` owes an address.
#[derive(Clone)]
struct Account {
    address: SocketAddr,
    /// Bytes that came from there and were not answered yet.
    credit: usize,
    /// Whether a cookie came back from there.
    proved: bool,
}

/// The server and everyone around it.
#[derive(Clone)]
pub(crate) struct Scene {
    server: Server<Yard>,
    pub(crate) honest: Vec<Honest>,
    pub(crate) now: Time,
    /// When the players without ticks are woken next.
    next_plain: Time,
    accounts: Vec<Account>,
    /// What went to anyone but the honest.
    pub(crate) leaked: Vec<(SocketAddr, Vec<u8>)>,
    /// What was done to streams that are not the honest player's: written to, or closed.
    pub(crate) written: Vec<(StreamId, Option<Vec<u8>>)>,
    /// How many sessions there were at most.
    pub(crate) most_sessions: usize,
    pub(crate) most_rooms: usize,
    /// The honest player's token.
    pub(crate) token: Option<u32>,
    history: Vec<Standings>,
    twin: Option<&'static [Standings]>,
    /// When the script is over.
    until: Time,
    /// What datagrams are written into.
    buffer: Vec<u8>,
}

impl Scene {
    /// A match in which everyone plays already.
    pub(crate) fn new() -> Self {
        static TWIN: OnceLock<Vec<Standings>> = OnceLock::new();
        let twin = TWIN.get_or_init(|| {
            let mut alone = Scene::begin(None);
            alone.come_in();
            alone.advance(LONGEST);
            alone.history
        });
        let mut scene = Scene::begin(Some(twin));
        scene.come_in();
        assert!(scene.honest.iter().all(|player| player.client.is_playing()));
        scene
    }

    fn begin(twin: Option<&'static [Standings]>) -> Self {
        let config = EndpointConfig { limits: LIMITS, ..EndpointConfig::default() };
        let mut server = Server::new(config, [9; 32]).speaking(backspin_classic::dialects());
        let room = RoomConfig {
            liveness: LIVENESS,
            resume_for: RESUME_FOR,
            claim_within: CLAIM_WITHIN,
            ..RoomConfig::default()
        };
        for name in ["One", "Two"] {
            server.open(START, Yard::default(), Name::new(name), 0, room);
        }
        server.offer(START, Yard::default(), Name::new("More"), 2, room);
        let honest = HONEST.iter().zip(1..);
        Scene {
            server,
            honest: honest
                .map(|(&(dialect, at), taste)| {
                    Honest::new(START, dialect, at, SERVER, taste, LIVENESS)
                })
                .collect(),
            now: START,
            next_plain: START + Duration::from_millis(100),
            accounts: Vec::new(),
            leaked: Vec::new(),
            written: Vec::new(),
            most_sessions: 0,
            most_rooms: 0,
            token: None,
            history: Vec::new(),
            twin,
            until: START + PEACE + LONGEST,
            buffer: vec![0; 2048],
        }
    }

    /// Until all of the honest play; one of them was started anew meanwhile.
    fn come_in(&mut self) {
        self.advance(PEACE / 3);
        self.honest[1].restart(self.now);
        self.advance(PEACE - PEACE / 3);
    }

    /// The room of the honest.
    fn room(&self) -> &Room<Yard> {
        &self.server.rooms()[0]
    }

    /// What was dropped at the endpoint.
    pub(crate) fn counts(&self) -> EndpointCounts {
        *self.server.endpoint().counts()
    }

    /// The server's last tick.
    pub(crate) fn tick(&self) -> u32 {
        self.room().tick()
    }

    /// How many are there, how many places are taken, and how many rooms there are.
    #[allow(dead_code, reason = "the seeds' test looks at it, the fuzz target does not")]
    pub(crate) fn crowd(&self) -> (usize, usize, usize) {
        let (endpoint, rooms) = (self.server.endpoint(), self.server.rooms());
        let present = rooms.iter().flat_map(|room| room.members()).filter(|card| card.present);
        (present.count(), endpoint.sessions(), rooms.len())
    }

    /// A script begins, which may take so long.
    pub(crate) fn begin_script(&mut self, span: Duration) {
        self.until = self.now + span;
    }

    /// Whether the script has had its time.
    pub(crate) fn is_over(&self) -> bool {
        self.now >= self.until
    }

    /// Lets time pass for a script, as far as it has any.
    pub(crate) fn wait(&mut self, span: Duration) {
        self.advance(span.min(self.until.since(self.now)));
    }

    /// Lets time pass while the honest play.
    pub(crate) fn advance(&mut self, span: Duration) {
        let until = self.now + span;
        let mut at_once = 0;
        while let Some(due) = self.due().filter(|&due| due <= until) {
            at_once = if due > self.now { 0 } else { at_once + 1 };
            assert!(at_once < 16, "due again and again");
            self.now = self.now.max(due);
            self.wake();
        }
        self.now = until;
    }

    fn due(&self) -> Option<Time> {
        let native = self.honest.iter().filter_map(Scene::native_due);
        native.chain(self.server.poll_timeout()).chain([self.next_plain]).min()
    }

    /// Players in `native` have their own rhythm; the others are woken once a tick.
    fn native_due(player: &Honest) -> Option<Time> {
        player.client.poll_timeout().filter(|_| player.client.is_native())
    }

    fn wake(&mut self) {
        let (now, tick) = (self.now, self.tick());
        if self.server.poll_timeout().is_some_and(|due| due <= now) {
            self.server.handle_timeout(now);
            self.settle();
            if self.tick() != tick {
                self.check_tick();
            }
        }
        let plain = self.next_plain <= now;
        if plain {
            self.next_plain += Duration::from_secs(1) / u32::from(Yard::RATE);
        }
        for player in &mut self.honest {
            let due = match player.client.is_native() {
                true => Scene::native_due(player).is_some_and(|due| due <= now),
                false => plain,
            };
            if due {
                player.play(now, tick);
            }
        }
        self.settle();
    }

    /// Someone's datagram to the server. [`Scene::settle`] follows, at once or after more.
    pub(crate) fn send(&mut self, from: SocketAddr, bytes: &[u8]) {
        if Dialect::detect(bytes) == Some(Dialect::Native) {
            self.account(from).credit += bytes.len();
        }
        self.server.handle_datagram(self.now, Path::to(from), &mut bytes.to_vec());
    }

    /// A cookie came back from its address.
    pub(crate) fn prove(&mut self, at: SocketAddr) {
        self.account(at).proved = true;
    }

    /// What happens to a stream that someone opened.
    pub(crate) fn stream(&mut self, stream: StreamId, event: StreamEvent<'_>) {
        self.server.handle_stream(self.now, stream, event);
    }

    /// Delivers everything until nobody has more to say; says how many datagrams the server sent.
    pub(crate) fn settle(&mut self) -> usize {
        let mut sent = 0;
        loop {
            let (before, streamed) = (sent, self.pump_streams());
            sent += self.drain();
            if !self.pump_honest() && !streamed && sent == before {
                break;
            }
        }
        self.most_sessions = self.most_sessions.max(self.server.endpoint().sessions());
        assert!(self.most_sessions <= usize::from(LIMITS.sessions));
        self.most_rooms = self.most_rooms.max(self.server.rooms().len());
        assert!(self.most_rooms <= usize::from(LIMITS.rooms));
        sent
    }

    fn drain(&mut self) -> usize {
        let mut out = std::mem::take(&mut self.buffer);
        let mut sent = 0;
        while let Some(transmit) = self.server.poll_transmit(self.now, &mut out) {
            sent += 1;
            let bytes = &mut out[..transmit.len];
            let to = transmit.path.remote.socket_addr().unwrap();
            let dialect = Dialect::detect(bytes);
            match self.honest.iter_mut().find(|player| player.at == to) {
                Some(player) if dialect == Some(player.dialect) => {
                    player.handle(self.now, bytes);
                    continue;
                }
                // It is lost on them: they listen to their own dialect only.
                Some(_) => {}
                None => self.check_leak(bytes),
            }
            if dialect == Some(Dialect::Native) {
                let account = self.account(to);
                let paid = account.credit.checked_sub(bytes.len());
                account.credit = paid.unwrap_or(0);
                assert!(paid.is_some() || account.proved, "{to} is sent more than came from there");
            }
            self.leaked.push((to, bytes.to_vec()));
        }
        self.buffer = out;
        sent
    }

    fn pump_honest(&mut self) -> bool {
        let out = &mut self.buffer;
        let mut spoke = false;
        for player in &mut self.honest {
            while let Some(transmit) = player.poll(self.now, out) {
                spoke = true;
                let path = Path::to(player.at);
                self.server.handle_datagram(self.now, path, &mut out[..transmit.len]);
            }
        }
        spoke
    }

    fn pump_streams(&mut self) -> bool {
        let mut out = std::mem::take(&mut self.buffer);
        let mut moved = false;
        while let Some((stream, action)) = self.server.poll_stream(self.now, &mut out) {
            moved = true;
            let bytes = match action {
                StreamAction::Send(len) => Some(&out[..len]),
                StreamAction::Close => None,
                StreamAction::Open(_) => panic!("a server opens no stream"),
            };
            if stream != HONEST_STREAM {
                self.written.push((stream, bytes.map(<[u8]>::to_vec)));
                continue;
            }
            // It is needed no more, once the game has started.
            let Some(bytes) = bytes else { continue };
            if let Ok(Some((rtype::Message::HelloAck(ack), _))) = rtype::Message::decode_next(bytes)
            {
                self.token = Some(ack.token);
            }
            let player = &mut self.honest[3].client;
            player.handle_stream(self.now, OWN_STREAM, StreamEvent::Received(bytes));
        }
        let (now, at) = (self.now, self.honest[3].at);
        while let Some((_, action)) = self.honest[3].client.poll_stream(now, &mut out) {
            moved = true;
            let event = match action {
                StreamAction::Open(_) => StreamEvent::Opened(at.into()),
                StreamAction::Send(len) => StreamEvent::Received(&out[..len]),
                StreamAction::Close => StreamEvent::Closed,
            };
            self.server.handle_stream(now, HONEST_STREAM, event);
            if matches!(event, StreamEvent::Opened(_)) {
                let opened = StreamEvent::Opened(SERVER.into());
                self.honest[3].client.handle_stream(now, OWN_STREAM, opened);
            }
        }
        self.buffer = out;
        moved
    }

    fn account(&mut self, address: SocketAddr) -> &mut Account {
        let known = self.accounts.iter().position(|account| account.address == address);
        let place = known.unwrap_or_else(|| {
            self.accounts.push(Account { address, credit: 0, proved: false });
            self.accounts.len() - 1
        });
        &mut self.accounts[place]
    }
}

impl Scene {
    /// Nothing that proves who an honest player is goes to anyone else.
    fn check_leak(&self, bytes: &[u8]) {
        for player in &self.honest {
            let holds = |secret: &Secret| bytes.windows(16).any(|window| window == secret.0);
            assert!(!player.client.ticket().is_some_and(|ticket| holds(&ticket)), "a ticket leaks");
            assert!(!player.cookies.iter().any(holds), "a cookie leaks");
        }
    }

    fn check_tick(&mut self) {
        let standings = self.standings();
        let tick = self.tick() as usize;
        match self.twin {
            Some(twin) => assert_eq!(standings, twin[tick], "in tick {tick}"),
            None => {
                self.history.resize(tick, [None; HONEST.len()]);
                self.history.push(standings);
            }
        }
        if self.now >= START + PEACE {
            self.check_honest(&standings);
        }
    }

    /// The honest play, are shown every tick, and are told only what was said.
    fn check_honest(&mut self, standings: &Standings) {
        let tick = self.tick();
        let said = |entity: u32| {
            let of = |standing: &&Standing| standing.player.0 == entity;
            standings.iter().flatten().find(of).map(|standing| standing.heard.in_turn)
        };
        for player in &mut self.honest {
            player.check_events(said);
            let shown = !player.client.is_native() || player.client.server_tick() == tick;
            assert!(shown, "{} is not shown tick {tick}", player.at);
        }
    }

    fn standings(&self) -> Standings {
        let room = self.room();
        HONEST.map(|(dialect, at)| {
            let own = |card: &backspin::room::MemberCard| {
                card.path.remote == at && card.dialect == dialect.name()
            };
            let card = room.members().find(own)?;
            let mut dots = room.world().dots.dots.iter();
            let dot = dots.find(|dot| dot.player == card.player)?;
            Some(Standing {
                session: card.session,
                player: card.player,
                present: card.present,
                buttons: card.input.0 as u16,
                place: (dot.x, dot.y),
                heard: room.world().heard[card.player.0 as usize - 1],
            })
        })
    }
}
