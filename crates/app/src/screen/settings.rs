//! The player's settings, saved in the platform's configuration folder.

use std::env;
use std::fs;
use std::io;
use std::path::PathBuf;

use backspin::wire::Name;
use serde::{Deserialize, Serialize};

use super::bindings::Bindings;
use crate::folders;

/// The longest settings file.
const SIZE_LIMIT: u64 = 64 * 1024;

/// What a player likes. What a file does not name is as by default.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Settings {
    /// What the player is called, at most [`Name::MAX`] bytes; `None` until that was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<String>,
    /// How loud it is, in percent, at most [`Settings::LOUDEST`].
    pub(crate) volume: u8,
    /// Colours that colour-blind eyes tell apart.
    pub(crate) safe_colours: bool,
    /// Nothing flashes.
    pub(crate) reduced_flashing: bool,
    /// The screen shakes when something hits.
    pub(crate) screen_shake: bool,
    /// The window fills the screen.
    pub(crate) fullscreen: bool,
    /// Which keys steer, in a window.
    pub(crate) keys: Bindings,
    /// The network overlay is there from the start.
    pub(crate) network_overlay: bool,
    /// Matches are recorded.
    pub(crate) record_matches: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            name: None,
            volume: 60,
            safe_colours: false,
            reduced_flashing: false,
            screen_shake: true,
            fullscreen: false,
            keys: Bindings::default(),
            network_overlay: false,
            record_matches: false,
        }
    }
}

impl Settings {
    /// All that there is.
    pub(crate) const LOUDEST: u8 = 100;

    /// A little louder, at most the loudest.
    pub(super) fn louder(&mut self) {
        self.volume = (self.volume / STEP * STEP + STEP).min(Settings::LOUDEST);
    }

    /// A little softer, at least silent.
    pub(super) fn softer(&mut self) {
        self.volume = self.volume.saturating_sub(1) / STEP * STEP;
    }

    /// What the player is called.
    pub(crate) fn name(&self) -> &str {
        self.name.as_deref().unwrap_or(NAMELESS)
    }

    /// The name as it goes over the wire.
    pub(crate) fn player_name(&self) -> Name {
        Name::new(self.name())
    }
}

/// How much the volume changes at once.
const STEP: u8 = 20;

/// The name of a player who was never asked for one.
const NAMELESS: &str = "Player";

/// What the system calls its user, as far as it fits on the wire.
pub(super) fn login_name() -> String {
    let set = |name: &str| env::var(name).ok().and_then(|value| fitting(&value));
    ["USER", "LOGNAME", "USERNAME"].into_iter().find_map(set).unwrap_or(NAMELESS.into())
}

/// As much of a name as fits on the wire; nothing if that is nothing.
fn fitting(name: &str) -> Option<String> {
    let plain: String = name.chars().filter(|letter| !letter.is_control()).collect();
    let name = Name::new(plain.trim()).to_string();
    Some(name.trim_end().to_owned()).filter(|name| !name.is_empty())
}

/// Where settings are kept; nowhere on a machine without a home.
#[derive(Clone, Debug)]
pub(crate) struct Shelf(Option<PathBuf>);

impl Shelf {
    /// The platform's usual place.
    pub(crate) fn usual() -> Self {
        Shelf(folders::config().map(|folder| folder.join("settings.json")))
    }

    /// Nowhere: nothing is read or saved.
    #[cfg(test)]
    pub(crate) fn nowhere() -> Self {
        Shelf(None)
    }

    #[cfg(test)]
    pub(super) fn at(path: PathBuf) -> Self {
        Shelf(Some(path))
    }

    /// Whether settings are still there at the next start.
    pub(super) fn remembers(&self) -> bool {
        self.0.is_some()
    }

    /// The settings; where the file is damaged the usual ones, and a sentence about it.
    pub(crate) fn load(&self) -> (Settings, Option<String>) {
        let Some(path) = &self.0 else { return (Settings::default(), None) };
        let read = || -> Result<Settings, String> {
            let len = fs::metadata(path).map_err(|error| error.to_string())?.len();
            if len > SIZE_LIMIT {
                return Err(format!("it has {len} bytes"));
            }
            let text = fs::read_to_string(path).map_err(|error| error.to_string())?;
            let settings: Settings =
                serde_json::from_str(&text).map_err(|error| error.to_string())?;
            if settings.volume > Settings::LOUDEST {
                return Err(format!("a volume is at most {}", Settings::LOUDEST));
            }
            match settings.name.as_ref().map(String::len) {
                None | Some(1..=Name::MAX) => Ok(settings),
                Some(len) => {
                    Err(format!("a name has 1 to {} bytes, this one has {len}", Name::MAX))
                }
            }
        };
        if !path.exists() {
            return (Settings::default(), None);
        }
        match read() {
            Ok(settings) => (settings, None),
            Err(cause) => {
                let sentence = format!(
                    "The settings in {} cannot be read ({cause}); using the defaults.",
                    path.display()
                );
                (Settings::default(), Some(sentence))
            }
        }
    }

    /// Keeps the settings: written beside the old ones and put in their place, never half.
    pub(crate) fn keep(&self, settings: &Settings) -> io::Result<()> {
        let Some(path) = &self.0 else { return Ok(()) };
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        let text = serde_json::to_string_pretty(settings)?;
        let fresh = path.with_extension(format!("{}.new", std::process::id()));
        fs::write(&fresh, text + "\n")?;
        fs::rename(&fresh, path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shelf(name: &str) -> (Shelf, PathBuf) {
        let folder = env::temp_dir().join(format!("backspin-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        (Shelf::at(folder.join("settings.json")), folder)
    }

    #[test]
    fn what_is_kept_is_there_again() {
        let (shelf, folder) = shelf("kept");
        assert_eq!(shelf.load(), (Settings::default(), None));
        let liked =
            Settings { name: Some("Ann".into()), safe_colours: true, ..Settings::default() };
        shelf.keep(&liked).unwrap();
        shelf.keep(&liked).unwrap();
        assert_eq!(shelf.load(), (liked, None));
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn the_volume_goes_up_and_down_in_steps_and_stays_at_its_ends() {
        let mut settings = Settings { volume: 30, ..Settings::default() };
        let up = [(); 5].map(|()| {
            settings.louder();
            settings.volume
        });
        assert_eq!(up, [40, 60, 80, 100, 100]);
        settings.volume = 70;
        let down = [(); 5].map(|()| {
            settings.softer();
            settings.volume
        });
        assert_eq!(down, [60, 40, 20, 0, 0]);
    }

    #[test]
    fn a_login_name_is_cut_at_a_character_and_never_empty() {
        assert_eq!(fitting("ann"), Some("ann".into()));
        assert_eq!(fitting(" a\u{7}nn\n"), Some("ann".into()));
        assert_eq!(fitting("abcdefghijklmnopqrst"), Some("abcdefghijklmno".into()));
        assert_eq!(fitting("abcdefghijklmn\u{e9}"), Some("abcdefghijklmn".into()));
        assert_eq!(fitting(&"\u{1f3d3}".repeat(5)), Some("\u{1f3d3}".repeat(3)));
        assert_eq!((fitting(""), fitting(" \t")), (None, None));
        assert!((1..=Name::MAX).contains(&login_name().len()));
    }

    #[test]
    fn what_a_file_does_not_name_is_as_usual() {
        let (shelf, folder) = shelf("partly");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("settings.json"), r#"{"network_overlay": true, "later": 1}"#)
            .unwrap();
        let expected = Settings { network_overlay: true, ..Settings::default() };
        assert_eq!(shelf.load(), (expected, None));
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_damaged_file_gives_the_usual_settings_and_a_sentence() {
        let (shelf, folder) = shelf("damaged");
        fs::create_dir_all(&folder).unwrap();
        let long = format!("{{\"name\": \"{}\"}}", "x".repeat(Name::MAX + 1));
        let huge = " ".repeat(SIZE_LIMIT as usize + 1);
        for text in
            ["", "{", "{\"name\": 5}", "{\"volume\": 101}", "{\"name\": \"\"}", &long, &huge]
        {
            fs::write(folder.join("settings.json"), text).unwrap();
            let (settings, sentence) = shelf.load();
            assert_eq!(settings, Settings::default());
            assert!(sentence.unwrap().contains("using the defaults"), "{text:.20}");
        }
        let fits = format!("{{\"name\": \"{}\"}}", "x".repeat(Name::MAX));
        fs::write(folder.join("settings.json"), fits).unwrap();
        assert_eq!(shelf.load().1, None);
        fs::remove_dir_all(&folder).unwrap();
    }
}
