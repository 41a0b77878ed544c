//! A job, as a request asks for it: `/<kernel>?size=...&threads=...&seed=...`.

use crate::kernel::{Entry, KERNELS, Outcome};
use std::fmt::Write;

/// More threads than that are a slip of the pen.
pub const MOST_THREADS: usize = 256;

/// One run of a kernel.
pub struct Job {
    kernel: &'static Entry,
    size: usize,
    threads: usize,
    seed: u64,
}

/// Why a request is no job.
#[derive(Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The reply's status.
    pub status: u16,
    /// A sentence.
    pub reason: String,
}

impl Job {
    /// Reads a request's target. `threads`: how many, where it does not say.
    pub fn read(target: &str, threads: usize) -> Result<Self, Refusal> {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let named = |kernel: &&Entry| path.strip_prefix('/') == Some(kernel.name);
        let Some(kernel) = KERNELS.iter().find(named) else {
            let names = KERNELS.map(|kernel| format!("/{}", kernel.name)).join(", ");
            return Err(Refusal { status: 404, reason: format!("The jobs are {names}.") });
        };
        let mut job = Self { kernel, size: kernel.usual_size, threads, seed: 1 };
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            job.set(pair.split_once('=').unwrap_or((pair, "")))?;
        }
        Ok(job)
    }

    fn set(&mut self, (name, value): (&str, &str)) -> Result<(), Refusal> {
        match name {
            "size" => self.size = whole(name, value, 1, self.kernel.most_size)?,
            "threads" => self.threads = whole(name, value, 1, MOST_THREADS)?,
            "seed" => self.seed = whole(name, value, 0, u32::MAX as usize)? as u64,
            _ => return Err(bad("A job has size, threads and seed.".into())),
        }
        Ok(())
    }

    /// Runs it to its end.
    pub fn run(&self) -> Outcome {
        (self.kernel.parallel)(self.size, self.seed, self.threads)
    }

    /// The reply's body, in JSON.
    pub fn told(&self, outcome: &Outcome) -> String {
        let mut text = String::new();
        let _ = writeln!(
            text,
            r#"{{"kernel": "{}", "size": {}, "unit": "{}", "threads": {}, "seed": {}, "checksum": "{:016x}", "input_ns": {}, "run_ns": {}}}"#,
            self.kernel.name,
            self.size,
            self.kernel.unit,
            self.threads,
            self.seed,
            outcome.checksum,
            outcome.input.as_nanos(),
            outcome.run.as_nanos(),
        );
        text
    }
}

fn whole(name: &str, value: &str, least: usize, most: usize) -> Result<usize, Refusal> {
    match value.parse() {
        Ok(found) if (least..=most).contains(&found) => Ok(found),
        _ => Err(bad(format!("{name} must be a whole number, {least} to {most}."))),
    }
}

fn bad(reason: String) -> Refusal {
    Refusal { status: 400, reason }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_is_as_asked_and_usual_in_what_is_left_open() {
        let job = Job::read("/barriers?seed=7&size=20", 3).ok().unwrap();
        assert_eq!((job.kernel.name, job.size, job.threads, job.seed), ("barriers", 20, 3, 7));
        let usual = Job::read("/many-locks", 2).ok().unwrap();
        assert_eq!((usual.size, usual.seed), (usual.kernel.usual_size, 1));
    }

    #[test]
    fn what_is_no_job_is_told() {
        let refused = |target: &str| Job::read(target, 1).err().map(|it| (it.status, it.reason));
        assert_eq!(refused("/ocean").unwrap().0, 404);
        assert!(refused("/").unwrap().1.contains("/data-parallel"));
        for query in ["size=0", "size=", "size=-1", "size=99999999999999999999", "threads=257"] {
            let (status, reason) = refused(&format!("/pipeline?{query}")).unwrap();
            let name = query.split('=').next().unwrap();
            assert!(status == 400 && reason.starts_with(name), "{reason}");
        }
        assert_eq!(refused("/pipeline?depth=3").unwrap().1, "A job has size, threads and seed.");
    }
}
