//! Timeouts of silent peers.

use core::time::Duration;

/// Default peer timeout: the longest silence of a peer that a host waits for. A killed process is named
/// within 3 s.
pub const DEFAULT_PEER_TIMEOUT: Duration = Duration::from_millis(2500);

/// Keep-alives that a worker sends to each parameter server per peer timeout; the server answers. Some of
/// them may be lost or late before the peer timeout is over.
pub const KEEPALIVES_PER_PEER_TIMEOUT: u32 = 8;

/// The longest time between two keep-alives outside a round, whatever the peer timeout: switches count them,
/// and so show that a job runs.
pub const LONGEST_KEEPALIVE_INTERVAL: Duration = Duration::from_millis(320);

/// Longest time between two keep-alives while the server has not answered yet, or has not bound the worker.
/// It is longer because only the last keep-alive's answer shows the round trip.
pub const LONGEST_FIRST_INTERVAL: Duration = Duration::from_secs(1);

/// Factor of the timeout for a peer that was never heard from: it may still be starting.
pub const STARTING_PEER_TIMEOUTS: u32 = 60;

/// Fraction of the peer timeout for which a host listens again before it blames a peer, if it was itself late
/// by more than that, or has only now started to wait. Delayed messages arrive meanwhile.
pub(crate) const LISTENS_PER_PEER_TIMEOUT: u32 = 4;
