//! Which protocol has which connection.

use crate::database::mariadb::MariaDb;
use crate::database::postgresql::PostgreSql;
use crate::database::reading::Reading;
use crate::plan::{DatabaseProtocol, DatabaseServer};
use crate::polls::Link;

/// A connection that is made when it is first read.
pub fn to(server: &DatabaseServer) -> Box<dyn Link<Reading>> {
    match server.protocol {
        DatabaseProtocol::Mysql => Box::new(MariaDb::new(server)),
        DatabaseProtocol::Postgresql => Box::new(PostgreSql::new(server)),
    }
}
