//! One exchange after the other: what is asked for, what comes, and what follows from it.

use crate::answer::{Answer, Progress};
use crate::failure::Failure;
use crate::flight::{Purpose, Stage};
use crate::onward::{Onward, onward};
use crate::plan::Connection;
use crate::poll::Ready;
use crate::random::mix;
use crate::reply::Reply;
use crate::rules::Redirects;
use crate::shard::Shard;
use crate::socket::Socket;
use anyhow::Result;
use std::io::ErrorKind;
use tierlab_record::clock::monotonic_ns;

impl Shard {
    /// Starts an exchange: the page once more, or the file or image that is set.
    pub(crate) fn exchange(&mut self, place: usize) -> Result<()> {
        let now = monotonic_ns();
        let flight = &mut self.flights[place];
        let number = self.users[flight.user as usize].count_sent();
        let unique = u64::from(self.share.number(flight.user)) << 32 | u64::from(number);
        flight.request_id = mix(mix(self.common.plan.seed) ^ unique);
        self.tokens = self.tokens.wrapping_add(1);
        flight.exchange = self.tokens;
        if flight.resource.is_none() {
            flight.turn_to(self.users[flight.user as usize].request().server);
        }
        flight.stage = Stage::Sending;
        flight.sent = 0;
        // The server's farewell may be there already without having been looked at.
        flight.socket = flight.socket.take().filter(Socket::is_quiet);
        flight.reused = flight.socket.is_some();
        if flight.resource.is_some() {
            flight.answer = Answer::Http(Reply::counted());
        } else {
            let number = self.share.number(self.replay.owner(flight.user));
            let to = self.destinations.of(number, flight.server);
            flight.answer = to.answer(self.buffers.pop().unwrap_or_default(), flight.reused);
            flight.opened += 1;
            flight.record.attempts += i16::from(flight.pages == 0 || flight.opened > 1);
            if flight.pages == 0 {
                flight.record.request_id = flight.request_id;
                flight.record.connected_ns = None;
                flight.record.first_byte_ns = None;
            }
        }
        self.request_deadlines.set(now, place, flight.exchange);
        if flight.reused { self.send_again(place) } else { self.connect(place, now) }
    }

    /// Something happened at a socket.
    pub(crate) fn serve(&mut self, ready: Ready) -> Result<()> {
        let place = (ready.mark & u64::from(u32::MAX)) as usize;
        let Some(flight) = self.flights.get_mut(place) else { return Ok(()) };
        if u64::from(flight.connection) != ready.mark >> 32 {
            return Ok(());
        }
        let Some(socket) = &flight.socket else { return Ok(()) };
        if flight.stage == Stage::Sending {
            if ready.failed()
                && let Err(error) = socket.take_error()
            {
                return self.fail_at(place, &error);
            }
            self.send(place)?;
        }
        match self.flights.get_mut(place) {
            Some(flight) if u64::from(flight.connection) != ready.mark >> 32 => Ok(()),
            Some(flight) if flight.stage == Stage::Receiving && ready.readable() => {
                self.receive(place, ready.ended())
            }
            Some(flight) if flight.stage == Stage::Idle && ready.readable() => {
                // The server closed a kept connection; its user will open another.
                flight.socket = None;
                if !flight.is_connected() {
                    self.release(place);
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Receives what is there; `ended`: the other side will send no more.
    fn receive(&mut self, place: usize, ended: bool) -> Result<()> {
        loop {
            let flight = &mut self.flights[place];
            let Some(socket) = &flight.socket else { return Ok(()) };
            let got = match socket.receive(&mut self.incoming) {
                Ok(got) => got,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return self.fail_at(place, &error),
            };
            if got == 0 {
                return match flight.answer.end() {
                    Ok(()) => self.complete(place),
                    Err(failure) => self.fail(place, failure),
                };
            }
            if flight.is_first_page() && flight.record.first_byte_ns.is_none() {
                flight.record.first_byte_ns = Some(monotonic_ns() + self.real_offset_ns);
            }
            match flight.answer.feed(&self.incoming[..got]) {
                Ok(Progress::Complete) => return self.complete(place),
                Ok(Progress::Send) => return self.take_turn(place),
                Ok(Progress::More) => {}
                Err(failure) => return self.fail(place, failure),
            }
            // Less than asked for: the socket is empty (epoll(7)), unless its end is there too.
            if got < self.incoming.len() && !ended {
                return Ok(());
            }
        }
    }

    /// What came was not the answer yet, and it is the driver's turn again.
    fn take_turn(&mut self, place: usize) -> Result<()> {
        let flight = &mut self.flights[place];
        flight.record.first_byte_ns = None;
        flight.key = flight.answer.key();
        flight.stage = Stage::Sending;
        flight.sent = 0;
        self.send_again(place)
    }

    /// The answer is complete.
    fn complete(&mut self, place: usize) -> Result<()> {
        let flight = &mut self.flights[place];
        flight.ended_ns = monotonic_ns();
        flight.record.bytes += flight.answer.received();
        flight.record.rows += flight.answer.rows();
        if self.common.plan.connection == Connection::PerRequest || !flight.answer.persistent() {
            flight.socket = None;
        }
        match flight.purpose() {
            Purpose::Page => self.complete_page(place),
            purpose => self.complete_part(place, purpose),
        }
    }

    /// The answer to the request of a file or an image is complete: it, or the way to it.
    fn complete_part(&mut self, place: usize, purpose: Purpose) -> Result<()> {
        let script = &self.common.script;
        let flight = &mut self.flights[place];
        let status = flight.answer.status().unwrap_or_default();
        let succeeded = (200..300).contains(&status);
        let at = flight.part(script).unwrap_or_default();
        let sent = |reply: &Reply| onward(script, flight.server, reply, at, flight.hops);
        let away = match flight.answer.http().map_or(Onward::Nowhere, sent) {
            Onward::To(target) => {
                flight.sent_to = Some(target);
                flight.hops += 1;
                return self.exchange(place);
            }
            onward => onward == Onward::Away,
        };
        match purpose {
            Purpose::Image if succeeded => {
                let length = flight.answer.http().map_or(0, Reply::body_length);
                flight.record.images += 1;
                flight.record.image_bytes += length as i64;
            }
            // What another site has, nobody here has to send.
            Purpose::Image if away => flight.record.images += 1,
            Purpose::Static if succeeded || away || status == 304 => flight.record.statics += 1,
            purpose => {
                flight.record.failure.get_or_insert((Failure::Status(status), purpose));
            }
        }
        self.go_on_with(place)
    }

    /// Why the answer to a page's request is none that was wanted, by its status or its error.
    fn refusal(&self, place: usize) -> Option<Failure> {
        let flight = &self.flights[place];
        let Some(reply) = flight.answer.http() else { return flight.answer.error() };
        let state = self.users[flight.user as usize].request().state;
        let expected = &self.common.script.workload.states[usize::from(state)].expect;
        let redirects = self.common.script.workload.rules.redirects;
        let stays = redirects == Redirects::Stay
            && reply.redirects()
            && flight.sent_off(&self.common.script).is_none();
        let status = reply.status();
        let right = match expected.status.as_slice() {
            [] => (200..300).contains(&status) || stays,
            some => some.contains(&status),
        };
        (!right).then_some(Failure::Status(status))
    }

    /// The answer to a page's request is complete: the page, or the way to it; or a statement's.
    fn complete_page(&mut self, place: usize) -> Result<()> {
        let flight = &mut self.flights[place];
        flight.record.status = flight.answer.status();
        let redirects = self.common.script.workload.rules.redirects;
        let failure = self.refusal(place);
        self.take_cookies(place);
        if self.sent_on(place) {
            if redirects == Redirects::Own {
                return self.end(place);
            }
            self.flights[place].turn_page();
            return self.exchange(place);
        }
        if failure.is_some() {
            let (flight, script) = (&self.flights[place], &self.common.script);
            if let Some(location) = flight.sent_off(script) {
                self.tally.sent_off(script, flight.record.state, location);
            }
            if self.opens_again(place) {
                return Ok(());
            }
        }
        self.see_page(place, failure)
    }

    /// The network failed the exchange.
    pub(crate) fn fail_at(&mut self, place: usize, error: &std::io::Error) -> Result<()> {
        let failure = Failure::of(error, self.flights[place].is_connecting());
        self.fail(place, failure)
    }

    /// The exchange failed.
    pub(crate) fn fail(&mut self, place: usize, failure: Failure) -> Result<()> {
        let flight = &mut self.flights[place];
        flight.ended_ns = monotonic_ns();
        flight.socket = None;
        let untouched = flight.answer.received() == 0;
        flight.record.bytes += flight.answer.received();
        // The server closed the kept connection as the request was on its way to it. A new one
        // may be tried once, unless that could do twice what was asked for once: RFC 9110
        // section 9.2.2. A POST of which nothing was sent did nothing yet.
        let idempotent =
            flight.resource.is_some() || self.users[flight.user as usize].request().is_idempotent();
        let harmless = idempotent || flight.sent == 0;
        if flight.reused && untouched && failure.lost_connection() && harmless {
            return self.exchange(place);
        }
        if flight.resource.is_some() {
            let purpose = flight.purpose();
            flight.record.failure.get_or_insert((failure, purpose));
            return self.go_on_with(place);
        }
        flight.record.status = flight.answer.status();
        if failure.may_pass() && self.opens_again(place) {
            return Ok(());
        }
        self.see_page(place, Some(failure))
    }
}
