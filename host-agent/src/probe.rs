//! Short frames of a worker that hears nothing: if they arrive and the job's frames do not, `inart doctor`
//! reports an MTU on the path that is too small.

use std::time::{Duration, Instant};

use inart_wire::MacAddr;

/// A server that is silent for this long is probed, and then this often.
pub(crate) const SILENCE: Duration = Duration::from_secs(1);
/// Shortest Ethernet frame without its checksum.
const FRAME_BYTES: usize = 60;
/// Second EtherType for local experiments (IEEE Std 802); the first one is INART's, whose frames switches do
/// not just forward.
const ETHER_TYPE: u16 = 0x88b6;

/// Timer of probes.
#[derive(Debug, Default)]
pub(crate) struct Probe {
    next: Option<Instant>,
}

impl Probe {
    /// Returns the frame to send now. `unheard`: addresses of a silent server and of this worker; `None` if
    /// all servers are heard.
    pub fn due(&mut self, unheard: Option<(MacAddr, MacAddr)>, now: Instant) -> Option<[u8; FRAME_BYTES]> {
        let Some((server, worker)) = unheard else {
            self.next = None;
            return None;
        };
        if now < *self.next.get_or_insert(now + SILENCE) {
            return None;
        }
        self.next = Some(now + SILENCE);
        let mut frame = [0; FRAME_BYTES];
        frame[..6].copy_from_slice(&server.0);
        frame[6..12].copy_from_slice(&worker.0);
        frame[12..14].copy_from_slice(&ETHER_TYPE.to_be_bytes());
        Some(frame)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_is_silent_is_probed_with_short_frames_until_it_is_heard() {
        let (server, worker) = (MacAddr([2, 0, 0, 0, 0, 9]), MacAddr([2, 0, 0, 0, 0, 1]));
        let (mut probe, start) = (Probe::default(), Instant::now());
        let at = |tenths: u64| start + Duration::from_millis(100 * tenths);
        let sent: Vec<u64> =
            (0..31).filter(|&tenths| probe.due(Some((server, worker)), at(tenths)).is_some()).collect();
        assert_eq!(sent, [10, 20, 30]);
        let frame = probe.due(Some((server, worker)), at(40)).expect("a second has passed");
        assert_eq!(frame[..14], [2, 0, 0, 0, 0, 9, 2, 0, 0, 0, 0, 1, 0x88, 0xb6]);
        assert!(probe.due(None, at(50)).is_none());
        assert!(probe.due(Some((server, worker)), at(51)).is_none(), "a silence starts");
    }
}
