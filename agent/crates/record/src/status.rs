//! What a verb says on standard output: JSON lines, for whoever started it. The first is `ready`,
//! once it really works, the last `summary`; those in between say how it goes.

use serde_json::Value;
use std::io::Write;

/// Says a line now. Whoever stopped reading does not stop the run. A thread that must not wait
/// leaves its lines to the writer: [`crate::Writer::say`].
pub fn say(line: &Value) {
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}
