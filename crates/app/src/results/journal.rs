//! Results that the database does not have yet: a side file beside it, one line each.
//!
//! ```text
//! results.db.pending-N    | check, 16 hexadecimal digits | space | JSON | end of line |
//! ```
//!
//! The check is SipHash-2-4 of the JSON, with a public key. A line is synced before the result goes to the
//! database, and
//! the file is emptied once the database has it. So a result is always in one of the two, and its key tells
//! when it is in
//! both. A server locks its file while it runs; a file that can be locked was left behind by a server that is
//! gone.

use std::fs::{File, TryLockError};
use std::hash::Hasher;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use siphasher::sip::SipHasher24;

use super::store::MatchResult;
use crate::folders;

/// A match that is over, and what it is known by.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub(crate) struct Entry {
    /// No other match has it, on any server.
    pub(crate) key: String,
    pub(crate) result: MatchResult,
}

/// A side file that is this server's alone.
#[derive(Debug)]
pub(crate) struct Journal {
    path: PathBuf,
    file: File,
    /// How much of it is whole lines.
    len: u64,
}

/// What stands in side files.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    pub(crate) entries: Vec<Entry>,
    /// Lines that are torn or damaged.
    pub(crate) damaged: usize,
    /// How much of the first file is whole lines: what is written next overwrites a torn one.
    len: u64,
}

/// The most servers that share one results file at a time.
const FILE_LIMIT: u32 = 64;

/// A side file is not longer: some two hundred thousand matches.
const LEN_LIMIT: u64 = 64 << 20;

impl Journal {
    /// A side file for this server, and what is in all those that nobody holds. From now on all of
    /// that is in this one.
    pub(crate) fn claim(database: &Path) -> io::Result<(Self, Pending)> {
        let mut claimed: Option<(Journal, Pending)> = None;
        for number in 1..=FILE_LIMIT {
            let path = path(database, number);
            if claimed.is_some() && !path.exists() {
                continue;
            }
            let mut file = open(&path)?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => continue,
                Err(TryLockError::Error(error)) => return Err(error),
            }
            let left = read(&mut file)?;
            match &mut claimed {
                None => {
                    let len = left.len;
                    claimed = Some((Journal { path, file, len }, left));
                }
                Some((journal, pending)) => {
                    journal.append(&left.entries)?;
                    file.set_len(0)?;
                    file.unlock()?;
                    pending.entries.extend(left.entries);
                    pending.damaged += left.damaged;
                }
            }
        }
        let (journal, pending) = claimed
            .ok_or_else(|| io::Error::other(format!("{FILE_LIMIT} servers use it already")))?;
        folders::sync_name(&journal.path)?;
        Ok((journal, pending))
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Writes results down, and waits until they are on the disk. All of them, or none.
    pub(crate) fn append(&mut self, entries: &[Entry]) -> io::Result<()> {
        if entries.is_empty() {
            return Ok(());
        }
        let text = entries.iter().map(line).collect::<Result<String, _>>()?;
        let len = self.len + text.len() as u64;
        if len > LEN_LIMIT {
            return Err(io::Error::other(format!("it would be longer than {LEN_LIMIT} bytes")));
        }
        // What was torn is gone before something stands in its place.
        self.file.set_len(self.len)?;
        self.file.seek(SeekFrom::Start(self.len))?;
        self.file.write_all(text.as_bytes())?;
        self.file.sync_data()?;
        self.len = len;
        Ok(())
    }

    /// Empties it: the database has everything.
    pub(crate) fn clear(&mut self) -> io::Result<()> {
        if self.len > 0 {
            self.file.set_len(0)?;
            self.len = 0;
        }
        Ok(())
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        // A process that is being started holds whatever is open, and the lock with it, for a moment.
        let _ = self.file.unlock();
    }
}

impl Pending {
    /// What stands in all side files of a database, also in those of servers that run.
    pub(crate) fn of(database: &Path) -> Self {
        let mut all = Pending::default();
        for number in 1..=FILE_LIMIT {
            let Ok(mut file) = File::open(path(database, number)) else { continue };
            // The server that needs an unreadable one reports it.
            let Ok(found) = read(&mut file) else { continue };
            all.entries.extend(found.entries);
            all.damaged += found.damaged;
        }
        all
    }
}

fn path(database: &Path, number: u32) -> PathBuf {
    database.with_added_extension(format!("pending-{number}"))
}

fn open(path: &Path) -> io::Result<File> {
    folders::private().read(true).write(true).create(true).truncate(false).open(path)
}

fn read(file: &mut File) -> io::Result<Pending> {
    if file.metadata()?.len() > LEN_LIMIT {
        return Err(io::Error::other("it is longer than any file a server writes"));
    }
    let mut bytes = Vec::new();
    file.take(LEN_LIMIT).read_to_end(&mut bytes)?;
    let mut pending = Pending::default();
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        match parse(line) {
            Some(entry) => pending.entries.push(entry),
            None => pending.damaged += 1,
        }
        if line.ends_with(b"\n") {
            pending.len += line.len() as u64;
        }
    }
    Ok(pending)
}

fn line(entry: &Entry) -> serde_json::Result<String> {
    let json = serde_json::to_string(entry)?;
    Ok(format!("{:016x} {json}\n", check(json.as_bytes())))
}

fn parse(line: &[u8]) -> Option<Entry> {
    let (digits, json) = line.strip_suffix(b"\n")?.split_at_checked(17)?;
    let digits = std::str::from_utf8(digits.strip_suffix(b" ")?).ok()?;
    let is_good = u64::from_str_radix(digits, 16).ok()? == check(json);
    serde_json::from_slice(json).ok().filter(|_| is_good)
}

fn check(json: &[u8]) -> u64 {
    let mut hasher = SipHasher24::new_with_key(b"backspin pending");
    hasher.write(json);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::store::tests::{Folder, pong};
    use super::*;

    fn entry(number: u64) -> Entry {
        Entry { key: format!("test-{number}"), result: pong(number, "Ann", "Bob") }
    }

    fn claim(folder: &Folder) -> (Journal, Pending) {
        fs::create_dir_all(folder.file().parent().unwrap()).unwrap();
        Journal::claim(&folder.file()).unwrap()
    }

    #[test]
    fn what_was_appended_is_found_by_the_next_server_until_it_is_cleared() {
        let folder = Folder::new("journal");
        let (mut journal, none) = claim(&folder);
        assert_eq!((none.entries.len(), none.damaged), (0, 0));
        journal.append(&[entry(1), entry(2)]).unwrap();
        journal.append(&[entry(3)]).unwrap();
        assert_eq!(Pending::of(&folder.file()).entries, [entry(1), entry(2), entry(3)]);
        drop(journal);
        let (mut journal, left) = claim(&folder);
        assert_eq!((left.entries.len(), left.damaged), (3, 0));
        journal.append(&[entry(4)]).unwrap();
        drop(journal);
        let (mut journal, left) = claim(&folder);
        assert_eq!(left.entries, [1, 2, 3, 4].map(entry));
        journal.clear().unwrap();
        drop(journal);
        assert_eq!(claim(&folder).1.entries, []);
    }

    #[test]
    fn a_torn_or_damaged_line_costs_only_itself() {
        let folder = Folder::new("torn");
        let (mut journal, _) = claim(&folder);
        journal.append(&[entry(1), entry(2), entry(3)]).unwrap();
        let path = journal.path().to_owned();
        drop(journal);
        let whole = fs::read(&path).unwrap();
        for len in 0..whole.len() {
            fs::write(&path, &whole[..len]).unwrap();
            let lines = whole[..len].iter().filter(|byte| **byte == b'\n').count();
            let is_torn = len > 0 && whole[len - 1] != b'\n';
            let (mut journal, left) = claim(&folder);
            assert_eq!(left.entries, (1..=lines as u64).map(entry).collect::<Vec<_>>());
            assert_eq!(left.damaged, usize::from(is_torn));
            // What comes next stands on a line of its own.
            journal.append(&[entry(9)]).unwrap();
            drop(journal);
            let (_, left) = claim(&folder);
            assert_eq!((left.entries.len(), left.damaged), (lines + 1, 0));
        }
        let mut changed = whole;
        let middle = changed.len() / 2;
        changed[middle] ^= 1;
        fs::write(&path, &changed).unwrap();
        let (_, left) = claim(&folder);
        assert_eq!((left.entries, left.damaged), (vec![entry(1), entry(3)], 1));
    }

    #[test]
    fn two_servers_have_two_files_and_a_third_takes_in_what_both_left() {
        let folder = Folder::new("two");
        let ((mut first, _), (mut second, _)) = (claim(&folder), claim(&folder));
        assert_ne!(first.path(), second.path());
        first.append(&[entry(1)]).unwrap();
        second.append(&[entry(2)]).unwrap();
        drop(second);
        // The first still runs: its results are its own.
        let (third, left) = claim(&folder);
        assert_eq!(left.entries, [entry(2)]);
        drop((first, third));
        let (_, left) = claim(&folder);
        assert_eq!(left.entries, [entry(1), entry(2)]);
        assert_eq!(Pending::of(&folder.file()).entries, [entry(1), entry(2)]);
    }
}
