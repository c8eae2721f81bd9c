//! Faults of frames, injected by the emulator as a pure function of the seed.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use inart_topologies::faults::LinkFaults;
use inart_topologies::faults::quantity::{Share, Span};
use inart_virtual::{SplitMix64, mixed};

/// Share of frames that are dropped on every link and direction: at least 0 and below 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DropRate(Share);

/// A share that is not one.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("drop rate {0:?}: give a share from 0 to below 1, like 1% or 0.01")]
pub struct DropRateError(String);

impl DropRate {
    /// The share, below 1.
    pub fn share(self) -> Share {
        self.0
    }
}

impl FromStr for DropRate {
    type Err = DropRateError;

    fn from_str(text: &str) -> Result<Self, DropRateError> {
        match text.parse::<Share>() {
            Ok(share) if share.get() < 1.0 => Ok(Self(share)),
            _ => Err(DropRateError(text.to_owned())),
        }
    }
}

impl fmt::Display for DropRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}%", self.0.get() * 100.0)
    }
}

/// Fault of one frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FrameFault {
    /// Drop the frame.
    pub drop: bool,
    /// Duplicate the frame.
    pub twice: bool,
    /// Delay of the frame and of all frames behind it.
    pub delay: Duration,
    /// Delay of the frame, while others overtake it.
    pub overtaken: Duration,
}

/// Draws what happens to the frames of one direction of one link, in the order in which they come.
#[derive(Clone, Debug)]
pub struct FrameFaultDraws {
    draws: SplitMix64,
    faults: LinkFaults,
}

impl FrameFaultDraws {
    /// The sequence of one direction of a link: number `direction` of all.
    pub fn new(faults: LinkFaults, seed: u64, direction: usize) -> Self {
        // Two rounds of mixing, so that adjacent seeds and links share nothing.
        let draws = SplitMix64::new(mixed(mixed(seed).wrapping_add(direction as u64)));
        Self { draws, faults }
    }

    /// Draws the fault of the next frame. A corrupt frame is lost: the interface that receives it discards
    /// it.
    pub fn next_fault(&mut self) -> FrameFault {
        let LinkFaults { drop, duplicate, corrupt, reorder, reorder_by, delay, delay_by, .. } = self.faults;
        let lost = self.draw(drop) | self.draw(corrupt);
        FrameFault {
            drop: lost,
            twice: self.draw(duplicate),
            delay: self.draw_span(delay, delay_by),
            overtaken: self.draw_span(reorder, reorder_by),
        }
    }

    /// True for that share of the calls; draws nothing if it cannot happen.
    fn draw(&mut self, share: Share) -> bool {
        share.get() > 0.0 && self.draws.fraction() < share.get()
    }

    /// Up to `longest`, for that share of the calls; else 0.
    fn draw_span(&mut self, share: Share, longest: Option<Span>) -> Duration {
        match longest {
            Some(longest) if self.draw(share) => {
                Duration::from_nanos((longest.0 as f64 * self.draws.fraction()) as u64)
            }
            _ => Duration::ZERO,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draws(rate: &str, seed: u64, direction: usize) -> Vec<FrameFault> {
        let share = rate.parse().expect("a share");
        let faults = LinkFaults {
            drop: share,
            duplicate: share,
            delay: share,
            delay_by: Some(Span(1000)),
            ..LinkFaults::default()
        };
        let mut draws = FrameFaultDraws::new(faults, seed, direction);
        (0..100_000).map(|_| draws.next_fault()).collect()
    }

    #[test]
    fn about_the_asked_share_is_dropped_doubled_and_delayed() {
        for (rate, expected) in [("0", 0..=0), ("1%", 900..=1100), ("0.5", 49_000..=51_000)] {
            for direction in 0..20 {
                let draws = draws(rate, 7, direction);
                let count =
                    |what: &dyn Fn(&FrameFault) -> bool| draws.iter().filter(|fault| what(fault)).count();
                for seen in [
                    count(&|fault| fault.drop),
                    count(&|fault| fault.twice),
                    count(&|fault| fault.delay > Duration::ZERO || fault.overtaken > Duration::ZERO),
                ] {
                    // A delay of less than a nanosecond is zero.
                    assert!(
                        (expected.start() - expected.start() / 100..=*expected.end()).contains(&seen),
                        "{seen}"
                    );
                }
                assert!(draws.iter().all(|fault| fault.delay < Duration::from_nanos(1000)));
            }
        }
    }

    #[test]
    fn the_seed_the_link_and_the_direction_decide() {
        assert_eq!(draws("1%", 7, 6), draws("1%", 7, 6));
        for other in [draws("1%", 8, 6), draws("1%", 7, 8), draws("1%", 7, 7)] {
            assert_ne!(draws("1%", 7, 6), other);
        }
    }

    #[test]
    fn rates_are_read_as_percent_and_share() {
        assert_eq!("1%".parse::<DropRate>(), "0.01".parse());
        assert_eq!("2.5 %".parse::<DropRate>().map(|r| r.to_string()), Ok("2.5%".into()));
        for wrong in ["100%", "1", "-1%", "x", "", "%", "nan"] {
            assert_eq!(wrong.parse::<DropRate>(), Err(DropRateError(wrong.into())));
        }
    }
}
