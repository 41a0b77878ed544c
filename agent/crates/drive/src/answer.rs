//! What comes back in an exchange, by the protocol that is spoken.

use crate::failure::Failure;
use crate::reply::Reply;
use crate::sql::{Dialogue, Key};

/// An answer on its way.
pub enum Answer {
    /// A reply of HTTP's.
    Http(Reply),
    /// What a database says to a statement, and before it to whom it does not know yet.
    Sql(Box<Dialogue>),
}

/// How far an answer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// More is to come.
    More,
    /// It is the driver's turn again.
    Send,
    /// It is complete.
    Complete,
}

impl Default for Answer {
    fn default() -> Self {
        Self::Http(Reply::default())
    }
}

impl Answer {
    /// Takes the next bytes.
    pub fn feed(&mut self, bytes: &[u8]) -> Result<Progress, Failure> {
        match self {
            Self::Http(reply) => match reply.feed(bytes)? {
                true => Ok(Progress::Complete),
                false => Ok(Progress::More),
            },
            Self::Sql(dialogue) => dialogue.feed(bytes),
        }
    }

    /// The connection has ended. Ok when that completes the answer.
    pub fn end(&mut self) -> Result<(), Failure> {
        match self {
            Self::Http(reply) => Ok(reply.end()?),
            Self::Sql(dialogue) => dialogue.end(),
        }
    }

    /// Bytes received so far.
    pub fn received(&self) -> u64 {
        match self {
            Self::Http(reply) => reply.received(),
            Self::Sql(dialogue) => dialogue.received(),
        }
    }

    /// Rows received so far.
    pub fn rows(&self) -> u64 {
        match self {
            Self::Http(_) => 0,
            Self::Sql(dialogue) => dialogue.rows(),
        }
    }

    /// Whether the connection may carry another request after this.
    pub fn persistent(&self) -> bool {
        match self {
            Self::Http(reply) => reply.persistent(),
            Self::Sql(dialogue) => dialogue.persistent(),
        }
    }

    /// The reply, where it is one of HTTP's.
    pub fn http(&self) -> Option<&Reply> {
        match self {
            Self::Http(reply) => Some(reply),
            Self::Sql(_) => None,
        }
    }

    /// The status code, where there are some and it is there.
    pub fn status(&self) -> Option<u16> {
        self.http().map(Reply::status).filter(|status| *status > 0)
    }

    /// The error that a database told.
    pub fn error(&self) -> Option<Failure> {
        match self {
            Self::Http(_) => None,
            Self::Sql(dialogue) => dialogue.failure(),
        }
    }

    /// What cancels statements of the connection, where a database has told it in this exchange.
    pub fn key(&self) -> Option<Key> {
        match self {
            Self::Http(_) => None,
            Self::Sql(dialogue) => dialogue.key(),
        }
    }

    /// The page, as far as it is kept.
    pub fn body(&self) -> &[u8] {
        match self {
            Self::Http(reply) => reply.body(),
            Self::Sql(_) => &[],
        }
    }

    /// Gives the buffer back that the page was kept in.
    pub fn into_buffer(self) -> Vec<u8> {
        match self {
            Self::Http(reply) => reply.into_buffer(),
            Self::Sql(_) => Vec::new(),
        }
    }
}
