//! MySQL packets, laid out as the protocol's documentation shows them.

pub const DEPRECATE_EOF: u32 = 1 << 24;
/// CLIENT_LONG_PASSWORD, CLIENT_PROTOCOL_41, CLIENT_SECURE_CONNECTION and others.
pub const BASIC: u32 = 0x00ff_a685 & !(1 << 11) & !(1 << 5);

pub const MORE_RESULTS: u16 = 0x0008;
pub const CURSOR_EXISTS: u16 = 0x0040;

/// A payload in packets, numbered from `sequence`.
pub fn packet(sequence: u8, payload: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = payload;
    let mut sequence = sequence;
    loop {
        let length = rest.len().min(0xff_ffff);
        bytes.extend(&(length as u32).to_le_bytes()[..3]);
        bytes.push(sequence);
        bytes.extend(&rest[..length]);
        rest = &rest[length..];
        sequence = sequence.wrapping_add(1);
        if length < 0xff_ffff {
            return bytes;
        }
    }
}

/// Payloads in packets, numbered from `sequence`.
pub fn packets(sequence: u8, payloads: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (at, payload) in payloads.iter().enumerate() {
        bytes.extend(packet(sequence.wrapping_add(at as u8), payload));
    }
    bytes
}

pub fn greeting(scramble: &[u8; 20], capabilities: u32) -> Vec<u8> {
    let [low, more, high, highest] = capabilities.to_le_bytes();
    let mut payload = b"\x0a10.11.6-MariaDB\0\x07\0\0\0".to_vec();
    payload.extend(&scramble[..8]);
    payload.extend([0, low, more, 0x2d, 2, 0, high, highest, 21]);
    payload.extend([0; 10]);
    payload.extend(&scramble[8..]);
    payload.extend(b"\0mysql_native_password\0");
    packet(0, &payload)
}

pub fn login(capabilities: u32) -> Vec<u8> {
    let mut payload = capabilities.to_le_bytes().to_vec();
    payload.extend([0, 0, 0, 1, 0x2d]);
    payload.extend([0; 23]);
    payload.extend(b"rubbos\0\x14aaaaaaaaaaaaaaaaaaaarubbos\0mysql_native_password\0");
    packet(1, &payload)
}

pub fn command(number: u8, argument: &[u8]) -> Vec<u8> {
    packet(0, &[&[number], argument].concat())
}

pub fn query(sql: &str) -> Vec<u8> {
    command(3, sql.as_bytes())
}

/// OK, or with `header` FE the end of a result set.
pub fn ok(header: u8, flags: u16) -> Vec<u8> {
    let [low, high] = flags.to_le_bytes();
    vec![header, 1, 0xfc, 0x10, 0x27, low, high, 0, 0]
}

pub fn eof(flags: u16) -> Vec<u8> {
    let [low, high] = flags.to_le_bytes();
    vec![0xfe, 0, 0, low, high]
}

pub fn error(code: u16) -> Vec<u8> {
    [&[0xff][..], &code.to_le_bytes(), b"#42000You have an error"].concat()
}

pub fn definition() -> Vec<u8> {
    b"\x03def\x06rubbos\x01s\x07stories\x02id\x02id\x0c\x3f\0\x0b\0\0\0\x03\x03\x42\0\0\0".to_vec()
}

/// A text result set of two columns.
pub fn result_set(rows: usize, row: &[u8], deprecate_eof: bool, flags: u16) -> Vec<Vec<u8>> {
    let mut payloads = vec![vec![2], definition(), definition()];
    if !deprecate_eof {
        payloads.push(eof(0));
    }
    payloads.extend(vec![row.to_vec(); rows]);
    payloads.push(if deprecate_eof { ok(0xfe, flags) } else { eof(flags) });
    payloads
}

/// COM_STMT_PREPARE's answer for statement 7.
pub fn prepared(parameters: u16, columns: u16, deprecate_eof: bool) -> Vec<Vec<u8>> {
    let mut first = vec![0, 7, 0, 0, 0];
    first.extend(columns.to_le_bytes());
    first.extend(parameters.to_le_bytes());
    first.extend([0, 0, 0]);
    let mut payloads = vec![first];
    for count in [parameters, columns] {
        payloads.extend(vec![definition(); usize::from(count)]);
        if count > 0 && !deprecate_eof {
            payloads.push(eof(0));
        }
    }
    payloads
}

/// COM_STMT_EXECUTE of statement 7 with one 32-bit integer.
pub fn execute(value: u32, cursor: bool) -> Vec<u8> {
    let mut argument = vec![7, 0, 0, 0, u8::from(cursor), 1, 0, 0, 0, 0, 1, 3, 0];
    argument.extend(value.to_le_bytes());
    command(0x17, &argument)
}
