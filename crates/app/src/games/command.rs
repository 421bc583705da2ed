//! The part of a game's command line that is the same in every game.

use std::error::Error;
use std::ops::RangeInclusive;
use std::sync::Arc;

use backspin_classic::Dialect;
use clap::Subcommand;
use clap::builder::{PossibleValuesParser, TypedValueParser};

use crate::face::{self, Ui};
use crate::games::{AppGame, Title};
use crate::play;
use crate::screen::{Launch, Options, Program, Shelf};
use crate::script::{MakeArgs, RoomArgs, SeatArgs, Steers};

/// The names of three levels, the easiest first.
pub(crate) const LEVELS: [&str; 3] = ["easy", "normal", "hard"];

/// The option for a game's bot, and which game that is.
pub(crate) trait BotArgs: clap::Args {
    type Game: AppGame;
    const TITLE: Title;

    /// The level of the bot that plays here, as the game counts them.
    fn level(&self) -> Option<u8>;
}

/// Who plays here.
#[derive(clap::Args)]
pub(crate) struct Player<B: BotArgs> {
    #[command(flatten)]
    pub(crate) bot: B,

    #[command(flatten)]
    pub(crate) seat: SeatArgs,
}

impl<B: BotArgs> Player<B> {
    pub(crate) fn steers(&self) -> Steers {
        if self.bot.level().is_some() { Steers::Bot } else { Steers::Person }
    }

    /// What the player asks for, in any mode.
    pub(crate) fn options(&self) -> Options {
        Options {
            token: self.seat.token(),
            bot: self.bot.level(),
            name: self.seat.name,
            title: Some(B::TITLE),
            ..Options::default()
        }
    }

    /// The options of a host or a local match.
    pub(crate) fn rules(&self, rules: B::Game) -> Options {
        Options { rules: Some(Arc::new(rules)), ..self.options() }
    }

    /// Runs the game on a screen, or by `script` where there is none.
    pub(crate) fn run(
        &self,
        (mut options, launch): (Options, Option<Launch>),
        script: impl FnOnce(&Options, Option<&Launch>) -> Result<(), Box<dyn Error>>,
    ) -> Result<(), Box<dyn Error>> {
        if launch.is_none() {
            play::check_search(options.dialect)?;
        }
        options.net_log = self.seat.net_log(launch.as_ref())?;
        match self.seat.ui(self.steers()) {
            Ui::None => script(&options, launch.as_ref()),
            ui => face::show(Program::begin(Shelf::usual(), options, launch), ui, self.seat.span()),
        }
    }
}

/// The modes that play on somebody else's machine.
#[derive(Subcommand)]
pub(crate) enum Remote<B: BotArgs> {
    /// Join a host: at an address, or the first one found on the LAN
    ///
    /// Without a port, the address is tried at 4300 with the native protocol. If there is no answer within a second,
    /// the game's old protocol is tried as well, at its usual port (lan: 54000, rtype: 4242); after 3.5 s the attempt
    /// ends. If your client crashes, restart within 30 s to reclaim your slot. A LAN search uses every interface, or
    /// only the address in BACKSPIN_SEARCH_FROM.
    Join {
        /// An address or host name, with or without a port
        address: Option<String>,
        /// The port to search on if no address is given [default: 4300 and, for lan, 54000]
        #[arg(long, value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..))]
        port: Option<u16>,
        /// Speak only this dialect
        #[arg(long, value_parser = dialects::<B::Game>())]
        dialect: Option<Dialect>,
        #[command(flatten)]
        room: RoomArgs,
        #[command(flatten)]
        make: MakeArgs,
        #[command(flatten)]
        player: Player<B>,
    },
    /// Join the best room of several servers: the nearest with a free slot
    ///
    /// All servers are asked for their rooms at once. Among rooms at about the same distance, the fullest is joined. If
    /// one of the addresses is a matchmaker (`backspin match`), it decides instead: it finds other waiting players and
    /// the server nearest to all of you.
    Quick {
        /// Addresses or host names, with or without a port
        #[arg(required = true, value_name = "ADDRESS")]
        addresses: Vec<String>,
        #[command(flatten)]
        player: Player<B>,
    },
    /// Watch a match
    Watch {
        /// An address or host name, with or without a port
        address: String,
        #[command(flatten)]
        room: RoomArgs,
        #[command(flatten)]
        player: Player<B>,
    },
}

impl<B: BotArgs> Remote<B> {
    pub(crate) fn player(&self) -> &Player<B> {
        match self {
            Remote::Join { player, .. }
            | Remote::Quick { player, .. }
            | Remote::Watch { player, .. } => player,
        }
    }

    /// Where it leads: nowhere yet if a host must be found first.
    pub(crate) fn plan(&self) -> (Options, Option<Launch>) {
        let mut options = self.player().options();
        let launch = match self {
            Remote::Join { address, port, dialect, room, make, .. } => {
                (options.port, options.dialect) = (*port, *dialect);
                (options.room, options.password) = (make.wish(room), room.password);
                address.clone().map(|address| Launch::Join(B::TITLE, address))
            }
            Remote::Quick { addresses, .. } => Some(Launch::Quick(B::TITLE, addresses.clone())),
            Remote::Watch { address, room, .. } => {
                (options.room, options.password) = (room.wish(), room.password);
                Some(Launch::Watch(B::TITLE, address.clone()))
            }
        };
        (options, launch)
    }
}

/// The dialects of a game, by name.
pub(crate) fn dialects<G: AppGame>() -> impl TypedValueParser<Value = Dialect> {
    let all = [Some(Dialect::Native), G::OLD.map(|(dialect, _)| dialect), Some(Dialect::Ack)];
    named(all.into_iter().flatten(), Dialect::name)
}

/// A number in a range, also a broken one.
pub(crate) fn within(
    range: RangeInclusive<f64>,
    what: &'static str,
) -> impl TypedValueParser<Value = f64> {
    move |text: &str| {
        let number = text.parse().ok().filter(|number| range.contains(number));
        number.ok_or_else(|| format!("give from {} to {} {what}", range.start(), range.end()))
    }
}

/// Values that are given by name.
pub(crate) fn named<T: Copy + Send + Sync + 'static>(
    all: impl IntoIterator<Item = T>,
    name: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T> {
    let all: Vec<T> = all.into_iter().collect();
    let names: Vec<&str> = all.iter().map(|value| name(*value)).collect();
    PossibleValuesParser::new(names).try_map(move |given| {
        all.iter().copied().find(|value| name(*value) == given).ok_or("unknown")
    })
}
