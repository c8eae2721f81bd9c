//! The one factor by which all rates of a topology are multiplied, so that this machine can carry them; and
//! what becomes of times.

use std::fmt;
use std::str::FromStr;

use inart_topologies::units::display_rate;
use serde::{Deserialize, Serialize};

/// A factor above 0 and at most 1; prints as `1/200`.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Deserialize)]
#[serde(try_from = "f64")]
pub struct Scale(f64);

/// A factor that is not one.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("scale {0:?}: give a number above 0 and at most 1, like 0.01 or 1/100")]
pub struct ScaleError(String);

impl Scale {
    /// The largest of 1, 1/2, 1/5, 1/10, 1/20, … with which `demand` frames per second become at most
    /// `capacity`.
    pub fn fitting(demand_frames_per_second: f64, capacity_frames_per_second: f64) -> Self {
        let mut decade = 1.0;
        while decade < 1e12 {
            for step in [1.0, 2.0, 5.0] {
                let divisor: f64 = decade * step;
                if demand_frames_per_second / divisor <= capacity_frames_per_second {
                    return Self(1.0 / divisor);
                }
            }
            decade *= 10.0;
        }
        Self(1.0 / decade)
    }

    /// Returns whether rates stay as they are.
    pub fn is_one(self) -> bool {
        self.0 == 1.0
    }

    /// The factor.
    pub fn factor(self) -> f64 {
        self.0
    }
}

/// The slowest link that is emulated, in bit/s: a frame of 1500 bytes takes more than a second there, and
/// hosts take each other for dead.
pub const LEAST_RATE_BPS: f64 = 10e3;

/// Checks that the slowest of these links, in bit/s, can be emulated when its rate is multiplied by a factor.
///
/// # Errors
/// Checks the rate that the slowest link gets, and names the fix.
pub fn check_slowest(rates_bps: impl IntoIterator<Item = f64>, factor: f64) -> Result<(), String> {
    let slowest = rates_bps.into_iter().fold(f64::INFINITY, f64::min);
    if slowest * factor >= LEAST_RATE_BPS {
        return Ok(());
    }
    let (divisor, least) = ((slowest / LEAST_RATE_BPS).floor(), display_rate(LEAST_RATE_BPS));
    let fix = match divisor >= 1.0 {
        true => format!("give at least 1/{divisor}"),
        false => "give the link a greater rate in the document".to_owned(),
    };
    Err(format!(
        "a link of {} becomes slower than {least}, the least that is emulated; {fix}",
        display_rate(slowest)
    ))
}

impl TryFrom<f64> for Scale {
    type Error = ScaleError;

    fn try_from(factor: f64) -> Result<Self, ScaleError> {
        if factor > 0.0 && factor <= 1.0 { Ok(Self(factor)) } else { Err(ScaleError(factor.to_string())) }
    }
}

impl FromStr for Scale {
    type Err = ScaleError;

    fn from_str(text: &str) -> Result<Self, ScaleError> {
        let error = |_| ScaleError(text.to_owned());
        let factor = match text.split_once('/') {
            Some((above, below)) => {
                let number = |part: &str| part.trim().parse::<f64>();
                number(above).and_then(|a| Ok(a / number(below)?))
            }
            None => text.trim().parse::<f64>(),
        };
        Self::try_from(factor.map_err(error)?).map_err(|_| ScaleError(text.to_owned()))
    }
}

impl fmt::Display for Scale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let divisor = 1.0 / self.0;
        if divisor < 1.5 {
            write!(f, "{}", self.0)
        } else if (divisor - divisor.round()).abs() < 1e-6 {
            write!(f, "1/{}", divisor.round())
        } else {
            write!(f, "1/{divisor:.3}")
        }
    }
}

/// Ratio of an emulated network to its document. Transfers, delays, traces and stated compute times keep
/// their proportion, so one factor converts wall-clock times to those of the document.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Scaling {
    /// Rates were multiplied by this.
    pub rates: f64,
    /// Times were multiplied by this: the emulated data over the document's, over `rates`.
    pub times: f64,
}

impl Scaling {
    /// A network as it is.
    pub const NONE: Scaling = Scaling { rates: 1.0, times: 1.0 };

    /// Turns a time by the clock into one at the network's own rates, in the same unit.
    pub fn own(self, by_the_clock: f64) -> f64 {
        by_the_clock / self.times
    }

    /// Turns each of these times into one at the network's own rates.
    pub(crate) fn apply<'t>(self, times: impl IntoIterator<Item = &'t mut f64>) {
        times.into_iter().for_each(|time| *time = self.own(*time));
    }
}

/// For the head of tables and charts: `emulated at 1/80 of the network's rates, 15 times faster`.
impl fmt::Display for Scaling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Scaling::NONE {
            return f.write_str("emulated at the network's own rates");
        }
        let three = |value: f64| format!("{:.*}", (2.0 - value.log10().floor()).max(0.0) as usize, value);
        let divisor = 1.0 / self.rates;
        let is_whole = (divisor - divisor.round()).abs() < 1e-6 * divisor;
        match if is_whole { divisor.round().to_string() } else { three(divisor) } {
            one if one == "1" => f.write_str("emulated at the network's rates")?,
            divisor => write!(f, "emulated at 1/{divisor} of the network's rates")?,
        }
        if (self.times - 1.0).abs() < 1e-9 {
            Ok(())
        } else if self.times < 1.0 {
            write!(f, ", {} times faster", three(1.0 / self.times))
        } else {
            write!(f, ", {} times slower", three(self.times))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scaling_is_said_in_words() {
        for (rates, times, expected) in [
            (1.0, 1.0, "emulated at the network's own rates"),
            (0.0125, 1.0 / 15.0, "emulated at 1/80 of the network's rates, 15.0 times faster"),
            (0.002, 2.5, "emulated at 1/500 of the network's rates, 2.50 times slower"),
            (1.0, 0.5, "emulated at the network's rates, 2.00 times faster"),
            (0.1, 1.0, "emulated at 1/10 of the network's rates"),
            (1.0 / 19.74, 0.07, "emulated at 1/19.7 of the network's rates, 14.3 times faster"),
        ] {
            assert_eq!(Scaling { rates, times }.to_string(), expected);
        }
    }

    #[test]
    fn the_largest_round_factor_that_fits_is_chosen() {
        for (demand, capacity, expected) in [
            (10.0, 100.0, "1"),
            (100.0, 100.0, "1"),
            (101.0, 100.0, "1/2"),
            (450.0, 100.0, "1/5"),
            (501.0, 100.0, "1/10"),
            (1e7, 4e4, "1/500"),
            (0.0, 100.0, "1"),
        ] {
            assert_eq!(Scale::fitting(demand, capacity).to_string(), expected, "{demand} on {capacity}");
        }
        assert!(Scale::fitting(1e9, 0.0).factor() > 0.0, "even a machine that carries nothing gets a factor");
    }

    #[test]
    fn links_keep_the_least_rate() {
        assert_eq!(check_slowest([2e9, 1e6], 0.01), Ok(()));
        for (rates, factor, named) in [
            ([2e9, 1e6], 0.009, ["a link of 1 Mbps", "give at least 1/100"]),
            ([2e9, 1e9], 1e-12, ["a link of 1 Gbps", "give at least 1/100000"]),
            ([2e9, 5e3], 1.0, ["a link of 5 kbps", "a greater rate in the document"]),
        ] {
            let problem = check_slowest(rates, factor).expect_err("too slow");
            assert!(named.iter().all(|name| problem.contains(name)), "{problem}");
        }
    }

    #[test]
    fn factors_are_read_as_fractions_and_numbers() {
        assert_eq!("1/200".parse(), Scale::try_from(0.005));
        assert_eq!("0.25".parse(), Scale::try_from(0.25));
        for wrong in ["0", "-1", "2", "1/0", "0/1", "x", "1/x", "", "nan", "inf", "1/2/3"] {
            let error = wrong.parse::<Scale>().expect_err(wrong);
            assert_eq!(error, ScaleError(wrong.to_owned()));
        }
    }
}
