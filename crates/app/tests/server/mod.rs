//! A running `backspin serve`.
#![allow(dead_code, reason = "not every test needs all of it")]

use std::io::{BufRead, BufReader, Read};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

pub(crate) const HERE: Ipv4Addr = Ipv4Addr::LOCALHOST;

/// What never takes so long, even on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// A folder of its own for what programs keep.
pub(crate) struct Home(PathBuf);

impl Home {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("backspin-serve-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap();
        Home(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// `backspin`, which finds and keeps what is its user's in here.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_backspin"));
        command.args(args).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        for variable in ["HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR"] {
            command.env(variable, &self.0);
        }
        command
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        // What is left behind is in the way of nobody.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A server; it is killed when a test ends.
pub(crate) struct Server {
    child: Child,
    native: u16,
    stderr: Option<JoinHandle<String>>,
}

impl Server {
    /// One that is ready, with these arguments beside its port.
    pub(crate) fn start(home: &Home, args: &[&str]) -> Self {
        for _ in 0..10 {
            let native = free_port();
            if let Ok(server) = Server::start_at(home, native, args) {
                return server;
            }
        }
        panic!("other programs took every port that was free");
    }

    /// One at this port, unless that is taken.
    pub(crate) fn start_at(home: &Home, native: u16, args: &[&str]) -> Result<Self, String> {
        let port = native.to_string();
        let mut command = home.command(&["serve", "--bind", "127.0.0.1", "--native-port", &port]);
        let mut child =
            command.args(["--lan-port", "0", "--rtype-port", "0"]).args(args).spawn().unwrap();
        let mut errors = child.stderr.take().unwrap();
        let stderr = std::thread::spawn(move || {
            let mut text = String::new();
            errors.read_to_string(&mut text).unwrap();
            text
        });
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut server = Server { child, native, stderr: Some(stderr) };
        if lines.map_while(Result::ok).any(|line| line == "Ctrl-C stops it") {
            return Ok(server);
        }
        let told = server.kill();
        assert!(told.contains("is taken by another program"), "{told}");
        Err(told)
    }

    pub(crate) fn native(&self) -> SocketAddr {
        (HERE, self.native).into()
    }

    /// Sends it a signal, by its name.
    pub(crate) fn signal(&self, name: &str) {
        let kill = format!("kill -{name} {}", self.child.id());
        assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
    }

    /// Waits for its end; how it ended and what it had to tell.
    pub(crate) fn wait(mut self) -> (ExitStatus, String) {
        let status = wait(&mut self.child);
        (status, self.kill())
    }

    /// Kills it as nothing can be said against; what it had told.
    pub(crate) fn kill(&mut self) -> String {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
        self.stderr.take().map(|told| told.join().unwrap()).unwrap_or_default()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Waits for the end of a program that ends by itself.
pub(crate) fn wait(child: &mut Child) -> ExitStatus {
    let limit = Instant::now() + PATIENCE;
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status;
        }
        assert!(Instant::now() < limit, "it does not end");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A port that is free now, with the one above it; another program may take one before we do.
pub(crate) fn free_port() -> u16 {
    loop {
        let socket = UdpSocket::bind((HERE, 0)).unwrap();
        let port = socket.local_addr().unwrap().port();
        let above = port.checked_add(1).map(|above| TcpListener::bind((HERE, above)));
        if let Some(Ok(_)) = above {
            return port;
        }
    }
}
