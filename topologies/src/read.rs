//! Reads the text of a document from a file, a pipe or a terminal, with bounds in bytes and time.

use std::fs::{File, FileType};
use std::io::{self, IsTerminal as _, Read as _};
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use crate::error::NetworkError;

/// The longest document, in bytes.
pub const MOST_BYTES: u64 = 64 << 20;
/// Begin of the problem of a file without text.
pub const EMPTY: &str = "the file is empty";
/// Interval of notices of a reader that waits for a pipe or a terminal.
const SILENCE: Duration = Duration::from_secs(2);
/// Longest time of a pipe or a terminal to deliver a document.
const LONGEST: Duration = Duration::from_secs(600);

/// Reason that a document cannot be read, with its path. Displays as one line.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file.
    #[error("{}: {problem}", .path.display())]
    File {
        /// The file's path.
        path: PathBuf,
        /// Problem, and fix.
        problem: String,
    },
    /// Problem of the document.
    #[error("{}: {error}", .path.display())]
    Document {
        /// The file's path.
        path: PathBuf,
        /// Problem, with its place in the document.
        error: NetworkError,
    },
}

/// Reads a document's text, without a byte order mark. `waits` is called every few seconds while a pipe or a
/// terminal is silent, with the time since the start of the wait.
///
/// # Errors
/// Returns an error for a file that cannot be opened, is a directory or a device, is empty, is not UTF-8
/// text, has more than [`MOST_BYTES`], or does not end within ten minutes.
pub fn text(path: &Path, waits: &mut dyn FnMut(Duration)) -> Result<String, ReadError> {
    let file = |problem: String| ReadError::File { path: path.to_owned(), problem };
    let bytes = bytes_within(path, LONGEST, waits).map_err(file)?;
    text_of(bytes).map_err(file)
}

/// Reads a file's bytes, at most [`MOST_BYTES`]; see [`text`].
///
/// # Errors
/// As [`text`], except for the encoding.
pub fn bytes(path: &Path, waits: &mut dyn FnMut(Duration)) -> Result<Vec<u8>, ReadError> {
    let file = |problem: String| ReadError::File { path: path.to_owned(), problem };
    bytes_within(path, LONGEST, waits).map_err(file)
}

fn bytes_within(path: &Path, longest: Duration, waits: &mut dyn FnMut(Duration)) -> Result<Vec<u8>, String> {
    let words = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => "there is no such file; check the path".to_owned(),
        _ => error.to_string(),
    };
    let about = std::fs::metadata(path).map_err(words)?;
    let kind = about.file_type();
    if let Some(other) = no_document(kind) {
        return Err(format!("it is a {other}; name a file"));
    }
    if about.len() > MOST_BYTES && kind.is_file() {
        return Err(too_long(&format!("has {} MiB", about.len() >> 20)));
    }
    let bytes = if kind.is_file() { bytes_in(path) } else { bytes_of_pipe(path, longest, waits)? };
    let bytes = bytes.map_err(words)?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(too_long(&format!("has more than {} MiB", MOST_BYTES >> 20)));
    }
    Ok(bytes)
}

fn too_long(has: &str) -> String {
    format!("it {has}; name a document of at most {} MiB", MOST_BYTES >> 20)
}

/// Returns the kind of a path that is never a document.
fn no_document(kind: FileType) -> Option<&'static str> {
    if kind.is_dir() {
        Some("directory")
    } else if kind.is_block_device() {
        Some("block device")
    } else if kind.is_socket() {
        Some("socket")
    } else {
        None
    }
}

/// Returns the bytes of a file, and one more than a document may have.
fn bytes_in(path: &Path) -> io::Result<Vec<u8>> {
    let file = File::open(path)?;
    if file.metadata()?.file_type().is_char_device() && !file.is_terminal() {
        return Err(io::Error::other("it is a device; name a file"));
    }
    let mut bytes = Vec::new();
    file.take(MOST_BYTES + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Returns the bytes that a pipe or a terminal delivers.
fn bytes_of_pipe(
    path: &Path,
    longest: Duration,
    waits: &mut dyn FnMut(Duration),
) -> Result<io::Result<Vec<u8>>, String> {
    let (read, ended) = mpsc::channel();
    let (begun, own) = (Instant::now(), path.to_owned());
    // Ends with the process if the text never ends.
    std::thread::spawn(move || read.send(bytes_in(&own)));
    loop {
        match ended.recv_timeout(SILENCE.min(longest)) {
            Ok(bytes) => return Ok(bytes),
            Err(_) if begun.elapsed() < longest => waits(begun.elapsed()),
            Err(_) => {
                let seconds = longest.as_secs();
                return Err(format!("its text has not ended after {seconds} s; write it, or name a file"));
            }
        }
    }
}

fn text_of(bytes: Vec<u8>) -> Result<String, String> {
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        return Err("it is UTF-16 and not UTF-8 text; save it as UTF-8".to_owned());
    }
    let line = |at: usize, bytes: &[u8]| bytes[..at].iter().filter(|&&byte| byte == b'\n').count() + 1;
    if let Some(at) = bytes.iter().position(|&byte| byte == 0) {
        let line = line(at, &bytes);
        return Err(format!("line {line}: it is not text (byte {at} is 0); name a document of text"));
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let line = line(at, error.as_bytes());
        format!("line {line}: it is not UTF-8 text (byte {at}); save it as UTF-8")
    })?;
    let text = text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text);
    match text.trim().is_empty() {
        true => Err(format!("{EMPTY}; topologies/fig1.yaml shows what a topology looks like")),
        false => Ok(text),
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsRawFd as _;

    use super::*;

    #[test]
    fn a_pipe_that_stays_silent_ends_the_wait_by_name() {
        let (reader, writer) = io::pipe().expect("a pipe");
        let path = PathBuf::from(format!("/proc/self/fd/{}", reader.as_raw_fd()));
        let error = bytes_within(&path, Duration::from_millis(50), &mut |_| ()).expect_err("silence");
        assert!(error.contains("has not ended"), "{error}");
        drop(writer);
        assert_eq!(bytes_within(&path, LONGEST, &mut |_| ()).expect("an end").len(), 0);
    }

    #[test]
    fn text_is_utf_8_without_its_mark() {
        assert_eq!(text_of("\u{feff}name: é\r\n".into()).expect("text"), "name: é\r\n");
        for (bytes, named) in [
            (&b"a\n\xff"[..], "line 2"),
            (b"\xff\xfea\0", "UTF-16"),
            (b"\xfe\xff\0a", "UTF-16"),
            (b"a\n\n\0", "line 3"),
            (b" \n", "empty"),
        ] {
            let problem = text_of(bytes.to_vec()).expect_err("not a text");
            assert!(problem.contains(named), "{problem}");
        }
    }
}
