//! How fast frames may leave.

use core::time::Duration;

use crate::Instant;

/// A token bucket in time: sending a frame costs the time it takes at the rate; a sender that was late may catch
/// up by [`Pacer::BURST`], or by one frame if that takes longer. When the bucket is empty the sender is told to
/// come back when it is half full, so that it wakes a few times per burst, not for every frame.
#[derive(Clone, Debug)]
pub(crate) struct Pacer {
    rate_bps: f64,
    frame_time: Duration,
    /// When the bucket is full again.
    full_at: Instant,
}

impl Pacer {
    /// What a sleeping thread may oversleep without loss of rate.
    const BURST: Duration = Duration::from_millis(1);

    /// Frames of `frame_bytes` bytes at `rate_bps` bits per second.
    pub(crate) fn new(frame_bytes: usize, rate_bps: f64) -> Self {
        // The cast saturates: a rate so low that a frame takes centuries is as good as none.
        let nanos = (8.0 * frame_bytes as f64 * 1e9 / rate_bps) as u64;
        Self { rate_bps, frame_time: Duration::from_nanos(nanos.saturating_add(1)), full_at: Instant::START }
    }

    /// In bits per second.
    pub(crate) fn rate_bps(&self) -> f64 {
        self.rate_bps
    }

    /// Takes the tokens for one frame, or says when they will be there.
    pub(crate) fn take(&mut self, now: Instant) -> Result<(), Instant> {
        let backlog = self.full_at.since(now);
        // A backlog of BURST is an empty bucket.
        if backlog > Self::BURST {
            return Err(now + (backlog - Self::BURST / 2));
        }
        self.full_at = self.full_at.max(now) + self.frame_time;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_run_rate_is_the_rate() {
        let mut pacer = Pacer::new(1064, 10e6);
        let mut now = Instant::START;
        let mut sent = 0;
        while now < Instant::from_nanos(1_000_000_000) {
            match pacer.take(now) {
                Ok(()) => sent += 1,
                Err(at) => {
                    assert!(at > now);
                    now = at;
                }
            }
        }
        // 10 Mbit/s are 1174.8 frames of 8512 bits in a second.
        assert!((1174..=1177).contains(&sent), "{sent} frames");
    }

    #[test]
    fn an_idle_sender_gains_no_more_than_the_burst() {
        let mut pacer = Pacer::new(168, 100e6);
        let now = Instant::from_nanos(60_000_000_000);
        let burst = core::iter::from_fn(|| pacer.take(now).ok()).count();
        // 1 ms at 100 Mbit/s is 74.4 frames of 1344 bits.
        assert!((74..=76).contains(&burst), "{burst} frames");
    }
}
