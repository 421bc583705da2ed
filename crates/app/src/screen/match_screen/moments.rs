//! Explosions and sounds from the difference between two frames, and the chat.

use std::collections::VecDeque;
use std::time::Duration;

use backspin::chat;
use backspin::client::Frame;
use backspin::game::{Event, PlayerId};
use backspin::replication::State;
use backspin::time::Time;

use super::super::stage::{Happenings, Names, Sight, Stage};
use super::super::{Burst, BurstKind, ChatLine, Cue, Scene};

/// Bursts that are shown at once; older ones make room.
const BURST_LIMIT: usize = 64;

/// Sounds that were not taken yet; a UI without sound never takes them.
const CUE_LIMIT: usize = 32;

/// Lines of the chat that are shown, and those that are kept for who writes one.
const CHAT_SHOWN: usize = 4;
const CHAT_KEPT: usize = 8;

/// How long each is shown, and how long it takes to go.
const CHAT_FOR: Duration = Duration::from_secs(8);
const CHAT_FADES_FOR: Duration = Duration::from_secs(2);

/// The last two pictures, and what is to be shown and heard of them.
pub(in super::super) struct Moments<G: Stage> {
    now: LastFrame<G>,
    before: LastFrame<G>,
    state: State,
    bursts: VecDeque<(BurstKind, f32, f32, u32, Time)>,
    count: u32,
    cues: Vec<Cue>,
    chat: VecDeque<ChatLineShown>,
}

/// Something that was said.
struct ChatLineShown {
    player: PlayerId,
    /// Called, where it is said who wrote it; else the roster knows.
    name: Option<String>,
    text: String,
    at: Time,
}

/// Which lines of the chat are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum ChatShown {
    /// The newest, for a while.
    Lately,
    /// All that are kept: someone is writing.
    All,
}

/// What was drawn.
pub(super) struct LastFrame<G: Stage> {
    frame: Frame,
    world: G::World,
    own: Option<PlayerId>,
}

impl<G: Stage> LastFrame<G> {
    fn new(game: &G) -> Self {
        let world = game.restore(&State::default());
        LastFrame { frame: Frame::default(), world, own: None }
    }

    fn sight(&self) -> Sight<'_, G> {
        Sight { frame: &self.frame, world: &self.world, own: self.own }
    }
}

impl<G: Stage> Moments<G> {
    pub(in super::super) fn new(game: &G) -> Self {
        Moments {
            now: LastFrame::new(game),
            before: LastFrame::new(game),
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
        if let Some((player, words)) = game.said(event) {
            self.note(ChatLineShown { player, name: None, text: words.to_owned(), at: now });
        }
    }

    /// Someone has written a line. It shows itself with care.
    pub(in super::super) fn read(&mut self, now: Time, line: &chat::ChatLine) {
        let (player, name) = (line.player, line.name.to_string());
        let name = match (player, name.is_empty()) {
            (PlayerId(0), _) => Some(String::new()),
            (_, true) => None,
            (_, false) => Some(name),
        };
        self.note(ChatLineShown { player, name, text: line.text.to_string(), at: now });
    }

    fn note(&mut self, said: ChatLineShown) {
        if self.chat.len() == CHAT_KEPT {
            self.chat.pop_front();
        }
        self.chat.push_back(said);
        self.cue(Cue::Chat);
    }

    /// What was said.
    pub(in super::super) fn chat(
        &self,
        now: Time,
        names: &Names,
        shown: ChatShown,
    ) -> Vec<ChatLine> {
        let first = match shown {
            ChatShown::Lately => self.chat.len().saturating_sub(CHAT_SHOWN),
            ChatShown::All => 0,
        };
        let fade = |said: &ChatLineShown| match shown {
            ChatShown::Lately => {
                let left = CHAT_FOR.saturating_sub(now.since(said.at));
                left.div_duration_f32(CHAT_FADES_FOR).min(1.0)
            }
            ChatShown::All => 1.0,
        };
        let lines = self.chat.iter().skip(first).map(|said| ChatLine {
            number: said.player.0.saturating_sub(1).min(u8::MAX.into()) as u8,
            name: said.name.clone().unwrap_or_else(|| names.of(said.player)),
            text: said.text.clone(),
            fade: fade(said),
        });
        lines.filter(|line| line.fade > 0.0).collect()
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
