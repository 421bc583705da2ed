//! The operator's settings: flags first, then the environment, then a file, then defaults.

use std::collections::BTreeSet;
use std::error::Error;
use std::fs;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use backspin::endpoint::{Audience, EndpointConfig, Limits, Tokenless, Unguarded};
use backspin::matching::MatchKey;
use backspin::session::Wider;
use backspin::wire::Name;
use backspin::wire::native::Token;
use serde::{Deserialize, Serialize};
use tracing::level_filters::LevelFilter;

use super::log;
use super::ports::{Dialect, Ports};
use crate::games::{GivenRooms, RoomCounts};
use crate::results;
use crate::web::{self, PageAddress, PageConfig, Proxies};

/// Everything that can be said, by whoever says it: on the command line and in the environment
/// (clap), or in a file (serde), by the same names.
#[derive(clap::Args, Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub(super) struct Given {
    /// The port for native players; 0 closes it [default: 4300]
    #[arg(long, value_name = "PORT", env = "BACKSPIN_NATIVE_PORT")]
    native_port: Option<u16>,

    /// The port for lan players; 0 closes it [default: 54000]
    #[arg(long, value_name = "PORT", env = "BACKSPIN_LAN_PORT")]
    lan_port: Option<u16>,

    /// The port for rtype players, with TCP one port above; 0 closes both [default: 4242]
    #[arg(long, value_name = "PORT", env = "BACKSPIN_RTYPE_PORT")]
    #[arg(value_parser = clap::value_parser!(u16).range(..u16::MAX as i64))]
    rtype_port: Option<u16>,

    /// The address to listen on [default: all addresses of this machine, IPv4 and IPv6]
    ///
    /// On a single address, most systems do not receive LAN searches, which are broadcasts.
    #[arg(long, value_name = "IP", env = "BACKSPIN_BIND")]
    bind: Option<IpAddr>,

    /// The server's name, at most 15 bytes [default: Backspin]
    #[arg(long, value_name = "NAME", env = "BACKSPIN_NAME", value_parser = checked(crate::parse_name))]
    name: Option<String>,

    #[command(flatten)]
    #[serde(flatten)]
    room_counts: GivenRooms,

    /// The most rooms, including those that players create [default: 1024]
    #[arg(long, value_name = "N", env = "BACKSPIN_ROOMS")]
    rooms: Option<u16>,

    /// The most players [default: 2048]
    #[arg(long, value_name = "N", env = "BACKSPIN_PLAYERS")]
    players: Option<u16>,

    /// The most players per address [default: 64]
    #[arg(long, value_name = "N", env = "BACKSPIN_PLAYERS_PER_ADDRESS")]
    players_per_address: Option<u16>,

    /// Datagrams per second read from one address that has no session: joins, pings, searches [default: 64]
    #[arg(long, value_name = "N", env = "BACKSPIN_JOINS_PER_ADDRESS")]
    joins_per_address: Option<u16>,

    /// The most open TCP streams per address, for rtype's first step [default: 16]
    #[arg(long, value_name = "N", env = "BACKSPIN_STREAMS_PER_ADDRESS")]
    streams_per_address: Option<u16>,

    /// Room passwords that one address may try at once; one more each second [default: 16]
    #[arg(long, value_name = "N", env = "BACKSPIN_PASSWORD_TRIES")]
    password_tries: Option<u16>,

    /// The limits of an IPv6 /56, as a multiple of those of one address (a /64 counts as one) [default: 4]
    #[arg(long = "times-per-56", value_name = "N", env = "BACKSPIN_TIMES_PER_56")]
    times_per_56: Option<u16>,

    /// The same for an IPv6 /48 [default: 8]
    #[arg(long = "times-per-48", value_name = "N", env = "BACKSPIN_TIMES_PER_48")]
    times_per_48: Option<u16>,

    /// Threads that help to send when there are many players [default: one per core but the first, at most 4]
    #[arg(long, value_name = "N", env = "BACKSPIN_SENDERS")]
    senders: Option<u16>,

    /// The token that players must send, up to 800 bytes [default: none]
    ///
    /// Only native and ack can carry it: with a token, lan and rtype are refused unless --unguarded-dialects is
    /// set.
    #[arg(long, value_name = "TOKEN", env = "BACKSPIN_TOKEN", hide_env_values = true)]
    token: Option<String>,

    /// Measure round trips for the `backspin match` with this key: 32 hexadecimal digits [default: none]
    #[arg(long, value_name = "KEY", env = "BACKSPIN_MATCH_KEY", hide_env_values = true)]
    #[arg(value_parser = checked(parse_match_key))]
    match_key: Option<String>,

    /// Accept lan and rtype, which cannot carry the token, even with a token set
    #[arg(long, value_name = "BOOL", env = "BACKSPIN_UNGUARDED_DIALECTS")]
    #[arg(num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    unguarded_dialects: Option<bool>,

    /// Let in rtype players whose UDP Hello has no token, if they did the TCP step
    #[arg(long, value_name = "BOOL", env = "BACKSPIN_ALLOW_TOKENLESS")]
    #[arg(num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    allow_tokenless: Option<bool>,

    /// Accept lan, which cannot prove an address, from public addresses too
    #[arg(long, value_name = "BOOL", env = "BACKSPIN_LAN_EVERYWHERE")]
    #[arg(num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    lan_everywhere: Option<bool>,

    /// Record everything that comes in, for `backspin replay`, in a new file in this directory
    ///
    /// About 2.5 kB/s per player, 0.5 kB/s on an empty server. The file contains the server's secrets: anyone
    /// who reads it can take any player's slot while this server runs. It ends if the disk cannot keep up;
    /// the next one starts when the server is empty.
    #[arg(long, value_name = "DIR", env = "BACKSPIN_RECORD")]
    record: Option<PathBuf>,

    /// Record every match as a replay, in a new file in this directory
    #[arg(long, value_name = "DIR", env = "BACKSPIN_RECORD_MATCHES")]
    record_matches: Option<PathBuf>,

    /// Save match results in this file, for `backspin results`; "" saves none [default: results.db in the
    /// user's data folder]
    #[arg(long, value_name = "FILE", env = "BACKSPIN_RESULTS")]
    results: Option<String>,

    /// Serve a status page for browsers: a port, or an IP address with a port; 0 turns it off [default: off]
    ///
    /// A port alone is reachable from this machine only. The page also has /metrics for Prometheus, /healthz
    /// and /api/rooms.
    #[arg(long, value_name = "ADDR", env = "BACKSPIN_HTTP")]
    #[arg(value_parser = checked(str::parse::<PageAddress>))]
    http: Option<String>,

    /// The token that allows removing and banning players and draining the server over HTTP
    ///
    /// Without one, nothing can be changed over HTTP, and the ban list is hidden.
    #[arg(long, value_name = "TOKEN", env = "BACKSPIN_HTTP_TOKEN", hide_env_values = true)]
    #[arg(value_parser = checked(web::parse_token))]
    http_token: Option<String>,

    /// Proxies in front of the page whose X-Forwarded-For is trusted: address ranges separated by commas,
    /// such as 127.0.0.1/32,::1/128 [default: none]
    ///
    /// The page limits connections and wrong tokens per address. Behind a proxy that is not listed here,
    /// everyone has the proxy's address.
    #[arg(long, value_name = "CIDR", env = "BACKSPIN_TRUSTED_PROXY")]
    #[arg(value_parser = checked(str::parse::<Proxies>))]
    trusted_proxy: Option<String>,

    /// Save bans in this file, one per server; "" forgets them when the server stops [default: bans.json in
    /// the user's data folder]
    #[arg(long, value_name = "FILE", env = "BACKSPIN_BANS")]
    bans: Option<String>,

    /// The log level on stderr: off, error, warn, info, debug or trace [default: info]
    #[arg(long, value_name = "LEVEL", env = "BACKSPIN_LOG", value_parser = checked(log::parse))]
    log: Option<String>,

    /// Log inputs, acknowledgements and pings to this file; - is stderr [default: nowhere]
    ///
    /// One line per event, in the words of the documents. An existing file is overwritten; it grows by 10
    /// kB/s per player.
    #[arg(long, value_name = "FILE", env = "BACKSPIN_NET_LOG")]
    net_log: Option<PathBuf>,

    /// Log as JSON, one object per line
    #[arg(long, value_name = "BOOL", env = "BACKSPIN_LOG_JSON")]
    #[arg(num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    log_json: Option<bool>,
}

/// What is to be done, as it was decided.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct Config {
    pub(super) native_port: u16,
    pub(super) lan_port: u16,
    pub(super) rtype_port: u16,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) bind: Option<IpAddr>,
    pub(super) name: Name,
    #[serde(flatten)]
    pub(super) room_counts: RoomCounts,
    pub(super) rooms: u16,
    players: u16,
    players_per_address: u16,
    joins_per_address: u16,
    streams_per_address: u16,
    password_tries: u16,
    times_per_56: u16,
    times_per_48: u16,
    pub(super) senders: u16,
    token: String,
    match_key: String,
    unguarded_dialects: bool,
    allow_tokenless: bool,
    lan_everywhere: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) record: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) record_matches: Option<PathBuf>,
    results: PathBuf,
    http: PageAddress,
    http_token: String,
    trusted_proxy: Proxies,
    bans: PathBuf,
    #[serde(serialize_with = "log::serialize")]
    pub(super) log: LevelFilter,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) net_log: Option<PathBuf>,
    pub(super) log_json: bool,
}

/// What can change while the server runs.
const LIVE: [&str; 7] = [
    "name",
    "token",
    "unguarded-dialects",
    "allow-tokenless",
    "lan-everywhere",
    "players-per-address",
    "log",
];

/// A file of settings is not longer.
const FILE_LIMIT: u64 = 64 * 1024;

/// More rooms than this have no numbers in a list.
const ROOM_LIMIT: u16 = 4096;

/// More threads than this have nothing to do: the one that plays is full before.
const SENDER_LIMIT: u16 = 64;

/// As many threads that send as there are cores to spare, up to this.
const USUAL_SENDERS: usize = 4;

/// What servers share with their matchmaker.
pub(crate) fn parse_match_key(text: &str) -> Result<MatchKey, String> {
    MatchKey::parse(text).ok_or_else(|| {
        "a key is 32 hexadecimal digits, as `openssl rand -hex 16` prints them".to_owned()
    })
}

/// Beside the results.
fn usual_bans() -> PathBuf {
    results::usual_file().with_file_name("bans.json")
}

fn usual_senders() -> u16 {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    (cores - 1).min(USUAL_SENDERS) as u16
}

/// A text that can be parsed: what is wrong on the command line is wrong usage.
fn checked<T>(
    parse: fn(&str) -> Result<T, String>,
) -> impl Fn(&str) -> Result<String, String> + Clone + Send + Sync
where
    T: 'static,
{
    move |text| parse(text).map(|_| text.to_owned())
}

impl Given {
    /// The settings in a file.
    pub(super) fn read(path: &Path) -> Result<Self, Box<dyn Error>> {
        let wrong = |cause: &dyn std::fmt::Display| {
            format!("the settings in {} cannot be used: {cause}", path.display())
        };
        let len = fs::metadata(path).map_err(|error| wrong(&error))?.len();
        if len > FILE_LIMIT {
            return Err(wrong(&format!("it has {len} bytes, over {FILE_LIMIT}")).into());
        }
        let text = fs::read_to_string(path).map_err(|error| wrong(&error))?;
        Ok(toml::from_str(&text).map_err(|error| wrong(&error))?)
    }

    /// What is said here; what is not, as it is said in `other`.
    fn or(self, other: Given) -> Self {
        macro_rules! first {
            ($($field:ident)*) => { Given { $($field: self.$field.or(other.$field)),* } };
        }
        first! {
            native_port lan_port rtype_port bind name room_counts rooms players players_per_address
            joins_per_address streams_per_address password_tries times_per_56 times_per_48 senders
            token match_key unguarded_dialects allow_tokenless lan_everywhere record record_matches
            results http http_token trusted_proxy bans log net_log log_json
        }
    }
}

impl Config {
    /// What `given` and the file at `path` come to.
    pub(super) fn load(given: &Given, path: Option<&Path>) -> Result<Self, Box<dyn Error>> {
        let file = path.map(Given::read).transpose()?.unwrap_or_default();
        Ok(Config::of(given.clone().or(file))?)
    }

    fn of(given: Given) -> Result<Self, String> {
        let limits @ Limits { wider, .. } = Limits::default();
        let name = given.name.as_deref().unwrap_or("Backspin");
        // A number in its range, by the name that it has in a file.
        macro_rules! count {
            ($field:ident, $usual:expr, $range:expr) => {
                match given.$field {
                    Some(count) if !$range.contains(&count) => {
                        let what = stringify!($field).replace('_', "-");
                        let (least, most) = $range.into_inner();
                        return Err(format!("{what}: {count} is out of range ({least} to {most})"));
                    }
                    count => count.unwrap_or($usual),
                }
            };
        }
        let config = Config {
            native_port: given.native_port.unwrap_or(4300),
            lan_port: given.lan_port.unwrap_or(54000),
            rtype_port: count!(rtype_port, 4242, 0..=u16::MAX - 1),
            bind: given.bind,
            name: crate::parse_name(name).map_err(|error| format!("name: {error}"))?,
            room_counts: given.room_counts.decided(ROOM_LIMIT)?,
            rooms: count!(rooms, 1024, 1..=ROOM_LIMIT),
            players: count!(players, limits.sessions, 1..=u16::MAX),
            players_per_address: count!(players_per_address, limits.sessions_per_ip, 1..=u16::MAX),
            joins_per_address: count!(
                joins_per_address,
                limits.stranger_datagrams_per_s as u16,
                1..=u16::MAX
            ),
            streams_per_address: count!(
                streams_per_address,
                limits.streams_per_ip as u16,
                1..=limits.streams as u16
            ),
            password_tries: count!(password_tries, limits.password_tries as u16, 1..=1024),
            times_per_56: count!(times_per_56, wider.per_56, 1..=256),
            times_per_48: count!(times_per_48, wider.per_48, 1..=u16::MAX),
            senders: count!(senders, usual_senders(), 0..=SENDER_LIMIT),
            token: given.token.unwrap_or_default(),
            match_key: match given.match_key {
                Some(key) if !key.is_empty() => parse_match_key(&key)
                    .map_err(|error| format!("match-key: {error}"))?
                    .to_string(),
                _ => String::new(),
            },
            unguarded_dialects: given.unguarded_dialects.unwrap_or_default(),
            allow_tokenless: given.allow_tokenless.unwrap_or_default(),
            lan_everywhere: given.lan_everywhere.unwrap_or_default(),
            record: given.record,
            record_matches: given.record_matches,
            results: given.results.map_or_else(results::usual_file, PathBuf::from),
            http: given
                .http
                .map_or(Ok(PageAddress(None)), |text| text.parse())
                .map_err(|error| format!("http: {error}"))?,
            http_token: match given.http_token {
                Some(token) if !token.is_empty() => {
                    web::parse_token(&token).map_err(|error| format!("http-token: {error}"))?
                }
                _ => String::new(),
            },
            trusted_proxy: given
                .trusted_proxy
                .map_or(Ok(Proxies::default()), |text| text.parse())
                .map_err(|error| format!("trusted-proxy: {error}"))?,
            bans: given.bans.map_or_else(usual_bans, PathBuf::from),
            log: match given.log {
                Some(text) => log::parse(&text).map_err(|error| format!("log: {error}"))?,
                None => LevelFilter::INFO,
            },
            net_log: given.net_log,
            log_json: given.log_json.unwrap_or_default(),
        };
        if config.token.len() > Token::MAX {
            return Err(format!("token: longer than {} bytes", Token::MAX));
        }
        if config.room_counts.offers().next().is_none() {
            return Err("every game has 0 rooms; set at least one of them higher".into());
        }
        Ok(config)
    }

    /// Where results are kept, if they are.
    pub(super) fn results(&self) -> Option<&Path> {
        Some(self.results.as_path()).filter(|path| !path.as_os_str().is_empty())
    }

    /// Whether lan and rtype are refused because they cannot carry the token.
    pub(super) fn refuses_old_dialects(&self) -> bool {
        !self.token.is_empty() && !self.unguarded_dialects
    }

    /// Where bans are kept, if they are.
    pub(super) fn bans(&self) -> Option<&Path> {
        Some(self.bans.as_path()).filter(|path| !path.as_os_str().is_empty())
    }

    /// What is decided about the page, if there is one.
    pub(super) fn page(&self) -> Option<PageConfig> {
        let token = Some(self.http_token.clone()).filter(|token| !token.is_empty());
        Some(PageConfig { at: self.http.0?, token, proxies: self.trusted_proxy.clone() })
    }

    /// The settings that differ in `new` and cannot change while the server runs.
    pub(super) fn fixed_changes(&self, new: &Config) -> Vec<String> {
        let table = |config: &Config| toml::Table::try_from(config).unwrap_or_default();
        let (old, new) = (table(self), table(new));
        let names: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
        let fixed = names.into_iter().filter(|name| !LIVE.contains(&name.as_str()));
        fixed.filter(|name| old.get(*name) != new.get(*name)).cloned().collect()
    }

    /// As a file that says the same.
    pub(super) fn to_file(&self) -> Result<String, toml::ser::Error> {
        toml::to_string(self)
    }

    pub(super) fn ports(&self) -> Result<Ports, Box<dyn Error>> {
        let dialects = [
            (Dialect::Native, self.native_port),
            (Dialect::Lan, self.lan_port),
            (Dialect::Rtype, self.rtype_port),
        ];
        Ports::new(self.bind, dialects)
    }

    /// The endpoint's settings.
    pub(super) fn endpoint(&self, ports: &Ports) -> EndpointConfig {
        EndpointConfig {
            name: self.name,
            native_port: ports.of(Dialect::Native),
            other_ports: [Dialect::Lan, Dialect::Rtype]
                .map(|dialect| (dialect.name(), ports.of(dialect)))
                .to_vec(),
            token: self.token.clone().into_bytes(),
            match_key: MatchKey::parse(&self.match_key),
            unguarded: match self.unguarded_dialects {
                true => Unguarded::Allowed,
                false => Unguarded::Refused,
            },
            tokenless: if self.allow_tokenless { Tokenless::Allowed } else { Tokenless::Refused },
            reach: if self.lan_everywhere { Audience::Everywhere } else { Audience::PrivateOnly },
            limits: Limits {
                rooms: self.rooms,
                sessions: self.players,
                sessions_per_ip: self.players_per_address,
                stranger_datagrams_per_s: self.joins_per_address.into(),
                streams_per_ip: self.streams_per_address.into(),
                password_tries: self.password_tries.into(),
                wider: Wider { per_56: self.times_per_56, per_48: self.times_per_48 },
                ..Limits::default()
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::games::Title;

    fn file(text: &str) -> Result<Config, String> {
        Config::of(toml::from_str(text).map_err(|error| error.to_string())?)
    }

    #[test]
    fn what_is_said_first_counts() {
        let flags = Given { native_port: Some(1), ..Given::default() };
        let other = Given { native_port: Some(2), lan_port: Some(3), ..Given::default() };
        let config = Config::of(flags.or(other)).unwrap();
        assert_eq!((config.native_port, config.lan_port, config.rtype_port), (1, 3, 4242));
    }

    #[test]
    fn what_is_printed_can_be_read_again() {
        let text = "native-port = 5\nbind = \"127.0.0.1\"\nname = \"Attic\"\ntoken = \"a \\\"b\\\"\"\n\
                    allow-tokenless = true\nresults = \"r.db\"\nhttp = \"8080\"\nhttp-token = \"t\"\n\
                    trusted-proxy = \"127.0.0.1,::1/128\"\nbans = \"b.json\"\n\
                    match-key = \"000102030405060708090a0b0c0d0e0f\"\nlog = \"warn\"\nlog-json = true\n";
        let config = file(text).unwrap();
        assert_eq!(file(&config.to_file().unwrap()), Ok(config.clone()));
        assert_ne!(config, file("").unwrap());
    }

    #[test]
    fn what_cannot_change_is_named() {
        let (old, new) = (file("").unwrap(), file("name = \"Attic\"\nlog = \"warn\"").unwrap());
        assert_eq!(old.fixed_changes(&new), [""; 0]);
        let new = file("bind = \"::1\"\nname = \"Attic\"\nlan-port = 5").unwrap();
        assert_eq!(old.fixed_changes(&new), ["bind", "lan-port"]);
    }

    #[test]
    fn a_setting_that_cannot_be_is_named() {
        let rooms = Title::ALL.iter().map(|it| format!("{}-rooms = 0\n", it.command()));
        let rooms: String = rooms.collect();
        for (text, named) in [
            ("native-prot = 5", "native-prot"),
            ("native-port = 70000", "native-port"),
            ("rtype-port = 65535", "rtype-port"),
            ("name = \"sixteen bytes...\"", "name"),
            ("log = \"loud\"", "log"),
            ("players = 0", "players"),
            ("senders = 65", "senders"),
            ("times-per-56 = 0", "times-per-56"),
            ("streams-per-address = 257", "streams-per-address"),
            (&rooms, "0 rooms"),
            ("bind = \"here\"", "bind"),
            ("trusted-proxy = \"proxy\"", "trusted-proxy"),
            ("match-key = \"moth\"", "match-key"),
        ] {
            let said = file(text).unwrap_err();
            assert!(said.contains(named), "{text}: {said}");
        }
    }
}
