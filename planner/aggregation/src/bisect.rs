//! Bisection: the point where a condition ceases to hold.

/// The largest value below `high` that fits, given that 0 does.
pub(crate) fn bisect(high: f64, fits: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (0.0, high);
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        // Neighbors: no number lies between them.
        if middle <= low || middle >= high {
            break;
        }
        if fits(middle) { low = middle } else { high = middle }
    }
    low
}
