//! What becomes of a NaN or an infinity.

/// What a worker does with a tensor that has a NaN or an infinity. Each worker of a job may do as it is told;
/// those whose tensors are finite need not know.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NonFinite {
    /// Aborts the job, and tells all workers whose tensor it was.
    #[default]
    Abort,
    /// Lets it pass: all sums of its block are NaN, at every worker. Where sums are exact, only the sum of
    /// that value is not finite.
    Pass,
}
