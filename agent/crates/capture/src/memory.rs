//! How the tracer's memory is shared out, so that all of it together is under one budget.

use tierlab_dissect::MEMORY_BYTES;

/// For pairing connections where a server passes through, of which there is one.
pub(crate) const PAIRING_BYTES: usize = MEMORY_BYTES / 8;

/// With less than this a dissector forgets what it needs.
const LEAST_BYTES: usize = 4 << 20;

/// No more dissectors than this find enough memory.
pub(crate) const MOST_DISSECTORS: usize = of_each(1) / LEAST_BYTES;

/// For each of so many dissectors.
pub(crate) const fn of_each(dissectors: usize) -> usize {
    (MEMORY_BYTES - PAIRING_BYTES) / dissectors
}
