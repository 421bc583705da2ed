//! The operator's bans: with names and wall clock times, in a file that survives the server. The endpoint
//! enforces them by
//! its own clock.
//!
//! A thread writes the file, so that a disk that hangs blocks neither the game nor the page: to a new file
//! first, synced,
//! which then replaces the old one.

use std::error::Error;
use std::fs;
use std::io::{self, Write};
use std::net::IpAddr;
use std::path::Path;
use std::time::Duration;

use backspin::endpoint::BAN_LIMIT;
use backspin::peer::LimitKey;
use serde::{Deserialize, Serialize};
use tracing::{info, warn};

use crate::newest::Newest;
use crate::{folders, utc};

/// One ban.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Ban {
    /// An IPv4 address or an IPv6 /64.
    #[serde(with = "group")]
    pub(crate) address: LimitKey,
    /// The name of the banned player; empty if the operator banned the address.
    name: String,
    since_unix_ms: u64,
    /// `None` is for good.
    until_unix_ms: Option<u64>,
}

/// For how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Term {
    Minutes(u32),
    ForGood,
}

/// The longest ban that ends, in minutes: ten years.
pub(super) const LONGEST_MINUTES: u32 = 10 * 365 * 24 * 60;

/// A file of bans is not longer.
const FILE_LIMIT: u64 = 4 * 1024 * 1024;

/// All bans that hold, the newest last, and the file that keeps them.
#[derive(Debug, Default)]
pub(crate) struct Bans {
    bans: Vec<Ban>,
    keeper: Option<Newest<Vec<u8>>>,
}

/// There are [`BAN_LIMIT`] already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Full;

impl Ban {
    /// How long it still holds; `None` is for good.
    pub(crate) fn left(&self, now_ms: u64) -> Option<Duration> {
        Some(Duration::from_millis(self.until_unix_ms?.saturating_sub(now_ms)))
    }

    fn holds(&self, now_ms: u64) -> bool {
        self.until_unix_ms.is_none_or(|until| now_ms < until)
    }
}

impl Term {
    /// How long that is; `None` is for good.
    pub(super) fn lasts(self) -> Option<Duration> {
        match self {
            Term::Minutes(minutes) => Some(Duration::from_secs(60 * u64::from(minutes))),
            Term::ForGood => None,
        }
    }
}

impl Bans {
    /// Those in the file at `path`, which keeps them from now on; without a file they last as long as
    /// the server.
    pub(crate) fn open(path: Option<&Path>) -> Result<Self, Box<dyn Error>> {
        let Some(path) = path else { return Ok(Bans::default()) };
        let mut bans = read(path).map_err(|error| {
            format!(
                "the bans in {} cannot be read: {error}; repair the file, move it away, or name \
                 another with --bans",
                path.display()
            )
        })?;
        let now = utc::unix_ms();
        bans.retain(|ban| ban.holds(now));
        bans.truncate(BAN_LIMIT);
        if !bans.is_empty() {
            info!("{} addresses are banned by {}", bans.len(), path.display());
        }
        Ok(Bans { bans, keeper: Some(keep_at(path)?) })
    }

    /// All of them.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Ban> {
        self.bans.iter()
    }

    /// How many hold.
    pub(super) fn len(&self, now_ms: u64) -> usize {
        self.bans.iter().filter(|ban| ban.holds(now_ms)).count()
    }

    /// Whether there is a place for one more of this address.
    pub(super) fn has_place(&self, now_ms: u64, address: LimitKey) -> bool {
        let same = |ban: &&Ban| ban.address == address;
        self.len(now_ms) < BAN_LIMIT || self.bans.iter().any(|ban| same(&ban))
    }

    /// Bans an address, in place of any ban of it before.
    pub(super) fn add(
        &mut self,
        now_ms: u64,
        address: LimitKey,
        name: String,
        term: Term,
    ) -> Result<(), Full> {
        if !self.has_place(now_ms, address) {
            return Err(Full);
        }
        let lasts = term.lasts().map(|lasts| lasts.as_millis() as u64);
        let until_unix_ms = lasts.map(|lasts| now_ms + lasts);
        self.bans.retain(|ban| ban.address != address && ban.holds(now_ms));
        self.bans.push(Ban { address, name, since_unix_ms: now_ms, until_unix_ms });
        self.keep();
        Ok(())
    }

    /// Whether an address is banned.
    pub(super) fn holds(&self, now_ms: u64, address: LimitKey) -> bool {
        self.bans.iter().any(|ban| ban.address == address && ban.holds(now_ms))
    }

    /// Lets an address in again.
    pub(super) fn lift(&mut self, now_ms: u64, address: LimitKey) {
        self.bans.retain(|ban| ban.address != address && ban.holds(now_ms));
        self.keep();
    }

    /// What `/api/bans` says.
    pub(super) fn told(&self, now_ms: u64) -> String {
        #[derive(Serialize)]
        struct BanList<'a> {
            /// Whether the file has them; without a file they are gone with the server.
            saved: bool,
            bans: Vec<&'a Ban>,
        }
        let saved = self.keeper.as_ref().is_some_and(Newest::is_done);
        let bans = self.bans.iter().filter(|ban| ban.holds(now_ms)).collect();
        // Plain data: there is nothing in it that JSON has no word for.
        serde_json::to_string(&BanList { saved, bans }).unwrap_or_default()
    }

    fn keep(&self) {
        if let Some(keeper) = &self.keeper {
            keeper.put(serde_json::to_vec_pretty(&self.bans).unwrap_or_default());
        }
    }
}

/// The address in a file or a path, with its `/64` or without.
pub(super) fn parse_address(text: &str) -> Option<LimitKey> {
    let address: IpAddr = text.strip_suffix("/64").unwrap_or(text).parse().ok()?;
    match address {
        IpAddr::V4(_) if text.ends_with("/64") => None,
        address => Some(address.into()),
    }
}

/// How an address stands in the file.
mod group {
    use serde::{Deserialize, Deserializer, Serializer, de};

    use super::*;

    pub(super) fn serialize<S: Serializer>(
        address: &LimitKey,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_str(address)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<LimitKey, D::Error> {
        let text = String::deserialize(deserializer)?;
        parse_address(&text).ok_or_else(|| {
            de::Error::custom(format!("\"{text}\" is neither an IPv4 address nor an IPv6 /64"))
        })
    }
}

fn read(path: &Path) -> Result<Vec<Ban>, Box<dyn Error>> {
    let len = match fs::metadata(path) {
        Ok(metadata) => metadata.len(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error.into()),
    };
    if len > FILE_LIMIT {
        return Err(format!("it has {len} bytes, over {FILE_LIMIT}").into());
    }
    Ok(serde_json::from_slice(&fs::read(path)?)?)
}

/// How soon a write that failed is tried again.
const RETRY_AFTER: Duration = Duration::from_secs(5);

/// How long the end of the server waits for the file.
const CLOSE_WITHIN: Duration = Duration::from_secs(2);

/// A thread that writes the newest list, and tries again until it is written.
fn keep_at(path: &Path) -> io::Result<Newest<Vec<u8>>> {
    let path = path.to_owned();
    Newest::start("bans", move |bytes: &Vec<u8>| {
        write(&path, bytes).map_err(|error| {
            warn!("the bans cannot be written to {}: {error}", path.display());
            RETRY_AFTER
        })
    })
}

impl Drop for Bans {
    fn drop(&mut self) {
        if self.keeper.as_ref().is_some_and(|keeper| !keeper.close(CLOSE_WITHIN)) {
            warn!("the newest bans are not saved: the disk does not answer");
        }
    }
}

/// Puts `bytes` in the place of the file, or leaves it as it was.
fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let new = path.with_added_extension("new");
    match fs::remove_file(&new) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = folders::private().write(true).create_new(true).open(&new)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    drop(file);
    fs::rename(&new, path)?;
    folders::sync_name(path)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    const MINUTE: u64 = 60_000;

    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let path =
                std::env::temp_dir().join(format!("backspin-bans-{name}-{}", std::process::id()));
            fs::create_dir_all(&path).unwrap();
            Folder(path)
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn ip(text: &str) -> LimitKey {
        LimitKey::from(text.parse::<IpAddr>().unwrap())
    }

    fn addresses(bans: &Bans) -> Vec<String> {
        bans.iter().map(|ban| ban.address.to_string()).collect()
    }

    #[test]
    fn bans_outlive_the_server_until_their_time() {
        let folder = Folder::new("outlive");
        let path = folder.0.join("sub").join("bans.json");
        let mut bans = Bans::open(Some(&path)).unwrap();
        let now = utc::unix_ms();
        bans.add(now, ip("192.0.2.1"), "Anna".into(), Term::ForGood).unwrap();
        bans.add(now, ip("2001:db8:0:1::5"), String::new(), Term::Minutes(60)).unwrap();
        bans.add(now - 2 * MINUTE, ip("192.0.2.3"), String::new(), Term::Minutes(1)).unwrap();
        bans.add(now, ip("192.0.2.2"), String::new(), Term::ForGood).unwrap();
        bans.lift(now, ip("192.0.2.2"));
        drop(bans);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        }
        let bans = Bans::open(Some(&path)).unwrap();
        assert_eq!(addresses(&bans), ["192.0.2.1", "2001:db8:0:1::/64"]);
        assert!(bans.holds(now, ip("2001:db8:0:1:ffff::")));
        let lefts: Vec<_> = bans.iter().map(|ban| ban.left(now)).collect();
        assert_eq!(lefts, [None, Some(Duration::from_secs(3600))]);
        assert!(!fs::exists(folder.0.join("sub").join("bans.json.new")).unwrap());
    }

    #[test]
    fn a_file_that_cannot_be_read_is_named_and_left_alone() {
        let folder = Folder::new("damaged");
        let path = folder.0.join("bans.json");
        for text in ["[{\"address\":", "[{\"address\":\"host\",\"name\":\"\",\"since_unix_ms\":1}]"]
        {
            fs::write(&path, text).unwrap();
            let said = Bans::open(Some(&path)).unwrap_err().to_string();
            assert!(said.contains("bans.json") && said.contains("--bans"), "{said}");
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
    }

    #[test]
    fn what_cannot_be_written_is_tried_again_and_told_meanwhile() {
        let folder = Folder::new("retried");
        // A folder is in the way of the new file.
        let path = folder.0.join("bans.json");
        fs::create_dir_all(folder.0.join("bans.json.new")).unwrap();
        let mut bans = Bans::open(Some(&path)).unwrap();
        assert!(bans.told(0).contains("\"saved\":true"));
        bans.add(0, ip("192.0.2.1"), String::new(), Term::ForGood).unwrap();
        assert!(bans.told(0).contains("\"saved\":false"));
        fs::remove_dir(folder.0.join("bans.json.new")).unwrap();
        // The next ban comes sooner than the next try.
        bans.add(0, ip("192.0.2.2"), String::new(), Term::ForGood).unwrap();
        drop(bans);
        assert_eq!(addresses(&Bans::open(Some(&path)).unwrap()), ["192.0.2.1", "192.0.2.2"]);
    }

    #[test]
    fn there_are_as_many_as_the_door_takes() {
        let mut bans = Bans::default();
        let nth = |n: usize| LimitKey::from(IpAddr::V4(std::net::Ipv4Addr::from(n as u32)));
        for n in 0..BAN_LIMIT {
            let term = if n == 0 { Term::Minutes(1) } else { Term::ForGood };
            bans.add(0, nth(n), String::new(), term).unwrap();
        }
        assert_eq!(bans.add(0, nth(BAN_LIMIT), String::new(), Term::ForGood), Err(Full));
        assert_eq!(bans.add(0, nth(5), String::new(), Term::Minutes(1)), Ok(()));
        assert_eq!(bans.add(MINUTE, nth(BAN_LIMIT), String::new(), Term::ForGood), Ok(()));
        assert_eq!(bans.len(MINUTE), BAN_LIMIT - 1);
    }
}
