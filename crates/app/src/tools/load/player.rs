//! What a bot knows about its game: how to keep playing.

use backspin::game::{Game, PlayerId};
use backspin_pong::{self as pong, Pong};
use backspin_rtype::command::Command;
use backspin_rtype::mission::Phase;
use backspin_rtype::{self as rtype, RType};

/// A game that bots can play without end.
pub(super) trait Player: Game {
    /// What `player` says in this world so that the match begins, or begins again.
    fn words(world: &Self::World, player: PlayerId) -> Option<Vec<u8>>;
}

impl Player for Pong {
    fn words(world: &pong::World, player: PlayerId) -> Option<Vec<u8>> {
        let post = pong::Post::of(player)?;
        let wishes = world.wishes[post.index()];
        (world.phase == pong::Phase::Over && !wishes).then(|| Pong::AGAIN.to_vec())
    }
}

impl Player for RType {
    fn words(world: &rtype::World, player: PlayerId) -> Option<Vec<u8>> {
        let is_host = world.mission.host == Some(player);
        let command = match world.mission.phase {
            Phase::Lobby if is_host => Command::Start,
            Phase::Lobby => {
                let card = world.players().find(|card| card.player == player)?;
                (!card.is_ready).then_some(Command::Ready(true))?
            }
            Phase::Victory | Phase::Defeat if is_host => Command::Restart,
            _ => return None,
        };
        let mut words = [0; Command::LEN_MAX];
        let len = command.encode(&mut words);
        Some(words[..len].to_vec())
    }
}
