//! Quantities of flags, within the limits of what one machine emulates.

use clap::builder::RangedU64ValueParser;
use inart_planner::units::{Rate, Size};

/// Most bytes that a worker, a site or a peer sums or sends.
const MOST_BYTES: f64 = 400e6;
/// Bytes of a value.
const VALUE_BYTES: f64 = 4.0;
/// Rates that a link may have, in bit/s.
const RATES_BPS: std::ops::RangeInclusive<f64> = 1.0..=1e18;
/// Images that a worker may have in a round: the training set has 1438.
const MOST_BATCH: u64 = 1000;

/// Reads the size of a gradient or an update that is emulated.
///
/// # Errors
/// Returns the error in the text, and its fix.
pub fn emulated_size(text: &str) -> Result<Size, String> {
    let size: Size = text.parse()?;
    if (VALUE_BYTES..=MOST_BYTES).contains(&size.0) {
        return Ok(size);
    }
    Err("give a size from 4 B, one value, to 400 MB".to_owned())
}

/// Reads the rate of a link.
///
/// # Errors
/// Returns the error in the text, and its fix.
pub fn link_rate(text: &str) -> Result<Rate, String> {
    let rate: Rate = text.parse()?;
    if RATES_BPS.contains(&rate.0) {
        return Ok(rate);
    }
    Err("give a rate of at least 1 bit/s and at most 1e18 bit/s".to_owned())
}

/// Reads images per worker and round.
pub fn batch<T: TryFrom<u64> + Clone + Send + Sync>() -> RangedU64ValueParser<T> {
    RangedU64ValueParser::new().range(1..=MOST_BATCH)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_have_limits() {
        for text in ["0", "-5MB", "3B", "2.5B", "401MB", "1e30TB"] {
            assert!(emulated_size(text).is_err_and(|problem| problem.contains("400 MB")), "{text}");
        }
        for (text, bytes) in [("4B", 4.0), ("32b", 4.0), ("400MB", 400e6)] {
            assert_eq!(emulated_size(text).map(|size| size.0), Ok(bytes), "{text}");
        }
        for text in ["0", "-5Mbps", "0.5bps", "1e30Tbps"] {
            assert!(link_rate(text).is_err_and(|problem| problem.contains("1 bit/s")), "{text}");
        }
        assert_eq!(link_rate("1bps").map(|rate| rate.0), Ok(1.0));
    }
}
