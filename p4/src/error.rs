use std::path::{Path, PathBuf};

use inart_wire::ValuesPerFrame;

use crate::compressed::CompressionError;
use crate::tofino::Variant;

/// Reason that an artifact cannot be loaded or created.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file of the P4 folder could not be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Error of the operating system.
        source: std::io::Error,
    },
    /// A file changed after p4c ran.
    #[error("P4 artifact does not match its source: {file} changed; recompile with `cargo run -p inart-p4`")]
    Changed {
        /// The file, relative to the P4 folder.
        file: String,
    },
    /// A file appeared or went after p4c ran.
    #[error("P4 artifact does not match its source: {file} is {how}; recompile with `cargo run -p inart-p4`")]
    Listed {
        /// The file, relative to the P4 folder.
        file: String,
        /// `missing` or `new`.
        how: &'static str,
    },
    /// A line of the list of hashes is not `HASH  FILE`.
    #[error("{}: line {line} is not a SHA-256 and a file; recompile with `cargo run -p inart-p4`", path.display())]
    Manifest {
        /// The list.
        path: PathBuf,
        /// Line, from 1.
        line: usize,
    },
    /// A compressed artifact cannot be decompressed.
    #[error("{}: {reason}; recompile with `cargo run -p inart-p4`", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Reason.
        reason: CompressionError,
    },
    /// p4c printed more than an artifact may have.
    #[error("{}: {reason}; raise LONGEST in p4/src/compressed.rs", path.display())]
    TooLong {
        /// The file that was to be written.
        path: PathBuf,
        /// Length that it would have.
        reason: CompressionError,
    },
    /// p4c refused the program.
    #[error("p4c-bm2-ss refused inart.p4 for {values} values: {message}")]
    Compile {
        /// Values per frame.
        values: ValuesPerFrame,
        /// Output of p4c.
        message: String,
    },
    /// p4test refused the program for Tofino, or printed something else than expected.
    #[error("p4test refused tofino/inart.p4 for {variant}: {message}")]
    Tofino {
        /// Variant of the program.
        variant: Variant,
        /// Output of p4test, or the problem with it.
        message: String,
    },
    /// The back end for Tofino, or its assembler, refused the program, or printed something else than
    /// expected.
    #[error("p4c's back end for Tofino refused tofino/inart.p4 for {variant}: {message}")]
    Chip {
        /// Variant of the program.
        variant: Variant,
        /// Output of the tool, or the problem with it.
        message: String,
    },
    /// p4testgen stopped.
    #[error("p4testgen printed no cases for inart.p4: {message}")]
    Cases {
        /// Output of p4testgen.
        message: String,
    },
    /// p4c printed something that is not JSON.
    #[error("p4c-bm2-ss printed no JSON for {values} values: {source}")]
    Json {
        /// Values per frame.
        values: ValuesPerFrame,
        /// Position that is not JSON.
        source: serde_json::Error,
    },
}

impl Error {
    pub(crate) fn file(path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::File { path, source }
    }
}
