//! What a player sets out to do, from the menu or from the command line, and how it begins.

use std::error::Error;
use std::net::SocketAddr;
use std::sync::mpsc::{self, Receiver};

use backspin::game::{Game, PlayerId};
use backspin::wire::native::Role;
use backspin::wire::{Dialect, Name};
use backspin_pong::{Bot, Level, Pong};

use super::bout::{Hand, Lane, Setup, Steers};
use super::pong::level_name;
use crate::play::Seat;
use crate::pong::BotLevel;
use crate::pong::open::{self, Guest, Opened};
use crate::seed;

/// What a player sets out to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Errand {
    /// To play on this machine, against a bot or someone at the same keyboard.
    Local { versus: Option<Level> },
    /// To host a match.
    Host,
    /// To join at an address that was typed.
    Join(String),
    /// To join a host that was found.
    Sit { address: SocketAddr, dialect: Dialect },
    /// To watch at an address that was typed.
    Watch(String),
}

/// What the command line has decided; the menu begins with none of it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Options {
    pub(crate) game: Pong,
    pub(crate) port: Option<u16>,
    pub(crate) dialect: Option<Dialect>,
    pub(crate) token: Vec<u8>,
    /// A bot plays this side.
    pub(crate) bot: Option<Level>,
    /// In place of the name in the settings.
    pub(crate) name: Option<Name>,
}

/// A table that is being opened, or why it cannot be.
pub(super) type Coming = Receiver<Result<Opened, String>>;

impl Errand {
    /// Begins, in a thread of its own: to ask for a host's name may take a while. Whoever no longer
    /// waits drops the receiver, and the table goes with it.
    pub(super) fn set_out(&self, options: &Options, name: Name) -> Coming {
        let (sender, receiver) = mpsc::channel();
        let (errand, options) = (self.clone(), options.clone());
        std::thread::spawn(move || {
            let opened = errand.open(&options, name).map_err(|error| sentence(&error.to_string()));
            let _ = sender.send(opened);
        });
        receiver
    }

    fn open(&self, options: &Options, name: Name) -> Result<Opened, Box<dyn Error>> {
        let guest = |role, dialect| Guest { dialect, role, name, token: options.token.clone() };
        match self {
            Errand::Local { versus } => open::local(options.game, versus.map(BotLevel)),
            Errand::Host => open::host(options.game, options.port, options.dialect, name),
            Errand::Join(address) => open::join(&guest(Role::Play, options.dialect), address),
            Errand::Watch(address) => {
                open::join(&guest(Role::Watch, Some(Dialect::Native)), address)
            }
            Errand::Sit { address, dialect } => {
                open::sit(&guest(Role::Play, Some(*dialect)), *address, *dialect, None)
            }
        }
    }

    /// Who steers what at this table.
    pub(super) fn sit_down(
        &self,
        options: &Options,
        name: Name,
        opened: Opened,
    ) -> Result<Setup<Pong>, Box<dyn Error>> {
        let name = name.to_string();
        let person = |player, name: &str, lane| Hand {
            player: PlayerId(player),
            name: name.to_owned(),
            steers: Steers::Person(lane),
        };
        let bot = |player, level: Level| -> Result<Hand<Pong>, Box<dyn Error>> {
            let steers = Steers::Bot(Bot::new(level, seed::world()?));
            let name = format!("{} bot", sentence(level_name(level)).trim_end_matches('.'));
            Ok(Hand { player: PlayerId(player), name, steers })
        };
        let players = match &*opened.table.seat() {
            Seat::Local(local) => u32::from(local.game().capacity()),
            _ => 1,
        };
        let mut hands = Vec::new();
        if !matches!(self, Errand::Watch(_)) {
            let alone = !matches!(self, Errand::Local { versus: None });
            hands.push(match options.bot {
                Some(level) => bot(1, level)?,
                None if alone => person(1, &name, Lane::Both),
                None => person(1, "Left", Lane::Left),
            });
        }
        for player in 2..=players {
            hands.push(match self {
                Errand::Local { versus: Some(level) } => bot(player, *level)?,
                _ if player == 2 => {
                    let lane = if options.bot.is_some() { Lane::Both } else { Lane::Right };
                    person(2, "Right", lane)
                }
                _ => bot(player, Level::Normal)?,
            });
        }
        let Opened { table, ticket, addresses, .. } = opened;
        Ok(Setup { table, ticket, name, addresses, hands })
    }

    /// What it is called while it is under way.
    pub(super) fn title(&self) -> &'static str {
        match self {
            Errand::Local { .. } => "Play",
            Errand::Host => "Host a game",
            Errand::Join(_) | Errand::Sit { .. } => "Join a game",
            Errand::Watch(_) => "Watch a game",
        }
    }
}

/// An error as a sentence for a screen: with a capital and a full stop.
pub(super) fn sentence(error: &str) -> String {
    let mut letters = error.chars();
    let first = letters.next().map_or(String::new(), |letter| letter.to_uppercase().to_string());
    let stop = if error.ends_with(['.', '!', '?']) { "" } else { "." };
    format!("{first}{}{stop}", letters.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_shown_as_a_sentence() {
        assert_eq!(sentence("that is no address; try again"), "That is no address; try again.");
        assert_eq!(sentence("Full. Try later."), "Full. Try later.");
        assert_eq!(sentence("\"x\" is no port"), "\"x\" is no port.");
        assert_eq!(sentence(""), ".");
    }
}
