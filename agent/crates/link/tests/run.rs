//! The verb on files: what it writes, and what it says of bad input.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_ipc::reader::StreamReader;
use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use tierlab_link::Topology;
use tierlab_link::table::{RawReader, Words};
use tierlab_record::priority::Role;
use tierlab_record::tables::{EventRow, Events, RawTurnRow, RawTurns, RawVisitRow, RawVisits};
use tierlab_record::{Table, WhenFull, Writer};

fn row<'a>(
    visit: i64,
    server: &'a str,
    (from, to): (i64, i64),
    id: Option<u64>,
) -> RawVisitRow<'a> {
    RawVisitRow {
        visit,
        server,
        protocol: "http1",
        connection: 1,
        arrival_ns: from,
        request_end_ns: from,
        reply_start_ns: None,
        departure_ns: Some(to),
        closed_ns: None,
        may_wait_ns: None,
        label: "GET /",
        status: Some(200),
        bytes_in: 10,
        bytes_out: 20,
        upstream: None,
        id_hash: id,
        literals: &[1, 2],
        endpoints: 7,
    }
}

/// Writes a table with the rows that `fill` gives it.
fn write<T: Table>(folder: &Path, fill: impl FnOnce(&mut T)) {
    let writer = Writer::start(WhenFull::Wait, Role::Ordinary).expect("a thread");
    let mut rows = writer.table::<T>(folder).expect("a table");
    fill(rows.batch());
    rows.hand_over();
    writer.finish().expect("the end");
}

fn raw_visits(folder: &Path) -> PathBuf {
    let rows = [
        row(1, "app.1", (20, 30), Some(7)),
        row(2, "web.1", (10, 40), Some(7)),
        row(3, "cache.1", (11, 12), Some(7)),
    ];
    write::<RawVisits>(folder, |table| rows.into_iter().for_each(|row| table.push(row)));
    folder.join("raw_visits.arrows")
}

fn plan(folder: &Path, input: &Path, more: &str) -> PathBuf {
    let path = folder.join("plan.json");
    let servers = r#""servers": {"web.1": ["app.1"]}"#;
    let text = format!(r#"{{"input": "{}", {servers}{more}}}"#, input.display());
    std::fs::write(&path, text).expect("a plan");
    path
}

/// Every visit's parent and confidence, as the table says.
fn links(folder: &Path) -> BTreeMap<i64, Option<(i64, f64)>> {
    let file = File::open(folder.join("visits.arrows")).expect("the table visits");
    let mut links = BTreeMap::new();
    for batch in StreamReader::try_new(file, None).expect("a stream") {
        let batch = batch.expect("a batch");
        let column = |name| batch.column_by_name(name).expect("a column");
        let visits = column("visit").as_primitive::<Int64Type>().iter().flatten();
        let parents = column("parent").as_primitive::<Int64Type>().iter();
        let confidences = column("confidence").as_primitive::<Float64Type>().iter();
        links.extend(visits.zip(parents.zip(confidences).map(|(p, c)| p.zip(c))));
    }
    links
}

fn failure(folder: &TempDir, input: &Path, more: &str) -> String {
    let plan = plan(folder.path(), input, more);
    let error = tierlab_link::run(&plan, folder.path()).expect_err("bad input");
    format!("{error:#}")
}

#[test]
fn visits_are_written_with_their_parents() {
    let folder = TempDir::new().expect("a folder");
    let input = raw_visits(folder.path());
    tierlab_link::run(&plan(folder.path(), &input, ""), folder.path()).expect("links");
    let expected = BTreeMap::from([(1, Some((2, 1.0))), (2, None), (3, None)]);
    assert_eq!(links(folder.path()), expected);
}

#[test]
fn when_a_connection_was_over_is_kept() {
    let folder = TempDir::new().expect("a folder");
    let cut =
        RawVisitRow { departure_ns: None, closed_ns: Some(25), ..row(1, "web.1", (10, 40), None) };
    write::<RawVisits>(folder.path(), |table| table.push(cut));
    let input = folder.path().join("raw_visits.arrows");
    tierlab_link::run(&plan(folder.path(), &input, ""), folder.path()).expect("links");
    let file = File::open(folder.path().join("visits.arrows")).expect("the table visits");
    let batch = StreamReader::try_new(file, None).expect("a stream").next();
    let batch = batch.expect("a visit").expect("a batch");
    let column = |name| {
        let column = batch.column_by_name(name).expect("a column");
        column.as_primitive::<Int64Type>().iter().collect::<Vec<_>>()
    };
    assert_eq!((column("departure_ns"), column("closed_ns")), (vec![None], vec![Some(25)]));
}

#[test]
fn a_stream_that_was_cut_off_gives_its_whole_batches() {
    let folder = TempDir::new().expect("a folder");
    let input = raw_visits(folder.path());
    let bytes = std::fs::read(&input).expect("the table");
    // Less than the end mark (8 bytes): the batch before it is whole.
    std::fs::write(&input, &bytes[..bytes.len() - 5]).expect("a shorter table");
    tierlab_link::run(&plan(folder.path(), &input, ""), folder.path()).expect("links");
    assert_eq!(links(folder.path()).len(), 3);
    std::fs::write(&input, &bytes[..bytes.len() - 100]).expect("a shorter table");
    tierlab_link::run(&plan(folder.path(), &input, ""), folder.path()).expect("links");
    assert!(links(folder.path()).is_empty());
}

#[test]
fn a_visit_without_an_end_ends_where_the_capture_gave_it_up() {
    let folder = TempDir::new().expect("a folder");
    write::<RawVisits>(folder.path(), |table| {
        table.push(row(1, "app.1", (20, 30), None));
        table.push(RawVisitRow { departure_ns: None, ..row(2, "web.1", (10, 0), None) });
        table.push(row(3, "web.1", (15, 40), None));
    });
    let calls = BTreeMap::from([("web.1".to_owned(), vec!["app.1".to_owned()])]);
    let mut words = Words::new(&Topology::new(&calls).expect("no circle"));
    let mut raw = RawReader::open(&folder.path().join("raw_visits.arrows")).expect("the table");
    let mut ends = Vec::new();
    while let Some(batch) = raw.batch().expect("a batch") {
        raw.visits(&batch, &mut words, |visit| ends.push((visit.visit, visit.ended_ns)));
    }
    assert_eq!(ends, [(1, 30), (2, 30), (3, 40)]);
}

#[test]
fn an_empty_table_gives_an_empty_table() {
    let folder = TempDir::new().expect("a folder");
    write::<RawVisits>(folder.path(), |_| {});
    let input = folder.path().join("raw_visits.arrows");
    tierlab_link::run(&plan(folder.path(), &input, ""), folder.path()).expect("links");
    assert!(links(folder.path()).is_empty());
}

#[test]
fn bad_input_is_named() {
    let folder = TempDir::new().expect("a folder");
    let missing = folder.path().join("nowhere.arrows");
    assert!(failure(&folder, &missing, "").contains("cannot open"));
    let input = raw_visits(folder.path());
    assert!(failure(&folder, &input, r#", "colour": 1"#).contains("colour"));
    assert!(failure(&folder, &input, r#", "hide_ids": "yes""#).contains("expected a boolean"));
    std::fs::write(&input, "not a table at all").expect("a file");
    assert!(failure(&folder, &input, "").contains("is not an Arrow IPC stream"));
    let (kind, subject, detail) = ("phase", "all", "");
    let event = EventRow { t_ns: 0, duration_ns: 0, kind, subject, detail };
    write::<Events>(folder.path(), |table| table.push(event));
    let events = folder.path().join("events.arrows");
    assert!(failure(&folder, &events, "").contains("does not have the columns of raw_visits"));
}

/// A thread's turn of `kind` on a connection.
fn turn<'a>(
    (turn, kind, server): (i64, &'a str, &'a str),
    endpoints: u64,
    (begin_ns, end_ns): (i64, Option<i64>),
    serves: Option<i64>,
    after: &'a [u64],
) -> RawTurnRow<'a> {
    RawTurnRow {
        turn,
        kind,
        server,
        endpoints,
        process: 1,
        thread: 2,
        worker: 2,
        begin_ns,
        end_ns,
        replied_by: end_ns.map(|_| 2),
        replied_ns: end_ns,
        overlaps: 0,
        serves,
        shared: 0,
        before: &[0; 9],
        after,
        other_call: None,
    }
}

/// Two pages at once, each with a call; times alone could not tell whose is whose. The second call
/// went over a UNIX socket and has its numbers from another source.
#[test]
fn calls_are_linked_by_the_threads_that_sent_them() {
    let folder = TempDir::new().expect("a folder");
    let page = |visit, endpoints| RawVisitRow {
        endpoints,
        connection: visit,
        ..row(visit, "web.1", (1_000_000, 9_000_000), None)
    };
    let call = |visit, endpoints| RawVisitRow {
        endpoints,
        connection: visit,
        ..row(visit, "app.1", (3_000_000, 5_000_000), None)
    };
    write::<RawVisits>(folder.path(), |table| {
        [call(0, 21), page(1, 11), page(2, 12)].into_iter().for_each(|it| table.push(it));
    });
    let other = folder.path().join("unix");
    std::fs::create_dir(&other).expect("a folder");
    write::<RawVisits>(&other, |table| table.push(call(1 << 40, 22)));
    write::<RawTurns>(folder.path(), |table| {
        let worked = [3_000_000, 0, 0, 0, 0, 0, 2_000_000, 0, 0];
        for it in [
            turn((0, "called", "web.1"), 21, (3_010_000, None), Some(8), &[]),
            turn((0, "called", "web.1"), 22, (3_010_000, None), Some(7), &[]),
            turn((7, "served", "web.1"), 11, (2_000_000, Some(7_000_000)), None, &worked),
            turn((8, "served", "web.1"), 12, (2_000_000, Some(7_000_000)), None, &worked),
        ] {
            table.push(it);
        }
    });
    let more = format!(
        r#", "also": ["{}"], "turns": "{}""#,
        other.join("raw_visits.arrows").display(),
        folder.path().join("raw_turns.arrows").display()
    );
    let input = folder.path().join("raw_visits.arrows");
    tierlab_link::run(&plan(folder.path(), &input, &more), folder.path()).expect("linked");
    let found = links(folder.path());
    assert_eq!(found[&0], Some((2, 1.0)));
    assert_eq!(found[&3], Some((1, 1.0)), "numbers go on where the first source's end");
    let file = File::open(folder.path().join("visits.arrows")).expect("the table visits");
    let batch = StreamReader::try_new(file, None).expect("a stream").next().expect("one");
    let batch = batch.expect("a batch");
    let column = |name| batch.column_by_name(name).expect("a column").as_primitive::<Int64Type>();
    for at in
        (0..batch.num_rows()).filter(|&at| column("thread").iter().nth(at).flatten() == Some(2))
    {
        let part = |name| column(name).iter().nth(at).flatten();
        assert_eq!(part("queued_ns"), Some(1_000_000));
        assert_eq!((part("cpu_ns"), part("calls_ns")), (Some(3_000_000), Some(2_000_000)));
        assert_eq!(part("sending_ns"), Some(2_000_000));
    }
    assert_eq!(column("thread").iter().flatten().count(), 2);
}
