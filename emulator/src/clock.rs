//! The clock that all processes of a machine share.

/// The system's monotonic clock, in nanoseconds; 0 if the system has none.
pub fn monotonic_ns() -> u64 {
    let time = nix::time::clock_gettime(nix::time::ClockId::CLOCK_MONOTONIC);
    time.map_or(0, |time| time.tv_sec() as u64 * 1_000_000_000 + time.tv_nsec() as u64)
}
