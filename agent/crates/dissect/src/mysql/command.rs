//! Commands, and what the server answers to them.

/// What a reply consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Expected {
    /// OK, EOF or ERR.
    Ok,
    /// OK or ERR after any number of questions.
    Login,
    /// One packet of text, or ERR.
    Line,
    /// OK, ERR, a request for a file, or result sets.
    Results,
    /// A statement's number and the definitions of its parameters and columns.
    Prepared,
    /// Rows until an EOF, or ERR.
    Rows,
    /// Nothing.
    Nothing,
    /// Events without end.
    Replication,
}

/// What is said about a command in labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Subject {
    /// The command's name.
    Itself,
    /// The statement's digest.
    Statement,
    /// `PREPARE` and the statement's digest.
    Preparation,
    /// The digest of the statement that was prepared under this number, and its values.
    Prepared,
    /// The same digest; of many rows of values none is told.
    PreparedInBulk,
}

/// A command.
pub(super) struct Command {
    /// The protocol's name.
    pub name: &'static str,
    /// The name in labels.
    pub label: &'static str,
    pub expected: Expected,
    pub subject: Subject,
}

/// The command with this number, if there is one.
pub(super) fn command(number: u8) -> Option<Command> {
    use Expected::{Line, Login, Nothing, Ok, Prepared, Replication, Results, Rows};
    use Subject::{Itself, Preparation, Statement};
    let (name, label, expected, subject) = match number {
        0x01 => ("COM_QUIT", "QUIT", Nothing, Itself),
        0x02 => ("COM_INIT_DB", "INIT_DB", Ok, Itself),
        0x03 => ("COM_QUERY", "QUERY", Results, Statement),
        0x04 => ("COM_FIELD_LIST", "FIELD_LIST", Rows, Itself),
        0x05 => ("COM_CREATE_DB", "CREATE_DB", Ok, Itself),
        0x06 => ("COM_DROP_DB", "DROP_DB", Ok, Itself),
        0x07 => ("COM_REFRESH", "REFRESH", Ok, Itself),
        0x08 => ("COM_SHUTDOWN", "SHUTDOWN", Ok, Itself),
        0x09 => ("COM_STATISTICS", "STATISTICS", Line, Itself),
        0x0a => ("COM_PROCESS_INFO", "PROCESS_INFO", Results, Itself),
        0x0c => ("COM_PROCESS_KILL", "PROCESS_KILL", Ok, Itself),
        0x0d => ("COM_DEBUG", "DEBUG", Ok, Itself),
        0x0e => ("COM_PING", "PING", Ok, Itself),
        0x11 => ("COM_CHANGE_USER", "CHANGE_USER", Login, Itself),
        0x12 => ("COM_BINLOG_DUMP", "BINLOG_DUMP", Replication, Itself),
        0x13 => ("COM_TABLE_DUMP", "TABLE_DUMP", Replication, Itself),
        0x15 => ("COM_REGISTER_SLAVE", "REGISTER_SLAVE", Ok, Itself),
        0x16 => ("COM_STMT_PREPARE", "PREPARE", Prepared, Preparation),
        0x17 => ("COM_STMT_EXECUTE", "EXECUTE", Results, Subject::Prepared),
        0x18 => ("COM_STMT_SEND_LONG_DATA", "SEND_LONG_DATA", Nothing, Itself),
        0x19 => ("COM_STMT_CLOSE", "CLOSE_STATEMENT", Nothing, Itself),
        0x1a => ("COM_STMT_RESET", "RESET_STATEMENT", Ok, Itself),
        0x1b => ("COM_SET_OPTION", "SET_OPTION", Ok, Itself),
        0x1c => ("COM_STMT_FETCH", "FETCH", Rows, Itself),
        0x1e => ("COM_BINLOG_DUMP_GTID", "BINLOG_DUMP", Replication, Itself),
        0x1f => ("COM_RESET_CONNECTION", "RESET_CONNECTION", Ok, Itself),
        0xfa => ("COM_STMT_BULK_EXECUTE", "BULK_EXECUTE", Results, Subject::PreparedInBulk),
        _ => return None,
    };
    Some(Command { name, label, expected, subject })
}

/// True if bytes in the middle of a stream may begin a command: its number is one, and it ends with
/// these bytes, or after them, or where the next one begins.
pub(super) fn looks_like_command(bytes: &[u8]) -> bool {
    let [low, middle, high, 0, number, ..] = *bytes else { return false };
    let end = 4 + u32::from_le_bytes([low, middle, high, 0]) as usize;
    let Some(command) = command(number) else { return false };
    match bytes.get(end..) {
        Some([]) => end > 4,
        Some(rest) => end > 4 && rest.get(3) == Some(&0),
        None => command.subject != Subject::Itself && bytes.len() > 16,
    }
}
