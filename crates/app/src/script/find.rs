//! Finds the first suitable host on the local network.

use std::error::Error;
use std::time::{Duration, Instant};

use backspin::finder::{FinderEvent, Fit, Found};

use super::line::{Line, Lines};
use super::{LOOK_EVERY, SeatArgs};
use crate::games::AppGame;
use crate::play::{self, Guest, Opened, Search};
use crate::serve::stop::Stop;

/// How often it is said that the search goes on: as often as everyone is asked again.
const SAY_EVERY: Duration = Duration::from_secs(5);

/// Looks for hosts until one fits, and joins it; until `--seconds` are over, if they are given. Nothing if
/// someone stopped it.
pub(super) fn find<G: AppGame>(
    game: G,
    guest: &Guest,
    port: Option<u16>,
    args: &SeatArgs,
    lines: &Lines,
) -> Result<Option<Opened<G>>, Box<dyn Error>> {
    let stop = Stop::on_signals()?;
    let mut search = Search::start(&game, port, guest.dialect)?;
    let began = Instant::now();
    let mut next_word = SAY_EVERY;
    let mut last = None;
    while args.span().is_none_or(|span| began.elapsed() < span) && !stop.is_asked() {
        std::thread::sleep(LOOK_EVERY);
        if began.elapsed() >= next_word {
            next_word += SAY_EVERY;
            let refused = last.as_ref().and_then(|found| sentence::<G>(found));
            lines.say(&Line::Searching { seconds: began.elapsed().as_secs(), refused })?;
        }
        if let Some(error) = search.failure() {
            return Err(error.into());
        }
        let (event, hosts) = {
            let mut finder = search.look();
            (finder.poll_event(), finder.hosts().collect::<Vec<_>>())
        };
        if let Some(FinderEvent::Found(found)) = event {
            lines.say(&Line::discovered(&found))?;
            continue;
        }
        // Report everything that was found before joining one.
        if let Some(found) = hosts.iter().find(|found| obstacle(found).is_none()) {
            drop(search);
            return play::sit(game, guest, found.address, play::dialect_of(found), None).map(Some);
        }
        last = hosts.last().copied().or(last);
    }
    let name = G::COMMAND;
    match last.and_then(|found| sentence::<G>(&found)) {
        _ if stop.is_asked() => Ok(None),
        Some(sentence) => Err(sentence.into()),
        None => Err(format!(
            "no host answered on this network; start one with \"backspin {name} host\", or give \
             its address: \"backspin {name} join ADDRESS\""
        )
        .into()),
    }
}

/// Why a host cannot be joined, in words.
fn sentence<G: AppGame>(found: &Found) -> Option<String> {
    let (address, name) = (found.address, G::COMMAND);
    Some(match obstacle(found)? {
        Obstacle::Version => format!(
            "the host at {address} runs a different version of the game; update the older one"
        ),
        Obstacle::Full => format!(
            "the host at {address} is full; try again later, or watch with \"backspin \
             {name} watch\""
        ),
    })
}

/// Why a host cannot be joined.
enum Obstacle {
    Version,
    Full,
}

fn obstacle(found: &Found) -> Option<Obstacle> {
    match (found.fit, found.players) {
        (Fit::OtherVersion, _) => Some(Obstacle::Version),
        (_, Some((players, capacity))) if players >= capacity => Some(Obstacle::Full),
        _ => None,
    }
}
