//! Where the game loop and the page's thread meet: the newest status, and the newest scene of every watched
//! room. A lock is
//! held only to swap a pointer.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use backspin::game::GameId;
use backspin::replication::State;
use mio::Waker;

use super::status::Status;

/// What both threads have.
#[derive(Debug)]
pub(super) struct Board {
    status: Mutex<(Arc<Status>, Instant)>,
    /// The rooms that are watched, by number.
    stages: Mutex<BTreeMap<u32, Stage>>,
    /// How many they are, for whoever need not know which.
    watched: AtomicUsize,
    stopping: AtomicBool,
    /// Wakes the page's thread.
    waker: Waker,
}

/// A room that is watched.
#[derive(Debug, Default)]
struct Stage {
    watchers: usize,
    scene: Option<Arc<Scene>>,
}

/// What there is to see in a room after a tick.
#[derive(Clone, Debug)]
pub(super) struct Scene {
    pub(super) game: GameId,
    pub(super) tick_rate: u8,
    pub(super) state: State,
}

impl Board {
    pub(super) fn new(waker: Waker) -> Self {
        Board {
            status: Mutex::new((Arc::default(), Instant::now())),
            stages: Mutex::default(),
            watched: AtomicUsize::new(0),
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

    /// The rooms that are watched in place of what is in `rooms`, each with the tick that was seen
    /// last.
    pub(super) fn list_watched(&self, rooms: &mut Vec<(u32, Option<u32>)>) {
        rooms.clear();
        if self.watched.load(Ordering::Relaxed) > 0 {
            let tick = |stage: &Stage| stage.scene.as_ref().map(|scene| scene.state.tick);
            rooms.extend(lock(&self.stages).iter().map(|(room, stage)| (*room, tick(stage))));
        }
    }

    /// Puts up what there is to see in a room, if anyone still watches it. [`Board::wake`] follows
    /// when all rooms are there.
    pub(super) fn put_scene(&self, room: u32, scene: Scene) {
        let scene = Arc::new(scene);
        if let Some(stage) = lock(&self.stages).get_mut(&room) {
            stage.scene = Some(scene);
        }
    }

    /// What was seen last in a room.
    pub(super) fn scene(&self, room: u32) -> Option<Arc<Scene>> {
        lock(&self.stages).get(&room)?.scene.clone()
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
    room: u32,
}

impl Watch {
    pub(super) fn new(board: &Arc<Board>, room: u32) -> Self {
        let mut stages = lock(&board.stages);
        stages.entry(room).or_default().watchers += 1;
        board.watched.store(stages.len(), Ordering::Relaxed);
        Watch { board: Arc::clone(board), room }
    }

    pub(super) fn room(&self) -> u32 {
        self.room
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let mut stages = lock(&self.board.stages);
        if let Some(stage) = stages.get_mut(&self.room) {
            stage.watchers -= 1;
            if stage.watchers == 0 {
                // The next one is not to see where the match stood long ago.
                stages.remove(&self.room);
            }
        }
        self.board.watched.store(stages.len(), Ordering::Relaxed);
    }
}
