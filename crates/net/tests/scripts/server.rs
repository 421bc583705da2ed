//! Our server, and clients of literal bytes.

use std::net::SocketAddr;

use backspin::endpoint::{EndpointConfig, Tokenless};
use backspin::game::{Game, PlayerId};
use backspin::node::{Node, Path, StreamEvent};
use backspin::room::{RoomConfig, RoomEvent};
use backspin::server::Server;
use backspin::session::{EndReason, Limits};
use backspin::time::Time;
use backspin::wire::Name;
use backspin::wire::native::{CloseReason, Datagram, Feedback, Packet};
use backspin_sim::dot::Dots;

use super::desk::{Desk, Sent, address, sent_to};

const HELLO_ACK: &[u8] = &[0, 0, 2, 1];

fn desk_with(config: EndpointConfig) -> Desk<Server<Dots>> {
    let mut server = Server::new(config, [5; 32]).speaking(backspin_classic::dialects());
    server.open(Time::ZERO, Dots::default(), Name::new("Dots"), 0, RoomConfig::default());
    Desk::new(server)
}

pub(crate) fn desk() -> Desk<Server<Dots>> {
    desk_with(EndpointConfig::default())
}

fn room_events(desk: &mut Desk<Server<Dots>>) -> Vec<RoomEvent> {
    let room = &mut desk.node.rooms_mut()[0];
    std::iter::from_fn(|| room.poll_event()).collect()
}

// --- rtype -----------------------------------------------------------------------------------

/// The TCP step from `ip`, as stream `id`; gives the token.
pub(crate) fn tcp_step(desk: &mut Desk<Server<Dots>>, id: u64, ip: &str) -> [u8; 4] {
    let peer = address(&format!("{ip}:40000"));
    let welcome = desk.stream(id, StreamEvent::Opened(peer.into()));
    assert_eq!(welcome, [Some(vec![0, 0, 100, 1])]);
    let ack = desk.stream(id, StreamEvent::Received(b"\x05\x00\x01\x01Alice"));
    let ack = ack[0].clone().expect("an answer");
    assert_eq!(ack[..6], [6, 0, 2, 1, 0x92, 0x10]);
    [ack[6], ack[7], ack[8], ack[9]]
}

pub(crate) fn rtype_hello(token: [u8; 4]) -> Vec<u8> {
    [&[20, 0, 1, 1], &token[..], b"Alice\0\0\0\0\0\0\0\0\0\0\0"].concat()
}

const INPUT: &[u8] = &[5, 0, 3, 1, 0, 0, 0, 0, 8];

/// Moves time on while `from` plays.
fn play_rtype(desk: &mut Desk<Server<Dots>>, from: SocketAddr, ms: u64) -> Vec<Sent> {
    let mut sent = Vec::new();
    for _ in 0..ms / 100 {
        sent.extend(desk.advance_ms(100));
        sent.extend(desk.receive(from, INPUT));
    }
    sent
}

pub(crate) fn admitted(sent: &[Sent], to: SocketAddr) -> bool {
    sent_to(sent, to).contains(&HELLO_ACK)
}

/// A Hello from an address that is not proved: it is acknowledged and pinged, and the answer to that
/// is the proof. What follows it.
fn prove(desk: &mut Desk<Server<Dots>>, from: SocketAddr, hello: &[u8]) -> Vec<Sent> {
    let sent = desk.receive(from, hello);
    let sent = sent_to(&sent, from);
    let [HELLO_ACK, [8, 0, 7, 1, bytes @ ..]] = sent[..] else { panic!("{sent:?}") };
    desk.receive(from, &[&[8, 0, 8, 1], bytes].concat())
}

fn shows_state(sent: &[Sent], to: SocketAddr) -> bool {
    sent_to(sent, to).iter().any(|bytes| bytes[2] == 4)
}

#[test]
fn a_token_lets_its_player_in_and_state_and_roster_follow_at_once() {
    let mut desk = desk();
    let alice = address("10.0.0.2:5000");
    let token = tcp_step(&mut desk, 1, "10.0.0.2");
    let sent = desk.receive(alice, &rtype_hello(token));
    let bytes = sent_to(&sent, alice);
    assert_eq!(bytes[0], HELLO_ACK);
    assert_eq!(bytes[1][2], 4, "State");
    assert_eq!(bytes[2][2], 9, "Roster");
    // The HelloAck was lost: the same Hello, the same answer, and nobody new.
    assert!(admitted(&desk.receive(alice, &rtype_hello(token)), alice));
    assert_eq!(desk.node.rooms()[0].world().dots.len(), 1);
}

#[test]
fn a_wrong_token_gets_silence() {
    let mut desk = desk();
    let mut token = tcp_step(&mut desk, 1, "10.0.0.2");
    token[0] ^= 1;
    assert_eq!(desk.receive(address("10.0.0.2:5000"), &rtype_hello(token)), []);
    assert_eq!(desk.receive(address("10.0.0.2:5000"), &rtype_hello([0; 4])), []);
    assert_eq!(desk.receive(address("10.0.0.2:5000"), b"\x05\x00\x01\x01Alice"), []);
    assert_eq!(desk.node.endpoint().sessions(), 0);
    let counts = desk.node.endpoint().counts();
    assert_eq!((counts.bad_proof, counts.tokenless), (2, 1));
}

#[test]
fn a_token_is_good_for_thirty_seconds_until_its_first_use() {
    let mut desk = desk();
    let (early, late) = (tcp_step(&mut desk, 1, "10.0.0.2"), tcp_step(&mut desk, 2, "10.0.0.3"));
    desk.advance_ms(29_900);
    let alice = address("10.0.0.2:5000");
    assert!(admitted(&desk.receive(alice, &rtype_hello(early)), alice));
    desk.advance_ms(200);
    assert_eq!(desk.receive(address("10.0.0.3:5000"), &rtype_hello(late)), []);
}

#[test]
fn a_copied_token_steals_nothing_while_its_owner_plays() {
    let mut desk = desk();
    let (alice, thief) = (address("10.0.0.2:5000"), address("10.6.6.6:5000"));
    let token = tcp_step(&mut desk, 1, "10.0.0.2");
    desk.receive(alice, &rtype_hello(token));
    play_rtype(&mut desk, alice, 2_000);
    assert_eq!(prove(&mut desk, thief, &rtype_hello(token)), []);
    let sent = play_rtype(&mut desk, alice, 1_000);
    assert!(sent_to(&sent, alice).len() > 50 && sent_to(&sent, thief).is_empty());
}

#[test]
fn a_token_brings_its_player_back_after_five_silent_seconds_from_a_new_address_too() {
    let mut desk = desk();
    let (old, new) = (address("10.0.0.2:5000"), address("10.0.7.7:6000"));
    let token = tcp_step(&mut desk, 1, "10.0.0.2");
    desk.receive(old, &rtype_hello(token));
    desk.receive(old, INPUT);
    desk.advance_ms(4_900);
    assert!(!shows_state(&prove(&mut desk, new, &rtype_hello(token)), new));
    desk.advance_ms(200);
    assert!(shows_state(&prove(&mut desk, new, &rtype_hello(token)), new));
    assert_eq!(desk.node.rooms()[0].world().dots.len(), 1, "the same dot");
    let sent = play_rtype(&mut desk, new, 1_000);
    assert!(sent_to(&sent, old).is_empty() && sent_to(&sent, new).len() > 50);
}

#[test]
fn a_silent_rtype_client_is_warned_about_dropped_and_given_up() {
    let mut desk = desk();
    let (alice, bob) = (address("10.0.0.2:5000"), address("10.0.0.3:5000"));
    let token = tcp_step(&mut desk, 1, "10.0.0.2");
    desk.receive(alice, &rtype_hello(token));
    desk.receive(alice, INPUT);
    let other = tcp_step(&mut desk, 2, "10.0.0.3");
    desk.receive(bob, &rtype_hello(other));
    room_events(&mut desk);
    let alice_id = PlayerId(1);
    play_rtype(&mut desk, bob, 4_900);
    assert!(!room_events(&mut desk).contains(&RoomEvent::Quiet(alice_id)));
    play_rtype(&mut desk, bob, 200);
    assert_eq!(room_events(&mut desk), [RoomEvent::Quiet(alice_id)]);
    play_rtype(&mut desk, bob, 4_800);
    assert_eq!(room_events(&mut desk), []);
    let sent = play_rtype(&mut desk, bob, 200);
    assert_eq!(room_events(&mut desk), [RoomEvent::Dropped(alice_id)]);
    // The roster goes to the others, without her.
    assert!(sent_to(&sent, bob).iter().any(|bytes| bytes[2] == 9 && bytes[4] == 1));
    play_rtype(&mut desk, bob, 29_800);
    assert_eq!(desk.node.rooms()[0].world().dots.len(), 2, "her place is kept");
    play_rtype(&mut desk, bob, 400);
    assert_eq!(room_events(&mut desk), [RoomEvent::Freed(alice_id)]);
    assert!(!admitted(&desk.receive(alice, &rtype_hello(token)), alice), "the token is void");
}

#[test]
fn who_is_heard_again_is_warned_about_again_however_late_the_drop_is() {
    use std::time::Duration;
    let liveness = Limits { warn: Duration::from_secs(1), drop: Duration::from_secs(60) };
    let config = RoomConfig { liveness, ..RoomConfig::default() };
    let mut server =
        Server::new(EndpointConfig::default(), [5; 32]).speaking(backspin_classic::dialects());
    server.open(Time::ZERO, Dots::default(), Name::new("Dots"), 0, config);
    let mut desk = Desk::new(server);
    let (alice, id) = (address("10.0.0.2:5000"), PlayerId(1));
    let token = tcp_step(&mut desk, 1, "10.0.0.2");
    desk.receive(alice, &rtype_hello(token));
    desk.receive(alice, INPUT);
    room_events(&mut desk);
    for _ in 0..3 {
        desk.advance_ms(1_100);
        assert_eq!(room_events(&mut desk), [RoomEvent::Quiet(id)]);
        desk.advance_ms(500);
        desk.receive(alice, INPUT);
        assert_eq!(room_events(&mut desk), [RoomEvent::Heard(id)]);
    }
}

#[test]
fn a_program_started_anew_is_not_sent_to_the_menu_for_the_one_before() {
    let mut desk = desk();
    let alice = address("10.0.0.2:5000");
    let (crashed, anew) = (tcp_step(&mut desk, 1, "10.0.0.2"), tcp_step(&mut desk, 2, "10.0.0.2"));
    desk.receive(alice, &rtype_hello(crashed));
    desk.receive(alice, INPUT);
    assert!(admitted(&desk.receive(alice, &rtype_hello(anew)), alice));
    room_events(&mut desk);
    let mut sent = play_rtype(&mut desk, alice, 11_000);
    let before = PlayerId(1);
    let lost = [RoomEvent::Quiet(before), RoomEvent::Dropped(before)];
    assert_eq!(room_events(&mut desk), lost);
    // Nor when the operator removes who is not there.
    desk.node.rooms_mut()[0].kick(before);
    sent.extend(play_rtype(&mut desk, alice, 1_000));
    assert_eq!(room_events(&mut desk), [RoomEvent::Freed(before)]);
    assert!(sent_to(&sent, alice).iter().all(|bytes| bytes[2] != 17), "ReturnToMenu");
}

#[test]
fn who_disconnects_may_come_back_with_the_token() {
    let mut desk = desk();
    let (old, new) = (address("10.0.0.2:5000"), address("10.0.0.2:6000"));
    let token = tcp_step(&mut desk, 1, "10.0.0.2");
    desk.receive(old, &rtype_hello(token));
    desk.receive(old, &[0, 0, 16, 1]);
    assert!(sent_to(&desk.advance_ms(500), old).is_empty());
    assert!(admitted(&desk.receive(new, &rtype_hello(token)), new));
}

#[test]
fn a_tokenless_hello_is_bound_to_the_tcp_step_of_its_address() {
    let mut desk =
        desk_with(EndpointConfig { tokenless: Tokenless::Allowed, ..EndpointConfig::default() });
    let (alice, other) = (address("10.0.0.2:5000"), address("10.0.0.3:5000"));
    tcp_step(&mut desk, 1, "10.0.0.2");
    assert_eq!(desk.receive(other, b"\x05\x00\x01\x01Alice"), []);
    assert!(admitted(&desk.receive(alice, b"\x05\x00\x01\x01Alice"), alice));
    // Silent in the lobby, and not dropped while its stream is open.
    room_events(&mut desk);
    desk.advance_ms(300_000);
    assert_eq!(room_events(&mut desk), []);
    // After five minutes it plays, and is shown the world as ever.
    assert!(shows_state(&play_rtype(&mut desk, alice, 1_000), alice));
    desk.stream(1, StreamEvent::Closed);
    desk.advance_ms(10_100);
    assert!(room_events(&mut desk).contains(&RoomEvent::Dropped(PlayerId(1))));
}

#[test]
fn a_ping_from_anyone_is_answered_verbatim() {
    let mut desk = desk();
    let stranger = address("192.0.2.7:1234");
    let sent = desk.receive(stranger, &[8, 0, 7, 1, 5, 0, 0, 0, 0x39, 0x30, 0, 0]);
    assert_eq!(sent, [(stranger, vec![8, 0, 8, 1, 5, 0, 0, 0, 0x39, 0x30, 0, 0])]);
}

// --- lan -------------------------------------------------------------------------------------

#[test]
fn lan_answers_go_to_the_port_that_hello_names() {
    let mut desk = desk();
    let (from, named) = (address("192.168.0.5:40000"), address("192.168.0.5:54001"));
    assert_eq!(desk.receive(from, &[1])[0].1[..3], [2, 0xD2, 0xF0]);
    let sent = desk.receive(from, &[3, 0xD2, 0xF1]);
    assert_eq!(sent[0], (named, vec![4]));
    assert_eq!((sent[1].0, sent[1].1[..5].to_vec()), (named, vec![6, 0, 0, 0, 0]), "state 0");
    // Inputs count from either port; from elsewhere they do not.
    for (peer, down) in [(from, 1), (named, 1), (address("192.168.0.5:40001"), 0)] {
        desk.receive(from, &[5, 0, 0, 0]);
        desk.receive(peer, &[5, 0, 0, 1]);
        let before = desk.node.rooms()[0].world().dots[0].y;
        desk.advance_ms(17);
        assert_eq!(desk.node.rooms()[0].world().dots[0].y - before, 5 * down, "{peer}");
    }
    assert_eq!(desk.receive(from, &[3, 0xD2, 0xF1])[0], (named, vec![4]), "HELLO again");
}

#[test]
fn lan_states_stop_without_inputs_and_the_guest_goes_after_ten_seconds() {
    let mut desk = desk();
    let guest = address("192.168.0.5:54001");
    assert_eq!(desk.receive(guest, &[3, 0xD2, 0xF1]).len(), 2, "HELLO_ACK and state 0");
    assert_eq!(desk.advance_ms(1_000), []);
    // Two inputs are worth three states, and a minute of them no more than a second of states.
    for (inputs, states) in [(2, 3), (4, 6), (3_600, 60)] {
        for _ in 0..inputs {
            desk.receive(guest, &[5, 0, 0, 0]);
            desk.now += std::time::Duration::from_micros(5);
        }
        assert_eq!(desk.advance_ms(999).len(), states, "{inputs}");
        assert_eq!(desk.advance_ms(2_000), []);
    }
    desk.receive(guest, &[5, 0, 0, 0]);
    room_events(&mut desk);
    desk.advance_ms(10_100);
    let gone = [RoomEvent::Dropped(PlayerId(1)), RoomEvent::Freed(PlayerId(1))];
    assert!(room_events(&mut desk).ends_with(&gone));
    // Nobody could prove to be the same guest: the place is anyone's, also theirs.
    assert_eq!(desk.receive(guest, &[3, 0xD2, 0xF1])[0], (guest, vec![4]));
}

#[test]
fn the_first_lan_state_is_the_world_before_a_tick_that_is_due_with_hello() {
    let mut desk = desk();
    let guest = address("192.168.0.5:54001");
    for bytes in [&[3, 0xD2, 0xF1][..], &[5, 0, 0, 1]] {
        desk.node.handle_datagram(desk.now, Path::to(guest), &mut bytes.to_vec());
    }
    desk.now = desk.node.poll_timeout().unwrap();
    desk.node.handle_timeout(desk.now);
    let sent = desk.drain();
    let sent = sent_to(&sent, guest);
    assert_eq!((sent.len(), sent[0]), (3, &[4][..]));
    // Type, number and what is shown: the second differs in more than its number.
    assert_eq!((&sent[1][..5], &sent[2][..5]), (&[6, 0, 0, 0, 0][..], &[6, 0, 0, 0, 1][..]));
    assert_ne!(sent[1][5..], sent[2][5..]);
}

#[test]
fn lan_is_spoken_to_the_neighbourhood_only() {
    let mut desk = desk();
    assert_eq!(desk.receive(address("203.0.113.5:54000"), &[1]), []);
    assert_eq!(desk.receive(address("203.0.113.5:54000"), &[3, 0xD2, 0xF1]), []);
    assert_eq!(desk.node.endpoint().counts().reach, 2);
}

// --- native ----------------------------------------------------------------------------------

/// A native client of literal bytes: only what it must remember.
pub(crate) struct Peer {
    pub(crate) at: SocketAddr,
    sequence: u32,
    inputs: u32,
    session: [u8; 2],
    pub(crate) ticket: [u8; 16],
}

pub(crate) fn native(kind: u8, sequence: u32, payload: &[u8]) -> Vec<u8> {
    let len = (payload.len() as u16).to_be_bytes();
    [&[1, kind, 0], &len[..], &sequence.to_be_bytes(), payload].concat()
}

pub(crate) const NONCE: [u8; 8] = [0xA; 8];

/// Hello, and the cookie that comes back.
pub(crate) fn cookie(desk: &mut Desk<Server<Dots>>, at: SocketAddr) -> [u8; 16] {
    let hello = [&[0, 2], &b"DOTS"[..], &[0, 1], &NONCE, &[0; 32]].concat();
    let sent = desk.receive(at, &native(0x01, 77, &hello));
    let challenge = &sent_to(&sent, at)[0];
    assert_eq!(challenge[..17], native(0x81, 77, &[&NONCE[..], &[0; 17]].concat())[..17]);
    challenge[17..33].try_into().unwrap()
}

pub(crate) fn join(desk: &mut Desk<Server<Dots>>, at: SocketAddr) -> Peer {
    join_counting_from(desk, at, 78)
}

fn join_counting_from(desk: &mut Desk<Server<Dots>>, at: SocketAddr, sequence: u32) -> Peer {
    let cookie = cookie(desk, at);
    let join = [
        &NONCE[..],
        &cookie,
        &[0, 2],
        b"DOTS",
        &[0, 1],
        &(Dots::default().layout() as u32).to_be_bytes(),
        &[4, 0xB0, 0, 0, 0, 0, 0],
        b"Alice\0\0\0\0\0\0\0\0\0\0\0",
        &[0; 16],
        &[0, 0, 0],
    ];
    let sent = desk.receive(at, &native(0x02, sequence, &join.concat()));
    let accept = sent_to(&sent, at)[0].to_vec();
    assert_eq!(accept[1], 0x82, "Accept");
    let session = [accept[17], accept[18]];
    let ticket = accept[35..51].try_into().unwrap();
    Peer { at, sequence: sequence.wrapping_add(1), inputs: 0, session, ticket }
}

impl Peer {
    fn input(&mut self, buttons: u8) -> Vec<u8> {
        // Three ticks for each input of twenty a second, and a little ahead.
        self.inputs += 3;
        self.input_for(self.inputs + 6, buttons)
    }

    /// Asks how far the server is.
    pub(crate) fn ping(&mut self) -> Vec<u8> {
        let sequence = self.sequence;
        self.sequence = sequence.wrapping_add(1);
        native(0x04, sequence, &[&self.session[..], &[0; 8]].concat())
    }

    /// Wishes to play in a room.
    fn enter(&mut self, room: u32, nonce: [u8; 8]) -> Vec<u8> {
        let sequence = self.sequence;
        self.sequence = sequence.wrapping_add(1);
        let payload = [&self.session[..], &nonce, &room.to_be_bytes(), &[0; 17]].concat();
        native(0x08, sequence, &payload)
    }

    fn goodbye(&mut self) -> Vec<u8> {
        native(0x06, self.sequence, &self.session)
    }

    fn input_for(&mut self, tick: u32, buttons: u8) -> Vec<u8> {
        let tick = tick.to_be_bytes();
        let payload = [&self.session[..], &tick, &[0, buttons], &[0]].concat();
        let sequence = self.sequence;
        self.sequence = sequence.wrapping_add(1);
        native(0x14, sequence, &payload)
    }
}

pub(crate) fn play(desk: &mut Desk<Server<Dots>>, peer: &mut Peer, ms: u64) -> Vec<Sent> {
    let mut sent = Vec::new();
    for _ in 0..ms / 50 {
        sent.extend(desk.advance_ms(50));
        let input = peer.input(8);
        sent.extend(desk.receive(peer.at, &input));
    }
    sent
}

/// Asks for the ticket's place from `at`; the answer's packet, if there is one.
fn resume(desk: &mut Desk<Server<Dots>>, at: SocketAddr, ticket: [u8; 16]) -> Option<Vec<u8>> {
    let cookie = cookie(desk, at);
    let payload = [&NONCE[..], &cookie, &ticket, &[0]].concat();
    let sent = desk.receive(at, &native(0x09, 500, &payload));
    sent_to(&sent, at).first().map(|bytes| bytes.to_vec())
}

/// What the player reads when this Reject comes.
pub(crate) fn words(reject: &[u8]) -> String {
    match Datagram::decode(reject).unwrap().packet {
        Packet::Reject(reject) => EndReason::from_reject(&reject, 1).to_string(),
        other => panic!("no reject: {other:?}"),
    }
}

#[test]
fn a_copied_ticket_steals_nothing_while_its_owner_plays() {
    let mut desk = desk();
    let thief = address("10.6.6.6:666");
    let mut alice = join(&mut desk, address("10.0.0.2:5000"));
    play(&mut desk, &mut alice, 3_000);
    assert_eq!(resume(&mut desk, thief, alice.ticket), None);
    let sent = play(&mut desk, &mut alice, 1_000);
    assert!(sent_to(&sent, thief).is_empty() && sent_to(&sent, alice.at).len() > 50);
}

#[test]
fn a_ticket_brings_its_player_back_until_thirty_seconds_after_the_drop() {
    for (gone_ms, back) in [(900, false), (1_100, true), (39_000, true), (40_500, false)] {
        let mut desk = desk();
        let new = address("10.9.9.9:999");
        let mut alice = join(&mut desk, address("10.0.0.2:5000"));
        play(&mut desk, &mut alice, 1_000);
        desk.advance_ms(gone_ms);
        let answer = resume(&mut desk, new, alice.ticket);
        let accepted = answer.as_ref().is_some_and(|bytes| bytes[1] == 0x82);
        assert_eq!(accepted, back, "after {gone_ms} ms: {answer:?}");
        if back {
            assert_eq!(answer.unwrap()[19..23], [0, 0, 0, 1], "the same player");
            assert_eq!(desk.node.rooms()[0].world().dots.len(), 1);
        } else if gone_ms > 40_000 {
            let words = words(&answer.unwrap());
            assert_eq!(words, EndReason::PlaceGivenUp.to_string());
        }
    }
}

#[test]
fn a_rebind_in_mid_game_is_hinted_at_and_resumed_from_the_new_address() {
    let mut desk = desk();
    let mut alice = join(&mut desk, address("10.0.0.2:5000"));
    play(&mut desk, &mut alice, 1_000);
    let (old, new) = (alice.at, address("10.0.0.2:61000"));
    // The next input leaves from another port: the answer is the hint, and nothing moves yet.
    let input = alice.input(8);
    let hint = native(0x89, alice.sequence - 1, &alice.session);
    assert_eq!(desk.receive(new, &input), [(new, hint)]);
    assert_eq!(resume(&mut desk, new, alice.ticket), None, "the old address spoke a moment ago");
    desk.advance_ms(1_000);
    let accept = resume(&mut desk, new, alice.ticket).expect("Accept");
    assert_eq!((accept[1], &accept[17..19]), (0x82, &alice.session[..]), "the same session");
    assert_eq!(accept[19..23], [0, 0, 0, 1], "the same player");
    let sent = desk.advance_ms(500);
    assert!(sent_to(&sent, old).is_empty() && sent_to(&sent, new).len() > 25);
    assert_eq!(desk.node.rooms()[0].world().dots.len(), 1);
}

#[test]
fn a_guessed_ticket_is_refused_in_words() {
    let mut desk = desk();
    let alice = join(&mut desk, address("10.0.0.2:5000"));
    desk.advance_ms(2_000);
    let mut guess = alice.ticket;
    guess[15] ^= 1;
    let answer = resume(&mut desk, address("10.6.6.6:666"), guess).unwrap();
    assert_eq!(words(&answer), EndReason::PlaceGivenUp.to_string());
}

#[test]
fn a_silent_native_client_is_warned_about_dropped_with_a_word_and_given_up() {
    let mut desk = desk();
    let mut alice = join(&mut desk, address("10.0.0.2:5000"));
    let input = alice.input(0);
    desk.receive(alice.at, &input);
    room_events(&mut desk);
    desk.advance_ms(4_990);
    assert_eq!(room_events(&mut desk), []);
    desk.advance_ms(30);
    assert_eq!(room_events(&mut desk), [RoomEvent::Quiet(PlayerId(1))]);
    let sent = desk.advance_ms(5_000);
    assert_eq!(room_events(&mut desk), [RoomEvent::Dropped(PlayerId(1))]);
    let last = sent_to(&sent, alice.at).last().unwrap().to_vec();
    assert_eq!((last[1], last[11]), (0x86, CloseReason::Silent as u8), "Close: silent");
    assert_eq!(desk.advance_ms(1_000), []);
    desk.advance_ms(28_900);
    assert_eq!(room_events(&mut desk), []);
    desk.advance_ms(200);
    assert_eq!(room_events(&mut desk), [RoomEvent::Freed(PlayerId(1))]);
}

#[test]
fn a_join_that_nothing_follows_holds_its_place_for_five_seconds_and_for_no_return() {
    let mut desk = desk();
    let alice = join(&mut desk, address("10.0.0.2:5000"));
    let mut bob = join(&mut desk, address("10.0.0.3:5000"));
    room_events(&mut desk);
    for _ in 0..49 {
        desk.advance_ms(100);
        let input = bob.input(0);
        desk.receive(bob.at, &input);
    }
    assert_eq!(desk.node.endpoint().sessions(), 2);
    desk.advance_ms(200);
    let gone = [RoomEvent::Dropped(PlayerId(1)), RoomEvent::Freed(PlayerId(1))];
    assert_eq!(room_events(&mut desk), gone);
    assert_eq!(desk.node.endpoint().sessions(), 1, "who plays stays");
    let answer = resume(&mut desk, address("10.0.0.2:5000"), alice.ticket).unwrap();
    assert_eq!(words(&answer), EndReason::PlaceGivenUp.to_string());
}

#[test]
fn a_foreign_address_moves_nobody_and_hears_that_the_session_is_not_its_own() {
    let mut desk = desk();
    let foreign = address("10.6.6.6:666");
    let mut alice = join(&mut desk, address("10.0.0.2:5000"));
    play(&mut desk, &mut alice, 500);
    let before = desk.node.rooms()[0].world().clone();
    let input = alice.input(1);
    let sent = desk.receive(foreign, &input);
    let unknown = native(0x89, alice.sequence - 1, &alice.session);
    assert_eq!(sent, [(foreign, unknown.clone())]);
    assert!(unknown.len() <= input.len());
    assert_eq!(desk.node.rooms()[0].world(), &before);
}

#[test]
fn a_replayed_or_far_off_number_is_not_taken() {
    let mut desk = desk();
    let mut alice = join(&mut desk, address("10.0.0.2:5000"));
    let first = alice.input(8);
    desk.receive(alice.at, &first);
    let second = alice.input(0);
    desk.receive(alice.at, &second);
    desk.receive(alice.at, &first);
    let mut far = alice.input(1);
    far[5..9].copy_from_slice(&0x4000_0000_u32.to_be_bytes());
    desk.receive(alice.at, &far);
    let member = desk.node.rooms()[0].members().next().unwrap();
    assert_eq!(member.input.0, 0);
}

/// The feedback of the only snapshot among these.
fn feedback(sent: &[Sent]) -> Option<Feedback> {
    let packets = sent.iter().map(|(_, bytes)| Datagram::decode(bytes).unwrap().packet);
    let snapshots: Vec<_> = packets
        .filter_map(|packet| match packet {
            Packet::DeltaSnapshot(snapshot) => Some(snapshot.feedback),
            _ => None,
        })
        .collect();
    assert_eq!(snapshots.len(), 1);
    snapshots[0]
}

#[test]
fn a_snapshot_says_how_the_inputs_fared() {
    let mut desk = desk();
    let mut alice = join(&mut desk, address("10.0.0.2:5000"));
    assert_eq!(feedback(&desk.advance_ms(20)), None, "no input yet");
    // Tick 5 is due at 83.3 ms, tick 4 at 66.7 ms. One datagram is lost, two swap places.
    let [_lost, overtaken, newest] = [3, 4, 5].map(|tick| alice.input_for(tick, 0));
    desk.receive(alice.at, &newest);
    desk.advance_ms(5);
    desk.receive(alice.at, &overtaken);
    // Ticks 1 and 2 had no input; what is lost is not known yet, and taken to be a twentieth.
    let expected = Feedback { echo: 5, held: 106, early: 41, missing: 0b11, lost: 13 };
    assert_eq!(feedback(&desk.advance_ms(10)), Some(expected), "after 33.3 ms");
    assert_eq!(feedback(&desk.advance_ms(16)), None, "nothing came");
    // Late by a third of a millisecond, behind another that was lost.
    desk.advance_ms(16);
    let [_lost, late] = [3, 4].map(|tick| alice.input_for(tick, 0));
    desk.receive(alice.at, &late);
    let came = feedback(&desk.advance_ms(17)).unwrap();
    assert_eq!((came.echo, came.early, came.missing), (4, -1, 0b11100), "ticks 1 to 3 had none");
}

#[test]
fn the_numbers_of_a_session_wrap() {
    let mut desk = desk();
    let at = address("10.0.0.2:5000");
    let mut alice = join_counting_from(&mut desk, at, u32::MAX - 10);
    play(&mut desk, &mut alice, 2_000);
    assert!(alice.sequence < 100, "it has wrapped");
    let before = desk.node.rooms()[0].world().dots[0].x;
    play(&mut desk, &mut alice, 500);
    assert!(desk.node.rooms()[0].world().dots[0].x > before);
    assert_eq!(desk.node.rooms()[0].members().next().unwrap().loss, Some(0.0));
}

#[test]
fn another_protocol_or_game_version_is_said_so() {
    let mut desk = desk();
    let at = address("10.0.0.2:5000");
    let hello = |protocol: u8, game: &[u8; 4], version: u8| {
        [&[0, protocol], &game[..], &[0, version], &NONCE, &[0; 32]].concat()
    };
    let mut ask = |payload: Vec<u8>| {
        let hello = native(0x01, 7, &payload);
        let answer = desk.receive(at, &hello)[0].1.clone();
        assert!(answer.len() <= hello.len());
        words(&answer)
    };
    assert_eq!(ask(hello(3, b"DOTS", 1)), EndReason::Protocol { server: 2, ours: 2 }.to_string());
    let version = EndReason::GameVersion { server: 1, ours: 1 }.to_string();
    assert_eq!(ask(hello(2, b"DOTS", 2)), version);
    assert_eq!(ask(hello(2, b"CHSS", 1)), EndReason::NoSuchGame.to_string());
    assert_eq!(desk.node.endpoint().counts().other_version, 2);
}

#[test]
fn a_program_of_protocol_1_reads_that_it_is_the_older_one() {
    let mut desk = desk();
    let at = address("10.0.0.2:5000");
    let old = native(0x01, 7, &[&[0, 1], &b"DOTS"[..], &[0, 1], &NONCE, &[0; 32]].concat());
    let answer = desk.receive(at, &old)[0].1.clone();
    // What protocol 1 says of a Reject: its nonce, the reason, and the server's two versions.
    assert_eq!(answer, native(0x88, 7, &[&NONCE[..], &[2, 0, 2, 0, 1]].concat()));
    let read = EndReason::Protocol { server: 2, ours: 1 }.to_string();
    assert_eq!(
        read,
        "The server has version 2 of the network protocol, this program has version 1. Update this \
         program."
    );
    assert_eq!(desk.node.endpoint().counts().other_version, 1, "and the operator can see it");
}

#[test]
fn a_stopped_server_says_goodbye_to_everyone() {
    let mut desk = desk();
    let alice = join(&mut desk, address("10.0.0.2:5000"));
    desk.node.close(CloseReason::Stopping);
    let sent = desk.advance_ms(100);
    let closes = sent_to(&sent, alice.at);
    assert!(closes.iter().any(|bytes| bytes[1] == 0x86 && bytes[11] == 3), "{closes:?}");
    assert_eq!(desk.node.endpoint().sessions(), 0);
}

#[test]
fn words_of_another_dialect_do_not_speak_for_a_native_player() {
    let mut desk = desk();
    let mut alice = join(&mut desk, address("10.0.0.2:5000"));
    play(&mut desk, &mut alice, 500);
    room_events(&mut desk);
    const DISCONNECT: &[u8] = &[0, 0, 16, 1];
    const LAN_INPUT: &[u8] = &[5, 0, 0, 1];
    for words in [DISCONNECT, INPUT, LAN_INPUT] {
        assert_eq!(desk.receive(alice.at, words), []);
    }
    assert_eq!(room_events(&mut desk), []);
    assert_eq!(desk.node.endpoint().counts().stray, 3);
    let member = desk.node.rooms()[0].members().next().unwrap();
    assert!(member.present && member.input.0 == 8);
}

#[test]
fn a_flood_in_a_players_name_takes_nothing_from_the_player() {
    let mut desk = desk();
    let mut alice = join(&mut desk, address("10.0.0.2:5000"));
    for guess in 0..1_000 {
        let ping = [&alice.session[..], &[0; 8]].concat();
        assert_eq!(desk.receive(alice.at, &native(0x04, 0x4000_0000 + guess, &ping)), []);
    }
    assert_eq!(desk.node.endpoint().counts().numbers, 1_000);
    // All that a second holds is still there, and not one more.
    for left in (0..=256).rev() {
        let input = alice.input(8);
        desk.receive(alice.at, &input);
        assert_eq!(desk.node.endpoint().counts().player_limit, u64::from(left == 0));
    }
}

#[test]
fn a_resume_that_is_sent_again_begins_nothing_anew() {
    let mut desk = desk();
    let (old, new) = (address("10.0.0.2:5000"), address("10.0.0.2:6000"));
    let mut alice = join(&mut desk, old);
    let input = alice.input(0);
    desk.receive(old, &input);
    desk.advance_ms(1_000);
    let payload = [&NONCE[..], &cookie(&mut desk, new), &alice.ticket, &[1]].concat();
    let resume = native(0x09, 500, &payload);
    assert_eq!(sent_to(&desk.receive(new, &resume), new)[0][1], 0x82, "Accept");
    (alice.at, alice.sequence) = (new, 501);
    let next = desk.node.rooms()[0].tick() + 1;
    let input = alice.input_for(next, 8);
    desk.receive(new, &input);
    room_events(&mut desk);
    // It is greeted again, for the first Accept may be lost; and what it pressed still counts.
    assert_eq!(sent_to(&desk.receive(new, &resume), new)[0][1], 0x82, "Accept");
    desk.receive(new, &input);
    desk.advance_ms(17);
    assert_eq!(room_events(&mut desk), []);
    let member = desk.node.rooms()[0].members().next().unwrap();
    assert_eq!((member.input.0, member.loss), (8, Some(0.0)));
}

#[test]
fn a_wish_for_a_room_that_was_refused_is_refused_when_it_comes_again() {
    let mut desk = desk();
    let room = desk.node.rooms()[0].number();
    let hosts = ["10.0.0.2:5000", "10.0.0.3:5000", "10.0.0.4:5000", "10.0.0.5:5000"];
    let [mut alice, _, _, mut bob] = hosts.map(|host| join(&mut desk, address(host)));
    let mut wish = |desk: &mut Desk<Server<Dots>>, nonce| {
        let sent = desk.receive(alice.at, &alice.enter(room, nonce));
        let answers = sent_to(&sent, alice.at);
        answers.iter().map(|bytes| bytes[1]).find(|kind| [0x82, 0x88].contains(kind))
    };
    assert_eq!(wish(&mut desk, [1; 8]), Some(0x88), "it is full");
    desk.receive(bob.at, &bob.goodbye());
    assert_eq!(wish(&mut desk, [1; 8]), Some(0x88), "a copy of what was refused");
    assert_eq!(wish(&mut desk, [2; 8]), Some(0x82), "another wish");
}
