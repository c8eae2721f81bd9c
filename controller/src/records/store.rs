//! Storage of records: in one process, in a file, or in shared memory.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::Serialize;

use super::error::RecordsError;
use super::file;

/// Storage of records `R`.
#[derive(Debug, Clone, Default)]
pub(super) enum Store<R> {
    /// Memory of one process.
    #[default]
    Own,
    /// File that processes share.
    File(PathBuf),
    /// Memory that clones share.
    Shared(Arc<Mutex<R>>),
}

/// Stores are equal if a change in one is visible in the other.
impl<R> PartialEq for Store<R> {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Store::Own, Store::Own) => true,
            (Store::File(one), Store::File(other)) => one == other,
            (Store::Shared(one), Store::Shared(other)) => Arc::ptr_eq(one, other),
            _ => false,
        }
    }
}

/// Exclusive right to change the stored records, until dropped.
pub(super) enum Lock<'a, R> {
    /// No lock: records of one process.
    Own,
    /// Lock file.
    File(file::Lock),
    /// Lock of the shared memory.
    Shared(MutexGuard<'a, R>),
}

impl<R: super::file::Recorded> Store<R> {
    /// Returns the path for messages; empty without a file.
    pub fn path(&self) -> PathBuf {
        match self {
            Store::File(path) => path.clone(),
            Store::Own | Store::Shared(_) => PathBuf::new(),
        }
    }

    /// Returns the stored records; of one process, `known`.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn read(&self, known: &R) -> Result<R, RecordsError> {
        match self {
            Store::Own => Ok(known.clone()),
            Store::File(path) => file::read(path),
            Store::Shared(kept) => Ok(kept.lock().unwrap_or_else(PoisonError::into_inner).clone()),
        }
    }

    /// Locks the stored records, waiting for their current user, and reads them.
    ///
    /// # Errors
    /// A file that cannot be locked or read.
    pub fn lock(&self, known: &R) -> Result<(Lock<'_, R>, R), RecordsError> {
        match self {
            Store::Own => Ok((Lock::Own, known.clone())),
            Store::File(path) => {
                let lock = file::Lock::take(path)?;
                Ok((Lock::File(lock), file::read(path)?))
            }
            Store::Shared(kept) => {
                let kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
                let read = kept.clone();
                Ok((Lock::Shared(kept), read))
            }
        }
    }
}

impl<R: Clone + Serialize> Lock<'_, R> {
    /// Stores `records` in place of the previous ones.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn replace(self, records: &R) -> Result<(), RecordsError> {
        match self {
            Lock::Own => Ok(()),
            Lock::File(lock) => lock.replace(records),
            Lock::Shared(mut kept) => {
                kept.clone_from(records);
                Ok(())
            }
        }
    }
}
