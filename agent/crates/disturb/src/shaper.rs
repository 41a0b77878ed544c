//! What stands in the way of packets on the loopback of the trial's namespace: one root (htb), below
//! it a class with a queueing discipline of its own for each disturbance that asks for one. Packets
//! that no filter claims pass by all of them.

use crate::keeper::{Held, Keeper};
use crate::undo::{Undo, run};
use anyhow::{Context, Result, bail, ensure};
use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How long packets that waited may take to leave before the disciplines are removed.
const DRAIN: Duration = Duration::from_millis(50);

/// The root and its classes, while they are prepared.
pub struct Shaper {
    classes: HashMap<String, usize>,
    way: Arc<Way>,
}

/// The root while disturbances change what hangs on it. Ends with the last of them.
pub struct Way {
    tc: Mutex<Tc>,
    /// How many queueing disciplines there are below the root.
    leaves: AtomicUsize,
    /// The latest first.
    installed: Mutex<Vec<Held>>,
}

impl Drop for Way {
    fn drop(&mut self) {
        std::thread::sleep(DRAIN);
        let held = self.installed.get_mut().unwrap_or_else(PoisonError::into_inner);
        while let Some(latest) = held.pop() {
            drop(latest);
        }
    }
}

impl Shaper {
    /// Installs the root, through which everything passes as before.
    pub fn install(keeper: &Keeper) -> Result<Self> {
        if interfaces()? > 1 {
            bail!(
                "the agent is not in a network namespace of the trial's own, with a loopback only"
            );
        }
        let root = keeper.hold(Undo::Run(words("tc qdisc del dev lo root")))?;
        run(&words("tc qdisc add dev lo root handle 1: htb default 0"))?;
        let tc = Mutex::new(Tc::start()?);
        let way = Way { tc, leaves: AtomicUsize::new(0), installed: Mutex::new(vec![root]) };
        Ok(Self { classes: HashMap::new(), way: Arc::new(way) })
    }

    /// The root, to be held as long as what hangs on it is needed.
    pub fn way(&self) -> Arc<Way> {
        self.way.clone()
    }

    /// The number of the class of that name, and whether it was made now, with the discipline
    /// `leaf`. Nothing goes there until a filter sends it.
    pub fn class(&mut self, name: String, leaf: &str) -> Result<(usize, bool)> {
        if let Some(class) = self.classes.get(&name) {
            return Ok((*class, false));
        }
        let class = self.classes.len() + 1;
        run(&words(&format!(
            "tc class add dev lo parent 1: classid 1:{class} htb rate 100gbit quantum 65536"
        )))?;
        run(&words(&format!("tc {}", discipline("add", class, leaf))))?;
        self.classes.insert(name, class);
        self.way.leaves.store(class, Ordering::Relaxed);
        Ok((class, true))
    }
}

impl Way {
    /// Does a command of `tc`, and waits until it is done.
    pub fn tell(&self, command: &str) -> Result<()> {
        let mut tc = self.tc.lock().unwrap_or_else(PoisonError::into_inner);
        tc.tell(command, 1 + self.leaves.load(Ordering::Relaxed))
    }
}

/// The words that `add` or `change` the discipline below a class. `tc` reads numbers of classes and
/// handles as hexadecimal: that differs from nine on, for both alike.
pub fn discipline(verb: &str, class: usize, leaf: &str) -> String {
    format!("qdisc {verb} dev lo parent 1:{class} handle {}: {leaf}", 10 + class)
}

/// A command as a list.
pub fn words(command: &str) -> Vec<String> {
    command.split_whitespace().map(str::to_owned).collect()
}

fn interfaces() -> Result<usize> {
    let path = "/proc/self/net/dev";
    let lines = std::fs::read_to_string(path).with_context(|| format!("cannot read {path}"))?;
    Ok(lines.lines().filter(|line| line.contains(':')).count())
}

/// `tc` in batch mode, so that a change takes a netlink message and no new process.
struct Tc {
    child: Child,
    commands: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Tc {
    fn start() -> Result<Self> {
        let mut command = Command::new("tc");
        command.args(["-batch", "-"]).stdin(Stdio::piped()).stdout(Stdio::piped());
        // SAFETY: only an async-signal-safe call between fork and exec.
        unsafe {
            command.pre_exec(|| {
                libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
                Ok(())
            });
        }
        let mut child = command.spawn().context("'tc' cannot be started; install iproute2")?;
        let (Some(commands), Some(answers)) = (child.stdin.take(), child.stdout.take()) else {
            bail!("'tc' has no pipes");
        };
        Ok(Self { child, commands, answers: BufReader::new(answers) })
    }

    /// Does a command, and waits until it is done; `shown` is how many queueing disciplines the
    /// loopback has.
    fn tell(&mut self, command: &str, shown: usize) -> Result<()> {
        // A change says nothing: the answer to a question after it shows that it is done.
        let asked = format!("{command}\nqdisc show dev lo\n");
        self.commands.write_all(asked.as_bytes()).context("'tc' is gone")?;
        for _ in 0..shown {
            let mut answer = String::new();
            self.answers.read_line(&mut answer)?;
            ensure!(answer.starts_with("qdisc "), "'tc {command}' failed");
        }
        Ok(())
    }
}

impl Drop for Tc {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
