//! Header blocks: a list of fields, by number, by value, or by both (RFC 7541 section 6).

use super::field::{Field, of_static};
use super::primitive::{Text, integer, text};
use super::table::{Entry, Table};
use crate::memory::{empty, of_vec};

/// The numbers up to here are the static table's.
const STATIC: usize = 61;

/// The decoder of one side's header blocks.
pub(super) struct Decoder {
    table: Table,
    /// For what is written in Huffman's code.
    decoded: Vec<u8>,
}

impl Decoder {
    /// For a connection that is seen from its start, or from somewhere.
    pub(super) fn new() -> Self {
        Self { table: Table::new(), decoded: Vec::new() }
    }

    /// Reads a block and hands over the fields that matter. `whole` is false if its end was not
    /// captured: then it has said more than is known, and so it has if it cannot be read.
    pub(super) fn read(&mut self, block: &[u8], whole: bool, mut see: impl FnMut(Field, &[u8])) {
        let mut rest = block;
        let mut is_read = true;
        while !rest.is_empty() && is_read {
            is_read = self.field(&mut rest, &mut see).is_some();
        }
        empty(&mut self.decoded);
        if !whole || !is_read {
            self.table.forget();
        }
    }

    /// A block went by unseen, or may have done.
    pub(super) fn forget(&mut self) {
        self.table.forget();
    }

    pub(super) fn held_bytes(&self) -> usize {
        self.table.held_bytes() + of_vec(&self.decoded)
    }

    /// Takes the next field, or what else stands there; none if it cannot be read.
    fn field(&mut self, rest: &mut &[u8], see: &mut impl FnMut(Field, &[u8])) -> Option<()> {
        match *rest.first()? {
            first if first & 0x80 != 0 => {
                let (field, value) = self.known(integer(rest, 7)?)?;
                if field.matters() {
                    see(field, value);
                }
            }
            first if first & 0x40 != 0 => {
                let (field, value, lengths) = self.literal(rest, 6)?;
                let value = self.value(field, value)?;
                if field.matters() {
                    see(field, value);
                }
                let entry = Entry::new(field, value, lengths);
                self.table.insert(entry);
            }
            first if first & 0x20 != 0 => self.table.limit(integer(rest, 5)?),
            _ => {
                let (field, value, _) = self.literal(rest, 4)?;
                let value = self.value(field, value)?;
                if field.matters() {
                    see(field, value);
                }
            }
        }
        Some(())
    }

    /// The field of a number; what is beyond the table went by unseen.
    fn known(&self, index: usize) -> Option<(Field, &[u8])> {
        match index {
            0 => None,
            1..=STATIC => Some(of_static(index)),
            _ => {
                let entry = self.table.get(index - STATIC - 1);
                Some(entry.map_or((Field::Unknown, &[]), |it| (it.field, &it.value)))
            }
        }
    }

    /// Takes a field whose value stands there, and its name too unless that has a number. Gives the
    /// lengths of both, as they stand there.
    fn literal<'a>(&mut self, rest: &mut &'a [u8], bits: u32) -> Option<(Field, Text<'a>, usize)> {
        let index = integer(rest, bits)?;
        if index > 0 {
            let (field, _) = self.known(index)?;
            let value = text(rest)?;
            return Some((field, value, value.length()));
        }
        let name = text(rest)?;
        let field = Field::named(name.read(&mut self.decoded)?);
        let value = text(rest)?;
        Some((field, value, name.length() + value.length()))
    }

    fn value<'a>(&'a mut self, field: Field, value: Text<'a>) -> Option<&'a [u8]> {
        if field.matters() { value.read(&mut self.decoded) } else { Some(&[]) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(it: &mut Decoder, block: &[u8], whole: bool) -> Vec<(Field, String)> {
        let mut seen = Vec::new();
        it.read(block, whole, |field, value| {
            seen.push((field, String::from_utf8_lossy(value).into_owned()));
        });
        seen
    }

    fn owned(fields: &[(Field, &str)]) -> Vec<(Field, String)> {
        fields.iter().map(|&(field, value)| (field, value.to_owned())).collect()
    }

    /// RFC 7541 appendix C.4: three requests in Huffman's code, each referring to those before.
    const REQUESTS: [&[u8]; 3] = [
        b"\x82\x86\x84\x41\x8c\xf1\xe3\xc2\xe5\xf2\x3a\x6b\xa0\xab\x90\xf4\xff",
        b"\x82\x86\x84\xbe\x58\x86\xa8\xeb\x10\x64\x9c\xbf",
        b"\x82\x87\x85\xbf\x40\x88\x25\xa8\x49\xe9\x5b\xa9\x7d\x7f\x89\x25\xa8\x49\xe9\x5b\xb8\xe8\
          \xb4\xbf",
    ];

    #[test]
    fn requests_are_as_in_the_examples() {
        let mut it = Decoder::new();
        let expected = [
            owned(&[(Field::Method, "GET"), (Field::Path, "/")]),
            owned(&[(Field::Method, "GET"), (Field::Path, "/")]),
            owned(&[(Field::Method, "GET"), (Field::Path, "/index.html")]),
        ];
        for (block, expected) in REQUESTS.iter().zip(expected) {
            assert_eq!(read(&mut it, block, true), expected);
        }
        assert!(it.table.get(2).is_some() && it.table.get(3).is_none());
    }

    #[test]
    fn replies_are_as_in_the_examples() {
        // As in RFC 7541 appendix C.5, with two fields a reply: the second has a status of its own
        // and the first's other field by its number; then both statuses by theirs.
        let mut it = Decoder::new();
        it.table.limit(256);
        let block = b"\x48\x03302\x58\x07private";
        assert_eq!(read(&mut it, block, true), owned(&[(Field::Status, "302")]));
        let block = b"\x48\x03307\xbf";
        assert_eq!(read(&mut it, block, true), owned(&[(Field::Status, "307")]));
        assert_eq!(
            read(&mut it, b"\xbe\xc0", true),
            owned(&[(Field::Status, "307"), (Field::Status, "302")])
        );
    }

    #[test]
    fn what_was_said_unseen_is_not_known_and_what_comes_after_it_is() {
        let mut it = Decoder::new();
        assert_eq!(read(&mut it, b"\x44\x02/a", true), owned(&[(Field::Path, "/a")]));
        it.forget();
        assert_eq!(read(&mut it, b"\x82\xbe", true), owned(&[(Field::Method, "GET")]));
        assert_eq!(read(&mut it, b"\x44\x02/b", true), owned(&[(Field::Path, "/b")]));
        assert_eq!(read(&mut it, b"\xbe\xbf", true), owned(&[(Field::Path, "/b")]));
        // A name that is not known gives none either; the entry counts all the same.
        assert_eq!(read(&mut it, b"\x7f\x00\x02/x\xbf", true), owned(&[(Field::Path, "/b")]));
    }

    #[test]
    fn a_block_that_lost_its_end_is_read_as_far_as_it_goes() {
        let mut it = Decoder::new();
        read(&mut it, b"\x44\x02/a", true);
        let fields = owned(&[(Field::Method, "GET"), (Field::Path, "/a")]);
        assert_eq!(read(&mut it, b"\x82\xbe\x40\x05na", false), fields);
        assert_eq!(read(&mut it, b"\xbe", true), [], "more may have been said");
    }

    #[test]
    fn what_cannot_be_read_ends_what_is_known() {
        for broken in
            [&b"\x80"[..], b"\x44\x09/a", b"\xff\xff\xff\xff\xff\x7f", b"\x44\x82\xff\xff"]
        {
            let mut it = Decoder::new();
            read(&mut it, b"\x44\x02/a", true);
            assert_eq!(read(&mut it, broken, true), []);
            assert_eq!(read(&mut it, b"\xbe", true), []);
        }
    }
}
