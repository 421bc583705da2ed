//! A player of `ack` in a room: an input a tick, and the world with the number of the last one.

use std::collections::VecDeque;
use std::time::Duration;

use super::ids::Ids;
use super::inputs::Inputs;
use super::wire::{
    Bye, Datagram, ENTITIES_MAX, Packet, Pong, Snapshot, Welcome, entity_type, sentence,
};
use crate::full::EntityState;
use crate::full::FullForm;
use crate::sight::SharedSight;
use crate::{AckBoard, ClassicGame};
use backspin::channel::{InputSource, Journal, LogLine, Taken};
use backspin::dialect::{Greeting, Hearing, Manners, Meaning, RoomDialect, Saying, Telling};
use backspin::game::{Buttons, Event, PlayerId};
use backspin::replication::State;
use backspin::wire::native::CloseReason;
use backspin::wire::{Full, List};

/// The scoreboard has an id that nothing else has.
const BOARD_ID: u32 = u32::MAX;

/// PINGs that wait for their answer; more are dropped.
const PONG_LIMIT: usize = 4;

/// What is kept of the players in a room, and what there is to show them.
#[derive(Clone, Debug, Default)]
pub(super) struct Room {
    /// By place.
    players: Vec<Option<Player>>,
    view: View,
}

#[derive(Clone, Debug)]
struct Player {
    /// The game's entity, and its id on the wire.
    entity: u32,
    /// As it was seen last; with health 0 while it is not there.
    own: EntityState,
    inputs: Inputs,
    /// The number of the next datagram.
    sequence: u32,
    /// What was said in the first WELCOME is said in every other.
    joined: Option<u32>,
    pongs: VecDeque<Pong>,
}

/// What there is to see, in the dialect's words.
#[derive(Clone, Debug, Default)]
struct View {
    sight: SharedSight,
    world: State,
    full: Option<FullForm>,
    ids: Ids,
    /// Players first.
    entities: Vec<EntityState>,
    /// What is in one datagram.
    page: Vec<EntityState>,
}

impl Room {
    pub(super) fn new(places: usize) -> Self {
        Room { players: vec![None; places], ..Room::default() }
    }
}

impl Player {
    fn encode(&mut self, packet: Packet<'_>, out: &mut [u8]) -> Result<usize, Full> {
        let sequence = self.sequence;
        self.sequence = self.sequence.wrapping_add(1);
        Datagram { sequence, packet }.encode(out)
    }
}

impl View {
    /// What there is now, with the numbers of the last inputs, and each player's own in its place.
    fn translate<G: ClassicGame>(
        &mut self,
        tick: u32,
        game: &G,
        world: &G::World,
        players: &mut [Option<Player>],
    ) {
        self.world.clear(tick);
        self.sight.capture(game, world, &mut self.world);
        self.ids.begin(tick, game.tick_rate());
        for player in players.iter_mut().flatten() {
            self.ids.keep(player.own.entity_id);
            let (vx, vy, health) = (0, 0, 0);
            let last_ack_sequence = player.inputs.last_ack();
            player.own = EntityState { vx, vy, health, last_ack_sequence, ..player.own };
        }
        let full = self.full.get_or_insert_with(|| FullForm::new(game.schema()));
        self.entities.clear();
        for entity in self.world.entities() {
            let Some(plain) = full.entity(entity) else { continue };
            let entity_type = u16::from(entity.kind.min(3)) + entity_type::PLAYER;
            let plain = EntityState { entity_type, ..plain };
            let Some(shown) = game.ack_entity(world, entity, plain) else { continue };
            let player = players.iter_mut().flatten().find(|player| player.entity == entity.id);
            self.entities.push(match player {
                Some(player) => {
                    let EntityState { entity_id, last_ack_sequence, .. } = player.own;
                    player.own = EntityState { entity_id, last_ack_sequence, ..shown };
                    player.own
                }
                None => {
                    let entity_id = self.ids.of(entity.id, entity.kind);
                    EntityState { entity_id, ..shown }
                }
            });
        }
        self.entities.sort_unstable_by_key(|entity| (rank(entity.entity_type), entity.entity_id));
    }

    /// Fills a page for a player with the own entity, the scoreboard in the first, and what others there are
    /// from the `from`th on. Where the next begins, if there is more.
    fn turn_page(&mut self, own: &EntityState, board: AckBoard, from: usize) -> Option<usize> {
        self.page.clear();
        self.page.push(*own);
        if from == 0 {
            self.page.push(scoreboard(board));
        }
        let others = self.entities.iter().filter(|other| other.entity_id != own.entity_id);
        let room = ENTITIES_MAX - self.page.len();
        self.page.extend(others.clone().skip(from).take(room));
        let upto = from + room;
        (others.count() > upto).then_some(upto)
    }
}

/// Players come first, then what there is one of.
fn rank(entity_type: u16) -> u16 {
    match entity_type {
        entity_type::PLAYER | entity_type::PADDLE => 0,
        entity_type::BALL => 1,
        other => other,
    }
}

fn scoreboard(board: AckBoard) -> EntityState {
    let [x, y] = board.scores.map(|score| score as f32);
    EntityState {
        entity_id: BOARD_ID,
        entity_type: entity_type::SCOREBOARD,
        x,
        y,
        health: board.lives,
        flags: board.phase,
        ..EntityState::default()
    }
}

impl<G: ClassicGame> RoomDialect<G> for Room {
    fn manners(&self) -> Manners {
        Manners {
            proves_address: true,
            is_here_at_once: true,
            sends_every_tick: true,
            // A player is its address.
            has_way_back: false,
            quiet: Duration::from_secs(5),
            is_pinged: false,
            stops_after: None,
            hears_of_drop: true,
        }
    }

    fn admit(&mut self, place: usize, player: PlayerId, game: &G, _world: &G::World) {
        self.view.sight.admit(place, player);
        let entity = game.entity_of(player);
        let own = EntityState {
            entity_id: self.view.ids.claim(entity),
            entity_type: game.ack_player_type(),
            ..EntityState::default()
        };
        let (inputs, pongs) = (Inputs::default(), VecDeque::new());
        self.players[place] =
            Some(Player { entity, own, inputs, sequence: 1, joined: None, pongs });
    }

    fn vacate(&mut self, place: usize) {
        self.view.sight.vacate(place);
        if let Some(player) = self.players[place].take() {
            self.view.ids.retire(player.entity);
        }
    }

    fn greet(&mut self, place: usize) -> bool {
        if let Some(player) = &mut self.players[place] {
            player.inputs.greet();
        }
        false
    }

    fn handle(&mut self, place: usize, from: Hearing<'_>, bytes: &[u8]) -> Meaning {
        let Ok(Datagram { packet, .. }) = Datagram::decode(bytes) else { return Meaning::Nothing };
        let Some(player) = &mut self.players[place] else { return Meaning::Nothing };
        match packet {
            Packet::ClientInput(input) => {
                let (seq, buttons) = (input.sequence_number, input.input_flags);
                let Some(gap) = player.inputs.handle(seq, buttons) else { return Meaning::Alive };
                note_input(from.journal, from.player.0, seq, gap);
                Meaning::Input(Buttons(buttons.bits().into()))
            }
            Packet::Ping(ping) => {
                if player.pongs.len() < PONG_LIMIT {
                    player.pongs.push_back(ping.pong());
                }
                Meaning::Alive
            }
            Packet::Leave(_) => Meaning::Goodbye,
            _ => Meaning::Nothing,
        }
    }

    /// Players have no word for it: a match starts as soon as it can.
    fn ask(
        &mut self,
        _place: usize,
        player: PlayerId,
        game: &G,
        world: &mut G::World,
        events: &mut Vec<Event>,
    ) {
        game.start(world, player, events);
    }

    fn take_input(
        &mut self,
        place: usize,
        player: PlayerId,
        journal: &mut Journal,
    ) -> Option<Taken> {
        let inputs = &mut self.players[place].as_mut()?.inputs;
        let taken = inputs.take();
        if taken.source == InputSource::Real {
            let (seq, player) = (inputs.last_ack(), player.0);
            journal.note(LogLine::InputProcess { player, seq, last_ack: seq });
        }
        Some(taken)
    }

    fn look(&mut self, tick: u32, game: &G, world: &G::World, _is_new_tick: bool) {
        self.view.translate(tick, game, world, &mut self.players);
    }

    fn speak(&mut self, place: usize, to: Telling<'_, G>, out: &mut [u8]) -> Option<Saying> {
        let player = self.players[place].as_mut()?;
        let from = to.world_due.map(usize::from);
        // The datagrams of a tick follow one another.
        if from.is_none_or(|from| from == 0)
            && let Some(pong) = player.pongs.pop_front()
        {
            return Some(Saying::Datagram(player.encode(Packet::Pong(pong), out)));
        }
        let from = from?;
        if from == 0 {
            to.journal.note(LogLine::SnapshotSent {
                tick: to.tick,
                entities: self.view.entities.len(),
                player: to.player.0,
                ack: player.own.last_ack_sequence,
            });
        }
        let board = to.game.ack_board(to.world, to.player);
        let next = self.view.turn_page(&player.own, board, from);
        *to.world_due = next.and_then(|next| u16::try_from(next).ok());
        let (server_tick, more) = (to.tick, to.world_due.is_some());
        let entities = List::new(&self.view.page);
        let snapshot = Packet::Snapshot(Snapshot { server_tick, more, entities });
        Some(Saying::Datagram(player.encode(snapshot, out)))
    }

    fn encode_greeting(
        &mut self,
        place: usize,
        to: Greeting<'_, G>,
        out: &mut [u8],
    ) -> Result<usize, Full> {
        let player = self.players[place].as_mut().ok_or(Full)?;
        let server_tick = *player.joined.get_or_insert(to.tick);
        let (player_id, entity_id) = (to.player.0, player.own.entity_id);
        let tick_rate = to.game.tick_rate();
        let welcome = Welcome { player_id, entity_id, server_tick, tick_rate };
        player.encode(Packet::Welcome(welcome), out)
    }

    fn encode_close(
        &mut self,
        place: usize,
        reason: CloseReason,
        out: &mut [u8],
    ) -> Option<Result<usize, Full>> {
        let bye = Bye { reason: reason as u8, sentence: sentence(words(reason)) };
        Some(self.players[place].as_mut()?.encode(Packet::Bye(bye), out))
    }

    fn clone_box(&self) -> Box<dyn RoomDialect<G>> {
        Box::new(self.clone())
    }
}

fn words(reason: CloseReason) -> &'static str {
    match reason {
        CloseReason::Left => "You left.",
        CloseReason::Silent => "Timeout",
        CloseReason::Stopping => "The server was stopped. Try again later.",
        CloseReason::Kicked => "You were removed by whoever runs the server.",
        CloseReason::Violation => "The server did not understand this program.",
        CloseReason::RoomClosed => "The room was closed.",
        CloseReason::Banned => "You are banned from this server.",
        CloseReason::HostLeft => "The host ended the match.",
        CloseReason::Backlog => "Your connection was too slow to keep up.",
    }
}

fn note_input(journal: &mut Journal, player: u32, seq: u32, gap: u32) {
    journal.note(LogLine::InputRecv { player, seq, gap });
    if gap > 0 {
        let (first, last) = (seq - gap, seq - 1);
        journal.note(LogLine::InputsLost { player, lost: gap, first, last });
    }
}
