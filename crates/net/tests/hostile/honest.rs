//! A player who means no harm: one client of ours, what it does with its keys, and what went over
//! its wire.

use std::net::SocketAddr;

use backspin::channel::Delivery;
use backspin::client::{Client, ClientConfig, ClientEvent};
use backspin::game::{Buttons, Event};
use backspin::node::{Node, Path, Transmit};
use backspin::session::Limits;
use backspin::time::Time;
use backspin::typed::RawMessage;
use backspin::wire::Name;
use backspin::wire::native::{Datagram, Packet, Secret};
use backspin_classic::Dialect;

use super::yard::Yard;

/// How many datagrams of a player an eavesdropper keeps.
const TAPPED: usize = 64;

/// How often a player who can speaks, in ticks.
const SPEAKS_EVERY: u32 = 2;

/// An honest player.
#[derive(Clone)]
pub(crate) struct Honest {
    pub(crate) client: Client<Yard>,
    pub(crate) dialect: Dialect,
    config: ClientConfig,
    pub(crate) at: SocketAddr,
    /// What it sent, the handshake first: what an eavesdropper can send again.
    pub(crate) tapped: Vec<Vec<u8>>,
    /// The number of its newest datagram (`native`).
    pub(crate) sequence: Option<u32>,
    /// The cookies that it was given (`native`).
    pub(crate) cookies: Vec<Secret>,
    /// The last that it was told of what each player said.
    told: [Option<i32>; Yard::CAPACITY as usize],
    next_word: u32,
    next_speech: u32,
    /// So that no two do the same.
    taste: u8,
}

impl Honest {
    pub(crate) fn new(
        now: Time,
        dialect: Dialect,
        at: SocketAddr,
        server: SocketAddr,
        taste: u8,
        liveness: Limits,
    ) -> Self {
        let config = ClientConfig {
            own_port: at.port(),
            liveness,
            // Nobody looks, and what is sent is the same.
            predicts: false,
            ..ClientConfig::new(server, Name::new("Honest"))
        };
        Honest {
            client: dialect.client(now, Yard::default(), config.clone(), [taste; 32]),
            dialect,
            config,
            at,
            tapped: Vec::with_capacity(TAPPED),
            sequence: None,
            cookies: Vec::new(),
            told: Default::default(),
            next_word: 0,
            next_speech: 0,
            taste,
        }
    }

    /// The program is started anew, with nothing but its ticket: a Resume goes over the wire.
    pub(crate) fn restart(&mut self, now: Time) {
        let config = ClientConfig { ticket: self.client.ticket(), ..self.config.clone() };
        let seed = [self.taste | 0x80; 32];
        self.client = self.dialect.client(now, Yard::default(), config, seed);
    }

    /// Holds and says what it does, whatever others do. In `native` that depends on the tick that
    /// the next input is for, not on when it is made: a clock may be nudged, an input may not.
    pub(crate) fn play(&mut self, now: Time, server_tick: u32) {
        let tick = self.client.newest_input().map_or(server_tick, |newest| newest + 1);
        let mixed = (u64::from(tick / 2) << 8 | u64::from(self.taste)) * 0x9E37_79B1;
        self.client.press(Buttons((mixed >> 20) as u16 & 15));
        if tick >= self.next_speech && self.client.is_playing() {
            self.next_speech = tick + SPEAKS_EVERY;
            if self
                .client
                .send(&RawMessage::from(&self.next_word.to_be_bytes()), Delivery::Reliable)
                .is_ok()
            {
                self.next_word += 1;
            }
        }
        self.client.handle_timeout(now);
    }

    /// The next datagram to the server.
    pub(crate) fn poll(&mut self, now: Time, out: &mut [u8]) -> Option<Transmit> {
        let transmit = self.client.poll_transmit(now, out)?;
        let bytes = &out[..transmit.len];
        if self.client.is_native() {
            self.sequence = Datagram::decode(bytes).ok().map(|datagram| datagram.sequence);
        }
        if self.tapped.len() == TAPPED {
            // The handshake stays: it is what a replay may hurt most.
            self.tapped.remove(TAPPED / 4);
        }
        self.tapped.push(bytes.to_vec());
        Some(transmit)
    }

    /// Takes a datagram of the server's.
    pub(crate) fn handle(&mut self, now: Time, bytes: &mut [u8]) {
        // Later ones are answers to what an attacker asked in the player's name.
        if let Ok(Datagram { packet: Packet::Challenge(challenge), .. }) = Datagram::decode(bytes)
            && self.cookies.len() < 2
        {
            self.cookies.push(challenge.cookie);
        }
        self.client.handle_datagram(now, Path::to(self.client.server()), bytes);
    }

    /// Whether this is, byte for byte, something that the player sent.
    pub(crate) fn has_sent(&self, bytes: &[u8]) -> bool {
        self.tapped.iter().any(|sent| sent == bytes)
    }

    /// Panics if the player was told something that cannot be, or lost its session.
    ///
    /// `said` is how many words an honest player has said; what others say is anything.
    pub(crate) fn check_events(&mut self, said: impl Fn(u32) -> Option<u32>) {
        while let Some(event) = self.client.poll_event() {
            match event {
                ClientEvent::Game(Event { kind: Yard::SAID, entity, value, .. }) => {
                    let Some(said) = said(entity) else { continue };
                    assert!(value.cast_unsigned() < said, "player {entity} never said {value}");
                    let told = &mut self.told[entity as usize - 1];
                    assert!(told.is_none_or(|last| last < value), "{value} again, or out of turn");
                    *told = Some(value);
                }
                ClientEvent::Trying
                | ClientEvent::Resumed(_)
                | ClientEvent::Quiet
                | ClientEvent::Ended(_) => panic!("{}: {event:?}", self.at),
                _ => {}
            }
        }
        assert!(self.client.is_playing(), "{} does not play", self.at);
    }
}
