//! How many threads drive, where the plan leaves it to the driver.

use crate::plan::{Pace, Plan};

/// Interactions a second. A request with a connection of its own takes some 45 µs of CPU time: so
/// many are two thirds of a core, and nothing starts late.
const RATE_PER_THREAD: f64 = 15_000.0;

/// A user who does not think is taken to wait for a reply so long.
const SHORTEST_CYCLE_S: f64 = 0.05;

/// As many threads as the load can keep busy, at most one for each of `cores`. Few users stay on
/// one: the cores are the servers' too.
pub fn wanted(plan: &Plan, cores: u32) -> u32 {
    let rate_per_s = match plan.pace {
        Pace::Closed { think_ns, .. } => {
            f64::from(plan.users) / (think_ns as f64 / 1e9).max(SHORTEST_CYCLE_S)
        }
        Pace::Open { rate_per_s, .. } => rate_per_s,
        // No log of a single server's has more than a thread can send.
        Pace::Recorded { .. } => 0.0,
    };
    // What is larger than a u32 becomes its maximum.
    ((rate_per_s / RATE_PER_THREAD).ceil() as u32).clamp(1, cores.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted_for(users: u32, pace: &str, cores: u32) -> u32 {
        let plan = format!(
            r#"{{"targets": [{{"address": "127.0.0.1", "port": 80}}], "workload": "w.json",
                "users": {users}, "seed": 1, "loop": {pace}, "phases": []}}"#
        );
        wanted(&serde_json::from_str(&plan).expect("the test's JSON is well formed"), cores)
    }

    fn thinking(users: u32, think_s: i64, cores: u32) -> u32 {
        let think_ns = think_s * 1_000_000_000;
        wanted_for(users, &format!(r#"{{"mode": "closed", "think_ns": {think_ns}}}"#), cores)
    }

    #[test]
    fn few_users_have_one_thread_however_many_cores_there_are() {
        assert_eq!(thinking(35_000, 7, 64), 1);
        assert_eq!(thinking(500, 0, 64), 1, "who waits for replies only");
        assert_eq!(thinking(0, 7, 64), 1);
    }

    #[test]
    fn many_have_as_many_as_the_rate_asks_for_and_the_machine_has() {
        assert_eq!(thinking(200_000, 7, 64), 2);
        assert_eq!(thinking(1_000_000, 7, 64), 10);
        assert_eq!(thinking(1_000_000, 7, 2), 2);
        let open = r#"{"mode": "open", "rate_per_s": 40000, "arrivals": "poisson"}"#;
        assert_eq!(wanted_for(0, open, 64), 3);
    }
}
