//! What a world refuses: mistakes of whoever wrote the scenario or the node.

use super::*;
use backspin::node::{Node, StreamAction, StreamId, Transmit};

/// Has so many datagrams to send, and so many streams to close.
#[derive(Default)]
struct Spout {
    datagrams: usize,
    closes: usize,
}

impl Node for Spout {
    fn handle_datagram(&mut self, _: Time, _: Path, _: &mut [u8]) {}

    fn handle_timeout(&mut self, _: Time) {}

    fn poll_transmit(&mut self, _: Time, _: &mut [u8]) -> Option<Transmit> {
        self.datagrams = self.datagrams.checked_sub(1)?;
        Some(Transmit { path: Path::to(at(0)), len: 1 })
    }

    fn poll_timeout(&self) -> Option<Time> {
        None
    }
}

impl StreamNode for Spout {
    fn poll_stream(&mut self, _: Time, _: &mut [u8]) -> Option<(StreamId, StreamAction)> {
        self.closes = self.closes.checked_sub(1)?;
        Some((StreamId(0), StreamAction::Close))
    }
}

const TRANSMITS_LIMIT: usize = World::<Spout>::TRANSMITS_LIMIT;
const HOPS_LIMIT: u32 = World::<Spout>::HOPS_LIMIT;

fn run_spout(spout: Spout) {
    let mut world = World::new(1, with_rtt(10));
    world.add(spout, &[at(9)], Drift::NONE);
    world.run_until(ms(1));
}

/// Starts a node of which so many ticks are due already.
fn run_late_ticker(ticks: u32) -> usize {
    let (mut world, _) = world(1, with_rtt(10), [Toy::default()]);
    world.run_until(ms(u64::from(ticks) - 1));
    let late = world.add(Toy::ticking(&[], millis(1)), &[at(1)], Drift::NONE);
    world.run_for(Duration::ZERO);
    world.node(late).timeouts.len()
}

#[test]
fn as_much_as_the_limits_say_is_taken() {
    run_spout(Spout { datagrams: TRANSMITS_LIMIT, ..Spout::default() });
    run_spout(Spout { closes: TRANSMITS_LIMIT, ..Spout::default() });
    assert_eq!(run_late_ticker(HOPS_LIMIT), HOPS_LIMIT as usize);
}

#[test]
#[should_panic(expected = "host 1 (10.0.0.1:4000) keeps time standing still at 1.000000s")]
fn a_node_that_is_woken_once_too_often_at_one_instant_is_named() {
    run_late_ticker(HOPS_LIMIT + 1);
}

#[test]
#[should_panic(expected = "host 1 (10.0.0.1:4000) keeps time standing still at 0.005000s")]
fn a_node_whose_deadline_does_not_move_is_named() {
    let stuck = Toy::ticking(&[], Duration::ZERO);
    let (mut world, [_, stuck]) = world(1, with_rtt(10), [Toy::default(), stuck]);
    world.node_mut(stuck).ticker.as_mut().unwrap().next = ms(5);
    world.run_until(ms(10));
}

#[test]
#[should_panic(expected = "hosts answer each other over links without delay")]
fn hosts_that_answer_each_other_at_once_for_ever_are_named() {
    let (mut world, [_, first]) = world(1, with_rtt(0), [Toy::echo(), Toy::echo()]);
    world.node_mut(first).say(at(0), b"tag");
    world.run_until(ms(10));
}

#[test]
#[should_panic(expected = "host 0 (10.0.0.9:4000) has sent more than 16384 datagrams in a row")]
fn a_node_that_does_not_stop_sending_is_named() {
    run_spout(Spout { datagrams: TRANSMITS_LIMIT + 1, ..Spout::default() });
}

#[test]
#[should_panic(expected = "host 0 (10.0.0.9:4000) has done more than 16384 things to streams")]
fn a_node_that_does_not_stop_with_streams_is_named() {
    run_spout(Spout { closes: TRANSMITS_LIMIT + 1, ..Spout::default() });
}

#[test]
fn as_many_datagrams_as_the_limit_says_may_be_under_way() {
    let (mut world, _) = world(1, with_rtt(0), []);
    for _ in 0..flight::FLIGHT_LIMIT {
        world.inject(ms(1), at(0), at(1), b"");
    }
    assert_eq!(world.flight.len(), flight::FLIGHT_LIMIT);
    world.run_until(ms(1));
    assert_eq!((world.flight.len(), world.strays().orphaned), (0, 1 << 20));
}

#[test]
#[should_panic(expected = "more than 1048576 datagrams are under way")]
fn a_flood_of_datagrams_is_stopped() {
    let (mut world, _) = world(1, with_rtt(0), []);
    for _ in 0..=flight::FLIGHT_LIMIT {
        world.inject(ms(1), at(0), at(1), b"");
    }
}

#[test]
#[should_panic(expected = "the world is full")]
fn a_world_holds_as_many_hosts_as_it_says_and_no_more() {
    let mut world = World::new(1, with_rtt(0));
    for n in 0..=World::<Spout>::HOSTS_LIMIT {
        assert_eq!(world.hosts.len(), n);
        let address = SocketAddr::from(((n as u32 + 1).to_be_bytes(), 1));
        world.add(Spout::default(), &[address], Drift::NONE);
    }
}

#[test]
#[should_panic(expected = "host 1 cannot be at 10.0.0.0:4000: another is")]
fn two_hosts_at_one_address_are_a_mistake() {
    let (mut world, _) = world(1, with_rtt(0), [Toy::default()]);
    world.add(Toy::default(), &[at(0)], Drift::NONE);
}

#[test]
#[should_panic(expected = "no host can be at 0.0.0.0:1")]
fn an_address_that_nobody_can_have_is_a_mistake() {
    let (mut world, [host]) = world(1, with_rtt(0), [Toy::default()]);
    world.rebind(host, 0, SocketAddr::from(([0; 4], 1)));
}

#[test]
#[should_panic(expected = "host 0 (10.0.0.0:4000) has no socket 1, only 1")]
fn a_socket_that_is_not_there_is_a_mistake() {
    let (mut world, [host]) = world(1, with_rtt(0), [Toy::default()]);
    world.node_mut(host).outbox.push_back((Path { socket: 1, ..Path::to(at(0)) }, vec![1]));
    world.run_until(ms(1));
}
