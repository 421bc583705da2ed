//! A guest of Networked Pong on a server: its own room, a bot on the left, one match after another.

use std::net::SocketAddr;
use std::time::Duration;

use backspin::endpoint::EndpointConfig;
use backspin::game::PlayerId;
use backspin::node::{Node, Path};
use backspin::room::RoomConfig;
use backspin::server::Server;
use backspin::time::Time;
use backspin::wire::Name;
use backspin_classic::wire::lan::{Packet, StateUpdate};
use backspin_pong::{Phase, Pong, World};

const TICK: Duration = Duration::from_nanos(16_666_667);

/// A server, and a guest who speaks literal bytes.
struct Table {
    server: Server<Pong>,
    guest: SocketAddr,
    now: Time,
    states: Vec<StateUpdate>,
}

impl Table {
    fn new() -> Self {
        let mut server =
            Server::new(EndpointConfig::default(), [7; 32]).speaking(backspin_classic::dialects());
        let (name, config) = (Name::new("Pong"), RoomConfig::default());
        server.offer(Time::ZERO, Pong::default(), name, 4, config);
        let guest = SocketAddr::from(([192, 168, 0, 5], 54_001));
        Table { server, guest, now: Time::ZERO, states: Vec::new() }
    }

    fn say(&mut self, bytes: &[u8]) {
        self.server.handle_datagram(self.now, Path::to(self.guest), &mut bytes.to_vec());
    }

    /// A tick in which the guest steers like this.
    fn pass(&mut self, y: i8) {
        self.say(&[5, 0, 0, y as u8]);
        self.now += TICK;
        self.server.handle_timeout(self.now);
        let mut out = [0; 2048];
        while let Some(transmit) = self.server.poll_transmit(self.now, &mut out) {
            if let Ok(Packet::StateUpdate(state)) = Packet::decode(&out[..transmit.len]) {
                self.states.push(state);
            }
        }
    }

    fn world(&self) -> &World {
        self.server.rooms()[1].world()
    }

    fn shown(&self) -> StateUpdate {
        *self.states.last().unwrap()
    }

    /// Until the match is over; the guest steers by what is shown.
    fn play(&mut self, steer: impl Fn(&StateUpdate) -> i8) {
        for _ in 0..60 * 600 {
            self.pass(steer(&self.shown()));
            if self.world().phase == Phase::Over {
                return;
            }
        }
        panic!("nobody wins: {:?}", self.shown());
    }
}

#[test]
fn matches_with_the_bot_follow_one_another_after_a_pause() {
    let mut table = Table::new();
    table.say(&[3, 0xD2, 0xF1]);
    table.pass(0);
    assert_eq!(table.server.rooms()[1].bots(), [PlayerId(1)]);
    assert_eq!(table.world().phase, Phase::Playing, "the ball flies at once");
    // Who sleeps loses.
    table.play(|_| 0);
    assert_eq!(table.shown().p1, 5, "{:?}", table.shown());
    let over = table.shown();
    for _ in 0..Pong::PATIENCE - 1 {
        table.pass(1);
        assert_eq!(StateUpdate { seq: over.seq, ..table.shown() }, over, "it stands still");
    }
    table.pass(1);
    let StateUpdate { p1, p2, ballvx, seq, .. } = table.shown();
    assert_eq!((p1, p2, ballvx, seq), (0, 0, -400.0, over.seq + u32::from(Pong::PATIENCE)));
    // Who never misses a ball wins: no rally goes on for ever.
    table.play(|state| if state.bally + 10.0 > state.p2y + 60.0 { 1 } else { -1 });
    assert_eq!((table.shown().p1, table.shown().p2), (0, 5));
}

#[test]
fn the_ball_waits_for_a_guest_who_has_gone_quiet_and_is_shown_at_rest() {
    let mut table = Table::new();
    table.say(&[3, 0xD2, 0xF1]);
    for _ in 0..30 {
        table.pass(0);
    }
    // A second and a half without a word: shorter than it takes to be dropped.
    let quiet = |table: &mut Table| {
        table.now += TICK;
        table.server.handle_timeout(table.now);
        let mut out = [0; 2048];
        while table.server.poll_transmit(table.now, &mut out).is_some() {}
    };
    (0..90).for_each(|_| quiet(&mut table));
    let held = *table.world();
    assert_eq!((held.phase, held.ball.vx), (Phase::Hold, 0));
    table.pass(0);
    let back = table.shown();
    assert_eq!(table.world().phase, Phase::Countdown);
    for _ in 0..Pong::HOLD_COUNTDOWN - 1 {
        table.pass(0);
        let StateUpdate { ballx, bally, ballvx, ballvy, p1, p2, .. } = table.shown();
        assert_eq!((ballx, bally, ballvx, ballvy), (back.ballx, back.bally, 0.0, 0.0));
        assert_eq!([p1, p2], held.score);
    }
    (0..3).for_each(|_| table.pass(0));
    assert_eq!(table.world().phase, Phase::Playing);
    assert_ne!((table.shown().ballvx, table.shown().ballx), (0.0, back.ballx));
}
