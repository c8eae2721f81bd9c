//! A congestion window that follows the rate at which data is delivered.
//!
//! As BBR (N. Cardwell et al., ACM Queue 2016), a connection models its path by the recent maximum of the
//! delivery rate and the least round-trip time. Its window is a little more than their product. So a packet
//! that is lost without congestion changes nothing, and the queue at the bottleneck stays short: more urgent
//! data cannot overtake queued data, on any link of the path.
//!
//! It differs from BBR in its requirements of the host: a rate is that of a whole round trip, not of two
//! acknowledgements; it has a window only, and no send rate; and the least round-trip time is that of the
//! whole connection, so the window is never emptied to measure it.
//!
//! No clock: the caller supplies the time.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// Number of datagrams that are acknowledged together: if both directions are full, acknowledgements of every
/// other one take 2.4 % of the link.
pub(crate) const ACKNOWLEDGED_TOGETHER: u32 = 4;
/// At the beginning, in datagrams (RFC 9002, section 7.2).
const FIRST_WINDOW: u64 = 10;
/// The least window, in datagrams.
const LEAST_WINDOW: u64 = 4;
/// Number of full round trips whose greatest rate is the rate.
const REMEMBERED: usize = 10;
/// The window, in products of the rate and the least round-trip time. The part above 1 waits at the
/// bottleneck, so that the queue does not run empty while acknowledgements are late.
const STEADY: f64 = 1.15;
/// Window while the connection probes for more.
const PROBE: f64 = 1.4;
/// Shorter round-trip times count as this: processes at both ends are not always there at once.
const LEAST_BASE: Duration = Duration::from_millis(5);
/// Round trips of a probe cycle. The first two probe: in the first one the larger window is sent, in the
/// second one its acknowledgements arrive.
const CYCLE: u8 = 8;
/// Gain of the rate in a probe that shows more capacity.
const MORE: f64 = 1.1;
/// Gain of the window at the start, so that the rate may double in a round trip (2 / ln 2, as in BBR).
const START: f64 = 2.89;
/// Both where queues are too short for them: of a steady window and of one that looks for more.
const CAREFUL: (f64, f64) = (1.0, 1.15);
/// The start ends after `STILL` round trips with less than `STILL_GROWING` times the greatest rate before.
const STILL: u8 = 2;
const STILL_GROWING: f64 = 1.25;
/// More loss in a round trip than this is congestion (as in BBRv3).
const CONGESTION: f64 = 0.02;
/// Remaining part of a rate after a congested round trip that does not show the path's rate (as CUBIC's
/// window after a loss, RFC 9438).
const AFTER_CONGESTION: f64 = 0.7;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Doubling window, with the number of round trips without a gain.
    Start(u8),
    /// Constant window, with the number of the round trip in the cycle.
    Steady(u8),
}

/// A round trip: from an acknowledgement to the first one of data sent after it.
#[derive(Debug, Clone)]
struct RoundTrip {
    began: Instant,
    acknowledged_bytes: u64,
    lost_bytes: u64,
    /// Whether there was nothing more to send at some time. Its rate is not the path's then.
    is_app_limited: bool,
}

impl RoundTrip {
    fn new(began: Instant) -> Self {
        RoundTrip { began, acknowledged_bytes: 0, lost_bytes: 0, is_app_limited: false }
    }

    fn is_congested(&self) -> bool {
        self.lost_bytes as f64 > CONGESTION * (self.acknowledged_bytes + self.lost_bytes) as f64
    }
}

/// The window of one connection.
#[derive(Debug, Clone)]
pub(crate) struct DeliveryRate {
    mtu: u64,
    window: f64,
    phase: Phase,
    now: RoundTrip,
    /// Rates of the last full round trips, in byte/s.
    rates: VecDeque<f64>,
    /// The rate before the connection looked for more.
    before_probe: f64,
    /// Time of the newest congestion. Losses of data sent before it show nothing new.
    congested: Option<Instant>,
    /// Time of the newest probe, and whether there was congestion since then or in the cycle before.
    looked: Instant,
    is_careful: bool,
}

impl DeliveryRate {
    pub fn new(now: Instant, mtu: u16) -> Self {
        let mtu = u64::from(mtu);
        let window = (FIRST_WINDOW * mtu) as f64;
        let (rates, looked, now) = (VecDeque::new(), now, RoundTrip::new(now));
        DeliveryRate {
            mtu,
            window,
            phase: Phase::Start(0),
            now,
            rates,
            before_probe: 0.0,
            congested: None,
            looked,
            is_careful: false,
        }
    }

    pub fn window_bytes(&self) -> u64 {
        self.window as u64
    }

    pub fn first_window_bytes(&self) -> u64 {
        FIRST_WINDOW * self.mtu
    }

    pub fn set_mtu(&mut self, mtu: u16) {
        self.mtu = u64::from(mtu);
        self.window = self.window.max(self.least_window());
    }

    /// Records that a packet of `bytes` bytes, sent at `sent`, has been acknowledged. `base` is the least
    /// round-trip time so far.
    pub fn acknowledged(
        &mut self,
        now: Instant,
        sent: Instant,
        bytes: u64,
        is_app_limited: bool,
        base: Duration,
    ) {
        let base = base.max(LEAST_BASE);
        self.now.acknowledged_bytes += bytes;
        self.now.is_app_limited |= is_app_limited;
        if let Phase::Start(_) = self.phase
            && !is_app_limited
        {
            let known = START * self.greatest_rate() * base.as_secs_f64();
            let most = if self.rates.is_empty() { f64::INFINITY } else { known.max(self.window) };
            self.window = (self.window + bytes as f64).min(most);
        }
        if sent >= self.now.began && now > self.now.began {
            let round_trip = std::mem::replace(&mut self.now, RoundTrip::new(now));
            let seconds = now.duration_since(round_trip.began).as_secs_f64();
            if round_trip.is_congested() {
                self.congested = Some(now);
                self.is_careful |= !matches!(self.phase, Phase::Start(_));
            }
            self.end(&round_trip, round_trip.acknowledged_bytes as f64 / seconds, base);
        }
    }

    /// Records that `bytes` bytes are lost, the last of which were sent at `sent`. `is_persistent`: all that
    /// was sent for a long time.
    pub fn lost(&mut self, sent: Instant, bytes: u64, is_persistent: bool) {
        if self.congested.is_none_or(|congested| sent > congested) {
            self.now.lost_bytes += bytes;
        }
        if is_persistent {
            self.rates.clear();
            self.now.lost_bytes = 0;
            self.phase = Phase::Start(0);
            self.window = self.least_window();
        }
    }

    fn least_window(&self) -> f64 {
        (LEAST_WINDOW * self.mtu) as f64
    }

    fn greatest_rate(&self) -> f64 {
        self.rates.iter().copied().fold(0.0, f64::max)
    }

    /// A round trip is over.
    fn end(&mut self, round_trip: &RoundTrip, rate: f64, base: Duration) {
        let before = self.greatest_rate();
        self.learn(round_trip, rate);
        let is_full = !round_trip.is_app_limited;
        match self.phase {
            Phase::Start(_) if round_trip.is_congested() => self.phase = Phase::Steady(2),
            Phase::Start(_) if !is_full => return,
            Phase::Start(_) if rate >= STILL_GROWING * before => {
                self.phase = Phase::Start(0);
                return;
            }
            Phase::Start(still) if still + 1 < STILL => {
                self.phase = Phase::Start(still + 1);
                return;
            }
            Phase::Start(_) => self.phase = Phase::Steady(2),
            // A connection without more data to send learns nothing from a larger window.
            Phase::Steady(_) if !is_full => {}
            Phase::Steady(1) if self.greatest_rate() > MORE * self.before_probe => self.probe(),
            Phase::Steady(turn) if turn + 1 == CYCLE => self.probe(),
            Phase::Steady(turn) => self.phase = Phase::Steady(turn + 1),
        }
        let (steady, probe) = if self.is_careful { CAREFUL } else { (STEADY, PROBE) };
        let gain = if matches!(self.phase, Phase::Steady(0 | 1)) { probe } else { steady };
        // As many wait at the bottleneck as are on their way to be acknowledged.
        let together = (2 * u64::from(ACKNOWLEDGED_TOGETHER) * self.mtu) as f64;
        let wanted = gain * self.greatest_rate() * base.as_secs_f64() + together;
        self.window = wanted.max(self.least_window());
    }

    fn probe(&mut self) {
        self.is_careful = self.congested.is_some_and(|congested| congested > self.looked);
        self.looked = self.now.began;
        self.before_probe = self.greatest_rate();
        self.phase = Phase::Steady(0);
    }

    fn learn(&mut self, round_trip: &RoundTrip, rate: f64) {
        // At the start the window is the excess.
        if round_trip.is_congested() && !matches!(self.phase, Phase::Start(_)) {
            let known = AFTER_CONGESTION * self.greatest_rate();
            self.rates.clear();
            if round_trip.is_app_limited {
                self.rates.push_back(known);
            }
        }
        if !round_trip.is_app_limited || rate > self.greatest_rate() {
            self.rates.push_back(rate);
        }
        if self.rates.len() > REMEMBERED {
            self.rates.pop_front();
        }
    }
}

#[cfg(test)]
mod tests;
