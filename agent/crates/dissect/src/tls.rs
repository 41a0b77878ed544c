//! TLS where another protocol was expected.

/// With what a client begins: the type of the record that carries its ClientHello, and the first byte
/// of the record's version (RFC 8446 section 5.1).
pub(crate) const HANDSHAKE: [u8; 2] = [22, 3];

/// What it is called where a protocol cannot be read for it.
pub(crate) const NAME: &str = "tls";
