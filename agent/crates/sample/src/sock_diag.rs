//! The kernel's list of listening TCP sockets: netlink(7), sock_diag(7), linux/inet_diag.h.

use crate::netlink::{HEADER, Netlink, attributes, cut, header, u32_at};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

const NETLINK_SOCK_DIAG: i32 = 4;
const SOCK_DIAG_BY_FAMILY: u16 = 20;
const TCP_LISTEN: u32 = 10;
/// A `struct inet_diag_req_v2`.
const REQUEST: usize = 56;
/// A `struct inet_diag_msg`.
const ANSWER: usize = 72;
/// Places in a request: the local port and address of a `struct inet_diag_sockid`.
const PORT: usize = HEADER + 8;
const ADDRESS: usize = HEADER + 12;
/// Places in an answer: the socket's state and its inode.
const STATE: usize = 1;
const INODE: usize = 68;
/// The attribute with the socket's memory, and the place of its drops in it (sock_diag.h).
const SKMEMINFO: u16 = 7;
const SK_MEMINFO_DROPS: usize = 8;
/// The attribute that a listening socket of IPv6 has unasked: whether it is of IPv6 alone.
const SKV6ONLY: u16 = 11;

/// A listening socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListenSocket {
    /// Where it listens.
    pub address: IpAddr,
    /// The port.
    pub port: u16,
    /// Whether one of IPv6 takes no connections of IPv4 (IPV6_V6ONLY of ipv6(7)).
    pub is_v6_only: bool,
    /// Connections that wait to be accepted.
    pub queue: u32,
    /// How many may wait.
    pub backlog: u32,
    /// Connection requests that it dropped since it was made; `None` where the kernel does not say.
    pub drops: Option<u32>,
}

/// A netlink socket that asks for listening sockets.
pub struct SockDiag(Netlink);

/// Requests for single sockets, made once and sent often.
pub struct Lookups {
    requests: Vec<u8>,
    count: usize,
}

impl Lookups {
    /// For the sockets that a connection to each of these would reach.
    pub fn new(targets: impl Iterator<Item = (IpAddr, u16)>) -> Self {
        let mut requests = Vec::new();
        let mut count = 0;
        for (address, port) in targets {
            requests.extend_from_slice(&lookup(count as u32, address.to_canonical(), port));
            count += 1;
        }
        Self { requests, count }
    }
}

impl SockDiag {
    /// Opens the socket; it stays with the network namespace of the caller.
    pub fn open() -> io::Result<Self> {
        Netlink::open(NETLINK_SOCK_DIAG).map(Self)
    }

    /// Calls `each` for every listening socket, IPv4 and IPv6.
    pub fn listening(&mut self, mut each: impl FnMut(ListenSocket)) -> io::Result<()> {
        self.dump(libc::AF_INET, &mut each)?;
        match self.dump(libc::AF_INET6, &mut each) {
            // A kernel without IPv6 has no such sockets.
            Err(error) if error.raw_os_error() == Some(libc::ENOENT) => Ok(()),
            answered => answered,
        }
    }

    fn dump(&mut self, family: i32, each: &mut impl FnMut(ListenSocket)) -> io::Result<()> {
        let mut whole = true;
        self.0.list(&request(family as u8, libc::NLM_F_DUMP, 0), |message| {
            match socket(message.body) {
                Some(socket) => each(socket),
                None => whole = false,
            }
        })?;
        if whole { Ok(()) } else { Err(cut()) }
    }

    /// Calls `each` with the number of the look-up and the socket that it found, for those that
    /// found one.
    pub fn look_up(
        &mut self,
        lookups: &Lookups,
        mut each: impl FnMut(usize, ListenSocket),
    ) -> io::Result<()> {
        self.0.ask(&lookups.requests, lookups.count, |number, answer| {
            match answer {
                Ok(body) => each(number, socket(body).ok_or_else(cut)?),
                Err(error) if error.raw_os_error() == Some(libc::ENOENT) => {}
                Err(error) => return Err(error),
            }
            Ok(())
        })
    }
}

impl SockDiag {
    /// The inode of the socket at this end of a connection; none if there is no such connection, or no
    /// process holds it.
    pub fn inode(&mut self, local: SocketAddr, remote: SocketAddr) -> io::Result<Option<u64>> {
        let mut found = None;
        self.0.ask(&end(local, remote), 1, |_, answer| {
            match answer {
                // Where there is no such connection the kernel answers with who listens at this end.
                Ok(body) if body.get(STATE).is_some_and(|&it| u32::from(it) == TCP_LISTEN) => {}
                Ok(body) => found = Some(u32_at(body, INODE).ok_or_else(cut)?),
                Err(error) if error.raw_os_error() == Some(libc::ENOENT) => {}
                Err(error) => return Err(error),
            }
            Ok(())
        })?;
        Ok(found.map(u64::from).filter(|&inode| inode != 0))
    }
}

/// A request for the socket at this end of a connection, whatever its state.
fn end(local: SocketAddr, remote: SocketAddr) -> [u8; HEADER + REQUEST] {
    const REMOTE_PORT: usize = HEADER + 10;
    const REMOTE: usize = HEADER + 28;
    let mut bytes = lookup(0, remote.ip(), remote.port());
    // The kernel looks for it as for a segment that comes from the remote end.
    bytes.copy_within(PORT..PORT + 2, REMOTE_PORT);
    bytes.copy_within(ADDRESS..ADDRESS + 16, REMOTE);
    let own = lookup(0, local.ip(), local.port());
    bytes[PORT..PORT + 2].copy_from_slice(&own[PORT..PORT + 2]);
    bytes[ADDRESS..ADDRESS + 16].copy_from_slice(&own[ADDRESS..ADDRESS + 16]);
    bytes[HEADER + 4..HEADER + 8].fill(0xff);
    bytes
}

fn request(family: u8, flags: i32, number: u32) -> [u8; HEADER + REQUEST] {
    let mut bytes = [0; HEADER + REQUEST];
    bytes[..HEADER].copy_from_slice(&header(SOCK_DIAG_BY_FAMILY, flags, number, REQUEST));
    bytes[HEADER] = family;
    bytes[HEADER + 1] = libc::IPPROTO_TCP as u8;
    bytes[HEADER + 2] = 1 << (SKMEMINFO - 1);
    bytes[HEADER + 4..HEADER + 8].copy_from_slice(&(1u32 << TCP_LISTEN).to_ne_bytes());
    bytes
}

/// A request for the socket that a connection to this address and port would reach.
fn lookup(number: u32, address: IpAddr, port: u16) -> [u8; HEADER + REQUEST] {
    const COOKIE: usize = HEADER + 48;
    let family = if address.is_ipv4() { libc::AF_INET } else { libc::AF_INET6 };
    let mut bytes = request(family as u8, 0, number);
    bytes[PORT..PORT + 2].copy_from_slice(&port.to_be_bytes());
    match address {
        IpAddr::V4(address) => {
            bytes[ADDRESS..ADDRESS + 4].copy_from_slice(&address.octets());
        }
        IpAddr::V6(address) => {
            bytes[ADDRESS..ADDRESS + 16].copy_from_slice(&address.octets());
        }
    }
    // INET_DIAG_NOCOOKIE: whichever socket it is.
    bytes[COOKIE..COOKIE + 8].fill(0xff);
    bytes
}

/// What an answer says; `None` where it was cut off.
fn socket(message: &[u8]) -> Option<ListenSocket> {
    let fixed = message.get(..ANSWER)?;
    let mut source = [0; 16];
    source.copy_from_slice(&fixed[8..24]);
    let address = if i32::from(fixed[0]) == libc::AF_INET {
        IpAddr::V4(Ipv4Addr::new(source[0], source[1], source[2], source[3]))
    } else {
        IpAddr::V6(Ipv6Addr::from(source))
    };
    let find = |wanted| attributes(&message[ANSWER..]).find(|(kind, _)| *kind == wanted);
    Some(ListenSocket {
        address,
        port: u16::from_be_bytes([fixed[4], fixed[5]]),
        is_v6_only: find(SKV6ONLY).is_some_and(|(_, value)| value.first() == Some(&1)),
        queue: u32_at(fixed, 56)?,
        backlog: u32_at(fixed, 60)?,
        drops: find(SKMEMINFO).and_then(|(_, memory)| u32_at(memory, SK_MEMINFO_DROPS * 4)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream};
    use std::os::fd::AsRawFd;

    fn find(address: SocketAddr) -> Option<ListenSocket> {
        let mut found = None;
        SockDiag::open()
            .unwrap()
            .listening(|socket| {
                if socket.port == address.port() && socket.address == address.ip() {
                    found = Some(socket);
                }
            })
            .unwrap();
        found
    }

    #[test]
    fn unaccepted_connections_are_the_queue() {
        for address in ["127.0.0.1:0", "[::1]:0"] {
            let Ok(listener) = TcpListener::bind(address) else { continue };
            let address = listener.local_addr().unwrap();
            assert_eq!(find(address).unwrap().queue, 0);
            let _waiting: Vec<_> = (0..5).map(|_| TcpStream::connect(address).unwrap()).collect();
            assert_eq!(find(address).unwrap().queue, 5);
            assert_eq!(find(address).unwrap().backlog, 128);
            listener.accept().unwrap();
            assert_eq!(find(address).unwrap().queue, 4);
            drop(listener);
            assert_eq!(find(address), None);
        }
    }

    #[test]
    fn a_look_up_finds_what_a_connection_would_reach() {
        for bound in ["127.0.0.1:0", "0.0.0.0:0", "[::]:0", "[::ffff:127.0.0.1]:0"] {
            let Ok(listener) = TcpListener::bind(bound) else { continue };
            let port = listener.local_addr().unwrap().port();
            let _waiting: Vec<_> =
                (0..3).map(|_| TcpStream::connect(("127.0.0.1", port)).unwrap()).collect();
            let here = IpAddr::from([127, 0, 0, 1]);
            let lookups = Lookups::new([(here, 1), (here, port)].into_iter());
            let mut diag = SockDiag::open().unwrap();
            for _ in 0..2 {
                let mut found = Vec::new();
                diag.look_up(&lookups, |number, socket| found.push((number, socket))).unwrap();
                assert_eq!(found.len(), 1, "{bound}");
                assert_eq!((found[0].0, found[0].1.queue, found[0].1.port), (1, 3, port));
            }
        }
    }

    #[test]
    fn the_end_of_a_connection_is_found_as_long_as_it_is_held() {
        for address in ["127.0.0.1:0", "[::1]:0"] {
            let Ok(listener) = TcpListener::bind(address) else { continue };
            let remote = listener.local_addr().unwrap();
            let client = TcpStream::connect(remote).unwrap();
            let local = client.local_addr().unwrap();
            let link = std::fs::read_link(format!("/proc/self/fd/{}", client.as_raw_fd())).unwrap();
            let mut diag = SockDiag::open().unwrap();
            let inode = diag.inode(local, remote).unwrap().unwrap();
            assert_eq!(link.to_str().unwrap(), format!("socket:[{inode}]"));
            drop((client, listener));
            assert_eq!(diag.inode(local, remote).unwrap(), None);
        }
    }

    #[test]
    fn who_listens_on_a_stranger_s_port_is_not_the_end_of_its_connection() {
        let listener = TcpListener::bind("0.0.0.0:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (stranger, server) = (([10, 9, 0, 1], port).into(), ([10, 8, 8, 8], 80).into());
        assert_eq!(SockDiag::open().unwrap().inode(stranger, server).unwrap(), None);
    }

    #[test]
    fn a_cut_answer_is_no_socket_and_never_a_panic() {
        let whole = [libc::AF_INET as u8; ANSWER];
        assert_eq!(socket(&whole).unwrap().drops, None);
        for length in 0..whole.len() {
            assert_eq!(socket(&whole[..length]), None, "{length}");
        }
    }

    #[test]
    fn what_a_full_queue_drops_is_counted() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        // SAFETY: listen(2) takes no pointer; it sets the backlog anew.
        assert_eq!(unsafe { libc::listen(listener.as_raw_fd(), 0) }, 0);
        let address = listener.local_addr().unwrap();
        let before = find(address).unwrap().drops.unwrap();
        let patience = std::time::Duration::from_millis(20);
        let _waiting: Vec<_> =
            (0..5).map(|_| TcpStream::connect_timeout(&address, patience)).collect();
        assert!(find(address).unwrap().drops.unwrap() > before);
    }
}
