//! One run of the verb: events in, tables out, until it is stopped.

use crate::budget::{Budget, Sample};
use crate::calls;
use crate::event::{Ends, Report, Role, State as Does};
use crate::kernel::{Kernel, Ways};
use crate::loops::{Loops, Stretch};
use crate::plan::Plan;
use crate::programs::Programs;
use crate::turn::Turn;
use crate::turns::Turns;
use crate::unix::{UnixSockets, servers};
use anyhow::Result;
use rustc_hash::FxHashSet;
use serde_json::json;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tierlab_capture::Tables;
use tierlab_dissect::{Dissector, Peer, connection_hash};
use tierlab_record::clock::{monotonic_ns, process_cpu_ns, realtime_ns};
use tierlab_record::priority::{self, Role as Priority};
use tierlab_record::status::say;
use tierlab_record::tables::{RawTurnRow, RawTurns, ThreadRow, Threads};
use tierlab_record::{Rows, Stop, WhenFull, Writer};
use tierlab_sample::{Members, Subject};

const SECOND_NS: i64 = 1_000_000_000;
/// The ring holds the events of seconds; nobody is woken for each.
const PAUSE: Duration = Duration::from_millis(20);
/// How often the budgets are looked at: a flood is to be cut off soon.
const BUDGET_NS: i64 = 200_000_000;
/// For the dissector of UNIX sockets.
const DISSECTOR_BYTES: usize = 64 << 20;

/// Traces as the plan says.
pub fn run(plan: &Plan, out: &Path) -> Result<()> {
    let stop = Stop::on_signals();
    priority::assist(Priority::Observer);
    let cpus = possible_cpus();
    let ways = Ways { sockets: !plan.by_system_calls, unix: plan.has_unix_sockets() };
    let kernel = Kernel::open(plan.ports(), ways, cpus)?;
    let mut session = Session::start(plan, kernel, out)?;
    say(&json!({ "ready": true }));
    let end_ns = plan.duration_ns.map(|it| monotonic_ns().saturating_add(it));
    while !stop.asked() && end_ns.is_none_or(|end_ns| monotonic_ns() < end_ns) {
        std::thread::sleep(PAUSE);
        session.step()?;
    }
    session.finish()
}

struct Session {
    kernel: Kernel,
    subjects: Vec<Subject>,
    members: Vec<Members>,
    programs: Programs,
    budgets: Vec<Budget>,
    /// The smallest part of each subject's threads that was traced, where that was not all.
    reduced: BTreeMap<String, Sample>,
    state: State,
    writer: Writer,
    turn_rows: Rows<RawTurns>,
    thread_rows: Rows<Threads>,
    second_ns: i64,
    budget_ns: i64,
}

/// What events become.
struct State {
    names: Vec<String>,
    endpoints: FxHashSet<Peer>,
    turns: Turns,
    loops: Loops,
    unix: UnixSockets,
    dissector: Dissector,
    tables: Option<Tables>,
    ready: Vec<Turn>,
    stretches: Vec<Stretch>,
    /// From the monotonic clock to the epoch.
    offset_ns: i64,
    events: u64,
    unknown: u64,
}

impl Session {
    fn start(plan: &Plan, kernel: Kernel, out: &Path) -> Result<Self> {
        let writer = Writer::start(WhenFull::Wait, Priority::Observer)?;
        let (turn_rows, thread_rows) = (writer.table(out)?, writer.table(out)?);
        let now_ns = monotonic_ns();
        let names: Vec<String> = plan.subjects.iter().map(|it| it.name.clone()).collect();
        let members = Members::of_all(&plan.subjects, Path::new("/proc"));
        let (unix_servers, _) = servers(&plan.servers);
        let unix_servers: Arc<[_]> = unix_servers.into();
        let has_unix = !unix_servers.is_empty();
        let tables = has_unix.then(|| Tables::beside(out, "unix", "trace", &unix_servers));
        let salt = tierlab_capture::draw_salt()?;
        let state = State {
            names: names.clone(),
            endpoints: plan.servers.iter().filter_map(|it| it.endpoint()).collect(),
            turns: Turns::default(),
            loops: Loops::default(),
            unix: UnixSockets::new(&plan.servers, names, FxHashSet::default()),
            dissector: Dissector::within(DISSECTOR_BYTES, unix_servers, salt),
            tables: tables.transpose()?,
            ready: Vec::new(),
            stretches: Vec::new(),
            offset_ns: offset_ns(),
            events: 0,
            unknown: 0,
        };
        let budgets = names_budgets(plan, now_ns);
        let mut session = Self {
            kernel,
            subjects: plan.subjects.clone(),
            members,
            programs: Programs::default(),
            budgets,
            reduced: BTreeMap::new(),
            state,
            writer,
            turn_rows,
            thread_rows,
            second_ns: now_ns,
            budget_ns: now_ns,
        };
        let processes = session.find_processes();
        session.state.unix.known_before(connected_before(&processes));
        Ok(session)
    }

    /// Traces the processes that subjects have now; gives all of them.
    fn find_processes(&mut self) -> Vec<i32> {
        let now = tierlab_record::clock::Moment::now();
        let mut all = Vec::new();
        for (subject, members) in self.members.iter_mut().enumerate() {
            for at in 0..members.list(now) {
                let process = members.pid(at);
                if self.budgets[subject].sample() != Sample::Nothing {
                    let is_go = self.programs.is_go(process);
                    self.kernel.add(process as u32, subject, is_go);
                }
                all.push(process);
            }
        }
        all
    }

    fn step(&mut self) -> Result<()> {
        self.drain();
        let now_ns = monotonic_ns();
        if now_ns - self.budget_ns >= BUDGET_NS {
            self.budget_ns = now_ns;
            self.keep_budgets(now_ns);
        }
        if now_ns - self.second_ns >= SECOND_NS {
            self.second_ns = now_ns;
            self.second()?;
        }
        Ok(())
    }

    fn drain(&mut self) {
        let (kernel, state) = (&mut self.kernel, &mut self.state);
        kernel.drain(|bytes| state.take(bytes));
        write(&mut self.turn_rows, state);
        write_stretches(&mut self.thread_rows, state);
    }

    fn keep_budgets(&mut self, now_ns: i64) {
        for subject in 0..self.subjects.len() {
            let events = self.kernel.events_of(subject);
            let Some(sample) = self.budgets[subject].look(events, now_ns) else { continue };
            self.kernel.leave_out_threads(subject, sample.left_out());
            let name = self.subjects[subject].name.clone();
            if sample == Sample::Nothing {
                let processes = self.kernel.processes_of(subject);
                self.kernel.leave_out(&processes);
            }
            let least = self.reduced.entry(name).or_insert(sample);
            if least.left_out() < sample.left_out() {
                *least = sample;
            }
        }
    }

    fn second(&mut self) -> Result<()> {
        self.state.offset_ns = offset_ns();
        self.find_processes();
        let now_ns = realtime_ns();
        self.state.turns.tick(now_ns, &mut self.state.ready);
        self.state.loops.tick(now_ns);
        self.state.unix.forget(now_ns - 600 * SECOND_NS);
        write(&mut self.turn_rows, &mut self.state);
        self.turn_rows.hand_over();
        self.thread_rows.hand_over();
        if let Some(tables) = &mut self.state.tables {
            tables.flush()?;
        }
        self.writer.check()?;
        self.writer.say(json!({ "progress": self.figures() }));
        Ok(())
    }

    fn finish(mut self) -> Result<()> {
        self.drain();
        self.state.turns.finish(&mut self.state.ready);
        write(&mut self.turn_rows, &mut self.state);
        let figures = self.figures();
        let State { mut dissector, tables, .. } = self.state;
        if let Some(mut tables) = tables {
            dissector.finish(&mut tables);
            tables.finish()?;
        }
        self.turn_rows.hand_over();
        self.thread_rows.hand_over();
        self.writer.finish()?;
        say(&json!({ "summary": figures }));
        Ok(())
    }

    fn figures(&self) -> serde_json::Value {
        let mut not_measured = BTreeMap::new();
        for (name, sample) in &self.reduced {
            let what = match sample {
                Sample::Nothing => "no thread of it was traced for a while".to_owned(),
                Sample::OneIn(of) => format!("one in {of} of its threads was traced for a while"),
            };
            not_measured.insert(
                format!("waits of {name} (some)"),
                format!("{name} reads and writes so often that tracing would slow it down: {what}"),
            );
        }
        let lost = self.kernel.lost();
        if lost > 0 {
            let of = lost + self.state.events;
            not_measured.insert(
                "waits (some)".to_owned(),
                format!(
                    "{lost} of {of} events of the system-call tracer were lost: its ring was full"
                ),
            );
        }
        json!({
            "events": self.state.events,
            "drops_of_events": lost,
            "not_understood": self.state.unknown,
            "outside_turns": self.state.turns.outside,
            "unix_elsewhere": self.state.unix.elsewhere,
            "by": if self.kernel.ways.sockets { "sockets" } else { "system calls" },
            "reduced": self.reduced,
            "not_measured": not_measured,
            "cpu_ns": process_cpu_ns(),
        })
    }
}

impl State {
    fn take(&mut self, bytes: &[u8]) {
        self.events += 1;
        let event = match Report::parse(bytes) {
            Some(Report::Turn(event)) => event,
            Some(Report::Pause(pause)) => {
                let epoch = |monotonic_ns| monotonic_ns as i64 + self.offset_ns;
                let (from_ns, to_ns) = (epoch(pause.from_ns), epoch(pause.to_ns));
                return self.ready.push(Turns::pause(&pause, from_ns, to_ns));
            }
            None => {
                self.unknown += 1;
                return;
            }
        };
        let at_ns = event.monotonic_ns as i64 + self.offset_ns;
        let connection = match event.ends {
            Ends::Inet { local, remote } => {
                let (client, server) = match event.role {
                    Role::Server => (remote, local),
                    Role::Client => (local, remote),
                };
                // Another server may have the same port at an address that nobody named.
                self.endpoints.contains(&server).then(|| connection_hash(client, server))
            }
            Ends::Unix { .. } => match &mut self.tables {
                Some(tables) => self.unix.take(&event, at_ns, &mut self.dissector, tables),
                None => None,
            },
        };
        if let Some(connection) = connection.filter(|_| event.bytes > 0) {
            self.turns.take(&event, at_ns, connection, &mut self.ready);
            // A thread that runs goroutines is none's.
            if event.worker == u64::from(event.thread) {
                let has_several = self.turns.has_several(&event);
                self.stretches.extend(self.loops.take(&event, at_ns, has_several));
            }
        }
    }
}

fn names_budgets(plan: &Plan, now_ns: i64) -> Vec<Budget> {
    plan.subjects.iter().map(|_| Budget::new(plan.most_events_per_s, now_ns)).collect()
}

fn write(rows: &mut Rows<RawTurns>, state: &mut State) {
    for turn in state.ready.drain(..) {
        let other_call = turn.longest_call.map(calls::name);
        rows.push(RawTurnRow {
            turn: turn.turn,
            kind: turn.kind.name(),
            server: &state.names[turn.subject],
            endpoints: turn.connection,
            process: turn.process.into(),
            thread: turn.thread.into(),
            worker: turn.worker as i64,
            begin_ns: turn.begin_ns,
            end_ns: turn.end_ns,
            replied_by: turn.replied.map(|(worker, _)| worker as i64),
            replied_ns: turn.replied.map(|(_, last_ns)| last_ns),
            overlaps: turn.overlaps.into(),
            serves: turn.serves,
            shared: turn.sharing.as_number(),
            before: &turn.before,
            after: &turn.after,
            other_call: other_call.as_deref(),
        });
    }
}

fn write_stretches(rows: &mut Rows<Threads>, state: &mut State) {
    for stretch in state.stretches.drain(..) {
        rows.push(ThreadRow {
            t_ns: stretch.at_ns,
            dt_ns: stretch.dt_ns,
            subject: &state.names[stretch.subject],
            process: stretch.process.into(),
            thread: stretch.thread.into(),
            cpu_ns: stretch.in_state(Does::OnCpu),
            runnable_ns: stretch.in_state(Does::Runnable),
            throttled_ns: stretch.in_state(Does::Throttled),
            stopped_ns: stretch.in_state(Does::Stopped),
            disk_ns: stretch.in_state(Does::Disk),
            lock_ns: stretch.in_state(Does::Lock),
            asleep_ns: stretch.asleep_ns(),
        });
    }
}

/// What to add to the monotonic clock for the time since the epoch: of several readings the one
/// between whose halves least time went by.
fn offset_ns() -> i64 {
    let reading = |_| {
        let (before, at, after) = (monotonic_ns(), realtime_ns(), monotonic_ns());
        (after - before, at - (before + after) / 2)
    };
    (0..5).map(reading).min().map_or(0, |(_, offset_ns)| offset_ns)
}

/// How many CPUs this machine may ever have.
fn possible_cpus() -> u32 {
    let text = std::fs::read_to_string("/sys/devices/system/cpu/possible").unwrap_or_default();
    let last = text.trim().rsplit(['-', ',']).next().and_then(|it| it.parse::<u32>().ok());
    last.map_or(1024, |last| last + 1)
}

/// The inodes of UNIX sockets that are connected now, in the network namespaces of these processes
/// (proc_net(5): `unix`).
fn connected_before(processes: &[i32]) -> FxHashSet<u64> {
    let (mut namespaces, mut inodes) = (FxHashSet::default(), FxHashSet::default());
    for process in processes {
        let Ok(namespace) = std::fs::read_link(format!("/proc/{process}/ns/net")) else { continue };
        if !namespaces.insert(namespace) {
            continue;
        }
        let text = std::fs::read_to_string(format!("/proc/{process}/net/unix")).unwrap_or_default();
        let connected = text.lines().filter_map(|line| {
            let mut words = line.split_ascii_whitespace().skip(5);
            (words.next()? == "03").then(|| words.next()?.parse::<u64>().ok()).flatten()
        });
        inodes.extend(connected);
    }
    inodes
}
