//! An operation of several pages, of which its user sees one interaction: what is asked for before and
//! after its own page, and when; and what its page does to the session.

use serde::Deserialize;

/// A page more of an operation.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// The state whose page is asked for; transitions need not lead to it. Where the page before
    /// lacks what its request needs, it is left out.
    pub state: String,
    /// When it is asked for.
    #[serde(default)]
    pub when: Condition,
}

/// When a step is taken: where all that is given holds.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Condition {
    /// The user is logged in, or is not.
    pub logged_in: Option<bool>,
    /// The page before has this text.
    pub says: Option<String>,
    /// And then with this probability.
    pub chance: Option<f64>,
}

/// What a page that came does to the session.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// The user is logged in from now on.
    LogIn,
    /// The session is over, and the next begins: other cookies, another cache, another identity,
    /// another connection.
    LogOut,
}
