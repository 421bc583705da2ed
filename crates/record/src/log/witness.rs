//! The state of a node in two numbers that recording and replay both compute.

use std::hash::Hasher;

use siphasher::sip::SipHasher24;

use super::super::field::{put_path, put_peer};
use super::entry::Checkpoint;
use backspin::game::Game;
use backspin::node::{StreamAction, StreamId, Transmit};
use backspin::server::Server;

/// Takes all that a node sends, in order.
#[derive(Clone, Debug)]
pub(super) struct Witness {
    sent: SipHasher24,
    /// All before the bytes, gathered first: the hasher is slow on crumbs.
    head: Vec<u8>,
}

/// The key is no secret: a digest guards against mistakes, not against forgers.
const KEY: &[u8; 16] = b"backspin digest.";

impl Witness {
    pub(super) fn new() -> Self {
        Witness { sent: SipHasher24::new_with_key(KEY), head: Vec::new() }
    }

    /// A datagram was sent.
    pub(super) fn transmit(&mut self, transmit: &Transmit, out: &[u8]) {
        self.head.clear();
        self.head.push(0);
        put_path(&mut self.head, transmit.path);
        self.bytes(out.get(..transmit.len).unwrap_or_default());
    }

    /// Something was done to a stream.
    pub(super) fn stream(&mut self, stream: StreamId, action: StreamAction, out: &[u8]) {
        self.head.clear();
        self.head.push(1);
        self.head.extend_from_slice(&stream.0.to_le_bytes());
        match action {
            StreamAction::Open(peer) => {
                self.head.push(0);
                put_peer(&mut self.head, peer);
                self.bytes(&[]);
            }
            StreamAction::Send(len) => {
                self.head.push(1);
                self.bytes(out.get(..len).unwrap_or_default());
            }
            StreamAction::Close => {
                self.head.push(2);
                self.bytes(&[]);
            }
        }
    }

    /// What there is to compare.
    pub(super) fn checkpoint<G: Game>(&self, server: &Server<G>) -> Checkpoint {
        let mut world = SipHasher24::new_with_key(KEY);
        for room in server.rooms() {
            world.write(&room.state().digest().to_le_bytes());
        }
        Checkpoint { sent: self.sent.finish(), world: world.finish() }
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.head.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
        self.sent.write(&self.head);
        self.sent.write(bytes);
    }
}
