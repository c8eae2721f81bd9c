//! File of the records. Processes share it: a writer locks it, reads it again, and replaces it in one step,
//! so that no change is lost and a machine that stops meanwhile leaves the old or the new file.

use std::fs::{File, TryLockError};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use inart_formats::{DocumentError, Format, UNNUMBERED};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::error::RecordsError;

/// Number of attempts to lock while another process holds the lock, and the pause in between. A change
/// takes milliseconds.
const ATTEMPTS: u32 = 500;
const PAUSE: Duration = Duration::from_millis(10);

/// Characters that are escaped in file names, and `%`, which precedes their two hexadecimal digits.
const ESCAPED: [char; 4] = ['%', '/', '\\', '\0'];
const SUFFIX: &str = ".json";

/// Formats of the controller's records. Format 1, without a number, has documents of networks with old keys.
pub const RECORDS_FORMAT: Format = Format {
    kind: "records of the controller",
    oldest: 1,
    newest: 2,
    fix: "move the file away to start without records",
};

/// Records of any kind.
pub(super) trait Recorded: Clone + Default + Serialize + DeserializeOwned {
    /// Converts contents of format 1.
    fn renew(&mut self);
}

/// Returns the name of the JSON file for an object; differs for each object.
pub fn file_name(name: &str) -> String {
    let mut file = String::with_capacity(name.len() + SUFFIX.len());
    for char in name.chars() {
        match ESCAPED.contains(&char) {
            true => file.push_str(&format!("%{:02X}", u32::from(char))),
            false => file.push(char),
        }
    }
    file + SUFFIX
}

/// Returns the object that a file is for; `None` for other files.
pub(super) fn name_of(file: &str) -> Option<String> {
    let mut parts = file.strip_suffix(SUFFIX)?.split('%');
    let mut name = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (digits, rest) = part.split_at_checked(2)?;
        name.push(u8::from_str_radix(digits, 16).ok()?.into());
        name.push_str(rest);
    }
    (file_name(&name) == file).then_some(name)
}

/// Returns the path of the records of network `topology`.
pub(super) fn path(folder: &Path, topology: &str) -> PathBuf {
    folder.join(file_name(topology))
}

/// Reads the file; returns empty records if it does not exist.
pub(super) fn read<R: Recorded>(path: &Path) -> Result<R, RecordsError> {
    let error = |reason: String| RecordsError::File { path: path.to_owned(), reason };
    match std::fs::read(path) {
        Ok(bytes) => parse(&bytes).map_err(|cause| match cause {
            DocumentError::Format(cause) => error(cause.to_string()),
            DocumentError::Contents(cause) => error(format!(
                "not what `inart apply` writes ({cause}); move the file away to start without records"
            )),
        }),
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(R::default()),
        Err(cause) => Err(error(format!("cannot be read ({cause}); keep the records in another folder"))),
    }
}

fn parse<R: Recorded>(bytes: &[u8]) -> Result<R, DocumentError> {
    let mut records: R = RECORDS_FORMAT.read(bytes)?;
    if RECORDS_FORMAT.number(bytes)? == UNNUMBERED {
        records.renew();
    }
    Ok(records)
}

/// Exclusive right to change the file, until dropped.
pub(super) struct Lock {
    path: PathBuf,
    _held: File,
}

impl Lock {
    /// Locks a file next to the records (which are replaced, and so cannot carry the lock). Waits for the
    /// current holder.
    pub(super) fn take(path: &Path) -> Result<Self, RecordsError> {
        let error = |reason: String| RecordsError::File { path: path.to_owned(), reason };
        let system = |cause: io::Error| {
            error(format!("cannot be locked ({cause}); keep the records in another folder"))
        };
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(|cause| {
                error(format!("cannot be written ({cause}); keep the records in another folder"))
            })?;
        }
        let lock_file = path.with_extension("lock");
        let file =
            File::options().create(true).truncate(false).write(true).open(&lock_file).map_err(system)?;
        for _ in 0..ATTEMPTS {
            match file.try_lock() {
                Ok(()) => return Ok(Lock { path: path.to_owned(), _held: file }),
                Err(TryLockError::WouldBlock) => std::thread::sleep(PAUSE),
                Err(TryLockError::Error(cause)) => return Err(system(cause)),
            }
        }
        Err(error(format!(
            "another process holds {} for {} s: end it, or keep the records in another folder",
            lock_file.display(),
            (ATTEMPTS * PAUSE).as_secs()
        )))
    }

    /// Replaces the file; if the machine stops meanwhile, the file has either its old or its new content.
    pub(super) fn replace(&self, records: &impl Serialize) -> Result<(), RecordsError> {
        let write = || {
            let fresh = self.path.with_extension("new");
            let mut file = File::create(&fresh)?;
            file.write_all(RECORDS_FORMAT.write(records)?.as_bytes())?;
            file.sync_all()?;
            std::fs::rename(&fresh, &self.path)?;
            // The new name is durable only after the folder is.
            self.path.parent().map_or(Ok(()), |folder| File::open(folder)?.sync_all())
        };
        write().map_err(|cause: io::Error| RecordsError::File {
            path: self.path.clone(),
            reason: format!("cannot be written ({cause}); keep the records in another folder"),
        })
    }
}
