//! The way back into a match after a crash: a ticket in a file.
//!
//! A program locks its file while it runs, so a ticket that can be locked belongs to a program that is gone.
//! Tickets are
//! secrets: only the user may read the files.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use backspin::game::GameId;
use backspin::time::Time;
use backspin::wire::native::Secret;

use crate::folders;
use crate::newest::Newest;

/// A server keeps a place for thirty seconds from when it notices, which takes it ten.
const GOOD_FOR: Duration = Duration::from_secs(40);

/// Files that are looked at, at most: nobody has so many games at once.
const FILE_LIMIT: usize = 64;

/// A ticket of this program, for as long as it runs.
#[derive(Debug)]
pub(crate) struct TicketFile {
    file: File,
    path: PathBuf,
    key: String,
    kept: Option<Secret>,
}

/// A ticket file with its own thread: the game never waits for the disk.
#[derive(Debug)]
pub(crate) struct TicketKeeper {
    newest: Newest<Option<Secret>>,
    next: Time,
}

/// How often a ticket is marked as still valid.
const KEEP_EVERY: Duration = Duration::from_secs(2);

/// A disk that does not answer at the end is not waited for any longer.
const DISCARD_IN: Duration = Duration::from_millis(500);

impl TicketKeeper {
    /// Starts to keep tickets in `file`.
    pub(crate) fn start(file: TicketFile) -> io::Result<Self> {
        let mut file = Some(file);
        let work = move |ticket: &Option<Secret>| {
            match ticket {
                // A disk that is full costs the way back, not the match.
                Some(ticket) => file.iter_mut().for_each(|file| drop(file.keep(*ticket))),
                None => file.take().into_iter().for_each(TicketFile::discard),
            }
            Ok(())
        };
        Ok(TicketKeeper { newest: Newest::start("ticket", work)?, next: Time::ZERO })
    }

    /// Has `ticket` kept every few seconds, which says that the match goes on.
    pub(crate) fn keep(&mut self, now: Time, ticket: Option<Secret>) {
        if let Some(ticket) = ticket.filter(|_| now >= self.next) {
            self.next = now + KEEP_EVERY;
            self.newest.put(Some(ticket));
        }
    }

    /// The match is over, and there is nothing to come back to.
    pub(crate) fn discard(self) {
        self.newest.put(None);
        self.newest.close(DISCARD_IN);
    }
}

impl TicketFile {
    /// A file for the match at `server`, and the ticket of an earlier run if there is a good one.
    pub(crate) fn open(game: GameId, server: SocketAddr) -> io::Result<(Self, Option<Secret>)> {
        let folder = folders::state().ok_or_else(|| io::Error::other("there is no home folder"))?;
        TicketFile::open_in(&folder.join("tickets"), game, server)
    }

    fn open_in(
        folder: &Path,
        game: GameId,
        server: SocketAddr,
    ) -> io::Result<(Self, Option<Secret>)> {
        make_private(folder)?;
        let key = format!("{:08x} {server}", game.game);
        let mut found = None;
        for entry in fs::read_dir(folder)?.flatten().take(FILE_LIMIT) {
            let path = entry.path();
            let Ok(mut file) = OpenOptions::new().read(true).write(true).open(&path) else {
                continue;
            };
            if file.try_lock().is_err() {
                continue;
            }
            match read(&mut file, &key) {
                Some(ticket) if found.is_none() => found = Some((file, path, ticket)),
                // Nobody will come back for it.
                _ if is_old(&file) => drop(fs::remove_file(&path)),
                _ => {}
            }
        }
        match found {
            Some((file, path, ticket)) => {
                let kept = Some(ticket);
                Ok((TicketFile { file, path, key, kept }, kept))
            }
            None => Ok((TicketFile::create(folder, key)?, None)),
        }
    }

    fn create(folder: &Path, key: String) -> io::Result<Self> {
        for number in 0..FILE_LIMIT {
            let path = folder.join(format!("{}-{number}.ticket", std::process::id()));
            match folders::private().read(true).write(true).create_new(true).open(&path) {
                Ok(file) => {
                    file.try_lock().map_err(io::Error::from)?;
                    return Ok(TicketFile { file, path, key, kept: None });
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::Error::other("there are too many saved tickets"))
    }

    /// Keeps `ticket`, and says that the match goes on.
    fn keep(&mut self, ticket: Secret) -> io::Result<()> {
        if self.kept != Some(ticket) {
            let hex: String = ticket.0.iter().map(|byte| format!("{byte:02x}")).collect();
            self.file.set_len(0)?;
            self.file.rewind()?;
            writeln!(self.file, "{}\n{hex}", self.key)?;
            self.kept = Some(ticket);
        }
        self.file.set_modified(SystemTime::now())
    }

    /// The match is over, and there is nothing to come back to.
    fn discard(self) {
        // A file that stays is found to be old some day.
        let _ = fs::remove_file(&self.path);
    }
}

fn read(file: &mut File, key: &str) -> Option<Secret> {
    if is_old(file) {
        return None;
    }
    let mut text = String::new();
    file.take(256).read_to_string(&mut text).ok()?;
    let (first, rest) = text.split_once('\n')?;
    let hex = rest.trim();
    if first != key || hex.len() != 32 || !hex.is_ascii() {
        return None;
    }
    let mut ticket = [0; 16];
    for (byte, digits) in ticket.iter_mut().zip(hex.as_bytes().chunks(2)) {
        *byte = u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
    }
    Some(Secret(ticket))
}

fn is_old(file: &File) -> bool {
    let modified = file.metadata().and_then(|data| data.modified());
    modified.ok().and_then(|at| at.elapsed().ok()).is_none_or(|age| age > GOOD_FOR)
}

fn make_private(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    const GAME: GameId = GameId::new(*b"PONG", 1);

    fn server(port: u16) -> SocketAddr {
        SocketAddr::from(([10, 0, 0, 1], port))
    }

    /// A folder of its own for each test.
    fn empty(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("backspin-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        folder
    }

    #[test]
    fn a_ticket_is_found_by_the_next_run_and_not_while_the_first_goes_on() {
        let folder = empty("next-run");
        let (mut first, none) = TicketFile::open_in(&folder, GAME, server(4300)).unwrap();
        assert_eq!(none, None);
        first.keep(Secret([7; 16])).unwrap();
        let (second, none) = TicketFile::open_in(&folder, GAME, server(4300)).unwrap();
        assert_eq!(none, None);
        second.discard();
        // Killed: the lock goes with the file's handle.
        drop(first);
        let (_, elsewhere) = TicketFile::open_in(&folder, GAME, server(4301)).unwrap();
        assert_eq!(elsewhere, None);
        let (third, found) = TicketFile::open_in(&folder, GAME, server(4300)).unwrap();
        assert_eq!(found, Some(Secret([7; 16])));
        third.discard();
        let (_, gone) = TicketFile::open_in(&folder, GAME, server(4300)).unwrap();
        assert_eq!(gone, None);
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_keeper_writes_tickets_and_discards_them_at_the_end() {
        let folder = empty("keeper");
        let (file, _) = TicketFile::open_in(&folder, GAME, server(4300)).unwrap();
        let path = file.path.clone();
        let mut keeper = TicketKeeper::start(file).unwrap();
        keeper.keep(Time::ZERO, Some(Secret([7; 16])));
        let limit = Instant::now() + Duration::from_secs(10);
        while fs::read_to_string(&path).unwrap().is_empty() {
            assert!(Instant::now() < limit, "it is not written");
            std::thread::sleep(Duration::from_millis(1));
        }
        keeper.keep(Time::ZERO + KEEP_EVERY, Some(Secret([7; 16])));
        keeper.discard();
        assert!(!path.exists());
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn an_old_or_damaged_ticket_is_none() {
        let folder = empty("old");
        let (mut file, _) = TicketFile::open_in(&folder, GAME, server(4300)).unwrap();
        file.keep(Secret([7; 16])).unwrap();
        file.file.set_modified(SystemTime::now() - GOOD_FOR - Duration::from_secs(1)).unwrap();
        let path = file.path.clone();
        drop(file);
        let (_, old) = TicketFile::open_in(&folder, GAME, server(4300)).unwrap();
        assert_eq!(old, None);
        // Its file is gone; the next one may have the same name, and has nothing in it yet.
        assert_eq!(fs::read_to_string(&path).unwrap_or_default(), "");
        for text in ["", "x\n", "504f4e47 10.0.0.1:4300\n07", "504f4e47 10.0.0.1:4300\nzz"] {
            fs::write(folder.join("damaged.ticket"), text).unwrap();
            let (_, damaged) = TicketFile::open_in(&folder, GAME, server(4300)).unwrap();
            assert_eq!(damaged, None, "{text:?}");
        }
        fs::remove_dir_all(&folder).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn tickets_are_the_users_alone() {
        use std::os::unix::fs::PermissionsExt;
        let folder = empty("private");
        let (file, _) = TicketFile::open_in(&folder, GAME, server(4300)).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&folder), mode(&file.path)), (0o700, 0o600));
        fs::remove_dir_all(&folder).unwrap();
    }
}
