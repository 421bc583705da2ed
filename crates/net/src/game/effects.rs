//! What rules tell players beside the world: events and messages.

use std::marker::PhantomData;

use super::{Event, PlayerId};
use crate::channel::{Delivery, MESSAGE_BYTES, SendError, UNRELIABLE_BYTES, UNRELIABLE_MESSAGES};
use crate::typed::Message;

/// How many bytes of messages a step may send in all.
pub const STEP_BYTES: usize = 1 << 20;

/// Whom a message goes to. Who is not in the room, or speaks an old dialect, gets none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum To<'a> {
    /// Everyone in the room who plays or watches.
    Everyone,
    /// One of them.
    Player(PlayerId),
    /// Some of them.
    Players(&'a [PlayerId]),
}

/// Where rules put what players are told.
///
/// What is raised and sent is told in this order, after the step.
#[derive(Debug)]
pub struct Effects<'a, M> {
    events: &'a mut Vec<Event>,
    /// `None` in a prediction: messages are the server's to send.
    mail: Option<&'a mut Mail>,
    message: PhantomData<fn(&M)>,
}

impl<'a, M: Message> Effects<'a, M> {
    /// Keeps events, and lets messages be: what a prediction needs, or a test.
    pub fn new(events: &'a mut Vec<Event>) -> Self {
        Effects { events, mail: None, message: PhantomData }
    }

    /// The same, and keeps messages as well.
    pub fn mailing(self, mail: &'a mut Mail) -> Self {
        Effects { mail: Some(mail), ..self }
    }

    /// The same, lent to a game with other messages: one of several in a server.
    pub fn within<N: Message>(&mut self) -> Effects<'_, N> {
        let mail = self.mail.as_deref_mut();
        Effects { events: self.events, mail, message: PhantomData }
    }

    /// Says that something happened.
    pub fn raise(&mut self, event: Event) {
        self.events.push(event);
    }

    /// What was raised so far.
    pub fn events(&mut self) -> &mut Vec<Event> {
        self.events
    }

    /// Sends a message of at most [`MESSAGE_BYTES`] to players' clients, where it is a
    /// [`ClientEvent::Message`](crate::client::ClientEvent::Message). In a prediction nothing is sent.
    ///
    /// A reliable message waits for its player for as long as there is room in the player's queue; when
    /// there is none, the player's session ends with a reason. Of unreliable ones, at most
    /// [`UNRELIABLE_MESSAGES`] and [`UNRELIABLE_BYTES`] go to a player in a tick; more are refused, for
    /// all that they were to go to. What is refused is also told to whoever runs the server:
    /// [`LeftOut::Message`](crate::room::LeftOut::Message).
    pub fn send(&mut self, to: To<'_>, delivery: Delivery, message: &M) -> Result<(), SendError> {
        let mut room = [0; MESSAGE_BYTES];
        let bytes = message.write(&mut room).map_err(|_| SendError::TooLong);
        let Some(mail) = &mut self.mail else { return bytes.map(drop) };
        let sent = bytes.and_then(|bytes| mail.push(self.events.len(), to, delivery, bytes));
        if let Err(error) = sent {
            mail.note_refused(error);
        }
        sent
    }
}

/// The messages of one step, until they are sent.
#[derive(Clone, Debug, Default)]
pub struct Mail {
    letters: Vec<Kept>,
    bytes: Vec<u8>,
    players: Vec<PlayerId>,
    /// What everyone was sent unreliably, and beside that each player, by number.
    loose: Load,
    loose_by_player: Vec<Load>,
    /// Why a message was refused last, and how many were.
    refused: Option<(SendError, u64)>,
}

/// A message, and whom it goes to.
#[derive(Clone, Copy, Debug)]
pub struct Letter<'a> {
    /// How many events were raised before it.
    pub after: usize,
    /// Whom it goes to.
    pub to: To<'a>,
    /// How.
    pub delivery: Delivery,
    /// What it says.
    pub message: &'a [u8],
}

#[derive(Clone, Debug)]
struct Kept {
    after: usize,
    /// `None` is everyone.
    to: Option<std::ops::Range<usize>>,
    delivery: Delivery,
    message: std::ops::Range<usize>,
}

/// How much goes to one player unreliably.
#[derive(Clone, Copy, Debug, Default)]
struct Load {
    messages: usize,
    bytes: usize,
}

impl Load {
    fn with(self, other: Load) -> Load {
        let Load { messages, bytes } = other;
        Load { messages: self.messages + messages, bytes: self.bytes + bytes }
    }

    fn check(self) -> Result<(), SendError> {
        match self {
            Load { messages, .. } if messages > UNRELIABLE_MESSAGES => Err(SendError::TickMessages),
            Load { bytes, .. } if bytes > UNRELIABLE_BYTES => Err(SendError::TickBytes),
            _ => Ok(()),
        }
    }
}

/// Players' numbers in a room are below this.
const PLAYER_NUMBERS: usize = 512;

impl Mail {
    /// The messages, in order.
    pub fn letters(&self) -> impl Iterator<Item = Letter<'_>> {
        self.letters.iter().map(|kept| Letter {
            after: kept.after,
            to: match &kept.to {
                None => To::Everyone,
                Some(range) => To::Players(&self.players[range.clone()]),
            },
            delivery: kept.delivery,
            message: &self.bytes[kept.message.clone()],
        })
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.letters.is_empty()
    }

    /// Why a message was refused last and how many were, since this was asked last: rules need not look at
    /// what [`Effects::send`] says.
    pub fn take_refused(&mut self) -> Option<(SendError, u64)> {
        self.refused.take()
    }

    fn note_refused(&mut self, error: SendError) {
        let before = self.refused.map_or(0, |(_, times)| times);
        self.refused = Some((error, before + 1));
    }

    /// They were sent.
    pub fn clear(&mut self) {
        self.letters.clear();
        self.bytes.clear();
        self.players.clear();
        self.loose_by_player.clear();
        self.loose = Load::default();
    }

    fn push(
        &mut self,
        after: usize,
        to: To<'_>,
        delivery: Delivery,
        message: &[u8],
    ) -> Result<(), SendError> {
        if self.bytes.len() + message.len() > STEP_BYTES {
            return Err(SendError::StepBytes);
        }
        if delivery == Delivery::Unreliable {
            self.load(to, Load { messages: 1, bytes: message.len() })?;
        }
        let players: &[PlayerId] = match &to {
            To::Everyone => &[],
            To::Player(player) => std::slice::from_ref(player),
            To::Players(players) => players,
        };
        let first = self.players.len();
        self.players.extend_from_slice(players);
        let to = (to != To::Everyone).then_some(first..self.players.len());
        let start = self.bytes.len();
        self.bytes.extend_from_slice(message);
        let message = start..self.bytes.len();
        self.letters.push(Kept { after, to, delivery, message });
        Ok(())
    }

    /// Counts what goes to each player unreliably, if nobody gets too much.
    fn load(&mut self, to: To<'_>, more: Load) -> Result<(), SendError> {
        let all = self.loose.with(more);
        if to == To::Everyone {
            all.check()?;
            self.loose_by_player.iter().try_for_each(|own| all.with(*own).check())?;
            self.loose = all;
            return Ok(());
        }
        let players = match &to {
            To::Everyone => &[],
            To::Player(player) => std::slice::from_ref(player),
            To::Players(players) => players,
        };
        let at = |player: &PlayerId| (player.0 as usize).min(PLAYER_NUMBERS);
        for player in players {
            let own = self.loose_by_player.get(at(player)).copied().unwrap_or_default();
            all.with(own).check()?;
        }
        for player in players {
            if self.loose_by_player.len() <= at(player) {
                self.loose_by_player.resize(at(player) + 1, Load::default());
            }
            let own = &mut self.loose_by_player[at(player)];
            *own = own.with(more);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::Reach;
    use crate::typed::RawMessage;

    const ANN: PlayerId = PlayerId(1);
    const BOB: PlayerId = PlayerId(2);

    fn raw(bytes: &[u8]) -> RawMessage {
        RawMessage(bytes.to_vec())
    }

    fn event(kind: u8) -> Event {
        Event { kind, entity: 0, value: 0, reach: Reach::Everyone }
    }

    #[test]
    fn messages_keep_their_place_among_the_events() {
        let (mut events, mut mail) = (Vec::new(), Mail::default());
        let mut effects = Effects::new(&mut events).mailing(&mut mail);
        effects.send(To::Everyone, Delivery::Reliable, &raw(b"first")).unwrap();
        effects.raise(event(1));
        effects.send(To::Player(ANN), Delivery::Reliable, &raw(b"second")).unwrap();
        effects.send(To::Players(&[ANN, BOB]), Delivery::Unreliable, &raw(b"")).unwrap();
        let letters: Vec<_> = mail.letters().map(|it| (it.after, it.to, it.message)).collect();
        let both = [ANN, BOB];
        let expected: [(usize, To<'_>, &[u8]); 3] = [
            (0, To::Everyone, b"first"),
            (1, To::Players(&both[..1]), b"second"),
            (1, To::Players(&both), b""),
        ];
        assert_eq!(letters, expected);
        mail.clear();
        assert!(mail.is_empty() && mail.letters().next().is_none());
    }

    #[test]
    fn a_message_of_901_bytes_is_refused_also_in_a_prediction() {
        let mut events = Vec::new();
        let mut predicted = Effects::new(&mut events);
        let (long, fits) = (raw(&[0; MESSAGE_BYTES + 1]), raw(&[0; MESSAGE_BYTES]));
        for delivery in [Delivery::Reliable, Delivery::Unreliable] {
            assert_eq!(predicted.send(To::Everyone, delivery, &long), Err(SendError::TooLong));
            assert_eq!(predicted.send(To::Everyone, delivery, &fits), Ok(()));
        }
    }

    #[test]
    fn the_17th_unreliable_message_to_a_player_in_a_tick_is_refused() {
        let (mut events, mut mail) = (Vec::new(), Mail::default());
        let mut effects = Effects::new(&mut events).mailing(&mut mail);
        let mut send = |to| effects.send(to, Delivery::Unreliable, &raw(b"x"));
        for _ in 0..UNRELIABLE_MESSAGES - 1 {
            send(To::Player(ANN)).unwrap();
        }
        send(To::Everyone).unwrap();
        assert_eq!(send(To::Player(ANN)), Err(SendError::TickMessages));
        assert_eq!(send(To::Everyone), Err(SendError::TickMessages));
        assert_eq!(send(To::Players(&[BOB, ANN])), Err(SendError::TickMessages));
        assert_eq!(send(To::Player(BOB)), Ok(()));
        mail.clear();
        let mut effects = Effects::new(&mut events).mailing(&mut mail);
        let long = raw(&[0; MESSAGE_BYTES]);
        for _ in 0..4 {
            effects.send(To::Player(ANN), Delivery::Unreliable, &long).unwrap();
        }
        let refused = effects.send(To::Player(ANN), Delivery::Unreliable, &raw(b"x"));
        assert_eq!(refused, Err(SendError::TickBytes));
        effects.send(To::Player(ANN), Delivery::Unreliable, &raw(b"")).unwrap();
    }

    #[test]
    fn a_step_sends_at_most_a_mebibyte() {
        let (mut events, mut mail) = (Vec::new(), Mail::default());
        let mut effects = Effects::new(&mut events).mailing(&mut mail);
        let long = raw(&[0; MESSAGE_BYTES]);
        let sent =
            (0..).take_while(|_| effects.send(To::Player(ANN), Delivery::Reliable, &long).is_ok());
        assert_eq!(sent.count(), STEP_BYTES / MESSAGE_BYTES);
        let refused = effects.send(To::Player(ANN), Delivery::Reliable, &long);
        assert_eq!(refused, Err(SendError::StepBytes));
    }
}
