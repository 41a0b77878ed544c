//! How long a user waits before the next interaction.

use super::User;
use crate::delay::From;
use crate::rules::OverCap;
use crate::script::Script;

impl User {
    /// Draws a think time.
    pub fn think_ns(&mut self, script: &Script, mean_ns: i64, cap_ns: i64) -> i64 {
        let think = self.random.exponential(mean_ns as f64) as i64;
        match script.workload.rules.over_cap {
            _ if think <= cap_ns => think,
            OverCap::Cap => cap_ns,
            OverCap::Zero => 0,
        }
    }

    /// Draws the delay after the operation of `state`, if the user waits; `None` where the workload
    /// says nothing of it.
    pub fn delay(&mut self, script: &Script, state: u8, waits: bool) -> Option<(From, i64)> {
        let own = script.workload.states[usize::from(state)].delay.as_ref();
        let delay = own.or(script.workload.delay.as_ref()).filter(|_| waits)?;
        let drawn = delay.draw(&mut self.random);
        if let Some(browser) = self.browser() {
            browser.delay_ns = Some(drawn);
        }
        Some((delay.from, drawn))
    }
}
