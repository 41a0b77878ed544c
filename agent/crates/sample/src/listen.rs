//! Table `listen`: the accept queues of the planned listening sockets, over inet_diag (sock_diag(7)).
//!
//! For a listening socket the kernel reports the connections that wait to be accepted as `rqueue`
//! and the backlog as `wqueue`; one connection more than the backlog fits. Sockets that share a
//! port (SO_REUSEPORT) are added up. `drops` are the packets that the very socket dropped (sk_drops):
//! connection requests, what clients sent on connections that it could not take yet, and, where it
//! waits for data before it accepts (TCP_DEFER_ACCEPT of tcp(7)), the acknowledgement that ends every
//! handshake. Requests alone are `listen_drops` of table `tcp`.
//!
//! Asking for one socket takes the kernel a few microseconds, listing all of them some ten times as
//! long, since it walks a large hash table. So they are listed once a second and asked for one by
//! one in between, unless the list shows sockets that share a port, of which only one would answer.

use crate::counter::grown_of_32_bits;
use crate::events::EventLog;
use crate::plan::Listener;
use crate::sampler::{NotMeasured, Sampler};
use crate::sock_diag::{ListenSocket, Lookups, SockDiag};
use crate::tally::Tally;
use std::net::IpAddr;
use tierlab_record::Table;
use tierlab_record::clock::Moment;
use tierlab_record::tables::{Listen, ListenRow};

/// Samples listening sockets.
pub struct ListenSampler {
    diag: SockDiag,
    lookups: Lookups,
    watched: Vec<Watched>,
    shared: bool,
    list_due_ns: i64,
    before: Option<Moment>,
    all_drops: Tally,
}

struct Watched {
    listener: Listener,
    address: String,
    there: bool,
    drops_before: Option<u64>,
    found: Found,
}

/// What the sockets of one listener are together.
#[derive(Clone, Copy, Default)]
struct Found {
    sockets: u32,
    accept_queue: i64,
    backlog: i64,
    drops: Option<u64>,
}

const LIST_NS: i64 = 1_000_000_000;

impl ListenSampler {
    /// Opens the socket in the caller's network namespace. `drops` is told of the sockets' drops.
    pub fn open(listeners: &[Listener], drops: &Tally) -> Result<Self, NotMeasured> {
        if listeners.is_empty() {
            return Err(NotMeasured("the plan names no listening sockets".to_owned()));
        }
        let mut diag = SockDiag::open()
            .map_err(|error| NotMeasured(format!("sock_diag netlink socket: {error}")))?;
        diag.listening(|_| {}).map_err(|error| NotMeasured(format!("inet_diag: {error}")))?;
        let watched = listeners
            .iter()
            .map(|listener| Watched {
                listener: listener.clone(),
                address: listener.address.to_string(),
                there: false,
                drops_before: None,
                found: Found::default(),
            })
            .collect();
        let targets = listeners.iter().map(|listener| (listener.address, listener.port));
        let lookups = Lookups::new(targets);
        let (shared, list_due_ns, before, all_drops) = (false, 0, None, drops.clone());
        Ok(Self { diag, lookups, watched, shared, list_due_ns, before, all_drops })
    }
}

impl ListenSampler {
    fn list(&mut self) -> std::io::Result<()> {
        let watched = &mut self.watched;
        self.diag.listening(|socket| {
            for watched in watched.iter_mut().filter(|watched| serves(&socket, &watched.listener)) {
                watched.found.add(&socket);
            }
        })?;
        self.shared = self.watched.iter().any(|watched| watched.found.sockets > 1);
        Ok(())
    }

    fn look_up(&mut self) -> std::io::Result<()> {
        let watched = &mut self.watched;
        self.diag.look_up(&self.lookups, |number, socket| {
            if let Some(watched) = watched.get_mut(number) {
                watched.found.add(&socket);
            }
        })
    }

    /// What all watched sockets have dropped; `None` unless the kernel says it of each.
    fn drops(&self) -> Option<u64> {
        let there = self.watched.iter().filter(|watched| watched.found.sockets > 0);
        there.map(|watched| watched.found.drops).sum()
    }
}

impl Sampler for ListenSampler {
    type Table = Listen;

    fn sample(&mut self, now: Moment, table: &mut Listen, events: &mut EventLog) {
        for watched in &mut self.watched {
            watched.found = Found::default();
        }
        let answered = if self.shared || now.monotonic_ns >= self.list_due_ns {
            self.list_due_ns = now.monotonic_ns + LIST_NS;
            self.list()
        } else {
            self.look_up()
        };
        if answered.is_err() {
            // What is left of the answers would be taken for those of the next question.
            if let Ok(fresh) = SockDiag::open() {
                self.diag = fresh;
            }
            self.all_drops.tell(None, now);
            return;
        }
        self.all_drops.tell(self.drops(), now);
        let dt_ns = self.before.replace(now).map(|earlier| now.since(earlier));
        for watched in &mut self.watched {
            watched.tell(now, events);
            let drops_before = std::mem::replace(&mut watched.drops_before, watched.found.drops);
            let (Some(dt_ns), true) = (dt_ns, watched.there) else { continue };
            table.push(ListenRow {
                t_ns: now.t_ns,
                dt_ns,
                subject: &watched.listener.subject,
                address: &watched.address,
                port: i32::from(watched.listener.port),
                accept_queue: watched.found.accept_queue,
                backlog: watched.found.backlog,
                drops: grown_of_32_bits(drops_before, watched.found.drops),
            });
        }
    }
}

impl Found {
    fn add(&mut self, socket: &ListenSocket) {
        let drops = socket.drops.map(u64::from);
        self.drops =
            if self.sockets == 0 { drops } else { self.drops.zip(drops).map(|(a, b)| a + b) };
        self.sockets += 1;
        self.accept_queue += i64::from(socket.queue);
        self.backlog += i64::from(socket.backlog);
    }
}

impl Watched {
    /// Records that the socket came or went.
    fn tell(&mut self, now: Moment, events: &mut EventLog) {
        let there = self.found.sockets > 0;
        if there != self.there {
            self.there = there;
            let kind = if there { "listen_start" } else { "listen_end" };
            let detail = format!("{}:{}", self.address, self.listener.port);
            events.at(now, kind, &self.listener.subject, &detail);
        }
    }
}

/// A socket bound to every address serves each of them: one of IPv4 those of IPv4, one of IPv6 all,
/// unless it is of IPv6 alone.
fn serves(socket: &ListenSocket, listener: &Listener) -> bool {
    let (bound, wanted) = (socket.address.to_canonical(), listener.address.to_canonical());
    let every = match (bound, wanted) {
        (IpAddr::V4(bound), wanted) => bound.is_unspecified() && wanted.is_ipv4(),
        (IpAddr::V6(bound), IpAddr::V4(_)) => bound.is_unspecified() && !socket.is_v6_only,
        (IpAddr::V6(bound), IpAddr::V6(_)) => bound.is_unspecified(),
    };
    socket.port == listener.port && (bound == wanted || every)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{Ipv6Addr, TcpListener};
    use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

    #[test]
    fn a_socket_bound_to_every_address_serves_those_of_its_kind() {
        let serves = |bound: &str, is_v6_only, wanted: &str| {
            let (address, port) = (bound.parse().unwrap(), 80);
            let (queue, backlog, drops) = (0, 511, None);
            let socket = ListenSocket { address, port, is_v6_only, queue, backlog, drops };
            let address = wanted.parse().unwrap();
            serves(&socket, &Listener { subject: "web.1".to_owned(), address, port })
        };
        for (bound, is_v6_only, wanted, expected) in [
            ("0.0.0.0", false, "127.0.0.1", true),
            ("0.0.0.0", false, "::1", false),
            ("::", false, "127.0.0.1", true),
            ("::", true, "127.0.0.1", false),
            ("::", true, "::1", true),
            ("::ffff:127.0.0.1", false, "127.0.0.1", true),
            ("127.0.0.2", false, "127.0.0.1", false),
        ] {
            assert_eq!(serves(bound, is_v6_only, wanted), expected, "{bound} {wanted}");
        }
    }

    /// Whether the kernel has IPv6: then the tests below must find it.
    fn has_ipv6() -> bool {
        std::path::Path::new("/proc/net/if_inet6").exists()
    }

    /// A socket of IPv6 alone that listens at every address; none where that fails.
    fn v6_only(port: u16) -> Option<OwnedFd> {
        // SAFETY: the descriptor is checked before it is owned, and what is pointed to outlives
        // the calls and has the sizes that are given.
        unsafe {
            let fd = libc::socket(libc::AF_INET6, libc::SOCK_STREAM | libc::SOCK_CLOEXEC, 0);
            let socket = (fd >= 0).then(|| OwnedFd::from_raw_fd(fd))?;
            let (level, name, on) = (libc::IPPROTO_IPV6, libc::IPV6_V6ONLY, 1);
            let size = size_of::<libc::c_int>() as u32;
            let set = libc::setsockopt(fd, level, name, (&raw const on).cast(), size);
            let mut address: libc::sockaddr_in6 = std::mem::zeroed();
            address.sin6_family = libc::AF_INET6 as u16;
            address.sin6_port = port.to_be();
            let size = size_of::<libc::sockaddr_in6>() as u32;
            let bound = libc::bind(fd, (&raw const address).cast(), size);
            (set == 0 && bound == 0 && libc::listen(fd, 511) == 0).then_some(socket)
        }
    }

    fn found(address: IpAddr, port: u16) -> (Found, bool) {
        let listener = Listener { subject: "web.1".to_owned(), address, port };
        let mut sampler = ListenSampler::open(&[listener], &Tally::default()).unwrap();
        sampler.list().unwrap();
        (sampler.watched[0].found, sampler.shared)
    }

    #[test]
    fn a_socket_of_ipv6_alone_is_none_of_an_address_of_ipv4() {
        let listener = TcpListener::bind("0.0.0.0:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        // SAFETY: listen(2) takes no pointer; it sets the backlog anew.
        assert_eq!(unsafe { libc::listen(listener.as_raw_fd(), 511) }, 0);
        let beside = v6_only(port);
        assert_eq!(beside.is_some(), has_ipv6());
        if beside.is_none() {
            return;
        }
        for address in [IpAddr::from([127, 0, 0, 1]), Ipv6Addr::LOCALHOST.into()] {
            let (found, shared) = found(address, port);
            assert_eq!((found.sockets, shared), (1, false), "{address}");
            assert!(found.backlog > 0 && found.backlog <= 511, "{address}: {}", found.backlog);
        }
    }

    #[test]
    fn a_socket_of_both_kinds_serves_each() {
        if !has_ipv6() {
            return;
        }
        let listener = TcpListener::bind("[::]:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        for address in [IpAddr::from([127, 0, 0, 1]), Ipv6Addr::LOCALHOST.into()] {
            assert_eq!(found(address, port).0.sockets, 1, "{address}");
        }
    }
}
