//! Header of generated files.

pub(super) const PRINTED: &str = "// Printed by p4/src/tofino/: change that, not this.\n";
