//! Tolerance of comparisons.

/// Relative tolerance of every comparison of rates.
pub(crate) const TOLERANCE: f64 = 1e-6;

/// Returns whether two numbers are equal up to the tolerance; NaN equals nothing.
pub(super) fn near(stated: f64, found: f64) -> bool {
    (stated - found).abs() <= TOLERANCE * found.abs()
}
