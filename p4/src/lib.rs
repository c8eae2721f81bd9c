//! Our P4-16 program, the generator of its per-value code, and p4c's output for it.
//!
//! - [`artifact()`]: the bmv2 JSON and P4Info for frames of 32, 64, 256, 1024 or 2048 values, built into this
//!   crate;
//! - [`load_dir`]: the artifact from a folder on disk, rejected if its sources have changed since p4c ran;
//! - [`tofino_artifact()`]: the program for Tofino, for each variant: the intermediate form, `bf-rt.json`,
//!   P4Info, and the resources of the chip; [`load_tofino_dir`] loads it from a folder;
//! - [`tofino_multicast_artifact()`]: the program for Tofino that copies updates between peers;
//! - [`compress`] and [`decompress`]: artifacts as they are committed (`.xz`);
//! - [`cases`]: packets for the program with the expected output, by p4testgen;
//! - [`Reason`] and [`Outcome`]: the numbers behind the program's counters.
//!
//! `cargo run -p inart-p4` prints the generated P4 and, with `p4c-bm2-ss`, `p4test`, `p4c-barefoot` and
//! `bfas` on the PATH, compiles the artifacts again; with `p4testgen` on the PATH, it prints the cases again.
//! The tables, actions and slot rules are described in `docs/protocol/switch-rules.md`.

mod artifact;
mod compressed;
mod counts;
mod embedded;
mod error;
mod folder;
mod generate;
mod manifest;
mod p4c;
mod p4testgen;
mod scratch;
mod tofino;
mod version;

pub use artifact::{Artifact, artifact, load_dir};
pub use compressed::{CompressionError, LONGEST, compress, decompress};
pub use counts::{Outcome, Reason};
pub use error::Error;
pub use generate::{generated_path, values_p4};
pub use manifest::{MANIFEST, sources, write_manifest};
pub use p4c::P4c;
pub use p4testgen::{CASES, CASES_FOR, P4testgen, cases, check_cases};
pub use tofino::{
    Barefoot, Chip, Compiled, MULTICAST, P4test, Resources, TofinoArtifact, Usage, Variant, build_tofino,
    build_tofino_multicast, load_tofino_dir, load_tofino_multicast, print_tofino_multicast, tofino_artifact,
    tofino_generated, tofino_multicast_artifact, tofino_multicast_version,
};

/// Slots of the program in one switch: a slot range is `base..base + window` within them.
pub const SLOTS: u32 = 4096;
