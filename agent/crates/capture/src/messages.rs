//! Every message as a line of JSON: for comparing with other dissectors.

use serde_json::json;
use std::io::Write;
use tierlab_dissect::{Message, Server};

/// Appends a message to `lines`: connection, server, the client's address and port, protocol, who
/// sent it, first and last byte's times, bytes and the protocol's name for it.
pub(crate) fn push(message: &Message, server: &Server, lines: &mut Vec<u8>) {
    let line = json!({
        "connection": message.connection,
        "server": server.name,
        "client": message.client,
        "protocol": server.protocol.name(),
        "from": message.from.name(),
        "start_ns": message.start_ns,
        "end_ns": message.end_ns,
        "bytes": message.bytes,
        "kind": message.kind,
    });
    // Writing to a vector cannot fail.
    let _ = writeln!(lines, "{line}");
}
