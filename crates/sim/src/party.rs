//! Who takes part in a simulated match: a server, and players that press like people.

use std::time::Duration;

use super::Chance;
use backspin::client::Client;
use backspin::game::{Buttons, Game};
use backspin::node::{Node, Path, StreamAction, StreamEvent, StreamId, StreamNode, Transmit};
use backspin::server::Server;
use backspin::time::Time;

/// A host of a simulated match.
#[derive(Debug)]
pub enum Party<G: Game> {
    /// The server.
    Server(Box<Server<G>>),
    /// A player.
    Player(Box<Player<G>>),
}

/// A client whose buttons are pressed by a bot: it changes its mind two to ten times a second, and
/// where the game has a [bot](Game::stand_in) of its own, it does what that would about half of
/// the time.
#[derive(Debug)]
pub struct Player<G: Game> {
    /// The client.
    pub client: Client<G>,
    chance: Chance,
    next_change: Time,
    /// Until when the game's own bot is asked.
    sane_until: Time,
    presses: u64,
    /// What came while the machine slept; `None` is awake.
    backlog: Option<Vec<(Path, Vec<u8>)>>,
}

/// What a sleeping machine's socket holds; what comes beyond is dropped, as sockets do.
const BACKLOG_LIMIT: usize = 256;

/// A bot holds its buttons for at least and at most so long.
const HOLD_MS: (u64, u64) = (100, 500);

/// The game's own bot is asked so often, about as often as people can change their minds.
const SANE_HOLD: Duration = Duration::from_millis(100);

impl<G: Game> Player<G> {
    /// `client`, played by a bot.
    pub fn new(client: Client<G>, chance: Chance) -> Self {
        let (next_change, sane_until) = (Time::ZERO, Time::ZERO);
        Player { client, chance, next_change, sane_until, presses: 0, backlog: None }
    }

    fn press(&mut self, now: Time) {
        if self.next_change > now {
            return;
        }
        let (least, most) = HOLD_MS;
        let sane = if now < self.sane_until { self.advice() } else { None };
        let buttons = match sane {
            Some(buttons) => {
                self.next_change = now + SANE_HOLD;
                buttons
            }
            None => {
                let hold = Duration::from_millis(least + self.chance.below(most - least));
                self.next_change = now + hold;
                self.sane_until = now + 2 * hold;
                Buttons(self.chance.below(64) as u16)
            }
        };
        self.client.press(buttons);
        self.presses += 1;
    }

    /// What the game's own bot would do.
    fn advice(&self) -> Option<Buttons> {
        let (game, player) = (self.client.game(), self.client.player()?);
        game.stand_in(&game.restore(self.client.state()), player)
    }

    /// Whether the machine sleeps: nothing runs on it.
    pub(super) fn is_asleep(&self) -> bool {
        self.backlog.is_some()
    }

    /// The machine goes to sleep, or wakes `now` and finds what has come.
    pub(super) fn set_asleep(&mut self, now: Time, asleep: bool) {
        match (asleep, self.backlog.take()) {
            (true, backlog) => self.backlog = Some(backlog.unwrap_or_default()),
            (false, backlog) => {
                for (path, mut bytes) in backlog.into_iter().flatten() {
                    self.client.handle_datagram(now, path, &mut bytes);
                }
            }
        }
    }

    /// Keeps a datagram for later if the machine sleeps; says whether it does.
    fn keeps(&mut self, path: Path, bytes: &[u8]) -> bool {
        let Some(backlog) = &mut self.backlog else { return false };
        if backlog.len() < BACKLOG_LIMIT {
            backlog.push((path, bytes.to_vec()));
        }
        true
    }

    /// How often the bot has changed its mind.
    pub fn presses(&self) -> u64 {
        self.presses
    }
}

impl<G: Game> Party<G> {
    fn node(&self) -> &dyn StreamNode {
        match self {
            Party::Server(server) => server,
            Party::Player(player) => &player.client,
        }
    }

    fn node_mut(&mut self) -> &mut dyn StreamNode {
        match self {
            Party::Server(server) => server,
            Party::Player(player) => &mut player.client,
        }
    }
}

impl<G: Game> Node for Party<G> {
    fn handle_datagram(&mut self, now: Time, path: Path, bytes: &mut [u8]) {
        if let Party::Player(player) = self
            && player.keeps(path, bytes)
        {
            return;
        }
        self.node_mut().handle_datagram(now, path, bytes);
    }

    fn handle_timeout(&mut self, now: Time) {
        if let Party::Player(player) = self {
            if player.is_asleep() {
                return;
            }
            player.press(now);
        }
        self.node_mut().handle_timeout(now);
    }

    fn poll_transmit(&mut self, now: Time, out: &mut [u8]) -> Option<Transmit> {
        if matches!(self, Party::Player(player) if player.is_asleep()) {
            return None;
        }
        self.node_mut().poll_transmit(now, out)
    }

    fn poll_timeout(&self) -> Option<Time> {
        let node = self.node().poll_timeout();
        match self {
            Party::Player(player) if player.is_asleep() => None,
            Party::Player(player) => node.map(|due| due.min(player.next_change)),
            Party::Server(_) => node,
        }
    }
}

impl<G: Game> StreamNode for Party<G> {
    fn accepts_streams(&self) -> bool {
        self.node().accepts_streams()
    }

    fn handle_stream(&mut self, now: Time, stream: StreamId, event: StreamEvent<'_>) {
        self.node_mut().handle_stream(now, stream, event);
    }

    fn poll_stream(&mut self, now: Time, out: &mut [u8]) -> Option<(StreamId, StreamAction)> {
        self.node_mut().poll_stream(now, out)
    }
}
