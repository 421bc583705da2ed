//! A client of nothing but sockets and bytes, and what it was told.

use std::collections::BTreeMap;
use std::io::{ErrorKind, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpStream, UdpSocket};
use std::time::{Duration, Instant};

use crate::server::{HERE, PATIENCE, Server};

/// Types of packets.
pub(crate) const STATE: u8 = 4;
pub(crate) const DESPAWN: u8 = 6;
pub(crate) const PING: u8 = 7;
pub(crate) const ROSTER: u8 = 9;
pub(crate) const LIVES: u8 = 10;
pub(crate) const SCORE: u8 = 11;
pub(crate) const LOBBY: u8 = 12;

pub(crate) const HELLO_ACK: &[u8] = &[0, 0, 2, 1];
pub(crate) const START_MATCH: &[u8] = &[0, 0, 14, 1];
pub(crate) const DISCONNECT: &[u8] = &[0, 0, 16, 1];

/// Buttons.
pub(crate) const UP: u8 = 1;
pub(crate) const DOWN: u8 = 2;
pub(crate) const RIGHT: u8 = 8;
pub(crate) const SHOOT: u8 = 16;

/// Kinds of entities.
pub(crate) const SHIP: u8 = 1;
pub(crate) const ENEMY: u8 = 2;
pub(crate) const BULLET: u8 = 3;

/// What the TCP step gave.
pub(crate) struct Ticket {
    pub(crate) stream: TcpStream,
    pub(crate) token: [u8; 4],
    pub(crate) name: &'static [u8; 5],
}

/// One thing in a State.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entity {
    pub(crate) id: u32,
    pub(crate) kind: u8,
    pub(crate) x: f32,
    pub(crate) y: f32,
}

/// A socket that talks to the server, and the newest that it was told.
pub(crate) struct Player {
    socket: UdpSocket,
    inputs: u32,
    /// Everything of the newest State.
    pub(crate) world: Vec<Entity>,
    /// Who is there, with lives.
    pub(crate) roster: Vec<(u32, u8)>,
    /// Lives and scores as they were told by themselves; player 0 is the team.
    pub(crate) lives: BTreeMap<u32, u8>,
    pub(crate) scores: BTreeMap<u32, i32>,
    /// The newest LobbyStatus: host, base lives, difficulty, started.
    pub(crate) lobby: Option<(u32, u8, u8, u8)>,
    pub(crate) despawned: Vec<u32>,
    pub(crate) pings: u32,
    pub(crate) longest: usize,
}

/// Does the TCP step.
pub(crate) fn tcp_step(server: &Server, name: &'static [u8; 5]) -> Ticket {
    let mut stream = TcpStream::connect(server.rtype_tcp()).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut welcome = [0; 4];
    stream.read_exact(&mut welcome).unwrap();
    assert_eq!(&welcome, b"\0\0\x64\x01");
    stream.write_all(&[b"\x05\0\x01\x01", &name[..]].concat()).unwrap();
    let mut ack = [0; 10];
    stream.read_exact(&mut ack).unwrap();
    assert_eq!(ack[..4], *b"\x06\0\x02\x01");
    assert_eq!(ack[4..6], server.rtype().port().to_le_bytes());
    let token = [ack[6], ack[7], ack[8], ack[9]];
    assert_ne!(token, [0; 4]);
    Ticket { stream, token, name }
}

impl Ticket {
    /// The UDP Hello with the token.
    pub(crate) fn hello(&self) -> Vec<u8> {
        [b"\x14\0\x01\x01", &self.token[..], self.name, &[0; 11]].concat()
    }
}

impl Player {
    /// A stranger yet.
    pub(crate) fn new(server: &Server) -> Self {
        Player::from(HERE.into(), server)
    }

    /// A stranger at another address of this machine.
    pub(crate) fn from(ip: IpAddr, server: &Server) -> Self {
        let socket = UdpSocket::bind((ip, 0)).unwrap();
        socket.connect(server.rtype()).unwrap();
        Player {
            socket,
            inputs: 0,
            world: Vec::new(),
            roster: Vec::new(),
            lives: BTreeMap::new(),
            scores: BTreeMap::new(),
            lobby: None,
            despawned: Vec::new(),
            pings: 0,
            longest: 0,
        }
    }

    /// Both steps, and the first that is told.
    pub(crate) fn join(server: &Server, name: &'static [u8; 5]) -> (Self, Ticket) {
        let ticket = tcp_step(server, name);
        let mut player = Player::new(server);
        player.enter(&ticket);
        (player, ticket)
    }

    /// Says Hello and waits until everything that follows it is there.
    pub(crate) fn enter(&mut self, ticket: &Ticket) {
        self.send(&ticket.hello());
        assert_eq!(self.receive(), HELLO_ACK);
        self.until("world, roster and lobby", |player| {
            !player.world.is_empty() && !player.roster.is_empty() && player.lobby.is_some()
        });
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.socket.local_addr().unwrap()
    }

    pub(crate) fn send(&self, bytes: &[u8]) {
        self.socket.send(bytes).unwrap();
    }

    pub(crate) fn hold(&mut self, bits: u8) {
        let input = [&[5, 0, 3, 1], &self.inputs.to_le_bytes()[..], &[bits]].concat();
        self.inputs += 1;
        self.send(&input);
    }

    /// The next datagram, whatever it is; what it tells is remembered.
    #[track_caller]
    pub(crate) fn receive(&mut self) -> Vec<u8> {
        self.receive_within(PATIENCE).expect("a datagram comes")
    }

    pub(crate) fn receive_within(&mut self, time: Duration) -> Option<Vec<u8>> {
        self.socket.set_read_timeout(Some(time.max(Duration::from_millis(1)))).unwrap();
        let mut buffer = [0; 2048];
        match self.socket.recv(&mut buffer) {
            Ok(len) => {
                self.hear(&buffer[..len]);
                Some(buffer[..len].to_vec())
            }
            Err(error) => {
                let kind = error.kind();
                assert!(matches!(kind, ErrorKind::WouldBlock | ErrorKind::TimedOut), "{error}");
                None
            }
        }
    }

    /// Listens until something is so, in time.
    #[track_caller]
    pub(crate) fn until(&mut self, what: &str, is_so: impl Fn(&Player) -> bool) {
        let limit = Instant::now() + PATIENCE;
        while !is_so(self) {
            assert!(Instant::now() < limit, "no {what}");
            self.receive();
        }
    }

    /// Listens for so long; how many datagrams of this type came.
    pub(crate) fn listen(&mut self, time: Duration, kind: u8) -> usize {
        let limit = Instant::now() + time;
        let mut count = 0;
        while let Some(left) = limit.checked_duration_since(Instant::now()) {
            let came = self.receive_within(left);
            count += usize::from(came.is_some_and(|bytes| bytes[2] == kind));
        }
        count
    }

    /// What is sent gets no answer: the next that comes is the Pong of a later Ping.
    #[track_caller]
    pub(crate) fn gets_silence(&mut self, bytes: &[u8]) {
        self.send(bytes);
        self.send(b"\x08\0\x07\x01\x05\0\0\0\x39\x30\0\0");
        assert_eq!(self.receive(), b"\x08\0\x08\x01\x05\0\0\0\x39\x30\0\0", "after {bytes:02x?}");
    }

    pub(crate) fn ship(&self, id: u32) -> Option<Entity> {
        self.world.iter().copied().find(|entity| entity.kind == SHIP && entity.id == id)
    }

    /// Remembers what a datagram tells, and answers pings.
    fn hear(&mut self, bytes: &[u8]) {
        self.longest = self.longest.max(bytes.len());
        assert_eq!(usize::from(u16_at(bytes, 0)), bytes.len() - 4, "the size");
        assert_eq!(bytes[3], 1, "the version");
        let body = &bytes[4..];
        match bytes[2] {
            STATE => {
                let count = usize::from(u16_at(body, 0));
                assert_eq!(body.len(), 2 + 25 * count);
                self.world = body[2..].chunks(25).map(Entity::read).collect();
            }
            DESPAWN => self.despawned.push(u32_at(body, 0)),
            PING => {
                self.pings += 1;
                self.send(&[&[8, 0, 8, 1], body].concat());
            }
            ROSTER => {
                assert_eq!(body.len(), 1 + 21 * usize::from(body[0]));
                self.roster = body[1..].chunks(21).map(|of| (u32_at(of, 0), of[4])).collect();
            }
            LIVES => drop(self.lives.insert(u32_at(body, 0), body[4])),
            SCORE => drop(self.scores.insert(u32_at(body, 0), u32_at(body, 4) as i32)),
            LOBBY => self.lobby = Some((u32_at(body, 0), body[4], body[5], body[6])),
            _ => {}
        }
    }
}

impl Entity {
    fn read(bytes: &[u8]) -> Self {
        let float = |at| f32::from_bits(u32_at(bytes, at));
        Entity { id: u32_at(bytes, 0), kind: bytes[4], x: float(5), y: float(9) }
    }
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes(bytes[at..at + 2].try_into().unwrap())
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
}
