//! As whom the driver comes to a database.

use serde::Deserialize;

/// An account, and the database that it is for.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Login {
    /// Whose.
    pub user: String,
    /// Its password; for SCRAM-SHA-256 or, where the server asks for no proof, for nothing.
    pub password: String,
    /// The database.
    pub database: String,
}

impl Login {
    /// Whether a message can hold it: texts end with a zero byte there.
    pub fn is_clean(&self) -> bool {
        [&self.user, &self.password, &self.database].iter().all(|text| !text.contains('\0'))
    }
}
