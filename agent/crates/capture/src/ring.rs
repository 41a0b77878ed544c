//! A TPACKET_V3 ring (Documentation/networking/packet_mmap.rst): the kernel writes packets into
//! blocks of shared memory and hands over a block when it is full or its time is up.

use crate::socket::{attach, interface_flags, interface_index, packet_socket, read, see_all, set};
use libc::{
    c_int, c_void, sock_filter, sockaddr_ll, socklen_t, tpacket_block_desc, tpacket_req3,
    tpacket_stats_v3, tpacket3_hdr,
};
use std::io::Error;
use std::mem::size_of;
use std::os::fd::{AsRawFd, OwnedFd};
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use tierlab_dissect::{CapturedFrame, LinkType};

/// Room for several segments of 64 KiB; small enough that there are many blocks, each of which lasts
/// for its time at least: so long may the reader be kept from running.
const BLOCK_BYTES: usize = 256 << 10;
/// A frame's size only has to divide a block's: TPACKET_V3 packs frames of any length.
const FRAME_BYTES: usize = 2 << 10;
/// A block that is not full is handed over after this long. Nobody waits for a visit sooner.
const BLOCK_TIMEOUT_MS: u32 = 50;
/// After this long every packet was handed over.
pub(crate) const HANDED_OVER: Duration = Duration::from_millis(2 * BLOCK_TIMEOUT_MS as u64);

/// Why a ring could not be opened or read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RingError {
    #[error("there is no interface {0} in this network namespace")]
    NoInterface(String),
    #[error("packet capture needs CAP_NET_RAW: run as root ({0})")]
    NotAllowed(Error),
    #[error("the interface is down")]
    InterfaceDown,
    #[error("cannot {0}: {1}")]
    Failed(&'static str, Error),
}

/// An open ring on one interface.
pub(crate) struct Ring {
    socket: OwnedFd,
    memory: NonNull<u8>,
    length: usize,
    block: usize,
    interface: String,
    /// The interface's number: one that is removed and made anew has another.
    index: c_int,
    on_loopback: bool,
}

impl Ring {
    /// Opens a ring of about `bytes` on `interface` for the packets that pass `filter`. Packets
    /// begin with the IP header.
    pub(crate) fn open(
        interface: &str,
        bytes: usize,
        filter: &mut [sock_filter],
    ) -> Result<Self, RingError> {
        let index = interface_index(interface)?;
        let socket = packet_socket()?;
        attach(&socket, filter)?;
        let version = libc::tpacket_versions::TPACKET_V3 as c_int;
        set(&socket, libc::PACKET_VERSION, &version, "use TPACKET_V3")?;
        let on_loopback = interface_flags(&socket, interface)? & libc::IFF_LOOPBACK != 0;
        if on_loopback {
            // On the loopback interface every packet passes twice: out and in.
            set(&socket, libc::PACKET_IGNORE_OUTGOING, &1, "ignore outgoing packets")?;
        } else {
            see_all(&socket, index)?;
        }
        let blocks = (bytes / BLOCK_BYTES).max(2);
        let length = blocks * BLOCK_BYTES;
        let request = tpacket_req3 {
            tp_block_size: BLOCK_BYTES as u32,
            tp_block_nr: blocks as u32,
            tp_frame_size: FRAME_BYTES as u32,
            tp_frame_nr: (length / FRAME_BYTES) as u32,
            tp_retire_blk_tov: BLOCK_TIMEOUT_MS,
            tp_sizeof_priv: 0,
            tp_feature_req_word: 0,
        };
        set(&socket, libc::PACKET_RX_RING, &request, "get memory for the ring")?;
        let memory = map(&socket, length)?;
        let interface = interface.to_owned();
        let ring = Self { socket, memory, length, block: 0, interface, index, on_loopback };
        ring.bind(index)?;
        Ok(ring)
    }

    pub(crate) fn is_on_loopback(&self) -> bool {
        self.on_loopback
    }

    /// Replaces the filter.
    pub(crate) fn attach(&self, filter: &mut [sock_filter]) -> Result<(), RingError> {
        attach(&self.socket, filter)
    }

    /// Sets an option of the packet socket's; `what` says for what.
    pub(crate) fn set_option(
        &self,
        name: c_int,
        value: c_int,
        what: &'static str,
    ) -> Result<(), RingError> {
        set(&self.socket, name, &value, what)
    }

    /// Reads a number that is an option of the packet socket's.
    pub(crate) fn option(&self, name: c_int) -> Result<c_int, RingError> {
        read(&self.socket, libc::SOL_PACKET, name, 0, "read an option of the packet socket")
    }

    /// Whether the interface is up. The ring is bound to one that was made anew under the same name;
    /// the kernel refuses this to one of several rings.
    pub(crate) fn is_up(&mut self) -> bool {
        let flags = interface_flags(&self.socket, &self.interface).unwrap_or(0);
        if flags & libc::IFF_UP == 0 {
            return false;
        }
        let Ok(index) = interface_index(&self.interface) else { return false };
        if index != self.index {
            let bound = self.bind(index).and_then(|()| see_all(&self.socket, index));
            if bound.is_err() {
                return false;
            }
            self.index = index;
        }
        true
    }

    /// Waits up to `timeout_ms` for a block. Fails once when the interface goes down.
    pub(crate) fn wait(&self, timeout_ms: c_int) -> Result<(), RingError> {
        if self.is_ready() {
            return Ok(());
        }
        let mut poll = libc::pollfd {
            fd: self.socket.as_raw_fd(),
            events: libc::POLLIN | libc::POLLERR,
            revents: 0,
        };
        // SAFETY: `poll` is one valid pollfd for the length of the call.
        if unsafe { libc::poll(&raw mut poll, 1, timeout_ms) } < 0 {
            let error = Error::last_os_error();
            if error.kind() != std::io::ErrorKind::Interrupted {
                return Err(RingError::Failed("wait for packets", error));
            }
        }
        if poll.revents & libc::POLLERR != 0 {
            let error = self.socket_error();
            return Err(match error.raw_os_error() {
                Some(libc::ENETDOWN) => RingError::InterfaceDown,
                _ => RingError::Failed("capture any longer", error),
            });
        }
        Ok(())
    }

    /// Hands every packet of the next ready block to `on`, with its time in nanoseconds since the
    /// epoch, and gives the block back. False if no block was ready.
    pub(crate) fn read_block(&mut self, mut on: impl FnMut(i64, CapturedFrame<'_>)) -> bool {
        if !self.is_ready() {
            return false;
        }
        let block = self.block();
        // SAFETY: the kernel has handed this block over, so that nobody writes to it until the
        // status is given back below; offsets and lengths in it are the kernel's and stay inside.
        unsafe {
            let header = &(*block.cast::<tpacket_block_desc>().as_ptr()).hdr.bh1;
            let mut at = block.as_ptr().add(header.offset_to_first_pkt as usize);
            for _ in 0..header.num_pkts {
                let packet = &*at.cast::<tpacket3_hdr>();
                let bytes = std::slice::from_raw_parts(
                    at.add(packet.tp_net as usize),
                    packet.tp_snaplen as usize,
                );
                let wire_length = packet.tp_len as usize;
                let frame = CapturedFrame { link: LinkType::Raw, wire_length, bytes };
                on(i64::from(packet.tp_sec) * 1_000_000_000 + i64::from(packet.tp_nsec), frame);
                at = at.add(packet.tp_next_offset as usize);
            }
        }
        self.status().store(libc::TP_STATUS_KERNEL, Ordering::Release);
        self.block = (self.block + 1) % self.blocks();
        true
    }

    /// How many blocks the ring has.
    pub(crate) fn blocks(&self) -> usize {
        self.length / BLOCK_BYTES
    }

    /// How many packets the kernel had no room for since the last call.
    pub(crate) fn drops(&self) -> Result<u64, RingError> {
        let none = tpacket_stats_v3 { tp_packets: 0, tp_drops: 0, tp_freeze_q_cnt: 0 };
        let name = libc::PACKET_STATISTICS;
        let counted = read(&self.socket, libc::SOL_PACKET, name, none, "read PACKET_STATISTICS")?;
        Ok(counted.tp_drops.into())
    }

    fn bind(&self, index: c_int) -> Result<(), RingError> {
        // SAFETY: all-zero is a valid address; the fields that matter are set.
        let mut address: sockaddr_ll = unsafe { std::mem::zeroed() };
        address.sll_family = libc::AF_PACKET as u16;
        address.sll_protocol = (libc::ETH_P_ALL as u16).to_be();
        address.sll_ifindex = index;
        let size = size_of::<sockaddr_ll>() as socklen_t;
        // SAFETY: pointer and size are those of `address`.
        let done =
            unsafe { libc::bind(self.socket.as_raw_fd(), (&raw const address).cast(), size) };
        if done < 0 {
            return Err(RingError::Failed("bind to the interface", Error::last_os_error()));
        }
        Ok(())
    }

    fn socket_error(&self) -> Error {
        let code =
            read(&self.socket, libc::SOL_SOCKET, libc::SO_ERROR, 0, "read the socket's error");
        code.map_or_else(|_| Error::last_os_error(), Error::from_raw_os_error)
    }

    fn block(&self) -> NonNull<u8> {
        // SAFETY: `block` counts blocks of the mapping and stays below their number.
        unsafe { self.memory.add(self.block * BLOCK_BYTES) }
    }

    fn status(&self) -> &AtomicU32 {
        let block = self.block().cast::<tpacket_block_desc>().as_ptr();
        // SAFETY: a block begins with its descriptor, whose status is an aligned word that the
        // kernel and this process hand to and fro.
        unsafe { AtomicU32::from_ptr(&raw mut (*block).hdr.bh1.block_status) }
    }

    fn is_ready(&self) -> bool {
        self.status().load(Ordering::Acquire) & libc::TP_STATUS_USER != 0
    }
}

// SAFETY: the mapping is the ring's own, and whoever has the ring is the only one to use it.
unsafe impl Send for Ring {}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: this is the mapping made in `open`, and nothing refers to it any more.
        unsafe { libc::munmap(self.memory.as_ptr().cast(), self.length) };
    }
}

fn map(socket: &OwnedFd, length: usize) -> Result<NonNull<u8>, RingError> {
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: a new mapping of the ring's memory, at an address of the kernel's choice.
    let memory: *mut c_void = unsafe {
        libc::mmap(ptr::null_mut(), length, protection, libc::MAP_SHARED, socket.as_raw_fd(), 0)
    };
    match NonNull::new(memory.cast::<u8>()) {
        Some(memory) if memory.as_ptr().cast() != libc::MAP_FAILED => Ok(memory),
        _ => Err(RingError::Failed("map the ring", Error::last_os_error())),
    }
}
