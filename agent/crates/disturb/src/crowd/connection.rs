//! A connection, from an address of its own.

use std::io;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// Address `place` of a network of 2^20, from its first on and round.
pub fn nth(network: Ipv4Addr, place: usize) -> Ipv4Addr {
    let host = 1 + (place as u32 % ((1 << 20) - 2));
    Ipv4Addr::from_bits(network.to_bits() + host)
}

/// Begins to connect, without waiting.
pub fn connect(source: Option<Ipv4Addr>, target: SocketAddrV4) -> io::Result<OwnedFd> {
    // SAFETY: no pointer is passed; a descriptor that is returned is ours alone.
    let socket = unsafe {
        let kind = libc::SOCK_STREAM | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
        let fd = libc::socket(libc::AF_INET, kind, 0);
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        OwnedFd::from_raw_fd(fd)
    };
    let length = size_of::<libc::sockaddr_in>() as libc::socklen_t;
    if let Some(source) = source {
        let from = raw(SocketAddrV4::new(source, 0));
        // SAFETY: the address is a local of the length that is passed.
        if unsafe { libc::bind(socket.as_raw_fd(), (&raw const from).cast(), length) } < 0 {
            return Err(io::Error::last_os_error());
        }
    }
    let to = raw(target);
    // SAFETY: as above.
    if unsafe { libc::connect(socket.as_raw_fd(), (&raw const to).cast(), length) } < 0 {
        let error = io::Error::last_os_error();
        if error.raw_os_error() != Some(libc::EINPROGRESS) {
            return Err(error);
        }
    }
    Ok(socket)
}

fn raw(address: SocketAddrV4) -> libc::sockaddr_in {
    libc::sockaddr_in {
        sin_family: libc::AF_INET as libc::sa_family_t,
        sin_port: address.port().to_be(),
        sin_addr: libc::in_addr { s_addr: u32::from_ne_bytes(address.ip().octets()) },
        sin_zero: [0; 8],
    }
}
