//! A running `backspin serve` with rooms of R-Type.

use std::io::{BufRead, BufReader, Read};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, UdpSocket};
use std::process::{Child, Command, Stdio};
use std::thread::JoinHandle;
use std::time::Duration;

pub(crate) const HERE: Ipv4Addr = Ipv4Addr::LOCALHOST;

/// What never takes so long, even on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// A server; it is killed when a test ends.
pub(crate) struct Server {
    child: Child,
    port: u16,
    stderr: Option<JoinHandle<String>>,
}

impl Server {
    /// One that is ready, with these arguments beside its port.
    pub(crate) fn start(args: &[&str]) -> Self {
        for _ in 0..10 {
            let port = free_port();
            let mut child = Command::new(env!("CARGO_BIN_EXE_backspin"))
                .args(["serve", "--bind", "127.0.0.1", "--native-port", "0", "--lan-port", "0"])
                .arg("--results=")
                .args(["--rtype-port", &port.to_string()])
                .args(args)
                .stdin(Stdio::null())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap();
            let mut errors = child.stderr.take().unwrap();
            let stderr = std::thread::spawn(move || {
                let mut text = String::new();
                errors.read_to_string(&mut text).unwrap();
                text
            });
            let lines = BufReader::new(child.stdout.take().unwrap()).lines();
            let mut server = Server { child, port, stderr: Some(stderr) };
            if lines.map_while(Result::ok).any(|line| line == "Ctrl-C stops it") {
                return server;
            }
            let told = server.end();
            assert!(told.contains("is taken by another program"), "{told}");
        }
        panic!("other programs took every port that was free");
    }

    pub(crate) fn udp(&self) -> SocketAddr {
        (HERE, self.port).into()
    }

    pub(crate) fn tcp(&self) -> SocketAddr {
        (HERE, self.port + 1).into()
    }

    /// Ends it; what it had to tell.
    pub(crate) fn end(&mut self) -> String {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
        self.stderr.take().map(|told| told.join().unwrap()).unwrap_or_default()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.end();
    }
}

/// A port that is free now, with the one above it; another program may take one before we do.
fn free_port() -> u16 {
    loop {
        let socket = UdpSocket::bind((HERE, 0)).unwrap();
        let port = socket.local_addr().unwrap().port();
        let above = port.checked_add(1).map(|above| TcpListener::bind((HERE, above)));
        if let Some(Ok(_)) = above {
            return port;
        }
    }
}
