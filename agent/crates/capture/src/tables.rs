//! Where visits and events go.

use crate::memory::PAIRING_BYTES;
use crate::messages;
use anyhow::Result;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;
use tierlab_dissect::{
    Clue, Event, EventKind, Message, Pairing, Server, Sink, Visit, connection_hash,
};
use tierlab_record::priority::Role;
use tierlab_record::tables::{EventRow, Events, RawVisitRow, RawVisits};
use tierlab_record::{Lines, Rows, WhenFull, Writer};

/// The verb's tables, and the thread that writes them. A ring's reader waits for it only when much
/// waits for the disk; what the kernel drops meanwhile is counted. They take what is said of all
/// connections, which they pair where a server passes through.
pub struct Tables {
    servers: Arc<[Server]>,
    pairing: Pairing,
    writer: Writer,
    visits: Rows<RawVisits>,
    events: Rows<Events>,
    /// If messages are wanted.
    messages: Option<Rows<Lines>>,
    visit_count: u64,
    /// What is added to the numbers of visits and connections.
    first: i64,
}

/// A second source of visits in a run numbers its own from here on.
const BESIDE: i64 = 1 << 40;

impl Tables {
    pub(crate) fn create(
        out: &Path,
        verb: &str,
        servers: &Arc<[Server]>,
        with_messages: bool,
    ) -> Result<Self> {
        let writer = Writer::start(WhenFull::Wait, Role::Observer)?;
        let visits = writer.table(out)?;
        Self::with(writer, visits, out, verb, servers, with_messages, 0)
    }

    /// Tables for another source of visits beside a capture's: `<source>.raw_visits` and
    /// `<verb>.events`, with numbers that the capture does not use.
    ///
    /// # Errors
    /// When a table cannot be created.
    pub fn beside(out: &Path, source: &str, verb: &str, servers: &Arc<[Server]>) -> Result<Self> {
        let writer = Writer::start(WhenFull::Wait, Role::Observer)?;
        let visits = writer.table_as(out, &format!("{source}.raw_visits"))?;
        Self::with(writer, visits, out, verb, servers, false, BESIDE)
    }

    fn with(
        writer: Writer,
        visits: Rows<RawVisits>,
        out: &Path,
        verb: &str,
        servers: &Arc<[Server]>,
        with_messages: bool,
        first: i64,
    ) -> Result<Self> {
        let events = writer.table_as(out, &format!("{verb}.events"))?;
        let lines = || writer.lines(out.join("messages.jsonl"));
        let messages = with_messages.then(lines).transpose()?;
        let (servers, pairing) = (Arc::clone(servers), Pairing::new(servers, PAIRING_BYTES));
        Ok(Self { servers, pairing, writer, visits, events, messages, visit_count: 0, first })
    }

    pub(crate) fn has_messages(&self) -> bool {
        self.messages.is_some()
    }

    pub(crate) fn visit_count(&self) -> u64 {
        self.visit_count
    }

    /// There was no room in the ring for this many packets since the last look.
    pub(crate) fn capture_drop(&mut self, t_ns: i64, duration_ns: i64, packets: u64) {
        let detail = json!({ "packets": packets }).to_string();
        self.event(t_ns, duration_ns, "capture_drop", "", &detail);
    }

    /// The captured interface was down.
    pub(crate) fn interface_down(&mut self, t_ns: i64, duration_ns: i64) {
        self.event(t_ns, duration_ns, "interface_down", "", "{}");
    }

    /// Hands over what was collected.
    ///
    /// # Errors
    /// When anything could not be written.
    pub fn flush(&mut self) -> Result<()> {
        self.visits.hand_over();
        self.events.hand_over();
        self.messages.iter_mut().for_each(Rows::hand_over);
        Ok(self.writer.check()?)
    }

    /// Says a line on standard output, without waiting for who reads it.
    pub(crate) fn say(&self, line: Value) {
        self.writer.say(line);
    }

    /// Waits until everything is written.
    ///
    /// # Errors
    /// When anything could not be written.
    pub fn finish(mut self) -> Result<()> {
        self.flush()?;
        Ok(self.writer.finish()?)
    }

    fn event(&mut self, t_ns: i64, duration_ns: i64, kind: &str, subject: &str, detail: &str) {
        self.events.push(EventRow { t_ns, duration_ns, kind, subject, detail });
    }
}

impl Sink for Tables {
    fn visit(&mut self, visit: &Visit<'_>) {
        let upstream = self.pairing.visited(visit.connection).map(|it| it.to_string());
        let server = &self.servers[visit.server];
        self.visits.push(RawVisitRow {
            visit: self.first + self.visit_count as i64,
            server: &server.name,
            protocol: server.protocol.name(),
            connection: self.first + visit.connection,
            arrival_ns: visit.arrival_ns,
            request_end_ns: visit.request_end_ns,
            reply_start_ns: visit.reply_start_ns,
            departure_ns: visit.departure_ns,
            closed_ns: visit.closed_ns,
            may_wait_ns: visit.may_wait_ns,
            label: visit.label,
            status: visit.status,
            bytes_in: visit.bytes_in,
            bytes_out: visit.bytes_out,
            upstream: upstream.as_deref(),
            id_hash: visit.id_hash,
            literals: visit.literals,
            endpoints: connection_hash(visit.client, server.endpoint()),
        });
        self.visit_count += 1;
    }

    fn event(&mut self, event: &Event) {
        let (kind, mut detail) = match event.what {
            EventKind::SynRetransmission { first_ns, attempt } => (
                "syn_retransmission",
                json!({ "since_first_ns": event.at_ns - first_ns, "attempt": attempt }),
            ),
            EventKind::Retransmission { from, bytes, captured_before } => (
                "retransmission",
                json!({ "from": from.name(), "bytes": bytes, "captured_before": captured_before }),
            ),
            EventKind::Gap { from, bytes } => {
                ("gap", json!({ "from": from.name(), "bytes": bytes }))
            }
            EventKind::Forgotten => ("forgotten", json!({})),
            EventKind::Opaque { reason } => ("opaque", json!({ "reason": reason })),
        };
        detail["client"] = json!(event.client.ip());
        detail["port"] = json!(event.client.port());
        detail["connection"] = json!(event.connection);
        let servers = Arc::clone(&self.servers);
        self.event(event.at_ns, 0, kind, &servers[event.server].name, &detail.to_string());
    }

    fn message(&mut self, message: &Message) {
        if let Some(lines) = &mut self.messages {
            let server = &self.servers[message.server];
            lines.batch().push(|text| messages::push(message, server, text));
            lines.hand_over_if_full();
        }
    }

    fn clue(&mut self, clue: Clue) {
        self.pairing.clue(clue);
    }
}
