//! Why a player is not in a game, or no longer: every refusal and every close of every dialect,
//! in words.
//!
//! The client makes one of these from what `native` says outright ([`Reject`], [`CloseReason`])
//! and from what the other dialects say by silence; a screen shows it as it prints.

use std::error::Error;
use std::fmt;

use crate::game::Refusal;
use crate::peer::PeerAddr;
use crate::wire::Name;
use crate::wire::native::{self, CloseReason, Reject, RejectReason};

/// Why it is over. `Display` says what happened and what to do, in a sentence or two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EndReason {
    /// Every place is taken.
    Full,
    /// The server speaks another version of `native`.
    Protocol {
        /// Its version.
        server: u16,
        /// This program's.
        ours: u16,
    },
    /// The server plays another version of the game.
    GameVersion {
        /// Its version.
        server: u16,
        /// This program's.
        ours: u16,
    },
    /// The server does not have the game.
    NoSuchGame,
    /// The operator keeps this player or address out.
    Banned,
    /// The server asks for a token, and this is none of its own.
    Token,
    /// There is no such room.
    NoSuchRoom,
    /// The room has another password.
    Password,
    /// The place of a dropped player is no longer kept.
    PlaceGivenUp,
    /// Too many players from this address.
    TooManyFromAddress,
    /// The server lets nobody in because it is about to stop.
    Stopping,
    /// Too many passwords were tried.
    TooManyTries,
    /// The server opens no more rooms.
    TooManyRooms,
    /// A room cannot be called so.
    RoomName,
    /// A matchmaker was asked for a place, which it does not have.
    Matchmaker,
    /// The server's build of the game differs from this one, though both say the same version.
    OtherBuild,
    /// The game does not let the player in, for this reason.
    Refused(Refusal),
    /// Nothing came back from a server of any dialect.
    NoAnswer {
        /// Where it was looked for.
        address: PeerAddr,
    },
    /// `rtype`'s TCP step found nobody there.
    Unreachable {
        /// Where it was looked for.
        address: PeerAddr,
    },
    /// `rtype`'s TCP step broke off.
    BrokenOff {
        /// With whom.
        address: PeerAddr,
    },
    /// An `rtype` server answers with another version.
    WrongVersion {
        /// Its version.
        server: u8,
        /// This program's.
        ours: u8,
    },
    /// No `lan` host answers hellos: it is playing, or there is none.
    HostSilent {
        /// Where it was.
        address: PeerAddr,
    },
    /// The server has been silent for too long.
    NotResponding,
    /// The server was stopped during the game.
    Stopped,
    /// The operator removed the player.
    Kicked,
    /// The server says that this client broke the protocol.
    Violation,
    /// An `rtype` server still speaks, but has shown no state of the match for too long.
    Stalled,
    /// The room was closed.
    RoomClosed,
    /// Who hosts the match has ended it for everyone.
    HostLeft {
        /// Called; empty where the name is not known.
        host: Name,
    },
    /// More messages wait for this client than the server keeps.
    Backlog,
    /// The server has heard nothing from this client for too long.
    Silent,
    /// An `rtype` server sent everyone back to the menu.
    SentToMenu,
    /// The player left.
    Left,
}

impl EndReason {
    /// Why `native` lets this client in no further, which plays `game_version`.
    pub const fn from_reject(reject: &Reject, game_version: u16) -> Self {
        match reject.reason {
            RejectReason::Full => EndReason::Full,
            RejectReason::Protocol => {
                EndReason::Protocol { server: reject.protocol, ours: native::PROTOCOL }
            }
            RejectReason::GameVersion => {
                EndReason::GameVersion { server: reject.game_version, ours: game_version }
            }
            RejectReason::Game => EndReason::NoSuchGame,
            RejectReason::Banned => EndReason::Banned,
            RejectReason::Token => EndReason::Token,
            RejectReason::Room => EndReason::NoSuchRoom,
            RejectReason::Password => EndReason::Password,
            RejectReason::Ticket => EndReason::PlaceGivenUp,
            RejectReason::Address => EndReason::TooManyFromAddress,
            RejectReason::Stopping => EndReason::Stopping,
            RejectReason::Tries => EndReason::TooManyTries,
            RejectReason::Rooms => EndReason::TooManyRooms,
            RejectReason::RoomName => EndReason::RoomName,
            RejectReason::Matchmaker => EndReason::Matchmaker,
            RejectReason::Layout => EndReason::OtherBuild,
            RejectReason::Refused => EndReason::Refused(reject.sentence),
        }
    }
}

impl From<CloseReason> for EndReason {
    fn from(reason: CloseReason) -> Self {
        match reason {
            CloseReason::Left => EndReason::Left,
            CloseReason::Silent => EndReason::Silent,
            CloseReason::Stopping => EndReason::Stopped,
            CloseReason::Kicked => EndReason::Kicked,
            CloseReason::Violation => EndReason::Violation,
            CloseReason::RoomClosed => EndReason::RoomClosed,
            CloseReason::Banned => EndReason::Banned,
            // Whoever has a roster knows the name.
            CloseReason::HostLeft => EndReason::HostLeft { host: Name::default() },
            CloseReason::Backlog => EndReason::Backlog,
        }
    }
}

impl fmt::Display for EndReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match *self {
            EndReason::Protocol { server, ours } | EndReason::GameVersion { server, ours } => {
                let what = match self {
                    EndReason::Protocol { .. } => "network protocol",
                    _ => "game",
                };
                return write!(
                    f,
                    "The server has version {server} of the {what}, this program has version \
                     {ours}. {}",
                    Advice { server, ours }
                );
            }
            EndReason::WrongVersion { server, ours } => {
                return write!(
                    f,
                    "The server speaks version {server} of the R-Type protocol, this program \
                     speaks version {ours}. {}",
                    Advice { server: server.into(), ours: ours.into() }
                );
            }
            EndReason::NoAnswer { address } => {
                return write!(
                    f,
                    "No answer from {address}. Check the address and that a server is running \
                     there, and that no firewall is in the way."
                );
            }
            EndReason::Unreachable { address } => {
                return write!(
                    f,
                    "Could not connect to {address}. Check the address and that an R-Type \
                     server is running there."
                );
            }
            EndReason::BrokenOff { address } => {
                return write!(
                    f,
                    "The server at {address} broke off the connection before the game began. \
                     Try again, or ask whoever runs it."
                );
            }
            EndReason::HostSilent { address } => {
                return write!(
                    f,
                    "No host answers at {address}: it is playing with someone else, or there is \
                     none. Check the address, or try again later."
                );
            }
            EndReason::HostLeft { host } => {
                let host = host.to_string();
                let who = if host.is_empty() { "The host" } else { &host };
                return write!(f, "{who} ended the match.");
            }
            EndReason::Full => "The server is full. Try again later, or join another one.",
            EndReason::NoSuchGame => {
                "The server does not have this game. Choose another game or another server."
            }
            EndReason::Banned => {
                "You are banned from this server. Ask whoever runs it, or join another one."
            }
            EndReason::Token => {
                "The server lets in only players with a valid token. Ask whoever runs it for \
                 one, and join with --token."
            }
            EndReason::NoSuchRoom => {
                "There is no such room on the server. Choose one from its list of rooms."
            }
            EndReason::Password => "The password of the room is another. Enter it again.",
            EndReason::PlaceGivenUp => {
                "Your place in the game is no longer kept. Join again to get a new one."
            }
            EndReason::TooManyFromAddress => {
                "Too many players have joined from your network address. Leave one of the \
                 other games, or ask whoever runs the server to raise the limit."
            }
            EndReason::Stopping => {
                "The server is about to stop and lets nobody in. Try again later."
            }
            EndReason::TooManyTries => {
                "Too many wrong passwords have come from your network address. Wait a moment, \
                 then enter the right one."
            }
            EndReason::TooManyRooms => {
                "The server opens no more rooms for you now. Enter one of those that are there, \
                 or try again later."
            }
            EndReason::RoomName => {
                "A room needs a name, and one that no other room there has. Choose another one."
            }
            EndReason::OtherBuild => {
                "The server has another build of this game: both have the same version, but they do not \
                 understand each other. Use the build that the server has."
            }
            EndReason::Refused(sentence) if sentence.is_empty() => {
                "The game does not let you in. Ask whoever runs the server."
            }
            EndReason::Refused(sentence) => return f.write_str(sentence.as_str()),
            EndReason::Matchmaker => {
                "This is a matchmaker, where nobody plays. Let it find a room for you: backspin \
                 rtype quick."
            }
            EndReason::NotResponding => {
                "Connection to server lost: the server is not responding. Check your network, \
                 then join again."
            }
            EndReason::Stalled => {
                "Server not responding: it still answers, but nothing of the match has come for 10 s. \
                 Join again."
            }
            EndReason::Stopped => "The server was stopped. Try again later, or join another one.",
            EndReason::Kicked => "You were removed by whoever runs the server.",
            EndReason::Violation => {
                "The server ended the connection because it did not understand this program. \
                 Update the program, and report it if that does not help."
            }
            EndReason::RoomClosed => "The room was closed. Choose another one.",
            EndReason::Backlog => {
                "Your connection is too slow for this match: more was waiting for you than the \
                 server keeps. Check your network, then join again."
            }
            EndReason::Silent => {
                "The server dropped you because it heard nothing from you for too long. Check \
                 your network, then join again."
            }
            EndReason::SentToMenu => {
                "The server ended the match and sent everyone back to the menu. Join again to \
                 play another."
            }
            EndReason::Left => "You left the game.",
        };
        f.write_str(text)
    }
}

impl Error for EndReason {}

/// Which side is to be updated.
struct Advice {
    server: u16,
    ours: u16,
}

impl fmt::Display for Advice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.server > self.ours {
            "Update this program."
        } else {
            "Ask whoever runs the server to update it, or join another one."
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;
    use std::net::{IpAddr, Ipv4Addr, SocketAddr};

    const ADDRESS: PeerAddr =
        PeerAddr::socket(SocketAddr::new(IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)), 4300));

    fn all() -> [EndReason; 33] {
        [
            EndReason::Full,
            EndReason::Protocol { server: 2, ours: 1 },
            EndReason::GameVersion { server: 2, ours: 1 },
            EndReason::NoSuchGame,
            EndReason::Banned,
            EndReason::Token,
            EndReason::NoSuchRoom,
            EndReason::Password,
            EndReason::PlaceGivenUp,
            EndReason::TooManyFromAddress,
            EndReason::Stopping,
            EndReason::NoAnswer { address: ADDRESS },
            EndReason::Unreachable { address: ADDRESS },
            EndReason::BrokenOff { address: ADDRESS },
            EndReason::WrongVersion { server: 2, ours: 1 },
            EndReason::HostSilent { address: ADDRESS },
            EndReason::NotResponding,
            EndReason::Stopped,
            EndReason::Kicked,
            EndReason::Violation,
            EndReason::RoomClosed,
            EndReason::Silent,
            EndReason::SentToMenu,
            EndReason::Left,
            EndReason::TooManyTries,
            EndReason::TooManyRooms,
            EndReason::RoomName,
            EndReason::HostLeft { host: Name::default() },
            EndReason::Stalled,
            EndReason::Matchmaker,
            EndReason::Backlog,
            EndReason::OtherBuild,
            EndReason::Refused(Refusal::new("Red is full. Choose blue.")),
        ]
    }

    /// A new reason does not compile until it has a place here, and in `all`.
    fn place(reason: EndReason) -> usize {
        match reason {
            EndReason::Full => 0,
            EndReason::Protocol { .. } => 1,
            EndReason::GameVersion { .. } => 2,
            EndReason::NoSuchGame => 3,
            EndReason::Banned => 4,
            EndReason::Token => 5,
            EndReason::NoSuchRoom => 6,
            EndReason::Password => 7,
            EndReason::PlaceGivenUp => 8,
            EndReason::TooManyFromAddress => 9,
            EndReason::Stopping => 10,
            EndReason::NoAnswer { .. } => 11,
            EndReason::Unreachable { .. } => 12,
            EndReason::BrokenOff { .. } => 13,
            EndReason::WrongVersion { .. } => 14,
            EndReason::HostSilent { .. } => 15,
            EndReason::NotResponding => 16,
            EndReason::Stopped => 17,
            EndReason::Kicked => 18,
            EndReason::Violation => 19,
            EndReason::RoomClosed => 20,
            EndReason::Silent => 21,
            EndReason::SentToMenu => 22,
            EndReason::Left => 23,
            EndReason::TooManyTries => 24,
            EndReason::TooManyRooms => 25,
            EndReason::RoomName => 26,
            EndReason::HostLeft { .. } => 27,
            EndReason::Stalled => 28,
            EndReason::Matchmaker => 29,
            EndReason::OtherBuild => 31,
            EndReason::Refused(_) => 32,
            EndReason::Backlog => 30,
        }
    }

    #[test]
    fn every_reason_is_one_to_two_plain_sentences_of_its_own() {
        const JARGON: [&str; 12] = [
            "nonce",
            "cookie",
            "ticket",
            "session",
            "datagram",
            "packet",
            "handshake",
            "udp",
            "tcp",
            "socket",
            "timeout",
            "  ",
        ];
        let mut texts = HashSet::new();
        for (index, reason) in all().into_iter().enumerate() {
            assert_eq!(place(reason), index);
            let text = reason.to_string();
            assert!(text.ends_with('.') && text.starts_with(char::is_uppercase), "{text}");
            let sentences = text.matches(". ").count() + 1;
            assert!(sentences <= 2 && text.len() <= 160, "{text}");
            let lower = text.to_lowercase();
            assert!(JARGON.iter().all(|word| !lower.contains(word)), "{text}");
            assert!(texts.insert(text), "{reason:?}");
        }
    }

    #[test]
    fn versions_and_addresses_are_named() {
        let version = EndReason::GameVersion { server: 7, ours: 9 }.to_string();
        assert_eq!(
            version,
            "The server has version 7 of the game, this program has version 9. Ask whoever \
             runs the server to update it, or join another one."
        );
        let newer = EndReason::WrongVersion { server: 3, ours: 1 }.to_string();
        assert!(newer.contains("version 3") && newer.contains("version 1"), "{newer}");
        assert!(newer.ends_with("Update this program."), "{newer}");
        let address = EndReason::NoAnswer { address: ADDRESS }.to_string();
        assert!(address.starts_with("No answer from 192.0.2.1:4300."), "{address}");
    }

    #[test]
    fn who_ends_a_match_is_named() {
        let ended = |name| EndReason::HostLeft { host: Name::new(name) }.to_string();
        assert_eq!(ended("Ann"), "Ann ended the match.");
        assert_eq!(ended(""), "The host ended the match.");
    }

    #[test]
    fn every_rejection_has_its_reason() {
        let reasons = [
            (RejectReason::Full, EndReason::Full),
            (RejectReason::Protocol, EndReason::Protocol { server: 5, ours: native::PROTOCOL }),
            (RejectReason::GameVersion, EndReason::GameVersion { server: 6, ours: 4 }),
            (RejectReason::Game, EndReason::NoSuchGame),
            (RejectReason::Banned, EndReason::Banned),
            (RejectReason::Token, EndReason::Token),
            (RejectReason::Room, EndReason::NoSuchRoom),
            (RejectReason::Password, EndReason::Password),
            (RejectReason::Ticket, EndReason::PlaceGivenUp),
            (RejectReason::Address, EndReason::TooManyFromAddress),
            (RejectReason::Stopping, EndReason::Stopping),
            (RejectReason::Matchmaker, EndReason::Matchmaker),
            (RejectReason::Layout, EndReason::OtherBuild),
            (RejectReason::Refused, EndReason::Refused(Refusal::new("No."))),
        ];
        for (reason, expected) in reasons {
            let reject = Reject {
                nonce: 1,
                reason,
                protocol: 5,
                game_version: 6,
                sentence: Refusal::new("No."),
            };
            assert_eq!(EndReason::from_reject(&reject, 4), expected);
        }
    }

    #[test]
    fn every_close_has_its_reason() {
        let reasons = [
            (CloseReason::Left, EndReason::Left),
            (CloseReason::Silent, EndReason::Silent),
            (CloseReason::Stopping, EndReason::Stopped),
            (CloseReason::Kicked, EndReason::Kicked),
            (CloseReason::Violation, EndReason::Violation),
            (CloseReason::RoomClosed, EndReason::RoomClosed),
            (CloseReason::Banned, EndReason::Banned),
            (CloseReason::HostLeft, EndReason::HostLeft { host: Name::default() }),
            (CloseReason::Backlog, EndReason::Backlog),
        ];
        for (reason, expected) in reasons {
            assert_eq!(EndReason::from(reason), expected);
        }
    }
}
