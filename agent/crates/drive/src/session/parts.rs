//! The pages of one operation, one after the other.

use super::User;
use crate::operation::{Condition, Effect};
use crate::page::Page;
use crate::render;
use crate::request::Request;
use crate::script::Script;

impl User {
    /// The user sees a page of its operation: what it remembers of it, and what that does to the
    /// session. True when the session is over.
    pub fn see(&mut self, script: &Script, page: Page<'_>) -> bool {
        self.remember(script, page);
        match script.workload.states[usize::from(self.next.state)].effect {
            Some(Effect::LogIn) => {
                if let Some(browser) = self.browser() {
                    browser.logged_in = true;
                }
                false
            }
            Some(Effect::LogOut) => {
                self.renew(script);
                true
            }
            None => false,
        }
    }

    /// Is to ask for this, whatever it would do next.
    pub fn ask(&mut self, state: u8, target: &[u8]) {
        (self.state, self.part) = (state, 0);
        self.next = Request::to(state, target);
    }

    /// Goes on to the operation's next page. False when it has no more.
    pub fn go_on(&mut self, script: &Script, page: Page<'_>) -> bool {
        let next = usize::from(self.part) + 1;
        if next >= script.operation(self.state).len() {
            return false;
        }
        self.last = self.next.state;
        self.hops = 0;
        let shown = std::mem::take(&mut self.next);
        let more = self.turn_to(script, next, Some(page), shown.target());
        if !more {
            self.next = shown;
        }
        more
    }

    /// Renders the operation's first page from the one at `first` on that is wanted and can be asked
    /// for. False when there is none, or the page lacks what the operation's own one needs. `from` is
    /// the target of the page.
    pub(super) fn turn_to(
        &mut self,
        script: &Script,
        first: usize,
        page: Option<Page<'_>>,
        from: &[u8],
    ) -> bool {
        for (at, part) in script.operation(self.state).iter().enumerate().skip(first) {
            if !self.holds(&part.when, page) {
                continue;
            }
            match render::request(script, self, part.state, page, from) {
                Some(request) => {
                    self.part = at as u8;
                    if part.own && request.state != part.state {
                        // A link that was followed, or a row that was drawn, is of another state.
                        self.state = request.state;
                        let own = script.operation(self.state).iter().position(|part| part.own);
                        self.part = own.unwrap_or(0) as u8;
                    }
                    self.next = request;
                    return true;
                }
                None if part.own => return false,
                None => {}
            }
        }
        false
    }

    fn holds(&mut self, when: &Condition, page: Option<Page<'_>>) -> bool {
        let logged_in = self.browser.as_ref().is_some_and(|browser| browser.logged_in);
        when.logged_in.is_none_or(|wanted| wanted == logged_in)
            && when.says.as_deref().is_none_or(|text| page.is_some_and(|page| page.says(text)))
            && when.chance.is_none_or(|chance| self.random.unit() < chance)
    }
}
