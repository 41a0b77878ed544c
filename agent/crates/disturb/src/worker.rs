//! The agent's hold on a [`crate::neighbour`]: started and prepared in advance, set off by a line
//! on its standard input, killed when dropped.

use crate::disturbance::{Disturbance, End};
use crate::keeper::Held;
use crate::moment;
use crate::neighbour::{NAME, Orders, Report, VERB};
use anyhow::{Context, Result, anyhow};
use serde_json::Value;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use tierlab_record::Stop;

/// A neighbour that is ready.
pub struct Worker {
    child: Child,
    orders: ChildStdin,
    reports: BufReader<ChildStdout>,
    /// It was set off, and has not said that it began.
    unheard: bool,
    /// It was ended before its time.
    cut: bool,
}

impl Worker {
    /// Starts a neighbour and waits until it is where it should be, with all that it needs. To be
    /// called from the main thread: the neighbour ends with the thread that started it.
    pub fn prepare(orders: &Orders) -> Result<Self> {
        let mut child = Command::new("/proc/self/exe")
            .arg0(NAME)
            .arg(VERB)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("cannot start a neighbour")?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(anyhow!("a neighbour has no pipes"));
        };
        let reports = BufReader::new(output);
        let mut worker = Self { child, orders: input, reports, unheard: false, cut: false };
        worker.say(&serde_json::to_string(orders)?)?;
        worker.hear()?;
        Ok(worker)
    }

    /// Sets it off, to end by itself at `until_ns`.
    pub fn set_off(&mut self, until_ns: i64) -> Result<()> {
        self.unheard = true;
        self.say(&until_ns.to_string())
    }

    /// Waits until it has begun, and returns when that really was.
    pub fn began(&mut self) -> Result<i64> {
        self.unheard = false;
        Ok(self.hear()?.at_ns)
    }

    /// Waits for its end and returns it.
    pub fn end(&mut self) -> Result<End> {
        if self.cut {
            return Ok(End::now(Value::Null));
        }
        if self.unheard {
            self.began()?;
        }
        let report = self.hear()?;
        Ok(End { at_ns: report.at_ns, effect: report.effect })
    }

    /// Whether somebody else killed it: the kernel, for want of memory.
    pub fn was_killed(&mut self) -> bool {
        let status = self.child.try_wait().ok().flatten();
        !self.cut && status.and_then(|status| status.signal()) == Some(libc::SIGKILL)
    }

    /// Kills it, before its time.
    pub fn kill(&mut self) {
        self.cut = true;
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    fn say(&mut self, line: &str) -> Result<()> {
        let sent = self.orders.write_all(format!("{line}\n").as_bytes());
        sent.map_err(|_| self.fate())
    }

    fn hear(&mut self) -> Result<Report> {
        let mut line = String::new();
        self.reports.read_line(&mut line).context("cannot hear a neighbour")?;
        let Ok(report) = serde_json::from_str::<Report>(&line) else { return Err(self.fate()) };
        match report.error {
            Some(error) => Err(anyhow!(error)),
            None => Ok(report),
        }
    }

    /// Why it says nothing more.
    fn fate(&mut self) -> anyhow::Error {
        match self.child.wait() {
            Ok(status) if status.signal() == Some(libc::SIGKILL) => {
                anyhow!("the neighbour was killed, probably for want of memory in its domain")
            }
            Ok(status) => anyhow!("the neighbour ended before its time ({status})"),
            Err(error) => anyhow!("the neighbour is lost ({error})"),
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.kill();
    }
}

/// A disturbance that a neighbour makes, with the changes of the machine that go with it.
pub struct Employed {
    // In this order: a group can be removed once its process is gone.
    worker: Worker,
    _changes: Vec<Held>,
}

impl Employed {
    /// The changes are taken back when this is dropped.
    pub fn new(worker: Worker, changes: Vec<Held>) -> Self {
        Self { worker, _changes: changes }
    }

    /// Sets the neighbour off, and does not wait until it has begun.
    pub fn set_off(&mut self, until_ns: i64) -> Result<()> {
        self.worker.set_off(until_ns)
    }

    /// Whether the kernel killed the neighbour.
    pub fn was_killed(&mut self) -> bool {
        self.worker.was_killed()
    }
}

impl Disturbance for Employed {
    fn start(&mut self, until_ns: i64) -> Result<i64> {
        self.worker.set_off(until_ns)?;
        self.worker.began()
    }

    fn keep_up(&mut self, until_ns: i64, stop: Stop) -> Result<()> {
        if !moment::wait(until_ns, stop) {
            self.worker.kill();
        }
        Ok(())
    }

    fn end(&mut self) -> Result<End> {
        self.worker.end()
    }
}
