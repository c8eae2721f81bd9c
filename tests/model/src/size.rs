//! Limits of the networks' sizes.

/// Most workers.
pub const MAX_WORKERS: u8 = 3;
/// Most switches.
pub const MAX_SWITCHES: u8 = 2;
/// Most slots of a range.
pub const MAX_WINDOW: u8 = 4;
/// Most chunks.
pub const MAX_CHUNKS: u8 = 5;
/// Most tensors that have maxima.
pub const MAX_TENSORS: u8 = 2;
