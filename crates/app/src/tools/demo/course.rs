//! The course of a match: sixty times a second both bots see their screens and press keys, and the guest is
//! measured.

use std::error::Error;
use std::io;
use std::time::Duration;

use backspin::client::Frame;
use backspin::game::Game;
use backspin::replication::State;
use backspin::time::Time;
use backspin_pong::{Bot, Level, Phase, Pong, World};
use backspin_sim::{Bar, LinkConfig, Quality, Setup, Tally, Truth, Umpire};
use serde::Serialize;

use super::stage::Stage;
use crate::serve::stop::Stop;

/// Frames a second, as many as ticks.
const FRAME_RATE: u64 = 60;

/// The first seconds of a session are joining and do not count; meanwhile the match counts down.
const JOINING: Duration = Duration::from_secs(2);

/// How long the guest may take to get in.
const JOIN_WITHIN: Duration = Duration::from_secs(12);

/// How long both sides have to agree on the score in the end.
const AGREE_WITHIN: Duration = Duration::from_secs(5);

/// A frame that begins later than this is late.
const LATE: Duration = Duration::from_millis(4);

/// The bots' chance. The ball flies the same way in every match until someone misses it, so with
/// these the first point falls in the fifth second, and mostly the match is won in the 28th.
const HARD_SEED: u64 = 1;
const EASY_SEED: u64 = 100;

/// What is played: to five, with a serve before the measuring begins. A ball that rests says that
/// it does not move, so its first move would be taken for a jump.
pub(super) const GAME: Pong = Pong { points: 5, doubles: false, countdown: 90 };

/// The verdict if it is stopped before the first point.
pub(super) const STOPPED: &str = "stopped before the first point, so there is nothing to judge yet";

/// A match that is being played.
pub(super) struct Course {
    stage: Stage,
    bots: [Bot; 2],
    umpire: Umpire,
    began: Time,
    /// How many there were since then, and the time that the bots think by.
    frame: u64,
    strain: Strain,
    host_frame: Frame,
    drawn: State,
}

/// How well this machine kept up: by a thread that sleeps until the next frame is due and looks at the
/// clock when it wakes, as any program would that only counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct Strain {
    /// Frames that were due.
    pub(super) frames: u64,
    /// Those that were left out, or began more than 4 ms late.
    pub(super) late_frames: u64,
    /// How late the latest began.
    pub(super) latest_ms: u64,
    /// Ticks that the server skipped, as it came too late for them.
    pub(super) skipped_ticks: u64,
}

impl Strain {
    /// Whether the machine was too busy for its figures to say much about the link.
    pub(super) fn is_busy(&self) -> bool {
        self.skipped_ticks > 0 || self.late_frames * 100 > self.frames
    }
}

/// What there is to show at one moment.
#[derive(Clone, Copy)]
pub(super) struct Sight {
    /// Whole seconds that have been played.
    pub(super) seconds: u32,
    /// What is on the guest's screen.
    pub(super) world: World,
    /// The score on the server.
    pub(super) score: [u8; 2],
    pub(super) ping_ms: Option<f64>,
    /// The share that is lost on the way to the guest.
    pub(super) loss: Option<f64>,
    /// How far the guest's own paddle is ahead of the server, and the host's behind it.
    pub(super) lead_ms: Option<f64>,
    pub(super) behind_ms: Option<f64>,
}

/// How a match went.
pub(super) struct Played {
    /// Whole seconds, joining not counted.
    pub(super) seconds: u32,
    /// The server's.
    pub(super) score: [u8; 2],
    /// The guest's.
    pub(super) guest_score: [u8; 2],
    pub(super) quality: Quality,
    pub(super) strain: Strain,
    /// Whether someone stopped it.
    pub(super) was_stopped: bool,
}

/// Where the match is shown.
pub(super) trait Audience {
    /// Called for every frame.
    fn see(&mut self, sight: &Sight) -> io::Result<()>;
}

impl Course {
    pub(super) fn new(stage: Stage) -> Self {
        Course {
            began: stage.now(),
            stage,
            bots: [Bot::new(Level::Hard, HARD_SEED), Bot::new(Level::Easy, EASY_SEED)],
            umpire: Umpire::default(),
            frame: 0,
            strain: Strain::default(),
            host_frame: Frame::default(),
            drawn: State::default(),
        }
    }

    /// Plays for this many seconds, or until someone has won or `stop` is asked.
    pub(super) fn play(
        mut self,
        seconds: u32,
        link: &LinkConfig,
        stop: &Stop,
        audience: &mut impl Audience,
    ) -> Result<Played, Box<dyn Error>> {
        self.join(stop, audience)?;
        self.stage.guest.lock().begin(self.stage.now());
        let (first, before) = (self.frame, self.guest_ticks());
        let skipped_before = self.skipped_ticks();
        self.strain = Strain::default();
        let (mut played, mut bytes_down, mut bytes_up) = (0, 0, 0);
        while played < seconds && !stop.is_asked() {
            let sight = self.step(played)?;
            let whole = ((self.frame - first) / FRAME_RATE) as u32;
            audience.see(&Sight { seconds: whole, ..sight })?;
            // Bytes are counted by whole seconds, so a match also ends with one.
            if whole > played {
                played = whole;
                (bytes_down, bytes_up) = self.stage.guest.lock().traffic();
                if sight.world.phase == Phase::Over {
                    break;
                }
            }
        }
        let now = self.stage.now();
        let seen = self.stage.guest.lock().end(now, &self.umpire);
        let after = self.guest_ticks();
        let counted = Tally {
            ticks: after.0.saturating_sub(before.0),
            ticks_without_input: after.1.saturating_sub(before.1).into(),
            bytes_down,
            bytes_up,
            player_seconds: played.into(),
            ..Tally::default()
        };
        let skipped_ticks = self.skipped_ticks().saturating_sub(skipped_before);
        let strain = Strain { skipped_ticks, ..self.strain };
        let was_stopped = stop.is_asked();
        let (quality, _) = seen.judge(Bar::of(&Setup::new(*link, 1)), counted);
        let [score, guest_score] = self.settle(played)?;
        self.stage.guest.lock().client.leave();
        Ok(Played { seconds: played, score, guest_score, quality, strain, was_stopped })
    }

    /// Until the guest is in, and as long as joining lasts.
    fn join(&mut self, stop: &Stop, audience: &mut impl Audience) -> Result<(), Box<dyn Error>> {
        let mut until = self.began + JOIN_WITHIN;
        let mut is_in = false;
        while self.stage.now() < until && !stop.is_asked() {
            let sight = self.step(0)?;
            audience.see(&sight)?;
            if !is_in && self.stage.guest.lock().client.is_playing() {
                is_in = true;
                until = self.stage.now() + JOINING;
            }
        }
        match is_in {
            true => Ok(()),
            false if stop.is_asked() => Err(STOPPED.into()),
            false => Err(format!(
                "the guest got no answer within {} s; is this machine very busy, or does a \
                 firewall block UDP on 127.0.0.1?",
                JOIN_WITHIN.as_secs()
            )
            .into()),
        }
    }

    /// One frame: everyone looks at a screen and presses.
    fn step(&mut self, seconds: u32) -> Result<Sight, Box<dyn Error>> {
        // A screen that is late leaves frames out.
        let elapsed = self.stage.now().since(self.began).as_nanos();
        let reached = (elapsed * u128::from(FRAME_RATE) / 1_000_000_000) as u64;
        let next = self.frame + 1;
        self.frame = reached.max(next);
        let due = self.began + Duration::from_nanos(self.frame * 1_000_000_000 / FRAME_RATE);
        self.stage.pass_until(due)?;
        let now = self.stage.now();
        let left_out = self.frame - next;
        self.strain.frames += left_out + 1;
        self.strain.late_frames += left_out + u64::from(now.since(due) > LATE);
        self.strain.latest_ms = self.strain.latest_ms.max(now.since(due).as_millis() as u64);
        let (truth, score) = self.play_host(now);
        self.play_guest(truth, score, seconds)
    }

    /// Says what time it is on the server, and how it stands.
    fn play_host(&mut self, now: Time) -> (Truth, [u8; 2]) {
        let mut host = self.stage.host.lock();
        let room = &mut host.server_mut().rooms_mut()[0];
        self.umpire.look(now, room);
        let (truth, score) = (Truth::of(room, now), room.world().score);
        let client = host.client_mut();
        client.draw(now, &mut self.host_frame);
        let world = read(&self.host_frame, &mut self.drawn);
        if let Some(player) = client.player() {
            client.press(self.bots[0].buttons(&world, player, self.frame as u32));
        }
        (truth, score)
    }

    fn play_guest(
        &mut self,
        truth: Truth,
        score: [u8; 2],
        seconds: u32,
    ) -> Result<Sight, Box<dyn Error>> {
        let mut guest = self.stage.guest.lock();
        if let Some(reason) = guest.client.ended() {
            return Err(format!("the guest's match ended too early: {reason}").into());
        }
        // Its thread may have had it until now: a moment ago is no longer on its clocks.
        let now = self.stage.now();
        let ticks = now.since(truth.now).as_secs_f64() * f64::from(truth.tick_rate);
        let truth = Truth { now, tick: truth.tick + ticks, ..truth };
        guest.look(truth);
        let world = read(guest.observer.frame(), &mut self.drawn);
        if let Some(player) = guest.client.player() {
            let buttons = self.bots[1].buttons(&world, player, self.frame as u32);
            guest.press(truth.now, buttons);
        }
        let client = &guest.client;
        let tick_ms = 1e3 / f64::from(truth.tick_rate);
        let ahead = client.ahead_tick(truth.now);
        let drawn = guest.observer.frame().drawn_tick;
        Ok(Sight {
            seconds,
            world,
            score,
            ping_ms: client.round_trip().mean().map(|mean| mean.as_secs_f64() * 1e3),
            loss: client.loss(),
            lead_ms: ahead.map(|ahead| (ahead - truth.tick) * tick_ms),
            behind_ms: drawn.map(|drawn| (truth.tick - drawn) * tick_ms),
        })
    }

    /// Ticks that the server came too late for, so far.
    fn skipped_ticks(&self) -> u64 {
        self.stage.host.lock().server().late_ticks()
    }

    /// The guest's ticks on the server, and those without a real input.
    fn guest_ticks(&self) -> (u64, u64) {
        let host = self.stage.host.lock();
        let mut members = host.server().rooms()[0].members();
        let guest = members.find(|member| Some(member.player) != host.client().player());
        guest.map_or((0, 0), |guest| (guest.ticks, guest.ticks_without_input))
    }

    /// Plays on until the guest has heard of everything that counted and has the server's score,
    /// or has had time enough for it. Both scores.
    fn settle(&mut self, seconds: u32) -> Result<[[u8; 2]; 2], Box<dyn Error>> {
        let until = self.stage.now() + AGREE_WITHIN;
        let last = self.stage.host.lock().server().rooms()[0].tick();
        loop {
            let score = self.stage.host.lock().server().rooms()[0].world().score;
            let (guest_score, tick) = {
                let guest = self.stage.guest.lock();
                (GAME.restore(guest.client.state()).score, guest.client.server_tick())
            };
            if tick >= last && guest_score == score || self.stage.now() >= until {
                return Ok([score, guest_score]);
            }
            self.step(seconds)?;
        }
    }
}

/// What can be seen of the match on a screen.
fn read(frame: &Frame, drawn: &mut State) -> World {
    frame.write(GAME.schema(), drawn);
    GAME.restore(drawn)
}
