//! Silence, the drop, and the way back.

use std::time::{Duration, Instant};

use crate::player::{DISCONNECT, HELLO_ACK, Player, RIGHT, STATE};
use crate::server::{Ports, Server};

#[test]
fn who_falls_silent_is_dropped_after_ten_seconds_and_comes_back_with_the_token() {
    let mut server = Server::start(Ports::rtype, &[]);
    let (mut alice, alices) = Player::join(&server, b"Alice");
    // Bobby answers pings and sends nothing else: that keeps him.
    let (mut bobby, _bobbys) = Player::join(&server, b"Bobby");
    bobby.until("roster of two", |bobby| bobby.roster.len() == 2);
    alice.hold(RIGHT);
    let silent = Instant::now();
    bobby.until("roster of one", |bobby| bobby.roster == [(2, 3)]);
    let dropped = silent.elapsed();
    assert!((9.5..13.0).contains(&dropped.as_secs_f64()), "{dropped:?}");
    // What came before the drop is read; then nothing comes any more.
    while alice.receive_within(Duration::from_millis(200)).is_some() {}
    // From another address, with the token: the same place.
    let mut again = Player::new(&server);
    again.enter(&alices);
    assert!(again.ship(1).is_some());
    bobby.until("roster of two again", |bobby| bobby.roster == [(1, 3), (2, 3)]);
    assert!(bobby.listen(Duration::from_millis(200), STATE) > 0);
    let told = server.kill();
    for line in ["player 1 is not responding", "player 1 timed out", "player 1 is back from"] {
        assert!(told.contains(line), "{line:?} in {told}");
    }
}

#[test]
fn who_said_goodbye_may_be_back_at_once_from_elsewhere() {
    let server = Server::start(Ports::rtype, &[]);
    let (alice, alices) = Player::join(&server, b"Alice");
    alice.send(DISCONNECT);
    // The goodbye may be read after the Hello: so it is said until it is heard.
    let mut again = Player::from([127, 0, 0, 2].into(), &server);
    let limit = Instant::now() + Duration::from_secs(4);
    loop {
        again.send(&alices.hello());
        if let Some(answer) = again.receive_within(Duration::from_millis(200)) {
            assert_eq!(answer, HELLO_ACK);
            break;
        }
        assert!(Instant::now() < limit, "the place was not given back");
    }
    again.until("roster", |again| again.roster == [(1, 3)]);
}
