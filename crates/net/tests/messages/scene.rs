//! A choir on a server, and those who listen.

use std::net::SocketAddr;
use std::time::Duration;

use backspin::chat::ChatLine;
use backspin::client::{Client, ClientConfig, ClientEvent};
use backspin::endpoint::EndpointConfig;
use backspin::room::{Room, RoomConfig};
use backspin::server::Server;
use backspin::session::EndReason;
use backspin::time::Time;
use backspin::wire::Name;
use backspin::wire::native::Role;
use backspin_sim::{Chance, Drift, HostId, LinkConfig, Party, Player, World};

use super::rules::{Choir, NUMBERED, WHISPER};

pub(crate) const SERVER: SocketAddr =
    SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 0, 1)), 4300);

pub(crate) struct Scene {
    pub(crate) world: World<Party<Choir>>,
    pub(crate) server: HostId,
    pub(crate) guests: Vec<Guest>,
}

/// One who listens, and what it was told.
pub(crate) struct Guest {
    pub(crate) host: HostId,
    /// The numbers of the reliable words, as they came.
    pub(crate) words: Vec<u32>,
    /// Of the unreliable ones.
    pub(crate) loose: Vec<u32>,
    pub(crate) whispers: Vec<Vec<u8>>,
    pub(crate) chat: Vec<ChatLine>,
    /// All else that came as a message.
    pub(crate) other: Vec<Vec<u8>>,
    pub(crate) ended: Option<EndReason>,
    pub(crate) breaks: u32,
}

impl Scene {
    /// A server with that choir, and so many who play and watch, over that link, for three seconds.
    pub(crate) fn new(seed: u64, link: LinkConfig, choir: Choir, roles: &[Role]) -> Self {
        let mut world = World::new(seed, link);
        let mut server = Server::new(EndpointConfig::default(), [1; 32]);
        server.open(Time::ZERO, choir, Name::new("Room"), seed, RoomConfig::default());
        let server = world.add(Party::Server(Box::new(server)), &[SERVER], Drift::NONE);
        let mut scene = Scene { world, server, guests: Vec::new() };
        for (i, &role) in roles.iter().enumerate() {
            let i = i as u8;
            let name = Name::new(["Ann", "Bob", "Cem", "Dan"][usize::from(i)]);
            let config = ClientConfig { role, ..ClientConfig::new(SERVER, name) };
            let client = Client::new(Time::ZERO, choir, config, [10 + i; 32]);
            let player = Player::new(client, Chance::new(seed, 10 + u64::from(i)));
            let address = SocketAddr::from(([10, 0, 0, 2 + i], 5000));
            let host = scene.world.add(Party::Player(Box::new(player)), &[address], Drift::NONE);
            scene.guests.push(Guest::new(host));
        }
        scene.run(Duration::from_secs(3));
        scene
    }

    /// Runs for a while, and everyone listens fifty times a second.
    pub(crate) fn run(&mut self, span: Duration) {
        let until = self.world.now() + span;
        while self.world.now() < until {
            self.world.run_until(until.min(self.world.now() + Duration::from_millis(20)));
            for guest in 0..self.guests.len() {
                self.listen(guest);
            }
        }
    }

    pub(crate) fn listen(&mut self, guest: usize) {
        while let Some(event) = self.client(guest).poll_event() {
            self.guests[guest].hear(event);
        }
    }

    pub(crate) fn client(&mut self, guest: usize) -> &mut Client<Choir> {
        let host = self.guests[guest].host;
        match self.world.node_mut(host) {
            Party::Player(player) => &mut player.client,
            Party::Server(_) => unreachable!("a guest was added as one"),
        }
    }

    pub(crate) fn now(&self, guest: usize) -> Time {
        self.world.local_time(self.guests[guest].host)
    }

    pub(crate) fn server(&mut self) -> &mut Server<Choir> {
        match self.world.node_mut(self.server) {
            Party::Server(server) => server,
            Party::Player(_) => unreachable!("it was added as a server"),
        }
    }

    pub(crate) fn room(&mut self) -> &mut Room<Choir> {
        &mut self.server().rooms_mut()[0]
    }

    /// How many reliable words the rules have said.
    pub(crate) fn said(&mut self) -> u32 {
        self.room().world().next
    }

    /// Panics if a guest missed a word since it joined, or heard one twice or out of turn; says how
    /// far it is behind.
    pub(crate) fn assert_whole(&mut self, guest: usize) -> u32 {
        let said = self.said();
        let words = &self.guests[guest].words;
        let first = *words.first().expect("something was said");
        let gap = (first..).zip(words).find(|(expected, came)| *expected != **came);
        assert_eq!(gap, None, "of {} words", words.len());
        said - words.last().unwrap() - 1
    }
}

impl Guest {
    fn new(host: HostId) -> Self {
        Guest {
            host,
            words: Vec::new(),
            loose: Vec::new(),
            whispers: Vec::new(),
            chat: Vec::new(),
            other: Vec::new(),
            ended: None,
            breaks: 0,
        }
    }

    fn hear(&mut self, event: ClientEvent) {
        match event {
            ClientEvent::Game(event) if event.kind == NUMBERED => {
                self.words.push(event.value.cast_unsigned());
            }
            ClientEvent::Message(message) if message.starts_with(WHISPER) => {
                self.whispers.push(message[WHISPER.len()..].to_vec());
            }
            ClientEvent::Message(message) => match message.first_chunk().copied() {
                Some(number) if message.len() == 4 && number[0] == 0xFF => {
                    self.loose.push(u32::MAX - u32::from_be_bytes(number));
                }
                // A word is padded with the low byte of its number.
                Some(number) if message[4..].iter().all(|&byte| byte == number[3]) => {
                    self.words.push(u32::from_be_bytes(number));
                }
                _ => self.other.push(message.0),
            },
            ClientEvent::Chat(line) => self.chat.push(line),
            ClientEvent::Ended(reason) => self.ended = Some(reason),
            ClientEvent::Trying => self.breaks += 1,
            _ => {}
        }
    }
}
