//! A scripted guest of Networked Pong, sockets and literal bytes alone, against our host.

use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::time::Instant;

use crate::field::Field;
use crate::lan::{
    DOWN, FIND_HOST, HELLO_ACK, STILL, State, UP, guest_input, has_heard_nothing, hello, receive,
};
use crate::program::{HERE, host, socket};
use crate::score;

/// This machine's, on most systems.
const SECOND: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 2);

/// A guest that speaks from one port and listens at another.
pub(crate) struct Guest {
    pub(crate) mouth: UdpSocket,
    pub(crate) ear: UdpSocket,
    host: SocketAddr,
}

impl Guest {
    pub(crate) fn new(port: u16) -> Self {
        Guest { mouth: socket(), ear: socket(), host: SocketAddr::from((HERE, port)) }
    }

    pub(crate) fn say(&self, bytes: &[u8]) {
        self.mouth.send_to(bytes, self.host).unwrap();
    }

    pub(crate) fn say_hello(&self) {
        self.say(&hello(self.ear.local_addr().unwrap().port()));
    }

    pub(crate) fn hear(&self) -> Vec<u8> {
        let (bytes, from) = receive(&self.ear);
        assert_eq!(from, self.host);
        bytes
    }

    pub(crate) fn hear_state(&self) -> State {
        State::decode(&self.hear())
    }

    /// HELLO, HELLO_ACK, and the state that follows at once.
    pub(crate) fn join(&self) -> State {
        self.say_hello();
        assert_eq!(self.hear(), HELLO_ACK);
        self.hear_state()
    }
}

/// A match as a guest sees it, every state held against the rules.
struct Match {
    state: State,
    states: u32,
    steps: u32,
}

impl Match {
    fn new(first: State) -> Self {
        Match { state: first, states: 0, steps: 0 }
    }

    /// The next state follows from the last by the rules, and its number is one more.
    fn follow(&mut self, next: State) {
        let (was, is) = (Field::of(&self.state), Field::of(&next));
        let steps = was.steps_to(&is);
        assert!(steps.is_some(), "no step leads from {:?} to {next:?}", self.state);
        assert_eq!(next.seq, self.state.seq + 1);
        // A world that stands still is stepped, too.
        assert_eq!(is.state(next.seq), next, "something is between two places");
        (self.state, self.states) = (next, self.states + 1);
        self.steps += steps.unwrap_or(0);
    }
}

/// Where the ball will not come to.
fn away_from_ball(state: &State) -> i8 {
    if state.ball.1 < 440.0 { DOWN } else { UP }
}

#[test]
fn a_scripted_guest_plays_a_match_and_another_by_the_rules() {
    let (mut host, port) = host(&[]);
    host.say("up");
    let asker = socket();
    let at_host = (HERE, port);
    asker.send_to(&FIND_HOST, at_host).unwrap();
    let [high, low] = port.to_be_bytes();
    assert_eq!(receive(&asker).0, [2, high, low, b'B', b'S', high, low, 0]);

    let guest = Guest::new(port);
    let first = guest.join();
    assert_eq!(first, Field::new().state(0));
    let connected = host.event_where("connected", |event| event["player"] == 2);
    assert_eq!(connected["dialect"], "lan");

    // Whoever else comes now is neither called nor let in.
    let late = Guest::new(port);
    asker.send_to(&FIND_HOST, at_host).unwrap();
    late.say_hello();

    let began = Instant::now();
    let mut game = Match::new(first);
    while !Field::of(&game.state).is_over() {
        guest.say(&guest_input(away_from_ball(&game.state)));
        game.follow(guest.hear_state());
    }
    // The host's paddle met the first ball and the guest's none.
    assert_eq!(game.state.score, [5, 0]);
    let seconds = began.elapsed().as_secs_f64();
    let most = seconds * 60.0 + 2.0;
    assert!(f64::from(game.states) <= most, "{} states in {seconds} s", game.states);
    assert!(has_heard_nothing(&asker) && has_heard_nothing(&late.ear));
    assert!(has_heard_nothing(&late.mouth) && has_heard_nothing(&guest.mouth));
    for points in 1..=5 {
        assert_eq!(score(&host.event("score")), [points, 0]);
    }
    let over = host.event("game_over");
    assert_eq!((&over["winner"], score(&over)), (&1.into(), [5, 0]));

    // After the fifth point the world stands still, whatever is pressed, and states go on.
    for seq in game.state.seq + 1..=game.state.seq + 30 {
        guest.say(&guest_input(DOWN));
        assert_eq!(guest.hear_state(), State { seq, ..game.state });
    }

    host.say("again");
    let began = loop {
        guest.say(&guest_input(STILL));
        let state = guest.hear_state();
        if state.score == [0, 0] {
            break state;
        }
    };
    assert!(Field::new().steps_to(&Field::of(&began)).is_some(), "{began:?}");
    let mut game = Match::new(began);
    while game.states < 60 {
        guest.say(&guest_input(DOWN));
        game.follow(guest.hear_state());
    }
    assert!(game.state.p2y > began.p2y);
    host.say("quit");
    assert_eq!(host.end().code, Some(0));
}

#[test]
fn noise_of_every_kind_changes_nothing() {
    let (mut host, port) = host(&[]);
    let guest = Guest::new(port);
    // At the very port that the guest speaks from, where this machine has a second address.
    let mouth = guest.mouth.local_addr().unwrap().port();
    let stranger = UdpSocket::bind((SECOND, mouth)).unwrap_or_else(|_| socket());
    // Before HELLO there is nobody to steer.
    guest.say(&guest_input(DOWN));
    let first = guest.join();
    assert_eq!(first, Field::new().state(0));

    let noise: [&[u8]; 12] = [
        &[],
        &[0],
        &[1, 0],
        &[3, 0, 0],
        &[4],
        &[5, 0, 0],
        &[5, 0, 0, 2],
        &[5, 0, 0, 0x80],
        &[5, 0, 0, 1, 0],
        &[6; 31],
        &[0, 0, 2, 1],
        &[1, 0x10, 0, 0, 2, 0, 0, 0, 1, 0, 0],
    ];
    let mut game = Match::new(first);
    let mut acknowledged = 0;
    while !Field::of(&game.state).is_over() {
        let turn = game.states as usize;
        // Every seventh input is lost, every third comes twice: what was said last holds.
        let copies = if turn % 7 == 6 { 0 } else { 1 + usize::from(turn.is_multiple_of(3)) };
        (0..copies).for_each(|_| guest.say(&guest_input(DOWN)));
        if turn.is_multiple_of(4) {
            stranger.send_to(&guest_input(UP), guest.host).unwrap();
            stranger.send_to(noise[turn / 4 % noise.len()], guest.host).unwrap();
            guest.say(noise[turn / 4 % noise.len()]);
        }
        if turn % 60 == 30 {
            guest.say_hello();
        }
        let mut bytes = guest.hear();
        if bytes == HELLO_ACK {
            acknowledged += 1;
            bytes = guest.hear();
            // It brings a state of its own: of the last tick, unless another was due just then.
            let same = State { seq: game.state.seq + 1, ..game.state };
            if State::decode(&bytes) == same {
                game.state = same;
                bytes = guest.hear();
            }
        }
        let before = game.state.p2y;
        game.follow(State::decode(&bytes));
        assert!(game.state.p2y >= before, "someone else moved the paddle up");
    }
    assert_eq!((game.state.score, game.state.p2y), ([0, 5], 780.0));
    assert!(acknowledged >= 5, "{acknowledged} of the repeated hellos were answered");
    assert!(has_heard_nothing(&stranger) && has_heard_nothing(&guest.mouth));
    assert_eq!(host.event("game_over")["winner"], 2);
}

#[test]
fn inputs_count_from_either_port_of_the_guest() {
    let (_host, port) = host(&[]);
    let guest = Guest::new(port);
    let first = guest.join();
    let mut state = first;
    while state.p2y > 300.0 {
        guest.say(&guest_input(UP));
        state = guest.hear_state();
    }
    while state.p2y < 300.0 {
        guest.ear.send_to(&guest_input(DOWN), guest.host).unwrap();
        state = guest.hear_state();
    }
}

#[test]
fn a_match_that_networked_pong_cannot_show_has_no_such_guests() {
    for rules in [&["--points", "3"][..], &["--doubles"]] {
        let (mut host, port) = host(rules);
        let guest = Guest::new(port);
        guest.say(&FIND_HOST);
        guest.say_hello();
        // Our own come in behind it: by then an answer would be there.
        let mut own = crate::program::join(port, &["--dialect", "native"]);
        assert_eq!(own.event("connected")["player"], 2);
        assert_eq!(
            host.event_where("connected", |event| event["player"] == 2)["dialect"],
            "native"
        );
        assert!(has_heard_nothing(&guest.ear) && has_heard_nothing(&guest.mouth), "{rules:?}");
    }
}
