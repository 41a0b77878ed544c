//! The field `traceparent` (W3C Trace Context): the trace that a request belongs to. It is the same at
//! every server that the request passes, and in the statements that it causes.

/// Digits of a trace's id, and of the ids of systems that have half as many.
const DIGITS: usize = 32;
const HALF: usize = 16;

/// The id by which a request is known again: its trace's or, without one, the one that it brings in
/// `X-Request-Id`. Empty if it brings neither.
pub(crate) fn request_id<'a>(traceparent: &'a [u8], brought: &'a [u8]) -> &'a [u8] {
    trace_id(traceparent).unwrap_or(brought)
}

/// The trace's id: 32 digits or, where the first half is zero as systems with shorter ids fill it up,
/// the other half. None if the field is not valid.
pub(crate) fn trace_id(traceparent: &[u8]) -> Option<&[u8]> {
    let mut parts = traceparent.trim_ascii().split(|&byte| byte == b'-');
    let (version, id, parent) = (parts.next()?, parts.next()?, parts.next()?);
    let is_valid = is_hexadecimal(version, 2)
        && version != b"ff"
        && is_hexadecimal(id, DIGITS)
        && is_hexadecimal(parent, HALF)
        && is_hexadecimal(parts.next()?.get(..2)?, 2);
    let (high, low) = id.split_at_checked(HALF).filter(|_| is_valid)?;
    match (is_zero(high), is_zero(low)) {
        (true, true) => None,
        (true, false) => Some(low),
        (false, _) => Some(id),
    }
}

fn is_hexadecimal(text: &[u8], digits: usize) -> bool {
    text.len() == digits && text.iter().all(|it| matches!(it, b'0'..=b'9' | b'a'..=b'f'))
}

fn is_zero(digits: &[u8]) -> bool {
    digits.iter().all(|&digit| digit == b'0')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_trace_is_the_second_part() {
        let field = b"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        assert_eq!(trace_id(field), Some(&field[3..35]));
        let later = b"01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more";
        assert_eq!(trace_id(later), Some(&later[3..35]));
    }

    #[test]
    fn a_short_id_is_itself() {
        let field = b"00-0000000000000000a3ce929d0e0e4736-00f067aa0ba902b7-01";
        assert_eq!(trace_id(field), Some(&b"a3ce929d0e0e4736"[..]));
    }

    #[test]
    fn what_is_not_valid_has_none() {
        for field in [
            &b""[..],
            b"00-4bf92f3577b34da6a3ce929d0e0e4736",
            b"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
            b"ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            b"00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
            b"00-4bf92f3577b34da6a3ce929d0e0e473-00f067aa0ba902b7-01",
            b"00-00000000000000000000000000000000-00f067aa0ba902b7-01",
        ] {
            assert_eq!(trace_id(field), None, "{}", String::from_utf8_lossy(field));
        }
    }
}
