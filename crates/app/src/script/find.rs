//! The first host on the local network that fits.

use std::error::Error;
use std::time::{Duration, Instant};

use backspin::finder::{FinderEvent, Fit, Found};

use super::line::{Line, Lines};
use super::{LOOK_EVERY, SeatArgs};
use crate::play::{self, Guest, Opened, Playable, Search};
use crate::serve::stop::Stop;

/// How long a search for hosts lasts before it is given up.
const SEARCH_FOR: Duration = Duration::from_secs(15);

/// Looks for hosts and joins the first that fits. Nothing if someone stopped it.
pub(super) fn find<G: Playable>(
    game: G,
    guest: &Guest,
    port: Option<u16>,
    args: &SeatArgs,
    lines: &Lines,
) -> Result<Option<Opened<G>>, Box<dyn Error>> {
    let stop = Stop::on_signals()?;
    let mut search = Search::start(&game, port, guest.dialect)?;
    let began = Instant::now();
    let patience = args.span().unwrap_or(SEARCH_FOR).min(SEARCH_FOR);
    let mut last = None;
    while began.elapsed() < patience && !stop.is_asked() {
        std::thread::sleep(LOOK_EVERY);
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
        // All that was found is told before one of it is joined.
        if let Some(found) = hosts.iter().find(|found| obstacle(found).is_none()) {
            drop(search);
            return play::sit(game, guest, found.address, found.dialect, None).map(Some);
        }
        last = hosts.last().copied().or(last);
    }
    let name = G::COMMAND;
    match last.and_then(|found| Some((found.address, obstacle(&found)?))) {
        _ if stop.is_asked() => Ok(None),
        Some((address, Obstacle::Version)) => Err(format!(
            "the host at {address} has another version of the game; update the older of the two"
        )
        .into()),
        Some((address, Obstacle::Full)) => Err(format!(
            "the host at {address} has no place left; try again later, or watch with \"backspin \
             {name} watch\""
        )
        .into()),
        None => Err(format!(
            "no host answered on this network; start one with \"backspin {name} host\", or name \
             its address: \"backspin {name} join ADDRESS\""
        )
        .into()),
    }
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
