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
    /// Whether a user thinks after a failure, before it returns to the home page.
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

/// A browser's cache. Images are asked for once a session, and so are static files.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cache {
    /// The share of the sessions that have the static files from before, and ask for them with
    /// `If-Modified-Since`. The others' cache is empty as they begin.
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
            think_after_failure: true,
            opens: 1,
            reopen_after_ns: 1_000_000_000,
            back_if: None,
            failed_if: None,
            keep_history: false,
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
