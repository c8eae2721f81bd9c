//! Where records are kept: by one process, in a file, or in memory that several share.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::Serialize;

use super::error::RecordsError;
use super::file;

/// Where records `R` are kept.
#[derive(Debug, Clone, Default)]
pub(super) enum Store<R> {
    /// In the memory of one process.
    #[default]
    Own,
    /// In a file that processes share.
    File(PathBuf),
    /// In memory that clones share.
    Shared(Arc<Mutex<R>>),
}

/// Two stores are equal if a change in one is seen in the other.
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

/// The right to change what is kept, until dropped.
pub(super) enum Lock<'a, R> {
    /// Records of one process need none.
    Own,
    /// Beside the file.
    File(file::Lock),
    /// Of the shared memory.
    Shared(MutexGuard<'a, R>),
}

impl<R: file::Recorded> Store<R> {
    /// The file, for messages; empty if there is none.
    pub fn path(&self) -> PathBuf {
        match self {
            Store::File(path) => path.clone(),
            Store::Own | Store::Shared(_) => PathBuf::new(),
        }
    }

    /// What is kept now; of one process, what it knows.
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

    /// Takes the right to change what is kept, waiting for its owner, and reads it.
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
    /// Keeps `records` in place of what was kept.
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
