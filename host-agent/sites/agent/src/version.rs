//! Versions of plans: a scheduler's count in the upper 32 bits, the plan's fingerprint in the lower ones.

use inart_protocol_sites::TransmissionPolicy;

/// Returns the version of a scheduler's `count`-th plan. Two schedulers may reach the same count, so the
/// version includes the plan's `fingerprint`: sites never mistake one plan for another.
pub fn version(count: u32, policy: &TransmissionPolicy) -> u64 {
    u64::from(count) << 32 | u64::from(fingerprint(policy))
}

/// Returns the scheduler's count in a version.
pub fn count_of(version: u64) -> u32 {
    (version >> 32) as u32
}

/// Returns a hash of a plan's trees, chunks and routes (FNV-1a). The hash detects mistakes, not forgeries.
pub fn fingerprint(policy: &TransmissionPolicy) -> u32 {
    let text = format!("{:?}", (&policy.trees, &policy.chunk_trees, &policy.routes, &policy.auxiliary));
    text.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}
