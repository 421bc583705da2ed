//! The match, from where this player sits: on this machine alone, hosted here, or as a guest.

use std::time::Duration;

use backspin::client::{Client, ClientConfig, Frame};
use backspin::game::{Buttons, Game, PlayerId};
use backspin::host::Host;
use backspin::local::Local;
use backspin::node::{Node, Path, StreamAction, StreamEvent, StreamId, StreamNode, Transmit};
use backspin::replica::State;
use backspin::time::Time;
use backspin::wire::native::CloseReason;

/// Where a player sits.
#[derive(Debug)]
pub(crate) enum Seat<G: Game> {
    /// At a table of this machine alone.
    Local(Box<Local<G>>),
    /// At a table that others come to.
    Host(Box<Host<G>>),
    /// At someone else's.
    Guest { client: Box<Client<G>>, fallback: Option<Box<Fallback>> },
}

/// How to ask if nobody answers the first way.
#[derive(Debug)]
pub(crate) struct Fallback {
    pub(crate) at: Time,
    pub(crate) config: ClientConfig,
    pub(crate) seed: [u8; 32],
}

impl Fallback {
    /// An old program is asked after a second without an answer.
    pub(crate) const AFTER: Duration = Duration::from_secs(1);
}

impl<G: Game> Seat<G> {
    /// The connection, where there is one.
    pub(crate) fn client(&self) -> Option<&Client<G>> {
        match self {
            Seat::Local(_) => None,
            Seat::Host(host) => Some(host.client()),
            Seat::Guest { client, .. } => Some(client),
        }
    }

    pub(crate) fn client_mut(&mut self) -> Option<&mut Client<G>> {
        match self {
            Seat::Local(_) => None,
            Seat::Host(host) => Some(host.client_mut()),
            Seat::Guest { client, .. } => Some(client),
        }
    }

    /// What a player holds; who is not at a table of this machine alone is always oneself.
    pub(crate) fn press(&mut self, player: PlayerId, buttons: Buttons) {
        match self {
            Seat::Local(local) => local.press(player, buttons),
            _ => self.client_mut().into_iter().for_each(|client| client.press(buttons)),
        }
    }

    /// What a player says to the game. Whether it could be said.
    pub(crate) fn say(&mut self, player: PlayerId, words: &[u8]) -> bool {
        match self {
            Seat::Local(local) => {
                local.say(player, words);
                true
            }
            _ => self.client_mut().is_some_and(|client| client.send(words)),
        }
    }

    /// What is on the screen.
    pub(crate) fn draw(&mut self, now: Time, frame: &mut Frame) {
        match self {
            Seat::Local(local) => local.draw(now, frame),
            _ => self.client_mut().into_iter().for_each(|client| client.draw(now, frame)),
        }
    }

    /// The newest that is known of the match.
    pub(crate) fn state(&self) -> &State {
        match self {
            Seat::Local(local) => local.state(),
            Seat::Host(host) => host.client().state(),
            Seat::Guest { client, .. } => client.state(),
        }
    }

    /// Says goodbye to everyone.
    pub(crate) fn leave(&mut self) {
        match self {
            Seat::Local(_) => {}
            Seat::Host(host) => host.server_mut().close(CloseReason::HostLeft),
            Seat::Guest { client, .. } => client.leave(),
        }
    }

    fn node(&self) -> Option<&dyn StreamNode> {
        match self {
            Seat::Local(_) => None,
            Seat::Host(host) => Some(host.as_ref()),
            Seat::Guest { client, .. } => Some(client.as_ref()),
        }
    }

    fn node_mut(&mut self) -> Option<&mut dyn StreamNode> {
        match self {
            Seat::Local(_) => None,
            Seat::Host(host) => Some(host.as_mut()),
            Seat::Guest { client, .. } => Some(client.as_mut()),
        }
    }
}

impl<G: Game> Node for Seat<G> {
    fn handle_datagram(&mut self, now: Time, path: Path, bytes: &mut [u8]) {
        if let Some(node) = self.node_mut() {
            node.handle_datagram(now, path, bytes);
        }
    }

    fn handle_wake(&mut self, now: Time) {
        if let Some(node) = self.node_mut() {
            node.handle_wake(now);
        }
    }

    fn handle_timeout(&mut self, now: Time) {
        match self {
            Seat::Local(local) => local.handle_timeout(now),
            Seat::Host(host) => host.handle_timeout(now),
            Seat::Guest { client, fallback } => {
                let unanswered = !client.has_answer();
                if let Some(next) = fallback.take_if(|next| next.at <= now)
                    && unanswered
                {
                    let Fallback { config, seed, .. } = *next;
                    **client = Client::new(now, client.game().clone(), config, seed);
                }
                client.handle_timeout(now);
            }
        }
    }

    fn poll_transmit(&mut self, now: Time, out: &mut [u8]) -> Option<Transmit> {
        self.node_mut()?.poll_transmit(now, out)
    }

    fn poll_timeout(&self) -> Option<Time> {
        match self {
            Seat::Local(local) => local.poll_timeout(),
            Seat::Host(host) => host.poll_timeout(),
            Seat::Guest { client, fallback } => {
                let fallback = fallback.as_ref().map(|next| next.at);
                client.poll_timeout().into_iter().chain(fallback).min()
            }
        }
    }
}

impl<G: Game> StreamNode for Seat<G> {
    fn accepts_streams(&self) -> bool {
        self.node().is_some_and(StreamNode::accepts_streams)
    }

    fn handle_stream(&mut self, now: Time, stream: StreamId, event: StreamEvent<'_>) {
        if let Some(node) = self.node_mut() {
            node.handle_stream(now, stream, event);
        }
    }

    fn poll_stream(&mut self, now: Time, out: &mut [u8]) -> Option<(StreamId, StreamAction)> {
        self.node_mut()?.poll_stream(now, out)
    }
}
