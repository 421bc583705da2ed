//! A member who speaks `rtype`: what it says, and what it is told beside the world.
//!
//! The dialect acknowledges nothing, so that everything in it is absolute: what has changed is said
//! at once, and while it matters again every second.

use std::time::Duration;

use super::member::{Came, Keep, Member, Speech};
use super::voice::closing;
use super::{Board, Counted, Room, RoomConfig};
use crate::channel::{Journal, LogLine};
use crate::game::{Buttons, Game, PlayerId, RtypeMatch, RtypeWish, Standing};
use crate::session::{Question, Verdict};
use crate::time::Time;
use crate::wire::native::{self, PlayerFlags};
use crate::wire::rtype::{
    Despawn, Entity, GameOver, GameOverReason, HEADER_LEN, HelloAck, LivesUpdate, LobbyConfig,
    LobbyStatus, MAX_DATAGRAM_LEN, Packet, Ping, ReturnToMenu, Roster, RosterEntry, ScoreUpdate,
    State,
};
use crate::wire::{Full, List, Record};

/// What was told is told again after so long: it may have been lost.
const AGAIN_AFTER: Duration = Duration::from_secs(1);

/// So many entities fit a datagram.
const STATE_FIT: usize = (MAX_DATAGRAM_LEN - 1 - HEADER_LEN - 2) / <Entity as Record>::LEN;

/// What is kept for one member.
#[derive(Clone, Debug)]
pub(super) struct Rtype {
    pub(super) kept_by_stream: bool,
    /// The newest input's number; its client counts anew after a break.
    pub(super) newest: Option<u32>,
    pub(super) wishes: Wishes,
    pub(super) told: Told,
}

/// What a player asked for since the last tick: the newest of each.
#[derive(Clone, Debug, Default)]
pub(super) struct Wishes {
    config: Option<LobbyConfig>,
    start: bool,
}

/// What a member was told last. What is not there is to be told.
#[derive(Clone, Debug)]
pub(super) struct Told {
    lobby: Option<LobbyStatus>,
    over: Option<GameOverReason>,
    team_score: Option<i32>,
    /// By place.
    lives: Vec<Option<(PlayerId, u8)>>,
    scores: Vec<Option<(PlayerId, i32)>>,
    at: Time,
}

impl Rtype {
    pub(super) fn new(kept_by_stream: bool, places: usize) -> Self {
        let told = Told {
            lobby: None,
            over: None,
            team_score: None,
            lives: vec![None; places],
            scores: vec![None; places],
            at: Time::ZERO,
        };
        Rtype { kept_by_stream, newest: None, wishes: Wishes::default(), told }
    }

    /// The client may have been started anew: it counts its inputs from 0, and knows nothing.
    pub(super) fn forget(&mut self) {
        self.newest = None;
        self.told.forget_match();
        self.told.forget_standings();
    }
}

impl Wishes {
    /// What is asked for; a match is set up before it starts.
    pub(super) fn take(&mut self) -> impl Iterator<Item = RtypeWish> + use<> {
        let config = self.config.take().map(RtypeWish::Configure);
        let start = std::mem::take(&mut self.start).then_some(RtypeWish::Start);
        config.into_iter().chain(start)
    }
}

impl Told {
    fn forget_match(&mut self) {
        (self.lobby, self.over) = (None, None);
    }

    fn forget_standings(&mut self) {
        self.team_score = None;
        self.lives.fill(None);
        self.scores.fill(None);
    }

    /// What of the board the member does not know; counts it as told.
    fn next(&mut self, now: Time, board: &Board) -> Option<Packet<'static>> {
        if now.since(self.at) >= AGAIN_AFTER {
            self.at = now;
            self.forget_match();
            if board.game.is_some_and(|game| game.lobby.started) {
                self.forget_standings();
            }
        }
        let about_match = board.game.and_then(|game| self.next_of_match(&game));
        let about_players = about_match.or_else(|| self.next_of_players(&board.players));
        about_players.or_else(|| self.next_team_score(board.game?.team_score))
    }

    fn next_of_match(&mut self, game: &RtypeMatch) -> Option<Packet<'static>> {
        if self.lobby.replace(game.lobby) != Some(game.lobby) {
            return Some(Packet::LobbyStatus(game.lobby));
        }
        if std::mem::replace(&mut self.over, game.over) != game.over
            && let Some(reason) = game.over
        {
            return Some(Packet::GameOver(GameOver { reason }));
        }
        None
    }

    /// The first program's client ignores whose score it is and shows what came last: the team's
    /// comes after everyone's.
    fn next_team_score(&mut self, score: i32) -> Option<Packet<'static>> {
        let known = self.team_score.replace(score) == Some(score);
        (!known).then_some(Packet::ScoreUpdate(ScoreUpdate { id: 0, score }))
    }

    fn next_of_players(&mut self, players: &[Option<Counted>]) -> Option<Packet<'static>> {
        let told = self.lives.iter_mut().zip(&mut self.scores);
        for (player, (told_lives, told_score)) in players.iter().zip(told) {
            let Some(Counted { player, standing: Some(standing), .. }) = *player else { continue };
            let Standing { lives, score } = standing;
            if told_lives.replace((player, lives)) != Some((player, lives)) {
                return Some(Packet::LivesUpdate(LivesUpdate { id: player.0, lives }));
            }
            if told_score.replace((player, score)) != Some((player, score)) {
                self.team_score = None;
                return Some(Packet::ScoreUpdate(ScoreUpdate { id: player.0, score }));
            }
        }
        None
    }
}

impl<G: Game> Room<G> {
    /// The next datagram to the member in place `at`, in `rtype`.
    pub(super) fn speak_rtype(
        &mut self,
        now: Time,
        members: &mut [Option<Member>],
        at: usize,
        out: &mut [u8],
    ) -> Option<Result<usize, Full>> {
        let member = members[at].as_mut()?;
        // Whoever was silent may come back with the token; and another program may be at the
        // address by now, which would take it for its own end.
        member.due.silent = false;
        if closing(member).is_some() {
            return Some(Packet::ReturnToMenu(ReturnToMenu).encode(out));
        }
        if !member.is_here() {
            return None;
        }
        if std::mem::take(&mut member.due.greeting) {
            self.journal.note(LogLine::HelloAckSent { to: member.path.remote });
            return Some(Packet::HelloAck(HelloAck).encode(out));
        }
        if let Some(from) = member.due.world.take().map(usize::from) {
            if from == 0 {
                self.journal.note(LogLine::SnapshotSent {
                    tick: self.tick,
                    entities: self.view.rtype.len(),
                    player: member.player.0,
                    ack: member.voice.newest_rtype().unwrap_or(0),
                });
            }
            let (len, upto) = self.encode_state(from, out);
            let is_more = upto < self.view.rtype.len();
            member.due.world = u16::try_from(upto).ok().filter(|_| is_more);
            return Some(len);
        }
        if let Some(from) = member.due.gone.take()
            && let Some(&id) = self.view.gone.get(usize::from(from))
        {
            member.due.gone = from.checked_add(1);
            return Some(Packet::Despawn(Despawn { id }).encode(out));
        }
        if member.roster.take(now) {
            return Some(self.encode_roster(members, out));
        }
        if let Speech::Rtype(rtype) = &mut member.voice
            && let Some(packet) = rtype.told.next(now, &self.board)
        {
            return Some(packet.encode(out));
        }
        if !std::mem::take(&mut member.due.ping) {
            return None;
        }
        let ping = member.seldom.pinger.ask(now);
        let ping = Ping { sequence: ping.sequence, timestamp: ping.timestamp };
        Some(Packet::Ping(ping).encode(out))
    }

    fn encode_roster(&self, members: &[Option<Member>], out: &mut [u8]) -> Result<usize, Full> {
        let here = |entry: &native::RosterEntry| {
            let [absent, watches] = [PlayerFlags::ABSENT, PlayerFlags::WATCHES];
            !entry.flags.contains(absent) && !entry.flags.contains(watches)
        };
        let players = self.roster(members).into_iter().filter(here);
        let players: Vec<_> = players
            .map(|entry| RosterEntry { id: entry.player, lives: entry.lives, name: entry.name })
            .collect();
        Packet::Roster(Roster { players: List::new(&players) }).encode(out)
    }

    /// The entities from `from` on, as many as fit a datagram, and where to go on.
    fn encode_state(&self, from: usize, out: &mut [u8]) -> (Result<usize, Full>, usize) {
        let rest = self.view.rtype.get(from..).unwrap_or_default();
        let entities = &rest[..rest.len().min(STATE_FIT)];
        let state = State { entities: List::new(entities) };
        (Packet::State(state).encode(out), from + entities.len())
    }
}

impl Member {
    pub(super) fn handle_rtype(
        &mut self,
        now: Time,
        packet: &Packet<'_>,
        config: &RoomConfig,
        journal: &mut Journal,
    ) -> Came {
        let Speech::Rtype(rtype) = &mut self.voice else { return Came::Nothing };
        let mut came = Came::Nothing;
        match packet {
            Packet::Input(input) => {
                // One that was overtaken would bring back what the player holds no more.
                let seq = input.sequence;
                let newest = rtype.newest.unwrap_or(seq);
                if seq.wrapping_sub(newest) as i32 >= 0 {
                    rtype.newest = Some(seq);
                    note_input(journal, self.player.0, seq, newest);
                    self.buttons = Buttons(u16::from(input.bits.bits()));
                    self.last_input = now;
                    self.inputs += 1;
                }
            }
            Packet::Pong(pong) => {
                let (sequence, timestamp) = (pong.sequence, pong.timestamp);
                let answer = Question { sequence, timestamp };
                let verdict = self.seldom.pinger.handle_answer(now, answer);
                if let Verdict::Sample(rtt) = verdict {
                    came = self.measure(rtt, config);
                }
                if let Some(line) = LogLine::of_pong(now, answer, verdict) {
                    journal.note(of_player(line, self.player.0, config));
                }
            }
            Packet::LobbyConfig(config) => rtype.wishes.config = Some(*config),
            Packet::StartMatch(_) => rtype.wishes.start = true,
            Packet::Disconnect(_) => return Came::Goodbye { keep: Keep::Place },
            _ => {}
        }
        self.heard_or(now, came, config)
    }
}

impl Speech {
    /// The number of the newest input.
    fn newest_rtype(&self) -> Option<u32> {
        match self {
            Speech::Rtype(rtype) => rtype.newest,
            _ => None,
        }
    }
}

/// An input is applied when it comes: what it holds is held from then on.
fn note_input(journal: &mut Journal, player: u32, seq: u32, newest: u32) {
    let gap = seq.wrapping_sub(newest).saturating_sub(1);
    journal.note(LogLine::InputRecv { player, seq, gap });
    if gap > 0 {
        let (first, last) = (newest.wrapping_add(1), seq.wrapping_sub(1));
        journal.note(LogLine::InputsLost { player, lost: gap, first, last });
    }
    journal.note(LogLine::InputProcess { player, seq, last_ack: seq });
}

/// What a Pong says, with the player whose it is.
fn of_player(line: LogLine, player: u32, config: &RoomConfig) -> LogLine {
    match line {
        LogLine::Latency { ms, .. } if ms > config.high_latency.as_millis() as u64 => {
            LogLine::HighLatency { player, ms }
        }
        LogLine::Latency { ms, seq } => LogLine::PlayerLatency { player, ms, seq },
        line => line,
    }
}
