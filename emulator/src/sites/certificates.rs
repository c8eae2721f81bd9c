//! Certificates for every site and the scheduler.

use std::io;

use inart_topologies::sites::Overlay;

use crate::machine::scratch::Scratch;

/// The scheduler's name.
pub const SCHEDULER: &str = "scheduler";

/// Writes `ca.pem`, and `NAME.pem` with `NAME.key` for everybody.
pub fn write(overlay: &Overlay, scratch: &Scratch) -> io::Result<()> {
    let names = overlay.sites().iter().map(String::as_str).chain([SCHEDULER]);
    crate::machine::certificates::write(overlay.name(), names, scratch)
}
