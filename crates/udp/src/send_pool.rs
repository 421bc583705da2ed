//! Sends for a loop: the loop's own thread, with helper threads when there are many players.
//!
//! Sending is most of the cost of many players, several times that of their rooms. So rooms stay on the
//! loop's thread, where
//! nothing is shared, and each full system call goes to whichever thread is idle; if none is, the loop sends
//! itself. A small
//! server never has that much to send and never wakes anyone.

use std::io;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use crate::Socket;
use crate::batch::Outbox;

/// Takes what is to be sent to the sockets.
#[derive(Debug)]
pub(crate) struct SendPool {
    sockets: Arc<[Socket]>,
    /// Empty ones, as many as there are idle threads.
    spare: Vec<Outbox>,
    threads: Vec<JoinHandle<()>>,
    /// Full ones on their way to a thread; closed to end the threads.
    full: Option<SyncSender<Outbox>>,
    /// What threads have sent, with how many the system did not take.
    sent: Receiver<(Outbox, u64)>,
}

impl SendPool {
    /// A pool with so many threads beside the loop's own.
    pub(crate) fn new(sockets: Arc<[Socket]>, threads: usize) -> io::Result<Self> {
        // There are no more boxes than threads: nobody ever waits to hand one over.
        let (full, jobs) = sync_channel(threads);
        let (done, sent) = sync_channel(threads);
        let jobs = Arc::new(Mutex::new(jobs));
        let start = |_| {
            let (jobs, done, sockets) = (jobs.clone(), done.clone(), sockets.clone());
            let work = move || send_for_others(&jobs, &done, &sockets);
            thread::Builder::new().name("send".into()).spawn(work)
        };
        let started = (0..threads).map(start).collect::<io::Result<_>>()?;
        let spare = (0..threads).map(|_| Outbox::new()).collect();
        Ok(SendPool { sockets, spare, threads: started, full: Some(full), sent })
    }

    /// The same sockets with so many threads.
    pub(crate) fn with_threads(&self, threads: usize) -> io::Result<Self> {
        SendPool::new(self.sockets.clone(), threads)
    }

    pub(crate) fn sockets(&self) -> &[Socket] {
        &self.sockets
    }

    /// Sends all that is in `outbox`, now or in a moment, and leaves it empty. Says how many
    /// datagrams the system did not take since this was asked last.
    pub(crate) fn send(&mut self, outbox: &mut Outbox) -> u64 {
        let mut unsent = 0;
        for (empty, failed) in self.sent.try_iter() {
            self.spare.push(empty);
            unsent += failed;
        }
        match (&self.full, outbox.is_much()) {
            (Some(full), true) if !self.spare.is_empty() => {
                let spare = self.spare.swap_remove(0);
                match full.try_send(std::mem::replace(outbox, spare)) {
                    Ok(()) => unsent,
                    // Never, as long as a thread lives for each box.
                    Err(refused) => {
                        let (TrySendError::Full(mut back) | TrySendError::Disconnected(mut back)) =
                            refused;
                        unsent + back.send(&self.sockets)
                    }
                }
            }
            _ => unsent + outbox.send(&self.sockets),
        }
    }
}

impl Drop for SendPool {
    fn drop(&mut self) {
        self.full = None;
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

/// What a thread does: one box after another, until there are no more.
fn send_for_others(
    jobs: &Mutex<Receiver<Outbox>>,
    done: &SyncSender<(Outbox, u64)>,
    sockets: &[Socket],
) {
    loop {
        let next = jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(mut outbox) = next else { return };
        let unsent = outbox.send(sockets);
        if done.send((outbox, unsent)).is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;
    use std::time::{Duration, Instant};

    use backspin::node::{Path, Transmit};

    use super::*;
    use crate::Inbox;
    use crate::batch::{BATCH, CALL};

    fn fill(outbox: &mut Outbox, to: SocketAddr, count: usize) {
        for i in 0..count {
            outbox.slot().unwrap()[0] = i as u8;
            outbox.push(Transmit { path: Path::to(to), len: 1 });
        }
    }

    /// Everything that comes until `count` came or patience is lost.
    fn take(socket: &Socket, count: usize) -> Vec<u8> {
        let (mut inbox, mut came) = (Inbox::new(64), Vec::new());
        let end = Instant::now() + Duration::from_secs(20);
        while came.len() < count && Instant::now() < end {
            socket.receive(&mut inbox).unwrap();
            came.extend(inbox.datagrams().map(|(_, bytes)| bytes[0]));
            thread::yield_now();
        }
        came.sort_unstable();
        came
    }

    #[test]
    fn everything_arrives_whoever_sends_it() {
        let bind = || Socket::bind("127.0.0.1:0".parse().unwrap()).unwrap();
        for threads in [0, 1, 3] {
            let receiver = bind();
            let to = receiver.local_addr().unwrap();
            let mut pool = SendPool::new([bind()].into(), threads).unwrap();
            let mut outbox = Outbox::new();
            for count in [CALL, BATCH, BATCH, 7, CALL + 1, 1] {
                fill(&mut outbox, to, count);
                pool.send(&mut outbox);
                assert!(outbox.is_empty());
                let mut all: Vec<u8> = (0..count).map(|i| i as u8).collect();
                all.sort_unstable();
                assert_eq!(take(&receiver, count), all, "{threads} threads");
            }
        }
    }

    #[test]
    fn boxes_come_back_and_the_last_are_sent_before_the_end() {
        let bind = || Socket::bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let receiver = bind();
        let to = receiver.local_addr().unwrap();
        let mut pool = SendPool::new([bind()].into(), 2).unwrap();
        let mut outbox = Outbox::new();
        for _ in 0..5 {
            fill(&mut outbox, to, BATCH);
            pool.send(&mut outbox);
        }
        let boxes = pool.spare.len();
        drop(pool);
        assert!(boxes <= 2);
        assert_eq!(take(&receiver, 5 * BATCH).len(), 5 * BATCH);
    }
}
