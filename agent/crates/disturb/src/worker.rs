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
    /// It has said that it began.
    begun: bool,
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
        let mut worker = Self { child, orders: input, reports, begun: false, cut: false };
        worker.say(&serde_json::to_string(orders)?)?;
        worker.hear()?;
        Ok(worker)
    }

    /// Sets it off, to end by itself at `until_ns`.
    pub fn set_off(&mut self, until_ns: i64) -> Result<()> {
        self.say(&until_ns.to_string())
    }

    /// Waits until it has begun, and returns when that really was.
    pub fn began(&mut self) -> Result<i64> {
        let report = self.hear()?;
        self.begun = true;
        Ok(report.at_ns)
    }

    /// Waits for its end and returns it.
    pub fn end(&mut self) -> Result<End> {
        if self.cut {
            return Ok(End::now(Value::Null));
        }
        if !self.begun {
            self.began()?;
        }
        let report = self.hear()?;
        Ok(End { at_ns: report.at_ns, effect: report.effect })
    }

    /// Whether somebody else killed it after it began: the kernel, for want of memory. To be asked
    /// after its end.
    pub fn was_killed_at_work(&mut self) -> bool {
        let status = self.child.try_wait().ok().flatten();
        self.begun && !self.cut && status.and_then(|status| status.signal()) == Some(libc::SIGKILL)
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

    /// Whether the kernel killed the neighbour after it began.
    pub fn was_killed_at_work(&mut self) -> bool {
        self.worker.was_killed_at_work()
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A neighbour that does what this shell script does.
    fn worker(script: &str) -> Worker {
        let mut child = Command::new("sh")
            .args(["-c", script])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (orders, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        Worker { child, orders, reports: BufReader::new(output), begun: false, cut: false }
    }

    #[test]
    fn a_neighbour_that_was_killed_before_it_began_did_nothing() {
        for (script, at_work) in [
            ("read word; kill -9 $$", false),
            ("read word; echo '{\"at_ns\":7}'; kill -9 $$", true),
            ("read word; echo '{\"at_ns\":7}'; exit 1", false),
        ] {
            let mut worker = worker(script);
            worker.set_off(0).unwrap();
            assert!(worker.end().is_err());
            assert_eq!(worker.was_killed_at_work(), at_work, "{script}");
        }
    }
}
