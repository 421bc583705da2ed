//! `backspin serve`: the dedicated server, on real sockets.
//!
//! `config` has the operator's settings, `ports` binds sockets, `stop` handles signals, `log` reports,
//! `record` and
//! `results` save, `meter` measures, [`web`](crate::web) shows it in a browser; everything else is a
//! [`Server`](backspin::server::Server), which the simulator runs just the same.

pub(crate) mod config;
mod log;
pub(crate) mod meter;
pub(crate) mod ports;
pub(crate) mod record;
mod results;
pub(crate) mod stop;

use std::error::Error;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use backspin::room::RoomConfig;
use backspin::time::Time;
use backspin::wire::Name;
use backspin::wire::native::CloseReason;
use backspin_record::Recorded;
use backspin_udp::Loop;
use tracing::{info, warn};

use crate::games::AnyGame;
use crate::netlog::NetLog;
use crate::results::usual_file;
use crate::web::{Bans, Page};
use crate::{seed, spool, utc};
use config::{Config, Given};
use log::{Log, Teller};
use meter::{Meter, TurnKind};
use ports::Ports;
use record::Recording;
use results::{HOLD_END, Results};
pub(crate) use results::{Score, Verdict};
use stop::Stop;

/// Run a dedicated server.
///
/// Each game always has an open room: when it fills, the next one opens. Players can also create rooms, which
/// close when they are empty. Every port understands all dialects; the defaults are the ports where each dialect's
/// players look, those of ack at native's. lan players get Pong against a bot in a room of their own, rtype players
/// get R-Type, native and ack players choose. rtype starts over TCP, one port above its UDP port. Ctrl-C or SIGTERM
/// says goodbye to everyone and stops; a second one stops at once.
///
/// Every setting can be a flag, an environment variable or a line in a TOML file; flags win over variables,
/// variables over the file. SIGHUP reloads the file: the name, the token, the access settings and the log
/// level change at once, the rest after a restart.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  backspin serve
  backspin serve --name Attic --lan-port 0 --log warn
  backspin serve --print-config > serve.toml
  backspin serve --config serve.toml --native-port 4400")]
pub(crate) struct Args {
    #[command(flatten)]
    given: Given,

    /// A TOML file with settings by these names
    #[arg(long, value_name = "FILE", env = "BACKSPIN_CONFIG")]
    config: Option<PathBuf>,

    /// Print all settings as such a file and exit
    #[arg(long)]
    print_config: bool,
}

/// How long a turn may last: a signal is seen this soon, even if no tick is due.
const TURN: Duration = Duration::from_millis(100);

/// The same while the end of a match waits for the disk.
const SOON: Duration = Duration::from_millis(1);

/// How often rooms are asked for results and news. Some of them tick every other millisecond.
const CHORES: Duration = Duration::from_millis(15);

/// What is on its way to a disk when the server stops is waited for no longer than this.
const LAST_WRITES: Duration = Duration::from_secs(1);

/// Runs the command.
pub(crate) fn run(args: &Args) -> Result<(), Box<dyn Error>> {
    let mut config = Config::load(&args.given, args.config.as_deref())?;
    if args.print_config {
        return Ok(io::stdout().write_all(config.to_file()?.as_bytes())?);
    }
    let log = Log::start(config.log, config.log_json)?;
    let (stop, reread) = (Stop::on_signals()?, stop::on_hang_up()?);
    let ports = config.ports()?;
    let mut driver = Loop::with_listeners(ports.open_sockets()?, ports.open_listeners()?)?
        .with_senders(config.senders.into())?;
    let mut recording =
        Recording::start(config.record.as_deref(), config.record_matches.as_deref())?;
    let mut results = open_results(&config)?;
    let now = driver.now();
    // Where no results are kept, nothing is waited for.
    let hold_end = results.as_ref().map_or(Duration::ZERO, |_| HOLD_END);
    let room = RoomConfig { hold_end, ..RoomConfig::default() };
    let net_log = config.net_log.as_deref().map(NetLog::open).transpose()?;
    let mut server = make_server(now, &config, &ports, room, recording.has_log())?;
    server.server_mut().keep_lines(log::kept_lines(net_log.as_ref()));
    let bans = Bans::open(config.bans())?;
    for ban in bans.iter() {
        // The list is no longer than the endpoint's own.
        let _ = server.ban(now, ban.address, ban.left(utc::unix_ms()));
    }
    let mut page = config.page().map(|page| Page::open(page, bans, now)).transpose()?;
    let (mut meter, mut teller) = (Meter::default(), Teller::default());
    let (mut next_chores, mut settings) = (now, Settings::new());
    announce(&config, &ports, page.as_ref());
    while !stop.is_asked() {
        let is_held = server.server().holding_end().next().is_some();
        let limit = driver.now() + if is_held { SOON } else { TURN };
        driver.turn(&mut meter.on(&mut server), limit)?;
        if meter.end_turn(driver.held_up()) == TurnKind::Tick && next_chores <= driver.now() {
            next_chores = driver.now() + CHORES;
            if let Some(results) = &mut results {
                results.keep(driver.now(), server.server());
            }
            if let Some(Page { publisher, .. }) = &mut page {
                meter.log_dropped = log.dropped();
                publisher.obey(driver.now(), &mut server);
                publisher.tell(driver.now(), server.server(), &meter, driver.unsent());
            }
            teller.tell(driver.now(), server.server_mut(), net_log.as_ref());
        }
        if let Some(results) = &mut results {
            results.release(driver.now(), &mut server);
        }
        recording.keep(driver.now(), &mut server);
        if recording.may_begin_log(driver.now()) && server.server().endpoint().is_idle() {
            recording.begin_log();
            server = make_anew(driver.now(), &server, &config, &ports, room)?;
            server.server_mut().keep_lines(log::kept_lines(net_log.as_ref()));
        }
        if reread.swap(false, Ordering::Relaxed) {
            settings.read(args);
        }
        if let Some(read) = settings.poll_read() {
            config = reload(config, read, &log, &ports, &mut server, recording.has_log());
            server.server_mut().keep_lines(log::kept_lines(net_log.as_ref()));
        }
    }
    if let Some(results) = &mut results {
        results.keep(driver.now(), server.server());
    }
    server.close(driver.now(), CloseReason::Stopping);
    driver.flush(&mut server);
    teller.tell(driver.now(), server.server_mut(), net_log.as_ref());
    let until = Instant::now() + LAST_WRITES;
    recording.finish(&mut server, until);
    if let Some(results) = results {
        results.finish(until);
    }
    info!("stopped; all players were told");
    Ok(())
}

/// A server without a past, which is recorded or not.
fn make_server(
    now: Time,
    config: &Config,
    ports: &Ports,
    room: RoomConfig,
    has_log: bool,
) -> Result<Recorded<AnyGame>, Box<dyn Error>> {
    let (endpoint, secret) = (config.endpoint(ports), seed::secret()?);
    let mut server = match has_log {
        true => Recorded::on(now, utc::unix_ms(), endpoint, secret),
        false => Recorded::off(endpoint, secret),
    }
    .speaking(backspin_classic::dialects());
    for (title, game, most) in config.room_counts.offers() {
        server.offer(now, game, Name::new(title.name()), most, room);
    }
    Ok(server)
}

/// A recorded server in place of one that nobody is on. What the operator has told that one holds.
fn make_anew(
    now: Time,
    old: &Recorded<AnyGame>,
    config: &Config,
    ports: &Ports,
    room: RoomConfig,
) -> Result<Recorded<AnyGame>, Box<dyn Error>> {
    let mut server = make_server(now, config, ports, room, true)?;
    let endpoint = old.server().endpoint();
    for (ip, lasts) in endpoint.bans(now) {
        // It has room for as many.
        let _ = server.ban(now, ip, lasts);
    }
    if endpoint.is_draining() {
        server.drain(now);
    }
    Ok(server)
}

/// The settings in the file, or what is wrong with them.
type Reading = Result<Config, String>;

/// Where settings come from that are read again: from a thread, since a disk may take its time.
struct Settings {
    sender: SyncSender<Reading>,
    readings: Receiver<Reading>,
    is_reading: bool,
}

impl Settings {
    fn new() -> Self {
        let (sender, readings) = sync_channel(1);
        Settings { sender, readings, is_reading: false }
    }

    /// Has the file read again, unless it is being read.
    fn read(&mut self, args: &Args) {
        let Some(path) = args.config.clone() else {
            warn!("cannot reload the settings: the server was started without --config");
            return;
        };
        if self.is_reading {
            return;
        }
        let (given, sender) = (args.given.clone(), self.sender.clone());
        let work = move || {
            let read = Config::load(&given, Some(&path)).map_err(|error| error.to_string());
            // A server that has stopped meanwhile does not want it.
            let _ = sender.send(read);
        };
        let begun = thread::Builder::new().name("settings".into()).spawn(work);
        self.is_reading = begun.is_ok();
        if let Err(error) = begun {
            warn!("cannot reload the settings: {error}");
        }
    }

    /// What was read, if it has been.
    fn poll_read(&mut self) -> Option<Reading> {
        let read = self.readings.try_recv().ok()?;
        self.is_reading = false;
        Some(read)
    }
}

/// Does what can be done now about settings that were read again.
fn reload(
    old: Config,
    read: Reading,
    log: &Log,
    ports: &Ports,
    server: &mut Recorded<AnyGame>,
    has_log: bool,
) -> Config {
    let new = match read {
        Ok(new) => new,
        Err(error) => {
            warn!("{error}; the settings are unchanged");
            return old;
        }
    };
    for name in old.fixed_changes(&new) {
        warn!("{name} was changed; restart the server to apply it");
    }
    log.set_level(new.log);
    match has_log {
        // The log says how the endpoint was set up, and could not be replayed otherwise.
        true => warn!("access settings stay unchanged while --record is on"),
        false => server.server_mut().reconfigure(new.endpoint(ports)),
    }
    info!("settings reloaded");
    new
}

/// Opens the results file. A default file that cannot be opened does not stop the start.
fn open_results(config: &Config) -> Result<Option<Results>, Box<dyn Error>> {
    let Some(path) = config.results() else { return Ok(None) };
    match Results::start(path) {
        Err(error) if path == usual_file() => {
            warn!("results are not saved: {error}");
            Ok(None)
        }
        opened => opened.map(Some),
    }
}

/// Says where it listens, for people and for scripts that wait for it. Whether anyone reads it does
/// not matter to the players.
fn announce(config: &Config, ports: &Ports, page: Option<&Page>) {
    let games: Vec<_> = config.room_counts.offers().map(|(title, ..)| title.name()).collect();
    let games = in_a_sentence(&games);
    let refused = match config.refuses_old_dialects() {
        true => {
            "  lan and rtype are refused: they cannot carry the token; --unguarded-dialects \
             allows them\n"
        }
        false => "",
    };
    let page = page.map(|page| format!("  page    http://{}/\n", page.address)).unwrap_or_default();
    let words = format!("{} serves {games}\n{ports}{refused}{page}Ctrl-C stops it\n", config.name);
    spool::say(spool::stdout(), &words);
}

/// "Pong", "Pong and R-Type", or with commas before the last two.
fn in_a_sentence(words: &[&str]) -> String {
    match words {
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        _ => words.concat(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn games_are_listed_as_a_person_would() {
        assert_eq!(in_a_sentence(&["Pong"]), "Pong");
        assert_eq!(in_a_sentence(&["Pong", "R-Type"]), "Pong and R-Type");
        assert_eq!(in_a_sentence(&["Pong", "R-Type", "Tag"]), "Pong, R-Type and Tag");
    }
}
