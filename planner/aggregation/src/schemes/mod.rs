//! The planning schemes, one file or folder each. A new one is such a folder, and a line in [`ALL`], which
//! the command line, the experiments and docs/reference/schemes.md read.

pub mod atp;
pub mod inart;
pub mod lbmm;
pub mod optimal;
pub mod optimized;

use crate::options::Scheme;

/// InArt's own default: never worse than the best of R-InArt, with a proven bound.
pub const OPTIMIZED: &dyn Scheme = &optimized::Optimized;
/// The InArt paper's InArt, both phases as published.
pub const INART: &dyn Scheme = &inart::Inart;
/// The InArt paper's R-InArt.
pub const R_INART: &dyn Scheme = &inart::RInart;
/// ATP without limits on the switches' aggregation.
pub const ATP_UNLIMITED: &dyn Scheme = &atp::AtpUnlimited;
/// ATP.
pub const ATP: &dyn Scheme = &atp::Atp;
/// Load-balanced many-to-many.
pub const LBMM: &dyn Scheme = &lbmm::Lbmm;
/// The optimum, for small networks.
pub const OPTIMAL: &dyn Scheme = &optimal::Optimal;

/// Every scheme, in the order of tables.
pub const ALL: &[&dyn Scheme] = &[OPTIMIZED, INART, R_INART, ATP_UNLIMITED, ATP, LBMM, OPTIMAL];

/// Default planning scheme.
pub const DEFAULT: &dyn Scheme = OPTIMIZED;

/// The scheme of that name.
pub fn named(name: &str) -> Option<&'static dyn Scheme> {
    ALL.iter().find(|scheme| scheme.name() == name).copied()
}
