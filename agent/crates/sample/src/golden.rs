//! Every sampler over copies of other machines' /proc and /sys: `fixtures/<machine>/first` and
//! `second` are what it reads 50 ms apart, `fixtures/<machine>/expected.txt` the rows that follow.
//! `UPDATE_GOLDEN=1 cargo test` writes that file anew; read the difference before you commit it.

use crate::cpu::CpuSampler;
use crate::disk::DiskSampler;
use crate::domain::DomainSampler;
use crate::events::EventLog;
use crate::memory::MemorySampler;
use crate::net::NetSampler;
use crate::plan::{Plan, Subject};
use crate::pressure::PressureSampler;
use crate::process::ProcessSampler;
use crate::roots::Roots;
use crate::sampler::{NotMeasured, Place, Sampler};
use crate::tally::Tallies;
use crate::tcp::TcpSampler;
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_ipc::reader::StreamReader;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use tierlab_record::clock::Moment;
use tierlab_record::priority::Role;
use tierlab_record::{Cgroups, Table, WhenFull, Writer};

const FIRST: Moment = Moment { t_ns: 1_000_000_000, monotonic_ns: 1_000_000_000 };
const SECOND: Moment = Moment { t_ns: 1_050_000_000, monotonic_ns: 1_050_000_000 };

/// Makes another text of a file's.
type Change = fn(&[u8]) -> &[u8];

fn fixture(machine: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(machine)
}

/// Lays the files of `from` over those of `to`; files that are open stay the same files.
fn lay_over(from: &Path, to: &Path, change: Change) {
    for entry in fs::read_dir(from).unwrap().flatten() {
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        if source.is_dir() {
            fs::create_dir_all(&target).unwrap();
            lay_over(&source, &target, change);
        } else {
            fs::write(&target, change(&fs::read(&source).unwrap())).unwrap();
        }
    }
}

/// A machine at its first reading, and the samplers' plan for it.
struct Machine {
    name: &'static str,
    folder: tempfile::TempDir,
    roots: Roots,
    plan: Plan,
}

impl Machine {
    fn new(name: &'static str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        lay_over(&fixture(name).join("first"), folder.path(), |text| text);
        let roots = Roots::fixture(folder.path());
        let mut plan: Plan =
            serde_json::from_str(r#"{"interval_ns": 50000000, "thread_interval_ns": 50000000}"#)
                .unwrap();
        let group = |path: &str| {
            let group = roots.sys.join("fs/cgroup").join(path);
            group.exists().then_some(group)
        };
        let web = Cgroups {
            cpu: group("cpu/web"),
            cpuacct: group("cpuacct/web"),
            memory: group("memory/web"),
            blkio: group("blkio/web"),
            unified: group("unified/web"),
            ..Cgroups::default()
        };
        let db = Cgroups { unified: group("db"), ..Cgroups::default() };
        for (name, cgroups) in [("web.1", web), ("db.1", db)] {
            if cgroups.members().is_some() {
                plan.subjects.push(Subject { name: name.to_owned(), cgroups, pids: Vec::new() });
            }
        }
        Self { name, folder, roots, plan }
    }

    /// The rows that every sampler pushes when `second` follows the first reading.
    fn rows(&self, second: &dyn Fn()) -> String {
        let Self { name, roots, plan, folder } = self;
        let first = fixture(name).join("first");
        let out = &folder.path().join("out");
        fs::create_dir_all(out).unwrap();
        let tallies = Tallies::default();
        let mut text = String::new();
        let mut add = |rows: String| {
            text.push_str(&rows);
            lay_over(&first, folder.path(), |text| text);
        };
        add(rows_of(CpuSampler::open(roots, None), second, out));
        add(rows_of(MemorySampler::open(roots, &tallies.faults), second, out));
        add(rows_of(DiskSampler::open(roots, &tallies.disk), second, out));
        add(rows_of(NetSampler::open(roots), second, out));
        add(rows_of(TcpSampler::open(roots, &tallies.drops), second, out));
        add(rows_of(PressureSampler::open(roots, &plan.subjects), second, out));
        add(rows_of(ProcessSampler::open(roots, plan), second, out));
        add(rows_of(DomainSampler::open(roots, &plan.subjects, &tallies), second, out));
        // The folder has another name each time.
        text.replace(&folder.path().display().to_string(), "")
    }
}

fn rows_of<S: Sampler>(sampler: Result<S, NotMeasured>, second: &dyn Fn(), out: &Path) -> String {
    let name = S::Table::NAME;
    let mut sampler = match sampler {
        Ok(sampler) => sampler,
        Err(NotMeasured(reason)) => return format!("{name}: not measured: {reason}\n\n"),
    };
    let writer = Writer::start(WhenFull::Drop, Role::Ordinary).unwrap();
    let place = Place { writer: &writer, folder: out };
    let mut events = EventLog::create(place).unwrap();
    let mut rows = writer.table::<S::Table>(out).unwrap();
    sampler.sample(FIRST, rows.batch(), &mut events);
    second();
    sampler.sample(SECOND, rows.batch(), &mut events);
    let mut text = String::new();
    for (column, reason) in sampler.missing_columns() {
        writeln!(text, "{name}.{column}: not measured: {reason}").unwrap();
    }
    rows.hand_over();
    events.hand_over();
    writer.finish().unwrap();
    text + &printed(&out.join(format!("{name}.arrows")), name)
        + &printed(&out.join("sample.events.arrows"), "events")
        + "\n"
}

/// A line for each row: what is null is left out.
fn printed(file: &Path, name: &str) -> String {
    let mut text = String::new();
    for batch in StreamReader::try_new(fs::File::open(file).unwrap(), None).unwrap() {
        let batch = batch.unwrap();
        for row in 0..batch.num_rows() {
            text.push_str(name);
            for (field, column) in batch.schema().fields().iter().zip(batch.columns()) {
                if column.is_valid(row) && field.name() != "t_ns" {
                    let value = ArrayFormatter::try_new(column, &FormatOptions::new()).unwrap();
                    write!(text, " {}={}", field.name(), value.value(row)).unwrap();
                }
            }
            text.push('\n');
        }
    }
    text
}

fn check(name: &'static str) {
    let machine = Machine::new(name);
    let second = || lay_over(&fixture(name).join("second"), machine.folder.path(), |text| text);
    let rows = machine.rows(&second);
    let golden = fixture(name).join("expected.txt");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(&golden, &rows).unwrap();
    }
    assert_eq!(rows, fs::read_to_string(&golden).unwrap(), "{}", golden.display());
}

#[test]
fn a_modern_kernel_with_control_groups_1() {
    check("linux-6.18-cgroup-v1");
}

#[test]
fn a_modern_kernel_with_control_groups_2() {
    check("linux-6.1-cgroup-v2");
}

#[test]
fn an_old_kernel_with_fewer_files_and_columns() {
    check("linux-2.6.32");
}

/// Whatever a sampler finds, it neither fails nor invents growth where there was none.
#[test]
fn files_that_are_cut_off_empty_or_garbage_invent_nothing() {
    let changes: [Change; 4] = [
        |text| &text[..text.len() * 2 / 3],
        |text| &text[..text.len() / 7],
        |_| b"",
        |_| b"\xff\x00 : = (()) -1 99999999999999999999999\n\n \n",
    ];
    for name in ["linux-6.18-cgroup-v1", "linux-6.1-cgroup-v2", "linux-2.6.32"] {
        for change in changes {
            let machine = Machine::new(name);
            let first = fixture(name).join("first");
            let rows = machine.rows(&|| lay_over(&first, machine.folder.path(), change));
            for counted in ["reads=", "bytes_in=", "cpu_ns=", "minor_faults=", "some=", "busy="] {
                for (at, _) in rows.match_indices(&format!(" {counted}")) {
                    let value = &rows[at + 1 + counted.len()..];
                    let value = value.split([' ', '\n']).next().unwrap();
                    assert!(matches!(value, "0" | "0.0" | "1.0"), "{name}: {counted}{value}");
                }
            }
        }
    }
}
