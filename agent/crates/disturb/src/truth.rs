//! What really happened: `truth.jsonl`, one JSON object a line, appended as each disturbance ends.

use crate::disturbance::End;
use crate::plan::Planned;
use anyhow::{Context, Result};
use serde::Serialize;
use serde_json::{Map, Value};
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::sync::Mutex;

/// One line: what was to be done, and what was.
#[derive(Debug, Serialize)]
struct Line<'a> {
    id: u32,
    class: &'a str,
    subject: &'a str,
    /// When it took effect (CLOCK_REALTIME); null if it never did.
    start_ns: Option<i64>,
    /// When its effect was over; null if it never took effect or its end is unknown.
    end_ns: Option<i64>,
    /// The class's keys as planned.
    intensity: Map<String, Value>,
    /// What it is known to have done, by the class's own names.
    effect: Map<String, Value>,
    /// Whether it took effect and lasted as planned.
    done: bool,
    error: Option<String>,
}

/// The file; several disturbances may end at once.
pub struct Truth(Mutex<File>);

impl Truth {
    /// Opens `truth.jsonl` in the folder given, after what is in it.
    pub fn create(folder: &Path) -> Result<Self> {
        let path = folder.join("truth.jsonl");
        let file = OpenOptions::new().create(true).append(true).open(&path);
        Ok(Self(Mutex::new(file.with_context(|| format!("cannot write {}", path.display()))?)))
    }

    /// Appends a line. `started_ns` is null if the disturbance never took effect; `cut` says that
    /// it ended before its time. Returns whether it was done as planned.
    pub fn tell(
        &self,
        planned: &Planned,
        started_ns: Option<i64>,
        ended: Result<End>,
        cut: bool,
    ) -> Result<bool> {
        let (class, intensity) = planned.class.words();
        let stopped = cut.then(|| "the agent was stopped before its end".to_owned());
        let error = ended.as_ref().err().map(|error| format!("{error:#}")).or(stopped);
        let done = started_ns.is_some() && error.is_none();
        let (end_ns, effect) =
            ended.map_or((None, Map::new()), |end| (Some(end.at_ns), end.effect));
        let line = Line {
            id: planned.what.id,
            class: &class,
            subject: &planned.what.subject,
            start_ns: started_ns,
            end_ns,
            intensity,
            effect,
            done,
            error,
        };
        let text = serde_json::to_string(&line)? + "\n";
        let mut file = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        file.write_all(text.as_bytes()).context("cannot write truth.jsonl")?;
        Ok(done)
    }
}
