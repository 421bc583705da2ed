//! Numbered messages, so that each can be told from every other: words that guests say to the game, and
//! letters that the game sends to them.
//!
//! ```text
//! 0        4        8          9
//! | author | number | delivery | filling ...
//! ```
//!
//! The filling follows from what is before it: a message that was cut, mixed or damaged cannot be read.

use super::play::{Play, Talk};
use backspin::channel::{Delivery, MESSAGE_BYTES};
use backspin::game::{PlayerId, To};

/// A message that could be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Numbered {
    /// The run of the program that wrote it.
    pub(super) author: u32,
    /// The how many-th of its delivery it is, for a word; of all, for a letter. 0 is the first.
    pub(super) number: u32,
    pub(super) delivery: Delivery,
}

/// A letter that the rules have sent, as they keep it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Letter {
    /// In which tick.
    pub(super) tick: u32,
    pub(super) to: Whom,
    pub(super) delivery: Delivery,
    /// How many numbered events were raised before it.
    pub(super) after: u32,
    pub(super) len: usize,
}

/// Whom a letter goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Whom {
    Everyone,
    Two([PlayerId; 2]),
    One(PlayerId),
}

impl Letter {
    pub(super) fn is_for(&self, player: PlayerId) -> bool {
        match self.to {
            Whom::Everyone => true,
            Whom::Two(players) => players.contains(&player),
            Whom::One(only) => only == player,
        }
    }

    /// The next letter of the rules, if there is one in this tick: to those who play, and others.
    pub(super) fn draw(play: Play, tick: u32, after: u32, players: &[PlayerId]) -> Option<Self> {
        let dice = mixed(tick);
        let much = play.talk == Talk::Much && tick.is_multiple_of(2);
        if !much && !dice.is_multiple_of(16) {
            return None;
        }
        let to = match (players, dice >> 8 & 7) {
            ([first, .., last], 0) => Whom::Two([*first, *last]),
            ([first, ..], 1 | 2) => Whom::One(*first),
            ([.., last], 3) => Whom::One(*last),
            _ => Whom::Everyone,
        };
        let delivery = match dice >> 12 & 3 {
            0 if !much => Delivery::Unreliable,
            _ => Delivery::Reliable,
        };
        let len = match much {
            true => MESSAGE_BYTES - (dice >> 16) as usize % 400,
            false => HEAD_LEN + (dice >> 16) as usize % 60,
        };
        Some(Letter { tick, to, delivery, after, len })
    }

    /// What it says.
    pub(super) fn write(&self, number: u32) -> Vec<u8> {
        let Letter { delivery, len, .. } = *self;
        write(Numbered { author: RULES, number, delivery }, len)
    }
}

impl Whom {
    pub(super) fn to(&self) -> To<'_> {
        match self {
            Whom::Everyone => To::Everyone,
            Whom::Two(players) => To::Players(players),
            Whom::One(player) => To::Player(*player),
        }
    }
}

/// The author of letters.
const RULES: u32 = u32::MAX;

/// Author, number, delivery, and a check of the three: on a link that flips bits, a damaged message must
/// not read as another one.
const HEAD_LEN: usize = 11;

/// A word of a guest: short ones mostly, and some as long as a message may be.
pub(super) fn word(life: u32, number: u32, delivery: Delivery) -> Vec<u8> {
    let dice = mixed(number ^ life << 16);
    let most = if dice.is_multiple_of(8) { MESSAGE_BYTES - HEAD_LEN + 1 } else { 32 };
    write(Numbered { author: life, number, delivery }, HEAD_LEN + (dice >> 8) as usize % most)
}

fn write(said: Numbered, len: usize) -> Vec<u8> {
    let Numbered { author, number, delivery } = said;
    let mut bytes = Vec::with_capacity(len);
    bytes.extend(author.to_be_bytes());
    bytes.extend(number.to_be_bytes());
    bytes.push(u8::from(delivery == Delivery::Unreliable));
    bytes.extend(check(said).to_be_bytes());
    bytes.extend((HEAD_LEN..len).map(|at| filling(author, number, at)));
    bytes
}

/// What a message says; `None` if it is none of these.
pub(super) fn read(bytes: &[u8]) -> Option<Numbered> {
    let (author, rest) = bytes.split_first_chunk()?;
    let (number, rest) = rest.split_first_chunk()?;
    let (author, number) = (u32::from_be_bytes(*author), u32::from_be_bytes(*number));
    let (delivery, rest) = match rest {
        [0, rest @ ..] => (Delivery::Reliable, rest),
        [1, rest @ ..] => (Delivery::Unreliable, rest),
        _ => return None,
    };
    let (checked, rest) = rest.split_first_chunk()?;
    let said = Numbered { author, number, delivery };
    let mut filled = (HEAD_LEN..).zip(rest).map(|(at, byte)| filling(author, number, at) == *byte);
    let is_whole = check(said) == u16::from_be_bytes(*checked) && filled.all(|is_right| is_right);
    is_whole.then_some(said)
}

fn check(said: Numbered) -> u16 {
    let Numbered { author, number, delivery } = said;
    let kind = u32::from(delivery == Delivery::Unreliable);
    mixed(author ^ mixed(number ^ kind << 31)) as u16
}

fn filling(author: u32, number: u32, at: usize) -> u8 {
    (author ^ number.wrapping_mul(31) ^ at as u32) as u8
}

/// Bits that look like chance.
fn mixed(number: u32) -> u32 {
    let mixed = (number ^ number >> 15).wrapping_mul(0x2C1B_3C6D);
    let mixed = (mixed ^ mixed >> 12).wrapping_mul(0x297A_2D39);
    mixed ^ mixed >> 15
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_reads_as_it_was_written_and_a_damaged_one_not_at_all() {
        for number in 0..100 {
            let bytes = word(7, number, Delivery::Unreliable);
            assert!(bytes.len() <= MESSAGE_BYTES);
            let delivery = Delivery::Unreliable;
            assert_eq!(read(&bytes), Some(Numbered { author: 7, number, delivery }));
        }
        let bytes = word(7, 0, Delivery::Reliable);
        assert!(bytes.len() > HEAD_LEN);
        for bit in 0..8 * bytes.len() {
            let mut damaged = bytes.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(read(&damaged), None, "bit {bit}");
        }
        assert_eq!(read(&bytes[..8]), None);
    }

    #[test]
    fn little_talk_never_fills_a_queue_while_a_place_is_kept_and_much_does() {
        use backspin::channel::QUEUE_BYTES;
        // The longest silence of a chaos run, in ticks, wherever it begins.
        let away = super::super::rules::Rules::LONGEST_AWAY;
        let longest = 60 * away.as_secs() as u32 + 120;
        let bytes = |play: Play, from: u32| -> usize {
            let letters =
                (from..from + longest).filter_map(|tick| Letter::draw(play, tick, 0, &[]));
            letters.map(|letter| letter.len).sum()
        };
        let most = |play| (0..60 * 60).step_by(10).map(|from| bytes(play, from)).max().unwrap();
        assert!(most(Play::default()) < QUEUE_BYTES / 2);
        let much = Play { talk: Talk::Much, ..Play::default() };
        assert!(bytes(much, 0) > QUEUE_BYTES);
    }
}
