//! Events that host processes print and that their watchers read, and facts in them that watchers compare:
//! times on the machine's clock, digests of values, and gradients that a seed names.

mod lines;

pub use lines::{
    Applied, AppliedUpdate, Averaged, Chosen, ConnectionCounts, GroupWorkerEnd, LINE_BYTES, Line, LineError,
    MulticastEnd, PeerEnd, PeerSent, PsServerEnd, PsWorkerEnd, Pushed, Received, SiteEnd, SiteRound, Trained,
    TurnEnd, WorkerEnd, WorkerSent, shown,
};

use inart_virtual::SplitMix64;
use sha2::{Digest, Sha256};

/// Returns the time on the system's monotonic clock, in nanoseconds; 0 if the system has none. All processes
/// of a machine share this clock.
pub fn monotonic_ns() -> u64 {
    let time = nix::time::clock_gettime(nix::time::ClockId::CLOCK_MONOTONIC);
    time.map_or(0, |time| time.tv_sec() as u64 * 1_000_000_000 + time.tv_nsec() as u64)
}

/// Returns SHA-256 of the bits of values, each as four bytes in little-endian order, in hexadecimal.
pub fn digest(values: &[f32]) -> String {
    let mut hash = Sha256::new();
    values.iter().for_each(|value| hash.update(value.to_bits().to_le_bytes()));
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the random gradient of a site or peer in a round: values from -1 to 1. Every hundred values are
/// scaled by another power of two, from 2^-40 to 1: so blocks have steps of their own, and values are
/// rounded.
pub fn random_gradient(seed: u64, site: usize, round: u32, values: usize) -> Vec<f32> {
    let mut random = SplitMix64::new(seed ^ (site as u64) << 40 ^ u64::from(round) << 8);
    let mut gradient = vec![0.0; values];
    for part in gradient.chunks_mut(100) {
        let size = (1u64 << (random.next_u64() % 41)) as f32;
        for value in part {
            *value = ((random.next_u64() >> 40) as f32 / (1u64 << 23) as f32 - 1.0) / size;
        }
    }
    gradient
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_is_that_of_the_bytes() {
        // printf '\0\0\x80\x3f\0\0\0\x80' | sha256sum: 1 and -0.
        assert_eq!(digest(&[1.0, -0.0]), "0cd40d287b3669a987311a242f957a55c86c626a988a6f0136e0b627684c9fdb");
        assert_ne!(digest(&[0.0]), digest(&[-0.0]));
    }

    #[test]
    fn a_gradient_is_named_by_seed_site_and_round() {
        let gradient = random_gradient(7, 0, 1, 300);
        assert!(gradient.iter().all(|value| (-1.0..=1.0).contains(value)));
        assert_eq!(gradient[..100], random_gradient(7, 0, 1, 100));
        for other in
            [random_gradient(8, 0, 1, 300), random_gradient(7, 1, 1, 300), random_gradient(7, 0, 2, 300)]
        {
            assert_ne!(gradient, other);
        }
    }

    #[test]
    fn the_clock_does_not_go_back() {
        let first = monotonic_ns();
        assert!(first > 0 && monotonic_ns() >= first);
    }
}
