//! What a player decides before joining.

use std::time::Duration;

use crate::peer::PeerAddr;
use crate::session::Limits;
use crate::typed::Message;
use crate::wire::Name;
use crate::wire::native::{JoinData, Role, Secret, Token};

/// What a player decides before joining.
#[derive(Clone, Debug)]
pub struct ClientConfig {
    /// The server.
    pub server: PeerAddr,
    /// The player's name.
    pub name: Name,
    /// To play or to watch (`native`).
    pub role: Role,
    /// Which room (`native`), by its number in the list of [`Rooms`](super::Rooms); 0 is any.
    pub room: u32,
    /// The room's password (`native`).
    pub password: Name,
    /// The name of a room to make (`native`), instead of entering one that is there: the player is
    /// its host, others need the password if there is one, and it closes when it is empty.
    pub new_room: Option<Name>,
    /// What the operator gave out (`native`, `ack`), at most [`Token::MAX`](crate::wire::native::Token::MAX) bytes.
    pub token: Vec<u8>,
    /// What the player says of itself to the game (`native`): see [`ClientConfig::with_join_data`].
    pub join_data: Vec<u8>,
    /// Where this client's socket is bound, for dialects that name it.
    pub own_port: u16,
    /// When a silent server is worth a sign, and when it is given up.
    pub liveness: Limits,
    /// How many lines of the log are kept for [`Client::poll_line`](super::Client::poll_line); 0 is none.
    pub journal: usize,
    /// Whether the player's own part of the world is predicted (`native`): for whoever looks at it.
    /// A bot that goes by [`Client::state`](super::Client::state) needs none; what it sends is the same.
    pub predicts: bool,
    /// How long a server keeps the place of a player it has dropped (`native`).
    pub resume_for: Duration,
    /// What an earlier run of the program was given (`native`): the way back into its slot, if
    /// that is still kept; else the client joins as someone new.
    pub ticket: Option<Secret>,
}

impl ClientConfig {
    /// What most players want of `server`.
    pub fn new(server: impl Into<PeerAddr>, name: Name) -> Self {
        ClientConfig {
            server: server.into(),
            name,
            role: Role::Play,
            room: 0,
            password: Name::default(),
            new_room: None,
            token: Vec::new(),
            join_data: Vec::new(),
            own_port: 0,
            liveness: Limits::DEFAULT,
            journal: 0,
            predicts: true,
            resume_for: crate::endpoint::RESUME_FOR,
            ticket: None,
        }
    }

    /// The same, and says this of the player to the game, which hears it in
    /// [`Game::admit`](crate::game::Game::admit) and [`Game::join`](crate::game::Game::join).
    ///
    /// # Panics
    /// If it is longer than [`JoinData::MAX`] bytes, or with the token longer than [`Token::MAX`].
    #[must_use]
    pub fn with_join_data(self, data: &impl Message) -> Self {
        let join_data = data.to_vec();
        let most = JoinData::MAX;
        assert!(join_data.len() <= most, "join data has at most {most} bytes");
        let config = ClientConfig { join_data, ..self };
        assert!(config.fits(), "token and join data have at most {} bytes together", Token::MAX);
        config
    }

    /// Whether token and join data fit the least datagram together.
    pub(super) fn fits(&self) -> bool {
        self.token.len() + self.join_data.len() <= Token::MAX
    }
}
