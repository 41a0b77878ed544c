//! Many connections in one thread: users who fetch, or connections that only hold what they got.

mod connection;
mod talk;

pub use talk::{END_OF_HEAD, Talk};

use anyhow::{Context, Result};
use connection::{connect, nth};
use std::io;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::ops::Range;
use std::os::fd::{AsRawFd, OwnedFd};
use tierlab_record::clock::steady_ns;
use tierlab_record::{Stop, open_files};

/// How long requests that were sent in time may take to be answered.
const GRACE_NS: i64 = 3_000_000_000;
/// How many connect at once, and how long the server gets to accept them: where the accept queue
/// overflows, connection requests are dropped and come again only a second later.
const WAVE: usize = 32;
const BETWEEN_WAVES_NS: i64 = 2_000_000;

/// How long a connection may take to be made: on a loopback it is there at once, or much later.
const PATIENCE_NS: i64 = 10_000_000;

/// One of the crowd.
struct Member {
    socket: Option<OwnedFd>,
    /// Its bytes are still to be sent.
    to_send: bool,
    /// When it asked for its connection (CLOCK_REALTIME).
    asked_ns: i64,
    /// How many requests it has sent.
    turn: usize,
}

impl Member {
    /// Sends bytes that fit into its socket. Whether it could; if not for now only, it may try again.
    fn say(&mut self, bytes: &[u8]) -> bool {
        let Some(socket) = &self.socket else { return false };
        // SAFETY: the pointer and the length are those of one slice.
        let sent = unsafe {
            let flags = libc::MSG_NOSIGNAL;
            libc::send(socket.as_raw_fd(), bytes.as_ptr().cast(), bytes.len(), flags)
        };
        if sent < 0 && io::Error::last_os_error().kind() != io::ErrorKind::WouldBlock {
            self.socket = None;
        }
        sent >= 0
    }

    fn go_on(&mut self, bytes: &[u8]) -> bool {
        !self.to_send && self.say(bytes)
    }
}

/// A crowd of connections to one place.
pub struct Crowd {
    target: SocketAddrV4,
    sources: Option<Ipv4Addr>,
    talk: Talk,
    members: Vec<Member>,
    sent: u64,
}

impl Crowd {
    /// A crowd of `count` that has not come yet; each is to come from an address of its own in the
    /// network `sources` of 2^20, where one is given.
    pub fn new(
        target: SocketAddrV4,
        sources: Option<Ipv4Addr>,
        talk: Talk,
        count: usize,
    ) -> Result<Self> {
        raise_file_limit(count)?;
        let members = (0..count)
            .map(|_| Member { socket: None, to_send: false, asked_ns: 0, turn: 0 })
            .collect();
        Ok(Self { target, sources, talk, members, sent: 0 })
    }

    /// These connect, by their number.
    pub fn come(&mut self, mut members: Range<usize>) -> Result<()> {
        members.try_for_each(|place| self.connect(place))
    }

    /// Everyone connects, so many at a time that a server which accepts has room for them.
    pub fn come_in_waves(&mut self, until_ns: i64) -> Result<()> {
        let count = self.members.len();
        for first in (0..count).step_by(WAVE) {
            self.come(first..count.min(first + WAVE))?;
            let wave_ns = until_ns.min(steady_ns() + BETWEEN_WAVES_NS);
            while steady_ns() < wave_ns {
                self.attend(wave_ns, true)?;
            }
        }
        Ok(())
    }

    /// These go on with what they have begun; who has not begun says nothing. Returns how many did.
    pub fn go_on(&mut self, members: impl Iterator<Item = usize>, bytes: &[u8]) -> usize {
        members.filter(|place| self.members[*place].go_on(bytes)).count()
    }

    /// How many requests were sent, or begun.
    pub fn sent(&self) -> u64 {
        self.sent
    }

    /// Nobody asks any more: waits for the answers to what was sent in time.
    pub fn hear_out(&mut self, stop: &Stop) -> Result<()> {
        let until_ns = steady_ns() + GRACE_NS;
        while !stop.asked() && self.is_waiting() && steady_ns() < until_ns {
            self.attend(until_ns, false)?;
        }
        Ok(())
    }

    /// Whether anyone still has a connection.
    fn is_waiting(&self) -> bool {
        self.members.iter().any(|member| member.socket.is_some())
    }

    /// Everyone hangs up. Returns how many had no answer yet.
    pub fn leave(&mut self) -> usize {
        self.members.iter_mut().filter_map(|member| member.socket.take()).count()
    }

    /// Waits for connections that want something, at most until `until_ns`, and serves them.
    /// Whose request is answered sends another one if `go_on`.
    pub fn attend(&mut self, until_ns: i64, go_on: bool) -> Result<()> {
        let mut places = Vec::new();
        let mut polled = Vec::new();
        for (place, member) in self.members.iter().enumerate() {
            let Some(socket) = &member.socket else { continue };
            let events = if member.to_send { libc::POLLOUT } else { libc::POLLIN };
            places.push(place);
            polled.push(libc::pollfd { fd: socket.as_raw_fd(), events, revents: 0 });
        }
        // A nap at most: a signal may have gone to another thread.
        let wait_ms = ((until_ns - steady_ns() + 999_999) / 1_000_000).clamp(0, 20);
        // SAFETY: the pointer and the length are those of one writable slice.
        unsafe { libc::poll(polled.as_mut_ptr(), polled.len() as libc::nfds_t, wait_ms as i32) };
        for (place, poll) in places.into_iter().zip(polled) {
            if poll.revents != 0 {
                self.serve(place, go_on)?;
            }
        }
        Ok(())
    }

    /// Whoever has waited for his connection asks anew: a connection request that the accept queue
    /// had no room for would come again only a second later.
    pub fn insist(&mut self) -> Result<()> {
        let late_ns = steady_ns() - PATIENCE_NS;
        let late = |member: &Member| member.to_send && member.asked_ns < late_ns;
        for place in 0..self.members.len() {
            if late(&self.members[place]) {
                self.connect(place)?;
            }
        }
        Ok(())
    }

    fn serve(&mut self, place: usize, go_on: bool) -> Result<()> {
        if self.members[place].to_send {
            self.send(place);
            return Ok(());
        }
        if self.receive(place) {
            return Ok(());
        }
        self.members[place].socket = None;
        if go_on { self.connect(place) } else { Ok(()) }
    }

    /// Reads what is there. False once the other side has ended.
    fn receive(&self, place: usize) -> bool {
        let Some(socket) = &self.members[place].socket else { return false };
        let mut buffer = [0u8; 16 << 10];
        loop {
            // SAFETY: the pointer and the length are those of one writable slice.
            let got = unsafe {
                libc::recv(socket.as_raw_fd(), buffer.as_mut_ptr().cast(), buffer.len(), 0)
            };
            if got == 0 {
                return false;
            }
            if got < 0 {
                return io::Error::last_os_error().kind() == io::ErrorKind::WouldBlock;
            }
        }
    }

    /// Sends all that the member has to say; it fits into an empty socket.
    fn send(&mut self, place: usize) {
        let turn = self.members[place].turn;
        let bytes = self.talk.words(place, turn);
        let member = &mut self.members[place];
        if member.say(&bytes) {
            member.to_send = false;
            member.turn += 1;
            self.sent += 1;
        }
    }

    fn connect(&mut self, place: usize) -> Result<()> {
        let source = self.sources.map(|network| nth(network, place));
        let socket = connect(source, self.target).context("cannot connect")?;
        let member = &mut self.members[place];
        member.socket = Some(socket);
        member.to_send = true;
        member.asked_ns = steady_ns();
        Ok(())
    }
}

/// Raises this process's limit of open files so that `count` more fit.
fn raise_file_limit(count: usize) -> Result<()> {
    const OTHERS: u64 = 64;
    let raised = open_files::raise_limit();
    anyhow::ensure!(
        count as u64 + OTHERS <= raised,
        "{count} connections need more open files than the limit of {raised}; raise it (ulimit -n)"
    );
    Ok(())
}
