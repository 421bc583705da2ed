//! All bots in one thread: wait, read, wake those that are due, let some come and go.

use std::error::Error;
use std::time::Duration;
use std::{io, mem};

use backspin::client::{Client, ClientConfig};
use backspin::time::Time;
use backspin::wire::Name;
use backspin::wire::native::Secret;
use backspin_udp::{Backend, Clock, Inbox, Waiter};

use super::bot::{Bot, Change};
use super::send_queue::SendQueue;
use super::source::Source;
use super::tally::{Counts, Tally};
use crate::games::AppGame;
use crate::seed;

/// What is to be done.
pub(super) struct Plan {
    /// How each bot asks; its name is put in.
    pub(super) config: ClientConfig,
    pub(super) clients: usize,
    /// How many come in a second at first.
    pub(super) per_second: u32,
    /// The share of bots that goes every second.
    pub(super) churn: f64,
    pub(super) measured: Duration,
}

/// How things stand, once a second.
#[derive(Clone, Copy, Debug)]
pub(super) struct Second {
    pub(super) connected: usize,
    /// How long it has been measured, if that has begun.
    pub(super) measured: Option<Duration>,
    /// Of this second.
    pub(super) counts: Counts,
}

/// The bot at an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    /// No bot yet.
    Empty,
    /// A bot that asks to be let in.
    Asking,
    Playing,
    /// One that was refused or sent away.
    Over,
}

/// All bots.
pub(super) struct Crowd<G: AppGame> {
    game: G,
    plan: Plan,
    post: SendQueue,
    clock: Clock,
    waiter: Waiter,
    inbox: Inbox,
    /// The sockets that have something.
    ready: Vec<usize>,
    bots: Vec<Option<Box<Bot<G>>>>,
    // What is looked through often is apart from the bots, by the same places.
    /// When each has something to do.
    due: Vec<Option<Time>>,
    /// Nothing is due before this.
    next_due: Time,
    standings: Vec<Standing>,
    /// When sockets were looked at last: all that had come by then is known.
    last_look: Time,
    /// The next bot to join, and when.
    next_comer: usize,
    next_coming: Time,
    /// The next bot to go, by churn.
    next_goer: usize,
    /// Parts of bots that should have gone.
    owed: f64,
    started: Option<Time>,
    /// By when those who came last have been let in or refused.
    patience: Time,
    next_second: Time,
    last_second: Option<Second>,
    tally: Tally,
}

/// How often bots are looked after: they wait no longer, and many are served in one go.
const ROUND: Duration = Duration::from_millis(1);

/// After a longer pause of this program, wherever in its round, everything is read before anyone is
/// woken: a bot that is told the time before what came meanwhile takes its connection for lost.
const PAUSE: Duration = Duration::from_millis(100);

/// How long it takes at most until the last bots were let in or refused.
const PATIENCE: Duration = Duration::from_secs(15);

/// No server sends longer datagrams.
const RECEIVE_LEN: usize = 2048;

const SECOND: Duration = Duration::from_secs(1);

impl<G: AppGame> Crowd<G> {
    pub(super) fn new(game: G, plan: Plan, source: Source) -> io::Result<Self> {
        let ramp = SECOND * plan.clients as u32 / plan.per_second;
        let mut post = SendQueue::new(source);
        let waiter = Waiter::new(Backend::Batched)?;
        for (name, socket) in post.source.shared() {
            waiter.add(socket, name)?;
        }
        Ok(Crowd {
            clock: Clock::start(),
            post,
            waiter,
            inbox: Inbox::new(RECEIVE_LEN),
            ready: Vec::new(),
            bots: (0..plan.clients).map(|_| None).collect(),
            due: vec![None; plan.clients],
            next_due: Time::ZERO,
            standings: vec![Standing::Empty; plan.clients],
            last_look: Time::ZERO,
            next_comer: 0,
            next_coming: Time::ZERO,
            next_goer: 0,
            owed: 0.0,
            started: None,
            patience: Time::ZERO + ramp + PATIENCE,
            next_second: Time::ZERO + SECOND,
            last_second: None,
            tally: Tally::new(plan.clients),
            game,
            plan,
        })
    }

    /// Whether the measurement is over, or no bot is left.
    pub(super) fn is_over(&self) -> bool {
        let now = self.clock.now();
        let measured = self.started.is_some_and(|it| now.since(it) >= self.plan.measured);
        measured || self.standings.iter().all(|standing| *standing == Standing::Over)
    }

    /// How the last second was, once it is over.
    pub(super) fn poll_second(&mut self) -> Option<Second> {
        self.last_second.take()
    }

    /// Waits a moment and does what is due. An error is one of this machine.
    pub(super) fn turn(&mut self) -> Result<(), Box<dyn Error>> {
        self.let_come(self.clock.now())?;
        std::thread::sleep(ROUND);
        self.waiter.wait(Duration::ZERO)?;
        self.read();
        let now = self.clock.now();
        self.wake_due(now);
        if self.started.is_none() && (self.is_settled() || now >= self.patience) {
            self.start(now);
        }
        if now >= self.next_second {
            self.next_second += SECOND;
            self.end_second(now)?;
        }
        Ok(())
    }

    /// Everyone says goodbye.
    pub(super) fn finish(mut self) -> Tally {
        let now = self.clock.now();
        self.look();
        self.tally.time = self.started.map_or(Duration::ZERO, |started| now.since(started));
        self.tally.connected_last = self.connected();
        for place in 0..self.bots.len() {
            self.leave(now, place);
        }
        self.post.flush();
        self.tally
    }

    fn connected(&self) -> usize {
        self.standings.iter().filter(|standing| **standing == Standing::Playing).count()
    }

    /// Whether everyone was let in or refused.
    fn is_settled(&self) -> bool {
        let settled = |standing| matches!(standing, Standing::Playing | Standing::Over);
        self.standings.iter().all(|standing| settled(*standing))
    }

    /// Starts the bots that are due to join.
    fn let_come(&mut self, now: Time) -> Result<(), Box<dyn Error>> {
        while self.next_comer < self.bots.len() && self.next_coming <= now {
            self.sit(now, self.next_comer, None)?;
            self.next_comer += 1;
            self.next_coming += SECOND / self.plan.per_second;
        }
        Ok(())
    }

    /// A bot takes a place: a new one, or the one that was killed there with the ticket it kept.
    fn sit(
        &mut self,
        now: Time,
        place: usize,
        ticket: Option<Secret>,
    ) -> Result<(), Box<dyn Error>> {
        let name = Name::new(&format!("Bot {place}"));
        let config = ClientConfig { name, ticket, predicts: false, ..self.plan.config.clone() };
        let client = Client::new(now, self.game.clone(), config, seed::secret()?);
        self.post.source.renew(place)?;
        if let Some(socket) = self.post.source.own(place) {
            self.waiter.add(socket, place)?;
        }
        self.bots[place] = Some(Box::new(Bot::new(now, client)));
        self.due[place] = Some(now);
        self.next_due = self.next_due.min(now);
        self.standings[place] = Standing::Asking;
        Ok(())
    }

    /// Reads every socket that has something.
    fn read(&mut self) {
        let now = self.clock.now();
        let pause = now.since(self.last_look);
        self.tally.longest_pause = self.tally.longest_pause.max(pause);
        if pause < PAUSE {
            self.last_look = now;
        }
        let mut ready = mem::take(&mut self.ready);
        ready.extend(self.waiter.ready());
        for name in ready.drain(..) {
            // No server sends without end.
            while self.receive(name) {}
        }
        self.ready = ready;
        if pause >= PAUSE {
            self.last_look = self.clock.now();
        }
    }

    /// Takes what has come to one socket, and wakes whom it was for, at once or soon. Whether there
    /// may be more.
    fn receive(&mut self, name: usize) -> bool {
        let Some(socket) = self.post.source.socket(name) else { return false };
        // An error is an earlier datagram's, or passes like one.
        let _ = socket.receive(&mut self.inbox);
        let read = self.clock.now();
        for (envelope, ago, bytes) in self.inbox.arrivals() {
            if let Some(place) = self.post.source.place_at(name, envelope.local)
                && let Some(bot) = &mut self.bots[place]
            {
                bot.handle(read - ago, envelope, bytes);
                // What came may be answered at once, and have moved what is due.
                let now = self.clock.now();
                let due = match is_current(self.last_look, now) {
                    true => serve(now, place, bot, &mut self.post),
                    false => Some(now),
                };
                self.due[place] = due;
                self.next_due = due.map_or(self.next_due, |due| self.next_due.min(due));
                note(bot, &mut self.standings[place], &mut self.tally);
            }
        }
        // Those whose time has come meanwhile do not wait for what came to others.
        self.wake_due(self.clock.now());
        self.inbox.is_full()
    }

    /// Wakes every bot that is due and sends its datagrams.
    fn wake_due(&mut self, now: Time) {
        if self.next_due <= now {
            for place in 0..self.bots.len() {
                if self.due[place].is_some_and(|due| due <= now) {
                    let now = self.clock.now();
                    if !is_current(self.last_look, now) {
                        break;
                    }
                    if let Some(bot) = &mut self.bots[place] {
                        // Who waited for others here has not sent meanwhile: round trips are the
                        // line's.
                        self.due[place] = serve(now, place, bot, &mut self.post);
                        note(bot, &mut self.standings[place], &mut self.tally);
                    }
                }
            }
            let next = self.due.iter().flatten().min();
            self.next_due = next.copied().unwrap_or(now);
        }
        self.post.flush();
    }

    /// A bot says goodbye.
    fn leave(&mut self, now: Time, place: usize) {
        let Some(bot) = &mut self.bots[place] else { return };
        bot.client.leave();
        self.post.take(place, |out| bot.speak(now, out));
    }

    /// Everyone is there who will be: from now on it counts.
    fn start(&mut self, now: Time) {
        self.look();
        let refused = mem::take(&mut self.tally.ends);
        self.tally = Tally::new(self.bots.len());
        self.tally.ends = refused;
        self.tally.connected_first = self.connected();
        self.started = Some(now);
        self.next_second = now + SECOND;
    }

    fn end_second(&mut self, now: Time) -> Result<(), Box<dyn Error>> {
        let counts = self.look();
        let connected = self.connected();
        self.tally.client_time += SECOND * connected as u32;
        let measured = self.started.map(|started| now.since(started));
        self.last_second = Some(Second { connected, measured, counts });
        if measured.is_some_and(|measured| measured < self.plan.measured) {
            self.churn(now)?;
        }
        Ok(())
    }

    /// Adds up what was not counted yet, and says how much that was.
    fn look(&mut self) -> Counts {
        let mut all = Counts::default();
        for bot in self.bots.iter_mut().flatten() {
            all += bot.count();
            if let Some(round_trip) = bot.client.round_trip().latest() {
                self.tally.round_trip(round_trip);
            }
        }
        self.tally.counts += all;
        all
    }

    /// Some go: every other one leaves and a new one comes, the others are killed and come back.
    fn churn(&mut self, now: Time) -> Result<(), Box<dyn Error>> {
        self.owed += self.plan.churn * self.bots.len() as f64;
        while self.owed >= 1.0 {
            self.owed -= 1.0;
            let place = self.next_goer;
            self.next_goer = (place + 1) % self.bots.len();
            let Some(bot) = &mut self.bots[place] else { continue };
            self.tally.counts += bot.count();
            self.tally.churned += 1;
            let ticket = match place % 2 {
                0 => {
                    self.leave(now, place);
                    None
                }
                _ => bot.client.ticket(),
            };
            self.sit(now, place, ticket)?;
        }
        Ok(())
    }
}

/// Whether a look at the sockets still tells what has come by `now`, but for what will be read in a
/// moment.
fn is_current(last_look: Time, now: Time) -> bool {
    now.since(last_look) < PAUSE
}

/// Does what is due for the bot at `place` and takes what it says; says when there is more to do.
fn serve<G: AppGame>(
    now: Time,
    place: usize,
    bot: &mut Bot<G>,
    post: &mut SendQueue,
) -> Option<Time> {
    bot.wake(now);
    post.take(place, |out| bot.speak(now, out));
    bot.due()
}

/// Notes what became of a bot.
fn note<G: AppGame>(bot: &mut Bot<G>, standing: &mut Standing, tally: &mut Tally) {
    while let Some(change) = bot.poll_change() {
        *standing = match change {
            Change::In => Standing::Playing,
            Change::Lost => {
                tally.lost += 1;
                Standing::Asking
            }
            Change::Over(reason) => {
                tally.end(reason);
                Standing::Over
            }
        };
    }
}
