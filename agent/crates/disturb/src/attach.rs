//! The door that a HotSpot JVM opens for tools: a UNIX socket, `.java_pid<pid>` in its /tmp.
//!
//! The JVM opens it when it gets SIGQUIT and finds `.attach_pid<pid>` there or in its working
//! folder. Source: OpenJDK 17, src/hotspot/os/posix/attachListener_posix.cpp and
//! src/jdk.attach/linux/classes/sun/tools/attach/VirtualMachineImpl.java.

use crate::keeper::{Held, Keeper};
use crate::process::Process;
use crate::undo::Undo;
use anyhow::{Context, Result, ensure};
use std::collections::HashMap;
use std::fs;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long the JVM may take to open the door.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long a command may take.
const COMMAND_PATIENCE: Duration = Duration::from_secs(60);

/// A JVM whose door is open.
pub struct Jvm {
    socket: PathBuf,
    /// The socket lies in the JVM's /tmp until the JVM ends; if we had it opened, the last of us
    /// removes it.
    _left: Option<Arc<Held>>,
}

/// What is to be removed of the JVMs that this agent has attached to, by pid.
pub type Doors = HashMap<i32, Arc<Held>>;

impl Jvm {
    /// Opens the door of this JVM, unless it stands open.
    pub fn attach(jvm: Process, keeper: &Keeper, doors: &mut Doors) -> Result<Self> {
        let pid = jvm.pid;
        let (own_pid, tmp) = (pid_of_its_own(pid)?, PathBuf::from(format!("/proc/{pid}/root/tmp")));
        let socket = tmp.join(format!(".java_pid{own_pid}"));
        if socket.exists() {
            return Ok(Self { socket, _left: doors.get(&pid).cloned() });
        }
        let knock = tmp.join(format!(".attach_pid{own_pid}"));
        let left = keeper.hold(Undo::RemoveFile(socket.clone()))?;
        let knocking = keeper.hold(Undo::RemoveFile(knock.clone()))?;
        fs::write(&knock, "").with_context(|| format!("cannot make {}", knock.display()))?;
        // HotSpot's own signal for this; it would end any other program.
        let sent = jvm.signal(libc::SIGQUIT).context("cannot send SIGQUIT to the JVM")?;
        ensure!(sent, "the JVM (process {pid}) has ended");
        let deadline = Instant::now() + PATIENCE;
        while !socket.exists() {
            ensure!(Instant::now() < deadline, "the JVM (process {pid}) lets no tool attach");
            std::thread::sleep(Duration::from_millis(10));
        }
        knocking.release()?;
        let left = Arc::new(left);
        doors.insert(pid, Arc::clone(&left));
        Ok(Self { socket, _left: Some(left) })
    }

    /// Has the JVM do a diagnostic command (as jcmd does) and waits until it is done.
    pub fn command(&self, command: &str) -> Result<()> {
        let mut stream = UnixStream::connect(&self.socket)
            .with_context(|| format!("cannot connect to {}", self.socket.display()))?;
        stream.set_read_timeout(Some(COMMAND_PATIENCE))?;
        // Protocol version, name, three arguments; each ends with a zero byte.
        stream.write_all(format!("1\0jcmd\0{command}\0\0\0").as_bytes())?;
        let mut reply = String::new();
        stream.read_to_string(&mut reply).context("the JVM does not answer")?;
        ensure!(reply.starts_with("0\n"), "the JVM refuses {command}: {}", reply.trim());
        Ok(())
    }
}

/// The process's pid in its own namespace.
fn pid_of_its_own(pid: i32) -> Result<i32> {
    let path = format!("/proc/{pid}/status");
    let status = fs::read_to_string(&path).with_context(|| format!("cannot read {path}"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("NSpid:"));
    let last = line.and_then(|pids| pids.split_whitespace().last());
    Ok(last.and_then(|pid| pid.parse().ok()).unwrap_or(pid))
}

/// Whether the process is a HotSpot JVM.
pub fn is_jvm(pid: i32) -> bool {
    let maps = fs::read_to_string(Path::new("/proc").join(pid.to_string()).join("maps"));
    maps.is_ok_and(|maps| maps.contains("/libjvm.so"))
}
