//! Unix sockets at paths that people give.

#![forbid(unsafe_code)]

use std::fs::{self, FileType};
use std::io;
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;

/// Listens on a socket at that path. A socket without a listener is replaced: a killed process leaves its
/// socket behind. No other file is ever removed.
///
/// # Errors
/// Returns an error if something other than a socket is at the path (also a symbolic link to one), another
/// process listens there, or the system refuses.
pub fn listen(path: &Path) -> io::Result<UnixListener> {
    remove_stale(path)?;
    UnixListener::bind(path)
}

fn remove_stale(path: &Path) -> io::Result<()> {
    let kind = match fs::symlink_metadata(path) {
        Ok(found) => found.file_type(),
        // Binding reports any problem of the folder.
        Err(_) => return Ok(()),
    };
    if !kind.is_socket() {
        let problem = format!("there is {} and no socket; it is left alone, give another path", word(kind));
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, problem));
    }
    match UnixStream::connect(path) {
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => fs::remove_file(path),
        _ => Ok(()),
    }
}

fn word(kind: FileType) -> &'static str {
    match kind {
        kind if kind.is_file() => "a file",
        kind if kind.is_dir() => "a folder",
        kind if kind.is_symlink() => "a symbolic link",
        _ => "a device or pipe",
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn what_is_no_socket_is_refused_and_left_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        fs::write(at("file"), "precious").expect("written");
        fs::create_dir(at("folder")).expect("made");
        let stale = listen(&at("stale")).expect("listens");
        drop(stale);
        for (link, target) in [("to-file", "file"), ("to-stale", "stale"), ("to-nothing", "nothing")] {
            symlink(at(target), at(link)).expect("linked");
        }
        for (name, word) in [
            ("file", "a file"),
            ("folder", "a folder"),
            ("to-file", "a symbolic link"),
            ("to-stale", "a symbolic link"),
            ("to-nothing", "a symbolic link"),
        ] {
            let before = fs::symlink_metadata(at(name)).expect("there");
            let error = listen(&at(name)).expect_err(name).to_string();
            assert!(error.contains(word) && error.contains("left alone"), "{name}: {error}");
            let after = fs::symlink_metadata(at(name)).expect("still there");
            assert_eq!(before.file_type(), after.file_type(), "{name}");
        }
        assert_eq!(fs::read_to_string(at("to-file")).expect("still there"), "precious");
        assert!(fs::symlink_metadata(at("stale")).is_ok());
    }

    #[test]
    fn a_socket_that_was_left_behind_is_replaced_and_one_in_use_is_not() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("socket");
        drop(listen(&path).expect("listens"));
        let listener = listen(&path).expect("replaced");
        let error = listen(&path).expect_err("in use");
        assert_eq!(error.kind(), io::ErrorKind::AddrInUse);
        UnixStream::connect(&path).expect("the first still answers");
        drop(listener);
        let error = listen(&folder.path().join("missing/socket")).expect_err("no folder");
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }
}
