//! The client of section 4.1 of document 004: what it sends, what it keeps, what it replays.

use std::net::SocketAddr;
use std::time::Duration;

use backspin::channel::{Alarm, AlarmEvent};
use backspin::client::{Client, ClientConfig, ClientEvent};
use backspin::game::{Buttons, PlayerId};
use backspin::node::{Node, Path};
use backspin::session::EndReason;
use backspin::time::Time;
use backspin::wire::native::Secret;
use backspin::wire::{List, Name};
use backspin_classic::Dialect;
use backspin_classic::EntityState;
use backspin_classic::wire::ack::{
    Bye, Challenge, Datagram, Packet, Refused, Sentence, Snapshot, Welcome, entity_type,
};
use backspin_sim::dot::Dots;

const SERVER: SocketAddr =
    SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 0, 1)), 4300);
const OWN: u32 = 0x3_0002;
const COOKIE: Secret = Secret([7; 16]);

struct Table {
    client: Client<Dots>,
    now: Time,
    /// What it has sent and nobody has looked at.
    sent: Vec<Vec<u8>>,
    sequence: u32,
}

impl Table {
    fn new() -> Self {
        let mut config = ClientConfig::new(SERVER, Name::new("Alice"));
        (config.journal, config.token) = (1_000, b"sesame".to_vec());
        let client = Dialect::Ack.client(Time::ZERO, Dots::default(), config, [3; 32]);
        let mut table = Table { client, now: Time::ZERO, sent: Vec::new(), sequence: 0 };
        table.pass(0);
        table
    }

    /// In a room, as player 2.
    fn joined() -> Self {
        let mut table = Table::new();
        table.say(Packet::Challenge(Challenge { cookie: COOKIE }));
        table.pass(0);
        let (player_id, entity_id, server_tick, tick_rate) = (2, OWN, 500, 60);
        table.say(Packet::Welcome(Welcome { player_id, entity_id, server_tick, tick_rate }));
        table.sent.clear();
        table
    }

    fn say(&mut self, packet: Packet<'_>) {
        self.sequence += 1;
        self.say_numbered(self.sequence, packet);
    }

    fn say_numbered(&mut self, sequence: u32, packet: Packet<'_>) {
        let mut out = [0; 1_200];
        let len = Datagram { sequence, packet }.encode(&mut out).unwrap();
        self.client.handle_datagram(self.now, Path::to(SERVER), &mut out[..len]);
    }

    /// The own dot is at x, after the input `ack`.
    fn show(&mut self, server_tick: u32, x: f32, ack: u32) {
        let entities = [dot(OWN, x, ack), board()];
        let entities = List::new(&entities);
        self.say(Packet::Snapshot(Snapshot { server_tick, more: false, entities }));
    }

    fn pass(&mut self, ms: u64) {
        let until = self.now + Duration::from_millis(ms);
        loop {
            let mut out = [0; 2_048];
            while let Some(transmit) = self.client.poll_transmit(self.now, &mut out) {
                self.sent.push(out[..transmit.len].to_vec());
            }
            match self.client.poll_timeout().filter(|due| *due <= until) {
                Some(due) => self.now = self.now.max(due),
                None => break,
            }
            self.client.handle_timeout(self.now);
        }
        self.now = until;
    }

    /// The numbers and the flags of the inputs that were sent since this was asked last.
    fn inputs(&mut self) -> Vec<(u32, u8)> {
        let sent = std::mem::take(&mut self.sent);
        let input = |bytes: &Vec<u8>| match Datagram::decode(bytes).unwrap().packet {
            Packet::ClientInput(input) => Some((input.sequence_number, input.input_flags.bits())),
            _ => None,
        };
        sent.iter().filter_map(input).collect()
    }

    fn x(&self) -> f32 {
        self.client.predicted().expect("it is there").1[0]
    }

    fn lines(&mut self) -> Vec<String> {
        std::iter::from_fn(|| self.client.poll_line()).map(|line| line.to_string()).collect()
    }
}

fn dot(entity_id: u32, x: f32, last_ack_sequence: u32) -> EntityState {
    EntityState {
        entity_id,
        entity_type: entity_type::PLAYER,
        x,
        y: 100.0,
        vx: 0,
        vy: 0,
        health: 1,
        flags: 0,
        last_ack_sequence,
    }
}

fn board() -> EntityState {
    let entity_type = entity_type::SCOREBOARD;
    EntityState { entity_id: u32::MAX, entity_type, ..dot(0, 0.0, 0) }
}

#[test]
fn a_client_says_hello_then_join_and_then_an_input_a_tick() {
    let mut table = Table::new();
    assert_eq!(table.sent[0][1], 0x20);
    table.sent.clear();
    table.say(Packet::Challenge(Challenge { cookie: COOKIE }));
    table.pass(0);
    let Packet::Join(join) = Datagram::decode(&table.sent[0]).unwrap().packet else {
        panic!("{:02x?}", table.sent)
    };
    assert_eq!(
        (join.cookie, join.name, join.token.as_bytes()),
        (COOKIE, Name::new("Alice"), &b"sesame"[..])
    );
    let mut table = Table::joined();
    assert_eq!(table.client.player(), Some(PlayerId(2)));
    table.client.press(Buttons::RIGHT | Buttons(0x40));
    table.pass(100);
    let numbers: Vec<_> = table
        .sent
        .iter()
        .map(|bytes| u32::from_be_bytes(bytes[5..9].try_into().unwrap()))
        .collect();
    assert!(numbers.windows(2).all(|pair| pair[1] == pair[0] + 1), "{numbers:?}");
    // A button that the dialect does not have is left out.
    assert_eq!(table.inputs(), (1..=7).map(|number| (number, 8)).collect::<Vec<_>>());
    assert_eq!(table.lines()[0], "[Client] INPUT_SENT    seq=1 flags=0x08 ts=0");
}

#[test]
fn an_acknowledgement_removes_the_inputs_up_to_it_and_the_others_are_replayed() {
    let mut table = Table::joined();
    table.client.press(Buttons::RIGHT);
    table.pass(150);
    assert_eq!(table.inputs().len(), 10);
    table.lines();
    table.show(501, 200.0, 4);
    // Six are pending, and each is worth 5 px.
    assert_eq!(table.x(), 230.0);
    assert_eq!(table.lines(), ["[Client] ACK_RECEIVED  seq=4 (6 inputs pending)"]);
    // The next input moves it at once.
    table.pass(17);
    assert_eq!(table.x(), 235.0);
    // What the server says is where it starts from: it did otherwise.
    table.show(502, 180.0, 10);
    assert_eq!(table.x(), 185.0);
    // An older snapshot, and one that acknowledges what was never sent, change nothing.
    table.show(501, 0.0, 3);
    table.show(503, 0.0, 4_000);
    assert_eq!(table.x(), 185.0);
    assert_eq!(
        table.client.state().find(2).map(|own| own.fields[0]),
        Some(0),
        "others see it there"
    );
}

#[test]
fn more_than_30_unacknowledged_inputs_are_a_warning_and_more_than_60_the_end() {
    let mut table = Table::joined();
    table.pass(480);
    let events = |table: &mut Table| -> Vec<_> {
        std::iter::from_fn(|| table.client.poll_event()).collect()
    };
    let high = ClientEvent::Line(AlarmEvent::Raised(Alarm::HighLatency));
    assert!(!events(&mut table).contains(&high), "29 inputs");
    table.pass(34);
    assert!(events(&mut table).contains(&high), "31 inputs");
    table.pass(470);
    assert_eq!(table.client.ended(), None, "60 inputs");
    table.sent.clear();
    table.pass(34);
    assert_eq!(table.client.ended(), Some(&EndReason::NotResponding));
    let leaves = table.sent.iter().filter(|bytes| bytes[1] == 0x23).count();
    assert_eq!(leaves, 3);
}

#[test]
fn why_there_is_no_place_and_why_it_ended_are_told_in_our_words() {
    let sentence = || -> Sentence { Name::new("in theirs").into() };
    let mut table = Table::new();
    table.say(Packet::Refused(Refused { reason: 1, sentence: sentence() }));
    assert_eq!(table.client.ended(), None, "nobody was asked yet");
    table.say(Packet::Challenge(Challenge { cookie: COOKIE }));
    table.say(Packet::Refused(Refused { reason: 1, sentence: sentence() }));
    assert_eq!(table.client.ended(), Some(&EndReason::Full));
    for (reason, ended) in
        [(2, EndReason::Silent), (3, EndReason::Stopped), (99, EndReason::RoomClosed)]
    {
        let mut table = Table::joined();
        table.say(Packet::Bye(Bye { reason, sentence: sentence() }));
        assert_eq!(table.client.ended(), Some(&ended));
    }
}

#[test]
fn a_tick_of_several_datagrams_is_shown_when_it_is_whole_and_each_of_them_acknowledges() {
    let mut table = Table::joined();
    table.pass(150);
    let part = |table: &mut Table, at: u32, ack| {
        let entities =
            [dot(OWN, 200.0, ack), if at == 0 { board() } else { dot(100 + at, 5.0, 0) }];
        let (server_tick, more, entities) = (501, at < 2, List::new(&entities));
        table.say_numbered(70 + at, Packet::Snapshot(Snapshot { server_tick, more, entities }));
    };
    table.lines();
    part(&mut table, 2, 3);
    assert_eq!(table.lines(), ["[Client] ACK_RECEIVED  seq=3 (7 inputs pending)"]);
    part(&mut table, 0, 3);
    assert_eq!(table.client.counts().states, 0);
    part(&mut table, 1, 3);
    assert_eq!(table.client.counts().states, 1);
    let ids: Vec<_> = table.client.state().entities().iter().map(|it| it.id).collect();
    assert_eq!(ids, [2, 101, 102]);
}
