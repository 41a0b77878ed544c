//! Bound parameters in the binary protocol, written as text would have them.

use super::fields::Fields;
use crate::Salt;
use crate::literal::Literals;
use crate::memory::of_vec;
use std::io::Write;

/// In an execution's flags: the number of values stands before them and names beside their types
/// (CLIENT_QUERY_ATTRIBUTES).
const COUNTED: u64 = 0x08;

/// The types of no more values than this are remembered; a message's first 16 literals are enough.
const MOST: usize = 256;

/// How a prepared statement's values are laid out.
#[derive(Default)]
pub(super) struct Layout {
    parameters: usize,
    /// As the last execution that told them had them.
    types: Vec<u16>,
    /// Parameters whose value was sent on its own (COM_STMT_SEND_LONG_DATA).
    sent: Vec<u16>,
}

impl Layout {
    pub(super) fn new(parameters: u16) -> Self {
        Self { parameters: parameters.into(), ..Self::default() }
    }

    /// A parameter's value was sent on its own.
    pub(super) fn sent(&mut self, parameter: u16) {
        if self.sent.len() < MOST && !self.sent.contains(&parameter) {
            self.sent.push(parameter);
        }
    }

    /// What is remembered, beside the layout itself.
    pub(super) fn held_bytes(&self) -> usize {
        of_vec(&self.types) + of_vec(&self.sent)
    }

    /// Values that were sent on their own count no more.
    pub(super) fn reset(&mut self) {
        self.sent.clear();
    }
}

/// Adds an execution's values to `literals`; `fields` begin after the statement's number. Stops
/// quietly where the packet cannot be read.
pub(super) fn bound(
    mut fields: Fields<'_>,
    layout: &mut Layout,
    salt: &Salt,
    scratch: &mut Vec<u8>,
    literals: &mut Literals,
) -> Option<()> {
    let counted = fields.integer(1)? & COUNTED != 0;
    fields.integer(4)?; // iterations
    let count = if counted { fields.length()? } else { layout.parameters as u64 };
    if count == 0 {
        return Some(());
    }
    let nulls = fields.bytes(count.div_ceil(8) as usize)?;
    if fields.integer(1)? == 1 {
        layout.types.clear();
        for _ in 0..count {
            let kind = fields.integer(2)? as u16;
            if counted {
                fields.counted()?; // name
            }
            if layout.types.len() < MOST {
                layout.types.push(kind);
            }
        }
    }
    for (position, &kind) in layout.types.iter().enumerate().take(layout.parameters) {
        let is_null = nulls.get(position / 8)? & 1 << (position % 8) != 0;
        if !is_null && !layout.sent.contains(&(position as u16)) {
            scratch.clear();
            value(&mut fields, kind, scratch)?;
            literals.add(salt, scratch);
        }
    }
    Some(())
}

/// Writes one value as text. Unsigned types have their high bit set.
pub(super) fn value(fields: &mut Fields<'_>, kind: u16, text: &mut Vec<u8>) -> Option<()> {
    let unsigned = kind & 0x8000 != 0;
    // Writing to a vector cannot fail.
    let _ = match kind as u8 {
        1 => integer(fields.integer(1)?, 8, unsigned, text),
        2 | 13 => integer(fields.integer(2)?, 16, unsigned, text),
        3 | 9 => integer(fields.integer(4)?, 32, unsigned, text),
        8 => integer(fields.integer(8)?, 64, unsigned, text),
        4 => write!(text, "{}", f32::from_bits(fields.integer(4)? as u32)),
        5 => write!(text, "{}", f64::from_bits(fields.integer(8)?)),
        6 => Ok(()),
        7 | 10 | 12 => date(Fields(fields.counted()?), text),
        11 => time(Fields(fields.counted()?), text),
        _ => text.write_all(fields.counted()?),
    };
    Some(())
}

/// SQL writes a negative number as a sign and a literal: the sign is not part of it.
fn integer(raw: u64, bits: u32, unsigned: bool, text: &mut Vec<u8>) -> std::io::Result<()> {
    if unsigned {
        return write!(text, "{raw}");
    }
    let unused = 64 - bits;
    let signed = (raw << unused) as i64 >> unused;
    write!(text, "{}", signed.unsigned_abs())
}

fn date(mut fields: Fields<'_>, text: &mut Vec<u8>) -> std::io::Result<()> {
    let [year, month, day] = [2, 1, 1].map(|size| fields.integer(size).unwrap_or(0));
    write!(text, "{year:04}-{month:02}-{day:02}")?;
    if fields.0.is_empty() {
        return Ok(());
    }
    let [hour, minute, second] = [1, 1, 1].map(|size| fields.integer(size).unwrap_or(0));
    write!(text, " {hour:02}:{minute:02}:{second:02}")?;
    fraction(fields, text)
}

fn time(mut fields: Fields<'_>, text: &mut Vec<u8>) -> std::io::Result<()> {
    let negative = fields.integer(1) == Some(1);
    let days = fields.integer(4).unwrap_or(0);
    let [hour, minute, second] = [1, 1, 1].map(|size| fields.integer(size).unwrap_or(0));
    let sign = if negative { "-" } else { "" };
    write!(text, "{sign}{:02}:{minute:02}:{second:02}", days * 24 + hour)?;
    fraction(fields, text)
}

fn fraction(mut fields: Fields<'_>, text: &mut Vec<u8>) -> std::io::Result<()> {
    match fields.integer(4) {
        Some(microseconds) => write!(text, ".{microseconds:06}"),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(kind: u16, bytes: &[u8]) -> String {
        let mut text = Vec::new();
        value(&mut Fields(bytes), kind, &mut text).expect("readable");
        String::from_utf8(text).expect("text")
    }

    #[test]
    fn values_are_written_as_sql_would() {
        assert_eq!(text(1, &[0xfe]), "2");
        assert_eq!(text(0x8001, &[0xfe]), "254");
        assert_eq!(text(3, &[42, 0, 0, 0]), "42");
        assert_eq!(text(8, &(-7i64).to_le_bytes()), "7");
        assert_eq!(text(5, &1.5f64.to_le_bytes()), "1.5");
        assert_eq!(text(253, b"\x05hello"), "hello");
        assert_eq!(text(10, &[4, 0xea, 0x07, 11, 20]), "2026-11-20");
        assert_eq!(text(12, &[7, 0xea, 0x07, 11, 20, 13, 5, 9]), "2026-11-20 13:05:09");
        assert_eq!(text(11, &[8, 1, 1, 0, 0, 0, 2, 3, 4]), "-26:03:04");
    }

    #[test]
    fn nulls_and_remembered_types_are_honoured() {
        let salt = Salt::new([5; 16]);
        let mut layout = Layout::new(2);
        for packet in
            [&b"\0\x01\0\0\0\x02\x01\x03\0\xfd\0\x07\0\0\0"[..], b"\0\x01\0\0\0\x02\0\x07\0\0\0"]
        {
            let mut literals = Literals::default();
            bound(Fields(packet), &mut layout, &salt, &mut Vec::new(), &mut literals)
                .expect("readable");
            assert_eq!(literals.hashes(), [salt.hash(b"7")]);
        }
    }
}
