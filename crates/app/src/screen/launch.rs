//! What a player starts, from the menu or the command line, and how it starts.

use std::any::Any;
use std::error::Error;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, SendError, TryRecvError};

use backspin::endpoint::Tokenless;
use backspin::session::EndReason;
use backspin::wire::Name;
use backspin::wire::native::Role;
use backspin_classic::Dialect;

use super::match_screen::{Match, MatchScreen};
use super::menu::Question;
use super::stage::{Stage, Way};
use crate::games::{AppGame, Title, with_game};
use crate::netlog::{self, NetLog};
use crate::play::{self, Guest, Opened, RoomWish};

/// What a player sets out to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Launch {
    /// To play on this machine alone, in one of the game's [ways](Stage::WAYS).
    Local(Title, Way),
    /// To host a match.
    Host(Title),
    /// To join at an address that was typed.
    Join(Title, String),
    /// To join a host that was found.
    Sit { title: Title, address: SocketAddr, dialect: Dialect },
    /// To watch at an address that was typed.
    Watch(Title, String),
    /// To play in the best room of these servers.
    Quick(Title, Vec<String>),
    /// To play in a room that was chosen, or made.
    Enter { title: Title, address: String, room: RoomWish, password: Name },
}

/// What the command line has decided; the menu begins with none of it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Options {
    /// The rules of a host or a local match: the game's own type.
    pub(crate) rules: Option<Arc<dyn Any + Send + Sync>>,
    /// The only game that is looked for on the local network.
    pub(crate) title: Option<Title>,
    pub(crate) port: Option<u16>,
    pub(crate) dialect: Option<Dialect>,
    /// Whether a host lets the first R-Type program in.
    pub(crate) tokenless: Tokenless,
    pub(crate) token: Vec<u8>,
    pub(crate) room: RoomWish,
    pub(crate) password: Name,
    /// A bot plays this side: its level, as the game counts them.
    pub(crate) bot: Option<u8>,
    /// In place of the name in the settings.
    pub(crate) name: Option<Name>,
    /// Where it is written down what happens on the line.
    pub(crate) net_log: Option<NetLog>,
}

impl Options {
    /// The rules, if they were given, else as they are usually.
    pub(crate) fn rules<G: AppGame>(&self) -> G {
        let rules = self.rules.as_ref().and_then(|rules| rules.downcast_ref::<G>());
        rules.cloned().unwrap_or_default()
    }

    /// The guest that the command line describes.
    pub(crate) fn guest(&self, name: Name) -> Guest {
        Guest {
            dialect: self.dialect,
            role: Role::Play,
            name,
            token: self.token.clone(),
            room: self.room,
            password: self.password,
            journal: self.journal(),
        }
    }

    /// How many lines of the log are kept.
    fn journal(&self) -> usize {
        if self.net_log.is_some() { netlog::KEPT } else { 0 }
    }
}

/// A match, or why it cannot be opened.
type Outcome = Result<Box<dyn MatchScreen + Send>, String>;

/// A match that is being opened. Dropped, it is no longer wanted: a search ends at once, and a place
/// that was taken meanwhile is left.
pub(super) struct Coming {
    outcome: Receiver<Outcome>,
    /// The opening thread sees when this is dropped.
    _wanted: Arc<()>,
}

impl Coming {
    pub(super) fn try_recv(&self) -> Result<Outcome, TryRecvError> {
        self.outcome.try_recv()
    }
}

impl Drop for Coming {
    fn drop(&mut self) {
        if let Ok(Ok(running)) = self.outcome.try_recv() {
            running.leave();
        }
    }
}

impl Launch {
    /// Begins, in a thread of its own: to ask for a host's name may take a while. Matches are written
    /// down on the `shelf`, if there is one.
    pub(super) fn set_out(&self, options: &Options, name: Name, shelf: Option<PathBuf>) -> Coming {
        let (sender, outcome) = mpsc::channel();
        let (launch, options) = (self.clone(), options.clone());
        let wanted = Arc::new(());
        let wish = Arc::downgrade(&wanted);
        std::thread::spawn(move || {
            let wanted = || wish.strong_count() > 0;
            let opened = with_game!(launch.title(), G => launch.sit_down::<G>(&options, name, shelf, &wanted));
            let opened = opened.map_err(|error| sentence(&error.to_string()));
            if let Err(SendError(Ok(running))) = sender.send(opened) {
                running.leave();
            }
        });
        Coming { outcome, _wanted: wanted }
    }

    fn sit_down<G: Stage>(
        &self,
        options: &Options,
        name: Name,
        shelf: Option<PathBuf>,
        wanted: &dyn Fn() -> bool,
    ) -> Result<Box<dyn MatchScreen + Send>, Box<dyn Error>> {
        let rules = self.rules::<G>(options);
        let opened = self.connect(rules.clone(), options, name, wanted)?;
        let hands = match self {
            Launch::Watch(..) => Vec::new(),
            _ => rules.hands(self, options, name)?,
        };
        Ok(Box::new(Match::new(opened, hands, shelf, options.net_log.clone())))
    }

    /// The rules as they are played here.
    pub(crate) fn rules<G: Stage>(&self, options: &Options) -> G {
        match self {
            Launch::Local(_, way) => options.rules::<G>().alone(*way),
            _ => options.rules(),
        }
    }

    /// Opens the match that it leads to, in any game. A search ends when it is no longer `wanted`.
    pub(crate) fn connect<G: Stage>(
        &self,
        game: G,
        options: &Options,
        name: Name,
        wanted: &dyn Fn() -> bool,
    ) -> Result<Opened<G>, Box<dyn Error>> {
        let Options { port, dialect, .. } = *options;
        let guest = options.guest(name);
        match self {
            Launch::Local(..) => {
                let players = game.players_alone();
                play::local(game, players, name)
            }
            Launch::Host(_) => {
                play::host(game, port, dialect, options.tokenless, name, options.journal())
            }
            Launch::Join(_, address) => play::join(game, &guest, address),
            Launch::Watch(_, address) => play::join(game, &guest.watching(), address),
            Launch::Sit { address, dialect, .. } => {
                play::sit(game, &guest, *address, *dialect, None)
            }
            Launch::Enter { address, room, password, .. } => {
                let guest = Guest { room: *room, password: *password, ..guest };
                play::join(game, &guest, address)
            }
            Launch::Quick(_, addresses) => {
                let opened = play::quick(game, &guest, addresses, wanted, |_| Ok(()))?;
                opened.ok_or_else(|| "the search was cancelled".into())
            }
        }
    }

    /// Which game it is about.
    pub(super) fn title(&self) -> Title {
        match self {
            Launch::Local(title, _)
            | Launch::Quick(title, _)
            | Launch::Host(title)
            | Launch::Join(title, _)
            | Launch::Watch(title, _)
            | Launch::Enter { title, .. }
            | Launch::Sit { title, .. } => *title,
        }
    }

    /// The question that its address answers, and the address, if one was typed.
    pub(super) fn typed(&self) -> Option<(Question, &str)> {
        match self {
            Launch::Join(title, address) | Launch::Enter { title, address, .. } => {
                Some((Question::JoinAddress(*title), address))
            }
            Launch::Watch(title, address) => Some((Question::WatchAddress(*title), address)),
            _ => None,
        }
    }

    /// That nobody answers, told with the address that the player knows: a port that was only
    /// tried is nobody's.
    pub(super) fn silence(&self, reason: EndReason) -> Option<String> {
        let address = match self {
            Launch::Sit { address, .. } => address.ip().to_string(),
            _ => self.typed()?.1.to_owned(),
        };
        let advice = "Check the address, that a game is running there, and that no firewall is in \
                      the way.";
        match reason {
            EndReason::NoAnswer { .. } | EndReason::Unreachable { .. } => {
                Some(format!("No answer from {address}. {advice}"))
            }
            EndReason::HostSilent { .. } => Some(format!(
                "No answer from {address}. {advice} A host that is already playing does not \
                 answer either."
            )),
            _ => None,
        }
    }

    /// What it is called while it is under way.
    pub(super) fn heading(&self) -> &'static str {
        match self {
            Launch::Local(..) => "Play",
            Launch::Host(_) => "Host a game",
            Launch::Join(..) | Launch::Sit { .. } | Launch::Quick(..) | Launch::Enter { .. } => {
                "Join a game"
            }
            Launch::Watch(..) => "Watch a game",
        }
    }
}

/// An error as a sentence for a screen: with a capital and a full stop.
pub(crate) fn sentence(error: &str) -> String {
    let mut letters = error.chars();
    let first = letters.next().map_or(String::new(), |letter| letter.to_uppercase().to_string());
    let stop = if error.ends_with(['.', '!', '?']) { "" } else { "." };
    format!("{first}{}{stop}", letters.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_answer_names_the_address_as_it_was_typed() {
        let tried = "192.0.2.1:54000".parse().unwrap();
        let join = Launch::Join(Title::Pong, "192.0.2.1".into());
        let enter = Launch::Enter {
            title: Title::Pong,
            address: "attic".into(),
            room: RoomWish::Any,
            password: Name::default(),
        };
        let sit = Launch::Sit { title: Title::Pong, address: tried, dialect: Dialect::Lan };
        for reason in [
            EndReason::NoAnswer { address: tried.into() },
            EndReason::HostSilent { address: tried.into() },
            EndReason::Unreachable { address: tried.into() },
        ] {
            for (launch, who) in [(&join, "192.0.2.1"), (&enter, "attic"), (&sit, "192.0.2.1")] {
                let sentence = launch.silence(reason).unwrap();
                assert!(sentence.starts_with(&format!("No answer from {who}. ")), "{sentence}");
                assert!(!sentence.contains("54000"), "{sentence}");
            }
        }
        assert_eq!(join.silence(EndReason::Full), None);
        assert_eq!(Launch::Host(Title::Pong).silence(EndReason::Left), None);
    }

    #[test]
    fn an_error_is_shown_as_a_sentence() {
        assert_eq!(sentence("that is no address; try again"), "That is no address; try again.");
        assert_eq!(sentence("Full. Try later."), "Full. Try later.");
        assert_eq!(sentence("\"x\" is no port"), "\"x\" is no port.");
        assert_eq!(sentence(""), ".");
    }
}
