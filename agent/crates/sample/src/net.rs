//! Table `net`: interfaces of the sampled network namespace from `/proc/self/net/dev`, and what they
//! hold back from their queueing disciplines (`qdisc`).
//!
//! The descriptors stay with the namespace in which they were opened.

use crate::counter::increase;
use crate::events::EventLog;
use crate::kernel_file::KernelFile;
use crate::qdisc::{Queue, Queues, interface_number};
use crate::roots::Roots;
use crate::sampler::{NotMeasured, Sampler};
use crate::text::{lines, number, words};
use tierlab_record::Table;
use tierlab_record::clock::Moment;
use tierlab_record::tables::{Net, NetRow};

/// Of the 16 columns: bytes, packets, errors and drops, in and out.
const COLUMNS: [usize; 8] = [0, 1, 2, 3, 8, 9, 10, 11];

/// Samples network interfaces.
pub struct NetSampler {
    dev: KernelFile,
    /// Or why there are none.
    queues: Result<Queues, String>,
    interfaces: Vec<Interface>,
    round: u64,
}

struct Interface {
    name: String,
    number: u32,
    before: Option<(Moment, [u64; 8])>,
    seen: u64,
}

impl NetSampler {
    /// Opens `/proc/self/net/dev`; without queueing disciplines their columns stay null.
    pub fn open(roots: &Roots) -> Result<Self, NotMeasured> {
        let path = roots.proc.join("self/net/dev");
        let dev = KernelFile::open(&path).map_err(|error| NotMeasured::file(&path, &error))?;
        let queues = if roots.live {
            Queues::open().map_err(|error| format!("queueing disciplines over rtnetlink: {error}"))
        } else {
            Err("only a running kernel tells of queueing disciplines".to_owned())
        };
        Ok(Self { dev, queues, interfaces: Vec::new(), round: 0 })
    }
}

impl Sampler for NetSampler {
    type Table = Net;

    fn sample(&mut self, now: Moment, table: &mut Net, events: &mut EventLog) {
        let Ok(text) = self.dev.read_records() else { return };
        self.round += 1;
        if let Ok(queues) = &mut self.queues {
            queues.look(now);
        }
        for (name, columns) in lines(text).skip(2).filter_map(interface_line) {
            let known = self.interfaces.iter().position(|known| known.name.as_bytes() == name);
            let at = known.unwrap_or_else(|| {
                let name = String::from_utf8_lossy(name).into_owned();
                let number = interface_number(&name);
                self.interfaces.push(Interface { name, number, before: None, seen: 0 });
                self.interfaces.len() - 1
            });
            let interface = &mut self.interfaces[at];
            interface.seen = self.round;
            let queue = self.queues.as_ref().ok().and_then(|queues| queues.of(interface.number));
            interface.sample(now, columns, queue, table, events);
        }
        let round = self.round;
        self.interfaces.retain(|interface| {
            let stays = interface.seen == round;
            if !stays {
                events.at(now, "interface_gone", &interface.name, "it is no longer there");
            }
            stays
        });
    }

    fn missing_columns(&self) -> Vec<(&'static str, String)> {
        const OF_QUEUES: [&str; 3] = ["queued_packets", "queued_bytes", "queue_drops"];
        match &self.queues {
            Ok(_) => Vec::new(),
            Err(reason) => OF_QUEUES.map(|column| (column, reason.clone())).to_vec(),
        }
    }
}

/// Of `  eth0: 493459771 12890 0 ...`.
fn interface_line(line: &[u8]) -> Option<(&[u8], [u64; 8])> {
    let colon = memchr::memrchr(b':', line)?;
    let name = words(&line[..colon]).next()?;
    let mut all = [0; 16];
    let mut rest = words(&line[colon + 1..]);
    for column in &mut all {
        *column = number(rest.next()?)?;
    }
    Some((name, COLUMNS.map(|at| all[at])))
}

impl Interface {
    fn sample(
        &mut self,
        now: Moment,
        columns: [u64; 8],
        queue: Option<Queue>,
        table: &mut Net,
        events: &mut EventLog,
    ) {
        let Some((earlier, before)) = self.before.replace((now, columns)) else { return };
        let mut grew = [0; 8];
        for (index, grew) in grew.iter_mut().enumerate() {
            let Some(by) = increase(before[index], columns[index]) else {
                let detail = "its counters started anew: the interface was made again";
                events.at(now, "counter_reset", &self.name, detail);
                self.number = interface_number(&self.name);
                return;
            };
            *grew = by as i64;
        }
        table.push(NetRow {
            t_ns: now.t_ns,
            dt_ns: now.since(earlier),
            subject: &self.name,
            bytes_in: grew[0],
            packets_in: grew[1],
            errors_in: grew[2],
            drops_in: grew[3],
            bytes_out: grew[4],
            packets_out: grew[5],
            errors_out: grew[6],
            drops_out: grew[7],
            queued_packets: queue.map(|queue| queue.packets),
            queued_bytes: queue.map(|queue| queue.bytes),
            queue_drops: queue.and_then(|queue| queue.drops),
        });
    }
}
