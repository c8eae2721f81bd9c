//! How long a silent peer is waited for.

use core::time::Duration;

/// How long a peer that is waited for may be silent, unless somebody says otherwise: a killed process is
/// named within 3 s.
pub const DEFAULT_PEER_TIMEOUT: Duration = Duration::from_millis(2500);

/// How often, per peer timeout, a worker tells each parameter server that it is there; the server answers.
/// Some of them may be lost or late before the peer timeout is over.
pub const KEEPALIVES_PER_PEER_TIMEOUT: u32 = 8;

/// The longest time between two keep-alives outside a round, whatever the peer timeout: switches count them,
/// and so show that a job runs.
pub const LONGEST_KEEPALIVE_INTERVAL: Duration = Duration::from_millis(320);

/// The longest time between two keep-alives while the server has not answered yet, or has not bound the
/// worker. Longer, since only the last keep-alive's answer shows the round trip.
pub const LONGEST_FIRST_INTERVAL: Duration = Duration::from_secs(1);

/// A peer that was never heard from is waited for this many times as long as one that was: it may still be
/// starting.
pub const STARTING_PEER_TIMEOUTS: u32 = 60;

/// Who listens anew for this part of the peer timeout before it blames anybody: a host that comes late itself
/// by more than that, and one that has only now begun to wait. Messages that were held up meanwhile come in.
pub(crate) const LISTENS_PER_PEER_TIMEOUT: u32 = 4;
