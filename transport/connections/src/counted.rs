//! Counters of connections.

use inart_frames::FrameCounters;

/// Counters of frames that a process's connections dropped and repaired.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Connections {
    /// With QUIC: connections of processes outside the job, or without a certificate of its authority. With
    /// frames: frames from another Ethernet address, or of another worker or job.
    pub unknown_senders: u64,
    /// With QUIC: messages longer than allowed. With frames: frames that no sender writes.
    pub malformed: u64,
    /// Connections that have ended before the process closed them.
    pub ended: u64,
    /// Counters of frames; with QUIC all 0.
    pub frames: FrameCounters,
    /// Counters of QUIC; with frames all 0.
    pub quic: inart_quic::Counters,
}
