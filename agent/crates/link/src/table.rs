//! The tables on disk: `raw_visits` in, `visits` out.

use crate::names::{Name, Names};
use crate::topology::{Server, Topology};
use crate::turns::{Kind, Turn};
use crate::visit::{Linked, Span, Visit};
use arrow_array::cast::AsArray;
use arrow_array::types::{Int16Type, Int32Type, Int64Type, UInt64Type};
use arrow_array::{Array, ArrayRef, Int64Array, RecordBatch, StringArray};
use arrow_ipc::reader::StreamReader;
use arrow_schema::{ArrowError, SchemaRef};
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use tierlab_dissect::Protocol;
use tierlab_record::tables::{RawTurns, RawVisits, VisitRow, Visits};
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
    #[error("{path} is not an Arrow IPC stream ({source}): give a table of a run")]
    NotArrow {
        /// The file.
        path: PathBuf,
        /// What Arrow said.
        source: ArrowError,
    },
    /// The stream holds another table.
    #[error("{path} does not have the columns of {table}: give the {table} of a run")]
    OtherTable {
        /// The file.
        path: PathBuf,
        /// What was expected.
        table: &'static str,
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

impl Words {
    /// The name of a server by its number among the servers.
    pub fn server(&self, number: Name) -> &str {
        self.servers.text(number)
    }
}

/// Reads `raw_visits`, batch by batch.
pub struct RawReader {
    stream: Stream,
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
        let stream = open(path)?;
        let (found, expected) = (stream.schema(), RawVisits::schema());
        // Until version 0.1 a connection's two ends were not kept.
        let earlier = &expected.fields()[..expected.fields().len() - 1];
        if found.fields() != expected.fields() && found.fields()[..] != *earlier {
            return Err(ReadError::OtherTable { path: path.to_path_buf(), table: "raw_visits" });
        }
        Ok(Self { stream, path: path.to_path_buf(), latest_ns: i64::MIN })
    }

    /// The next batch; none at the end. A stream that was cut off, because the capture was killed,
    /// ends with its last whole batch.
    pub fn batch(&mut self) -> Result<Option<RecordBatch>, ReadError> {
        next(&mut self.stream, &self.path)
    }

    /// The highest number of a connection in a batch.
    pub fn last_connection(&self, batch: &RecordBatch) -> Option<i64> {
        let columns = Columns { batch, schema: RawVisits::schema() };
        columns.int("connection").values().iter().copied().max()
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
        let endpoints = batch.column_by_name("endpoints").map(|it| it.as_primitive::<UInt64Type>());
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
                endpoints: endpoints.map_or(0, |it| it.value(row)),
                work: None,
            });
        }
    }
}

type Stream = StreamReader<BufReader<File>>;

fn open(path: &Path) -> Result<Stream, ReadError> {
    let file =
        File::open(path).map_err(|source| ReadError::Open { path: path.to_path_buf(), source })?;
    StreamReader::try_new(BufReader::with_capacity(1 << 20, file), None)
        .map_err(|source| ReadError::NotArrow { path: path.to_path_buf(), source })
}

/// The next batch of a stream. One that was cut off ends with its last whole batch.
fn next(stream: &mut Stream, path: &Path) -> Result<Option<RecordBatch>, ReadError> {
    match stream.next() {
        None => Ok(None),
        Some(Ok(batch)) => Ok(Some(batch)),
        Some(Err(ArrowError::IoError(_, error)))
            if error.kind() == std::io::ErrorKind::UnexpectedEof =>
        {
            Ok(None)
        }
        Some(Err(source)) => Err(ReadError::NotArrow { path: path.to_path_buf(), source }),
    }
}

/// Reads `raw_turns`, batch by batch.
pub struct TurnReader {
    stream: Stream,
    path: PathBuf,
}

impl TurnReader {
    /// Opens the table.
    ///
    /// # Errors
    /// When it cannot be opened, or is not a table of turns.
    pub fn open(path: &Path) -> Result<Self, ReadError> {
        let stream = open(path)?;
        if stream.schema().fields() != RawTurns::schema().fields() {
            return Err(ReadError::OtherTable { path: path.to_path_buf(), table: "raw_turns" });
        }
        Ok(Self { stream, path: path.to_path_buf() })
    }

    /// The next batch, as [`RawReader::batch`].
    ///
    /// # Errors
    /// When the stream is damaged.
    pub fn batch(&mut self) -> Result<Option<RecordBatch>, ReadError> {
        next(&mut self.stream, &self.path)
    }

    /// Calls `each` with every turn of a batch, in its order.
    pub fn turns(&self, batch: &RecordBatch, words: &mut Words, mut each: impl FnMut(Turn)) {
        let columns = Columns { batch, schema: RawTurns::schema() };
        let (turns, kinds, servers) =
            (columns.int("turn"), columns.text("kind"), columns.text("server"));
        let endpoints = columns.array("endpoints").as_primitive::<UInt64Type>();
        let (processes, threads) = (columns.int("process"), columns.int("thread"));
        let (begins, ends) = (columns.int("begin_ns"), columns.int("end_ns"));
        let (serves, other_calls) = (columns.int("serves"), columns.text("other_call"));
        let workers = columns.int("worker");
        let (repliers, replied) = (columns.int("replied_by"), columns.int("replied_ns"));
        let overlaps = columns.array("overlaps").as_primitive::<Int16Type>();
        let shared = columns.array("shared").as_primitive::<Int16Type>();
        let (before, after) = (columns.times("before"), columns.times("after"));
        for row in 0..batch.num_rows() {
            each(Turn {
                turn: turns.value(row),
                kind: match kinds.value(row) {
                    "served" => Kind::Served,
                    "called" => Kind::Called,
                    "throttled" => Kind::Throttled,
                    _ => Kind::Stopped,
                },
                server: words.servers.number(servers.value(row)),
                endpoints: endpoints.value(row),
                process: processes.value(row),
                thread: threads.value(row),
                worker: workers.value(row),
                begin_ns: begins.value(row),
                end_ns: optional(ends.is_valid(row), ends.value(row)),
                serves: optional(serves.is_valid(row), serves.value(row)),
                replied: optional(repliers.is_valid(row), repliers.value(row))
                    .map(|worker| (worker, replied.value(row))),
                overlaps: overlaps.value(row) != 0,
                shared: shared.value(row) == 1,
                after_reply: shared.value(row) == 2,
                handed_on: shared.value(row) == 3,
                before: before(row),
                after: after(row),
                other_call: optional(other_calls.is_valid(row), other_calls.value(row))
                    .map(|call| words.names.number(call)),
            });
        }
    }
}

/// The columns of a batch.
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

    /// By row, a thread's times; zeros where there are fewer.
    fn times(&self, name: &str) -> impl Fn(usize) -> [u64; 9] + use<'a> {
        let lists = self.array(name).as_list::<i32>();
        let values = lists.values().as_primitive::<UInt64Type>().values();
        move |row| {
            let ends = lists.value_offsets();
            let cells = &values[ends[row] as usize..ends[row + 1] as usize];
            std::array::from_fn(|at| cells.get(at).copied().unwrap_or_default())
        }
    }
}

fn optional<T>(valid: bool, value: T) -> Option<T> {
    valid.then_some(value)
}

/// Appends a linked visit to the table `visits`.
pub fn write(rows: &mut Rows<Visits>, words: &Words, (visit, link): &Linked) {
    let departure_ns = visit.span.departure_ns;
    let waits = visit.work.as_ref().and_then(|work| work.waits);
    let part = |state: usize| waits.map(|it| it.parts[state]);
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
        process: waits.map(|it| it.process),
        thread: waits.map(|it| it.thread),
        queued_ns: waits.map(|it| it.queued_ns),
        cpu_ns: part(0),
        runnable_ns: part(1),
        throttled_ns: part(2),
        stopped_ns: part(3),
        disk_ns: part(4),
        lock_ns: part(5),
        calls_ns: part(6),
        connecting_ns: part(7),
        other_ns: part(8),
        other_call: waits.and_then(|it| it.other_call).map(|call| words.names.text(call)),
        sending_ns: waits.map(|it| it.sending_ns),
    });
}
