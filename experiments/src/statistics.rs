//! Statistics over seeds.

use std::fmt;

use serde::Serialize;

/// Mean and spread over the seeds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Statistics {
    /// Arithmetic mean.
    pub mean: f64,
    /// The least value.
    pub least: f64,
    /// The greatest value.
    pub greatest: f64,
    /// Standard deviation of the sample (over n - 1); 0 for one value.
    pub deviation: f64,
    /// Value of each seed, in their order.
    pub values: Vec<f64>,
}

impl Statistics {
    /// Computes the statistics of at least one value.
    pub fn of(values: &[f64]) -> Statistics {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        Statistics {
            mean,
            least: values.iter().copied().fold(f64::INFINITY, f64::min),
            greatest: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            deviation: if values.len() > 1 { (squares / (n - 1.0)).sqrt() } else { 0.0 },
            values: values.to_vec(),
        }
    }

    /// Reports whether the seeds made no difference, except for rounding errors.
    pub fn is_constant(&self) -> bool {
        self.greatest - self.least <= 1e-6 * self.mean.abs()
    }
}

/// Writes the mean with its deviation; a deviation that rounds to 0 is left out.
impl fmt::Display for Statistics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mean = significant(self.mean, 3);
        let decimals = mean.split_once('.').map_or(0, |(_, decimals)| decimals.len());
        let deviation = format!("{:.decimals$}", self.deviation);
        if deviation.contains(|digit| matches!(digit, '1'..='9')) {
            write!(f, "{mean} ±{deviation}")
        } else {
            f.write_str(&mean)
        }
    }
}

/// Formats a number with this number of significant digits, without an exponent.
pub(crate) fn significant(value: f64, digits: i32) -> String {
    if value == 0.0 || !value.is_finite() {
        return value.to_string();
    }
    let magnitude = value.abs().log10().floor() as i32;
    let decimals = (digits - 1 - magnitude).max(0) as usize;
    format!("{value:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spread_of_a_sample() {
        let some = Statistics::of(&[2.0, 4.0, 6.0]);
        assert_eq!((some.mean, some.least, some.greatest, some.deviation), (4.0, 2.0, 6.0, 2.0));
        assert_eq!(some.values, [2.0, 4.0, 6.0]);
        assert_eq!(Statistics::of(&[3.0]).deviation, 0.0);
        assert!(Statistics::of(&[3.0, 3.0]).is_constant() && !some.is_constant());
    }

    #[test]
    fn digits_that_mean_something() {
        assert_eq!(significant(7.2, 4), "7.200");
        assert_eq!(significant(0.065081, 3), "0.0651");
        assert_eq!(significant(1245.4, 3), "1245");
        assert_eq!(significant(0.0, 3), "0");
    }
}
