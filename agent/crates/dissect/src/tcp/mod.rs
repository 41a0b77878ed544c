//! TCP: one direction's bytes in their order.

mod stream;

pub(crate) use stream::{Arrival, Data, LATEST_NS, NEAR, Piece, Placed, Stream};
