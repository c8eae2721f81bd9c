//! Coordinator's state of one peer.

use std::collections::BTreeSet;
use std::time::Duration;

use inart_wire::Incarnation;

/// Weight of a new compute time.
const GAIN: f64 = 0.3;

/// Phase of a peer, as far as reported.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum PeerPhase {
    /// Computing, or about to.
    Computing { since: Duration },
    /// An update of this round is ready and has no receivers.
    Ready { round: u32 },
    /// Sending an update.
    Sending(Sending),
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Sending {
    pub round: u32,
    pub to: Vec<usize>,
    /// Bits left at `at`.
    pub left_bits: f64,
    pub at: Duration,
    pub rate_bps: f64,
}

impl Sending {
    /// Returns the bits left now.
    pub fn left_bits(&self, now: Duration) -> f64 {
        (self.left_bits - self.rate_bps * now.saturating_sub(self.at).as_secs_f64()).max(0.0)
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Known {
    pub incarnation: Incarnation,
    pub is_connected: bool,
    pub phase: PeerPhase,
    /// Last choice sent: round, receivers and rate.
    pub choice: Option<(u32, Vec<usize>, f64)>,
    /// Mean compute time in seconds, once measured.
    pub compute_s: Option<f64>,
    /// Peers that receive nothing from this one.
    pub missed_by: BTreeSet<usize>,
}

impl Known {
    pub fn new() -> Self {
        Known {
            incarnation: Incarnation::UNKNOWN,
            is_connected: false,
            phase: PeerPhase::Computing { since: Duration::ZERO },
            choice: None,
            compute_s: None,
            missed_by: BTreeSet::new(),
        }
    }

    /// Takes a compute time, in seconds.
    pub fn computed(&mut self, seconds: f64) {
        if seconds.is_finite() && seconds >= 0.0 {
            let before = self.compute_s.unwrap_or(seconds);
            self.compute_s = Some(before + GAIN * (seconds - before));
        }
    }
}
