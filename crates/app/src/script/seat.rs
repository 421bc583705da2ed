//! The options of every game.

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
    /// How to show the match [default: desktop if there is a display, terminal if there is one, none for
    /// scripts]
    #[arg(long)]
    ui: Option<Ui>,

    /// Your name, up to 15 letters, fewer with accents or symbols [default: the one in the settings, Player
    /// for scripts]
    #[arg(long, value_parser = crate::parse_name)]
    pub(crate) name: Option<Name>,

    /// The server's token, if it has one
    #[arg(long, default_value = "", value_parser = crate::parse_token)]
    token: String,

    /// Leave after this many seconds
    #[arg(long, value_name = "S")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=86_400))]
    seconds: Option<u32>,

    /// Log inputs, acknowledgements and pings to this file; - is stderr
    ///
    /// One line per event, in the words of the documents: INPUT_SENT, ACK_RECEIVED, INPUT_RECV,
    /// INPUT_PROCESS, SNAPSHOT_SENT, lost inputs, latencies and drops. An existing file is overwritten.
    #[arg(long, value_name = "FILE")]
    net_log: Option<PathBuf>,

    /// With --ui none: print events as JSON, one per line
    #[arg(long)]
    json: bool,
}

/// Who plays here.
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

    /// `--json` or `--bot` means that a script runs this.
    pub(crate) fn ui(&self, steers: Steers) -> Ui {
        let is_person = !self.json && steers == Steers::Person;
        let usual = || if is_person { Ui::usual() } else { None };
        self.ui.or_else(usual).unwrap_or(Ui::None)
    }

    /// Where it is written down what happens on the line, if it is.
    pub(crate) fn net_log(
        &self,
        launch: Option<&Launch>,
    ) -> Result<Option<NetLog>, Box<dyn Error>> {
        let Some(path) = &self.net_log else { return Ok(None) };
        match launch {
            Some(Launch::Local(..)) => {
                Err("a local match sends nothing, so --net-log has nothing to write; use it with \
                 host, join or watch"
                    .into())
            }
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
