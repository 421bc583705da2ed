//! Both backends on loopback.

use std::net::SocketAddr;

use backspin::node::{Node, Transmit};

use super::*;
use crate::batch::BATCH;

/// Sends everything back, and once, at its deadline, a word of its own.
struct Echo {
    answers: Vec<(Path, Vec<u8>)>,
    deadline: Option<(Time, SocketAddr)>,
}

impl Node for Echo {
    fn handle_datagram(&mut self, _now: Time, path: Path, bytes: &mut [u8]) {
        self.answers.push((path, bytes.to_vec()));
    }

    fn handle_timeout(&mut self, now: Time) {
        if let Some((_, to)) = self.deadline.take_if(|(due, _)| *due <= now) {
            self.answers.push((Path::to(to), b"tick".to_vec()));
        }
    }

    fn poll_transmit(&mut self, _now: Time, out: &mut [u8]) -> Option<Transmit> {
        let (path, bytes) = self.answers.pop()?;
        out[..bytes.len()].copy_from_slice(&bytes);
        Some(Transmit { path, len: bytes.len() })
    }

    fn poll_timeout(&self) -> Option<Time> {
        self.deadline.map(|(due, _)| due)
    }
}

impl StreamNode for Echo {}

const BOTH: [Backend; 2] = [Backend::Batched, Backend::Portable];

fn loopback(backend: Backend) -> Socket {
    Socket::bind_with("127.0.0.1:0".parse().unwrap(), backend).unwrap()
}

/// Runs until so many datagrams have come to `peer`.
fn run(
    driver: &mut Loop,
    node: &mut Echo,
    peer: &Socket,
    count: usize,
) -> Vec<(SocketAddr, Vec<u8>)> {
    let limit = driver.now() + Duration::from_secs(10);
    let mut all = Vec::new();
    while all.len() < count {
        assert_eq!(driver.turn(node, limit).unwrap(), Wake::Work, "{all:?} and no more");
        all.extend(received(peer));
    }
    all
}

fn received(socket: &Socket) -> Vec<(SocketAddr, Vec<u8>)> {
    let (mut inbox, mut all) = (Inbox::new(RECEIVE_LEN), Vec::new());
    while socket.receive(&mut inbox).unwrap() > 0 {
        all.extend(inbox.datagrams().map(|(envelope, bytes)| (envelope.remote, bytes.to_vec())));
    }
    all
}

#[test]
fn a_node_answers_over_the_socket_that_was_asked() {
    for backend in BOTH {
        let mut driver = Loop::new(vec![loopback(backend), loopback(backend)]).unwrap();
        let mut node = Echo { answers: Vec::new(), deadline: None };
        let peer = loopback(backend);
        let asked = [1, 0, 1].map(|i: usize| driver.sockets()[i].local_addr().unwrap());
        for (to, bytes) in asked.iter().zip([b"a", b"b", b"c"]) {
            peer.send(*to, bytes).unwrap();
        }
        let mut answers = run(&mut driver, &mut node, &peer, 3);
        answers.sort_unstable_by(|(_, a), (_, b)| a.cmp(b));
        let expected =
            [(asked[0], b"a".to_vec()), (asked[1], b"b".to_vec()), (asked[2], b"c".to_vec())];
        assert_eq!(answers, expected);
        assert_eq!(driver.unsent(), 0);
    }
}

#[test]
fn a_deadline_wakes_the_loop_without_a_datagram() {
    for backend in BOTH {
        let mut driver = Loop::new(vec![loopback(backend)]).unwrap();
        let peer = loopback(backend);
        let due = driver.now() + Duration::from_millis(10);
        let deadline = Some((due, peer.local_addr().unwrap()));
        let mut node = Echo { answers: Vec::new(), deadline };
        assert_eq!(run(&mut driver, &mut node, &peer, 1)[0].1, b"tick");
        assert!(driver.now() >= due);
    }
}

/// Has several things due at once, and does one at a time.
struct Bits {
    due: Time,
    left: u8,
    to: SocketAddr,
    /// What was said, before each of them.
    said: Vec<usize>,
    words: usize,
    word: Option<u8>,
}

impl Node for Bits {
    fn handle_datagram(&mut self, _now: Time, _path: Path, _bytes: &mut [u8]) {}

    fn handle_timeout(&mut self, _now: Time) {
        self.said.push(self.words);
        self.word = Some(self.left);
        self.left -= 1;
    }

    fn poll_transmit(&mut self, _now: Time, out: &mut [u8]) -> Option<Transmit> {
        out[0] = self.word.take()?;
        self.words += 1;
        Some(Transmit { path: Path::to(self.to), len: 1 })
    }

    fn poll_timeout(&self) -> Option<Time> {
        (self.left > 0).then_some(self.due)
    }
}

impl StreamNode for Bits {}

#[test]
fn what_is_due_is_done_in_one_turn_and_each_bit_of_it_is_sent_before_the_next() {
    for backend in BOTH {
        let mut driver = Loop::new(vec![loopback(backend)]).unwrap();
        let peer = loopback(backend);
        let (due, to) = (driver.now(), peer.local_addr().unwrap());
        let mut node = Bits { due, left: 3, to, said: Vec::new(), words: 0, word: None };
        assert_eq!(driver.turn(&mut node, due + Duration::from_secs(10)).unwrap(), Wake::Work);
        assert_eq!((&node.said[..], node.left), (&[0, 1, 2][..], 0));
        assert_eq!(received(&peer).len(), 3);
    }
}

#[test]
fn a_turn_takes_so_many_and_the_next_one_the_rest_without_waiting() {
    for backend in BOTH {
        let mut driver = Loop::new(vec![loopback(backend)]).unwrap();
        let to = driver.sockets()[0].local_addr().unwrap();
        let peer = loopback(backend);
        for _ in 0..=DRAIN_LIMIT * BATCH {
            peer.send(to, b"x").unwrap();
        }
        let mut node = Count::default();
        let far = driver.now() + Duration::from_secs(600);
        driver.turn(&mut node, far).unwrap();
        assert_eq!(node.taken, DRAIN_LIMIT * BATCH);
        driver.turn(&mut node, far).unwrap();
        assert_eq!(node.taken, DRAIN_LIMIT * BATCH + 1);
    }
}

#[test]
fn more_than_a_batch_is_sent_whole_and_what_has_no_socket_is_counted() {
    for backend in BOTH {
        let mut driver = Loop::new(vec![loopback(backend)]).unwrap();
        let peer = loopback(backend);
        let path = Path::to(peer.local_addr().unwrap());
        let letter = |n: u8| (path, vec![n; 1200]);
        let mut answers: Vec<_> = (0..100).map(letter).collect();
        answers.push((Path { socket: 1, ..path }, vec![1]));
        let mut node = Echo { answers, deadline: None };
        driver.flush(&mut node);
        let all: Vec<_> = received(&peer).into_iter().map(|(_, bytes)| bytes).collect();
        assert_eq!(all, (0..100).rev().map(|n| vec![n; 1200]).collect::<Vec<_>>());
        assert_eq!(driver.unsent(), 1);
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_node_learns_which_address_was_asked() {
    let socket = Socket::bind("0.0.0.0:0".parse().unwrap()).unwrap();
    let port = socket.local_addr().unwrap().port();
    let mut driver = Loop::new(vec![socket]).unwrap();
    let peer = loopback(Backend::Batched);
    let asked = SocketAddr::new([127, 0, 0, 7].into(), port);
    peer.send(asked, b"who?").unwrap();
    let mut node = Echo { answers: Vec::new(), deadline: None };
    assert_eq!(run(&mut driver, &mut node, &peer, 1), [(asked, b"who?".to_vec())]);
}

/// Counts what comes.
#[derive(Default)]
struct Count {
    taken: usize,
}

impl Node for Count {
    fn handle_datagram(&mut self, _now: Time, _path: Path, _bytes: &mut [u8]) {
        self.taken += 1;
    }

    fn handle_timeout(&mut self, _now: Time) {}

    fn poll_transmit(&mut self, _now: Time, _out: &mut [u8]) -> Option<Transmit> {
        None
    }

    fn poll_timeout(&self) -> Option<Time> {
        None
    }
}

impl StreamNode for Count {}

#[cfg(target_os = "linux")]
#[test]
fn a_chore_that_waits_between_two_turns_is_not_the_machines_doing() {
    let mut driver = Loop::new(vec![loopback(Backend::Batched)]).unwrap();
    let to = driver.sockets()[0].local_addr().unwrap();
    let mut node = Echo { answers: Vec::new(), deadline: None };
    let mut late_by_chore = || {
        let rest = driver.now() + Duration::from_millis(1);
        driver.turn(&mut node, rest).unwrap();
        let due = driver.now() + Duration::from_millis(5);
        node.deadline = Some((due, to));
        std::thread::sleep(Duration::from_millis(100));
        driver.turn(&mut node, due).unwrap();
        assert_eq!(node.deadline, None);
        driver.held_up()
    };
    // A busy machine may hold it up as well, but not time and again.
    let held_up = [(); 5].map(|()| late_by_chore());
    assert!(held_up.iter().any(|span| *span < Duration::from_millis(50)), "{held_up:?}");
}

#[test]
fn loops_on_one_clock_agree_on_the_time() {
    let first = Loop::new(Vec::new()).unwrap();
    let second = Loop::new(Vec::new()).unwrap().with_clock(first.clock());
    let times = [first.now(), second.now(), first.now()];
    assert!(times.is_sorted(), "{times:?}");
}

/// Remembers when datagrams came, and when its thread woke for each.
#[derive(Default)]
struct Dated {
    came: Vec<Time>,
    woke: Time,
    read: Vec<Time>,
}

impl Node for Dated {
    fn handle_datagram(&mut self, now: Time, _path: Path, _bytes: &mut [u8]) {
        self.came.push(now);
        self.read.push(self.woke);
    }

    fn handle_wake(&mut self, now: Time) {
        self.woke = now;
    }

    fn handle_timeout(&mut self, _now: Time) {}

    fn poll_transmit(&mut self, _now: Time, _out: &mut [u8]) -> Option<Transmit> {
        None
    }

    fn poll_timeout(&self) -> Option<Time> {
        None
    }
}

impl StreamNode for Dated {}

#[test]
#[cfg(target_os = "linux")]
fn what_is_read_late_is_dated_by_when_it_came() {
    let mut driver = Loop::new(vec![loopback(Backend::Batched)]).unwrap();
    let to = driver.sockets()[0].local_addr().unwrap();
    let peer = loopback(Backend::Batched);
    let before = driver.now();
    peer.send(to, b"x").unwrap();
    let sent = driver.now();
    std::thread::sleep(Duration::from_millis(30));
    peer.send(to, b"y").unwrap();
    let mut node = Dated::default();
    assert!(driver.receive(&mut node));
    let [first, second] = node.came[..] else { panic!("{:?}", node.came) };
    // The two clocks are read one after the other: allow for what lies between.
    let slack = Duration::from_millis(5);
    assert!(before <= first && first <= sent + slack, "{first:?} of {before:?} to {sent:?}");
    assert!(second >= sent + Duration::from_millis(30) - slack, "{second:?}");
}

#[test]
fn a_node_is_told_when_its_thread_woke_before_it_is_handed_what_came() {
    let mut driver = Loop::new(vec![loopback(Backend::Batched)]).unwrap();
    loopback(Backend::Batched).send(driver.sockets()[0].local_addr().unwrap(), b"x").unwrap();
    let before = driver.now();
    let mut node = Dated::default();
    driver.turn(&mut node, before + Duration::from_secs(10)).unwrap();
    // When it came is known by another clock, and may lie a little after that.
    let [woke] = node.read[..] else { panic!("{:?}", node.read) };
    assert!(woke >= before, "{woke:?}, and it was {before:?} before");
}

#[test]
fn time_never_goes_back_for_a_node() {
    for backend in BOTH {
        let mut driver = Loop::new(vec![loopback(backend), loopback(backend)]).unwrap();
        let peer = loopback(backend);
        for socket in [1, 0, 1, 0] {
            peer.send(driver.sockets()[socket].local_addr().unwrap(), b"x").unwrap();
        }
        let mut node = Dated::default();
        let limit = driver.now() + Duration::from_secs(10);
        while node.came.len() < 4 {
            driver.turn(&mut node, limit).unwrap();
        }
        assert!(node.came.is_sorted(), "{backend:?} {:?}", node.came);
    }
}

/// So many players' datagrams, as fast as they come; the node's deadlines are a millisecond apart.
#[test]
#[cfg(target_os = "linux")]
fn a_crowd_is_read_when_it_is_time_and_one_who_comes_behind_it_at_once() {
    let mut driver = Loop::new(vec![loopback(Backend::Batched)]).unwrap();
    let to = driver.sockets()[0].local_addr().unwrap();
    let peer = loopback(Backend::Batched);
    let mut node = Echo { answers: Vec::new(), deadline: None };
    let (mut sent, mut back) = (0, 0);
    let end = driver.now() + Duration::from_secs(10);
    while !driver.unwatched {
        assert!(driver.now() < end, "{sent} were no crowd");
        (0..40).for_each(|_| peer.send(to, b"x").unwrap());
        sent += 40;
        node.deadline = Some((driver.now() + Duration::from_millis(1), peer.local_addr().unwrap()));
        driver.turn(&mut node, end).unwrap();
        back += received(&peer).iter().filter(|(_, bytes)| bytes == b"x").count();
    }
    node.deadline = None;
    while driver.unwatched || back < sent {
        assert!(driver.now() < end, "{back} of {sent} were read");
        let soon = driver.now() + Duration::from_millis(10);
        driver.turn(&mut node, soon).unwrap();
        back += received(&peer).iter().filter(|(_, bytes)| bytes == b"x").count();
    }
    assert_eq!(back, sent);
    // Nobody is there any more, so that the next is waited for.
    peer.send(to, b"late").unwrap();
    assert_eq!(run(&mut driver, &mut node, &peer, 1)[0].1, b"late");
}
