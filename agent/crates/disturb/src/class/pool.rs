//! Pool: a soft resource is used up. Threads of a web or application server are held by requests
//! that are never finished, a database's connections by clients that never finish their login, a
//! cache's by clients that say nothing; the connections of the application's database pool by its
//! launcher, through its control socket.

use crate::ajp;
use crate::crowd::{Crowd, END_OF_HEAD, Talk};
use crate::disturbance::{Disturbance, End};
use crate::fastcgi;
use crate::plan::Planned;
use crate::postgresql;
use anyhow::{Context, Result, bail, ensure};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddrV4, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tierlab_record::Stop;
use tierlab_record::clock::{realtime_ns, steady_ns};

/// Its keys.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Pool {
    resource: Resource,
    /// How many are held; as many as the server has, for all.
    hold: usize,
    /// Of `threads`: a page that takes a form (POST) and needs it before it can answer.
    #[serde(default = "root")]
    path: String,
    /// Of `threads`: whether a request takes one only once its head has come whole. Elsewhere a
    /// proxy would hand it on.
    #[serde(default)]
    whole_head: bool,
    /// Of `max_connections`: who seems to log in, where that has to be said before.
    #[serde(default)]
    user: String,
    /// And to which database.
    #[serde(default)]
    database: String,
}

/// What is used up.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
enum Resource {
    Threads,
    Pool,
    MaxConnections,
}

fn root() -> String {
    "/".to_owned()
}

/// The body that is announced and never comes.
const BODY_BYTES: usize = 1000;
/// How long the launcher may take to answer.
const PATIENCE: Duration = Duration::from_secs(10);

impl Pool {
    /// Opens what can be opened without using anything up.
    pub fn prepare(&self, planned: &Planned) -> Result<Box<dyn Disturbance>> {
        ensure!(self.hold > 0, "`hold` is 0; give how many are held");
        match self.resource {
            Resource::Threads => self.holding(planned),
            Resource::Pool => {
                let folder = planned.target.folder.as_deref();
                let folder = folder.context("`resource` \"pool\" needs the domain's `folder`")?;
                let launcher = Launcher::connect(&folder.join("soft.sock"))?;
                Ok(Box::new(Borrowed { launcher, count: self.hold }))
            }
            Resource::MaxConnections => {
                let greeting = match protocol(planned)? {
                    "mysql" | "redis" | "memcached" => Vec::new(),
                    "postgresql" => postgresql::startup(&self.user, &self.database),
                    other => bail!("`max_connections` are not held over '{other}'"),
                };
                let place = Place::of(planned)?;
                Ok(Box::new(Filled { place, greeting, count: self.hold, held: Vec::new() }))
            }
        }
    }

    fn holding(&self, planned: &Planned) -> Result<Box<dyn Disturbance>> {
        let target = listening(planned)?;
        let bytes = match protocol(planned)? {
            "ajp" => ajp::post(&self.path, *target.ip(), target.port(), BODY_BYTES)?,
            "fcgi" => fastcgi::announced(),
            "http" => self.post(target),
            other => bail!("`threads` are held over ajp, fcgi or http, not '{other}'"),
        };
        let crowd = Crowd::new(target, None, Talk::Hold(bytes), self.hold)?;
        Ok(Box::new(Holding { crowd, count: self.hold }))
    }

    /// Begins a POST over HTTP.
    fn post(&self, target: SocketAddrV4) -> Vec<u8> {
        let head = format!(
            "POST {} HTTP/1.1\r\nHost: {target}\r\n\
             Content-Type: application/x-www-form-urlencoded\r\n\
             Content-Length: {BODY_BYTES}\r\n",
            self.path
        );
        let end = if self.whole_head { END_OF_HEAD } else { b"" };
        [head.as_bytes(), end].concat()
    }
}

fn listening(planned: &Planned) -> Result<SocketAddrV4> {
    let address = planned.target.address.context("it needs the subject's `address`")?;
    let port = planned.target.port.context("it needs the subject's `port`")?;
    Ok(SocketAddrV4::new(address, port))
}

fn protocol(planned: &Planned) -> Result<&str> {
    planned.target.protocol.as_deref().context("it needs the subject's `protocol`")
}

/// Requests that are never finished: over FastCGI, and over HTTP where that is enough, not even their
/// head is.
struct Holding {
    crowd: Crowd,
    count: usize,
}

impl Disturbance for Holding {
    fn start(&mut self, until_ns: i64) -> Result<i64> {
        let start_ns = realtime_ns();
        self.crowd.come_in_waves(until_ns)?;
        Ok(start_ns)
    }

    /// Who is turned away comes again.
    fn keep_up(&mut self, until_ns: i64, stop: Stop) -> Result<()> {
        while !stop.asked() && steady_ns() < until_ns {
            self.crowd.attend(until_ns, true)?;
            self.crowd.insist()?;
        }
        Ok(())
    }

    fn end(&mut self) -> Result<End> {
        let requests = self.crowd.sent();
        self.crowd.leave();
        Ok(End::now(json!({ "connections": self.count, "requests": requests })))
    }
}

/// Where connections are opened: at the server's own socket where it has one, else at its port.
enum Place {
    Socket(PathBuf),
    Port(SocketAddrV4),
}

impl Place {
    fn of(planned: &Planned) -> Result<Self> {
        let Some(socket) = planned.target.socket.clone() else {
            return Ok(Self::Port(listening(planned)?));
        };
        ensure!(socket.exists(), "{} is not there", socket.display());
        Ok(Self::Socket(socket))
    }

    fn connect(&self) -> Result<Box<dyn Write + Send>> {
        Ok(match self {
            Self::Socket(path) => {
                let connected = UnixStream::connect(path);
                Box::new(
                    connected.with_context(|| format!("cannot connect to {}", path.display()))?,
                )
            }
            Self::Port(target) => {
                let connected = TcpStream::connect_timeout(&(*target).into(), PATIENCE);
                Box::new(connected.with_context(|| format!("cannot connect to {target}"))?)
            }
        })
    }
}

/// Connections to a database that never finish their login, or to a cache that says nothing. The server
/// hangs up after its `connect_timeout` (MariaDB), or `authentication_timeout` (PostgreSQL).
struct Filled {
    place: Place,
    /// What has to be said before a connection counts.
    greeting: Vec<u8>,
    count: usize,
    held: Vec<Box<dyn Write + Send>>,
}

impl Disturbance for Filled {
    fn start(&mut self, _until_ns: i64) -> Result<i64> {
        let start_ns = realtime_ns();
        for _ in 0..self.count {
            let mut connection = self.place.connect()?;
            // Whom a full server turned away already hears nothing more.
            let _ = connection.write_all(&self.greeting);
            self.held.push(connection);
        }
        Ok(start_ns)
    }

    fn end(&mut self) -> Result<End> {
        let connections = self.held.len();
        self.held.clear();
        Ok(End::now(json!({ "connections": connections })))
    }
}

/// Connections of the pool that the launcher uses for nothing. If our connection to it ends, it gives
/// them back.
struct Borrowed {
    launcher: Launcher,
    count: usize,
}

impl Disturbance for Borrowed {
    /// The launcher waits for those that requests use: until then they hold them up, not we.
    fn start(&mut self, until_ns: i64) -> Result<i64> {
        self.launcher.ask(&format!("hold pool {}", self.count))?;
        let start_ns = realtime_ns();
        ensure!(
            steady_ns() < until_ns,
            "the pool's connections were in use until the disturbance was to end"
        );
        Ok(start_ns)
    }

    fn end(&mut self) -> Result<End> {
        self.launcher.ask("hold pool 0")?;
        Ok(End::now(json!({ "connections": self.count })))
    }
}

/// The application's launcher: a line in, `ok <number>` or `error <sentence>` out.
struct Launcher(BufReader<UnixStream>);

impl Launcher {
    fn connect(socket: &Path) -> Result<Self> {
        let stream = UnixStream::connect(socket)
            .with_context(|| format!("cannot connect to the launcher at {}", socket.display()))?;
        stream.set_read_timeout(Some(PATIENCE))?;
        let mut launcher = Self(BufReader::new(stream));
        launcher.ask("get pool")?;
        Ok(launcher)
    }

    fn ask(&mut self, line: &str) -> Result<usize> {
        self.0.get_mut().write_all(format!("{line}\n").as_bytes())?;
        let mut answer = String::new();
        self.0.read_line(&mut answer).context("the launcher does not answer")?;
        let number = answer.trim().strip_prefix("ok ").and_then(|it| it.parse().ok());
        number.with_context(|| format!("the launcher says to '{line}': {}", answer.trim()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixListener;
    use std::thread;

    const MS: i64 = 1_000_000;
    const SLOW_MS: u64 = 60;

    /// What holding does at a launcher that gives the connections after `SLOW_MS`, and when.
    fn held_until(duration_ns: i64) -> (i64, Result<i64>) {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("soft.sock");
        let listener = UnixListener::bind(&socket).unwrap();
        let launcher = thread::spawn(move || {
            let mut client = BufReader::new(listener.accept().unwrap().0);
            for answer in ["ok 8\n", "ok 5\n"] {
                client.read_line(&mut String::new()).unwrap();
                thread::sleep(Duration::from_millis(SLOW_MS));
                client.get_mut().write_all(answer.as_bytes()).unwrap();
            }
        });
        let launched = Launcher::connect(&socket).unwrap();
        let asked_ns = realtime_ns();
        let started = Borrowed { launcher: launched, count: 5 }.start(asked_ns + duration_ns);
        launcher.join().unwrap();
        (asked_ns, started)
    }

    #[test]
    fn connections_are_held_from_the_launchers_answer_on() {
        let (asked_ns, started) = held_until(10_000 * MS);
        assert!(started.unwrap() - asked_ns >= SLOW_MS as i64 * MS);
    }

    #[test]
    fn connections_that_come_after_the_end_were_never_held() {
        let error = held_until(MS).1.unwrap_err().to_string();
        assert!(error.contains("in use"), "{error}");
    }
}
