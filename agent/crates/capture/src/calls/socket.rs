//! A packet socket that hands over each segment at once, of all interfaces (packet(7)). A ring would
//! hand them over later, when a short connection's owner is not known any more.

use super::Packets;
use crate::ring::RingError;
use crate::socket::{attach, hold, packet_socket, read};
use libc::{c_int, sockaddr_ll, socklen_t, tpacket_stats};
use std::io::{Error, ErrorKind};
use std::mem::size_of;
use std::os::fd::{AsRawFd, OwnedFd};
use std::time::Duration;
use tierlab_dissect::filter;

/// As much of a packet as holds the headers and the first words.
const KEPT: usize = 2 << 10;
/// Some thousands of packets, for which a busy machine may be late: it is 208 KiB unless said.
const ROOM: c_int = 16 << 20;

pub(super) struct Socket {
    socket: OwnedFd,
    packet: [u8; KEPT],
}

impl Socket {
    pub(super) fn open() -> Result<Self, RingError> {
        let socket = packet_socket()?;
        attach(&socket, &mut filter::of_all(KEPT as u32))?;
        hold(&socket, ROOM)?;
        bind(&socket)?;
        Ok(Self { socket, packet: [0; KEPT] })
    }

    /// How many packets the kernel had no room for since this was asked last.
    pub(super) fn drops(&self) -> Result<u32, RingError> {
        let none = tpacket_stats { tp_packets: 0, tp_drops: 0 };
        let (level, name) = (libc::SOL_PACKET, libc::PACKET_STATISTICS);
        Ok(read(&self.socket, level, name, none, "read what was dropped")?.tp_drops)
    }
}

impl Packets for Socket {
    fn wait(&self, longest: Duration) -> Result<(), RingError> {
        let events = libc::POLLIN;
        let mut waiting = libc::pollfd { fd: self.socket.as_raw_fd(), events, revents: 0 };
        // SAFETY: `waiting` is one pollfd for the length of the call.
        let ready = unsafe { libc::poll(&raw mut waiting, 1, longest.as_millis() as c_int) };
        match ready {
            0.. => Ok(()),
            _ if Error::last_os_error().kind() == ErrorKind::Interrupted => Ok(()),
            _ => Err(RingError::Failed("wait for packets", Error::last_os_error())),
        }
    }

    fn read(&mut self) -> Result<Option<&[u8]>, RingError> {
        let buffer = self.packet.as_mut_ptr().cast();
        // SAFETY: pointer and length are those of `packet`.
        let length = unsafe {
            libc::recv(self.socket.as_raw_fd(), buffer, self.packet.len(), libc::MSG_DONTWAIT)
        };
        if length >= 0 {
            return Ok(Some(&self.packet[..length as usize]));
        }
        let error = Error::last_os_error();
        match error.kind() {
            ErrorKind::WouldBlock | ErrorKind::Interrupted => Ok(None),
            // An interface went down, which is told once.
            _ if error.raw_os_error() == Some(libc::ENETDOWN) => Ok(None),
            _ => Err(RingError::Failed("read a packet", error)),
        }
    }
}

/// To all interfaces. On the loopback interface each packet is seen twice, out and in.
fn bind(socket: &OwnedFd) -> Result<(), RingError> {
    // SAFETY: all-zero is a valid address.
    let mut address: sockaddr_ll = unsafe { std::mem::zeroed() };
    address.sll_family = libc::AF_PACKET as u16;
    address.sll_protocol = (libc::ETH_P_ALL as u16).to_be();
    let size = size_of::<sockaddr_ll>() as socklen_t;
    // SAFETY: pointer and size are those of `address`.
    let done = unsafe { libc::bind(socket.as_raw_fd(), (&raw const address).cast(), size) };
    if done < 0 {
        return Err(RingError::Failed("see packets", Error::last_os_error()));
    }
    Ok(())
}
