//! Where visits and events go.

use crate::messages;
use crate::writer::{Batch, Writer};
use anyhow::{Result, bail};
use serde_json::json;
use std::path::Path;
use tierlab_dissect::{Event, Happening, Message, Sink, Visit};
use tierlab_record::Table;
use tierlab_record::tables::{EventRow, RawVisitRow};

/// A batch is handed over when it has this many rows or bytes of messages, or once a second.
const MOST_ROWS: usize = 16_384;
const MOST_BYTES: usize = 4 << 20;

/// The verb's tables: a batch that is being collected, and the thread that writes the full ones.
pub(crate) struct Tables {
    batch: Batch,
    writer: Option<Writer>,
    with_messages: bool,
    visit_count: u64,
}

impl Tables {
    pub(crate) fn create(out: &Path, verb: &str, with_messages: bool) -> Result<Self> {
        let writer = Some(Writer::start(out, verb, with_messages)?);
        Ok(Self { batch: Batch::default(), writer, with_messages, visit_count: 0 })
    }

    pub(crate) fn visit_count(&self) -> u64 {
        self.visit_count
    }

    /// There was no room for this many packets since the last look: in the ring, or for their
    /// connection.
    pub(crate) fn capture_drop(&mut self, t_ns: i64, duration_ns: i64, packets: u64) {
        let detail = json!({ "packets": packets }).to_string();
        self.event(t_ns, duration_ns, "capture_drop", "", &detail);
    }

    /// Sends what was collected on its way to disk. Fails if an earlier write did.
    pub(crate) fn flush(&mut self) -> Result<()> {
        if self.hand_over() {
            return Ok(());
        }
        self.close()?;
        bail!("the tables were closed before their end")
    }

    /// Waits until everything is on its way to disk.
    pub(crate) fn finish(mut self) -> Result<()> {
        self.flush()?;
        self.close()
    }

    fn hand_over(&mut self) -> bool {
        let batch = std::mem::take(&mut self.batch);
        self.writer.as_ref().is_some_and(|writer| writer.hand_over(batch))
    }

    /// A failure is told at the next flush.
    fn hand_over_if_full(&mut self) {
        let rows = self.batch.visits.len() + self.batch.events.len();
        if rows >= MOST_ROWS || self.batch.messages.len() >= MOST_BYTES {
            self.hand_over();
        }
    }

    fn close(&mut self) -> Result<()> {
        self.writer.take().map_or(Ok(()), Writer::finish)
    }

    fn event(&mut self, t_ns: i64, duration_ns: i64, kind: &str, subject: &str, detail: &str) {
        self.batch.events.push(EventRow { t_ns, duration_ns, kind, subject, detail });
        self.hand_over_if_full();
    }
}

impl Sink for Tables {
    fn visit(&mut self, visit: &Visit<'_>) {
        self.visit_count += 1;
        let upstream = visit.upstream.map(|connection| connection.to_string());
        self.batch.visits.push(RawVisitRow {
            visit: visit.visit,
            server: &visit.server.name,
            protocol: visit.server.protocol.name(),
            connection: visit.connection,
            arrival_ns: visit.arrival_ns,
            request_end_ns: visit.request_end_ns,
            reply_start_ns: visit.reply_start_ns,
            departure_ns: visit.departure_ns,
            label: visit.label,
            status: visit.status,
            bytes_in: visit.bytes_in,
            bytes_out: visit.bytes_out,
            upstream: upstream.as_deref(),
            id_hash: visit.id_hash,
            literals: visit.literals,
        });
        self.hand_over_if_full();
    }

    fn event(&mut self, event: &Event<'_>) {
        let (kind, mut detail) = match event.what {
            Happening::SynRetransmission { first_ns, attempt } => (
                "syn_retransmission",
                json!({ "since_first_ns": event.at_ns - first_ns, "attempt": attempt }),
            ),
            Happening::Retransmission { from, bytes } => {
                ("retransmission", json!({ "from": from.name(), "bytes": bytes }))
            }
            Happening::Gap { from, bytes } => {
                ("gap", json!({ "from": from.name(), "bytes": bytes }))
            }
            Happening::Opaque { reason } => ("opaque", json!({ "reason": reason })),
        };
        detail["client"] = json!(event.client.ip());
        detail["port"] = json!(event.client.port());
        detail["connection"] = json!(event.connection);
        self.event(event.at_ns, 0, kind, &event.server.name, &detail.to_string());
    }

    fn message(&mut self, message: &Message<'_>) {
        if self.with_messages {
            messages::push(message, &mut self.batch.messages);
            self.hand_over_if_full();
        }
    }
}
