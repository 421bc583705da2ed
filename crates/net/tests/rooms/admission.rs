//! A game decides who plays: what a player says when joining, and what is read by those who may not.

use backspin::client::{Client, ClientConfig};
use backspin::endpoint::EndpointConfig;
use backspin::game::{Applicant, Buttons, Game, GameId, PlayerId, Refusal, Turn};
use backspin::replication::{Schema, State};
use backspin::session::EndReason;
use backspin::typed::{Choice, Message};
use backspin::wire::Name;
use backspin::wire::native::Role;
use backspin_classic::ClassicGame;
use backspin_sim::dot::{self, Dots};
use backspin_sim::{HostId, LinkConfig};

use super::scene::Scene;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
enum Team {
    #[default]
    Red,
    Blue,
}

#[derive(Clone, Debug, Default, PartialEq, Message)]
struct Loadout {
    team: Team,
    lives: u8,
}

#[derive(Clone, Debug, Default)]
struct World {
    dots: dot::World,
    players: Vec<(PlayerId, Loadout)>,
}

/// Two on each team. `build` is another build of the same version.
#[derive(Clone, Copy, Debug, Default)]
struct Teams {
    build: u64,
}

impl Game for Teams {
    type World = World;
    type Input = Buttons;
    type Message = ();
    type JoinData = Loadout;

    fn id(&self) -> GameId {
        GameId::new(*b"TEAM", 1)
    }

    fn capacity(&self) -> u8 {
        8
    }

    fn schema(&self) -> &'static Schema {
        Dots::default().schema()
    }

    fn layout(&self) -> u64 {
        Dots::default().layout() ^ self.build
    }

    fn begin(&self, seed: u64) -> World {
        World { dots: Dots::default().begin(seed), players: Vec::new() }
    }

    fn admit(&self, world: &World, applicant: &Applicant<'_, Loadout>) -> Result<(), Refusal> {
        let Loadout { team, lives } = applicant.data;
        assert_eq!(applicant.token, b"pass", "also from another room");
        if *lives > 9 {
            return Err(format!("{}, nobody has {lives} lives.", applicant.name)[..].into());
        }
        let there = world.players.iter().filter(|(_, loadout)| loadout.team == *team).count();
        if there < 2 { Ok(()) } else { Err("This team is full. Choose the other one.".into()) }
    }

    fn join(&self, world: &mut World, player: PlayerId, data: &Loadout) {
        Dots::default().join(&mut world.dots, player, &());
        world.players.push((player, data.clone()));
    }

    fn leave(&self, world: &mut World, player: PlayerId) {
        Dots::default().leave(&mut world.dots, player);
        world.players.retain(|(other, _)| *other != player);
    }

    fn step(&self, world: &mut World, turn: &mut Turn<'_, Self>) {
        let dots = &mut world.dots;
        turn.within::<Dots>(|world| Some(&world.dots), |turn| Dots::default().step(dots, turn));
    }

    fn capture(&self, world: &World, state: &mut State) {
        Dots::default().capture(&world.dots, state);
    }

    fn restore(&self, state: &State) -> World {
        World { dots: Dots::default().restore(state), players: Vec::new() }
    }
}

impl ClassicGame for Teams {}

fn scene(rooms: u16) -> Scene<Teams> {
    let config = EndpointConfig::default();
    Scene::new(1, LinkConfig::PERFECT, (Teams::default(), "Field"), rooms, config)
}

fn come(scene: &mut Scene<Teams>, name: &str, team: Team, lives: u8) -> HostId {
    scene.join(|config| {
        config.name = Name::new(name);
        *config = config.clone().with_join_data(&Loadout { team, lives });
    })
}

fn players(scene: &mut Scene<Teams>, room: usize) -> Vec<Loadout> {
    let players = &scene.server().rooms()[room].world().players;
    players.iter().map(|(_, loadout)| loadout.clone()).collect()
}

fn ended(scene: &mut Scene<Teams>, host: HostId) -> Option<String> {
    scene.client(host).ended().map(EndReason::to_string)
}

#[test]
fn a_game_hears_what_players_say_when_they_join() {
    let mut scene = scene(1);
    come(&mut scene, "Ann", Team::Blue, 3);
    come(&mut scene, "Bob", Team::Red, 9);
    let said = [(Team::Blue, 3), (Team::Red, 9)].map(|(team, lives)| Loadout { team, lives });
    assert_eq!(players(&mut scene, 0), said);
}

#[test]
fn whoever_says_nothing_is_the_default() {
    let mut scene = scene(1);
    scene.join(|_| {});
    assert_eq!(players(&mut scene, 0), [Loadout::default()]);
}

#[test]
fn a_refused_player_reads_the_games_own_sentence_and_takes_no_place() {
    let mut scene = scene(1);
    come(&mut scene, "Ann", Team::Red, 3);
    come(&mut scene, "Bob", Team::Red, 3);
    let third = come(&mut scene, "Cat", Team::Red, 3);
    let read = ended(&mut scene, third);
    assert_eq!(read.as_deref(), Some("This team is full. Choose the other one."));
    let greedy = come(&mut scene, "Dan", Team::Blue, 99);
    assert_eq!(ended(&mut scene, greedy).as_deref(), Some("Dan, nobody has 99 lives."));
    let rooms = scene.numbers();
    let maker = scene.join(|config| {
        config.new_room = Some(Name::new("Den"));
        *config = config.clone().with_join_data(&Loadout { team: Team::Blue, lives: 10 });
    });
    assert!(ended(&mut scene, maker).is_some_and(|read| read.ends_with("nobody has 10 lives.")));
    assert_eq!(scene.numbers(), rooms, "a room for nobody");
    assert_eq!(players(&mut scene, 0).len(), 2);
    assert_eq!(scene.server().endpoint().sessions(), 2);
    let blue = come(&mut scene, "Eve", Team::Blue, 3);
    assert!(scene.client(blue).is_playing());
}

#[test]
fn join_data_that_is_none_is_refused_in_words() {
    let mut scene = scene(1);
    for bytes in [&[2][..], &[0], &[0, 1, 2], &[0xFF; 200]] {
        let host = scene.join(|config| config.join_data = bytes.to_vec());
        let read = ended(&mut scene, host).expect("refused");
        assert!(read.contains("Update the game."), "{bytes:?}: {read}");
    }
    assert_eq!(players(&mut scene, 0), []);
}

#[test]
fn who_watches_is_not_asked_about() {
    let mut scene = scene(1);
    let host = scene.join(|config| {
        (config.role, config.join_data) =
            (Role::Watch, Loadout { team: Team::Red, lives: 99 }.to_vec());
    });
    assert!(scene.client(host).is_playing());
}

#[test]
fn who_may_not_play_in_another_room_stays_where_it_is() {
    let mut scene = scene(3);
    let den = |config: &mut ClientConfig| {
        config.new_room = Some(Name::new("Den"));
        *config = config.clone().with_join_data(&Loadout { team: Team::Red, lives: 1 });
    };
    let first = scene.join(den);
    let number = scene.client(first).room().expect("in a room");
    let into_den = |config: &mut ClientConfig| config.room = number;
    let second = scene.join(|config| into_den(config));
    assert!(scene.client(second).is_playing());
    let field = scene.numbers().into_iter().find(|other| *other != number).expect("offered");
    let third = scene.join(|config| {
        config.room = field;
        *config = config.clone().with_join_data(&Loadout { team: Team::Red, lives: 4 });
    });
    let home = scene.client(third).room();
    scene.enter(third, number, Role::Play, "");
    assert_eq!((scene.client(third).room(), scene.client(third).is_playing()), (home, true));
    // In a room that takes it, the game hears again what was said when joining.
    scene.client(second).leave();
    scene.run_ms(1_000);
    scene.enter(third, number, Role::Play, "");
    assert_eq!(scene.client(third).room(), Some(number));
    let rooms = scene.server().rooms();
    let den = rooms.iter().find(|room| room.world().players.len() == 2).expect("the den");
    assert_eq!(den.world().players[1].1, Loadout { team: Team::Red, lives: 4 });
}

#[test]
fn another_build_of_the_same_version_is_told_so() {
    let mut scene = scene(1);
    let other = |now, _, config, seed| Client::new(now, Teams { build: 1 }, config, seed);
    let host = scene.join_speaking(other);
    let read = ended(&mut scene, host).expect("refused");
    assert_eq!(read, EndReason::OtherBuild.to_string());
    assert_eq!(scene.server().endpoint().sessions(), 0);
}

#[test]
fn who_leaves_a_room_that_closes_behind_it_takes_name_and_session_along() {
    let mut scene = scene(1);
    let host = scene.make("Den", "");
    let field = scene.numbers()[0];
    let ticket = scene.client(host).ticket();
    scene.enter(host, field, Role::Play, "");
    assert_eq!((scene.client(host).room(), scene.client(host).ticket()), (Some(field), ticket));
    assert_eq!(scene.numbers(), [field]);
    let names: Vec<String> =
        scene.server().rooms()[0].members().map(|member| member.name.to_string()).collect();
    assert_eq!(names, ["Guest 1"]);
}
