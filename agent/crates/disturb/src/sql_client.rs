//! The database's own command-line client, connected in advance and told what to do by a pipe.
//!
//! A client library would bring 67 crates for four statements.

use crate::sql_dialect::Dialect;
use crate::undo::Undo;
use anyhow::{Context, Result, anyhow};
use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// A row that no statement of ours gives: what was asked before it is done.
const DONE: &str = "done as asked";

/// As whom, and where to.
pub struct Login<'a> {
    /// Account.
    pub user: &'a str,
    /// Its password; may be empty.
    pub password: &'a str,
    /// The schema.
    pub database: &'a str,
}

/// A session. It ends, and with it its locks, when this is dropped or the agent dies.
pub struct SqlClient {
    child: Child,
    statements: ChildStdin,
    rows: BufReader<ChildStdout>,
}

impl SqlClient {
    /// Starts the client and waits until it is logged in. To be called from the main thread.
    pub fn connect(dialect: &Dialect, socket: &Path, login: &Login) -> Result<Self> {
        let program = dialect.program;
        let mut command = Command::new(program);
        (dialect.arguments)(&mut command, socket, login)?;
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // SAFETY: only an async-signal-safe call between fork and exec.
        unsafe {
            command.pre_exec(|| {
                libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
                Ok(())
            });
        }
        let mut child = command.spawn().map_err(|error| {
            anyhow!("'{program}' cannot be started ({error}); install {}", dialect.package)
        })?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(anyhow!("'{program}' has no pipes"));
        };
        let mut client = Self { child, statements: input, rows: BufReader::new(output) };
        client.run("SELECT 0").with_context(|| format!("cannot log in at {}", socket.display()))?;
        Ok(client)
    }

    /// What runs a statement in a session of its own, whoever is alive then.
    pub fn undo(dialect: &Dialect, socket: &Path, login: &Login, statement: &str) -> Result<Undo> {
        let mut command = Command::new(dialect.program);
        (dialect.arguments)(&mut command, socket, login)?;
        command.args([dialect.once, statement]);
        let words = |word: &OsStr| word.to_string_lossy().into_owned();
        Ok(Undo::RunWith {
            environment: command
                .get_envs()
                .filter_map(|(name, value)| Some((words(name), words(value?))))
                .collect(),
            command: [command.get_program()]
                .into_iter()
                .chain(command.get_args())
                .map(words)
                .collect(),
        })
    }

    /// Runs a statement to its end.
    pub fn run(&mut self, statement: &str) -> Result<()> {
        self.value(statement).map(drop)
    }

    /// Runs a statement and returns the first value of its first row, if it has any.
    pub fn value(&mut self, statement: &str) -> Result<Option<String>> {
        let sent = self.statements.write_all(format!("{statement}; SELECT '{DONE}';\n").as_bytes());
        if sent.is_err() {
            return Err(self.last_words());
        }
        let mut first = None;
        loop {
            let mut row = String::new();
            if self.rows.read_line(&mut row)? == 0 {
                return Err(self.last_words());
            }
            match row.trim_end() {
                DONE => return Ok(first),
                row => {
                    first.get_or_insert_with(|| row.to_owned());
                }
            }
        }
    }

    /// The client ends at the first error, and says it.
    fn last_words(&mut self) -> anyhow::Error {
        let mut words = String::new();
        if let Some(mut errors) = self.child.stderr.take() {
            let _ = errors.read_to_string(&mut words);
        }
        anyhow!("{}", words.lines().next().unwrap_or("the database ended the session"))
    }
}

impl Drop for SqlClient {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sql_dialect;

    #[test]
    fn a_password_is_on_no_command_line_and_in_no_error() {
        let socket = Path::new("/nowhere/.s.PGSQL.5432");
        let login = Login { user: "rubis", password: "between us", database: "rubis" };
        for protocol in ["mysql", "postgresql"] {
            let dialect = sql_dialect::speaking(protocol).unwrap();
            let undo = SqlClient::undo(&dialect, socket, &login, "SELECT 0").unwrap();
            let Undo::RunWith { environment, command } = &undo else {
                panic!("it is run with an environment")
            };
            assert!(environment.values().any(|value| value == login.password));
            assert!(!command.iter().any(|word| word.contains(login.password)), "{command:?}");
            let error = format!("{:?}", undo.apply().unwrap_err());
            assert!(!error.contains(login.password), "{error}");
        }
    }
}
