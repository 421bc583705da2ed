//! What the system is asked: a core, a network of our own, time spent, memory held, bytes passed.
//!
//! All unsafe code of the bench that is not a contender's is here and in `profile`.

use std::fs;
use std::io;
use std::mem;
use std::net::UdpSocket;
use std::os::fd::AsRawFd;
use std::ptr;
use std::time::Duration;

use libc::c_int;
use serde::{Deserialize, Serialize};

/// What the kernel may hold for a socket between two ticks, for everyone alike.
const BUFFER_BYTES: c_int = 4 << 20;

/// Keeps this process on one core.
pub(crate) fn pin(core: usize) -> io::Result<()> {
    // SAFETY: a set of zeroes is an empty set; the macro writes within it.
    let set = unsafe {
        let mut set: libc::cpu_set_t = mem::zeroed();
        libc::CPU_SET(core, &mut set);
        set
    };
    // SAFETY: the set is alive and as long as told.
    check(unsafe { libc::sched_setaffinity(0, size_of_val(&set), &raw const set) })
}

/// Goes before others on a machine that is not ours alone, where that is allowed: who is kept
/// waiting is late with everything, and loses what comes meanwhile.
pub(crate) fn go_first() {
    let priority = libc::sched_param { sched_priority: 1 };
    // SAFETY: the priority is alive during the call.
    unsafe { libc::sched_setscheduler(0, libc::SCHED_RR, &raw const priority) };
}

/// How many cores there are.
pub(crate) fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Leaves the machine's network for one with nothing but loopback in it, so that no one else's
/// datagrams are counted. Whoever is started from now on is in it, too.
pub(crate) fn enter_own_network() -> io::Result<()> {
    // SAFETY: it takes flags only, and this process has one thread yet.
    let entered = unsafe { libc::unshare(libc::CLONE_NEWNET) };
    if check(entered).is_err() {
        // SAFETY: as above. Who is not root needs to be root of users of its own.
        check(unsafe { libc::unshare(libc::CLONE_NEWUSER | libc::CLONE_NEWNET) })?;
    }
    let socket = UdpSocket::bind("0.0.0.0:0")?;
    // SAFETY: all zeroes is a request.
    let mut request: libc::ifreq = unsafe { mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(b"lo") {
        *to = *from as libc::c_char;
    }
    request.ifr_ifru.ifru_flags = libc::IFF_UP as i16;
    // SAFETY: the request is alive, and is what this call reads.
    check(unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS, &raw const request) })
}

/// Large buffers, best effort: a system that gives less loses more.
pub(crate) fn widen(socket: &UdpSocket) {
    for option in [libc::SO_RCVBUF, libc::SO_SNDBUF] {
        // SAFETY: the kernel reads the bytes of the number, which is alive.
        unsafe {
            libc::setsockopt(
                socket.as_raw_fd(),
                libc::SOL_SOCKET,
                option,
                ptr::from_ref(&BUFFER_BYTES).cast(),
                size_of::<c_int>() as libc::socklen_t,
            );
        }
    }
}

/// What a process has used up to now, and what has passed over loopback.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Meter {
    pub(crate) user: Duration,
    pub(crate) system: Duration,
    pub(crate) wire_bytes: u64,
    pub(crate) wire_datagrams: u64,
}

impl Meter {
    /// Reads the wire first and the time last, or the other way round: what reading costs is
    /// outside of what is measured.
    pub(crate) fn begin() -> Self {
        let (wire_bytes, wire_datagrams) = passed();
        let (user, system) = spent();
        Meter { user, system, wire_bytes, wire_datagrams }
    }

    pub(crate) fn end() -> Self {
        let (user, system) = spent();
        let (wire_bytes, wire_datagrams) = passed();
        Meter { user, system, wire_bytes, wire_datagrams }
    }

    pub(crate) fn since(self, before: Meter) -> Meter {
        Meter {
            user: self.user - before.user,
            system: self.system - before.system,
            wire_bytes: self.wire_bytes - before.wire_bytes,
            wire_datagrams: self.wire_datagrams - before.wire_datagrams,
        }
    }
}

/// User and system time of this process, all threads.
fn spent() -> (Duration, Duration) {
    // SAFETY: all zeroes is a usage, and the call writes it.
    let usage = unsafe {
        let mut usage: libc::rusage = mem::zeroed();
        libc::getrusage(libc::RUSAGE_SELF, &raw mut usage);
        usage
    };
    let duration = |time: libc::timeval| {
        Duration::from_secs(time.tv_sec as u64) + Duration::from_micros(time.tv_usec as u64)
    };
    (duration(usage.ru_utime), duration(usage.ru_stime))
}

/// Bytes, headers of IP and UDP included, and datagrams that went over loopback.
fn passed() -> (u64, u64) {
    let text = fs::read_to_string("/proc/self/net/dev").unwrap_or_default();
    let line = text.lines().find_map(|line| line.trim_start().strip_prefix("lo:"));
    let mut numbers = line.unwrap_or_default().split_whitespace().map_while(|n| n.parse().ok());
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0))
}

/// What is taken from the heap now.
pub(crate) fn heap_bytes() -> u64 {
    // SAFETY: it takes nothing.
    let info = unsafe { libc::mallinfo2() };
    (info.uordblks + info.hblkhd) as u64
}

/// What this machine is, in a line.
pub(crate) fn name() -> String {
    let model = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = model.lines().find_map(|line| line.strip_prefix("model name"));
    let model = model.and_then(|line| line.split(':').nth(1)).unwrap_or("unknown").trim();
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let kernel: String = kernel.chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect();
    format!("{} shared cores of an {model}, Linux {kernel}", cores())
}

fn check(result: c_int) -> io::Result<()> {
    match result {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}
