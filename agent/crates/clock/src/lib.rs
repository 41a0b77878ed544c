//! Tells this machine's clock to whoever asks, so that another machine's tables can be put on one
//! time axis with its own.
//!
//! A question is one byte over TCP; its answer is CLOCK_REALTIME in nanoseconds since the epoch, as
//! eight bytes, little end first. Who asks takes the time of the round trip, within which the answer
//! was given: the quickest of several bounds the difference of the two clocks best (D. L. Mills,
//! 1991, "Internet Time Synchronization", the minimum filter).

use anyhow::{Context, Result};
use serde_json::json;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::thread::JoinHandle;
use std::time::Duration;
use tierlab_record::clock::realtime_ns;
use tierlab_record::priority::{self, Role};
use tierlab_record::status::say;

/// So many clients are answered at once. One more takes the place of the one that came first.
const MOST_CLIENTS: usize = 32;
/// A client that asks nothing for so long, or takes no answer, has to leave.
const PATIENCE: Duration = Duration::from_secs(10);

/// Answers on `address` until a signal ends the process.
pub fn tell(address: SocketAddr) -> Result<()> {
    let listener =
        TcpListener::bind(address).with_context(|| format!("cannot listen on {address}"))?;
    priority::take(Role::Observer);
    say(&json!({ "ready": true, "address": listener.local_addr()? }));
    serve(&listener, PATIENCE)
}

/// A client that is being answered.
struct Client {
    link: TcpStream,
    thread: JoinHandle<()>,
}

/// Answers every client on a thread of its own: nobody waits for one that is silent.
fn serve(listener: &TcpListener, patience: Duration) -> Result<()> {
    let mut clients: Vec<Client> = Vec::new();
    loop {
        let link = match listener.accept() {
            Ok((link, _)) => link,
            // A client that broke off before it was taken is no reason to end.
            Err(error) if is_of_the_client(&error) => continue,
            Err(error) => return Err(error).context("cannot accept"),
        };
        clients.retain(|client| !client.thread.is_finished());
        if clients.len() >= MOST_CLIENTS {
            // Its thread then ends at once.
            let _ = clients.remove(0).link.shutdown(Shutdown::Both);
        }
        // A client that cannot be answered has to ask again.
        clients.extend(start(link, patience).ok());
    }
}

fn is_of_the_client(error: &io::Error) -> bool {
    use ErrorKind::{ConnectionAborted, ConnectionReset, Interrupted};
    matches!(error.kind(), ConnectionAborted | ConnectionReset | Interrupted)
}

fn start(link: TcpStream, patience: Duration) -> io::Result<Client> {
    link.set_nodelay(true)?;
    link.set_read_timeout(Some(patience))?;
    link.set_write_timeout(Some(patience))?;
    let mut its = link.try_clone()?;
    let thread = std::thread::Builder::new().name("clock".into()).spawn(move || {
        priority::take(Role::Observer);
        // One that breaks off is no reason to end.
        let _ = answer(&mut its);
        let _ = its.shutdown(Shutdown::Both);
    })?;
    Ok(Client { link, thread })
}

/// Until the client leaves.
fn answer(client: &mut TcpStream) -> io::Result<()> {
    let mut question = [0];
    while client.read(&mut question)? > 0 {
        client.write_all(&realtime_ns().to_le_bytes())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    /// A server with this patience. It lives as long as the test process.
    fn server(patience: Duration) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("bound");
        std::thread::spawn(move || serve(&listener, patience));
        address
    }

    fn connect(address: SocketAddr) -> TcpStream {
        let client = TcpStream::connect(address).expect("listening");
        client.set_read_timeout(Some(Duration::from_secs(5))).expect("a time above 0");
        client
    }

    fn ask(client: &mut TcpStream) -> io::Result<i64> {
        client.write_all(b"?")?;
        let mut answer = [0; 8];
        client.read_exact(&mut answer)?;
        Ok(i64::from_le_bytes(answer))
    }

    fn is_answered(address: SocketAddr) {
        let began = Instant::now();
        ask(&mut connect(address)).expect("an answer");
        assert!(began.elapsed() < Duration::from_secs(1), "it took {:?}", began.elapsed());
    }

    #[test]
    fn answers_lie_between_question_and_receipt() {
        let mut client = connect(server(PATIENCE));
        for _ in 0..10 {
            let before = realtime_ns();
            let answer = ask(&mut client).expect("connected");
            assert!(before <= answer && answer <= realtime_ns());
        }
    }

    #[test]
    fn nobody_waits_for_clients_that_say_nothing() {
        let address = server(PATIENCE);
        let mut silent: Vec<TcpStream> = Vec::new();
        for _ in 0..MOST_CLIENTS + 5 {
            silent.push(connect(address));
            is_answered(address);
        }
        ask(silent.last_mut().expect("there is one")).expect("the last has a place");
        assert!(ask(&mut silent[0]).is_err(), "the first has made room");
    }

    #[test]
    fn nobody_waits_for_a_client_that_reads_nothing() {
        let address = server(PATIENCE);
        let mut deaf = connect(address);
        deaf.set_write_timeout(Some(Duration::from_millis(200))).expect("a time above 0");
        // The server takes no further question once the answers have nowhere to go.
        while deaf.write_all(&[b'?'; 4096]).is_ok() {}
        is_answered(address);
    }

    #[test]
    fn a_silent_client_has_to_leave() {
        let mut silent = connect(server(Duration::from_millis(100)));
        assert_eq!(silent.read(&mut [0]).expect("it is closed in order"), 0);
    }
}
