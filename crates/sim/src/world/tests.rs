use super::*;
use crate::{Jitter, Loss, Preset};
use std::net::SocketAddr;
use toy::Toy;

mod limits;
mod pace;
mod streams;
mod toy;

fn ms(ms: u64) -> Time {
    Time::from_millis(ms)
}

fn millis(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// The address of host number `n` of a test.
fn at(n: u8) -> SocketAddr {
    SocketAddr::from(([10, 0, 0, n], 4_000))
}

fn with_rtt(ms: u64) -> LinkConfig {
    LinkConfig::PERFECT.with_rtt(millis(ms))
}

/// Hosts at `at(0)`, `at(1)` and so on, with true clocks.
fn world<const HOSTS: usize>(
    seed: u64,
    link: LinkConfig,
    toys: [Toy; HOSTS],
) -> (World<Toy>, [HostId; HOSTS]) {
    let mut world = World::new(seed, link);
    let mut n = 0;
    let ids = toys.map(|toy| {
        n += 1;
        world.add(toy, &[at(n - 1)], Drift::NONE)
    });
    (world, ids)
}

/// Two tickers and an echo over a link on which everything goes wrong, for ten seconds.
fn busy_run(seed: u64) -> World<Toy> {
    let toys = [
        Toy::echo(),
        Toy::ticking(&[at(0), at(2)], millis(16)),
        Toy::ticking(&[at(0), at(1)], millis(17)),
    ];
    let (mut world, _) = world(seed, Preset::Awful.config(), toys);
    world.run_until(ms(10_000));
    world
}

#[test]
fn a_seed_gives_the_same_digest_every_time_and_everywhere() {
    assert_eq!(busy_run(1).digest(), busy_run(1).digest());
    // Literal, so that debug, release and other processors must agree.
    assert_eq!(busy_run(1).digest().to_string(), "f1614ddb6fe3e741");
    assert_ne!(busy_run(1).digest(), busy_run(2).digest());
}

#[test]
fn another_host_changes_nothing_for_the_others() {
    let run = |hosts: u8| {
        let toys = [Toy::echo(), Toy::ticking(&[at(0)], millis(10))];
        let (mut world, [_, ticker]) = world(5, Preset::Awful.config(), toys);
        for n in 2..hosts {
            world.add(Toy::ticking(&[at(0)], millis(7)), &[at(n)], Drift::NONE);
        }
        world.run_until(ms(3_000));
        world.node(ticker).heard.clone()
    };
    assert!(run(2).len() > 150);
    assert_eq!(run(2), run(6));
}

#[test]
fn a_datagram_takes_exactly_half_the_round_trip() {
    let (mut world, [echo, script]) = world(1, with_rtt(100), [Toy::echo(), Toy::default()]);
    world.run_until(ms(7));
    world.node_mut(script).say(at(0), b"hi");
    world.run_until(ms(1_000));
    assert_eq!(world.node(echo).heard_at(), [ms(57)]);
    assert_eq!(world.node(script).heard_at(), [ms(107)]);
    let path = Path { socket: 0, local: Some(at(1).ip()), remote: at(0).into() };
    assert_eq!(world.node(script).heard[0].path, path);
    assert_eq!(world.now(), ms(1_000));
}

#[test]
fn a_step_is_one_event_and_time_stands_at_it() {
    let toys = [Toy::default(), Toy::ticking(&[at(0)], millis(100))];
    let (mut world, [listener, _]) = world(1, with_rtt(30), toys);
    assert_eq!(world.step(), Some(Time::ZERO));
    assert_eq!(world.step(), Some(ms(15)));
    assert_eq!(world.node(listener).heard_at(), [ms(15)]);
    assert_eq!(world.step_until(ms(99)), None);
    assert_eq!(world.now(), ms(99));
    assert_eq!(world.step_until(ms(100)), Some(ms(100)));
    world.run_until(ms(20));
    assert_eq!(world.now(), ms(100), "time is never turned back");
    let (mut idle, _) = self::world(1, with_rtt(30), [Toy::default()]);
    assert_eq!(idle.step(), None);
}

#[test]
fn what_is_due_at_the_end_of_a_run_still_happens() {
    let (mut world, [ticker]) = world(1, with_rtt(0), [Toy::ticking(&[], millis(10))]);
    world.run_for(millis(20));
    world.run_for(millis(10));
    assert_eq!(world.node(ticker).timeouts, [0, 10, 20, 30].map(ms));
}

#[test]
fn a_partition_cuts_and_heals() {
    let toys = [Toy::default(), Toy::ticking(&[at(0)], millis(100))];
    let (mut world, [listener, ticker]) = world(1, with_rtt(20), toys);
    world.run_until(ms(150));
    world.set_partition(listener, ticker, Partition::Cut);
    world.run_until(ms(350));
    world.set_partition(listener, ticker, Partition::Healed);
    world.run_until(ms(550));
    assert_eq!(world.node(listener).heard_at(), [10, 110, 410, 510].map(ms));
    assert_eq!(world.link_counts(ticker, listener).partitioned, 2);
}

#[test]
fn each_direction_may_have_a_link_of_its_own() {
    let (mut world, [echo, script]) = world(1, with_rtt(2), [Toy::echo(), Toy::default()]);
    world.set_link_one_way(script, echo, with_rtt(60));
    world.node_mut(script).say(at(0), b"1");
    world.run_until(ms(100));
    assert_eq!(world.node(script).heard_at(), [ms(31)]);
    world.set_link(echo, script, with_rtt(10));
    world.node_mut(script).say(at(0), b"2");
    world.run_until(ms(200));
    assert_eq!(world.node(script).heard_at(), [31, 110].map(ms));
}

#[test]
fn after_a_rebind_the_old_address_is_dead_and_the_new_one_speaks() {
    let toys = [Toy::ticking(&[at(1)], millis(100)), Toy::default()];
    let (mut world, [ticker, moved]) = world(1, with_rtt(40), toys);
    world.run_until(ms(110));
    let new = SocketAddr::from(([192, 0, 2, 9], 61_000));
    world.rebind(moved, 0, new);
    world.node_mut(moved).say(at(0), b"here");
    world.run_until(ms(250));
    assert_eq!(world.node(moved).heard_at(), [ms(20)], "what was under way is lost");
    assert_eq!(world.node(ticker).heard[0].path.remote, new);
    assert_eq!(world.strays(), Strays { unroutable: 1, orphaned: 1 });
    world.node_mut(ticker).say(new, b"found");
    world.run_until(ms(299));
    assert_eq!(world.node(moved).heard[1].path.local, Some(new.ip()));
}

#[test]
fn drifting_clocks_drive_deadlines_at_the_right_true_time() {
    let mut world = World::new(1, with_rtt(0));
    let listener = world.add(Toy::default(), &[at(0)], Drift::NONE);
    let fast = Drift::new(200, Duration::ZERO);
    let late = Drift::new(-100, millis(5_000));
    let fast = world.add(Toy::ticking(&[at(0)], millis(10_000)), &[at(1)], fast);
    let slow = world.add(Toy::ticking(&[at(0)], millis(10_000)), &[at(2)], late);
    world.run_until(ms(16_000));
    let heard = world.node(listener).heard.iter();
    let mut heard: Vec<_> =
        heard.map(|heard| (heard.path.remote.socket_addr().unwrap(), heard.at)).collect();
    heard.sort();
    let expected = [
        (at(1), Time::ZERO),
        // 10 s / 1.0002, to the next nanosecond.
        (at(1), Time::from_nanos(9_998_000_400)),
        (at(2), Time::ZERO),
        // From 5 s on its clock to 10 s and then 20 s: 5 s / 0.9999, 15 s / 0.9999.
        (at(2), Time::from_nanos(5_000_500_051)),
        (at(2), Time::from_nanos(15_001_500_151)),
    ];
    assert_eq!(heard, expected);
    assert_eq!(world.node(fast).timeouts[1], ms(10_000));
    assert_eq!(world.local_time(fast), Time::from_micros(16_003_200));
    assert_eq!(world.local_time(slow), Time::from_micros(20_998_400));
}

#[test]
fn a_node_is_told_the_time_of_its_own_clock() {
    let mut world = World::new(1, with_rtt(20));
    let mut late = Toy::default().listening();
    late.do_stream(1, toy::Deed::Open(at(9)));
    let late = world.add(late, &[at(0)], Drift::new(0, millis(5_000)));
    world.inject(ms(10), at(1), at(0), b"hi");
    world.run_until(ms(30));
    assert_eq!(world.node(late).heard_at(), [ms(5_010)]);
    assert_eq!(world.node(late).news(), [(ms(5_020), toy::News::Failed)]);
}

#[test]
fn a_deadline_that_has_passed_is_due_at_once() {
    let mut world = World::new(1, with_rtt(0));
    world.run_until(ms(25));
    let late = world.add(Toy::ticking(&[], millis(10)), &[at(0)], Drift::NONE);
    world.run_until(ms(35));
    assert_eq!(world.node(late).timeouts, [25, 25, 25, 30].map(ms));
}

#[test]
fn a_broadcast_reaches_every_socket_with_that_port_but_the_senders() {
    let (mut world, [a, b, sender]) =
        world(1, with_rtt(10), [Toy::default(), Toy::default(), Toy::default()]);
    let other_port = SocketAddr::from(([10, 0, 0, 7], 5_000));
    let two_sockets = world.add(Toy::default(), &[other_port, at(3)], Drift::NONE);
    let elsewhere = world.add(Toy::default(), &[other_port_of(4)], Drift::NONE);
    world.node_mut(sender).say(SocketAddr::from(([255; 4], 4_000)), b"who?");
    world.run_until(ms(50));
    for id in [a, b, two_sockets] {
        assert_eq!(world.node(id).heard_at(), [ms(5)], "{id}");
        assert_eq!(world.node(id).heard[0].path.remote, at(2));
    }
    let path = Path { socket: 1, local: Some(at(3).ip()), remote: at(2).into() };
    assert_eq!(world.node(two_sockets).heard[0].path, path);
    assert!(world.node(sender).heard.is_empty() && world.node(elsewhere).heard.is_empty());
    assert_eq!(world.traffic(sender).sent, 1);
    assert_eq!(world.link_counts(sender, b).delivered, 1);
}

fn other_port_of(n: u8) -> SocketAddr {
    SocketAddr::from(([10, 0, 0, n], 5_000))
}

#[test]
fn each_copy_of_a_broadcast_meets_its_own_fate() {
    let half_corrupt = LinkConfig { corrupt_probability: 0.5, ..with_rtt(10) };
    let (mut world, [a, b, sender]) =
        world(1, half_corrupt, [Toy::default(), Toy::default(), Toy::default()]);
    for _ in 0..100 {
        world.node_mut(sender).say(SocketAddr::from(([255; 4], 4_000)), &[0; 4]);
    }
    world.run_until(ms(50));
    let intact = |id: HostId| -> Vec<bool> {
        world.node(id).heard.iter().map(|heard| heard.bytes == [0; 4]).collect()
    };
    let count = |intact: &[bool]| intact.iter().filter(|&&intact| intact).count();
    assert!((30..70).contains(&count(&intact(a))) && (30..70).contains(&count(&intact(b))));
    assert_ne!(intact(a), intact(b));
}

#[test]
fn a_stranger_may_write_any_source() {
    let (mut world, [echo, owner]) = world(1, with_rtt(10), [Toy::echo(), Toy::default()]);
    let stranger = SocketAddr::from(([203, 0, 113, 5], 9));
    world.inject(ms(30), stranger, at(0), b"a");
    world.inject(ms(20), at(1), at(0), b"b");
    world.inject(ms(40), stranger, SocketAddr::from(([255; 4], 4_000)), b"c");
    world.run_until(ms(100));
    assert_eq!(world.node(echo).heard_first(), *b"bac");
    assert_eq!(world.node(echo).heard_at(), [20, 30, 40].map(ms), "no link delays it");
    assert_eq!(world.node(echo).heard[1].path.remote, stranger);
    // The answer goes where the source pointed: to whoever has that address, or nowhere.
    assert_eq!(world.node(owner).heard_at(), [25, 40].map(ms));
    assert_eq!(world.strays().unroutable, 2);
}

#[test]
fn many_strangers_at_one_instant_are_no_standstill() {
    let (mut world, [echo]) = world(1, with_rtt(0), [Toy::echo()]);
    for n in 0..5_000u32 {
        let from = SocketAddr::from((n.to_be_bytes(), 9));
        world.inject(ms(1), from, at(0), b"a");
    }
    world.run_until(ms(1));
    assert_eq!(world.node(echo).heard.len(), 5_000);
    // Nor one after the other: it is the caller who does not let time pass.
    for _ in 0..5_000 {
        world.inject(ms(1), at(1), at(0), b"a");
        world.step();
    }
    assert_eq!((world.node(echo).heard.len(), world.now()), (10_000, ms(1)));
}

#[test]
fn a_replaced_node_starts_anew_where_the_old_one_was() {
    let toys = [Toy::ticking(&[at(1)], millis(10)), Toy::ticking(&[at(0)], millis(10))];
    let (mut world, [_, crashed]) = world(1, with_rtt(100), toys);
    world.run_until(ms(75));
    let old = world.replace(crashed, Toy::default());
    assert_eq!(old.heard_at(), [50, 60, 70].map(ms));
    world.run_until(ms(100));
    let new = world.node(crashed);
    assert_eq!(new.heard_at(), [80, 90, 100].map(ms), "what was under way still arrives");
    assert!(new.timeouts.is_empty(), "the old one's deadline died with it");
}

#[test]
fn a_host_reaches_itself_over_no_link() {
    let (mut world, [host]) = world(1, with_rtt(100), [Toy::default()]);
    world.node_mut(host).say(at(0), b"me");
    world.run_until(ms(0));
    assert_eq!(world.node(host).heard_at(), [Time::ZERO]);
}

#[test]
fn statistics_add_up() {
    let world = busy_run(3);
    let ids = [HostId(0), HostId(1), HostId(2)];
    let (mut delivered, mut delivered_bytes, mut received, mut received_bytes) = (0, 0, 0, 0);
    for from in ids {
        let counts = ids.into_iter().filter(|&to| to != from);
        let counts: Vec<_> = counts.map(|to| world.link_counts(from, to)).collect();
        let traffic = world.traffic(from);
        assert_eq!(traffic.sent, counts.iter().map(|link| link.sent).sum());
        assert_eq!(traffic.sent_bytes, counts.iter().map(|link| link.sent_bytes).sum());
        delivered += counts.iter().map(|link| link.delivered).sum::<u64>();
        delivered_bytes += counts.iter().map(|link| link.delivered_bytes).sum::<u64>();
        received += traffic.received;
        received_bytes += traffic.received_bytes;
        assert_eq!(traffic.received, world.node(from).heard.len() as u64);
    }
    assert!(received > 2_000 && world.flight.len() > 0);
    assert_eq!(delivered, received + world.flight.len() as u64);
    assert_eq!(delivered_bytes, received_bytes + 8 * world.flight.len() as u64);
    assert_eq!(world.strays(), Strays::default());
}

#[test]
fn a_boxed_node_is_a_node() {
    let mut world: World<Box<dyn StreamNode>> = World::new(1, with_rtt(10));
    let echo = world.add(Box::new(Toy::echo()), &[at(0)], Drift::NONE);
    let ticker = Toy::ticking(&[at(0)], millis(10));
    let ticker = world.add(Box::new(ticker), &[at(1)], Drift::NONE);
    world.run_until(ms(100));
    assert_eq!(world.traffic(echo).received, 10);
    assert_eq!(world.traffic(ticker).received, 10);
}

#[test]
fn jitter_and_loss_are_those_of_the_link() {
    let link = LinkConfig {
        jitter: Jitter::uniform(millis(20)),
        loss: Loss::independent(0.25),
        ..with_rtt(100)
    };
    let toys = [Toy::default(), Toy::ticking(&[at(0)], millis(100))];
    let (mut world, [listener, _]) = world(1, link, toys);
    world.run_until(ms(100_000));
    let heard = &world.node(listener).heard;
    assert!((700..800).contains(&heard.len()), "{}", heard.len());
    for heard in heard {
        let late_ms = heard.at.as_millis() % 100;
        assert!((50..=70).contains(&late_ms), "{late_ms}");
    }
}

#[test]
fn a_host_that_takes_long_says_what_it_did_when_it_is_done_and_hears_nothing_meanwhile() {
    let toys = [Toy::ticking(&[at(1)], millis(10)), Toy::default()];
    let (mut world, [slow, other]) = world(1, with_rtt(20), toys);
    world.set_timeout_cost(slow, millis(25));
    world.node_mut(other).say(at(0), b"while you work");
    world.run_until(ms(100));
    let came: Vec<_> = world.node(other).heard.iter().map(|heard| heard.at.as_millis()).collect();
    assert_eq!(came, [35, 60, 85], "25 ms apart, and 10 ms on their way");
    // It arrives at 10 ms, and lies in the socket until 25 ms.
    assert_eq!(world.node(slow).heard[0].at, ms(25));
    world.set_timeout_cost(slow, Duration::ZERO);
    world.run_until(ms(200));
    assert!(world.node(other).heard.len() > 12, "it makes up for what it missed");
}
