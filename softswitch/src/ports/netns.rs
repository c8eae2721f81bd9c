//! Entering another network namespace.

use std::fs::File;
use std::path::PathBuf;

use nix::sched::{CloneFlags, setns};

use super::PortError;

/// A network namespace, by the name `ip netns` gave it or by a path such as `/proc/PID/ns/net`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NetworkNamespace(PathBuf);

impl NetworkNamespace {
    /// A text with a slash is a path, any other a name.
    pub fn new(name_or_path: &str) -> Self {
        match name_or_path.contains('/') {
            true => Self(name_or_path.into()),
            false => Self(PathBuf::from("/run/netns").join(name_or_path)),
        }
    }

    /// Moves the calling thread, and none else, into the namespace.
    ///
    /// # Errors
    /// [`PortError::Namespace`] when it is not there or the process may not enter it.
    pub fn enter(&self) -> Result<(), PortError> {
        let refused = |source| PortError::Namespace { namespace: self.0.display().to_string(), source };
        let file = File::open(&self.0).map_err(refused)?;
        setns(file, CloneFlags::CLONE_NEWNET).map_err(|error| refused(error.into()))
    }
}
