//! A lock, whatever has become of who held it before.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// What a lock holds; a thread that panicked has left it as good as before.
pub fn held<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}
