//! The kernel's part of the tracer: loaded, attached, told whom to trace, and read.

use anyhow::{Context, Result, anyhow};
use aya::maps::{Array, HashMap, MapData, RingBuf};
use aya::programs::BtfTracePoint;
use aya::{Btf, Ebpf, EbpfLoader};

static OBJECT: &[u8] = aya::include_bytes_aligned!(concat!(env!("OUT_DIR"), "/trace.bpf.o"));

/// Programs and their tracepoints: what is always attached.
const ALWAYS: [(&str, &str); 5] = [
    ("switched", "sched_switch"),
    ("woken", "sched_wakeup"),
    ("forked", "task_newtask"),
    ("ended", "sched_process_exit"),
    ("changed_state", "inet_sock_set_state"),
];
/// Where bytes pass a TCP socket, since Linux 6.3.
const SOCKETS: [(&str, &str); 2] =
    [("socket_sent", "sock_send_length"), ("socket_received", "sock_recv_length")];
/// Each system call of every process costs a little more while this is attached.
const SYSTEM_CALLS: (&str, &str) = ("call_ended", "sys_exit");

/// Of a traced process: it is written in Go.
const GO: u32 = 1 << 31;

/// How the kernel's part sees messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ways {
    /// TCP by the tracepoints of sockets; else by that of system calls.
    pub sockets: bool,
    /// UNIX sockets, by the tracepoint of system calls.
    pub unix: bool,
}

/// The loaded programs.
pub struct Kernel {
    _programs: Ebpf,
    ring: RingBuf<MapData>,
    processes: HashMap<MapData, u32, u32>,
    /// By subject: which threads are left out, nothing, and the lower and upper half of the count of
    /// events (`struct subject`).
    subjects: Array<MapData, [u32; 4]>,
    lost: Array<MapData, u64>,
    /// How it sees messages.
    pub ways: Ways,
}

impl Kernel {
    /// Loads and attaches. Connections of these ports are traced, of `ways` as far as the kernel has
    /// them.
    ///
    /// # Errors
    /// When the process may not (CAP_BPF and CAP_PERFMON), or the kernel has no type information or
    /// lacks a tracepoint.
    pub fn open(ports: impl Iterator<Item = u16>, wanted: Ways, cpus: u32) -> Result<Self> {
        let btf = Btf::from_sys_fs().context(
            "system calls cannot be traced: the kernel tells no types (/sys/kernel/btf/vmlinux, CONFIG_DEBUG_INFO_BTF)",
        )?;
        let has = |tracepoint: &str| {
            let name = format!("btf_trace_{tracepoint}");
            btf.id_by_type_name_kind(&name, aya_obj::btf::BtfKind::Typedef).is_ok()
        };
        let sockets = wanted.sockets && SOCKETS.iter().all(|(_, tracepoint)| has(tracepoint));
        let ways = Ways { sockets, unix: wanted.unix };
        let by_system_calls = u8::from(!sockets);
        let mut programs = EbpfLoader::new()
            .btf(Some(&btf))
            // Storage by thread is the kernel's part alone: it is never read from here.
            .allow_unsupported_maps()
            .override_global("inet_by_syscalls", &by_system_calls, true)
            .map_max_entries("scratch", cpus)
            .load(OBJECT)
            .context("system calls cannot be traced: the kernel refuses the tracer's maps")?;
        let mut wanted: Vec<_> = ALWAYS.to_vec();
        if sockets {
            wanted.extend(SOCKETS);
        }
        if ways.unix || !sockets {
            wanted.push(SYSTEM_CALLS);
        }
        for (name, tracepoint) in wanted {
            let program = programs.program_mut(name).ok_or_else(|| anyhow!("no program {name}"))?;
            let program: &mut BtfTracePoint = program.try_into()?;
            let refused =
                || format!("system calls cannot be traced: the kernel refuses {tracepoint}");
            program.load(tracepoint, &btf).with_context(refused)?;
            program.attach().with_context(refused)?;
        }
        let mut map = |name: &str| programs.take_map(name).ok_or_else(|| anyhow!("no map {name}"));
        let ring = RingBuf::try_from(map("events")?)?;
        let processes = HashMap::try_from(map("processes")?)?;
        let subjects = Array::try_from(map("subjects")?)?;
        let lost = Array::try_from(map("lost")?)?;
        let mut known: HashMap<_, u16, u8> = HashMap::try_from(map("ports")?)?;
        for port in ports {
            known.insert(port, 1, 0)?;
        }
        Ok(Self { _programs: programs, ring, processes, subjects, lost, ways })
    }

    /// Traces a process, and whoever it forks from now on.
    pub fn add(&mut self, process: u32, subject: usize, is_go: bool) {
        let value = subject as u32 | if is_go { GO } else { 0 };
        // One that the table has no room for is not traced; a process that has ended is no loss.
        let _ = self.processes.insert(process, value, 0);
    }

    /// Traces these processes no more.
    pub fn leave_out(&mut self, processes: &[u32]) {
        for process in processes {
            let _ = self.processes.remove(process);
        }
    }

    /// The traced processes of a subject.
    pub fn processes_of(&self, subject: usize) -> Vec<u32> {
        let all = self.processes.iter().flatten();
        all.filter(|&(_, of)| of & !GO == subject as u32).map(|(process, _)| process).collect()
    }

    /// Events of a subject so far, those that were left out not counted.
    pub fn events_of(&self, subject: usize) -> u64 {
        let value = self.subjects.get(&(subject as u32), 0).unwrap_or_default();
        u64::from(value[2]) | u64::from(value[3]) << 32
    }

    /// Leaves out the threads whose hashed numbers have any of these bits.
    pub fn leave_out_threads(&mut self, subject: usize, bits: u32) {
        let mut value = self.subjects.get(&(subject as u32), 0).unwrap_or_default();
        value[0] = bits;
        let _ = self.subjects.set(subject as u32, value, 0);
    }

    /// Events for which there was no room, since the beginning.
    pub fn lost(&self) -> u64 {
        self.lost.get(&0, 0).unwrap_or_default()
    }

    /// Takes all events that have come, in their order.
    pub fn drain(&mut self, mut each: impl FnMut(&[u8])) {
        while let Some(item) = self.ring.next() {
            each(&item);
        }
    }
}
