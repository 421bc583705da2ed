//! The ball waits for a player who has gone quiet: the rules alone, and over the seeded network.

use std::net::SocketAddr;
use std::time::Duration;

use backspin::channel::Delivery;
use backspin::client::{Client, ClientConfig};
use backspin::endpoint::EndpointConfig;
use backspin::game::{Buttons, Game, PlayerId, PlayerInput, Turn};
use backspin::node::{Node, Path, StreamAction, StreamEvent, StreamId, StreamNode, Transmit};
use backspin::room::RoomConfig;
use backspin::server::Server;
use backspin::time::Time;
use backspin::wire::Name;
use backspin_pong::{Attendance, Ball, Command, Phase, Pong, World};
use backspin_sim::{Drift, HostId, LinkConfig, Loss, Partition, World as Network};

use crate::stage::{DOWN, Stage};

const SECOND: u32 = 60;

fn pass(stage: &mut Stage, ticks: u32) {
    (0..ticks).for_each(|_| stage.step(&[]));
}

/// Steps until the phase changes; how many steps that took.
fn until_change(stage: &mut Stage) -> u32 {
    let phase = stage.world.phase;
    for steps in 1..100_000 {
        stage.step(&[]);
        if stage.world.phase != phase {
            return steps;
        }
    }
    panic!("nothing changes: {:?}", stage.world);
}

#[test]
fn the_ball_stands_still_while_a_player_is_quiet_and_flies_on_as_it_flew() {
    let mut stage = Stage::playing();
    pass(&mut stage, 20);
    let Ball { x, y, vx, vy, which } = stage.world.ball;
    stage.miss(2);
    for _ in 0..10 * SECOND {
        stage.step(&[(1, DOWN), (2, DOWN)]);
        let ball = stage.world.ball;
        assert_eq!((ball.x, ball.y, ball.vx, ball.vy), (x, y, 0, 0));
        assert_eq!((stage.world.phase, stage.world.score), (Phase::Hold, [0, 0]));
    }
    let [left, right, ..] = stage.world.paddles.map(|paddle| paddle.map(|it| it.y));
    assert_ne!(left, right, "the one who is there may move, the other's paddle rests");
    stage.hear(2);
    assert_eq!(stage.world.phase, Phase::Countdown);
    assert_eq!(until_change(&mut stage), u32::from(Pong::HOLD_COUNTDOWN) + 1);
    let flown = Ball { x: x + vx, y: y + vy, vx, vy, which };
    assert_eq!((stage.world.phase, stage.world.ball), (Phase::Playing, flown));
}

#[test]
fn after_half_a_minute_a_bot_plays_until_the_player_is_back() {
    let mut stage = Stage::playing();
    stage.miss(2);
    stage.step(&[]);
    assert_eq!(until_change(&mut stage), u32::from(Pong::LONGEST_HOLD));
    assert_eq!(stage.world.phase, Phase::Countdown);
    assert_eq!(stage.world.attendance[1], Attendance::Replaced);
    // The bot goes to meet the ball, and returns it.
    let (mut moved, mut returned) = (false, false);
    while !returned && stage.world.phase != Phase::Over {
        let first = stage.game.bot_input(&stage.world, PlayerId(1)).unwrap();
        stage.step(&[(1, first)]);
        moved |= stage.world.paddles[1].is_some_and(|paddle| paddle.vy != 0);
        returned |= stage.events.iter().any(|it| it.kind == Pong::CONTACT && it.entity == 2);
    }
    assert!(moved && returned, "{:?}", stage.world);
    stage.hear(2);
    assert_eq!(stage.world.phase, Phase::Playing);
    assert_eq!(stage.world.attendance[1], Attendance::Here);
    stage.step(&[(2, DOWN)]);
    assert_eq!(stage.world.paddles[1].map(|paddle| paddle.vy), Some(600));
}

#[test]
fn the_other_may_go_on_against_a_bot_and_nobody_else() {
    let mut stage = Stage::playing();
    stage.miss(2);
    stage.step(&[]);
    for stranger in [2, 3, 9] {
        stage.say(stranger, Command::GoOn);
        assert_eq!(stage.world.phase, Phase::Hold, "player {stranger}");
    }
    stage.say(1, Command::GoOn);
    assert_eq!(stage.world.attendance, [Attendance::Here, Attendance::Replaced]);
    assert_eq!(until_change(&mut stage), u32::from(Pong::HOLD_COUNTDOWN) + 1);
    assert_eq!(stage.world.phase, Phase::Playing);
    // The next silence is waited for again.
    stage.hear(2);
    stage.miss(2);
    stage.step(&[]);
    assert_eq!(stage.world.phase, Phase::Hold);
    // In a match that is not held, the word means nothing.
    let mut stage = Stage::playing();
    let before = stage.world;
    stage.say(1, Command::GoOn);
    assert_eq!(stage.world, before);
}

#[test]
fn whoever_goes_quiet_again_and_again_stalls_a_match_for_33_seconds_at_most() {
    // As short as it can be, as long as it can be, and in between.
    for quiet_for in [1, 30, 200, 10_000] {
        let mut stage = Stage::playing();
        let mut stalled = 0;
        for _ in 0..60 {
            stage.miss(2);
            for _ in 0..quiet_for {
                stage.step(&[]);
                stalled += u32::from(stage.world.phase != Phase::Playing);
                if stage.world.attendance[1] == Attendance::Replaced {
                    break;
                }
            }
            stage.hear(2);
            for _ in 0..130 {
                stage.step(&[]);
                stalled += u32::from(stage.world.phase != Phase::Playing);
            }
            // Whether anyone scores does not matter here.
            (stage.world.score, stage.world.phase) = match stage.world.phase {
                Phase::Over => panic!("the match ends: {:?}", stage.world),
                phase => ([0, 0], phase),
            };
        }
        assert!((20 * SECOND..=33 * SECOND).contains(&stalled), "{quiet_for}: {stalled} ticks");
        assert_eq!(stage.world.patience, [Pong::LONGEST_HOLD, 0]);
    }
}

#[test]
fn a_new_match_has_all_of_its_patience_again() {
    let mut stage = Stage::new(Pong { points: 1, countdown: 0, ..Pong::default() }, 2);
    stage.step(&[]);
    stage.miss(1);
    pass(&mut stage, 100);
    stage.hear(1);
    stage.until(Pong::OVER);
    assert!(stage.world.patience[0] < Pong::LONGEST_HOLD);
    stage.say(1, Command::Again);
    stage.say(2, Command::Again);
    stage.step(&[]);
    assert_eq!(stage.world.patience, [Pong::LONGEST_HOLD; 2]);
}

#[test]
fn when_both_are_quiet_the_ball_waits_for_both() {
    let mut stage = Stage::playing();
    stage.miss(1);
    pass(&mut stage, 600);
    stage.miss(2);
    pass(&mut stage, 10);
    stage.hear(1);
    stage.step(&[]);
    assert_eq!(stage.world.phase, Phase::Hold);
    stage.hear(2);
    assert_eq!(stage.world.phase, Phase::Countdown);
}

#[test]
fn who_goes_quiet_before_the_serve_is_waited_for_at_the_serve() {
    let mut stage = Stage::new(Pong::default(), 2);
    stage.step(&[]);
    stage.miss(1);
    until_change(&mut stage);
    assert_eq!((stage.world.phase, stage.world.ball.vx), (Phase::Hold, 0));
    stage.hear(1);
    until_change(&mut stage);
    assert_eq!((stage.world.phase, stage.world.ball.vx), (Phase::Playing, -400));
}

#[test]
fn who_leaves_a_match_that_is_held_ends_it() {
    let mut stage = Stage::playing();
    pass(&mut stage, 20);
    stage.miss(2);
    stage.step(&[]);
    let then = stage.world.ball;
    stage.leave(2);
    let Ball { vx, which, .. } = stage.world.ball;
    assert_eq!((stage.world.phase, vx, which), (Phase::Left, 0, !then.which));
    stage.join(2);
    stage.step(&[]);
    assert_eq!(stage.world.attendance, [Attendance::Here; 2]);
}

#[test]
fn doubles_wait_for_nobody() {
    let mut stage = Stage::new(Pong { doubles: true, countdown: 0, ..Pong::default() }, 4);
    stage.step(&[]);
    stage.miss(2);
    pass(&mut stage, 10);
    assert_eq!(stage.world.phase, Phase::Playing);
    assert_eq!(stage.world.attendance, [Attendance::Here; 2]);
}

#[test]
fn a_hold_that_is_predicted_is_the_servers() {
    let mut stage = Stage::playing();
    pass(&mut stage, 20);
    stage.miss(2);
    stage.step(&[]);
    let mut predicted = stage.game.restore(&stage.state());
    for tick in 1..2_000 {
        stage.step(&[]);
        let input = PlayerInput::new(PlayerId(1), Buttons::default());
        let (mut events, inputs) = (Vec::new(), [input]);
        stage.game.predict(&mut predicted, &mut Turn::new(tick, &inputs, &[], &mut events));
        let World { phase, ticks_left, ball, attendance, .. } = predicted;
        let theirs = &stage.world;
        assert_eq!(
            (phase, ticks_left, ball, attendance),
            (theirs.phase, theirs.ticks_left, theirs.ball, theirs.attendance)
        );
        if phase == Phase::Playing {
            return;
        }
    }
    panic!("the hold does not end");
}

/// A server or a player.
enum Party {
    Server(Box<Server<Pong>>),
    Client(Box<Client<Pong>>),
}

impl Party {
    fn node(&mut self) -> &mut dyn StreamNode {
        match self {
            Party::Server(server) => server,
            Party::Client(client) => client,
        }
    }
}

impl Node for Party {
    fn handle_datagram(&mut self, now: Time, path: Path, bytes: &mut [u8]) {
        self.node().handle_datagram(now, path, bytes);
    }

    fn handle_timeout(&mut self, now: Time) {
        self.node().handle_timeout(now);
    }

    fn poll_transmit(&mut self, now: Time, out: &mut [u8]) -> Option<Transmit> {
        self.node().poll_transmit(now, out)
    }

    fn poll_timeout(&self) -> Option<Time> {
        match self {
            Party::Server(server) => server.poll_timeout(),
            Party::Client(client) => client.poll_timeout(),
        }
    }
}

impl StreamNode for Party {
    fn accepts_streams(&self) -> bool {
        matches!(self, Party::Server(server) if server.accepts_streams())
    }

    fn handle_stream(&mut self, now: Time, stream: StreamId, event: StreamEvent<'_>) {
        self.node().handle_stream(now, stream, event);
    }

    fn poll_stream(&mut self, now: Time, out: &mut [u8]) -> Option<(StreamId, StreamAction)> {
        self.node().poll_stream(now, out)
    }
}

struct Scene {
    network: Network<Party>,
    server: HostId,
    clients: Vec<HostId>,
}

impl Scene {
    /// Two players on a server, in the middle of a match to 99.
    fn new(seed: u64, link: LinkConfig) -> Self {
        println!("seed {seed}");
        let at: SocketAddr = "10.0.0.1:4300".parse().unwrap();
        let game = Pong { points: Pong::MAX_POINTS, ..Pong::default() };
        let mut server =
            Server::new(EndpointConfig::default(), [7; 32]).speaking(backspin_classic::dialects());
        server.open(Time::ZERO, game, Name::new("Pong"), seed, RoomConfig::default());
        let mut network = Network::new(seed, link);
        let server = network.add(Party::Server(Box::new(server)), &[at], Drift::NONE);
        let clients = [(2, "Ann"), (3, "Ben")].map(|(i, name)| {
            let config = ClientConfig::new(at, Name::new(name));
            let config = ClientConfig { own_port: 5000, ..config };
            let client = Client::new(Time::ZERO, Pong::default(), config, [i; 32]);
            let own: SocketAddr = format!("10.0.0.{i}:5000").parse().unwrap();
            network.add(Party::Client(Box::new(client)), &[own], Drift::NONE)
        });
        let mut scene = Scene { network, server, clients: clients.to_vec() };
        scene.run_ms(6_000);
        assert_eq!(scene.world().phase, Phase::Playing);
        scene
    }

    fn run_ms(&mut self, ms: u64) {
        self.network.run_for(Duration::from_millis(ms));
    }

    fn world(&self) -> World {
        let Party::Server(server) = self.network.node(self.server) else { unreachable!() };
        *server.rooms()[0].world()
    }

    fn client(&mut self, i: usize) -> &mut Client<Pong> {
        match self.network.node_mut(self.clients[i]) {
            Party::Client(client) => client,
            Party::Server(_) => unreachable!(),
        }
    }

    fn cut(&mut self, i: usize, partition: Partition) {
        self.network.set_partition(self.server, self.clients[i], partition);
    }
}

fn line() -> LinkConfig {
    LinkConfig::PERFECT.with_rtt(Duration::from_millis(50))
}

#[test]
fn nobody_scores_while_a_line_is_dead_and_play_goes_on_when_it_is_back() {
    // The second is longer than it takes until a player is dropped.
    for cut_s in [3, 20] {
        let mut scene = Scene::new(1, line());
        scene.cut(1, Partition::Cut);
        scene.run_ms(1_200);
        let (phase, score) = (scene.world().phase, scene.world().score);
        assert_eq!(phase, Phase::Hold);
        scene.run_ms(cut_s * 1000 - 1_200);
        assert_eq!((scene.world().phase, scene.world().score), (Phase::Hold, score));
        // The other one sees whom the ball waits for.
        let seen = Pong::default().restore(scene.client(0).state());
        assert_eq!(seen.attendance, [Attendance::Here, Attendance::Quiet]);
        scene.cut(1, Partition::Healed);
        let mut waited_ms = 0;
        while scene.world().phase == Phase::Hold {
            scene.run_ms(50);
            waited_ms += 50;
            assert!(waited_ms < 4_000, "{cut_s} s: {:?}", scene.world());
        }
        assert_eq!((scene.world().phase, scene.world().score), (Phase::Countdown, score));
        scene.run_ms(2_100);
        assert_eq!(scene.world().phase, Phase::Playing);
        assert_eq!(scene.world().attendance, [Attendance::Here; 2]);
    }
}

#[test]
fn a_hiccup_of_nine_tenths_of_a_second_stops_nothing() {
    for seed in 1..=10 {
        let mut scene = Scene::new(seed, line());
        scene.cut(1, Partition::Cut);
        scene.run_ms(900);
        scene.cut(1, Partition::Healed);
        for _ in 0..20 {
            scene.run_ms(50);
            assert_eq!(scene.world().phase, Phase::Playing, "seed {seed}");
        }
    }
}

#[test]
fn a_line_that_loses_a_third_in_bursts_stops_nothing() {
    for seed in 1..=5 {
        let lossy = LinkConfig { loss: Loss::bursts(0.33, 4.0), ..line() };
        let mut scene = Scene::new(seed, lossy);
        for _ in 0..600 {
            scene.run_ms(100);
            assert_eq!(scene.world().attendance, [Attendance::Here; 2], "seed {seed}");
        }
    }
}

#[test]
fn the_word_to_go_on_reaches_the_server_and_a_bot_plays() {
    let mut scene = Scene::new(2, line());
    scene.cut(1, Partition::Cut);
    scene.run_ms(1_500);
    scene.client(0).send(&Command::GoOn, Delivery::Reliable).unwrap();
    scene.run_ms(200);
    assert_eq!(scene.world().attendance, [Attendance::Here, Attendance::Replaced]);
    scene.run_ms(2_000);
    assert_eq!(scene.world().phase, Phase::Playing);
}

#[test]
fn a_player_who_does_not_come_back_is_replaced_and_then_gone() {
    let mut scene = Scene::new(3, line());
    scene.cut(1, Partition::Cut);
    scene.run_ms(30_900);
    assert_eq!(scene.world().phase, Phase::Hold);
    scene.run_ms(2_500);
    assert_eq!(scene.world().phase, Phase::Playing);
    assert_eq!(scene.world().attendance[1], Attendance::Replaced);
    // Dropped after 10 s, the place is kept for half a minute.
    scene.run_ms(8_000);
    assert_eq!(scene.world().phase, Phase::Left);
}
