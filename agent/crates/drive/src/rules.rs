//! How users react to what they get, as a workload file says it.

use serde::Deserialize;

/// How users react. The defaults are the mended ones.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Rules {
    /// Requests after which a session ends at the latest.
    pub session_limit: u32,
    /// When users start.
    pub start: Start,
    /// What a think time over the cap becomes.
    pub over_cap: OverCap,
    /// Where a user goes after a failure.
    pub after_failure: AfterFailure,
    /// Whether a user thinks after a failure, before it goes on.
    pub think_after_failure: bool,
    /// How often a request that yields no reply, or one with an error status, is opened.
    pub opens: i16,
    /// The pause after an opening that failed, when there is more than one.
    pub reopen_after_ns: i64,
    /// Text that says there is nothing to show: the user goes back.
    pub back_if: Option<String>,
    /// Text that says the page failed.
    pub failed_if: Option<String>,
    /// Keep the states to go back to when a session returns to the home page or ends.
    pub keep_history: bool,
    /// Keep what was remembered of pages when another session begins.
    pub keep_remembered: bool,
    /// Keep cookies for a session, and go at once where a reply sends the user to, as a request of
    /// the same state: as browsers do.
    pub browser: bool,
    /// What becomes of a browser that a reply sends elsewhere.
    pub redirects: Redirects,
    /// What a browser's cache spares; without it every page's resources are fetched with it.
    pub cache: Option<Cache>,
}

/// What becomes of a browser that a reply sends elsewhere.
#[derive(Debug, Clone, Copy, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Redirects {
    /// It goes there, which is an interaction of its own.
    Own,
    /// It goes there within the same interaction.
    Within,
    /// It stays: the reply is a page like any other, and the workload says what is asked for next.
    Stay,
}

/// Where a user goes after a failure.
#[derive(Debug, Clone, Copy, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum AfterFailure {
    /// To the home page.
    Home,
    /// Where the transitions lead from the state that failed: failures leave the mix as it is.
    Next,
}

/// A browser's cache. Images are asked for once a session.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cache {
    /// The share of the sessions that have the static files from before, and ask with each page, by
    /// `If-Modified-Since`, whether those of it have changed. The others' cache is empty as they
    /// begin, and they ask for each file once.
    pub cached: f64,
    /// The date that is sent, as HTTP writes it.
    pub since: String,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            session_limit: 1000,
            start: Start::Staggered,
            over_cap: OverCap::Cap,
            after_failure: AfterFailure::Home,
            think_after_failure: true,
            opens: 1,
            reopen_after_ns: 1_000_000_000,
            back_if: None,
            failed_if: None,
            keep_history: false,
            keep_remembered: false,
            browser: false,
            redirects: Redirects::Own,
            cache: None,
        }
    }
}

/// When users start.
#[derive(Debug, Clone, Copy, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Start {
    /// Evenly over the first phase.
    Staggered,
    /// All at its beginning.
    AtOnce,
    /// So long after one another from its beginning on; evenly over it, where it is shorter.
    Every {
        /// From the start of one user to that of the next.
        gap_ns: i64,
    },
}

impl Start {
    /// How long it takes until so many users have started.
    pub fn over_ns(self, users: u32, first_phase_ns: i64) -> i64 {
        match self {
            Self::Staggered => first_phase_ns,
            Self::AtOnce => 0,
            Self::Every { gap_ns } => gap_ns.saturating_mul(i64::from(users)).min(first_phase_ns),
        }
    }
}

/// What a think time over the cap becomes.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OverCap {
    /// The cap.
    Cap,
    /// Nothing: the published client's slip.
    Zero,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_start_so_long_after_one_another_and_within_the_first_phase() {
        let every = Start::Every { gap_ns: 100 };
        assert_eq!(every.over_ns(25, 60_000), 2_500);
        assert_eq!(every.over_ns(25, 2_000), 2_000, "evenly, where it is shorter");
        assert_eq!(Start::Staggered.over_ns(25, 60_000), 60_000);
        assert_eq!(Start::AtOnce.over_ns(25, 60_000), 0);
    }
}
