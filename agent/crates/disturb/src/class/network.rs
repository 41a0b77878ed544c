//! Network: a rate limit on the way into the subject.
//!
//! On the loopback of the trial's namespace, a token bucket (tbf) stands in the way of what goes to
//! the subject's address: wide open from the preparation on, narrowed at the start, opened at the
//! end. A change of its rate refills a bucket and leaves packets in it alone, so that both moments
//! are sharp; a datagram of our own takes what the bucket holds at the start. Packets that go
//! elsewhere pass by the filter (htb without a class).

use crate::class::Preparation;
use crate::disturbance::{Disturbance, End};
use crate::keeper::{Held, Keeper};
use crate::plan::Planned;
use crate::undo::{Undo, run};
use anyhow::{Context, Result, bail, ensure};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, UdpSocket};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tierlab_record::clock::realtime_ns;

/// Its keys.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Network {
    /// Bytes per second into the subject.
    #[serde(default = "rate_64_kib")]
    rate: u64,
}

fn rate_64_kib() -> u64 {
    64 << 10
}

/// More than any loopback carries, with a bucket that never empties.
const OPEN: &str = "rate 100gbit burst 4mb";
/// The largest packet of a loopback is 65,550 bytes; a bucket that cannot hold it drops it. What is
/// left in it once our datagram has passed is a few small packets.
const BUCKET: u64 = 66_000;
/// The largest UDP payload.
const DATAGRAM: usize = 65_507;
/// How long packets that waited may take to leave before the bucket is removed.
const DRAIN: Duration = Duration::from_millis(50);

/// Where the filters send packets: one class with a token bucket for each subject.
pub struct Shaper {
    classes: HashMap<Ipv4Addr, usize>,
    shared: Arc<Shared>,
}

/// Ends with the last disturbance that uses it.
struct Shared {
    tc: Mutex<Tc>,
    /// How many token buckets there are.
    buckets: AtomicUsize,
    /// The latest first.
    installed: Mutex<Vec<Held>>,
}

impl Drop for Shared {
    fn drop(&mut self) {
        std::thread::sleep(DRAIN);
        let held = self.installed.get_mut().unwrap_or_else(PoisonError::into_inner);
        while let Some(latest) = held.pop() {
            drop(latest);
        }
    }
}

struct Limit {
    // Before what it hangs on.
    narrowed: Option<Held>,
    shared: Arc<Shared>,
    class: usize,
    rate: u64,
    drain: UdpSocket,
    keeper: Keeper,
}

impl Network {
    /// Installs what limits, wide open.
    pub fn prepare(
        &self,
        planned: &Planned,
        preparation: &mut Preparation,
    ) -> Result<Box<dyn Disturbance>> {
        ensure!(self.rate > 0, "`rate` is 0; give 1 byte a second or more");
        let address = planned.target.address.context("it needs the subject's `address`")?;
        let keeper = preparation.keeper.clone();
        let shaper = match &mut preparation.shaper {
            Some(shaper) => shaper,
            none => none.insert(Shaper::install(&keeper)?),
        };
        let class = shaper.class(address)?;
        // A socket of our own at the subject's address takes the datagram.
        let drain = UdpSocket::bind((address, 0))?;
        drain.connect(drain.local_addr()?)?;
        let shared = shaper.shared.clone();
        Ok(Box::new(Limit { shared, class, rate: self.rate, drain, narrowed: None, keeper }))
    }
}

impl Shaper {
    fn install(keeper: &Keeper) -> Result<Self> {
        if interfaces()? > 1 {
            bail!(
                "the agent is not in a network namespace of the trial's own, with a loopback only"
            );
        }
        let root = keeper.hold(Undo::Run(words("tc qdisc del dev lo root")))?;
        run(&words("tc qdisc add dev lo root handle 1: htb default 0"))?;
        let tc = Mutex::new(Tc::start()?);
        let shared = Arc::new(Shared {
            tc,
            buckets: AtomicUsize::new(0),
            installed: Mutex::new(vec![root]),
        });
        Ok(Self { classes: HashMap::new(), shared })
    }

    fn class(&mut self, address: Ipv4Addr) -> Result<usize> {
        if let Some(class) = self.classes.get(&address) {
            return Ok(*class);
        }
        let class = self.classes.len() + 1;
        run(&words(&format!(
            "tc class add dev lo parent 1: classid 1:{class} htb rate 100gbit quantum 65536"
        )))?;
        run(&words(&format!("tc {}", bucket("add", class, OPEN))))?;
        run(&words(&format!(
            "tc filter add dev lo parent 1: protocol ip u32 match ip dst {address}/32 \
             flowid 1:{class}"
        )))?;
        self.classes.insert(address, class);
        self.shared.buckets.store(class, Ordering::Relaxed);
        Ok(class)
    }
}

impl Disturbance for Limit {
    fn start(&mut self, _until_ns: i64) -> Result<i64> {
        let opened = format!("tc {}", bucket("change", self.class, OPEN));
        self.narrowed = Some(self.keeper.hold(Undo::Run(words(&opened)))?);
        let narrow = format!("rate {}bit burst {BUCKET}", self.rate * 8);
        self.change(&narrow)?;
        // What the bucket holds would pass at once.
        let _ = self.drain.send(&[0; DATAGRAM]);
        Ok(realtime_ns())
    }

    fn end(&mut self) -> Result<End> {
        self.change(OPEN)?;
        let end = End::now(json!({}));
        // Those who wait are let go by the next packet that passes.
        let _ = self.drain.send(&[0]);
        self.narrowed.take().map(Held::forget).transpose()?;
        Ok(end)
    }
}

impl Limit {
    fn change(&self, to: &str) -> Result<()> {
        let mut tc = self.shared.tc.lock().unwrap_or_else(PoisonError::into_inner);
        let shown = 1 + self.shared.buckets.load(Ordering::Relaxed);
        tc.tell(&bucket("change", self.class, to), shown)
    }
}

fn bucket(verb: &str, class: usize, rate: &str) -> String {
    format!("qdisc {verb} dev lo parent 1:{class} handle {}: tbf {rate} limit 64mb", 10 + class)
}

fn interfaces() -> Result<usize> {
    let path = "/proc/self/net/dev";
    let lines = std::fs::read_to_string(path).with_context(|| format!("cannot read {path}"))?;
    Ok(lines.lines().filter(|line| line.contains(':')).count())
}

fn words(command: &str) -> Vec<String> {
    command.split_whitespace().map(str::to_owned).collect()
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
