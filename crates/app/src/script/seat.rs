//! What everyone decides on the command line, whichever game it is.

use std::io;
use std::time::Duration;

use backspin::wire::Name;

use super::Lines;
use crate::face::Ui;

/// What everyone decides.
#[derive(clap::Args)]
pub(crate) struct SeatArgs {
    /// How it is shown [default: desktop where there is a display, terminal where this is one, none for scripts]
    #[arg(long)]
    ui: Option<Ui>,

    /// What you are called, up to 15 letters, fewer with accents or symbols [default: as in the settings, Player for scripts]
    #[arg(long, value_parser = crate::parse_name)]
    pub(crate) name: Option<Name>,

    /// What the server asks for, if it does
    #[arg(long, default_value = "")]
    token: String,

    /// Leave after so long
    #[arg(long, value_name = "S")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=86_400))]
    seconds: Option<u32>,

    /// With --ui none: events as lines of JSON
    #[arg(long)]
    json: bool,
}

/// Who steers in the own place.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Steers {
    Person,
    Bot,
}

impl SeatArgs {
    /// What a script is called that does not say.
    pub(crate) fn name(&self) -> Name {
        self.name.unwrap_or(Name::new("Player"))
    }

    /// Who asks for lines of JSON, or for a bot in the own place, is a script.
    pub(crate) fn ui(&self, steers: Steers) -> Ui {
        let is_person = !self.json && steers == Steers::Person;
        let usual = || if is_person { Ui::usual() } else { None };
        self.ui.or_else(usual).unwrap_or(Ui::None)
    }

    pub(crate) fn token(&self) -> Vec<u8> {
        self.token.clone().into_bytes()
    }

    pub(crate) fn span(&self) -> Option<Duration> {
        self.seconds.map(|seconds| Duration::from_secs(seconds.into()))
    }

    pub(super) fn lines(&self) -> io::Result<Lines> {
        Lines::start(self.json)
    }
}
