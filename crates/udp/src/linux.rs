//! Linux system calls that the standard library lacks: many datagrams in one call, with the local address of
//! each,
//! nanosecond waits, and how long a thread has run.
//!
//! All unsafe code of the project is here, except for a hint in `prefetch`. Nothing is kept between two
//! calls: what the
//! kernel reads or writes lives on the stack or is borrowed for the call.

use std::io;
use std::iter;
use std::mem::{self, MaybeUninit};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr;
use std::time::{Duration, SystemTime};

use libc::{c_int, c_uint, c_void, cmsghdr, iovec, mmsghdr, msghdr};

use crate::batch::{CALL, Envelope};

/// An address as the kernel writes it; the family says which.
#[derive(Clone, Copy)]
#[repr(C)]
union Name {
    family: libc::sa_family_t,
    v4: libc::sockaddr_in,
    v6: libc::sockaddr_in6,
}

/// Room for a control message with a local address and one with a time, aligned as their headers.
#[derive(Clone, Copy)]
#[repr(C)]
union Control {
    header: cmsghdr,
    bytes: [u8; CONTROL_LEN],
}

// SAFETY: these only compute.
const V4_INFO_SPACE: usize =
    unsafe { libc::CMSG_SPACE(size_of::<libc::in_pktinfo>() as c_uint) } as usize;
// SAFETY: as above.
const V6_INFO_SPACE: usize =
    unsafe { libc::CMSG_SPACE(size_of::<libc::in6_pktinfo>() as c_uint) } as usize;

// SAFETY: as above.
const STAMP_SPACE: usize =
    unsafe { libc::CMSG_SPACE(size_of::<libc::timespec>() as c_uint) } as usize;

const CONTROL_LEN: usize =
    STAMP_SPACE + if V4_INFO_SPACE > V6_INFO_SPACE { V4_INFO_SPACE } else { V6_INFO_SPACE };

/// Whether the system has the calls for many datagrams: an old or a walled-in one may refuse them.
pub(crate) fn can_batch(socket: BorrowedFd<'_>) -> bool {
    receive(socket, &mut [], 1, |_, _| {}).is_ok() && send(socket, iter::empty()).is_ok()
}

/// Asks for the local address of every datagram that comes.
pub(crate) fn tell_local_addresses(socket: BorrowedFd<'_>, bound: SocketAddr) -> io::Result<()> {
    match bound {
        SocketAddr::V4(_) => turn_on(socket, libc::IPPROTO_IP, libc::IP_PKTINFO),
        SocketAddr::V6(_) => turn_on(socket, libc::IPPROTO_IPV6, libc::IPV6_RECVPKTINFO),
    }
}

/// Asks for the time at which every datagram comes.
pub(crate) fn tell_arrivals(socket: BorrowedFd<'_>) -> io::Result<()> {
    turn_on(socket, libc::SOL_SOCKET, libc::SO_TIMESTAMPNS)
}

/// Has datagrams leave whole or not at all.
pub(crate) fn never_fragment(socket: BorrowedFd<'_>) -> io::Result<()> {
    set(socket, libc::IPPROTO_IP, libc::IP_MTU_DISCOVER, libc::IP_PMTUDISC_PROBE)
}

fn turn_on(socket: BorrowedFd<'_>, level: c_int, option: c_int) -> io::Result<()> {
    set(socket, level, option, 1)
}

fn set(socket: BorrowedFd<'_>, level: c_int, option: c_int, value: c_int) -> io::Result<()> {
    let len = size_of::<c_int>() as libc::socklen_t;
    // SAFETY: the kernel reads the `len` bytes of `value`, which outlives the call.
    let done = unsafe {
        libc::setsockopt(socket.as_raw_fd(), level, option, ptr::from_ref(&value).cast(), len)
    };
    check(done.into()).map(drop)
}

/// Takes what has come: one datagram into each `slot_len` bytes of `slots`, [`CALL`] at most.
/// `take` is given the envelope of each and when it came, by the clock of [`since_epoch`], in the
/// order of the slots. Says how many they were. Never waits.
pub(crate) fn receive(
    socket: BorrowedFd<'_>,
    slots: &mut [u8],
    slot_len: usize,
    mut take: impl FnMut(Envelope, Option<u64>),
) -> io::Result<usize> {
    let mut names = [MaybeUninit::<Name>::uninit(); CALL];
    let mut controls = [MaybeUninit::<Control>::uninit(); CALL];
    let mut vectors = [MaybeUninit::<iovec>::uninit(); CALL];
    let mut headers = [MaybeUninit::<mmsghdr>::uninit(); CALL];
    let mut count = 0;
    for slot in slots.chunks_exact_mut(slot_len).take(CALL) {
        let vector =
            vectors[count].write(iovec { iov_base: slot.as_mut_ptr().cast(), iov_len: slot.len() });
        // The family stays 0, which is none, where the kernel writes no name.
        let name = names[count].write(Name { v6: empty_v6() });
        headers[count].write(header(vector, name, &raw mut controls[count], CONTROL_LEN));
        count += 1;
    }
    // SAFETY: the first `count` headers are written. Each points to a name, a vector and a control
    // buffer of the same index and to its own slot, all of the lengths told, all alive and not
    // otherwise used during the call. The time-out may be null.
    let received = check(unsafe {
        libc::recvmmsg(
            socket.as_raw_fd(),
            headers.as_mut_ptr().cast(),
            count as c_uint,
            libc::MSG_DONTWAIT,
            ptr::null_mut(),
        )
        .into()
    })?;
    for i in 0..received {
        // SAFETY: `received` is at most `count`, and so many headers and names were written above.
        // The kernel leaves both whole.
        let (header, name) = unsafe { (headers[i].assume_init_ref(), names[i].assume_init_ref()) };
        // SAFETY: the kernel has filled in the header and the control buffer that it names, and
        // the buffer still lives.
        let (local, came) = unsafe { told(&header.msg_hdr) };
        // SAFETY: the name is whole whatever its family, as it was written as the longest.
        let remote = unsafe { name.address() };
        let len = (header.msg_len as usize).min(slot_len);
        take(Envelope { remote, local, len }, came);
    }
    Ok(received)
}

/// Gives the system the first [`CALL`] of these datagrams; says how many it took. An error is
/// about the first alone.
pub(crate) fn send<'a>(
    socket: BorrowedFd<'_>,
    datagrams: impl Iterator<Item = (Envelope, &'a [u8])>,
) -> io::Result<usize> {
    let mut names = [MaybeUninit::<Name>::uninit(); CALL];
    let mut controls = [MaybeUninit::<Control>::uninit(); CALL];
    let mut vectors = [MaybeUninit::<iovec>::uninit(); CALL];
    let mut headers = [MaybeUninit::<mmsghdr>::uninit(); CALL];
    let mut count = 0;
    for (envelope, bytes) in datagrams.take(CALL) {
        let vector = vectors[count]
            .write(iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() });
        let name = names[count].write(Name::new(envelope.remote));
        let control_len = write_local_address(&mut controls[count], envelope);
        let control = &raw mut controls[count];
        headers[count].write(header(vector, name, control, control_len));
        count += 1;
    }
    // SAFETY: the first `count` headers are written. Each points to a name, a vector and a control
    // buffer of the same index and to the caller's bytes, all alive and as long as told. The
    // kernel only reads them, but for the lengths in the headers, which are ours.
    check(unsafe {
        libc::sendmmsg(
            socket.as_raw_fd(),
            headers.as_mut_ptr().cast(),
            count as c_uint,
            libc::MSG_DONTWAIT,
        )
        .into()
    })
}

/// Waits until `poll` has something to say or `patience` has passed.
pub(crate) fn wait(poll: BorrowedFd<'_>, patience: Duration) -> io::Result<()> {
    let mut watched = libc::pollfd { fd: poll.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    let timeout = libc::timespec {
        tv_sec: patience.as_secs().try_into().unwrap_or(libc::time_t::MAX),
        tv_nsec: patience.subsec_nanos().into(),
    };
    // SAFETY: one `pollfd` and one `timespec`, both alive; the signal mask may be null.
    check(unsafe { libc::ppoll(&raw mut watched, 1, &raw const timeout, ptr::null()).into() })
        .map(drop)
}

/// How long the calling thread has had a processor.
pub(crate) fn run_time() -> Option<Duration> {
    let mut run = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call writes one `timespec`, which is alive.
    check(unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut run).into() })
        .ok()?;
    stamped(run).map(Duration::from_nanos)
}

fn check(result: i64) -> io::Result<usize> {
    usize::try_from(result).map_err(|_| io::Error::last_os_error())
}

fn header(
    vector: &mut iovec,
    name: &mut Name,
    control: *mut MaybeUninit<Control>,
    control_len: usize,
) -> mmsghdr {
    // SAFETY: all zeroes is a header without anything. It is not written out because its fields
    // and their padding differ between C libraries.
    let mut header: msghdr = unsafe { mem::zeroed() };
    header.msg_iov = vector;
    header.msg_iovlen = 1;
    // SAFETY: any value's first bytes may be read as the family, and it is whole.
    header.msg_namelen = match c_int::from(unsafe { name.family }) {
        libc::AF_INET => size_of::<libc::sockaddr_in>(),
        _ => size_of::<libc::sockaddr_in6>(),
    } as libc::socklen_t;
    header.msg_name = ptr::from_mut(name).cast();
    if control_len > 0 {
        header.msg_control = control.cast();
        header.msg_controllen = control_len as _;
    }
    mmsghdr { msg_hdr: header, msg_len: 0 }
}

const fn empty_v6() -> libc::sockaddr_in6 {
    libc::sockaddr_in6 {
        sin6_family: 0,
        sin6_port: 0,
        sin6_flowinfo: 0,
        sin6_addr: libc::in6_addr { s6_addr: [0; 16] },
        sin6_scope_id: 0,
    }
}

impl Name {
    fn new(address: SocketAddr) -> Self {
        match address {
            SocketAddr::V4(v4) => Name {
                v4: libc::sockaddr_in {
                    sin_family: libc::AF_INET as libc::sa_family_t,
                    sin_port: v4.port().to_be(),
                    sin_addr: in_addr(*v4.ip()),
                    sin_zero: [0; 8],
                },
            },
            SocketAddr::V6(v6) => Name {
                v6: libc::sockaddr_in6 {
                    sin6_family: libc::AF_INET6 as libc::sa_family_t,
                    sin6_port: v6.port().to_be(),
                    sin6_flowinfo: v6.flowinfo(),
                    sin6_addr: libc::in6_addr { s6_addr: v6.ip().octets() },
                    sin6_scope_id: v6.scope_id(),
                },
            },
        }
    }

    /// # Safety
    /// All bytes of `self` have a value.
    unsafe fn address(&self) -> SocketAddr {
        // SAFETY: all bytes have a value, and any value is good for these plain numbers.
        let (family, v4, v6) = unsafe { (self.family, self.v4, self.v6) };
        match c_int::from(family) {
            libc::AF_INET => {
                let ip = ipv4(v4.sin_addr);
                SocketAddrV4::new(ip, u16::from_be(v4.sin_port)).into()
            }
            _ => {
                let ip = Ipv6Addr::from(v6.sin6_addr.s6_addr);
                let port = u16::from_be(v6.sin6_port);
                SocketAddrV6::new(ip, port, v6.sin6_flowinfo, v6.sin6_scope_id).into()
            }
        }
    }
}

/// The address of this machine that a datagram came to, a broadcast's is the interface's own; and
/// when it came, by the system's clock: see [`since_epoch`].
///
/// # Safety
/// `recvmmsg` has filled in `header`, and its control buffer still lives.
unsafe fn told(header: &msghdr) -> (Option<IpAddr>, Option<u64>) {
    let (mut local, mut came) = (None, None);
    // SAFETY: the control buffer is the kernel's work, so these walk it within its length.
    let mut control = unsafe { libc::CMSG_FIRSTHDR(header) };
    while !control.is_null() {
        // SAFETY: it is not null, so it points to a header within the buffer.
        let cmsghdr { cmsg_level, cmsg_type, .. } = unsafe { *control };
        // SAFETY: as above.
        let data: *const c_void = unsafe { libc::CMSG_DATA(control) }.cast();
        match (cmsg_level, cmsg_type) {
            (libc::IPPROTO_IP, libc::IP_PKTINFO) => {
                // SAFETY: a message of this type has this for data, aligned or not.
                let info: libc::in_pktinfo = unsafe { ptr::read_unaligned(data.cast()) };
                let ip = ipv4(info.ipi_spec_dst);
                local = (!ip.is_unspecified()).then_some(ip.into());
            }
            (libc::IPPROTO_IPV6, libc::IPV6_PKTINFO) => {
                // SAFETY: a message of this type has this for data, aligned or not.
                let info: libc::in6_pktinfo = unsafe { ptr::read_unaligned(data.cast()) };
                let ip = Ipv6Addr::from(info.ipi6_addr.s6_addr);
                local = (!ip.is_unspecified() && !ip.is_multicast()).then_some(ip.into());
            }
            (libc::SOL_SOCKET, libc::SCM_TIMESTAMPNS) => {
                // SAFETY: a message of this type has this for data, aligned or not.
                let stamp: libc::timespec = unsafe { ptr::read_unaligned(data.cast()) };
                came = stamped(stamp);
            }
            _ => {}
        }
        // SAFETY: `control` is within the buffer of `header`.
        control = unsafe { libc::CMSG_NXTHDR(header, control) };
    }
    (local, came)
}

/// The system's time in nanoseconds.
pub(crate) fn since_epoch() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    since.as_nanos().try_into().unwrap_or(u64::MAX)
}

/// A time of the kernel's in nanoseconds.
fn stamped(stamp: libc::timespec) -> Option<u64> {
    let (seconds, ns): (u64, u64) = (stamp.tv_sec.try_into().ok()?, stamp.tv_nsec.try_into().ok()?);
    seconds.checked_mul(1_000_000_000)?.checked_add(ns)
}

/// Writes which address of this machine a datagram leaves from; says how long that is, 0 if the
/// system may choose.
fn write_local_address(control: &mut MaybeUninit<Control>, envelope: Envelope) -> usize {
    match (envelope.local, envelope.remote) {
        (Some(IpAddr::V4(local)), SocketAddr::V4(_)) => {
            let info = libc::in_pktinfo {
                ipi_ifindex: 0,
                ipi_spec_dst: in_addr(local),
                ipi_addr: libc::in_addr { s_addr: 0 },
            };
            write_control(control, libc::IPPROTO_IP, libc::IP_PKTINFO, info);
            V4_INFO_SPACE
        }
        (Some(IpAddr::V6(local)), SocketAddr::V6(_)) => {
            let ipi6_addr = libc::in6_addr { s6_addr: local.octets() };
            let info = libc::in6_pktinfo { ipi6_addr, ipi6_ifindex: 0 };
            write_control(control, libc::IPPROTO_IPV6, libc::IPV6_PKTINFO, info);
            V6_INFO_SPACE
        }
        _ => 0,
    }
}

fn write_control<T: Copy>(control: &mut MaybeUninit<Control>, level: c_int, kind: c_int, data: T) {
    const { assert!(size_of::<T>() <= CONTROL_LEN - size_of::<cmsghdr>()) };
    // The kernel reads the gaps, too.
    let control = control.write(Control { bytes: [0; CONTROL_LEN] });
    // SAFETY: a header of zeroes is a header.
    let header = unsafe { &mut control.header };
    header.cmsg_level = level;
    header.cmsg_type = kind;
    // SAFETY: it only computes.
    header.cmsg_len = unsafe { libc::CMSG_LEN(size_of::<T>() as c_uint) } as _;
    // SAFETY: the data follows the header within the buffer, which has room as asserted above.
    unsafe {
        let data_at = libc::CMSG_DATA(ptr::from_mut(control).cast());
        ptr::write_unaligned(data_at.cast(), data);
    }
}

fn in_addr(ip: Ipv4Addr) -> libc::in_addr {
    libc::in_addr { s_addr: u32::from_ne_bytes(ip.octets()) }
}

fn ipv4(address: libc::in_addr) -> Ipv4Addr {
    Ipv4Addr::from(address.s_addr.to_ne_bytes())
}
