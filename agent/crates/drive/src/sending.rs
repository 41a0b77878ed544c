//! A request on its way: over a new connection, or over one that is kept.

use crate::answer::Answer;
use crate::flight::{Resource, Stage};
use crate::plan::Connection;
use crate::script::SITE;
use crate::shard::Shard;
use crate::socket::Socket;
use anyhow::Result;
use std::io::ErrorKind;
use tierlab_record::clock::monotonic_ns;

/// Tells a connection's events: which one it is, and of the flight at which place.
fn mark(connection: u32, place: usize) -> u64 {
    u64::from(connection) << 32 | place as u64
}

impl Shard {
    /// Opens a connection, and sends the request on it as soon as it stands.
    pub(crate) fn connect(&mut self, place: usize, now: i64) -> Result<()> {
        let flight = &mut self.flights[place];
        self.tokens = self.tokens.wrapping_add(1);
        flight.connection = self.tokens;
        flight.key = None;
        self.connect_deadlines.set(now, place, flight.connection);
        let connection = flight.connection;
        let number = self.share.number(self.replay.owner(flight.user));
        let to = self.destinations.of(number, flight.server).address;
        let source = self.sources.of(number);
        let kept = self.common.plan.connection == Connection::KeepAlive;
        let fd = match Socket::connect(to, source, kept) {
            Ok(socket) => flight.socket.insert(socket).fd(),
            Err(error) => return self.fail_at(place, &error),
        };
        // On loopback the connection stands already, and the request goes out at once.
        self.send(place)?;
        let Some(flight) = self.flights.get(place) else { return Ok(()) };
        if flight.connection != connection || flight.socket.is_none() {
            return Ok(());
        }
        match self.poll.add(fd, mark(connection, place), flight.stage == Stage::Sending) {
            Ok(()) => Ok(()),
            Err(error) => self.fail_at(place, &error),
        }
    }

    /// Sends a request on a connection that is waited for already, as one is for what comes: what
    /// does not fit waits for room.
    pub(crate) fn send_again(&mut self, place: usize) -> Result<()> {
        let connection = self.flights[place].connection;
        self.send(place)?;
        let Some(flight) = self.flights.get(place) else { return Ok(()) };
        if flight.connection != connection || flight.stage != Stage::Sending {
            return Ok(());
        }
        let Some(socket) = &flight.socket else { return Ok(()) };
        match self.poll.wait_for_room(socket.fd(), mark(connection, place)) {
            Ok(()) => Ok(()),
            Err(error) => self.fail_at(place, &error),
        }
    }

    /// Sends what is left of the request.
    pub(crate) fn send(&mut self, place: usize) -> Result<()> {
        let flight = &mut self.flights[place];
        let Some(socket) = &flight.socket else { return Ok(()) };
        let number = self.share.number(self.replay.owner(flight.user));
        let wire = &self.destinations.of(number, flight.server).wire;
        let (user, script) = (&mut self.users[flight.user as usize], &self.common.script);
        let id = flight.request_id;
        match flight.part(script) {
            Some(target) => {
                let is_file = matches!(flight.resource, Some(Resource::Static(_)));
                let there = is_file && user.browser().is_some_and(|browser| browser.cached);
                let cache = script.workload.rules.cache.as_ref().filter(|_| there);
                let since = cache.map(|cache| cache.since.as_str());
                wire.resource(target, &user.jar, since, id, &mut self.outgoing);
            }
            None => {
                let request = user.request();
                match &flight.answer {
                    Answer::Sql(dialogue) => {
                        let id = self.common.plan.request_ids.then_some(id);
                        dialogue.write(request.target(), id, &mut self.outgoing);
                    }
                    Answer::Http(_) => {
                        let site = &self.destinations.of(number, SITE).wire;
                        let origin = script.says_origin(request).then(|| site.origin());
                        let tail = script.tail(request);
                        wire.page(request, origin, tail, &user.jar, id, &mut self.outgoing);
                    }
                }
            }
        }
        while flight.sent < self.outgoing.len() {
            match socket.send(&self.outgoing[flight.sent..]) {
                Ok(sent) => {
                    if flight.sent == 0 && flight.is_first_page() && !flight.reused {
                        let now = monotonic_ns() + self.real_offset_ns;
                        flight.record.connected_ns.get_or_insert(now);
                    }
                    flight.sent += sent;
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return self.fail_at(place, &error),
            }
        }
        flight.stage = Stage::Receiving;
        Ok(())
    }
}
