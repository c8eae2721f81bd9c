//! The invariants that `ARCHITECTURE.md` states of folders, each a test.

use super::{root, sources};

/// Folders of sources that may not import from `topologies` for others.
const IMPORTERS: &[&str] = &[
    "protocol",
    "transport",
    "p4",
    "planner",
    "switch",
    "controller",
    "host-agent",
    "simulator",
    "experiments",
    "emulator",
    "cli",
    "python",
];

#[test]
fn topologies_alone_exports_what_it_has() {
    for folder in IMPORTERS {
        for (file, text) in sources(&root().join(folder)) {
            let hands_on = text.contains("pub use inart_topologies");
            assert!(!hands_on, "{}: import it from inart_topologies where it is used", file.display());
        }
    }
}
