//! Numbers, rows and panels of the R²SP paper's studies.

use super::case::Case;
use crate::lines;

pub type Line = lines::Line<Case>;
pub type Number = lines::Number<Case>;
pub type Panel = lines::Panel<Case>;

/// Returns the measured value.
pub fn figure(run: impl Into<Case>) -> Number {
    Number::measured(run.into())
}

/// Returns a part, in percent.
pub fn percent(run: impl Into<Case>) -> Number {
    Number { factor: 100.0, ..figure(run) }
}

/// Returns the value of `run` divided by that of `other`.
pub fn over(other: impl Into<Case>, run: impl Into<Case>) -> Number {
    Number::times(run.into(), other.into())
}

/// Returns the value of `run` in percent of that of `other`.
pub fn percent_of(other: impl Into<Case>, run: impl Into<Case>) -> Number {
    Number { factor: 100.0, ..over(other, run) }
}

/// Returns how much lower the value of `run` is than that of `other`, in percent.
pub fn saved(other: impl Into<Case>, run: impl Into<Case>) -> Number {
    Number::saved(other.into(), run.into())
}

/// Returns the greatest saving over all pairs, or the least, in percent.
pub fn extreme_saved(pairs: impl Iterator<Item = [Case; 2]>, is_greatest: bool) -> Number {
    let of: fn(&[f64]) -> f64 = match is_greatest {
        true => |times| extremes(times)[1],
        false => |times| extremes(times)[0],
    };
    Number { factor: 100.0, ..Number::new(pairs.flatten().collect(), of) }
}

fn extremes(times: &[f64]) -> [f64; 2] {
    let saved = times.chunks_exact(2).map(|pair| 1.0 - pair[1] / pair[0]);
    saved.fold([f64::INFINITY, f64::NEG_INFINITY], |[least, most], one| [least.min(one), most.max(one)])
}

/// Returns a row without a number of ours.
pub fn only(x: impl Into<String>, here: Number) -> Line {
    Line { x: x.into(), here: Some(here), optimized: None }
}
