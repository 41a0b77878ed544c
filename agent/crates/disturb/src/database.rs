//! The database that a disturbance is planned for, and a table in it that is the disturbance's own.

use crate::keeper::{Held, Keeper};
use crate::plan::Planned;
use crate::sql_client::{Login, SqlClient};
use crate::sql_dialect::{self, Dialect};
use anyhow::{Context, Result};
use std::fmt::Display;
use std::path::Path;

/// A database, and who comes to it.
pub struct Database<'a> {
    /// What it is told in.
    pub dialect: Dialect,
    socket: &'a Path,
    login: Login<'a>,
    subject: &'a str,
}

impl<'a> Database<'a> {
    /// The subject's, by its socket and by what it speaks.
    pub fn of(planned: &'a Planned, login: Login<'a>) -> Result<Self> {
        let target = &planned.target;
        let socket = target.socket.as_deref().context("it needs the database's `socket`")?;
        let protocol = target.protocol.as_deref().context("it needs the database's `protocol`")?;
        let dialect = sql_dialect::speaking(protocol)?;
        Ok(Self { dialect, socket, login, subject: &planned.what.subject })
    }

    /// Where it listens.
    pub fn socket(&self) -> &Path {
        self.socket
    }

    /// Opens a session. To be called from the main thread.
    pub fn connect(&self) -> Result<SqlClient> {
        SqlClient::connect(&self.dialect, self.socket, &self.login)
    }

    /// What a table of a disturbance's own is called. Of a cluster each database has all tables.
    pub fn table_name(&self, purpose: impl Display) -> String {
        format!("tierlab_{}_{purpose}", self.subject.replace('.', "_"))
    }

    /// Makes a table of so many bytes, anew if there is one. It is removed when what is returned is
    /// dropped, or by the keeper.
    pub fn make_table(
        &self,
        client: &mut SqlClient,
        name: &str,
        bytes: u64,
        keeper: &Keeper,
    ) -> Result<Held> {
        let remove = format!("DROP TABLE IF EXISTS {name}");
        let undo = SqlClient::undo(&self.dialect, self.socket, &self.login, &remove)?;
        let removed = keeper.hold(undo)?;
        client.run(&remove)?;
        client.run(&(self.dialect.fill)(name, bytes))?;
        Ok(removed)
    }
}
