//! A connection over which a server is asked for its statistics, and numbers by their names.

use crate::plan::CacheServer;
use crate::polls::PATIENCE;
use anyhow::{Context, Result, bail, ensure};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;

/// No line of statistics is longer, and no answer larger.
const LONGEST_LINE: u64 = 4 << 10;
pub const LARGEST: usize = 1 << 20;

/// Either kind of socket.
trait Stream: Read + Write + Send {}

impl Stream for UnixStream {}
impl Stream for TcpStream {}

/// An open connection.
pub struct Session(BufReader<Box<dyn Stream>>);

impl Session {
    /// Connects to the server's socket, or to its port.
    pub fn open(server: &CacheServer) -> Result<Self> {
        let stream: Box<dyn Stream> = match (&server.socket, server.address) {
            (Some(path), _) => {
                let stream = UnixStream::connect(path)
                    .with_context(|| format!("cannot connect to {}", path.display()))?;
                stream.set_read_timeout(Some(PATIENCE))?;
                stream.set_write_timeout(Some(PATIENCE))?;
                Box::new(stream)
            }
            (None, Some(address)) => {
                let stream = TcpStream::connect_timeout(&address, PATIENCE)
                    .with_context(|| format!("cannot connect to {address}"))?;
                stream.set_read_timeout(Some(PATIENCE))?;
                stream.set_write_timeout(Some(PATIENCE))?;
                stream.set_nodelay(true)?;
                Box::new(stream)
            }
            (None, None) => bail!("the plan names neither `socket` nor `address`"),
        };
        Ok(Self(BufReader::new(stream)))
    }

    /// Sends a question.
    pub fn send(&mut self, question: &[u8]) -> Result<()> {
        Ok(self.0.get_mut().write_all(question)?)
    }

    /// The next line of the answer, without its end.
    pub fn line(&mut self) -> Result<String> {
        let mut line = String::new();
        self.0.by_ref().take(LONGEST_LINE).read_line(&mut line)?;
        ensure!(line.ends_with('\n'), "the server closed the connection");
        line.truncate(line.trim_end_matches(['\r', '\n']).len());
        Ok(line)
    }

    /// So many bytes of the answer.
    pub fn text(&mut self, length: usize) -> Result<String> {
        ensure!(length <= LARGEST, "{length} bytes are no statistics");
        let mut text = vec![0; length];
        self.0.read_exact(&mut text)?;
        Ok(String::from_utf8(text)?)
    }
}

/// The numbers behind these names; none for what is not told or is no number.
#[derive(Debug, PartialEq, Eq)]
pub struct Numbers<const COUNT: usize> {
    names: &'static [&'static str; COUNT],
    values: [Option<u64>; COUNT],
}

impl<const COUNT: usize> Numbers<COUNT> {
    /// None is known yet.
    pub fn of(names: &'static [&'static str; COUNT]) -> Self {
        Self { names, values: [None; COUNT] }
    }

    /// Takes a name and what is behind it.
    pub fn take(&mut self, name: &str, value: &str) {
        if let Some(at) = self.names.iter().position(|known| *known == name) {
            self.values[at] = value.parse().ok();
        }
    }

    /// A counter.
    pub fn counter(&self, name: &str) -> Option<u64> {
        self.values[self.names.iter().position(|known| *known == name)?]
    }

    /// Something that goes up and down.
    pub fn level(&self, name: &str) -> Option<i64> {
        self.counter(name)?.try_into().ok()
    }

    /// The sum of counters, if all are known.
    pub fn sum(&self, names: &[&str]) -> Option<u64> {
        names.iter().map(|name| self.counter(name)).sum()
    }
}
