//! What a host is told of the guests.

use backspin::client::RosterLine;
use backspin::game::PlayerId;
use backspin::host::Host;
use backspin::room::RoomEvent;
use backspin::wire::native::Role;

use super::super::stage::{Stage, Standing};
use super::super::{Cell, Tone};

/// Something that happened in the room.
pub(super) enum News {
    Notice(Cell),
    Gone(PlayerId, String),
    Freed(PlayerId, String),
}

/// The next of it.
pub(super) fn hear_room<G: Stage>(
    host: &mut Host<G>,
    standing: &Standing,
    known: &[(PlayerId, String)],
) -> Option<News> {
    // The host is player 1.
    let own = host.client().player().unwrap_or(PlayerId(1));
    let name = |player: PlayerId| match known.iter().find(|(it, _)| *it == player) {
        Some((_, name)) if !name.is_empty() => name.clone(),
        _ => "The other player".to_owned(),
    };
    let notice = |text: String, tone| Some(News::Notice(Cell::new(text, tone)));
    let plays = |player: PlayerId| standing.side_of(player).is_some();
    for room in host.server_mut().rooms_mut() {
        while let Some(event) = room.poll_event() {
            let news = match event {
                RoomEvent::Joined(player, called) if player != own => {
                    let mut members = room.members();
                    let watches = members.any(|it| it.player == player && it.role == Role::Watch);
                    let called = called.to_string();
                    let called = if called.is_empty() { "someone" } else { &called };
                    match watches {
                        true => notice(format!("{called} watches"), Tone::Good),
                        false => notice(format!("Client connected! It is {called}"), Tone::Good),
                    }
                }
                RoomEvent::Resumed(player, _) => {
                    notice(format!("{} is back", name(player)), Tone::Good)
                }
                RoomEvent::Quiet(player) => {
                    notice(format!("{} is not responding", name(player)), Tone::Fair)
                }
                RoomEvent::Dropped(player) => {
                    let who = name(player);
                    notice(format!("{who} lost the connection"), Tone::Bad)
                }
                RoomEvent::Left(player) if plays(player) => {
                    Some(News::Gone(player, format!("{} has left the match.", name(player))))
                }
                RoomEvent::Freed(player) if plays(player) => {
                    let how =
                        format!("{} lost the connection and did not come back.", name(player));
                    Some(News::Freed(player, how))
                }
                _ => None,
            };
            if news.is_some() {
                return news;
            }
        }
    }
    None
}

/// Who is here, and who was.
pub(super) fn remember(
    mut known: Vec<(PlayerId, String)>,
    roster: &[RosterLine],
) -> Vec<(PlayerId, String)> {
    known.retain(|(player, _)| roster.iter().all(|line| line.player != *player));
    known.extend(roster.iter().map(|line| (line.player, line.name.to_string())));
    known
}
