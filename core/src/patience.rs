//! How long silence is borne.

/// How often, per patience, a worker tells each parameter server that it is there; the server answers. Some of them may be
/// lost or late before anybody takes the silence for death.
pub const KEEPALIVES_PER_PATIENCE: u32 = 8;

/// A peer that was never heard from is waited for this many times as long as one that was: it may still be starting.
pub const STARTING_PATIENCES: u32 = 15;
