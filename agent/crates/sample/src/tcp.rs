//! Table `tcp`: TCP of the sampled network namespace, from `/proc/self/net/snmp` (RFC 4022's
//! counters) and `/proc/self/net/netstat` (Linux's own). `established` is a level. `resets_in`
//! is RFC 4022's EstabResets, connections that a reset ended, which is as near as the kernel
//! counts; `listen_drops` includes the overflows. A segment that was sent again although the receiver
//! had it comes back as a duplicate (DSACK, RFC 2883): `spurious_retransmissions` counts those.
//!
//! netstat has some two hundred columns, more than all else that is read at a tick. What we want of
//! it counts trouble, and trouble shows elsewhere: in snmp's retransmissions, failed attempts and
//! resets, or in a watched socket's drops. It is read when one of these grew, and once a second for
//! what shows in none of them (a socket that is not watched), which is booked that much late.

use crate::counter::grown_of_32_bits;
use crate::events::EventLog;
use crate::kernel_file::KernelFile;
use crate::roots::Roots;
use crate::sampler::{NotMeasured, Sampler};
use crate::tally::Tally;
use crate::text::{lines, number, words};
use tierlab_record::Table;
use tierlab_record::clock::Moment;
use tierlab_record::tables::{Tcp, TcpRow};

const SNMP: [&str; 9] = [
    "CurrEstab",
    "ActiveOpens",
    "PassiveOpens",
    "AttemptFails",
    "EstabResets",
    "OutRsts",
    "InSegs",
    "OutSegs",
    "RetransSegs",
];
/// Of `SNMP`: what grows when a request or a segment was lost.
const TROUBLE: [usize; 3] = [3, 4, 8];
const SLOW_NS: i64 = 1_000_000_000;
const NETSTAT: [&str; 5] =
    ["TCPSynRetrans", "ListenOverflows", "ListenDrops", "TCPTimeouts", "TCPDSACKRecv"];

/// Samples TCP's counters.
pub struct TcpSampler {
    snmp: KernelFile,
    tcp: Columns<9>,
    netstat: Option<KernelFile>,
    tcp_ext: Columns<5>,
    /// netstat as it was last read, and when.
    ext: Option<(Moment, [Option<u64>; 5])>,
    drops: Tally,
    before: Option<(Moment, Counts)>,
}

#[derive(Clone, Copy)]
struct Counts {
    tcp: [Option<u64>; 9],
    ext: [Option<u64>; 5],
}

impl TcpSampler {
    /// Opens the files; without `netstat` its columns stay null. `drops` is asked whether a watched
    /// socket dropped something.
    pub fn open(roots: &Roots, drops: &Tally) -> Result<Self, NotMeasured> {
        let path = roots.proc.join("self/net/snmp");
        let snmp = KernelFile::open(&path).map_err(|error| NotMeasured::file(&path, &error))?;
        Ok(Self {
            snmp,
            tcp: Columns::new("Tcp:", SNMP),
            netstat: KernelFile::open(&roots.proc.join("self/net/netstat")).ok(),
            tcp_ext: Columns::new("TcpExt:", NETSTAT),
            ext: None,
            drops: drops.clone(),
            before: None,
        })
    }

    fn ext(&mut self, now: Moment, tcp: &[Option<u64>; 9]) -> [Option<u64>; 5] {
        if let Some((read, ext)) = self.ext
            && !self.is_troubled(read, now, tcp)
        {
            return ext;
        }
        let Some(netstat) = &mut self.netstat else { return [None; 5] };
        let ext = netstat.read().map_or([None; 5], |text| self.tcp_ext.read(text));
        self.ext = Some((now, ext));
        ext
    }

    /// Whether netstat may say something else than when it was read.
    fn is_troubled(&self, read: Moment, now: Moment, tcp: &[Option<u64>; 9]) -> bool {
        let before = self.before.map_or([None; 9], |(_, counts)| counts.tcp);
        now.monotonic_ns - read.monotonic_ns >= SLOW_NS
            || self.drops.grew_since(read.monotonic_ns)
            || TROUBLE.iter().any(|at| tcp[*at].is_none() || tcp[*at] != before[*at])
    }
}

impl Sampler for TcpSampler {
    type Table = Tcp;

    fn sample(&mut self, now: Moment, table: &mut Tcp, _events: &mut EventLog) {
        let tcp = self.snmp.read().map_or([None; 9], |text| self.tcp.read(text));
        let ext = self.ext(now, &tcp);
        let Some((earlier, before)) = self.before.replace((now, Counts { tcp, ext })) else {
            return;
        };
        // They have 32 bits on 32-bit kernels, and a namespace's never start anew.
        let tcp_grew = |index: usize| grown_of_32_bits(before.tcp[index], tcp[index]);
        let ext_grew = |index: usize| grown_of_32_bits(before.ext[index], ext[index]);
        table.push(TcpRow {
            t_ns: now.t_ns,
            dt_ns: now.since(earlier),
            subject: "host",
            established: tcp[0].map(|level| level as i64),
            active_opens: tcp_grew(1),
            passive_opens: tcp_grew(2),
            attempt_fails: tcp_grew(3),
            resets_in: tcp_grew(4),
            resets_out: tcp_grew(5),
            segments_in: tcp_grew(6),
            segments_out: tcp_grew(7),
            retransmissions: tcp_grew(8),
            syn_retransmissions: ext_grew(0),
            listen_overflows: ext_grew(1),
            listen_drops: ext_grew(2),
            timeouts: ext_grew(3),
            spurious_retransmissions: ext_grew(4),
        });
    }

    fn missing_columns(&self) -> Vec<(&'static str, String)> {
        const OF_TCP: [&str; 9] = [
            "established",
            "active_opens",
            "passive_opens",
            "attempt_fails",
            "resets_in",
            "resets_out",
            "segments_in",
            "segments_out",
            "retransmissions",
        ];
        const OF_EXT: [&str; 5] = [
            "syn_retransmissions",
            "listen_overflows",
            "listen_drops",
            "timeouts",
            "spurious_retransmissions",
        ];
        let tcp = self.tcp.missing().map(|at| (OF_TCP[at], SNMP[at]));
        let tcp = tcp.map(|(column, key)| (column, format!("/proc/net/snmp has no {key}")));
        let ext = self.tcp_ext.missing().map(|at| (OF_EXT[at], NETSTAT[at]));
        let ext = ext.map(|(column, key)| match self.netstat {
            Some(_) => (column, format!("/proc/net/netstat has no {key}")),
            None => (column, "/proc/net/netstat cannot be read".to_owned()),
        });
        tcp.chain(ext).collect()
    }
}

/// Named columns of a pair of lines with one prefix: the names, then the values.
struct Columns<const N: usize> {
    prefix: &'static str,
    names: [&'static str; N],
    /// Where each name stands in the line, once the line of names was seen.
    places: Option<[Option<usize>; N]>,
}

impl<const N: usize> Columns<N> {
    fn new(prefix: &'static str, names: [&'static str; N]) -> Self {
        Self { prefix, names, places: None }
    }

    /// The value of every name; `None` where the kernel does not have it.
    fn read(&mut self, text: &[u8]) -> [Option<u64>; N] {
        let mut pair = lines(text).filter(|line| line.starts_with(self.prefix.as_bytes()));
        let (Some(names), Some(values)) = (pair.next(), pair.next()) else { return [None; N] };
        let places = self.places.get_or_insert_with(|| {
            self.names.map(|wanted| words(names).position(|name| name == wanted.as_bytes()))
        });
        let mut found = [None; N];
        let last = places.iter().flatten().max().map_or(0, |last| last + 1);
        for (at, value) in words(values).enumerate().take(last) {
            if let Some(index) = places.iter().position(|place| *place == Some(at)) {
                found[index] = number(value);
            }
        }
        found
    }

    fn missing(&self) -> impl Iterator<Item = usize> {
        let places = self.places.unwrap_or([None; N]);
        (0..N).filter(move |index| places[*index].is_none())
    }
}
