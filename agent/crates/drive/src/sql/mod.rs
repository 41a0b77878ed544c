//! Statements to PostgreSQL as text, over a connection that is logged in first; no socket here.
//!
//! Source: PostgreSQL's documentation, "Frontend/Backend Protocol": start-up, SASL authentication and
//! the simple query protocol. Framing and SCRAM-SHA-256 are those of the crate `postgres-protocol`.

mod dialogue;
mod login;
mod messages;

pub use dialogue::Dialogue;
pub use login::Login;
