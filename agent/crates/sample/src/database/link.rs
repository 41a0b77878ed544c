//! What is the same of the connections to all database servers, and which protocol has which.

use crate::database::mariadb::MariaDb;
use crate::database::postgresql::PostgreSql;
use crate::database::reading::Reading;
use crate::plan::{DatabaseProtocol, DatabaseServer};
use anyhow::Result;
use std::time::Duration;

/// Longer than a server is ever stopped on purpose: its late answer is the true one.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// A connection to a database server that is kept open.
pub trait Link {
    /// Asks the server; after an error the next call connects anew.
    fn read(&mut self) -> Result<Reading>;
}

/// A connection that is made when it is first read.
pub fn to(server: &DatabaseServer) -> Box<dyn Link + Send> {
    match server.protocol {
        DatabaseProtocol::Mysql => Box::new(MariaDb::new(server)),
        DatabaseProtocol::Postgresql => Box::new(PostgreSql::new(server)),
    }
}
