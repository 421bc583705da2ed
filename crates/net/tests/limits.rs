//! docs/limits.md says what the code does.

use backspin::{channel, chat, dialect, game, replication, wire};

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
    assert_eq!(seen, 23);
}
