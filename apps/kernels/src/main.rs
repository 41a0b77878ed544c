//! The command line, and nothing else.

use anyhow::{Context, Result, bail, ensure};
use kernels::job::MOST_THREADS;
use kernels::server::{Plan, serve};
use kernels::speed_up;
use std::process::ExitCode;
use std::str::FromStr;

const USAGE: &str = "usage: tierlab-kernels serve ADDRESS:PORT WORKERS JOB_THREADS BACKLOG
       tierlab-kernels speed-up [SCALE [THREADS...]]
       tierlab-kernels --version";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match run(&words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("tierlab-kernels: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(words: &[&str]) -> Result<()> {
    match words {
        ["--version"] => println!("tierlab-kernels {}", env!("CARGO_PKG_VERSION")),
        ["serve", address, workers, job_threads, backlog] => serve(&Plan {
            address: value("ADDRESS:PORT", address)?,
            workers: whole("WORKERS", workers, 1000)?,
            job_threads: whole("JOB_THREADS", job_threads, MOST_THREADS)?,
            backlog: whole("BACKLOG", backlog, 65_535)? as i32,
        })?,
        ["speed-up", rest @ ..] => {
            let scale: f64 = rest.first().map_or(Ok(1.0), |scale| value("SCALE", scale))?;
            ensure!(scale > 0.0 && scale <= 100.0, "SCALE must be above 0 and at most 100");
            let counts = rest.get(1..).unwrap_or_default().iter();
            let threads: Vec<usize> =
                counts.map(|count| whole("THREADS", count, MOST_THREADS)).collect::<Result<_>>()?;
            speed_up::print(if threads.is_empty() { &[1, 2, 4, 8] } else { &threads }, scale);
        }
        _ => bail!("{USAGE}"),
    }
    Ok(())
}

fn value<T: FromStr>(name: &str, text: &str) -> Result<T>
where
    T::Err: std::error::Error + Send + Sync + 'static,
{
    text.parse().with_context(|| format!("{name} cannot be '{text}'"))
}

fn whole(name: &str, text: &str, most: usize) -> Result<usize> {
    let found = value(name, text)?;
    ensure!((1..=most).contains(&found), "{name} must be 1 to {most}, not {found}");
    Ok(found)
}
