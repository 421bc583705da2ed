//! What a room leaves out because a limit of docs/limits.md is reached. Whoever runs the server is told:
//! at once, and then every few seconds with a count.

use std::fmt;
use std::time::Duration;

use super::{Room, RoomEvent};
use crate::channel::{SendError, UNRELIABLE_BYTES, UNRELIABLE_MESSAGES};
use crate::game::{Game, MAX_SEND_EVERY, PlayerId, REWIND_TICKS_MAX, rewind_ticks_asked};
use crate::replication::PushError;
use crate::time::Time;

/// How often the same kind is told of in a room.
const TELL_EVERY: Duration = Duration::from_secs(5);

/// What is visible and waits longer than this for the byte budget is told of.
const WAIT_LIMIT: Duration = Duration::from_secs(1);

/// Something that was left out, and why. `Display` says so in a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeftOut {
    /// An entity that [`State::push`](crate::replication::State::push) refused.
    Entity(PushError),
    /// An entity that is not of the game's schema.
    OffSchema {
        /// Its id.
        entity: u32,
    },
    /// The byte budget is too small for what a player may see.
    View {
        /// Whose view is served worst.
        player: PlayerId,
        /// How many other players are short, too.
        others: u32,
        /// [`Game::byte_budget`].
        budget: u32,
        /// What the player's last snapshot had no room for.
        unsent: u32,
        /// How long the longest of those has waited for the budget.
        waited_ms: u32,
    },
    /// A message of the rules.
    Message(SendError),
    /// Unreliable messages to or from a player.
    Unreliable(PlayerId),
    /// A datagram to a player that did not fit its buffer.
    Datagram(PlayerId),
    /// [`Game::send_every`] is more than [`MAX_SEND_EVERY`].
    SendEvery {
        /// What the game says.
        asked: u8,
    },
    /// [`Game::rewind_limit_ms`] is more than [`REWIND_TICKS_MAX`] ticks.
    Rewind {
        /// What the game says.
        asked_ms: u32,
        /// What it gets.
        given_ms: u32,
    },
}

/// How much was left out, by kind.
///
/// Of [`LeftOut::View`] it is the seconds in which some player's view was short, of settings that were
/// cut the rooms in which they were.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeftOutCounts([u64; KINDS]);

const KINDS: usize = 8;

impl LeftOut {
    /// The names of the kinds, for a metric.
    const NAMES: [&str; KINDS] = [
        "entity",
        "off_schema",
        "byte_budget",
        "message",
        "unreliable_message",
        "datagram",
        "send_every",
        "rewind",
    ];

    /// What a game's settings ask for beyond what there is.
    pub fn of_settings<G: Game>(game: &G) -> [Option<LeftOut>; 2] {
        let asked = game.send_every();
        let send_every = (asked > MAX_SEND_EVERY).then_some(LeftOut::SendEvery { asked });
        let is_far = rewind_ticks_asked(game) > REWIND_TICKS_MAX;
        let rewind = is_far.then(|| LeftOut::Rewind {
            asked_ms: game.rewind_limit_ms(),
            given_ms: REWIND_TICKS_MAX * 1_000 / u32::from(game.tick_rate().max(1)),
        });
        [send_every, rewind]
    }

    fn kind(&self) -> usize {
        match self {
            LeftOut::Entity(_) => 0,
            LeftOut::OffSchema { .. } => 1,
            LeftOut::View { .. } => 2,
            LeftOut::Message(_) => 3,
            LeftOut::Unreliable(_) => 4,
            LeftOut::Datagram(_) => 5,
            LeftOut::SendEvery { .. } => 6,
            LeftOut::Rewind { .. } => 7,
        }
    }
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            LeftOut::Entity(error) => write!(f, "an entity is left out of the world: {error}"),
            LeftOut::OffSchema { entity } => write!(
                f,
                "entity {entity} is left out of the world: its kind or one of its counts is not in the \
                 game's schema"
            ),
            LeftOut::View { player, others, budget, unsent, waited_ms } => {
                write!(
                    f,
                    "the byte budget of {budget} B/s leaves {unsent} things unsent to {player}"
                )?;
                match others {
                    0 => {}
                    1 => write!(f, " (and some to another player)")?,
                    _ => write!(f, " (and some to {others} others)")?,
                }
                let (seconds, tenths) = (waited_ms / 1000, waited_ms / 100 % 10);
                write!(
                    f,
                    ", the oldest for {seconds}.{tenths} s: raise Game::byte_budget or show less"
                )
            }
            LeftOut::Message(error) => write!(f, "a message of the game is not sent. {error}"),
            LeftOut::Unreliable(player) => write!(
                f,
                "unreliable messages to or from {player} are dropped: in one tick there is room for \
                 {UNRELIABLE_MESSAGES} and {UNRELIABLE_BYTES} bytes"
            ),
            LeftOut::Datagram(player) => {
                write!(
                    f,
                    "a datagram to {player} is not sent: what the game shows is too long for it"
                )
            }
            LeftOut::SendEvery { asked } => write!(
                f,
                "the game asks for a snapshot every {asked} ticks; it is sent every {MAX_SEND_EVERY}, \
                 which is the most"
            ),
            LeftOut::Rewind { asked_ms, given_ms } => write!(
                f,
                "the game asks to rewind {asked_ms} ms; it rewinds {given_ms} ms, which is \
                 {REWIND_TICKS_MAX} ticks, the most"
            ),
        }
    }
}

impl LeftOutCounts {
    /// Each kind by its name.
    pub fn by_kind(&self) -> impl Iterator<Item = (&'static str, u64)> {
        LeftOut::NAMES.into_iter().zip(self.0)
    }

    /// All of them.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// Both together.
    pub(crate) fn plus(self, other: LeftOutCounts) -> Self {
        LeftOutCounts(std::array::from_fn(|kind| self.0[kind] + other.0[kind]))
    }
}

/// What was left out in a room, and what of it was told.
#[derive(Clone, Debug, Default)]
pub(super) struct Ledger {
    counts: LeftOutCounts,
    kinds: [Tally; KINDS],
    last: Option<LeftOut>,
}

/// One kind.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    /// The last of those that nobody was told of, and how many they are.
    untold: Option<(LeftOut, u64)>,
    told: Option<Time>,
}

impl Ledger {
    /// Counts it; what there is to tell, and of how many.
    fn note(&mut self, now: Time, what: LeftOut, times: u64) -> Option<(LeftOut, u64)> {
        let kind = what.kind();
        self.counts.0[kind] += times;
        self.last = Some(what);
        let untold = self.kinds[kind].untold.map_or(0, |(_, untold)| untold);
        self.kinds[kind].untold = Some((what, untold + times));
        self.kinds[kind].poll(now)
    }

    /// What has waited for its turn to be told.
    fn poll(&mut self, now: Time) -> Option<(LeftOut, u64)> {
        self.kinds.iter_mut().find_map(|tally| tally.poll(now))
    }
}

impl Tally {
    fn poll(&mut self, now: Time) -> Option<(LeftOut, u64)> {
        if self.told.is_some_and(|told| now.since(told) < TELL_EVERY) {
            return None;
        }
        let untold = self.untold.take()?;
        self.told = Some(now);
        Some(untold)
    }
}

impl<G: Game> Room<G> {
    /// How much was left out because of a limit.
    pub fn left_out(&self) -> LeftOutCounts {
        self.ledger.counts
    }

    /// What was left out last, if anything ever was.
    pub fn last_left_out(&self) -> Option<LeftOut> {
        self.ledger.last
    }

    /// Something is left out, so many times.
    pub(super) fn leave_out(&mut self, now: Time, what: LeftOut, times: u64) {
        if let Some((what, times)) = self.ledger.note(now, what, times) {
            self.note(RoomEvent::LeftOut { what, times });
        }
    }

    /// Nothing more will be left out: what waits for its turn is told now.
    pub(super) fn tell_untold(&mut self) {
        while let Some((what, times)) = self.ledger.poll(Time::END) {
            self.note(RoomEvent::LeftOut { what, times });
        }
    }

    /// Tells what the game asks for beyond what there is.
    pub(super) fn check_settings(&mut self, now: Time) {
        let beyond = LeftOut::of_settings(&self.game);
        beyond.into_iter().flatten().for_each(|what| self.leave_out(now, what, 1));
    }

    /// Takes from the state what cannot be sent, and tells of it and of what was not taken into it.
    pub(super) fn check_state(&mut self, now: Time) {
        let schema = self.game.schema();
        let Some(state) = self.shown.history.newest_mut() else { return };
        let refused = state.refused().map(|error| (error, state.refusals()));
        let off_schema = state.drop_off_schema(schema);
        if let Some((error, times)) = refused {
            self.leave_out(now, LeftOut::Entity(error), times.into());
        }
        if let Some((entity, times)) = off_schema {
            self.leave_out(now, LeftOut::OffSchema { entity }, times as u64);
        }
    }

    /// Looks once a second whether anyone's view or messages fall short: what each member has of them
    /// is not near in a tick.
    pub(super) fn check_members(&mut self, now: Time) {
        let rate = u32::from(self.game.tick_rate()).max(1);
        if !self.tick.is_multiple_of(rate) {
            return;
        }
        self.check_views(now, rate);
        (0..self.members.len()).for_each(|place| self.check_messages(now, place));
        while let Some((what, times)) = self.ledger.poll(now) {
            self.note(RoomEvent::LeftOut { what, times });
        }
    }

    /// Tells what messages of a member were lost since the last look.
    pub(super) fn check_messages(&mut self, now: Time, place: usize) {
        let Some(Some(member)) = self.members.get_mut(place) else { return };
        let (lost, player) = (member.messages_lost - member.messages_lost_told, member.player);
        member.messages_lost_told = member.messages_lost;
        if lost > 0 {
            self.leave_out(now, LeftOut::Unreliable(player), lost);
        }
    }

    fn check_views(&mut self, now: Time, rate: u32) {
        let limit_ms = WAIT_LIMIT.as_millis() as u32;
        let members = self.members.iter().flatten().filter(|member| member.is_here());
        let waits = members.filter_map(|member| {
            let counts = member.native.view.as_ref()?.counts();
            let waited_ms = (u64::from(counts.oldest_ticks) * 1_000 / u64::from(rate)) as u32;
            (waited_ms > limit_ms).then_some((waited_ms, counts.unsent, member.player))
        });
        let (mut short, mut worst) = (0, None);
        for wait in waits {
            short += 1;
            worst = worst.max(Some(wait));
        }
        if let Some((waited_ms, unsent, player)) = worst {
            let (others, budget) = (short - 1, self.game.byte_budget());
            let what = LeftOut::View { player, others, budget, unsent, waited_ms };
            self.leave_out(now, what, 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOO_LONG: LeftOut = LeftOut::Message(SendError::TooLong);

    #[test]
    fn the_first_is_told_at_once_and_the_others_together_after_five_seconds() {
        let mut ledger = Ledger::default();
        let at = Time::from_millis;
        assert_eq!(ledger.note(at(0), TOO_LONG, 1), Some((TOO_LONG, 1)));
        assert_eq!(ledger.note(at(1_000), TOO_LONG, 2), None);
        // Another kind does not wait for this one.
        let entity = LeftOut::Entity(PushError::Limit);
        assert_eq!(ledger.note(at(1_000), entity, 7), Some((entity, 7)));
        assert_eq!(ledger.note(at(4_999), TOO_LONG, 1), None);
        assert_eq!((ledger.poll(at(4_999)), ledger.poll(at(5_000))), (None, Some((TOO_LONG, 3))));
        assert_eq!(ledger.poll(at(60_000)), None);
        assert_eq!(ledger.counts.by_kind().collect::<Vec<_>>()[3], ("message", 4));
        assert_eq!(ledger.counts.total(), 11);
    }

    #[test]
    fn every_kind_has_a_name_and_a_sentence_that_says_what_to_do() {
        let player = PlayerId(2);
        let view = |others| LeftOut::View {
            player,
            others,
            budget: 20_000,
            unsent: 140,
            waited_ms: 1_449,
        };
        assert_eq!(
            view(0).to_string(),
            "the byte budget of 20000 B/s leaves 140 things unsent to player 2, the oldest for 1.4 s: \
             raise Game::byte_budget or show less"
        );
        assert!(view(3).to_string().contains("to player 2 (and some to 3 others), "));
        let all = [
            LeftOut::Entity(PushError::Duplicate(7)),
            LeftOut::OffSchema { entity: 7 },
            view(1),
            TOO_LONG,
            LeftOut::Unreliable(player),
            LeftOut::Datagram(player),
            LeftOut::SendEvery { asked: 9 },
            LeftOut::Rewind { asked_ms: 5_000, given_ms: 4_250 },
        ];
        let kinds: Vec<_> = all.iter().map(LeftOut::kind).collect();
        assert_eq!(kinds, (0..KINDS).collect::<Vec<_>>());
    }
}
