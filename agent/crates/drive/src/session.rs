//! One user: what it does next, given the page it sees. No socket and no clock here.

use crate::browser::Browser;
use crate::cookies::Jar;
use crate::extract::extract;
use crate::page::{Link, Page};
use crate::random::Stream;
use crate::request::Request;
use crate::rules::AfterFailure;
use crate::script::{BACK, END, Script};
use crate::state::Missing;

/// A user of the closed loop, or a session of the open loop. Small, for there are many: texts and
/// pages are not kept while it thinks, only the request that it will send.
pub struct User {
    pub(crate) random: Stream,
    pub(crate) kind: u8,
    /// The state of its operation.
    state: u8,
    /// Which page of the operation is asked for.
    part: u8,
    /// The state of the request before, whose draw a repeated search keeps.
    last: u8,
    pub(crate) number: u32,
    pub(crate) drawn: u32,
    left: u32,
    /// Sessions begun.
    sessions: u32,
    /// Nothing was sent in the present session yet.
    at_start: bool,
    /// HTTP requests sent, images and repetitions included.
    sent: u32,
    history: Vec<u8>,
    remembered: Box<[Option<Box<[u8]>>]>,
    pub(crate) jar: Jar,
    /// How often the present request was sent elsewhere.
    hops: u8,
    next: Request,
    /// Where the workload asks for what it keeps.
    browser: Option<Box<Browser>>,
}

/// A request that is sent elsewhere more often than this goes round in circles.
pub(crate) const MOST_HOPS: u8 = 8;

/// What became of an interaction's page.
pub enum Outcome<'a> {
    /// It is there.
    Page(Page<'a>),
    /// No page, or one that says that it failed.
    Failed,
}

impl User {
    /// The user `number` of `users`, at the beginning of its first session.
    pub fn new(script: &Script, seed: u64, number: u32) -> Self {
        let kind = script.kind_of(number);
        let mut user = Self {
            random: Stream::new(seed, u64::from(number)),
            kind,
            state: script.home(kind),
            part: 0,
            last: script.home(kind),
            number: 0,
            drawn: 0,
            left: 0,
            sessions: 0,
            at_start: true,
            sent: 0,
            history: Vec::new(),
            remembered: vec![None; script.memories.len()].into(),
            jar: Jar::default(),
            hops: 0,
            next: Request::default(),
            browser: script.browsers.then(|| Box::new(Browser::new(number))),
        };
        user.begin_session(script);
        user.prepare(script, None);
        user
    }

    /// The state of the operation that is to come, or under way.
    pub fn operation(&self) -> u8 {
        self.state
    }

    /// What is kept of the session, where the workload asks for it.
    pub fn browser(&mut self) -> Option<&mut Browser> {
        self.browser.as_deref_mut()
    }

    /// The request to send.
    pub fn request(&self) -> &Request {
        &self.next
    }

    /// Whether the user has not sent anything yet.
    pub fn is_new(&self) -> bool {
        self.sent == 0
    }

    /// Sessions in which a request was sent.
    pub fn sessions_played(&self) -> u32 {
        if self.is_new() { 0 } else { self.sessions - u32::from(self.at_start) }
    }

    /// Sessions begun so far, the present one included.
    pub fn session(&self) -> u32 {
        self.sessions
    }

    /// Counts an HTTP request and returns its place in the order of the user's requests.
    pub fn count_sent(&mut self) -> u32 {
        self.sent += 1;
        self.at_start = false;
        self.sent
    }

    /// Chooses what to do after an interaction. Returns whether the user thinks first.
    pub fn decide(&mut self, script: &Script, outcome: Outcome<'_>) -> bool {
        let rules = &script.workload.rules;
        self.left = self.left.saturating_sub(1);
        self.last = self.next.state;
        self.hops = 0;
        match outcome {
            Outcome::Failed => {
                match rules.after_failure {
                    AfterFailure::Home if self.left > 0 => self.go_home(script),
                    AfterFailure::Home => self.begin_session(script),
                    AfterFailure::Next => _ = self.step(script),
                }
                self.prepare(script, None);
                rules.think_after_failure
            }
            Outcome::Page(page) => {
                let seen = if self.step(script) { Some(page) } else { None };
                self.prepare(script, seen);
                true
            }
        }
    }

    /// Goes where a reply of this status sends it, at once; false where that is on none of its
    /// servers, or leads round in circles.
    pub fn sent_on(&mut self, script: &Script, status: u16, location: &[u8]) -> bool {
        let Some((server, target)) = script.leads(location, self.next.target(), self.next.server)
        else {
            return false;
        };
        self.hops += 1;
        self.next = self.next.sent_on(status, &target).at(server);
        self.hops <= MOST_HOPS
    }

    /// Remembers what its state wants to know of the reply.
    fn remember(&mut self, script: &Script, page: Page<'_>) {
        for wanted in &script.workload.states[usize::from(self.next.state)].extract {
            let found = extract(wanted, page, &mut self.random);
            let memory = script.memories.iter().position(|name| *name == wanted.name);
            if let (Some(found), Some(memory)) = (found, memory) {
                self.remembered[memory] = Some(found);
            }
        }
    }

    /// What was last remembered under a name.
    pub(crate) fn remembered<'a>(&'a self, script: &Script, name: &str) -> Option<&'a [u8]> {
        let memory = script.memories.iter().position(|memory| memory == name)?;
        self.remembered[memory].as_deref()
    }

    /// The next number that no other user takes.
    pub(crate) fn take_unused(&mut self, above: u32, every: u32) -> u32 {
        let Some(browser) = self.browser() else { return above };
        let taken = browser.taken.wrapping_mul(every);
        let number = above.wrapping_add(taken).wrapping_add(browser.user % every + 1);
        browser.taken = browser.taken.wrapping_add(1);
        number
    }

    /// Draws the next state. False when the session has ended and another has begun.
    fn step(&mut self, script: &Script) -> bool {
        let to = script.next(self.kind, self.state, self.random.unit());
        if to == END || self.left == 0 {
            self.begin_session(script);
            return false;
        }
        if to == BACK {
            self.go_back(script);
        } else {
            if script.leads_back(self.kind, to) {
                self.history.push(self.state);
            } else {
                self.history.clear();
            }
            self.state = to;
        }
        true
    }

    fn begin_session(&mut self, script: &Script) {
        self.renew(script);
        self.left = script.workload.rules.session_limit;
        self.at_start = true;
        self.go_home(script);
    }

    /// Another session, of somebody else.
    fn renew(&mut self, script: &Script) {
        let identity = &script.workload.sessions[usize::from(self.kind)].identity;
        self.number = self.random.between(identity.numbers.0, identity.numbers.1);
        self.sessions += 1;
        if script.workload.rules.browser {
            self.jar.clear();
            if !script.workload.rules.keep_remembered {
                self.remembered.fill(None);
            }
        }
        let Some(browser) = self.browser.as_deref_mut() else { return };
        browser.renew(script.workload.rules.cache.as_ref(), &mut self.random);
        if let Some(stride) = identity.stride {
            self.number = self.number * stride + browser.user % stride + 1;
        }
    }

    fn go_home(&mut self, script: &Script) {
        self.state = script.home(self.kind);
        if !script.workload.rules.keep_history {
            self.history.clear();
        }
    }

    fn go_back(&mut self, script: &Script) {
        match self.history.pop() {
            Some(state) => self.state = state,
            None => self.state = script.home(self.kind),
        }
    }

    /// Renders the request of the present state, going back or home as often as the page lacks
    /// what a request needs. Ends, because the history shrinks and home needs nothing.
    fn prepare(&mut self, script: &Script, page: Option<Page<'_>>) {
        let nothing_there = script.workload.rules.back_if.as_deref();
        if nothing_there.is_some_and(|text| page.is_some_and(|page| page.says(text))) {
            self.go_back(script);
        }
        let shown = std::mem::take(&mut self.next);
        loop {
            if self.turn_to(script, 0, page, shown.target()) {
                return;
            }
            match script.workload.states[usize::from(self.state)].missing {
                Missing::Back => self.go_back(script),
                Missing::Home => self.go_home(script),
            }
        }
    }

    /// Whether the present request repeats the state of the last one.
    pub(crate) fn repeats(&self, state: u8) -> bool {
        self.last == state && self.sent > 0
    }

    /// Remembers a picked link, or recalls the one remembered when none was picked.
    pub(crate) fn recall<'a>(
        &'a mut self,
        memory: usize,
        picked: Option<Link<'_>>,
    ) -> Option<&'a [u8]> {
        if let Some(link) = picked {
            self.remembered[memory] = Some(link.query.into());
        }
        self.remembered[memory].as_deref()
    }
}

#[cfg(test)]
mod operation_tests;
mod parts;
#[cfg(test)]
mod recorded_tests;
#[cfg(test)]
mod tests;
mod waiting;
