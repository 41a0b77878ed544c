//! What the kernel's part says, one event a turn at a socket (`bpf/trace.bpf.c`, `struct event`).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use tierlab_dissect::Peer;

/// What a thread may be doing, in the order of the kernel's part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum State {
    OnCpu,
    Runnable,
    Throttled,
    Stopped,
    Disk,
    Lock,
    Call,
    Connecting,
    Other,
}

/// How many states there are.
pub const STATES: usize = 9;

/// A thread's time in each state, in nanoseconds since it was first seen.
pub type Times = [u64; STATES];

/// Which end of its connection a socket is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The end that took the connection.
    Server,
    /// The end that opened it.
    Client,
}

/// Which way bytes went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// The thread read them.
    Received,
    /// The thread wrote them.
    Sent,
}

/// The socket of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ends<'a> {
    /// TCP: its own end, and the other.
    Inet {
        /// The calling thread's end.
        local: Peer,
        /// The other end.
        remote: Peer,
    },
    /// A UNIX stream socket, with what was read or written of it.
    Unix {
        /// The address of the other end's structure in the kernel.
        peer: u64,
        /// The number of the own end's inode.
        inode: u64,
        /// The server's path; an abstract name begins with `@`.
        path: &'a [u8],
        /// The bytes, or the first of them.
        payload: &'a [u8],
    },
}

/// What the kernel's part says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Report<'a> {
    /// A thread read from or wrote to a socket.
    Turn(Event<'a>),
    /// A thread was stopped or throttled for at least a millisecond.
    Pause(Pause),
}

/// A thread was not allowed to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pause {
    /// From when on, by the monotonic clock.
    pub from_ns: u64,
    /// Until when.
    pub to_ns: u64,
    /// The process.
    pub process: u32,
    /// The thread.
    pub thread: u32,
    /// The subject that it belongs to: its place in the plan.
    pub subject: usize,
    /// By its control group's quota; else by a signal, a debugger or the freezer.
    pub throttled: bool,
}

/// A thread read from or wrote to a socket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event<'a> {
    /// When, by the monotonic clock.
    pub monotonic_ns: u64,
    /// The address of the socket's structure in the kernel.
    pub socket: u64,
    /// The process.
    pub process: u32,
    /// The thread.
    pub thread: u32,
    /// Who works on requests: the thread, or the goroutine that it runs.
    pub worker: u64,
    /// The subject that it belongs to: its place in the plan.
    pub subject: usize,
    /// How many bytes.
    pub bytes: u32,
    /// Which way they went.
    pub direction: Direction,
    /// Which end the thread's is.
    pub role: Role,
    /// The thread called or replied while another call of its own had no reply.
    pub overlaps: bool,
    /// The thread's times until now.
    pub times: Times,
    /// The system call in which it slept longest for anything but locks, calls and disks since it
    /// began to read the request; none if it did not.
    pub longest_call: Option<u32>,
    /// The socket.
    pub ends: Ends<'a>,
}

const AF_UNIX: u8 = 1;
const AF_INET: u8 = 2;
const TIMES: usize = 24;
const EVENT: usize = 168;
const PATH: usize = EVENT + 12;
const PATH_BYTES: usize = 108;
/// Of `struct unix_event`, where the bytes begin.
const PAYLOAD: usize = PATH + PATH_BYTES;
const PAUSED: u8 = 3;

impl<'a> Report<'a> {
    /// Reads what is in the ring. None if it is no report of this version's.
    pub fn parse(bytes: &'a [u8]) -> Option<Self> {
        if *bytes.get(152)? != PAUSED {
            return Event::parse(bytes).map(Self::Turn);
        }
        Some(Self::Pause(Pause {
            from_ns: long(bytes, 16)?,
            to_ns: long(bytes, 0)?,
            process: word(bytes, 96)?,
            thread: word(bytes, 100)?,
            subject: word(bytes, 104)? as usize,
            throttled: usize::from(*bytes.get(153)?) == State::Throttled as usize,
        }))
    }
}

impl<'a> Event<'a> {
    fn parse(bytes: &'a [u8]) -> Option<Self> {
        let byte = |at: usize| bytes.get(at).copied();
        let ends = match byte(154)? {
            AF_UNIX => {
                let length = word(bytes, EVENT + 8)? as usize;
                Ends::Unix {
                    peer: long(bytes, 16)?,
                    inode: long(bytes, EVENT)?,
                    path: bytes.get(PATH..PAYLOAD)?.get(..length)?,
                    payload: bytes.get(PAYLOAD..)?,
                }
            }
            family => Ends::Inet {
                local: Peer { address: address(bytes, 120, family)?, port: half(bytes, 116)? },
                remote: Peer { address: address(bytes, 136, family)?, port: half(bytes, 118)? },
            },
        };
        let mut times = Times::default();
        for (at, time) in times.iter_mut().enumerate() {
            *time = long(bytes, TIMES + 8 * at)?;
        }
        Some(Self {
            monotonic_ns: long(bytes, 0)?,
            socket: long(bytes, 8)?,
            process: word(bytes, 96)?,
            thread: word(bytes, 100)?,
            worker: long(bytes, 160)?,
            subject: word(bytes, 104)? as usize,
            bytes: word(bytes, 108)?,
            direction: if byte(152)? == 1 { Direction::Received } else { Direction::Sent },
            role: if byte(153)? == 1 { Role::Server } else { Role::Client },
            overlaps: byte(155)? != 0,
            times,
            longest_call: word(bytes, 112).filter(|&it| it != u32::MAX),
            ends,
        })
    }
}

fn address(bytes: &[u8], at: usize, family: u8) -> Option<IpAddr> {
    let octets = bytes.get(at..)?.first_chunk::<16>()?;
    Some(match family {
        AF_INET => Ipv4Addr::from(*octets.first_chunk::<4>()?).into(),
        _ => Ipv6Addr::from(*octets).to_canonical(),
    })
}

fn long(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..)?.first_chunk().map(|it| u64::from_ne_bytes(*it))
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|it| u32::from_ne_bytes(*it))
}

fn half(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..)?.first_chunk().map(|it| u16::from_ne_bytes(*it))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An event of the kernel's part, field by field as `struct event` has them.
    fn event(direction: u8, family: u8) -> Vec<u8> {
        let mut bytes = Vec::new();
        for long in [1_000_u64, 2, 3].into_iter().chain(10..19) {
            bytes.extend(long.to_ne_bytes());
        }
        for word in [100_u32, 101, 5, 42, u32::MAX] {
            bytes.extend(word.to_ne_bytes());
        }
        for port in [8080_u16, 40_000] {
            bytes.extend(port.to_ne_bytes());
        }
        bytes.extend([127, 0, 0, 1].into_iter().chain([0; 12]));
        bytes.extend([127, 0, 0, 2].into_iter().chain([0; 12]));
        bytes.extend([direction, 1, family, 1, 0, 0, 0, 0]);
        bytes.extend(0xc0_0000_2000_u64.to_ne_bytes());
        bytes
    }

    /// The same at a UNIX socket: `struct unix_event`.
    fn at_socket() -> Vec<u8> {
        let mut bytes = event(2, AF_UNIX);
        bytes.extend(77_u64.to_ne_bytes());
        bytes.extend(4_u32.to_ne_bytes());
        bytes.extend(b"/run".iter().copied().chain([0; PATH_BYTES - 4]));
        bytes.extend(b"hello");
        bytes
    }

    #[test]
    fn an_event_says_who_read_what_where() {
        let bytes = event(1, AF_INET);
        let Some(Report::Turn(found)) = Report::parse(&bytes) else { panic!("no turn") };
        assert_eq!((found.monotonic_ns, found.socket, found.bytes), (1_000, 2, 42));
        assert_eq!((found.process, found.thread, found.subject), (100, 101, 5));
        assert_eq!((found.worker, found.overlaps), (0xc0_0000_2000, true));
        assert_eq!((found.direction, found.role), (Direction::Received, Role::Server));
        assert_eq!(found.times, [10, 11, 12, 13, 14, 15, 16, 17, 18]);
        assert_eq!(found.longest_call, None);
        let local = Peer { address: [127, 0, 0, 1].into(), port: 8080 };
        let remote = Peer { address: [127, 0, 0, 2].into(), port: 40_000 };
        assert_eq!(found.ends, Ends::Inet { local, remote });
    }

    #[test]
    fn an_event_at_a_unix_socket_has_its_path_and_what_was_written() {
        let bytes = at_socket();
        let Some(Report::Turn(found)) = Report::parse(&bytes) else { panic!("no turn") };
        let (path, payload) = (&b"/run"[..], &b"hello"[..]);
        assert_eq!(found.ends, Ends::Unix { peer: 3, inode: 77, path, payload });
    }

    #[test]
    fn whatever_is_cut_off_or_damaged_is_no_panic() {
        for whole in [event(1, AF_INET), event(PAUSED, 0), at_socket()] {
            for length in 0..whole.len() {
                let _ = Report::parse(&whole[..length]);
                let mut damaged = whole.clone();
                damaged[length] ^= 0xff;
                let _ = Report::parse(&damaged);
            }
        }
    }
}
