//! R-Type as a client of the `rtype` dialect plays it: our server, and players of literal bytes.

#[path = "../../net/tests/scripts/desk.rs"]
mod desk;

use std::net::SocketAddr;

use backspin::endpoint::{EndpointConfig, Tokenless};
use backspin::game::{Game, PlayerId};
use backspin::node::StreamEvent;
use backspin::room::RoomConfig;
use backspin::server::Server;
use backspin::time::Time;
use backspin::wire::Name;
use backspin_rtype::mission::Phase;
use backspin_rtype::{RType, World};

use desk::{Desk, Sent, address, sent_to};

const HELLO_ACK: &[u8] = &[0, 0, 2, 1];
const START_MATCH: &[u8] = &[0, 0, 14, 1];
const DISCONNECT: &[u8] = &[0, 0, 16, 1];

/// Types of packets.
const STATE: u8 = 4;
const DESPAWN: u8 = 6;
const PING: u8 = 7;
const ROSTER: u8 = 9;
const LIVES: u8 = 10;
const SCORE: u8 = 11;
const LOBBY: u8 = 12;
const GAME_OVER: u8 = 15;

struct Table {
    desk: Desk<Server<RType>>,
    inputs: u32,
}

impl Table {
    fn new() -> Self {
        Table::with(EndpointConfig::default())
    }

    fn with(config: EndpointConfig) -> Self {
        let mut server = Server::new(config, [5; 32]).speaking(backspin_classic::dialects());
        let (name, config) = (Name::new("Rooms"), RoomConfig::default());
        server.open(Time::ZERO, RType::default(), name, 7, config);
        Table { desk: Desk::new(server), inputs: 0 }
    }

    /// The TCP step as stream `id`; gives the token.
    fn token(&mut self, id: u64, at: SocketAddr, name: &[u8; 5]) -> [u8; 4] {
        let welcome = self.desk.stream(id, StreamEvent::Opened(at.into()));
        assert_eq!(welcome, [Some(vec![0, 0, 100, 1])]);
        let hello = [b"\x05\x00\x01\x01", &name[..]].concat();
        let ack = self.desk.stream(id, StreamEvent::Received(&hello));
        let ack = ack[0].clone().expect("an answer");
        assert_eq!(ack[..6], [6, 0, 2, 1, 0x92, 0x10]);
        [ack[6], ack[7], ack[8], ack[9]]
    }

    fn hello(token: [u8; 4], name: &[u8; 5]) -> Vec<u8> {
        [&[20, 0, 1, 1], &token[..], name, &[0; 11]].concat()
    }

    /// Both steps; what they bring.
    fn join(&mut self, id: u64, at: SocketAddr, name: &[u8; 5]) -> Vec<Sent> {
        let token = self.token(id, at, name);
        self.desk.receive(at, &Table::hello(token, name))
    }

    fn world(&self) -> &World {
        self.desk.node.rooms()[0].world()
    }

    /// Moves time on by a tick or so while everyone holds something.
    fn hold(&mut self, held: &[(SocketAddr, u8)]) -> Vec<Sent> {
        let mut sent = Vec::new();
        self.inputs += 1;
        for &(from, bits) in held {
            let input = [&[5, 0, 3, 1], &self.inputs.to_le_bytes()[..], &[bits]].concat();
            sent.extend(self.desk.receive(from, &input));
        }
        sent.extend(self.desk.advance_ms(17));
        sent
    }

    fn hold_for(&mut self, ticks: u32, held: &[(SocketAddr, u8)]) -> Vec<Sent> {
        (0..ticks).flat_map(|_| self.hold(held)).collect()
    }
}

fn alice() -> SocketAddr {
    address("10.0.0.2:5000")
}

fn bobby() -> SocketAddr {
    address("10.0.0.3:5000")
}

/// Alice, who is host, and Bobby.
fn two() -> Table {
    let mut table = Table::new();
    table.join(1, alice(), b"Alice");
    table.join(2, bobby(), b"Bobby");
    table
}

fn of_type(sent: &[Sent], to: SocketAddr, kind: u8) -> Vec<&[u8]> {
    sent_to(sent, to).into_iter().filter(|bytes| bytes[2] == kind).collect()
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
}

/// The ids and kinds in a State.
fn entities(state: &[u8]) -> Vec<(u32, u8)> {
    state[6..].chunks(25).map(|entity| (u32_at(entity, 0), entity[4])).collect()
}

#[test]
fn who_joins_is_told_the_world_the_roster_the_lobby_and_how_everyone_stands() {
    let mut table = Table::new();
    let sent = table.join(1, alice(), b"Alice");
    let ship = b"\x1B\0\x04\x01\x01\0\
        \x01\0\0\0\x01\0\0\x48\x42\0\0\xC8\x42\0\0\0\0\0\0\0\0\xFF\xFF\xAA\x55";
    let expected = [
        HELLO_ACK,
        ship,
        b"\x16\0\x09\x01\x01\x01\0\0\0\x03Alice\0\0\0\0\0\0\0\0\0\0\0",
        b"\x08\0\x0C\x01\x01\0\0\0\x03\x01\0\0",
        b"\x05\0\x0A\x01\x01\0\0\0\x03",
        b"\x08\0\x0B\x01\x01\0\0\0\0\0\0\0",
        b"\x08\0\x0B\x01\0\0\0\0\0\0\0\0",
    ];
    assert_eq!(sent_to(&sent, alice()), expected);
    // Who comes next is in everyone's roster, and no host.
    let sent = table.join(2, bobby(), b"Bobby");
    let both = b"\x2B\0\x09\x01\x02\x01\0\0\0\x03Alice\0\0\0\0\0\0\0\0\0\0\0\
        \x02\0\0\0\x03Bobby\0\0\0\0\0\0\0\0\0\0\0";
    for player in [alice(), bobby()] {
        assert_eq!(of_type(&sent, player, ROSTER), [both]);
    }
    assert_eq!(of_type(&sent, bobby(), LOBBY), [b"\x08\0\x0C\x01\x01\0\0\0\x03\x01\0\0"]);
    assert_eq!(of_type(&sent, bobby(), LIVES).len(), 2);
}

#[test]
fn a_repeated_hello_brings_everything_again_and_nobody_new() {
    let mut table = Table::new();
    let token = table.token(1, alice(), b"Alice");
    let first = table.desk.receive(alice(), &Table::hello(token, b"Alice"));
    table.hold_for(90, &[(alice(), 0)]);
    let again = table.desk.receive(alice(), &Table::hello(token, b"Alice"));
    assert_eq!(first, again);
    assert_eq!(table.world().players().count(), 1);
}

#[test]
fn only_the_host_configures_and_starts() {
    let mut table = two();
    let lobby = |sent: &[Sent]| of_type(sent, bobby(), LOBBY).last().map(|bytes| bytes.to_vec());
    table.hold_for(5, &[]);
    // Six lives, hard: from the guest it means nothing.
    table.desk.receive(bobby(), &[2, 0, 13, 1, 6, 2]);
    table.desk.receive(bobby(), START_MATCH);
    assert_eq!(lobby(&table.hold_for(5, &[])), None);
    assert_eq!(table.world().mission.phase, Phase::Lobby);
    table.desk.receive(alice(), &[2, 0, 13, 1, 6, 2]);
    let configured = vec![8, 0, 12, 1, 1, 0, 0, 0, 6, 2, 0, 0];
    assert_eq!(lobby(&table.hold_for(5, &[])), Some(configured.clone()));
    // It is said again every second, to whoever lost it.
    assert_eq!(lobby(&table.hold_for(61, &[])), Some(configured));
    // Five seconds after the host's word it starts; all who speak so are ready.
    table.desk.receive(alice(), START_MATCH);
    assert!(lobby(&table.hold_for(280, &[])).is_some_and(|lobby| lobby[10] == 0));
    let sent = table.hold_for(60, &[]);
    assert_eq!(lobby(&sent), Some(vec![8, 0, 12, 1, 1, 0, 0, 0, 6, 2, 1, 0]));
    // Hard costs a life: everyone has five.
    assert!(of_type(&sent, bobby(), LIVES).contains(&&b"\x05\0\x0A\x01\x02\0\0\0\x05"[..]));
    // A match that runs is not set up again.
    table.desk.receive(alice(), &[2, 0, 13, 1, 1, 0]);
    table.hold_for(5, &[]);
    assert_eq!(table.world().mission.setup.base_lives, 6);
}

#[test]
fn the_next_player_is_host_when_the_hosts_place_is_given_up() {
    let mut table = two();
    table.desk.receive(alice(), DISCONNECT);
    let sent = table.hold_for(31 * 60, &[(bobby(), 0)]);
    assert_eq!(of_type(&sent, bobby(), GAME_OVER), [] as [&[u8]; 0]);
    let lobby = of_type(&sent, bobby(), LOBBY);
    assert_eq!(lobby.last(), Some(&&b"\x08\0\x0C\x01\x02\0\0\0\x03\x01\0\0"[..]));
    table.desk.receive(bobby(), START_MATCH);
    table.hold_for(2, &[(bobby(), 0)]);
    assert_eq!(table.world().mission.phase, Phase::Countdown);
}

#[test]
fn a_ship_moves_and_shoots_and_what_has_gone_is_despawned() {
    let mut table = two();
    // Right and down, and shooting.
    let sent = table.hold_for(60, &[(alice(), 8 | 2 | 16)]);
    let states = of_type(&sent, bobby(), STATE);
    let last = states.last().unwrap();
    let [x, y] = [11, 15].map(|at| f32::from_bits(u32_at(last, at)));
    assert_eq!(u32_at(last, 6), 1);
    assert!((195.0..=205.0).contains(&x) && (245.0..=255.0).contains(&y), "({x}, {y})");
    let seen: Vec<_> = states.iter().flat_map(|state| entities(state)).collect();
    assert!(seen.iter().any(|&(_, kind)| kind == 3), "bullets");
    // Shots leave the field; each is despawned once, to everyone, and is in no later State.
    let sent = table.hold_for(90, &[(alice(), 0)]);
    for player in [alice(), bobby()] {
        let mut gone = Vec::new();
        for bytes in sent_to(&sent, player) {
            match bytes[2] {
                DESPAWN => gone.push(u32_at(bytes, 4)),
                STATE => assert!(entities(bytes).iter().all(|(id, _)| !gone.contains(id))),
                _ => {}
            }
        }
        let mut once = gone.clone();
        once.dedup();
        assert_eq!(gone, once);
        assert!(gone.len() >= 4 && gone.iter().all(|id| seen.contains(&(*id, 3))), "{gone:?}");
    }
}

#[test]
fn kills_are_scores_and_lost_ships_are_lives_for_everyone() {
    let mut table = two();
    table.desk.receive(alice(), START_MATCH);
    let mut sent = Vec::new();
    // Alice plays as well as a bot does; Bobby flies into whatever comes.
    for _ in 0..60 * 60 {
        let held = RType::default().bot_input(table.world(), PlayerId(1)).unwrap();
        sent.extend(table.hold(&[(alice(), held.0 as u8), (bobby(), 8)]));
    }
    let score = |player: usize| table.world().players().nth(player).unwrap().score;
    for (id, now) in [(0, table.world().mission.team_score), (1, score(0))] {
        let mut scores =
            of_type(&sent, bobby(), SCORE).into_iter().filter(|of| u32_at(of, 4) == id);
        let last = scores.next_back().unwrap();
        assert!(now > 0);
        assert_eq!(last[..4], [8, 0, 11, 1]);
        assert_eq!(u32_at(last, 8) as i32, now, "of {id}");
    }
    let lives = of_type(&sent, alice(), LIVES).into_iter().filter(|of| u32_at(of, 4) == 2);
    let mut lives: Vec<u8> = lives.map(|of| of[8]).collect();
    lives.dedup();
    assert!(lives.len() > 1, "{lives:?}");
    let now = table.world().players().nth(1).unwrap().lives;
    assert_eq!(lives.last(), Some(&now));
    // The roster says the same: the second entry's lives.
    assert_eq!(of_type(&sent, alice(), ROSTER).last().unwrap()[4 + 1 + 21 + 4], now);
    // Every score came again each second of the match.
    assert!(of_type(&sent, bobby(), SCORE).len() >= 50 * 3);
}

/// The first program's client takes any ScoreUpdate for what it shows, and its name is as long as its
/// player likes.
#[test]
fn a_first_program_client_with_a_long_name_and_no_token_sees_the_teams_score() {
    let name = "fourteen bytesé and twenty-three others.".as_bytes();
    let raw = [&[41, 0, 1, 1], name].concat();
    let mut table =
        Table::with(EndpointConfig { tokenless: Tokenless::Allowed, ..EndpointConfig::default() });
    table.desk.stream(1, StreamEvent::Opened(alice().into()));
    table.desk.stream(1, StreamEvent::Received(&raw));
    let sent = table.desk.receive(alice(), &raw);
    assert_eq!(sent_to(&sent, alice())[0], HELLO_ACK);
    // Fifteen bytes would end in the middle of a letter.
    let roster = of_type(&sent, alice(), ROSTER)[0];
    assert_eq!(&roster[10..26], b"fourteen bytes\0\0");
    table.join(2, bobby(), b"Bobby");
    table.desk.receive(alice(), START_MATCH);
    let mut shown = 0;
    for tick in 0..40 * 60 {
        let held = RType::default().bot_input(table.world(), PlayerId(2)).unwrap();
        let sent = table.hold(&[(alice(), 0), (bobby(), held.0 as u8)]);
        if let Some(last) = of_type(&sent, alice(), SCORE).last() {
            assert_eq!(u32_at(last, 4), 0, "the last score in tick {tick} is a player's");
            shown = u32_at(last, 8) as i32;
        }
    }
    assert_eq!(shown, table.world().mission.team_score);
    assert!(shown > 0);
}

#[test]
fn a_lost_match_is_over_and_the_next_one_can_be_started() {
    let mut table = two();
    table.desk.receive(alice(), &[2, 0, 13, 1, 1, 2]);
    table.desk.receive(alice(), START_MATCH);
    let both = [(alice(), 8), (bobby(), 8 | 2)];
    let mut sent = Vec::new();
    for _ in 0..300 {
        sent = table.hold_for(60, &both);
        if !of_type(&sent, bobby(), GAME_OVER).is_empty() {
            break;
        }
    }
    for player in [alice(), bobby()] {
        assert_eq!(of_type(&sent, player, GAME_OVER)[0], [1, 0, 15, 1, 0], "all dead");
    }
    let sent = table.hold_for(9 * 60, &both);
    let lobby = of_type(&sent, bobby(), LOBBY);
    assert_eq!(lobby.last(), Some(&&b"\x08\0\x0C\x01\x01\0\0\0\x01\x02\0\0"[..]));
    assert_eq!(of_type(&table.hold_for(120, &both), bobby(), GAME_OVER).len(), 0);
    table.desk.receive(alice(), START_MATCH);
    table.hold_for(2, &both);
    assert_eq!(table.world().mission.phase, Phase::Countdown, "all are ready again");
}

#[test]
fn both_sides_ping_and_both_are_answered() {
    let mut table = two();
    let pong = table.desk.receive(alice(), &[8, 0, 7, 1, 5, 0, 0, 0, 0x39, 0x30, 0, 0]);
    assert_eq!(pong, [(alice(), vec![8, 0, 8, 1, 5, 0, 0, 0, 0x39, 0x30, 0, 0])]);
    for _ in 0..5 * 60 {
        let sent = table.hold(&[(alice(), 0)]);
        for ping in of_type(&sent, alice(), PING) {
            table.desk.advance_ms(80);
            table.desk.receive(alice(), &[&[8, 0, 8, 1], &ping[4..]].concat());
        }
    }
    let card = table.desk.node.rooms()[0].members().next().unwrap();
    let rtt_ms = card.rtt.map(|rtt| rtt.as_millis()).unwrap();
    assert!((80..=100).contains(&rtt_ms), "{rtt_ms} ms");
}

#[test]
fn who_was_silent_comes_back_to_the_same_ship_with_the_token() {
    let mut table = Table::new();
    let token = table.token(1, alice(), b"Alice");
    table.desk.receive(alice(), &Table::hello(token, b"Alice"));
    table.hold_for(30, &[(alice(), 8)]);
    table.hold_for(11 * 60, &[]);
    assert!(table.desk.drain().is_empty() && sent_to(&table.hold(&[]), alice()).is_empty());
    let elsewhere = address("10.9.9.9:7000");
    let sent = table.desk.receive(elsewhere, &Table::hello(token, b"Alice"));
    let [HELLO_ACK, [8, 0, PING, 1, bytes @ ..]] = sent_to(&sent, elsewhere)[..] else {
        panic!("{sent:?}");
    };
    let sent = table.desk.receive(elsewhere, &[&[8, 0, 8, 1], bytes].concat());
    assert_eq!(of_type(&sent, elsewhere, LOBBY).len(), 1);
    assert_eq!(table.world().players().map(|card| card.player).collect::<Vec<_>>(), [PlayerId(1)]);
}

#[test]
fn wrong_tokens_foreign_addresses_and_malformed_bytes_get_silence_and_change_nothing() {
    let mut table = Table::new();
    let token = table.token(1, alice(), b"Alice");
    let stranger = address("10.6.6.6:5000");
    let mut wrong = token;
    wrong[3] ^= 0x80;
    assert_eq!(table.desk.receive(stranger, &Table::hello(wrong, b"Alice")), []);
    table.desk.receive(alice(), &Table::hello(token, b"Alice"));
    // Her token while she plays, from elsewhere: the address is asked for, and nothing comes of it.
    let sent = table.desk.receive(stranger, &Table::hello(token, b"Alice"));
    let [HELLO_ACK, [8, 0, PING, 1, bytes @ ..]] = sent_to(&sent, stranger)[..] else {
        panic!("{sent:?}");
    };
    table.desk.receive(alice(), &[5, 0, 3, 1, 0, 0, 0, 0, 0]);
    assert_eq!(table.desk.receive(stranger, &[&[8, 0, 8, 1], bytes].concat()), []);
    let before = table.world().clone();
    let input: &[u8] = &[5, 0, 3, 1, 9, 0, 0, 0, 8];
    for bytes in [input, START_MATCH, DISCONNECT, &[2, 0, 13, 1, 6, 2]] {
        assert_eq!(table.desk.receive(stranger, bytes), [], "{bytes:?}");
    }
    for malformed in [
        &[][..],
        &[0],
        &[0, 0, 14],
        &[0, 0, 14, 0],
        &[0, 0, 14, 2],
        &[1, 0, 14, 1],
        &[0, 1, 14, 1],
        &[0, 0, 14, 1, 0],
        &[0, 0, 0, 1],
        &[0, 0, 18, 1],
        &[0, 0, 255, 1],
        &[5, 0, 3, 1, 9, 0, 0, 0, 64],
        &[5, 0, 3, 1, 9, 0, 0, 0, 128],
        &[4, 0, 3, 1, 9, 0, 0, 0],
        &[2, 0, 13, 1, 0, 1],
        &[2, 0, 13, 1, 7, 1],
        &[2, 0, 13, 1, 1, 3],
        &[7, 0, 7, 1, 0, 0, 0, 0, 0, 0, 0],
    ] {
        assert_eq!(table.desk.receive(alice(), malformed), [], "{malformed:?}");
    }
    // What only a server says.
    for word in [&[0, 0, 2, 1][..], &[0, 0, 17, 1], &[1, 0, 15, 1, 0], &[4, 0, 6, 1, 1, 0, 0, 0]] {
        assert_eq!(table.desk.receive(alice(), word), [], "{word:?}");
    }
    assert_eq!(*table.world(), before);
    table.hold_for(2, &[]);
    assert_eq!(table.world().mission, before.mission);
    assert_eq!(table.world().ships()[0].at, before.ships()[0].at);
}
