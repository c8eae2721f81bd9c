//! What a coordinator knows of one peer.

use std::collections::BTreeSet;
use std::time::Duration;

use inart_wire::Incarnation;

/// How much a new time to compute counts.
const GAIN: f64 = 0.3;

/// What a peer does, as far as it has said.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum PeerPhase {
    /// Computes, or waits to.
    Computing { since: Duration },
    /// Has an update of that round, and no receivers.
    Ready { round: u32 },
    /// Sends.
    Sending(Sending),
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Sending {
    pub round: u32,
    pub to: Vec<usize>,
    /// What was left at that time, in bits.
    pub left_bits: f64,
    pub at: Duration,
    pub rate_bps: f64,
}

impl Sending {
    /// What is left now, in bits.
    pub fn left_bits(&self, now: Duration) -> f64 {
        (self.left_bits - self.rate_bps * now.saturating_sub(self.at).as_secs_f64()).max(0.0)
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Known {
    pub incarnation: Incarnation,
    pub is_connected: bool,
    pub phase: PeerPhase,
    /// What it was told last: of which round, who receives, and at what rate.
    pub choice: Option<(u32, Vec<usize>, f64)>,
    /// Mean time to compute in seconds, once there was one.
    pub compute_s: Option<f64>,
    /// Who hears nothing of it.
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

    /// It computed that long, in seconds.
    pub fn computed(&mut self, seconds: f64) {
        if seconds.is_finite() && seconds >= 0.0 {
            let before = self.compute_s.unwrap_or(seconds);
            self.compute_s = Some(before + GAIN * (seconds - before));
        }
    }
}
