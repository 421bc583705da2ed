use backspin::game::Effects;
use backspin::game::{Event, Game, PlayerId, PlayerStatus, Turn};

use crate::command::{Command, Setup};
use crate::difficulty::Difficulty;
use crate::event;
use crate::mission::{Mission, Phase};
use crate::rules::RType;
use crate::world::World;

const HOST: PlayerId = PlayerId(1);
const GUEST: PlayerId = PlayerId(2);

fn lobby(players: u32) -> World {
    let game = RType::default();
    let mut world = game.begin(1);
    (1..=players).for_each(|player| game.join(&mut world, PlayerId(player), &()));
    world
}

fn say(world: &mut World, player: PlayerId, command: Command) -> Vec<Event> {
    let mut events = Vec::new();
    RType::default().on_message(world, player, command, &mut Effects::new(&mut events));
    events
}

fn wait(world: &mut World, ticks: i32) -> Vec<Event> {
    let mut events = Vec::new();
    for tick in 0..ticks {
        RType::default().step(world, &mut Turn::new(tick as u32, &[], &[], &mut events));
    }
    events
}

fn start(world: &mut World) {
    for card in world.players().collect::<Vec<_>>() {
        say(world, card.player, Command::Ready(true));
    }
    say(world, HOST, Command::Start);
    wait(world, Mission::COUNTDOWN_TICKS);
    assert_eq!(world.mission.phase, Phase::Playing);
}

#[test]
fn the_host_starts_when_everyone_is_ready_and_it_takes_five_seconds() {
    let mut world = lobby(2);
    say(&mut world, HOST, Command::Start);
    assert_eq!(world.mission.phase, Phase::Lobby);
    say(&mut world, GUEST, Command::Ready(true));
    say(&mut world, GUEST, Command::Start);
    assert_eq!(world.mission.phase, Phase::Lobby);
    say(&mut world, HOST, Command::Start);
    assert_eq!(world.mission.phase, Phase::Countdown);
    let events = wait(&mut world, 299);
    assert_eq!(world.mission.phase, Phase::Countdown);
    assert!(events.iter().any(|e| (e.kind, e.value) == (event::LOBBY, 1)));
    let events = wait(&mut world, 1);
    assert_eq!(world.mission.phase, Phase::Playing);
    assert!(events.iter().any(|e| (e.kind, e.value) == (event::LEVEL, 1)));
}

#[test]
fn who_is_not_ready_after_all_stops_the_countdown() {
    let mut world = lobby(2);
    say(&mut world, GUEST, Command::Ready(true));
    say(&mut world, HOST, Command::Start);
    say(&mut world, GUEST, Command::Ready(false));
    assert_eq!((world.mission.phase, world.mission.timer), (Phase::Lobby, 0));
}

#[test]
fn only_the_host_sets_the_match_up_and_only_before_it() {
    let setup = Setup { difficulty: Difficulty::Easy, base_lives: 5, late_joining: false };
    let mut world = lobby(2);
    say(&mut world, GUEST, Command::Configure(setup));
    assert_eq!(world.mission.setup, Setup::default());
    say(&mut world, HOST, Command::Configure(setup));
    assert_eq!(world.mission.setup, setup);
    start(&mut world);
    say(&mut world, HOST, Command::Configure(Setup::default()));
    assert_eq!(world.mission.setup, setup);
    // Easy gives a life more.
    assert!(world.players().all(|card| card.lives == 6));
}

#[test]
fn the_next_player_becomes_host() {
    let (game, mut world) = (RType::default(), lobby(3));
    game.leave(&mut world, HOST);
    assert_eq!(world.mission.host, Some(GUEST));
    game.join(&mut world, HOST, &());
    assert_eq!(world.mission.host, Some(GUEST));
    game.leave(&mut world, GUEST);
    assert_eq!(world.mission.host, Some(PlayerId(3)));
    game.leave(&mut world, PlayerId(3));
    assert_eq!(world.mission.host, Some(HOST));
    game.leave(&mut world, HOST);
    assert_eq!(world.mission.host, None);
}

#[test]
fn who_comes_late_plays_if_the_host_allows_it_and_waits_otherwise() {
    for late_joining in [true, false] {
        let (game, mut world) = (RType::default(), lobby(1));
        say(&mut world, HOST, Command::Configure(Setup { late_joining, ..Setup::default() }));
        start(&mut world);
        game.join(&mut world, GUEST, &());
        assert_eq!(world.ship(GUEST).is_some(), late_joining);
        assert_eq!(world.pilot(GUEST).map(|pilot| pilot.is_waiting), Some(!late_joining));
        say(&mut world, HOST, Command::Restart);
        assert_eq!(world.mission.phase, Phase::Lobby);
        assert!(world.ship(GUEST).is_some());
    }
}

#[test]
fn a_match_that_everyone_has_left_is_a_lobby_again() {
    let (game, mut world) = (RType::default(), lobby(1));
    start(&mut world);
    wait(&mut world, 300);
    assert!(!world.enemies().is_empty());
    game.leave(&mut world, HOST);
    wait(&mut world, 1);
    assert_eq!((world.mission.phase, world.enemies().len()), (Phase::Lobby, 0));
}

#[test]
fn only_the_host_ends_a_match() {
    let mut world = lobby(2);
    start(&mut world);
    say(&mut world, GUEST, Command::Restart);
    assert_eq!(world.mission.phase, Phase::Playing);
    say(&mut world, HOST, Command::Restart);
    assert_eq!(world.mission.phase, Phase::Lobby);
    assert!(world.players().all(|card| !card.is_ready));
}

#[test]
fn quick_chat_reaches_everyone() {
    let mut world = lobby(2);
    let events = say(&mut world, GUEST, Command::Chat(3));
    let told: Vec<_> = events.iter().map(|e| (e.kind, e.entity, e.value)).collect();
    assert_eq!(told, [(event::CHAT, 2, 3)]);
    assert!(say(&mut world, PlayerId(4), Command::Chat(3)).is_empty());
}

#[test]
fn bytes_that_are_no_command_change_nothing() {
    let mut world = lobby(2);
    let before = world.clone();
    let mut events = Vec::new();
    for bytes in [&[][..], &[0], &[255; 255], &[3, 9, 9, 9], &[4, 200]] {
        let mut effects = Effects::new(&mut events);
        let heard = RType::default().handle_message(&mut world, HOST, bytes, &mut effects);
        assert!(heard.is_err(), "{bytes:?}");
    }
    assert!(world == before && events.is_empty());
}

#[test]
fn four_play_and_a_fifth_does_not() {
    let mut world = lobby(5);
    assert_eq!((world.players().count(), world.ships().len()), (4, 4));
    RType::default().leave(&mut world, PlayerId(4));
    for player in [0, 9, u32::MAX] {
        RType::default().join(&mut world, PlayerId(player), &());
    }
    assert_eq!(world.players().count(), 3);
    world.enter(PlayerId(8));
    assert_eq!(world.players().count(), 4);
}

#[test]
fn who_is_gone_for_a_while_is_neither_host_nor_waited_for() {
    let (game, third) = (RType::default(), PlayerId(3));
    let mut world = lobby(3);
    say(&mut world, third, Command::Ready(true));
    game.on_status(&mut world, HOST, PlayerStatus::Away);
    assert_eq!(world.mission.host, Some(GUEST));
    // The old host is not ready, and not there.
    say(&mut world, GUEST, Command::Start);
    assert_eq!(world.mission.phase, Phase::Countdown);
    // Who is back is a guest now.
    game.on_status(&mut world, HOST, PlayerStatus::Back);
    assert_eq!(world.mission.host, Some(GUEST));
    // With everyone gone it is whoever comes back first.
    for player in [GUEST, third, HOST] {
        game.on_status(&mut world, player, PlayerStatus::Away);
    }
    game.on_status(&mut world, third, PlayerStatus::Back);
    assert_eq!(world.mission.host, Some(third));
    game.leave(&mut world, third);
    assert!(world.mission.host.is_some_and(|host| host == HOST || host == GUEST));
}
