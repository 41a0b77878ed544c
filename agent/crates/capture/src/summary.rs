//! What the verb says on standard output: JSON lines, for whoever started it.

use crate::chunk::Chunk;
use crate::pcap::FileEnd;
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use tierlab_dissect::LeftOut;
use tierlab_record::clock::{Moment, process_cpu_ns};
use tierlab_record::priority::Scheduling;
use tierlab_record::status::say;

/// What was seen, lost and spent so far.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(crate) struct Summary {
    /// Frames that the kernel handed over, or that the file holds.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Packets that the kernel had no room for.
    pub drops: u64,
    pub visits: u64,
    /// Connections that are open.
    pub connections: u64,
    /// Connections that were forgotten because memory was needed for others.
    pub crowded_out: u64,
    /// How often the interface went down.
    pub interface_downs: u64,
    /// Since when it is down.
    #[serde(skip)]
    pub down_since: Option<Moment>,
    /// Bytes of a file's last record, which is cut short.
    pub cut_bytes: u64,
    /// Bytes of a file from the first record with an impossible length to the end: not read.
    pub unread_bytes: u64,
    /// How the thread that reads the ring is scheduled.
    pub scheduling: Scheduling,
    /// CPU time of the process.
    pub cpu_ns: i64,
}

impl Summary {
    /// These frames were read.
    pub(crate) fn add(&mut self, chunk: &Chunk) {
        self.packets += chunk.frame_count();
        self.bytes += chunk.frame_bytes();
    }

    /// This was not read at the file's end.
    pub(crate) fn add_end(&mut self, end: FileEnd) {
        self.cut_bytes = end.cut_bytes;
        self.unread_bytes = end.damaged_bytes;
    }

    /// This was seen on another ring.
    pub(crate) fn add_ring(&mut self, other: &Self) {
        self.packets += other.packets;
        self.bytes += other.bytes;
        self.drops += other.drops;
        self.connections += other.connections;
        self.crowded_out += other.crowded_out;
        // All rings are on the same interface.
        self.interface_downs = self.interface_downs.max(other.interface_downs);
        self.down_since = self.down_since.or(other.down_since);
    }

    /// The ring is open; packets are being captured.
    pub(crate) fn ready() {
        say(&json!({ "ready": true }));
    }

    pub(crate) fn progress(mut self) -> Value {
        self.cpu_ns = process_cpu_ns();
        json!({ "progress": self })
    }

    pub(crate) fn last(mut self) {
        self.cpu_ns = process_cpu_ns();
        say(&json!({ "summary": self }));
    }

    /// The same of a file, with the frames that brought nothing.
    pub(crate) fn last_of_file(mut self, left_out: &LeftOut) {
        self.cpu_ns = process_cpu_ns();
        let unread: BTreeMap<String, u64> =
            left_out.unread.iter().map(|(why, &count)| (why.to_string(), count)).collect();
        let LeftOut { copies, not_tcp, of_no_server, .. } = left_out;
        let left_out = json!({
            "copies": copies,
            "not_tcp": not_tcp,
            "of_no_server": of_no_server,
            "unread": unread,
        });
        say(&json!({ "summary": self, "left_out": left_out }));
    }
}
