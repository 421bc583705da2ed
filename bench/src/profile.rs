//! Whose code a thread is in, the program's or the system's, by samples.
//!
//! The system's own division of a process' time is a sample at each of its clock ticks, 250 a second or so. A server
//! that ticks 60 times a second meets these ticks at the same few points of its work again and again, so that what
//! they say is chance. These samples are twenty times as many, and their distance divides nothing.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Serialize};

/// Between two samples of the time that the thread runs, in nanoseconds.
const PERIOD_NS: u64 = 199_933;

/// Room for samples: thirteen seconds' worth of a thread that never rests. What is more is lost.
const BUFFER_LEN: usize = 128 * PAGE_LEN;

const PAGE_LEN: usize = 4096;

/// In which mode samples found the processor.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Samples {
    pub(crate) user: u64,
    pub(crate) system: u64,
}

impl Samples {
    /// The program's own share, if there is anything to tell it by.
    pub(crate) fn user_share(&self) -> Option<f64> {
        let all = self.user + self.system;
        (all > 0).then(|| self.user as f64 / all as f64)
    }
}

/// Samples the thread that made it.
#[derive(Debug)]
pub(crate) struct Profile {
    /// A page of the kernel's words to us, and the samples behind it.
    shared: NonNull<u8>,
    /// Samples come for as long as it is open.
    _event: OwnedFd,
}

/// The first form of `struct perf_event_attr`.
#[repr(C)]
#[derive(Default)]
struct Attributes {
    kind: u32,
    size: u32,
    config: u64,
    period: u64,
    sample_type: u64,
    read_format: u64,
    flags: u64,
    wakeup_events: u32,
    breakpoint_type: u32,
    breakpoint_address: u64,
}

const PERF_TYPE_SOFTWARE: u32 = 1;
const PERF_COUNT_SW_CPU_CLOCK: u64 = 0;
const PERF_RECORD_SAMPLE: u32 = 9;
const MODE_MASK: u16 = 7;
const MODE_KERNEL: u16 = 1;
const MODE_USER: u16 = 2;

/// Where `struct perf_event_mmap_page` says how far the kernel has written, and we how far we have read.
const HEAD_AT: usize = 1024;
const TAIL_AT: usize = 1032;

impl Profile {
    /// Begins to sample, where the system allows it.
    pub(crate) fn begin() -> io::Result<Self> {
        let attributes = Attributes {
            kind: PERF_TYPE_SOFTWARE,
            size: size_of::<Attributes>() as u32,
            config: PERF_COUNT_SW_CPU_CLOCK,
            period: PERIOD_NS,
            ..Attributes::default()
        };
        // This thread, whichever processor it is on, in no group, without flags.
        let (thread, processor, group, flags) = (0, -1, -1, 0);
        // SAFETY: the kernel reads as many bytes of the attributes as they say they have.
        let event = unsafe {
            libc::syscall(
                libc::SYS_perf_event_open,
                &raw const attributes,
                thread,
                processor,
                group,
                flags,
            )
        };
        if event < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the kernel has just opened it for us.
        let event = unsafe { OwnedFd::from_raw_fd(event as libc::c_int) };
        // SAFETY: a new mapping, wherever the kernel likes.
        let shared = unsafe {
            libc::mmap(
                ptr::null_mut(),
                PAGE_LEN + BUFFER_LEN,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED,
                event.as_raw_fd(),
                0,
            )
        };
        match NonNull::new(shared.cast::<u8>()) {
            Some(at) if shared != libc::MAP_FAILED => Ok(Profile { shared: at, _event: event }),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// What was sampled since this was asked last.
    pub(crate) fn take(&mut self) -> Samples {
        let head = self.word(HEAD_AT).load(Ordering::Acquire);
        let mut tail = self.word(TAIL_AT).load(Ordering::Relaxed);
        let mut samples = Samples::default();
        while tail < head {
            let at = PAGE_LEN + tail as usize % BUFFER_LEN;
            // SAFETY: records are eight bytes aligned and begin with eight bytes, within the mapping.
            let (kind, mode, len): (u32, u16, u16) = unsafe {
                let record = self.shared.add(at);
                (record.cast().read(), record.add(4).cast().read(), record.add(6).cast().read())
            };
            match (kind, mode & MODE_MASK) {
                (PERF_RECORD_SAMPLE, MODE_USER) => samples.user += 1,
                (PERF_RECORD_SAMPLE, MODE_KERNEL) => samples.system += 1,
                _ => {}
            }
            tail += u64::from(len).max(8);
        }
        self.word(TAIL_AT).store(head, Ordering::Release);
        samples
    }

    fn word(&self, at: usize) -> &AtomicU64 {
        // SAFETY: an aligned word of the first page, which kernel and program share as they do an atomic.
        unsafe { self.shared.add(at).cast().as_ref() }
    }
}

impl Drop for Profile {
    fn drop(&mut self) {
        // SAFETY: nothing of the mapping is borrowed any more.
        unsafe { libc::munmap(self.shared.as_ptr().cast(), PAGE_LEN + BUFFER_LEN) };
    }
}
