//! A member who speaks `rtype`: what it says, and what it is told beside the world.
//!
//! The dialect acknowledges nothing, so that everything in it is absolute: what has changed is said
//! at once, and while it matters again every second.

use std::time::Duration;

use crate::full::FullForm;
use crate::rtype::wire::{
    Despawn, Entity, GameOver, GameOverReason, HEADER_LEN, HelloAck, Kind, LivesUpdate,
    LobbyConfig, LobbyStatus, MAX_DATAGRAM_LEN, Packet, Ping, ReturnToMenu, Roster, RosterEntry,
    ScoreUpdate, State,
};
use crate::sight::SharedSight;
use crate::{ClassicGame, RtypeMatch, RtypeWish};
use backspin::channel::{Journal, LogLine};
use backspin::dialect::{Greeting, Hearing, Manners, Meaning, RoomDialect, Saying, Telling};
use backspin::game::{Buttons, Event, PlayerId, Standing};
use backspin::replication::State as World;
use backspin::room::Counted;
use backspin::session::{Question, Verdict};
use backspin::time::Time;
use backspin::wire::native::{self, CloseReason, PlayerFlags};
use backspin::wire::{Full, List, Record};

/// What was told is told again after so long: it may have been lost.
const AGAIN_AFTER: Duration = Duration::from_secs(1);

/// So many entities fit a datagram.
const STATE_FIT: usize = (MAX_DATAGRAM_LEN - 1 - HEADER_LEN - 2) / <Entity as Record>::LEN;

/// After so much silence a player may come back from another address: a Hello needs no cookie.
const QUIET: Duration = Duration::from_secs(5);

/// What is kept of the players in a room, and what there is to show them.
#[derive(Clone, Debug, Default)]
pub(super) struct Room {
    /// By place.
    players: Vec<Player>,
    view: View,
    game: Option<RtypeMatch>,
}

/// What is kept for one player.
#[derive(Clone, Debug, Default)]
struct Player {
    /// The newest input's number; its client counts anew after a break.
    newest: Option<u32>,
    wishes: Wishes,
    told: Announced,
    /// What has gone in the last tick; so much of it was told already.
    gone: Option<u16>,
}

/// What there is to see, in the dialect's words.
#[derive(Clone, Debug, Default)]
struct View {
    sight: SharedSight,
    world: World,
    full: Option<FullForm>,
    entities: Vec<Entity>,
    /// Their ids, in order, and those of the look before.
    ids: Vec<u32>,
    ids_before: Vec<u32>,
    /// Those of what has gone in the last tick.
    gone: Vec<u32>,
}

/// What a player asked for since the last tick: the newest of each.
#[derive(Clone, Debug, Default)]
struct Wishes {
    config: Option<LobbyConfig>,
    start: bool,
}

/// What a member was told last. What is not there is to be told.
#[derive(Clone, Debug, Default)]
struct Announced {
    lobby: Option<LobbyStatus>,
    over: Option<GameOverReason>,
    team_score: Option<i32>,
    /// By place.
    lives: Vec<Option<(PlayerId, u8)>>,
    scores: Vec<Option<(PlayerId, i32)>>,
    at: Time,
}

impl Player {
    fn new(places: usize) -> Self {
        let (lives, scores) = (vec![None; places], vec![None; places]);
        Player { told: Announced { lives, scores, ..Announced::default() }, ..Player::default() }
    }

    /// The client may have been started anew: it counts its inputs from 0, and knows nothing.
    fn forget(&mut self) {
        self.newest = None;
        self.told.forget_match();
        self.told.forget_standings();
    }
}

impl Wishes {
    /// What is asked for; a match is set up before it starts.
    fn take(&mut self) -> impl Iterator<Item = RtypeWish> + use<> {
        let config = self.config.take().map(RtypeWish::Configure);
        let start = std::mem::take(&mut self.start).then_some(RtypeWish::Start);
        config.into_iter().chain(start)
    }
}

impl Announced {
    fn forget_match(&mut self) {
        (self.lobby, self.over) = (None, None);
    }

    fn forget_standings(&mut self) {
        self.team_score = None;
        self.lives.fill(None);
        self.scores.fill(None);
    }

    /// What of the board the member does not know; counts it as told.
    fn next(
        &mut self,
        now: Time,
        game: Option<RtypeMatch>,
        players: &[Option<Counted>],
    ) -> Option<Packet<'static>> {
        if now.since(self.at) >= AGAIN_AFTER {
            self.at = now;
            self.forget_match();
            if game.is_some_and(|game| game.lobby.started) {
                self.forget_standings();
            }
        }
        let about_match = game.and_then(|game| self.next_of_match(&game));
        let about_players = about_match.or_else(|| self.next_of_players(players));
        about_players.or_else(|| self.next_team_score(game?.team_score))
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

impl View {
    /// What there is now in the dialect's words, by the names of the fields and what the game makes
    /// of them, players and enemies first; and what is there no more.
    fn translate<G: ClassicGame>(&mut self, tick: u32, game: &G, world: &G::World) {
        self.world.clear(tick);
        self.sight.capture(game, world, &mut self.world);
        let full = self.full.get_or_insert_with(|| FullForm::new(game.schema()));
        self.entities.clear();
        self.entities.extend(self.world.entities().iter().filter_map(|entity| {
            let full = full.entity(entity)?;
            let plain = Entity {
                id: full.entity_id,
                kind: match full.entity_type {
                    0 => Kind::Player,
                    1 => Kind::Enemy,
                    2 => Kind::Bullet,
                    _ => Kind::PowerUp,
                },
                x: full.x,
                y: full.y,
                vx: f32::from(full.vx),
                vy: f32::from(full.vy),
                rgba: 0x55AA_FFFF,
            };
            game.rtype_entity(entity, plain)
        }));
        self.entities.sort_unstable_by_key(|entity| (entity.kind as u8, entity.id));
        std::mem::swap(&mut self.ids, &mut self.ids_before);
        self.ids.clear();
        self.ids.extend(self.entities.iter().map(|entity| entity.id));
        self.ids.sort_unstable();
        let is_gone = |id: &&u32| self.ids.binary_search(id).is_err();
        self.gone.extend(self.ids_before.iter().filter(is_gone));
    }

    /// The entities from `from` on, as many as fit a datagram, and where to go on.
    fn encode(&self, from: usize, out: &mut [u8]) -> (Result<usize, Full>, usize) {
        let rest = self.entities.get(from..).unwrap_or_default();
        let entities = &rest[..rest.len().min(STATE_FIT)];
        let state = State { entities: List::new(entities) };
        (Packet::State(state).encode(out), from + entities.len())
    }
}

impl Room {
    pub(super) fn new(places: usize) -> Self {
        Room { players: vec![Player::new(places); places], ..Room::default() }
    }
}

impl<G: ClassicGame> RoomDialect<G> for Room {
    fn manners(&self) -> Manners {
        Manners {
            proves_address: true,
            is_here_at_once: false,
            sends_every_tick: false,
            has_way_back: true,
            quiet: QUIET,
            is_pinged: true,
            stops_after: None,
            hears_of_drop: false,
        }
    }

    fn admit(&mut self, place: usize, player: PlayerId, _game: &G, _world: &G::World) {
        self.players[place] = Player::new(self.players.len());
        self.view.sight.admit(place, player);
    }

    fn vacate(&mut self, place: usize) {
        self.view.sight.vacate(place);
    }

    fn greet(&mut self, place: usize) -> bool {
        self.players[place].forget();
        true
    }

    fn handle(&mut self, place: usize, from: Hearing<'_>, bytes: &[u8]) -> Meaning {
        let Ok(packet) = Packet::decode(bytes) else { return Meaning::Nothing };
        let (player, number) = (&mut self.players[place], from.player.0);
        match packet {
            Packet::Input(input) => {
                // One that was overtaken would bring back what the player holds no more.
                let seq = input.sequence;
                let newest = player.newest.unwrap_or(seq);
                if seq.wrapping_sub(newest) as i32 >= 0 {
                    player.newest = Some(seq);
                    note_input(from.journal, number, seq, newest);
                    return Meaning::Input(Buttons(u16::from(input.bits.bits())));
                }
            }
            Packet::Pong(pong) => {
                let (sequence, timestamp) = (pong.sequence, pong.timestamp);
                let answer = Question { sequence, timestamp };
                let verdict = from.pinger.handle_answer(from.now, answer);
                if let Some(line) = LogLine::of_pong(from.now, answer, verdict) {
                    from.journal.note(of_player(line, number, from.high_latency));
                }
                if let Verdict::Sample(rtt) = verdict {
                    return Meaning::RoundTrip(rtt);
                }
            }
            Packet::LobbyConfig(config) => player.wishes.config = Some(config),
            Packet::StartMatch(_) => player.wishes.start = true,
            Packet::Disconnect(_) => return Meaning::Goodbye,
            _ => {}
        }
        Meaning::Alive
    }

    fn ask(
        &mut self,
        place: usize,
        player: PlayerId,
        game: &G,
        world: &mut G::World,
        events: &mut Vec<Event>,
    ) {
        for wish in self.players[place].wishes.take() {
            game.hear_rtype(world, player, wish, events);
        }
    }

    /// Its client shows a state when it comes: what is held now was an answer to one that left a
    /// round trip ago.
    fn drawn_back(&self, rtt: Option<Duration>, rate: u8) -> Option<f64> {
        rtt.map(|rtt| rtt.as_secs_f64() * f64::from(rate))
    }

    fn look(&mut self, tick: u32, game: &G, world: &G::World, is_new_tick: bool) {
        if is_new_tick {
            self.view.gone.clear();
            self.players.iter_mut().for_each(|player| player.gone = Some(0));
        }
        self.view.translate(tick, game, world);
        self.game = game.rtype_match(world);
    }

    fn speak(&mut self, place: usize, to: Telling<'_, G>, out: &mut [u8]) -> Option<Saying> {
        let player = &mut self.players[place];
        if let Some(from) = to.world_due.take().map(usize::from) {
            if from == 0 {
                to.journal.note(LogLine::SnapshotSent {
                    tick: to.tick,
                    entities: self.view.entities.len(),
                    player: to.player.0,
                    ack: player.newest.unwrap_or(0),
                });
            }
            let (len, upto) = self.view.encode(from, out);
            let is_more = upto < self.view.entities.len();
            *to.world_due = u16::try_from(upto).ok().filter(|_| is_more);
            return Some(Saying::Datagram(len));
        }
        if let Some(from) = player.gone.take()
            && let Some(&id) = self.view.gone.get(usize::from(from))
        {
            player.gone = from.checked_add(1);
            return Some(Saying::Datagram(Packet::Despawn(Despawn { id }).encode(out)));
        }
        if to.roster_due.take(to.now) {
            return Some(Saying::Roster);
        }
        if let Some(packet) = player.told.next(to.now, self.game, to.players) {
            return Some(Saying::Datagram(packet.encode(out)));
        }
        if !std::mem::take(to.ping_due) {
            return None;
        }
        let Question { sequence, timestamp } = to.pinger.ask(to.now);
        let ping = Packet::Ping(Ping { sequence, timestamp });
        Some(Saying::Datagram(ping.encode(out)))
    }

    fn encode_greeting(
        &mut self,
        _place: usize,
        to: Greeting<'_, G>,
        out: &mut [u8],
    ) -> Result<usize, Full> {
        to.journal.note(LogLine::HelloAckSent { to: to.address });
        Packet::HelloAck(HelloAck).encode(out)
    }

    fn encode_roster(
        &self,
        everyone: &[native::RosterEntry],
        out: &mut [u8],
    ) -> Result<usize, Full> {
        let here = |entry: &&native::RosterEntry| {
            let [absent, watches] = [PlayerFlags::ABSENT, PlayerFlags::WATCHES];
            !entry.flags.contains(absent) && !entry.flags.contains(watches)
        };
        let players = everyone.iter().filter(here);
        let players: Vec<_> = players
            .map(|entry| RosterEntry { id: entry.player, lives: entry.lives, name: entry.name })
            .collect();
        Packet::Roster(Roster { players: List::new(&players) }).encode(out)
    }

    fn encode_close(
        &mut self,
        _place: usize,
        _reason: CloseReason,
        out: &mut [u8],
    ) -> Option<Result<usize, Full>> {
        Some(Packet::ReturnToMenu(ReturnToMenu).encode(out))
    }

    fn clone_box(&self) -> Box<dyn RoomDialect<G>> {
        Box::new(self.clone())
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
fn of_player(line: LogLine, player: u32, high_latency: Duration) -> LogLine {
    match line {
        LogLine::Latency { ms, .. } if ms > high_latency.as_millis() as u64 => {
            LogLine::HighLatency { player, ms }
        }
        LogLine::Latency { ms, seq } => LogLine::PlayerLatency { player, ms, seq },
        line => line,
    }
}
