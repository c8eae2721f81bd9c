//! How receivers are drawn in trainings.

/// How `orpheus` draws receivers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Draw {
    /// Anew for each update.
    Random,
    /// Once; these stay.
    Fixed,
}
