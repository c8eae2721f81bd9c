//! Values that several numbers need, computed once: trainings and plans take seconds of a processor.

use std::sync::{Arc, Mutex, PoisonError};

type Made<V> = Arc<Mutex<Option<V>>>;

/// Values by key, for all threads.
pub struct Memo<K, V>(Mutex<Vec<(K, Made<V>)>>);

impl<K: PartialEq, V: Clone> Memo<K, V> {
    /// Creates an empty memo.
    pub const fn new() -> Self {
        Memo(Mutex::new(Vec::new()))
    }

    /// Returns the value of a key, computed by the first caller. Other threads with this key wait for the
    /// first.
    ///
    /// # Errors
    /// The error of `make`; the next caller tries again.
    pub fn get<E>(&self, key: K, make: impl FnOnce() -> Result<V, E>) -> Result<V, E> {
        let made = {
            let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let at = all.iter().position(|(other, _)| *other == key).unwrap_or_else(|| {
                all.push((key, Made::default()));
                all.len() - 1
            });
            Arc::clone(&all[at].1)
        };
        let mut made = made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(value) = &*made {
            return Ok(value.clone());
        }
        let value = make()?;
        *made = Some(value.clone());
        Ok(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_made_once_by_key_and_tried_again_after_an_error() {
        let known: Memo<u8, u8> = Memo::new();
        let make = |value: Result<u8, &'static str>| move || value;
        assert_eq!(known.get(1, make(Err("not yet"))), Err("not yet"));
        assert_eq!(known.get(1, make(Ok(10))), Ok(10));
        assert_eq!(known.get(2, make(Ok(20))), Ok(20));
        assert_eq!(known.get(1, make(Ok(11))), Ok(10));
    }
}
