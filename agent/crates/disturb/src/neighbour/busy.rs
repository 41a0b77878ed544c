//! Busy threads on stated PUs.

use super::{Job, Worked};
use crate::moment::sleep_until;
use anyhow::{Result, anyhow};
use serde::{Deserialize, Serialize};
use serde_json::Map;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use tierlab_record::clock::{process_cpu_ns, realtime_ns, steady_ns};
use tierlab_record::held;

/// How many threads, where, and in which pattern.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Busy {
    /// How many.
    pub threads: usize,
    /// Thread `k` is bound to PU `k` of these, round; empty: wherever the domain may run.
    pub pus: Vec<usize>,
    /// Which of them run when.
    pub pattern: Pattern,
}

/// Which threads run when.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Pattern {
    /// All, all the time.
    Steady,
    /// All in one period, half of them in the next: "two threads or four threads alternatively".
    Alternating {
        /// The length of a period.
        period_ns: i64,
    },
}

impl Pattern {
    /// Until when thread `place` of `threads` runs (true) or rests (false), at a time after the
    /// start. `i64::MAX` for ever.
    fn turn(self, place: usize, threads: usize, since_start_ns: i64) -> (bool, i64) {
        match self {
            Self::Alternating { period_ns } if place >= threads.div_ceil(2) => {
                let period = since_start_ns / period_ns;
                (period % 2 == 0, (period + 1) * period_ns)
            }
            _ => (true, i64::MAX),
        }
    }
}

/// What the threads share.
#[derive(Default)]
struct Shared {
    /// From when until when.
    word: Mutex<Option<(i64, i64)>>,
    told: Condvar,
    /// When the first of them got a PU.
    began_ns: Mutex<Option<i64>>,
    begun: Condvar,
}

/// Threads that wait for the word.
pub struct Threads {
    shared: Arc<Shared>,
    /// Each returns when it left its PU.
    threads: Vec<JoinHandle<i64>>,
}

impl Busy {
    /// Makes the threads.
    pub fn prepare(&self) -> Threads {
        let shared = Arc::<Shared>::default();
        let threads = (0..self.threads)
            .map(|place| {
                let (busy, shared) = (self.clone(), shared.clone());
                thread::spawn(move || busy.run(place, &shared))
            })
            .collect();
        Threads { shared, threads }
    }

    fn run(&self, place: usize, shared: &Shared) -> i64 {
        if !self.pus.is_empty() {
            bind(self.pus[place % self.pus.len()]);
        }
        let (from_ns, until_ns) = wait_for(&shared.word, &shared.told);
        held(&shared.began_ns).get_or_insert_with(realtime_ns);
        shared.begun.notify_one();
        let mut now_ns = steady_ns();
        while now_ns < until_ns {
            let (runs, turn_ns) = self.pattern.turn(place, self.threads, now_ns - from_ns);
            let turn_ends_ns = from_ns.saturating_add(turn_ns).min(until_ns);
            if runs {
                spin_until(turn_ends_ns)
            } else {
                sleep_until(turn_ends_ns)
            }
            now_ns = steady_ns();
        }
        realtime_ns()
    }
}

/// Waits until there is a value.
fn wait_for<T: Copy>(value: &Mutex<Option<T>>, told: &Condvar) -> T {
    let mut guard = held(value);
    loop {
        if let Some(value) = *guard {
            return value;
        }
        guard = told.wait(guard).unwrap_or_else(PoisonError::into_inner);
    }
}

impl Job for Threads {
    fn work(&mut self, until_ns: i64, began: &mut dyn FnMut(i64)) -> Result<Worked> {
        let before_ns = process_cpu_ns();
        *held(&self.shared.word) = Some((steady_ns(), until_ns));
        self.shared.told.notify_all();
        began(wait_for(&self.shared.began_ns, &self.shared.begun));
        let mut ended_ns = 0;
        for thread in self.threads.drain(..) {
            ended_ns = ended_ns.max(thread.join().map_err(|_| anyhow!("a busy thread panicked"))?);
        }
        let cpu_ns = process_cpu_ns() - before_ns;
        Ok(Worked { ended_ns, effect: Map::from_iter([("cpu_ns".to_owned(), cpu_ns.into())]) })
    }
}

fn spin_until(at_ns: i64) {
    while steady_ns() < at_ns {
        for _ in 0..1000 {
            std::hint::spin_loop();
        }
    }
}

/// Binds the calling thread to a PU. A PU that the domain has not is no error: it stays where the
/// domain is.
fn bind(pu: usize) {
    // SAFETY: the set is a local, valid when all zeroes; on Linux 0 is the calling thread.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(pu, &mut set);
        libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &raw const set);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_the_threads_rest_in_every_second_period() {
        let pattern = Pattern::Alternating { period_ns: 100 };
        let running = |at: i64| (0..4).filter(|k| pattern.turn(*k, 4, at).0).count();
        assert_eq!([0, 99, 100, 199, 200].map(running), [4, 4, 2, 2, 4]);
        assert_eq!(pattern.turn(3, 4, 150), (false, 200));
        assert!(Pattern::Steady.turn(3, 4, 150).0);
    }
}
