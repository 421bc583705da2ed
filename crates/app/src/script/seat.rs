//! What everyone decides on the command line, whichever game it is.

use std::error::Error;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use backspin::wire::Name;

use super::Lines;
use crate::face::Ui;
use crate::netlog::NetLog;
use crate::screen::Launch;

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

    /// Write down what happens to inputs, acknowledgements and pings; - is stderr
    ///
    /// A line each, in the words of the documents: INPUT_SENT, ACK_RECEIVED, INPUT_RECV, INPUT_PROCESS, SNAPSHOT_SENT, lost inputs,
    /// latencies, and what was dropped. The file is begun anew.
    #[arg(long, value_name = "FILE")]
    net_log: Option<PathBuf>,

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

    /// Where it is written down what happens on the line, if it is.
    pub(crate) fn net_log(
        &self,
        errand: Option<&Launch>,
    ) -> Result<Option<NetLog>, Box<dyn Error>> {
        let Some(path) = &self.net_log else { return Ok(None) };
        match errand {
            Some(Launch::Local(..)) => Err(
                "a match on this machine alone sends nothing that --net-log could write down; it \
                     is for host, join and watch"
                    .into(),
            ),
            _ => NetLog::open(path).map(Some),
        }
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
