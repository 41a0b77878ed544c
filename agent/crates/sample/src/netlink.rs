//! A netlink(7) socket that asks the kernel, and the messages that it answers with.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// Bytes of a message's header.
pub const HEADER: usize = 16;
/// Answers that are taken from the kernel by one call.
const AT_ONCE: usize = 8;
/// Room for a single answer; a list comes in larger datagrams.
const ANSWER: usize = 1024;
const LIST: usize = 32 * 1024;

/// The socket. It stays with the network namespace of whoever opened it.
pub struct Netlink {
    socket: OwnedFd,
    buffer: Vec<u8>,
}

/// A message without its header.
#[derive(Debug, PartialEq, Eq)]
pub struct Message<'a> {
    /// Its type.
    pub kind: u16,
    /// The number of the request that it answers.
    pub number: u32,
    /// What follows the header.
    pub body: &'a [u8],
}

impl Netlink {
    /// Opens a socket of a protocol such as NETLINK_ROUTE.
    pub fn open(protocol: i32) -> io::Result<Self> {
        let kind = libc::SOCK_RAW | libc::SOCK_CLOEXEC;
        // SAFETY: a plain system call; its result is checked before it is owned.
        let socket = unsafe {
            let fd = libc::socket(libc::AF_NETLINK, kind, protocol);
            if fd < 0 {
                return Err(io::Error::last_os_error());
            }
            OwnedFd::from_raw_fd(fd)
        };
        let patience = libc::timeval { tv_sec: 0, tv_usec: 200_000 };
        // SAFETY: `patience` is valid and its size is given.
        let set = unsafe {
            libc::setsockopt(
                socket.as_raw_fd(),
                libc::SOL_SOCKET,
                libc::SO_RCVTIMEO,
                (&raw const patience).cast(),
                size_of::<libc::timeval>() as u32,
            )
        };
        if set < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(Self { socket, buffer: vec![0; LIST] })
    }

    /// Sends one request that is answered by a list, and calls `each` for its messages.
    pub fn list(&mut self, request: &[u8], mut each: impl FnMut(Message<'_>)) -> io::Result<()> {
        self.send(request)?;
        loop {
            let buffer = &mut self.buffer;
            // SAFETY: the buffer is valid for its length.
            let length = unsafe {
                libc::recv(self.socket.as_raw_fd(), buffer.as_mut_ptr().cast(), buffer.len(), 0)
            };
            if length < 0 {
                return Err(io::Error::last_os_error());
            }
            let mut rest = &self.buffer[..length as usize];
            while !rest.is_empty() {
                let message = next(&mut rest)?;
                match i32::from(message.kind) {
                    libc::NLMSG_DONE => return Ok(()),
                    libc::NLMSG_ERROR => return Err(error_of(&message)),
                    _ => each(message),
                }
            }
        }
    }

    /// Sends `count` requests in one datagram, each answered by one message, and calls `each` for
    /// every answer: the number of the request, and the answer or the kernel's refusal. The kernel
    /// has answered when it returns from the sending, so that nothing is waited for.
    pub fn ask(
        &mut self,
        requests: &[u8],
        count: usize,
        mut each: impl FnMut(usize, io::Result<&[u8]>) -> io::Result<()>,
    ) -> io::Result<()> {
        self.send(requests)?;
        let mut answered = 0;
        while answered < count {
            let lengths = self.receive_some()?;
            for (at, length) in lengths.into_iter().take_while(|length| *length > 0).enumerate() {
                let datagram = &self.buffer[at * ANSWER..][..length];
                let message = next(&mut &datagram[..])?;
                let number = message.number as usize;
                match i32::from(message.kind) {
                    libc::NLMSG_ERROR => each(number, Err(error_of(&message)))?,
                    _ => each(number, Ok(message.body))?,
                }
                answered += 1;
            }
        }
        Ok(())
    }

    fn send(&self, bytes: &[u8]) -> io::Result<()> {
        // SAFETY: the bytes are valid for their length.
        let sent =
            unsafe { libc::send(self.socket.as_raw_fd(), bytes.as_ptr().cast(), bytes.len(), 0) };
        if sent < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }

    /// Takes the answers that are there, at least one; gives their lengths.
    fn receive_some(&mut self) -> io::Result<[usize; AT_ONCE]> {
        // SAFETY: zero is a valid value of both, and says that there is no buffer.
        let mut pieces: [libc::iovec; AT_ONCE] = unsafe { std::mem::zeroed() };
        let mut headers: [libc::mmsghdr; AT_ONCE] = unsafe { std::mem::zeroed() };
        let rooms = self.buffer.chunks_exact_mut(ANSWER);
        for ((piece, header), room) in pieces.iter_mut().zip(&mut headers).zip(rooms) {
            *piece = libc::iovec { iov_base: room.as_mut_ptr().cast(), iov_len: ANSWER };
            header.msg_hdr.msg_iov = piece;
            header.msg_hdr.msg_iovlen = 1;
        }
        // SAFETY: every header points to one piece and it to its own room of the buffer, all of
        // which outlive the call.
        let taken = unsafe {
            libc::recvmmsg(
                self.socket.as_raw_fd(),
                headers.as_mut_ptr(),
                AT_ONCE as u32,
                libc::MSG_DONTWAIT,
                std::ptr::null_mut(),
            )
        };
        if taken < 0 {
            return Err(io::Error::last_os_error());
        }
        if headers.iter().any(|header| header.msg_hdr.msg_flags & libc::MSG_TRUNC != 0) {
            return Err(cut());
        }
        Ok(headers.map(|header| header.msg_len as usize))
    }
}

/// A request's header, for a body of `body` bytes.
pub fn header(kind: u16, flags: i32, number: u32, body: usize) -> [u8; HEADER] {
    let mut bytes = [0; HEADER];
    bytes[0..4].copy_from_slice(&((HEADER + body) as u32).to_ne_bytes());
    bytes[4..6].copy_from_slice(&kind.to_ne_bytes());
    bytes[6..8].copy_from_slice(&((libc::NLM_F_REQUEST | flags) as u16).to_ne_bytes());
    bytes[8..12].copy_from_slice(&number.to_ne_bytes());
    bytes
}

/// The attributes of a message: (type, value). What is left of a cut one is left out.
pub fn attributes(mut bytes: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    std::iter::from_fn(move || {
        let length = usize::from(u16_at(bytes, 0)?);
        let kind = u16_at(bytes, 2)?;
        let value = bytes.get(4..length)?;
        bytes = bytes.get(length.next_multiple_of(4)..).unwrap_or_default();
        Some((kind, value))
    })
}

/// The message at the front of `bytes`, which are moved on.
pub fn next<'a>(bytes: &mut &'a [u8]) -> io::Result<Message<'a>> {
    let whole = *bytes;
    let length = u32_at(whole, 0).ok_or_else(cut)? as usize;
    let body = whole.get(HEADER..length).ok_or_else(cut)?;
    let kind = u16_at(whole, 4).ok_or_else(cut)?;
    let number = u32_at(whole, 8).ok_or_else(cut)?;
    *bytes = whole.get(length.next_multiple_of(4)..).unwrap_or_default();
    Ok(Message { kind, number, body })
}

/// That an answer was cut off.
pub fn cut() -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, "the kernel's answer was cut off")
}

fn error_of(message: &Message<'_>) -> io::Error {
    match u32_at(message.body, 0) {
        Some(code) => io::Error::from_raw_os_error((code as i32).wrapping_abs()),
        None => cut(),
    }
}

/// Two bytes of a message, if they are there.
pub fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_ne_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

/// Four bytes of a message, if they are there.
pub fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

/// Eight bytes of a message, if they are there.
pub fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_ne_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_message_is_an_error_and_never_a_panic() {
        let mut whole = header(20, 0, 7, 8).to_vec();
        whole.extend([1, 2, 3, 4, 5, 6, 7, 8]);
        let message = next(&mut &whole[..]).unwrap();
        assert_eq!((message.kind, message.number, message.body), (20, 7, &whole[HEADER..]));
        for length in 0..whole.len() {
            assert!(next(&mut &whole[..length]).is_err(), "{length}");
        }
        whole[0..4].copy_from_slice(&4u32.to_ne_bytes());
        assert!(next(&mut &whole[..]).is_err());
    }

    #[test]
    fn attributes_end_where_they_are_cut() {
        let bytes = [6, 0, 9, 0, 1, 2, 0, 0, 5, 0, 3, 0, 7, 0, 0, 0];
        let all: Vec<_> = attributes(&bytes).collect();
        assert_eq!(all, [(9, &[1u8, 2][..]), (3, &[7u8][..])]);
        for length in 0..bytes.len() {
            assert!(attributes(&bytes[..length]).count() <= 2);
        }
        assert_eq!(attributes(&[0; 16]).count(), 0);
    }
}
