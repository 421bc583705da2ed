//! The three scenarios of document 004, section 5, line by line, on the two ends of the channel.
//!
//! In the document an input's number is a count; here, as on the wire, it is the server tick that
//! the input is for. So "process 100" is tick 100 taking its input, and a snapshot's `last_ack`
//! has two halves: its tick, up to which the client drops what is pending, and the bits that say
//! which of the last eight ticks had no input. Times in ms are the document's.

use backspin::channel::{InputQueue, InputSource, Newest, Pending, Received, Taken};
use backspin::time::Time;
use backspin::wire::native::{Datagram, History, Input, InputRecord, Packet, SessionIndex};

const UP: u16 = 1;
const SHOOT: u16 = 16;

fn at(ms: u64) -> Time {
    Time::from_millis(ms)
}

/// What the server says after a tick.
#[derive(Clone, Copy)]
struct Snapshot {
    tick: u32,
    last_ack: Option<u32>,
    missing: u8,
}

/// The client's end.
struct Client {
    pending: Pending,
}

impl Client {
    fn new() -> Self {
        Client { pending: Pending::new() }
    }

    /// "Send INPUT": keeps it, and writes the datagram with all that is pending.
    fn send(&mut self, now: Time, sequence: u32, buttons: u16) -> Vec<u8> {
        self.pending.push(now, sequence, buttons.into());
        let mut room = [0; History::MAX_LEN];
        let older = self.pending.iter().skip(1).map(|pending| pending.input);
        let packet = Packet::Input(Input {
            session: SessionIndex::new(1).unwrap(),
            newest: InputRecord { sequence, input_flags: buttons.into() },
            snapshot: None,
            drawn_back: None,
            acks: None,
            messages: None,
            history: History::new(buttons.into(), older, &mut room),
        });
        let mut out = vec![0; 1_200];
        let len = Datagram { sequence: 0, packet }.encode(&mut out).unwrap();
        out.truncate(len);
        out
    }

    /// "Receive ACK": how many inputs it confirms, and how many of them were missed.
    fn receive(&mut self, snapshot: Snapshot) -> (u32, u32) {
        let confirmed = self.pending.acknowledge(snapshot.tick);
        (confirmed, self.pending.handle_missing(snapshot.tick, snapshot.missing))
    }

    /// The ticks in "pending: [...]".
    fn pending(&self) -> Vec<u32> {
        self.pending.after(0).map(|input| input.tick).collect()
    }
}

/// The server's end.
struct Server {
    queue: InputQueue,
}

impl Server {
    /// A server that has applied the input `last`, and nothing since.
    fn after(last: u32) -> Self {
        let mut server = Server { queue: InputQueue::new(last) };
        server.receive(at(0), &Client::new().send(at(0), last, UP));
        assert_eq!(server.process().source, InputSource::Real);
        server
    }

    fn receive(&mut self, now: Time, datagram: &[u8]) -> Received {
        let Packet::Input(input) = Datagram::decode(datagram).unwrap().packet else {
            unreachable!("clients send inputs here")
        };
        let InputRecord { sequence, input_flags } = input.newest;
        let newest = Newest { tick: sequence, input: input_flags, early_ns: 0 };
        self.queue.handle(now, newest, input.history.iter())
    }

    /// "Process": the next tick runs.
    fn process(&mut self) -> Taken {
        self.queue.take(self.queue.next_tick())
    }

    /// "SNAPSHOT", of the tick that ran last.
    fn snapshot(&self) -> Snapshot {
        let tick = self.queue.next_tick() - 1;
        Snapshot { tick, last_ack: self.queue.last_ack(), missing: self.queue.missing() }
    }
}

fn real(buttons: u16) -> Taken {
    Taken { input: buttons.into(), source: InputSource::Real }
}

fn repeated(buttons: u16) -> Taken {
    Taken { input: buttons.into(), source: InputSource::Repeated }
}

#[test]
fn section_5_1_normal() {
    let (mut client, mut server) = (Client::new(), Server::after(99));

    // t=0: the client sends 100, and it is delivered.
    let datagram = client.send(at(0), 100, UP);
    let received = server.receive(at(8), &datagram);
    assert_eq!(received, Received { new: 1, ..Received::default() });
    assert_eq!(client.pending(), [100]);
    // t=16: the server processes 100; its last ack is 100.
    assert_eq!(server.process(), real(UP));
    assert_eq!(server.queue.last_ack(), Some(100));
    // t=16: the snapshot says so.
    let snapshot = server.snapshot();
    assert_eq!((snapshot.last_ack, snapshot.missing & 1), (Some(100), 0));
    // t=32: the client receives the ack: 100 is confirmed, and no longer pending.
    assert_eq!(client.receive(snapshot), (1, 0));
    assert_eq!(client.pending(), [0; 0]);
    assert_eq!(at(32).since(client.pending.sent_at(100).unwrap()).as_millis(), 32);

    // t=33: the client sends 101, and it is delivered.
    let datagram = client.send(at(33), 101, SHOOT);
    let received = server.receive(at(41), &datagram);
    assert_eq!(received, Received { new: 1, ..Received::default() });
    // t=49: the server processes 101; its last ack is 101.
    assert_eq!(server.process(), real(SHOOT));
    assert_eq!(server.queue.last_ack(), Some(101));
    // t=49: the snapshot says so.
    let snapshot = server.snapshot();
    assert_eq!(snapshot.last_ack, Some(101));
    // t=65: the client receives the ack: 101 is confirmed.
    assert_eq!(client.receive(snapshot), (1, 0));
    assert_eq!(client.pending(), [0; 0]);

    // Nothing was lost, and each end knows.
    let counts = client.pending.counts();
    assert_eq!((counts.sent, counts.acknowledged, counts.missed), (2, 2, 0));
    assert_eq!(snapshot.missing & 0b11, 0);
}

#[test]
fn section_5_2_packet_loss() {
    let (mut client, mut server) = (Client::new(), Server::after(199));

    // t=0: the client sends 200, and it is lost. Pending: 200.
    drop(client.send(at(0), 200, SHOOT));
    assert_eq!(client.pending(), [200]);

    // t=16: no input received; the server's last ack is 199, unchanged. The snapshot that goes
    // out is still that of tick 199.
    let snapshot = server.snapshot();
    assert_eq!((snapshot.tick, snapshot.last_ack), (199, Some(199)));
    // t=32: the client receives that ack: 200 is still pending.
    assert_eq!(client.receive(snapshot), (0, 0));
    assert_eq!(client.pending(), [200]);

    // Tick 200 runs, does not wait, and repeats what was held.
    assert_eq!(server.process(), repeated(UP));
    assert_eq!(server.queue.last_ack(), Some(199));

    // t=33: the client sends 201, and it is delivered. Pending: 200, 201.
    let datagram = client.send(at(33), 201, UP);
    assert_eq!(client.pending(), [200, 201]);
    // It carries 200 as well, whose tick has run: too late, and never applied.
    let received = server.receive(at(41), &datagram);
    assert_eq!(received, Received { new: 1, stale: 1, ..Received::default() });
    // t=49: the server processes 201; its last ack is 201: it has skipped 200.
    assert_eq!(server.process(), real(UP));
    assert_eq!(server.queue.last_ack(), Some(201));
    // t=49: the snapshot says so, and that the tick before had no input.
    let snapshot = server.snapshot();
    assert_eq!((snapshot.last_ack, snapshot.missing & 0b11), (Some(201), 0b10));
    // t=65: the client receives the ack: it confirms what is up to 201, removes 200 and 201, and
    // nothing is pending.
    assert_eq!(client.receive(snapshot), (2, 1));
    assert_eq!(client.pending(), [0; 0]);

    // 200 is lost for good, and the client has counted it.
    assert_eq!(client.pending.counts().missed, 1);
}

#[test]
fn section_5_2_a_lost_datagram_whose_tick_has_not_run_loses_no_input() {
    let (mut client, mut server) = (Client::new(), Server::after(199));
    drop(client.send(at(0), 200, SHOOT));
    let datagram = client.send(at(16), 201, UP);
    assert_eq!(server.receive(at(24), &datagram).new, 2);
    assert_eq!((server.process(), server.process()), (real(SHOOT), real(UP)));
    assert_eq!(client.receive(server.snapshot()), (2, 0));
}

#[test]
fn section_5_3_out_of_order() {
    let (mut client, mut server) = (Client::new(), Server::after(299));

    // t=0: the client sends 300, and it is delayed.
    let delayed = client.send(at(0), 300, SHOOT);
    // Tick 300 runs without it.
    assert_eq!(server.process(), repeated(UP));
    // t=16: the client sends 301, which takes the fast path.
    let fast = client.send(at(16), 301, UP);
    assert_eq!(client.pending(), [300, 301]);

    // t=20: the server receives 301 first, processes it, and its last ack is 301.
    let received = server.receive(at(20), &fast);
    assert_eq!((received.new, received.stale), (1, 1));
    assert_eq!(server.process(), real(UP));
    assert_eq!(server.queue.last_ack(), Some(301));

    // t=30: the server receives 300, late: it lies before the last ack, and is rejected.
    let received = server.receive(at(30), &delayed);
    assert_eq!(received, Received { duplicate: 1, ..Received::default() });
    assert_eq!(server.queue.last_ack(), Some(301));

    // t=32: the snapshot says 301.
    let snapshot = server.snapshot();
    assert_eq!(snapshot.last_ack, Some(301));
    // t=48: the client receives the ack: it confirms what is up to 301, and removes 300 and 301.
    assert_eq!(client.receive(snapshot), (2, 1));
    assert_eq!(client.pending(), [0; 0]);
    // What was held goes on, not what came late.
    assert_eq!(server.process(), repeated(UP));
}

#[test]
fn section_5_3_a_late_input_that_came_alone_is_rejected_as_stale() {
    let mut server = Server::after(299);
    // Without a history, neither datagram carries the other's input.
    let delayed = Client::new().send(at(0), 300, SHOOT);
    let fast = Client::new().send(at(16), 301, UP);
    server.process();
    let received = server.receive(at(20), &fast);
    assert_eq!(received, Received { new: 1, gap: 1, ..Received::default() });
    assert_eq!(server.process(), real(UP));
    let received = server.receive(at(30), &delayed);
    assert_eq!(received, Received { stale: 1, ..Received::default() });
    assert_eq!((server.process(), server.queue.last_ack()), (repeated(UP), Some(301)));
}

#[test]
fn section_5_3_overtaken_inputs_whose_ticks_have_not_run_are_taken_in_order() {
    let mut server = Server::after(299);
    let delayed = Client::new().send(at(0), 300, SHOOT);
    let fast = Client::new().send(at(16), 301, UP);
    server.receive(at(20), &fast);
    assert_eq!(server.receive(at(30), &delayed).new, 1);
    assert_eq!((server.process(), server.process()), (real(SHOOT), real(UP)));
    assert_eq!(server.snapshot().missing & 0b11, 0);
}
