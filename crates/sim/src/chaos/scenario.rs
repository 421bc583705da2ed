//! What happens in a chaos run, all of it drawn from the seed before it begins.

use std::fmt;
use std::time::Duration;

use super::act::{Act, Dating, Knock, Place, Refused, Twist, Visit};
use super::play::Play;
use super::rules::Rules;
use crate::{Chance, Drift, Preset};
use backspin::time::Time;
use backspin::wire::native::Role;
use backspin_classic::Dialect;

/// A bad day: who takes part, and what happens when.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// What it was drawn from.
    pub seed: u64,
    /// Who takes part, beside the server.
    pub guests: Vec<GuestPlan>,
    /// The server's clock.
    pub clock: Drift,
    /// The server's limits and timers.
    pub rules: Rules,
    /// The game.
    pub play: Play,
    /// Whether all guests share one IP address.
    pub home: Home,
    /// Where visitors come from.
    pub network: Network,
    /// What happens, in order.
    pub acts: Vec<(Time, Act)>,
    /// When every link heals and everyone calms down.
    pub heals: Time,
    /// When it is over.
    pub ends: Time,
}

/// One who takes part, whatever program runs there.
#[derive(Clone, Copy, Debug)]
pub struct GuestPlan {
    /// How it speaks.
    pub dialect: Dialect,
    /// To play or to watch.
    pub role: Role,
    /// Its clock.
    pub clock: Drift,
}

/// Where the guests live.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Home {
    /// Each at an IP address of its own.
    Apart,
    /// All behind one, which is more than a server takes.
    Together,
}

/// Where visitors come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Network {
    /// Each from an IPv4 address.
    V4,
    /// From neighbouring IPv6 networks.
    V6,
}

/// How long it takes, once all is well, until everyone is in or knows why not.
const CALM: Duration = Duration::from_secs(8);

/// A server that said goodbye is started anew after so long.
const STOPPED_FOR: Duration = Duration::from_millis(300);

impl Scenario {
    /// The hosts from which visitors come.
    pub const VISITORS: usize = 3;

    /// The scenario of a seed.
    pub fn draw(seed: u64) -> Self {
        // The links' streams begin far above.
        let mut chance = Chance::new(seed, 1);
        let guests: Vec<_> = (0..3 + chance.below(4)).map(|_| guest(&mut chance)).collect();
        let is_long = chance.below(10) == 0;
        let heals = match is_long {
            // So long that a token may expire.
            true => Time::from_millis(33_000 + chance.below(2_000)),
            false => Time::from_millis(8_000 + chance.below(10_000)),
        };
        let home = if chance.below(12) == 0 { Home::Together } else { Home::Apart };
        let clock = clock(&mut chance);
        let rules = Rules::draw(&mut chance);
        let network = if chance.below(3) == 0 { Network::V6 } else { Network::V4 };
        let mut draft = Draft { acts: Vec::new(), chance, guests: guests.len(), heals, rules };
        draft.fill();
        let mut acts = draft.acts;
        acts.retain(|(at, _)| *at < heals);
        acts.sort_by_key(|(at, _)| *at);
        let (play, ends) = (Play::draw(seed), heals + CALM);
        Scenario { seed, guests, clock, rules, play, home, network, acts, heals, ends }
    }
}

impl fmt::Display for Scenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, guest) in self.guests.iter().enumerate() {
            let does = if guest.role == Role::Play { "plays" } else { "watches" };
            writeln!(f, "guest {number} {does} in {}", guest.dialect)?;
        }
        writeln!(f, "{}", self.rules)?;
        writeln!(f, "{}", self.play)?;
        if self.home == Home::Together {
            writeln!(f, "all of them are behind one IP address")?;
        }
        for (at, act) in &self.acts {
            writeln!(f, "{} {act}", seconds(*at))?;
        }
        writeln!(f, "{} every link heals, everyone lets go", seconds(self.heals))?;
        write!(f, "{} the end", seconds(self.ends))
    }
}

fn seconds(at: Time) -> String {
    format!("{:>8.3} s ", at.as_millis() as f64 / 1e3)
}

fn clock(chance: &mut Chance) -> Drift {
    let ppm = chance.below(401) as i32 - Drift::LIMIT_PPM;
    Drift::new(ppm, Duration::from_millis(chance.below(100_000)))
}

fn guest(chance: &mut Chance) -> GuestPlan {
    let dialect = match chance.below(10) {
        0 => Dialect::Lan,
        1 => Dialect::Rtype,
        2 => Dialect::Ack,
        _ => Dialect::Native,
    };
    let role = match (dialect, chance.below(6)) {
        (Dialect::Native, 0) => Role::Watch,
        _ => Role::Play,
    };
    GuestPlan { dialect, role, clock: clock(chance) }
}

/// A schedule that is being drawn.
struct Draft {
    acts: Vec<(Time, Act)>,
    chance: Chance,
    guests: usize,
    heals: Time,
    rules: Rules,
}

impl Draft {
    fn fill(&mut self) {
        for guest in 0..self.guests {
            let line = self.line(guest);
            self.acts.push((Time::ZERO, line));
            let at = Time::from_millis(self.chance.below(2_000));
            self.acts.push((at, Act::Start { guest, place: Place::SameAddress }));
        }
        for _ in 0..10 + self.chance.below(20) {
            let at = Time::from_millis(500 + self.chance.below(self.heals.as_millis() - 500));
            self.add(at);
        }
        if self.heals > Time::from_millis(30_000) {
            for visitor in 0..Scenario::VISITORS {
                let at = Time::from_millis(self.chance.below(1_000));
                let after = Duration::from_millis(28_500 + self.chance.below(3_500));
                let errand = Visit::OldToken { after };
                self.acts.push((at, Act::Visit { visitor, errand, guest: 0 }));
            }
        }
        for _ in 0..4 + self.chance.below(16) {
            let at = Time::from_millis(500 + self.chance.below(self.heals.as_millis() - 500));
            let visit = self.visit();
            self.acts.push((at, visit));
        }
        if self.chance.happens(0.35) {
            let at = Time::from_millis(2_000 + self.chance.below(self.heals.as_millis() - 2_000));
            self.restart(at);
        }
    }

    fn add(&mut self, at: Time) {
        let guest = self.chance.below(self.guests as u64) as usize;
        let act = match self.chance.below(34) {
            0..3 => Act::Leave { guest },
            3..6 => Act::Crash { guest },
            6..9 => Act::Sleep { guest, span: self.span(200, 11_000) },
            9..14 => self.line(guest),
            14..18 => Act::Cut { guest, span: self.span(200, 11_000) },
            18..21 => Act::Rebind { guest },
            21 => Act::Kick { guest },
            22 => Act::Start { guest, place: self.place() },
            23..25 => Act::Move { guest, room: self.chance.below(6) as u32 },
            25 => self.stall(),
            26 => {
                let is_mute = self.chance.below(2) == 0;
                let refused = if is_mute { Refused::Sending } else { Refused::Receiving };
                Act::Errors { span: self.span(100, 2_000), refused }
            }
            _ => self.knock(guest),
        };
        self.acts.push((at, act));
        if let Act::Stall { span, .. } = act
            && span > Duration::from_secs(1)
        {
            // What a crowd of strangers asks meanwhile is all answered at once.
            self.acts.push((at, Act::Knock { knock: Knock::Spoofed, guest, times: 300 }));
        }
        if matches!(act, Act::Leave { .. } | Act::Crash { .. } | Act::Kick { .. }) {
            self.come_back(at, guest);
        }
    }

    fn knock(&mut self, guest: usize) -> Act {
        let knock = Knock::ALL[self.chance.below(Knock::ALL.len() as u64) as usize];
        let few = 1 + self.chance.below(30) as u16;
        let times = match knock {
            // So many that what comes back in the second meanwhile is not enough.
            Knock::Flood => few + 2 * self.rules.limits.stranger_datagrams_per_s as u16,
            _ => few,
        };
        Act::Knock { knock, guest, times }
    }

    fn stall(&mut self) -> Act {
        let dating = match self.chance.below(4) {
            0 => Dating::SetForward,
            1 => Dating::SetBack,
            _ => Dating::ByArrival,
        };
        Act::Stall { span: self.span(100, 5_000), dating }
    }

    fn visit(&mut self) -> Act {
        let errand = match self.chance.below(22) {
            0..3 => Visit::SilentJoin,
            3..6 => Visit::StolenTicket,
            6..9 => {
                let after = Duration::from_millis(4_000 + self.chance.below(8_000));
                Visit::OldCookie { after }
            }
            9 => Visit::OthersCookie,
            10..14 => Visit::MakeRoom { is_locked: self.chance.happens(0.6) },
            14 => {
                let (room, times) = (1 + self.chance.below(5) as u32, 8 + self.chance.below(16));
                Visit::GuessPassword { room, times: times as u8 }
            }
            15..17 => {
                let limit = self.rules.limits.player_datagrams_per_s as u16;
                Visit::Greedy { times: limit / 2 + self.chance.below(limit.into()) as u16 }
            }
            17..19 => Visit::RoomToRoom,
            19 => Visit::OldToken { after: self.span(0, 5_000) },
            _ => Visit::IdleStream,
        };
        let visitor = self.chance.below(Scenario::VISITORS as u64) as usize;
        let guest = self.chance.below(self.guests as u64) as usize;
        Act::Visit { visitor, errand, guest }
    }

    /// Most come back, soon or late: a place may still be kept for the program before.
    fn come_back(&mut self, after: Time, guest: usize) {
        if self.chance.happens(0.85) {
            let (at, place) = (after + self.span(20, 5_000), self.place());
            self.acts.push((at, Act::Start { guest, place }));
        }
    }

    /// Whoever was in finds the way back as someone new.
    fn restart(&mut self, at: Time) {
        let mut again = at;
        if self.chance.happens(0.4) {
            self.acts.push((at, Act::Stop));
            again = at + STOPPED_FOR;
        }
        self.acts.push((again, Act::Restart));
        for guest in 0..self.guests {
            self.come_back(again, guest);
        }
    }

    fn line(&mut self, guest: usize) -> Act {
        let preset = Preset::ALL[self.chance.below(Preset::ALL.len() as u64) as usize];
        let twist = match self.chance.below(12) {
            0 => Twist::Duplicate,
            1 => Twist::Reorder,
            2 => Twist::Loss,
            3 => Twist::Narrow,
            // One of them only, so that the others can be held to everything.
            4..6 if guest == 0 => Twist::Corrupt,
            _ => Twist::None,
        };
        Act::Line { guest, preset, twist }
    }

    fn place(&mut self) -> Place {
        if self.chance.below(2) == 0 { Place::SameAddress } else { Place::NewAddress }
    }

    /// Mostly short.
    fn span(&mut self, least_ms: u64, most_ms: u64) -> Duration {
        let share = self.chance.unit() * self.chance.unit();
        Duration::from_millis(least_ms + (share * (most_ms - least_ms) as f64) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_has_one_scenario_and_another_seed_another() {
        let told = |seed| Scenario::draw(seed).to_string();
        assert_eq!(told(3), told(3));
        assert_ne!(told(3), told(4));
    }

    #[test]
    fn a_hundred_seeds_have_every_kind_of_act_and_nothing_happens_after_the_healing() {
        let mut seen = [false; Act::NAMES.len()];
        for scenario in (0..100).map(Scenario::draw) {
            for (at, act) in &scenario.acts {
                assert!(*at < scenario.heals, "{act}");
                seen[act.index()] = true;
            }
        }
        assert_eq!(seen, [true; Act::NAMES.len()]);
    }
}
