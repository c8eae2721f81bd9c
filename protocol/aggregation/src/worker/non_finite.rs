//! Handling of NaN and infinity.

/// A worker's handling of a tensor that has a NaN or an infinity. Workers of a job may use different
/// settings; those whose tensors are finite need not know.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NonFinite {
    /// Abort of the job; all workers learn whose tensor it was.
    #[default]
    Abort,
    /// Passing: all sums of the value's block are NaN, at every worker. If sums are exact, only the sum of
    /// that value is not finite.
    Pass,
}
