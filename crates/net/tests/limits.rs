//! docs/limits.md says what the code does.

use std::net::SocketAddr;
use std::time::Duration;

use backspin::client::ClientConfig;
use backspin::endpoint::EndpointConfig;
use backspin::room::RoomConfig;
use backspin::server::Server;
use backspin::time::Time;
use backspin::wire::Name;
use backspin::{channel, chat, dialect, game, replication, typed, wire};
use backspin_classic::Dialect;
use backspin_sim::dot::Dots;
use backspin_sim::{Chance, Drift, LinkConfig, Party, Player, World};

/// The value of a constant that the page names.
fn value(name: &str) -> Option<u64> {
    Some(match name {
        "replication::ENTITY_LIMIT" => replication::ENTITY_LIMIT as u64,
        "replication::schema::MAX_KINDS" => replication::schema::MAX_KINDS as u64,
        "replication::MAX_FIELDS" => replication::MAX_FIELDS as u64,
        "replication::view::MAX_BASE_TICKS" => replication::view::MAX_BASE_TICKS.into(),
        "game::SpawnName::PLAYERS" => game::SpawnName::PLAYERS.into(),
        "game::MAX_SEND_EVERY" => game::MAX_SEND_EVERY.into(),
        "game::BYTE_BUDGET" => game::BYTE_BUDGET.into(),
        "game::STEP_BYTES" => game::STEP_BYTES as u64,
        "game::REWIND_TICKS_MAX" => game::REWIND_TICKS_MAX.into(),
        "channel::MESSAGE_BYTES" => channel::MESSAGE_BYTES as u64,
        "channel::QUEUE_MESSAGES" => channel::QUEUE_MESSAGES as u64,
        "channel::QUEUE_BYTES" => channel::QUEUE_BYTES as u64,
        "channel::WINDOW_MESSAGES" => channel::WINDOW_MESSAGES as u64,
        "channel::WINDOW_BYTES" => channel::WINDOW_BYTES as u64,
        "channel::UNRELIABLE_MESSAGES" => channel::UNRELIABLE_MESSAGES as u64,
        "channel::UNRELIABLE_BYTES" => channel::UNRELIABLE_BYTES as u64,
        "chat::CHAT_CHARS" => chat::CHAT_CHARS as u64,
        "wire::native::MAX_DATAGRAM_LEN" => wire::native::MAX_DATAGRAM_LEN as u64,
        "wire::native::MIN_BUDGET" => wire::native::MIN_BUDGET.into(),
        "wire::native::Token::MAX" => wire::native::Token::MAX as u64,
        "wire::native::JoinData::MAX" => wire::native::JoinData::MAX as u64,
        "wire::native::MAX_HISTORY" => wire::native::MAX_HISTORY as u64,
        "game::Refusal::MAX_LEN" => game::Refusal::MAX_LEN as u64,
        "typed::MAX_INPUT_BITS" => typed::MAX_INPUT_BITS.into(),
        "wire::native::Roster::MAX" => wire::native::Roster::MAX.into(),
        "wire::Name::MAX" => wire::Name::MAX as u64,
        "dialect::DIALECT_LIMIT" => dialect::DIALECT_LIMIT as u64,
        _ => return None,
    })
}

#[test]
fn every_limit_on_the_page_is_the_one_in_the_code() {
    let page = include_str!("../../../docs/limits.md");
    let rows = page.lines().filter(|line| line.starts_with("| ") && line.contains("::"));
    let mut seen = 0;
    for row in rows {
        let cells: Vec<_> = row.split('|').map(str::trim).collect();
        let (name, stated) = (cells[2].trim_matches('`'), cells[3]);
        let known = value(name).unwrap_or_else(|| panic!("{name} is not a limit that is checked"));
        assert_eq!(stated.parse(), Ok(known), "{name}");
        seen += 1;
    }
    assert_eq!(seen, 27);
}

/// Whether who brings this token is let in by a server that asks for that one.
fn is_let_in(dialect: Dialect, brought: &[u8], asked: &[u8]) -> bool {
    let mut world = World::new(1, LinkConfig::PERFECT);
    let config = EndpointConfig { token: asked.to_vec(), ..EndpointConfig::default() };
    let mut server = Server::new(config, [1; 32]).speaking(backspin_classic::dialects());
    server.open(Time::ZERO, Dots::default(), Name::new("Room"), 1, RoomConfig::default());
    let address = SocketAddr::from(([10, 0, 0, 1], 4000));
    world.add(Party::Server(Box::new(server)), &[address], Drift::NONE);
    let name = Name::new("fifteen bytes..");
    let mut config = ClientConfig::new(address, name);
    config.token = brought.to_vec();
    let client = dialect.client(Time::ZERO, Dots::default(), config, [2; 32]);
    let player = Player::new(client, Chance::new(1, 2));
    let own = SocketAddr::from(([10, 0, 0, 2], 5000));
    let guest = world.add(Party::Player(Box::new(player)), &[own], Drift::NONE);
    world.run_for(Duration::from_secs(2));
    let Party::Player(player) = world.node(guest) else { panic!("it was added as one") };
    player.client.is_playing()
}

#[test]
fn a_token_of_800_bytes_lets_its_player_in_and_another_of_that_length_does_not() {
    let token = [0xAB; wire::native::Token::MAX];
    let mut other = token;
    other[799] ^= 1;
    for dialect in [Dialect::Native, Dialect::Ack] {
        assert!(is_let_in(dialect, &token, &token), "{dialect:?}");
        assert!(!is_let_in(dialect, &other, &token), "{dialect:?}");
    }
}

#[test]
#[should_panic(expected = "a token has at most 800 bytes, and this one 801")]
fn a_server_with_a_token_that_nobody_can_bring_is_refused() {
    is_let_in(Dialect::Native, &[], &[7; 801]);
}

#[test]
#[should_panic(expected = "a token has at most 800 bytes, and this one 801")]
fn a_client_with_a_token_that_it_cannot_send_is_refused() {
    is_let_in(Dialect::Native, &[7; 801], &[]);
}
