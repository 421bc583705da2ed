//! How the program that measures talks to its two halves: a line each way at a time.

use std::io::{self, BufRead, Write};
use std::sync::mpsc::{self, Receiver};
use std::thread;

use serde::{Deserialize, Serialize};

/// Where a server is, and what its clients must know of it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Ready {
    pub(crate) port: u16,
    /// What a client checks the server by, where that is asked for.
    pub(crate) certificate: Vec<u8>,
}

/// What a half is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    Begin,
    End,
}

impl Order {
    pub(crate) fn line(self) -> &'static str {
        match self {
            Order::Begin => "begin",
            Order::End => "end",
        }
    }
}

/// Orders as they come, read by a thread that only waits.
pub(crate) struct Orders {
    lines: Receiver<String>,
}

impl Orders {
    pub(crate) fn listen() -> Self {
        let (sender, lines) = mpsc::channel();
        thread::spawn(move || {
            for line in io::stdin().lock().lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Orders { lines }
    }

    /// What the server said, which is told first.
    pub(crate) fn ready(&self) -> io::Result<Ready> {
        let line = self.lines.recv().map_err(io::Error::other)?;
        Ok(serde_json::from_str(&line)?)
    }

    /// An order, if one has come. Whoever gave them having gone is the order to end.
    pub(crate) fn poll(&self) -> Option<Order> {
        match self.lines.try_recv() {
            Ok(line) if line == Order::Begin.line() => Some(Order::Begin),
            Ok(_) | Err(mpsc::TryRecvError::Disconnected) => Some(Order::End),
            Err(mpsc::TryRecvError::Empty) => None,
        }
    }
}

/// Says something to whoever gives the orders.
pub(crate) fn say(said: &impl Serialize) -> io::Result<()> {
    let mut out = io::stdout().lock();
    serde_json::to_writer(&mut out, said)?;
    writeln!(out)?;
    out.flush()
}
