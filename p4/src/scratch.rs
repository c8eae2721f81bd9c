use std::path::{Path, PathBuf};

use crate::Error;

/// A folder for p4c and p4testgen to print to, removed in the end.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    /// Creates a folder of this process, for one purpose.
    pub(crate) fn new(purpose: &str) -> Result<Self, Error> {
        let path = std::env::temp_dir().join(format!("inart-p4-{}-{purpose}", std::process::id()));
        std::fs::create_dir_all(&path).map_err(Error::file(&path))?;
        Ok(Self(path))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // Nothing to do about a temporary folder that cannot be removed.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
