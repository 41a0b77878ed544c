//! The command line of the agent, and nothing else.

use clap::{Args, Parser, Subcommand};
use std::io::Write;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use tierlab_disturb::{keeper, neighbour};

/// What touches a machine under test: drives users, samples, captures messages, links visits.
#[derive(Parser)]
#[command(name = "tierlab-agent", version)]
struct Cli {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Args)]
struct Planned {
    /// What to do, as JSON.
    #[arg(long)]
    plan: PathBuf,
    /// The folder for the tables; it must exist.
    #[arg(long)]
    out: PathBuf,
}

#[derive(Subcommand)]
enum Verb {
    /// Drive users against a system.
    Drive(Planned),
    /// Sample every resource at a fixed interval.
    Sample(Planned),
    /// Capture messages live and write visits.
    Capture(Planned),
    /// Read a pcap or pcapng file and write visits.
    Dissect(Planned),
    /// See which programs call which, and by what protocol.
    Calls(Planned),
    /// Trace which thread reads and writes what, and what it waits for.
    Trace(Planned),
    /// Link raw visits to their parents.
    Link(Planned),
    /// Disturb servers at stated times and write down what was done.
    Disturb(Planned),
    /// Tell this machine's clock to whoever asks.
    Clock {
        /// Where to listen, such as 10.0.4.1:9.
        #[arg(long)]
        listen: SocketAddr,
    },
    /// Be another job in a server's domain (started by `disturb`).
    #[command(hide = true)]
    Neighbour,
    /// Undo what a killed `disturb` left (started by it).
    #[command(hide = true)]
    Keep,
    /// Print every table's columns as JSON.
    Schema,
}

/// An agent that a trial started ends with it: when the trial is killed, its agents finish their
/// tables and leave, rather than fill the disk until someone cleans up.
fn end_with_the_trial() {
    if std::env::var_os("TIERLAB_LEDGER").is_some() {
        // SAFETY: PR_SET_PDEATHSIG takes a signal number and touches no memory.
        unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGINT) };
    }
}

fn main() -> ExitCode {
    end_with_the_trial();
    let done = match Cli::parse().verb {
        Verb::Drive(it) => tierlab_drive::run(&it.plan, &it.out),
        Verb::Sample(it) => tierlab_sample::run(&it.plan, &it.out),
        Verb::Capture(it) => tierlab_capture::run_live(&it.plan, &it.out),
        Verb::Dissect(it) => tierlab_capture::run_file(&it.plan, &it.out),
        Verb::Calls(it) => tierlab_capture::run_calls(&it.plan),
        Verb::Trace(it) => tierlab_trace::run(&it.plan, &it.out),
        Verb::Link(it) => tierlab_link::run(&it.plan, &it.out),
        Verb::Disturb(it) => tierlab_disturb::run(&it.plan, &it.out),
        Verb::Clock { listen } => tierlab_clock::tell(listen),
        Verb::Neighbour => neighbour::live(std::io::stdin().lock(), std::io::stdout()),
        Verb::Keep => keeper::keep(std::io::stdin().lock()),
        Verb::Schema => print_schema(),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Not eprintln!, which panics when the log's disk is full.
            let _ = writeln!(std::io::stderr(), "tierlab-agent: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn print_schema() -> anyhow::Result<()> {
    let tables: serde_json::Map<String, serde_json::Value> = tierlab_record::tables::all()
        .into_iter()
        .map(|(name, schema)| {
            let columns: serde_json::Map<_, _> = schema
                .fields()
                .iter()
                .map(|field| {
                    let kind = format!(
                        "{}{}",
                        field.data_type(),
                        if field.is_nullable() { "?" } else { "" }
                    );
                    (field.name().clone(), kind.into())
                })
                .collect();
            (name.to_owned(), columns.into())
        })
        .collect();
    println!("{}", serde_json::to_string_pretty(&tables)?);
    Ok(())
}
