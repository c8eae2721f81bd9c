//! Files of `inart experiment`: a folder of results.

use std::path::Path;

use anyhow::Context;

/// Creates the folder of `--out`.
pub fn make(folder: &Path) -> anyhow::Result<()> {
    std::fs::create_dir_all(folder).with_context(|| place("--out", folder))
}

/// Writes a file into the folder.
pub fn write(folder: &Path, name: &str, text: &str) -> anyhow::Result<()> {
    let path = folder.join(name);
    std::fs::write(&path, text).with_context(|| place("--out", &path))
}

/// Returns an option with its file, for errors.
pub fn place(option: &str, path: &Path) -> String {
    format!("{option} {}", path.display())
}
