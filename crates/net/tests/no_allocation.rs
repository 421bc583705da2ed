//! Nothing is allocated between the bytes and the packet, in either direction: proved by an
//! allocator that counts.

mod counting;

use std::hint::black_box;

use backspin::channel::{Inbox, InputQueue, Newest, Outbox, Pending, Timeline};
use backspin::replication::fragments::{Assembly, FragmentCache};
use backspin::replication::{Entity, Field, History as States, Kind, Motion, Schema, State, Step};
use backspin::time::Time;
use backspin::wire::native::{self, Datagram, Scratch};
use backspin::wire::{List, Name};
use backspin_classic::wire::{lan, rtype};
use backspin_classic::{Dialect, Packet};

/// How often `work` allocates.
fn allocations<T>(work: impl FnOnce() -> T) -> usize {
    let before = counting::allocations();
    black_box(work());
    counting::allocations() - before
}

const NAME: &str = "fifteen bytes..";

fn entities() -> [rtype::Entity; 55] {
    let kind = rtype::Kind::Enemy;
    [rtype::Entity { id: 1, kind, x: 1.0, y: 2.0, vx: 3.0, vy: 4.0, rgba: 5 }; 55]
}

fn entity_states() -> [native::EntityState; 100] {
    [native::EntityState {
        entity_id: 1,
        entity_type: 2,
        x: 3.0,
        y: 4.0,
        vx: 5,
        vy: 6,
        health: 7,
        flags: 8,
        last_ack_sequence: 9,
    }; 100]
}

#[test]
fn the_counter_counts() {
    assert_eq!(allocations(|| Box::new(7)), 1);
    assert_eq!(allocations(|| 7), 0);
}

#[test]
fn lan_allocates_nothing() {
    let state = lan::StateUpdate {
        seq: 1,
        p1y: 390.0,
        p2y: 390.0,
        ballx: 710.0,
        bally: 440.0,
        ballvx: -400.0,
        ballvy: -250.0,
        p1: 0,
        p2: 0,
    };
    let upgrade = Some(lan::Upgrade { native_port: 4300, flags: 0 });
    let packets = [
        lan::Packet::FindHost(lan::FindHost),
        lan::Packet::HostHere(lan::HostHere { port: 54000, upgrade }),
        lan::Packet::Hello(lan::Hello { port: 54001 }),
        lan::Packet::HelloAck(lan::HelloAck),
        lan::Packet::GuestInput(lan::GuestInput { tick: 0, y: lan::Steer::Up }),
        lan::Packet::StateUpdate(state),
    ];
    let mut out = [0; lan::MAX_LEN];
    for packet in packets {
        let mut len = 0;
        assert_eq!(allocations(|| len = packet.encode(&mut out).unwrap()), 0, "{packet:?}");
        assert_eq!(allocations(|| lan::Packet::decode(&out[..len]).unwrap()), 0, "{packet:?}");
    }
}

#[test]
fn rtype_allocates_nothing() {
    let (entities, name) = (entities(), Name::new(NAME));
    let players = [rtype::RosterEntry { id: 1, lives: 3, name }; 4];
    let (base_lives, difficulty) = (rtype::Lives::new(3).unwrap(), rtype::Difficulty::Hard);
    let ping = rtype::Ping { sequence: 1, timestamp: 2 };
    let packets = [
        rtype::Packet::Hello(rtype::Hello { token: Some(1), name: name.into() }),
        rtype::Packet::Hello(rtype::Hello { token: None, name: name.into() }),
        rtype::Packet::HelloAck(rtype::HelloAck),
        rtype::Packet::Input(rtype::Input { sequence: 1, bits: rtype::Buttons::UP }),
        rtype::Packet::State(rtype::State { entities: List::new(&entities) }),
        rtype::Packet::Spawn(rtype::Spawn { entity: entities[0] }),
        rtype::Packet::Despawn(rtype::Despawn { id: 1 }),
        rtype::Packet::Ping(ping),
        rtype::Packet::Pong(ping.pong()),
        rtype::Packet::Roster(rtype::Roster { players: List::new(&players) }),
        rtype::Packet::LivesUpdate(rtype::LivesUpdate { id: 1, lives: 2 }),
        rtype::Packet::ScoreUpdate(rtype::ScoreUpdate { id: 1, score: 2 }),
        rtype::Packet::LobbyStatus(rtype::LobbyStatus {
            host: 1,
            base_lives,
            difficulty,
            started: false,
            reserved: 0,
        }),
        rtype::Packet::LobbyConfig(rtype::LobbyConfig { base_lives, difficulty }),
        rtype::Packet::StartMatch(rtype::StartMatch),
        rtype::Packet::GameOver(rtype::GameOver { reason: rtype::GameOverReason::Victory }),
        rtype::Packet::Disconnect(rtype::Disconnect),
        rtype::Packet::ReturnToMenu(rtype::ReturnToMenu),
    ];
    let mut out = [0; rtype::MAX_DATAGRAM_LEN];
    for packet in packets {
        let mut len = 0;
        assert_eq!(allocations(|| len = packet.encode(&mut out).unwrap()), 0, "{packet:?}");
        let decode = || match rtype::Packet::decode(&out[..len]).unwrap() {
            rtype::Packet::State(state) => state.entities.iter().count(),
            rtype::Packet::Roster(roster) => roster.players.iter().count(),
            _ => 0,
        };
        assert_eq!(allocations(decode), 0, "{packet:?}");
    }
}

#[test]
fn the_rtype_stream_allocates_nothing() {
    let messages = [
        rtype::Message::TcpWelcome(rtype::TcpWelcome { tail: &[1, 2, 3, 4, 5, 6] }),
        rtype::Message::Hello(rtype::TcpHello { name: Name::new(NAME).into() }),
        rtype::Message::HelloAck(rtype::TcpHelloAck { udp_port: 4242, token: 1 }),
        rtype::Message::StartGame(rtype::StartGame { tail: &[1; 100] }),
    ];
    let mut out = [0; 200];
    for message in messages {
        let mut len = 0;
        assert_eq!(allocations(|| len = message.encode(&mut out).unwrap()), 0, "{message:?}");
        assert_eq!(allocations(|| rtype::Message::decode_next(&out)), 0, "{message:?}");
        assert_eq!(allocations(|| rtype::Message::decode(&out[..len])), 0, "{message:?}");
    }
}

/// One packet of every type, and of both sides of every option.
fn each_native_packet(mut visit: impl FnMut(native::Packet<'_>)) {
    use native::Packet as P;
    let session = native::SessionIndex::MIN;
    let (nonce, cookie, ticket) = (1, native::Secret([2; 16]), native::Secret([3; 16]));
    let (name, password) = (Name::new(NAME), Name::new(""));
    let (protocol, game, game_version) = (1, 2, 3);
    let (budget, role, room) = (native::Budget::MAX, native::Role::Play, 4);
    let token = native::Token::new(&[5; 64]).unwrap();
    let token_required = true;
    visit(P::Hello(native::Hello { protocol, game, game_version, nonce }));
    visit(P::Join(native::Join {
        nonce,
        cookie,
        protocol,
        game,
        game_version,
        budget,
        role,
        room,
        name,
        password,
        token,
    }));
    visit(P::Discover(native::Discover { nonce, game }));
    let ping = native::Ping { session: None, id: 1, timestamp: 2 };
    let server_ping = native::ServerPing { id: 1, timestamp: 2 };
    visit(P::Ping(ping));
    visit(P::ClientPong(server_ping.pong(session)));
    visit(P::Goodbye(native::Goodbye { session }));
    visit(P::ListRooms(native::ListRooms { nonce, cookie, game, first: 0 }));
    visit(P::EnterRoom(native::EnterRoom { session, nonce, room, role, password }));
    visit(P::Resume(native::Resume { nonce, cookie, ticket, fresh: false }));
    visit(P::CreateRoom(native::CreateRoom {
        nonce,
        cookie,
        protocol,
        game,
        game_version,
        budget,
        name,
        room_name: name,
        password,
        token,
    }));
    let probe = native::Probe { pass: cookie, stamp: 1, cookie };
    visit(P::Probe(probe));
    let report = native::RoundTripReport { index: 1, round_trip: 35_000, seal: ticket };
    let reports = [report; native::MATCH_SERVERS_MAX];
    let reports = List::new(&reports);
    visit(P::Seek(native::Seek { nonce, cookie, protocol, game, game_version, reports }));

    let newest =
        native::InputRecord { sequence: 100, input_flags: 1, timestamp: 2, delta_time: 0.5 };
    let mut runs = [0; native::History::MAX_LEN];
    let history = native::History::new(1, (0..63).map(|i| i % 3), &mut runs);
    let snapshot = Some(native::SnapshotEcho { back: 3, held: 4 });
    let drawn_back = Some(700);
    let mut body = [0; 1000];
    let events = native::Events::new(7, [&[1; 255][..], &[], &[2; 100]], &mut body);
    let block = native::EventBlock { acknowledged: 1, events };
    for events in [None, Some(block)] {
        visit(P::Input(native::Input { session, newest, snapshot, drawn_back, events, history }));
    }
    visit(P::ClientEvents(native::ClientEvents { session, block }));
    for events in [None, Some(block)] {
        let (server_tick, held) = (1, 2);
        visit(P::SnapshotAck(native::SnapshotAck { session, server_tick, held, events }));
    }

    visit(P::Challenge(native::Challenge { nonce, cookie, token_required }));
    visit(P::Accept(native::Accept {
        nonce,
        session,
        player: 1,
        room,
        tick: 2,
        tick_rate: 60,
        budget,
        role,
        ticket,
    }));
    visit(P::Here(native::Here {
        nonce,
        game,
        game_version,
        protocol,
        players: 1,
        capacity: 2,
        token_required,
        rooms: 3,
        name,
    }));
    visit(P::ServerPing(server_ping));
    visit(P::Pong(ping.pong()));
    visit(P::Close(native::Close { session, reason: native::CloseReason::Kicked }));
    let entry = native::RoomEntry {
        room,
        game,
        players: 1,
        capacity: 2,
        flags: native::RoomFlags::LOCKED,
        name,
    };
    let rooms = [entry; 40];
    visit(P::RoomList(native::RoomList { nonce, total: 40, first: 0, rooms: List::new(&rooms) }));
    let reason = native::RejectReason::Stopping;
    visit(P::Reject(native::Reject { nonce, reason, protocol, game_version }));
    visit(P::UnknownSession(native::UnknownSession { session }));
    let (pass, seal, round_trip) = (cookie, ticket, 35_000);
    visit(P::Probed(native::Probed { pass, server: 1, stamp: 2, cookie, round_trip, seal }));
    let server = native::ServerAddress::new("192.0.2.1:4300".parse().unwrap()).unwrap();
    let servers = [server; native::MATCH_SERVERS_MAX];
    let servers = List::new(&servers);
    visit(P::Waiting(native::Waiting { nonce, pass, waiting: 3, servers }));
    let (room_name, seat, players) = (name, 0, 4);
    let worst = round_trip;
    visit(P::Matched(native::Matched { nonce, server, room_name, password, seat, players, worst }));
    let entry = native::RosterEntry {
        player: 1,
        lives: 2,
        flags: native::PlayerFlags::HOST,
        rtt_ms: 3,
        name,
    };
    let players = [entry; 40];
    visit(P::Roster(native::Roster { revision: 1, players: List::new(&players) }));
    let entities = entity_states();
    for count in [40, 100] {
        let entities = List::new(&entities[..count]);
        visit(P::Snapshot(native::Snapshot { server_tick: 1, entities }));
    }
    let feedback = native::Feedback { echo: 1, held: 2, early: -3, missing: 4, lost: 5 };
    visit(P::DeltaSnapshot(native::DeltaSnapshot {
        tick: 1,
        baseline_back: 2,
        feedback: Some(feedback),
        part: native::Part::WHOLE,
        events: None,
        body: &[0; 1000],
    }));
    visit(P::DeltaSnapshot(native::DeltaSnapshot {
        tick: 1,
        baseline_back: 0,
        feedback: None,
        part: native::Part::new(1, 2).unwrap(),
        events: Some(block),
        body: &[0; 500],
    }));
    visit(P::ServerEvents(native::ServerEvents { block }));
}

/// Walks what a packet borrows.
fn walk(packet: native::Packet<'_>) -> usize {
    match packet {
        native::Packet::Input(input) => input.history.iter().count() + walk_events(input.events),
        native::Packet::ClientEvents(packet) => walk_events(Some(packet.block)),
        native::Packet::SnapshotAck(packet) => walk_events(packet.events),
        native::Packet::DeltaSnapshot(packet) => walk_events(packet.events),
        native::Packet::ServerEvents(packet) => walk_events(Some(packet.block)),
        native::Packet::RoomList(page) => page.rooms.iter().count(),
        native::Packet::Seek(seek) => seek.reports.iter().count(),
        native::Packet::Waiting(waiting) => waiting.servers.iter().count(),
        native::Packet::Roster(roster) => roster.players.iter().count(),
        native::Packet::Snapshot(snapshot) => snapshot.entities.iter().count(),
        _ => 0,
    }
}

fn walk_events(block: Option<native::EventBlock<'_>>) -> usize {
    block.map_or(0, |block| block.events.iter().count())
}

#[test]
fn native_allocates_nothing() {
    let mut kinds = Vec::new();
    let mut out = [0; native::MAX_DATAGRAM_LEN];
    each_native_packet(|packet| {
        let datagram = Datagram { sequence: 1, packet };
        let mut written = Ok(0);
        assert_eq!(allocations(|| written = datagram.encode(&mut out)), 0, "{packet:?}");
        // One snapshot is too large without compression.
        let Ok(len) = written else { return };
        let decode = || walk(Datagram::decode(&out[..len]).unwrap().packet);
        assert_eq!(allocations(decode), 0, "{packet:?}");
        kinds.push(packet.kind());
    });
    kinds.dedup();
    let known = (0..=255).filter(|&kind| native::Packet::is_known(kind));
    assert!(known.eq(kinds), "every type was tried");
}

#[test]
fn compression_allocates_nothing() {
    let mut scratch = Scratch::default();
    let mut out = [0; native::MAX_DATAGRAM_LEN];
    let mut compressed = 0;
    each_native_packet(|packet| {
        let datagram = Datagram { sequence: 1, packet };
        let mut len = 0;
        let encode = || len = datagram.encode_compressed(&mut out, &mut scratch).unwrap();
        assert_eq!(allocations(encode), 0, "{packet:?}");
        compressed += usize::from(out[2]);
        let decode =
            || walk(Datagram::decode_compressed(&out[..len], &mut scratch).unwrap().packet);
        assert_eq!(allocations(decode), 0, "{packet:?}");
    });
    assert!(compressed >= 5, "{compressed} were compressed");
}

#[test]
fn telling_dialects_apart_allocates_nothing_even_for_bytes_of_none() {
    let mut scratch = Scratch::default();
    for first in 0..=255 {
        let mut bytes = [1; 64];
        bytes[0] = first;
        for len in 0..bytes.len() {
            assert_eq!(allocations(|| Dialect::detect(&bytes[..len])), 0);
            let decode = || Packet::decode(&bytes[..len], &mut scratch).is_ok();
            assert_eq!(allocations(decode), 0);
        }
    }
}

#[test]
fn the_channel_allocates_nothing_per_packet_and_tick_once_its_outbox_has_grown() {
    let (mut pending, mut queue) = (Pending::new(), InputQueue::new(1));
    let (mut outbox, mut inbox, mut timeline) = (Outbox::new(), Inbox::new(), Timeline::new());
    let mut room = [0; 1_000];
    let again_after = std::time::Duration::from_millis(100);
    let mut run = |ticks: std::ops::Range<u32>| {
        for tick in ticks {
            let now = Time::from_millis(u64::from(tick) * 16);
            pending.push(now, tick, tick as u16);
            timeline.handle_sent(tick);
            let newest = Newest { tick, buttons: tick as u16, early_ns: 0 };
            queue.handle(now, newest, pending.iter().skip(1).map(|input| input.buttons));
            black_box((queue.take(tick), queue.take_report(), pending.poll_alarm(now, 0)));
            // Every third snapshot arrives, and every third datagram with events.
            black_box(outbox.push(&[7; 50])).ok();
            let batch = outbox.poll(now, again_after, room.len());
            if tick % 3 == 0 {
                pending.acknowledge(tick);
                timeline.handle_snapshot(tick, queue.missing());
                if let Some(batch) = batch {
                    black_box(inbox.handle(&outbox.write(batch, &mut room)).count());
                }
                outbox.acknowledge(inbox.acknowledge());
            }
        }
    };
    run(1..10);
    assert_eq!(allocations(|| run(10..1_000)), 0);
    assert!(inbox.expected() > 900 && queue.last_ack() == Some(999));
}

const SWARM: Schema = {
    const fn field(name: &'static str, max: i32, motion: Motion) -> Field {
        Field { name, min: 0, max, step: Step::ONE, motion }
    }
    let x = field("x", 4095, Motion::Along { velocity: 1, per_ticks: 1 });
    Schema { kinds: &[Kind { name: "thing", fields: &[x, field("vx", 15, Motion::Still)] }] }
};

/// The things of a tick: all of them somewhere else.
fn move_swarm(state: &mut State, tick: u32) {
    state.clear(tick);
    for id in 0..900_u16 {
        let mixed = (u32::from(id) + 1).wrapping_mul(tick + 1).wrapping_mul(0x9E37_79B1) >> 8;
        let counts = [(mixed & 4095).cast_signed(), (mixed >> 12 & 15).cast_signed()];
        state.push(Entity::new(&SWARM, id, 0, &counts)).expect("ids rise");
    }
}

#[test]
fn a_snapshot_in_parts_allocates_nothing_on_either_side_once_the_buffers_have_grown() {
    let (mut cuts, mut assembly) = (FragmentCache::new(1005), Assembly::default());
    let (mut here, mut there, mut state) = (States::default(), States::default(), State::default());
    let mut whole_ticks = 0;
    let mut run = |ticks: std::ops::Range<u32>| {
        for tick in ticks {
            move_swarm(&mut state, tick);
            here.begin(tick).clone_from(&state);
            // Two clients at two baselines; one of them loses a part now and then.
            let has = there.newest().map(|newest| newest.tick);
            let other = has.and_then(|has| here.at(has - 1));
            assert!(cuts.parts(&SWARM, other, &state).unwrap().count() > 1);
            let baseline = has.and_then(|has| here.at(has));
            let parts = cuts.parts(&SWARM, baseline, &state).unwrap();
            let come = |part: native::Part| tick % 5 > 0 || part.index() != 1;
            for (part, body) in parts.iter().filter(|(part, _)| come(*part)) {
                let had = has.and_then(|has| there.at(has));
                if let Some(whole) = assembly.handle(&SWARM, had, tick, part, body).unwrap() {
                    assert_eq!(whole.digest(), state.digest());
                    there.begin(tick).clone_from(whole);
                    whole_ticks += 1;
                }
            }
        }
    };
    run(1..100);
    assert_eq!(allocations(|| run(100..200)), 0);
    assert_eq!(whole_ticks, 199 - 39);
}
