//! One interaction after the other: a page, its images, what its user makes of it, and the record.

use crate::failure::Failure;
use crate::flight::{Record, Stage, resolve};
use crate::page::Page;
use crate::plan::Pace;
use crate::reply::Reply;
use crate::session::Outcome;
use crate::shard::{NOWHERE, Shard};
use anyhow::Result;
use std::cmp::Reverse;
use tierlab_record::clock::monotonic_ns;

/// Buffers larger than this are not kept for the next page.
const LARGEST_KEPT_BUFFER: usize = 128 << 10;
/// Page buffers kept for later; more than this are in use only in a pile-up.
const KEPT_BUFFERS: usize = 256;
/// Images fetched for one page at most.
const MOST_IMAGES: usize = 256;

impl Shard {
    /// Starts an interaction with its page.
    pub(crate) fn start_page(&mut self, place: usize, intended_ns: i64) -> Result<()> {
        let now = monotonic_ns();
        self.tally.started(now - intended_ns);
        let flight = &mut self.flights[place];
        let user = &self.users[flight.user as usize];
        flight.images.clear();
        flight.image = None;
        flight.record = Record {
            state: user.request().state,
            session: user.session(),
            intended_ns: intended_ns + self.real_offset_ns,
            start_ns: now + self.real_offset_ns,
            ..Record::default()
        };
        self.exchange(place)
    }

    /// Whether the page is opened once more, after the pause that the rules ask for.
    pub(crate) fn opens_again(&mut self, place: usize) -> bool {
        let rules = &self.common.script.workload.rules;
        let flight = &mut self.flights[place];
        if flight.record.attempts >= rules.opens {
            return false;
        }
        flight.stage = Stage::Pausing;
        flight.socket = None;
        flight.reply = Reply::default();
        self.schedule.push(Reverse((monotonic_ns() + rules.reopen_after_ns, flight.user)));
        true
    }

    /// Keeps the cookies of a reply, and has the user go where it sends them, if it does. That is a
    /// request of its own, without a think time before it.
    pub(crate) fn sent_on(&mut self, place: usize) -> bool {
        let flight = &mut self.flights[place];
        if !self.common.script.workload.rules.browser {
            return false;
        }
        let user = &mut self.users[flight.user as usize];
        let told = flight.reply.told();
        for cookie in &told.cookies {
            user.jar.take(cookie);
        }
        let Some(location) = told.location.as_deref() else { return false };
        if !matches!(flight.reply.status(), 301 | 302 | 303 | 307 | 308) {
            return false;
        }
        let host = self.destinations.of(self.share.number(flight.user)).host.as_str();
        let sent = user.sent_on(location, host);
        if sent {
            flight.thinks = false;
            flight.record.failure = None;
        }
        sent
    }

    /// The user sees the page, or that it failed, and decides what to do next; images come first.
    pub(crate) fn see_page(&mut self, place: usize, failure: Option<Failure>) -> Result<()> {
        let flight = &mut self.flights[place];
        let user = &mut self.users[flight.user as usize];
        let page = Page(flight.reply.body());
        let workload = &self.common.script.workload;
        let state = &workload.states[usize::from(flight.record.state)];
        let failure = failure.or_else(|| {
            let says_failed = workload.rules.failed_if.as_deref();
            let lacks = |text| !page.says(text);
            match says_failed.is_some_and(|text| page.says(text)) {
                true => Some(Failure::Page),
                false => {
                    state.expect.text.as_deref().is_some_and(lacks).then_some(Failure::TextMissing)
                }
            }
        });
        if self.common.plan.images && failure.is_none() {
            let at = user.request().target();
            let images = page.images().filter_map(|image| resolve(image, at));
            flight.images.extend(state.resources.iter().map(|path| path.as_bytes().into()));
            flight.images.extend(images.take(MOST_IMAGES));
            flight.images.reverse();
        }
        flight.record.failure = failure.map(|failure| (failure, false));
        let outcome = if failure.is_some() { Outcome::Failed } else { Outcome::Page(page) };
        flight.thinks = user.decide(&self.common.script, outcome);
        let buffer = std::mem::take(&mut flight.reply).into_buffer();
        if buffer.capacity() <= LARGEST_KEPT_BUFFER && self.buffers.len() < KEPT_BUFFERS {
            self.buffers.push(buffer);
        }
        self.next_image(place)
    }

    pub(crate) fn next_image(&mut self, place: usize) -> Result<()> {
        let flight = &mut self.flights[place];
        flight.image = flight.images.pop();
        if flight.image.is_some() { self.exchange(place) } else { self.end(place) }
    }

    /// Records the interaction, and lets its user think.
    pub(crate) fn end(&mut self, place: usize) -> Result<()> {
        let now = monotonic_ns();
        self.put_down(place, now);
        let flight = &mut self.flights[place];
        let number = flight.user;
        let user = &mut self.users[number as usize];
        let thinks = flight.thinks;
        let state = flight.record.state;
        let same_session = user.session() == flight.record.session;
        if flight.socket.is_some() && same_session {
            flight.stage = Stage::Idle;
        } else {
            self.release(place);
        }
        match self.common.plan.pace {
            Pace::Open { .. } => self.idle.push_back(number),
            Pace::Closed { think_ns, think_cap_ns } => {
                let state = &self.common.script.workload.states[usize::from(state)];
                // The cap is the plan's mean's.
                let (think_ns, cap) = match state.think_ns {
                    Some(own_ns) => (own_ns, own_ns.saturating_mul(10)),
                    None => (think_ns, think_cap_ns.unwrap_or(think_ns.saturating_mul(10))),
                };
                let user = &mut self.users[number as usize];
                let think =
                    if thinks { user.think_ns(&self.common.script, think_ns, cap) } else { 0 };
                let due = self.thought_by(number, now, think);
                self.schedule.extend(due.map(|due| Reverse((due, number))));
                if due != Some(now + think) && self.places[number as usize] != NOWHERE {
                    // Who leaves takes the connection along.
                    self.release(place);
                }
            }
        }
        Ok(())
    }

    /// Records an interaction that the end of the run cuts.
    pub(crate) fn cut(&mut self, place: usize) -> Result<()> {
        let flight = &mut self.flights[place];
        flight.record.bytes += flight.reply.received();
        let image = flight.image.is_some();
        flight.record.failure.get_or_insert((Failure::Cut, image));
        self.put_down(place, monotonic_ns());
        self.release(place);
        Ok(())
    }

    fn put_down(&mut self, place: usize, now: i64) {
        self.in_flight -= 1;
        let flight = &self.flights[place];
        let end_ns = now + self.real_offset_ns;
        let number = self.share.number(flight.user);
        self.tally.ended(&self.common.script, number, &flight.record, end_ns);
    }

    pub(crate) fn release(&mut self, place: usize) {
        let flight = self.flights.remove(place);
        self.places[flight.user as usize] = NOWHERE;
    }
}
