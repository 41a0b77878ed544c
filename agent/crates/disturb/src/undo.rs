//! What takes a change of the machine back. Said before the change is made, so that it is taken
//! back by this process, or by the [`crate::keeper`] if this process dies.

use crate::process::Process;
use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// How long the last process of a control group may take to leave it.
const LEAVING: Duration = Duration::from_secs(2);

/// Variables of a command's environment: unlike its words, those are shown to its owner only.
pub type Environment = BTreeMap<String, String>;

/// One way back. It cannot be printed whole: there may be a password in it.
#[derive(Clone, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Undo {
    /// Continue stopped processes.
    Continue(Vec<Process>),
    /// Write a value back to a control file.
    Write(PathBuf, String),
    /// Remove a file.
    RemoveFile(PathBuf),
    /// Remove a control group whose processes are about to end.
    RemoveGroup(PathBuf),
    /// Run a command.
    Run(Vec<String>),
    /// Run a command that finds in its environment what nobody else is to read.
    RunWith {
        /// Set beside what the agent's own environment has.
        environment: Environment,
        /// The program and its arguments.
        command: Vec<String>,
    },
}

impl Undo {
    /// Takes the change back. What is gone already is no error.
    pub fn apply(&self) -> Result<()> {
        match self {
            Self::Continue(processes) => {
                // All of them, even if one fails.
                let sent: Vec<_> =
                    processes.iter().map(|each| (each.pid, each.signal(libc::SIGCONT))).collect();
                sent.into_iter().try_for_each(|(pid, sent)| {
                    sent.map(drop).with_context(|| format!("cannot continue process {pid}"))
                })
            }
            Self::Write(file, value) => absent_is_fine(std::fs::write(file, value))
                .with_context(|| format!("cannot write '{value}' to {}", file.display())),
            Self::RemoveFile(path) => absent_is_fine(std::fs::remove_file(path))
                .with_context(|| format!("cannot remove {}", path.display())),
            Self::RemoveGroup(path) => remove_group(path)
                .with_context(|| format!("cannot remove the control group {}", path.display())),
            Self::Run(command) => run(command),
            Self::RunWith { environment, command } => run_with(environment, command),
        }
    }
}

fn absent_is_fine(result: std::io::Result<()>) -> std::io::Result<()> {
    match result {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

fn remove_group(path: &PathBuf) -> std::io::Result<()> {
    let until = Instant::now() + LEAVING;
    loop {
        match absent_is_fine(std::fs::remove_dir(path)) {
            Err(error) if error.raw_os_error() == Some(libc::EBUSY) && Instant::now() < until => {
                std::thread::sleep(Duration::from_millis(5));
            }
            other => return other,
        }
    }
}

/// Runs a command to its end; its words are the error.
pub fn run(command: &[String]) -> Result<()> {
    run_with(&Environment::new(), command)
}

/// The same; no error has the environment in it.
fn run_with(environment: &Environment, command: &[String]) -> Result<()> {
    let words = command.join(" ");
    let [program, arguments @ ..] = command else { return Ok(()) };
    let ended = Command::new(program)
        .args(arguments)
        .envs(environment)
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("cannot run '{words}'"))?;
    let said = String::from_utf8_lossy(&ended.stderr);
    anyhow::ensure!(ended.status.success(), "'{words}' failed: {}", said.trim());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::tests::{end_unharmed, successor};

    #[test]
    fn a_process_that_took_the_number_of_a_stopped_one_is_not_continued() {
        let (child, before) = successor();
        let now = Process::find(before.pid).unwrap();
        now.signal(libc::SIGSTOP).unwrap();
        await_state(before.pid, "T");
        Undo::Continue(vec![before]).apply().unwrap();
        await_state(before.pid, "T");
        Undo::Continue(vec![now]).apply().unwrap();
        await_state(before.pid, "S");
        end_unharmed(child);
    }

    fn await_state(pid: i32, state: &str) {
        let until = Instant::now() + Duration::from_secs(30);
        let stat = format!("/proc/{pid}/stat");
        while std::fs::read_to_string(&stat).unwrap().split_whitespace().nth(2) != Some(state) {
            assert!(Instant::now() < until, "process {pid} is not in state {state}");
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    #[test]
    fn what_is_gone_already_is_no_error() {
        let folder = tempfile::tempdir().unwrap();
        let gone = folder.path().join("gone");
        Undo::RemoveFile(gone.clone()).apply().unwrap();
        Undo::RemoveGroup(gone).apply().unwrap();
        Undo::Continue(vec![Process { pid: i32::MAX, start: 0 }]).apply().unwrap();
    }

    #[test]
    fn a_command_that_fails_says_why() {
        let command = ["sh", "-c", "echo no way >&2; exit 3"].map(str::to_owned).to_vec();
        let error = Undo::Run(command).apply().unwrap_err().to_string();
        assert!(error.contains("no way"), "{error}");
    }

    #[test]
    fn what_a_command_has_in_its_environment_is_no_word_of_it_and_in_no_error() {
        let script = "tr '\\0' ' ' < /proc/$$/cmdline >&2; echo ${#SECRET} letters >&2; exit 3";
        let undo = Undo::RunWith {
            environment: Environment::from([("SECRET".to_owned(), "between us".to_owned())]),
            command: ["sh", "-c", script].map(str::to_owned).to_vec(),
        };
        let error = format!("{:?}", undo.apply().unwrap_err());
        assert!(error.contains("10 letters"), "{error}");
        assert!(!error.contains("between us"), "{error}");
    }
}
