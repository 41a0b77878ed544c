//! The few commands of bpf(2) that one small tracing program with one map needs.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

const MAP_CREATE: libc::c_int = 0;
const MAP_LOOKUP: libc::c_int = 1;
const PROG_LOAD: libc::c_int = 5;
const RAW_TRACEPOINT_OPEN: libc::c_int = 17;
const MAP_TYPE_PERCPU_ARRAY: u32 = 6;
const PROG_TYPE_RAW_TRACEPOINT: u32 = 17;

/// An instruction: opcode, registers (source in the upper half), offset, immediate value.
pub type Instruction = (u8, u8, i16, i32);

/// A map with one value for each possible core.
pub struct PercpuValue {
    map: OwnedFd,
    words: usize,
    values: Vec<u64>,
}

impl PercpuValue {
    /// Values of `words` 64-bit words each.
    pub fn create(words: usize, cores: usize) -> io::Result<Self> {
        lift_locked_memory();
        #[repr(C)]
        struct Attributes {
            map_type: u32,
            key_size: u32,
            value_size: u32,
            max_entries: u32,
        }
        let attributes = Attributes {
            map_type: MAP_TYPE_PERCPU_ARRAY,
            key_size: 4,
            value_size: words as u32 * 8,
            max_entries: 1,
        };
        // SAFETY: these are the attributes of the command, without addresses.
        let map = unsafe { descriptor(MAP_CREATE, &attributes)? };
        Ok(Self { map, words, values: vec![0; words * cores] })
    }

    /// The number by which a program loads the map.
    pub fn number(&self) -> i32 {
        self.map.as_raw_fd()
    }

    /// Reads all cores' values.
    pub fn read(&mut self) -> io::Result<()> {
        #[repr(C)]
        struct Attributes {
            map: u64,
            key: u64,
            value: u64,
            flags: u64,
        }
        let key = 0u32;
        let attributes = Attributes {
            map: self.map.as_raw_fd() as u64,
            key: &raw const key as u64,
            value: self.values.as_mut_ptr() as u64,
            flags: 0,
        };
        // SAFETY: these are the attributes of the command. The kernel reads one key, and writes a value
        // for each possible core, for which `values` has room.
        unsafe { command(MAP_LOOKUP, &attributes) }.map(drop)
    }

    /// A core's value as it was last read.
    pub fn of_core(&self, core: usize) -> Option<&[u64]> {
        self.values.chunks_exact(self.words).nth(core)
    }
}

/// Loads a program and attaches it to a raw tracepoint; it is detached when the result is dropped.
pub fn attach(
    tracepoint: &'static std::ffi::CStr,
    program: &[Instruction],
) -> io::Result<[OwnedFd; 2]> {
    #[repr(C)]
    struct Load {
        program_type: u32,
        count: u32,
        instructions: u64,
        licence: u64,
        log: [u32; 4],
        kernel_version: u32,
        flags: u32,
    }
    let encoded: Vec<u64> = program.iter().map(encode).collect();
    let load = Load {
        program_type: PROG_TYPE_RAW_TRACEPOINT,
        count: encoded.len() as u32,
        instructions: encoded.as_ptr() as u64,
        licence: c"Apache-2.0".as_ptr() as u64,
        log: [0; 4],
        kernel_version: 0,
        flags: 0,
    };
    // SAFETY: these are the attributes of the command; the instructions and the licence outlive it.
    let loaded = unsafe { descriptor(PROG_LOAD, &load)? };
    #[repr(C)]
    struct Open {
        name: u64,
        program: u32,
        padding: u32,
    }
    let open =
        Open { name: tracepoint.as_ptr() as u64, program: loaded.as_raw_fd() as u32, padding: 0 };
    // SAFETY: these are the attributes of the command; the name outlives it.
    let attached = unsafe { descriptor(RAW_TRACEPOINT_OPEN, &open)? };
    Ok([loaded, attached])
}

fn encode(&(opcode, registers, offset, value): &Instruction) -> u64 {
    let [low, high] = offset.to_ne_bytes();
    let [a, b, c, d] = value.to_ne_bytes();
    u64::from_ne_bytes([opcode, registers, low, high, a, b, c, d])
}

/// Before Linux 5.11 maps and programs count as the user's locked memory, of which there are 64 KiB,
/// used up by the system's own; where that may not be changed the kernel says so itself.
fn lift_locked_memory() {
    let all = libc::rlimit { rlim_cur: libc::RLIM_INFINITY, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: the limit is a valid one, which lives for the call.
    unsafe { libc::setrlimit(libc::RLIMIT_MEMLOCK, &raw const all) };
}

/// A command that makes a descriptor.
///
/// # Safety
/// As for [`command`]; and it must be one of those that give a new descriptor.
unsafe fn descriptor<T>(which: libc::c_int, attributes: &T) -> io::Result<OwnedFd> {
    // SAFETY: the caller answers for the attributes, and nobody else owns the new descriptor.
    unsafe { Ok(OwnedFd::from_raw_fd(command(which, attributes)?)) }
}

/// # Safety
/// `T` must be the attributes of this command, without padding. Where they have addresses, the memory
/// there must be valid for what the kernel reads and writes there.
unsafe fn command<T>(which: libc::c_int, attributes: &T) -> io::Result<i32> {
    // SAFETY: `attributes` is valid for its size; the caller answers for what is in it.
    let result = unsafe { libc::syscall(libc::SYS_bpf, which, attributes, size_of::<T>()) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result as i32) }
}
