//! What a player sets out to do, from the menu or from the command line, and how it begins.

use std::error::Error;
use std::net::SocketAddr;
use std::sync::mpsc::{self, Receiver};

use backspin::wire::native::Role;
use backspin::wire::{Dialect, Name};
use backspin_pong::{Level, Pong};

use crate::pong::BotLevel;
use crate::pong::open::{self, Guest, Opened};

/// What a player sets out to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Errand {
    /// To play on this machine, against a bot or someone at the same keyboard.
    Local { versus: Option<Level> },
    /// To host a match.
    Host,
    /// To see who hosts one.
    Search,
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
            Errand::Search => Err("a search is no match".into()),
        }
    }

    /// What it is called while it is under way.
    pub(super) fn title(&self) -> &'static str {
        match self {
            Errand::Local { .. } => "Play",
            Errand::Host => "Host a game",
            Errand::Search | Errand::Join(_) | Errand::Sit { .. } => "Join a game",
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
