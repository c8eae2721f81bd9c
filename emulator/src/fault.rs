//! What the emulator does to frames on purpose, a pure function of the seed.

use std::fmt;
use std::str::FromStr;

/// Share of frames that are dropped on every link and direction: at least 0 and below 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DropRate(f64);

/// A share that is not one.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("drop rate {0:?}: give a share from 0 to below 1, like 1% or 0.01")]
pub struct DropRateError(String);

impl DropRate {
    /// The share, from 0 to below 1.
    pub fn share(self) -> f64 {
        self.0
    }

    /// Whether frames are lost at all.
    pub fn is_zero(self) -> bool {
        self.0 == 0.0
    }
}

impl FromStr for DropRate {
    type Err = DropRateError;

    fn from_str(text: &str) -> Result<Self, DropRateError> {
        let (number, unit) = match text.trim().strip_suffix('%') {
            Some(number) => (number, 0.01),
            None => (text, 1.0),
        };
        match number.trim().parse::<f64>().map(|n| n * unit) {
            Ok(share) if (0.0..1.0).contains(&share) => Ok(Self(share)),
            _ => Err(DropRateError(text.to_owned())),
        }
    }
}

impl fmt::Display for DropRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}%", self.0 * 100.0)
    }
}

/// The fates of the frames of one direction of one link, in the order in which they come.
#[derive(Clone, Debug)]
pub struct Fates {
    state: u64,
    threshold: u64,
}

impl Fates {
    /// The sequence of direction `direction` (0 or 1) of link `link`.
    pub fn new(rate: DropRate, seed: u64, link: usize, direction: usize) -> Self {
        let stream = (link as u64) << 1 | direction as u64;
        // Two rounds of mixing, so that neighbouring seeds and links share nothing.
        let state = mix(mix(seed).wrapping_add(stream));
        Self { state, threshold: (rate.0 * 2f64.powi(64)) as u64 }
    }

    /// Whether the next frame is to be dropped.
    pub fn drops_next(&mut self) -> bool {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.state) < self.threshold
    }
}

/// The output function of SplitMix64 (Steele, Lea, Flood 2014).
fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fates(rate: &str, seed: u64, link: usize, direction: usize) -> Vec<bool> {
        let mut fates = Fates::new(rate.parse().expect("a rate"), seed, link, direction);
        (0..100_000).map(|_| fates.drops_next()).collect()
    }

    #[test]
    fn about_the_asked_share_is_dropped() {
        for (rate, expected) in [("0", 0..=0), ("1%", 900..=1100), ("0.5", 49_000..=51_000)] {
            for link in 0..20 {
                let dropped = fates(rate, 7, link, link % 2).iter().filter(|&&d| d).count();
                assert!(expected.contains(&dropped), "{rate}: {dropped} of 100000");
            }
        }
    }

    #[test]
    fn the_seed_the_link_and_the_direction_decide() {
        assert_eq!(fates("1%", 7, 3, 0), fates("1%", 7, 3, 0));
        for other in [fates("1%", 8, 3, 0), fates("1%", 7, 4, 0), fates("1%", 7, 3, 1)] {
            assert_ne!(fates("1%", 7, 3, 0), other);
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
