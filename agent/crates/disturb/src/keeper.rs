//! A second process that knows the way back from every change that is in force. It does nothing
//! while the agent lives; when the agent dies, even by SIGKILL, the pipe between them ends, and the
//! keeper takes back what the agent could not.

use crate::undo::Undo;
use anyhow::{Context, Result, anyhow};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::{BufRead, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The agent's hidden verb that becomes the keeper.
pub const VERB: &str = "keep";

/// What the agent says to the keeper, a line each.
#[derive(Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
enum Word {
    /// A change is about to be made.
    Hold(u64, Undo),
    /// It has been taken back.
    Release(u64),
}

/// The agent's end.
#[derive(Clone)]
pub struct Keeper(Arc<Line>);

struct Line {
    child: Mutex<Child>,
    pipe: Mutex<Option<ChildStdin>>,
    last: AtomicU64,
}

impl Keeper {
    /// Starts the keeper. To be called before there are other threads or children.
    pub fn start() -> Result<Self> {
        let mut command = Command::new("/proc/self/exe");
        command.arg(VERB).stdin(Stdio::piped()).stdout(Stdio::null());
        // SAFETY: only async-signal-safe calls between fork and exec. A session of its own: an
        // interrupt from the terminal is for the agent.
        unsafe {
            command.pre_exec(|| {
                libc::setsid();
                libc::signal(libc::SIGINT, libc::SIG_IGN);
                libc::signal(libc::SIGTERM, libc::SIG_IGN);
                Ok(())
            });
        }
        let mut child = command.spawn().context("cannot start the process that undoes")?;
        let pipe = Mutex::new(child.stdin.take());
        Ok(Self(Arc::new(Line { child: Mutex::new(child), pipe, last: AtomicU64::new(0) })))
    }

    /// Has the keeper know the way back. From now on the change may be made.
    pub fn hold(&self, undo: Undo) -> Result<Held> {
        let number = self.0.last.fetch_add(1, Ordering::Relaxed);
        self.say(&Word::Hold(number, undo.clone()))?;
        Ok(Held { keeper: self.clone(), number, undo: Some(undo) })
    }

    fn say(&self, word: &Word) -> Result<()> {
        let mut line = serde_json::to_vec(word)?;
        line.push(b'\n');
        let mut pipe = self.0.pipe.lock().unwrap_or_else(PoisonError::into_inner);
        pipe.as_mut()
            .ok_or_else(|| anyhow!("the pipe is closed"))
            .and_then(|pipe| Ok(pipe.write_all(&line)?))
            .context("the process that undoes is gone; nothing may be disturbed without it")
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        drop(self.pipe.get_mut().unwrap_or_else(PoisonError::into_inner).take());
        let _ = self.child.get_mut().unwrap_or_else(PoisonError::into_inner).wait();
    }
}

/// A change in force. Taken back by [`Held::release`], or when dropped.
pub struct Held {
    keeper: Keeper,
    number: u64,
    undo: Option<Undo>,
}

impl Held {
    /// Takes the change back now.
    pub fn release(mut self) -> Result<()> {
        self.take_back()
    }

    /// Leaves the change to a later way back that covers it.
    pub fn forget(mut self) -> Result<()> {
        self.undo = None;
        self.keeper.say(&Word::Release(self.number))
    }

    fn take_back(&mut self) -> Result<()> {
        let Some(undo) = self.undo.take() else { return Ok(()) };
        undo.apply()?;
        self.keeper.say(&Word::Release(self.number))
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if let Err(error) = self.take_back() {
            let _ = writeln!(std::io::stderr(), "tierlab-agent: {error:#}");
        }
    }
}

/// The keeper's own life: listens until the agent's end is closed, then takes back what is left,
/// the latest change first.
pub fn keep(words: impl BufRead) -> Result<()> {
    let mut left = BTreeMap::new();
    for line in words.lines() {
        // A line that was cut off by the agent's death was not acted on either.
        match line.map(|line| serde_json::from_str(&line)) {
            Ok(Ok(Word::Hold(number, undo))) => drop(left.insert(number, undo)),
            Ok(Ok(Word::Release(number))) => drop(left.remove(&number)),
            Ok(Err(_)) | Err(_) => break,
        }
    }
    for undo in left.into_values().rev() {
        if let Err(error) = undo.apply() {
            let _ = writeln!(std::io::stderr(), "tierlab-agent: {error:#}");
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::undo::Environment;

    #[test]
    fn what_is_not_released_is_taken_back_latest_first_also_after_a_cut_line() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("value");
        let hold = |number: u64, value: &str| {
            let undo = Undo::Write(file.clone(), value.to_owned());
            serde_json::to_string(&Word::Hold(number, undo)).unwrap()
        };
        let released = serde_json::to_string(&Word::Release(1)).unwrap();
        let said = [hold(0, "first"), hold(1, "second"), hold(2, "third"), released].join("\n");
        keep(format!("{said}\n{{\"hold\":[9").as_bytes()).unwrap();
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "first");
    }

    #[test]
    fn a_command_has_its_environment_in_the_keeper_too() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("value");
        let script = format!("printf %s \"$VALUE\" > {}", file.display());
        let undo = Undo::RunWith {
            environment: Environment::from([("VALUE".to_owned(), "kept".to_owned())]),
            command: ["sh", "-c", &script].map(str::to_owned).to_vec(),
        };
        keep(serde_json::to_string(&Word::Hold(0, undo)).unwrap().as_bytes()).unwrap();
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "kept");
    }
}
