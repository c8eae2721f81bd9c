//! Random receivers in trainings.

/// Policy of `orpheus`' draws.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Draw {
    /// A new draw for each update.
    Random,
    /// One draw for all updates.
    Fixed,
}
