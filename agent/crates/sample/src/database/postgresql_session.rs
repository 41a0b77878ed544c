//! A session with PostgreSQL that runs one prepared statement over and over.
//!
//! The protocol's messages are the crate `postgres-protocol`'s; a client with all that belongs to one
//! brings an asynchronous runtime for each of its connections.
//! Source: PostgreSQL's documentation, "Frontend/Backend Protocol", "Message Flow".

use crate::polls::PATIENCE;
use anyhow::{Context, Result, anyhow, bail};
use bytes::BytesMut;
use fallible_iterator::FallibleIterator;
use postgres_protocol::IsNull;
use postgres_protocol::authentication::md5_hash;
use postgres_protocol::authentication::sasl::{ChannelBinding, SCRAM_SHA_256, ScramSha256};
use postgres_protocol::message::backend::{DataRowBody, ErrorResponseBody, Message};
use postgres_protocol::message::frontend;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;

const STATEMENT: &str = "poll";

/// A session whose statement is prepared.
pub struct Session {
    stream: UnixStream,
    received: BytesMut,
    /// The messages that run the statement.
    question: BytesMut,
    /// The server's, as in 17.2: 17. It says so itself, once it has let us in.
    major_version: u32,
}

impl Session {
    /// Logs in by password, or without where none is asked for, and prepares the statement for a
    /// server of this major version.
    pub fn open(
        socket: &Path,
        user: &str,
        password: &str,
        database: &str,
        statement: impl FnOnce(u32) -> String,
    ) -> Result<Self> {
        let stream = UnixStream::connect(socket)
            .with_context(|| format!("cannot connect to {}", socket.display()))?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        let (received, question) = (BytesMut::new(), BytesMut::new());
        let mut session = Self { stream, received, question, major_version: 0 };
        let said = [("user", user), ("database", database), ("client_encoding", "UTF8")];
        session.send(|out| Ok(frontend::startup_message(said, out)?))?;
        session.log_in(user, password)?;
        session.until_ready()?;
        let statement = statement(session.major_version);
        session.send(|out| {
            frontend::parse(STATEMENT, &statement, [], out)?;
            frontend::sync(out);
            Ok(())
        })?;
        session.until_ready()?;
        session.question = question_of(STATEMENT)?;
        Ok(session)
    }

    /// Runs the statement; its one row's numbers, None where they are null.
    pub fn numbers<const COLUMNS: usize>(&mut self) -> Result<[Option<i64>; COLUMNS]> {
        self.stream.write_all(&self.question)?;
        let row = self.until_ready()?.context("the statement had no row")?;
        let mut cells = row.ranges();
        let mut numbers = [None; COLUMNS];
        for number in &mut numbers {
            let cell = cells.next()?.context("the row has too few columns")?;
            let text = cell.map(|at| std::str::from_utf8(&row.buffer()[at])).transpose()?;
            *number = text.map(str::parse).transpose()?;
        }
        Ok(numbers)
    }

    fn log_in(&mut self, user: &str, password: &str) -> Result<()> {
        match self.message()? {
            Message::AuthenticationOk => Ok(()),
            // What servers before 14 ask for, unless they are told otherwise.
            Message::AuthenticationMd5Password(asked) => {
                let hash = md5_hash(user.as_bytes(), password.as_bytes(), asked.salt());
                self.send(|out| Ok(frontend::password_message(hash.as_bytes(), out)?))?;
                match self.message()? {
                    Message::AuthenticationOk => Ok(()),
                    Message::ErrorResponse(error) => Err(sentence(&error)),
                    _ => bail!("the server answers a login with something else"),
                }
            }
            Message::AuthenticationSasl(offered) => {
                let mut offered = offered.mechanisms();
                while let Some(mechanism) = offered.next()? {
                    if mechanism == SCRAM_SHA_256 {
                        return self.scram(password);
                    }
                }
                bail!("the server offers no login by {SCRAM_SHA_256}")
            }
            Message::ErrorResponse(error) => Err(sentence(&error)),
            _ => bail!("the server asks for a login by neither {SCRAM_SHA_256}, MD5 nor trust"),
        }
    }

    fn scram(&mut self, password: &str) -> Result<()> {
        let mut scram = ScramSha256::new(password.as_bytes(), ChannelBinding::unsupported());
        let first = scram.message().to_owned();
        self.send(|out| Ok(frontend::sasl_initial_response(SCRAM_SHA_256, &first, out)?))?;
        loop {
            match self.message()? {
                Message::AuthenticationSaslContinue(challenge) => {
                    scram.update(challenge.data())?;
                    let proof = scram.message().to_owned();
                    self.send(|out| Ok(frontend::sasl_response(&proof, out)?))?;
                }
                Message::AuthenticationSaslFinal(end) => scram.finish(end.data())?,
                Message::AuthenticationOk => return Ok(()),
                Message::ErrorResponse(error) => return Err(sentence(&error)),
                _ => bail!("the server answers a login with something else"),
            }
        }
    }

    fn send(&mut self, write: impl FnOnce(&mut BytesMut) -> Result<()>) -> Result<()> {
        let mut out = BytesMut::new();
        write(&mut out)?;
        Ok(self.stream.write_all(&out)?)
    }

    /// Reads until the server waits for the next question; the last row that came, if any.
    fn until_ready(&mut self) -> Result<Option<DataRowBody>> {
        let mut row = None;
        loop {
            match self.message()? {
                Message::ReadyForQuery(_) => return Ok(row),
                Message::DataRow(body) => row = Some(body),
                Message::ParameterStatus(said) if said.name()? == "server_version" => {
                    self.major_version = major(said.value()?);
                }
                Message::ErrorResponse(error) => return Err(sentence(&error)),
                _ => {}
            }
        }
    }

    fn message(&mut self) -> Result<Message> {
        loop {
            if let Some(message) = Message::parse(&mut self.received)? {
                return Ok(message);
            }
            let mut buffer = [0; 4096];
            match self.stream.read(&mut buffer)? {
                0 => bail!("the server ended the session"),
                count => self.received.extend_from_slice(&buffer[..count]),
            }
        }
    }
}

/// The first number of a version such as `17.2 (Debian 17.2-1)` or `18beta1`.
fn major(version: &str) -> u32 {
    let end = version.find(|c: char| !c.is_ascii_digit()).unwrap_or(version.len());
    version[..end].parse().unwrap_or(0)
}

/// Binds, executes and synchronises: always the same bytes.
fn question_of(statement: &str) -> Result<BytesMut> {
    let mut out = BytesMut::new();
    let nothing = |(): (), _: &mut BytesMut| Ok(IsNull::Yes);
    frontend::bind("", statement, [], [], nothing, [], &mut out)
        .map_err(|_| anyhow!("the question is too long"))?;
    frontend::execute("", 0, &mut out)?;
    frontend::sync(&mut out);
    Ok(out)
}

/// What the server says was wrong.
fn sentence(error: &ErrorResponseBody) -> anyhow::Error {
    let mut fields = error.fields();
    while let Ok(Some(field)) = fields.next() {
        if field.type_() == b'M' {
            return anyhow!("{}", String::from_utf8_lossy(field.value_bytes()));
        }
    }
    anyhow!("the server refuses without saying why")
}
