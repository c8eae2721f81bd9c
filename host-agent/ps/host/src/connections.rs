//! What connections count.

use inart_order_agent::FrameCounters;

/// What a process's connections have dropped and repaired.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Connections {
    /// By QUIC: connections of who is not in the job, or has no certificate of its authority. By frames:
    /// frames from another Ethernet address, of another worker or job.
    pub strangers: u64,
    /// By QUIC: packets longer than allowed. By frames: frames that nobody writes.
    pub malformed: u64,
    /// Connections that have ended, before the process ended them itself.
    pub ended: u64,
    /// What only frames count; with QUIC all 0.
    pub frames: FrameCounters,
}
