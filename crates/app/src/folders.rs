//! The user's folders, as each platform names them, and files that only their owner may read.

use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};
use std::{env, io};

/// How a new file is made that only its owner may read, where the system can do that.
pub(crate) fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Writes the name of a new file to the disk, so that it survives a power cut.
pub(crate) fn sync_name(path: &Path) -> io::Result<()> {
    if cfg!(unix) {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        File::open(folder.unwrap_or(Path::new(".")))?.sync_all()?;
    }
    Ok(())
}

/// The folder for configuration; `None` on a machine without a home.
pub(crate) fn config() -> Option<PathBuf> {
    folder("XDG_CONFIG_HOME", "APPDATA", ".config")
}

/// The folder for data.
pub(crate) fn data() -> Option<PathBuf> {
    folder("XDG_DATA_HOME", "LOCALAPPDATA", ".local/share")
}

/// The folder for what may be lost without harm.
pub(crate) fn state() -> Option<PathBuf> {
    folder("XDG_STATE_HOME", "LOCALAPPDATA", ".local/state")
}

/// Ours in what a variable names; else in what Windows names, or in the home.
fn folder(variable: &str, windows: &str, home: &str) -> Option<PathBuf> {
    let set = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let usual = || match () {
        () if cfg!(windows) => set(windows),
        () if cfg!(target_os = "macos") => Some(set("HOME")?.join("Library/Application Support")),
        () => Some(set("HOME")?.join(home)),
    };
    Some(set(variable).or_else(usual)?.join("backspin"))
}
