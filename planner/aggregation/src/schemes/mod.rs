//! The schemes: ways to place aggregation, each in a file or folder of its own. A new one is such a folder,
//! and a line in [`ALL`], which the command line, the experiments and docs/reference/schemes.md read.

pub mod atp;
pub mod exact;
pub mod inart;
pub mod lbmm;
pub mod r_inart;

use crate::options::Scheme;

/// Ours: never worse than the best of R-InArt, with a proven bound.
pub const INART: &dyn Scheme = &inart::Inart;
/// The paper's InArt, both phases as published.
pub const R_INART: &dyn Scheme = &r_inart::RInart;
/// The paper's R-InArt.
pub const EVEN: &dyn Scheme = &r_inart::Even;
/// ATP with what switches can add up ignored.
pub const ATP_NOCAP: &dyn Scheme = &atp::AtpNocap;
/// ATP.
pub const ATP: &dyn Scheme = &atp::Atp;
/// Load-balanced many-to-many.
pub const LBMM: &dyn Scheme = &lbmm::Lbmm;
/// The optimum, for small networks.
pub const EXACT: &dyn Scheme = &exact::Exact;

/// Every scheme, in the order of tables.
pub const ALL: &[&dyn Scheme] = &[INART, R_INART, EVEN, ATP_NOCAP, ATP, LBMM, EXACT];

/// The scheme of who names none.
pub const DEFAULT: &dyn Scheme = INART;

/// The scheme of that name.
pub fn named(name: &str) -> Option<&'static dyn Scheme> {
    ALL.iter().find(|scheme| scheme.name() == name).copied()
}
