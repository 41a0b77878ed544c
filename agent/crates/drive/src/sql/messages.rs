//! A server's messages, from the bytes as they come. Those that say what matters here are read whole;
//! all others are passed over as they come, however long they are.

use crate::failure::Failure;
use crate::reply::ReplyError;
use bytes::BytesMut;
use postgres_protocol::message::backend::{Header, Message};

/// A message's type and its length.
const HEAD: usize = 5;
/// Longer ones are not believed, and no more of them is kept: an error quotes the statement at most.
const LONGEST: usize = 1 << 20;
/// A row of a result.
const ROW: u8 = b'D';
/// Authentication, the key to cancel with, an error, ready for a statement, and what begins a copy.
const READ: [u8; 7] = [b'R', b'K', b'E', b'Z', b'G', b'H', b'W'];

/// The messages of one exchange.
#[derive(Default)]
pub struct Messages {
    /// A head, or a message that is read, as far as it is there.
    partial: BytesMut,
    /// Of a message that is passed over, so many bytes are to come.
    passing: usize,
    /// Rows whose messages have begun.
    pub rows: u64,
}

impl Messages {
    /// Takes bytes up to the end of a message that is read, and returns it with the bytes after it;
    /// `None` when all are taken.
    pub fn next<'a>(
        &mut self,
        mut bytes: &'a [u8],
    ) -> Result<Option<(Message, &'a [u8])>, Failure> {
        let passed = self.passing.min(bytes.len());
        self.passing -= passed;
        bytes = &bytes[passed..];
        if !self.take_message(&mut bytes)? {
            return Ok(None);
        }
        let message = Message::parse(&mut self.partial).map_err(|_| malformed())?;
        Ok(Some((message.ok_or_else(malformed)?, bytes)))
    }

    /// Takes bytes until a message that is read is whole; those that are passed over are not kept.
    fn take_message(&mut self, bytes: &mut &[u8]) -> Result<bool, Failure> {
        loop {
            self.take(HEAD, bytes);
            if self.partial.len() < HEAD {
                return Ok(false);
            }
            let head = Header::parse(&self.partial).map_err(|_| malformed())?;
            let head = head.ok_or_else(malformed)?;
            let length = usize::try_from(head.len()).map_err(|_| malformed())? + 1;
            if READ.contains(&head.tag()) {
                if length > LONGEST {
                    return Err(ReplyError::TooLarge.into());
                }
                self.take(length, bytes);
                return Ok(self.partial.len() == length);
            }
            self.rows += u64::from(head.tag() == ROW);
            self.partial.clear();
            let passed = (length - HEAD).min(bytes.len());
            self.passing = length - HEAD - passed;
            *bytes = &bytes[passed..];
        }
    }

    /// Keeps bytes until there are `wanted`.
    fn take(&mut self, wanted: usize, bytes: &mut &[u8]) {
        let more = wanted.saturating_sub(self.partial.len()).min(bytes.len());
        self.partial.extend_from_slice(&bytes[..more]);
        *bytes = &bytes[more..];
    }
}

fn malformed() -> Failure {
    ReplyError::Malformed.into()
}
