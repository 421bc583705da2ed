//! An allocator that counts what the current thread asks for: other threads, the test's runner
//! among them, have counts of their own.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// The system's allocator, and a count beside it.
struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
    static IN_USE: Cell<isize> = const { Cell::new(0) };
    /// For finding a culprit: the first allocation while it is armed panics with a backtrace.
    static ARMED: Cell<bool> = const { Cell::new(false) };
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// How often this thread has asked for memory.
#[allow(dead_code, reason = "each test binary uses its part")]
pub(crate) fn allocations() -> usize {
    ALLOCATIONS.get()
}

/// How many bytes this thread has in use; what another thread gave back for it counts, too.
#[allow(dead_code, reason = "each test binary uses its part")]
pub(crate) fn bytes_in_use() -> isize {
    IN_USE.get()
}

/// The next allocation of this thread panics.
#[allow(dead_code, reason = "each test binary uses its part")]
pub(crate) fn panic_at_the_next() {
    ARMED.set(true);
}

/// No allocation of this thread panics any more.
#[allow(dead_code, reason = "each test binary uses its part")]
pub(crate) fn let_be() {
    ARMED.set(false);
}

fn count(bytes: isize) {
    ALLOCATIONS.set(ALLOCATIONS.get() + 1);
    IN_USE.set(IN_USE.get() + bytes);
    if ARMED.replace(false) {
        panic!("allocated where nothing may be");
    }
}

// SAFETY: every call is handed to `System` unchanged, which keeps the trait's contract; counting
// touches thread-locals without a destructor and does not allocate, unless it panics instead of
// returning.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        IN_USE.set(IN_USE.get() - layout.size() as isize);
        // SAFETY: the caller keeps the contract of `dealloc`, and all memory is `System`'s.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        count(new_size as isize - layout.size() as isize);
        // SAFETY: the caller keeps the contract of `realloc`, and all memory is `System`'s.
        unsafe { System.realloc(pointer, layout, new_size) }
    }
}
