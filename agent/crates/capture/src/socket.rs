//! The packet socket behind a ring, and its options (packet(7)).

use crate::ring::RingError;
use libc::{c_int, sock_filter, sock_fprog, socklen_t};
use std::io::Error;
use std::mem::size_of;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::ptr;

pub(crate) fn interface_index(interface: &str) -> Result<c_int, RingError> {
    let none = || RingError::NoInterface(interface.to_owned());
    let name = std::ffi::CString::new(interface).map_err(|_| none())?;
    // SAFETY: `name` is a string with its zero.
    match unsafe { libc::if_nametoindex(name.as_ptr()) } {
        0 => Err(none()),
        index => Ok(index as c_int),
    }
}

/// A socket that sees no packet yet: it has no protocol until it is bound.
pub(crate) fn packet_socket() -> Result<OwnedFd, RingError> {
    // SAFETY: no pointers are passed.
    let fd = unsafe { libc::socket(libc::AF_PACKET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0) };
    if fd >= 0 {
        // SAFETY: the descriptor was just opened and is nobody else's.
        return Ok(unsafe { OwnedFd::from_raw_fd(fd) });
    }
    let error = Error::last_os_error();
    Err(match error.raw_os_error() {
        Some(libc::EPERM | libc::EACCES) => RingError::NotAllowed(error),
        _ => RingError::Failed("open a packet socket", error),
    })
}

/// An interface's flags (IFF_UP and others of netdevice(7)).
pub(crate) fn interface_flags(socket: &OwnedFd, interface: &str) -> Result<c_int, RingError> {
    // SAFETY: all-zero is a valid request, and its name stays terminated.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().take(libc::IFNAMSIZ - 1).zip(interface.bytes()) {
        *to = from as libc::c_char;
    }
    // SAFETY: `request` is a valid ifreq for the length of the call.
    let done = unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCGIFFLAGS, &raw mut request) };
    if done < 0 {
        return Err(RingError::Failed("read the interface's flags", Error::last_os_error()));
    }
    // SAFETY: SIOCGIFFLAGS has filled in the flags.
    let flags = unsafe { request.ifr_ifru.ifru_flags };
    Ok(c_int::from(flags))
}

/// Sees what is not for this machine too: a bridge then shows, once, what its ports say to one
/// another.
pub(crate) fn see_all(socket: &OwnedFd, index: c_int) -> Result<(), RingError> {
    let member = libc::packet_mreq {
        mr_ifindex: index,
        mr_type: libc::PACKET_MR_PROMISC as libc::c_ushort,
        mr_alen: 0,
        mr_address: [0; 8],
    };
    set(socket, libc::PACKET_ADD_MEMBERSHIP, &member, "see other machines' packets")
}

pub(crate) fn attach(socket: &OwnedFd, filter: &mut [sock_filter]) -> Result<(), RingError> {
    let program = sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
    set_at(socket, libc::SOL_SOCKET, libc::SO_ATTACH_FILTER, &program, "attach the packet filter")
}

/// Room for so many bytes of packets that wait to be read; as much as is allowed without
/// `CAP_NET_ADMIN` (`rmem_max`).
pub(crate) fn hold(socket: &OwnedFd, bytes: c_int) -> Result<(), RingError> {
    let what = "make room for packets";
    set_at(socket, libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, &bytes, what)
        .or_else(|_| set_at(socket, libc::SOL_SOCKET, libc::SO_RCVBUF, &bytes, what))
}

pub(crate) fn set<T>(
    socket: &OwnedFd,
    name: c_int,
    value: &T,
    what: &'static str,
) -> Result<(), RingError> {
    set_at(socket, libc::SOL_PACKET, name, value, what)
}

fn set_at<T>(
    socket: &OwnedFd,
    level: c_int,
    name: c_int,
    value: &T,
    what: &'static str,
) -> Result<(), RingError> {
    let size = size_of::<T>() as socklen_t;
    // SAFETY: pointer and size are those of `value`.
    let done = unsafe {
        libc::setsockopt(socket.as_raw_fd(), level, name, ptr::from_ref(value).cast(), size)
    };
    if done < 0 {
        return Err(RingError::Failed(what, Error::last_os_error()));
    }
    Ok(())
}

/// What the kernel may write over.
///
/// # Safety
/// The type is made of numbers alone, so that every pattern of bits is one of its values.
pub(crate) unsafe trait Plain: Copy {}

// SAFETY: a number.
unsafe impl Plain for c_int {}
// SAFETY: numbers.
unsafe impl Plain for libc::tpacket_stats {}
// SAFETY: numbers.
unsafe impl Plain for libc::tpacket_stats_v3 {}

/// Reads an option over `value`.
pub(crate) fn read<T: Plain>(
    socket: &OwnedFd,
    level: c_int,
    name: c_int,
    mut value: T,
    what: &'static str,
) -> Result<T, RingError> {
    let mut size = size_of::<T>() as socklen_t;
    let to = (&raw mut value).cast();
    // SAFETY: pointer and size are those of `value`, and `T` is plain numbers.
    let done = unsafe { libc::getsockopt(socket.as_raw_fd(), level, name, to, &raw mut size) };
    if done < 0 {
        return Err(RingError::Failed(what, Error::last_os_error()));
    }
    Ok(value)
}
