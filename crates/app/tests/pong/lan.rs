//! The datagrams of Networked Pong, byte by byte: written from its report, not from our code.

use std::io::ErrorKind;
use std::net::{SocketAddr, UdpSocket};

pub(crate) const FIND_HOST: [u8; 1] = [1];
pub(crate) const HELLO_ACK: [u8; 1] = [4];
pub(crate) const UP: i8 = -1;
pub(crate) const STILL: i8 = 0;
pub(crate) const DOWN: i8 = 1;

pub(crate) fn hello(port: u16) -> [u8; 3] {
    let [high, low] = port.to_be_bytes();
    [3, high, low]
}

pub(crate) fn guest_input(y: i8) -> [u8; 4] {
    [5, 0, 0, y as u8]
}

/// STATE_UPDATE.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct State {
    pub(crate) seq: u32,
    pub(crate) p1y: f32,
    pub(crate) p2y: f32,
    pub(crate) ball: (f32, f32),
    pub(crate) velocity: (f32, f32),
    pub(crate) score: [u8; 2],
}

impl State {
    pub(crate) fn decode(bytes: &[u8]) -> State {
        assert_eq!((bytes.len(), bytes[0]), (31, 6), "{bytes:02x?}");
        let float = |at: usize| f32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        State {
            seq: u32::from_be_bytes(bytes[1..5].try_into().unwrap()),
            p1y: float(5),
            p2y: float(9),
            ball: (float(13), float(17)),
            velocity: (float(21), float(25)),
            score: [bytes[29], bytes[30]],
        }
    }

    pub(crate) fn encode(&self) -> [u8; 31] {
        let mut bytes = [0; 31];
        bytes[0] = 6;
        bytes[1..5].copy_from_slice(&self.seq.to_be_bytes());
        let (ball, velocity) = (self.ball, self.velocity);
        let floats = [self.p1y, self.p2y, ball.0, ball.1, velocity.0, velocity.1];
        for (i, float) in floats.into_iter().enumerate() {
            bytes[5 + 4 * i..9 + 4 * i].copy_from_slice(&float.to_le_bytes());
        }
        [bytes[29], bytes[30]] = self.score;
        bytes
    }
}

pub(crate) fn receive(socket: &UdpSocket) -> (Vec<u8>, SocketAddr) {
    let mut buffer = [0; 2048];
    let (len, from) = socket.recv_from(&mut buffer).unwrap();
    (buffer[..len].to_vec(), from)
}

/// Whether nothing has come until now.
pub(crate) fn has_heard_nothing(socket: &UdpSocket) -> bool {
    socket.set_nonblocking(true).unwrap();
    let heard = socket.recv_from(&mut [0; 2048]);
    socket.set_nonblocking(false).unwrap();
    matches!(heard, Err(error) if error.kind() == ErrorKind::WouldBlock)
}
