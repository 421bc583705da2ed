//! Nothing is allocated between the bytes and the packet, in either direction: proved by an
//! allocator that counts.

mod counting;

use std::hint::black_box;

use backspin::channel::{InputQueue, MessageChannel, Newest, Pending, Timeline};
use backspin::replication::view::{Snapshot, ViewPart};
use backspin::replication::{
    ClientView, ENTITY_LIMIT, Entity, Field, History as States, Kind, KnownWorld, Motion, Schema,
    SnapshotBuffer, State, Step, View,
};
use backspin::time::Time;
use backspin::wire::native::{self, Datagram, MessageKind};
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
        layout: 4,
        budget,
        role,
        room,
        name,
        password,
        data: native::JoinData::new(&[6; 40]).unwrap(),
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
        layout: 4,
        budget,
        name,
        room_name: name,
        password,
        data: native::JoinData::new(&[6; 40]).unwrap(),
        token,
    }));
    let probe = native::Probe { pass: cookie, stamp: 1, cookie };
    visit(P::Probe(probe));
    let report = native::RoundTripReport { index: 1, round_trip: 35_000, seal: ticket };
    let reports = [report; native::MATCH_SERVERS_MAX];
    let reports = List::new(&reports);
    visit(P::Seek(native::Seek { nonce, cookie, protocol, game, game_version, reports }));

    let mut runs = [0; native::History::MAX_LEN];
    let history = native::History::new(1.into(), (0..63).map(|i| (i % 3).into()), &mut runs);
    let snapshot = Some(native::SnapshotEcho { back: 3, held: 4 });
    let drawn_back = Some(700);
    let acks = Some(native::Acks { newest: 9, mask: 0x1F0F });
    let mut body = [0; 1000];
    let mut w = native::BlockWriter::new(&mut body);
    w.selective([1, 3, 200]);
    for (number, message) in [(7, &[1; 255][..]), (8, &[]), (12, &[2; 100])] {
        assert!(w.reliable(number, native::MessageKind::Game, [message, &[]]));
    }
    assert!(w.unreliable(&[3; 70]));
    let block = w.finish(1);
    visit(P::ClientMessages(native::ClientMessages { session, block }));
    for messages in [None, Some(block)] {
        let (server_tick, held) = (1, 2);
        visit(P::SnapshotAck(native::SnapshotAck { session, server_tick, held, acks, messages }));
    }
    for messages in [None, Some(block)] {
        visit(P::Input(native::Input {
            session,
            newest: native::InputRecord { sequence: 100, input_flags: 1.into() },
            snapshot,
            drawn_back,
            acks,
            messages,
            history,
        }));
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
    visit(P::Reject(native::Reject {
        nonce,
        reason,
        protocol,
        game_version,
        sentence: backspin::game::Refusal::new("Red is full."),
    }));
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
    let players = List::new(&players);
    visit(P::Roster(native::Roster { revision: 1, total: 100, first: 50, players }));
    let feedback = native::Feedback { echo: 1, held: 2, early: -3, missing: 4, lost: 5 };
    visit(P::DeltaSnapshot(native::DeltaSnapshot {
        tick: 1,
        baseline_back: 2,
        feedback: Some(feedback),
        messages: None,
        body: &[0; 1000],
    }));
    visit(P::DeltaSnapshot(native::DeltaSnapshot {
        tick: 1,
        baseline_back: 0,
        feedback: None,
        messages: Some(block),
        body: &[0; 500],
    }));
    visit(P::ServerMessages(native::ServerMessages { block }));
    visit(P::ViewSnapshot(native::ViewSnapshot {
        tick: 1,
        epoch: 2,
        is_first: true,
        feedback: Some(feedback),
        messages: Some(block),
        body: &[0; 500],
    }));
}

/// Walks what a packet borrows.
fn walk(packet: native::Packet<'_>) -> usize {
    match packet {
        native::Packet::Input(input) => input.history.iter().count() + walk_block(input.messages),
        native::Packet::ClientMessages(packet) => walk_block(Some(packet.block)),
        native::Packet::SnapshotAck(packet) => walk_block(packet.messages),
        native::Packet::DeltaSnapshot(packet) => walk_block(packet.messages),
        native::Packet::ServerMessages(packet) => walk_block(Some(packet.block)),
        native::Packet::RoomList(page) => page.rooms.iter().count(),
        native::Packet::Seek(seek) => seek.reports.iter().count(),
        native::Packet::Waiting(waiting) => waiting.servers.iter().count(),
        native::Packet::Roster(roster) => roster.players.iter().count(),
        native::Packet::ViewSnapshot(packet) => walk_block(packet.messages),
        _ => 0,
    }
}

fn walk_block(block: Option<native::MessageBlock<'_>>) -> usize {
    block.map_or(0, |block| {
        let held = block.selective.iter().count();
        held + block.reliable.iter().count() + block.unreliable.iter().count()
    })
}

#[test]
fn native_allocates_nothing() {
    let mut kinds = Vec::new();
    let mut out = [0; native::MAX_DATAGRAM_LEN];
    each_native_packet(|packet| {
        let datagram = Datagram { sequence: 1, packet };
        let mut len = 0;
        let encode = || len = datagram.encode(&mut out).unwrap();
        assert_eq!(allocations(encode), 0, "{packet:?}");
        kinds.push(packet.kind());
        let decode = || walk(Datagram::decode(&out[..len]).unwrap().packet);
        assert_eq!(allocations(decode), 0, "{packet:?}");
    });
    kinds.dedup();
    let known = (0..=255).filter(|&kind| native::Packet::is_known(kind));
    assert!(known.eq(kinds), "every type was tried");
}

#[test]
fn telling_dialects_apart_allocates_nothing_even_for_bytes_of_none() {
    for first in 0..=255 {
        let mut bytes = [1; 64];
        bytes[0] = first;
        for len in 0..bytes.len() {
            assert_eq!(allocations(|| Dialect::detect(&bytes[..len])), 0);
            let decode = || Packet::decode(&bytes[..len]).is_ok();
            assert_eq!(allocations(decode), 0);
        }
    }
}

#[test]
fn the_channel_allocates_nothing_per_packet_and_tick_once_its_queues_have_grown() {
    let (mut pending, mut queue) = (Pending::new(), InputQueue::new(1));
    let (mut here, mut there) = (MessageChannel::new(), MessageChannel::new());
    let (mut timeline, mut room, mut delivered) = (Timeline::new(), [0; 1_000], 0);
    let again_after = std::time::Duration::from_millis(100);
    let mut run = |ticks: std::ops::Range<u32>| {
        for tick in ticks {
            let now = Time::from_millis(u64::from(tick) * 16);
            pending.push(now, tick, (tick as u16).into());
            timeline.handle_sent(tick);
            let newest = Newest { tick, input: (tick as u16).into(), early_ns: 0 };
            queue.handle(now, newest, pending.iter().skip(1).map(|pending| pending.input));
            black_box((queue.take(tick), queue.take_report(), pending.poll_alarm(now, 0)));
            if tick % 3 == 0 {
                pending.acknowledge(tick);
                timeline.handle_snapshot(tick, queue.missing());
            }
            // Of three datagrams with messages one is lost each way, so that some wait for others.
            here.send(MessageKind::Game, &[7; 50]).unwrap();
            here.send_unreliable(&[8; 50]).unwrap();
            if let Some(block) = here.poll(now, again_after, &mut room).filter(|_| tick % 3 > 0) {
                there.handle(&block);
            }
            while there.take().is_some() {
                delivered += 1;
            }
            while there.take_unreliable().is_some() {}
            there.tidy();
            if let Some(block) = there.poll(now, again_after, &mut room).filter(|_| tick % 3 < 2) {
                here.handle(&block);
            }
        }
    };
    run(1..100);
    assert_eq!(allocations(|| run(100..1_000)), 0);
    assert!(delivered > 900 && queue.last_ack() == Some(999), "{delivered}");
}

const SWARM: Schema = {
    const fn field(name: &'static str, max: i32, motion: Motion) -> Field {
        Field { name, min: 0, max, step: Step::ONE, motion }
    }
    let x = field("x", 4095, Motion::Along { velocity: 1, per_ticks: 1 });
    Schema {
        kinds: &[Kind { name: "thing", fields: &[x, field("vx", 15, Motion::Still)] }],
        pixel: Step::ONE,
    }
};

/// The things of a tick: all of them somewhere else.
fn move_swarm(state: &mut State, tick: u32) {
    state.clear(tick);
    for id in 0..900_u32 {
        let mixed = (id + 1).wrapping_mul(tick + 1).wrapping_mul(0x9E37_79B1) >> 8;
        let counts = [(mixed & 4095).cast_signed(), (mixed >> 12 & 15).cast_signed()];
        state.push(Entity::new(&SWARM, id, 0, &counts)).expect("ids rise");
    }
}

#[test]
fn a_view_in_many_datagrams_allocates_nothing_on_either_side_once_the_buffers_have_grown() {
    let (mut view, mut known) = (ClientView::new(1), KnownWorld::default());
    let mut history = States::default();
    let mut picture: SnapshotBuffer = SnapshotBuffer::default();
    let (mut out, mut sequence, mut everything) = ([0; 1000], 0, View::default());
    everything.everything();
    let mut run = |ticks: std::ops::Range<u32>| {
        for tick in ticks {
            move_swarm(history.begin(tick), tick);
            let state = history.newest().unwrap();
            let snapshot = Snapshot { schema: &SWARM, history: &history, state, every: 1 };
            view.plan(snapshot, &everything, 5000, |_| false);
            let mut datagrams = 0;
            while let Some((len, _)) = view.poll(snapshot, sequence, 20, &mut out) {
                // One is lost now and then.
                if sequence % 7 > 0 {
                    let part = ViewPart { epoch: 1, tick, every: 1, body: &out[..len] };
                    known.handle(&SWARM, part, &mut picture).unwrap();
                }
                sequence += 1;
                datagrams += 1;
            }
            assert!(datagrams > 1, "{datagrams}");
            let newest = sequence - 1 - u32::from((sequence - 1) % 7 == 0);
            let mask = (1..=64).filter(|back| newest.wrapping_sub(*back) % 7 > 0);
            let mask = mask.fold(0, |mask, back| mask | 1 << (back - 1));
            view.handle_acks(newest, mask, &history, 1);
        }
    };
    run(1..400);
    assert_eq!(allocations(|| run(400..600)), 0);
    assert!(picture.newest_state().is_some_and(|state| state.entities().len() == 900));
}

/// What a view of `visible` things, which all change in every tick, has in use in a world of `count`, while
/// the client's word takes eight ticks. Beside the view there is only the history, which is full before.
fn view_bytes(count: u32, visible: u32) -> isize {
    // What is visible has the same ids in every world, and what is hidden those between.
    let (mut history, hidden) = (States::default(), count / visible - 1);
    let between = ENTITY_LIMIT as u32 / visible;
    let move_all = |state: &mut State, tick: u32| {
        let ids = (0..visible).flat_map(|nth| (0..=hidden).map(move |it| nth * between + it));
        for id in ids {
            let mixed = (id + 1).wrapping_mul(tick + 1).wrapping_mul(0x9E37_79B1) >> 8;
            let counts = [(mixed & 4095).cast_signed(), (mixed >> 12 & 15).cast_signed()];
            state.push(Entity::new(&SWARM, id, 0, &counts)).expect("ids rise");
        }
    };
    (1..40).for_each(|tick| move_all(history.begin(tick), tick));
    let mut shown = View::default();
    (0..visible).for_each(|nth| shown.show(nth * between, View::PLAIN));
    let (mut out, mut sequence) = ([0; 1000], 0);
    let mut last = [0; 8];
    let before = counting::bytes_in_use();
    let mut view = ClientView::new(1);
    for tick in 40..90 {
        move_all(history.begin(tick), tick);
        let state = history.newest().unwrap();
        let snapshot = Snapshot { schema: &SWARM, history: &history, state, every: 1 };
        view.plan(snapshot, &shown, u32::MAX / 2, |_| false);
        while view.poll(snapshot, sequence, 20, &mut out).is_some() {
            sequence += 1;
        }
        let arrived = std::mem::replace(&mut last[tick as usize % 8], sequence);
        if arrived > 0 {
            view.handle_acks(arrived - 1, u64::MAX, &history, 1);
        }
    }
    assert_eq!((view.counts().shown, view.counts().unsent), (visible, 0));
    counting::bytes_in_use() - before + size_of::<ClientView>() as isize
}

#[test]
fn what_a_view_takes_depends_on_what_is_visible_and_not_on_the_world() {
    let bytes = view_bytes(200, 200);
    assert_eq!(view_bytes(16_384, 200), bytes);
    // As docs/limits.md says.
    assert!(bytes <= 200 * 300, "{bytes} bytes of 200 entities");
}
