//! What a capture's filter leaves of packets that carry content in bulk.
//!
//! A filter of the kernel keeps as much of a packet's beginning as it says. Copying content that
//! nobody reads costs more than reading the rest, so a filter may cut a server's packet whose inside
//! can be told from outside: one HTTP chunk, one SEND_BODY_CHUNK of AJP, or rows of MySQL. Where
//! the first two end follows from their lengths. Whether a result ends with a packet of rows stands
//! in its last bytes, which the filter sees but cannot keep: it tells by how much it keeps.

/// So many bytes of payload are kept of rows.
pub const ROWS: u32 = 64;

/// So many are kept of rows with which the last result of a reply ends.
pub const LAST_ROWS: u32 = 65;

/// A result ends with a packet of one of these lengths, three bytes of length and one of sequence
/// number before it: an EOF packet, or the OK packet that stands for one (CLIENT_DEPRECATE_EOF).
pub const END_LENGTHS: [u8; 2] = [5, 7];

/// The first byte of both, behind the header.
pub const END: u8 = 0xfe;

/// Where both have the lower byte of the server's status, counted from the header's beginning.
pub const END_STATUS: usize = 7;

/// In the status: another result follows.
pub const MORE_RESULTS: u8 = 0x08;

/// True if the last bytes of a packet of rows are the end of its reply.
pub fn ends_reply(bytes: &[u8]) -> bool {
    END_LENGTHS.iter().any(|&length| {
        let Some(start) = bytes.len().checked_sub(4 + usize::from(length)) else { return false };
        let end = &bytes[start..];
        matches!(end, [first, 0, 0, _, END, ..] if *first == length)
            && end[END_STATUS] & MORE_RESULTS == 0
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_ends_with_its_last_result() {
        for (bytes, ends) in [
            (&b"row\x05\0\0\x09\xfe\0\0\x02\0"[..], true),
            (b"row\x07\0\0\x09\xfe\0\0\x02\0\0\0", true),
            (b"row\x05\0\0\x09\xfe\0\0\x0a\0", false),
            (b"row\x07\0\0\x09\xfe\0\0\x0a\0\0\0", false),
            (b"row\x05\0\0\x09\xfe\0\0\x02\0r", false),
            (b"\0\0\x09\xfe\0\0\x02\0", false),
            (b"", false),
        ] {
            assert_eq!(ends_reply(bytes), ends, "{bytes:?}");
        }
    }
}
