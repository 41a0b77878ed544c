//! Restart: the server's main process is told to end its workers and to start others in their place,
//! and told again whenever they are there, until the end: what a new configuration does, or workers
//! that crash.

use crate::disturbance::{Disturbance, End};
use crate::moment;
use crate::plan::{Planned, Target};
use crate::process::Process;
use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};
use tierlab_record::Stop;
use tierlab_record::clock::{realtime_ns, steady_ns};

/// Its keys.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Restart {
    /// What tells the server to do so.
    signal: i32,
}

/// How often the workers are looked for.
const LOOK_NS: i64 = 5_000_000;
/// How long the last ones may take to come.
const COMING: Duration = Duration::from_secs(2);

struct Restarting {
    main: Process,
    signal: i32,
    /// Those that were told to end.
    ended: BTreeSet<i32>,
    restarts: usize,
}

impl Restart {
    /// Looks who is to be told; the workers are looked up at the start.
    pub fn prepare(&self, planned: &Planned) -> Result<Box<dyn Disturbance>> {
        let pid = *planned.target.pids.first().context("it needs the server's `pids`")?;
        let main = Process::find(pid)?;
        ensure!(!workers(main)?.is_empty(), "the server has no processes besides its main one");
        let (signal, ended) = (self.signal, BTreeSet::new());
        Ok(Box::new(Restarting { main, signal, ended, restarts: 0 }))
    }
}

/// The descendants of the main process.
fn workers(main: Process) -> Result<BTreeSet<i32>> {
    let family = Target { pids: vec![main.pid], ..Target::default() };
    Ok(family.processes()?.into_iter().filter(|pid| *pid != main.pid).collect())
}

impl Disturbance for Restarting {
    fn start(&mut self, _until_ns: i64) -> Result<i64> {
        let start_ns = realtime_ns();
        self.restart()?;
        Ok(start_ns)
    }

    fn keep_up(&mut self, until_ns: i64, stop: Stop) -> Result<()> {
        while !stop.asked() && steady_ns() < until_ns {
            moment::wait(until_ns.min(steady_ns() + LOOK_NS), stop);
            if steady_ns() < until_ns && self.are_there()? {
                self.restart()?;
            }
        }
        Ok(())
    }

    fn end(&mut self) -> Result<End> {
        let patience = Instant::now() + COMING;
        while !self.are_there()? && Instant::now() < patience {
            std::thread::sleep(Duration::from_nanos(LOOK_NS as u64));
        }
        Ok(End::now(json!({ "restarts": self.restarts })))
    }
}

impl Restarting {
    fn restart(&mut self) -> Result<()> {
        self.ended = workers(self.main)?;
        let sent = self.main.signal(self.signal).context("cannot send the signal to the server")?;
        ensure!(sent, "the server's main process, {}, has ended", self.main.pid);
        self.restarts += 1;
        Ok(())
    }

    /// Whether there are workers, and none of those that were to end.
    fn are_there(&self) -> Result<bool> {
        let now = workers(self.main)?;
        Ok(!now.is_empty() && now.is_disjoint(&self.ended))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::tests::{end_unharmed, successor};

    #[test]
    fn a_process_that_took_the_number_of_the_servers_main_one_gets_no_signal() {
        let (child, main) = successor();
        let ended = BTreeSet::new();
        let mut restarting = Restarting { main, signal: libc::SIGKILL, ended, restarts: 0 };
        let error = restarting.restart().unwrap_err().to_string();
        assert!(error.contains("has ended"), "{error}");
        assert_eq!(restarting.restarts, 0);
        end_unharmed(child);
    }
}
