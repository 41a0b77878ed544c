//! Five parallel kernels, each with the role of published programs, run as jobs by a server.
//!
//! - `kernel`: what each of them is, and the table of them; `kernels`: one file for each;
//! - `random`, `team`, `checksum`: what they have in common;
//! - `job`: a job as a request asks for it; `head`: the request's bytes; `server`: who runs it;
//! - `speed_up`: how much faster they are with more threads.
//!
//! The same job gives the same checksum with any number of threads, which is that of the serial
//! program: sums are of whole numbers or per element, so that no order of threads can be seen.

pub mod checksum;
pub mod head;
pub mod job;
pub mod kernel;
mod kernels;
mod random;
pub mod server;
pub mod speed_up;
mod team;
