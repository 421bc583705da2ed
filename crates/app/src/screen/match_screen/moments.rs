//! What is drawn now and was drawn before, and what comes of the difference: bursts and sounds. And
//! what was said.

use std::collections::VecDeque;
use std::time::Duration;

use backspin::client::Frame;
use backspin::game::{Event, PlayerId};
use backspin::replication::State;
use backspin::time::Time;

use super::super::stage::{Happenings, Names, Sight, Stage};
use super::super::{Burst, BurstKind, ChatLine, Cue, Scene};

/// Bursts that are shown at once; older ones make room.
const BURST_LIMIT: usize = 64;

/// Sounds that nobody has asked for yet; a face without a loudspeaker never asks.
const CUE_LIMIT: usize = 32;

/// Lines of the chat that are shown.
const CHAT_LIMIT: usize = 4;

/// How long each is shown.
const CHAT_FOR: Duration = Duration::from_secs(6);

/// The last two pictures, and what is to be shown and heard of them.
pub(in super::super) struct Moments<G: Stage> {
    now: Picture<G>,
    before: Picture<G>,
    state: State,
    bursts: VecDeque<(BurstKind, f32, f32, u32, Time)>,
    count: u32,
    cues: Vec<Cue>,
    chat: VecDeque<(PlayerId, &'static str, Time)>,
}

/// What was drawn.
pub(super) struct Picture<G: Stage> {
    frame: Frame,
    world: G::World,
    own: Option<PlayerId>,
}

impl<G: Stage> Picture<G> {
    fn new(game: &G) -> Self {
        let world = game.restore(&State::default());
        Picture { frame: Frame::default(), world, own: None }
    }

    fn sight(&self) -> Sight<'_, G> {
        Sight { frame: &self.frame, world: &self.world, own: self.own }
    }
}

impl<G: Stage> Moments<G> {
    pub(in super::super) fn new(game: &G) -> Self {
        Moments {
            now: Picture::new(game),
            before: Picture::new(game),
            state: State::default(),
            bursts: VecDeque::new(),
            count: 0,
            cues: Vec::new(),
            chat: VecDeque::new(),
        }
    }

    /// Draws the next picture, and sees what has happened since the last.
    pub(in super::super) fn draw(
        &mut self,
        game: &G,
        now: Time,
        own: Option<PlayerId>,
        draw: impl FnOnce(&mut Frame),
    ) {
        std::mem::swap(&mut self.now, &mut self.before);
        draw(&mut self.now.frame);
        self.now.frame.write(game.schema(), &mut self.state);
        game.restore_into(&self.state, &mut self.now.world);
        self.now.own = own;
        let mut happenings = Happenings::default();
        game.happened(&self.before.sight(), &self.now.sight(), &mut happenings);
        for (kind, x, y) in happenings.bursts {
            if self.bursts.len() == BURST_LIMIT {
                self.bursts.pop_front();
            }
            self.count = self.count.wrapping_add(1);
            self.bursts.push_back((kind, x, y, self.count, now));
        }
        happenings.cues.into_iter().for_each(|cue| self.cue(cue));
        let is_over = |since: Time| now.since(since) >= Duration::from_secs_f32(Burst::SECONDS);
        while self.bursts.front().is_some_and(|(.., since)| is_over(*since)) {
            self.bursts.pop_front();
        }
    }

    /// What is drawn now.
    pub(in super::super) fn sight(&self) -> Sight<'_, G> {
        self.now.sight()
    }

    /// The same as plain things, with what has just burst.
    pub(in super::super) fn scene(&self, game: &G, now: Time) -> Scene {
        let burst = |&(kind, x, y, number, since): &(BurstKind, f32, f32, u32, Time)| Burst {
            number,
            kind,
            x,
            y,
            age: now.since(since).as_secs_f32(),
        };
        Scene { bursts: self.bursts.iter().map(burst).collect(), ..game.scene(&self.sight()) }
    }

    /// Something happened in the game.
    pub(in super::super) fn hear(&mut self, game: &G, now: Time, event: &Event) {
        let Some((player, words)) = game.said(event) else { return };
        if self.chat.len() == CHAT_LIMIT {
            self.chat.pop_front();
        }
        self.chat.push_back((player, words, now + CHAT_FOR));
        self.cue(Cue::Chat);
    }

    /// What was said lately.
    pub(in super::super) fn chat(&self, now: Time, names: &Names) -> Vec<ChatLine> {
        let lately = self.chat.iter().filter(|(.., until)| now < *until);
        let line = |&(player, words, _): &(PlayerId, &'static str, Time)| ChatLine {
            number: player.0.saturating_sub(1).min(u8::MAX.into()) as u8,
            name: names.of(player),
            text: words.to_owned(),
        };
        lately.map(line).collect()
    }

    pub(in super::super) fn cue(&mut self, cue: Cue) {
        if self.cues.len() < CUE_LIMIT {
            self.cues.push(cue);
        }
    }

    pub(in super::super) fn take_cues(&mut self) -> Vec<Cue> {
        std::mem::take(&mut self.cues)
    }
}
