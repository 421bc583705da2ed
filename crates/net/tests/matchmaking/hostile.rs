//! Strangers and liars at a matchmaker, in datagrams of their own making.

use std::net::SocketAddr;

use backspin::game::GameId;
use backspin::matching::{FORGET_AFTER, MatchLimits, Matchmaker};
use backspin::server::Server;
use backspin::wire::List;
use backspin::wire::native::{
    Datagram, Hello, Matched, PROTOCOL, Packet, Probe, Probed, Reject, RejectReason,
    RoundTripReport, Secret, Seek,
};
use backspin_sim::dot::Dots;

use crate::desk::{Desk, Sent, address};
use crate::scene::{CAPACITY, KEY, game, game_server, matchmaker, server_address};

const ZEROS: Secret = Secret([0; 16]);

fn encode(packet: Packet<'_>) -> Vec<u8> {
    let mut out = [0; 1200];
    let len = Datagram { sequence: 7, packet }.encode(&mut out).unwrap();
    out[..len].to_vec()
}

fn hello(nonce: u64) -> Vec<u8> {
    let GameId { game, version: game_version } = game();
    encode(Packet::Hello(Hello { protocol: PROTOCOL, game, game_version, nonce }))
}

fn seek(nonce: u64, cookie: Secret, reports: &[RoundTripReport]) -> Vec<u8> {
    let GameId { game, version: game_version } = game();
    let (protocol, reports) = (PROTOCOL, List::new(reports));
    encode(Packet::Seek(Seek { nonce, cookie, protocol, game, game_version, reports }))
}

/// What a matchmaker says to one address.
#[derive(Debug, PartialEq)]
enum Said {
    Challenge(Secret),
    Reject(RejectReason),
    Waiting(Secret),
    Matched(Matched),
}

fn said(sent: &[Sent]) -> Vec<Said> {
    let decode = |bytes: &[u8]| match Datagram::decode(bytes).unwrap().packet {
        Packet::Challenge(it) => Some(Said::Challenge(it.cookie)),
        Packet::Reject(Reject { reason, .. }) => Some(Said::Reject(reason)),
        Packet::Waiting(it) => Some(Said::Waiting(it.pass)),
        Packet::Matched(it) => Some(Said::Matched(it)),
        _ => None,
    };
    sent.iter().filter_map(|(_, bytes)| decode(bytes)).collect()
}

fn cookie(desk: &mut Desk<Matchmaker>, from: SocketAddr, nonce: u64) -> Secret {
    match said(&desk.receive(from, &hello(nonce)))[..] {
        [Said::Challenge(cookie)] => cookie,
        ref other => panic!("{other:?}"),
    }
}

/// Proves an address and begins to wait; the pass, or why not.
fn wait(desk: &mut Desk<Matchmaker>, from: SocketAddr) -> Result<Secret, RejectReason> {
    let cookie = cookie(desk, from, 1);
    match said(&desk.receive(from, &seek(1, cookie, &[])))[..] {
        [Said::Waiting(pass)] => Ok(pass),
        [Said::Reject(reason)] => Err(reason),
        ref other => panic!("{other:?}"),
    }
}

fn player(n: u32) -> SocketAddr {
    let [.., high, low] = n.to_be_bytes();
    SocketAddr::from(([10, 50, high, low], 5000))
}

#[test]
fn nobody_gives_up_for_another_without_its_nonce() {
    let mut desk = Desk::new(matchmaker(1, MatchLimits::default()));
    wait(&mut desk, player(1)).unwrap();
    let farewell = |nonce| {
        let (protocol, game, game_version) = (PROTOCOL, Seek::NO_GAME, 0);
        let (cookie, reports) = (ZEROS, List::new(&[]));
        encode(Packet::Seek(Seek { nonce, cookie, protocol, game, game_version, reports }))
    };
    desk.receive(player(1), &farewell(2));
    desk.receive(player(2), &farewell(1));
    assert_eq!(desk.node.kept(), 1);
    assert_eq!(desk.receive(player(1), &farewell(1)), []);
    assert_eq!(desk.node.kept(), 0);
}

/// A matchmaker and a server at no distance, which have met.
fn pair(limits: MatchLimits) -> (Desk<Matchmaker>, Desk<Server<Dots>>) {
    let mut desk = Desk::new(matchmaker(1, limits));
    let mut server = Desk::new(game_server(Some(KEY), 1));
    let mut asked = desk.advance_ms(0);
    while let Some((_, bytes)) = asked.pop() {
        for (_, answer) in server.receive(address("10.9.0.1:4300"), &bytes) {
            asked.extend(desk.receive(server_address(0), &answer));
        }
    }
    (desk, server)
}

/// What the server seals for `pass` after so many ms.
fn probed(server: &mut Desk<Server<Dots>>, from: SocketAddr, pass: Secret, ms: u64) -> Probed {
    let mut echo = (0, ZEROS);
    for _ in 0..2 {
        let probe = Packet::Probe(Probe { pass, stamp: echo.0, cookie: echo.1 });
        let question = encode(probe);
        let answers = server.receive(from, &question);
        assert!(answers.len() == 1 && answers[0].1.len() <= question.len(), "no amplification");
        let Ok(Packet::Probed(it)) = Datagram::decode(&answers[0].1).map(|it| it.packet) else {
            panic!("{answers:?}");
        };
        if it.round_trip != 0 {
            return it;
        }
        echo = (it.stamp, it.cookie);
        server.advance_ms(ms);
    }
    panic!("the second answer has a round trip");
}

#[test]
fn an_unproved_address_gets_one_answer_that_is_no_longer_than_its_question() {
    let mut desk = Desk::new(matchmaker(16, MatchLimits::default()));
    desk.advance_ms(0);
    let full = [RoundTripReport { index: 0, round_trip: 1, seal: ZEROS }; 16];
    let from = player(1);
    for question in [hello(1), seek(1, ZEROS, &[]), seek(1, ZEROS, &full)] {
        let sent = desk.receive(from, &question);
        assert_eq!(sent.len(), 1);
        assert!(sent[0].0 == from && sent[0].1.len() <= question.len());
        assert!(matches!(said(&sent)[..], [Said::Challenge(_)]));
    }
    // Another's cookie is nobody's: neither the address's nor the nonce's.
    let stolen = cookie(&mut desk, player(2), 1);
    assert!(matches!(said(&desk.receive(from, &seek(1, stolen, &[])))[..], [Said::Challenge(_)]));
    let own = cookie(&mut desk, from, 1);
    assert!(matches!(said(&desk.receive(from, &seek(2, own, &[])))[..], [Said::Challenge(_)]));
    assert_eq!(desk.node.kept(), 0, "nothing is kept for any of them");
    // What is no packet, or none of a player's, gets nothing.
    for bytes in [
        &[1, 2, 3][..],
        &[0; 60],
        &encode(Packet::Probe(Probe { pass: ZEROS, stamp: 0, cookie: ZEROS })),
    ] {
        assert_eq!(desk.receive(from, bytes), []);
    }
}

#[test]
fn every_truncation_of_a_seek_is_dropped() {
    let mut desk =
        Desk::new(matchmaker(1, MatchLimits { datagrams_per_s: 1_000, ..MatchLimits::default() }));
    desk.advance_ms(0);
    let bytes = seek(1, ZEROS, &[RoundTripReport { index: 0, round_trip: 1, seal: ZEROS }]);
    for len in 0..bytes.len() {
        assert_eq!(desk.receive(player(1), &bytes[..len]), [], "{len} bytes");
    }
    assert_eq!(desk.node.counts().malformed, bytes.len() as u64);
}

#[test]
fn the_table_of_players_has_its_limit_and_so_has_each_address() {
    let limits = MatchLimits { waiting: 6, waiting_per_ip: 4, ..MatchLimits::default() };
    let mut desk = Desk::new(matchmaker(1, limits));
    desk.advance_ms(0);
    let same = |port| SocketAddr::from(([10, 50, 0, 1], port));
    for port in 5000..5004 {
        wait(&mut desk, same(port)).unwrap();
    }
    assert_eq!(wait(&mut desk, same(5004)), Err(RejectReason::Address));
    // The same player again is no second one.
    wait(&mut desk, same(5003)).unwrap();
    wait(&mut desk, player(2)).unwrap();
    wait(&mut desk, player(3)).unwrap();
    assert_eq!(wait(&mut desk, player(4)), Err(RejectReason::Full));
    assert_eq!((desk.node.kept(), desk.node.counts().waiting_limit), (6, 2));
    // Who says no more is forgotten, and makes room.
    desk.advance_ms(FORGET_AFTER.as_millis() as u64 + 500);
    assert_eq!(desk.node.kept(), 0);
    wait(&mut desk, player(4)).unwrap();
}

#[test]
fn an_ipv6_network_counts_as_one_address_and_its_surroundings_have_limits() {
    let limits = MatchLimits { waiting_per_ip: 1, ..MatchLimits::default() };
    let mut desk = Desk::new(matchmaker(1, limits));
    desk.advance_ms(0);
    wait(&mut desk, address("[2001:db8:0:1::1]:5000")).unwrap();
    let same_64 = wait(&mut desk, address("[2001:db8:0:1::2]:5000"));
    assert_eq!(same_64, Err(RejectReason::Address));
    for net in 2..5 {
        wait(&mut desk, address(&format!("[2001:db8:0:{net}::1]:5000"))).unwrap();
    }
    let fifth_in_56 = wait(&mut desk, address("[2001:db8:0:5::1]:5000"));
    assert_eq!(fifth_in_56, Err(RejectReason::Address));
}

#[test]
fn a_flood_from_one_address_is_answered_so_many_times_a_second() {
    let limits = MatchLimits { datagrams_per_s: 10, ..MatchLimits::default() };
    let mut desk = Desk::new(matchmaker(1, limits));
    desk.advance_ms(0);
    let answered = (0..11).filter(|_| !desk.receive(player(1), &hello(1)).is_empty()).count();
    assert_eq!((answered, desk.node.counts().datagram_limit), (10, 1));
    assert!(!desk.receive(player(2), &hello(1)).is_empty(), "others are not");
}

#[test]
fn nobody_is_nearer_than_a_server_has_measured_for_them() {
    let (mut desk, mut server) = pair(MatchLimits::default());
    let (liar, honest) = (player(1), player(2));
    let pass = wait(&mut desk, liar).unwrap();
    let true_one = probed(&mut server, liar, pass, 90);
    assert_eq!(true_one.round_trip, 90_000);
    let others = wait(&mut desk, honest).unwrap();
    let others = probed(&mut server, honest, others, 5);
    let report = |round_trip, seal| RoundTripReport { index: 0, round_trip, seal };
    let lies = [
        ("shorter than it is", report(5_000, true_one.seal)),
        ("another player's", report(others.round_trip, others.seal)),
        ("made up", report(5_000, Secret([7; 16]))),
        (
            "of a server that is not there",
            RoundTripReport { index: 1, ..report(90_000, true_one.seal) },
        ),
    ];
    for (at, (lie, report)) in (1..).zip(lies) {
        desk.receive(liar, &seek(1, ZEROS, &[report]));
        assert_eq!(desk.node.counts().bad_seal, at, "{lie}");
    }
    desk.receive(liar, &seek(1, ZEROS, &[report(true_one.round_trip, true_one.seal)]));
    assert_eq!(desk.node.counts().bad_seal, lies.len() as u64, "the truth is taken");
}

#[test]
fn only_the_address_that_asked_hears_where_to_go() {
    let (mut desk, mut server) = pair(MatchLimits::default());
    let mut players = Vec::new();
    for n in 1..=u32::from(CAPACITY) {
        let pass = wait(&mut desk, player(n)).unwrap();
        let Probed { round_trip, seal, .. } = probed(&mut server, player(n), pass, 5);
        players.push((player(n), RoundTripReport { index: 0, round_trip, seal }));
    }
    for (from, report) in &players {
        desk.receive(*from, &seek(1, ZEROS, &[*report]));
    }
    let told = desk.advance_ms(500);
    let mut heard: Vec<_> = told
        .iter()
        .filter(|it| matches!(said(&[(*it).clone()])[..], [Said::Matched(_)]))
        .map(|(to, _)| *to)
        .collect();
    heard.sort_unstable();
    assert_eq!(heard, players.iter().map(|(from, _)| *from).collect::<Vec<_>>(), "each once");
    // Who asks again hears it again; who knows the nonce but not the address gets a challenge.
    let again = said(&desk.receive(player(1), &seek(1, ZEROS, &[])));
    assert!(matches!(again[..], [Said::Matched(_)]), "{again:?}");
    let elsewhere = SocketAddr::from(([10, 50, 0, 1], 6000));
    let spy = said(&desk.receive(elsewhere, &seek(1, ZEROS, &[])));
    assert!(matches!(spy[..], [Said::Challenge(_)]), "{spy:?}");
}

#[test]
fn a_server_without_a_key_is_silent_to_probes() {
    let mut server = Desk::new(game_server(None, 1));
    let probe = encode(Packet::Probe(Probe { pass: ZEROS, stamp: 0, cookie: ZEROS }));
    assert_eq!(server.receive(player(1), &probe), []);
}
