//! Messages: a byte of type, four of length, which count themselves.

/// The header's size.
pub(super) const HEADER: usize = 5;

/// The type of a copy's parts, in either direction.
pub(super) const COPY_DATA: u8 = b'd';
/// The type of CopyBothResponse.
pub(super) const COPY_BOTH: u8 = b'W';

/// The length's own bytes.
const OWN: usize = 4;

/// A longer message does not exist (MaxAllocSize).
const LONGEST: usize = 1 << 30;

/// In the middle of a stream a message is not believed to be longer than this.
const LONGEST_LIKELY: usize = 16 << 20;

/// So much of a statement tells that it is one.
const SHORTEST_TEXT: usize = 6;

/// A result has no more columns than this (MaxTupleAttributeNumber).
const MOST_COLUMNS: u16 = 1664;

/// The name of a client's message of this type.
pub(super) fn request_name(kind: u8) -> Option<&'static str> {
    Some(match kind {
        b'B' => "Bind",
        b'C' => "Close",
        b'D' => "Describe",
        b'E' => "Execute",
        b'F' => "FunctionCall",
        b'H' => "Flush",
        b'P' => "Parse",
        b'Q' => "Query",
        b'S' => "Sync",
        b'X' => "Terminate",
        b'c' => "CopyDone",
        b'd' => "CopyData",
        b'f' => "CopyFail",
        b'p' => "AuthenticationResponse",
        _ => return None,
    })
}

/// The name of a server's message of this type.
pub(super) fn reply_name(kind: u8) -> Option<&'static str> {
    Some(match kind {
        b'1' => "ParseComplete",
        b'2' => "BindComplete",
        b'3' => "CloseComplete",
        b'A' => "NotificationResponse",
        b'C' => "CommandComplete",
        b'D' => "DataRow",
        b'E' => "ErrorResponse",
        b'G' => "CopyInResponse",
        b'H' => "CopyOutResponse",
        b'I' => "EmptyQueryResponse",
        b'K' => "BackendKeyData",
        b'N' => "NoticeResponse",
        b'R' => "Authentication",
        b'S' => "ParameterStatus",
        b'T' => "RowDescription",
        b'V' => "FunctionCallResponse",
        b'W' => "CopyBothResponse",
        b'Z' => "ReadyForQuery",
        b'c' => "CopyDone",
        b'd' => "CopyData",
        b'n' => "NoData",
        b's' => "PortalSuspended",
        b't' => "ParameterDescription",
        b'v' => "NegotiateProtocolVersion",
        _ => return None,
    })
}

pub(super) fn measure_request(header: [u8; HEADER]) -> Option<usize> {
    request_name(header[0]).and_then(|_| payload_length(header))
}

pub(super) fn measure_reply(header: [u8; HEADER]) -> Option<usize> {
    reply_name(header[0]).and_then(|_| payload_length(header))
}

fn payload_length([_, a, b, c, d]: [u8; HEADER]) -> Option<usize> {
    let length = u32::from_be_bytes([a, b, c, d]) as usize;
    (OWN..=LONGEST).contains(&length).then(|| length - OWN)
}

/// True if a client's bytes in the middle of a stream are messages: one after the other to their end,
/// or a statement that goes on behind it.
pub(super) fn looks_like_requests(bytes: &[u8]) -> bool {
    are_messages(bytes, measure_request, |kind, payload, length, is_first| {
        let is_whole = payload.len() == length;
        match kind {
            b'H' | b'S' | b'X' | b'c' => length == 0,
            b'Q' => may_be_text(payload, length),
            b'P' => may_be_parse(payload, length),
            b'D' | b'C' => matches!(payload, [b'S' | b'P', ..]) && (is_whole || !is_first),
            _ => is_whole || !is_first,
        }
    })
}

/// The same of a server's bytes; a row, or what begins a reply, may go on behind them.
pub(super) fn looks_like_replies(bytes: &[u8]) -> bool {
    are_messages(bytes, measure_reply, |kind, payload, length, is_first| match (kind, payload) {
        (b'1' | b'2' | b'3' | b'I' | b'n' | b's' | b'c', _) => length == 0,
        (b'Z', [status, ..]) => length == 1 && matches!(status, b'I' | b'T' | b'E'),
        (b'C', [first, ..]) => first.is_ascii_uppercase() && length <= 64,
        (b'E' | b'N', [first, ..]) => *first == b'S',
        (b'T', [high, low, ..]) => u16::from_be_bytes([*high, *low]) <= MOST_COLUMNS && length >= 2,
        (b'D', [high, low, ..]) => may_be_row(u16::from_be_bytes([*high, *low]), payload, length),
        (b'G' | b'H' | b'W', [format, ..]) => *format <= 1 && length >= 3,
        _ => payload.len() == length || !is_first,
    })
}

/// True if a Parse may begin so: a name, a text, and the types of so many parameters.
fn may_be_parse(payload: &[u8], length: usize) -> bool {
    let mut fields = Fields(payload);
    let Some(name) = fields.text() else { return false };
    let left = length - name.len() - 1;
    let Some(text) = fields.text() else {
        return is_text(name) && may_be_text(fields.0, left);
    };
    let types = left.checked_sub(text.len() + 1 + 2);
    let count = fields.short().map(usize::from).or(types.map(|it| it / 4));
    is_text(name) && is_text(text) && types.is_some() && types == count.map(|it| 4 * it)
}

/// True if a row of so many columns may begin so.
fn may_be_row(columns: u16, payload: &[u8], length: usize) -> bool {
    let room = length.checked_sub(2 + 4 * usize::from(columns));
    let first = payload.get(2..).and_then(|it| it.first_chunk::<4>());
    let first = first.map(|&it| u32::from_be_bytes(it)).filter(|&it| columns > 0 && it < u32::MAX);
    columns <= MOST_COLUMNS && room.is_some_and(|room| first.unwrap_or(0) as usize <= room)
}

/// Walks over messages; `may_be` judges a type, as much of the payload as is there, its length, and
/// whether it is the first.
fn are_messages(
    mut bytes: &[u8],
    measure: fn([u8; HEADER]) -> Option<usize>,
    may_be: impl Fn(u8, &[u8], usize, bool) -> bool,
) -> bool {
    let mut is_first = true;
    loop {
        let Some((header, rest)) = bytes.split_first_chunk::<HEADER>() else {
            // The rest of a header is in the next packet.
            return !is_first;
        };
        let Some(length) = measure(*header).filter(|&it| it <= LONGEST_LIKELY) else {
            return false;
        };
        // So little of a message tells nothing of it.
        if rest.len() < length.min(2) {
            return !is_first;
        }
        if !may_be(header[0], &rest[..length.min(rest.len())], length, is_first) {
            return false;
        }
        is_first = false;
        match rest.get(length..) {
            None | Some([]) => return true,
            Some(next) => bytes = next,
        }
    }
}

/// True if bytes are text, or the beginning of one of this length that ends with a zero. A beginning
/// is no shorter than a keyword.
fn may_be_text(bytes: &[u8], length: usize) -> bool {
    let is_whole = bytes.len() >= length;
    let text = if is_whole { bytes.strip_suffix(&[0]).unwrap_or(bytes) } else { bytes };
    (is_whole || bytes.len() >= SHORTEST_TEXT) && is_text(text)
}

fn is_text(bytes: &[u8]) -> bool {
    bytes.iter().all(|&it| it >= b' ' || it.is_ascii_whitespace())
}

/// A payload's fields, one after the other; none once they are used up.
#[derive(Clone, Copy)]
pub(super) struct Fields<'a>(pub &'a [u8]);

impl<'a> Fields<'a> {
    pub(super) fn bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    pub(super) fn byte(&mut self) -> Option<u8> {
        self.bytes(1).map(|it| it[0])
    }

    pub(super) fn short(&mut self) -> Option<u16> {
        let (&short, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u16::from_be_bytes(short))
    }

    pub(super) fn long(&mut self) -> Option<u32> {
        let (&long, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u32::from_be_bytes(long))
    }

    /// A string that ends with a zero.
    pub(super) fn text(&mut self) -> Option<&'a [u8]> {
        let end = memchr::memchr(0, self.0)?;
        let text = &self.0[..end];
        self.0 = &self.0[end + 1..];
        Some(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROW: &[u8] = b"D\0\0\0\x0d\0\x01\0\0\0\x03abc";

    #[test]
    fn replies_are_told_from_what_they_carry() {
        let end = b"C\0\0\0\x0dSELECT 1\0Z\0\0\0\x05I";
        assert!(looks_like_replies(&[ROW, end].concat()));
        for cut in 0..end.len() {
            assert!(looks_like_replies(&[ROW, &end[..cut]].concat()), "cut at {cut}");
        }
        assert!(looks_like_replies(&ROW[..9]), "a row that goes on");
        assert!(!looks_like_replies(&[ROW, b"more of a row"].concat()));
        assert!(!looks_like_replies(b"Z\0\0\0\x05x"));
        assert!(!looks_like_replies(b"Default text"));
        assert!(!looks_like_replies(b"D\0\0"));
    }

    #[test]
    fn requests_are_told_from_what_they_carry() {
        assert!(looks_like_requests(b"Q\0\0\0\x0dSELECT 1\0"));
        assert!(looks_like_requests(b"Q\0\0\x02\0SELECT 1, "));
        assert!(looks_like_requests(b"P\0\0\0\x11s\0SELECT 1\0\0\0S\0\0\0\x04"));
        assert!(!looks_like_requests(b"Q\0\0\x02\0SEL\0ECT 1, "));
        assert!(!looks_like_requests(b"SELECT 1 FROM t"));
        assert!(!looks_like_requests(b"S\0\0\0\x05x"));
        // The end of a Describe, and what follows: it reads as a long Parse.
        assert!(!looks_like_requests(b"P\0E\0\0\0\x09\0\0\0\0\0S\0\0\0\x04"));
    }

    #[test]
    fn lengths_count_themselves() {
        assert_eq!(measure_request(*b"Q\0\0\0\x04"), Some(0));
        assert_eq!(measure_request(*b"Q\0\0\0\x03"), None);
        assert_eq!(measure_request(*b"Q\xff\0\0\0"), None);
        assert_eq!(measure_reply(*b"Q\0\0\0\x04"), None);
    }
}
