//! A scripted host of Networked Pong, sockets and literal bytes alone, against our guest.

use std::collections::HashSet;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::field::Field;
use crate::lan::{FIND_HOST, HELLO_ACK, State, receive};
use crate::program::{PATIENCE, Program, join, socket};
use crate::score;

/// A host, and where its guest listens.
pub(crate) struct Host {
    socket: UdpSocket,
    guest: SocketAddr,
}

/// What a guest sent during a match.
#[derive(Default)]
struct Inputs {
    count: u32,
    ways: HashSet<i8>,
    newest: i8,
}

impl Host {
    /// Waits for a HELLO, and lets `ignored` of them pass before it answers one.
    pub(crate) fn meet(socket: UdpSocket, ignored: u32) -> Self {
        let mut passed = 0;
        loop {
            let (bytes, from) = receive(&socket);
            // Before `lan` a guest of ours may try another dialect.
            let &[3, high, low] = &bytes[..] else { continue };
            assert_eq!(u16::from_be_bytes([high, low]), from.port());
            if passed == ignored {
                socket.send_to(&HELLO_ACK, from).unwrap();
                return Host { socket, guest: from };
            }
            passed += 1;
        }
    }

    pub(crate) fn show(&self, state: &State) {
        self.socket.send_to(&state.encode(), self.guest).unwrap();
    }

    /// Takes what has come from the guest.
    fn listen(&self, inputs: &mut Inputs) {
        self.socket.set_nonblocking(true).unwrap();
        let mut buffer = [0; 64];
        while let Ok((len, from)) = self.socket.recv_from(&mut buffer) {
            assert_eq!(from, self.guest);
            match &buffer[..len] {
                &[5, 0, 0, way] => {
                    inputs.count += 1;
                    inputs.newest = way as i8;
                    inputs.ways.insert(inputs.newest);
                }
                // One that was under way when its answer came.
                &[3, ..] => self.socket.send_to(&HELLO_ACK, from).map(drop).unwrap(),
                other => panic!("{other:02x?}"),
            }
        }
        self.socket.set_nonblocking(false).unwrap();
    }

    /// Plays until the guest has five points, and shows the world `pauses` apart, in turn.
    fn play(&self, mut field: Field, pauses: &[Duration], mut each: impl FnMut(&State)) -> Inputs {
        const STEP: Duration = Duration::from_nanos(1_000_000_000 / 60);
        let (began, mut shown_at, mut steps) = (Instant::now(), Duration::ZERO, 0);
        let mut inputs = Inputs::default();
        // The first number is any.
        for seq in 0x7000_0000.. {
            std::thread::sleep(shown_at.saturating_sub(began.elapsed()));
            shown_at += pauses[seq as usize % pauses.len()];
            self.listen(&mut inputs);
            while STEP * steps < began.elapsed() {
                field.step([0, inputs.newest]);
                steps += 1;
            }
            let state = field.state(seq);
            self.show(&state);
            each(&state);
            if field.is_over() {
                break;
            }
        }
        let most = 60.0 * began.elapsed().as_secs_f64() + 5.0;
        assert!(f64::from(inputs.count) <= most && inputs.count > 50, "{} inputs", inputs.count);
        inputs
    }
}

/// Every place of a state, as a whole number.
fn places(state: &State) -> [i32; 4] {
    [state.p1y, state.p2y, state.ball.0, state.ball.1].map(|px| (px * 60.0).round() as i32)
}

fn printed_places(event: &Value) -> [i32; 4] {
    let px = |name| (event[name].as_f64().unwrap() * 60.0).round() as i32;
    ["p1_y", "p2_y", "ball_x", "ball_y"].map(px)
}

/// A match against our guest from 0 : `from` on. It must tell all of it, and nothing that its host
/// did not say.
fn play_match(mut guest: Program, socket: UdpSocket, from: u8, pauses: &[Duration]) {
    let host = Host::meet(socket, 2);
    let mut field = Field::new();
    field.score = [0, from];
    let (liar, mut shown) = (crate::program::socket(), HashSet::new());
    let lie = |score| State { seq: u32::MAX >> 1, score, ..Field::new().state(0) };
    guest.say("down");
    let mut goes_up = false;
    let inputs = host.play(field, pauses, |state| {
        shown.insert(places(state));
        // What is older, and what comes from elsewhere, is not the match.
        host.show(&State { seq: state.seq - 1, ..lie([4, 4]) });
        host.show(&State { seq: state.seq, ..lie([4, 4]) });
        liar.send_to(&lie([3, 3]).encode(), host.guest).unwrap();
        if state.p2y > 500.0 && !std::mem::replace(&mut goes_up, true) {
            guest.say("up");
        }
    });
    assert!(inputs.ways.is_subset(&HashSet::from([-1, 0, 1])), "{:?}", inputs.ways);
    assert!(inputs.ways.contains(&1) && inputs.ways.contains(&-1), "{:?}", inputs.ways);

    let connected = guest.event("connected");
    assert_eq!((&connected["player"], &connected["dialect"]), (&2.into(), &"lan".into()));
    let (mut scores, mut states) = (Vec::new(), 0);
    let over = loop {
        let event = guest.next().unwrap();
        match event["event"].as_str().unwrap() {
            "state" => {
                let places = printed_places(&event);
                assert!(shown.contains(&places), "{event}");
                states += 1;
            }
            "score" => scores.push(score(&event)),
            "game_over" => break event,
            "quality" => {}
            _ => panic!("{event}"),
        }
    };
    let expected: Vec<_> = (from.max(1)..=5).map(|points| [0, u64::from(points)]).collect();
    assert_eq!(scores, expected);
    assert_eq!((&over["winner"], score(&over)), (&2.into(), [0, 5]));
    assert!(states > 20, "{states} states");
    guest.say("quit");
    assert_eq!(guest.end().code, Some(0));
}

pub(crate) fn port_of(socket: &UdpSocket) -> u16 {
    socket.local_addr().unwrap().port()
}

#[test]
fn a_guest_plays_with_a_host_of_any_rate() {
    let play = |from, pauses: &[Duration]| {
        let socket = socket();
        let guest = join(port_of(&socket), &["--dialect", "lan"]);
        play_match(guest, socket, from, pauses);
    };
    std::thread::scope(|scope| {
        // Sixty states a second, a thousand, and seventeen that are not even.
        scope.spawn(|| play(0, &[Duration::from_nanos(16_666_667)]));
        scope.spawn(|| play(3, &[Duration::from_millis(1)]));
        scope.spawn(|| play(3, &[20, 97, 59, 60].map(Duration::from_millis)));
    });
}

/// A guest that knows only the address asks in `native`, then whether the first program is there,
/// which gets this answer; how long after the first question it says HELLO.
fn hello_after(socket: &UdpSocket, answer: &[u8]) -> Duration {
    let (first, _) = receive(socket);
    let began = Instant::now();
    assert_eq!((first.len() > 31, first[0]), (true, 1), "native is asked first");
    loop {
        let (bytes, asker) = receive(socket);
        match bytes[0] {
            3 => break began.elapsed(),
            1 if bytes == FIND_HOST && !answer.is_empty() => {
                assert!(began.elapsed() >= Duration::from_millis(900), "native had no second");
                socket.send_to(answer, asker).unwrap();
            }
            _ => {}
        }
    }
}

#[test]
fn a_guest_that_knows_only_the_address_plays_too() {
    let socket = socket();
    let guest = join(port_of(&socket), &[]);
    let [high, low] = port_of(&socket).to_be_bytes();
    let hello = hello_after(&socket, &[2, high, low]);
    // Long before it would give `native` up, however busy the machine is.
    assert!(hello < Duration::from_millis(3_000), "lan was asked after {hello:?}");
    play_match(guest, socket, 4, &[Duration::from_nanos(16_666_667)]);
}

#[test]
fn a_host_that_answers_no_search_or_speaks_native_is_asked_in_lan_in_the_end() {
    std::thread::scope(|scope| {
        // Eight bytes are a host of ours, at port 4300 in `native`: its answer may be on the way.
        for answer in [&[][..], &[2, 0xD2, 0xF0, 0x42, 0x53, 0x10, 0xCC, 0]] {
            scope.spawn(move || {
                let socket = socket();
                let mut guest = join(port_of(&socket), &[]);
                let hello = hello_after(&socket, answer);
                assert!(hello >= Duration::from_millis(3_400), "lan was asked after {hello:?}");
                let host = Host::meet(socket, 0);
                host.show(&Field::new().state(0));
                assert_eq!(guest.event("connected")["dialect"], "lan");
            });
        }
    });
}

#[test]
fn a_host_that_answers_a_search_with_three_bytes_is_joined() {
    for dialect in [&[][..], &["--dialect", "lan"]] {
        let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).unwrap();
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        let number = port_of(&socket).to_string();
        let mut guest = Program::start(&[&["join", "--port", &number], dialect].concat());
        let asker = loop {
            let (bytes, from) = receive(&socket);
            if bytes == FIND_HOST {
                break from;
            }
        };
        let [high, low] = port_of(&socket).to_be_bytes();
        socket.send_to(&[2, high, low], asker).unwrap();
        let found = guest.event("discovered");
        assert_eq!(found["dialect"], "lan", "{found}");
        let host = Host::meet(socket, 0);
        host.show(&Field::new().state(0));
        assert_eq!(guest.event("connected")["player"], 2);
        assert_eq!(score(&guest.event("state")), [0, 0]);
    }
}
