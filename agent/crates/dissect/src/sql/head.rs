//! What the first words of a statement tell of those that follow.

/// What comes next in a statement, as far as it matters to its digest.
#[derive(Clone, Copy)]
pub(super) enum Head {
    /// Its first word.
    First,
    /// A name that its client made up: of a cursor, a savepoint or a prepared statement. These words
    /// may come before it.
    Name(&'static [&'static str]),
    /// Such a name, if `TO` comes.
    Rollback,
    /// What a table or another object is made of.
    Definition,
    /// Anything.
    Rest,
}

impl Head {
    /// Takes the next word; true if it is a name that was made up.
    pub(super) fn is_made_up(&mut self, word: &[u8]) -> bool {
        let is_one_of = |words: &[&str]| words.iter().any(|it| is(word, it));
        match *self {
            Self::Rest | Self::Definition => {}
            Self::First => *self = Self::behind(word),
            Self::Rollback if is(word, "TO") => *self = Self::Name(&["SAVEPOINT"]),
            Self::Rollback if is_one_of(&["WORK", "TRANSACTION"]) => {}
            Self::Rollback => *self = Self::Rest,
            Self::Name(words) if is_one_of(words) => {}
            Self::Name(_) => {
                *self = Self::Rest;
                return true;
            }
        }
        false
    }

    /// In a definition, `NULL` and `DEFAULT` are no values.
    pub(super) fn has_values(self) -> bool {
        !matches!(self, Self::Definition)
    }

    /// What comes behind a statement's first word.
    fn behind(word: &[u8]) -> Self {
        let known = STATEMENTS.iter().find(|it| is(word, it.0));
        known.map_or(Self::Rest, |it| it.1)
    }
}

/// Statements in which what comes next matters.
const STATEMENTS: [(&str, Head); 12] = [
    ("ALTER", Head::Definition),
    ("CLOSE", Head::Name(&["ALL"])),
    ("CREATE", Head::Definition),
    ("DEALLOCATE", Head::Name(&["ALL", "PREPARE"])),
    ("DECLARE", Head::Name(&[])),
    ("EXECUTE", Head::Name(&["IMMEDIATE"])),
    ("FETCH", Head::Name(&MOVES)),
    ("MOVE", Head::Name(&MOVES)),
    ("PREPARE", Head::Name(&["TRANSACTION"])),
    ("RELEASE", Head::Name(&["SAVEPOINT"])),
    ("ROLLBACK", Head::Rollback),
    ("SAVEPOINT", Head::Name(&[])),
];

/// How far a cursor moves, and what may come before its name.
const MOVES: [&str; 11] = [
    "ABSOLUTE", "ALL", "BACKWARD", "FIRST", "FORWARD", "FROM", "IN", "LAST", "NEXT", "PRIOR",
    "RELATIVE",
];

fn is(word: &[u8], name: &str) -> bool {
    word.eq_ignore_ascii_case(name.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::super::digest_of;

    #[test]
    fn names_that_clients_make_up_go() {
        for (sql, expected) in [
            ("DEALLOCATE pdo_stmt_0000001a", "DEALLOCATE ?"),
            ("deallocate prepare stmt7", "deallocate prepare ?"),
            ("DEALLOCATE ALL", "DEALLOCATE ALL"),
            (
                r#"DECLARE "_django_curs_123_sync_7" NO SCROLL CURSOR FOR SELECT a FROM t1"#,
                "DECLARE ? NO SCROLL CURSOR FOR SELECT a FROM t1",
            ),
            ("FETCH FORWARD 100 FROM c_7", "FETCH FORWARD ? FROM ?"),
            ("MOVE RELATIVE -2 IN c_7", "MOVE RELATIVE -? IN ?"),
            ("FETCH c_7", "FETCH ?"),
            (r#"CLOSE "c 7""#, "CLOSE ?"),
            (r#"SAVEPOINT "s123_x7""#, "SAVEPOINT ?"),
            ("BEGIN; SAVEPOINT s1", "BEGIN; SAVEPOINT ?"),
            ("RELEASE s1", "RELEASE ?"),
            ("RELEASE SAVEPOINT s1", "RELEASE SAVEPOINT ?"),
            ("ROLLBACK TO s1", "ROLLBACK TO ?"),
            ("ROLLBACK WORK TO SAVEPOINT s1", "ROLLBACK WORK TO SAVEPOINT ?"),
            ("/*rid=1*/ PREPARE p7 (int) AS SELECT $1", "PREPARE ? (int) AS SELECT ?"),
            ("EXECUTE p7 (1, 'a')", "EXECUTE ? (?+)"),
        ] {
            assert_eq!(digest_of(sql), expected);
        }
    }

    #[test]
    fn other_names_stay() {
        for sql in [
            "DELETE FROM t1",
            "DELETE FROM t2",
            "ROLLBACK",
            "ROLLBACK AND NO CHAIN",
            "CREATE TRIGGER a AFTER UPDATE ON t EXECUTE FUNCTION f()",
            "SELECT prepare FROM execute",
        ] {
            assert_eq!(digest_of(sql), sql);
        }
    }
}
