//! Links that change while a match is played: what a route, a neighbour or a phone does to it.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use super::config::{LinkConfig, Loss};

/// How a link changes in the middle of a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// The round trip is so many milliseconds longer, at once; shorter if negative.
    Step(i32),
    /// The same, evenly over five seconds.
    Slope(i32),
    /// Two routes, one so many milliseconds longer: every three seconds it is the other.
    Flap(i32),
    /// A third of all datagrams is lost for two seconds.
    LossBurst,
    /// Once a second nothing passes for 60 ms, then all of it at once, as some wireless does.
    Hold,
    /// The player's machine does nothing for 400 ms, then finds what has come meanwhile.
    Sleep,
    /// The server does nothing for 500 ms and loses most of these ticks.
    Stall,
}

/// What happens to a link at some time after its change began.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Turn {
    pub(super) after: Duration,
    pub(super) what: What,
    /// From here on it must be as it was before, within the time for recovering.
    pub(super) recovers: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum What {
    Link(LinkConfig),
    Sleep,
    Wake,
    /// The server stands for so long.
    Stall(Duration),
}

const SLOPE: Duration = Duration::from_secs(5);
const SLOPE_STEP: Duration = Duration::from_millis(50);
const FLAP_EVERY: Duration = Duration::from_secs(3);
const LOSSY_FOR: Duration = Duration::from_secs(2);
const LOSSY_SHARE: f64 = 1.0 / 3.0;
const HOLD_EVERY: Duration = Duration::from_secs(1);
const HOLD_MS: u64 = 60;
const SLEEP: Duration = Duration::from_millis(400);
const STALL: Duration = Duration::from_millis(500);

impl Change {
    /// The changes that every release is measured with, by their names on the command line.
    pub const ALL: [(&'static str, Change); 10] = [
        ("step-up", Change::Step(80)),
        ("step-down", Change::Step(-80)),
        ("step-far", Change::Step(400)),
        ("slope-up", Change::Slope(80)),
        ("slope-down", Change::Slope(-80)),
        ("flap", Change::Flap(80)),
        ("loss", Change::LossBurst),
        ("hold", Change::Hold),
        ("sleep", Change::Sleep),
        ("stall", Change::Stall),
    ];

    /// What happens in `span`, in order.
    pub(super) fn turns(self, link: LinkConfig, span: Duration) -> Vec<Turn> {
        let turn = |after, what, recovers| Turn { after, what, recovers };
        let longer = |ms: i32| What::Link(lengthened(link, f64::from(ms)));
        match self {
            Change::Step(ms) => vec![turn(Duration::ZERO, longer(ms), true)],
            Change::Slope(ms) => {
                let steps = (SLOPE.as_millis() / SLOPE_STEP.as_millis()) as u32;
                let part = |step: u32| f64::from(ms) * f64::from(step) / f64::from(steps);
                let at = |step| What::Link(lengthened(link, part(step)));
                (1..=steps).map(|step| turn(SLOPE_STEP * step, at(step), step == steps)).collect()
            }
            Change::Flap(ms) => {
                let flaps = (span.as_millis() / FLAP_EVERY.as_millis()) as u32;
                let route = |flap| if flap % 2 == 0 { longer(ms) } else { What::Link(link) };
                (0..flaps).map(|flap| turn(FLAP_EVERY * flap, route(flap), true)).collect()
            }
            Change::LossBurst => {
                let lossy = LinkConfig { loss: Loss::independent(LOSSY_SHARE), ..link };
                vec![
                    turn(Duration::ZERO, What::Link(lossy), false),
                    turn(LOSSY_FOR, What::Link(link), true),
                ]
            }
            Change::Hold => {
                let holds = (span.as_millis() / HOLD_EVERY.as_millis()) as u32;
                (0..holds).flat_map(|hold| held(link, HOLD_EVERY * hold, hold == 0)).collect()
            }
            Change::Stall => vec![
                turn(Duration::ZERO, What::Stall(STALL), false),
                turn(STALL, What::Link(link), true),
            ],
            Change::Sleep => {
                vec![turn(Duration::ZERO, What::Sleep, false), turn(SLEEP, What::Wake, true)]
            }
        }
    }
}

/// What is sent in a hold comes when it ends: the earlier, the longer it waits.
fn held(link: LinkConfig, from: Duration, recovers: bool) -> impl Iterator<Item = Turn> {
    (0..=HOLD_MS).map(move |ms| {
        let delay = link.delay + Duration::from_millis(HOLD_MS - ms);
        let what = What::Link(LinkConfig { delay, ..link });
        Turn { after: from + Duration::from_millis(ms), what, recovers: recovers && ms == HOLD_MS }
    })
}

/// Half of it each way; a way is never shorter than nothing.
fn lengthened(link: LinkConfig, rtt_ms: f64) -> LinkConfig {
    let delay_s = (link.delay.as_secs_f64() + rtt_ms / 2e3).max(0.0);
    LinkConfig { delay: Duration::from_secs_f64(delay_s), ..link }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let more = |ms: &i32| if *ms < 0 { "less" } else { "more" };
        match self {
            Change::Step(ms) => {
                write!(f, "{} ms {} from the middle on", ms.unsigned_abs(), more(ms))
            }
            Change::Slope(ms) => {
                write!(f, "{} ms {} within 5 s from the middle on", ms.unsigned_abs(), more(ms))
            }
            Change::Flap(ms) => {
                let (by, more) = (ms.unsigned_abs(), more(ms));
                write!(f, "{by} ms {more} or not, every 3 s from the middle on")
            }
            Change::LossBurst => f.write_str("33 % loss for 2 s in the middle"),
            Change::Hold => f.write_str("held for 60 ms once a second from the middle on"),
            Change::Sleep => f.write_str("asleep for 400 ms in the middle"),
            Change::Stall => f.write_str("the server stands for 500 ms in the middle"),
        }
    }
}

impl FromStr for Change {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let known = || Change::ALL.map(|(name, _)| name).join(", ");
        let found = Change::ALL.into_iter().find(|(known, _)| *known == name);
        found
            .map(|(_, change)| change)
            .ok_or_else(|| format!("no change has this name: there is {}", known()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Preset;

    fn delays(change: Change) -> Vec<(u64, u64)> {
        let turns = change.turns(Preset::Reference.config(), Duration::from_secs(7));
        let delay = |turn: &Turn| match turn.what {
            What::Link(link) => link.delay.as_millis() as u64,
            What::Sleep | What::Wake | What::Stall(_) => 0,
        };
        turns.iter().map(|turn| (turn.after.as_millis() as u64, delay(turn))).collect()
    }

    #[test]
    fn every_change_has_its_times() {
        assert_eq!(delays(Change::Step(80)), [(0, 90)]);
        assert_eq!(delays(Change::Step(-80)), [(0, 10)]);
        assert_eq!(delays(Change::Step(-200)), [(0, 0)]);
        assert_eq!(delays(Change::Flap(80)), [(0, 90), (3_000, 50)]);
        let slope = delays(Change::Slope(80));
        assert_eq!((slope.len(), slope[49], slope[99]), (100, (2_500, 70), (5_000, 90)));
        assert_eq!(delays(Change::LossBurst), [(0, 50), (2_000, 50)]);
        assert_eq!(delays(Change::Sleep), [(0, 0), (400, 0)]);
        assert_eq!(delays(Change::Stall), [(0, 0), (500, 50)]);
    }

    #[test]
    fn what_is_held_comes_at_once() {
        let held = delays(Change::Hold);
        assert_eq!(held.len(), 7 * 61);
        assert!(held[..61].iter().all(|(after, delay)| after + delay == 110), "{held:?}");
        assert_eq!(held[60], (60, 50));
        assert_eq!(held[61], (1_000, 110));
    }

    #[test]
    fn every_change_has_a_name_and_a_time_from_which_it_recovers() {
        for (name, change) in Change::ALL {
            assert_eq!(name.parse(), Ok(change));
            let turns = change.turns(Preset::Reference.config(), Duration::from_secs(10));
            assert!(turns.iter().any(|turn| turn.recovers), "{name}");
            assert!(turns.is_sorted_by_key(|turn| turn.after), "{name}");
        }
        assert!("earthquake".parse::<Change>().is_err());
    }
}
