//! What users do, as data: the states of a session, where each request's parameters come from, and
//! how likely each next state is. Nothing in this crate knows a particular application; RUBBoS,
//! RUBiS or a page of one's own are files of this form.

use crate::delay::Delay;
use crate::rules::Rules;
use crate::source::{Draw, DrawFrom};
use crate::state::State;
use crate::upload::File;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Why a workload file was refused.
#[derive(Debug, thiserror::Error)]
pub enum WorkloadError {
    /// The file could not be read.
    #[error("cannot read the workload {path}: {source}")]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The file is not of the form of [`Workload`].
    #[error("{path} is not a workload: {source}")]
    Form {
        /// The file.
        path: PathBuf,
        /// What was expected, and where.
        source: serde_json::Error,
    },
    /// The file is well formed but makes no sense.
    #[error("{path}: {what}")]
    Sense {
        /// The file.
        path: PathBuf,
        /// Which key, and what is wrong with it.
        what: String,
    },
}

/// A workload file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Workload {
    /// The workload's name and variant, for people.
    pub name: String,
    /// The state in which sessions start and to which failed ones return. Its request needs
    /// nothing from an earlier page.
    pub home: String,
    /// The states, in any order.
    pub states: Vec<State>,
    /// The kinds of session and their shares of the users.
    pub sessions: Vec<SessionKind>,
    /// Whether users take the kinds in turn, by their numbers, whatever the shares.
    #[serde(default)]
    pub sessions_in_turn: bool,
    /// How users react.
    #[serde(default)]
    pub rules: Rules,
    /// How long after an interaction the next one comes, in a closed loop; the plan's think time
    /// when null.
    pub delay: Option<Delay>,
    /// What forms upload.
    #[serde(default)]
    pub files: Vec<File>,
    /// Visits that are sent as they were recorded, in place of sessions: each request with when it
    /// was sent (since the start of the run), its state's name, and path and query.
    #[serde(default)]
    pub visits: Vec<Vec<(i64, String, String)>>,
    /// Words for texts and searches.
    #[serde(default)]
    pub dictionary: Vec<String>,
}

/// A kind of session.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SessionKind {
    /// Its name, for people.
    pub name: String,
    /// The share of the users that run it.
    pub share: f64,
    /// The state in which its sessions start, and to which its failed ones return; the workload's
    /// where there is none.
    pub home: Option<String>,
    /// Whom the sessions belong to.
    pub identity: Identity,
    /// For each state the next ones with their probabilities, in the order in which one uniform
    /// draw walks them. `"Back"` and `"End"` are the pseudo-states. Where the probabilities sum to
    /// less than 1 and the draw falls beyond them, the state repeats.
    pub transitions: BTreeMap<String, Vec<(String, f64)>>,
}

/// Whom a session belongs to: a number drawn per session, and texts made of it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Identity {
    /// The smallest and the largest number.
    pub numbers: (u32, u32),
    /// With it no two users share a number: what is drawn times this, plus the user's own number
    /// (from 0, below this) plus 1.
    pub stride: Option<u32>,
    /// Values by name, `{n}` being the number.
    pub values: BTreeMap<String, String>,
}

impl Workload {
    /// Reads and checks a workload file.
    pub fn read(path: &Path) -> Result<Self, WorkloadError> {
        let text = std::fs::read(path)
            .map_err(|source| WorkloadError::Read { path: path.into(), source })?;
        let mut workload: Self = serde_json::from_slice(&text)
            .map_err(|source| WorkloadError::Form { path: path.into(), source })?;
        crate::check::workload(&workload)
            .map_err(|what| WorkloadError::Sense { path: path.into(), what })?;
        let folder = path.parent().unwrap_or(Path::new(""));
        for file in &mut workload.files {
            file.read(folder).map_err(|what| WorkloadError::Sense { path: path.into(), what })?;
        }
        Ok(workload)
    }

    /// The number of the state `name`.
    pub fn state(&self, name: &str) -> Option<u8> {
        self.states.iter().position(|state| state.name == name).map(|at| at as u8)
    }

    /// Whether something is asked for that a browser keeps, or that is counted user by user.
    pub fn needs_browsers(&self) -> bool {
        let of_state = |state: &State| {
            let unused = |draw: &Draw| matches!(draw.from, DrawFrom::Unused { .. });
            let steps = state.before.iter().chain(&state.after);
            state.effect.is_some()
                || state.delay.is_some()
                || state.draw.as_ref().is_some_and(unused)
                || steps.into_iter().any(|step| step.when.logged_in.is_some())
        };
        self.rules.cache.is_some()
            || self.delay.is_some()
            || self.sessions.iter().any(|kind| kind.identity.stride.is_some())
            || self.states.iter().any(of_state)
    }
}
