//! Where the game's loop and the page's thread meet: the newest status, and the newest scene of
//! every room that someone watches. A lock is held for as long as it takes to swap a pointer.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use backspin::game::GameId;
use backspin::replica::State;
use mio::Waker;

use super::status::Status;

/// What both threads have.
#[derive(Debug)]
pub(super) struct Board {
    status: Mutex<(Arc<Status>, Instant)>,
    /// By room.
    stages: Vec<Stage>,
    stopping: AtomicBool,
    /// Wakes the page's thread.
    waker: Waker,
}

/// A room that can be watched.
#[derive(Debug, Default)]
struct Stage {
    watchers: AtomicUsize,
    scene: Mutex<Option<Arc<Scene>>>,
}

/// What there is to see in a room after a tick.
#[derive(Clone, Debug)]
pub(super) struct Scene {
    pub(super) game: GameId,
    pub(super) tick_rate: u8,
    pub(super) state: State,
}

impl Board {
    pub(super) fn new(waker: Waker, rooms: usize) -> Self {
        Board {
            status: Mutex::new((Arc::default(), Instant::now())),
            stages: (0..rooms).map(|_| Stage::default()).collect(),
            stopping: AtomicBool::new(false),
            waker,
        }
    }

    /// Puts up a new status.
    pub(super) fn put_status(&self, status: Arc<Status>) {
        // What was there is dropped behind the lock.
        let _before = std::mem::replace(&mut *lock(&self.status), (status, Instant::now()));
        self.wake();
    }

    /// The newest status, and how old it is.
    pub(super) fn status(&self) -> (Arc<Status>, Duration) {
        let (status, since) = lock(&self.status).clone();
        (status, since.elapsed())
    }

    /// Whether anyone watches a room, counted from 0.
    pub(super) fn is_watched(&self, room: usize) -> bool {
        self.stages.get(room).is_some_and(|stage| stage.watchers.load(Ordering::Relaxed) > 0)
    }

    /// Puts up what there is to see in a room. [`Board::wake`] follows when all rooms are there.
    pub(super) fn put_scene(&self, room: usize, scene: Scene) {
        if let Some(stage) = self.stages.get(room) {
            let _before = lock(&stage.scene).replace(Arc::new(scene));
        }
    }

    /// What was seen last in a room.
    pub(super) fn scene(&self, room: usize) -> Option<Arc<Scene>> {
        lock(&self.stages.get(room)?.scene).clone()
    }

    /// Tells the page's thread that something is new, or that it is to end. Never waits; a thread
    /// that is gone need not know.
    pub(super) fn wake(&self) {
        let _ = self.waker.wake();
    }

    /// Asks the page's thread to end.
    pub(super) fn stop(&self) {
        self.stopping.store(true, Ordering::Relaxed);
        self.wake();
    }

    pub(super) fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Relaxed)
    }
}

/// Neither thread leaves anything half done behind a lock.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Someone who watches a room, for as long as it lives.
#[derive(Debug)]
pub(super) struct Watch {
    board: Arc<Board>,
    room: usize,
}

impl Watch {
    /// `None` if there is no such room, counted from 0.
    pub(super) fn new(board: &Arc<Board>, room: usize) -> Option<Self> {
        board.stages.get(room)?.watchers.fetch_add(1, Ordering::Relaxed);
        Some(Watch { board: Arc::clone(board), room })
    }

    pub(super) fn room(&self) -> usize {
        self.room
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let stage = &self.board.stages[self.room];
        if stage.watchers.fetch_sub(1, Ordering::Relaxed) == 1 {
            // The next one is not to see where the match stood long ago.
            let _before = lock(&stage.scene).take();
        }
    }
}
