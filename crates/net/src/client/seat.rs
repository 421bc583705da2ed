//! A place in a room, from the inside: the clocks, the inputs, the snapshots and what is drawn of
//! them.

use std::collections::VecDeque;
use std::time::Duration;

use super::impact::Impacts;
use super::roster::RosterParts;
use super::{ClientEvent, Frame};
use crate::channel::{
    Alarm, AlarmEvent, Delivery, Journal, LogLine, Pending, SendError, Timeline, tick,
};
use crate::chat::{CHAT_RATE, ChatError, ChatRule, ChatText};
use crate::game::{Game, MAX_SEND_EVERY, PlayerId, Reach};
use crate::replication::view::{KnownWorld, ViewError, ViewPart};
use crate::replication::{
    Course, Drawn, Moment, Prediction, SnapshotBuffer, State, TimeBlend, delta,
};
use crate::sabotage::{self, Sabotage};
use crate::session::{Allowance, Bucket, RESEND_SLACK, Session};
use crate::time::Time;
use crate::timing::{Feedback, InputClock, InterpolationClock, ServerClock};
use crate::typed::RawInput;
use crate::wire::Full;
use crate::wire::native::{
    Accept, Acks, ClientMessages, DeltaSnapshot, Feedback as Report, HEADER_LEN, History, Input,
    InputRecord, MAX_BASELINE_BACK, MAX_DATAGRAM_LEN, MessageBlock, MessageKind, Packet, Role,
    SnapshotAck, SnapshotEcho, ViewSnapshot, nearest_tick,
};

/// A client that was stopped for longer does not make up for the inputs it missed.
const CATCH_UP_LIMIT: i32 = 16;

/// A snapshot from further ahead of the server's clock than we can be wrong about it is damaged.
const FORESIGHT_TICKS: i32 = 90;

/// A thread that wakes late makes inputs late: so many ticks past the last, own things are drawn going
/// on as they were.
const OVERDUE_TICKS: f64 = 2.0;

/// How often a watcher says what it has.
const ACK_EVERY: Duration = Duration::from_millis(50);

/// The same when messages have come: they are sent again if they are not acknowledged soon.
const MESSAGE_ACK_AFTER: Duration = Duration::from_millis(10);

/// Room for messages in a datagram that carries an input: as much as fits beside the longest one.
const INPUT_MESSAGES_LEN: usize = MAX_DATAGRAM_LEN - HEADER_LEN - Input::MAX_LEN;

/// Datagrams with nothing but messages are at least so far apart: with inputs for every tick, a client
/// stays within what a server takes from a player.
const MESSAGES_EVERY: Duration = Duration::from_millis(16);

/// A smaller correction, in the fields' unit, is not seen.
const SEEN_CORRECTION: f32 = 1.0;

/// Who plays no part.
const NOBODY: PlayerId = PlayerId(0);

/// Events that nobody has read yet; older ones make room.
const EVENT_LIMIT: usize = 256;

/// What Accept gave us, and what became of it.
#[derive(Clone, Debug)]
pub(super) struct Seat<G: Game> {
    game: G,
    player: PlayerId,
    pub(super) room: u32,
    pub(super) role: Role,
    pub(super) session: Session,
    ahead: InputClock,
    behind: InterpolationClock,
    clock: ServerClock,
    /// The tick of the next input.
    next_input: u32,
    pending: Pending,
    picture: SnapshotBuffer,
    /// [`super::ClientConfig::predicts`].
    pub(super) predicts: bool,
    prediction: Option<Prediction<G>>,
    sliding: TimeBlend,
    impacts: Impacts,
    rate: u8,
    state: State,
    /// Ticks from one snapshot to the next.
    every: u32,
    /// What has come of a world that is our own, and in which datagrams.
    known: KnownWorld,
    acks: Option<AckWindow>,
    /// The newest snapshot with what we steer ourselves, and when it came.
    newest: Option<u32>,
    newest_at: Option<Time>,
    next_ack: Time,
    last_frame: Option<Time>,
    pub(super) roster: RosterParts,
    events: VecDeque<ClientEvent>,
    timeline: Timeline,
    /// The last report.
    report: Option<Reported>,
    corrections: u64,
    /// When messages may leave in a datagram of their own.
    next_messages: Time,
    /// How many more lines of chat may be written.
    chat: Bucket,
}

/// What the server said of our inputs.
#[derive(Clone, Copy, Debug)]
struct Reported {
    /// In the snapshot of this tick.
    tick: u32,
    missing: u8,
    /// The newest input that it had.
    newest: u32,
    /// All snapshots up to this tick have come, and said no more.
    until: u32,
}

/// What a snapshot, or a part of one, brought.
pub(super) struct Taken {
    /// A round trip, where it measures one.
    pub(super) measured: Option<Duration>,
    /// Whether a state is there that was not before.
    pub(super) is_new: bool,
}

/// Which datagrams were taken.
#[derive(Clone, Copy, Debug)]
struct AckWindow {
    newest: u32,
    /// Bit n is n + 1 before the newest.
    mask: u64,
}

impl AckWindow {
    fn said(self) -> Acks {
        Acks { newest: self.newest as u16, mask: self.mask }
    }

    fn take(window: &mut Option<AckWindow>, sequence: u32) {
        let AckWindow { newest, mask } =
            window.get_or_insert(AckWindow { newest: sequence, mask: 0 });
        let ahead = sequence.wrapping_sub(*newest).cast_signed();
        match ahead {
            0 => {}
            1.. => {
                let old = 1_u64.checked_shl(ahead as u32 - 1).unwrap_or(0);
                *mask = mask.checked_shl(ahead as u32).unwrap_or(0) | old;
                *newest = sequence;
            }
            _ => *mask |= 1_u64.checked_shl(ahead.unsigned_abs() - 1).unwrap_or(0),
        }
    }
}

/// Why a snapshot was not taken.
pub(super) enum Refused {
    /// It is old, or stands on one that we do not have.
    Stray,
    /// Its body is none.
    Malformed,
}

impl From<ViewError> for Refused {
    fn from(error: ViewError) -> Self {
        match error {
            ViewError::Malformed(_) => Refused::Malformed,
            ViewError::Stray => Refused::Stray,
        }
    }
}

impl<G: Game> Seat<G> {
    pub(super) fn new(
        now: Time,
        game: G,
        session: Session,
        accept: &Accept,
        rtt: Duration,
    ) -> Self {
        let rate = accept.tick_rate;
        let server_tick = f64::from(accept.tick) + rtt.as_secs_f64() / 2.0 * f64::from(rate);
        let ahead = InputClock::new(now, rate, server_tick, rtt);
        let every = u32::from(game.send_every().clamp(1, MAX_SEND_EVERY));
        Seat {
            game,
            player: PlayerId(accept.player),
            room: accept.room,
            role: accept.role,
            session,
            next_input: (ahead.tick(now) as u32).max(1),
            ahead,
            behind: InterpolationClock::new(rate, every),
            clock: ServerClock::new(now, rate, server_tick, rtt),
            pending: Pending::new(),
            picture: SnapshotBuffer::default(),
            predicts: true,
            prediction: None,
            sliding: TimeBlend::default(),
            impacts: Impacts::default(),
            rate,
            state: State::default(),
            every,
            known: KnownWorld::default(),
            acks: None,
            newest: None,
            newest_at: None,
            next_ack: now,
            last_frame: None,
            roster: RosterParts::default(),
            events: VecDeque::new(),
            timeline: Timeline::new(),
            report: None,
            corrections: 0,
            next_messages: now,
            chat: Bucket::default(),
        }
    }

    /// The same seat after a break: clocks begin anew, the rest goes on where it was.
    pub(super) fn resumed(self, now: Time, accept: &Accept, rtt: Duration) -> Self {
        let Seat { game, session, events, roster, chat, .. } = self;
        let seat = Seat::new(now, game, session, accept, rtt);
        Seat { events, roster, chat, ..seat }
    }

    pub(super) fn poll_event(&mut self) -> Option<ClientEvent> {
        self.events.pop_front()
    }

    fn note(&mut self, event: ClientEvent) {
        note(&mut self.events, event);
    }

    // --- what comes in -----------------------------------------------------------------------

    pub(super) fn handle_wake(&mut self, now: Time) {
        self.behind.handle_wake(now);
    }

    /// Takes a snapshot.
    pub(super) fn handle_snapshot(
        &mut self,
        now: Time,
        snapshot: &DeltaSnapshot<'_>,
        journal: &mut Journal,
    ) -> Result<Taken, Refused> {
        let DeltaSnapshot { tick, feedback, messages, .. } = snapshot;
        let (tick, measured) =
            self.handle_head(now, *tick, feedback.as_ref(), messages.as_ref())?;
        self.read(tick, snapshot)?;
        self.handle_state(now, tick, true, journal);
        Ok(Taken { measured, is_new: true })
    }

    /// Takes a datagram with some of what we may see.
    pub(super) fn handle_view(
        &mut self,
        now: Time,
        sequence: u32,
        view: &ViewSnapshot<'_>,
        journal: &mut Journal,
    ) -> Result<Taken, Refused> {
        let ViewSnapshot { tick, epoch, is_first, ref feedback, ref messages, body } = *view;
        let (tick, measured) = self.handle_head(now, tick, feedback.as_ref(), messages.as_ref())?;
        let part = ViewPart { epoch, tick, every: self.every, body };
        let is_new = self.known.handle(self.game.schema(), part, &mut self.picture)?;
        // What was refused is not acknowledged: it is written anew then.
        AckWindow::take(&mut self.acks, sequence);
        if is_new {
            self.behind.handle_snapshot(now, tick);
        }
        if is_first {
            self.handle_state(now, tick, false, journal);
        }
        Ok(Taken { measured, is_new })
    }

    /// The tick of a snapshot, and the round trip that it measures, if it does.
    fn handle_head(
        &mut self,
        now: Time,
        tick: u16,
        report: Option<&Report>,
        messages: Option<&MessageBlock<'_>>,
    ) -> Result<(u32, Option<Duration>), Refused> {
        let expected = self.clock.tick(now) as u32;
        let tick = nearest_tick(tick, expected);
        // One that the server cannot have sent would make all that it does send look old.
        if tick::since(tick, expected) > FORESIGHT_TICKS {
            return Err(Refused::Stray);
        }
        let measured = report.and_then(|report| self.handle_report(now, tick, report));
        if let Some(block) = messages {
            self.handle_messages(now, block);
        }
        Ok((tick, measured))
    }

    /// The state of a tick is there, with what we steer ourselves in it.
    fn handle_state(&mut self, now: Time, tick: u32, is_new: bool, journal: &mut Journal) {
        if is_new {
            self.behind.handle_snapshot(now, tick);
        }
        if self.newest.is_some_and(|newest| !tick::is_after(tick, newest)) {
            return;
        }
        (self.newest, self.newest_at) = (Some(tick), Some(now));
        self.pending.acknowledge(tick);
        if let Some(missing) = self.missing_at(tick) {
            self.pending.handle_missing(tick, missing);
            self.timeline.handle_snapshot(tick, missing);
        }
        journal.note(LogLine::AckReceived { seq: tick, pending: self.pending.len() });
        if self.predicts {
            self.reconcile(tick);
        }
    }

    /// Keeps the state of a snapshot.
    fn read(&mut self, tick: u32, snapshot: &DeltaSnapshot<'_>) -> Result<(), Refused> {
        let baseline = match snapshot.baseline_back {
            0 => None,
            _ if sabotage::is(Sabotage::WrongBaseline) => {
                self.picture.newest().and_then(|newest| self.picture.at(newest))
            }
            back => {
                let ticks = u32::from(back) * self.every;
                Some(self.picture.at(tick.wrapping_sub(ticks)).ok_or(Refused::Stray)?)
            }
        };
        if self.picture.at(tick).is_some() {
            return Err(Refused::Stray);
        }
        delta::decode(self.game.schema(), baseline, tick, snapshot.body, &mut self.state)
            .map_err(|_| Refused::Malformed)?;
        self.picture.take(&mut self.state);
        Ok(())
    }

    fn handle_report(&mut self, now: Time, tick: u32, report: &Report) -> Option<Duration> {
        self.pending.handle_missing(tick, report.missing);
        let newest = tick::before(self.next_input, 1);
        let echo = newest.wrapping_sub(u32::from((newest as u8).wrapping_sub(report.echo)));
        if self.report.is_none_or(|last| tick::is_after(tick, last.tick)) {
            let missing = report.missing;
            self.report = Some(Reported { tick, missing, newest: echo, until: tick });
        }
        let held = Duration::from_micros(u64::from(report.held) * 125);
        let lost = f64::from(report.lost) / 255.0;
        let early_us = match report.early {
            // "That or less", and "that or more": the datagram came so long before the snapshot's tick.
            i8::MIN | i8::MAX => {
                let far = i32::from(u8::MAX);
                let ticks = tick::since(echo, tick).clamp(-far, far);
                ticks * 1_000_000 / i32::from(self.rate.max(1)) + held.as_micros() as i32
            }
            early => i32::from(early) * 1_000,
        };
        self.ahead.handle_feedback(now, &Feedback { echo, held, early_us, lost });
        // 255 is "that or more": of no use for measuring.
        let sent = self.pending.sent_at(echo).filter(|_| report.held < u8::MAX)?;
        self.clock.handle_echo(now, tick, sent, held);
        Some(now.since(sent).saturating_sub(held))
    }

    /// For which of the ticks before a snapshot's, and for that one in bit 0, the server had no input.
    /// It says so when something has come from us since the snapshot before; if it does not, it has
    /// nothing that it did not have then. Where a snapshot was lost that may have said so, nobody knows.
    fn missing_at(&mut self, tick: u32) -> Option<u8> {
        let report = self.report.as_mut()?;
        if report.tick == tick {
            return Some(report.missing);
        }
        if tick != tick::after(report.until, self.every) {
            return None;
        }
        report.until = tick;
        let unheard = tick::since(tick, report.newest).clamp(0, u8::BITS as i32) as u32;
        Some(u8::MAX.checked_shr(u8::BITS - unheard).unwrap_or(0))
    }

    fn reconcile(&mut self, tick: u32) {
        let Some(state) = self.picture.at(tick) else { return };
        let inputs = self.pending.after(tick).map(|pending| pending.input);
        match &mut self.prediction {
            Some(prediction) => {
                let correction = prediction.reconcile(state, inputs);
                let least = SEEN_CORRECTION * self.game.schema().pixel.value();
                let seen = correction.is_some_and(|it| it.distance > least);
                self.corrections += u64::from(seen);
            }
            empty => {
                let mut prediction = Prediction::new(self.game.clone(), self.player, state);
                for input in inputs {
                    prediction.advance(input).for_each(drop);
                }
                *empty = Some(prediction);
            }
        }
    }

    pub(super) fn handle_messages(&mut self, now: Time, block: &MessageBlock<'_>) {
        self.session.messages.handle(block);
        if !block.reliable.is_empty() {
            self.next_ack = self.next_ack.min(now + MESSAGE_ACK_AFTER);
        }
    }

    // --- what goes out -----------------------------------------------------------------------

    /// When the next input is due.
    pub(super) fn input_due(&self) -> Time {
        self.ahead.due(self.next_input)
    }

    pub(super) fn ack_due(&self) -> Time {
        self.next_ack
    }

    /// Makes the inputs that are due; says whether there were any.
    pub(super) fn make_inputs(
        &mut self,
        now: Time,
        input: RawInput,
        journal: &mut Journal,
    ) -> bool {
        let reached = self.ahead.tick(now) as u32;
        if tick::since(reached, self.next_input) > CATCH_UP_LIMIT {
            self.next_input = reached;
        }
        let late = self.ahead.late(now, self.next_input);
        self.ahead.handle_late(now, late);
        self.behind.handle_late(now, late);
        let mut made = false;
        while self.ahead.due(self.next_input) <= now {
            self.pending.push(now, self.next_input, input);
            self.ahead.handle_input(now, self.next_input);
            self.timeline.handle_sent(self.next_input);
            journal.note(LogLine::InputSent {
                seq: self.next_input,
                flags: input.0,
                ts: now.as_millis() as u32,
            });
            let made_for = self.next_input;
            self.next_input = tick::after(self.next_input, 1);
            made = true;
            // What we woke too late for, the server has stepped without us.
            let is_new =
                |prediction: &&mut Prediction<G>| tick::is_after(made_for, prediction.tick());
            if let Some(prediction) = self.prediction.as_mut().filter(is_new) {
                // More than one after a sleep: what was skipped then counts as pressed.
                for pending in self.pending.after(prediction.tick()) {
                    let events = prediction.advance(pending.input);
                    for event in events.filter(|event| event.reach == Reach::Own) {
                        note(&mut self.events, ClientEvent::Game(event));
                    }
                }
            }
        }
        made
    }

    pub(super) fn is_ack_due(&mut self, now: Time) -> bool {
        let due = self.next_ack <= now;
        if due {
            self.next_ack = now + ACK_EVERY;
        }
        due
    }

    /// Whether so many inputs wait that the connection counts as lost; raises the milder signs.
    pub(super) fn is_lost(&mut self, now: Time) -> bool {
        let explained = self.explained(now);
        let mut lost = false;
        while let Some(alarm) = self.pending.poll_alarm(now, explained) {
            lost |= alarm == AlarmEvent::Raised(Alarm::ConnectionLost);
            self.note(ClientEvent::Line(alarm));
        }
        lost
    }

    /// How many inputs wait because of the way alone: those after the tick whose snapshot is to
    /// come now. That is the server's tick half a round trip ago, and how long the round trip is
    /// said to be makes no difference: it is in the server's clock as well.
    fn explained(&self, now: Time) -> u32 {
        let way_ticks = self.clock.rtt().as_secs_f64() / 2.0 * f64::from(self.rate);
        let due = (self.clock.tick(now) - way_ticks) as u32;
        tick::since(tick::before(self.next_input, 1), due).max(0).unsigned_abs()
    }

    pub(super) fn encode_input(
        &mut self,
        now: Time,
        out: &mut [u8],
    ) -> Option<Result<usize, Full>> {
        let newest = self.pending.newest()?;
        let drawn = self.behind.drawn(now);
        let drawn_back = drawn.map(|drawn| {
            // The own entity is drawn a tick behind the ahead clock: between the last two ticks.
            let back = self.ahead.tick(now) - 1.0 - drawn;
            (back * 256.0).clamp(0.0, f64::from(u16::MAX)) as u16
        });
        let mut history_room = [0; History::MAX_LEN];
        let mut message_room;
        let again_after = self.clock.rtt() + RESEND_SLACK;
        let older = self.pending.iter().skip(1).map(|pending| pending.input);
        let snapshot = self.echo(now, newest.tick);
        let session = self.session.index();
        let Session { outgoing, messages, .. } = &mut self.session;
        let block = match messages.is_busy() {
            true => {
                message_room = [0; INPUT_MESSAGES_LEN];
                messages.poll(now, again_after, &mut message_room)
            }
            false => None,
        };
        let packet = Packet::Input(Input {
            session,
            newest: InputRecord { sequence: newest.tick, input_flags: newest.input },
            snapshot,
            drawn_back,
            acks: self.acks.map(AckWindow::said),
            messages: block,
            history: History::new(newest.input, older, &mut history_room),
        });
        Some(outgoing.encode(packet, out))
    }

    pub(super) fn encode_ack(&mut self, now: Time, out: &mut [u8]) -> Option<Result<usize, Full>> {
        let server_tick = self.newest?;
        let mut message_room = [0; INPUT_MESSAGES_LEN];
        let again_after = self.clock.rtt() + RESEND_SLACK;
        let (session, held) = (self.session.index(), self.held(now));
        let Session { outgoing, messages, .. } = &mut self.session;
        let packet = Packet::SnapshotAck(SnapshotAck {
            session,
            server_tick,
            held,
            acks: self.acks.map(AckWindow::said),
            messages: messages.poll(now, again_after, &mut message_room),
        });
        Some(outgoing.encode(packet, out))
    }

    /// Messages that had no room beside the input.
    pub(super) fn encode_messages(
        &mut self,
        now: Time,
        out: &mut [u8],
    ) -> Option<Result<usize, Full>> {
        if now < self.next_messages || !self.session.messages.is_busy() {
            return None;
        }
        let mut room = [0; MAX_DATAGRAM_LEN - HEADER_LEN - 2];
        let session = self.session.index();
        let Session { outgoing, messages, .. } = &mut self.session;
        let block = messages.poll(now, self.clock.rtt() + RESEND_SLACK, &mut room)?;
        self.next_messages = now + MESSAGES_EVERY;
        Some(outgoing.encode(Packet::ClientMessages(ClientMessages { session, block }), out))
    }

    fn echo(&self, now: Time, input: u32) -> Option<SnapshotEcho> {
        let back = u8::try_from(tick::since(input, self.newest?)).ok()?;
        Some(SnapshotEcho { back, held: self.held(now) })
    }

    fn held(&self, now: Time) -> u8 {
        crate::wire::native::held_units(self.newest_at.map_or(Duration::MAX, |at| now.since(at)))
    }

    // --- what is shown -----------------------------------------------------------------------

    pub(super) fn draw(&mut self, now: Time, frame: &mut Frame) {
        let since = self.last_frame.replace(now).map_or(Duration::ZERO, |last| now.since(last));
        let ms = since.as_secs_f32() * 1e3;
        frame.drawn_tick = self.behind.drawn(now);
        let game = &self.game;
        // Nothing is a watcher's own, so all is behind.
        let player = if self.role == Role::Play { self.player } else { NOBODY };
        let mut slides = !self.sliding.is_empty();
        let gap = frame.drawn_tick.map_or(0.0, |drawn| self.ahead.tick(now) - 1.0 - drawn) as f32;
        if let Some(drawn) = frame.drawn_tick {
            frame.left.extend(std::iter::from_fn(|| self.known.poll_left(drawn)));
            self.picture.draw(game.schema(), drawn, ms, |entity, fields| {
                let drawn = Drawn { entity: entity.clone(), fields };
                match game.time_blend(&drawn, player, gap) {
                    Some(_) => slides = true,
                    None if game.is_ahead(entity, player) => {}
                    None => frame.entities.push(drawn),
                }
            });
        }
        if let Some(prediction) = &mut self.prediction {
            prediction.fade(ms);
            let tick = f64::from(prediction.tick());
            let overdue = if self.role == Role::Play { OVERDUE_TICKS } else { 0.0 };
            let fraction = (self.ahead.tick(now) - tick).clamp(0.0, 1.0 + overdue);
            frame.ahead_tick = Some(tick - 1.0 + fraction);
            prediction.draw(fraction as f32, |entity, fields| {
                frame.entities.push(Drawn { entity: entity.clone(), fields });
            });
            if slides {
                prediction.keep_trail();
                let behind = frame.drawn_tick.unwrap_or(tick);
                let ticks = f64::from(ms) * f64::from(self.rate) / 1e3;
                self.slide(Moment { behind, ahead: tick - 1.0 + fraction, ticks, ms }, frame);
            }
        }
        frame.entities.sort_unstable_by_key(|drawn| drawn.entity.id);
        if let Some(ahead) = frame.ahead_tick {
            let said = self.picture.newest_state();
            self.impacts.look(&self.game, self.player, ahead, said, frame);
        }
    }

    /// Draws what both sides meet.
    fn slide(&mut self, moment: Moment, frame: &mut Frame) {
        let gap = (moment.ahead - moment.behind) as f32;
        let (game, player) = (&self.game, self.player);
        let predicted = self.prediction.as_ref().and_then(Prediction::trail);
        let course = Course { schema: game.schema(), said: &self.picture, predicted };
        let newest =
            [self.picture.newest_state(), predicted.and_then(|trail| trail.newest_state())];
        for entity in newest.into_iter().flatten().flat_map(State::entities) {
            let drawn = Drawn { entity: entity.clone(), fields: game.schema().values(entity) };
            if game.time_blend(&drawn, player, gap).is_some() {
                self.sliding.meet(game, player, course, moment, &drawn);
            }
        }
        self.sliding.draw(game, player, course, moment, |entity, fields| {
            frame.entities.push(Drawn { entity: entity.clone(), fields });
        });
    }

    pub(super) fn ahead_tick(&self, now: Time) -> f64 {
        self.ahead.tick(now)
    }

    pub(super) fn server_tick_at(&self, now: Time) -> f64 {
        self.clock.tick(now)
    }

    /// Whether nothing has come yet of the time that is drawn at `now`.
    pub(super) fn is_starved(&self, now: Time) -> bool {
        match (self.behind.drawn(now), self.picture.newest()) {
            (Some(drawn), Some(newest)) => drawn > f64::from(newest),
            _ => true,
        }
    }

    pub(super) fn newest_tick(&self) -> Option<u32> {
        self.picture.newest()
    }

    pub(super) fn newest_state(&self) -> Option<&State> {
        self.picture.newest_state()
    }

    pub(super) fn newest_input(&self) -> Option<u32> {
        self.pending.newest().map(|input| input.tick)
    }

    pub(super) fn pending(&self) -> &Pending {
        &self.pending
    }

    pub(super) fn corrections(&self) -> u64 {
        self.corrections
    }

    pub(super) fn timeline(&self) -> &Timeline {
        &self.timeline
    }

    pub(super) fn prediction(&self) -> Option<&Prediction<G>> {
        self.prediction.as_ref()
    }

    pub(super) fn delay(&self) -> crate::timing::Delay {
        self.behind.delay()
    }

    pub(super) fn send(&mut self, message: &[u8], delivery: Delivery) -> Result<(), SendError> {
        match delivery {
            // With the bug planted, a client that speaks all the same shows that the room listens.
            _ if self.role == Role::Watch && !sabotage::is(Sabotage::WatcherHeard) => {
                Err(SendError::Watching)
            }
            Delivery::Reliable => self.session.messages.send(MessageKind::Game, message),
            Delivery::Unreliable => self.session.messages.send_unreliable(message),
        }
    }

    pub(super) fn may_chat(&self, rule: ChatRule) -> Result<(), ChatError> {
        match (rule, self.role) {
            (ChatRule::Off, _) => Err(ChatError::Off),
            (ChatRule::Players, Role::Watch) => Err(ChatError::Watching),
            _ => Ok(()),
        }
    }

    pub(super) fn chat(&mut self, now: Time, rule: ChatRule, text: &str) -> Result<(), ChatError> {
        self.may_chat(rule)?;
        let text = ChatText::new(text)?;
        if self.chat.allow(now, CHAT_RATE, 1) == Allowance::No {
            return Err(ChatError::TooFast);
        }
        Ok(self.session.messages.send(MessageKind::Chat, text.as_str().as_bytes())?)
    }
}

fn note(events: &mut VecDeque<ClientEvent>, event: ClientEvent) {
    if events.len() == EVENT_LIMIT {
        events.pop_front();
    }
    events.push_back(event);
}

const _: () = assert!(MAX_BASELINE_BACK as usize <= crate::replication::KEPT);
