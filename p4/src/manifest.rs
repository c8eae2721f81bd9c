//! Sources that the artifacts were compiled from: `build/SOURCES.sha256`, in the format of `sha256sum`.

use std::collections::BTreeMap;
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::Error;

/// The list of hashes, relative to the P4 folder. `sha256sum -c build/SOURCES.sha256` there checks it too.
pub const MANIFEST: &str = "build/SOURCES.sha256";

const SOURCE_FOLDERS: [&str; 3] = ["", "include", "generated"];

/// Returns every P4 source under the P4 folder `dir`, relative to it, with its SHA-256 in hexadecimal.
///
/// # Errors
/// If a file or folder cannot be read.
pub fn sources(dir: &Path) -> Result<BTreeMap<String, String>, Error> {
    sources_in(dir, &SOURCE_FOLDERS)
}

/// Like the function above, for the sources in `folders`, without those of their folders.
pub(crate) fn sources_in(dir: &Path, folders: &[&str]) -> Result<BTreeMap<String, String>, Error> {
    let mut hashes = BTreeMap::new();
    for &folder in folders {
        let path = dir.join(folder);
        for entry in path.read_dir().map_err(Error::file(&path))? {
            let name = entry.map_err(Error::file(&path))?.file_name();
            let name = name.to_string_lossy();
            if name.ends_with(".p4") {
                let file = if folder.is_empty() { name.into_owned() } else { format!("{folder}/{name}") };
                let hash = hash_file(dir, &file)?;
                hashes.insert(file, hash);
            }
        }
    }
    Ok(hashes)
}

/// Writes the list for the sources and `artifacts` as they are now in the P4 folder `dir`.
///
/// # Errors
/// If a file cannot be read, or the list cannot be written.
pub fn write_manifest(dir: &Path, artifacts: &[String]) -> Result<(), Error> {
    write_list(dir, MANIFEST, artifacts)
}

/// Writes the list `list` for the sources and `artifacts` as they are now in the P4 folder `dir`.
pub(crate) fn write_list(dir: &Path, list: &str, artifacts: &[String]) -> Result<(), Error> {
    write_list_of(dir, list, sources(dir)?, artifacts)
}

/// Writes the list `list` for the sources with the hashes `hashes`, and `artifacts` as they are now.
pub(crate) fn write_list_of(
    dir: &Path,
    list: &str,
    mut hashes: BTreeMap<String, String>,
    artifacts: &[String],
) -> Result<(), Error> {
    for file in artifacts {
        hashes.insert(file.clone(), hash_file(dir, file)?);
    }
    let text: String = hashes.iter().map(|(file, hash)| format!("{hash}  {file}\n")).collect();
    let path = dir.join(list);
    std::fs::write(&path, text).map_err(Error::file(&path))
}

/// Are the sources, and `artifacts`, in the P4 folder `dir` those of the list `list`?
pub(crate) fn check(dir: &Path, list: &str, artifacts: &[String]) -> Result<(), Error> {
    check_of(dir, list, sources(dir)?, artifacts)
}

/// Like the function above, for the sources with the hashes `found`.
pub(crate) fn check_of(
    dir: &Path,
    list: &str,
    mut found: BTreeMap<String, String>,
    artifacts: &[String],
) -> Result<(), Error> {
    let listed = read(dir, list)?;
    for file in artifacts {
        found.insert(file.clone(), hash_file(dir, file)?);
    }
    for (file, hash) in &found {
        match listed.get(file) {
            Some(listed) if listed == hash => {}
            Some(_) => return Err(Error::Changed { file: file.clone() }),
            None => return Err(Error::Listed { file: file.clone(), how: "new" }),
        }
    }
    match listed.into_keys().find(|file| file.ends_with(".p4") && !found.contains_key(file)) {
        Some(file) => Err(Error::Listed { file, how: "missing" }),
        None => Ok(()),
    }
}

fn read(dir: &Path, list: &str) -> Result<BTreeMap<String, String>, Error> {
    let path = dir.join(list);
    let text = std::fs::read_to_string(&path).map_err(Error::file(&path))?;
    text.lines()
        .enumerate()
        .map(|(index, line)| match line.split_once("  ") {
            Some((hash, file)) if hash.len() == 64 => Ok((file.to_owned(), hash.to_owned())),
            _ => Err(Error::Manifest { path: path.clone(), line: index + 1 }),
        })
        .collect()
}

pub(crate) fn hash_file(dir: &Path, file: &str) -> Result<String, Error> {
    let path = dir.join(file);
    let bytes = std::fs::read(&path).map_err(Error::file(&path))?;
    Ok(Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect())
}
