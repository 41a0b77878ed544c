//! The tables on disk: `raw_visits` in, `visits` out.

use crate::names::{Name, Names};
use crate::topology::{Server, Topology};
use crate::visit::{Linked, Span, Visit};
use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type, UInt64Type};
use arrow_array::{Array, ArrayRef, Int64Array, RecordBatch, StringArray};
use arrow_ipc::reader::StreamReader;
use arrow_schema::{ArrowError, SchemaRef};
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use tierlab_dissect::Protocol;
use tierlab_record::tables::{RawVisits, VisitRow, Visits};
use tierlab_record::{Rows, Table};

/// Why raw visits cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// There is no such file, or it may not be read.
    #[error("cannot open {path}: {source}")]
    Open {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The bytes are not an Arrow stream.
    #[error("{path} is not an Arrow IPC stream ({source}): give the raw_visits of a capture")]
    NotArrow {
        /// The file.
        path: PathBuf,
        /// What Arrow said.
        source: ArrowError,
    },
    /// The stream holds another table.
    #[error("{path} does not have the columns of raw_visits: give the raw_visits of a capture")]
    NotRawVisits {
        /// The file.
        path: PathBuf,
    },
}

/// The texts that rows refer to by number.
pub struct Words {
    names: Names,
    servers: Names,
    lent: Vec<Name>,
}

impl Words {
    /// The words of a capture of `topology`, whose servers keep their numbers; a server that it
    /// does not name gets one of its own.
    pub fn new(topology: &Topology) -> Self {
        let mut names = Names::default();
        let mut servers = Names::default();
        let lent = Protocol::ALL.iter().filter(|it| it.is_lent());
        let lent = lent.map(|it| names.number(it.name())).collect();
        for name in topology.names() {
            servers.number(name);
        }
        Self { names, servers, lent }
    }
}

/// Reads `raw_visits`, batch by batch.
pub struct RawReader {
    stream: StreamReader<BufReader<File>>,
    path: PathBuf,
    /// The latest departure of the visits made so far.
    latest_ns: i64,
}

impl RawReader {
    /// Opens the table.
    ///
    /// # Errors
    /// When it cannot be opened, or is not a table of raw visits.
    pub fn open(path: &Path) -> Result<Self, ReadError> {
        let path = path.to_path_buf();
        let file =
            File::open(&path).map_err(|source| ReadError::Open { path: path.clone(), source })?;
        let stream = StreamReader::try_new(BufReader::with_capacity(1 << 20, file), None)
            .map_err(|source| ReadError::NotArrow { path: path.clone(), source })?;
        if stream.schema().fields() != RawVisits::schema().fields() {
            return Err(ReadError::NotRawVisits { path });
        }
        Ok(Self { stream, path, latest_ns: i64::MIN })
    }

    /// The next batch; none at the end. A stream that was cut off, because the capture was killed,
    /// ends with its last whole batch.
    pub fn batch(&mut self) -> Result<Option<RecordBatch>, ReadError> {
        match self.stream.next() {
            None => Ok(None),
            Some(Ok(batch)) => Ok(Some(batch)),
            Some(Err(ArrowError::IoError(_, error)))
                if error.kind() == std::io::ErrorKind::UnexpectedEof =>
            {
                Ok(None)
            }
            Some(Err(source)) => Err(ReadError::NotArrow { path: self.path.clone(), source }),
        }
    }

    /// Calls `each` with every visit of a batch, in its order.
    pub fn visits(&mut self, batch: &RecordBatch, words: &mut Words, mut each: impl FnMut(Visit)) {
        let columns = Columns { batch, schema: RawVisits::schema() };
        let (visits, connections) = (columns.int("visit"), columns.int("connection"));
        let (servers, protocols) = (columns.text("server"), columns.text("protocol"));
        let (arrivals, request_ends) = (columns.int("arrival_ns"), columns.int("request_end_ns"));
        let (replies, departures) = (columns.int("reply_start_ns"), columns.int("departure_ns"));
        let (closed, waits) = (columns.int("closed_ns"), columns.int("may_wait_ns"));
        let (labels, upstreams) = (columns.text("label"), columns.text("upstream"));
        let statuses = columns.array("status").as_primitive::<Int32Type>();
        let (bytes_in, bytes_out) = (columns.int("bytes_in"), columns.int("bytes_out"));
        let ids = columns.array("id_hash").as_primitive::<UInt64Type>();
        let literals = columns.array("literals").as_list::<i32>();
        let hashes = literals.values().as_primitive::<UInt64Type>().values();
        for row in 0..batch.num_rows() {
            let protocol = words.names.number(protocols.value(row));
            let ends = literals.value_offsets();
            let departure_ns = optional(departures.is_valid(row), departures.value(row));
            let arrival_ns = arrivals.value(row);
            self.latest_ns = self.latest_ns.max(departure_ns.unwrap_or(arrival_ns));
            each(Visit {
                visit: visits.value(row),
                server: words.servers.number(servers.value(row)) as Server,
                protocol,
                lent: words.lent.contains(&protocol),
                connection: connections.value(row),
                span: Span { arrival_ns, departure_ns: departure_ns.unwrap_or(i64::MAX) },
                ended_ns: departure_ns.unwrap_or(self.latest_ns),
                request_end_ns: request_ends.value(row),
                reply_start_ns: optional(replies.is_valid(row), replies.value(row)),
                closed_ns: optional(closed.is_valid(row), closed.value(row)),
                may_wait_ns: optional(waits.is_valid(row), waits.value(row)),
                label: words.names.number(labels.value(row)),
                status: optional(statuses.is_valid(row), statuses.value(row)),
                bytes_in: bytes_in.value(row),
                bytes_out: bytes_out.value(row),
                upstream: optional(upstreams.is_valid(row), upstreams.value(row))
                    .and_then(|connection| connection.parse().ok()),
                id: optional(ids.is_valid(row), ids.value(row)),
                literals: hashes[ends[row] as usize..ends[row + 1] as usize].into(),
            });
        }
    }
}

/// The columns of a batch of raw visits.
struct Columns<'a> {
    batch: &'a RecordBatch,
    schema: SchemaRef,
}

impl<'a> Columns<'a> {
    fn array(&self, name: &str) -> &'a ArrayRef {
        let at = self.schema.index_of(name).expect("the reader compared the schemas");
        self.batch.column(at)
    }

    fn int(&self, name: &str) -> &'a Int64Array {
        self.array(name).as_primitive::<Int64Type>()
    }

    fn text(&self, name: &str) -> &'a StringArray {
        self.array(name).as_string::<i32>()
    }
}

fn optional<T>(valid: bool, value: T) -> Option<T> {
    valid.then_some(value)
}

/// Appends a linked visit to the table `visits`.
pub fn write(rows: &mut Rows<Visits>, words: &Words, (visit, link): &Linked) {
    let departure_ns = visit.span.departure_ns;
    rows.push(VisitRow {
        visit: visit.visit,
        server: words.servers.text(visit.server.into()),
        protocol: words.names.text(visit.protocol),
        connection: visit.connection,
        arrival_ns: visit.span.arrival_ns,
        request_end_ns: visit.request_end_ns,
        reply_start_ns: visit.reply_start_ns,
        departure_ns: optional(departure_ns != i64::MAX, departure_ns),
        closed_ns: visit.closed_ns,
        may_wait_ns: visit.may_wait_ns,
        label: words.names.text(visit.label),
        status: visit.status,
        bytes_in: visit.bytes_in,
        bytes_out: visit.bytes_out,
        parent: link.map(|link| link.parent),
        link: link.map(|link| link.means.as_str()),
        confidence: link.map(|link| link.confidence),
        process: None,
        thread: None,
        queued_ns: None,
        cpu_ns: None,
        runnable_ns: None,
        throttled_ns: None,
        stopped_ns: None,
        disk_ns: None,
        lock_ns: None,
        calls_ns: None,
        connecting_ns: None,
        other_ns: None,
        other_call: None,
        sending_ns: None,
    });
}
