//! When two numbers are the same.

/// Relative tolerance of every comparison of rates.
pub(crate) const TOLERANCE: f64 = 1e-6;

/// Equal up to the tolerance; NaN is near nothing.
pub(super) fn near(stated: f64, found: f64) -> bool {
    (stated - found).abs() <= TOLERANCE * found.abs()
}
