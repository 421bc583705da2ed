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
        for variable in
            ["HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR", "XDG_STATE_HOME"]
        {
            command.env(variable, &self.0);
        }
        command
    }

    /// `backspin serve` at these ports.
    pub(crate) fn serve(&self, ports: Ports) -> Command {
        let Ports { native, lan, rtype } = ports;
        let mut command = self.command(&["serve", "--bind", "127.0.0.1"]);
        for (flag, port) in [("native", native), ("lan", lan), ("rtype", rtype)] {
            command.args([format!("--{flag}-port"), port.to_string()]);
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

/// Sends a process a signal.
pub(crate) fn signal(process: u32, name: &str) {
    let kill = format!("kill -{name} {process}");
    assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
}

/// Where a server listens; 0 is nowhere.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ports {
    pub(crate) native: u16,
    pub(crate) lan: u16,
    pub(crate) rtype: u16,
}

/// Ports that are free now; another program may take one before the server does.
impl Ports {
    pub(crate) fn native() -> Self {
        Ports { native: free_port(), ..Ports::default() }
    }

    pub(crate) fn rtype() -> Self {
        Ports { rtype: free_port(), ..Ports::default() }
    }

    pub(crate) fn all() -> Self {
        let sockets = [(); 2].map(|()| UdpSocket::bind((HERE, 0)).unwrap());
        let [native, lan] = sockets.each_ref().map(|socket| socket.local_addr().unwrap().port());
        Ports { native, lan, rtype: free_port() }
    }
}

/// A server; it is killed when a test ends.
pub(crate) struct Server {
    child: Child,
    pub(crate) ports: Ports,
    /// What it said until it was ready.
    pub(crate) greeting: Vec<String>,
    stderr: Option<JoinHandle<String>>,
    /// Its own, unless it was started in another's.
    home: Option<Home>,
}

impl Server {
    /// One that is ready, at such ports, with these arguments.
    pub(crate) fn start(ports: impl Fn() -> Ports, args: &[&str]) -> Self {
        let home = Home::new();
        let mut server = Server::start_in(&home, ports, args);
        server.home = Some(home);
        server
    }

    /// The same, in a home that others know, too.
    pub(crate) fn start_in(home: &Home, ports: impl Fn() -> Ports, args: &[&str]) -> Self {
        Server::launch(home, ports, |command| command.args(args))
    }

    /// The same, started as `with` says.
    pub(crate) fn launch(
        home: &Home,
        ports: impl Fn() -> Ports,
        with: impl Fn(&mut Command) -> &mut Command,
    ) -> Self {
        for _ in 0..10 {
            let ports = ports();
            let mut child = with(&mut home.serve(ports)).spawn().unwrap();
            let stderr = child.stderr.take().map(|mut errors| {
                std::thread::spawn(move || {
                    let mut text = String::new();
                    errors.read_to_string(&mut text).unwrap();
                    text
                })
            });
            let lines = BufReader::new(child.stdout.take().unwrap()).lines();
            let mut server = Server { child, ports, greeting: Vec::new(), stderr, home: None };
            for line in lines.map_while(Result::ok) {
                server.greeting.push(line);
                if server.greeting.last().is_some_and(|line| line == "Ctrl-C stops it") {
                    return server;
                }
            }
            let told = server.kill();
            assert!(told.contains("is in use by another program"), "{told}");
        }
        panic!("other programs took every port that was free");
    }

    pub(crate) fn native(&self) -> SocketAddr {
        (HERE, self.ports.native).into()
    }

    pub(crate) fn rtype(&self) -> SocketAddr {
        (HERE, self.ports.rtype).into()
    }

    pub(crate) fn rtype_tcp(&self) -> SocketAddr {
        (HERE, self.ports.rtype + 1).into()
    }

    /// Its process.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends it a signal, by its name.
    pub(crate) fn signal(&self, name: &str) {
        signal(self.child.id(), name);
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
