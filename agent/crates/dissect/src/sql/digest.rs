//! The digest itself: a statement's text, and what else it carried.

use super::Statement;
use super::tokens::{Escapes, Token, Tokens};
use super::writer::Writer;
use crate::Salt;
use crate::literal::Literals;
use crate::trace_context::trace_id;

/// What a statement carried beside its digest.
#[derive(Clone, Copy, Default)]
pub(crate) struct Digest {
    /// The salted hash of the id in a comment `rid=...`, or of the trace in one of sqlcommenter's.
    pub id_hash: Option<u64>,
    /// Strings (unquoted and unescaped) and numbers.
    pub literals: Literals,
}

/// Writes the digest of `statement` to `label`. Where its text goes on unseen, the digest does not
/// depend on where it was cut.
pub(crate) fn digest(
    statement: Statement<'_>,
    salt: &Salt,
    scratch: &mut Vec<u8>,
    label: &mut String,
) -> Digest {
    let Statement { text: sql, dialect, goes_on } = statement;
    let mut found = Digest::default();
    let mut writer = Writer::new(label);
    let mut tokens = Tokens { rest: sql, dialect };
    while let Some(token) = tokens.next() {
        if goes_on && tokens.rest.is_empty() {
            writer.cut(matches!(token, Token::Number(_) | Token::Text(..) | Token::Verbatim(_)));
            break;
        }
        match token {
            Token::Space => writer.space(),
            Token::Comment(inside) => {
                writer.space();
                if let Some(id) = request_id(inside) {
                    found.id_hash = Some(salt.hash(id));
                }
            }
            Token::Number(digits) => {
                found.literals.add(salt, digits);
                writer.literal();
            }
            Token::Text(inside, escapes) => {
                if !found.literals.is_full() {
                    unescape(inside, escapes, scratch);
                    // A pattern stands for what was searched for.
                    while scratch.last() == Some(&b'%') {
                        scratch.pop();
                    }
                    found.literals.add(salt, scratch);
                }
                writer.literal();
            }
            Token::Verbatim(inside) => {
                found.literals.add(salt, inside);
                writer.literal();
            }
            Token::Parameter => writer.literal(),
            Token::Word(word) => writer.word(word, tokens.rest),
            Token::Sign(sign) => writer.sign(sign),
        }
        if writer.is_full() && found.literals.is_full() {
            // What follows is in no digest, but for a comment at the very end.
            found.id_hash =
                found.id_hash.or_else(|| Some(salt.hash(request_id(last_comment(sql)?)?)));
            break;
        }
    }
    writer.end();
    found
}

fn request_id(comment: &[u8]) -> Option<&[u8]> {
    match comment.trim_ascii().strip_prefix(b"rid=") {
        Some(id) => Some(id.trim_ascii()).filter(|id| !id.is_empty()),
        None => traceparent(comment).and_then(trace_id),
    }
}

/// What sqlcommenter writes, `key='value'` with commas between them, may have the trace.
fn traceparent(comment: &[u8]) -> Option<&[u8]> {
    const KEY: &[u8] = b"traceparent='";
    let value = &comment[memchr::memmem::find(comment, KEY)? + KEY.len()..];
    memchr::memchr(b'\'', value).map(|end| &value[..end])
}

/// The comment with which a statement ends.
fn last_comment(sql: &[u8]) -> Option<&[u8]> {
    let before_end = sql.trim_ascii_end().strip_suffix(b"*/")?;
    memchr::memmem::rfind(before_end, b"/*").map(|start| &before_end[start + 2..])
}

/// Undoes backslashes and doubled quotes (MariaDB: String Literals; PostgreSQL section 4.1.2).
fn unescape(inside: &[u8], Escapes { quote, backslashes }: Escapes, value: &mut Vec<u8>) {
    value.clear();
    let mut rest = inside;
    while let [first, tail @ ..] = rest {
        rest = tail;
        match (*first, tail) {
            (b'\\', [escaped, after @ ..]) if backslashes => {
                rest = after;
                value.push(match escaped {
                    b'0' => 0,
                    b'b' => 8,
                    b'n' => b'\n',
                    b'r' => b'\r',
                    b't' => b'\t',
                    b'Z' => 26,
                    other => *other,
                });
            }
            (first, [second, after @ ..]) if first == quote && *second == quote => {
                rest = after;
                value.push(quote);
            }
            (first, _) => value.push(first),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Dialect;
    use super::super::writer::{LIST, LONGEST};
    use super::*;

    fn of(sql: &str) -> (String, Digest) {
        of_dialect(sql, Dialect::Mysql)
    }

    fn of_dialect(sql: &str, dialect: Dialect) -> (String, Digest) {
        let (mut label, salt) = (String::new(), Salt::new([9; 16]));
        let statement = Statement { text: sql.as_bytes(), dialect, goes_on: false };
        let found = digest(statement, &salt, &mut Vec::new(), &mut label);
        (label, found)
    }

    #[test]
    fn literals_and_comments_go() {
        for (sql, expected) in [
            (
                "/*rid=00ff*/SELECT  *\nFROM t1 WHERE a = 'x' AND b=-1.5",
                "SELECT * FROM t1 WHERE a = ? AND b=-?",
            ),
            ("SELECT a,b FROM t LIMIT 0, 25;", "SELECT a, b FROM t LIMIT ?, ?"),
            ("SELECT * FROM t WHERE id IN (1, 2,3)", "SELECT * FROM t WHERE id IN (?+)"),
            ("INSERT INTO t VALUES (a, 'a''b', 2)", "INSERT INTO t VALUES (a, ?, ?)"),
            ("INSERT INTO t VALUES (1,'a'),(2,'b') , (3,'c')", "INSERT INTO t VALUES (?+)"),
            ("SELECT COUNT( * ), NOW() -- why\n FROM `t 2`", "SELECT COUNT(*), NOW() FROM `t 2`"),
            ("SELECT 1 /* a */ + /* b */ 2", "SELECT ? + ?"),
            ("SELECT * FROM t WHERE a=? AND b IN (?,?)", "SELECT * FROM t WHERE a=? AND b IN (?+)"),
        ] {
            assert_eq!(of(sql).0, expected);
        }
    }

    #[test]
    fn the_request_id_and_the_values_are_found() {
        let salt = Salt::new([9; 16]);
        let (_, found) =
            of(r"/*rid=0011aabb*/SELECT 'it''s', 'a\nb', '', 42, x FROM t9 WHERE x LIKE 'ab%'");
        assert_eq!(found.id_hash, Some(salt.hash(b"0011aabb")));
        let expected: Vec<u64> =
            ["it's", "a\nb", "42", "ab"].iter().map(|value| salt.hash(value.as_bytes())).collect();
        assert_eq!(found.literals.hashes(), expected);
    }

    #[test]
    fn the_trace_of_a_statement_is_found() {
        let salt = Salt::new([9; 16]);
        let trace = "4bf92f3577b34da6a3ce929d0e0e4736";
        let comment = format!("/*action='list',traceparent='00-{trace}-00f067aa0ba902b7-01'*/");
        let values = ["1"; 900].join(",");
        for sql in ["SELECT 1 ".to_owned(), format!("SELECT {values} {}", "a, ".repeat(900))] {
            let (_, found) = of(&format!("{sql}{comment}"));
            assert_eq!(found.id_hash, Some(salt.hash(trace.as_bytes())), "{sql:.40}");
        }
        assert_eq!(of("SELECT 1 /*traceparent='00-12-34-01'*/").1.id_hash, None);
        assert_eq!(of("SELECT 1 /*traceparent='*/").1.id_hash, None);
    }

    #[test]
    fn bound_and_written_values_have_one_digest_in_postgresql() {
        let salt = Salt::new([9; 16]);
        for sql in [
            r"/*rid=1*/SELECT a FROM t WHERE b = $1::int AND c IN ($2,$3) AND d = E'\'' -- why",
            r"SELECT a FROM t WHERE b = 1::int AND c IN ('x', 'it''s') AND d = $$'$$",
        ] {
            let (label, found) = of_dialect(sql, Dialect::Postgresql);
            assert_eq!(label, "SELECT a FROM t WHERE b = ?::int AND c IN (?+) AND d = ?");
            assert_eq!(found.literals.hashes().last(), Some(&salt.hash(b"'")));
        }
        let (label, found) =
            of_dialect(r#"SELECT "a b" FROM t WHERE c = 'x\'"#, Dialect::Postgresql);
        assert_eq!(label, r#"SELECT "a b" FROM t WHERE c = ?"#);
        assert_eq!(found.literals.hashes(), [salt.hash(br"x\")]);
    }

    #[test]
    fn a_digest_stays_short() {
        let columns: Vec<String> = (0..1000).map(|n| format!("column_{n}")).collect();
        assert!(of(&columns.join(",")).0.len() <= LONGEST + LIST.len());
    }

    /// The digest of its first bytes.
    fn of_cut(sql: &str, bytes: usize) -> (String, Digest) {
        let (mut label, salt) = (String::new(), Salt::new([9; 16]));
        let text = &sql.as_bytes()[..bytes];
        let statement = Statement { text, dialect: Dialect::Mysql, goes_on: true };
        let found = digest(statement, &salt, &mut Vec::new(), &mut label);
        (label, found)
    }

    #[test]
    fn wherever_a_list_is_cut_the_digest_is_the_same() {
        for (sql, from, expected) in [
            ("INSERT INTO t (a) VALUES (1,0x2f,'a''b'), (2,3,'c'),(3e5,4,'d')", 27, "(?+)"),
            ("INSERT INTO t (a) VALUES (1,NULL), (NULL,2),(DEFAULT,NULL)", 27, "(?+)"),
            ("INSERT INTO t (a) VALUES (1::numeric(5,2), DATE '1'),('1'::int[],2)", 27, "(?+)"),
            ("INSERT INTO t (a) VALUES (1,NOW()), (2,NOW()),(3,NOW())", 36, "(?, NOW())"),
            ("INSERT INTO t (a) VALUES (1, 'a long literal'", 28, "(?+)"),
        ] {
            for bytes in from..=sql.len() {
                // What follows the first row is one of as many rows as there are.
                let label = of_cut(sql, bytes).0.replace("(?, NOW()), (?, NOW())", "(?, NOW())");
                assert_eq!(label, format!("INSERT INTO t (a) VALUES {expected}"), "{sql:.bytes$}");
            }
        }
        assert_eq!(
            of_cut("SELECT a FROM t WHERE id IN (1, 2, 3", 34).0,
            of("SELECT a FROM t WHERE id IN (1)").0
        );
        assert_eq!(of_cut("SELECT a FROM t WHERE id IN (1", 29).0, "SELECT a FROM t WHERE id IN");
        let many = format!("SELECT a FROM t WHERE id IN ({})", vec!["12345"; 9_000].join(","));
        for bytes in 9_000..9_010 {
            assert_eq!(of_cut(&many, bytes).0, of(&many).0);
        }
    }

    #[test]
    fn what_was_cut_is_neither_an_id_nor_a_value() {
        let (_, found) = of_cut("/*rid=00ff*/SELECT 17, 'long'", 27);
        let salt = Salt::new([9; 16]);
        assert_eq!(found.literals.hashes(), [salt.hash(b"17")]);
        assert_eq!(found.id_hash, Some(salt.hash(b"00ff")));
        assert_eq!(of_cut("/*rid=00ff*/SELECT 1", 9).1.id_hash, None);
    }
}
