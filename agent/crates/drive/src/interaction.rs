//! One interaction after the other: its pages, the files and images in them, what its user makes of
//! them, and the record.

use crate::answer::Answer;
use crate::delay::From;
use crate::embedded;
use crate::failure::Failure;
use crate::flight::{Purpose, Record, Stage};
use crate::page::Page;
use crate::plan::Pace;
use crate::reply::Reply;
use crate::rules::Redirects;
use crate::session::Outcome;
use crate::shard::{NOWHERE, Shard};
use anyhow::Result;
use std::cmp::Reverse;
use tierlab_record::clock::monotonic_ns;

/// Buffers larger than this are not kept for the next page.
const LARGEST_KEPT_BUFFER: usize = 128 << 10;
/// Page buffers kept for later; more than this are in use only in a pile-up.
const KEPT_BUFFERS: usize = 256;

impl Shard {
    /// Starts an interaction with its page.
    pub(crate) fn start_page(&mut self, place: usize, intended_ns: i64) -> Result<()> {
        let now = monotonic_ns();
        self.tally.started(now - intended_ns);
        let flight = &mut self.flights[place];
        let user = &mut self.users[flight.user as usize];
        flight.resources.clear();
        flight.resource = None;
        (flight.more, flight.pages, flight.opened) = (false, 0, 0);
        flight.record = Record {
            state: user.operation(),
            session: user.session(),
            delay_ns: user.browser().and_then(|browser| browser.delay_ns.take()),
            intended_ns: intended_ns + self.real_offset_ns,
            start_ns: now + self.real_offset_ns,
            ..Record::default()
        };
        self.ask_for_page(place)
    }

    /// Asks for the page that is next, the first or another of the same operation.
    fn ask_for_page(&mut self, place: usize) -> Result<()> {
        let flight = &mut self.flights[place];
        if self.common.script.operation(flight.record.state).len() > 1 {
            flight.record.steps.push(self.users[flight.user as usize].request().state);
        }
        self.exchange(place)
    }

    /// Whether the page is opened once more, after the pause that the rules ask for.
    pub(crate) fn opens_again(&mut self, place: usize) -> bool {
        let rules = &self.common.script.workload.rules;
        let flight = &mut self.flights[place];
        if flight.opened >= rules.opens {
            return false;
        }
        flight.stage = Stage::Pausing;
        flight.socket = None;
        flight.answer = Answer::default();
        self.schedule.push(Reverse((monotonic_ns() + rules.reopen_after_ns, flight.user)));
        true
    }

    /// Keeps the cookies of a page's reply.
    pub(crate) fn take_cookies(&mut self, place: usize) {
        let flight = &self.flights[place];
        if self.common.script.workload.rules.browser
            && let Some(reply) = flight.answer.http()
        {
            let user = &mut self.users[self.replay.owner(flight.user) as usize];
            reply.told().cookies.iter().for_each(|cookie| user.jar.take(cookie));
        }
    }

    /// Has the user go where a reply sends it; false where it stays. What it asks for there is a part
    /// of the same interaction, or one of its own without a think time before it.
    pub(crate) fn sent_on(&mut self, place: usize) -> bool {
        let flight = &mut self.flights[place];
        let rules = &self.common.script.workload.rules;
        let Some(reply) = flight.answer.http() else { return false };
        if !rules.browser || rules.redirects == Redirects::Stay || !reply.redirects() {
            return false;
        }
        let Some(location) = reply.told().location.as_deref() else { return false };
        let user = &mut self.users[flight.user as usize];
        let sent = user.sent_on(&self.common.script, reply.status(), location);
        if sent && rules.redirects == Redirects::Own {
            flight.thinks = false;
            flight.record.failure = None;
        }
        sent
    }

    /// The user sees the page, or that it failed, and decides what to do next; what is in the page
    /// comes first.
    pub(crate) fn see_page(&mut self, place: usize, failure: Option<Failure>) -> Result<()> {
        let script = &self.common.script;
        let flight = &mut self.flights[place];
        let user = &mut self.users[flight.user as usize];
        let is_html = flight.answer.http().is_none_or(|reply| !reply.told().no_html);
        let page = Page { body: flight.answer.body(), is_html };
        let state = &script.workload.states[usize::from(user.request().state)];
        let says = |text: &Option<String>| text.as_deref().is_some_and(|text| page.says(text));
        // A reply that sends its user elsewhere is no page that could say something.
        let is_page = !flight.answer.http().is_some_and(Reply::redirects);
        let lacks =
            |text: &Option<String>| is_page && text.as_deref().is_some_and(|text| !page.says(text));
        let failure = match failure {
            None if says(&script.workload.rules.failed_if) => Some(Failure::Page),
            None if lacks(&state.expect.text) => Some(Failure::TextMissing),
            failure => failure,
        };
        match failure {
            Some(failure) => {
                flight.record.failure = Some((failure, Purpose::Page));
                flight.thinks = user.decide(script, Outcome::Failed);
            }
            None => {
                if self.common.plan.images {
                    let (named, found) = embedded::of_page(script, user, page);
                    flight.record.images_named += named;
                    flight.resources = found;
                }
                if user.see(script, page) {
                    flight.socket = None;
                    flight.kept.clear();
                }
                flight.more = user.go_on(script, page);
                if !flight.more {
                    flight.thinks = user.decide(script, Outcome::Page(page));
                }
            }
        }
        let buffer = std::mem::take(&mut flight.answer).into_buffer();
        if buffer.capacity() <= LARGEST_KEPT_BUFFER && self.buffers.len() < KEPT_BUFFERS {
            self.buffers.push(buffer);
        }
        self.go_on_with(place)
    }

    /// Goes on with what is in the page, then with the operation's next page, or ends.
    pub(crate) fn go_on_with(&mut self, place: usize) -> Result<()> {
        let flight = &mut self.flights[place];
        if flight.turn_part() {
            return self.exchange(place);
        }
        if !std::mem::take(&mut flight.more) {
            return self.end(place);
        }
        flight.turn_page();
        self.ask_for_page(place)
    }

    /// Records the interaction, and lets its user think.
    pub(crate) fn end(&mut self, place: usize) -> Result<()> {
        let now = monotonic_ns();
        let ended_ns = self.flights[place].ended_ns;
        self.put_down(place, ended_ns);
        let flight = &mut self.flights[place];
        let number = flight.user;
        let user = &mut self.users[number as usize];
        let thinks = flight.thinks;
        let state = flight.record.state;
        let took_ns = ended_ns + self.real_offset_ns - flight.record.start_ns;
        let same_session = user.session() == flight.record.session;
        if flight.is_connected() && same_session {
            flight.stage = Stage::Idle;
        } else {
            self.release(place);
        }
        match self.common.plan.pace {
            Pace::Open { .. } => self.idle.push_back(number),
            Pace::Recorded { .. } => self.close_if_over(self.replay.owner(number)),
            Pace::Closed { think_ns, think_cap_ns } => {
                let cap = think_cap_ns.unwrap_or(think_ns.saturating_mul(10));
                let user = &mut self.users[number as usize];
                let script = &self.common.script;
                let think = match user.delay(script, state, thinks) {
                    _ if !thinks => 0,
                    Some((From::End, drawn)) => drawn,
                    Some((From::Start, drawn)) => (drawn - took_ns).max(0),
                    None => user.think_ns(script, think_ns, cap),
                };
                // It thinks while the driver looks at the page.
                let think = (think - (now - ended_ns)).max(0);
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
        flight.record.bytes += flight.answer.received();
        let purpose = flight.purpose();
        flight.record.failure.get_or_insert((Failure::Cut, purpose));
        self.put_down(place, monotonic_ns());
        self.release(place);
        Ok(())
    }

    fn put_down(&mut self, place: usize, ended_ns: i64) {
        self.in_flight -= 1;
        let flight = &self.flights[place];
        let end_ns = ended_ns + self.real_offset_ns;
        let number = self.share.number(self.replay.owner(flight.user));
        let protocol = self.destinations.of(number, flight.server).protocol();
        self.tally.ended(&self.common.script, number, protocol, &flight.record, end_ns);
    }

    pub(crate) fn release(&mut self, place: usize) {
        let flight = self.flights.remove(place);
        self.places[flight.user as usize] = NOWHERE;
    }
}
