//! What players say to the rules beside their buttons: one letter.

use backspin::typed::{self, Message};
use backspin::wire::{Malformed, Reader, Writer};

/// Something that a player says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// To play again; in doubles also to begin without waiting for four.
    Again,
    /// While the ball waits: to go on against a bot.
    GoOn,
}

impl Message for Command {
    const MAX_LEN: usize = 1;
    const LAYOUT: u64 = typed::layout(typed::LAYOUT, b"Again R, GoOn G");

    fn encode(&self, w: &mut Writer<'_>) {
        w.u8(match self {
            Command::Again => b'R',
            Command::GoOn => b'G',
        });
    }

    fn decode(r: &mut Reader<'_>) -> Result<Self, Malformed> {
        match r.u8("command")? {
            b'R' => Ok(Command::Again),
            b'G' => Ok(Command::GoOn),
            other => Err(Malformed::out_of_range("command", other)),
        }
    }
}
