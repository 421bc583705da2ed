//! What a step sends, held against the limits of messages.

use backspin::channel::{Delivery, QUEUE_BYTES, QUEUE_MESSAGES};
use backspin::game::{Event, Mail, PlayerId, Reach, To};

use super::Breach;

/// Whether all that the rules sent in a step was taken, and can wait for its players.
pub(super) fn check_mail(capacity: u8, events: &[Event], mail: &mut Mail) -> Result<(), Breach> {
    if let Some((error, _)) = mail.take_refused() {
        return Err(Breach::Message(error));
    }
    let raised = events.iter().filter(|event| event.reach == Reach::Everyone).count();
    for player in (1..=u32::from(capacity)).map(PlayerId) {
        let is_for = |to: To<'_>| match to {
            To::Everyone => true,
            To::Player(only) => only == player,
            To::Players(players) => players.contains(&player),
        };
        let letters = mail.letters().filter(|letter| letter.delivery == Delivery::Reliable);
        let own = letters.filter(|letter| is_for(letter.to));
        let (messages, bytes) = own
            .fold((raised, raised * Event::LEN), |(count, bytes), letter| {
                (count + 1, bytes + letter.message.len())
            });
        if messages > QUEUE_MESSAGES || bytes > QUEUE_BYTES {
            return Err(Breach::Backlog { player, messages, bytes });
        }
    }
    Ok(())
}
