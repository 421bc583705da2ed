//! Who takes part in a simulated match: a server, and players that press like people.

use std::time::Duration;

use super::Chance;
use backspin::client::Client;
use backspin::game::{Buttons, Game};
use backspin::node::{Node, Path, StreamAction, StreamEvent, StreamId, StreamNode, Transmit};
use backspin::server::Server;
use backspin::time::Time;
use backspin::typed::{Input, RawInput};

/// A host of a simulated match.
#[derive(Debug)]
pub enum Party<G: Game> {
    /// The server.
    Server(Box<Server<G>>),
    /// A player.
    Player(Box<Player<G>>),
}

/// A client whose buttons are pressed by a bot: it changes its mind two to ten times a second, and
/// where the game has a [bot](Game::bot_input) of its own, it does what that would about half of
/// the time.
#[derive(Debug)]
pub struct Player<G: Game> {
    /// The client.
    pub client: Client<G>,
    mind: Mind,
    presses: u64,
    rest: Rest,
    /// What came meanwhile, and when.
    backlog: Vec<(Time, Path, Vec<u8>)>,
    lateness: Option<(Lateness, Chance)>,
}

/// What a simulated player holds, and when that changes.
#[derive(Clone, Debug)]
pub struct Mind {
    chance: Chance,
    next_change: Time,
    /// Until when the game's own bot is asked.
    sane_until: Time,
}

impl Mind {
    /// One that leaves everything to `chance`.
    pub const fn new(chance: Chance) -> Self {
        Mind { chance, next_change: Time::ZERO, sane_until: Time::ZERO }
    }

    /// When it changes next.
    pub const fn next_change(&self) -> Time {
        self.next_change
    }

    /// What is held from now on, if it is time to change; `advice` is what the game's own bot says.
    pub fn change<I: Input>(&mut self, now: Time, advice: impl FnOnce() -> Option<I>) -> Option<I> {
        if self.next_change > now {
            return None;
        }
        let sane = if now < self.sane_until { advice() } else { None };
        if let Some(input) = sane {
            self.next_change = now + SANE_HOLD;
            return Some(input);
        }
        let (least, most) = HOLD_MS;
        let hold = Duration::from_millis(least + self.chance.below(most - least));
        self.next_change = now + hold;
        self.sane_until = now + 2 * hold;
        Some(wild(&mut self.chance))
    }
}

/// What someone does who has no plan: any of the game's input. Of plain buttons, those that have names.
pub(crate) fn wild<I: Input>(chance: &mut Chance) -> I {
    match I::LAYOUT {
        Buttons::LAYOUT | RawInput::LAYOUT => I::from_bits(chance.below(64).into()),
        _ => any_bits(chance),
    }
}

/// What a peer may send: any bits at all.
pub(crate) fn any_bits<I: Input>(chance: &mut Chance) -> I {
    let bits = match I::BITS {
        bits @ 1..64 => chance.below(1 << bits).into(),
        bits => {
            let all = u128::from(chance.u64()) << 64 | u128::from(chance.u64());
            all >> (u128::BITS - bits.clamp(1, u128::BITS))
        }
    };
    I::from_bits(bits)
}

/// How late a thread wakes on a busy machine. What comes meanwhile lies in its socket.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lateness {
    /// The share of wake-ups that are late.
    pub share: f64,
    /// By up to so much, all equally likely.
    pub most: Duration,
}

/// Whether a player's client is let run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rest {
    Awake,
    /// The whole machine sleeps.
    Asleep,
    /// Only the client's thread is late, until then.
    Late(Time),
}

/// What the socket of a client that is not let run holds; what comes beyond is dropped, as sockets
/// do.
const BACKLOG_LIMIT: usize = 256;

/// A bot holds its buttons for at least and at most so long.
const HOLD_MS: (u64, u64) = (100, 500);

/// The game's own bot is asked so often, about as often as people can change their minds.
const SANE_HOLD: Duration = Duration::from_millis(100);

impl<G: Game> Player<G> {
    /// `client`, played by a bot.
    pub fn new(client: Client<G>, chance: Chance) -> Self {
        Player {
            client,
            mind: Mind::new(chance),
            presses: 0,
            rest: Rest::Awake,
            backlog: Vec::new(),
            lateness: None,
        }
    }

    /// The same on a busy machine.
    #[must_use]
    pub fn with_lateness(self, lateness: Lateness, chance: Chance) -> Self {
        Player { lateness: Some((lateness, chance)), ..self }
    }

    fn press(&mut self, now: Time) {
        let client = &self.client;
        // What the game's own bot would do.
        let advice = || {
            let (game, player) = (client.game(), client.player()?);
            game.bot_input(&game.restore(client.state()), player)
        };
        if let Some(input) = self.mind.change(now, advice) {
            self.client.press(input);
            self.presses += 1;
        }
    }

    /// Whether the machine sleeps: nothing runs on it.
    pub(super) fn is_asleep(&self) -> bool {
        self.rest == Rest::Asleep
    }

    /// The machine goes to sleep, or wakes `now` and finds what has come.
    pub(super) fn set_asleep(&mut self, now: Time, asleep: bool) {
        self.rest = if asleep { Rest::Asleep } else { Rest::Awake };
        if !asleep {
            // Its network slept as well: all of it comes now.
            for (_, path, mut bytes) in self.backlog.drain(..) {
                self.client.handle_datagram(now, path, &mut bytes);
            }
        }
    }

    /// Keeps a datagram for later if the client is not let run; says whether it is not.
    fn keeps(&mut self, now: Time, path: Path, bytes: &[u8]) -> bool {
        self.may_be_late(now);
        if self.rest == Rest::Awake {
            return false;
        }
        if self.backlog.len() < BACKLOG_LIMIT {
            self.backlog.push((now, path, bytes.to_vec()));
        }
        true
    }

    /// There is something to wake for.
    fn may_be_late(&mut self, now: Time) {
        if let (Rest::Awake, Some((lateness, chance))) = (self.rest, &mut self.lateness)
            && chance.unit() < lateness.share
        {
            self.rest = Rest::Late(now + lateness.most.mul_f64(chance.unit()));
        }
    }

    /// A deadline has come. Whether the client is let run; it has been handed what came before.
    fn wakes(&mut self, now: Time) -> bool {
        match self.rest {
            Rest::Awake => {
                self.may_be_late(now);
                self.rest == Rest::Awake
            }
            Rest::Late(until) if until <= now => {
                self.rest = Rest::Awake;
                self.client.handle_wake(now);
                for (came, path, mut bytes) in self.backlog.drain(..) {
                    self.client.handle_datagram(came, path, &mut bytes);
                }
                true
            }
            Rest::Late(_) | Rest::Asleep => false,
        }
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
            && player.keeps(now, path, bytes)
        {
            return;
        }
        self.node_mut().handle_datagram(now, path, bytes);
    }

    fn handle_timeout(&mut self, now: Time) {
        if let Party::Player(player) = self {
            if !player.wakes(now) {
                return;
            }
            player.press(now);
        }
        self.node_mut().handle_timeout(now);
    }

    fn poll_transmit(&mut self, now: Time, out: &mut [u8]) -> Option<Transmit> {
        if matches!(self, Party::Player(player) if player.rest != Rest::Awake) {
            return None;
        }
        self.node_mut().poll_transmit(now, out)
    }

    fn poll_timeout(&self) -> Option<Time> {
        let node = self.node().poll_timeout();
        match self {
            Party::Player(player) => match player.rest {
                Rest::Awake => node.map(|due| due.min(player.mind.next_change())),
                Rest::Asleep => None,
                Rest::Late(until) => Some(until),
            },
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
