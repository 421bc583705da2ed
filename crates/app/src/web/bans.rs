//! The bans as an operator sees them: with names and the wall clock's times, in a file that outlives
//! the server. The door enforces them, by its own clock.
//!
//! The file is written by a thread of its own, so that a disk that hangs holds up neither the game nor
//! the page: to a new file first, synced, which then takes the old one's name.

use std::error::Error;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use backspin::endpoint::BAN_LIMIT;
use backspin::session::limited_ip;
use serde::{Deserialize, Serialize};
use tracing::{info, warn};

use crate::utc;

/// One ban.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Ban {
    /// An IPv4 address or an IPv6 /64.
    #[serde(with = "group")]
    pub(crate) address: IpAddr,
    /// What the player was called who was banned there; empty if the operator named the address.
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
    keeper: Option<Keeper>,
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
            info!("{} addresses are banned, by {}", bans.len(), path.display());
        }
        Ok(Bans { bans, keeper: Some(Keeper::start(path)?) })
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
    pub(super) fn has_place(&self, now_ms: u64, address: IpAddr) -> bool {
        let same = |ban: &&Ban| ban.address == limited_ip(address);
        self.len(now_ms) < BAN_LIMIT || self.bans.iter().any(|ban| same(&ban))
    }

    /// Bans an address, in place of any ban of it before.
    pub(super) fn add(
        &mut self,
        now_ms: u64,
        address: IpAddr,
        name: String,
        term: Term,
    ) -> Result<(), Full> {
        if !self.has_place(now_ms, address) {
            return Err(Full);
        }
        let address = limited_ip(address);
        let lasts = term.lasts().map(|lasts| lasts.as_millis() as u64);
        let until_unix_ms = lasts.map(|lasts| now_ms + lasts);
        self.bans.retain(|ban| ban.address != address && ban.holds(now_ms));
        self.bans.push(Ban { address, name, since_unix_ms: now_ms, until_unix_ms });
        self.keep();
        Ok(())
    }

    /// Whether an address is banned.
    pub(super) fn holds(&self, now_ms: u64, address: IpAddr) -> bool {
        let address = limited_ip(address);
        self.bans.iter().any(|ban| ban.address == address && ban.holds(now_ms))
    }

    /// Lets an address in again.
    pub(super) fn lift(&mut self, now_ms: u64, address: IpAddr) {
        let address = limited_ip(address);
        self.bans.retain(|ban| ban.address != address && ban.holds(now_ms));
        self.keep();
    }

    /// What `/api/bans` says.
    pub(super) fn told(&self, now_ms: u64) -> String {
        #[derive(Serialize)]
        struct Told<'a> {
            /// Whether the file has them; without a file they are gone with the server.
            saved: bool,
            bans: Vec<&'a Ban>,
        }
        let saved = self.keeper.as_ref().is_some_and(Keeper::is_done);
        let bans = self.bans.iter().filter(|ban| ban.holds(now_ms)).collect();
        // Plain data: there is nothing in it that JSON has no word for.
        serde_json::to_string(&Told { saved, bans }).unwrap_or_default()
    }

    fn keep(&self) {
        if let Some(keeper) = &self.keeper {
            keeper.keep(serde_json::to_vec_pretty(&self.bans).unwrap_or_default());
        }
    }
}

/// As people write it, for a path or a sentence.
pub(super) fn written(address: IpAddr) -> String {
    match limited_ip(address) {
        IpAddr::V4(address) => address.to_string(),
        IpAddr::V6(address) => format!("{address}/64"),
    }
}

/// The address in a file or a path, with its `/64` or without.
pub(super) fn parse_address(text: &str) -> Option<IpAddr> {
    let address = text.strip_suffix("/64").unwrap_or(text).parse().ok()?;
    match address {
        IpAddr::V4(_) if text.ends_with("/64") => None,
        address => Some(limited_ip(address)),
    }
}

/// How an address stands in the file.
mod group {
    use serde::{Deserialize, Deserializer, Serializer, de};

    use super::*;

    pub(super) fn serialize<S: Serializer>(
        address: &IpAddr,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&written(*address))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<IpAddr, D::Error> {
        let text = String::deserialize(deserializer)?;
        parse_address(&text).ok_or_else(|| {
            de::Error::custom(format!("\"{text}\" is no IPv4 address and no IPv6 /64"))
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

/// A thread that writes the newest list, and tries again until it is written.
#[derive(Debug)]
struct Keeper {
    tray: Arc<Tray>,
    done: Receiver<()>,
}

#[derive(Debug, Default)]
struct Tray {
    papers: Mutex<Papers>,
    changed: Condvar,
}

/// What is to be written: only the newest counts.
#[derive(Debug, Default)]
struct Papers {
    newest: Option<Vec<u8>>,
    writing: bool,
    closing: bool,
}

/// How soon a write that failed is tried again.
const RETRY_AFTER: Duration = Duration::from_secs(5);

/// How long the end of the server waits for the file.
const CLOSE_WITHIN: Duration = Duration::from_secs(2);

impl Keeper {
    fn start(path: &Path) -> io::Result<Self> {
        let (tray, path) = (Arc::new(Tray::default()), path.to_owned());
        let (ended, done) = sync_channel::<()>(0);
        let its = Arc::clone(&tray);
        std::thread::Builder::new().name("bans".to_owned()).spawn(move || {
            its.work(&path);
            drop(ended);
        })?;
        Ok(Keeper { tray, done })
    }

    fn keep(&self, bytes: Vec<u8>) {
        self.tray.lock().newest = Some(bytes);
        self.tray.changed.notify_one();
    }

    fn is_done(&self) -> bool {
        let papers = self.tray.lock();
        papers.newest.is_none() && !papers.writing
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.tray.lock().closing = true;
        self.tray.changed.notify_one();
        if let Err(std::sync::mpsc::RecvTimeoutError::Timeout) =
            self.done.recv_timeout(CLOSE_WITHIN)
        {
            warn!("the newest bans are not in their file: the disk does not answer");
        }
    }
}

impl Tray {
    fn lock(&self) -> MutexGuard<'_, Papers> {
        self.papers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work(&self, path: &Path) {
        let mut papers = self.lock();
        loop {
            match papers.newest.take() {
                Some(bytes) => {
                    papers.writing = true;
                    drop(papers);
                    let written = write(path, &bytes);
                    papers = self.lock();
                    papers.writing = false;
                    if let Err(error) = written {
                        warn!("the bans cannot be written to {}: {error}", path.display());
                        papers.newest.get_or_insert(bytes);
                        if papers.closing {
                            return;
                        }
                        let waited = self.changed.wait_timeout(papers, RETRY_AFTER);
                        papers = waited.unwrap_or_else(PoisonError::into_inner).0;
                    }
                }
                None if papers.closing => return,
                None => {
                    papers = self.changed.wait(papers).unwrap_or_else(PoisonError::into_inner);
                }
            }
        }
    }
}

/// Puts `bytes` in the place of the file, or leaves it as it was.
fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    if let Some(folder) = folder {
        fs::create_dir_all(folder)?;
    }
    let mut name = path.as_os_str().to_owned();
    name.push(".new");
    let new = PathBuf::from(name);
    match fs::remove_file(&new) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(&new)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    drop(file);
    fs::rename(&new, path)?;
    // The name, too, is to outlive a crash of the machine.
    if cfg!(unix) {
        File::open(folder.unwrap_or(Path::new(".")))?.sync_all()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
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

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    fn addresses(bans: &Bans) -> Vec<String> {
        bans.iter().map(|ban| written(ban.address)).collect()
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
        let nth = |n: usize| IpAddr::V4(std::net::Ipv4Addr::from(n as u32));
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
