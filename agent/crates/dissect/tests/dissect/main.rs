//! Whole conversations through the dissector, packet by packet.

mod ajp13;
mod extended;
mod fastcgi;
mod hostile;
mod http1;
mod mysql;
mod mysql_bytes;
mod pass_through;
mod postgresql;
mod postgresql_bytes;
mod prepared;
mod properties;
mod reassembly;
mod rows;
mod support;
mod tcp;
