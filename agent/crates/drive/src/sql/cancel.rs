//! What asks a server to give up a statement. It goes over a connection of its own, and there is no
//! answer but that connection's end.

use bytes::BytesMut;
use postgres_protocol::message::frontend;

/// Which of a server's processes serves a connection, and the secret that proves whose that is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    /// The process.
    pub process: i32,
    /// The secret.
    pub secret: i32,
}

impl Key {
    /// The request, as bytes.
    pub fn request(self) -> BytesMut {
        let mut bytes = BytesMut::new();
        frontend::cancel_request(self.process, self.secret, &mut bytes);
        bytes
    }
}
