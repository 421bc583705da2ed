//! One file that is being written.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::folders;

/// A new file, and where it is.
pub(crate) struct Sink {
    path: PathBuf,
    file: File,
    len: u64,
}

/// Why a file cannot be written.
#[derive(Debug, thiserror::Error)]
#[error("{} cannot be written: {cause}", path.display())]
pub(crate) struct SinkError {
    path: PathBuf,
    cause: io::Error,
}

/// How many files of one second have different names.
const NAME_LIMIT: u32 = 1000;

impl Sink {
    /// Makes `DIR/STEM-N.EXTENSION`, with the first N that is free, for its owner alone where the
    /// system knows such a thing.
    pub(crate) fn create(dir: &Path, stem: &str, extension: &str) -> Result<Self, SinkError> {
        if let Err(cause) = fs::create_dir_all(dir) {
            return Err(SinkError { path: dir.to_owned(), cause });
        }
        let mut n = 1;
        loop {
            let path = dir.join(format!("{stem}-{n}.{extension}"));
            match folders::private().write(true).create_new(true).open(&path) {
                Ok(file) => return Ok(Sink { path, file, len: 0 }),
                Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists && n < NAME_LIMIT => {
                    n += 1;
                }
                Err(cause) => return Err(SinkError { path, cause }),
            }
        }
    }

    /// Where it is.
    pub(crate) fn path(&self) -> impl fmt::Display + '_ {
        self.path.display()
    }

    /// Appends some of `bytes`, one of them at least; how many.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<usize, SinkError> {
        let wrong = |cause| SinkError { path: self.path.clone(), cause };
        loop {
            match self.file.write(bytes) {
                Ok(0) => return Err(wrong(io::ErrorKind::WriteZero.into())),
                Ok(len) => {
                    self.len += len as u64;
                    return Ok(len);
                }
                Err(cause) if cause.kind() == io::ErrorKind::Interrupted => {}
                Err(cause) => return Err(wrong(cause)),
            }
        }
    }

    /// Whether nothing was written.
    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Takes it away again.
    pub(crate) fn remove(self) {
        // One that stays is in nobody's way.
        let _ = fs::remove_file(&self.path);
    }

    /// A pipe in the place of a file.
    #[cfg(all(test, unix))]
    pub(crate) fn open_for_test(path: &Path) -> Self {
        // Open for both, so that opening does not wait for a reader.
        let file = fs::OpenOptions::new().read(true).write(true).open(path).unwrap();
        Sink { path: path.to_owned(), file, len: 0 }
    }
}

impl SinkError {
    /// Whether there may be room later.
    pub(crate) fn is_full(&self) -> bool {
        use io::ErrorKind::{QuotaExceeded, StorageFull};
        matches!(self.cause.kind(), QuotaExceeded | StorageFull)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thousand_files_of_one_second_have_names_and_none_is_written_over() {
        let dir = std::env::temp_dir().join(format!("backspin-sink-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let create = || Sink::create(&dir, "now", "bslog");
        for n in 1..=1000 {
            assert_eq!(create().unwrap().path, dir.join(format!("now-{n}.bslog")));
        }
        let refused = create().map(|sink| sink.path).unwrap_err();
        assert_eq!(refused.cause.kind(), io::ErrorKind::AlreadyExists);
        std::fs::remove_dir_all(&dir).unwrap();
    }
}
