//! From the entry of a trace to the rates of a direction.

use super::at::At;
use super::checks::required;
use crate::error::{NetworkError, Result};
use crate::trace::Trace;
use crate::units::{Rate, Seconds};

/// The longest time that a rate holds, in seconds: 115 days.
const MOST_EVERY_S: f64 = 1e7;

/// Reads how a direction's rate changes. `in_range` refuses a rate that links do not have.
pub(crate) fn trace(
    at: u64,
    place: &str,
    every: Option<At<Seconds>>,
    rates: Option<At<Vec<Rate>>>,
    in_range: impl Fn(u64, &str, f64) -> Result<()>,
) -> Result<Trace> {
    let Seconds(every_seconds) = required(at, place, "every", every)?;
    let rates = required(at, place, "rates", rates)?;
    if !(every_seconds > 0.0 && every_seconds <= MOST_EVERY_S) {
        let fix = "give the time that each rate holds, at most 1e7 s, like `every: 180 s`";
        return Err(NetworkError::new(at, place, format!("every is {every_seconds}"), fix));
    }
    if rates.is_empty() {
        return Err(NetworkError::new(at, place, "it has no rates", "give at least one, or leave it out"));
    }
    let rates_bps: Vec<f64> = rates.into_iter().map(|rate| rate.0).collect();
    rates_bps.iter().try_for_each(|&bps| in_range(at, place, bps))?;
    Ok(Trace { every_seconds, rates_bps })
}
