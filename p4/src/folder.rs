//! Files of the P4 folder: compressed if the name ends with `.xz`.

use std::path::Path;

use crate::Error;
use crate::compressed::{CompressionError, compress, decompress};

/// Reads a file relative to the P4 folder `dir`, and decompresses it if its name ends with `.xz`.
pub(crate) fn read(dir: &Path, file: &str) -> Result<Vec<u8>, Error> {
    let path = dir.join(file);
    let contents = std::fs::read(&path).map_err(Error::file(&path))?;
    if !is_compressed(file) {
        return Ok(contents);
    }
    decompress(&contents).map_err(|reason| Error::Damaged { path, reason })
}

/// Reads a text as [`read`] does.
pub(crate) fn read_text(dir: &Path, file: &str) -> Result<String, Error> {
    let not_text = |_| Error::Damaged { path: dir.join(file), reason: CompressionError::NotText };
    String::from_utf8(read(dir, file)?).map_err(not_text)
}

/// Writes a file relative to the P4 folder `dir`, compressed if its name ends with `.xz`.
pub(crate) fn write(dir: &Path, file: &str, contents: &[u8]) -> Result<(), Error> {
    let path = dir.join(file);
    if !is_compressed(file) {
        return std::fs::write(&path, contents).map_err(Error::file(&path));
    }
    match compress(contents) {
        Ok(compressed) => std::fs::write(&path, compressed).map_err(Error::file(&path)),
        Err(reason) => Err(Error::TooLong { path, reason }),
    }
}

fn is_compressed(file: &str) -> bool {
    file.ends_with(".xz")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LONGEST;

    #[test]
    fn a_file_is_compressed_by_its_name() {
        let dir = tempfile::tempdir().expect("a folder");
        let written = |file: &str, contents: &[u8]| {
            write(dir.path(), file, contents).expect("it can be written");
            assert!(read(dir.path(), file).expect("it can be read") == contents, "{file}");
            std::fs::read(dir.path().join(file)).expect("it is there")
        };
        let text = "text ".repeat(100);
        assert_eq!(written("a.json", text.as_bytes()), text.as_bytes());
        assert!(written("a.json.xz", text.as_bytes()).len() < 100);
        assert_eq!(read_text(dir.path(), "a.json.xz").expect("it is text"), text);
    }

    #[test]
    fn what_could_not_be_read_is_not_written() {
        let dir = tempfile::tempdir().expect("a folder");
        let refused = write(dir.path(), "a.json.xz", &vec![0; LONGEST as usize + 1]);
        let message = refused.expect_err("it is too long").to_string();
        assert!(
            message.contains("a.json.xz: 16777217 bytes") && message.contains("raise LONGEST"),
            "{message}"
        );
        assert!(!dir.path().join("a.json.xz").exists());
    }
}
