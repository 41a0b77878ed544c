//! Values as requests carry them.

/// Appends what a page has encoded already, except for bytes that must not stand in a request.
pub fn carry(value: &[u8], text: &mut Vec<u8>) {
    for byte in value {
        if byte.is_ascii_graphic() {
            text.push(*byte);
        } else {
            escape(*byte, text);
        }
    }
}

/// Appends bytes as they are.
pub fn as_is(value: &[u8], text: &mut Vec<u8>) {
    text.extend_from_slice(value);
}

/// What a header may say: what could end its line is left out (RFC 9110 section 5.5).
pub fn line(value: &[u8], text: &mut Vec<u8>) {
    text.extend(value.iter().filter(|byte| !matches!(byte, b'\r' | b'\n' | 0)));
}

/// Within a string of JSON's (RFC 8259 section 7).
pub fn json(value: &[u8], text: &mut Vec<u8>) {
    for byte in value {
        match byte {
            b'"' | b'\\' => text.extend_from_slice(&[b'\\', *byte]),
            0..0x20 => text.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
            _ => text.push(*byte),
        }
    }
}

/// Percent-encodes all but unreserved characters (RFC 3986 section 2.3), wherever in a target.
pub fn percent(value: &[u8], text: &mut Vec<u8>) {
    for byte in value {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => text.push(*byte),
            _ => escape(*byte, text),
        }
    }
}

fn escape(byte: u8, text: &mut Vec<u8>) {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    text.extend_from_slice(&[b'%', HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]]);
}

/// Percent-encodes as `application/x-www-form-urlencoded` (WHATWG URL standard, section 5.2).
pub fn encode(value: &[u8], text: &mut Vec<u8>) {
    for byte in value {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'*' => text.push(*byte),
            b' ' => text.push(b'+'),
            _ => escape(*byte, text),
        }
    }
}

/// Appends what is percent-encoded as it was before; what is no code stands for itself.
pub fn decode_percent(value: &[u8], text: &mut Vec<u8>) {
    decoded(value, b'+', text);
}

/// The same of `application/x-www-form-urlencoded`, where a plus sign is a blank.
pub fn decode(value: &[u8], text: &mut Vec<u8>) {
    decoded(value, b' ', text);
}

fn decoded(value: &[u8], plus: u8, text: &mut Vec<u8>) {
    let digit = |at: usize| value.get(at).and_then(|byte| (*byte as char).to_digit(16));
    let mut at = 0;
    while let Some(byte) = value.get(at) {
        match (byte, digit(at + 1), digit(at + 2)) {
            (b'%', Some(high), Some(low)) => {
                text.push((high * 16 + low) as u8);
                at += 2;
            }
            (b'+', ..) => text.push(plus),
            _ => text.push(*byte),
        }
        at += 1;
    }
}

/// Where the values of parameters go.
pub struct Sink<'a> {
    /// What is written.
    pub text: &'a mut Vec<u8>,
    /// A part of its own takes bytes as they are; a URL and an urlencoded body take codes.
    pub plain: bool,
}

impl Sink<'_> {
    /// Appends a value.
    pub fn put(&mut self, value: &[u8]) {
        if self.plain { self.text.extend_from_slice(value) } else { encode(value, self.text) }
    }

    /// Appends a value that a page's link has, percent-encoded.
    pub fn carry(&mut self, value: &[u8]) {
        if self.plain { decode(value, self.text) } else { carry(value, self.text) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_encoded_is_decoded_to_itself() {
        let value: Vec<u8> = (0..=255).collect();
        let (mut encoded, mut decoded) = (Vec::new(), Vec::new());
        encode(&value, &mut encoded);
        assert!(encoded.iter().all(u8::is_ascii_graphic));
        decode(&encoded, &mut decoded);
        assert_eq!(decoded, value);
    }

    #[test]
    fn what_is_no_code_stands_for_itself() {
        for text in ["%", "%2", "%zz", "a%", "%%"] {
            let mut decoded = Vec::new();
            decode(text.as_bytes(), &mut decoded);
            assert_eq!(decoded, text.as_bytes());
        }
    }

    #[test]
    fn a_plus_sign_is_a_blank_in_a_form_alone() {
        let (mut form, mut other) = (Vec::new(), Vec::new());
        decode(b"a+b%2B%3d", &mut form);
        decode_percent(b"a+b%2B%3d", &mut other);
        assert_eq!((&*form, &*other), (&b"a b+="[..], &b"a+b+="[..]));
    }
}
