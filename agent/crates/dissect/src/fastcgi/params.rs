//! PARAMS: the request as CGI variables (RFC 3875), names and values with their lengths before them.

/// What matters of them.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Params<'a> {
    pub method: &'a [u8],
    /// REQUEST_URI or, without one, the script's name.
    pub target: &'a [u8],
    pub query: &'a [u8],
    pub request_id: &'a [u8],
    pub traceparent: &'a [u8],
    pub is_form: bool,
}

/// Reads the pairs, as far as they are whole.
pub(super) fn read(bytes: &[u8]) -> Params<'_> {
    let (mut params, mut script) = (Params::default(), &[][..]);
    let mut rest = bytes;
    while let Some((name, value)) = pair(&mut rest) {
        match name {
            b"REQUEST_METHOD" => params.method = value,
            b"REQUEST_URI" => params.target = value,
            b"SCRIPT_NAME" => script = value,
            b"QUERY_STRING" => params.query = value,
            b"HTTP_X_REQUEST_ID" => params.request_id = value,
            b"HTTP_TRACEPARENT" => params.traceparent = value,
            b"CONTENT_TYPE" => {
                params.is_form = value.starts_with(b"application/x-www-form-urlencoded");
            }
            _ => {}
        }
    }
    if params.target.is_empty() {
        params.target = script;
    }
    params
}

/// True if these are whole pairs to the end, with what every request has.
pub(super) fn are_request(bytes: &[u8]) -> bool {
    let mut rest = bytes;
    while pair(&mut rest).is_some() {}
    let params = read(bytes);
    rest.is_empty() && !params.method.is_empty() && !params.target.is_empty()
}

fn pair<'a>(rest: &mut &'a [u8]) -> Option<(&'a [u8], &'a [u8])> {
    let (name, value) = (length(rest)?, length(rest)?);
    let (name, after) = rest.split_at_checked(name)?;
    let (value, after) = after.split_at_checked(value)?;
    *rest = after;
    Some((name, value))
}

/// One byte, or four if the first bit is set.
fn length(rest: &mut &[u8]) -> Option<usize> {
    let (&first, after) = rest.split_first()?;
    if first < 0x80 {
        *rest = after;
        return Some(first.into());
    }
    let (&four, after) = rest.split_first_chunk::<4>()?;
    *rest = after;
    Some((u32::from_be_bytes(four) & 0x7fff_ffff) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_have_one_byte_or_four() {
        let long = "q".repeat(200);
        let bytes = [
            &b"\x0e\x04REQUEST_METHODPOST\x0b\x02SCRIPT_NAME/a"[..],
            b"\x80\0\0\x0c\x80\0\0\xc8QUERY_STRING",
            long.as_bytes(),
            b"\x0b\0REQUEST_URI",
        ]
        .concat();
        let params = read(&bytes);
        assert_eq!((params.method, params.target), (&b"POST"[..], &b"/a"[..]));
        assert_eq!(params.query, long.as_bytes());
        assert_eq!(read(&bytes[..bytes.len() - 1]), params, "a last pair that was cut is none");
    }

    #[test]
    fn a_request_has_whole_pairs_a_method_and_a_target() {
        let whole = b"\x0e\x03REQUEST_METHODGET\x0b\x02REQUEST_URI/a";
        assert!(are_request(whole));
        assert!(!are_request(&whole[..whole.len() - 1]));
        assert!(!are_request(&whole[19..]));
        assert!(!are_request(b""));
    }

    #[test]
    fn lengths_that_reach_beyond_the_end_are_none() {
        for bytes in [&b"\xff\xff\xff\xff\xff\xff\xff\xff"[..], b"\x80\0", b"\x7f\x7fa", b""] {
            assert_eq!(read(bytes), Params::default());
        }
    }
}
