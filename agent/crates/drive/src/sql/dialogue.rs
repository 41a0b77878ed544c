//! One statement and its answer; on a new connection, the login before it.

use crate::answer::Progress;
use crate::failure::Failure;
use crate::reply::ReplyError;
use crate::sql::cancel::Key;
use crate::sql::login::Login;
use crate::sql::messages::Messages;
use bytes::BytesMut;
use fallible_iterator::FallibleIterator;
use postgres_protocol::authentication::sasl::{ChannelBinding, SCRAM_SHA_256, ScramSha256};
use postgres_protocol::message::backend::{ErrorResponseBody, Message};
use postgres_protocol::message::frontend;
use std::io;
use std::sync::Arc;

/// The field of an error that has its code (SQLSTATE).
const CODE: u8 = b'C';
/// The code of an error that has none.
const UNKNOWN: [u8; 5] = *b"XX000";

/// A statement and its answer.
pub struct Dialogue {
    login: Arc<Login>,
    turn: Turn,
    messages: Messages,
    received: u64,
    error: Option<[u8; 5]>,
    key: Option<Key>,
    persistent: bool,
}

/// What is said next, or was said last.
enum Turn {
    /// Who comes, and to which database.
    StartUp,
    /// A step of the proof of the password.
    Proof(Box<ScramSha256>, BytesMut),
    /// The statement.
    Statement,
}

impl Dialogue {
    /// `known`: the connection is logged in already.
    pub fn new(login: Arc<Login>, known: bool) -> Self {
        Self {
            login,
            turn: if known { Turn::Statement } else { Turn::StartUp },
            messages: Messages::default(),
            received: 0,
            error: None,
            key: None,
            persistent: true,
        }
    }

    /// Writes what is said now into `text`, which it empties first. An `id` is a comment before the
    /// statement.
    pub fn write(&self, statement: &[u8], id: Option<u64>, text: &mut Vec<u8>) {
        let mut bytes = BytesMut::new();
        // It fails for a text with a zero byte in it, which is checked when plan and workload are read.
        let _ = match &self.turn {
            Turn::StartUp => {
                let login = &*self.login;
                let said = [("user", login.user.as_str()), ("database", login.database.as_str())];
                frontend::startup_message(said, &mut bytes)
            }
            Turn::Proof(_, said) => {
                bytes.extend_from_slice(said);
                Ok(())
            }
            Turn::Statement => {
                let statement = String::from_utf8_lossy(statement);
                let comment = id.map(|id| format!("/*rid={id:016x}*/ ")).unwrap_or_default();
                frontend::query(&format!("{comment}{statement}"), &mut bytes)
            }
        };
        text.clear();
        text.extend_from_slice(&bytes);
    }

    /// Takes the next bytes.
    pub fn feed(&mut self, bytes: &[u8]) -> Result<Progress, Failure> {
        self.received += bytes.len() as u64;
        let mut rest = bytes;
        while let Some((message, after)) = self.messages.next(rest)? {
            rest = after;
            match self.answered(&message)? {
                Progress::More => {}
                progress => {
                    // Bytes after its turn: the connection is out of step.
                    self.persistent &= rest.is_empty();
                    return Ok(progress);
                }
            }
        }
        Ok(Progress::More)
    }

    fn answered(&mut self, message: &Message) -> Result<Progress, Failure> {
        match (message, &mut self.turn) {
            (Message::AuthenticationOk, Turn::StartUp | Turn::Proof(..)) => Ok(Progress::More),
            (Message::AuthenticationSasl(_), Turn::StartUp) => {
                let (password, unbound) =
                    (self.login.password.as_bytes(), ChannelBinding::unsupported());
                let scram = ScramSha256::new(password, unbound);
                let mut said = BytesMut::new();
                frontend::sasl_initial_response(SCRAM_SHA_256, scram.message(), &mut said)
                    .map_err(malformed)?;
                self.turn = Turn::Proof(Box::new(scram), said);
                Ok(Progress::Send)
            }
            (Message::AuthenticationSaslContinue(body), Turn::Proof(scram, said)) => {
                scram.update(body.data()).map_err(malformed)?;
                said.clear();
                frontend::sasl_response(scram.message(), said).map_err(malformed)?;
                Ok(Progress::Send)
            }
            (Message::AuthenticationSaslFinal(body), Turn::Proof(scram, _)) => {
                scram.finish(body.data()).map_err(malformed)?;
                Ok(Progress::More)
            }
            (Message::BackendKeyData(body), Turn::StartUp | Turn::Proof(..)) => {
                self.key = Some(Key { process: body.process_id(), secret: body.secret_key() });
                Ok(Progress::More)
            }
            (Message::ErrorResponse(body), turn) => {
                self.error = Some(code(body));
                // Whom it does not let in it hangs up on.
                let goes_on = matches!(turn, Turn::Statement);
                self.persistent = goes_on;
                Ok(if goes_on { Progress::More } else { Progress::Complete })
            }
            (Message::ReadyForQuery(_), Turn::Statement) => Ok(Progress::Complete),
            (Message::ReadyForQuery(_), turn) => {
                *turn = Turn::Statement;
                Ok(Progress::Send)
            }
            // Another proof than SCRAM's, or a copy, for which there are no data.
            _ => Err(ReplyError::Malformed.into()),
        }
    }

    /// The connection has ended. Ok when that was said before.
    pub fn end(&mut self) -> Result<(), Failure> {
        self.persistent = false;
        match self.error {
            Some(_) => Ok(()),
            None if self.received == 0 => Err(ReplyError::Empty.into()),
            None => Err(ReplyError::Truncated.into()),
        }
    }

    /// Bytes received so far, those of the login included.
    pub fn received(&self) -> u64 {
        self.received
    }

    /// Rows of the result so far.
    pub fn rows(&self) -> u64 {
        self.messages.rows
    }

    /// What cancels statements of the connection, once its login has told.
    pub fn key(&self) -> Option<Key> {
        self.key
    }

    /// Whether another statement may follow.
    pub fn persistent(&self) -> bool {
        self.persistent
    }

    /// The error that the server told, if any.
    pub fn failure(&self) -> Option<Failure> {
        self.error.map(Failure::Sql)
    }
}

fn malformed(_: io::Error) -> Failure {
    ReplyError::Malformed.into()
}

fn code(error: &ErrorResponseBody) -> [u8; 5] {
    let found = error.fields().find(|field| Ok(field.type_() == CODE));
    let code = found.ok().flatten().map(|field| field.value_bytes().to_vec());
    let code = code.and_then(|code| <[u8; 5]>::try_from(code).ok());
    code.filter(|code| code.iter().all(u8::is_ascii_alphanumeric)).unwrap_or(UNKNOWN)
}

#[cfg(test)]
mod tests;
