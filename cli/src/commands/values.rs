//! Values of flags: times, rates and sizes with their units, and whole numbers within limits.

use std::time::Duration;

use clap::builder::RangedU64ValueParser;
use inart_topologies::faults::quantity::Span;
use inart_topologies::units::{Rate, Seconds, Size};

/// Most bytes that a worker, a site or a peer sums or sends.
const MOST_BYTES: f64 = 400e6;
/// Bytes of a value.
const VALUE_BYTES: f64 = 4.0;
/// Rates that a link may have, in bit/s.
const RATES_BPS: std::ops::RangeInclusive<f64> = 1.0..=1e18;
/// Images that a worker may have in a round: the training set has 1438.
const MOST_BATCH: u64 = 1000;
/// The longest time, in seconds: 115 days.
const LONGEST_S: f64 = 1e7;
/// How to write a time.
const TIME: &str = "give a time above 0 with its unit, like 500ms, 2s, 10min or 1h";

/// Reads a time with its unit, as documents have it; 0 needs none.
///
/// # Errors
/// Returns how to write a time.
pub fn time(text: &str) -> Result<Seconds, String> {
    let text = text.trim();
    let given = text.parse::<Seconds>().ok();
    match given.filter(|Seconds(seconds)| (0.0..=LONGEST_S).contains(seconds)) {
        Some(time) => Ok(time),
        None if text.parse::<f64>().is_ok() => Err(format!("{text} has no unit; {TIME}")),
        None => Err(TIME.to_owned()),
    }
}

/// Reads a time above 0, in seconds.
///
/// # Errors
/// As of [`time`].
pub fn seconds(text: &str) -> Result<f64, String> {
    let Seconds(seconds) = time(text)?;
    if seconds > 0.0 { Ok(seconds) } else { Err(TIME.to_owned()) }
}

/// Reads a time in whole nanoseconds.
///
/// # Errors
/// As of [`time`].
pub fn span(text: &str) -> Result<Span, String> {
    time(text).map(|Seconds(seconds)| Span((seconds * 1e9).round() as u64))
}

/// A time above 0, and how it was written.
#[derive(Debug, Clone)]
pub struct Time {
    /// The time.
    pub duration: Duration,
    /// The flag's value.
    pub text: String,
}

impl Time {
    /// Reads a time above 0.
    ///
    /// # Errors
    /// As of [`seconds`].
    pub fn read(text: &str) -> Result<Self, String> {
        Ok(Self { duration: duration(text)?, text: text.to_owned() })
    }
}

/// Reads a time above 0.
///
/// # Errors
/// As of [`seconds`].
pub fn duration(text: &str) -> Result<Duration, String> {
    seconds(text).map(Duration::from_secs_f64)
}

/// Reads the size of a gradient or an update that is emulated.
///
/// # Errors
/// Returns how to write a size.
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
/// Returns how to write a rate.
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

    #[test]
    fn times_have_units() {
        for (text, time) in [
            ("500ms", Duration::from_millis(500)),
            ("2.5 s", Duration::from_millis(2500)),
            ("10min", Duration::from_secs(600)),
            ("3 m", Duration::from_secs(180)),
            ("1h", Duration::from_secs(3600)),
            ("7us", Duration::from_micros(7)),
            ("40ns", Duration::from_nanos(40)),
            // As in documents.
            ("30 seconds", Duration::from_secs(30)),
        ] {
            assert_eq!(duration(text), Ok(time), "{text}");
        }
        for text in ["5", "0s", "-1s", "", "s", "1 fortnight", "nan s", "inf s", "1e9s", "5 m s"] {
            assert!(duration(text).is_err_and(|problem| problem.contains("with its unit")), "{text}");
        }
        assert!(duration("5").is_err_and(|problem| problem.starts_with("5 has no unit; give a time")));
        assert_eq!(time("0"), Ok(Seconds(0.0)));
        assert_eq!(span("20 ms"), Ok(Span(20_000_000)));
    }
}
