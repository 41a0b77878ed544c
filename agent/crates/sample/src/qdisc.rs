//! What interfaces hold back before they send: their queueing disciplines, tc(8), over rtnetlink(7).
//!
//! An interface's root discipline counts what its children hold (linux/gen_stats.h). A loopback is
//! made with `noqueue`, which holds nothing: such an interface has no figures here. One may get a
//! discipline at any time, so all are listed once a second. It is the dearest of all questions: at
//! every tick they are listed only while one holds packets, or is there to hold them back, as any is
//! but those that the kernel gives interfaces of itself.

use crate::counter::grown_of_32_bits;
use crate::netlink::{HEADER, Message, Netlink, attributes, header, u32_at};
use std::ffi::CString;
use std::io;
use tierlab_record::clock::Moment;

/// A `struct tcmsg`, and the places of its members.
const TCMSG: usize = 20;
const INTERFACE: usize = 4;
const HANDLE: usize = 8;
const PARENT: usize = 12;
/// The parent of an interface's root discipline.
const ROOT: u32 = u32::MAX;
/// Attributes: the discipline's name; its figures, of which we want those of its queue.
const TCA_KIND: u16 = 1;
const TCA_STATS2: u16 = 7;
const TCA_STATS_QUEUE: u16 = 3;

/// Kinds that hold nothing, and those that net.core.default_qdisc is likely to name: they send as
/// fast as the interface does.
const UNSHAPED: [&[u8]; 7] =
    [b"noqueue", b"ingress", b"clsact", b"pfifo_fast", b"mq", b"fq", b"fq_codel"];

const LIST_NS: i64 = 1_000_000_000;

/// What an interface holds back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Queue {
    /// Packets that wait.
    pub packets: i64,
    /// Their bytes.
    pub bytes: i64,
    /// Packets dropped since the tick before; `None` if this discipline was not looked at then.
    pub drops: Option<i64>,
}

/// The queues of every interface that has one.
pub struct Queues {
    netlink: Netlink,
    listings: Listings,
}

/// What was listed at the last ticks.
#[derive(Default)]
struct Listings {
    roots: Vec<Root>,
    /// As they were at the tick before, which `drops` count from; none if they were not listed then.
    before: Vec<Root>,
    /// Whether there is a discipline that holds packets back, or may at any moment.
    watched: bool,
    /// Whether they were listed at this tick.
    listed: bool,
    due_ns: i64,
}

/// A root discipline that can hold something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Root {
    interface: u32,
    handle: u32,
    packets: u32,
    bytes: u32,
    drops: u32,
}

impl Queues {
    /// Opens a socket that stays with the network namespace of the caller.
    pub fn open() -> io::Result<Self> {
        let netlink = Netlink::open(libc::NETLINK_ROUTE)?;
        let mut queues = Self { netlink, listings: Listings::default() };
        // A kernel without traffic control says so here.
        queues.list()?;
        Ok(queues)
    }

    /// Takes the figures of this tick, if they are due.
    pub fn look(&mut self, now: Moment) {
        if self.listings.begin(now) && self.list().is_err() {
            self.listings.roots.clear();
            self.listings.due_ns = 0;
            // What is left of the answers would be taken for those of the next question.
            if let Ok(fresh) = Netlink::open(libc::NETLINK_ROUTE) {
                self.netlink = fresh;
            }
        }
    }

    /// What the interface of this number holds back, if it can hold something and was looked at.
    pub fn of(&self, interface: u32) -> Option<Queue> {
        self.listings.of(interface)
    }

    fn list(&mut self) -> io::Result<()> {
        let mut request = [0; HEADER + TCMSG];
        let head = header(libc::RTM_GETQDISC, libc::NLM_F_DUMP, 0, TCMSG);
        request[..HEADER].copy_from_slice(&head);
        let (roots, mut shaped) = (&mut self.listings.roots, false);
        roots.clear();
        self.netlink.list(&request, |message| {
            shaped |= is_shaped(&message);
            roots.extend(Root::of(&message));
        })?;
        self.listings.watched = shaped || roots.iter().any(|root| root.packets > 0);
        Ok(())
    }
}

impl Listings {
    /// Begins a tick: whether they are to be listed at it.
    fn begin(&mut self, now: Moment) -> bool {
        let followed = self.listed;
        self.listed = self.watched || now.monotonic_ns >= self.due_ns;
        if self.listed {
            self.due_ns = now.monotonic_ns + LIST_NS;
            std::mem::swap(&mut self.roots, &mut self.before);
            if !followed {
                // Their drops may be as old as the last listing, a second; a row's are its tick's.
                self.before.clear();
            }
        }
        self.listed
    }

    fn of(&self, interface: u32) -> Option<Queue> {
        let mut roots = self.roots.iter().filter(|_| self.listed);
        let root = roots.find(|root| root.interface == interface)?;
        let was = |before: &&Root| (before.interface, before.handle);
        let same = self.before.iter().find(|before| was(before) == was(&root));
        let before = same.map(|same| same.drops.into());
        Some(Queue {
            packets: root.packets.into(),
            bytes: root.bytes.into(),
            drops: grown_of_32_bits(before, Some(root.drops.into())),
        })
    }
}

impl Root {
    /// What a message says of a root discipline that can hold something and tells how much.
    fn of(message: &Message<'_>) -> Option<Self> {
        let body = message.body;
        let rest = body.get(TCMSG..)?;
        let find = |wanted| attributes(rest).find(|(kind, _)| *kind == wanted);
        let (_, name) = find(TCA_KIND)?;
        if message.kind != libc::RTM_NEWQDISC
            || u32_at(body, PARENT)? != ROOT
            || name.starts_with(b"noqueue\0")
        {
            return None;
        }
        let (_, stats) = find(TCA_STATS2)?;
        let (_, queue) = attributes(stats).find(|(kind, _)| *kind == TCA_STATS_QUEUE)?;
        Some(Self {
            interface: u32_at(body, INTERFACE)?,
            handle: u32_at(body, HANDLE)?,
            packets: u32_at(queue, 0)?,
            bytes: u32_at(queue, 4)?,
            drops: u32_at(queue, 8)?,
        })
    }
}

/// Whether a message says of a discipline, a root or not, that is there to hold packets back.
fn is_shaped(message: &Message<'_>) -> bool {
    let rest = message.body.get(TCMSG..).unwrap_or_default();
    let name = attributes(rest).find(|(kind, _)| *kind == TCA_KIND);
    let shaped = |name: &[u8]| !UNSHAPED.contains(&name.strip_suffix(b"\0").unwrap_or(name));
    message.kind == libc::RTM_NEWQDISC && name.is_some_and(|(_, name)| shaped(name))
}

/// The number of the interface of this name; 0, which is nobody's, when there is none.
pub fn interface_number(name: &str) -> u32 {
    let Ok(name) = CString::new(name) else { return 0 };
    // SAFETY: `name` is a text that ends with 0 and outlives the call.
    unsafe { libc::if_nametoindex(name.as_ptr()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attribute(kind: u16, value: &[u8]) -> Vec<u8> {
        let mut bytes = ((4 + value.len()) as u16).to_ne_bytes().to_vec();
        bytes.extend(kind.to_ne_bytes());
        bytes.extend(value);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes
    }

    /// A message about a discipline of interface 7 that holds 3 packets of 4,500 bytes.
    fn body(name: &[u8], parent: u32) -> Vec<u8> {
        let mut bytes = vec![0; 4];
        for member in [7, 0x10000, parent, 2] {
            bytes.extend(u32::to_ne_bytes(member));
        }
        bytes.extend(attribute(TCA_KIND, name));
        let queue: Vec<u8> = [3u32, 4500, 9, 0, 0].into_iter().flat_map(u32::to_ne_bytes).collect();
        bytes.extend(attribute(TCA_STATS2, &attribute(TCA_STATS_QUEUE, &queue)));
        bytes
    }

    fn root(body: &[u8]) -> Option<Root> {
        Root::of(&Message { kind: libc::RTM_NEWQDISC, number: 0, body })
    }

    #[test]
    fn only_a_root_that_can_hold_something_is_one() {
        let htb = Root { interface: 7, handle: 0x10000, packets: 3, bytes: 4500, drops: 9 };
        assert_eq!(root(&body(b"htb\0", ROOT)), Some(htb));
        assert_eq!(root(&body(b"noqueue\0", ROOT)), None);
        assert_eq!(root(&body(b"tbf\0", 0x10001)), None);
        assert_eq!(root(&body(b"ingress\0", 0xffff_fff1)), None);
    }

    #[test]
    fn a_cut_message_is_no_root_and_never_a_panic() {
        let whole = body(b"htb\0", ROOT);
        for length in 0..whole.len() - 8 {
            assert_eq!(root(&whole[..length]), None, "{length}");
        }
    }

    #[test]
    fn another_discipline_does_not_continue_the_count_of_the_one_before() {
        let root = |handle, drops| Root { interface: 1, handle, packets: 0, bytes: 0, drops };
        for (before, now, drops) in [
            (vec![root(1, 3)], root(1, 5), Some(2)),
            (vec![root(1, 3)], root(2, 5), None),
            (vec![root(1, 3)], root(1, 1), None),
            (vec![], root(1, 5), None),
        ] {
            let listings =
                Listings { before, roots: vec![now], listed: true, ..Listings::default() };
            assert_eq!(listings.of(1).unwrap().drops, drops);
            assert_eq!(listings.of(2), None);
        }
    }

    #[test]
    fn drops_are_those_since_the_tick_before_or_unknown() {
        let root = Root { interface: 1, handle: 1, packets: 0, bytes: 0, drops: 3 };
        let before = |listed| {
            let roots = vec![root];
            let mut listings = Listings { roots, listed, watched: true, ..Listings::default() };
            assert!(listings.begin(Moment { t_ns: 0, monotonic_ns: 1 }));
            listings.before
        };
        assert_eq!(before(true), [root]);
        assert!(before(false).is_empty());
    }

    #[test]
    fn a_discipline_that_shapes_is_one_wherever_it_hangs() {
        let shaped = |name, parent| {
            let body = body(name, parent);
            is_shaped(&Message { kind: libc::RTM_NEWQDISC, number: 0, body: &body })
        };
        assert!(shaped(b"htb\0", ROOT) && shaped(b"tbf\0", 0x10001) && shaped(b"pfifo\0", ROOT));
        assert!(!shaped(b"pfifo_fast\0", ROOT) && !shaped(b"fq\0", 0x10001));
        assert!(!is_shaped(&Message { kind: libc::RTM_NEWQDISC, number: 0, body: &[] }));
    }

    #[test]
    fn unshaped_interfaces_are_looked_at_once_a_second() {
        let mut listings = Listings::default();
        let mut is_listed = |ms: i64, watched: bool| {
            listings.watched = watched;
            listings.begin(Moment { t_ns: 0, monotonic_ns: ms * 1_000_000 })
        };
        assert!(is_listed(1, false));
        assert!(!is_listed(51, false));
        assert!(is_listed(101, true));
        assert!(!is_listed(1100, false));
        assert!(is_listed(1101, false));
    }
}
