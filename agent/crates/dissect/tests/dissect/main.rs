//! Whole conversations through the dissector, packet by packet.

mod ajp13;
mod extended;
mod fastcgi;
mod hostile;
mod http1;
mod http2;
mod long_statements;
mod memcached;
mod mysql;
mod mysql_bytes;
mod pass_through;
mod pipelines;
mod played;
mod postgresql;
mod postgresql_bytes;
mod postgresql_startup;
mod preamble;
mod prepared;
mod properties;
mod reassembly;
mod redis;
mod rows;
mod said;
mod support;
mod tcp;
mod turns;
