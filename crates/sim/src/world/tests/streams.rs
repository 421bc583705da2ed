//! Streams: in order, late, whole or broken.

use super::toy::{Deed, Manner, News};
use super::*;
use backspin::node::StreamId;
use std::collections::BTreeSet;

/// A server that listens and a client that has asked it for stream 7.
fn opening(seed: u64, link: LinkConfig, server: Toy) -> (World<Toy>, [HostId; 2]) {
    let mut client = Toy::default();
    client.do_stream(7, Deed::Open(at(0)));
    world(seed, link, [server, client])
}

/// The number by which a server knows its first stream.
fn accepted(world: &World<Toy>, server: HostId) -> u64 {
    world.node(server).news[0].1.0
}

/// `len` bytes in which any shift shows.
fn text(len: usize) -> Vec<u8> {
    (0..len).map(|n| (n % 251) as u8).collect()
}

fn lossy() -> LinkConfig {
    LinkConfig { jitter: Jitter::uniform(millis(20)), loss: Loss::independent(0.3), ..with_rtt(40) }
}

/// A client writes 500 bytes every 50 ms, 100 times, over a link with 30 % loss; an echo sends
/// them back.
fn talk(seed: u64) -> World<Toy> {
    let (mut world, [_, client]) = opening(seed, lossy(), Toy::echo().listening());
    world.run_until(ms(10_000));
    for chunk in text(50_000).chunks(500) {
        world.node_mut(client).do_stream(7, Deed::Send(chunk.to_vec()));
        world.run_for(millis(50));
    }
    world.run_until(ms(200_000));
    world
}

#[test]
fn both_sides_hear_of_a_stream_after_one_round_trip() {
    let (mut world, [server, client]) = opening(1, with_rtt(100), Toy::default().listening());
    world.run_until(ms(1_000));
    assert_eq!(world.node(client).news(), [(ms(100), News::Opened(at(0).into()))]);
    let [(when, stream, News::Opened(peer))] = world.node(server).news[..] else { panic!() };
    assert_eq!((when, peer.ip()), (ms(100), Some(at(1).ip())));
    assert!(peer.socket_addr().unwrap().port() >= 49_152);
    assert!(stream >= StreamId::FIRST_ACCEPTED);
}

#[test]
fn bytes_arrive_in_order_whatever_is_lost_and_however_they_are_cut() {
    let mut sizes = BTreeSet::new();
    for seed in 0..5 {
        let world = talk(seed);
        let [server, client] = [HostId(0), HostId(1)].map(|id| world.node(id));
        assert_eq!(server.read(), text(50_000), "seed {seed}");
        assert_eq!(client.read(), text(50_000), "seed {seed}");
        sizes.extend(server.news.iter().filter_map(|(_, _, news)| match news {
            News::Received(bytes) => Some(bytes.len()),
            _ => None,
        }));
    }
    assert!(sizes.len() > 20, "{sizes:?}");
    assert!(sizes.first() < Some(&100), "writes are cut: {sizes:?}");
    assert!(sizes.last() > Some(&2_000), "writes are joined: {sizes:?}");
}

#[test]
fn streams_are_in_the_digest_and_replay() {
    assert_eq!(talk(1).digest(), talk(1).digest());
    assert_eq!(talk(1).digest().to_string(), "7ecbebb74dd797cd");
    assert_ne!(talk(1).digest(), talk(2).digest());
    let opened = |listening: fn(Toy) -> Toy| {
        let (mut world, _) = opening(1, with_rtt(10), listening(Toy::default()));
        world.run_until(ms(100));
        world.digest()
    };
    assert_ne!(opened(Toy::listening), opened(|toy| toy), "opened and refused differ");
}

#[test]
fn a_lost_piece_comes_a_retransmission_later() {
    let (mut world, [server, client]) = opening(1, with_rtt(20), Toy::default().listening());
    world.run_until(ms(100));
    world.set_partition(server, client, Partition::Cut);
    world.node_mut(client).do_stream(7, Deed::Send(vec![1]));
    world.run_until(ms(600));
    // Tries at 100, 300, 700 and 1,500 ms: the third finds the link healed.
    world.set_partition(server, client, Partition::Healed);
    world.node_mut(client).do_stream(7, Deed::Send(vec![2]));
    world.run_until(ms(2_000));
    // What was sent later waits for its turn and is read together with the first.
    assert_eq!(world.node(server).news()[1..], [(ms(710), News::Received(vec![1, 2]))]);
}

#[test]
fn a_stream_that_gets_nothing_through_is_given_up_on_both_sides() {
    let (mut world, [server, client]) = opening(1, with_rtt(20), Toy::default().listening());
    world.run_until(ms(100));
    world.set_partition(server, client, Partition::Cut);
    world.node_mut(client).do_stream(7, Deed::Send(vec![1]));
    world.run_until(ms(1_000_000));
    for id in [server, client] {
        let given_up = (ms(100 + 200 * 1_023), News::Failed);
        assert_eq!(world.node(id).news()[1..], [given_up], "{id}");
    }
}

#[test]
fn a_close_comes_after_the_bytes_and_ends_both_ways() {
    let (mut world, [server, client]) = opening(1, lossy(), Toy::default().listening());
    world.run_until(ms(5_000));
    let stream = accepted(&world, server);
    world.node_mut(client).do_stream(7, Deed::Send(text(2_000)));
    world.node_mut(client).do_stream(7, Deed::Close);
    world.node_mut(client).do_stream(7, Deed::Send(vec![9]));
    world.node_mut(server).do_stream(stream, Deed::Send(vec![9]));
    world.run_until(ms(60_000));
    assert_eq!(world.node(server).read(), text(2_000));
    assert_eq!(world.node(server).news.last().unwrap().2, News::Closed);
    assert_eq!(world.node(client).news.len(), 1, "who closes hears no more");
    world.node_mut(server).do_stream(stream, Deed::Send(vec![9]));
    world.run_until(ms(120_000));
    assert_eq!(world.node(client).news.len(), 1);
}

#[test]
fn an_address_that_nobody_has_and_a_host_that_does_not_listen_fail_the_stream() {
    let mut client = Toy::default();
    client.do_stream(1, Deed::Open(at(9)));
    client.do_stream(2, Deed::Open(at(0)));
    let (mut world, [deaf, client]) = world(1, with_rtt(30), [Toy::default(), client]);
    world.set_link(deaf, client, with_rtt(50));
    world.run_until(ms(100));
    let failed = |at, stream| (ms(at), StreamId(stream), News::Failed);
    assert_eq!(world.node(client).news, [failed(30, 1), failed(50, 2)]);
    assert!(world.node(deaf).news.is_empty() && world.streams.is_empty());
}

#[test]
fn a_server_that_moves_away_while_it_is_asked_fails_the_stream() {
    let (mut world, [server, client]) = opening(1, with_rtt(40), Toy::default().listening());
    world.run_until(ms(10));
    world.rebind(server, 0, at(5));
    world.run_until(ms(500));
    assert_eq!(world.node(client).news(), [(ms(40), News::Failed)]);
    assert!(world.node(server).news.is_empty() && world.streams.is_empty());
}

#[test]
fn a_listener_is_found_at_any_port_and_among_hosts_that_share_an_ip() {
    let mut world = World::new(1, with_rtt(30));
    let address = |port| SocketAddr::from(([10, 0, 0, 1], port));
    world.add(Toy::default(), &[address(1_000)], Drift::NONE);
    let server = world.add(Toy::default().listening(), &[address(2_000)], Drift::NONE);
    let client = world.add(Toy::default(), &[at(7)], Drift::NONE);
    world.node_mut(client).do_stream(1, Deed::Open(address(4_123)));
    world.run_until(ms(100));
    assert_eq!(world.node(client).news(), [(ms(30), News::Opened(address(4_123).into()))]);
    assert_eq!(world.node(server).news.len(), 1);
}

#[test]
fn a_replaced_host_breaks_its_streams_and_its_successor_hears_nothing() {
    let (mut world, [server, client]) = opening(1, with_rtt(40), Toy::default().listening());
    world.run_until(ms(100));
    let old = world.replace(server, Toy::default().listening());
    assert_eq!(old.news.len(), 1);
    world.node_mut(client).do_stream(7, Deed::Send(vec![1]));
    world.run_until(ms(500));
    assert_eq!(world.node(client).news()[1..], [(ms(120), News::Failed)]);
    assert!(world.node(server).news.is_empty());
    world.node_mut(client).do_stream(8, Deed::Open(at(0)));
    world.run_until(ms(1_000));
    assert_eq!(world.node(server).news.len(), 1, "a new stream stands");
}

#[test]
fn a_rebound_host_loses_its_streams_and_hears_of_it() {
    let (mut world, [server, client]) = opening(1, with_rtt(40), Toy::default().listening());
    world.run_until(ms(100));
    world.rebind(client, 0, at(5));
    world.run_until(ms(500));
    assert_eq!(world.node(client).news()[1..], [(ms(100), News::Failed)]);
    assert_eq!(world.node(server).news()[1..], [(ms(120), News::Failed)]);
}

#[test]
fn a_stream_that_is_abandoned_while_it_opens_is_never_heard_of() {
    for moment in [0, 15, 25] {
        let (mut world, [server, client]) = opening(1, with_rtt(40), Toy::default().listening());
        world.run_until(ms(moment));
        world.node_mut(client).do_stream(7, Deed::Close);
        world.run_until(ms(500));
        assert!(world.node(server).news.is_empty() && world.node(client).news.is_empty());
        assert!(world.streams.is_empty(), "closed at {moment} ms");
    }
}

#[test]
fn a_server_that_dies_while_a_stream_opens_fails_it() {
    let (mut world, [server, client]) = opening(1, with_rtt(40), Toy::default().listening());
    world.run_until(ms(30));
    world.replace(server, Toy::default().listening());
    world.run_until(ms(500));
    assert_eq!(world.node(client).news(), [(ms(40), News::Failed)]);
    assert!(world.node(server).news.is_empty() && world.streams.is_empty());
}

#[test]
fn nothing_is_kept_of_streams_that_are_over() {
    let (mut world, [server, client]) = opening(1, lossy(), Toy::echo().listening());
    world.run_until(ms(5_000));
    world.node_mut(client).do_stream(7, Deed::Send(text(1_000)));
    world.run_until(ms(5_010));
    assert!(!world.streams.is_empty());
    let stream = accepted(&world, server);
    world.node_mut(server).do_stream(stream, Deed::Close);
    world.run_until(ms(60_000));
    assert_eq!(world.node(client).news.last().unwrap().2, News::Closed);
    assert!(world.streams.is_empty());
}

#[test]
fn a_host_may_open_a_stream_to_itself() {
    let (mut world, [host]) = world(1, with_rtt(40), [Toy::default().listening()]);
    world.node_mut(host).do_stream(1, Deed::Open(at(0)));
    world.run_until(ms(1));
    world.node_mut(host).do_stream(1, Deed::Send(vec![1, 2]));
    world.run_until(ms(2));
    assert_eq!(world.node(host).news.len(), 3);
    assert_eq!(world.node(host).read(), [1, 2]);
}

#[test]
fn a_host_that_hangs_up_on_itself_hears_no_more_of_it() {
    let host = Toy { manner: Manner::HangUp(StreamId(1)), ..Toy::default().listening() };
    let (mut world, [host]) = world(1, with_rtt(40), [host]);
    world.node_mut(host).do_stream(1, Deed::Open(at(0)));
    world.run_until(ms(1));
    let news: Vec<_> = world.node(host).news.iter().map(|(_, id, _)| id.0).collect();
    assert_eq!(news, [StreamId::FIRST_ACCEPTED.0; 2], "opened and closed, as the acceptor");
}

#[test]
fn streams_do_not_change_what_datagrams_meet() {
    let heard = |streams: fn(&mut Toy)| {
        let mut ticker = Toy::ticking(&[at(0)], millis(20));
        streams(&mut ticker);
        let (mut world, [echo, _]) = world(1, lossy(), [Toy::default().listening(), ticker]);
        world.run_until(ms(5_000));
        world.node(echo).heard.clone()
    };
    assert_eq!(heard(|_| ()), heard(|toy| toy.do_stream(1, Deed::Open(at(0)))));
}

#[test]
#[should_panic(expected = "host 1 (10.0.0.1:4000) writes to stream 7 before it stands")]
fn writing_before_a_stream_stands_is_a_callers_mistake() {
    let (mut world, [_, client]) = opening(1, with_rtt(40), Toy::default().listening());
    world.node_mut(client).do_stream(7, Deed::Send(vec![1]));
    world.run_until(ms(1));
}

#[test]
#[should_panic(expected = "host 1 (10.0.0.1:4000) cannot open a stream by the number 7")]
fn a_number_in_use_is_a_callers_mistake() {
    let (mut world, [_, client]) = opening(1, with_rtt(40), Toy::default().listening());
    world.node_mut(client).do_stream(7, Deed::Open(at(0)));
    world.run_until(ms(1));
}
