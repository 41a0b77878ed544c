//! What the driver says at its end.

use crate::tally::Whole;
use serde_json::{Value, json};
use tierlab_record::clock::process_cpu_ns;
use tierlab_record::priority::Scheduling;

/// What a run took of the machine.
pub struct Cost {
    /// From its beginning to its end.
    pub wall_ns: i64,
    /// CPU time in the runtime as a share of one core; `None` when no whole second was noted.
    pub runtime_cpu_share: Option<f64>,
    /// The same of the busiest second.
    pub busiest_second_cpu_share: f64,
    /// How each thread was scheduled.
    pub scheduling: Vec<Scheduling>,
}

/// The summary as JSON. Lag, `runtime_cpu_share`, `busiest_thread_cpu_share` and `bottleneck` are of
/// the runtime, or of all phases when none has that name; shares are of one core.
/// `scheduling` is the least that a thread got.
pub fn summary(whole: &Whole, cost: &Cost, users: usize, sessions: u64) -> Value {
    let cpu_ns = process_cpu_ns();
    let judged = &whole.judgement;
    let why = judged.bottleneck();
    json!({ "summary": {
        "requests": whole.recorded,
        "errors": whole.errors.values().sum::<u64>(),
        "errors_by_name": whole.errors,
        "sent_off": whole.sent_off,
        "attempts": whole.attempts,
        "rows": whole.rows,
        "users": users,
        "sessions": sessions,
        "threads": cost.scheduling.len(),
        "scheduling": least(&cost.scheduling),
        "wall_ns": cost.wall_ns,
        "cpu_ns": cpu_ns,
        "cpu_share": cpu_ns as f64 / cost.wall_ns as f64,
        "busiest_second_cpu_share": cost.busiest_second_cpu_share,
        "runtime_cpu_share": cost.runtime_cpu_share,
        "busiest_thread_cpu_share": judged.busiest_thread_share(),
        "lag_p50_ns": judged.lag(0.5),
        "lag_p99_ns": judged.lag(0.99),
        "lag_max_ns": judged.largest_lag_ns(),
        "bottleneck": why.is_some(),
        "why": why,
    }})
}

fn least(scheduling: &[Scheduling]) -> Scheduling {
    [Scheduling::Normal, Scheduling::Nice]
        .into_iter()
        .find(|each| scheduling.contains(each))
        .unwrap_or(Scheduling::Realtime)
}
