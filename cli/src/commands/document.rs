//! The files that a command is given, each read once: a pipe has its text only once, and the choice of a
//! system and the command itself both need it.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError, mpsc};
use std::time::{Duration, Instant};

/// The longest document.
const MOST_BYTES: u64 = 64 << 20;
/// How long a pipe or a terminal is waited for in silence.
const SILENCE: Duration = Duration::from_secs(2);
/// How long a pipe or a terminal may take for a document.
const LONGEST: Duration = Duration::from_secs(600);

static READ: Mutex<Option<HashMap<PathBuf, String>>> = Mutex::new(None);

/// The text of a document, without a byte order mark.
///
/// # Errors
/// What is wrong with the file: it cannot be opened, is a directory, is not UTF-8 text, or has more than
/// 64 MiB.
pub fn read(path: &Path) -> io::Result<String> {
    if let Some(text) =
        READ.lock().unwrap_or_else(PoisonError::into_inner).as_ref().and_then(|all| all.get(path))
    {
        return Ok(text.clone());
    }
    let text = text_of(&bytes_of(path)?)?;
    // A file can be read again; a pipe has its text only once.
    if !std::fs::metadata(path)?.is_file() {
        let mut all = READ.lock().unwrap_or_else(PoisonError::into_inner);
        all.get_or_insert_default().insert(path.to_owned(), text.clone());
    }
    Ok(text)
}

/// The bytes of a file, at most as many as a document has.
///
/// # Errors
/// As [`read`], except for what the bytes are.
pub fn bytes_of(path: &Path) -> io::Result<Vec<u8>> {
    let about = std::fs::metadata(path)?;
    if about.is_dir() {
        return Err(wrong("it is a directory; name a file".to_owned()));
    }
    let bytes = if about.is_file() { text_in(path)? } else { text_within(path, LONGEST)? };
    if bytes.len() as u64 > MOST_BYTES {
        let most = MOST_BYTES >> 20;
        return Err(wrong(format!("it has more than {most} MiB; name a document of at most {most} MiB")));
    }
    Ok(bytes)
}

/// The bytes of a file, and one more than a document may have.
fn text_in(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(MOST_BYTES + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The bytes that a pipe or a terminal delivers. Says every few seconds that they are waited for.
fn text_within(path: &Path, longest: Duration) -> io::Result<Vec<u8>> {
    let (read, ended) = mpsc::channel();
    let (begun, own) = (Instant::now(), path.to_owned());
    // Ends with the process if the text never comes.
    std::thread::spawn(move || read.send(text_in(&own)));
    loop {
        match ended.recv_timeout(SILENCE.min(longest)) {
            Ok(bytes) => return bytes,
            Err(_) if begun.elapsed() < longest => {
                eprintln!("waiting for the text of {}", path.display());
            }
            Err(_) => {
                let problem =
                    format!("its text has not ended after {} s; write it, or name a file", longest.as_secs());
                return Err(io::Error::new(io::ErrorKind::TimedOut, problem));
            }
        }
    }
}

fn text_of(bytes: &[u8]) -> io::Result<String> {
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        return Err(wrong("it is UTF-16 and not UTF-8 text; save it as UTF-8".to_owned()));
    }
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let at = error.valid_up_to();
        let line = bytes[..at].iter().filter(|&&byte| byte == b'\n').count() + 1;
        wrong(format!("line {line}: it is not UTF-8 text (byte {at}); save it as UTF-8"))
    })?;
    Ok(text.strip_prefix('\u{feff}').unwrap_or(text).to_owned())
}

fn wrong(problem: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, problem)
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsRawFd;

    use super::*;

    #[test]
    fn a_pipe_that_stays_silent_ends_the_wait_by_name() {
        let (reader, writer) = io::pipe().expect("a pipe");
        let path = PathBuf::from(format!("/proc/self/fd/{}", reader.as_raw_fd()));
        let error = text_within(&path, Duration::from_millis(50)).expect_err("nothing is written");
        assert!(error.to_string().contains("has not ended"), "{error}");
        drop(writer);
        assert_eq!(text_within(&path, LONGEST).expect("an end").len(), 0);
    }

    #[test]
    fn text_is_utf_8_without_its_mark() {
        assert_eq!(text_of("\u{feff}name: é\r\n".as_bytes()).expect("text"), "name: é\r\n");
        for (bytes, named) in
            [(&b"a\n\xff"[..], "line 2"), (b"\xff\xfea\0", "UTF-16"), (b"\xfe\xff\0a", "UTF-16")]
        {
            let problem = text_of(bytes).expect_err("no text").to_string();
            assert!(problem.contains(named) && problem.contains("UTF-8"), "{problem}");
        }
    }
}
