//! The client in `ack`: HELLO, JOIN, then an input a tick. What is not acknowledged is pending, and is replayed
//! on top of what the server says, as section 4.1 of document 004 has it.

use std::time::Duration;

use super::NAME;
use super::assembly::{Assembly, Tick};
use super::wire::{
    ClientInput, Datagram, Hello, Join, Leave, Packet, Ping, Snapshot, Welcome, entity_type,
};
use crate::rtype::wire::Buttons as Flags;
use crate::{AckBoard, AckSight, ClassicGame, LegacyPlayback};
use backspin::channel::{Alarm, AlarmEvent, LogLine, Pending, tick};
use backspin::client::{ClientCore, ClientDialect, ClientEvent, Frame, RosterLine};
use backspin::game::{Buttons, PlayerId, Refusal};
use backspin::replication::{Drawn, Prediction, State};
use backspin::session::{EndReason, LifeEvent, Liveness, PingCounts, Pinger, Question, RoundTrip};
use backspin::time::Time;
use backspin::timing::{Delay, LossMeter, Mark};
use backspin::typed::RawInput;
use backspin::wire::Full;
use backspin::wire::native::{
    CloseReason, PROTOCOL, PlayerFlags, Reject, RejectReason, Secret, Token,
};

/// How often the server is pinged.
const PING_EVERY: Duration = Duration::from_secs(1);

/// A client that was stopped for longer does not make up for the inputs it missed.
const CATCH_UP_LIMIT: u32 = 4;

/// A goodbye may be lost, and nobody answers it.
const GOODBYES: u8 = 3;

/// Players are counted up to this.
const PLAYER_LIMIT: u32 = 8;

/// What `ack` keeps.
#[derive(Clone, Debug)]
pub struct AckClient<G: ClassicGame> {
    cookie: Option<Secret>,
    /// The number of the next datagram.
    sequence: u32,
    place: Option<Place>,
    inputs: OwnInputs,
    assembly: Assembly,
    /// The newest tick that any datagram spoke of.
    newest_tick: Option<u32>,
    pinger: Pinger,
    round_trip: RoundTrip,
    loss: LossMeter,
    playback: LegacyPlayback<G>,
    prediction: Option<Prediction<G>>,
    /// What the server said last, as the world after the last input that it has processed.
    base: State,
    last_frame: Option<Time>,
}

/// What WELCOME said.
#[derive(Clone, Debug)]
struct Place {
    player: PlayerId,
    entity: u32,
    period: Duration,
    /// Whether the server is still there.
    liveness: Liveness,
}

/// What was pressed, from one input to the next.
#[derive(Clone, Debug)]
struct OwnInputs {
    pending: Pending,
    newest: u32,
    /// How many of the newest are still to be sent.
    unsent: usize,
    last_at: Time,
    next_at: Time,
    /// The last that the server has processed; 0 before the first.
    acknowledged: u32,
}

impl<G: ClassicGame> AckClient<G> {
    /// A player of no server yet.
    pub fn new(now: Time, game: G) -> Self {
        AckClient {
            cookie: None,
            sequence: 1,
            place: None,
            inputs: OwnInputs {
                pending: Pending::new(),
                newest: 0,
                unsent: 0,
                last_at: now,
                next_at: now,
                acknowledged: 0,
            },
            assembly: Assembly::default(),
            newest_tick: None,
            pinger: Pinger::new(PING_EVERY),
            round_trip: RoundTrip::default(),
            loss: LossMeter::new(),
            playback: LegacyPlayback::new(now, game),
            prediction: None,
            base: State::default(),
            last_frame: None,
        }
    }

    fn enter(&mut self, core: &mut ClientCore, now: Time, welcome: &Welcome) {
        // A number that no game of ours has is another server's: then we are the first.
        let number = Some(welcome.player_id).filter(|id| (1..=PLAYER_LIMIT).contains(id));
        let player = PlayerId(number.unwrap_or(1));
        let period = Duration::from_secs(1) / u32::from(welcome.tick_rate);
        let liveness = Liveness::new(now, core.config.liveness);
        self.place = Some(Place { player, entity: welcome.entity_id, period, liveness });
        self.inputs.next_at = now;
        self.pinger.postpone(now);
        core.enter(player);
        // Nobody else has a name here.
        let (name, lives, flags) = (core.config.name, 0, PlayerFlags::default());
        core.roster = vec![RosterLine { player, name, lives, flags }];
        core.note(ClientEvent::Roster);
    }

    fn handle_session_packet(&mut self, core: &mut ClientCore, now: Time, datagram: &Datagram<'_>) {
        self.loss.handle_arrival(datagram.sequence);
        match datagram.packet {
            Packet::Snapshot(snapshot) => {
                self.handle_snapshot(core, now, datagram.sequence, &snapshot);
            }
            Packet::Pong(pong) => {
                let answer = Question { sequence: pong.id, timestamp: pong.timestamp };
                let measures = (&mut self.pinger, &mut self.round_trip);
                let verdict = core.handle_answer(now, answer, measures);
                if let Some(line) = LogLine::of_pong(now, answer, verdict) {
                    core.journal.note(line);
                }
            }
            Packet::Bye(bye) => {
                let reason = CloseReason::from_code(bye.reason).map(EndReason::from);
                core.end(reason.unwrap_or(EndReason::RoomClosed));
            }
            // A JOIN was repeated.
            Packet::Welcome(_) | Packet::Challenge(_) => {}
            packet => return core.drop_stray(packet.name()),
        }
        if let Some(place) = &mut self.place {
            core.heard(now, &mut place.liveness);
        }
    }

    /// Every datagram of a snapshot acknowledges; only a whole one is shown.
    fn handle_snapshot(
        &mut self,
        core: &mut ClientCore,
        now: Time,
        number: u32,
        snapshot: &Snapshot<'_>,
    ) {
        let Some(entity) = self.place.as_ref().map(|place| place.entity) else { return };
        let is_news = |newest: u32| snapshot.server_tick.wrapping_sub(newest) as i32 >= 0;
        if self.newest_tick.is_none_or(is_news) {
            self.newest_tick = Some(snapshot.server_tick);
            if let Some(own) = snapshot.entities.iter().find(|it| it.entity_id == entity) {
                self.inputs.acknowledge(core, own.last_ack_sequence);
            }
        }
        core.counts.parts += u64::from(snapshot.more);
        if let Some(whole) = self.assembly.take(number, snapshot, entity) {
            self.show(core, now, &whole);
        }
    }

    fn show(&mut self, core: &mut ClientCore, now: Time, whole: &Tick) {
        let Some(place) = &self.place else { return };
        let (player, own) = (place.player, place.entity);
        let board = whole.entities.iter().find(|it| it.entity_type == entity_type::SCOREBOARD);
        let board = board.map_or(AckBoard::default(), |board| AckBoard {
            scores: [board.x as i32, board.y as i32],
            lives: board.health,
            phase: board.flags,
        });
        let told = AckSight { player, own, entities: &whole.entities, board };
        let mark = Mark::Number(whole.server_tick);
        if !self.playback.take(now, mark, |game, state| game.read_ack(&told, state)) {
            core.counts.stray += 1;
            return;
        }
        core.counts.states += 1;
        let ack = whole.entities.iter().find(|it| it.entity_id == own);
        if let Some(ack) = ack.map(|own| own.last_ack_sequence) {
            self.reconcile(player, ack);
        }
    }

    /// Starts again from what the server says, and replays what it has not processed.
    fn reconcile(&mut self, player: PlayerId, ack: u32) {
        // A newer datagram has acknowledged more: what lies between is not kept any more.
        if ack != self.inputs.acknowledged {
            return;
        }
        self.base.clone_from(self.playback.state());
        self.base.tick = ack;
        let pending = self.inputs.pending.after(ack).map(|pending| pending.input);
        if let Some(prediction) = &mut self.prediction {
            prediction.reconcile(&self.base, pending);
            return;
        }
        let mut first = Prediction::new(self.playback.game().clone(), player, &self.base);
        pending.for_each(|buttons| first.advance(buttons).for_each(drop));
        self.prediction = Some(first);
    }

    fn make_inputs(&mut self, core: &ClientCore, now: Time) {
        let Some(period) = self.place.as_ref().map(|place| place.period) else { return };
        let inputs = &mut self.inputs;
        if now.since(inputs.next_at) > period * CATCH_UP_LIMIT {
            inputs.next_at = now;
        }
        while inputs.next_at <= now {
            let buttons = Buttons(core.buttons().0 & ALL_FLAGS);
            inputs.newest = tick::after(inputs.newest, 1);
            let input = RawInput::of(buttons);
            inputs.pending.push(inputs.next_at, inputs.newest, input);
            inputs.unsent += 1;
            inputs.last_at = inputs.next_at;
            inputs.next_at += period;
            if let Some(prediction) = &mut self.prediction {
                // What it says of shots it cannot know: when the last one was fired is not told.
                prediction.advance(input).for_each(drop);
            }
        }
    }

    /// More than 30 without acknowledgement is worth a warning, more than 60 the end.
    fn watch_pending(&mut self, core: &mut ClientCore, now: Time) {
        while let Some(event) = self.inputs.pending.poll_alarm(now, 0) {
            if event == AlarmEvent::Raised(Alarm::ConnectionLost) {
                core.due.goodbyes = GOODBYES;
                return core.end(EndReason::NotResponding);
            }
            core.note(ClientEvent::Line(event));
        }
    }

    fn question(&self, core: &ClientCore, out: &mut [u8]) -> Result<usize, Full> {
        let packet = match self.cookie {
            None => Packet::Hello(Hello {}),
            Some(cookie) => Packet::Join(Join {
                cookie,
                game: self.playback.game().id().game,
                name: core.config.name,
                token: Token::new(&core.config.token).ok_or(Full)?,
            }),
        };
        Datagram { sequence: self.sequence, packet }.encode(out)
    }

    fn next_packet(&mut self, core: &mut ClientCore, now: Time) -> Option<Packet<'static>> {
        if core.due.goodbyes > 0 {
            core.due.goodbyes -= 1;
            return Some(Packet::Leave(Leave {}));
        }
        if std::mem::take(&mut core.due.ping) {
            let Question { sequence: id, timestamp } = self.pinger.ask(now);
            return Some(Packet::Ping(Ping { id, timestamp }));
        }
        core.due.input = false;
        let period = self.place.as_ref().filter(|_| core.is_playing())?.period;
        let input = self.inputs.next_unsent()?;
        let (seq, ts) = (input.tick, input.sent_at.as_millis() as u32);
        core.journal.note(LogLine::InputSent { seq, flags: input.input.0, ts });
        Some(Packet::ClientInput(ClientInput {
            sequence_number: seq,
            input_flags: Flags::from_bits(input.input.0 as u8)?,
            timestamp: ts,
            delta_time: period.as_secs_f32(),
        }))
    }
}

/// The buttons that the dialect has.
const ALL_FLAGS: u16 = 63;

impl OwnInputs {
    /// The server has processed the inputs up to this one.
    fn acknowledge(&mut self, core: &mut ClientCore, ack: u32) {
        let is_newer =
            ack != 0 && (self.acknowledged == 0 || tick::is_after(ack, self.acknowledged));
        // Nothing that was never sent is confirmed.
        if !is_newer || self.newest == 0 || tick::is_after(ack, self.newest) {
            return;
        }
        self.acknowledged = ack;
        self.pending.acknowledge(ack);
        core.journal.note(LogLine::AckReceived { seq: ack, pending: self.pending.len() });
    }

    /// The oldest that is still to be sent.
    fn next_unsent(&mut self) -> Option<backspin::channel::PendingInput> {
        self.unsent = self.unsent.min(self.pending.len()).checked_sub(1)?;
        self.pending.iter().nth(self.unsent)
    }
}

impl<G: ClassicGame> ClientDialect<G> for AckClient<G> {
    fn name(&self) -> &'static str {
        NAME
    }

    fn clone_box(&self) -> Box<dyn ClientDialect<G>> {
        Box::new(self.clone())
    }

    fn handle(&mut self, core: &mut ClientCore, now: Time, bytes: &[u8]) {
        let datagram = match Datagram::decode(bytes) {
            Ok(datagram) => datagram,
            Err(error) => return core.drop_malformed(bytes.len(), error),
        };
        if core.is_playing() {
            return self.handle_session_packet(core, now, &datagram);
        }
        match datagram.packet {
            Packet::Challenge(challenge) => {
                // JOIN goes out at once; another challenge only renews the cookie.
                if self.cookie.replace(challenge.cookie).is_none() {
                    core.ask(now);
                }
            }
            Packet::Welcome(welcome) if self.cookie.is_some() => self.enter(core, now, &welcome),
            Packet::Refused(refused) if self.cookie.is_some() => {
                let reason = RejectReason::from_code(refused.reason).unwrap_or(RejectReason::Full);
                let sentence = Refusal::new("");
                let reject =
                    Reject { nonce: 0, reason, protocol: PROTOCOL, game_version: 0, sentence };
                core.end(EndReason::from_reject(&reject, 0));
            }
            packet => core.drop_stray(packet.name()),
        }
    }

    fn is_acceptance(&self, bytes: &[u8]) -> bool {
        matches!(Datagram::decode(bytes), Ok(Datagram { packet: Packet::Welcome(_), .. }))
    }

    fn handle_timeout(&mut self, core: &mut ClientCore, now: Time) {
        self.make_inputs(core, now);
        core.poll_ping(now, &mut self.pinger);
        self.watch_pending(core, now);
        if let Some(place) = &mut self.place
            && core.poll_silence(now, &mut place.liveness) == Some(LifeEvent::Drop)
        {
            core.end(EndReason::NotResponding);
        }
    }

    fn poll_timeout(&self) -> Time {
        self.inputs.next_at
    }

    fn handle_wake(&mut self, now: Time) {
        self.playback.handle_wake(now);
    }

    fn speak(
        &mut self,
        core: &mut ClientCore,
        now: Time,
        out: &mut [u8],
    ) -> Option<Result<usize, Full>> {
        let said = if core.due.questions > 0 {
            core.due.questions -= 1;
            self.question(core, out)
        } else {
            let packet = self.next_packet(core, now)?;
            Datagram { sequence: self.sequence, packet }.encode(out)
        };
        self.sequence = self.sequence.wrapping_add(1);
        Some(said)
    }

    fn has_answer(&self) -> bool {
        self.cookie.is_some()
    }

    fn loss(&self) -> Option<f64> {
        self.place.is_some().then(|| self.loss.share())
    }

    fn round_trip(&self) -> Option<&RoundTrip> {
        Some(&self.round_trip)
    }

    fn pings(&self) -> Option<&PingCounts> {
        Some(self.pinger.counts())
    }

    fn state(&self) -> &State {
        self.playback.state()
    }

    fn delay(&self) -> Delay {
        self.playback.delay()
    }

    fn predicted(&self) -> Option<(u32, [f32; 2])> {
        let prediction = self.prediction.as_ref()?;
        let place = self.playback.game().schema().place_of(prediction.own()?)?;
        Some((prediction.tick(), place))
    }

    fn draw(&mut self, now: Time, frame: &mut Frame) {
        self.playback.draw(now, frame);
        let Some(place) = &self.place else { return };
        let own = self.playback.game().entity_of(place.player);
        frame.entities.retain(|drawn| drawn.entity.id != own);
        let ms =
            self.last_frame.replace(now).map_or(0.0, |then| now.since(then).as_secs_f32() * 1e3);
        let Some(prediction) = &mut self.prediction else { return };
        prediction.fade(ms);
        let fraction = now.since(self.inputs.last_at).div_duration_f32(place.period).min(1.0);
        prediction.draw(fraction, |entity, fields| {
            if entity.id == own {
                let at = frame.entities.partition_point(|drawn| drawn.entity.id < own);
                frame.entities.insert(at, Drawn { entity: entity.clone(), fields });
            }
        });
    }

    fn is_starved(&self, now: Time) -> bool {
        self.playback.is_starved(now)
    }
}
