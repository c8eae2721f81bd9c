//! The program for Tofino (TNA): its generated code, and what p4c printed for it.

mod seats;
mod values;

pub use seats::seats_p4;
pub use values::{slots_p4, values_p4};

const PRINTED: &str = "// Printed by p4/src/tofino/: change that, not this.\n";
