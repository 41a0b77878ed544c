//! Runs jobs that are asked for over HTTP/1.1: a thread for each connection, as many as there are
//! workers, so that no more jobs run at once. Each job has threads of its own.

use crate::head::Head;
use crate::job::{Job, Refusal};
use anyhow::{Context, Result};
use socket2::{Domain, Protocol, Socket, Type};
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread::scope;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// A client that sends nothing for so long is hung up on.
const PATIENCE: Duration = Duration::from_secs(60);

/// How to serve.
pub struct Plan {
    /// Where to listen.
    pub address: SocketAddr,
    /// Jobs worked on at once.
    pub workers: usize,
    /// Threads of a job that does not say how many.
    pub job_threads: usize,
    /// Connections that may wait to be accepted.
    pub backlog: i32,
}

/// Serves until the process ends; standard output has a line a request: when it ended (ns since the
/// epoch), how long it took (ns), its id, the status, and what was asked for.
pub fn serve(plan: &Plan) -> Result<()> {
    let listener = listen(plan).with_context(|| format!("cannot listen at {}", plan.address))?;
    scope(|workers| {
        for _ in 0..plan.workers {
            workers.spawn(|| work(&listener, plan));
        }
    });
    Ok(())
}

fn listen(plan: &Plan) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(plan.address), Type::STREAM, Some(Protocol::TCP))?;
    socket.set_reuse_address(true)?;
    socket.bind(&plan.address.into())?;
    socket.listen(plan.backlog)?;
    Ok(socket.into())
}

fn work(listener: &TcpListener, plan: &Plan) {
    loop {
        match listener.accept() {
            // Who hangs up is none of the server's troubles.
            Ok((mut client, _)) => drop(attend(&mut client, plan)),
            Err(error) => {
                eprintln!("tierlab-kernels: cannot accept a connection: {error}");
                std::thread::sleep(Duration::from_millis(10));
            }
        }
    }
}

/// Answers a connection's requests, one after the other.
fn attend(client: &mut TcpStream, plan: &Plan) -> io::Result<()> {
    client.set_read_timeout(Some(PATIENCE))?;
    client.set_write_timeout(Some(PATIENCE))?;
    client.set_nodelay(true)?;
    let mut received = Vec::new();
    loop {
        let head = match await_head(client, &mut received)? {
            Awaited::Head(head) => head,
            Awaited::Malformed => {
                let refusal = bad("This is no HTTP request.");
                return reply(client, refusal.status, &refusal.reason, false);
            }
            Awaited::End => return Ok(()),
        };
        received.drain(..head.length);
        // A body is not read: what follows it could not be told from it.
        let goes_on = head.persistent && !head.has_body;
        let began = Instant::now();
        let (status, body) = match answer(&head, plan) {
            Ok(body) => (200, body),
            Err(refusal) => (refusal.status, refusal.reason + "\n"),
        };
        reply(client, status, &body, goes_on)?;
        note(&head, status, began);
        if !goes_on {
            return Ok(());
        }
    }
}

enum Awaited {
    Head(Head),
    Malformed,
    End,
}

/// Reads until a head is whole; `received` keeps what follows it.
fn await_head(client: &mut TcpStream, received: &mut Vec<u8>) -> io::Result<Awaited> {
    let mut buffer = [0; 4 << 10];
    loop {
        match Head::parse(received) {
            Ok(Some(head)) => return Ok(Awaited::Head(head)),
            Ok(None) => {}
            Err(_) => return Ok(Awaited::Malformed),
        }
        match client.read(&mut buffer)? {
            0 => return Ok(Awaited::End),
            count => received.extend_from_slice(&buffer[..count]),
        }
    }
}

fn answer(head: &Head, plan: &Plan) -> Result<String, Refusal> {
    if head.has_body {
        return Err(bad("A job has no body."));
    }
    match (head.method.as_str(), head.target.as_str()) {
        ("GET", "/") => Ok("Ready for jobs.\n".into()),
        ("GET", target) => {
            let job = Job::read(target, plan.job_threads)?;
            let outcome = job.run();
            Ok(job.told(&outcome))
        }
        _ => Err(Refusal { status: 405, reason: "A job is asked for by GET.".into() }),
    }
}

fn bad(reason: &str) -> Refusal {
    Refusal { status: 400, reason: reason.into() }
}

fn reply(client: &mut TcpStream, status: u16, body: &str, goes_on: bool) -> io::Result<()> {
    let reason = match status {
        200 => "OK",
        404 => "Not Found",
        405 => "Method Not Allowed",
        _ => "Bad Request",
    };
    let kind = if body.starts_with('{') { "application/json" } else { "text/plain" };
    let connection = if goes_on { "keep-alive" } else { "close" };
    let length = body.len();
    client.write_all(
        format!(
            "HTTP/1.1 {status} {reason}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n\
             Connection: {connection}\r\n\r\n{body}"
        )
        .as_bytes(),
    )
}

fn note(head: &Head, status: u16, began: Instant) {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let (end, took) = (now.as_nanos(), began.elapsed().as_nanos());
    let id = head.request_id.as_deref().unwrap_or("-");
    // A reader that is gone does not keep it from work.
    let _ =
        writeln!(io::stdout().lock(), "{end} {took} {id} {status} {} {}", head.method, head.target);
}
