//! The programs for Tofino (TNA), the one that sums and the one that copies updates: generated code, and
//! p4c's output for them.

mod artifact;
mod barefoot;
mod build;
mod ir;
mod multicast;
mod p4test;
mod printed;
mod resources;
mod seats;
mod values;
mod variant;

use inart_wire::ValuesPerFrame;

pub use artifact::{TofinoArtifact, load_tofino_dir, tofino_artifact};
pub use barefoot::{Barefoot, Compiled};
pub use build::build_tofino;
pub use multicast::{
    MULTICAST, build_tofino_multicast, load_tofino_multicast, print_tofino_multicast,
    tofino_multicast_artifact, tofino_multicast_version,
};
pub use p4test::P4test;
pub use resources::{Resources, Usage};
pub use variant::{Chip, Variant};

/// Returns the generated sources of the program for Tofino: file, relative to the P4 folder, and text.
pub fn tofino_generated() -> Vec<(String, String)> {
    let mut files = vec![("tofino/generated/seats.p4".to_owned(), seats::seats_p4())];
    for values in [ValuesPerFrame::N32, ValuesPerFrame::N64] {
        files.push((format!("tofino/generated/values_n{values}.p4"), values::values_p4(values)));
        files.push((format!("tofino/generated/slots_n{values}.p4"), values::slots_p4(values)));
    }
    files
}
