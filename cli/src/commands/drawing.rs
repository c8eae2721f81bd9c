//! Files that a command writes when its work is done: tried before it begins, so that no work is lost.

use std::io;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

use anyhow::Context;

/// Sees that a file can be written, and leaves no trace of having tried.
///
/// # Errors
/// Why it cannot be written, with the flag that named it.
pub fn try_file(flag: &str, file: &Path) -> anyhow::Result<()> {
    if let Ok(about) = std::fs::metadata(file)
        && (about.is_dir() || about.file_type().is_fifo() || about.file_type().is_socket())
    {
        anyhow::bail!("{}: it is a directory, a pipe or a socket; name a file", place(flag, file));
    }
    let missing = |path: &&Path| !path.as_os_str().is_empty() && !path.exists();
    let (is_new, folders) = (missing(&file), file.ancestors().skip(1).filter(missing).collect::<Vec<_>>());
    let tried = make_folder(file)
        .and_then(|()| std::fs::OpenOptions::new().append(true).create(true).open(file).map(drop));
    if is_new && tried.is_ok() {
        std::fs::remove_file(file).with_context(|| place(flag, file))?;
    }
    for folder in folders {
        let _ = std::fs::remove_dir(folder); // another command may use it by now, or it was never made
    }
    tried.with_context(|| place(flag, file))
}

/// Writes a file, and its folder if need be.
///
/// # Errors
/// Why it cannot be written, with the flag that named it.
pub fn write_file(flag: &str, file: &Path, text: &str) -> anyhow::Result<()> {
    make_folder(file).and_then(|()| std::fs::write(file, text)).with_context(|| place(flag, file))
}

fn place(flag: &str, file: &Path) -> String {
    format!("{flag} {}", file.display())
}

fn make_folder(file: &Path) -> io::Result<()> {
    match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => std::fs::create_dir_all(folder),
        _ => Ok(()),
    }
}
