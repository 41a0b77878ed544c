//! Several rings on one interface, among which the kernel shares out the connections
//! (PACKET_FANOUT_HASH, packet(7)). Its hash is the same for both directions of a connection.

use crate::ring::{Ring, RingError};
use libc::{c_int, sock_filter};

/// As PACKET_IGNORE_OUTGOING, for a group.
const IGNORE_OUTGOING: c_int = libc::PACKET_FANOUT_FLAG_IGNORE_OUTGOING as c_int;
/// The kernel finds a number for the group that nobody has.
const UNIQUE_ID: c_int = libc::PACKET_FANOUT_FLAG_UNIQUEID as c_int;
const HASH: c_int = libc::PACKET_FANOUT_HASH as c_int;
/// The number's part of the option's value.
const NUMBER: c_int = 0xffff;

/// Opens so many rings, which together have about `bytes`, for the packets that pass `filter`.
pub(crate) fn open(
    interface: &str,
    bytes: usize,
    filter: &mut [sock_filter],
    count: usize,
) -> Result<Vec<Ring>, RingError> {
    // Until all are there, none takes a packet: it would be another's, too.
    let mut nothing =
        [sock_filter { code: (libc::BPF_RET | libc::BPF_K) as u16, jt: 0, jf: 0, k: 0 }];
    let mut rings: Vec<Ring> = Vec::new();
    for _ in 0..count {
        let ring = Ring::open(interface, bytes / count, &mut nothing)?;
        let flags = HASH | if ring.is_on_loopback() { IGNORE_OUTGOING } else { 0 };
        let group = match rings.first() {
            None => (flags | UNIQUE_ID) << 16,
            Some(first) => (first.option(libc::PACKET_FANOUT)? & NUMBER) | flags << 16,
        };
        ring.set_option(libc::PACKET_FANOUT, group, "share packets out among several rings")?;
        rings.push(ring);
    }
    for ring in &rings {
        ring.attach(filter)?;
    }
    Ok(rings)
}
