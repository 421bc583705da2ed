//! What players say to the game and to each other, and what the game tells them.

use super::member::{Member, Presence};
use super::{EVENT_LIMIT, LeftOut, Room, RoomEvent};
use crate::channel::SendError;
use crate::chat::{ChatError, ChatLine, ChatRule, ChatText, ROOM_RATE};
use crate::game::{Effects, Game, Letter, PlayerId, Reach, To};
use crate::sabotage::{self, Sabotage};
use crate::session::{Allowance, Rate};
use crate::time::Time;
use crate::wire::Name;
use crate::wire::native::{CloseReason, MessageKind, Role};

/// How many reliable messages of a player are heard in one tick; the others wait for the next, and what
/// waits is not acknowledged. So nobody says more than 960 in a second at 60 Hz, however much is sent;
/// rules that pass on what players say limit it further.
pub const HEARD_PER_TICK: usize = 16;

/// How many of the last lines of chat a room remembers.
pub const CHAT_KEPT: usize = 32;

/// How often a player is told that a line was refused.
const REFUSAL_RATE: Rate = Rate { per_second: 1, burst: 2 };

/// What became of messages in a room.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MessageCounts {
    /// Sessions that ended because more messages waited for the player than are kept.
    pub overruns: u64,
    /// Lines of chat that were refused.
    pub chat_refused: u64,
    /// Unreliable messages for which there was no room.
    pub lost: u64,
    /// Messages of players that the game could not read.
    pub malformed: u64,
}

impl MessageCounts {
    /// Both together.
    pub(crate) fn plus(self, other: MessageCounts) -> Self {
        MessageCounts {
            overruns: self.overruns + other.overruns,
            chat_refused: self.chat_refused + other.chat_refused,
            malformed: self.malformed + other.malformed,
            lost: self.lost + other.lost,
        }
    }
}

impl<G: Game> Room<G> {
    /// What became of messages.
    pub fn message_counts(&self) -> MessageCounts {
        let lost = self.members.iter().flatten().map(|member| member.messages_lost).sum::<u64>();
        MessageCounts { lost: self.message_counts.lost + lost, ..self.message_counts }
    }

    /// The oldest line of chat that was not asked for, of the last [`CHAT_KEPT`].
    pub fn poll_chat(&mut self) -> Option<&ChatLine> {
        self.unread_chat = self.unread_chat.checked_sub(1)?;
        self.chat.get(self.chat.len() - 1 - self.unread_chat)
    }

    /// The last lines of chat, at most [`CHAT_KEPT`], the newest last.
    pub fn recent_chat(&self) -> impl ExactSizeIterator<Item = &ChatLine> {
        self.chat.iter()
    }

    /// Lets the game hear what players have said since the last tick, and passes chat on. Watchers have
    /// no say in the game.
    pub(super) fn hear(&mut self, now: Time) {
        let mut members = std::mem::take(&mut self.members);
        for (place, member) in members.iter_mut().enumerate() {
            let Some(member) = member else { continue };
            if let Some(at) = member.dialect.place() {
                if let Some(Some(spoken)) = self.spoken.get_mut(at) {
                    let (world, events) = (&mut self.world, &mut self.game_events);
                    spoken.ask(place, member.player, &self.game, world, events);
                }
            } else if member.session.messages.has_mail() {
                self.hear_member(now, member);
                member.session.messages.tidy();
            }
        }
        self.members = members;
        self.pass_on_chat();
    }

    fn hear_member(&mut self, now: Time, member: &mut Member) {
        let has_say = member.role == Role::Play || sabotage::is(Sabotage::WatcherHeard);
        let Room { game, world, game_events, mail, spoken_lines, message_counts, .. } = self;
        let mut effects = Effects::new(game_events).mailing(mail);
        let player = member.player;
        while let Some(message) = member.session.messages.take_unreliable() {
            if has_say && game.handle_message(world, player, message, &mut effects).is_err() {
                message_counts.malformed += 1;
            }
        }
        for _ in 0..HEARD_PER_TICK {
            let Some((kind, message)) = member.session.messages.take() else { break };
            match kind {
                MessageKind::Game if has_say => {
                    let heard = game.handle_message(world, player, message, &mut effects);
                    message_counts.malformed += u64::from(heard.is_err());
                }
                MessageKind::Game | MessageKind::Event => {}
                MessageKind::Chat => {
                    let text = ChatText::decode(message);
                    let (role, name) = (member.role, member.name);
                    let allowed = member.chat.allow(now, ROOM_RATE, 1);
                    match text.and_then(|text| judge(game.chat(), role, allowed).map(|()| text)) {
                        Ok(text) => spoken_lines.push(ChatLine { player, name, text }),
                        Err(error) => {
                            message_counts.chat_refused += 1;
                            refuse(now, member, error);
                        }
                    }
                }
            }
        }
    }

    /// Tells everyone what was written.
    fn pass_on_chat(&mut self) {
        let mut lines = std::mem::take(&mut self.spoken_lines);
        for line in lines.drain(..) {
            let mut room = [0; ChatLine::MAX_LEN];
            let bytes = line.encode(&mut room);
            self.tell_members(|member| member.tell(MessageKind::Chat, bytes));
            if self.chat.len() == CHAT_KEPT {
                self.chat.pop_front();
            }
            self.chat.push_back(line);
            self.unread_chat = (self.unread_chat + 1).min(CHAT_KEPT);
        }
        self.spoken_lines = lines;
    }

    /// Tells everyone what the rules have raised and sent, in that order.
    pub(super) fn tell(&mut self, now: Time) {
        if let Some((error, times)) = self.mail.take_refused() {
            self.leave_out(now, LeftOut::Message(error), times);
        }
        if self.game_events.is_empty() && self.mail.is_empty() {
            return;
        }
        let (mut events, mut mail) =
            (std::mem::take(&mut self.game_events), std::mem::take(&mut self.mail));
        let mut letters = mail.letters().peekable();
        for (at, event) in events.iter().enumerate() {
            while let Some(letter) = letters.next_if(|letter| letter.after <= at) {
                self.post(&letter);
            }
            if self.happened.len() == EVENT_LIMIT {
                self.happened.pop_front();
            }
            self.happened.push_back((self.tick, *event));
            if event.reach == Reach::Everyone {
                let bytes = event.encode();
                self.tell_members(|member| member.tell(MessageKind::Event, &bytes));
            }
        }
        letters.for_each(|letter| self.post(&letter));
        events.clear();
        mail.clear();
        (self.game_events, self.mail) = (events, mail);
    }

    fn post(&mut self, letter: &Letter<'_>) {
        let is_for = |player: PlayerId| match letter.to {
            To::Everyone => true,
            To::Player(only) => only == player,
            To::Players(players) => players.contains(&player),
        };
        self.tell_members(|member| match is_for(member.player) {
            true => member.deliver(letter.delivery, letter.message),
            false => Ok(()),
        });
    }

    /// Whose queue is full is told so, and gone: nobody goes on with a gap.
    fn tell_members(&mut self, mut tell: impl FnMut(&mut Member) -> Result<(), SendError>) {
        for member in self.members.iter_mut().flatten() {
            if tell(member).is_ok() || sabotage::is(Sabotage::QueueDrops) {
                continue;
            }
            member.close(CloseReason::Backlog);
            (self.may_speak, self.watch_at) = (true, Time::ZERO);
            self.message_counts.overruns += 1;
            let event = RoomEvent::Overrun(member.player);
            super::note(&mut self.events, event);
        }
    }
}

/// Whether a line may be written.
fn judge(rule: ChatRule, role: Role, allowed: Allowance) -> Result<(), ChatError> {
    match (rule, role) {
        (ChatRule::Off, _) => Err(ChatError::Off),
        (ChatRule::Players, Role::Watch) => Err(ChatError::Watching),
        _ if allowed == Allowance::No => Err(ChatError::TooFast),
        _ => Ok(()),
    }
}

/// Tells a member why its line was not passed on. Our own clients know before they send.
fn refuse(now: Time, member: &mut Member, error: ChatError) {
    let is_here = matches!(member.presence, Presence::Here | Presence::Invited { .. });
    if !is_here || member.chat_refusals.allow(now, REFUSAL_RATE, 1) == Allowance::No {
        return;
    }
    if let Ok(text) = ChatText::new(&error.to_string()) {
        let line = ChatLine { player: PlayerId(0), name: Name::default(), text };
        let mut room = [0; ChatLine::MAX_LEN];
        // A queue that is full is found out by the next event, at the latest by the next line.
        let _ = member.tell(MessageKind::Chat, line.encode(&mut room));
    }
}
