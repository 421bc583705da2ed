//! Nothing but sockets: a call for each datagram, or for many.

use std::io;
use std::mem;
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::AsRawFd;
use std::ptr;

use super::{ready_at, socket};
use crate::control::Ready;
use crate::crowd::{self, Trail};
use crate::server::{self, Done};
use crate::{INPUT_LEN, SNAPSHOT_LEN};

/// Datagrams in a call.
const BATCH: usize = 64;

/// A server that knows its clients by the number in their inputs.
pub(super) struct Host {
    socket: UdpSocket,
    calls: Calls,
    clients: Vec<Option<SocketAddr>>,
    tick: u32,
    done: Done,
}

/// How many datagrams a call has.
enum Calls {
    One,
    Many(Box<Batch>),
}

/// What calls for many datagrams read and write.
struct Batch {
    names: [libc::sockaddr_in; BATCH],
    inputs: [[u8; 64]; BATCH],
}

impl Host {
    pub(super) fn new(batched: bool) -> io::Result<Self> {
        let calls = match batched {
            true => Calls::Many(Box::new(Batch {
                // SAFETY: all zeroes is an address.
                names: unsafe { mem::zeroed() },
                inputs: [[0; 64]; BATCH],
            })),
            false => Calls::One,
        };
        Ok(Host { socket: socket()?, calls, clients: Vec::new(), tick: 0, done: Done::default() })
    }

    pub(super) fn ready(&self) -> io::Result<Ready> {
        Ok(ready_at(self.socket.local_addr()?))
    }
}

impl server::Host for Host {
    fn tick(&mut self) {
        self.tick += 1;
        let snapshot = crowd::snapshot(self.tick);
        let (clients, done) = (&mut self.clients, &mut self.done);
        let mut take = |from: SocketAddr, input: &[u8]| {
            let (INPUT_LEN, Some(number)) = (input.len(), input.first_chunk()) else { return };
            let number = u32::from_be_bytes(*number) as usize;
            if clients.len() <= number {
                clients.resize(number + 1, None);
            }
            clients[number] = Some(from);
            done.inputs += 1;
        };
        match &mut self.calls {
            Calls::One => {
                let mut input = [0; 64];
                while let Ok((len, from)) = self.socket.recv_from(&mut input) {
                    take(from, &input[..len]);
                }
                for &client in self.clients.iter().flatten() {
                    let sent = self.socket.send_to(&snapshot, client);
                    self.done.snapshots += u64::from(sent.is_ok());
                }
            }
            Calls::Many(batch) => {
                while batch.receive(&self.socket, &mut take) == BATCH {}
                let mut clients = self.clients.iter().flatten();
                loop {
                    let sent = batch.send(&self.socket, &snapshot, &mut clients);
                    self.done.snapshots += sent as u64;
                    if sent < BATCH {
                        break;
                    }
                }
            }
        }
    }

    fn done(&self) -> Done {
        self.done
    }
}

impl Batch {
    fn receive(&mut self, socket: &UdpSocket, take: &mut impl FnMut(SocketAddr, &[u8])) -> usize {
        let mut vectors = self
            .inputs
            .each_mut()
            .map(|input| libc::iovec { iov_base: input.as_mut_ptr().cast(), iov_len: input.len() });
        let mut headers: [libc::mmsghdr; BATCH] = headers(&mut self.names, &mut vectors);
        // SAFETY: each header points to its own name, vector and buffer, alive and as long as
        // told.
        let count = unsafe {
            libc::recvmmsg(
                socket.as_raw_fd(),
                headers.as_mut_ptr(),
                BATCH as u32,
                libc::MSG_DONTWAIT,
                ptr::null_mut(),
            )
        };
        let count = usize::try_from(count).unwrap_or(0);
        for ((name, input), header) in self.names.iter().zip(&self.inputs).zip(&headers).take(count)
        {
            let ip = std::net::Ipv4Addr::from(u32::from_be(name.sin_addr.s_addr));
            let from = (ip, u16::from_be(name.sin_port)).into();
            take(from, &input[..header.msg_len as usize]);
        }
        count
    }

    fn send<'a>(
        &mut self,
        socket: &UdpSocket,
        snapshot: &[u8; SNAPSHOT_LEN],
        clients: &mut impl Iterator<Item = &'a SocketAddr>,
    ) -> usize {
        let mut vectors =
            [libc::iovec { iov_base: snapshot.as_ptr().cast_mut().cast(), iov_len: SNAPSHOT_LEN };
                BATCH];
        let mut count = 0;
        for (name, client) in self.names.iter_mut().zip(clients) {
            if let SocketAddr::V4(client) = client {
                name.sin_family = libc::AF_INET as u16;
                name.sin_port = client.port().to_be();
                name.sin_addr.s_addr = u32::from(*client.ip()).to_be();
                count += 1;
            }
        }
        let mut headers: [libc::mmsghdr; BATCH] = headers(&mut self.names, &mut vectors);
        // SAFETY: as above; the kernel only reads what is sent.
        let sent = unsafe {
            libc::sendmmsg(
                socket.as_raw_fd(),
                headers.as_mut_ptr(),
                count as u32,
                libc::MSG_DONTWAIT,
            )
        };
        usize::try_from(sent).unwrap_or(0)
    }
}

fn headers(
    names: &mut [libc::sockaddr_in; BATCH],
    vectors: &mut [libc::iovec; BATCH],
) -> [libc::mmsghdr; BATCH] {
    // SAFETY: all zeroes is a header without anything.
    let mut headers: [libc::mmsghdr; BATCH] = unsafe { mem::zeroed() };
    for ((header, name), vector) in headers.iter_mut().zip(names).zip(vectors) {
        header.msg_hdr.msg_name = ptr::from_mut(name).cast();
        header.msg_hdr.msg_namelen = size_of::<libc::sockaddr_in>() as u32;
        header.msg_hdr.msg_iov = vector;
        header.msg_hdr.msg_iovlen = 1;
    }
    headers
}

/// Clients with a socket each.
pub(super) struct Crowd {
    sockets: Vec<UdpSocket>,
    trails: Vec<Trail>,
}

impl Crowd {
    pub(super) fn new(server: SocketAddr, clients: usize) -> io::Result<Self> {
        let connect = |_| {
            let socket = socket()?;
            socket.connect(server)?;
            Ok(socket)
        };
        let sockets = (0..clients).map(connect).collect::<io::Result<Vec<_>>>()?;
        Ok(Crowd { sockets, trails: vec![Trail::default(); clients] })
    }
}

impl crowd::Crowd for Crowd {
    fn tick(&mut self) {
        let mut bytes = [0; SNAPSHOT_LEN];
        for (number, (socket, trail)) in self.sockets.iter().zip(&mut self.trails).enumerate() {
            while let Ok(len) = socket.recv(&mut bytes) {
                trail.see_bytes(&bytes[..len]);
            }
            // A server that has just ended refuses it.
            let _ = socket.send(&crowd::input(number));
        }
    }

    fn trails(&mut self) -> &mut [Trail] {
        &mut self.trails
    }
}
