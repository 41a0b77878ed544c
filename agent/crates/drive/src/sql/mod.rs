//! Statements to PostgreSQL as text, over a connection that is logged in first, and how one is
//! cancelled; no socket here.
//!
//! Source: PostgreSQL's documentation, "Frontend/Backend Protocol": start-up, SASL authentication,
//! the simple query protocol and cancelling. Framing and SCRAM-SHA-256 are those of the crate `postgres-protocol`.

mod cancel;
mod dialogue;
mod login;
mod messages;

pub use cancel::Key;
pub use dialogue::Dialogue;
pub use login::Login;
