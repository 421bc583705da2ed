//! A match from one player's side: on this machine alone, hosted here, or as a guest.

use backspin::channel::Delivery;
use backspin::chat::ChatError;
use backspin::client::{Client, Frame};
use backspin::game::{Buttons, Game, PlayerId};
use backspin::host::Host;
use backspin::local::Local;
use backspin::node::{Node, Path, StreamAction, StreamEvent, StreamId, StreamNode, Transmit};
use backspin::replication::State;
use backspin::time::Time;
use backspin::typed::{Message, RawInput};
use backspin::wire::native::CloseReason;
use backspin::wire::native::has_shape;
use backspin_classic::ClassicGame;

use super::fallback::{Fallback, LOOK_AFTER};

/// Where a player sits.
#[derive(Debug)]
pub(crate) enum Seat<G: Game> {
    /// A match on this machine alone.
    Local(Box<Local<G>>),
    /// A match that others can join.
    Host(Box<Host<G>>),
    /// At someone else's.
    Guest {
        client: Box<Client<G>>,
        /// When it began to ask.
        began: Time,
        fallback: Option<Box<Fallback<G>>>,
    },
}

impl<G: Game> Seat<G> {
    /// The rules.
    pub(crate) fn game(&self) -> &G {
        match self {
            Seat::Local(local) => local.game(),
            Seat::Host(host) => host.client().game(),
            Seat::Guest { client, .. } => client.game(),
        }
    }

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

    /// What a player holds. Only a match on this machine alone has other players than oneself.
    pub(crate) fn press(&mut self, player: PlayerId, buttons: Buttons) {
        match self {
            Seat::Local(local) => local.press(player, RawInput::of(buttons).read()),
            _ => self
                .client_mut()
                .into_iter()
                .for_each(|client| client.press(RawInput::of(buttons).read())),
        }
    }

    /// What a player says to the game. Whether it could be said.
    pub(crate) fn say(&mut self, player: PlayerId, words: &[u8]) -> bool {
        let Ok(message) = G::Message::read(words) else { return false };
        match self {
            Seat::Local(local) => local.say(player, message),
            _ => {
                return self
                    .client_mut()
                    .is_some_and(|client| client.send(&message, Delivery::Reliable).is_ok());
            }
        }
        true
    }

    /// Writes a line of chat.
    pub(crate) fn chat(&mut self, now: Time, text: &str) -> Result<(), ChatError> {
        self.client_mut().map_or(Err(ChatError::Off), |client| client.chat(now, text))
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

    /// Whether a guest has asked for a while and heard nothing.
    pub(crate) fn is_unanswered(&self, now: Time) -> bool {
        match self {
            Seat::Guest { client, began, .. } => {
                !client.has_answer() && now.since(*began) >= LOOK_AFTER
            }
            _ => false,
        }
    }

    fn node(&self) -> Option<&dyn StreamNode> {
        match self {
            Seat::Local(_) => None,
            Seat::Host(host) => Some(host.as_ref()),
            Seat::Guest { client, .. } => Some(client.as_ref()),
        }
    }

    fn fallback_mut(&mut self) -> Option<&mut Fallback<G>> {
        match self {
            Seat::Guest { fallback, .. } => fallback.as_deref_mut(),
            _ => None,
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

impl<G: ClassicGame> Node for Seat<G> {
    fn handle_datagram(&mut self, now: Time, path: Path, bytes: &mut [u8]) {
        if let Seat::Guest { fallback: Some(fallback), .. } = self
            && !has_shape(bytes)
        {
            fallback.handle_datagram(now, path, bytes);
        } else if let Some(node) = self.node_mut() {
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
            Seat::Guest { client, fallback, .. } => {
                fallback.take_if(|it| it.handle_timeout(now, client));
                client.handle_timeout(now);
            }
        }
    }

    fn poll_transmit(&mut self, now: Time, out: &mut [u8]) -> Option<Transmit> {
        let transmit = self.node_mut()?.poll_transmit(now, out);
        transmit.or_else(|| self.fallback_mut()?.poll_transmit(now, out))
    }

    fn poll_timeout(&self) -> Option<Time> {
        match self {
            Seat::Local(local) => local.poll_timeout(),
            Seat::Host(host) => host.poll_timeout(),
            Seat::Guest { client, fallback, .. } => {
                let fallback = fallback.as_ref().and_then(|fallback| fallback.poll_timeout());
                client.poll_timeout().into_iter().chain(fallback).min()
            }
        }
    }
}

impl<G: ClassicGame> StreamNode for Seat<G> {
    fn accepts_streams(&self) -> bool {
        self.node().is_some_and(StreamNode::accepts_streams)
    }

    fn handle_stream(&mut self, now: Time, stream: StreamId, event: StreamEvent<'_>) {
        if let Some(fallback) = self.fallback_mut() {
            fallback.handle_stream(now, stream, event);
        } else if let Some(node) = self.node_mut() {
            node.handle_stream(now, stream, event);
        }
    }

    fn poll_stream(&mut self, now: Time, out: &mut [u8]) -> Option<(StreamId, StreamAction)> {
        match self.fallback_mut() {
            Some(fallback) => fallback.poll_stream(now, out),
            None => self.node_mut()?.poll_stream(now, out),
        }
    }
}
