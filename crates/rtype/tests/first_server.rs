//! Our client on a server of the `rtype` dialect that is not ours: a script of literal bytes, as the
//! first program's server says them.

#[path = "../../net/tests/scripts/desk.rs"]
#[allow(dead_code)]
mod desk;

use std::net::SocketAddr;

use backspin::channel::Delivery;
use backspin::client::{Client, ClientConfig, Frame};
use backspin::game::{Game, PlayerId};
use backspin::node::StreamEvent;
use backspin::session::EndReason;
use backspin::time::Time;
use backspin::wire::Name;
use backspin_classic::Dialect;
use backspin_rtype::command::{Command, Setup};
use backspin_rtype::difficulty::Difficulty;
use backspin_rtype::mission::Phase;
use backspin_rtype::{RType, World};

use desk::{Desk, Sent, address};

/// What the server calls the player: no number of ours.
const OWN: u32 = 0x0001_2345;

fn server() -> SocketAddr {
    address("10.0.0.1:4242")
}

fn entity(id: u32, kind: u8, x: f32, vx: f32) -> Vec<u8> {
    let mut bytes = id.to_le_bytes().to_vec();
    bytes.push(kind);
    [x, 300.0, vx, 0.0].iter().for_each(|value| bytes.extend(value.to_le_bytes()));
    bytes.extend(0x1020_30FF_u32.to_le_bytes());
    bytes
}

fn packet(kind: u8, payload: &[u8]) -> Vec<u8> {
    [&(payload.len() as u16).to_le_bytes()[..], &[kind, 1], payload].concat()
}

fn state(entities: &[Vec<u8>]) -> Vec<u8> {
    packet(4, &[&(entities.len() as u16).to_le_bytes()[..], &entities.concat()].concat())
}

fn roster(lives: u8) -> Vec<u8> {
    let own = [&OWN.to_le_bytes()[..], &[lives], b"Alice\0\0\0\0\0\0\0\0\0\0\0"].concat();
    packet(9, &[&[1], &own[..]].concat())
}

fn lobby(base_lives: u8, difficulty: u8, started: u8) -> Vec<u8> {
    packet(12, &[&OWN.to_le_bytes()[..], &[base_lives, difficulty, started, 0]].concat())
}

/// A client that has come in: its token is 0, and there was no HelloAck.
fn joined() -> Desk<Client<RType>> {
    let config = ClientConfig::new(server(), Name::new("Alice"));
    let mut desk = Desk::new(Dialect::Rtype.client(Time::ZERO, RType::default(), config, [3; 32]));
    desk.stream(0, StreamEvent::Opened(address("10.0.0.1:4243").into()));
    desk.stream(0, StreamEvent::Received(&[0, 0, 100, 1]));
    desk.stream(0, StreamEvent::Received(&[6, 0, 2, 1]));
    desk.stream(0, StreamEvent::Received(&[0x92, 0x10, 0, 0, 0, 0]));
    desk.advance_ms(0);
    desk.receive(server(), &roster(3));
    desk.receive(server(), &state(&[entity(OWN, 1, 50.0, 0.0)]));
    desk
}

fn world(desk: &Desk<Client<RType>>) -> World {
    RType::default().restore(desk.node.state())
}

fn say(desk: &mut Desk<Client<RType>>, command: Command) -> bool {
    desk.node.send(&command, Delivery::Reliable).is_ok()
}

fn count(sent: &[Sent], kind: u8) -> usize {
    sent.iter().filter(|(_, bytes)| bytes[2] == kind).count()
}

#[test]
fn a_host_configures_starts_sees_score_lives_and_the_end_and_says_goodbye() {
    let mut desk = joined();
    desk.receive(server(), &lobby(3, 1, 0));
    let own = desk.node.player().expect("the roster has its name");
    let mission = world(&desk).mission;
    assert_eq!((mission.phase, mission.host), (Phase::Lobby, Some(own)));
    // Six lives, hard: asked again until the server says so.
    let setup = Setup { difficulty: Difficulty::Hard, base_lives: 6, ..Setup::default() };
    assert!(say(&mut desk, Command::Configure(setup)));
    let config = packet(13, &[6, 2]);
    let asked = |sent: &[Sent]| sent.iter().filter(|(_, bytes)| *bytes == config).count();
    assert_eq!(asked(&desk.advance_ms(600)), 2);
    desk.receive(server(), &lobby(6, 2, 0));
    assert_eq!(asked(&desk.advance_ms(2_000)), 0);
    assert_eq!(world(&desk).mission.setup.base_lives, 6);
    assert!(say(&mut desk, Command::Start));
    assert_eq!(count(&desk.advance_ms(100), 14), 1);
    desk.receive(server(), &lobby(6, 2, 1));
    assert_eq!(count(&desk.advance_ms(2_000), 14), 0);
    assert_eq!(world(&desk).mission.phase, Phase::Playing);
    // 40 points of its own, 90 of the team's, a life lost.
    desk.receive(server(), &packet(11, &[&OWN.to_le_bytes()[..], &[40, 0, 0, 0]].concat()));
    desk.receive(server(), &packet(11, &[0, 0, 0, 0, 90, 0, 0, 0]));
    desk.receive(server(), &packet(10, &[&OWN.to_le_bytes()[..], &[5]].concat()));
    let told = world(&desk);
    let card = told.players().find(|card| card.player == own).expect("it plays");
    assert_eq!((card.score, told.mission.team_score), (40, 90));
    assert_eq!(i32::from(card.lives), 5);
    assert_eq!(desk.node.roster()[0].lives, 5);
    desk.receive(server(), &packet(15, &[2]));
    assert_eq!(world(&desk).mission.phase, Phase::Victory);
    // Back in the lobby, it is over for good.
    desk.receive(server(), &lobby(6, 2, 0));
    assert_eq!(world(&desk).mission.phase, Phase::Lobby);
    desk.node.leave();
    assert!(count(&desk.drain(), 16) >= 1, "Disconnect");
}

#[test]
fn what_the_dialect_has_no_word_for_is_not_said() {
    let mut desk = joined();
    assert!(!say(&mut desk, Command::Chat(1)) && !say(&mut desk, Command::Ready(true)));
    let kinds = [13, 14];
    let sent = desk.advance_ms(2_000);
    assert!(sent.iter().all(|(_, bytes)| !kinds.contains(&bytes[2])));
}

#[test]
fn two_thousand_ids_above_65535_confuse_nobody() {
    let mut desk = joined();
    desk.receive(server(), &lobby(3, 1, 1));
    let own = desk.node.player().unwrap();
    let mut frame = Frame::default();
    let mut ids_seen = 0;
    for turn in 0..200_u32 {
        desk.advance_ms(50);
        let ship = entity(OWN, 1, 50.0, 0.0);
        let enemies =
            (0..20).map(|i| entity(70_000 + 10 * turn + i, 2, 100.0 + 40.0 * i as f32, 0.0));
        let first: Vec<_> = [ship].into_iter().chain(enemies).collect();
        let bullets: Vec<_> = (0..20)
            .map(|i| entity(3_000_000_000 + 10 * turn + i, 3, 40.0 * i as f32, 500.0))
            .collect();
        ids_seen += 20;
        desk.receive(server(), &state(&first));
        desk.receive(server(), &state(&bullets));
        let now = desk.now;
        desk.node.draw(now, &mut frame);
        let world = world(&desk);
        assert!(world.boss.is_none(), "turn {turn}");
        assert_eq!(world.mission.phase, Phase::Playing);
        let card = world.players().next().expect("the player");
        assert_eq!((card.player, world.players().count()), (own, 1));
    }
    assert!(ids_seen >= 2_000);
    let schema = RType::default();
    let ship = frame.entities.iter().find(|drawn| drawn.entity.id == schema.entity_of(own));
    assert!(ship.is_some(), "the own ship is drawn");
}

#[test]
fn a_server_is_lost_in_two_ways() {
    // Nothing at all for ten seconds.
    let mut desk = joined();
    desk.advance_ms(10_100);
    assert_eq!(desk.node.ended(), Some(&EndReason::NotResponding));
    let words = EndReason::NotResponding.to_string();
    assert!(words.starts_with("Connection to server lost"), "{words}");
    // Other things come, and no State.
    let mut desk = joined();
    for _ in 0..95 {
        desk.advance_ms(100);
        desk.receive(server(), &lobby(3, 1, 0));
    }
    assert_eq!(desk.node.ended(), None);
    for _ in 0..6 {
        desk.advance_ms(100);
        desk.receive(server(), &lobby(3, 1, 0));
    }
    assert_eq!(desk.node.ended(), Some(&EndReason::Stalled));
    let words = EndReason::Stalled.to_string();
    assert!(words.starts_with("Server not responding"), "{words}");
    // Before the first State nobody waits for the next.
    assert!(desk.node.player().is_some_and(|player| player != PlayerId(0)));
}

#[test]
fn loss_is_told_by_pings_that_got_no_answer() {
    let mut desk = joined();
    assert_eq!(desk.node.loss(), None, "the first program answers none");
    let mut asked = 0;
    for _ in 0..300 {
        desk.receive(server(), &state(&[entity(OWN, 1, 50.0, 0.0)]));
        for (_, bytes) in desk.advance_ms(100) {
            if bytes[2] == 7 {
                asked += 1;
                // Every fourth is lost.
                if asked % 4 != 0 {
                    desk.receive(server(), &packet(8, &bytes[4..]));
                }
            }
        }
    }
    let loss = desk.node.loss().expect("some were answered");
    assert!((0.15..=0.30).contains(&loss), "{loss}");
}
