//! A server and a player of its own in one node: who hosts a match plays in it, too.
//!
//! The player is a [`Client`] like any other. What it and the server say to each other goes
//! through memory, on a path that no socket has; everything else goes out and comes in as for the
//! server alone.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use crate::client::{Client, ClientConfig};
use crate::game::Game;
use crate::node::{Node, Path, StreamAction, StreamEvent, StreamId, StreamNode, Transmit};
use crate::peer::PeerAddr;
use crate::server::Server;
use crate::time::Time;
use crate::wire::Name;

/// The address of both ends of the way through memory: nothing comes from there by socket.
const INSIDE: PeerAddr = PeerAddr::socket(SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), 0));

/// A loop has fewer sockets than this.
const NO_SOCKET: u8 = u8::MAX;

/// A server, and one who plays on it.
#[derive(Debug)]
pub struct Host<G: Game> {
    server: Server<G>,
    client: Client<G>,
    path: Path,
}

impl<G: Game> Host<G> {
    /// Lets `name` play on `server`, whose rooms are open. `seed` must come from the system's
    /// generator.
    pub fn new(now: Time, server: Server<G>, game: G, name: Name, seed: [u8; 32]) -> Self {
        let config = ClientConfig::new(INSIDE, name);
        let client = Client::new(now, game, config, seed);
        let path = Path { socket: NO_SOCKET, local: None, remote: INSIDE };
        Host { server, client, path }
    }

    /// The server.
    pub fn server(&self) -> &Server<G> {
        &self.server
    }

    /// The server, to be asked for events or closed.
    pub fn server_mut(&mut self) -> &mut Server<G> {
        &mut self.server
    }

    /// Who plays on it.
    pub fn client(&self) -> &Client<G> {
        &self.client
    }

    /// Who plays on it, to press and draw.
    pub fn client_mut(&mut self) -> &mut Client<G> {
        &mut self.client
    }
}

impl<G: Game> Node for Host<G> {
    fn handle_datagram(&mut self, now: Time, path: Path, bytes: &mut [u8]) {
        self.server.handle_datagram(now, path, bytes);
    }

    fn handle_wake(&mut self, now: Time) {
        self.client.handle_wake(now);
    }

    fn handle_timeout(&mut self, now: Time) {
        // The player first: its input is for the tick that the server is about to step.
        self.client.handle_timeout(now);
        self.server.handle_timeout(now);
    }

    fn poll_transmit(&mut self, now: Time, out: &mut [u8]) -> Option<Transmit> {
        loop {
            while let Some(transmit) = self.client.poll_transmit(now, out) {
                self.server.handle_datagram(now, self.path, &mut out[..transmit.len]);
            }
            let transmit = self.server.poll_transmit(now, out)?;
            if transmit.path != self.path {
                return Some(transmit);
            }
            self.client.handle_datagram(now, self.path, &mut out[..transmit.len]);
        }
    }

    fn poll_timeout(&self) -> Option<Time> {
        self.client.poll_timeout().into_iter().chain(self.server.poll_timeout()).min()
    }
}

/// Only the server has streams: the player speaks `native`.
impl<G: Game> StreamNode for Host<G> {
    fn accepts_streams(&self) -> bool {
        self.server.accepts_streams()
    }

    fn handle_stream(&mut self, now: Time, stream: StreamId, event: StreamEvent<'_>) {
        self.server.handle_stream(now, stream, event);
    }

    fn poll_stream(&mut self, now: Time, out: &mut [u8]) -> Option<(StreamId, StreamAction)> {
        self.server.poll_stream(now, out)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::client::Frame;
    use crate::dot::Dots;
    use crate::endpoint::EndpointConfig;
    use crate::game::{Buttons, PlayerId};
    use crate::room::RoomConfig;

    /// A host with one room, run for `span`; nothing leaves it.
    fn run(host: &mut Host<Dots>, from: Time, span: Duration) -> Time {
        let mut out = [0; 2048];
        let mut now = from;
        while now < from + span {
            assert!(host.poll_transmit(now, &mut out).is_none());
            now = host.poll_timeout().unwrap().max(now);
            host.handle_timeout(now);
        }
        assert!(host.poll_transmit(now, &mut out).is_none());
        now
    }

    fn host() -> Host<Dots> {
        let mut server = Server::new(EndpointConfig::default(), [1; 32]);
        let name = Name::new("Room");
        server.open(Time::ZERO, Dots::default(), name, 1, RoomConfig::default());
        Host::new(Time::ZERO, server, Dots::default(), Name::new("Ann"), [2; 32])
    }

    #[test]
    fn who_hosts_is_the_first_player_and_plays_with_hardly_a_delay() {
        let mut host = host();
        let now = run(&mut host, Time::ZERO, Duration::from_secs(3));
        assert_eq!(host.client().player(), Some(PlayerId(1)));
        host.client_mut().press(Buttons::RIGHT);
        let before = host.server().rooms()[0].world().dots[0].x;
        let now = run(&mut host, now, Duration::from_millis(100));
        assert!(host.server().rooms()[0].world().dots[0].x > before);
        let lead = host.client().ahead_tick(now).unwrap() - host.server().rooms()[0].ticks_at(now);
        assert!(lead < 2.5, "{lead} ticks ahead of itself");
        let mut frame = Frame::default();
        host.client_mut().draw(now, &mut frame);
        assert_eq!(frame.entities.len(), 1);
    }

    #[test]
    fn every_input_of_who_hosts_is_on_time() {
        let mut host = host();
        let now = run(&mut host, Time::ZERO, Duration::from_secs(3));
        let missing = |host: &Host<Dots>| {
            host.server().rooms()[0].members().map(|member| member.ticks_without_input).sum::<u64>()
        };
        let before = missing(&host);
        run(&mut host, now, Duration::from_secs(10));
        assert_eq!(missing(&host), before);
    }

    #[test]
    fn nobody_outside_speaks_for_the_player_inside() {
        let mut host = host();
        let now = run(&mut host, Time::ZERO, Duration::from_secs(1));
        let before = *host.client().counts();
        let outside = Path { socket: 0, local: None, remote: INSIDE };
        host.handle_datagram(now, outside, &mut [1, 0x04, 0, 0, 0, 0, 0, 0, 1]);
        assert_eq!(*host.client().counts(), before);
        assert_eq!(host.server().rooms()[0].members().count(), 1);
    }
}
