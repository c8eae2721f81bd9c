//! Pacing of frames.

use core::time::Duration;

use crate::Instant;

/// Pacer with one tick per frame at the given rate. A sender that wakes up later than the pacer asked for may
/// catch up by [`Pacer::CATCH_UP`], since machines oversleep. A sender that had nothing to send may catch up
/// only by [`Pacer::REST`]: if the rate is the link's, a queue made by its burst would never drain. Neither
/// sender has to wake for less than a rest, which is [`Pacer::FRAMES`] at most: longer bursts of several
/// workers together make a queue long enough for marks.
#[derive(Clone, Debug)]
pub(crate) struct Pacer {
    frame_time: Duration,
    /// ContributionRule time of the next frame.
    due: Instant,
    /// Start of the last frame's interval.
    began: Instant,
    /// Whether the sender was asked to wait until `due`.
    asked_to_wait: bool,
}

impl Pacer {
    /// Time that a sleeping thread may oversleep without loss of rate.
    const CATCH_UP: Duration = Duration::from_millis(1);
    /// Shortest useful sleep: frames of that time may leave at once.
    const REST: Duration = Duration::from_micros(500);

    /// Number of frames that may leave at once, at any rate.
    const FRAMES: u32 = 8;

    /// Frames of `frame_bytes` bytes at `rate_bps` bits per second.
    pub(crate) fn new(frame_bytes: usize, rate_bps: f64) -> Self {
        let frame_time = Self::time_of(frame_bytes, rate_bps);
        Self { frame_time, due: Instant::START, began: Instant::START, asked_to_wait: false }
    }

    /// Changes the rate.
    pub(crate) fn set_rate(&mut self, frame_bytes: usize, rate_bps: f64) {
        self.frame_time = Self::time_of(frame_bytes, rate_bps);
    }

    /// Changes to another plan's rate. The next frame waits no longer than at the new rate: at the previous
    /// rate, a frame may take hours.
    pub(crate) fn replan(&mut self, frame_bytes: usize, rate_bps: f64) {
        self.set_rate(frame_bytes, rate_bps);
        self.due = self.due.min(self.began + self.frame_time);
    }

    fn time_of(frame_bytes: usize, rate_bps: f64) -> Duration {
        // The cast saturates: a rate so low that a frame takes centuries is equivalent to zero.
        let nanos = (8.0 * frame_bytes as f64 * 1e9 / rate_bps) as u64;
        Duration::from_nanos(nanos.saturating_add(1))
    }

    /// Time between frames.
    pub(crate) fn frame_time(&self) -> Duration {
        self.frame_time
    }

    fn rest(&self) -> Duration {
        Self::REST.min(Self::FRAMES * self.frame_time)
    }

    /// Handles that the sender has nothing to send.
    pub(crate) fn idle(&mut self) {
        self.asked_to_wait = false;
    }

    /// Consumes the interval of one frame, or returns when it is due.
    pub(crate) fn take(&mut self, now: Instant) -> Result<(), Instant> {
        if self.due > now {
            self.asked_to_wait = true;
            return Err(self.due + self.rest().saturating_sub(self.frame_time));
        }
        let late = now.since(self.due);
        let credit = late.min(if self.asked_to_wait { Self::CATCH_UP + self.rest() } else { self.rest() });
        self.began = self.due + (late - credit);
        self.due = self.began + self.frame_time;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_run_rate_is_the_rate_however_late_the_sender_wakes() {
        for late in [0, 300, 1000] {
            let mut pacer = Pacer::new(1068, 10e6);
            let mut now = Instant::START;
            let mut sent = 0;
            while now < Instant::from_nanos(1_000_000_000) {
                match pacer.take(now) {
                    Ok(()) => sent += 1,
                    Err(at) => {
                        assert!(at > now);
                        now = at + Duration::from_micros(late);
                    }
                }
            }
            // 10 Mbit/s are 1170.4 frames of 8544 bits in a second.
            assert!((1169..=1173).contains(&sent), "{sent} frames");
        }
    }

    #[test]
    fn an_idle_sender_gains_no_more_than_a_rest() {
        let mut pacer = Pacer::new(172, 100e6);
        let burst = |pacer: &mut Pacer, now| core::iter::from_fn(|| pacer.take(now).ok()).count();
        // 500 us at 100 Mbit/s are more than eight frames of 1376 bits.
        assert!((7..=9).contains(&burst(&mut pacer, Instant::from_nanos(60_000_000_000))));
        pacer.idle();
        assert!((7..=9).contains(&burst(&mut pacer, Instant::from_nanos(60_100_000_000))));
    }

    #[test]
    fn a_frame_at_next_to_no_rate_does_not_delay_those_at_a_real_one() {
        // One bit per second, and so little that a frame takes centuries.
        for tiny in [1.0, 1e-12] {
            let mut pacer = Pacer::new(1068, tiny);
            let now = Instant::from_nanos(5_000_000_000);
            assert_eq!(pacer.take(now), Ok(()));
            assert!(pacer.take(now).is_err_and(|at| at > Instant::from_nanos(8_000_000_000_000)));
            pacer.replan(1068, 10e6);
            // A frame takes 854.4 us, of which an idle sender has 500 to its credit.
            assert!(pacer.take(now + Duration::from_micros(354)).is_err());
            assert_eq!(pacer.take(now + Duration::from_micros(355)), Ok(()));
        }
    }

    #[test]
    fn a_lower_rate_before_the_first_frame_does_not_delay_it() {
        let mut pacer = Pacer::new(1068, 10e6);
        pacer.replan(1068, 1.0);
        assert_eq!(pacer.take(Instant::START), Ok(()));
    }
}
