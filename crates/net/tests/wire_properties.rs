//! What holds for every packet of every dialect, tried on packets and bytes at random: a packet
//! survives the wire, bytes that decode have one form, and no bytes are of two dialects.

use backspin::game::Refusal;
use backspin::typed::RawInput;
use backspin::wire::native::{self, Datagram, SessionIndex};
use backspin::wire::{Direction, List, Name, RawName, Reader};
use backspin_classic::wire::{ack, lan, rtype};
use backspin_classic::{Dialect, EntityState, Packet};
use proptest::array::uniform16;
use proptest::collection::vec;
use proptest::num::f32::{NEGATIVE, NORMAL, POSITIVE, SUBNORMAL, ZERO};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

fn config() -> ProptestConfig {
    ProptestConfig { failure_persistence: None, ..ProptestConfig::default() }
}

// What must hold.

/// The bytes are valid in `dialect`, in no other, and are seen to be.
fn is_only(dialect: Dialect, bytes: &[u8]) {
    let mut valid = Vec::new();
    valid.extend(lan::Packet::decode(bytes).map(|_| Dialect::Lan));
    valid.extend(rtype::Packet::decode(bytes).map(|_| Dialect::Rtype));
    valid.extend(Datagram::decode(bytes).map(|_| Dialect::Native));
    valid.extend(ack::Datagram::decode(bytes).map(|_| Dialect::Ack));
    assert_eq!(valid, [dialect], "{bytes:02x?}");
    assert_eq!(Dialect::detect(bytes), Some(dialect), "{bytes:02x?}");
    assert_eq!(Packet::decode(bytes).map(|packet| packet.dialect()), Ok(dialect));
}

fn lan_survives(packet: lan::Packet) {
    let mut out = [0; lan::MAX_LEN];
    let len = packet.encode(&mut out).unwrap();
    assert_eq!(lan::Packet::decode(&out[..len]), Ok(packet));
    is_only(Dialect::Lan, &out[..len]);
}

fn rtype_survives(packet: rtype::Packet<'_>) {
    let mut out = [0; 6000];
    let len = packet.encode(&mut out).unwrap();
    assert_eq!(rtype::Packet::decode(&out[..len]), Ok(packet));
    is_only(Dialect::Rtype, &out[..len]);
}

fn message_survives(message: rtype::Message<'_>, behind: &[u8]) {
    let mut out = [0; 600];
    let len = message.encode(&mut out).unwrap();
    assert_eq!(rtype::Message::decode(&out[..len]), Ok(message));
    let stream = [&out[..len], behind].concat();
    assert_eq!(rtype::Message::decode_next(&stream), Ok(Some((message, len))));
    assert_eq!(rtype::Message::decode_next(&stream[..len - 1]), Ok(None));
}

fn native_survives(sequence: u32, packet: native::Packet<'_>) {
    let datagram = Datagram { sequence, packet };
    let mut out = [0; native::MAX_DATAGRAM_LEN];
    let len = datagram.encode(&mut out).unwrap();
    assert_eq!(Datagram::decode(&out[..len]), Ok(datagram));
    // What is read of a datagram before its session opens it is what is in it. A server's names none.
    let label = native::Label::read(&out[..len]);
    let is_clients = packet.direction() == Direction::ToServer;
    let session = packet.session().filter(|_| is_clients);
    assert_eq!(label, session.map(|session| native::Label { session, sequence }));
    is_only(Dialect::Native, &out[..len]);
}

fn ack_survives(sequence: u32, packet: ack::Packet<'_>) {
    let datagram = ack::Datagram { sequence, packet };
    let mut out = [0; native::MAX_DATAGRAM_LEN];
    let len = datagram.encode(&mut out).unwrap();
    assert_eq!(ack::Datagram::decode(&out[..len]), Ok(datagram));
    is_only(Dialect::Ack, &out[..len]);
}

/// Whatever these bytes are in any dialect, they are its only form.
fn have_one_form(bytes: &[u8]) {
    let mut out = vec![0; bytes.len()];
    if let Ok(datagram) = ack::Datagram::decode(bytes) {
        assert_eq!(datagram.encode(&mut out), Ok(bytes.len()));
        assert_eq!(out, bytes);
        is_only(Dialect::Ack, bytes);
    }
    if let Ok(packet) = lan::Packet::decode(bytes) {
        assert_eq!(packet.encode(&mut out), Ok(bytes.len()));
        assert_eq!(out, bytes);
        is_only(Dialect::Lan, bytes);
    }
    if let Ok(packet) = rtype::Packet::decode(bytes) {
        assert_eq!(packet.encode(&mut out), Ok(bytes.len()));
        assert_eq!(out, bytes);
        is_only(Dialect::Rtype, bytes);
    }
    if let Ok(datagram) = Datagram::decode(bytes) {
        assert_eq!(datagram.encode(&mut out), Ok(bytes.len()));
        assert_eq!(out, bytes);
        is_only(Dialect::Native, bytes);
    }
    if let Ok(Some((message, len))) = rtype::Message::decode_next(bytes) {
        assert_eq!(message.encode(&mut out), Ok(len));
        assert_eq!(out[..len], bytes[..len]);
    }
}

// Parts of packets.

fn float() -> impl Strategy<Value = f32> {
    POSITIVE | NEGATIVE | NORMAL | SUBNORMAL | ZERO
}

fn name() -> impl Strategy<Value = Name> {
    let text = vec(any::<char>(), 0..8).prop_map(|text| Name::new(&String::from_iter(text)));
    let bytes = vec(1..=255_u8, 0..=Name::MAX)
        .prop_map(|bytes| Name::decode_raw(&mut Reader::new(&bytes), "name").unwrap());
    prop_oneof![text, bytes]
}

fn raw_name() -> impl Strategy<Value = RawName> {
    vec(1..=255_u8, 0..=RawName::MAX)
        .prop_map(|bytes| RawName::decode(&mut Reader::new(&bytes), "name").unwrap())
}

fn bytes(most: usize) -> impl Strategy<Value = Vec<u8>> {
    vec(any::<u8>(), 0..=most)
}

/// Often of a game that has nothing but buttons.
fn raw_input() -> impl Strategy<Value = RawInput> {
    prop_oneof![any::<u16>().prop_map(RawInput::from), any::<u128>().prop_map(RawInput)]
}

fn session() -> impl Strategy<Value = SessionIndex> {
    any::<SessionIndex>()
}

fn secret() -> impl Strategy<Value = native::Secret> {
    uniform16(any::<u8>()).prop_map(native::Secret)
}

fn budget() -> impl Strategy<Value = native::Budget> {
    (1024..=1200_u16).prop_map(|bytes| native::Budget::new(bytes).unwrap())
}

fn role() -> impl Strategy<Value = native::Role> {
    select(vec![native::Role::Play, native::Role::Watch])
}

fn lives() -> impl Strategy<Value = rtype::Lives> {
    (1..=6_u8).prop_map(|lives| rtype::Lives::new(lives).unwrap())
}

fn difficulty() -> impl Strategy<Value = rtype::Difficulty> {
    use rtype::Difficulty::{Easy, Hard, Normal};
    select(vec![Easy, Normal, Hard])
}

prop_compose! {
    fn entity()(
        id: u32, x in float(), y in float(), vx in float(), vy in float(), rgba: u32,
        kind in select({ use rtype::Kind::*; vec![Player, Enemy, Bullet, PowerUp] }),
    ) -> rtype::Entity {
        rtype::Entity { id, kind, x, y, vx, vy, rgba }
    }
}

prop_compose! {
    fn entity_state()(
        entity_id: u32, entity_type: u16, x in float(), y in float(), vx: i16, vy: i16,
        health: u16, flags: u16, last_ack_sequence: u32,
    ) -> EntityState {
        EntityState {
            entity_id, entity_type, x, y, vx, vy, health, flags, last_ack_sequence,
        }
    }
}

prop_compose! {
    fn roster_entry()(
        player: u32, lives: u8, rtt_ms: u16, name in name(),
        flags in vec(select({
            use native::PlayerFlags as F;
            vec![F::HOST, F::READY, F::BOT, F::ABSENT, F::WATCHES]
        }), 0..6),
    ) -> native::RosterEntry {
        let flags = flags.into_iter().fold(Default::default(), |set, flag| set | flag);
        native::RosterEntry { player, lives, flags, rtt_ms, name }
    }
}

prop_compose! {
    fn room_entry()(
        room: u32, game: u32, players: u8, capacity: u8, name in name(),
        flags in vec(select({
            use native::RoomFlags as F;
            vec![F::LOCKED, F::STARTED, F::LATE_JOIN]
        }), 0..4),
    ) -> native::RoomEntry {
        let flags = flags.into_iter().fold(Default::default(), |set, flag| set | flag);
        native::RoomEntry { room, game, players, capacity, flags, name }
    }
}

/// What one side has to say.
#[derive(Clone, Debug)]
struct Written {
    acknowledged: u16,
    held: Vec<u16>,
    first: u16,
    /// How many numbers are left out before each message, its kind, and its bytes.
    reliable: Vec<(u16, native::MessageKind, Vec<u8>)>,
    unreliable: Vec<Vec<u8>>,
}

impl Written {
    /// As much as `room` has place for.
    fn block<'a>(&self, room: &'a mut [u8]) -> native::MessageBlock<'a> {
        let mut w = native::BlockWriter::new(room);
        w.selective(self.held.iter().copied());
        for message in self.messages() {
            if !w.reliable(message.number, message.kind, [message.bytes, &[]]) {
                break;
            }
        }
        let _ = self.unreliable.iter().all(|message| w.unreliable(message));
        w.finish(self.acknowledged)
    }

    fn messages(&self) -> impl Iterator<Item = native::Message<'_>> {
        let mut next = self.first;
        self.reliable.iter().enumerate().map(move |(at, (skipped, kind, bytes))| {
            next = next.wrapping_add(if at == 0 { 0 } else { *skipped });
            let number = next;
            next = next.wrapping_add(1);
            native::Message { number, kind: *kind, bytes }
        })
    }
}

prop_compose! {
    /// Mostly few and short; at times more than fit.
    fn written()(
        acknowledged: u16, first: u16,
        held in proptest::collection::btree_set(0..512_u16, 0..20),
        reliable in prop_oneof![3 => vec(message(12), 0..6), 1 => vec(message(900), 0..4)],
        unreliable in prop_oneof![3 => vec(bytes(12), 0..6), 1 => vec(bytes(900), 0..3)],
    ) -> Written {
        Written { acknowledged, held: held.into_iter().collect(), first, reliable, unreliable }
    }
}

prop_compose! {
    /// What a client may send, too.
    fn message(max_len: usize)(
        skipped in prop_oneof![3 => Just(0), 1 => 1..=255_u16],
        kind in prop_oneof![Just(native::MessageKind::Game), Just(native::MessageKind::Chat)],
        bytes in bytes(max_len),
    ) -> (u16, native::MessageKind, Vec<u8>) {
        (skipped, kind, bytes)
    }
}

mod a_packet_survives_the_wire {
    use super::*;

    proptest! {
        #![proptest_config(config())]

        #[test]
        fn lan_find_host_and_hello_ack(ack: bool) {
            lan_survives(match ack {
                true => lan::Packet::HelloAck(lan::HelloAck),
                false => lan::Packet::FindHost(lan::FindHost),
            });
        }

        #[test]
        fn lan_host_here(port: u16, upgrade in option::of((any::<u16>(), any::<u8>()))) {
            let upgrade = upgrade.map(|(native_port, flags)| lan::Upgrade { native_port, flags });
            lan_survives(lan::Packet::HostHere(lan::HostHere { port, upgrade }));
        }

        #[test]
        fn lan_hello(port: u16) {
            lan_survives(lan::Packet::Hello(lan::Hello { port }));
        }

        #[test]
        fn lan_guest_input(
            tick: u16,
            y in select(vec![lan::Steer::Up, lan::Steer::Still, lan::Steer::Down]),
        ) {
            lan_survives(lan::Packet::GuestInput(lan::GuestInput { tick, y }));
        }

        #[test]
        fn lan_state_update(
            seq: u32, p1y in float(), p2y in float(), ballx in float(), bally in float(),
            ballvx in float(), ballvy in float(), p1: u8, p2: u8,
        ) {
            let state = lan::StateUpdate { seq, p1y, p2y, ballx, bally, ballvx, ballvy, p1, p2 };
            lan_survives(lan::Packet::StateUpdate(state));
        }

        #[test]
        fn rtype_hello(token: Option<u32>, name in name(), raw in raw_name()) {
            rtype_survives(rtype::Packet::Hello(rtype::Hello { token, name: token.map_or(raw, |_| name.into()) }));
        }

        #[test]
        fn rtype_bare_headers(packet in select(vec![
            rtype::Packet::HelloAck(rtype::HelloAck),
            rtype::Packet::StartMatch(rtype::StartMatch),
            rtype::Packet::Disconnect(rtype::Disconnect),
            rtype::Packet::ReturnToMenu(rtype::ReturnToMenu),
        ])) {
            rtype_survives(packet);
        }

        #[test]
        fn rtype_input(sequence: u32, bits in 0..64_u8) {
            let bits = rtype::Buttons::from_bits(bits).unwrap();
            rtype_survives(rtype::Packet::Input(rtype::Input { sequence, bits }));
        }

        #[test]
        fn rtype_state(entities in vec(entity(), 0..60)) {
            rtype_survives(rtype::Packet::State(rtype::State { entities: List::new(&entities) }));
        }

        #[test]
        fn rtype_spawn(entity in entity()) {
            rtype_survives(rtype::Packet::Spawn(rtype::Spawn { entity }));
        }

        #[test]
        fn rtype_despawn(id: u32) {
            rtype_survives(rtype::Packet::Despawn(rtype::Despawn { id }));
        }

        #[test]
        fn rtype_ping_and_pong(sequence: u32, timestamp: u32) {
            let ping = rtype::Ping { sequence, timestamp };
            rtype_survives(rtype::Packet::Ping(ping));
            rtype_survives(rtype::Packet::Pong(ping.pong()));
        }

        #[test]
        fn rtype_roster(players in vec((any::<u32>(), any::<u8>(), name()), 0..20)) {
            let entry = |(id, lives, name)| rtype::RosterEntry { id, lives, name };
            let players: Vec<_> = players.into_iter().map(entry).collect();
            rtype_survives(rtype::Packet::Roster(rtype::Roster { players: List::new(&players) }));
        }

        #[test]
        fn rtype_lives_and_score(id: u32, lives: u8, score: i32) {
            rtype_survives(rtype::Packet::LivesUpdate(rtype::LivesUpdate { id, lives }));
            rtype_survives(rtype::Packet::ScoreUpdate(rtype::ScoreUpdate { id, score }));
        }

        #[test]
        fn rtype_lobby(
            host: u32, base_lives in lives(), difficulty in difficulty(), started: bool, reserved: u8,
        ) {
            let status = rtype::LobbyStatus { host, base_lives, difficulty, started, reserved };
            rtype_survives(rtype::Packet::LobbyStatus(status));
            rtype_survives(rtype::Packet::LobbyConfig(rtype::LobbyConfig { base_lives, difficulty }));
        }

        #[test]
        fn rtype_game_over(
            reason in select({ use rtype::GameOverReason::*; vec![AllDead, HostLeft, Victory] }),
        ) {
            rtype_survives(rtype::Packet::GameOver(rtype::GameOver { reason }));
        }

        #[test]
        fn rtype_stream_names_and_places(
            name in raw_name(), udp_port: u16, token: u32, behind in bytes(20),
        ) {
            message_survives(rtype::Message::Hello(rtype::TcpHello { name }), &behind);
            let ack = rtype::TcpHelloAck { udp_port, token };
            message_survives(rtype::Message::HelloAck(ack), &behind);
        }

        #[test]
        fn rtype_stream_tails(tail in bytes(500), six: Option<[u8; 6]>, behind in bytes(20)) {
            message_survives(rtype::Message::StartGame(rtype::StartGame { tail: &tail }), &behind);
            let tail = six.as_ref().map_or(&[][..], |six| six);
            message_survives(rtype::Message::TcpWelcome(rtype::TcpWelcome { tail }), &behind);
        }

        #[test]
        fn native_hello_and_discover(
            sequence: u32, protocol: u16, game: u32, game_version: u16, nonce: u64,
        ) {
            let hello = native::Hello { protocol, game, game_version, nonce };
            native_survives(sequence, native::Packet::Hello(hello));
            native_survives(sequence, native::Packet::Discover(native::Discover { nonce, game }));
        }

        #[test]
        fn native_challenge_and_resume(
            sequence: u32, nonce: u64, cookie in secret(), ticket in secret(), token_required: bool,
        ) {
            let challenge = native::Challenge { nonce, cookie, token_required };
            native_survives(sequence, native::Packet::Challenge(challenge));
            let resume = native::Resume { nonce, cookie, ticket, fresh: token_required };
            native_survives(sequence, native::Packet::Resume(resume));
        }

        #[test]
        fn native_join(
            (sequence, nonce, room) in any::<(u32, u64, u32)>(), cookie in secret(),
            (protocol, game, game_version) in any::<(u16, u32, u16)>(),
            budget in budget(), role in role(), name in name(), password in name(),
            token in bytes(native::Token::MAX), layout: u32, data in bytes(native::JoinData::MAX),
        ) {
            let data = native::JoinData::new(&data).unwrap();
            let token = native::Token::new(&token).unwrap();
            native_survives(sequence, native::Packet::Join(native::Join {
                nonce, cookie, protocol, game, game_version, layout, budget, role, room, name, password,
                data, token,
            }));
        }

        #[test]
        fn native_create_room(
            (sequence, nonce) in any::<(u32, u64)>(), cookie in secret(),
            (protocol, game, game_version) in any::<(u16, u32, u16)>(),
            budget in budget(), name in name(), room_name in name(), password in name(),
            token in bytes(native::Token::MAX), layout: u32, data in bytes(native::JoinData::MAX),
        ) {
            let data = native::JoinData::new(&data).unwrap();
            let token = native::Token::new(&token).unwrap();
            native_survives(sequence, native::Packet::CreateRoom(native::CreateRoom {
                nonce, cookie, protocol, game, game_version, layout, budget, name, room_name, password,
                data, token,
            }));
        }

        #[test]
        fn native_accept(
            sequence: u32, nonce: u64, session in session(),
            (player, room, tick) in any::<(u32, u32, u32)>(), tick_rate in 1..=255_u8,
            budget in budget(), role in role(), ticket in secret(),
        ) {
            native_survives(sequence, native::Packet::Accept(native::Accept {
                nonce, session, player, room, tick, tick_rate, budget, role, ticket,
            }));
        }

        #[test]
        fn native_reject(
            sequence: u32, nonce: u64, protocol: u16, game_version: u16,
            reason in select({
                use native::RejectReason::*;
                vec![
                    Full, Protocol, GameVersion, Game, Banned, Token, Room, Password, Ticket, Address,
                    Stopping, Layout, Refused,
                ]
            }),
            sentence in "\\PC{0,40}",
        ) {
            let sentence = Refusal::new(&sentence);
            let reject = native::Reject { nonce, reason, protocol, game_version, sentence };
            native_survives(sequence, native::Packet::Reject(reject));
        }

        #[test]
        fn native_here(
            sequence: u32, nonce: u64, game: u32, game_version: u16, protocol: u16, players: u16,
            capacity: u16, token_required: bool, rooms: u16, name in name(),
        ) {
            native_survives(sequence, native::Packet::Here(native::Here {
                nonce, game, game_version, protocol, players, capacity, token_required, rooms, name,
            }));
        }

        #[test]
        fn native_pings_and_pongs(
            sequence: u32, session in option::of(session()), id: u32, timestamp: u32,
        ) {
            let ping = native::Ping { session, id, timestamp };
            native_survives(sequence, native::Packet::Ping(ping));
            native_survives(sequence, native::Packet::Pong(ping.pong()));
            let ping = native::ServerPing { id, timestamp };
            native_survives(sequence, native::Packet::ServerPing(ping));
            let pong = ping.pong(session.unwrap_or(SessionIndex::MIN));
            native_survives(sequence, native::Packet::ClientPong(pong));
        }

        #[test]
        fn native_ends_of_a_session(
            sequence: u32, session in session(),
            reason in select({
                use native::CloseReason::*;
                vec![Left, Silent, Stopping, Kicked, Violation, RoomClosed]
            }),
        ) {
            native_survives(sequence, native::Packet::Goodbye(native::Goodbye { session }));
            native_survives(sequence, native::Packet::Close(native::Close { session, reason }));
            let unknown = native::UnknownSession { session };
            native_survives(sequence, native::Packet::UnknownSession(unknown));
        }

        #[test]
        fn native_rooms(
            sequence: u32, nonce: u64, cookie in secret(), game: u32, first: u16, total: u16,
            rooms in vec(room_entry(), 0..44),
        ) {
            let list = native::ListRooms { nonce, cookie, game, first };
            native_survives(sequence, native::Packet::ListRooms(list));
            let page = native::RoomList { nonce, total, first, rooms: List::new(&rooms) };
            native_survives(sequence, native::Packet::RoomList(page));
        }

        #[test]
        fn native_matching(
            sequence: u32, nonce: u64, pass in secret(), cookie in secret(), seal in secret(),
            stamp: u64, server: u64, round_trip in 1..=u32::MAX, waiting: u16, ip: u128,
            port in 1..=u16::MAX, room_name in name(), password in name(), seat in 0..255_u8,
            reports in vec((0..16_u8, 1..=u32::MAX, secret()), 0..=16),
        ) {
            use native::Packet as P;
            native_survives(sequence, P::Probe(native::Probe { pass, stamp, cookie }));
            let probed = native::Probed { pass, server, stamp, cookie, round_trip, seal };
            native_survives(sequence, P::Probed(probed));
            let report = |&(index, round_trip, seal): &(u8, u32, native::Secret)| {
                native::RoundTripReport { index, round_trip, seal }
            };
            let reports: Vec<_> = reports.iter().map(report).collect();
            let (protocol, game, game_version) = (1, 2, 3);
            let reports_list = List::new(&reports);
            let seek = native::Seek {
                nonce, cookie, protocol, game, game_version, reports: reports_list,
            };
            native_survives(sequence, P::Seek(seek));
            let ip = std::net::Ipv6Addr::from(ip);
            let server = native::ServerAddress::new((ip, port).into()).unwrap();
            let servers = vec![server; reports.len()];
            let waiting = native::Waiting { nonce, pass, waiting, servers: List::new(&servers) };
            native_survives(sequence, P::Waiting(waiting));
            let (players, worst) = (seat + 1, round_trip);
            let matched = native::Matched {
                nonce, server, room_name, password, seat, players, worst,
            };
            native_survives(sequence, P::Matched(matched));
        }

        #[test]
        fn native_enter_room(
            sequence: u32, session in session(), nonce: u64, room: u32, role in role(),
            password in name(),
        ) {
            let enter = native::EnterRoom { session, nonce, room, role, password };
            native_survives(sequence, native::Packet::EnterRoom(enter));
        }

        #[test]
        fn native_input(
            sequence: u32, session in session(), tick in 1..=u32::MAX, input_flags in raw_input(),
            snapshot: Option<(u8, u8)>,
            drawn_back: Option<u16>, acks: Option<(u16, u64)>,
            runs in vec((raw_input(), 1..20_usize), 0..20), messages in option::of(written()),
        ) {
            let snapshot = snapshot.map(|(back, held)| native::SnapshotEcho { back, held });
            let mut message_room = [0; 800];
            let messages = messages.as_ref().map(|messages| messages.block(&mut message_room));
            let older: Vec<RawInput> =
                runs.iter().flat_map(|&(flags, ticks)| std::iter::repeat_n(flags, ticks)).collect();
            let mut room = [0; native::History::MAX_LEN];
            let history = native::History::new(input_flags, older.iter().copied(), &mut room);
            // Wide inputs that all differ may have no room; the newest eleven always have.
            let kept = &older[..history.iter().len()];
            assert_eq!(history.iter().collect::<Vec<_>>(), kept);
            assert!(kept.len() >= older.len().min(11));
            let acks = acks.map(|(newest, mask)| native::Acks { newest, mask });
            let newest = native::InputRecord { sequence: tick, input_flags };
            native_survives(sequence, native::Packet::Input(native::Input {
                session, newest, snapshot, drawn_back, acks, messages, history,
            }));
        }

        #[test]
        fn native_snapshot_ack(
            sequence: u32, session in session(), server_tick: u32, held: u8,
            acks: Option<(u16, u64)>, messages in option::of(written()),
        ) {
            let mut room = [0; 1100];
            let messages = messages.as_ref().map(|messages| messages.block(&mut room));
            let acks = acks.map(|(newest, mask)| native::Acks { newest, mask });
            let ack = native::SnapshotAck { session, server_tick, held, acks, messages };
            native_survives(sequence, native::Packet::SnapshotAck(ack));
        }

        #[test]
        fn native_messages(
            sequence: u32, session in session(), written in written(), room_len in 0..=1100_usize,
        ) {
            let mut room = vec![0; room_len];
            let block = written.block(&mut room);
            let expected: Vec<_> = written.messages().collect();
            let fitting = block.reliable;
            assert_eq!(fitting.iter().collect::<Vec<_>>(), expected[..fitting.len()]);
            assert!(block.selective.iter().zip(&written.held).all(|(came, held)| came == *held));
            let to_server = native::ClientMessages { session, block };
            native_survives(sequence, native::Packet::ClientMessages(to_server));
            let to_client = native::ServerMessages { block };
            native_survives(sequence, native::Packet::ServerMessages(to_client));
        }

        #[test]
        fn ack_handshake(
            sequence: u32, cookie in secret(), game: u32, name in name(), token in bytes(64),
            player_id: u32, entity_id: u32, server_tick: u32, tick_rate in 1..=255_u8,
        ) {
            ack_survives(sequence, ack::Packet::Hello(ack::Hello {}));
            ack_survives(sequence, ack::Packet::Challenge(ack::Challenge { cookie }));
            let token = native::Token::new(&token).unwrap();
            ack_survives(sequence, ack::Packet::Join(ack::Join { cookie, game, name, token }));
            let welcome = ack::Welcome { player_id, entity_id, server_tick, tick_rate };
            ack_survives(sequence, ack::Packet::Welcome(welcome));
        }

        #[test]
        fn ack_ping_and_ends(sequence: u32, id: u32, timestamp: u32, reason: u8, sentence in raw_name()) {
            let ping = ack::Ping { id, timestamp };
            ack_survives(sequence, ack::Packet::Ping(ping));
            ack_survives(sequence, ack::Packet::Pong(ping.pong()));
            ack_survives(sequence, ack::Packet::Leave(ack::Leave {}));
            ack_survives(sequence, ack::Packet::Refused(ack::Refused { reason, sentence }));
            ack_survives(sequence, ack::Packet::Bye(ack::Bye { reason, sentence }));
        }

        #[test]
        fn ack_client_input(
            sequence: u32, sequence_number in 1..=u32::MAX, bits in 0..64_u8, timestamp: u32,
            delta_time in float(),
        ) {
            let input_flags = rtype::Buttons::from_bits(bits).unwrap();
            let input = ack::ClientInput { sequence_number, input_flags, timestamp, delta_time };
            ack_survives(sequence, ack::Packet::ClientInput(input));
        }

        #[test]
        fn ack_snapshot(
            sequence: u32, server_tick: u32, more: bool, entities in vec(entity_state(), 0..46),
        ) {
            let entities = List::new(&entities);
            let snapshot = ack::Snapshot { server_tick, more, entities };
            ack_survives(sequence, ack::Packet::Snapshot(snapshot));
        }

        #[test]
        fn native_roster(
            sequence: u32, revision: u16, players in vec(roster_entry(), 0..50),
            before in 0..400_u16, after in 0..400_u16,
        ) {
            let players = List::new(&players);
            // Only a roster of nobody has a part with nobody.
            let first = if players.is_empty() { 0 } else { before };
            let behind = if players.is_empty() { 0 } else { after };
            let total = first + players.len() as u16 + behind;
            let roster = native::Roster { revision, total, first, players };
            native_survives(sequence, native::Packet::Roster(roster));
        }

        #[test]
        fn native_delta_snapshot(
            sequence: u32, tick: u16, baseline_back in 0..=native::MAX_BASELINE_BACK,
            feedback: Option<(u8, u8, i8, u8, u8)>, messages in option::of(written()),
            body in bytes(550),
        ) {
            let feedback = feedback.map(|(echo, held, early, missing, lost)| {
                native::Feedback { echo, held, early, missing, lost }
            });
            let mut room = [0; 600];
            let messages = messages.as_ref().map(|messages| messages.block(&mut room));
            native_survives(sequence, native::Packet::DeltaSnapshot(native::DeltaSnapshot {
                tick, baseline_back, feedback, messages, body: &body,
            }));
            native_survives(sequence, native::Packet::ViewSnapshot(native::ViewSnapshot {
                tick,
                epoch: baseline_back,
                is_first: sequence % 2 == 0,
                feedback,
                messages,
                body: &body,
            }));
        }
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn a_tick_is_found_by_its_low_half_from_anywhere_near(near: u32, distance: i16) {
        let tick = near.wrapping_add_signed(distance.into());
        assert_eq!(native::nearest_tick(tick as u16, near), tick);
    }

    #[test]
    fn any_bytes_have_one_form(bytes in bytes(64)) {
        have_one_form(&bytes);
    }

    #[test]
    fn any_payload_behind_an_rtype_header_has_one_form(
        kind in prop_oneof![0..=18_u8, 100..=101_u8], payload in small_bytes(80),
    ) {
        let size = (payload.len() as u16).to_le_bytes();
        have_one_form(&[&[size[0], size[1], kind, 1], payload.as_slice()].concat());
    }

    #[test]
    fn any_payload_behind_a_native_header_has_one_form(
        kind in prop_oneof![0..=0x14_u8, 0x81..=0x90_u8, 0xA0..=0xA4_u8], flags in 0..=1_u8,
        payload in small_bytes(80),
    ) {
        let [high, low] = (payload.len() as u16).to_be_bytes();
        let header = [1, kind, flags, high, low, 0, 0, 0, 1];
        have_one_form(&[&header, payload.as_slice()].concat());
    }

    #[test]
    fn any_payload_behind_an_ack_header_has_one_form(
        kind in prop_oneof![Just(0x10_u8), 0x20..=0x23_u8, Just(0xA0_u8), 0xB0..=0xB4_u8],
        flags in select(vec![0_u8, 0, 0, 4]), payload in small_bytes(80),
    ) {
        let [high, low] = (payload.len() as u16).to_be_bytes();
        have_one_form(&[&[1, kind, flags, high, low, 0, 0, 0, 1], payload.as_slice()].concat());
    }

    #[test]
    fn any_lan_type_and_length_has_one_form(kind in 0..=7_u8, payload in small_bytes(30)) {
        have_one_form(&[&[kind], payload.as_slice()].concat());
    }
}

/// Bytes of which many are counts, flags and kinds that exist.
fn small_bytes(most: usize) -> impl Strategy<Value = Vec<u8>> {
    vec(prop_oneof![3 => Just(0_u8), 2 => 1..5_u8, 1 => any::<u8>()], 0..=most)
}

/// The headers of rtype and native or ack overlap only where rtype's size begins with native's version
/// and native's length begins with rtype's version. No size that a type can have is among them.
#[test]
fn no_header_is_both_rtype_and_native_or_ack() {
    let mut rtype_headers = 0;
    for high in 0..=255 {
        let size = u16::from_le_bytes([1, high]);
        let mut bytes = vec![0; rtype::HEADER_LEN + usize::from(size)];
        bytes[..4].copy_from_slice(&[1, high, 0, 1]);
        for kind in 0..=255 {
            bytes[2] = kind;
            if !rtype::Packet::has_shape(&bytes) {
                continue;
            }
            rtype_headers += 1;
            for low in 0..=255 {
                bytes[4] = low;
                assert!(!native::has_shape(&bytes), "{:02x?}", &bytes[..5]);
                assert!(!ack::Datagram::has_shape(&bytes), "{:02x?}", &bytes[..5]);
                assert_eq!(Dialect::detect(&bytes), Some(Dialect::Rtype));
            }
        }
    }
    assert!(rtype_headers > 0, "some packets do begin with native's version");
}
