//! One file that is being written.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A new file, and where it is.
pub(crate) struct Sink {
    path: PathBuf,
    file: File,
}

/// Who may read a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Privacy {
    /// Whoever may read others of this user.
    Plain,
    /// Its owner alone, where the system knows such a thing.
    Secret,
}

/// Why a file cannot be written.
#[derive(Debug)]
pub(crate) struct SinkError {
    path: PathBuf,
    cause: io::Error,
}

/// How many files of one second have different names.
const NAME_LIMIT: u32 = 1000;

impl Sink {
    /// Makes `DIR/STEM-N.EXTENSION`, with the first N that is free.
    pub(crate) fn create(
        dir: &Path,
        stem: &str,
        extension: &str,
        privacy: Privacy,
    ) -> Result<Self, SinkError> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        if privacy == Privacy::Secret {
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        }
        #[cfg(not(unix))]
        let _ = privacy;
        let mut n = 1;
        loop {
            let path = dir.join(format!("{stem}-{n}.{extension}"));
            match options.open(&path) {
                Ok(file) => return Ok(Sink { path, file }),
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

    /// Appends `bytes`. They come by the second, so that nothing is kept back.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<(), SinkError> {
        let written = self.file.write_all(bytes);
        written.map_err(|cause| SinkError { path: self.path.clone(), cause })
    }
}

impl fmt::Display for SinkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} cannot be written: {}", self.path.display(), self.cause)
    }
}

impl std::error::Error for SinkError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thousand_files_of_one_second_have_names_and_none_is_written_over() {
        let dir = std::env::temp_dir().join(format!("backspin-sink-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let create = || Sink::create(&dir, "now", "bslog", Privacy::Secret);
        for n in 1..=1000 {
            assert_eq!(create().unwrap().path, dir.join(format!("now-{n}.bslog")));
        }
        let refused = create().map(|sink| sink.path).unwrap_err();
        assert_eq!(refused.cause.kind(), io::ErrorKind::AlreadyExists);
        std::fs::remove_dir_all(&dir).unwrap();
    }
}
