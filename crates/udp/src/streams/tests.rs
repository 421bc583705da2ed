//! Streams over loopback: a node behind a loop, plain sockets at the other end.

use std::collections::VecDeque;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};

use backspin::node::{Node, Path, Transmit};
use backspin::peer::PeerAddr;
use backspin::time::Time;

use super::*;
use crate::Loop;

/// Writes down what it is told and does what it was asked to.
#[derive(Default)]
struct Toy {
    told: Vec<(StreamId, Told)>,
    deeds: VecDeque<(StreamId, Deed)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Told {
    Opened(PeerAddr),
    Failed,
    Received(Vec<u8>),
    Closed,
}

enum Deed {
    Open(SocketAddr),
    Send(Vec<u8>),
    Close,
}

impl Node for Toy {
    fn handle_datagram(&mut self, _now: Time, _path: Path, _bytes: &mut [u8]) {}

    fn handle_timeout(&mut self, _now: Time) {}

    fn poll_transmit(&mut self, _now: Time, _out: &mut [u8]) -> Option<Transmit> {
        None
    }

    fn poll_timeout(&self) -> Option<Time> {
        None
    }
}

impl StreamNode for Toy {
    fn handle_stream(&mut self, _now: Time, stream: StreamId, event: StreamEvent<'_>) {
        let told = match event {
            StreamEvent::Opened(peer) => Told::Opened(peer),
            StreamEvent::Failed => Told::Failed,
            StreamEvent::Received(bytes) => Told::Received(bytes.to_vec()),
            StreamEvent::Closed => Told::Closed,
        };
        self.told.push((stream, told));
    }

    fn poll_stream(&mut self, _now: Time, out: &mut [u8]) -> Option<(StreamId, StreamAction)> {
        let (stream, deed) = self.deeds.pop_front()?;
        let action = match deed {
            Deed::Open(peer) => StreamAction::Open(peer.into()),
            Deed::Send(bytes) => {
                out[..bytes.len()].copy_from_slice(&bytes);
                StreamAction::Send(bytes.len())
            }
            Deed::Close => StreamAction::Close,
        };
        Some((stream, action))
    }
}

impl Toy {
    fn has(&self, stream: StreamId, told: &Told) -> bool {
        self.told.contains(&(stream, told.clone()))
    }

    fn opened(&self) -> usize {
        self.told.iter().filter(|(_, told)| matches!(told, Told::Opened(_))).count()
    }

    /// All bytes that came over a stream.
    fn bytes(&self, stream: StreamId) -> Vec<u8> {
        let mut bytes = Vec::new();
        for (of, told) in &self.told {
            if let (true, Told::Received(more)) = (*of == stream, told) {
                bytes.extend(more);
            }
        }
        bytes
    }
}

const PATIENCE: Duration = Duration::from_secs(10);

fn accepted(n: u64) -> StreamId {
    StreamId(StreamId::FIRST_ACCEPTED.0 + n)
}

fn loopback() -> SocketAddr {
    "127.0.0.1:0".parse().unwrap()
}

/// A loop with one open port, and where that is.
fn listening() -> (Loop, Toy, SocketAddr) {
    let listener = Listener::bind(loopback()).unwrap();
    let address = listener.local_addr().unwrap();
    (Loop::with_listeners(Vec::new(), vec![listener]).unwrap(), Toy::default(), address)
}

fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream
}

#[track_caller]
fn run_until(driver: &mut Loop, node: &mut Toy, mut done: impl FnMut(&Toy) -> bool) {
    let limit = driver.now() + PATIENCE;
    while !done(node) {
        assert!(driver.now() < limit, "it did not happen; told were {:?}", node.told);
        let soon = driver.now() + Duration::from_millis(5);
        driver.turn(node, soon).unwrap();
    }
}

#[test]
fn who_knocks_is_told_to_the_node_heard_and_answered() {
    let (mut driver, mut node, address) = listening();
    let mut peer = connect(address);
    let opened = Told::Opened(peer.local_addr().unwrap().into());
    run_until(&mut driver, &mut node, |node| node.has(accepted(0), &opened));
    peer.write_all(b"name").unwrap();
    run_until(&mut driver, &mut node, |node| node.bytes(accepted(0)) == b"name");
    node.deeds.push_back((accepted(0), Deed::Send(b"token".to_vec())));
    driver.flush(&mut node);
    let mut answer = [0; 5];
    peer.read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"token");
    drop(peer);
    run_until(&mut driver, &mut node, |node| node.has(accepted(0), &Told::Closed));
    assert!(driver.streams.streams.is_empty() && driver.streams.tokens.is_empty());
}

#[test]
fn the_node_opens_a_stream_speaks_and_closes_it() {
    let listener = TcpListener::bind(loopback()).unwrap();
    let address = listener.local_addr().unwrap();
    let (mut driver, mut node) = (Loop::new(Vec::new()).unwrap(), Toy::default());
    let stream = StreamId(7);
    node.deeds.push_back((stream, Deed::Open(address)));
    run_until(&mut driver, &mut node, |node| node.has(stream, &Told::Opened(address.into())));
    let (mut peer, _) = listener.accept().unwrap();
    node.deeds.push_back((stream, Deed::Send(b"hello".to_vec())));
    node.deeds.push_back((stream, Deed::Close));
    driver.flush(&mut node);
    let mut heard = Vec::new();
    peer.set_read_timeout(Some(PATIENCE)).unwrap();
    peer.read_to_end(&mut heard).unwrap();
    assert_eq!(heard, b"hello");
    assert!(driver.streams.streams.is_empty());
}

#[test]
fn a_port_where_nobody_listens_is_told_as_a_failure() {
    let gone = TcpListener::bind(loopback()).unwrap().local_addr().unwrap();
    let (mut driver, mut node) = (Loop::new(Vec::new()).unwrap(), Toy::default());
    node.deeds.push_back((StreamId(0), Deed::Open(gone)));
    run_until(&mut driver, &mut node, |node| node.has(StreamId(0), &Told::Failed));
    assert_eq!(node.told.len(), 1);
}

#[test]
fn a_stream_that_breaks_leaves_the_others_alone() {
    let (mut driver, mut node, address) = listening();
    let rude = connect(address);
    run_until(&mut driver, &mut node, |node| node.opened() == 1);
    let mut polite = connect(address);
    run_until(&mut driver, &mut node, |node| node.opened() == 2);
    // A close without a goodbye is a reset.
    socket2::SockRef::from(&rude).set_linger(Some(Duration::ZERO)).unwrap();
    drop(rude);
    run_until(&mut driver, &mut node, |node| node.has(accepted(0), &Told::Failed));
    polite.write_all(b"still here").unwrap();
    run_until(&mut driver, &mut node, |node| node.bytes(accepted(1)) == b"still here");
}

#[test]
fn many_bytes_come_whole_and_in_order() {
    let (mut driver, mut node, address) = listening();
    let bytes: Vec<u8> = (0..200_000_u32).map(|i| (i % 251) as u8).collect();
    let mut peer = connect(address);
    let sent = bytes.clone();
    let writer = std::thread::spawn(move || {
        peer.write_all(&sent).unwrap();
        peer.shutdown(Shutdown::Write).unwrap();
    });
    run_until(&mut driver, &mut node, |node| node.has(accepted(0), &Told::Closed));
    writer.join().unwrap();
    assert!(node.bytes(accepted(0)) == bytes);
}

/// Writes until the system takes no more; says how many bytes were written.
fn fill(driver: &mut Loop, node: &mut Toy, stream: StreamId) -> usize {
    let mut written = 0;
    while driver.streams.streams.values().all(Stream::is_flushed) {
        node.deeds.push_back((stream, Deed::Send(vec![1; 1024])));
        driver.flush(node);
        written += 1024;
    }
    written
}

#[test]
fn a_peer_that_never_reads_is_given_up() {
    let (mut driver, mut node, address) = listening();
    let _peer = connect(address);
    run_until(&mut driver, &mut node, |node| node.opened() == 1);
    fill(&mut driver, &mut node, accepted(0));
    for _ in 0..16 {
        node.deeds.push_back((accepted(0), Deed::Send(vec![1; 1024])));
    }
    driver.flush(&mut node);
    let failures = node.told.iter().filter(|(_, told)| *told == Told::Failed);
    assert_eq!(failures.count(), 1);
    assert!(driver.streams.streams.is_empty());
}

#[test]
fn what_was_written_before_a_close_still_arrives() {
    let (mut driver, mut node, address) = listening();
    let mut peer = connect(address);
    run_until(&mut driver, &mut node, |node| node.opened() == 1);
    let written = fill(&mut driver, &mut node, accepted(0));
    node.deeds.push_back((accepted(0), Deed::Close));
    driver.flush(&mut node);
    let reader = std::thread::spawn(move || {
        let mut heard = Vec::new();
        peer.read_to_end(&mut heard).map(|_| heard.len()).unwrap()
    });
    let limit = driver.now() + PATIENCE;
    while !driver.streams.streams.is_empty() {
        assert!(driver.now() < limit, "the rest did not go out");
        let soon = driver.now() + Duration::from_millis(5);
        driver.turn(&mut node, soon).unwrap();
    }
    assert_eq!(reader.join().unwrap(), written);
    assert_eq!(node.told.len(), 1, "a stream that was closed is heard of no more");
}

#[test]
fn one_stream_past_the_limit_is_closed_unheard() {
    let (mut driver, mut node, address) = listening();
    driver.streams.limit = 2;
    let within = [connect(address), connect(address)];
    run_until(&mut driver, &mut node, |node| node.opened() == 2);
    let mut beyond = connect(address);
    let mut over = false;
    beyond.set_read_timeout(Some(Duration::from_millis(5))).unwrap();
    run_until(&mut driver, &mut node, |_| {
        over |= !matches!(beyond.read(&mut [0]), Err(error)
            if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut));
        over
    });
    assert_eq!(node.opened(), 2);
    drop(within);
    run_until(&mut driver, &mut node, |node| node.has(accepted(1), &Told::Closed));
    let _next = connect(address);
    run_until(&mut driver, &mut node, |node| node.opened() == 3);
}

#[test]
#[should_panic(expected = "choose one below 2^63")]
fn a_node_may_not_take_the_numbers_of_accepted_streams() {
    let (mut driver, mut node, address) = listening();
    node.deeds.push_back((accepted(0), Deed::Open(address)));
    driver.flush(&mut node);
}

#[test]
fn a_taken_tcp_port_is_named() {
    let listener = Listener::bind(loopback()).unwrap();
    let address = listener.local_addr().unwrap();
    let error = Listener::bind(address).unwrap_err();
    let sentence = format!("TCP {address} is in use by another program");
    assert!(error.to_string().starts_with(&sentence), "{error}");
}
