//! The letters that one program gets, as the checker knows them: what must arrive comes once and in
//! order, the rest at most once, and nothing that was for another.

use std::collections::BTreeSet;

use super::breach::{Breach, Who, ensure};
use super::chronicle::{ARRIVED_TICKS, Chronicle};
use super::letters;
use backspin::channel::Delivery;
use backspin::game::PlayerId;

/// What came since the program has its place.
#[derive(Debug)]
pub(super) struct Mailbox {
    /// Of which server and room.
    from: (u32, u32),
    player: PlayerId,
    /// The number of the first letter that was sent since, and of the next that may come and must
    /// arrive.
    first: u32,
    next: u32,
    /// What came of the others.
    loose: BTreeSet<u32>,
}

impl Mailbox {
    pub(super) fn new(from: (u32, u32), player: PlayerId, first: u32) -> Self {
        Mailbox { from, player, first, next: first, loose: BTreeSet::new() }
    }

    /// A letter comes behind so many events.
    pub(super) fn take(
        &mut self,
        who: Who,
        bytes: &[u8],
        next_event: Option<u32>,
        chronicles: &[Chronicle],
    ) -> Result<(), Breach> {
        let Some(said) = letters::read(bytes) else { return Err(Breach::GarbledLetter { who }) };
        let came = said.number;
        let Some(chronicle) = self.chronicle(chronicles) else { return Ok(()) };
        let letter = chronicle.letters.get(came as usize);
        let letter = letter.filter(|letter| letter.is_for(self.player) && came >= self.first);
        let Some(letter) = letter.filter(|letter| letter.write(came) == bytes) else {
            return Err(Breach::ForeignLetter { who, came });
        };
        if letter.delivery == Delivery::Unreliable {
            return ensure(self.loose.insert(came), Breach::LetterTwice { who, came });
        }
        let expected = self.expected(chronicle);
        self.next = came + 1;
        match expected {
            Some(expected) if expected != came => Err(Breach::WrongLetter { who, came, expected }),
            _ if next_event.is_some_and(|next| next != letter.after) => {
                Err(Breach::LetterOutOfTurn { who, came, after: letter.after })
            }
            _ => Ok(()),
        }
    }

    /// All is well: whatever must arrive and was sent long ago is here.
    pub(super) fn check_all_came(&self, who: Who, chronicles: &[Chronicle]) -> Result<(), Breach> {
        let Some(chronicle) = self.chronicle(chronicles) else { return Ok(()) };
        match self.expected(chronicle) {
            Some(expected)
                if chronicle.letters[expected as usize].tick + ARRIVED_TICKS < chronicle.tick =>
            {
                Err(Breach::LostLetter { who, expected })
            }
            _ => Ok(()),
        }
    }

    /// The next that must arrive.
    fn expected(&self, chronicle: &Chronicle) -> Option<u32> {
        let letters = chronicle.letters.iter().enumerate().skip(self.next as usize);
        let mut ours = letters.filter(|(_, letter)| {
            letter.delivery == Delivery::Reliable && letter.is_for(self.player)
        });
        ours.next().map(|(number, _)| number as u32)
    }

    fn chronicle<'a>(&self, chronicles: &'a [Chronicle]) -> Option<&'a Chronicle> {
        chronicles.iter().find(|it| (it.server, it.room) == self.from)
    }
}
