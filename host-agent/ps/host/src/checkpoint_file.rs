//! The checkpoint file from which a restarted server resumes: the model, its version, and a count per worker.
//!
//! Magic, number of the format as an ASCII digit, fingerprint of the job, number of the training, length of
//! its terms, the terms, version, number of workers, their counts, a byte for each (1 if it took part),
//! number of values, the values (float32), SHA-256 of everything before; integers are big-endian. A write
//! replaces the complete file: a new file in the same folder is written to the disk and renamed, then the
//! folder is written to the disk. Whenever the process or the machine fails, the file holds the previous
//! version or this one.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use inart_formats::{Format, FormatError};
use inart_ps_agent::{Checkpoint, CheckpointStore, TrainingCheckpoint};
use inart_terms::Terms;
use sha2::{Digest, Sha256};

const MAGIC: &[u8] = b"INARTKP";

/// Formats of checkpoints of a parameter server. Formats 1 and 2 were never released.
pub const CHECKPOINT_FORMAT: Format = Format {
    kind: "checkpoint of a parameter server",
    oldest: 3,
    newest: 3,
    fix: "delete the file to start from scratch",
};
const FIRST_DIGIT: u8 = b'0';
const DIGEST_BYTES: usize = 32;

/// Reason for which a checkpoint cannot be used or written.
#[derive(Debug, thiserror::Error)]
pub enum CheckpointError {
    /// Refusal by the system.
    #[error("{path}: {cause}")]
    System {
        /// The file.
        path: PathBuf,
        /// Cause that the system reports.
        cause: std::io::Error,
    },
    /// Incomplete or corrupt file.
    #[error("{path}: incomplete or corrupt checkpoint; delete it to start from scratch")]
    Broken {
        /// The file.
        path: PathBuf,
    },
    /// File in a format that this version does not read.
    #[error("{path}: {error}")]
    Format {
        /// The file.
        path: PathBuf,
        /// The format, and those that this version reads.
        error: FormatError,
    },
    /// File of another job.
    #[error(
        "{path}: checkpoint of another job or model; name another file, or delete this one to start from scratch"
    )]
    OtherJob {
        /// The file.
        path: PathBuf,
    },
    /// File of another training of the job.
    #[error(
        "{path}: checkpoint of another training: {difference}; name another file, or delete this one to start \
         from scratch"
    )]
    OtherTraining {
        /// The file.
        path: PathBuf,
        /// First setting that differs, with both values.
        difference: String,
    },
}

/// Checkpoint file of a job.
#[derive(Debug, Clone)]
pub struct CheckpointFile {
    path: PathBuf,
    job: u64,
    terms: Terms,
}

impl CheckpointFile {
    /// Creates a file at a path, for the job with that fingerprint.
    pub fn new(path: &Path, job: u64) -> Self {
        CheckpointFile { path: path.to_owned(), job, terms: Terms::default() }
    }

    /// Sets the settings of the training: a file of a training with others is refused.
    #[must_use]
    pub fn with_terms(mut self, terms: Terms) -> Self {
        self.terms = terms;
        self
    }

    /// Returns the path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads the checkpoint; `None` if there is no such file.
    ///
    /// # Errors
    /// The file cannot be read, is incomplete, or belongs to another training.
    pub fn read(&self) -> Result<Option<Checkpoint>, CheckpointError> {
        Ok(self.read_training()?.map(|training| training.kept))
    }

    /// Reads the checkpoint and its training; `None` if there is no such file.
    ///
    /// # Errors
    /// The file cannot be read, is incomplete, or belongs to another training.
    pub fn read_training(&self) -> Result<Option<TrainingCheckpoint>, CheckpointError> {
        let path = self.path.clone();
        let data = match std::fs::read(&self.path) {
            Ok(data) => data,
            Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(cause) => return Err(CheckpointError::System { path, cause }),
        };
        if let Some(number) = format_of(&data) {
            CHECKPOINT_FORMAT
                .check(number)
                .map_err(|error| CheckpointError::Format { path: path.clone(), error })?;
        }
        let Some((job, training)) = parse(&data) else { return Err(CheckpointError::Broken { path }) };
        if let Some(difference) = self.terms.conflict(&training.terms) {
            let difference = difference.between("it", "this training");
            return Err(CheckpointError::OtherTraining { path, difference });
        }
        if job != self.job {
            return Err(CheckpointError::OtherJob { path });
        }
        Ok(Some(training))
    }

    /// Replaces the checkpoint; once this returns, it is on the disk. The training's settings are those of
    /// [`with_terms`](Self::with_terms).
    ///
    /// # Errors
    /// The system refuses.
    pub fn write(&self, kept: &Checkpoint) -> Result<(), CheckpointError> {
        self.write_training(&TrainingCheckpoint { number: 0, terms: self.terms.clone(), kept: kept.clone() })
    }

    /// Replaces the checkpoint by that of a training with a number.
    ///
    /// # Errors
    /// The system refuses.
    pub fn write_training(&self, training: &TrainingCheckpoint) -> Result<(), CheckpointError> {
        let TrainingCheckpoint { number, terms, kept } = training;
        let mut data = Vec::with_capacity(4 * kept.values.len() + 4096);
        data.extend(MAGIC);
        data.push(FIRST_DIGIT + CHECKPOINT_FORMAT.newest as u8);
        data.extend(self.job.to_be_bytes());
        data.extend(number.to_be_bytes());
        let terms = terms.encode();
        data.extend((terms.len() as u64).to_be_bytes());
        data.extend(terms);
        data.extend(kept.version.to_be_bytes());
        data.extend((kept.done.len() as u64).to_be_bytes());
        kept.done.iter().for_each(|done| data.extend(done.to_be_bytes()));
        let is_member = |worker: usize| kept.members.get(worker).copied().unwrap_or_default();
        data.extend((0..kept.done.len()).map(|worker| u8::from(is_member(worker))));
        data.extend((kept.values.len() as u64).to_be_bytes());
        kept.values.iter().for_each(|value| data.extend(value.to_bits().to_be_bytes()));
        let digest = Sha256::digest(&data);
        data.extend(digest);
        let mut beside = self.path.clone().into_os_string();
        beside.push(".new");
        replace(&self.path, Path::new(&beside), &data)
            .map_err(|cause| CheckpointError::System { path: self.path.clone(), cause })
    }
}

impl CheckpointStore for CheckpointFile {
    fn keep(&self, training: &TrainingCheckpoint) -> Result<(), String> {
        self.write_training(training).map_err(|error| error.to_string())
    }
}

/// Writes the data first, then the name, then the folder's entry: each is on the disk before the next.
fn replace(path: &Path, beside: &Path, data: &[u8]) -> io::Result<()> {
    let mut file = File::create(beside)?;
    file.write_all(data)?;
    file.sync_all()?;
    std::fs::rename(beside, path)?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
}

/// Returns the number of a file's format; `None` for a file that is not a checkpoint.
fn format_of(data: &[u8]) -> Option<u64> {
    let digit = *data.strip_prefix(MAGIC)?.first()?;
    digit.checked_sub(FIRST_DIGIT).map(u64::from)
}

fn parse(data: &[u8]) -> Option<(u64, TrainingCheckpoint)> {
    let (body, digest) = data.split_at_checked(data.len().checked_sub(DIGEST_BYTES)?)?;
    if Sha256::digest(body).as_slice() != digest {
        return None;
    }
    let (_, mut rest) = body.strip_prefix(MAGIC)?.split_first()?;
    let next = |rest: &mut &[u8]| {
        let (first, more) = rest.split_first_chunk::<8>()?;
        *rest = more;
        Some(u64::from_be_bytes(*first))
    };
    let (job, number, bytes) = (next(&mut rest)?, next(&mut rest)?, next(&mut rest)?);
    let (terms, more) = rest.split_at_checked(usize::try_from(bytes).ok()?)?;
    let terms = Terms::decode(terms).ok()?;
    rest = more;
    let (version, workers) = (next(&mut rest)?, next(&mut rest)?);
    let done = (0..workers).map(|_| next(&mut rest)).collect::<Option<Vec<_>>>()?;
    let (members, more) = rest.split_at_checked(done.len())?;
    let members = members.iter().map(|byte| *byte == 1).collect();
    rest = more;
    let values = next(&mut rest)?;
    if rest.len() as u64 != values.checked_mul(4)? {
        return None;
    }
    let value = |four: &[u8]| f32::from_bits(u32::from_be_bytes([four[0], four[1], four[2], four[3]]));
    let values = rest.chunks_exact(4).map(value).collect();
    Some((job, TrainingCheckpoint { number, terms, kept: Checkpoint { version, done, members, values } }))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn checkpoints_are_read_back_and_corrupt_ones_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model");
        let file = CheckpointFile::new(&path, 7);
        assert!(file.read().unwrap().is_none());
        let members = vec![true, false];
        let kept = Checkpoint { version: 5, done: vec![2, 3], members, values: vec![1.5, -0.0, 1e-40] };
        file.write(&kept).unwrap();
        let back = file.read().unwrap().unwrap();
        assert_eq!((back.version, &back.done, &back.members), (5, &kept.done, &kept.members));
        let bits = |kept: &Checkpoint| kept.values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&back), bits(&kept));
        let other = CheckpointFile::new(&path, 8).read();
        assert!(matches!(other, Err(CheckpointError::OtherJob { .. })));
        let whole = std::fs::read(&path).unwrap();
        for end in 0..whole.len() {
            std::fs::write(&path, &whole[..end]).unwrap();
            assert!(matches!(file.read(), Err(CheckpointError::Broken { .. })), "{end}");
        }
        for at in (0..whole.len()).filter(|at| *at != MAGIC.len()) {
            let mut changed = whole.clone();
            changed[at] ^= 1;
            std::fs::write(&path, &changed).unwrap();
            assert!(matches!(file.read(), Err(CheckpointError::Broken { .. })), "{at}");
        }
    }

    #[test]
    fn a_checkpoint_carries_its_format_and_a_newer_one_is_refused_before_its_contents() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model");
        let file = CheckpointFile::new(&path, 7);
        file.write(&Checkpoint { version: 5, done: vec![2], members: vec![true], values: vec![1.5] })
            .unwrap();
        let whole = std::fs::read(&path).unwrap();
        assert_eq!(whole[..8], *b"INARTKP3");
        let refused = |contents: &[u8]| {
            std::fs::write(&path, contents).unwrap();
            file.read().unwrap_err().to_string()
        };
        let place = path.display();
        // Without a digest, too.
        for newer in [&b"INARTKP4"[..], b"INARTKP4 and more"] {
            let named = format!(
                "{place}: format 4 is newer than this version of inart reads (only 3); use a newer inart, or \
                 delete the file to start from scratch"
            );
            assert_eq!(refused(newer), named);
        }
        assert!(refused(b"INARTKP2").starts_with(&format!("{place}: format 2 is older than this version")));
        assert!(refused(b"INARTKP").contains("incomplete or corrupt"));
    }

    #[test]
    fn a_write_that_was_cut_off_leaves_the_version_before() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model");
        let file = CheckpointFile::new(&path, 7);
        let values = |version| vec![version as f32; 50];
        let kept = |version| Checkpoint {
            version,
            done: vec![version],
            members: vec![true],
            values: values(version),
        };
        file.write(&kept(1)).unwrap();
        // A process that crashed while it wrote the next version.
        let whole = std::fs::read(&path).unwrap();
        std::fs::write(folder.path().join("model.new"), &whole[..whole.len() / 2]).unwrap();
        assert_eq!(file.read().unwrap().unwrap(), kept(1));
        file.write(&kept(2)).unwrap();
        assert_eq!(file.read().unwrap().unwrap(), kept(2));
        assert!(!folder.path().join("model.new").exists(), "no other file remains");
        // An obstacle to the next version is named, and the previous version remains.
        std::fs::create_dir(folder.path().join("model.new")).unwrap();
        let error = file.write(&kept(3)).unwrap_err().to_string();
        assert!(error.contains("model"), "{error}");
        assert_eq!(file.read().unwrap().unwrap(), kept(2));
    }
}
