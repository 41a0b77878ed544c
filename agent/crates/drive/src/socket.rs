//! TCP sockets, the few ways in which the driver uses them.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

/// A non-blocking TCP socket.
pub struct Socket(OwnedFd);

impl Socket {
    /// Begins to connect to `to`, from `source` when given. The port is chosen only when the
    /// connection is, so that one address serves as many connections as there are free pairs of
    /// ends, and not as there are ports (ip(7), IP_BIND_ADDRESS_NO_PORT).
    ///
    /// `kept`: it will carry more than one request. Only then can one of them have to wait for the
    /// acknowledgement of another's bytes, so only then is a call spent on TCP_NODELAY.
    pub fn connect(to: SocketAddr, source: Option<IpAddr>, kept: bool) -> io::Result<Self> {
        let family = if to.is_ipv4() { libc::AF_INET } else { libc::AF_INET6 };
        let kind = libc::SOCK_STREAM | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
        // SAFETY: no pointers; the descriptor that returns is owned by nobody else.
        let socket = unsafe {
            let fd = checked(libc::socket(family, kind, 0))?;
            Self(OwnedFd::from_raw_fd(fd))
        };
        if kept {
            socket.set(libc::IPPROTO_TCP, libc::TCP_NODELAY)?;
        }
        if let Some(source) = source {
            socket.set(libc::SOL_IP, libc::IP_BIND_ADDRESS_NO_PORT)?;
            let (address, length) = raw(SocketAddr::new(source, 0));
            // SAFETY: `address` is a socket address of `length` bytes.
            checked(unsafe { libc::bind(socket.fd(), (&raw const address).cast(), length) })?;
        }
        let (address, length) = raw(to);
        // SAFETY: as above.
        match checked(unsafe { libc::connect(socket.fd(), (&raw const address).cast(), length) }) {
            Err(error) if error.raw_os_error() != Some(libc::EINPROGRESS) => Err(error),
            _ => Ok(socket),
        }
    }

    /// The descriptor.
    pub fn fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }

    /// Sends what fits. `WouldBlock` also while the connection is being made.
    pub fn send(&self, bytes: &[u8]) -> io::Result<usize> {
        // SAFETY: the pointer and the length are those of one slice.
        let sent = unsafe {
            libc::send(self.fd(), bytes.as_ptr().cast(), bytes.len(), libc::MSG_NOSIGNAL)
        };
        usize::try_from(sent).map_err(|_| io::Error::last_os_error())
    }

    /// Receives what is there; 0 at the end of the stream.
    pub fn receive(&self, buffer: &mut [u8]) -> io::Result<usize> {
        // SAFETY: the pointer and the length are those of one writable slice.
        let got = unsafe { libc::recv(self.fd(), buffer.as_mut_ptr().cast(), buffer.len(), 0) };
        usize::try_from(got).map_err(|_| io::Error::last_os_error())
    }

    /// Whether the connection stands and the other side has not sent anything, its end included.
    pub fn is_quiet(&self) -> bool {
        let mut byte = 0u8;
        // SAFETY: the pointer is to a local of the length that is passed.
        let got = unsafe { libc::recv(self.fd(), (&raw mut byte).cast(), 1, libc::MSG_PEEK) };
        got < 0 && io::Error::last_os_error().kind() == io::ErrorKind::WouldBlock
    }

    /// Takes the error that the connection met, if any.
    pub fn take_error(&self) -> io::Result<()> {
        let mut error: libc::c_int = 0;
        let mut length = size_of::<libc::c_int>() as libc::socklen_t;
        // SAFETY: both pointers are to locals of the right size.
        checked(unsafe {
            libc::getsockopt(
                self.fd(),
                libc::SOL_SOCKET,
                libc::SO_ERROR,
                (&raw mut error).cast(),
                &raw mut length,
            )
        })?;
        if error == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(error)) }
    }

    fn set(&self, level: libc::c_int, option: libc::c_int) -> io::Result<()> {
        let on: libc::c_int = 1;
        // SAFETY: the pointer is to a local of the length that is passed.
        checked(unsafe {
            libc::setsockopt(
                self.fd(),
                level,
                option,
                (&raw const on).cast(),
                size_of::<libc::c_int>() as libc::socklen_t,
            )
        })?;
        Ok(())
    }
}

fn checked(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

fn raw(address: SocketAddr) -> (libc::sockaddr_storage, libc::socklen_t) {
    // SAFETY: all zeroes is a valid sockaddr_storage, which is large and aligned enough for both
    // kinds of address.
    unsafe {
        let mut storage: libc::sockaddr_storage = std::mem::zeroed();
        let length = match address {
            SocketAddr::V4(it) => {
                let into = (&raw mut storage).cast::<libc::sockaddr_in>();
                (*into).sin_family = libc::AF_INET as libc::sa_family_t;
                (*into).sin_port = it.port().to_be();
                (*into).sin_addr.s_addr = u32::from_ne_bytes(it.ip().octets());
                size_of::<libc::sockaddr_in>()
            }
            SocketAddr::V6(it) => {
                let into = (&raw mut storage).cast::<libc::sockaddr_in6>();
                (*into).sin6_family = libc::AF_INET6 as libc::sa_family_t;
                (*into).sin6_port = it.port().to_be();
                (*into).sin6_addr.s6_addr = it.ip().octets();
                (*into).sin6_scope_id = it.scope_id();
                size_of::<libc::sockaddr_in6>()
            }
        };
        (storage, length as libc::socklen_t)
    }
}
