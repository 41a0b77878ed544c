//! Tells this machine's clock to whoever asks, so that another machine's tables can be put on one
//! time axis with its own.
//!
//! A question is one byte over TCP; its answer is CLOCK_REALTIME in nanoseconds since the epoch, as
//! eight bytes, little end first. Who asks takes the time of the round trip, within which the answer
//! was given: the quickest of several bounds the difference of the two clocks best (D. L. Mills,
//! 1991, "Internet Time Synchronization", the minimum filter).

use anyhow::{Context, Result};
use serde_json::json;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use tierlab_record::clock::realtime_ns;
use tierlab_record::priority::{self, Role};
use tierlab_record::status::say;

/// Answers on `address`, one client at a time, until a signal ends the process.
pub fn tell(address: SocketAddr) -> Result<()> {
    let listener =
        TcpListener::bind(address).with_context(|| format!("cannot listen on {address}"))?;
    priority::take(Role::Observer);
    say(&json!({ "ready": true, "address": listener.local_addr()? }));
    loop {
        let (client, _) = listener.accept().context("cannot accept")?;
        // One that breaks off is no reason to end.
        let _ = answer(client);
    }
}

/// Until the client leaves.
fn answer(mut client: TcpStream) -> io::Result<()> {
    client.set_nodelay(true)?;
    let mut question = [0];
    while client.read(&mut question)? > 0 {
        client.write_all(&realtime_ns().to_le_bytes())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_lie_between_question_and_receipt() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("bound");
        let serving = std::thread::spawn(move || {
            let (client, _) = listener.accept().expect("a client");
            answer(client)
        });
        let mut asking = TcpStream::connect(address).expect("listening");
        for _ in 0..10 {
            let before = realtime_ns();
            asking.write_all(b"?").expect("connected");
            let mut told = [0; 8];
            asking.read_exact(&mut told).expect("answered");
            let told = i64::from_le_bytes(told);
            assert!(before <= told && told <= realtime_ns());
        }
        drop(asking);
        let ended = serving.join().expect("no panic");
        assert!(ended.is_ok(), "it ends with its client: {ended:?}");
    }
}
