//! How interactions fail, by name.

use crate::reply::ReplyError;
use std::borrow::Cow;
use std::io;

/// Why a request failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    /// Nobody listens.
    Refused,
    /// The connection did not come about in time.
    ConnectTimeout,
    /// The request did not end in time.
    RequestTimeout,
    /// The other side broke the connection off.
    Reset,
    /// The other side fell silent: what was sent on a connection that stood was never acknowledged.
    TransmitTimeout,
    /// No way to the target.
    Unreachable,
    /// This process or the system has no more file descriptors: the driver's own limit.
    NoDescriptors,
    /// No free pair of ends, or a source address that is not this host's: the driver's own limit.
    NoAddress,
    /// Another error of the network, by its number in errno(3).
    Network(i32),
    /// The bytes were no HTTP reply, or a cut one.
    Reply(ReplyError),
    /// A status outside 200..300.
    Status(u16),
    /// An error that a database tells, by its code (SQLSTATE).
    Sql([u8; 5]),
    /// The page says that it failed.
    Page,
    /// The page does not say what it has to.
    TextMissing,
    /// The trial ended first.
    Cut,
}

impl Failure {
    /// Its name in the column `error`.
    pub fn name(self) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            Self::Refused => "refused",
            Self::ConnectTimeout => "connect_timeout",
            Self::RequestTimeout => "request_timeout",
            Self::Reset => "reset",
            Self::TransmitTimeout => "transmit_timeout",
            Self::Unreachable => "unreachable",
            Self::NoDescriptors => "no_descriptors",
            Self::NoAddress => "no_address",
            Self::Network(number) => return format!("errno_{number}").into(),
            Self::Reply(ReplyError::Malformed) => "malformed",
            Self::Reply(ReplyError::Truncated) => "truncated",
            Self::Reply(ReplyError::Empty) => "no_reply",
            Self::Reply(ReplyError::TooLarge) => "too_large",
            Self::Status(status) => return format!("status_{status}").into(),
            Self::Sql(code) => {
                return format!("sqlstate_{}", String::from_utf8_lossy(&code)).into();
            }
            Self::Page => "page",
            Self::TextMissing => "text_missing",
            Self::Cut => "cut",
        })
    }

    /// Whether opening once more may help: there was no reply, or one with an error status.
    pub fn may_pass(self) -> bool {
        !matches!(
            self,
            Self::Page
                | Self::TextMissing
                | Self::Cut
                | Self::ConnectTimeout
                | Self::RequestTimeout
                | Self::Reply(ReplyError::Truncated)
        )
    }

    /// Whether a kept connection may have been gone before the request reached the server.
    pub fn lost_connection(self) -> bool {
        matches!(self, Self::Reset | Self::Reply(ReplyError::Empty))
    }
}

impl Failure {
    /// What an error of the network means; `connecting`: the connection did not stand yet.
    pub fn of(error: &io::Error, connecting: bool) -> Self {
        match error.raw_os_error().unwrap_or(0) {
            libc::ECONNREFUSED => Self::Refused,
            libc::ECONNRESET | libc::EPIPE | libc::ECONNABORTED => Self::Reset,
            libc::ETIMEDOUT if connecting => Self::ConnectTimeout,
            libc::ETIMEDOUT => Self::TransmitTimeout,
            libc::EHOSTUNREACH | libc::ENETUNREACH | libc::EHOSTDOWN => Self::Unreachable,
            libc::EMFILE | libc::ENFILE => Self::NoDescriptors,
            libc::EADDRNOTAVAIL | libc::EADDRINUSE => Self::NoAddress,
            number => Self::Network(number),
        }
    }
}

impl From<ReplyError> for Failure {
    fn from(error: ReplyError) -> Self {
        Self::Reply(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timeout_is_named_by_its_stage() {
        let timeout = io::Error::from_raw_os_error(libc::ETIMEDOUT);
        assert_eq!(Failure::of(&timeout, true).name(), "connect_timeout");
        assert_eq!(Failure::of(&timeout, false).name(), "transmit_timeout");
    }
}
