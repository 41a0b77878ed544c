//! Requests to a database to give up a statement for which nobody waits any longer. Each has a
//! connection of its own, as libpq's; the server acts on it and hangs up.

use crate::poll::{Poll, Ready};
use crate::shard::Shard;
use crate::socket::Socket;
use bytes::{Buf, BytesMut};
use slab::Slab;
use std::io::{self, ErrorKind};

/// More are not under way: a server that does not even hang up is not asked again and again.
const MOST: usize = 1_000;

/// In a mark: that it is of one of these connections. No user has so high a place.
const MARK: u64 = 1 << 31;

/// Those under way.
#[derive(Default)]
pub struct Cancels(Slab<Cancel>);

struct Cancel {
    socket: Socket,
    /// What is left to send.
    request: BytesMut,
}

impl Cancels {
    /// Which one something happened to, where it is one of these.
    pub fn of(ready: Ready) -> Option<usize> {
        (ready.mark & !(MARK - 1) == MARK).then_some((ready.mark & (MARK - 1)) as usize)
    }

    /// Sends a request over a connection that is being made, now or when it stands.
    fn start(&mut self, socket: Socket, request: BytesMut, poll: &Poll) -> io::Result<()> {
        let fd = socket.fd();
        let mut cancel = Cancel { socket, request };
        cancel.send()?;
        let sending = !cancel.request.is_empty();
        let entry = self.0.vacant_entry();
        poll.add(fd, MARK | entry.key() as u64, sending)?;
        entry.insert(cancel);
        Ok(())
    }

    /// Sends what is left; at the connection's end it is done, and so it is where that fails.
    pub fn go_on(&mut self, number: usize, ready: Ready) {
        let Some(cancel) = self.0.get_mut(number) else { return };
        if cancel.send().is_err() || ready.readable() {
            self.0.remove(number);
        }
    }
}

impl Cancel {
    fn send(&mut self) -> io::Result<()> {
        while !self.request.is_empty() {
            match self.socket.send(&self.request) {
                Ok(sent) => self.request.advance(sent),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

impl Shard {
    /// Asks the database to give up the statement of a flight; other flights have none.
    pub(crate) fn cancel(&mut self, place: usize) {
        let flight = &self.flights[place];
        let Some(key) = flight.key.filter(|_| flight.socket.is_some()) else { return };
        if self.cancels.0.len() >= MOST {
            return;
        }
        let number = self.share.number(flight.user);
        let to = self.destinations.of(number, flight.server).address;
        let source = self.sources.of(number);
        // A server that cannot be asked goes on: all that follows is what would without asking.
        let _ = Socket::connect(to, source, false)
            .and_then(|socket| self.cancels.start(socket, key.request(), &self.poll));
    }
}
