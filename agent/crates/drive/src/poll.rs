//! Waiting for sockets: epoll(7), edge-triggered, with a timeout in nanoseconds.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

/// What happened at a socket.
#[derive(Clone, Copy)]
pub struct Ready {
    /// The mark given when the socket was added.
    pub mark: u64,
    flags: u32,
}

impl Ready {
    /// The connection failed or was reset.
    pub fn failed(self) -> bool {
        self.flags & libc::EPOLLERR as u32 != 0
    }

    /// The other side will send no more.
    pub fn ended(self) -> bool {
        self.flags & (libc::EPOLLRDHUP | libc::EPOLLHUP) as u32 != 0
    }

    /// There is something to receive, be it an end or an error.
    pub fn readable(self) -> bool {
        self.flags & libc::EPOLLIN as u32 != 0 || self.ended() || self.failed()
    }
}

/// A set of sockets to wait for.
pub struct Poll {
    epoll: OwnedFd,
    events: Vec<libc::epoll_event>,
}

impl Poll {
    /// An empty set that reports up to `batch` sockets at a time.
    pub fn new(batch: usize) -> io::Result<Self> {
        // SAFETY: no pointers; the descriptor that returns is owned by nobody else.
        let epoll = unsafe {
            let fd = libc::epoll_create1(libc::EPOLL_CLOEXEC);
            if fd < 0 {
                return Err(io::Error::last_os_error());
            }
            OwnedFd::from_raw_fd(fd)
        };
        Ok(Self { epoll, events: vec![libc::epoll_event { events: 0, u64: 0 }; batch] })
    }

    /// Adds a socket that one will receive from and, if `sending`, wants to send to; it leaves the
    /// set when it is closed.
    pub fn add(&self, fd: RawFd, mark: u64, sending: bool) -> io::Result<()> {
        self.control(libc::EPOLL_CTL_ADD, fd, mark, sending)
    }

    /// Has a socket of the set reported also when it takes more; at once, if it does already.
    pub fn wait_for_room(&self, fd: RawFd, mark: u64) -> io::Result<()> {
        self.control(libc::EPOLL_CTL_MOD, fd, mark, true)
    }

    fn control(
        &self,
        operation: libc::c_int,
        fd: RawFd,
        mark: u64,
        sending: bool,
    ) -> io::Result<()> {
        let flags = libc::EPOLLIN | libc::EPOLLRDHUP | libc::EPOLLET;
        let flags = if sending { flags | libc::EPOLLOUT } else { flags };
        let mut event = libc::epoll_event { events: flags as u32, u64: mark };
        // SAFETY: `event` is a local; the kernel copies it.
        let result =
            unsafe { libc::epoll_ctl(self.epoll.as_raw_fd(), operation, fd, &raw mut event) };
        if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }

    /// Waits at most `timeout_ns`, and returns how many sockets are ready: see [`Poll::ready`].
    /// A signal ends the wait with none.
    pub fn wait(&mut self, timeout_ns: i64) -> io::Result<usize> {
        let timeout = libc::timespec {
            tv_sec: timeout_ns.max(0) / 1_000_000_000,
            tv_nsec: timeout_ns.max(0) % 1_000_000_000,
        };
        // SAFETY: the array and its length belong together; `timeout` is a local; no signal mask.
        let count = unsafe {
            libc::syscall(
                libc::SYS_epoll_pwait2,
                self.epoll.as_raw_fd(),
                self.events.as_mut_ptr(),
                self.events.len() as libc::c_int,
                &raw const timeout,
                std::ptr::null::<libc::sigset_t>(),
                0usize,
            )
        };
        match usize::try_from(count) {
            Ok(count) => Ok(count),
            Err(_) => match io::Error::last_os_error() {
                error if error.kind() == io::ErrorKind::Interrupted => Ok(0),
                error => Err(error),
            },
        }
    }

    /// The socket at `place` among those that the last wait reported.
    pub fn ready(&self, place: usize) -> Ready {
        let event = self.events[place];
        Ready { mark: event.u64, flags: event.events }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::socket::Socket;
    use std::io::{ErrorKind, Read};
    use std::net::TcpListener;
    use std::time::Duration;

    /// All that is there.
    fn drain(stream: &mut impl Read) {
        let mut buffer = vec![0; 1 << 20];
        while stream.read(&mut buffer).is_ok_and(|got| got > 0) {}
    }

    #[test]
    fn a_socket_of_the_set_that_was_full_is_reported_once_it_takes_more() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let to = listener.local_addr().expect("it is bound");
        let socket = Socket::connect(to, None, true).expect("somebody listens");
        let (mut other, _) = listener.accept().expect("it was connected to");
        other.set_read_timeout(Some(Duration::from_millis(200))).expect("a timeout");
        let mut poll = Poll::new(4).expect("an empty set");
        poll.add(socket.fd(), 7, false).expect("it is open");
        let full = loop {
            if let Err(error) = socket.send(&[0; 64 << 10]) {
                break error.kind();
            }
        };
        assert_eq!(full, ErrorKind::WouldBlock);
        poll.wait_for_room(socket.fd(), 7).expect("it is in the set");
        drain(&mut other);
        assert_eq!(poll.wait(1_000_000_000).expect("a set"), 1);
        assert_eq!((poll.ready(0).mark, poll.ready(0).readable()), (7, false));
        assert!(socket.send(b"more").is_ok());
    }
}
