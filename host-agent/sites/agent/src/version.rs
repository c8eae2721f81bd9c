//! Versions of plans: a scheduler's count in the upper 32 bits, the plan's fingerprint in the lower ones.

use inart_protocol_sites::TransmissionPolicy;

/// Returns the version of a plan that is a scheduler's `count`-th. Two schedulers may count alike, so the
/// version holds the plan's `fingerprint`, too: sites never take two plans for one.
pub fn version(count: u32, policy: &TransmissionPolicy) -> u64 {
    u64::from(count) << 32 | u64::from(fingerprint(policy))
}

/// Returns the scheduler's count in a version.
pub fn count_of(version: u64) -> u32 {
    (version >> 32) as u32
}

/// Returns a number of a plan's trees, chunks and routes (FNV-1a). It finds mistakes, not forgeries.
pub fn fingerprint(policy: &TransmissionPolicy) -> u32 {
    let text = format!("{:?}", (&policy.trees, &policy.chunk_trees, &policy.routes, &policy.auxiliary));
    text.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}
