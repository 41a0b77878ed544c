//! TCP: one direction's bytes in their order.

mod stream;
mod waiting;

pub(crate) use stream::{Arrival, Data, LATEST_NS, NEAR, Piece, Placed, Stream};
